//! `/api/v1/events`: what has happened, as JSON, as a table and as a feed.

use handfast_api as api;
use handfast_registry::{ListedEvent, rfc3339};
use hyper::StatusCode;

use super::call::{Answer, Call};
use super::problem::Problem;
use crate::http::event_list::{EventQuery, FeedPlace, MAX_FEED, MAX_TABLE, atom, csv, path_of};
use crate::http::response::reply;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let query = query(call)?;
    let limit = call.limit()?;
    let page = call
        .registry()
        .list_events(&call.who, &query.filter, query.after, limit)?;
    Ok(Answer::json(&api::ListedEventPage {
        events: page.events.iter().map(shown).collect(),
        next: page.next.map(|next| next.to_string()),
    }))
}

pub(super) fn table(call: &Call) -> Result<Answer, Problem> {
    let events = query(call)?.read(call.registry(), &call.who, MAX_TABLE)?;
    let kind = "text/csv; charset=utf-8";
    Ok(Answer(reply(StatusCode::OK, kind, csv(&events))))
}

pub(super) fn feed(call: &Call) -> Result<Answer, Problem> {
    let query = query(call)?;
    let events = query.read(call.registry(), &call.who, MAX_FEED)?;
    let place = FeedPlace {
        base: &call.base,
        own: format!("{}/api/v1/events.atom{}", call.base, query.text),
        page: format!("{}/console/events{}", call.base, query.text),
        now: call.registry().time(),
    };
    let kind = "application/atom+xml; charset=utf-8";
    Ok(Answer(reply(StatusCode::OK, kind, atom(&events, &place))))
}

fn query(call: &Call) -> Result<EventQuery, Problem> {
    let query = EventQuery::read_from(|name| call.query(name));
    query.map_err(|wrong| {
        let (field, text) = wrong;
        Problem::usage(format!("`{field}`: {text}"))
    })
}

fn shown(listed: &ListedEvent) -> api::ListedEvent {
    let event = &listed.event;
    api::ListedEvent {
        action: event.action.as_str().to_string(),
        authority: path_of(&event.authority).to_string(),
        detail: listed.detail.clone(),
        event: event.number,
        name: listed.name.clone(),
        time: rfc3339(event.time),
        who: listed.who.as_ref().map(ToString::to_string),
    }
}
