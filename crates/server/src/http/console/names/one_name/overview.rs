//! `/console/names/{id}`: a name at a glance.

use askama::Template;
use handfast_registry::{Record, State, Tombstone};
use handfast_wire::Value;
use hyper::{Response, StatusCode};

use super::changes::{data_words, ttl_words};
use super::head::{NameHead, NameTab};
use super::history::actor_words;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Flash};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/overview.html")]
struct NameOverview<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    addresses: Vec<String>,
    values: Vec<NameValue>,
    tombstone: Option<Tombstone>,
    /// Who has the name beside its authority, if the person may know that.
    holder: String,
    /// Whether the person has a role here.
    knows_all: bool,
    created: u64,
    modified: u64,
    event: u64,
    version: u64,
}

/// A value that is not an address.
struct NameValue {
    index: u32,
    value_type: String,
    words: String,
    ttl: String,
    permissions: String,
}

impl NameValue {
    fn new(value: &Value<'_>) -> Self {
        Self {
            index: value.index,
            value_type: value.value_type.to_string(),
            words: data_words(value),
            ttl: ttl_words(value.ttl),
            permissions: value.permissions.to_string(),
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, shown) = NameHead::load(visit, NameTab::Values)?;
    let knows_all = visit.registry().may_know_all(&visit.who(), visit.id())?;
    let record = shown.record;
    let is_url = |value: &&Value<'_>| value.value_type.eq_ignore_ascii_case("URL");
    let (argument, api) = (head.argument(), head.api(visit));
    let page = NameOverview {
        frame: head
            .frame(visit, "")
            .flash(flash(visit, &head, &record))
            .same([
                format!("handfast name show {argument}"),
                format!("curl -H \"Authorization: Bearer $HANDFAST_TOKEN\" {api}"),
            ]),
        name: &head,
        addresses: record
            .values
            .iter()
            .filter(is_url)
            .map(data_words)
            .collect(),
        values: record
            .values
            .iter()
            .filter(|value| !is_url(value))
            .map(NameValue::new)
            .collect(),
        holder: record
            .holder
            .as_ref()
            .map_or(String::new(), |holder| actor_words(visit, holder)),
        knows_all,
        created: record.created,
        modified: record.modified,
        event: record.last_event,
        version: record.version,
        tombstone: record.tombstone,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// What the last form has done, by the words of the address.
fn flash(visit: &Visit<'_>, head: &NameHead, record: &Record) -> Option<Flash> {
    let id = &record.text;
    let (heading, text, can_undo) = match visit.query("done")? {
        "saved" => ("Saved.", leads(record), true),
        "merged" => ("Saved, both changes.", leads(record), true),
        "nothing" => {
            return Some(note("Nothing was changed.", "The form was as the name is."));
        }
        "theirs" => {
            let text = "You have chosen what the other person has saved.";
            return Some(note("Nothing was changed.", text));
        }
        "undone" => ("Undone.", leads(record), true),
        "activated" => (
            "Activated.",
            format!("Everybody can look up {id} from now on."),
            false,
        ),
        "withdrawn" => (
            "Withdrawn.",
            format!("Readers of {id} see the reason from now on."),
            true,
        ),
        "restored" => ("Restored.", leads(record), true),
        "transferred" => ("Transferred.", format!("{id} has a new holder."), true),
        "created" => ("Registered.", leads(record), false),
        "reserved" => (
            "Reserved.",
            format!("Nobody else can have {id}, and readers do not see it yet."),
            false,
        ),
        _ => return None,
    };
    let event = visit.query("event").and_then(|text| text.parse().ok());
    // Only what was done last can be undone from here, whatever the address says.
    let event = event.filter(|event: &u64| can_undo && *event == record.last_event);
    let event = event.filter(|_| head.may_something());
    Some(Flash {
        kind: "good",
        head: heading.to_string(),
        text,
        undo: event.map(|event| format!("{}/history/{event}/undo", head.path)),
    })
}

fn note(head: &str, text: &str) -> Flash {
    Flash {
        kind: "note",
        head: head.to_string(),
        text: text.to_string(),
        undo: None,
    }
}

/// Where a name leads, in a sentence.
fn leads(record: &Record) -> String {
    let id = &record.text;
    let mut urls = record.values.iter();
    let url = urls.find(|value| value.value_type.eq_ignore_ascii_case("URL"));
    let url = url.and_then(Value::text).unwrap_or_default();
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    // Locations come before the address, and differ by reader.
    let has_locations = record.values.iter().any(|value| value.is_type("10320/loc"));
    match (record.state, host.is_empty() || has_locations) {
        (State::Active, false) => format!("{id} leads to {host} from now on."),
        (State::Active, true) => format!("{id} has its new values from now on."),
        (State::Reserved, _) => format!("{id} is reserved: readers do not see it yet."),
        (State::Withdrawn, _) => format!("{id} is withdrawn: readers see why."),
    }
}
