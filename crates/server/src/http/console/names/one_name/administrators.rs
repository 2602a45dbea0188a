//! `HS_ADMIN` values as a table of rights with check boxes.

use handfast_wire::{Admin, AdminPermissions as P, Codec, Reference, Value};

use super::form_fields::exact;
use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;

/// An administrator in the form.
pub(super) struct AdministratorFields {
    /// The index of the value.
    pub(super) index: u32,
    pub(super) handle: String,
    /// The index of the key or group that they are, as it was typed.
    pub(super) key: String,
    rights: P,
}

/// A row of the table of rights.
pub(super) struct RightsRow {
    pub(super) title: &'static str,
    pub(super) cells: [Option<RightBox>; 4],
}

/// A check box of the table of rights.
pub(super) struct RightBox {
    pub(super) bit: u16,
    pub(super) words: &'static str,
    pub(super) is_set: bool,
}

/// The rights of a row: to add, change, remove and read.
type RightsOf = [Option<(P, &'static str)>; 4];

const ROWS: [(&str, RightsOf); 4] = [
    (
        "Values",
        [
            Some((P::ADD_VALUE, "Add values")),
            Some((P::MODIFY_VALUE, "Change values")),
            Some((P::REMOVE_VALUE, "Remove values")),
            Some((P::READ_VALUE, "Read values that are not public")),
        ],
    ),
    (
        "Administrators",
        [
            Some((P::ADD_ADMIN, "Add administrators")),
            Some((P::MODIFY_ADMIN, "Change administrators")),
            Some((P::REMOVE_ADMIN, "Remove administrators")),
            None,
        ],
    ),
    (
        "Names",
        [
            Some((P::ADD_HANDLE, "Add names under the prefix")),
            None,
            Some((P::DELETE_HANDLE, "Remove this name")),
            Some((P::LIST_HANDLES, "List names under the prefix")),
        ],
    ),
    (
        "Prefixes below",
        [
            Some((P::ADD_DERIVED_PREFIX, "Add prefixes below")),
            None,
            Some((P::DELETE_DERIVED_PREFIX, "Remove prefixes below")),
            None,
        ],
    ),
];

impl AdministratorFields {
    /// A value as fields, if it is an administrator.
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        if !value.is_type("HS_ADMIN") {
            return None;
        }
        let admin = Admin::from_bytes(&value.data).ok()?;
        Some(Self {
            index: value.index,
            handle: admin.administrator.handle.into_owned(),
            key: admin.administrator.index.to_string(),
            rights: admin.permissions,
        })
    }

    /// A new administrator, who may change values.
    pub(super) fn new(index: u32) -> Self {
        Self {
            index,
            handle: String::new(),
            key: "300".to_string(),
            rights: P::ADD_VALUE | P::MODIFY_VALUE | P::REMOVE_VALUE | P::READ_VALUE,
        }
    }

    /// Reads the fields of a form.
    pub(super) fn read(visit: &Visit<'_>, index: u32, before: Option<&Self>) -> Self {
        let sent = exact(visit, &format!("admin-right-{index}"));
        // Bits that the table does not have stay as they were.
        let unknown = before.map_or(0, |before| before.rights.bits() & !P::ALL.bits());
        let rights = sent
            .iter()
            .filter_map(|text| text.parse::<u16>().ok())
            .fold(unknown, |all, bit| all | bit & P::ALL.bits());
        Self {
            index,
            handle: visit.field(&format!("admin-handle-{index}")).to_string(),
            key: visit.field(&format!("admin-key-{index}")).to_string(),
            rights: P::from_bits(rights),
        }
    }

    /// The data of the value.
    pub(super) fn data(&self) -> Result<Vec<u8>, FieldError> {
        let index = self.index;
        if self.handle.is_empty() {
            let text = "Write the handle of the administrator, such as 0.NA/20.1000.";
            return Err(FieldError::new(format!("admin-handle-{index}"), text));
        }
        let Ok(key) = self.key.parse() else {
            let text = "Write the index of the administrator's key or group, such as 300.";
            return Err(FieldError::new(format!("admin-key-{index}"), text));
        };
        let admin = Admin {
            permissions: self.rights,
            administrator: Reference::new(self.handle.as_str(), key),
        };
        Ok(admin.to_bytes())
    }

    /// The table of rights.
    pub(super) fn rows(&self) -> Vec<RightsRow> {
        let cell = |(right, words): (P, &'static str)| RightBox {
            bit: right.bits(),
            words,
            is_set: self.rights.contains(right),
        };
        let rows = ROWS.into_iter().map(|(title, cells)| RightsRow {
            title,
            cells: cells.map(|found| found.map(cell)),
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_right_once() {
        let fields = AdministratorFields {
            rights: P::ALL,
            ..AdministratorFields::new(100)
        };
        let bits: Vec<_> = fields
            .rows()
            .into_iter()
            .flat_map(|row| row.cells)
            .flatten()
            .inspect(|cell| assert!(cell.is_set))
            .map(|cell| cell.bit)
            .collect();
        assert_eq!(bits.len(), 12);
        assert_eq!(bits.iter().fold(0, |all, bit| all | bit), P::ALL.bits());
    }
}
