//! Numbers and times as people read them.

use handfast_registry::rfc3339;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `<time>` with a day, from milliseconds since 1970.
pub(crate) fn day(time: u64) -> String {
    let exact = rfc3339(time);
    format!("<time datetime=\"{exact}\">{}</time>", day_words(&exact))
}

/// `<time>` with a day, an hour and a minute.
pub(crate) fn time(time: u64) -> String {
    let exact = rfc3339(time);
    let minute = exact.get(11..16).unwrap_or_default();
    let day = day_words(&exact);
    format!("<time datetime=\"{exact}\">{day}, {minute} UTC</time>")
}

/// `14 November 2026`, without markup.
pub(crate) fn plain_day(time: u64) -> String {
    day_words(&rfc3339(time))
}

/// `2026-11-14T09:30:00Z` to `14 November 2026`.
fn day_words(exact: &str) -> String {
    let mut parts = exact.split(['-', 'T']);
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let month = month.and_then(|month| month.parse::<usize>().ok());
    let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (year, month, day) {
        (Some(year), Some(month), Some(day)) => {
            format!("{} {month} {year}", day.trim_start_matches('0'))
        }
        _ => exact.to_string(),
    }
}

/// A number with commas between its thousands.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes: `318 MB`.
pub(crate) fn bytes(number_of: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let mut size = number_of;
    let mut rest = 0;
    let mut unit = "bytes";
    for larger in units.into_iter().skip(1) {
        if size < 1_000 {
            break;
        }
        (rest, size, unit) = (size % 1_000 / 100, size / 1_000, larger);
    }
    if size < 10 && unit != "bytes" {
        return format!("{size}.{rest} {unit}");
    }
    format!("{size} {unit}")
}

/// `1 name`, `2 names`.
pub(crate) fn count(number_of: u64, one: &str, many: &str) -> String {
    let word = if number_of == 1 { one } else { many };
    format!("{} {word}", number(number_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_numbers_are_written_for_people() {
        assert_eq!(plain_day(1_794_650_000_000), "14 November 2026");
        assert_eq!(number(0), "0");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_260), "1.2 kB");
        assert_eq!(bytes(318_400_000), "318 MB");
        assert_eq!(count(1, "name", "names"), "1 name");
        assert_eq!(count(1_000, "name", "names"), "1,000 names");
    }
}
