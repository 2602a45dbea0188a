//! Reading the fields of forms with values.

use handfast_wire::Value;

use crate::http::console::visit::Visit;
use crate::http::pages::escaper::is_shown_exactly;

/// All fields with a name, exactly as they were sent.
pub(super) fn exact<'v>(visit: &'v Visit<'_>, name: &str) -> Vec<&'v str> {
    let found = visit.form().iter().filter(|(found, _)| found == name);
    found.map(|(_, value)| value.as_str()).collect()
}

/// All fields with a name that are numbers.
pub(super) fn numbers(visit: &Visit<'_>, name: &str) -> Vec<u32> {
    let found = visit.fields(name);
    found.filter_map(|text| text.parse().ok()).collect()
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
