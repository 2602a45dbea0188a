//! The page of a namespace, and the same entry as JSON and XML.

use std::sync::Arc;

use askama::Template;
use handfast_registry::{
    NamespaceCase, NamespaceDeclaration, NamespaceEntry, NamespaceRemark, NamespaceSample,
    NamespaceStatus, NamespaceVersion, Principal,
};
use hyper::header::LINK;
use hyper::{Response, StatusCode};
use serde_json::Value as Json;

use super::entry_words::{StatusBadge, badge, status_word};
use super::trial::Trial;
use super::{Asking, Form, XML, reg};
use crate::http::api_v1::convert;
use crate::http::pages::{Frame, filters};
use crate::http::percent::{URI_IN_QUERY, encode};
use crate::http::response::{Body, WithHeader};

/// The most versions that a page shows; all of them are in the API.
const MAX_VERSIONS: u64 = 50;

impl Asking<'_> {
    /// `/registry/info/{namespace}`, and with `.json` or `.xml` behind it.
    pub(super) fn entry(&self, path: &str) -> Response<Body> {
        let Some((entry, form)) = self.find(path) else {
            return self.nothing("There is no entry for this namespace, and no proposal.");
        };
        let trial = self
            .query("id")
            .map(|id| Trial::new(self.web.registry(), &entry, id, self.query("other")));
        let response = match form {
            Form::Json => {
                let entry = convert::namespace(&entry, self.now);
                let mut said = serde_json::to_value(entry).unwrap_or_default();
                if let (Json::Object(said), Some(trial)) = (&mut said, &trial) {
                    said.insert("trial".into(), trial.json());
                }
                self.json(&said)
            }
            Form::Xml => self.tagged(XML, &reg::document(&entry)),
            Form::Page => {
                let before = entry.version.saturating_sub(MAX_VERSIONS);
                let (registry, who) = (self.web.registry(), Principal::nobody());
                let name = entry.name();
                let history = registry.namespace_history(&who, name, before, usize::MAX);
                let comments = registry.namespace_comments(&who, name);
                let (history, comments) = match (history, comments) {
                    (Ok(history), Ok(comments)) => (history, comments),
                    (Err(error), _) | (_, Err(error)) => return self.failed(&error),
                };
                let page = self.entry_page(&entry, trial.as_ref(), &history, &comments);
                page.frame.respond(StatusCode::OK, &page)
            }
        };
        let page = format!("/registry/info/{}", entry.name());
        let links = format!(
            "<{page}>; rel=\"cite-as\", <{page}>; rel=\"alternate\"; type=\"text/html\", \
             <{page}.json>; rel=\"alternate\"; type=\"application/json\", \
             <{page}.xml>; rel=\"alternate\"; type=\"application/xml\", </registry/>; \
                 rel=\"collection\""
        );
        response.with(LINK, links)
    }

    /// An entry, and in which form it is wanted. A namespace may have a dot in it: what stands
    /// before the dot counts first.
    fn find(&self, path: &str) -> Option<(Arc<NamespaceEntry>, Form)> {
        let (is_exact, name) = match path.strip_suffix('/') {
            Some(name) => (true, name),
            None => (false, path),
        };
        let registry = self.web.registry();
        // Nothing but the string of a namespace, in any case.
        let is_of_names = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if !name.chars().all(is_of_names) {
            return None;
        }
        for (suffix, form) in [(".json", Form::Json), (".xml", Form::Xml)] {
            let stem = name.strip_suffix(suffix).filter(|_| !is_exact);
            if let Some(entry) = stem.and_then(|stem| registry.namespace(stem).ok()) {
                return Some((entry, form));
            }
        }
        let entry = registry.namespace(name).ok()?;
        Some((entry, self.form(true)))
    }

    fn entry_page<'p>(
        &'p self,
        entry: &'p NamespaceEntry,
        trial: Option<&'p Trial>,
        history: &'p [NamespaceVersion],
        comments: &'p [NamespaceRemark],
    ) -> EntryPage<'p> {
        let form = &entry.form;
        let steps = form.normalisation.steps.iter().flatten();
        let security = form.resolution.security.as_deref();
        EntryPage {
            frame: self.frame(format!("{} {}", entry.uri(), form.title)),
            badge: badge(entry, self.now),
            notice: notice(entry, self.now),
            status: self.status_words(entry),
            declared: form.declaration.map(declared),
            steps: steps.map(ToString::to_string).collect(),
            case: match form.normalisation.case {
                NamespaceCase::Lower => "does not count; the canonical form is in lowercase",
                NamespaceCase::Sensitive => "counts",
                NamespaceCase::Upper => "does not count; the canonical form is in uppercase",
            },
            security: security.filter(|text| !text.is_empty()),
            examples: form.examples.iter().map(ExampleRow::new).collect(),
            id: self.query("id").unwrap_or_default(),
            other: self.query("other").unwrap_or_default(),
            has_older: history
                .first()
                .is_some_and(|oldest| oldest.entry.version > 1),
            history: history.iter().rev().map(VersionRow::new).collect(),
            citation: self.citation(entry),
            name: entry.name(),
            commands: vec![
                format!("handfast namespace show {}", entry.name()),
                format!("curl {}/registry/info/{}.json", self.base, entry.name()),
            ],
            entry,
            trial,
            comments,
        }
    }

    fn citation(&self, entry: &NamespaceEntry) -> String {
        let form = &entry.form;
        let day = entry.registered.as_deref().unwrap_or("without a date");
        format!(
            "{}. {} ({}). In: Registry of info namespaces, version {}, registered {day}. \
             {}/registry/info/{}",
            form.authority.organisation,
            form.title,
            entry.uri(),
            entry.version,
            self.base,
            entry.name()
        )
    }
}

/// What a reader should know before all else.
fn notice(entry: &NamespaceEntry, now: u64) -> Option<&'static str> {
    Some(match entry.state(now) {
        NamespaceStatus::Candidate => {
            "This is a proposal. It is open to comments, and its rules do not hold yet."
        }
        NamespaceStatus::Refused => "This was proposed and not registered. The string is free.",
        NamespaceStatus::Lapsed => "The provisional registration of this namespace has lapsed.",
        NamespaceStatus::Deprecated => "This namespace is deprecated.",
        NamespaceStatus::Withdrawn => {
            "This namespace was withdrawn. Its string is never used again; identifiers that were \
             given still identify what they did."
        }
        NamespaceStatus::Registered if entry.historical && !entry.claimed => {
            "This entry was made by the original registry. Its authority has not claimed it yet."
        }
        NamespaceStatus::Registered => return None,
    })
}

fn declared(said: NamespaceDeclaration) -> String {
    let choose = |is_so: bool, yes, no| if is_so { yes } else { no };
    [
        choose(said.public, "it is public", "it is not public"),
        choose(said.in_use, "it is in use", "it is planned"),
        choose(
            said.without_uri_form,
            "its identifiers have no URI form of their own",
            "its identifiers have a URI form of their own",
        ),
    ]
    .join("; ")
}

#[derive(Template)]
#[template(path = "registry/entry.html")]
struct EntryPage<'a> {
    frame: Frame<'a>,
    entry: &'a NamespaceEntry,
    name: &'a str,
    badge: StatusBadge,
    notice: Option<&'static str>,
    status: String,
    declared: Option<String>,
    steps: Vec<String>,
    case: &'static str,
    security: Option<&'a str>,
    examples: Vec<ExampleRow<'a>>,
    /// The texts that were typed to be tried.
    id: &'a str,
    other: &'a str,
    trial: Option<&'a Trial>,
    comments: &'a [NamespaceRemark],
    history: Vec<VersionRow<'a>>,
    has_older: bool,
    citation: String,
    commands: Vec<String>,
}

/// An example, with the address that tries it.
struct ExampleRow<'a> {
    native: &'a str,
    input: &'a str,
    canonical: &'a str,
    query: String,
}

impl<'a> ExampleRow<'a> {
    fn new(sample: &'a NamespaceSample) -> Self {
        Self {
            native: sample.native.as_deref().unwrap_or_default(),
            input: &sample.input,
            canonical: &sample.canonical,
            query: encode(&sample.input, URI_IN_QUERY),
        }
    }
}

/// A version of an entry.
struct VersionRow<'a> {
    version: u64,
    time: u64,
    what: String,
    by: &'static str,
    why: &'a str,
}

impl<'a> VersionRow<'a> {
    fn new(version: &'a NamespaceVersion) -> Self {
        let entry = &version.entry;
        let (time, by, why) = entry.made();
        Self {
            version: entry.version,
            time,
            what: match version.action {
                Some(action) => format!("{}: {}", action.as_str(), status_word(entry.status)),
                None => "as the original registry had it".to_string(),
            },
            by: by.as_str(),
            why,
        }
    }
}
