//! Checking the store: is everything as it was written?

use std::ops::ControlFlow;

use handfast_id::{CordraId, Handle, HandleProfile, Rules};
use handfast_store::{StoreError, Table, TableKey};

use crate::access::account::Account;
use crate::access::group::{GROUPS, GROUPS_OF, is_consistent};
use crate::access::principal::Principal;
use crate::authority::policy::Authority;
use crate::change::change_set::{AUTHORITY_HISTORY, authority_commitments, commitments};
use crate::change::view::{View, read_event};
use crate::error::RegistryError;
use crate::log::event::{Action, Commitments, Event, Subject};
use crate::lookup::value_index::{left_for_later, reverse_value};
use crate::name::create::is_stable;
use crate::name::record::Record;
use crate::name::url::{is_url_type, url_problem};
use crate::namespace::comments::COMMENT;
use crate::namespace::policy::POLICY;
use crate::namespace::stored::{ENTRY, NAMESPACE_HISTORY, StoredNamespace};
use crate::namespace::{NamespaceComment, NamespacePolicy};
use crate::registry::Registry;

/// The result of a check.
#[derive(Debug, Default)]
pub struct Check {
    /// The number of records.
    pub records: u64,
    /// The number of earlier versions.
    pub versions: u64,
    /// The number of authorities.
    pub authorities: u64,
    /// The number of stored entries of the `info` registry.
    pub namespaces: u64,
    /// The number of events.
    pub events: u64,
    /// The errors.
    pub problems: Vec<Problem>,
    /// The number of names with a URL that no browser could follow.
    pub malformed_urls: u64,
    /// The number of names that look like CORDRA identifiers, in uppercase, under an authority of
    /// ordinary handles. Earlier versions wrote such names in uppercase, however they were
    /// registered.
    pub uppercased: u64,
    /// The first of them.
    pub first_uppercased: Vec<String>,
}

/// The maximum number of listed names whose spelling may have been changed.
const MAX_UPPERCASED: usize = 1_000;

/// An error in the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An authority cannot be read.
    #[error("authority {0} is damaged")]
    Authority(String),
    /// An event cannot be read, or has another number.
    #[error("event {0} is damaged")]
    Event(u64),
    /// Numbers of events are missing before this one.
    #[error("events before event {0} are missing")]
    Gap(u64),
    /// The subject of an event does not exist.
    #[error("{0} is not as event {1}, its last, left it")]
    Missing(String, u64),
    /// An account, or the principal of an opaque id, is damaged.
    #[error("{} is damaged", .0.escape_debug())]
    Person(String),
    /// The index of values does not have as many entries as the records have values.
    #[error("the index of values has {found} entries where the records have {expected} values")]
    Index {
        /// The number of entries.
        found: u64,
        /// The expected number.
        expected: u64,
    },
    /// An entry of the `info` registry, a comment on one, or its policy is damaged.
    #[error("{} of the info registry is damaged", .0.escape_debug())]
    Namespace(String),
    /// A record cannot be read.
    #[error("the record of {0} is damaged")]
    Record(String),
    /// The values of a record differ from the commitments of its last event.
    #[error("the record of {0} is not what event {1} says")]
    RecordAndEvent(String, u64),
    /// The rules of its namespace give the name another key than its stored one, so that a lookup
    /// does not find it.
    #[error("{0} is not found: the rules of its namespace change it")]
    Unstable(String),
    /// An earlier version cannot be read, or differs from the commitment of its event.
    #[error("version {1} of {0} is damaged")]
    Version(String, u64),
}

impl Registry {
    /// Reads the whole store, and compares records with their events. It lists errors of the
    /// content; damaged pages are an error, because no data beside them proves anything.
    pub fn check(&self) -> Result<Check, RegistryError> {
        let check = self.read(|view| {
            let mut check = Check::default();
            check.events(view)?;
            check.authorities(view)?;
            check.namespaces(view)?;
            check.records(view)?;
            check.versions(view)?;
            check.names_of_events(view)?;
            check.people(view)?;
            Ok(check)
        })?;
        // Tables without a check of their own are read to their end, too.
        for table in self.store.check()? {
            table.entries?;
        }
        Ok(check)
    }
}

impl Check {
    fn events(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        let mut expected = 1;
        self.table(view, Table::Events, |check, table_key, bytes| {
            let number = table_key.number().unwrap_or_default();
            check.events += 1;
            if number != expected {
                check.problems.push(Problem::Gap(number));
            }
            expected = number + 1;
            if read_event(bytes).is_none_or(|event| event.number != number) {
                check.problems.push(Problem::Event(number));
            }
        })
    }

    fn authorities(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        self.table(view, Table::Authorities, |check, table_key, bytes| {
            check.authorities += 1;
            let key = String::from_utf8_lossy(table_key.name()).into_owned();
            let read = postcard::from_bytes::<Authority>(bytes);
            let is_right = read.is_ok_and(|authority| {
                authority.path.key() == key && is_committed_authority(view, &authority)
            });
            if !is_right {
                check.problems.push(Problem::Authority(key));
            }
        })
    }

    fn records(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        let mut indexed = 0;
        self.table(view, Table::Records, |check, table_key, bytes| {
            check.records += 1;
            let key = String::from_utf8_lossy(table_key.name()).into_owned();
            match Record::from_bytes(bytes) {
                Err(_) => {
                    let name = Record::name_in(bytes).unwrap_or(&key);
                    check
                        .problems
                        .push(Problem::Record(format!("{name} ({key})")));
                }
                Ok(record) if !is_committed(view, &key, &record) => {
                    let name = format!("{} ({key})", record.text);
                    check
                        .problems
                        .push(Problem::RecordAndEvent(name, record.last_event));
                }
                Ok(record) => {
                    indexed += distinct_values(&record);
                    if has_malformed_url(&record) {
                        check.malformed_urls += 1;
                    }
                    if is_uppercased(view, &record) {
                        check.uppercased += 1;
                        if check.first_uppercased.len() < MAX_UPPERCASED {
                            check.first_uppercased.push(record.text);
                        }
                    }
                    if key.starts_with("info:") && !is_stable(&key, view) {
                        check.problems.push(Problem::Unstable(key));
                    }
                }
            }
        })?;
        let is_whole = self.problems.is_empty();
        let is_left = !matches!(left_for_later(view), Ok(None));
        let found = view.now.count(Table::Reverse)?;
        // Unreadable records have been reported, and postponed index entries are not there yet.
        if is_whole && !is_left && found != indexed {
            let expected = indexed;
            self.problems.push(Problem::Index { found, expected });
        }
        Ok(())
    }

    fn versions(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        self.table(view, Table::Versions, |check, table_key, bytes| {
            check.versions += 1;
            let key = String::from_utf8_lossy(table_key.name()).into_owned();
            let version = table_key.number().unwrap_or_default();
            let is_right = if let Some(name) = key.strip_prefix(NAMESPACE_HISTORY) {
                is_committed_namespace(view, name, Some(version), bytes)
            } else if key.starts_with(AUTHORITY_HISTORY) {
                postcard::from_bytes::<Authority>(bytes).is_ok_and(|authority| {
                    key.strip_prefix(AUTHORITY_HISTORY) == Some(authority.path.key())
                        && authority.version == version
                        && is_committed_authority(view, &authority)
                })
            } else {
                Record::from_bytes(bytes).is_ok_and(|record| {
                    record.version == version && is_committed(view, &key, &record)
                })
            };
            if !is_right {
                check.problems.push(Problem::Version(key, version));
            }
        })
    }

    fn namespaces(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        self.table(view, Table::Namespaces, |check, table_key, bytes| {
            let key = String::from_utf8_lossy(table_key.name()).into_owned();
            let is_committed = |number: u64, commitments: &Commitments| {
                matches!(view.event(number), Ok(Some(event)) if event.commitments == *commitments)
            };
            let is_right = if let Some(name) = key.strip_prefix(ENTRY) {
                check.namespaces += 1;
                is_committed_namespace(view, name, None, bytes)
            } else if key.starts_with(COMMENT) {
                postcard::from_bytes::<NamespaceComment>(bytes)
                    .is_ok_and(|comment| is_committed(comment.event, &comment.commitments()))
            } else if table_key.name().starts_with(POLICY) {
                postcard::from_bytes::<NamespacePolicy>(bytes)
                    .is_ok_and(|policy| is_committed(policy.event, &policy.commitments()))
            } else {
                false
            };
            if !is_right {
                check.problems.push(Problem::Namespace(key));
            }
        })
    }

    /// Checks that accounts are stored under their names, and opaque ids in both directions.
    fn people(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        self.table(view, Table::Accounts, |check, table_key, bytes| {
            let account = Account::from_bytes(bytes);
            let who = account.and_then(|account| Principal::account(&account.name).ok());
            if who.is_none_or(|who| who.key().as_bytes() != table_key.name()) {
                check.problems.push(Problem::Person(
                    String::from_utf8_lossy(table_key.name()).into_owned(),
                ));
            }
        })?;
        for start in [GROUPS, GROUPS_OF] {
            view.scan_names(&TableKey::named(Table::Meta, start), |table_key, bytes| {
                if !is_consistent(view, table_key, bytes) {
                    let key = String::from_utf8_lossy(table_key.name()).into_owned();
                    self.problems.push(Problem::Person(key));
                }
                Ok(())
            })?;
        }
        self.table(view, Table::Actors, |check, table_key, bytes| {
            let is_known = match table_key.name().strip_prefix(b"id:") {
                Some(id) => postcard::from_bytes::<Principal>(bytes).is_ok_and(|who| {
                    let key = [b"who:", who.key().as_bytes()].concat();
                    let found = view.decode_stored::<[u8; 16]>(Table::Actors, &key);
                    found.is_ok_and(|found| found.is_some_and(|found| found == id))
                }),
                None => postcard::from_bytes::<[u8; 16]>(bytes).is_ok_and(|id| {
                    let who = view.actor(&id).ok().flatten();
                    let key = who.map(|who| who.key()).unwrap_or_default();
                    table_key.name().strip_prefix(b"who:") == Some(key.as_bytes())
                }),
            };
            if !is_known {
                let key = String::from_utf8_lossy(table_key.name()).into_owned();
                check.problems.push(Problem::Person(key));
            }
        })
    }

    /// Checks that everything that an event created, and no later event removed, exists.
    fn names_of_events(&mut self, view: &View<'_>) -> Result<(), RegistryError> {
        // Entries of keys with the same beginning may be mixed: the last event of a key is known
        // only when no key follows that begins with it, or that it begins with.
        let mut open: Vec<(String, u64)> = Vec::new();
        self.table(view, Table::EventsByKey, |check, table_key, _| {
            let key = String::from_utf8_lossy(table_key.name());
            let number = table_key.number().unwrap_or_default();
            let is_unlike = |(other, _): &mut (String, u64)| {
                !(key.starts_with(other.as_str()) || other.starts_with(&*key))
            };
            let done: Vec<_> = open.extract_if(.., is_unlike).collect();
            for last in done {
                check.is_there(view, &last);
            }
            match open.iter_mut().find(|(other, _)| *other == *key) {
                Some((_, last)) => *last = number,
                None => open.push((key.into_owned(), number)),
            }
        })?;
        for last in open {
            self.is_there(view, &last);
        }
        // And the other direction: an event that names its subject is listed under it.
        self.table(view, Table::Events, |check, table_key, bytes| {
            let number = table_key.number().unwrap_or_default();
            let Some(event) = read_event(bytes) else {
                return;
            };
            let is_found = match &event.subject {
                Subject::Open(key) | Subject::Opened { key, .. } => {
                    let table_key = TableKey::event_of(key.as_bytes(), number);
                    matches!(view.now.get(&table_key, |_| ()), Ok(Some(())))
                }
                Subject::Hidden(_) | Subject::None => true,
            };
            let is_opened = !event.action.is_of_people()
                || view.event_note(number).is_ok_and(|note| {
                    note.is_none_or(|note| note.commitments() == event.commitments)
                });
            let has_actor = matches!(view.actor(&event.actor), Ok(Some(_)));
            if !(is_found && is_opened && has_actor) {
                check.problems.push(Problem::Event(number));
            }
        })
    }

    /// Whether the stored state is as the last event of a name or an authority says.
    fn is_there(&mut self, view: &View<'_>, last: &(String, u64)) {
        let (key, number) = (&last.0, last.1);
        let Ok(Some(event)) = view.event(number) else {
            self.problems.push(Problem::Event(number));
            return;
        };
        let is_gone = matches!(event.action, Action::Erase | Action::DeclineAuthority);
        let made_by = match key.strip_prefix(AUTHORITY_HISTORY) {
            _ if key.starts_with(NAMESPACE_HISTORY) => view
                .stored_namespace(key.trim_start_matches(NAMESPACE_HISTORY))
                .map(|found| found.map(|found| found.last_event)),
            Some(key) => view
                .authority_by_key(key)
                .map(|found| found.map(|found| found.last_event)),
            None => view
                .record(key)
                .map(|found| found.map(|found| found.last_event)),
        };
        match made_by {
            Ok(Some(made_by)) if !is_gone && made_by == number => {}
            Ok(None) if is_gone => {}
            // An unreadable one has been reported.
            Err(_) => {}
            Ok(_) => self.problems.push(Problem::Missing(key.clone(), number)),
        }
    }

    fn table(
        &mut self,
        view: &View<'_>,
        table: Table,
        mut visit: impl FnMut(&mut Self, &TableKey<'_>, &[u8]),
    ) -> Result<(), RegistryError> {
        view.now
            .scan(&TableKey::named(table, b""), &mut |table_key, bytes| {
                visit(self, table_key, bytes);
                // LMDB reads nothing more in a transaction that has met a damaged page: entries
                // would look wrong because others are not found.
                if view.now.is_damaged() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        if view.now.is_damaged() {
            return Err(StoreError::Damaged.into());
        }
        Ok(())
    }
}

/// Whether a name has a URL that no browser could follow: the protocol and `import --migrate`
/// accept any.
fn has_malformed_url(record: &Record) -> bool {
    let mut urls = record.values.iter();
    urls.any(|value| {
        is_url_type(&value.value_type) && value.text().is_none_or(|url| url_problem(url).is_some())
    })
}

/// Whether a name has the form of a CORDRA identifier in uppercase, under an authority of another
/// profile (`CID-12`).
fn is_uppercased(view: &View<'_>, record: &Record) -> bool {
    let Ok(handle) = Handle::parse(&record.text) else {
        return false;
    };
    let suffix = handle.suffix();
    suffix.len() == 32
        && suffix.bytes().any(|byte| byte.is_ascii_uppercase())
        && !suffix.bytes().any(|byte| byte.is_ascii_lowercase())
        && !handle.prefix().is_doi()
        && CordraId::from_handle(&handle).is_some()
        && view.handle_profile(&handle.prefix()) == HandleProfile::Handle
}

/// The number of index entries of a record.
fn distinct_values(record: &Record) -> u64 {
    let values = record.values.iter();
    let values = values.filter(|value| value.is_public());
    let mut values: Vec<_> = values.map(reverse_value).collect();
    values.sort_unstable();
    values.dedup();
    u64::try_from(values.len()).unwrap_or(u64::MAX)
}

/// Whether an event committed to a version of a record, under its key.
fn is_committed(view: &View<'_>, key: &str, record: &Record) -> bool {
    let Ok(Some(event)) = view.event(record.last_event) else {
        return false;
    };
    names(&event, key, record)
        && event.version == record.version
        && event.commitments == commitments(record)
}

fn is_committed_authority(view: &View<'_>, authority: &Authority) -> bool {
    let Ok(Some(event)) = view.event(authority.last_event) else {
        return false;
    };
    let committed = authority_commitments(authority);
    event.version == authority.version
        && committed.is_ok_and(|(commitments, _)| commitments == event.commitments)
}

/// Whether an event committed to an entry, or to an earlier version of one. Entries that come with
/// the program have no event.
fn is_committed_namespace(view: &View<'_>, name: &str, version: Option<u64>, bytes: &[u8]) -> bool {
    let Ok(stored) = postcard::from_bytes::<StoredNamespace>(bytes) else {
        return false;
    };
    let (last_event, commitments) = (stored.last_event, stored.commitments());
    let Some(entry) = stored.read() else {
        return false;
    };
    if entry.name() != name || version.is_some_and(|version| version != entry.version) {
        return false;
    }
    if last_event == 0 {
        return version == Some(1) && entry.historical;
    }
    matches!(view.event(last_event), Ok(Some(event)) if event.version == entry.version
        && event.authority == format!("info:{name}")
        && event.commitments == commitments)
}

fn names(event: &Event, key: &str, record: &Record) -> bool {
    match &event.subject {
        Subject::Hidden(_) => record
            .salt
            .is_some_and(|salt| Subject::hide(key, &salt) == event.subject),
        Subject::None => false,
        Subject::Open(open) | Subject::Opened { key: open, .. } => open == key,
    }
}
