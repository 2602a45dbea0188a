//! `/console/names/{id}/raw`: all values with index, type, data, lifetime and permissions.

use askama::Template;
use handfast_registry::{Edit, NewValue, Record};
use handfast_wire::{Ttl, Value};
use hyper::{Response, StatusCode};

use super::changes::{hex, ttl_words};
use super::edit::{ChangePanel, base, editable, panel};
use super::form_fields::{exact, field_text, numbers, sent_text};
use super::head::NameHead;
use super::merge::{self, at, bytes_of, ttl_of, value_of};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/raw.html")]
struct RawPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    form: &'a RawForm,
    panel: ChangePanel,
}

/// All values of a name, as they are stored.
struct RawForm {
    version: u64,
    event: u64,
    rows: Vec<RawFields>,
    removed: Vec<u32>,
}

/// A value as it is stored.
#[derive(Clone, Debug, Default)]
struct RawFields {
    /// The index that it had; empty for a new one.
    was: String,
    index: String,
    value_type: String,
    data: String,
    /// How the data is written: `text`, `hex`, or `secret` if it is not shown.
    format: String,
    ttl: String,
    permissions: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, record) = editable(visit)?;
    let form = RawForm::of(&record);
    page(visit, StatusCode::OK, &head, &record, &form, Vec::new())
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = editable(visit)?;
    let Some(base) = base(visit)? else {
        return Ok(see(&format!("{}/raw", head.path)));
    };
    let mut form = RawForm::read(visit, &base);
    let button = visit.field("do");
    if button != "save" {
        form.step(button);
        return page(visit, StatusCode::OK, &head, &base, &form, Vec::new());
    }
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let edit = match form.edit(&base) {
        Ok(edit) => edit,
        Err(errors) => return page(visit, invalid, &head, &base, &form, errors),
    };
    match merge::store(visit, &head, &base, &edit)? {
        Ok(response) => Ok(response),
        Err((status, error)) => {
            let error = FieldError::new(form.field_of(&error.field), error.text);
            page(visit, status, &head, &base, &form, vec![error])
        }
    }
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    head: &NameHead,
    base: &Record,
    form: &RawForm,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let panel = match form.edit(base) {
        Ok(edit) => panel(visit, base, edit)?,
        Err(found) => ChangePanel {
            lines: Vec::new(),
            removed: 0,
            problem: found.into_iter().next().map_or(String::new(), |it| it.text),
        },
    };
    let argument = head.argument();
    let page = RawPage {
        frame: head.frame(visit, "Raw values").errors(errors).same([
            format!("handfast name show {argument} --json"),
            match base.values.first().map(|value| (value.index, value.ttl)) {
                Some((index, Ttl::Relative(ttl))) => {
                    format!("handfast name set {argument} --ttl {index}:{ttl}")
                }
                _ => format!("handfast name set {argument} --value 'INDEX:TYPE:TEXT'"),
            },
            format!(
                "curl -H \"Authorization: Bearer $HANDFAST_TOKEN\" {}",
                head.api(visit)
            ),
        ]),
        name: head,
        form,
        panel,
    };
    Ok(page.frame.respond(status, &page))
}

impl RawForm {
    fn of(record: &Record) -> Self {
        Self {
            version: record.version,
            event: record.last_event,
            rows: record.values.iter().map(RawFields::of).collect(),
            removed: Vec::new(),
        }
    }

    /// Reads a form that was sent. A value that is not in it stays as it is.
    fn read(visit: &Visit<'_>, base: &Record) -> Self {
        let part = |name: &str| exact(visit, name).into_iter().map(str::to_string);
        let mut parts = [
            part("raw-was"),
            part("raw-index"),
            part("raw-type"),
            part("raw-data"),
            part("raw-format"),
            part("raw-ttl"),
            part("raw-permissions"),
        ];
        let mut rows = Vec::new();
        while let [
            Some(was),
            Some(index),
            Some(value_type),
            Some(data),
            Some(format),
            Some(ttl),
            Some(permissions),
        ] = parts.each_mut().map(Iterator::next)
        {
            rows.push(RawFields {
                was,
                index: index.trim().to_string(),
                value_type: value_type.trim().to_string(),
                data: sent_text(&data),
                format,
                ttl: ttl.trim().to_string(),
                permissions: permissions.trim().to_string(),
            });
        }
        let mut form = Self {
            version: base.version,
            event: base.last_event,
            removed: numbers(visit, "removed"),
            rows,
        };
        let left: Vec<_> = base
            .values
            .iter()
            .filter(|value| {
                let was = value.index.to_string();
                !form.removed.contains(&value.index) && form.rows.iter().all(|row| row.was != was)
            })
            .map(RawFields::of)
            .collect();
        form.rows.extend(left);
        form.removed.retain(|index| at(base, *index).is_some());
        form
    }

    /// Does what a button says that stores nothing.
    fn step(&mut self, button: &str) {
        if button == "add-row" {
            self.rows.push(RawFields {
                format: "text".to_string(),
                ttl: "86400".to_string(),
                permissions: "1110".to_string(),
                ..RawFields::default()
            });
        }
        let row = button.strip_prefix("remove-");
        let row = row.and_then(|at| at.parse::<usize>().ok());
        if let Some(at) = row.filter(|at| *at < self.rows.len()) {
            let row = self.rows.remove(at);
            self.removed.extend(row.was.parse::<u32>());
        }
    }

    /// The field of a value in this form, by its field in the other form, `text-INDEX`.
    fn field_of(&self, field: &str) -> String {
        let index = field.strip_prefix("text-");
        let row = index.and_then(|index| self.rows.iter().position(|row| row.index == index));
        row.map_or_else(String::new, |row| format!("raw-data-{}", row + 1))
    }

    fn edit(&self, base: &Record) -> Result<Edit, Vec<FieldError>> {
        let (mut edit, mut errors) = (Edit::remove(&self.removed), Vec::new());
        for (place, row) in self.rows.iter().enumerate() {
            let before = row.was.parse().ok().and_then(|index| at(base, index));
            match row.value(place + 1, before) {
                Ok(put) if edit.put.iter().any(|other| other.index == put.index) => {
                    let text = format!("Two values have the index {}.", put.index);
                    errors.push(FieldError::new(format!("raw-index-{}", place + 1), text));
                }
                Ok(put) => edit.put.push(put),
                Err(found) => errors.extend(found),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        // A value that has moved to another index is no longer at its own.
        let is_there = |index: u32| edit.put.iter().any(|put| put.index == index);
        let moved = base.values.iter().map(|value| value.index);
        let moved = moved.filter(|index| !is_there(*index) && !self.removed.contains(index));
        let moved: Vec<_> = moved.collect();
        edit.remove.retain(|index| !is_there(*index));
        edit.remove.extend(moved);
        edit.put.retain(|put| {
            let before = at(base, put.index);
            before.is_none_or(|before| !value_of(put, Some(before)).is_unchanged_from(before))
        });
        Ok(edit)
    }
}

impl RawFields {
    fn of(value: &Value<'_>) -> Self {
        let text = field_text(value).filter(|_| !value.data.contains(&b'\r'));
        let (format, data) = match text {
            _ if value.is_type("HS_SECKEY") => ("secret", String::new()),
            Some(text) => ("text", text),
            None => ("hex", hex(&value.data)),
        };
        Self {
            was: value.index.to_string(),
            index: value.index.to_string(),
            value_type: value.value_type.to_string(),
            data,
            format: format.to_string(),
            ttl: ttl_words(value.ttl),
            permissions: value.permissions.to_string(),
        }
    }

    /// The fields in one line: part of their names, label and text.
    fn parts(&self) -> [(&'static str, &'static str, &str); 4] {
        [
            ("index", "Index", &self.index),
            ("type", "Type", &self.value_type),
            ("ttl", "TTL, seconds", &self.ttl),
            ("permissions", "Permissions", &self.permissions),
        ]
    }

    fn is_secret(&self) -> bool {
        self.format == "secret"
    }

    fn is_long(&self) -> bool {
        self.data.len() > 60 || self.data.contains('\n')
    }

    /// The value of a row, or everything that is wrong with the row.
    fn value(
        &self,
        place: usize,
        before: Option<&Value<'static>>,
    ) -> Result<NewValue, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut wrong = |field: &str, text: String| {
            let text = format!("Row {place}: {text}.");
            errors.push(FieldError::new(format!("raw-{field}-{place}"), text));
        };
        let index = self.index.parse().ok();
        let index = index.filter(|index: &u32| (1..=0x7FFF_FFFF).contains(index));
        if index.is_none() {
            wrong("index", "an index is a number from 1 to 2147483647".into());
        }
        if self.value_type.is_empty() {
            wrong("type", "write a type such as URL".into());
        }
        let ttl = ttl_of(&self.ttl);
        if ttl.is_none() {
            wrong("ttl", "a TTL is a number of seconds such as 86400".into());
        }
        let permissions = self.permissions.parse();
        if let Err(error) = &permissions {
            wrong("permissions", format!("{error}"));
        }
        let data = match (self.format.as_str(), before) {
            ("secret", Some(before)) if self.data.is_empty() => Some(before.data.to_vec()),
            ("hex", _) => bytes_of(&self.data),
            _ => Some(self.data.clone().into_bytes()),
        };
        if data.is_none() {
            let text = "the data is not pairs of hexadecimal digits";
            wrong("data", text.into());
        }
        let (true, Some(index), Some(ttl), Ok(permissions), Some(data)) =
            (errors.is_empty(), index, ttl, permissions, data)
        else {
            return Err(errors);
        };
        Ok(NewValue {
            permissions: Some(permissions),
            ttl: Some(ttl),
            references: before
                .map(|before| before.references.clone())
                .unwrap_or_default(),
            ..NewValue::new(index, &self.value_type, &data)
        })
    }
}
