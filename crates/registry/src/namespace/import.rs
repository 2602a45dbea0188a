//! Importing entries from the records of the original registry.

use handfast_api::NamespaceForm;
use handfast_id::{InfoUri, InfoValidity, RuleBook};
use serde_json::Value as Json;

use super::entry::{Capacity, NamespaceEntry, NamespaceStatus};
use super::moved::look_through;
use super::original_xml;
use super::validate::check_historical;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// The maximum size of the records, in bytes.
const MAX_INPUT_BYTES: usize = 16 << 20;

/// A record of the original registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceImport {
    /// Its content.
    pub form: NamespaceForm,
    /// The day of registration, `YYYY-MM-DD`, if it has one.
    pub registered: Option<String>,
    /// Whether it has machine-readable normalisation rules: the XML does not.
    pub has_rules: bool,
}

/// The result for a record.
#[derive(Debug)]
pub struct NamespaceImported {
    /// The namespace.
    pub namespace: String,
    /// Whether the entry has changed, or why it could not.
    pub outcome: Result<bool, RegistryError>,
}

impl NamespaceImport {
    /// Reads records: the XML of the original registry (one record, or a response of its OAI-PMH
    /// service), or JSON in the form of `info-namespaces.json` (one record, or a list).
    ///
    /// ```
    /// let xml = "<info-registry-entry><info-namespace>x</info-namespace></info-registry-entry>";
    /// let read = handfast_registry::NamespaceImport::read(xml)?;
    /// assert_eq!(read[0].form.namespace, "x");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn read(text: &str) -> Result<Vec<Self>, RegistryError> {
        if text.len() > MAX_INPUT_BYTES {
            let problem = format!("records have at most {MAX_INPUT_BYTES} bytes in all");
            return Err(RegistryError::policy("too-large", problem));
        }
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('<') {
            return original_xml::read(text);
        }
        read_json(text)
    }
}

pub(super) fn read_json(text: &str) -> Result<Vec<NamespaceImport>, RegistryError> {
    let bad = |why: String| RegistryError::policy("bad-record", why);
    let json: Json = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    let records = match json {
        Json::Array(records) => records,
        one => vec![one],
    };
    let read = |record: Json| {
        if !record.is_object() {
            return Err(bad(format!("{record} is no record")));
        }
        let form = NamespaceForm::from_json(&record.to_string());
        Ok(NamespaceImport {
            form: form.map_err(|error| bad(error.to_string()))?,
            registered: record
                .get("registered")
                .and_then(Json::as_str)
                .and_then(day),
            has_rules: true,
        })
    };
    records.into_iter().map(read).collect()
}

/// Reads a day in the form of the records.
pub(super) fn day(text: &str) -> Option<String> {
    let text = text.trim();
    crate::clock::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    Some(text.to_string())
}

impl Registry {
    /// Imports records of the original registry, one by one. Only the maintainer may; entries that
    /// an authority has claimed are left alone.
    pub fn import_namespaces(
        &self,
        who: &Principal,
        records: Vec<NamespaceImport>,
    ) -> Result<Vec<NamespaceImported>, RegistryError> {
        let take = |given: NamespaceImport| {
            let namespace = given.form.namespace.clone();
            let outcome = self.change(who, move |change_set| change_set.import_namespace(given));
            match outcome {
                Err(error) if error.is_failure() => Err(error),
                outcome => Ok(NamespaceImported { namespace, outcome }),
            }
        };
        records.into_iter().map(take).collect()
    }

    /// Returns what importing records would do.
    pub fn consider_namespaces(
        &self,
        who: &Principal,
        records: Vec<NamespaceImport>,
    ) -> Result<Vec<NamespaceImported>, RegistryError> {
        let take = |given: NamespaceImport| NamespaceImported {
            namespace: given.form.namespace.clone(),
            outcome: self.dry_run(who, move |change_set| change_set.import_namespace(given)),
        };
        Ok(records.into_iter().map(take).collect())
    }
}

impl ChangeSet<'_> {
    fn import_namespace(&mut self, given: NamespaceImport) -> Result<bool, RegistryError> {
        self.need(self.who(), Role::Admin, &AuthorityPath::info_root())?;
        let current = self.find_namespace(&given.form.namespace)?;
        if let Some(current) = &current {
            if current.claimed || current.claim_pending {
                let problem = "its authority has claimed it: only they change it";
                return Err(RegistryError::policy("claimed", problem));
            }
            if !current.historical || current.status != NamespaceStatus::Registered {
                let way_out = "records are imported for historical and for missing entries only";
                return Err(current.in_state(self.time(), way_out));
            }
        }
        let registered = given.registered.clone();
        let form = given.over(current.as_ref());
        let rules = check_historical(&form)?;
        let is_new = current.is_none();
        let old = current.unwrap_or_else(|| NamespaceEntry::original(NamespaceForm::default()));
        let entry = NamespaceEntry {
            registered: registered.or_else(|| old.registered.clone()),
            form,
            by: Capacity::Maintainer,
            why: "from the records of the original registry".to_string(),
            aside: None,
            ..old.clone()
        };
        if !is_new && entry.form == old.form && entry.registered == old.registered {
            return Ok(false);
        }
        let moves = is_new || old.rules().map_or(true, |old| old.steps() != rules.steps());
        if moves {
            super::act::check_fixed(entry.name())?;
            look_through(self, &rules)?;
        }
        self.store_namespace(entry, Action::ImportNamespace)?;
        Ok(true)
    }
}

impl NamespaceImport {
    /// Merges a record into an entry: fields that the record lacks stay.
    fn over(self, current: Option<&NamespaceEntry>) -> NamespaceForm {
        let Some(current) = current.filter(|_| !self.has_rules) else {
            return self.form;
        };
        let (mut form, given) = (current.form.clone(), self.form);
        take(&mut form.title, given.title);
        take(
            &mut form.authority.organisation,
            given.authority.organisation,
        );
        take(&mut form.authority.address, given.authority.address);
        take(&mut form.authority.url, given.authority.url);
        take(&mut form.authority.contact, given.authority.contact);
        take(&mut form.description, given.description);
        take(&mut form.syntax.summary, given.syntax.summary);
        take(&mut form.normalisation.summary, given.normalisation.summary);
        take(&mut form.resolution.summary, given.resolution.summary);
        let stem = form.resolution.mechanism.as_deref();
        let stem = stem.and_then(|text| text.split("{id}").next().map(str::to_string));
        for (see, given) in [
            (&mut form.see, given.see),
            (&mut form.syntax.see, given.syntax.see),
            (&mut form.normalisation.see, given.normalisation.see),
            (&mut form.resolution.see, given.resolution.see),
        ] {
            for uri in given {
                // This registry writes a mechanism as the URL to which identifiers are appended.
                let is_stem = stem.as_deref() == Some(uri.as_str());
                if !see.contains(&uri) && !is_stem {
                    see.push(uri);
                }
            }
        }
        let book = form.rules();
        let book = book.map(|rules| RuleBook::standard().with_namespace(rules));
        for mut sample in given.examples {
            // The records state no canonical forms; the rules do. An identifier that does not fit
            // the rules is not an example.
            let uri = InfoUri::parse(&sample.input).ok();
            let (Some(uri), Ok(book)) = (uri, &book) else {
                continue;
            };
            match uri.canonical(book) {
                Ok(canonical) if uri.validate(book) != InfoValidity::DoesNotFit => {
                    sample.canonical = canonical.as_str().to_string();
                }
                _ => continue,
            }
            let is_there = form
                .examples
                .iter()
                .any(|known| known.canonical == sample.canonical && known.native == sample.native);
            if is_there {
                continue;
            }
            match form
                .examples
                .iter_mut()
                .find(|known| known.input == sample.input)
            {
                Some(known) => known.native = sample.native.or(known.native.take()),
                None => form.examples.push(sample),
            }
        }
        form
    }
}

fn take(field: &mut String, given: String) {
    // Line breaks in the XML carry no meaning.
    let is_same = field.split_whitespace().eq(given.split_whitespace());
    if !given.is_empty() && !is_same {
        *field = given;
    }
}
