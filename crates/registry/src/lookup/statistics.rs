//! Statistics of the registry, and finding names by a value.

use std::ops::ControlFlow;

use handfast_store::Table;
use handfast_wire::Value;

use crate::access::principal::Principal;
use crate::error::RegistryError;
use crate::lookup::value_index::reverse_value;
use crate::name::record::State;
use crate::name::show::Shown;
use crate::registry::Registry;

/// The number of entries of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Names, including the records of prefixes.
    pub names: u64,
    /// Authorities, including open requests.
    pub authorities: u64,
    /// Accounts.
    pub accounts: u64,
    /// Events.
    pub events: u64,
    /// Earlier versions of names.
    pub versions: u64,
    /// Jobs, running or ended.
    pub jobs: u64,
}

impl Registry {
    /// Counts all entries, without reading them.
    ///
    /// ```
    /// # use handfast_registry::{Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// assert_eq!(registry.statistics()?.names, 0);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn statistics(&self) -> Result<Statistics, RegistryError> {
        self.read(|view| {
            let count = |table| Ok::<_, RegistryError>(view.now.count(table)?);
            Ok(Statistics {
                names: count(Table::Records)?,
                authorities: count(Table::Authorities)?,
                accounts: count(Table::Accounts)?,
                events: crate::log::tree::read(view.now)?.size(),
                versions: count(Table::Versions)?,
                jobs: count(Table::Jobs)?,
            })
        })
    }

    /// The names that have a public value, in the order of their keys, after a key: those that a
    /// principal may see and that still have the value. They come without their values, which may
    /// be very long.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/5555", NewName::urls(&["https://example.org/"]))?;
    /// let found = registry.holding(&operator, "url", b"https://example.org/", None, 10)?;
    /// assert_eq!(found[0].record.text, "20.1000/5555");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn holding(
        &self,
        who: &Principal,
        value_type: &str,
        data: &[u8],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Shown>, RegistryError> {
        let sought = reverse_value(&Value::new(0, value_type, data));
        self.read(|view| {
            let holder = |key: &str| {
                let Some(record) = view.record(key)? else {
                    return Ok(None);
                };
                // A withdrawn name does not resolve any more.
                let mut values = record.values.iter();
                let has_value =
                    values.any(|value| value.is_public() && reverse_value(value) == sought);
                if record.state != State::Active || !has_value {
                    return Ok(None);
                }
                view.show(who, &record.text)
                    .map(|shown| Some(shown.without_values()))
            };
            let (mut found, mut looked_at, mut outcome) = (Vec::new(), 0, Ok(()));
            view.now.names_with_value(&sought, &mut |key| {
                let key = String::from_utf8_lossy(key);
                if after.is_some_and(|after| &*key <= after) {
                    return ControlFlow::Continue(());
                }
                looked_at += 1;
                match holder(&key) {
                    Ok(shown) => found.extend(shown),
                    Err(error) => outcome = Err(error),
                }
                // Some keys may belong to other values with the same beginning, and some names are
                // not public.
                let is_enough = found.len() >= limit || looked_at >= MAX_SCANNED_NAMES;
                if outcome.is_err() || is_enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            outcome.map(|()| found)
        })
    }
}

/// The maximum number of candidate names that are read.
const MAX_SCANNED_NAMES: usize = 10_000;
