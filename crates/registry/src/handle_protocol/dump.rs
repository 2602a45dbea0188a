//! A full copy for mirrors: active handles with all their values, and the prefixes that are
//! registered here (`handle-protocol.md` §11.4).

use handfast_id::{Handle, Identifier};
use handfast_store::TableKey;
use handfast_wire::Value;

use crate::error::RegistryError;
use crate::handle_protocol::transactions::{MAX_PAGE_BYTES, MAX_PAGE_ITEMS, handle_of, size};
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// The start of the keys of handles.
const SCHEME: &str = "hdl:";

/// A page of handles with all their values, in the order of their keys; secret values, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlePage {
    /// The handles.
    pub handles: Vec<(String, Vec<Value<'static>>)>,
    /// The handle to continue after; `None` at the end.
    pub last: Option<String>,
}

impl Registry {
    /// The active handles after one, as many as fit a page. `is_wanted` filters them.
    pub fn handles_after(
        &self,
        after: Option<&str>,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<HandlePage, RegistryError> {
        self.read(|view| {
            let after = after.map(|after| {
                let key = Handle::from_stored(after)
                    .map(|handle| Identifier::Handle(handle).key(view).as_str().to_string());
                key.unwrap_or_else(|_| format!("{SCHEME}{after}"))
            });
            let mut found: Vec<(String, Record)> = Vec::new();
            let (mut looked, mut bytes, mut last) = (0, 0, None);
            let from = TableKey::record(after.as_deref().unwrap_or(SCHEME).as_bytes());
            view.scan_while(&from, |table_key, value| {
                let key = String::from_utf8_lossy(table_key.name()).into_owned();
                let is_more = looked == MAX_PAGE_ITEMS || bytes >= MAX_PAGE_BYTES;
                if Some(&key) == after.as_ref() {
                    return Ok(true);
                }
                if !key.starts_with(SCHEME) || is_more {
                    return Ok(false);
                }
                looked += 1;
                last = key.strip_prefix(SCHEME).map(str::to_string);
                if !handle_of(&key).is_some_and(is_wanted) {
                    return Ok(true);
                }
                let corrupt = |_| RegistryError::corrupt(format!("the record of {key}"));
                let record = Record::from_bytes(value).map_err(corrupt)?;
                if record.state == State::Active {
                    bytes += size(&record.values);
                    found.push((key, record));
                }
                Ok(true)
            })?;
            let handles = found.into_iter().map(|(key, record)| {
                let values = view.with_grants(&key, record)?.values;
                let handle = key.strip_prefix(SCHEME).unwrap_or(&key);
                Ok((handle.to_string(), values))
            });
            Ok(HandlePage {
                handles: handles.collect::<Result<_, RegistryError>>()?,
                last,
            })
        })
    }

    /// The records of the prefixes that are registered here, as handles in order. Retired
    /// authorities are included, because their names keep resolving.
    pub fn homed(&self) -> Result<Vec<String>, RegistryError> {
        let authorities = self.authorities()?;
        let prefixes = authorities.iter().filter_map(|found| found.path.prefix());
        let mut handles: Vec<_> = prefixes
            .map(|prefix| format!("0.NA/{}", prefix.as_str().to_ascii_uppercase()))
            .collect();
        handles.sort();
        Ok(handles)
    }
}
