//! Lists of names with filters.
//!
//! A list scans the names of the authorities that a principal may list, in the order of their keys.
//! The work for one page is bounded; the caller continues where the last page ended.

use std::ops::ControlFlow;

use handfast_store::TableKey;
use handfast_wire::Value;

use crate::access::principal::Principal;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::{PREFIX_RECORDS, is_prefix_record};
use crate::log::event_outline::EventOutline;
use crate::lookup::actor_filter::ActorFilter;
use crate::lookup::text_search::Words;
use crate::lookup::value_index::reverse_value;
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::name::url::is_url_type;
use crate::registry::Registry;

/// Which names to list; all conditions hold for each of them.
#[derive(Clone, Debug, Default)]
pub struct NameFilter {
    /// Names of this authority.
    pub authority: Option<String>,
    /// Names of the authorities below it, too.
    pub with_children: bool,
    /// Names in this state.
    pub state: Option<State>,
    /// Names that have these words, in the name or in a public value.
    pub words: Option<Words>,
    /// Names that begin with this text.
    pub prefix: Option<String>,
    /// Names that have this public URL.
    pub url: Option<String>,
    /// Names that were created by an event between these two, both included.
    pub created_by: Option<(u64, u64)>,
    /// Names that were changed at this time or later, in milliseconds since 1970.
    pub changed_since: Option<u64>,
    /// Names that this principal, an account or `INDEX:HANDLE`, was the last to change.
    pub changed_by: Option<String>,
}

/// A name in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// The name as it was registered.
    pub id: String,
    /// Its key in the store.
    pub key: String,
    /// The key of its authority.
    pub authority: String,
    /// Its state.
    pub state: State,
    /// Increased by each change.
    pub version: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified: u64,
    /// Its title, if a public value has one.
    pub title: Option<String>,
    /// Its first public URL.
    pub url: Option<String>,
}

/// A page of a list of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameListPage {
    /// The names, in the order of their keys.
    pub names: Vec<ListedName>,
    /// The `after` of the next page, if there may be one.
    pub next: Option<String>,
    /// How many names the filter was compared with.
    pub looked_at: u64,
    /// Whether the page is full or the last one. If not, the search has reached its limit, and
    /// continues at `next`.
    pub is_complete: bool,
}

/// The maximum work for one page, in units of looking at the state of a name. It takes some
/// 70 ms on a busy machine.
const MAX_WORK: u64 = 200_000;
/// The work of comparing the words of a name.
const WORK_OF_WORDS: u64 = 8;
/// The work of finding out who was the last to change a name.
const WORK_OF_EVENT: u64 = 4;
/// The work of an authority with few names.
const WORK_OF_AUTHORITY: u64 = 10;
/// The maximum length of a title or URL in a list, in characters.
const MAX_TEXT_CHARS: usize = 500;

impl Registry {
    /// Names that fit a filter, after a key. It lists only names of authorities on which the
    /// principal has a role; one that may do everything lists all names.
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
    /// let page = registry.list_names(&operator, &filter, None, 10)?;
    /// assert_eq!(page.names[0].id, "20.1000/5555");
    /// let nobody = Principal::nobody();
    /// assert!(registry.list_names(&nobody, &filter, None, 10).is_err());
    /// assert!(registry.list_names(&nobody, &NameFilter::default(), None, 10)?.names.is_empty());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn list_names(
        &self,
        who: &Principal,
        filter: &NameFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<NameListPage, RegistryError> {
        let mut names = Vec::new();
        let mut page = self.read(|view| {
            let kinds = NameKinds::WithoutPrefixRecords;
            view.scan_listed(who, filter, kinds, after, limit, &mut |shown| {
                names.push(ListedName::new(shown));
            })
        })?;
        page.names = names;
        Ok(page)
    }
}

/// Which names a list of all names has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKinds {
    /// All.
    All,
    /// All but the records of prefixes, which are not counted as names either.
    WithoutPrefixRecords,
}

impl ListedName {
    pub(crate) fn new(shown: Shown) -> Self {
        let Shown { key, record } = shown;
        Self {
            title: title_of(&record),
            url: public_text(&record, is_url_type),
            id: record.text,
            key,
            authority: record.authority,
            state: record.state,
            version: record.version,
            modified: record.modified,
        }
    }
}

/// The title of a name: the text of the first public value of a type that says what it is.
pub(crate) fn title_of(record: &Record) -> Option<String> {
    let mut types = ["erc.what", "what", "dc.title", "title", "desc"].into_iter();
    types.find_map(|one| public_text(record, |own| own.eq_ignore_ascii_case(one)))
}

fn public_text(record: &Record, is_meant: impl Fn(&str) -> bool) -> Option<String> {
    let mut public = record.values.iter().filter(|value| value.is_public());
    let found = public.find(|value| is_meant(&value.value_type))?;
    Some(found.text()?.chars().take(MAX_TEXT_CHARS).collect())
}

impl View<'_> {
    /// Visits the names that fit a filter. Returns a page without names.
    pub(crate) fn scan_listed(
        &self,
        who: &Principal,
        filter: &NameFilter,
        kinds: NameKinds,
        after: Option<&str>,
        limit: usize,
        give: &mut dyn FnMut(Shown),
    ) -> Result<NameListPage, RegistryError> {
        let children = filter.with_children;
        let listable = self.listable_authorities(who, filter.authority.as_deref(), children)?;
        let start = filter
            .prefix
            .as_deref()
            .map(|prefix| self.key_start(prefix));
        let start = start.unwrap_or_default();
        // Someone who types the beginning of such a name means it.
        let skips_prefix_records =
            kinds == NameKinds::WithoutPrefixRecords && !is_prefix_record(&start);
        let ranges = match listable.authorities {
            None => vec![(start, None)],
            Some(paths) => {
                // The root of a URN namespace that delegates has no names of its own, and those of
                // other authorities stand in its range.
                let with_names = paths.iter().filter(|path| !path.is_delegating_root(self));
                let narrow = |path: &crate::AuthorityPath| {
                    let own = path.start_of_names();
                    let key = Some(path.key().to_string());
                    match (own.starts_with(&start), start.starts_with(&own)) {
                        (true, _) => Some((own, key)),
                        (_, true) => Some((start.clone(), key)),
                        _ => None,
                    }
                };
                let mut ranges: Vec<_> = with_names.filter_map(narrow).collect();
                ranges.sort();
                ranges
            }
        };
        let changed_by = self.actor_filter(filter.changed_by.as_deref())?;
        let mut scan = NameScan {
            view: self,
            filter,
            with_reserved: listable.with_reserved,
            skips_prefix_records,
            changed_by,
            limit,
            work: 0,
            given: 0,
            last: None,
            page: NameListPage {
                is_complete: true,
                ..NameListPage::default()
            },
            give,
        };
        if let Some(url) = &filter.url {
            scan.with_url(url, &ranges, after)?;
            return Ok(scan.page);
        }
        for (start, authority) in ranges {
            if !scan.range(&start, authority.as_deref(), after)? {
                break;
            }
        }
        Ok(scan.page)
    }
}

struct NameScan<'s> {
    view: &'s View<'s>,
    filter: &'s NameFilter,
    with_reserved: bool,
    skips_prefix_records: bool,
    changed_by: ActorFilter,
    limit: usize,
    work: u64,
    given: usize,
    /// The last key that was looked at.
    last: Option<String>,
    page: NameListPage,
    give: &'s mut dyn FnMut(Shown),
}

impl NameScan<'_> {
    /// Scans the names of an authority, or all names, whose keys have a given start. Returns
    /// whether the page can take more.
    fn range(
        &mut self,
        start: &str,
        authority: Option<&str>,
        after: Option<&str>,
    ) -> Result<bool, RegistryError> {
        // Keys with this start may all stand before the position.
        let from = after.filter(|after| *after > start).unwrap_or(start);
        if from != start && !from.starts_with(start) {
            return Ok(true);
        }
        if self.work >= MAX_WORK {
            // Only with very many authorities that have no names.
            self.page.next = self.last.take().or_else(|| Some(from.to_string()));
            self.page.is_complete = false;
            return Ok(false);
        }
        self.work = self.work.saturating_add(WORK_OF_AUTHORITY);
        let mut outcome = Ok(true);
        let view = self.view;
        view.now.scan(
            &TableKey::record(from.as_bytes()),
            &mut |table_key, bytes| {
                let name = table_key.name();
                if !name.starts_with(start.as_bytes()) {
                    return ControlFlow::Break(());
                }
                if after.is_some_and(|after| after.as_bytes() == name) {
                    return ControlFlow::Continue(());
                }
                outcome = self.look_at(name, bytes, authority);
                match outcome {
                    Ok(true) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            },
        )?;
        outcome
    }

    /// Looks at the names that have a URL, in one of some ranges.
    fn with_url(
        &mut self,
        url: &str,
        ranges: &[(String, Option<String>)],
        after: Option<&str>,
    ) -> Result<(), RegistryError> {
        let view = self.view;
        let sought = reverse_value(&Value::new(0, "URL", url.as_bytes()));
        let mut outcome = Ok(true);
        let mut ranges = ranges.iter().peekable();
        view.now.names_with_value(&sought, &mut |name| {
            if after.is_some_and(|after| name <= after.as_bytes()) {
                return ControlFlow::Continue(());
            }
            // Names and ranges are both in order: a range that ends before a name has no later one.
            let is_in = |start: &str| name.starts_with(start.as_bytes());
            let is_past = |start: &str| start.as_bytes() < name && !is_in(start);
            while ranges.next_if(|(start, _)| is_past(start)).is_some() {}
            match ranges.peek() {
                Some((start, authority)) if is_in(start) => {
                    outcome = self.look_up(name, authority.as_deref());
                }
                Some(_) => {}
                None => return ControlFlow::Break(()),
            }
            match outcome {
                Ok(true) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        })?;
        outcome.map(|_| ())
    }

    fn look_up(&mut self, name: &[u8], authority: Option<&str>) -> Result<bool, RegistryError> {
        self.work = self.work.saturating_add(WORK_OF_EVENT);
        let view = self.view;
        let record = TableKey::record(name);
        let looked_at = view
            .now
            .get(&record, |bytes| self.look_at(name, bytes, authority))?;
        looked_at.unwrap_or(Ok(true))
    }

    fn look_at(
        &mut self,
        name: &[u8],
        bytes: &[u8],
        authority: Option<&str>,
    ) -> Result<bool, RegistryError> {
        // A page looks at one name at least, so that the list goes on.
        if self.work >= MAX_WORK && self.last.is_some() {
            self.page.next = self.last.take();
            self.page.is_complete = false;
            return Ok(false);
        }
        self.work += 1;
        if self.skips_prefix_records && name.starts_with(PREFIX_RECORDS.as_bytes()) {
            return Ok(true);
        }
        self.page.looked_at += 1;
        let key = String::from_utf8_lossy(name);
        if self.fits(bytes, authority)? {
            let corrupt = |_| RegistryError::corrupt(format!("the record of {key}"));
            let record = Record::from_bytes(bytes).map_err(corrupt)?;
            if self.has_words(&record) && self.has_url(&record) {
                if self.given == self.limit {
                    self.page.next = self.last.take();
                    return Ok(false);
                }
                self.given += 1;
                (self.give)(Shown {
                    key: key.to_string(),
                    record,
                });
            }
        }
        let last = self.last.get_or_insert_default();
        last.clear();
        last.push_str(&key);
        Ok(true)
    }

    /// Whether a name fits the conditions that do not need its values.
    fn fits(&mut self, bytes: &[u8], authority: Option<&str>) -> Result<bool, RegistryError> {
        let filter = self.filter;
        let since = filter.changed_since;
        if since.is_some_and(|since| Record::modified_in(bytes) < Some(since)) {
            return Ok(false);
        }
        if let Some((from, to)) = filter.created_by {
            let event = Record::first_event_in(bytes);
            if event < Some(from) || event > Some(to) {
                return Ok(false);
            }
        }
        let Some((own, state)) = Record::authority_and_state_in(bytes) else {
            return Ok(false);
        };
        let is_visible = self.with_reserved || state != State::Reserved;
        let fits = is_visible
            && authority.is_none_or(|authority| own == authority)
            && filter.state.is_none_or(|wanted| wanted == state);
        if !fits || self.changed_by == ActorFilter::All {
            return Ok(fits);
        }
        self.work = self.work.saturating_add(WORK_OF_EVENT);
        let event = Record::last_event_in(bytes).unwrap_or_default();
        let actor = |bytes: &[u8]| EventOutline::read(bytes).map(|event| event.actor);
        let actor = self.view.now.get(&TableKey::event(event), actor)?.flatten();
        Ok(actor.is_some_and(|actor| self.changed_by.fits(&actor)))
    }

    /// Long URLs that begin alike share an entry of the index.
    fn has_url(&self, record: &Record) -> bool {
        self.filter.url.as_deref().is_none_or(|url| {
            let mut values = record.values.iter().filter(|value| value.is_public());
            values.any(|value| is_url_type(&value.value_type) && value.text() == Some(url))
        })
    }

    fn has_words(&mut self, record: &Record) -> bool {
        let Some(words) = &self.filter.words else {
            return true;
        };
        self.work = self.work.saturating_add(WORK_OF_WORDS);
        words.are_in_record(record)
    }
}
