//! Escaping fields of tables for spreadsheets.
//!
//! A spreadsheet runs a field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return as a
//! formula. So the author of a name could run commands on the machine of a person who opens an
//! export. Such a field is written with an apostrophe in front, which spreadsheets take as text; an
//! import removes it. A field that begins with apostrophes before such a character gets one more,
//! so that every text comes back as it was.

use std::borrow::Cow;

/// A field as an export writes it: spreadsheets do not run it as a formula.
///
/// ```
/// assert_eq!(handfast_registry::escape_cell("=1+1"), "'=1+1");
/// assert_eq!(handfast_registry::escape_cell("a=1"), "a=1");
/// ```
#[must_use]
pub fn escape(field: &str) -> Cow<'_, str> {
    if is_formula(field) {
        Cow::Owned(format!("'{field}"))
    } else {
        Cow::Borrowed(field)
    }
}

/// A field as an import reads it.
pub(crate) fn unescape(field: &str) -> &str {
    let rest = field.strip_prefix('\'');
    rest.filter(|rest| is_formula(rest)).unwrap_or(field)
}

fn is_formula(field: &str) -> bool {
    let text = field.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An export contained formulas that spreadsheets run.
    #[test]
    fn no_field_is_a_formula_and_every_field_comes_back() {
        for (field, written) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1", "'+49 30 1"),
            ("-", "'-"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("'=1", "''=1"),
            ("''@", "'''@"),
            ("'quoted'", "'quoted'"),
            ("'", "'"),
            ("", ""),
            ("https://example.org/=", "https://example.org/="),
        ] {
            assert_eq!(escape(field), written);
            assert_eq!(unescape(written), field);
        }
    }
}
