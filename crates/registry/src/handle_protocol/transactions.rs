//! Events as mirrors read them: the transactions of the handle protocol (`handle-protocol.md`
//! §11.1).
//!
//! | event | transaction |
//! | --- | --- |
//! | create, mint, activate, restore | create |
//! | change of values; a change of grants that alters a `0.NA/…` record | update |
//! | withdraw, erase | delete |
//! | create or approve an authority that is a prefix | home |
//! | all others; names that are no handles, or longer than the protocol's | none: numbers skip |
//!
//! Creating an authority also creates the record of its prefix, by an event of its own, which is a
//! create like any other. Retiring one is not an unhome: its names keep resolving here, and after
//! an unhome a mirror would refuse them.
//!
//! "The log stores no values; the sender looks up the *current* values when streaming." So a create
//! or update of a name that is no longer active is left out, and so is a delete of one that is
//! active again.
//!
//! A transaction names a handle by its key, whatever spelling it was registered in. After an
//! erasure only the key is left, and a mirror must delete the same handle that it received.

use std::collections::HashMap;

use handfast_id::Prefix;
use handfast_store::TableKey;
use handfast_wire::Value;

use crate::access::principal::Principal;
use crate::authority::create::prefix_key;
use crate::authority::policy::{Authority, Grant};
use crate::change::change_set::AUTHORITY_HISTORY;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::is_prefix_record;
use crate::log::event::{Action, Event, Subject};
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// The maximum length of a handle in the protocol, in bytes.
pub(crate) const MAX_HANDLE_BYTES: usize = 2_048;
/// The maximum number of events or records that are read at once.
pub(crate) const MAX_PAGE_ITEMS: usize = 1_000;
/// The maximum number of bytes of values that are read at once.
pub(crate) const MAX_PAGE_BYTES: usize = 4 << 20;
/// How many events ahead the keys of hidden names are resolved: each search scans all names of
/// their authority.
const MAX_LOOK_AHEAD: u64 = 100_000;

/// A transaction: one change that a mirror applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number, the same as that of the event.
    pub number: u64,
    /// What happened.
    pub action: TransactionAction,
    /// When, in milliseconds since 1970.
    pub date: u64,
    /// The handle.
    pub handle: String,
    /// All its current values, if it was created or updated; secret ones, too.
    pub values: Vec<Value<'static>>,
}

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionAction {
    /// The handle was created.
    Create,
    /// The handle was deleted.
    Delete,
    /// The prefix of the record is registered here.
    Home,
    /// Its values were changed.
    Update,
}

impl TransactionAction {
    /// Its number in the protocol.
    ///
    /// ```
    /// assert_eq!(handfast_registry::TransactionAction::Home.code(), 4);
    /// ```
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Create => 1,
            Self::Delete => 2,
            Self::Update => 3,
            Self::Home => 4,
        }
    }
}

/// The start of the current log of this registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogStart {
    /// Its first own event: 1, unless the registry was restored or began a new log.
    pub number: u64,
    /// When that was, in milliseconds since 1970.
    pub time: u64,
}

/// The transactions after one, up to the last event at the time of the request.
#[derive(Debug)]
pub struct Transactions {
    after: u64,
    last: u64,
    /// The last event with a transaction, or the one to start after.
    meant: u64,
    /// The keys of names by event, for events that hide them.
    hidden: HashMap<u64, String>,
    /// Up to which event the names of an authority were scanned.
    looked: HashMap<String, u64>,
}

impl Registry {
    /// The transactions after a number. They are read in pieces, each from a snapshot of its own,
    /// so that a slow reader keeps no old pages alive.
    ///
    /// ```
    /// # use handfast_registry::{Environment, NewAuthority, Principal, Registry};
    /// # use handfast_registry::TransactionAction;
    /// # let folder = tempfile::tempdir()?;
    /// # let environment = Environment::new(|| 1, |bytes| bytes.fill(0));
    /// # let registry = Registry::create(folder.path(), environment)?;
    /// registry.create_authority(&Principal::Operator, "20.500", NewAuthority::default())?;
    /// let mut transactions = registry.transactions(0)?;
    /// let first = transactions.read(&registry, &|_| true)?.unwrap();
    /// assert_eq!(first[0].action, TransactionAction::Home);
    /// assert_eq!(first[1].handle, "0.NA/20.500");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn transactions(&self, after: u64) -> Result<Transactions, RegistryError> {
        Ok(Transactions {
            after,
            last: self.event_count()?,
            meant: after,
            hidden: HashMap::new(),
            looked: HashMap::new(),
        })
    }

    /// The time of an event.
    pub fn event_time(&self, number: u64) -> Result<Option<u64>, RegistryError> {
        self.read(|view| Ok(view.event(number)?.map(|event| event.time)))
    }
}

impl Transactions {
    /// The number of the last event.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The next transactions, of which there may be none yet; `None` at the end. `is_wanted`
    /// filters by handle; every mirror gets the prefixes.
    pub fn read(
        &mut self,
        registry: &Registry,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Vec<Transaction>>, RegistryError> {
        if self.after >= self.last {
            return Ok(None);
        }
        registry.read(|view| {
            let mut read = Vec::new();
            let mut bytes = 0;
            for _ in 0..MAX_PAGE_ITEMS {
                if self.after >= self.last || bytes >= MAX_PAGE_BYTES {
                    break;
                }
                let number = self.after + 1;
                if let Some((after, through)) = registry.unmirrored.around(number) {
                    self.meant = self.meant.min(after);
                    self.after = through.min(self.last);
                    continue;
                }
                let event = view.existing_event(number)?;
                if let Some(transaction) = self.transaction(view, &event, is_wanted)? {
                    bytes += size(&transaction.values);
                    read.push(transaction);
                }
                self.after = number;
            }
            if self.after == self.last {
                registry.unmirrored.note(self.meant, self.last);
            }
            Ok(Some(read))
        })
    }

    fn transaction(
        &mut self,
        view: &View<'_>,
        event: &Event,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Transaction>, RegistryError> {
        let Some((action, key)) = self.meaning(view, event)? else {
            return Ok(None);
        };
        let Some(handle) = handle_of(&key) else {
            return Ok(None);
        };
        self.meant = event.number;
        let is_home = action == TransactionAction::Home;
        if !is_home && !is_wanted(handle) {
            return Ok(None);
        }
        let active = if is_home {
            None
        } else {
            view.active_record(&key)?
        };
        let values = match (action, active) {
            (TransactionAction::Create | TransactionAction::Update, None)
            | (TransactionAction::Delete, Some(_)) => return Ok(None),
            (TransactionAction::Delete, None) if !view.was_active(&key, event.number)? => {
                return Ok(None);
            }
            (_, active) => active.map(|record| record.values).unwrap_or_default(),
        };
        Ok(Some(Transaction {
            number: event.number,
            action,
            date: event.time,
            handle: handle.to_string(),
            values,
        }))
    }

    /// The transaction of an event, and the key of its subject.
    fn meaning(
        &mut self,
        view: &View<'_>,
        event: &Event,
    ) -> Result<Option<(TransactionAction, String)>, RegistryError> {
        let Some(prefix) = event.authority.strip_prefix("hdl:") else {
            return Ok(None);
        };
        let action = match event.action {
            Action::Create | Action::Mint | Action::Activate | Action::Restore => {
                TransactionAction::Create
            }
            Action::Change => TransactionAction::Update,
            Action::Withdraw | Action::Erase => TransactionAction::Delete,
            Action::CreateAuthority | Action::ApproveAuthority => TransactionAction::Home,
            Action::Grant
            | Action::Revoke
            | Action::TransferAuthority
            | Action::ChangeAuthority
                if view.alters_prefix(event)? =>
            {
                TransactionAction::Update
            }
            _ => return Ok(None),
        };
        let key = match &event.subject {
            Subject::None => Prefix::parse(prefix).ok().map(|prefix| prefix_key(&prefix)),
            Subject::Open(key) | Subject::Opened { key, .. } => Some(key.clone()),
            Subject::Hidden(_) => self.hidden_key(view, event)?,
        };
        Ok(key.map(|key| (action, key)))
    }

    /// The key of a name that an event hides. Events by key stay when a name is erased, so this
    /// server can always tell it, and only this server.
    fn hidden_key(
        &mut self,
        view: &View<'_>,
        event: &Event,
    ) -> Result<Option<String>, RegistryError> {
        let number = event.number;
        let looked = self.looked.get(&event.authority).copied();
        if looked.is_none_or(|looked| looked < number) {
            let until = number.saturating_add(MAX_LOOK_AHEAD);
            self.hidden.retain(|known, _| *known >= number);
            view.keys_of(&event.authority, number, until, &mut self.hidden)?;
            self.looked.insert(event.authority.clone(), until);
        }
        Ok(self.hidden.remove(&number))
    }
}

impl View<'_> {
    /// A handle that the protocol knows, with the computed values of a prefix.
    pub(crate) fn active_record(&self, key: &str) -> Result<Option<Record>, RegistryError> {
        let record = self.record(key)?;
        let Some(record) = record.filter(|record| record.state == State::Active) else {
            return Ok(None);
        };
        self.with_grants(key, record).map(Some)
    }

    /// A record, with the computed values if it is the record of a prefix.
    pub(crate) fn with_grants(
        &self,
        key: &str,
        mut record: Record,
    ) -> Result<Record, RegistryError> {
        if is_prefix_record(key)
            && let Some(authority) = self.authority_by_key(&record.authority)?
        {
            self.add_grants(&authority.path, &mut record, None)?;
        }
        Ok(record)
    }

    /// Whether a name was ever active before an event. No mirror has seen a name that was only
    /// reserved.
    fn was_active(&self, key: &str, before: u64) -> Result<bool, RegistryError> {
        for number in self.events_of(key)? {
            if number >= before {
                break;
            }
            let action = self.event(number)?.map(|event| event.action);
            if matches!(
                action,
                Some(Action::Create | Action::Mint | Action::Activate)
            ) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an event of an authority changed the computed values of the record of its prefix.
    fn alters_prefix(&self, event: &Event) -> Result<bool, RegistryError> {
        let after = self.authority_at(&event.authority, event.version)?;
        let before = event.version.checked_sub(1);
        let before = before.map(|version| self.authority_at(&event.authority, version));
        let (Some(before), Some(after)) = (before.transpose()?.flatten(), after) else {
            // A redundant transaction does no harm; a missing one would.
            return Ok(true);
        };
        Ok(!shown_grants(&before).eq(shown_grants(&after)))
    }

    /// An authority as an earlier version was.
    pub(crate) fn authority_at(
        &self,
        key: &str,
        version: u64,
    ) -> Result<Option<Authority>, RegistryError> {
        let current = self.authority_by_key(key)?;
        if let Some(current) = current.filter(|current| current.version == version) {
            return Ok(Some(current));
        }
        let history = format!("{AUTHORITY_HISTORY}{key}");
        let table_key = TableKey::version(history.as_bytes(), version);
        let read = |bytes: &[u8]| postcard::from_bytes(bytes).ok();
        let what = || format!("version {version} of authority {key}");
        self.stored(&table_key, read, what)
    }

    /// The keys of the names under an authority, by their events in a range.
    fn keys_of(
        &self,
        authority: &str,
        from: u64,
        until: u64,
        keys: &mut HashMap<u64, String>,
    ) -> Result<(), RegistryError> {
        let start = format!("{authority}/");
        let first = TableKey::event_of(start.as_bytes(), 0);
        self.scan_names(&first, |table_key, _| {
            if let Some(number) = table_key.number()
                && (from..=until).contains(&number)
            {
                let key = String::from_utf8_lossy(table_key.name()).into_owned();
                keys.insert(number, key);
            }
            Ok(())
        })
    }
}

/// The grants that the record of a prefix shows.
fn shown_grants(authority: &Authority) -> impl Iterator<Item = &Grant> {
    let is_shown = |grant: &&Grant| matches!(grant.to, Principal::Identity { .. });
    authority.grants.iter().filter(is_shown)
}

/// The handle of a key, if the protocol knows it.
pub(crate) fn handle_of(key: &str) -> Option<&str> {
    let handle = key.strip_prefix("hdl:")?;
    (handle.len() <= MAX_HANDLE_BYTES).then_some(handle)
}

/// The size of values in bytes.
pub(crate) fn size(values: &[Value<'_>]) -> usize {
    values.iter().map(Value::encoded_length).sum()
}
