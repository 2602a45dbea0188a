//! The form of a new name: what a person has typed, and what is wrong with it.

use std::fmt::Display;

use handfast_registry::{NewName, NewValue, RegistryError, State, url_problem};

use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;

/// The index of the title; the other values follow it. URLs have the first indexes that are free.
const TITLE_INDEX: u32 = 10;
/// How many addresses and other values a form has.
const MAX_ROWS: usize = 100;

/// What was typed.
#[derive(Clone, Debug, Default)]
pub(super) struct NewNameForm {
    pub(super) authority: String,
    /// The local name.
    pub(super) name: String,
    pub(super) is_reserved: bool,
    pub(super) title: String,
    pub(super) urls: Vec<String>,
    pub(super) values: Vec<ValueField>,
    /// The field that the last button was about, with the number of its row.
    pub(super) focus: String,
}

/// Another value.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueField {
    pub(super) value_type: String,
    pub(super) data: String,
}

impl NewNameForm {
    /// From a form, in the order of its fields.
    pub(super) fn read(visit: &Visit<'_>) -> Self {
        let data = visit.fields("value-data").map(str::to_string);
        let values = visit.fields("value-type").zip(data);
        let values = values.map(|(value_type, data)| ValueField {
            value_type: value_type.to_string(),
            data,
        });
        Self {
            authority: visit.field("authority").to_string(),
            name: visit.field("name").to_string(),
            is_reserved: visit.field("state") == State::Reserved.as_str(),
            title: visit.field("title").to_string(),
            urls: visit
                .fields("url")
                .take(MAX_ROWS)
                .map(str::to_string)
                .collect(),
            values: values.take(MAX_ROWS).collect(),
            focus: String::new(),
        }
    }

    /// Adds or moves rows as a button of the form says; `false` if it is none of those.
    pub(super) fn arrange(&mut self, button: &str) -> bool {
        if button == "add-value" {
            self.values.push(ValueField::default());
            self.focus = format!("value-type-{}", self.values.len());
            return true;
        }
        if button == "add-address" {
            self.urls.push(String::new());
            self.focus = format!("url-{}", self.urls.len());
            return true;
        }
        let Some((action, at)) = button.split_once('-') else {
            return false;
        };
        if !["first", "up", "down", "remove"].contains(&action) {
            return false;
        }
        let Some(at) = at.parse().ok().filter(|at| *at < self.urls.len()) else {
            return true;
        };
        let url = self.urls.remove(at);
        let to = match action {
            "first" => 0,
            "up" => at.saturating_sub(1),
            "down" => at.saturating_add(1).min(self.urls.len()),
            _ => {
                self.focus = format!("url-{}", at.max(1));
                return true;
            }
        };
        self.urls.insert(to, url);
        self.focus = format!("url-{}", to.saturating_add(1));
        true
    }

    /// Whether a field is the one to go on with.
    pub(super) fn is_focus(&self, field: &str, row: &impl Display) -> bool {
        self.focus == format!("{field}-{row}")
    }

    /// A form has a row to type into, at least.
    pub(super) fn with_rows(mut self) -> Self {
        if self.urls.is_empty() {
            self.urls.push(String::new());
        }
        self
    }

    /// What the registry gets, and what is wrong with the fields.
    pub(super) fn new_name(&self) -> (NewName, Vec<FieldError>) {
        let mut errors = Vec::new();
        let mut urls = Vec::new();
        for (row, url) in (1..).zip(&self.urls).filter(|(_, url)| !url.is_empty()) {
            if let Some(problem) = url_problem(url) {
                let text = format!("Address {row}: {problem}.");
                errors.push(FieldError::new(format!("url-{row}"), text));
            }
            urls.push(url.clone());
        }
        let mut values = Vec::new();
        if !self.title.is_empty() {
            values.push(NewValue::new(TITLE_INDEX, "TITLE", self.title.as_bytes()));
        }
        let rows = (1_u32..).zip(&self.values);
        for (row, value) in rows.filter(|(_, value)| !value.is_empty()) {
            let mut wrong = |field: &str, text: String| {
                errors.push(FieldError::new(format!("{field}-{row}"), text));
            };
            let value_type = value.value_type.as_str();
            if value_type.is_empty() {
                wrong(
                    "value-type",
                    format!("Say what value {row} is, such as CREATOR."),
                );
            } else if value_type.to_ascii_uppercase().starts_with("HS_") {
                let text = format!(
                    "Value {row}: {value_type} is a type of the protocol. Make the name, then \
                     add it on its page."
                );
                wrong("value-type", text);
            } else if value.data.is_empty() {
                wrong(
                    "value-data",
                    format!("Value {row} is empty. Write it, or remove its type."),
                );
            }
            let index = TITLE_INDEX.saturating_add(row);
            values.push(NewValue::new(index, value_type, value.data.as_bytes()));
        }
        let new = NewName {
            urls,
            values,
            reserve: self.is_reserved,
        };
        (new, errors)
    }
}

impl ValueField {
    fn is_empty(&self) -> bool {
        self.value_type.is_empty() && self.data.is_empty()
    }
}

/// The field that an error of the registry is about; empty if it is about none.
pub(super) fn field_of(error: &RegistryError) -> &'static str {
    match error {
        RegistryError::Denied { .. }
        | RegistryError::NoAuthority(_)
        | RegistryError::Retired(_) => "authority",
        RegistryError::Exists { .. } | RegistryError::Identifier { .. } => "name",
        RegistryError::Policy { code, .. } => match *code {
            "pattern" | "not-cordra" | "root" | "prefix-record" | "not-stable" | "too-long"
            | "nul-character" => "name",
            "bad-url" => "url-1",
            "not-approved" | "bad-authority" => "authority",
            _ => "",
        },
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(urls: &[&str]) -> NewNameForm {
        NewNameForm {
            urls: urls.iter().map(|url| (*url).to_string()).collect(),
            ..NewNameForm::default()
        }
    }

    #[test]
    fn buttons_move_addresses_and_nothing_else() {
        for (button, urls) in [
            ("first-2", "c a b"),
            ("up-1", "b a c"),
            ("down-0", "b a c"),
            ("remove-1", "a c"),
            ("up-0", "a b c"),
            ("down-2", "a b c"),
            ("up-9", "a b c"),
            ("add-address", "a b c "),
        ] {
            let mut form = form(&["a", "b", "c"]);
            assert!(form.arrange(button), "{button}");
            assert_eq!(form.urls.join(" "), urls, "{button}");
            assert!(button == "up-9" || !form.focus.is_empty(), "{button}");
        }
        assert!(!form(&["a"]).arrange("create"));
        assert!(!form(&["a"]).arrange(""));
    }

    #[test]
    fn an_error_names_its_row() {
        let mut form = form(&["https://a.example/", "", "maps.example/1"]);
        form.title = "A map".to_string();
        form.values = vec![
            ValueField::default(),
            ValueField {
                value_type: "HS_ADMIN".to_string(),
                data: "x".to_string(),
            },
        ];
        let (new, errors) = form.new_name();
        let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["url-3", "value-type-2"]);
        assert_eq!(new.urls.len(), 2);
        assert_eq!(new.values.first().map(|value| value.index), Some(10));
    }
}
