//! The page of an authority: title, meaning, contact, how many names it has, its rules, and the
//! authorities below it.

use askama::Template;
use handfast_id::{CaseRule, Rules};
use handfast_registry::{Authority, AuthorityPath, AuthorityStatus, Persistence, Principal};
use hyper::header::LINK;
use hyper::{Response, StatusCode};

use super::authorities::public;
use super::{Asking, Form};
use crate::http::pages::authority::{AuthorityCrumb, AuthorityWords, page_of};
use crate::http::pages::{Frame, filters};
use crate::http::percent::{COMPONENT, decode, encode};
use crate::http::resolver::record_page::quoted;
use crate::http::resolver::target::path_of;
use crate::http::response::{Body, WithHeader};

/// How many authorities below one its page lists.
const MAX_BELOW: usize = 50;

impl Asking<'_> {
    /// `/registry/authorities/{path}`, and with `.json` behind it.
    pub(super) fn authority(&self, segment: &str) -> Response<Body> {
        let found = decode(segment).and_then(|path| self.find_authority(&path));
        let Some((authority, form)) = found else {
            return self.nothing("There is no such authority here.");
        };
        let path = authority.path.to_string();
        let page = page_of(&path);
        let links = format!("<{page}.json>; rel=\"alternate\"; type=\"application/json\"");
        if form == Form::Json {
            let rules = self.web.registry().rules();
            return self.json(&public(&authority, &rules)).with(LINK, links);
        }
        let page = self.authority_page(&authority, &path);
        page.frame.respond(StatusCode::OK, &page).with(LINK, links)
    }

    /// An authority, and in which form it is wanted. A prefix may end like a file.
    fn find_authority(&self, path: &str) -> Option<(Authority, Form)> {
        let find = |path: &str| {
            let found = self.web.registry().authority(&Principal::nobody(), path);
            found.ok().filter(|found| found.status.is_in_force())
        };
        if let Some(found) = find(path) {
            return Some((found, self.form(false)));
        }
        Some((find(path.strip_suffix(".json")?)?, Form::Json))
    }

    fn authority_page(&self, authority: &Authority, path: &str) -> AuthorityPageView<'_> {
        let registry = self.web.registry();
        let below = registry.authorities_page(Some(path), None, MAX_BELOW + 1);
        let below = below.map(|page| page.authorities).unwrap_or_default();
        let is_child = |one: &&Authority| {
            let parent = one.parent.as_ref().map(AuthorityPath::key);
            parent == Some(authority.path.key())
        };
        let policy = &authority.policy;
        let is_prefix = authority.path.prefix().is_some();
        let namespace = authority.path.namespace().filter(|name| !name.is_empty());
        AuthorityPageView {
            words: AuthorityWords::new(self.web, authority),
            frame: self.frame(AuthorityCrumb::new(authority).title),
            counts: registry.counts(path).ok().map(|counts| {
                let more = counts.with_children.active.saturating_sub(counts.active);
                (counts.active, counts.withdrawn, more)
            }),
            is_retired: authority.status == AuthorityStatus::Retired,
            rules: rules(authority, &registry.rules()),
            pattern: policy.pattern.clone(),
            created: authority.created,
            has_more: below.len() > MAX_BELOW,
            below: below
                .iter()
                .filter(is_child)
                .map(AuthorityCrumb::new)
                .collect(),
            record: is_prefix.then(|| format!("/{}", path_of(path))),
            entry: namespace.map(|name| format!("/registry/info/{name}")),
            under: encode(path, COMPONENT),
            commands: vec![
                format!("handfast authority show {}", quoted(path)),
                format!(
                    "curl {}",
                    quoted(&format!("{}{}.json", self.base, page_of(path)))
                ),
            ],
        }
    }
}

/// The rules for its names, in sentences.
fn rules(authority: &Authority, rules: &dyn Rules) -> Vec<&'static str> {
    let policy = &authority.policy;
    let mut all = vec![
        match policy.persistence {
            Persistence::Permanent => "A name is never given to anything else.",
            Persistence::Erasable => "A name may be erased, and then given again.",
        },
        match authority.case_rule(rules) {
            CaseRule::Sensitive => "Capital and small letters differ.",
            CaseRule::AsciiInsensitive => "Capital and small letters are the same.",
        },
    ];
    if policy.cordra {
        all.push("Names are CORDRA identifiers.");
    }
    if policy.approval {
        all.push("New names wait for approval.");
    }
    all
}

#[derive(Template)]
#[template(path = "registry/authority.html")]
struct AuthorityPageView<'a> {
    frame: Frame<'a>,
    words: AuthorityWords,
    /// Active names, withdrawn names, and active names of the authorities below.
    counts: Option<(u64, u64, u64)>,
    is_retired: bool,
    rules: Vec<&'static str>,
    pattern: Option<String>,
    created: u64,
    below: Vec<AuthorityCrumb>,
    has_more: bool,
    /// The record of a prefix.
    record: Option<String>,
    /// The entry of an `info` namespace.
    entry: Option<String>,
    under: String,
    commands: Vec<String>,
}
