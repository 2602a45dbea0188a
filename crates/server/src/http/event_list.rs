//! Lists of events: the filters of a query, and the list as a table and as a feed.

use std::fmt::Write as _;

use handfast_registry::{
    Action, EventFilter, ListedEvent, Principal, Registry, RegistryError, parse_rfc3339, rfc3339,
};

use crate::http::csv::Csv;
use crate::http::percent::{COMPONENT, encode};
use crate::http::xml::Xml;

/// How many events a table has at most.
pub(crate) const MAX_TABLE: usize = 5_000;
/// How many events a feed has.
pub(crate) const MAX_FEED: usize = 100;
/// How many pages of a list are read for a table or a feed: the work for each is bounded.
const MAX_PAGES: usize = 40;
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// The parameters of a list.
pub(crate) const PARAMETERS: [&str; 6] = ["authority", "account", "action", "since", "until", "id"];

/// The events that a query asks for.
#[derive(Default)]
pub(crate) struct EventQuery {
    pub(crate) filter: EventFilter,
    pub(crate) after: Option<u64>,
    /// The filters as a query, with its question mark, or nothing.
    pub(crate) text: String,
}

/// A parameter, and what is wrong with it.
pub(crate) type WrongParameter = (&'static str, String);

impl EventQuery {
    pub(crate) fn read_from<'q>(
        query: impl Fn(&str) -> Option<&'q str>,
    ) -> Result<Self, WrongParameter> {
        let text = |name: &str| query(name).filter(|text| !text.is_empty());
        let owned = |name: &str| text(name).map(str::to_string);
        let action = text("action").map(|word| {
            let problem = || "there is no such action".to_string();
            Action::parse(word).ok_or_else(|| ("action", problem()))
        });
        let time = |name: &'static str, rest: u64| {
            let read = text(name).map(|text| time_of(text, rest).ok_or_else(|| bad_time(name)));
            read.transpose()
        };
        let after = text("after").map(|number| {
            let problem = || ("after", "it is the number of an event".to_string());
            number.parse().map_err(|_| problem())
        });
        Ok(Self {
            filter: EventFilter {
                authority: owned("authority"),
                account: owned("account"),
                action: action.transpose()?,
                since: time("since", 0)?,
                until: time("until", DAY - 1)?,
                id: owned("id"),
            },
            after: after.transpose()?,
            text: written(text),
        })
    }

    /// The events, newest first, up to a number. A list that would take long ends earlier.
    pub(crate) fn read(
        &self,
        registry: &Registry,
        who: &Principal,
        limit: usize,
    ) -> Result<Vec<ListedEvent>, RegistryError> {
        let (mut events, mut after) = (Vec::new(), self.after);
        for _ in 0..MAX_PAGES {
            let left = limit.saturating_sub(events.len());
            let page = registry.list_events(who, &self.filter, after, left)?;
            events.extend(page.events);
            if page.next.is_none() || events.len() >= limit {
                break;
            }
            after = page.next;
        }
        Ok(events)
    }
}

/// The filters as a query.
fn written<'q>(text: impl Fn(&str) -> Option<&'q str>) -> String {
    let mut query = String::new();
    for name in PARAMETERS {
        if let Some(value) = text(name) {
            let mark = if query.is_empty() { '?' } else { '&' };
            // Writing to a string cannot fail.
            let _ = write!(query, "{mark}{name}={}", encode(value, COMPONENT));
        }
    }
    query
}

/// A time, or the beginning of a day and some milliseconds.
fn time_of(text: &str, rest: u64) -> Option<u64> {
    let day = parse_rfc3339(&format!("{text}T00:00:00Z"));
    let day = day.map(|day| day.saturating_add(rest));
    day.or_else(|| parse_rfc3339(text))
}

fn bad_time(name: &'static str) -> WrongParameter {
    let text = "write a day, such as 2026-11-15, or a time, such as 2026-11-15T12:00:00Z";
    (name, text.to_string())
}

/// The path of an authority, by its key.
pub(crate) fn path_of(key: &str) -> &str {
    key.strip_prefix("hdl:").unwrap_or(key)
}

pub(crate) fn csv(events: &[ListedEvent]) -> String {
    let mut csv = Csv::new(&[
        "event",
        "time",
        "action",
        "name",
        "authority",
        "who",
        "detail",
    ]);
    for listed in events {
        let event = &listed.event;
        csv.row(&[
            &event.number.to_string(),
            &rfc3339(event.time),
            event.action.as_str(),
            listed.name.as_deref().unwrap_or_default(),
            path_of(&event.authority),
            &who(listed),
            listed.detail.as_deref().unwrap_or_default(),
        ]);
    }
    csv.finish()
}

fn who(listed: &ListedEvent) -> String {
    let who = listed.who.as_ref();
    who.map(ToString::to_string).unwrap_or_default()
}

/// Where a feed is, and what it is about.
pub(crate) struct FeedPlace<'a> {
    pub(crate) base: &'a str,
    /// The address of the feed.
    pub(crate) own: String,
    /// The page with the same list.
    pub(crate) page: String,
    pub(crate) now: u64,
}

/// A feed of events (RFC 4287).
pub(crate) fn atom(events: &[ListedEvent], place: &FeedPlace<'_>) -> String {
    let updated = events.first().map_or(place.now, |listed| listed.event.time);
    let mut xml = Xml::new();
    xml.open(
        "feed",
        &[("xmlns", "http://www.w3.org/2005/Atom"), ("xml:lang", "en")],
    );
    xml.text("id", &place.own);
    xml.text("title", "Events of the registry");
    xml.text("updated", &rfc3339(updated));
    xml.open("author", &[]);
    xml.text("name", "The registry");
    xml.close();
    link(&mut xml, "self", "application/atom+xml", &place.own);
    link(&mut xml, "alternate", "text/html", &place.page);
    for listed in events {
        let event = &listed.event;
        let number = event.number;
        let authority = path_of(&event.authority);
        let subject = listed.name.as_deref().unwrap_or(authority);
        xml.open("entry", &[]);
        xml.text("id", &format!("{}/console/events#{number}", place.base));
        let title = format!("{} {subject}", event.action.as_str());
        let title = title.trim_end();
        match &listed.detail {
            Some(detail) => xml.text("title", &format!("{title}: {detail}")),
            None => xml.text("title", title),
        }
        xml.text("updated", &rfc3339(event.time));
        let who = who(listed);
        if !who.is_empty() {
            xml.open("author", &[]);
            xml.text("name", &who);
            xml.close();
        }
        if let Some(name) = &listed.name {
            let page = format!("{}/console/names/{}", place.base, encode(name, COMPONENT));
            link(&mut xml, "alternate", "text/html", &page);
        }
        let summary = format!("Event {number}");
        xml.element("summary", &[("type", "text")], &summary);
        xml.close();
    }
    xml.finish()
}

fn link(xml: &mut Xml, relation: &str, kind: &str, href: &str) {
    let attributes = [("rel", relation), ("type", kind), ("href", href)];
    xml.element("link", &attributes, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_whole() {
        let query = |name: &str| match name {
            "since" | "until" => Some("2026-11-15"),
            "authority" => Some("20.1000"),
            _ => None,
        };
        let read = EventQuery::read_from(query).unwrap_or_default();
        let (since, until) = (read.filter.since, read.filter.until);
        assert_eq!(since.map(rfc3339).as_deref(), Some("2026-11-15T00:00:00Z"));
        assert_eq!(until.map(|until| until + 1), since.map(|since| since + DAY));
        assert_eq!(
            read.text,
            "?authority=20.1000&since=2026-11-15&until=2026-11-15"
        );
        let wrong = EventQuery::read_from(|name| (name == "since").then_some("yesterday"));
        assert_eq!(wrong.map_or_else(|(field, _)| field, |_| ""), "since");
    }
}
