//! The form that changes the values of a name: a part for each kind of value.

mod addresses;
mod steps;

use handfast_registry::{Edit, NewValue, Record};
use handfast_wire::Value;

pub(super) use self::addresses::AddressFields;
use super::administrators::AdministratorFields;
use super::changes::data_words;
use super::form_fields::{exact, field_text, free_index, numbers, sent_text};
use super::locations::LocationsFields;
use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;

/// The form.
pub(super) struct EditForm {
    /// The version of the record that it was made from, and the event of that version.
    pub(super) version: u64,
    pub(super) event: u64,
    pub(super) addresses: Vec<AddressFields>,
    pub(super) texts: Vec<TextFields>,
    pub(super) administrators: Vec<AdministratorFields>,
    pub(super) locations: Vec<LocationsFields>,
    /// Values that only the raw view can change.
    pub(super) others: Vec<OtherValue>,
    /// The indexes of values that are to be removed.
    pub(super) removed: Vec<u32>,
    /// The `id` of the field that gets the focus.
    pub(super) focus: String,
    pub(super) new_kind: String,
    pub(super) new_type: String,
}

/// A value that is a text.
pub(super) struct TextFields {
    pub(super) index: u32,
    pub(super) value_type: String,
    pub(super) text: String,
}

/// A value that the form shows and does not change.
pub(super) struct OtherValue {
    pub(super) index: u32,
    pub(super) value_type: String,
    pub(super) words: String,
}

impl TextFields {
    /// What people call such a value.
    pub(super) fn label(&self) -> &str {
        match self.value_type.to_ascii_uppercase().as_str() {
            "TITLE" => "Title",
            "DESC" => "Description",
            "EMAIL" => "E-mail",
            _ => &self.value_type,
        }
    }

    pub(super) fn is_long(&self) -> bool {
        self.text.contains('\n')
            || self.text.len() > 120
            || self.value_type.eq_ignore_ascii_case("DESC")
    }
}

impl EditForm {
    /// The form of a record.
    pub(super) fn of(record: &Record) -> Self {
        Self::with(&record.values, record.version, record.last_event)
    }

    /// The form with values, made from a version.
    pub(super) fn with(values: &[Value<'_>], version: u64, event: u64) -> Self {
        let mut form = Self {
            version,
            event,
            addresses: Vec::new(),
            texts: Vec::new(),
            administrators: Vec::new(),
            locations: Vec::new(),
            others: Vec::new(),
            removed: Vec::new(),
            focus: String::new(),
            new_kind: String::new(),
            new_type: String::new(),
        };
        for value in values {
            form.add(value);
        }
        if form.addresses.is_empty() {
            form.addresses.push(AddressFields::default());
        }
        form
    }

    fn add(&mut self, value: &Value<'_>) {
        if let Some(address) = AddressFields::of(value) {
            self.addresses.push(address);
        } else if let Some(administrator) = AdministratorFields::of(value) {
            self.administrators.push(administrator);
        } else if let Some(locations) = LocationsFields::of(value) {
            self.locations.push(locations);
        } else if let Some(text) = field_text(value).filter(|_| !is_technical(value)) {
            self.texts.push(TextFields {
                index: value.index,
                value_type: value.value_type.to_string(),
                text,
            });
        } else {
            self.others.push(OtherValue {
                index: value.index,
                value_type: value.value_type.to_string(),
                words: data_words(value),
            });
        }
    }

    /// Reads a form that was sent. A value that is not in it stays as it is, unless it is among
    /// those to be removed: a form that arrives in part removes nothing.
    pub(super) fn read(visit: &Visit<'_>, base: &Record) -> Self {
        let stored = Self::of(base);
        let is_stored = |index: u32| base.values.iter().any(|value| value.index == index);
        let removed = numbers(visit, "removed");
        let removed: Vec<_> = removed.into_iter().filter(|at| is_stored(*at)).collect();
        let addresses = AddressFields::read(visit);
        let sent = numbers(visit, "text-index");
        let mut texts: Vec<_> = sent
            .iter()
            .map(|index| TextFields {
                index: *index,
                value_type: visit.field(&format!("type-{index}")).to_string(),
                text: sent_text(visit.exact_field(&format!("text-{index}"))),
            })
            .collect();
        let is_left =
            |index: u32, sent: &[u32]| !sent.contains(&index) && !removed.contains(&index);
        texts.extend(
            stored
                .texts
                .into_iter()
                .filter(|it| is_left(it.index, &sent)),
        );
        let sent = numbers(visit, "admin-index");
        let mut administrators: Vec<_> = sent
            .iter()
            .map(|index| {
                let before = stored.administrators.iter().find(|it| it.index == *index);
                AdministratorFields::read(visit, *index, before)
            })
            .collect();
        let left = stored.administrators.into_iter();
        administrators.extend(left.filter(|it| is_left(it.index, &sent)));
        let sent = numbers(visit, "loc-index");
        let mut locations: Vec<_> = sent
            .iter()
            .map(|index| {
                let before = stored.locations.iter().find(|it| it.index == *index);
                LocationsFields::read(visit, *index, before)
            })
            .collect();
        let left = stored.locations.into_iter();
        locations.extend(left.filter(|it| is_left(it.index, &sent)));
        Self {
            version: base.version,
            event: base.last_event,
            addresses: addresses.unwrap_or(stored.addresses),
            texts,
            administrators,
            locations,
            others: stored.others,
            removed,
            focus: String::new(),
            new_kind: visit.field("new-kind").to_string(),
            new_type: visit.field("new-type").to_string(),
        }
    }

    /// The change that the form asks for, or what is wrong with its fields.
    pub(super) fn edit(&self, base: &Record) -> Result<Edit, Vec<FieldError>> {
        let at = |index: u32| base.values.iter().find(|value| value.index == index);
        let mut edit = Edit::remove(&self.removed);
        let mut errors = Vec::new();
        for row in &self.texts {
            let before = at(row.index);
            let stored = before.and_then(field_text);
            let is_same_type = before.is_some_and(|before| before.value_type == row.value_type);
            if is_same_type && stored.as_ref() == Some(&row.text) {
                continue;
            }
            if !row.text.is_empty() {
                let put = over(before, row.index, &row.value_type, row.text.as_bytes());
                edit.put.push(put);
            } else if before.is_some() {
                edit.remove.push(row.index);
            }
        }
        for row in &self.administrators {
            let before = at(row.index);
            match row.data() {
                Ok(data) if before.and_then(administrator_data) == Some(data.clone()) => {}
                Ok(data) => edit.put.push(over(before, row.index, "HS_ADMIN", &data)),
                Err(error) => errors.push(error),
            }
        }
        for list in &self.locations {
            let before = at(list.index);
            let stored = before.and_then(LocationsFields::of);
            if stored.is_some_and(|stored| stored.rows == list.rows) {
                continue;
            }
            match list.data() {
                Ok(_) if list.is_empty() && before.is_some() => edit.remove.push(list.index),
                Ok(_) if list.is_empty() => {}
                Ok(data) => edit.put.push(over(before, list.index, "10320/loc", &data)),
                Err(found) => errors.extend(found),
            }
        }
        let taken = |index: u32| self.is_taken(index, base);
        match addresses::edit(&self.addresses, base, taken) {
            Ok(addresses) => {
                edit.remove.extend(addresses.remove);
                edit.put.extend(addresses.put);
            }
            Err(found) => errors.splice(..0, found).for_each(drop),
        }
        if errors.is_empty() {
            Ok(edit)
        } else {
            Err(errors)
        }
    }

    /// Whether an index has a value, or will have one.
    fn is_taken(&self, index: u32, base: &Record) -> bool {
        base.values.iter().any(|value| value.index == index)
            || self.texts.iter().any(|row| row.index == index)
            || self.administrators.iter().any(|row| row.index == index)
            || self.locations.iter().any(|row| row.index == index)
    }

    /// The first index from a number on that has no value.
    pub(super) fn free(&self, from: u32, base: &Record) -> u32 {
        free_index(from, |index| self.is_taken(index, base))
    }

    /// Whether this field gets the focus.
    pub(super) fn is_focus(&self, field: &str) -> bool {
        self.focus == field
    }
}

/// A value in place of another: permissions, lifetime and references stay.
pub(super) fn over(
    before: Option<&Value<'static>>,
    index: u32,
    value_type: &str,
    data: &[u8],
) -> NewValue {
    NewValue {
        permissions: before.map(|before| before.permissions),
        ttl: before.map(|before| before.ttl),
        references: before
            .map(|before| before.references.clone())
            .unwrap_or_default(),
        ..NewValue::new(index, value_type, data)
    }
}

fn administrator_data(value: &Value<'_>) -> Option<Vec<u8>> {
    AdministratorFields::of(value)?.data().ok()
}

/// Whether a value is for programs of the handle system, although it may be a text.
fn is_technical(value: &Value<'_>) -> bool {
    let start = value.value_type.as_bytes().get(..3).unwrap_or_default();
    start.eq_ignore_ascii_case(b"HS_")
}
