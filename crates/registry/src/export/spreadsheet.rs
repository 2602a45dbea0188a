//! Fields of tables that spreadsheets open.
//!
//! A spreadsheet takes a field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and runs it:
//! whoever may write a name could have commands run where somebody looks at an export. Such a field is written with an
//! apostrophe in front, by which spreadsheets know text; an import takes it off again. So that every text comes back as
//! it was, a field that begins with apostrophes before such a character is given one more.

use std::borrow::Cow;

/// A field as an export writes it.
pub(crate) fn escape(field: &str) -> Cow<'_, str> {
    if is_formula(field) {
        Cow::Owned(format!("'{field}"))
    } else {
        Cow::Borrowed(field)
    }
}

/// A field as an import means it.
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

    /// An export held formulas that spreadsheets run.
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
