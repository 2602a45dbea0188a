//! `/console/draft/{id}`: a form that waited for a sign-in or a password, to be looked at,
//! corrected and sent.

use askama::Template;
use hyper::{Response, StatusCode};

use super::error_page::PageError;
use super::frame::{ConsoleFrame, MenuItem};
use super::page_table::{PageRoute, page};
use super::visit::Visit;
use crate::http::form::all_pairs;
use crate::http::response::Body;

pub(super) const PAGES: &[PageRoute] = &[page("/draft/{id}", show)];

#[derive(Template)]
#[template(path = "console/draft.html")]
struct DraftPage<'a> {
    frame: ConsoleFrame<'a>,
    path: String,
    fields: Vec<DraftField>,
    /// Whether it waited for the password, not for a sign-in.
    is_again: bool,
}

/// A field of the form that was sent.
struct DraftField {
    name: String,
    value: String,
    /// What people call it; empty if it is not shown.
    label: String,
    kind: DraftKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DraftKind {
    /// One of a few words: it is shown, and sent as it was.
    Choice,
    Line,
    Lines,
    /// It is for the server, and sent as it was.
    Technical,
}

impl DraftField {
    fn new(name: &str, value: &str, all: &[(String, String)]) -> Self {
        let kind = kind_of(name, value);
        Self {
            label: match kind {
                DraftKind::Technical => String::new(),
                _ => label_of(name, all),
            },
            name: name.to_string(),
            value: value.to_string(),
            kind,
        }
    }

    fn is_choice(&self) -> bool {
        self.kind == DraftKind::Choice
    }

    fn is_line(&self) -> bool {
        self.kind == DraftKind::Line
    }

    fn is_lines(&self) -> bool {
        self.kind == DraftKind::Lines
    }
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let account = &visit.person()?.session.account;
    let Some((path, form)) = visit.registry().take_draft(account, visit.id())? else {
        let text = "This text is not stored any more: it was sent, or 15 minutes are over.";
        return Err(PageError::not_found(text));
    };
    let form = String::from_utf8_lossy(&form);
    let all = all_pairs(&form).unwrap_or_default();
    let fields = all
        .iter()
        .map(|(name, value)| DraftField::new(name, value, &all));
    let page = DraftPage {
        frame: ConsoleFrame::new(visit, "Your text", MenuItem::Nothing),
        path,
        fields: fields.collect(),
        is_again: visit.query("again").is_some(),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

fn kind_of(name: &str, value: &str) -> DraftKind {
    let base = without_number(name);
    let is_technical = TECHNICAL.contains(&base) || base.ends_with("-index") || base == "type";
    if is_technical || base.ends_with("-from") || value.is_empty() && base == "new-type" {
        DraftKind::Technical
    } else if CHOICES.contains(&base) {
        DraftKind::Choice
    } else if LINES.contains(&base) || value.contains('\n') || value.len() > 120 {
        DraftKind::Lines
    } else {
        DraftKind::Line
    }
}

/// What people call a field. A text of a name is called as its type is.
fn label_of(name: &str, all: &[(String, String)]) -> String {
    let base = without_number(name);
    if let Some(index) = name.strip_prefix("text-") {
        let type_field = format!("type-{index}");
        let found = all.iter().find(|(name, _)| *name == type_field);
        if let Some((_, value_type)) = found {
            return value_type.clone();
        }
    }
    let known = LABELS.iter().find(|(known, _)| *known == base);
    known.map_or_else(
        || {
            let words = base.replace('-', " ");
            let mut letters = words.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        },
        |(_, label)| (*label).to_string(),
    )
}

/// The name of a field without the numbers of its row.
fn without_number(name: &str) -> &str {
    let is_number = |c: char| c == '-' || c.is_ascii_digit();
    match name.trim_end_matches(is_number) {
        "" => name,
        base => base,
    }
}

/// Fields that only the server reads.
const TECHNICAL: [&str; 15] = [
    "admin-right",
    "changed",
    "confirmed",
    "despite",
    "do",
    "event",
    "mine",
    "new-kind",
    "once",
    "preview",
    "raw-was",
    "removed",
    "request",
    "theirs",
    "version",
];
/// Fields in which one of a few words is chosen.
const CHOICES: [&str; 14] = [
    "administrator",
    "approval",
    "case",
    "children",
    "choice",
    "decision",
    "kind",
    "persistence",
    "profile",
    "raw-format",
    "role",
    "state",
    "status",
    "style",
];
/// Fields with several lines.
const LINES: [&str; 6] = ["meaning", "names", "raw-data", "reason", "text", "urls"];
/// Fields whose name is not what people call them.
const LABELS: [(&str, &str); 16] = [
    ("account", "Account"),
    ("admin-handle", "Handle of the administrator"),
    ("admin-key", "Index of the key or group"),
    ("count", "How many"),
    ("days", "Days"),
    ("loc-country", "Country"),
    ("loc-href", "Location"),
    ("loc-weight", "Weight"),
    ("meaning", "What its names mean"),
    ("names", "Names"),
    ("pattern", "Pattern for new names"),
    ("successor", "Name to use instead"),
    ("ttl", "How long other servers remember values, in seconds"),
    ("url", "Address"),
    ("urls", "Addresses"),
    ("width", "Digits of a running number"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_called_as_people_call_it() {
        let all = [("type-10".to_string(), "TITLE".to_string())];
        for (name, label) in [
            ("text-10", "TITLE"),
            ("text-11", "Text"),
            ("url", "Address"),
            ("loc-href-12", "Location"),
            ("value-type", "Value type"),
            ("width", "Digits of a running number"),
        ] {
            assert_eq!(label_of(name, &all), label);
        }
    }

    #[test]
    fn fields_of_the_server_are_not_shown() {
        for name in [
            "once",
            "do",
            "text-index",
            "loc-from-12",
            "type-10",
            "url-from",
        ] {
            assert_eq!(kind_of(name, "x"), DraftKind::Technical, "{name}");
        }
        assert_eq!(kind_of("role", "write"), DraftKind::Choice);
        assert_eq!(kind_of("title", "Maps"), DraftKind::Line);
        assert_eq!(kind_of("title", "Maps\nand plans"), DraftKind::Lines);
        assert_eq!(kind_of("urls", ""), DraftKind::Lines);
    }
}
