//! `/console/namespaces`: all entries, with those that wait for this person first.

use std::sync::Arc;

use askama::Template;
use handfast_registry::{NamespaceEntry, NamespaceQuery, NamespaceStatus, Principal};
use hyper::{Response, StatusCode};

use super::{ShownStatus, path_of};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

/// How many entries a page has.
const PAGE: usize = 50;
/// How many entries of their own a person sees at the top.
const MAX_OWN: usize = 50;

#[derive(Template)]
#[template(path = "console/namespaces.html")]
struct NamespacesPage<'a> {
    frame: ConsoleFrame<'a>,
    waiting: Vec<ListedNamespace>,
    own: Vec<ListedNamespace>,
    entries: Vec<ListedNamespace>,
    total: u64,
    words: String,
    status: String,
    statuses: Vec<&'static str>,
    next: Option<String>,
    has_filters: bool,
}

pub(super) struct ListedNamespace {
    uri: String,
    path: String,
    title: String,
    organisation: String,
    status: ShownStatus,
    /// What waits: a decision about a proposal, or about a claim.
    note: &'static str,
}

impl ListedNamespace {
    fn of(entry: &Arc<NamespaceEntry>, who: &Principal, now: u64) -> Self {
        let note = match entry.status {
            _ if entry.claimant.as_ref() == Some(who) => "claimed by you",
            NamespaceStatus::Candidate if entry.owner.as_ref() == Some(who) => "proposed by you",
            _ if entry.owner.as_ref() == Some(who) => "yours",
            NamespaceStatus::Candidate => "open to comments",
            _ if entry.claim_pending => "claimed",
            _ => "",
        };
        Self {
            uri: entry.uri(),
            path: path_of(entry.name()),
            title: entry.form.title.clone(),
            organisation: entry.form.authority.organisation.clone(),
            status: ShownStatus::of(entry, now),
            note,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (who, now) = (visit.person()?.who.clone(), visit.now);
    let words = visit.query("q").unwrap_or_default().to_string();
    let status = visit.query("status").unwrap_or_default().to_string();
    let after = visit.query("after").map(str::to_string);
    let has_filters = !words.is_empty() || !status.is_empty();
    let is_start = after.is_none() && !has_filters;
    let query = NamespaceQuery {
        text: Some(words.clone()).filter(|text| !text.is_empty()),
        status: status.parse().ok(),
        after,
        limit: PAGE,
        ..NamespaceQuery::default()
    };
    let found = visit.registry().namespaces(&query);
    let listed = |entry: &Arc<NamespaceEntry>| ListedNamespace::of(entry, &who, now);
    let own = if is_start {
        let all = visit.registry().namespaces(&NamespaceQuery {
            limit: usize::MAX,
            ..NamespaceQuery::default()
        });
        let own = all.entries.iter().filter(|entry| {
            entry.owner.as_ref() == Some(&who) || entry.claimant.as_ref() == Some(&who)
        });
        own.take(MAX_OWN).map(listed).collect()
    } else {
        Vec::new()
    };
    let waiting = if is_start {
        visit.waiting().namespaces.iter().map(listed).collect()
    } else {
        Vec::new()
    };
    let next = found.next.map(|next| {
        let [words, status, next] = [&words, &status, &next].map(|text| encode(text, COMPONENT));
        format!("/console/namespaces?q={words}&status={status}&after={next}")
    });
    let same = [
        "handfast namespace list".to_string(),
        format!("curl {}/api/v1/namespaces", visit.base),
    ];
    let page = NamespacesPage {
        frame: ConsoleFrame::new(visit, "Namespaces", MenuItem::Namespaces).same(same),
        waiting,
        own,
        entries: found.entries.iter().map(listed).collect(),
        total: u64::try_from(found.total).unwrap_or(0),
        words,
        status,
        statuses: [
            NamespaceStatus::Candidate,
            NamespaceStatus::Registered,
            NamespaceStatus::Lapsed,
            NamespaceStatus::Deprecated,
            NamespaceStatus::Withdrawn,
            NamespaceStatus::Refused,
        ]
        .iter()
        .map(|status| status.as_str())
        .collect(),
        next,
        has_filters,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}
