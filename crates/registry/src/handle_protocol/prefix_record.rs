//! The records of prefixes: `0.NA/20.500` describes the prefix `20.500`.

/// The start of the keys of the records of prefixes.
pub(crate) const PREFIX_RECORDS: &str = "hdl:0.NA/";

/// Whether the key of a name is that of the record of a prefix.
pub(crate) fn is_prefix_record(key: &str) -> bool {
    key.starts_with(PREFIX_RECORDS)
}

/// The prefix that a prefix record describes.
///
/// ```
/// assert_eq!(handfast_registry::prefix_of("0.na/20.1000"), Some("20.1000"));
/// assert_eq!(handfast_registry::prefix_of("20.1000/5555"), None);
/// ```
#[must_use]
pub fn prefix_of(handle: &str) -> Option<&str> {
    let (start, prefix) = handle.split_once('/')?;
    start.eq_ignore_ascii_case("0.NA").then_some(prefix)
}

/// "A handle without a slash, `X`, is treated by the server as `0.NA/X`" (§3.2).
///
/// ```
/// assert_eq!(handfast_registry::with_slash("20.1000"), "0.NA/20.1000");
/// ```
#[must_use]
pub fn with_slash(handle: &str) -> String {
    if handle.contains('/') {
        handle.to_string()
    } else {
        format!("0.NA/{handle}")
    }
}
