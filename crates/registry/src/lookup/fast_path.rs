//! The fast path of resolution: it looks a handle up and copies nothing that is not in the
//! response.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use handfast_id::{CaseRule, CordraId, Handle, HandleProfile};
use handfast_store::{Table, TableKey};
use handfast_wire::{Codec, Reader, Value};

use crate::authority::policy::Authority;
use crate::error::RegistryError;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// A record, borrowed from the store.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'r> {
    /// The name as it is registered.
    pub text: &'r str,
    /// Its state.
    pub state: State,
    /// How many values it has.
    pub count: u32,
    /// Its values, in wire form, one after the other.
    pub values: &'r [u8],
    /// Whether the record of its prefix has an `HS_NAMESPACE` value, which may add values.
    pub has_namespace: bool,
}

impl<'r> RecordRef<'r> {
    /// Its values one by one, each with its wire form.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'r>, &'r [u8])> + use<'r> {
        let mut reader = Reader::new(self.values);
        (0..self.count).map_while(move |_| {
            let before = reader.rest();
            let value = Value::decode(&mut reader).ok()?;
            let length = before.len() - reader.rest().len();
            Some((value, before.get(..length)?))
        })
    }
}

/// A cache of the rules of the prefixes that are registered here, filled prefix by prefix.
///
/// The cache has a *version*, which changes with every change of an authority or of the record of a
/// prefix. Entries of an older version are not used, and each prefix is read again at its next
/// lookup. Only registered prefixes are cached, so that lookups of other prefixes do not fill it.
pub(crate) struct Prefixes {
    /// Changes when an authority changes, and is unique among all registries of the process.
    version: AtomicU64,
    known: RwLock<Known>,
}

/// The cached rules of prefixes, by prefix in uppercase.
#[derive(Default)]
struct Known {
    /// The version of the entries; 0 if there are none.
    version: u64,
    prefixes: HashMap<String, KnownPrefix>,
}

/// The newest version of any registry.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// The maximum number of prefixes that a thread caches. The most used ones are among them.
const MAX_PREFIXES_PER_THREAD: usize = 1_024;

/// The maximum number of prefixes that all threads share in one cache, some 100 bytes each.
const MAX_SHARED_PREFIXES: usize = 65_536;

thread_local! {
    /// The cache of this thread. A lock that all threads share is slow, even a read lock.
    static SEEN: RefCell<Known> = RefCell::default();
}

impl Known {
    fn get(&self, version: u64, upper: &str) -> Option<KnownPrefix> {
        if self.version == version {
            self.prefixes.get(upper).copied()
        } else {
            None
        }
    }

    fn insert(&mut self, version: u64, upper: &str, found: KnownPrefix, limit: usize) {
        // This result was read at an older version: drop it.
        if version < self.version {
            return;
        }
        if version > self.version || self.prefixes.len() >= limit {
            self.prefixes.clear();
        }
        self.version = version;
        self.prefixes.insert(upper.to_string(), found);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct KnownPrefix {
    pub(crate) case: CaseRule,
    pub(crate) profile: HandleProfile,
    has_namespace: bool,
}

impl Prefixes {
    pub(crate) fn new() -> Self {
        Self {
            version: AtomicU64::new(next_version()),
            known: RwLock::default(),
        }
    }

    /// The version: it grows when authorities may have changed.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Starts a new version, because authorities may have changed.
    pub(crate) fn changed(&self) {
        self.version.fetch_max(next_version(), Ordering::AcqRel);
    }
}

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::AcqRel) + 1
}

impl Registry {
    /// The cache generation. It increases at every commit, and again when the cache of prefixes has
    /// been updated for it. A value read after sampling the generation is valid while the
    /// generation is unchanged.
    #[must_use]
    pub fn cache_generation(&self) -> u64 {
        // Neither number ever decreases, so the sum is unchanged only if both are.
        let version = self.prefixes.version();
        self.store.commits().wrapping_add(version)
    }

    /// Passes the record of a handle, in any state, to a function. The outer `None` means that its
    /// prefix is not registered here, the inner one that the handle is not.
    pub fn with_record<T>(
        &self,
        handle: &Handle<'_>,
        read: impl FnOnce(RecordRef<'_>) -> T,
    ) -> Result<Option<Option<T>>, RegistryError> {
        // Most lookups take this path: the text has the prefix in the spelling of the cache.
        let folded = handle.key(CaseRule::AsciiInsensitive);
        let rest = folded.as_str().strip_prefix(OF_HANDLES);
        let upper = rest.and_then(|rest| rest.get(..handle.prefix().as_str().len()));
        let upper = upper.unwrap_or_default();
        let Some(known) = self.known_prefix(upper)? else {
            return Ok(None);
        };
        let key = match (known.profile, known.case) {
            // CID-8: query and fragment are not part of the name of the record.
            (HandleProfile::Cordra, _) => match CordraId::parse(handle.as_str()) {
                Ok(id) => id.record().key(CaseRule::AsciiInsensitive),
                Err(_) => folded,
            },
            (HandleProfile::Handle, CaseRule::AsciiInsensitive) => folded,
            (HandleProfile::Handle, CaseRule::Sensitive) => handle.key(CaseRule::Sensitive),
        };
        let corrupt = || RegistryError::corrupt(format!("the record of {}", key.as_str()));
        let table_key = TableKey::record(key.as_str().as_bytes());
        let with_namespace = |record: RecordRef<'_>| {
            read(RecordRef {
                has_namespace: known.has_namespace,
                ..record
            })
        };
        let record = self.store.read(|now| {
            now.get(&table_key, |bytes| {
                Record::borrow(bytes).map(with_namespace)
            })
        })?;
        match record {
            None => Ok(Some(None)),
            Some(Some(record)) => Ok(Some(Some(record))),
            Some(None) => Err(self.noted(corrupt())),
        }
    }

    /// Whether a template may compute the values of a handle that is not stored.
    #[must_use]
    pub fn has_templates(&self, handle: &Handle<'_>) -> bool {
        let upper = handle.prefix().as_str().to_ascii_uppercase();
        let known = self.known_prefix(&upper);
        known.is_ok_and(|known| known.is_some_and(|known| known.has_namespace))
    }

    /// The rules of a prefix in uppercase, if it is registered here.
    pub(crate) fn known_prefix(&self, upper: &str) -> Result<Option<KnownPrefix>, RegistryError> {
        let version = self.prefixes.version();
        let seen = SEEN.with_borrow(|seen| seen.get(version, upper));
        if seen.is_some() {
            return Ok(seen);
        }
        let found = self.shared_prefix(version, upper)?;
        if let Some(found) = found {
            SEEN.with_borrow_mut(|seen| {
                // Another registry of this process may have a newer version.
                if seen.version > version {
                    *seen = Known::default();
                }
                seen.insert(version, upper, found, MAX_PREFIXES_PER_THREAD);
            });
        }
        Ok(found)
    }

    /// The rules from the cache that all threads share, otherwise from the store, by two reads.
    fn shared_prefix(
        &self,
        version: u64,
        upper: &str,
    ) -> Result<Option<KnownPrefix>, RegistryError> {
        {
            let known = self.prefixes.known.read();
            let known = known.unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.get(version, upper) {
                return Ok(Some(found));
            }
        }
        let found = self.read_prefix(upper)?;
        if let Some(found) = found {
            let known = self.prefixes.known.write();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            known.insert(version, upper, found, MAX_SHARED_PREFIXES);
        }
        Ok(found)
    }

    fn read_prefix(&self, upper: &str) -> Result<Option<KnownPrefix>, RegistryError> {
        let authority = format!("{OF_HANDLES}{upper}");
        let authority = TableKey::named(Table::Authorities, authority.as_bytes());
        let record = format!("{OF_PREFIXES}{upper}");
        let record = TableKey::record(record.as_bytes());
        let read = |bytes: &[u8]| postcard::from_bytes::<Authority>(bytes).ok();
        let corrupt = || RegistryError::corrupt(format!("the authority of {upper}"));
        let is_namespace = |bytes: &[u8]| {
            let mut values = Record::borrow(bytes)
                .into_iter()
                .flat_map(|record| record.iter());
            values.any(|(value, _)| value.is_type("HS_NAMESPACE"))
        };
        let found = self.store.read(|now| {
            let authority = match now.get(&authority, read)? {
                // Its names must not look as if they had never been.
                Some(None) => return Ok(Err(corrupt())),
                found => found.flatten(),
            };
            let Some(authority) = authority.filter(|authority| authority.status.is_in_force())
            else {
                // The record of a prefix belongs to the prefix, and every client may ask for it.
                return Ok(Ok((upper == "0.NA").then_some(KnownPrefix {
                    case: CaseRule::AsciiInsensitive,
                    profile: HandleProfile::Handle,
                    has_namespace: false,
                })));
            };
            Ok(Ok(Some(KnownPrefix {
                case: authority.policy.case_rule(),
                profile: authority.policy.profile(),
                has_namespace: now.get(&record, is_namespace)?.unwrap_or(false),
            })))
        })?;
        found.map_err(|error| self.noted(error))
    }
}

/// Whether a write under this key may change the rules of a prefix.
pub(crate) fn is_about_prefixes(table_key: &TableKey<'_>) -> bool {
    match table_key.table() {
        Table::Authorities => true,
        Table::Records => table_key.name().starts_with(OF_PREFIXES.as_bytes()),
        _ => false,
    }
}

/// The start of the keys of handles.
const OF_HANDLES: &str = "hdl:";

/// The start of the keys of the records of prefixes.
pub(crate) const OF_PREFIXES: &str = "hdl:0.NA/";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AuthorityChange, Edit, Environment, Import, NewAuthority, NewName, NewValue, Principal,
    };

    const OPERATOR: Principal = Principal::Operator;

    fn scene(prefixes: u64) -> (tempfile::TempDir, Registry) {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
        let registry = Registry::create(folder.path(), environment).unwrap();
        for number in 0..prefixes {
            let new = NewAuthority::default();
            let path = format!("20.{number}");
            registry.create_authority(&OPERATOR, &path, new).unwrap();
        }
        (folder, registry)
    }

    fn find(registry: &Registry, handle: &str) -> &'static str {
        let handle = Handle::from_stored(handle).unwrap();
        match registry
            .with_record(&handle, |record| record.has_namespace)
            .unwrap()
        {
            None => "another site",
            Some(None) => "not there",
            Some(Some(false)) => "there",
            Some(Some(true)) => "there, with a namespace",
        }
    }

    fn cached(registry: &Registry) -> usize {
        registry.prefixes.known.read().unwrap().prefixes.len()
    }

    /// Guards: after any change of an authority the next lookup read all authorities, on the thread
    /// that serves sockets.
    #[test]
    fn a_look_up_reads_the_prefix_that_it_is_of_and_no_other() {
        let (_folder, registry) = scene(30);
        registry
            .create_name(&OPERATOR, "20.7/x", NewName::default())
            .unwrap();
        assert_eq!(find(&registry, "20.7/X"), "there");
        assert_eq!(find(&registry, "0.na/20.8"), "there");
        assert_eq!(cached(&registry), 2);
        // Lookups of unregistered prefixes fill nothing.
        for number in 0..100 {
            assert_eq!(find(&registry, &format!("21.{number}/x")), "another site");
        }
        assert_eq!(cached(&registry), 2);
        let change = AuthorityChange::default();
        registry
            .change_authority(&OPERATOR, "20.9", change)
            .unwrap();
        assert_eq!(find(&registry, "20.7/x"), "there");
        assert_eq!(cached(&registry), 1);
    }

    /// Guards: checkpoints and the errors of jobs emptied the cache of prefixes.
    #[test]
    fn only_authorities_and_records_of_prefixes_end_what_is_known_of_them() {
        let (_folder, registry) = scene(1);
        let version = || registry.prefixes.version();
        let before = version();
        registry
            .create_name(&OPERATOR, "20.0/x", NewName::default())
            .unwrap();
        registry.checkpoint().unwrap();
        let import = |lines: &str| {
            let import = Import {
                update: true,
                ..Import::default()
            };
            registry
                .import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ())
                .unwrap()
        };
        let imported = import("{\"id\":\"20.0/y\",\"state\":\"active\"}\n{\"id\":\"29.9/no\"}\n");
        assert_eq!((imported.counts.created, imported.counts.refused), (1, 1));
        assert_eq!(version(), before);
        assert_eq!(find(&registry, "20.0/y"), "there");

        // Changes of prefixes by imports and other changes are seen at once.
        let data = r#"{"format":"string","value":"<namespace/>"}"#;
        let value = format!(r#"{{"index":9,"type":"HS_NAMESPACE","data":{data}}}"#);
        import(&format!("{{\"id\":\"0.NA/20.0\",\"values\":[{value}]}}\n"));
        assert!(version() > before);
        assert_eq!(find(&registry, "20.0/y"), "there, with a namespace");
        let edit = Edit::remove(&[9]);
        registry.edit_name(&OPERATOR, "0.NA/20.0", edit).unwrap();
        assert_eq!(find(&registry, "20.0/y"), "there");
        let edit = Edit::put(vec![NewValue::new(9, "HS_NAMESPACE", b"<namespace/>")]);
        registry.edit_name(&OPERATOR, "0.NA/20.0", edit).unwrap();
        assert_eq!(find(&registry, "20.0/y"), "there, with a namespace");
        assert_eq!(find(&registry, "20.1/y"), "another site");
        registry
            .create_authority(&OPERATOR, "20.1", NewAuthority::default())
            .unwrap();
        assert_eq!(find(&registry, "20.1/y"), "not there");
    }

    #[test]
    fn the_cache_is_bounded() {
        let mut known = Known::default();
        let found = KnownPrefix {
            case: CaseRule::Sensitive,
            profile: HandleProfile::Handle,
            has_namespace: false,
        };
        for number in 0..100 {
            known.insert(2, &number.to_string(), found, 10);
            assert!(known.prefixes.len() <= 10);
        }
        assert!(known.get(2, "99").is_some() && known.get(3, "99").is_none());
        known.insert(1, "late", found, 10);
        assert!(known.get(2, "late").is_none());
    }
}
