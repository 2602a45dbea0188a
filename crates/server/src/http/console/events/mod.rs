//! What has happened: `/console/events`, as a page, as a table and as a feed.
//!
//! The session of a browser does not count outside of the console, so a feed reader cannot use it:
//! it reads `/api/v1/events.atom` with a token. The feed here is for browsers.

mod action_words;

use std::fmt::Write as _;

use askama::Template;
use handfast_registry::{Action, ListedEvent};
use hyper::header::CONTENT_DISPOSITION;
use hyper::{Response, StatusCode};

use self::action_words::action_words;
use super::authorities::curl;
use super::error_page::PageError;
use super::frame::{ConsoleFrame, FieldError, MenuItem};
use super::message::{message, sentence};
use super::page_table::{PageRoute, page};
use super::visit::Visit;
use crate::http::event_list::{
    EventQuery, FeedPlace, MAX_FEED, MAX_TABLE, PARAMETERS, WrongParameter, atom, csv, path_of,
};
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::record_page::quoted;
use crate::http::response::{Body, WithHeader, reply};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/events", show),
    page("/events.csv", table),
    page("/events.atom", feed),
];

/// How many events a page has.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "console/events.html")]
struct EventsPage<'a> {
    frame: ConsoleFrame<'a>,
    typed: TypedFilter,
    /// The actions to filter by: as the address has them, and in words.
    actions: Vec<(&'static str, &'static str)>,
    has_filters: bool,
    events: Vec<ShownEvent>,
    /// The filters as a query, with its question mark, or nothing.
    query: String,
    /// The address of the next page.
    next: Option<String>,
    is_first: bool,
    /// What is said in place of an empty list; nothing if a filter is wrong.
    empty: &'static str,
    /// Whether the person has a role nowhere, so that no list has anything.
    has_no_role: bool,
    as_of_event: Option<u64>,
    /// Whose events these are.
    about: &'static str,
}

/// The filters as they were typed.
struct TypedFilter {
    authority: String,
    account: String,
    action: String,
    since: String,
    until: String,
    id: String,
}

struct ShownEvent {
    number: u64,
    time: u64,
    action: &'static str,
    name: Option<(String, String)>,
    authority: Option<(String, String)>,
    who: String,
    /// What was done to which account, group, token or role.
    detail: String,
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (status, query, errors) = match EventQuery::read_from(|name| visit.query(name)) {
        Ok(query) => (StatusCode::OK, query, Vec::new()),
        Err((field, text)) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            EventQuery::default(),
            vec![FieldError::new(field, sentence(&text))],
        ),
    };
    if !errors.is_empty() {
        return respond(visit, status, &query, None, errors);
    }
    let found = visit
        .registry()
        .list_events(&visit.who(), &query.filter, query.after, PAGE);
    match found {
        Ok(found) => respond(visit, status, &query, Some(found), errors),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) => {
            let field = match (&query.filter.id, &query.filter.authority) {
                (Some(_), _) => "id",
                (None, Some(_)) => "authority",
                (None, None) => "account",
            };
            let errors = vec![FieldError::new(field, message(&error))];
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            respond(visit, status, &query, None, errors)
        }
    }
}

fn respond(
    visit: &Visit<'_>,
    status: StatusCode,
    query: &EventQuery,
    found: Option<handfast_registry::EventListPage>,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let is_list = found.is_some();
    let is_administrator = visit.person()?.is_administrator;
    let has_no_role = !is_administrator && visit.waiting().own.is_empty();
    let has_filters = PARAMETERS.iter().any(|name| visit.query(name).is_some());
    let found = found.unwrap_or_default();
    let typed = |name: &str| visit.query(name).unwrap_or_default().to_string();
    let mark = if query.text.is_empty() { "?" } else { "&" };
    let next = found.next.map(|next| {
        let text = &query.text;
        format!("/console/events{text}{mark}after={next}")
    });
    let same = [
        command(visit),
        curl(visit, "GET", &format!("/events{}", query.text)),
    ];
    let page = EventsPage {
        frame: ConsoleFrame::new(visit, "Events", MenuItem::Events)
            .errors(errors)
            .same(same),
        typed: TypedFilter {
            authority: typed("authority"),
            account: typed("account"),
            action: typed("action"),
            since: typed("since"),
            until: typed("until"),
            id: typed("id"),
        },
        actions: Action::ALL
            .iter()
            .map(|action| (action.as_str(), action_words(*action)))
            .collect(),
        has_filters,
        events: found.events.iter().map(|one| shown(visit, one)).collect(),
        query: query.text.clone(),
        next,
        is_first: query.after.is_none(),
        empty: match (is_list, found.is_complete, has_filters) {
            (false, ..) => "",
            (_, false, _) => "Nothing found so far: go on with the older ones.",
            _ if has_no_role => "You see no events yet: they are those of your authorities.",
            (_, _, true) => "No event matches these filters.",
            (_, _, false) => "Nothing has happened yet.",
        },
        has_no_role,
        as_of_event: is_list.then_some(found.as_of_event),
        about: if is_administrator {
            "Everything that has happened, newest first."
        } else {
            "What has happened on your authorities, newest first."
        },
    };
    Ok(page.frame.respond(status, &page))
}

/// The command that lists the same events.
fn command(visit: &Visit<'_>) -> String {
    let mut command = "handfast log list".to_string();
    for name in PARAMETERS {
        if let Some(value) = visit.query(name).filter(|value| !value.is_empty()) {
            // Writing to a string cannot fail.
            let _ = write!(command, " --{name} {}", quoted(value));
        }
    }
    command
}

fn shown(visit: &Visit<'_>, listed: &ListedEvent) -> ShownEvent {
    let event = &listed.event;
    let name = listed.name.as_ref().map(|name| {
        let path = encode(name, COMPONENT);
        (name.clone(), format!("/console/names/{path}/history"))
    });
    let authority = path_of(&event.authority);
    let path = encode(authority, COMPONENT);
    let is_namespace = event.action.is_of_namespace();
    let path = match authority.strip_prefix("info:") {
        Some(name) if is_namespace => {
            let name = encode(name, COMPONENT);
            format!("/console/namespaces/{name}")
        }
        _ => format!("/console/authorities/{path}"),
    };
    ShownEvent {
        number: event.number,
        time: event.time,
        action: action_words(event.action),
        name,
        authority: Some((authority.to_string(), path)).filter(|_| !authority.is_empty()),
        detail: listed.detail.clone().unwrap_or_default(),
        who: listed
            .who
            .as_ref()
            .map(|who| visit.title_of(who))
            .unwrap_or_default(),
    }
}

fn table(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let query = EventQuery::read_from(|name| visit.query(name)).map_err(wrong)?;
    let events = query.read(visit.registry(), &visit.who(), MAX_TABLE)?;
    let response = reply(StatusCode::OK, "text/csv; charset=utf-8", csv(&events));
    Ok(response.with(CONTENT_DISPOSITION, "attachment; filename=\"events.csv\""))
}

fn feed(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let query = EventQuery::read_from(|name| visit.query(name)).map_err(wrong)?;
    let events = query.read(visit.registry(), &visit.who(), MAX_FEED)?;
    let place = FeedPlace {
        base: &visit.base,
        own: format!("{}/console/events.atom{}", visit.base, query.text),
        page: format!("{}/console/events{}", visit.base, query.text),
        now: visit.now,
    };
    let kind = "application/atom+xml; charset=utf-8";
    Ok(reply(StatusCode::OK, kind, atom(&events, &place)))
}

fn wrong((field, text): WrongParameter) -> PageError {
    let text = format!("{field}: {text}");
    PageError::new(StatusCode::UNPROCESSABLE_ENTITY, "usage", text)
}
