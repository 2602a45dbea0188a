//! Timestamps.

use time::{Date, Month, OffsetDateTime, Time, UtcOffset};

/// Seconds since 1970 as `YYYY-MM-DDThh:mm:ssZ`.
///
/// ```
/// assert_eq!(handfast_wire::json::timestamp(1_794_723_436), "2026-11-15T06:17:16Z");
/// ```
#[must_use]
pub fn timestamp(seconds: u32) -> String {
    digits(seconds).iter().copied().map(char::from).collect()
}

/// Seconds since 1970 as twenty characters.
pub(super) fn digits(seconds: u32) -> [u8; 20] {
    // Four bytes of seconds end in 2106, far inside the calendar: 1970 is never given for another
    // year.
    let at = OffsetDateTime::from_unix_timestamp(i64::from(seconds))
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let year = at.year().unsigned_abs();
    let rest = [
        at.month().into(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
    ];
    let digit = |number: u32| u8::try_from(number % 10).unwrap_or_default() + b'0';
    let two = |number: u32| [digit(number / 10), digit(number)];
    let [[y0, y1], [y2, y3]] = [year / 100, year].map(two);
    let [[m0, m1], [d0, d1], [h0, h1], [n0, n1], [s0, s1]] = rest.map(u32::from).map(two);
    [
        y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', h0, h1, b':', n0, n1, b':', s0, s1, b'Z',
    ]
}

/// Seconds since 1970, from ISO 8601 with or without separators: a date, or a date and a time with
/// `Z`, an offset or nothing, which is UTC. Fractions of a second are dropped. `None` for what is
/// no time, or not between 1970 and 2106.
pub(super) fn read(text: &str) -> Option<u32> {
    let mut rest = Scanner(text.as_bytes());
    let year = rest.number(4)?;
    let is_extended = rest.skip(b"-");
    let month = u8::try_from(rest.number(2)?).ok()?;
    if is_extended && !rest.skip(b"-") {
        return None;
    }
    let day = u8::try_from(rest.number(2)?).ok()?;
    let month = Month::try_from(month).ok()?;
    let date = Date::from_calendar_date(i32::try_from(year).ok()?, month, day).ok()?;
    let (time, offset) = if rest.0.is_empty() {
        (Time::MIDNIGHT, UtcOffset::UTC)
    } else if rest.skip(b"Tt ") {
        (rest.time()?, rest.offset()?)
    } else {
        return None;
    };
    let seconds = date.with_time(time).assume_offset(offset).unix_timestamp();
    u32::try_from(seconds).ok()
}

/// Reads digits and separators off the front.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    /// One of these characters, if it stands there.
    fn skip(&mut self, any_of: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if any_of.contains(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Exactly `count` digits.
    fn number(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
            Some(number * 10 + u32::from(digit))
        })
    }

    fn two_digits(&mut self) -> Option<u8> {
        u8::try_from(self.number(2)?).ok()
    }

    /// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.fraction`; the colons may be missing.
    fn time(&mut self) -> Option<Time> {
        let hour = self.two_digits()?;
        self.skip(b":");
        let minute = self.two_digits()?;
        let has_seconds = self.skip(b":") || self.0.first().is_some_and(u8::is_ascii_digit);
        let second = if has_seconds { self.two_digits()? } else { 0 };
        if has_seconds && self.skip(b".,") {
            self.number(1)?;
            while self.skip(b"0123456789") {}
        }
        Time::from_hms(hour, minute, second).ok()
    }

    /// `Z`, `+hh`, `+hhmm`, `+hh:mm` or nothing, up to the end.
    fn offset(&mut self) -> Option<UtcOffset> {
        let is_east = self.skip(b"+");
        let offset = if is_east || self.skip(b"-") {
            let hours = i8::try_from(self.two_digits()?).ok()?;
            self.skip(b":");
            let minutes = match self.0 {
                [] => 0,
                _ => i8::try_from(self.two_digits()?).ok()?,
            };
            let sign = if is_east { 1 } else { -1 };
            UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok()?
        } else {
            self.skip(b"Zz");
            UtcOffset::UTC
        };
        self.0.is_empty().then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_usual_spellings() {
        for text in [
            "2026-11-15T06:17:16Z",
            "2026-11-15t06:17:16z",
            "2026-11-15 06:17:16",
            "2026-11-15T06:17:16.999Z",
            "2026-11-15T06:17:16,5Z",
            "2026-11-15T08:17:16+02:00",
            "2026-11-15T08:17:16+0200",
            "2026-11-15T08:17:16+02",
            "2026-11-15T00:47:16-05:30",
            "20261115T061716Z",
        ] {
            assert_eq!(read(text), Some(1_794_723_436), "{text}");
        }
        assert_eq!(read("1970-01-02"), Some(86_400));
        assert_eq!(read("1970-01-01T00:01Z"), Some(60));
        assert_eq!(read("2106-02-07T06:28:15Z"), Some(u32::MAX));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2026",
            "2026-11",
            "2026-1115",
            "2026-11-31",
            "2026-13-01",
            "2026-11-15T",
            "2026-11-15T06",
            "2026-11-15T24:00:00Z",
            "2026-11-15T06:17:16.Z",
            "2026-11-15T06:17:16ZZ",
            "2026-11-15T06:17:16+99:00",
            "1969-12-31T23:59:59Z",
            "2106-02-07T06:28:16Z",
            "２026-11-15",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn every_time_is_written_as_it_is_read() {
        for seconds in [0, 1, 951_782_400, 1_794_723_436, u32::MAX] {
            assert_eq!(read(&timestamp(seconds)), Some(seconds));
        }
    }
}
