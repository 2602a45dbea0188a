//! Two people have changed a name at once: before, theirs and yours, and a choice for each value
//! that both have changed.

use askama::Template;
use handfast_registry::{Difference, HistoryPoint, NameAction, Record};
use hyper::{Response, StatusCode};

use super::address_merge::AddressMerge;
use super::changes::{ChangeLine, data_words, lines};
use super::edit::{self, editable};
use super::edit_form::EditForm;
use super::form_fields::exact;
use super::head::NameHead;
use super::history::actor_words;
use super::merge::{
    Merge, WantedValue, at, edit_of, edited, moved, read, refused, value_of, written,
};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

/// The key of the choice of all addresses in their order.
const ADDRESSES: &str = "addresses";

#[derive(Template)]
#[template(path = "console/names/conflict.html")]
struct ConflictPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    /// Who has saved it, and when.
    who: String,
    time: u64,
    rows: Vec<ConflictRow>,
    theirs: Vec<ChangeLine>,
    mine: Vec<ChangeLine>,
    /// The edit, as hidden fields.
    wanted: Vec<String>,
    base: (u64, u64),
    version: u64,
}

/// A value that both have changed.
struct ConflictRow {
    /// Its index, or `addresses` for the list of all of them.
    key: String,
    heading: String,
    before: Option<String>,
    theirs: Option<String>,
    yours: Option<String>,
    /// The words of the choice that both stay; empty if there is no such choice.
    both: &'static str,
    choice: String,
}

/// The page that shows an edit beside what is stored now; nothing else is stored.
pub(super) fn show(
    visit: &Visit<'_>,
    head: &NameHead,
    base: &Record,
    wanted: &[WantedValue],
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let last = HistoryPoint::Event(u64::MAX);
    let theirs = registry.show_at(&who, id, last)?.record;
    let (addresses, rest) = AddressMerge::split(base, &theirs, wanted);
    let merge = Merge::new(base, &theirs, rest);
    if merge.both.is_empty() && merge.mine.is_empty() && addresses.is_none() {
        // It is stored already: a form was sent twice.
        let event = theirs.last_event;
        return Ok(see(&format!("{}?done=saved&event={event}", head.path)));
    }
    let history = registry.history_before(&who, id, None, 1)?;
    let entry = history.entries.last();
    let actor = entry.and_then(|entry| entry.who.as_ref());
    let status = if errors.is_empty() {
        StatusCode::CONFLICT
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let mut rows = Vec::new();
    if let Some(addresses) = &addresses {
        let [before, theirs, yours] = addresses.words();
        rows.push(ConflictRow {
            key: ADDRESSES.to_string(),
            heading: "Addresses, in their order".to_string(),
            before: Some(before),
            theirs: Some(theirs),
            yours: Some(yours),
            both: "Both: yours, then those that they added",
            choice: visit.field("choice-addresses").to_string(),
        });
    }
    rows.extend(merge.both.iter().map(|(index, put)| {
        let (before, now) = (at(base, *index), at(&theirs, *index));
        let mine = put.as_ref().map(|put| value_of(put, now.or(before)));
        let any = mine.as_ref().or(now).or(before);
        let value_type = any.map_or("", |value| &value.value_type);
        let can_have_both = before.is_none() && put.is_some();
        ConflictRow {
            key: index.to_string(),
            heading: format!("{value_type} {index}"),
            before: before.map(data_words),
            theirs: now.map(data_words),
            yours: mine.as_ref().map(data_words),
            both: if can_have_both {
                "Both: yours gets the next free index"
            } else {
                ""
            },
            choice: visit.field(&format!("choice-{index}")).to_string(),
        }
    }));
    let is_covered = |one: &Difference| {
        let addresses = addresses.as_ref();
        addresses.is_some_and(|addresses| addresses.covers(one.index))
    };
    let mut of_theirs = theirs_only(base, &theirs, &merge.both);
    of_theirs.retain(|one| !is_covered(one));
    let page = ConflictPage {
        frame: head.frame(visit, "Two changes at once").errors(errors),
        name: head,
        who: actor.map_or_else(
            || "Somebody else".to_string(),
            |who| actor_words(visit, who),
        ),
        time: entry.map_or(theirs.modified, |entry| entry.event.time),
        rows,
        theirs: lines(&of_theirs),
        mine: lines(&mine_only(&theirs, &merge.mine)),
        wanted: wanted.iter().map(written).collect(),
        base: (base.version, base.last_event),
        version: theirs.version,
    };
    Ok(page.frame.respond(status, &page))
}

/// What the other person has changed, without the values that both have changed.
fn theirs_only(base: &Record, theirs: &Record, both: &[WantedValue]) -> Vec<Difference> {
    let mut indexes: Vec<_> = base.values.iter().map(|value| value.index).collect();
    indexes.extend(theirs.values.iter().map(|value| value.index));
    indexes.sort_unstable();
    indexes.dedup();
    let found = indexes.into_iter().map(|index| Difference {
        index,
        before: at(base, index).cloned(),
        after: at(theirs, index).cloned(),
    });
    let is_changed = |one: &Difference| match (&one.before, &one.after) {
        (Some(before), Some(after)) => !after.is_unchanged_from(before),
        _ => true,
    };
    found
        .filter(is_changed)
        .filter(|one| both.iter().all(|(index, _)| *index != one.index))
        .collect()
}

fn mine_only(theirs: &Record, mine: &[WantedValue]) -> Vec<Difference> {
    let found = mine.iter().map(|(index, put)| {
        let before = at(theirs, *index);
        Difference {
            index: *index,
            before: before.cloned(),
            after: put.as_ref().map(|put| value_of(put, before)),
        }
    });
    found.collect()
}

/// Stores the choices; or shows the form again.
pub(super) fn merge(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, theirs) = editable(visit)?;
    let Some(base) = edit::base(visit)? else {
        return Ok(see(&format!("{}/edit", head.path)));
    };
    let wanted: Vec<_> = exact(visit, "mine").into_iter().filter_map(read).collect();
    if visit.field("do") == "back" {
        let values = edited(&base, &wanted);
        let mut form = EditForm::with(&values, base.version, base.last_event);
        let gone = wanted.iter().filter(|(_, put)| put.is_none());
        form.removed = gone.map(|(index, _)| *index).collect();
        return edit::page(visit, StatusCode::OK, &head, &base, &form, Vec::new());
    }
    if visit.field("theirs") != theirs.version.to_string() {
        // It has changed once more.
        return show(visit, &head, &base, &wanted, Vec::new());
    }
    let (addresses, rest) = AddressMerge::split(&base, &theirs, &wanted);
    let merged = Merge::new(&base, &theirs, rest);
    let mut chosen = merged.mine;
    let mut errors = Vec::new();
    let unchosen = |key: &str, what: &str| {
        let text = format!("Choose what shall hold for {what}.");
        FieldError::new(format!("choice-{key}-theirs"), text)
    };
    if let Some(addresses) = addresses {
        match visit.field("choice-addresses") {
            "theirs" => {}
            "yours" => chosen.extend(addresses.wanted(&theirs, false)),
            "both" => chosen.extend(addresses.wanted(&theirs, true)),
            _ => errors.push(unchosen(ADDRESSES, "the addresses")),
        }
    }
    for (index, put) in merged.both {
        match (visit.field(&format!("choice-{index}")), put) {
            ("theirs", _) => {}
            ("yours", put) => chosen.push((index, put)),
            ("both", Some(put)) => {
                let put = moved(&put, &theirs, &chosen);
                chosen.push((put.index, Some(put)));
            }
            _ => errors.push(unchosen(&index.to_string(), &format!("value {index}"))),
        }
    }
    if !errors.is_empty() {
        return show(visit, &head, &base, &wanted, errors);
    }
    if chosen.is_empty() {
        return Ok(see(&format!("{}?done=theirs", head.path)));
    }
    let action = NameAction::Edit(edit_of(&chosen));
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let expected = Some(theirs.version);
    match registry.change_name(&who, id, expected, action) {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            Ok(see(&format!("{}?done=merged&event={event}", head.path)))
        }
        Err(error) if error.code() == "other-version" => {
            show(visit, &head, &base, &wanted, Vec::new())
        }
        Err(error) => {
            let (_, error) = refused(error)?;
            show(visit, &head, &base, &wanted, vec![error])
        }
    }
}
