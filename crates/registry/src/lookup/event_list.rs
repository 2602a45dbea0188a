//! Lists of events with filters, newest first.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use handfast_store::{Snapshot, Store, TableKey};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::{View, read_event};
use crate::error::RegistryError;
use crate::log::event::{Action, Event, Subject};
use crate::log::event_outline::EventOutline;
use crate::log::tree;
use crate::lookup::actor_filter::ActorFilter;
use crate::lookup::derived::environment::Position;
use crate::lookup::derived::event_blocks::{
    BLOCK_EVENTS, block_of, last_block, word_of_action, word_of_actor, word_of_authority,
};
use crate::registry::Registry;

/// Which events to list; all conditions hold for each of them.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Events of this authority, of its names, and of the authorities below it.
    pub authority: Option<String>,
    /// Events of this principal: an account, `INDEX:HANDLE`, or `operator`.
    pub account: Option<String>,
    /// Events with this action.
    pub action: Option<Action>,
    /// Events at this time or later, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Events at this time or earlier.
    pub until: Option<u64>,
    /// Events of this name.
    pub id: Option<String>,
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The event.
    pub event: Event,
    /// Who did it.
    pub who: Option<Principal>,
    /// The name that it is about. `None` if it is about none, or if the event hides a name that was
    /// erased, or that was not found because its authority has very many names.
    pub name: Option<String>,
    /// What was done to which account, group, token or role, such as `write to ann`, if the
    /// principal may know it. It is not part of the public log.
    pub detail: Option<String>,
}

/// A page of a list of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventListPage {
    /// The events, newest first.
    pub events: Vec<ListedEvent>,
    /// The `after` of the next page, if there may be one.
    pub next: Option<u64>,
    /// How many events the filter was compared with.
    pub looked_at: u64,
    /// Whether the page is full or the last one. If not, the search has reached its limit, and
    /// continues at `next`.
    pub is_complete: bool,
    /// The number of all events.
    pub as_of_event: u64,
}

/// The maximum number of blocks of events that are read for one page.
const MAX_BLOCKS: usize = 64;
/// The maximum number of authorities for which blocks are looked up one by one.
const MAX_WORDS: usize = 500;

impl Registry {
    /// Events that fit a filter, newest first, before the event of a number. It lists only events
    /// of authorities on which the principal has a role. One that may do everything lists all,
    /// also those of accounts and of the log.
    ///
    /// ```
    /// # use handfast_registry::{EventFilter, NewAuthority, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// let page = registry.list_events(&operator, &EventFilter::default(), None, 10)?;
    /// assert_eq!(page.events[0].event.authority, "hdl:20.1000");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn list_events(
        &self,
        who: &Principal,
        filter: &EventFilter,
        after: Option<u64>,
        limit: usize,
    ) -> Result<EventListPage, RegistryError> {
        // Without the derived data the list still works: it looks at more events.
        let derived = self.current_derived().ok();
        self.read(|view| {
            let mut search = EventSearch::begin(view, who, filter, after, limit)?;
            if let Some(id) = &filter.id {
                search.of_name(id)?;
            } else {
                search.blocks(derived.as_ref())?;
            }
            view.find_hidden_names(&mut search.page.events)?;
            view.add_details(who, &mut search.page.events)?;
            Ok(search.page)
        })
    }
}

struct EventSearch<'s> {
    view: &'s View<'s>,
    filter: &'s EventFilter,
    limit: usize,
    /// The number of the newest event that may be listed.
    newest: u64,
    /// The authorities whose events may be listed; `None` stands for all.
    authorities: Option<HashSet<String>>,
    actor: ActorFilter,
    page: EventListPage,
}

impl<'s> EventSearch<'s> {
    fn begin(
        view: &'s View<'s>,
        who: &Principal,
        filter: &'s EventFilter,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Self, RegistryError> {
        let size = tree::read(view.now)?.size();
        let mut newest = after.map_or(size, |after| size.min(after.saturating_sub(1)));
        if let Some(until) = filter.until {
            newest = last_until(view.now, newest, until)?;
        }
        let actor = view.actor_filter(filter.account.as_deref())?;
        let authorities = match &filter.id {
            Some(id) => {
                let (_, path) = view.place_of(id)?;
                view.need(who, Role::Read, &path)?;
                None
            }
            None => view.authorities_of_events(who, filter.authority.as_deref())?,
        };
        Ok(Self {
            view,
            filter,
            limit,
            newest,
            authorities,
            actor,
            page: EventListPage {
                is_complete: true,
                as_of_event: size,
                ..EventListPage::default()
            },
        })
    }

    /// Lists the events of a name.
    fn of_name(&mut self, id: &str) -> Result<(), RegistryError> {
        let (key, _) = self.view.place_of(id)?;
        let record = self.view.record(&key)?;
        let name = record.map_or_else(|| id.to_string(), |record| record.text);
        let mut numbers = self.view.events_of(&key)?;
        numbers.retain(|number| *number <= self.newest);
        while let Some(number) = numbers.pop() {
            self.page.looked_at += 1;
            let event = self.view.existing_event(number)?;
            if self.filter.since.is_some_and(|since| event.time < since) {
                break;
            }
            if self.fits(event.action, &event.actor, None) && !self.push(event, Some(&name))? {
                break;
            }
        }
        Ok(())
    }

    /// Lists events, block by block.
    fn blocks(&mut self, derived: Option<&Arc<Store>>) -> Result<(), RegistryError> {
        let mut up_to = self.newest;
        for _ in 0..MAX_BLOCKS {
            let block = match derived {
                Some(derived) => {
                    derived.read(|now| Ok(self.next_block(now, block_of(up_to))))??
                }
                None => Some(block_of(up_to)),
            };
            let Some(block) = block.filter(|_| up_to > 0) else {
                return Ok(());
            };
            let first = block.saturating_mul(BLOCK_EVENTS);
            let last = up_to.min(first.saturating_add(BLOCK_EVENTS - 1));
            if !self.block(first, last)? {
                return Ok(());
            }
            if first <= 1 {
                return Ok(());
            }
            up_to = first - 1;
        }
        self.page.next = Some(up_to.saturating_add(1));
        self.page.is_complete = false;
        Ok(())
    }

    /// The last block, up to a block, that may have an event of the list.
    fn next_block(&self, derived: &Snapshot<'_>, up_to: u64) -> Result<Option<u64>, RegistryError> {
        let position = Position::of(derived)?.unwrap_or_default();
        // The words of newer events are not stored yet.
        let first_new = position.event.saturating_add(1);
        let is_indexed = |block: u64| self.newest < first_new || block < block_of(first_new);
        let mut words: Vec<String> = self.filter.action.map(word_of_action).into_iter().collect();
        match &self.actor {
            ActorFilter::One(actor) => words.push(word_of_actor(actor)),
            ActorFilter::None => return Ok(None),
            ActorFilter::All => {}
        }
        let authorities = self.authorities.as_ref();
        let authorities = authorities.filter(|authorities| authorities.len() <= MAX_WORDS);
        let authorities: Option<Vec<_>> =
            authorities.map(|all| all.iter().map(|key| word_of_authority(key)).collect());
        let mut block = up_to;
        loop {
            if !is_indexed(block) {
                return Ok(Some(block));
            }
            let before = block;
            for word in &words {
                match last_block(derived, word, block)? {
                    Some(found) => block = found,
                    None => return Ok(None),
                }
            }
            if let Some(authorities) = &authorities {
                let mut last = None;
                for word in authorities {
                    last = last.max(last_block(derived, word, block)?);
                    if last == Some(block) {
                        break;
                    }
                }
                match last {
                    Some(found) => block = found,
                    None => return Ok(None),
                }
            }
            if block == before {
                return Ok(Some(block));
            }
        }
    }

    /// Lists the events of a block, and returns whether to continue with an earlier one.
    fn block(&mut self, first: u64, last: u64) -> Result<bool, RegistryError> {
        let mut found = Vec::new();
        let mut is_past = false;
        self.view
            .now
            .scan(&TableKey::event(first), &mut |table_key, bytes| {
                let number = table_key.number().unwrap_or(u64::MAX);
                if number > last {
                    return ControlFlow::Break(());
                }
                self.page.looked_at += 1;
                let Some(event) = EventOutline::read(bytes) else {
                    return ControlFlow::Continue(());
                };
                if self.filter.since.is_some_and(|since| event.time < since) {
                    is_past = true;
                } else if self.fits(event.action, &event.actor, Some(event.authority)) {
                    found.push(number);
                }
                ControlFlow::Continue(())
            })?;
        while let Some(number) = found.pop() {
            let read = self.view.now.get(&TableKey::event(number), read_event)?;
            let event = read.flatten();
            let event = event.ok_or_else(|| RegistryError::corrupt(format!("event {number}")))?;
            if !self.push(event, None)? {
                return Ok(false);
            }
        }
        Ok(!is_past)
    }

    fn fits(&self, action: Action, actor: &[u8; 16], authority: Option<&str>) -> bool {
        let may_list = match (&self.authorities, authority) {
            (Some(authorities), Some(authority)) => authorities.contains(authority),
            _ => true,
        };
        may_list
            && self.filter.action.is_none_or(|wanted| wanted == action)
            && self.actor.fits(actor)
    }

    /// Adds an event, and returns whether the page can take more.
    fn push(&mut self, event: Event, name: Option<&str>) -> Result<bool, RegistryError> {
        if self.page.events.len() >= self.limit {
            self.page.next = self.page.events.last().map(|last| last.event.number);
            return Ok(false);
        }
        let name = match (&event.subject, name) {
            (_, Some(name)) => Some(name.to_string()),
            (Subject::Open(key) | Subject::Opened { key, .. }, None) => {
                let record = self.view.record(key)?;
                Some(record.map_or_else(|| key.clone(), |record| record.text))
            }
            (Subject::Hidden(_) | Subject::None, None) => None,
        };
        let who = self.view.actor(&event.actor)?;
        self.page.events.push(ListedEvent {
            event,
            who,
            name,
            detail: None,
        });
        Ok(true)
    }
}

impl View<'_> {
    /// The authorities whose events a principal may list; `None` stands for all.
    fn authorities_of_events(
        &self,
        who: &Principal,
        authority: Option<&str>,
    ) -> Result<Option<HashSet<String>>, RegistryError> {
        let listable = self.listable_authorities(who, authority, true)?;
        // A permission of the protocol to list handles is none to see events.
        if let (Some(paths), false) = (&listable.authorities, listable.with_reserved) {
            let path = paths
                .first()
                .cloned()
                .unwrap_or_else(AuthorityPath::info_root);
            return Err(RegistryError::denied(Role::Read, &path));
        }
        let keys = |paths: Vec<AuthorityPath>| {
            let keys = paths.iter().map(|path| path.key().to_string());
            keys.collect()
        };
        Ok(listable.authorities.map(keys))
    }
}

/// The last event, up to a number, that happened at a time or before it. Times never decrease.
fn last_until(now: &Snapshot<'_>, newest: u64, until: u64) -> Result<u64, RegistryError> {
    let (mut low, mut high) = (0, newest);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let time = now.get(&TableKey::event(middle), Event::time_in)?.flatten();
        if time.is_some_and(|time| time > until) {
            high = middle - 1;
        } else {
            low = middle;
        }
    }
    Ok(low)
}
