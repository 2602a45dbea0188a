//! Times as people and programs write them.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970 as RFC 3339.
///
/// ```
/// assert_eq!(handfast_registry::rfc3339(1_794_723_436_500), "2026-11-15T06:17:16.5Z");
/// ```
#[must_use]
pub fn rfc3339(milliseconds: u64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}

/// Reads a time in RFC 3339, as milliseconds since 1970.
///
/// ```
/// assert_eq!(handfast_registry::parse_rfc3339("1970-01-01T00:00:01Z"), Some(1_000));
/// ```
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}
