//! Preparing one name: from a parsed line to the bytes of its record and event.
//!
//! This is most of the work of an import and needs nothing but the rules. So it runs in parallel,
//! before the writer decides.

use std::collections::HashMap;
use std::rc::Rc;

use handfast_id::{ErrorKind, Handle, Identifier, is_trimmed};
use handfast_wire::{Ttl, Value};
use sha2::{Digest, Sha256};

use crate::access::principal::{Principal, PrincipalError};
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus};
use crate::change::change_set::check_new_key;
use crate::change::change_set::{each_commitment, name_subject};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::merge::NamedValue;
use crate::import::parsed::ParsedName;
use crate::log::event::{Action, Commitments, Event};
use crate::lookup::value_index::IndexEntries;
use crate::name::create::{check_name, registered_text};
use crate::name::record::{Record, State, Tombstone};
use crate::name::url::{first_problem, is_plain, is_url_type};
use crate::name::values;

/// The context that all names of an import share.
#[derive(Clone)]
pub(crate) struct ImportContext {
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) actor: [u8; 16],
    pub(crate) node: u32,
    pub(crate) random: [u8; 32],
}

/// How names are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameOptions {
    /// The authority for local names (`HDL-10`).
    pub(crate) authority: Option<AuthorityPath>,
    /// Whether names that could not be registered here are accepted (`HDL-8`).
    pub(crate) migrate: bool,
    /// Whether all names are handles, as in files of handle servers.
    pub(crate) handles: bool,
    /// Whether an existing name keeps the values that a line does not name.
    pub(crate) merges: bool,
}

impl NameOptions {
    /// The full name for a name of the input: local names are put under the authority.
    pub(crate) fn whole(&self, name: String) -> String {
        match &self.authority {
            Some(path) => path.name(&name),
            None => name,
        }
    }
}

/// A name that is prepared for the writer.
pub(crate) struct PreparedName {
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) prepared: PreparedRecord,
}

/// The bytes of a new name: everything that is known before its event has a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreparedRecord {
    /// Whether one event creates it as it is; if not, a change set handles it.
    pub(crate) is_plain: bool,
    /// Whether the line sets its state.
    pub(crate) says_state: bool,
    /// Which values of an existing name the line changes; all of them if `None`.
    pub(crate) named: Option<Vec<NamedValue>>,
    pub(crate) record: Vec<u8>,
    pub(crate) event: Vec<u8>,
}

impl PreparedRecord {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(5 + self.record.len() + self.event.len());
        let named = self.named.as_ref();
        let named = named.map(|named| postcard::to_stdvec(named).unwrap_or_default());
        let flags = u8::from(self.is_plain) | u8::from(self.says_state) << 1;
        bytes.push(flags | u8::from(named.is_some()) << 2);
        if let Some(named) = named {
            let length = u32::try_from(named.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(&named);
        }
        let length = u32::try_from(self.record.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&self.record);
        bytes.extend_from_slice(&self.event);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (flags, rest) = bytes.split_first()?;
        let (named, rest) = if flags & 4 == 0 {
            (None, rest)
        } else {
            let (named, rest) = split_at_length(rest)?;
            (Some(postcard::from_bytes(named).ok()?), rest)
        };
        let (record, event) = split_at_length(rest)?;
        Some(Self {
            named,
            is_plain: flags & 1 != 0,
            says_state: flags & 2 != 0,
            record: record.to_vec(),
            event: event.to_vec(),
        })
    }
}

/// Reads bytes that follow their length; also returns the rest.
fn split_at_length(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    rest.split_at_checked(length)
}

/// The maximum length of an imported name, as for all identifiers.
const MAX_NAME_BYTES: usize = 8_192;

/// Checks that hold for every name, even for one that could not be registered here: its length, and
/// no U+0000.
pub(crate) fn check_text(id: &str) -> Result<(), RegistryError> {
    if id.len() > MAX_NAME_BYTES {
        let problem = format!("a name has at most {MAX_NAME_BYTES} bytes");
        return Err(RegistryError::policy("too-long", problem));
    }
    check_new_key(id)
}

/// Prepares names.
pub(crate) struct Preparing<'v> {
    view: &'v View<'v>,
    options: &'v NameOptions,
    context: &'v ImportContext,
    authorities: HashMap<String, Rc<Authority>>,
}

impl<'v> Preparing<'v> {
    pub(crate) fn new(
        view: &'v View<'v>,
        options: &'v NameOptions,
        context: &'v ImportContext,
    ) -> Self {
        Self {
            view,
            options,
            context,
            authorities: HashMap::new(),
        }
    }

    /// The authorities that were used, and their versions.
    pub(crate) fn assumed(&self) -> impl Iterator<Item = (&str, u64)> {
        let authorities = self.authorities.iter();
        authorities.map(|(key, authority)| (key.as_str(), authority.version))
    }

    /// Prepares a name, and collects the index entries of its values.
    pub(crate) fn prepared_name(
        &mut self,
        line: u64,
        parsed: &ParsedName<'_>,
        index: &mut IndexEntries,
    ) -> Result<PreparedName, RegistryError> {
        let whole;
        let id = match &self.options.authority {
            Some(path) => {
                whole = path.name(&parsed.id.0);
                &whole
            }
            None => &*parsed.id.0,
        };
        let identifier = self.identify(id)?;
        let path = AuthorityPath::of(&identifier, self.view);
        let authority = self.authority(&path)?;
        let key = identifier.key(self.view).as_str().to_string();
        let is_prefix = key.starts_with("hdl:0.NA/");
        if !is_prefix {
            check_name(&identifier, &authority, self.view)?;
        }
        if let Some(name) = path.namespace().filter(|_| !self.options.migrate) {
            self.view.live_namespace(name, self.context.time)?;
        }
        let mut record = self.record(&identifier, parsed, &authority)?;
        let (values, named) = self.values(parsed, authority.policy.default_ttl)?;
        record.version = 1;
        record.seed = self.random(line, b"seed in an import");
        let is_plain = record.state != State::Withdrawn
            && record.holder.is_none()
            && authority.status == AuthorityStatus::Active
            && !is_prefix
            // An update creates no name if the line gives neither values nor a state.
            && (!values.is_empty() || parsed.state.is_some());
        // Other names are indexed when the writer decides them.
        if is_plain {
            index.add(&key, &values);
        }
        let event = self.event(&key, line, &mut record, &values, &authority);
        Ok(PreparedName {
            line,
            prepared: PreparedRecord {
                is_plain,
                says_state: parsed.state.is_some(),
                named,
                record: record.to_bytes_with(&values),
                event: event.to_bytes(),
            },
            key,
        })
    }

    /// The input of a program is taken literally: nothing is trimmed.
    fn identify<'t>(&self, id: &'t str) -> Result<Identifier<'t>, RegistryError> {
        check_text(id)?;
        let refused = |source| RegistryError::identifier(id, source);
        let strict = if self.options.handles || !is_trimmed(id) {
            let handle = Handle::parse(id).map(Identifier::Handle);
            handle
                .and_then(|handle| handle.check_record(self.view).map(|()| handle))
                .map_err(refused)
        } else {
            self.view.identify_new(id)
        };
        match strict {
            // CID-14: an import cuts nothing off.
            Err(error) if self.options.migrate && !is_cut(&error) => Handle::from_stored(id)
                .map(Identifier::Handle)
                .map_err(|_| error),
            strict => strict,
        }
    }

    fn authority(&mut self, path: &AuthorityPath) -> Result<Rc<Authority>, RegistryError> {
        if let Some(authority) = self.authorities.get(path.key()) {
            return Ok(Rc::clone(authority));
        }
        let authority = match self.view.active(path) {
            // An existing name may stay under it: whether the name is new is decided later.
            Err(RegistryError::Retired(_)) => self.view.existing_authority(path),
            active => active,
        };
        let authority = Rc::new(authority?);
        let prepared = Rc::clone(&authority);
        self.authorities.insert(path.key().to_string(), prepared);
        Ok(authority)
    }

    /// The record without its values, which are borrowed from the line.
    fn record(
        &self,
        identifier: &Identifier<'_>,
        parsed: &ParsedName<'_>,
        authority: &Authority,
    ) -> Result<Record, RegistryError> {
        let state = parsed.state.unwrap_or(State::Active);
        let tombstone = match (&parsed.withdrawn, state) {
            (Some(parsed), State::Withdrawn) => Some(Tombstone {
                reason: parsed.reason.0.to_string(),
                date: parsed.date.unwrap_or(self.context.time),
                successor: parsed.successor.as_ref().map(|text| text.0.to_string()),
            }),
            (None, State::Withdrawn) => {
                let problem = "a withdrawn name needs `withdrawn` with a `reason`";
                return Err(RegistryError::policy("bad-reason", problem));
            }
            (Some(_), _) => {
                let problem = "`withdrawn` is for names whose `state` is withdrawn";
                return Err(RegistryError::policy("bad-state", problem));
            }
            (None, _) => None,
        };
        let holder = parsed.holder.as_ref().map(|text| Principal::parse(&text.0));
        let bad_holder =
            |error: PrincipalError| RegistryError::policy("bad-holder", error.to_string());
        let holder = holder.transpose().map_err(bad_holder)?;
        Ok(Record {
            holder,
            tombstone,
            modified: self.context.time,
            ..Record::new(
                registered_text(identifier, self.view),
                authority.path.key(),
                state,
                parsed.created.unwrap_or(self.context.time),
            )
        })
    }

    /// The values of a line, and how the line names them. URLs that are already among the values
    /// are not added again: an export has both.
    fn values<'g>(
        &self,
        parsed: &'g ParsedName<'_>,
        ttl: u32,
    ) -> Result<(Vec<Value<'g>>, Option<Vec<NamedValue>>), RegistryError> {
        let mut values = Vec::with_capacity(parsed.values.len() + parsed.urls.len());
        for value in &parsed.values {
            let usual = || values::usual_permissions(&value.value_type);
            values.push(Value {
                timestamp: value.timestamp.unwrap_or(0),
                permissions: value.permissions.unwrap_or_else(usual),
                ttl: value.ttl.unwrap_or(Ttl::Relative(ttl)),
                references: value.references.clone(),
                ..Value::new(value.index, &value.value_type, &value.data)
            });
        }
        let urls = parsed.urls.iter().map(|url| &*url.0);
        let is_new = |url: &&str| {
            let mut others = parsed.values.iter();
            !others.any(|value| {
                value.value_type.eq_ignore_ascii_case("URL") && *value.data == *url.as_bytes()
            })
        };
        let values = values::urls(urls.clone().filter(is_new), values, ttl);
        let named = self.options.merges.then(|| {
            let mut others = parsed.values.iter();
            let positions = parsed.url_positions.iter().zip(urls);
            let mut positions = positions
                .filter(|(_, url)| is_new(url))
                .map(|(position, _)| *position);
            let mut count = 0;
            let name = |value: &Value<'_>| {
                let said = others.next();
                let url = said.is_none().then(|| {
                    count += 1;
                    positions.next().unwrap_or(count - 1)
                });
                NamedValue {
                    index: value.index,
                    url,
                    says_ttl: said.is_some_and(|said| said.ttl.is_some()),
                    says_permissions: said.is_some_and(|said| said.permissions.is_some()),
                }
            };
            values.iter().map(name).collect()
        });
        let seconds = u32::try_from(self.context.time / 1_000).unwrap_or(u32::MAX);
        let values = values::settle(&[], values, seconds)?;
        if !self.options.migrate {
            check_whole_urls(&values)?;
        }
        Ok((values, named))
    }

    fn event(
        &self,
        key: &str,
        line: u64,
        record: &mut Record,
        values: &[Value<'_>],
        authority: &Authority,
    ) -> Event {
        let persistence = authority.policy.persistence;
        let subject = name_subject(key, None, record, persistence, || {
            self.random(line, b"salt in an import")
        });
        Event {
            action: Action::of_new(record.state),
            number: 0,
            time: self.context.time,
            actor: self.context.actor,
            node: self.context.node,
            subject,
            authority: record.authority.clone(),
            version: 1,
            commitments: Commitments::from_each(each_commitment(
                &record.seed,
                &record.detail(),
                values,
            )),
        }
    }

    fn random(&self, line: u64, purpose: &[u8]) -> [u8; 32] {
        let hash = Sha256::new()
            .chain_update(self.context.random)
            .chain_update(line.to_be_bytes())
            .chain_update(purpose);
        hash.finalize().into()
    }
}

/// Rejects URLs that no browser could follow; `--migrate` accepts them.
fn check_whole_urls(values: &[Value<'_>]) -> Result<(), RegistryError> {
    let urls = values
        .iter()
        .filter(|value| is_url_type(&value.value_type) && !is_plain(&value.data));
    let Some(problem) = first_problem(urls.map(Value::text)) else {
        return Ok(());
    };
    let hint = "or import with --migrate (in the API migrate=true) to take it as it is";
    Err(RegistryError::policy(
        "bad-url",
        format!("{problem}, {hint}"),
    ))
}

/// Whether a name was rejected because it has a query or fragment.
fn is_cut(error: &RegistryError) -> bool {
    matches!(error, RegistryError::Identifier { source, .. }
        if matches!(source.kind(), ErrorKind::HasFragment | ErrorKind::HasQuery))
}
