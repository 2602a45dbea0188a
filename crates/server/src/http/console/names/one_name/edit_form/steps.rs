//! Buttons of the form that change it and store nothing: they work without script.

use handfast_registry::Record;

use super::{AddressFields, EditForm, TextFields};
use crate::http::console::frame::FieldError;
use crate::http::console::names::one_name::administrators::AdministratorFields;
use crate::http::console::names::one_name::locations::{LocationFields, LocationsFields};

/// The longest type of a value, in bytes.
const MAX_TYPE: usize = 255;

impl EditForm {
    /// Does what a button says, such as `up-1`; what is wrong, if it cannot.
    pub(in super::super) fn step(&mut self, button: &str, base: &Record) -> Option<FieldError> {
        if button == "add-value" {
            return self.add_value(base).err();
        }
        if button == "add-url" {
            self.addresses.push(AddressFields::default());
            self.focus = format!("url-{}", self.addresses.len());
            return None;
        }
        let numbers: Vec<usize> = button.split('-').filter_map(|it| it.parse().ok()).collect();
        let words: Vec<_> = button
            .split('-')
            .filter(|it| !starts_with_digit(it))
            .collect();
        match (words.as_slice(), numbers.as_slice()) {
            (["first"], [at]) => self.move_address(*at, 0),
            (["up"], [at]) => self.move_address(*at, at.saturating_sub(1)),
            (["down"], [at]) => self.move_address(*at, at.saturating_add(1)),
            (["remove"], [at]) => self.remove_address(*at),
            (["remove", "value"], [index]) => self.remove_value(*index, base),
            (["loc", "add"], [index]) => self.add_location(*index),
            (["loc", "remove"], [index, at]) => self.remove_location(*index, *at),
            _ => {}
        }
        None
    }

    fn move_address(&mut self, from: usize, to: usize) {
        if from < self.addresses.len() && to < self.addresses.len() {
            let row = self.addresses.remove(from);
            self.addresses.insert(to, row);
            self.focus = format!("url-{}", to + 1);
        }
    }

    fn remove_address(&mut self, at: usize) {
        if at < self.addresses.len() {
            self.addresses.remove(at);
        }
        if self.addresses.is_empty() {
            self.addresses.push(AddressFields::default());
        }
        self.focus = format!("url-{}", (at + 1).min(self.addresses.len()));
    }

    fn remove_value(&mut self, index: usize, base: &Record) {
        let Ok(index) = u32::try_from(index) else {
            return;
        };
        self.texts.retain(|row| row.index != index);
        self.administrators.retain(|row| row.index != index);
        self.locations.retain(|row| row.index != index);
        let is_stored = base.values.iter().any(|value| value.index == index);
        if is_stored && !self.removed.contains(&index) {
            self.removed.push(index);
        }
    }

    fn add_value(&mut self, base: &Record) -> Result<(), FieldError> {
        let value_type = match self.new_kind.as_str() {
            "title" => "TITLE".to_string(),
            "description" => "DESC".to_string(),
            "email" => "EMAIL".to_string(),
            "locations" => "10320/loc".to_string(),
            "administrator" => "HS_ADMIN".to_string(),
            _ => self.new_type.clone(),
        };
        if value_type.is_empty() || value_type.len() > MAX_TYPE {
            let text = "Write the type of the new value, such as TITLE, of at most 255 bytes.";
            return Err(FieldError::new("new-type", text));
        }
        let upper = value_type.to_ascii_uppercase();
        if upper == "URL" {
            self.addresses.push(AddressFields::default());
            self.focus = format!("url-{}", self.addresses.len());
        } else if upper == "HS_ADMIN" {
            let index = self.free(100, base);
            self.administrators.push(AdministratorFields::new(index));
            self.focus = format!("admin-handle-{index}");
        } else if upper == "10320/LOC" {
            let index = self.free(FIRST_INDEX, base);
            self.locations.push(LocationsFields::new(index));
            self.focus = format!("loc-href-{index}-1");
        } else if upper.starts_with("HS_") {
            let text = "The form has no fields for values of this type. Use the raw values.";
            return Err(FieldError::new("new-type", text));
        } else {
            let index = self.free(FIRST_INDEX, base);
            self.focus = format!("text-{index}");
            self.texts.push(TextFields {
                index,
                value_type,
                text: String::new(),
            });
        }
        self.new_type.clear();
        Ok(())
    }

    fn list(&mut self, index: usize) -> Option<&mut LocationsFields> {
        let index = u32::try_from(index).ok()?;
        self.locations.iter_mut().find(|list| list.index == index)
    }

    fn add_location(&mut self, index: usize) {
        if let Some(list) = self.list(index) {
            list.rows.push(LocationFields::new());
            self.focus = format!("loc-href-{index}-{}", self.rows_of(index));
        }
    }

    fn remove_location(&mut self, index: usize, at: usize) {
        if let Some(list) = self.list(index).filter(|list| at < list.rows.len()) {
            list.rows.remove(at);
        }
    }

    fn rows_of(&mut self, index: usize) -> usize {
        self.list(index).map_or(0, |list| list.rows.len())
    }
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

/// The lowest index of a new value: those before it are left to addresses.
const FIRST_INDEX: u32 = 10;
