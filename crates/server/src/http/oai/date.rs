//! Dates as OAI-PMH writes them (§3.3): days, or seconds of UTC.

use handfast_registry::{parse_rfc3339, rfc3339};

/// A date that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OaiDate {
    /// Its beginning, in milliseconds since 1970.
    start: u64,
    /// How fine it is: a day, or a second.
    pub(crate) length: u64,
}

const SECOND: u64 = 1_000;
const DAY: u64 = 86_400 * SECOND;

impl OaiDate {
    /// `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ssZ`, and no other spelling.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, length) = match text.len() {
            10 => (format!("{text}T00:00:00Z"), DAY),
            20 => (text.to_string(), SECOND),
            _ => return None,
        };
        let start = parse_rfc3339(&whole)?;
        (rfc3339(start) == whole).then_some(Self { start, length })
    }

    /// Its first millisecond.
    pub(crate) fn start(self) -> u64 {
        self.start
    }

    /// Its last millisecond: `until` includes the day or second that it names.
    pub(crate) fn end(self) -> u64 {
        self.start + self.length - 1
    }
}

/// A time, to the second.
pub(crate) fn written(milliseconds: u64) -> String {
    rfc3339(milliseconds / SECOND * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_seconds_are_read_and_nothing_else() {
        let read = |text| OaiDate::parse(text).map(|date| (date.start(), date.end()));
        assert_eq!(read("1970-01-02"), Some((86_400_000, 172_799_999)));
        assert_eq!(read("1970-01-01T00:00:01Z"), Some((1_000, 1_999)));
        for bad in [
            "",
            "1970",
            "1970-1-2",
            "2026-02-30",
            "2026-13-01",
            "1970-01-01t00:00:01z",
            "1970-01-01 00:00:01Z",
            "1970-01-01T00:00:01",
            "1970-01-01T24:00:00Z",
            "1970-01-01T01+01:00Z",
            "١٩٧٠-٠١",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
