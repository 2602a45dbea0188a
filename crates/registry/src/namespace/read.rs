//! Reading the registry of namespaces: all of this is public.

use std::sync::Arc;

use super::entry::{NamespaceEntry, NamespaceStatus};
use super::live::NamespaceGeneration;
use super::seeds::seed;
use super::stored::damaged;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// A query for entries.
///
/// ```
/// use handfast_registry::NamespaceQuery;
///
/// let query = NamespaceQuery { text: Some("library".into()), ..NamespaceQuery::default() };
/// assert_eq!(query.limit, 100);
/// ```
#[derive(Clone, Debug)]
pub struct NamespaceQuery {
    /// A text in the string, the title, the description or the organisation, ignoring case.
    pub text: Option<String>,
    /// Their states.
    pub status: Option<NamespaceStatus>,
    /// `true` for entries of the original registry, `false` for the others.
    pub historical: Option<bool>,
    /// The last string of the previous page.
    pub after: Option<String>,
    /// The maximum number of entries.
    pub limit: usize,
}

impl Default for NamespaceQuery {
    fn default() -> Self {
        Self {
            text: None,
            status: None,
            historical: None,
            after: None,
            limit: 100,
        }
    }
}

/// A page of entries, by their strings.
#[derive(Clone, Debug)]
pub struct NamespacePage {
    /// The entries.
    pub entries: Vec<Arc<NamespaceEntry>>,
    /// The number of all matches.
    pub total: usize,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

/// A query for changes, for clients that come again and again.
#[derive(Clone, Debug, Default)]
pub struct NamespacesChanged {
    /// Changes at this time or later, in milliseconds since 1970.
    pub from: Option<u64>,
    /// Changes at this time or earlier.
    pub until: Option<u64>,
    /// The time and string at the end of the previous page.
    pub after: Option<(u64, String)>,
    /// The maximum number of changes; all if 0.
    pub limit: usize,
}

/// The last change of an entry that is, or was, registered.
#[derive(Clone, Debug)]
pub struct NamespaceChange {
    /// The current entry.
    pub entry: Arc<NamespaceEntry>,
    /// When it changed, in milliseconds since 1970, rounded down to the second.
    pub changed: u64,
    /// Whether it was withdrawn or has expired.
    pub deleted: bool,
}

/// A version in the history of an entry.
#[derive(Clone, Debug)]
pub struct NamespaceVersion {
    /// The entry as it was.
    pub entry: NamespaceEntry,
    /// The action; `None` for an entry that comes with the program.
    pub action: Option<Action>,
    /// The number of the event.
    pub event: Option<u64>,
    /// Who did it, if the principal may see that.
    pub who: Option<Principal>,
}

impl Registry {
    /// An entry, by its string, ignoring case, with or without `info:` and a slash.
    ///
    /// ```
    /// # use handfast_registry::{Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let lccn = registry.namespace("LCCN")?;
    /// assert_eq!(lccn.form.authority.organisation, "Library of Congress");
    /// assert!(lccn.historical && !lccn.claimed);
    /// assert_eq!(registry.namespace("nobody").unwrap_err().code(), "no-namespace");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn namespace(&self, name: &str) -> Result<Arc<NamespaceEntry>, RegistryError> {
        let found = self.rules.newest().entry(&bare(name)).map(Arc::clone);
        found.ok_or_else(|| no_namespace(name))
    }

    /// Entries, by their strings.
    ///
    /// ```
    /// # use handfast_registry::{NamespaceQuery, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let page = registry.namespaces(&NamespaceQuery { limit: 10, ..Default::default() });
    /// assert_eq!((page.entries.len(), page.total), (10, 29));
    /// assert_eq!(page.next.as_deref(), Some("hdl"));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    #[must_use]
    pub fn namespaces(&self, query: &NamespaceQuery) -> NamespacePage {
        let now = self.time();
        let newest = self.rules.newest();
        let wanted: Vec<_> = newest
            .entries
            .iter()
            .filter(|entry| query.fits(entry, now))
            .collect();
        let total = wanted.len();
        let mut rest = wanted.into_iter().filter(|entry| {
            let after = query.after.as_deref();
            after.is_none_or(|after| entry.name() > after)
        });
        let entries: Vec<_> = rest.by_ref().take(query.limit).map(Arc::clone).collect();
        let last = entries.last().map(|entry| entry.name().to_string());
        let next = last.filter(|_| rest.next().is_some());
        NamespacePage {
            entries,
            total,
            next,
        }
    }

    /// The changes of entries that are, or were, registered, in the order of time and string,
    /// without proposals.
    ///
    /// ```
    /// # use handfast_registry::{NamespacesChanged, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let all = registry.namespaces_changed(&NamespacesChanged::default());
    /// assert_eq!(all.first().unwrap().entry.name(), "bibcode");
    /// assert_eq!(all.last().unwrap().entry.name(), "nyu");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    #[must_use]
    pub fn namespaces_changed(&self, wanted: &NamespacesChanged) -> Vec<NamespaceChange> {
        let now = self.time();
        let newest = self.rules.newest();
        let mut changes: Vec<_> = newest
            .entries
            .iter()
            .filter(|entry| entry.was_registered())
            .map(|entry| NamespaceChange {
                changed: entry.changed_by(now) / 1_000 * 1_000,
                deleted: !entry.is_live(now),
                entry: Arc::clone(entry),
            })
            .filter(|change| wanted.fits(change))
            .collect();
        changes.sort_by(|a, b| a.order().cmp(&b.order()));
        if wanted.limit > 0 {
            changes.truncate(wanted.limit);
        }
        changes
    }

    /// Versions of an entry, oldest first, after version `after`, at most `limit` of them. No
    /// others are read. The owner, and principals with a role on the registry, see who acted.
    ///
    /// ```
    /// # use handfast_registry::{Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let history = registry.namespace_history(&Principal::Operator, "lccn", 0, 10)?;
    /// assert_eq!(history[0].entry.version, 1);
    /// assert!(registry.namespace_history(&Principal::Operator, "lccn", 1, 10)?.is_empty());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn namespace_history(
        &self,
        who: &Principal,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<NamespaceVersion>, RegistryError> {
        let name = bare(name);
        self.read(|view| {
            let current = view.namespace_entry(&name)?;
            let sees_all = current.owner.as_ref() == Some(who)
                || view.role(who, &AuthorityPath::info_root())? >= Some(Role::Read);
            let mut versions = Vec::new();
            let first = after.saturating_add(1);
            for version in (first..current.version).take(limit) {
                let entry = view.namespace_version(&name, version)?;
                let missing =
                    || RegistryError::corrupt(format!("version {version} of namespace {name}"));
                versions.push(view.namespace_made(entry.ok_or_else(missing)?, sees_all)?);
            }
            if versions.len() < limit && first <= current.version {
                versions.push(view.namespace_made(current, sees_all)?);
            }
            Ok(versions)
        })
    }
}

impl View<'_> {
    /// An entry in the snapshot.
    pub(crate) fn namespace_entry(&self, name: &str) -> Result<NamespaceEntry, RegistryError> {
        let found = self.find_namespace(name)?;
        found.ok_or_else(|| no_namespace(name))
    }

    pub(crate) fn find_namespace(
        &self,
        name: &str,
    ) -> Result<Option<NamespaceEntry>, RegistryError> {
        match self.stored_namespace(name)? {
            Some(stored) => stored.read().ok_or_else(|| damaged(name)).map(Some),
            None => Ok(seed(name).map(|seed| NamespaceEntry::clone(seed))),
        }
    }

    /// All entries in the snapshot.
    pub(crate) fn namespaces(&self) -> Result<Arc<NamespaceGeneration>, RegistryError> {
        self.rules().at(self.now)
    }

    fn namespace_made(
        &self,
        mut entry: NamespaceEntry,
        sees_all: bool,
    ) -> Result<NamespaceVersion, RegistryError> {
        let event = match entry.last_event {
            0 => None,
            number => self.event(number)?,
        };
        let actor = event.as_ref().map(|event| self.actor(&event.actor));
        let who = actor.transpose()?.flatten().filter(|_| sees_all);
        if !sees_all {
            (entry.owner, entry.claimant) = (None, None);
        }
        Ok(NamespaceVersion {
            entry,
            action: event.as_ref().map(|event| event.action),
            event: event.map(|event| event.number),
            who,
        })
    }
}

impl NamespaceQuery {
    fn fits(&self, entry: &NamespaceEntry, now: u64) -> bool {
        let form = &entry.form;
        let has = |text: &str| {
            let texts = [
                &form.namespace,
                &form.title,
                &form.description,
                &form.authority.organisation,
            ];
            let text = text.to_lowercase();
            texts.iter().any(|said| said.to_lowercase().contains(&text))
        };
        self.text.as_deref().is_none_or(has)
            && self.status.is_none_or(|status| entry.state(now) == status)
            && self
                .historical
                .is_none_or(|historical| entry.historical == historical)
    }
}

impl NamespacesChanged {
    fn fits(&self, change: &NamespaceChange) -> bool {
        self.from
            .is_none_or(|from| change.changed >= from / 1_000 * 1_000)
            && self.until.is_none_or(|until| change.changed <= until)
            && self
                .after
                .as_ref()
                .is_none_or(|(time, name)| change.order() > (*time / 1_000 * 1_000, name.as_str()))
    }
}

impl NamespaceChange {
    fn order(&self) -> (u64, &str) {
        (self.changed, self.entry.name())
    }
}

/// A namespace string as people write it: `info:LCCN/` is `lccn`.
#[must_use]
pub fn bare(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("info:").unwrap_or(&name);
    name.strip_suffix('/').unwrap_or(name).to_string()
}

pub(crate) fn no_namespace(name: &str) -> RegistryError {
    RegistryError::policy(
        "no-namespace",
        format!("there is no entry for namespace {}", bare(name)),
    )
}
