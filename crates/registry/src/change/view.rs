//! The state as a snapshot shows it, read into the types of the domain.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use handfast_id::{
    CaseRule, Handle, HandleProfile, HdlUri, HttpResolver, Identifier, InfoGrammar,
    NamespaceLookup, Prefix, Recognised, RecognisedBy, Rules, UrnProfile, is_trimmed, recognise,
};
use handfast_store::{Snapshot, Table, TableKey};
use serde::de::DeserializeOwned;

use crate::access::principal::Principal;
use crate::authority::path::{AuthorityPath, PathError};
use crate::authority::policy::Authority;
use crate::error::RegistryError;
use crate::log::event::{Action, Event};
use crate::name::record::Record;
use crate::namespace::{NamespaceGeneration, NamespaceRules};

/// A snapshot, and the rules that apply in it.
pub(crate) struct View<'n> {
    pub(crate) now: &'n Snapshot<'n>,
    rules: &'n NamespaceRules,
    /// The entries of the `info` registry, read at first use.
    namespaces: OnceCell<Option<Arc<NamespaceGeneration>>>,
    /// The rules of the last prefix: reading one identifier asks for them several times.
    last: RefCell<Option<(String, PrefixRules)>>,
    /// The identities that may do everything.
    pub(crate) administrators: &'n [Principal],
    /// Authorities that a dry run plans to create.
    planned: Option<&'n HashMap<String, Authority>>,
}

/// The rules for the handles under a prefix.
#[derive(Clone, Copy)]
struct PrefixRules {
    case: CaseRule,
    profile: HandleProfile,
    is_known: bool,
}

impl<'n> View<'n> {
    pub(crate) fn new(now: &'n Snapshot<'n>, rules: &'n NamespaceRules) -> Self {
        Self {
            now,
            rules,
            namespaces: OnceCell::new(),
            last: RefCell::new(None),
            administrators: &[],
            planned: None,
        }
    }

    /// Sets the identities that may do everything.
    pub(crate) fn with_administrators(self, administrators: &'n [Principal]) -> Self {
        Self {
            administrators,
            ..self
        }
    }

    /// Adds authorities that a dry run plans to create.
    pub(crate) fn with_planned(self, planned: &'n HashMap<String, Authority>) -> Self {
        Self {
            planned: Some(planned),
            ..self
        }
    }

    /// The configured rules and the entries of the `info` registry.
    pub(crate) fn rules(&self) -> &'n NamespaceRules {
        self.rules
    }

    /// Reads an identifier that a person or a program wrote.
    pub(crate) fn identify<'t>(&self, text: &'t str) -> Result<Identifier<'t>, RegistryError> {
        self.recognised(text).map(|found| found.identifier)
    }

    /// Reads a name to be registered. Nothing is cut off (`CID-14`).
    pub(crate) fn identify_new<'t>(&self, text: &'t str) -> Result<Identifier<'t>, RegistryError> {
        let found = self.recognised(text)?;
        let checked = found.check_whole(self);
        checked.map_err(|source| RegistryError::identifier(text, source))?;
        Ok(found.identifier)
    }

    /// Whether a program that sends this handle means it literally: it is neither a URI nor a web
    /// address, and has no space around it.
    pub(crate) fn is_bare_handle(&self, text: &str) -> bool {
        if !is_trimmed(text) {
            return false;
        }
        // Most prefixes are numbers; no scheme and no host name begins with one. Such a text need
        // not be parsed twice.
        let prefix = text.split('/').next().unwrap_or_default();
        let is_numeric = prefix
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let mut resolvers = self.resolvers().iter();
        if is_numeric && !resolvers.any(|resolver| resolver.authority() == prefix) {
            return true;
        }
        recognise(text, self).is_ok_and(|found| found.by == RecognisedBy::BareHandle)
    }

    fn recognised<'t>(&self, text: &'t str) -> Result<Recognised<'t>, RegistryError> {
        let found = recognise(text, self);
        let found = found.map_err(|source| RegistryError::identifier(text, source))?;
        if matches!(found.identifier, Identifier::Info(_)) {
            // Without its rules the name would get another key than its stored one.
            self.rules.at(self.now)?;
        }
        Ok(found)
    }

    /// Reads the name of a stored record, also of a name that could not be registered here and was
    /// imported as it was (`HDL-8`).
    pub(crate) fn identify_registered<'t>(
        &self,
        text: &'t str,
    ) -> Result<Identifier<'t>, RegistryError> {
        let read = self.identify(text);
        // White space that is trimmed may be part of such a name.
        if read.is_ok() && is_trimmed(text) {
            return read;
        }
        let literal = match HdlUri::stored_handle(text).filter(|_| read.is_err()) {
            Some(handle) => Ok(handle),
            None => Handle::from_stored(text),
        };
        if let Ok(handle) = literal {
            let stored = Identifier::Handle(handle);
            if self.record(stored.key(self).as_str())?.is_some() {
                return Ok(stored);
            }
        }
        read
    }

    /// The key and the authority of a stored name.
    pub(crate) fn place_of(&self, id: &str) -> Result<(String, AuthorityPath), RegistryError> {
        let identifier = self.identify_registered(id)?;
        let key = identifier.key(self).as_str().to_string();
        Ok((key, AuthorityPath::of(&identifier, self)))
    }

    /// Reads the path of an authority.
    pub(crate) fn path(&self, text: &str) -> Result<AuthorityPath, RegistryError> {
        let read = AuthorityPath::parse(text, self);
        // Earlier versions made prefixes that begin like a URI, or that stand in brackets: they can
        // still be administered.
        if matches!(read, Err(PathError::Syntax(_) | PathError::Wrapped { .. }))
            && let Ok(prefix) = Prefix::parse(text)
        {
            let literal = AuthorityPath::of_prefix(&prefix);
            if self.authority(&literal)?.is_some() {
                return Ok(literal);
            }
        }
        read.map_err(|error| match error {
            PathError::Colon { .. } | PathError::Name { .. } | PathError::Wrapped { .. } => {
                RegistryError::policy("bad-character", format!("{text}: {error}"))
            }
            PathError::NotDelegated { nid } => RegistryError::policy(
                "not-delegated",
                format!("urn:{nid} has no authority paths: its authority is urn:{nid} itself"),
            ),
            PathError::Syntax(source) => RegistryError::identifier(text, source),
        })
    }

    pub(crate) fn authority(
        &self,
        path: &AuthorityPath,
    ) -> Result<Option<Authority>, RegistryError> {
        self.authority_by_key(path.key())
    }

    pub(crate) fn authority_by_key(&self, key: &str) -> Result<Option<Authority>, RegistryError> {
        if let Some(planned) = self.planned.and_then(|planned| planned.get(key)) {
            return Ok(Some(planned.clone()));
        }
        self.decode_stored(Table::Authorities, key.as_bytes())
    }

    /// Reads a stored value in postcard form.
    pub(crate) fn decode_stored<T: DeserializeOwned>(
        &self,
        table: Table,
        key: &[u8],
    ) -> Result<Option<T>, RegistryError> {
        let read = |bytes: &[u8]| postcard::from_bytes(bytes).ok();
        let what = || format!("{} {}", table.name(), String::from_utf8_lossy(key));
        self.stored(&TableKey::named(table, key), read, what)
    }

    /// Reads a stored entry.
    pub(crate) fn stored<T>(
        &self,
        table_key: &TableKey<'_>,
        read: impl FnOnce(&[u8]) -> Option<T>,
        what: impl FnOnce() -> String,
    ) -> Result<Option<T>, RegistryError> {
        match self.now.get(table_key, read)? {
            Some(None) => Err(RegistryError::corrupt(what())),
            found => Ok(found.flatten()),
        }
    }

    /// Visits the entries of a table from a key on, as long as the visitor returns `true`.
    pub(crate) fn scan_while(
        &self,
        from: &TableKey<'_>,
        mut visit: impl FnMut(&TableKey<'_>, &[u8]) -> Result<bool, RegistryError>,
    ) -> Result<(), RegistryError> {
        let mut outcome = Ok(true);
        self.now.scan(from, &mut |table_key, bytes| {
            outcome = visit(table_key, bytes);
            match outcome {
                Ok(true) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        })?;
        outcome.map(|_| ())
    }

    /// Visits the entries of a table whose names begin with the name of a key, from that key on.
    pub(crate) fn scan_names(
        &self,
        from: &TableKey<'_>,
        mut visit: impl FnMut(&TableKey<'_>, &[u8]) -> Result<(), RegistryError>,
    ) -> Result<(), RegistryError> {
        self.scan_while(from, |table_key, bytes| {
            let is_meant = table_key.name().starts_with(from.name());
            if is_meant {
                visit(table_key, bytes)?;
            }
            Ok(is_meant)
        })
    }

    /// Reads all entries of a table whose names begin with a text.
    pub(crate) fn decode_all<T: DeserializeOwned>(
        &self,
        table: Table,
        start: &[u8],
        what: &str,
    ) -> Result<Vec<T>, RegistryError> {
        let mut all = Vec::new();
        self.scan_names(&TableKey::named(table, start), |_, bytes| {
            all.push(postcard::from_bytes(bytes).map_err(|_| RegistryError::corrupt(what))?);
            Ok(())
        })?;
        Ok(all)
    }

    pub(crate) fn record(&self, key: &str) -> Result<Option<Record>, RegistryError> {
        let read = |bytes: &[u8]| Record::from_bytes(bytes).ok();
        let what = || format!("the record of {key}");
        self.stored(&TableKey::record(key.as_bytes()), read, what)
    }

    /// Checks that the shortened key of an unregistered name is not that of another name.
    pub(crate) fn ensure_free_place(&self, key: &str) -> Result<(), RegistryError> {
        if self
            .now
            .is_of_other_name(&TableKey::record(key.as_bytes()))?
        {
            let problem = "this name cannot be registered: it ends in the digest of a longer name \
                           that is registered here; choose another name";
            return Err(RegistryError::policy("key-taken", problem));
        }
        Ok(())
    }

    pub(crate) fn version(&self, key: &str, version: u64) -> Result<Option<Record>, RegistryError> {
        let read = |bytes: &[u8]| Record::from_bytes(bytes).ok();
        let what = || format!("version {version} of {key}");
        self.stored(&TableKey::version(key.as_bytes(), version), read, what)
    }

    /// An event. Its leaf hash follows it.
    pub(crate) fn event(&self, number: u64) -> Result<Option<Event>, RegistryError> {
        let what = || format!("event {number}");
        self.stored(&TableKey::event(number), read_event, what)
    }

    /// An event that must exist.
    pub(crate) fn existing_event(&self, number: u64) -> Result<Event, RegistryError> {
        let event = self.event(number)?;
        event.ok_or_else(|| RegistryError::corrupt(format!("event {number}")))
    }

    /// The bytes of an event that must exist, as they are in the log.
    pub(crate) fn event_bytes(&self, number: u64) -> Result<Vec<u8>, RegistryError> {
        let read = |bytes: &[u8]| Some(bytes.split_last_chunk::<32>()?.0.to_vec());
        let bytes = self.now.get(&TableKey::event(number), read)?.flatten();
        bytes.ok_or_else(|| RegistryError::corrupt(format!("event {number}")))
    }

    /// The numbers of the events of a name.
    pub(crate) fn events_of(&self, key: &str) -> Result<Vec<u64>, RegistryError> {
        let mut numbers = Vec::new();
        let mut next = Some(0);
        while let Some(from) = next.take() {
            let from = TableKey::event_of(key.as_bytes(), from);
            self.now.scan(&from, &mut |place, _| {
                if place.name() == key.as_bytes() {
                    numbers.extend(place.number());
                    return ControlFlow::Continue(());
                }
                match behind(key.as_bytes(), place) {
                    Behind::End => ControlFlow::Break(()),
                    Behind::Here => ControlFlow::Continue(()),
                    Behind::Number(number) => {
                        next = Some(number);
                        ControlFlow::Break(())
                    }
                }
            })?;
        }
        Ok(numbers)
    }

    /// The last event of a name among the first `count` events.
    fn last_event_of(&self, key: &str, events: u64) -> Result<Option<u64>, RegistryError> {
        let last = TableKey::event_of(key.as_bytes(), events);
        let Some(last) = self.now.at_or_before(&last)? else {
            return Ok(None);
        };
        if last.name() == key.as_bytes() {
            return Ok(last.number());
        }
        // Entries of a key with the same beginning may follow its last event.
        if last.name().starts_with(key.as_bytes()) {
            return Ok(self.events_of(key)?.pop());
        }
        Ok(None)
    }

    /// Checks that a key may be assigned after so many events: it never was assigned, or its last
    /// event erased it. A missing record is not enough, since a record can be lost.
    pub(crate) fn check_unassigned(&self, key: &str, events: u64) -> Result<(), RegistryError> {
        let Some(event) = self.last_event_of(key, events)? else {
            return Ok(());
        };
        let last = self.event(event)?;
        if last.is_some_and(|last| last.action == Action::Erase) {
            return Ok(());
        }
        Err(RegistryError::LostRecord {
            key: key.to_string(),
            event,
        })
    }

    fn prefix_rules(&self, prefix: &Prefix<'_>) -> PrefixRules {
        if let Some((text, rules)) = &*self.last.borrow()
            && text == prefix.as_str()
        {
            return *rules;
        }
        let rules = match self.authority(&AuthorityPath::of_prefix(prefix)) {
            Ok(Some(authority)) if authority.status.is_in_force() => PrefixRules {
                case: authority.policy.case_rule(),
                profile: authority.policy.profile(),
                is_known: true,
            },
            _ => PrefixRules {
                case: self.rules.base.case_rule(prefix),
                profile: self.rules.base.handle_profile(prefix),
                is_known: self.rules.base.knows(prefix),
            },
        };
        self.last
            .replace(Some((prefix.as_str().to_string(), rules)));
        rules
    }

    /// The principal behind an opaque id.
    pub(crate) fn actor(&self, id: &[u8; 16]) -> Result<Option<Principal>, RegistryError> {
        self.decode_stored(Table::Actors, &[b"id:", &id[..]].concat())
    }
}

/// Where the events of a key continue after an entry of another key.
enum Behind {
    /// Nowhere: there are no more.
    End,
    /// At the next entry.
    Here,
    /// At this number: all entries before it belong to other keys.
    Number(u64),
}

/// An entry is a key followed by a number of 8 bytes. Entries of a longer key with the same
/// beginning can therefore stand between the entries of a key. The scan skips them by seeking,
/// however many they are.
fn behind(key: &[u8], other: &TableKey<'_>) -> Behind {
    let Some(rest) = other.name().strip_prefix(key) else {
        return Behind::End;
    };
    // The stored key of a long name lacks the end of the name, so its position is unknown.
    if key.len() > MAX_SEEK_KEY {
        return Behind::Here;
    }
    let number = other.number().unwrap_or_default().to_be_bytes();
    let first = rest.iter().chain(&number).take(8);
    let first = first.fold(0, |all, byte| all << 8 | u64::from(*byte));
    first.checked_add(1).map_or(Behind::End, Behind::Number)
}

/// The longest key that fits, with 8 bytes of its own behind it, into the stored key of a longer
/// name.
const MAX_SEEK_KEY: usize = 440;

/// The bytes of an event and its leaf hash, as they are stored.
pub(crate) fn with_leaf(event: &Event) -> (Vec<u8>, [u8; 32]) {
    let mut bytes = event.to_bytes();
    let leaf = Event::leaf(&bytes);
    bytes.extend(leaf);
    (bytes, leaf)
}

/// Reads an event back, if its bytes match the leaf hash.
pub(crate) fn read_event(bytes: &[u8]) -> Option<Event> {
    let (bytes, leaf) = bytes.split_last_chunk::<32>()?;
    (Event::leaf(bytes) == *leaf).then(|| Event::from_bytes(bytes).ok())?
}

/// The rules of the authorities that are registered here, and the general rules. An authority that
/// cannot be read counts as absent here; reading it directly reports the damage.
impl Rules for View<'_> {
    fn case_rule(&self, prefix: &Prefix<'_>) -> CaseRule {
        self.prefix_rules(prefix).case
    }

    fn knows(&self, prefix: &Prefix<'_>) -> bool {
        self.prefix_rules(prefix).is_known
    }

    fn handle_profile(&self, prefix: &Prefix<'_>) -> HandleProfile {
        self.prefix_rules(prefix).profile
    }

    fn urn_profile(&self, nid: &str) -> Option<&UrnProfile> {
        self.rules.base.urn_profile(nid)
    }

    fn info_grammar(&self) -> InfoGrammar {
        self.rules.base.info_grammar()
    }

    fn namespace(&self, name: &str) -> NamespaceLookup<'_> {
        let generation = self.namespaces.get_or_init(|| self.rules.at(self.now).ok());
        match generation {
            Some(generation) => generation.rules.lookup(name),
            // Reading it directly reports the damage.
            None => NamespaceLookup::Unavailable,
        }
    }

    fn resolvers(&self) -> &[HttpResolver] {
        self.rules.resolvers()
    }
}
