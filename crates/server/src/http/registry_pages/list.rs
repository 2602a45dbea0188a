//! The list of all namespaces, with a search.

use std::sync::Arc;

use askama::Template;
use handfast_registry::{NamespaceEntry, NamespacePage, NamespaceQuery, NamespaceStatus};
use hyper::header::LINK;
use hyper::{Response, StatusCode};

use super::entry_words::{StatusBadge, badge, status_word};
use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::pages::{Frame, filters};
use crate::http::resolver::failure::Failure;
use crate::http::response::{Body, WithHeader};

/// How many entries a page has.
const PAGE: usize = 100;

impl Asking<'_> {
    pub(super) fn list(&self, form: Form) -> Response<Body> {
        if let Some(problem) = self.misused() {
            let (status, title) = (StatusCode::BAD_REQUEST, "Not a Search");
            let failure = Failure::new(status, "usage", title, problem);
            return match form {
                Form::Json => failure.problem(),
                _ => failure.answer(self.web, &self.accept),
            };
        }
        let status = self.query("status");
        let wanted = NamespaceQuery {
            text: self.query("q").map(str::to_string),
            status: status.and_then(|text| text.parse().ok()),
            historical: self.query("historical").map(|text| text == "true"),
            after: self.query("after").map(str::to_ascii_lowercase),
            limit: self.limit(PAGE),
        };
        let found = self.web.registry().namespaces(&wanted);
        let mut links = String::from(
            "</registry/info.json>; rel=\"alternate\"; type=\"application/json\", \
             </registry/changes.atom>; rel=\"alternate\"; type=\"application/atom+xml\", \
             </oai?verb=Identify>; rel=\"service\"",
        );
        let path = match form {
            Form::Json => "/registry/info.json",
            _ => "/registry/",
        };
        let parameters = ["q", "status", "historical", "limit"];
        let next = found.next.as_deref();
        let next = next.map(|next| self.next_page(path, &parameters, next));
        if let Some(next) = &next {
            links.extend([", <", next, ">; rel=\"next\""]);
        }
        let response = if form == Form::Json {
            self.json(&convert::namespaces(&found, self.now))
        } else {
            let page = self.list_page(&found, next);
            page.frame.respond(StatusCode::OK, &page)
        };
        response.with(LINK, links)
    }

    /// The error in the parameters.
    fn misused(&self) -> Option<String> {
        let is_not =
            |name, fits: fn(&str) -> bool| self.query(name).is_some_and(|text| !fits(text));
        if is_not("status", |text| text.parse::<NamespaceStatus>().is_ok()) {
            let all = NamespaceStatus::ALL.map(NamespaceStatus::as_str).join(", ");
            return Some(format!("A status is one of {all}."));
        }
        if is_not("historical", |text| matches!(text, "true" | "false")) {
            return Some("historical is true or false.".to_string());
        }
        let is_limit = |text: &str| {
            let number = text.parse::<usize>();
            number.is_ok_and(|number| (1..=1_000).contains(&number))
        };
        is_not("limit", is_limit).then(|| "limit is 1 to 1000.".to_string())
    }

    fn list_page(&self, found: &NamespacePage, next: Option<String>) -> NamespaceListPage<'_> {
        let mut rows = Vec::new();
        let mut meanings: Vec<StatusBadge> = Vec::new();
        for entry in &found.entries {
            let badge = badge(entry, self.now);
            if !meanings.iter().any(|known| known.word == badge.word) {
                meanings.push(badge);
            }
            rows.push((Arc::clone(entry), badge));
        }
        NamespaceListPage {
            frame: self.frame("Namespaces"),
            tab: "namespaces",
            words: self.query("q").unwrap_or_default(),
            status: self.query("status").unwrap_or_default(),
            statuses: NamespaceStatus::ALL.map(NamespaceStatus::as_str),
            is_filtered: ["q", "status", "historical"]
                .iter()
                .any(|name| self.query(name).is_some()),
            total: found.total,
            rows,
            meanings,
            next,
        }
    }

    /// The status of an entry, and whether it is maintained.
    pub(super) fn status_words(&self, entry: &NamespaceEntry) -> String {
        let mut words = status_word(entry.state(self.now)).to_string();
        if entry.historical {
            words.push_str(if entry.claimed {
                ", historical, claimed"
            } else {
                ", historical, unclaimed"
            });
        }
        if entry.is_live(self.now) && entry.provisional_until.is_some() {
            words.push_str(", provisional");
        }
        words
    }
}

#[derive(Template)]
#[template(path = "registry/namespaces.html")]
struct NamespaceListPage<'a> {
    frame: Frame<'a>,
    tab: &'static str,
    words: &'a str,
    status: &'a str,
    statuses: [&'static str; 6],
    is_filtered: bool,
    total: usize,
    rows: Vec<(Arc<NamespaceEntry>, StatusBadge)>,
    /// The words that occur, to be explained below the table.
    meanings: Vec<StatusBadge>,
    next: Option<String>,
}
