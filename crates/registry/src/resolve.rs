//! Looking a handle up, as fast as can be: nothing is copied that is not in the answer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use handfast_id::{CaseRule, CordraId, Handle, HandleProfile};
use handfast_store::{Place, Table};
use handfast_wire::{Codec, Reader, Value};

use crate::authority::Authority;
use crate::record::{Record, State};
use crate::refusal::Refusal;
use crate::registry::Registry;

/// A record, lent.
#[derive(Clone, Copy, Debug)]
pub struct Lent<'r> {
    /// The name as it is registered.
    pub text: &'r str,
    /// Whether it is there.
    pub state: State,
    /// How many values it has.
    pub count: u32,
    /// Its values, in wire form, one behind the other.
    pub values: &'r [u8],
    /// Whether the record of its prefix has an `HS_NAMESPACE` value, which may have more to say.
    pub has_namespace: bool,
}

impl<'r> Lent<'r> {
    /// Its values, one by one, each with its wire form.
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

/// What is known of the prefixes that are kept here.
pub(crate) struct Prefixes {
    /// Another one when an authority has changed; no other registry has it.
    version: AtomicU64,
    known: RwLock<Known>,
}

/// What is known of prefixes in uppercase.
#[derive(Default)]
struct Known {
    /// In which version; 0 is none.
    version: u64,
    prefixes: HashMap<String, KnownPrefix>,
}

/// The newest version of any registry.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// How many prefixes a thread has at hand.
const AT_HAND: usize = 1_024;

thread_local! {
    /// What this thread has asked for before: locks that all threads take are slow, even those that many may hold.
    static SEEN: RefCell<Known> = RefCell::default();
}

impl Known {
    fn of(&self, version: u64) -> Option<&HashMap<String, KnownPrefix>> {
        (self.version == version).then_some(&self.prefixes)
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

    /// Says that authorities may have changed.
    pub(crate) fn changed(&self) {
        self.version.fetch_max(next_version(), Ordering::AcqRel);
    }
}

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::AcqRel) + 1
}

impl Registry {
    /// A number that grows whenever something has been committed, and again when it is known here which prefixes that
    /// concerns. What is read after the number stays so as long as the number is the same.
    #[must_use]
    pub fn edition(&self) -> u64 {
        // Neither ever becomes less, so that their sum is the same only if both are.
        let version = self.prefixes.version.load(Ordering::Acquire);
        self.store.commits().wrapping_add(version)
    }

    /// Lends the record of a handle, whatever its state. Outside is `None` if its prefix is not kept here,
    /// inside if the handle is not.
    pub fn lend<T>(
        &self,
        handle: &Handle<'_>,
        read: impl FnOnce(Lent<'_>) -> T,
    ) -> Result<Option<Option<T>>, Refusal> {
        // Most are looked up so, and the prefix is in it as it is known here.
        let folded = handle.key(CaseRule::AsciiInsensitive);
        let rest = folded.as_str().strip_prefix(OF_HANDLES);
        let upper = rest.and_then(|rest| rest.get(..handle.prefix().as_str().len()));
        let upper = upper.unwrap_or_default();
        let known = match self.known_prefix(upper)? {
            Some(known) => known,
            // The record of a prefix is kept with the prefix.
            None if upper == "0.NA" => KnownPrefix {
                case: CaseRule::AsciiInsensitive,
                profile: HandleProfile::Handle,
                has_namespace: false,
            },
            None => return Ok(None),
        };
        let key = match (known.profile, known.case) {
            // CID-8: query and fragment are no part of the record's name.
            (HandleProfile::Cordra, _) => match CordraId::parse(handle.as_str()) {
                Ok(id) => id.record().key(CaseRule::AsciiInsensitive),
                Err(_) => folded,
            },
            (HandleProfile::Handle, CaseRule::AsciiInsensitive) => folded,
            (HandleProfile::Handle, CaseRule::Sensitive) => handle.key(CaseRule::Sensitive),
        };
        let corrupt = || Refusal::Corrupt {
            what: format!("the record of {}", key.as_str()),
        };
        let place = Place::record(key.as_str().as_bytes());
        let with_namespace = |lent: Lent<'_>| {
            read(Lent {
                has_namespace: known.has_namespace,
                ..lent
            })
        };
        let lent = self
            .store
            .read(|now| now.get(&place, |bytes| Record::lend(bytes).map(with_namespace)))?;
        match lent {
            None => Ok(Some(None)),
            Some(Some(lent)) => Ok(Some(Some(lent))),
            Some(None) => Err(corrupt()),
        }
    }

    /// Whether a handle that is not stored may be one that a template makes.
    #[must_use]
    pub fn has_templates(&self, handle: &Handle<'_>) -> bool {
        let upper = handle.prefix().as_str().to_ascii_uppercase();
        let known = self.known_prefix(&upper);
        known.is_ok_and(|known| known.is_some_and(|known| known.has_namespace))
    }

    /// What is known of a prefix in uppercase, if it is kept here.
    pub(crate) fn known_prefix(&self, upper: &str) -> Result<Option<KnownPrefix>, Refusal> {
        let version = self.prefixes.version.load(Ordering::Acquire);
        let seen = SEEN.with_borrow(|seen| seen.of(version)?.get(upper).copied());
        if seen.is_some() {
            return Ok(seen);
        }
        let found = self.shared_prefix(version, upper)?;
        if let Some(found) = found {
            SEEN.with_borrow_mut(|seen| {
                if seen.version != version || seen.prefixes.len() >= AT_HAND {
                    seen.prefixes.clear();
                }
                seen.version = version;
                seen.prefixes.insert(upper.to_string(), found);
            });
        }
        Ok(found)
    }

    /// The same, from what all threads know.
    fn shared_prefix(&self, version: u64, upper: &str) -> Result<Option<KnownPrefix>, Refusal> {
        {
            let known = self.prefixes.known.read();
            let known = known.unwrap_or_else(PoisonError::into_inner);
            if let Some(prefixes) = known.of(version) {
                return Ok(prefixes.get(upper).copied());
            }
        }
        let mut prefixes = HashMap::new();
        self.store.read(|now| {
            now.scan(&Place::named(Table::Authorities, b""), &mut |_, bytes| {
                let authority = postcard::from_bytes::<Authority>(bytes).ok();
                let prefix = authority
                    .as_ref()
                    .and_then(|authority| authority.path.prefix());
                if let (Some(authority), Some(prefix)) = (&authority, prefix) {
                    let upper = prefix.as_str().to_ascii_uppercase();
                    let known = KnownPrefix {
                        case: authority.policy.case_rule(),
                        profile: authority.policy.profile(),
                        has_namespace: false,
                    };
                    prefixes.insert(upper, known);
                }
                ControlFlow::Continue(())
            })?;
            // The records of prefixes stand together.
            now.scan(
                &Place::record(OF_PREFIXES.as_bytes()),
                &mut |place, bytes| {
                    let key = std::str::from_utf8(place.name()).ok();
                    let Some(prefix) = key.and_then(|key| key.strip_prefix(OF_PREFIXES)) else {
                        return ControlFlow::Break(());
                    };
                    let known: Option<&mut KnownPrefix> = prefixes.get_mut(prefix);
                    if let (Some(known), Some(lent)) = (known, Record::lend(bytes)) {
                        let mut values = lent.iter();
                        known.has_namespace =
                            values.any(|(value, _)| value.is_type("HS_NAMESPACE"));
                    }
                    ControlFlow::Continue(())
                },
            )
        })?;
        let found = prefixes.get(upper).copied();
        let mut known = self
            .prefixes
            .known
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *known = Known { version, prefixes };
        Ok(found)
    }
}

/// How the keys of handles begin.
const OF_HANDLES: &str = "hdl:";

/// How the keys of the records of prefixes begin.
pub(crate) const OF_PREFIXES: &str = "hdl:0.NA/";
