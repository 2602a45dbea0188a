//! Counts of names, by authority and state.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use handfast_store::{Snapshot, StoreError, Table, TableKey, Write};

use crate::authority::lineage::{Lineage, MAX_DEPTH};
use crate::error::RegistryError;
use crate::lookup::derived::environment::Position;
use crate::name::record::State;
use crate::registry::Registry;

/// How many names there are in each state.
///
/// ```
/// # use handfast_registry::StateCounts;
/// let counts = StateCounts { active: 5, reserved: 2, withdrawn: 1 };
/// assert_eq!(counts.total(), 8);
/// // Reserved names are not public, and neither is their number.
/// assert_eq!(counts.public(), 6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Names that resolve.
    pub active: u64,
    /// Names that only principals with a role see.
    pub reserved: u64,
    /// Names with a tombstone.
    pub withdrawn: u64,
}

impl StateCounts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.public().saturating_add(self.reserved)
    }

    /// Those that everybody may know of.
    #[must_use]
    pub fn public(&self) -> u64 {
        self.active.saturating_add(self.withdrawn)
    }

    pub(crate) fn add(&mut self, state: State, number: u64) {
        let count = match state {
            State::Active => &mut self.active,
            State::Reserved => &mut self.reserved,
            State::Withdrawn => &mut self.withdrawn,
        };
        *count = count.saturating_add(number);
    }

    /// The number of one state.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        match state {
            State::Active => self.active,
            State::Reserved => self.reserved,
            State::Withdrawn => self.withdrawn,
        }
    }

    pub(crate) fn add_all(&mut self, other: Self) {
        self.add(State::Active, other.active);
        self.add(State::Reserved, other.reserved);
        self.add(State::Withdrawn, other.withdrawn);
    }
}

/// How many names an authority has, after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameCounts {
    /// Names that resolve.
    pub active: u64,
    /// Names that only principals with a role see: so is their number.
    pub reserved: u64,
    /// Names with a tombstone.
    pub withdrawn: u64,
    /// The names of the authority and of all authorities below it.
    pub with_children: StateCounts,
    /// The last event whose effects are counted.
    pub as_of_event: u64,
}

impl NameCounts {
    fn new(own: StateCounts, with_children: StateCounts, as_of_event: u64) -> Self {
        Self {
            active: own.active,
            reserved: own.reserved,
            withdrawn: own.withdrawn,
            with_children,
            as_of_event,
        }
    }

    /// The names of the authority itself.
    #[must_use]
    pub fn own(&self) -> StateCounts {
        StateCounts {
            active: self.active,
            reserved: self.reserved,
            withdrawn: self.withdrawn,
        }
    }
}

/// How many names some authorities have, each with all authorities below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubtreeCounts {
    /// By the keys of the authorities.
    pub by_authority: HashMap<String, StateCounts>,
    /// Whether the names of all authorities were counted.
    pub is_complete: bool,
}

/// The maximum number of authorities with names that are counted for a list.
const MAX_COUNTED: usize = 20_000;

/// How many names there are in all, after an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTotals {
    /// By scheme: `hdl`, `urn`, `info`, `ark`. The records of prefixes count as handles.
    pub by_scheme: BTreeMap<String, u64>,
    /// By state.
    pub by_state: StateCounts,
    /// The last event whose effects are counted.
    pub as_of_event: u64,
}

impl Registry {
    /// How many names an authority has, without the record of a prefix. The caller decides which of
    /// the numbers to show: that of reserved names is not public.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/5555", NewName::default())?;
    /// assert_eq!(registry.counts("20.1000")?.active, 1);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn counts(&self, authority: &str) -> Result<NameCounts, RegistryError> {
        let path = self.read(|view| {
            let path = view.path(authority)?;
            view.existing_authority(&path)?;
            Ok(path)
        })?;
        let (all, as_of_event) = self.stored_counts_from(path.key())?;
        self.read(|view| {
            let (mut own, mut with_children) = (StateCounts::default(), StateCounts::default());
            let mut lineage = Lineage::of(view, path.key());
            for (key, counts) in all {
                if key == path.key() {
                    own = counts;
                }
                if path.is_above(&key) && lineage.derives(&key)? {
                    with_children.add_all(counts);
                }
            }
            Ok(NameCounts::new(own, with_children, as_of_event))
        })
    }

    /// How many names each of some authorities has, with all authorities below it. The work is
    /// bounded: it looks at no more than 20,000 authorities that have names.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_authority(&operator, "20.1.5", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1.5/a", NewName::default())?;
    /// let counts = registry.counts_with_children(["hdl:20.1"])?;
    /// assert_eq!(counts.by_authority["hdl:20.1"].active, 1);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn counts_with_children<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k str>,
    ) -> Result<SubtreeCounts, RegistryError> {
        let keys = keys.into_iter();
        let mut by_authority: HashMap<String, StateCounts> = keys
            .map(|key| (key.to_string(), StateCounts::default()))
            .collect();
        let (stored, _) = self.stored_counts_up_to("", MAX_COUNTED + 1)?;
        let is_complete = stored.len() <= MAX_COUNTED;
        self.read(|view| {
            // The parent of each authority on the way is read once.
            let mut parents: HashMap<String, Option<String>> = HashMap::new();
            for (key, counts) in stored.into_iter().take(MAX_COUNTED) {
                let mut next = Some(key);
                for _ in 0..MAX_DEPTH {
                    let Some(key) = next else { break };
                    if let Some(sum) = by_authority.get_mut(&key) {
                        sum.add_all(counts);
                    }
                    next = if let Some(parent) = parents.get(&key) {
                        parent.clone()
                    } else {
                        let authority = view.authority_by_key(&key)?;
                        let parent = authority.and_then(|authority| authority.parent);
                        let parent = parent.map(|parent| parent.key().to_string());
                        parents.insert(key, parent.clone());
                        parent
                    };
                }
            }
            Ok(SubtreeCounts {
                by_authority,
                is_complete,
            })
        })
    }

    /// The counts of all authorities, by their keys.
    pub fn counts_of_all(&self) -> Result<BTreeMap<String, NameCounts>, RegistryError> {
        let (stored, as_of_event) = self.stored_counts_from("")?;
        let stored: HashMap<String, StateCounts> = stored.into_iter().collect();
        let mut parents: BTreeMap<String, Option<String>> = BTreeMap::new();
        self.visit_authorities(None, &mut |authority| {
            let parent = authority.parent.map(|parent| parent.key().to_string());
            parents.insert(authority.path.key().to_string(), parent);
            ControlFlow::Continue(())
        })?;
        let own = |key: &str| stored.get(key).copied().unwrap_or_default();
        let mut all: BTreeMap<String, NameCounts> = BTreeMap::new();
        for key in parents.keys() {
            let counts = NameCounts::new(own(key), StateCounts::default(), as_of_event);
            all.insert(key.clone(), counts);
        }
        for key in parents.keys() {
            let mut next = Some(key);
            for _ in 0..MAX_DEPTH {
                let Some(key_above) = next else { break };
                if let Some(counts) = all.get_mut(key_above) {
                    counts.with_children.add_all(own(key));
                }
                next = parents.get(key_above).and_then(Option::as_ref);
            }
        }
        Ok(all)
    }

    /// How many names there are in all, by scheme and by state.
    pub fn name_totals(&self) -> Result<NameTotals, RegistryError> {
        let (all, as_of_event) = self.stored_counts_from("")?;
        let mut totals = NameTotals {
            as_of_event,
            ..NameTotals::default()
        };
        for (key, counts) in all {
            let scheme = key.split(':').next().unwrap_or_default();
            if counts.total() > 0 {
                *totals.by_scheme.entry(scheme.to_string()).or_default() += counts.total();
            }
            totals.by_state.add_all(counts);
        }
        Ok(totals)
    }

    /// The stored counts of authorities whose keys begin with a text, and their event.
    pub(crate) fn stored_counts_from(
        &self,
        start: &str,
    ) -> Result<(Vec<(String, StateCounts)>, u64), RegistryError> {
        self.stored_counts_up_to(start, usize::MAX)
    }

    /// The same, of at most some number of authorities.
    fn stored_counts_up_to(
        &self,
        start: &str,
        limit: usize,
    ) -> Result<(Vec<(String, StateCounts)>, u64), RegistryError> {
        let derived = self.current_derived()?;
        let found = derived.read(|now| {
            let mut all = Vec::new();
            now.scan(&counts_key(start), &mut |table_key, bytes| {
                if all.len() >= limit || !table_key.name().starts_with(start.as_bytes()) {
                    return ControlFlow::Break(());
                }
                let key = String::from_utf8_lossy(table_key.name()).into_owned();
                all.extend(read_counts(bytes).map(|counts| (key, counts)));
                ControlFlow::Continue(())
            })?;
            let position = Position::of(now)?.unwrap_or_default();
            Ok((all, position.event))
        })?;
        Ok(found)
    }
}

fn counts_key(authority: &str) -> TableKey<'_> {
    TableKey::named(Table::Authorities, authority.as_bytes())
}

/// The stored counts of an authority.
pub(crate) fn stored_counts(
    derived: &Snapshot<'_>,
    authority: &str,
) -> Result<StateCounts, StoreError> {
    let found = derived.get(&counts_key(authority), read_counts)?;
    Ok(found.flatten().unwrap_or_default())
}

pub(crate) fn write_counts(authority: &str, counts: StateCounts) -> Write {
    let numbers = [counts.active, counts.reserved, counts.withdrawn];
    Write::put(
        counts_key(authority),
        &numbers.map(u64::to_be_bytes).concat(),
    )
}

fn read_counts(bytes: &[u8]) -> Option<StateCounts> {
    let (active, rest) = bytes.split_first_chunk()?;
    let (reserved, withdrawn) = rest.split_first_chunk()?;
    Some(StateCounts {
        active: u64::from_be_bytes(*active),
        reserved: u64::from_be_bytes(*reserved),
        withdrawn: u64::from_be_bytes(withdrawn.try_into().ok()?),
    })
}
