//! Differences of values, as pages show them.

use handfast_registry::Difference;
use handfast_wire::{Admin, Codec, Ttl, Value};

use crate::http::resolver::page::formatted;

/// The longest data of a value in a difference, in characters.
const MAX_DATA: usize = 2_000;

/// A line of a difference: a value before the change, or after it.
pub(super) struct ChangeLine {
    pub(super) is_added: bool,
    /// Whether the value was there before the change and is there after it.
    pub(super) is_changed: bool,
    pub(super) index: u32,
    pub(super) value_type: String,
    /// What both sides have at their start.
    pub(super) start: String,
    /// What differs.
    pub(super) middle: String,
    /// What both sides have at their end.
    pub(super) end: String,
}

/// The lines of differences.
pub(super) fn lines(changes: &[Difference]) -> Vec<ChangeLine> {
    let mut lines = Vec::new();
    for change in changes {
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let says_all = match (before, after) {
            (Some(before), Some(after)) => {
                (before.ttl, before.permissions) != (after.ttl, after.permissions)
            }
            _ => false,
        };
        let words = |value: &Value<'_>| {
            let data = with_line_marks(&data_words(value));
            if says_all {
                format!("{data} ({})", properties(value))
            } else {
                data
            }
        };
        let (was, now) = (before.map(words), after.map(words));
        let (head, tail) = match (&was, &now) {
            (Some(was), Some(now)) => common(was, now),
            _ => (0, 0),
        };
        let line = |value: &Value<'_>, text: &str, is_added| {
            let has_both = before.is_some() && after.is_some();
            let (start, rest) = text.split_at_checked(head).unwrap_or((text, ""));
            let at = rest.len().saturating_sub(tail);
            let (middle, end) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let (start, middle, end) = if has_both {
                (start, middle, end)
            } else {
                (text, "", "")
            };
            ChangeLine {
                is_added,
                is_changed: has_both,
                index: value.index,
                value_type: value.value_type.to_string(),
                start: start.to_string(),
                middle: middle.to_string(),
                end: end.to_string(),
            }
        };
        lines.extend(
            before
                .zip(was)
                .map(|(value, text)| line(value, &text, false)),
        );
        lines.extend(after.zip(now).map(|(value, text)| line(value, &text, true)));
    }
    lines
}

/// A text in which the ends of lines can be seen.
fn with_line_marks(text: &str) -> String {
    text.replace('\r', "␍").replace('\n', "↵\n")
}

/// How many values are removed and not replaced.
pub(super) fn removed(changes: &[Difference]) -> usize {
    changes
        .iter()
        .filter(|change| change.after.is_none())
        .count()
}

/// The data of a value in words; a secret is not shown.
pub(super) fn data_words(value: &Value<'_>) -> String {
    if value.is_type("HS_SECKEY") {
        return "a secret, which is not shown".to_string();
    }
    if value.is_type("HS_ADMIN")
        && let Ok(admin) = Admin::from_bytes(&value.data)
    {
        return format!("{}, rights {}", admin.administrator, admin.permissions);
    }
    let text = match value.text() {
        Some(text) => text.to_string(),
        None => match formatted(value) {
            (format, text) if format != "base64" => text,
            _ => hex(&value.data),
        },
    };
    let length = text.chars().count();
    if length <= MAX_DATA {
        return text;
    }
    let start: String = text.chars().take(MAX_DATA).collect();
    format!("{start}… ({length} characters)")
}

/// The bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let pair = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    let digits = bytes.iter().flat_map(pair);
    digits.map(|digit| digit.to_ascii_uppercase()).collect()
}

/// How long a value may be cached.
pub(super) fn ttl_words(ttl: Ttl) -> String {
    match ttl {
        Ttl::Relative(seconds) => seconds.to_string(),
        Ttl::Absolute(time) => format!("@{time}"),
    }
}

fn properties(value: &Value<'_>) -> String {
    let (ttl, permissions) = (ttl_words(value.ttl), value.permissions);
    format!("TTL {ttl}, permissions {permissions}")
}

/// How many bytes two texts have in common at their starts and at their ends, in whole words.
fn common(one: &str, other: &str) -> (usize, usize) {
    let is_inside = |c: &char| c.is_alphanumeric();
    let pairs = one.chars().zip(other.chars());
    let shared: Vec<_> = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let inside = shared.iter().rev().take_while(|c| is_inside(c)).count();
    let whole = shared.len().saturating_sub(inside);
    let head = shared.iter().take(whole).map(|c| c.len_utf8()).sum();
    let rest = |text: &'_ str| text.get(head..).unwrap_or_default().to_string();
    let (one, other) = (rest(one), rest(other));
    let pairs = one.chars().rev().zip(other.chars().rev());
    let shared: Vec<_> = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let inside = shared.iter().rev().take_while(|c| is_inside(c)).count();
    let whole = shared.len().saturating_sub(inside);
    let tail = shared.iter().take(whole).map(|c| c.len_utf8()).sum();
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(index: u32, data: &str) -> Value<'static> {
        Value::new(index, "URL", data.as_bytes()).into_owned()
    }

    #[test]
    fn the_differing_part_of_a_value_is_marked() {
        let change = Difference {
            index: 1,
            before: Some(value(1, "https://mirror.example/ü/")),
            after: Some(value(1, "https://maps.example/ü/")),
        };
        let lines = lines(&[change]);
        let [was, now] = &lines[..] else {
            panic!("two lines");
        };
        assert_eq!(
            (was.start.as_str(), was.middle.as_str()),
            ("https://", "mirror")
        );
        assert_eq!(
            (now.middle.as_str(), now.end.as_str()),
            ("maps", ".example/ü/")
        );
        assert!(now.is_added && !was.is_added);
    }

    #[test]
    fn a_changed_ttl_is_named_and_a_secret_is_not_shown() {
        let before = value(1, "https://a.example/");
        let after = Value {
            ttl: Ttl::Relative(60),
            ..before.clone()
        };
        let change = Difference {
            index: 1,
            before: Some(before),
            after: Some(after),
        };
        assert!(lines(&[change])[1].middle.contains("60"));
        let lined = |data: &str| Difference {
            index: 1,
            before: None,
            after: Some(value(1, data)),
        };
        assert_eq!(lines(&[lined("a\nb")])[0].start, "a↵\nb");
        let secret = Value::new(300, "HS_SECKEY", b"hunter2");
        assert!(!data_words(&secret).contains("hunter2"));
        assert!(data_words(&Value::new(1, "X", &[0, 255])).contains("00FF"));
    }
}
