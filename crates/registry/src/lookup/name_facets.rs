//! How many names a list has: by state, and by authority.
//!
//! The numbers come from the derived counts, so they need no scan of names, and they are exact for
//! filters by authority and state. No counts exist for words, URLs and times.

use std::collections::HashMap;

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::AuthorityStatus;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::lookup::derived::counts::StateCounts;
use crate::lookup::name_list::NameFilter;
use crate::registry::Registry;

/// How many names fit a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFacets {
    /// Names of the chosen authority by state, whatever state the filter asks for. `None` if there
    /// are no counts for the filter.
    pub states: Option<StateCounts>,
    /// Authorities that the principal may list, those with the largest number of names first.
    pub authorities: Vec<AuthorityFacet>,
    /// How many authorities the principal may list.
    pub all_authorities: u64,
    /// The last event whose effects are counted.
    pub as_of_event: u64,
    /// Whether no event was added since.
    pub is_current: bool,
}

/// An authority of a list, and how many names of it are in the state that the filter asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityFacet {
    /// The authority.
    pub path: AuthorityPath,
    /// Its title.
    pub title: String,
    /// `None` if there are no counts for the filter.
    pub count: Option<u64>,
}

impl Registry {
    /// Counts for a list of names. An authority is named, and its names are counted, only if the
    /// principal has a role on it.
    ///
    /// ```
    /// # use handfast_registry::{NameFilter, NewAuthority, NewName, Principal, Registry};
    /// # use handfast_registry::Environment;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/5555", NewName::default())?;
    /// let filter = NameFilter { authority: Some("20.1000".into()), ..NameFilter::default() };
    /// let facets = registry.name_facets(&operator, &filter, 10)?;
    /// assert_eq!(facets.states.map(|states| states.active), Some(1));
    /// let nobody = registry.name_facets(&Principal::nobody(), &NameFilter::default(), 10)?;
    /// assert!(nobody.authorities.is_empty());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn name_facets(
        &self,
        who: &Principal,
        filter: &NameFilter,
        limit: usize,
    ) -> Result<NameFacets, RegistryError> {
        let (stored, as_of_event) = self.stored_counts_from("")?;
        let counts: HashMap<String, StateCounts> = stored.into_iter().collect();
        self.read(|view| {
            let listable = view.listable_authorities(who, None, false)?;
            let mut keys: Vec<String> = match &listable.authorities {
                Some(paths) => paths.iter().map(|path| path.key().to_string()).collect(),
                None => view.all_authority_keys()?,
            };
            let all_authorities = u64::try_from(keys.len()).unwrap_or(u64::MAX);
            let own = |key: &str| {
                let own = counts.get(key).copied().unwrap_or_default();
                filter.state.map_or(own.total(), |state| own.of(state))
            };
            keys.sort_by(|a, b| own(b).cmp(&own(a)).then_with(|| a.cmp(b)));
            let is_counted = filter.is_counted();
            let mut authorities = Vec::new();
            for key in keys {
                if authorities.len() == limit {
                    break;
                }
                let Some(authority) = view.authority_by_key(&key)? else {
                    continue;
                };
                if matches!(authority.status, AuthorityStatus::Requested { .. }) {
                    continue;
                }
                authorities.push(AuthorityFacet {
                    path: authority.path,
                    title: authority.title,
                    count: is_counted.then(|| own(&key)),
                });
            }
            let states = if is_counted {
                Some(view.counted_states(who, filter, &counts)?)
            } else {
                None
            };
            let events = crate::log::tree::read(view.now)?.size();
            Ok(NameFacets {
                states,
                authorities,
                all_authorities,
                as_of_event,
                is_current: events == as_of_event,
            })
        })
    }
}

impl NameFilter {
    /// Whether the derived counts tell how many names fit.
    fn is_counted(&self) -> bool {
        self.words.is_none()
            && self.prefix.is_none()
            && self.url.is_none()
            && self.created_by.is_none()
            && self.changed_since.is_none()
            && self.changed_by.is_none()
    }
}

impl View<'_> {
    fn counted_states(
        &self,
        who: &Principal,
        filter: &NameFilter,
        counts: &HashMap<String, StateCounts>,
    ) -> Result<StateCounts, RegistryError> {
        let authority = filter.authority.as_deref();
        let listable = self.listable_authorities(who, authority, filter.with_children)?;
        let mut states = StateCounts::default();
        match &listable.authorities {
            // The names of the server itself are in no list, and are not counted.
            None => {
                let keys = self.all_authority_keys()?;
                for own in keys.iter().filter_map(|key| counts.get(key)) {
                    states.add_all(*own);
                }
            }
            Some(paths) => {
                for own in paths.iter().filter_map(|path| counts.get(path.key())) {
                    states.add_all(*own);
                }
            }
        }
        if !listable.with_reserved {
            states.reserved = 0;
        }
        Ok(states)
    }
}
