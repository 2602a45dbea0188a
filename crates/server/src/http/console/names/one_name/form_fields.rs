//! Reading the fields of forms with values.

use std::collections::HashSet;

use handfast_api::limits::VALUES;
use handfast_wire::Value;
use hyper::StatusCode;

use crate::http::console::error_page::PageError;
use crate::http::console::visit::Visit;
use crate::http::pages::escaper::is_shown_exactly;

/// All fields with a name, exactly as they were sent.
pub(super) fn exact<'v>(visit: &'v Visit<'_>, name: &str) -> Vec<&'v str> {
    let found = visit.exact_fields(name);
    found.iter().map(String::as_str).collect()
}

/// All fields with a name that are numbers, each number once: other fields belong to it, and are
/// read for each.
pub(super) fn numbers(visit: &Visit<'_>, name: &str) -> Vec<u32> {
    let mut seen = HashSet::new();
    let found = visit.fields(name).filter_map(|text| text.parse().ok());
    found.filter(|number| seen.insert(*number)).collect()
}

/// Checks that a form has no more values than a name can have, before work is done for each.
pub(super) fn need_bounded(visit: &Visit<'_>) -> Result<(), PageError> {
    let names = ["url", "text-index", "admin-index", "loc-index", "removed"];
    let names = names.into_iter().chain(["raw-was"]);
    let sent: usize = names.map(|name| visit.exact_fields(name).len()).sum();
    // Those that are removed and those that stay.
    if sent <= 2 * VALUES {
        return Ok(());
    }
    let text = format!("A name has at most {VALUES} values. Nothing was changed.");
    let status = StatusCode::PAYLOAD_TOO_LARGE;
    Err(PageError::new(status, "too-many-values", text))
}

/// The text of a value, if a field of a form gives it back unchanged.
pub(super) fn field_text(value: &Value<'_>) -> Option<String> {
    let text = value.text()?.replace("\r\n", "\n");
    is_shown_exactly(&text).then_some(text)
}

/// A text of a field: browsers send lines with CR LF.
pub(super) fn sent_text(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The first index from a number on that is not taken.
pub(super) fn free_index(from: u32, taken: impl Fn(u32) -> bool) -> u32 {
    (from..u32::MAX)
        .find(|index| !taken(*index))
        .unwrap_or(from)
}
