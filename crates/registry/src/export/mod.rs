//! Exporting names.
//!
//! An export reads one snapshot from beginning to end, however long that takes and whatever changes
//! in between. NDJSON is complete: importing it into another registry and exporting it again gives
//! the same bytes. The other formats leave out what they cannot express, and count it. NDJSON and
//! CSV also have the citable link of each name, which imports ignore.

mod batch;
mod dump;
pub(crate) mod name_table;
mod ndjson;
pub(crate) mod spreadsheet;
mod table;

use std::io::{self, Write};

use handfast_store::{Table, TableKey};
use handfast_wire::Value;

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Role};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::is_prefix_record;
use crate::import::Format;
use crate::name::link::CitableLinks;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// The options of an export.
///
/// ```
/// use handfast_registry::{Export, NewAuthority, NewName, Principal, Registry, Environment};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
/// let registry = Registry::create(folder.path(), environment)?;
/// let operator = Principal::Operator;
/// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
/// registry.create_name(&operator, "20.1000/a", NewName::urls(&["https://example.org/"]))?;
/// let mut out = Vec::new();
/// let exported = registry.export(&operator, &Export::default(), &mut out, &mut |_| ())?;
/// assert_eq!(exported.names, 1);
/// let line = r#""id":"20.1000/a","urls":["https://example.org/"]"#;
/// assert!(String::from_utf8_lossy(&out).contains(line));
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The format; NDJSON if `None`.
    pub format: Option<Format>,
    /// Only names under an authority, and below it.
    pub authority: Option<String>,
    /// Only names that were created or changed after this event.
    pub since: Option<u64>,
    /// Whether to include secrets.
    pub with_secrets: bool,
    /// Makes the citable links of names, in NDJSON and CSV. They are left out if it is `None`.
    pub links: Option<CitableLinks>,
}

/// The result of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of authorities.
    pub authorities: u64,
    /// The number of names.
    pub names: u64,
    /// The number of names that the format cannot express.
    pub unsaid_names: u64,
    /// The number of values of exported names that the format cannot express.
    pub unsaid_values: u64,
    /// The number of secrets that were left out.
    pub secrets: u64,
    /// The last event of the snapshot.
    pub event: u64,
}

/// Writes names in a format.
trait Writer {
    fn authority(&mut self, _: &mut dyn Write, _: &Authority) -> io::Result<()> {
        Ok(())
    }
    /// Writes a name. Returns how many of its values the format cannot express, or `None` if it
    /// cannot express the name.
    fn name(&mut self, out: &mut dyn Write, name: &Given<'_>) -> io::Result<Option<u64>>;
    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A name to be exported.
struct Given<'r> {
    key: &'r str,
    record: &'r Record,
    /// Its values, without those that are left out.
    values: &'r [Value<'static>],
}

/// An exported item.
enum ExportItem<'i> {
    Authority(&'i Authority),
    Name(Given<'i>),
}

type Visit<'v> = dyn FnMut(ExportItem<'_>) -> Result<(), RegistryError> + 'v;

impl Registry {
    /// Exports names. The operator may export all of them; others need the role `read` on an
    /// authority, and get the values that they may read.
    pub fn export(
        &self,
        who: &Principal,
        export: &Export,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Exported, RegistryError> {
        self.read(|view| {
            let walk = Walk::new(view, who, export)?;
            let mut exported = Exported {
                event: crate::log::tree::read(view.now)?.size(),
                ..Exported::default()
            };
            let mut writer: Box<dyn Writer> = match export.format.unwrap_or(Format::Ndjson) {
                Format::Batch => Box::new(batch::Batch),
                Format::Csv => Box::new(table::Columns::of(&walk)?),
                Format::Dump => Box::new(dump::Dump::of(&walk)),
                Format::Ndjson => Box::new(ndjson::Lines::new(export.links.as_ref())),
            };
            let failed = |source| RegistryError::Output { source };
            walk.visit(&mut exported.secrets, &mut |item| {
                let written = match item {
                    ExportItem::Authority(authority) => {
                        exported.authorities += 1;
                        writer.authority(out, authority)
                    }
                    ExportItem::Name(name) => writer.name(out, &name).map(|unsaid| match unsaid {
                        Some(unsaid) => {
                            exported.names += 1;
                            exported.unsaid_values += unsaid;
                        }
                        None => exported.unsaid_names += 1,
                    }),
                };
                if exported.names.is_multiple_of(1_000) {
                    progress(exported.names);
                }
                written.map_err(failed)
            })?;
            writer.end(out).and_then(|()| out.flush()).map_err(failed)?;
            Ok(exported)
        })
    }
}

/// Visits everything to be exported, in the order of keys: first authorities, parents before
/// children, each with the record of its prefix; then all other names.
struct Walk<'v> {
    view: &'v View<'v>,
    who: &'v Principal,
    export: &'v Export,
    path: Option<AuthorityPath>,
    authorities: Vec<Authority>,
}

impl<'v> Walk<'v> {
    fn new(
        view: &'v View<'v>,
        who: &'v Principal,
        export: &'v Export,
    ) -> Result<Self, RegistryError> {
        if export.with_secrets && *who != Principal::Operator {
            let problem = "only the operator exports secrets";
            return Err(RegistryError::policy("operator-only", problem));
        }
        let path = match &export.authority {
            Some(text) => {
                let path = view.path(text)?;
                view.existing_authority(&path)?;
                view.need(who, Role::Read, &path)?;
                Some(path)
            }
            None if view.may_do_all(who)? => None,
            None => {
                let problem = "only administrators export everything: name an authority";
                return Err(RegistryError::policy("operator-only", problem));
            }
        };
        let mut walk = Self {
            view,
            who,
            export,
            path,
            authorities: Vec::new(),
        };
        walk.authorities = walk.find_authorities()?;
        Ok(walk)
    }

    fn find_authorities(&self) -> Result<Vec<Authority>, RegistryError> {
        let mut found = Vec::new();
        let from = TableKey::named(Table::Authorities, b"");
        self.view.scan_names(&from, |table_key, _| {
            found.push(String::from_utf8_lossy(table_key.name()).into_owned());
            Ok(())
        })?;
        let gives_all = self.view.may_do_all(self.who)?;
        let mut authorities = Vec::new();
        for key in found.iter().filter(|key| self.is_under(key)) {
            let Some(mut authority) = self.view.authority_by_key(key)? else {
                continue;
            };
            if !gives_all {
                // Rights follow the creator of an authority, not the text of its path: another
                // organisation may own one that stands below in the text.
                if self.view.role(self.who, &authority.path)? < Some(Role::Read) {
                    continue;
                }
                authority.grants.clear();
            }
            authorities.push(authority);
        }
        authorities.sort_by(|a, b| a.path.key().cmp(b.path.key()));
        Ok(authorities)
    }

    /// Whether an authority, given by its key, is the requested one or below it.
    fn is_under(&self, key: &str) -> bool {
        self.path.as_ref().is_none_or(|path| path.is_above(key))
    }

    fn visit(&self, secrets: &mut u64, visit: &mut Visit<'_>) -> Result<(), RegistryError> {
        for authority in &self.authorities {
            let is_meant = self
                .export
                .since
                .is_none_or(|since| authority.last_event > since);
            if is_meant {
                visit(ExportItem::Authority(authority))?;
            }
            let Some(prefix) = authority.path.prefix() else {
                continue;
            };
            let key = crate::authority::create::prefix_key(&prefix);
            if let Some(record) = self.view.record(&key)?
                && !record.values.is_empty()
            {
                self.give(&key, record, secrets, visit)?;
            }
        }
        let start = self.path.as_ref().map_or("", AuthorityPath::key);
        let from = TableKey::record(start.as_bytes());
        self.view.scan_names(&from, |table_key, bytes| {
            let key = String::from_utf8_lossy(table_key.name());
            if is_prefix_record(&key) {
                return Ok(());
            }
            let corrupt = |_| RegistryError::corrupt(format!("the record of {key}"));
            let record = Record::from_bytes(bytes).map_err(corrupt)?;
            if !self.is_under(&record.authority) {
                return Ok(());
            }
            self.give(&key, record, secrets, visit)
        })
    }

    fn give(
        &self,
        key: &str,
        mut record: Record,
        secrets: &mut u64,
        visit: &mut Visit<'_>,
    ) -> Result<(), RegistryError> {
        if self
            .export
            .since
            .is_some_and(|since| record.last_event <= since)
        {
            return Ok(());
        }
        if *self.who != Principal::Operator {
            // They are in the order of their keys.
            let of = |found: &Authority| found.path.key().cmp(&record.authority);
            let at = self.authorities.binary_search_by(of).ok();
            let Some(authority) = at.and_then(|at| self.authorities.get(at)) else {
                return Ok(());
            };
            record = self.view.readable(self.who, &authority.path, record)?;
        }
        let mut values = std::mem::take(&mut record.values);
        if !self.export.with_secrets {
            let all = values.len();
            values.retain(|value| !value.is_secret());
            *secrets += u64::try_from(all - values.len()).unwrap_or(0);
        }
        visit(ExportItem::Name(Given {
            key,
            record: &record,
            values: &values,
        }))
    }
}

/// Whether the formats of handle servers, which have no states and no other schemes, can express a
/// name.
fn is_handle(name: &Given<'_>) -> bool {
    name.key.starts_with("hdl:") && name.record.state == State::Active
}
