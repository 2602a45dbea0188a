//! The tree of authorities: prefixes, and authorities of URNs, ARKs and `info` namespaces
//! (`CID-9`, `URN-5`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handfast_id::{CaseRule, Rules};
use handfast_registry::{Authority, AuthorityPage, AuthorityPath, AuthorityStatus, RegistryError};
use hyper::Response;
use hyper::header::LINK;
use serde_json::{Value as Json, json};

use super::page::{contact, escape, more, paragraphs};
use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::percent::{SEGMENT, encode};
use crate::http::response::{Body, WithHeader};

/// How many authorities a page has.
const PAGE: usize = 100;

impl Asking<'_> {
    pub(super) fn authorities(&self, form: Form) -> Response<Body> {
        let (under, after) = (self.query("under"), self.query("after"));
        let limit = self.limit(PAGE);
        let found = self.web.registry().authorities_page(under, after, limit);
        let found = match found {
            Ok(found) => found,
            Err(
                RegistryError::NoAuthority(_)
                | RegistryError::Identifier { .. }
                | RegistryError::Policy { .. },
            ) => {
                return self.nothing("There is no such authority here.");
            }
            Err(error) => return self.failed(&error),
        };
        let path = match form {
            Form::Json => "/registry/authorities.json",
            _ => "/registry/authorities",
        };
        let next = found.next.as_deref();
        let next = next.map(|next| self.next_page(path, &["under", "limit"], next));
        let mut links = String::from(
            "</registry/authorities.json>; rel=\"alternate\"; type=\"application/json\"",
        );
        if let Some(next) = &next {
            links.extend([", <", next, ">; rel=\"next\""]);
        }
        let response = if form == Form::Json {
            let rules = self.web.registry().rules();
            let all = found.authorities.iter();
            let all = all.map(|authority| public(authority, &rules));
            self.json(&json!({"authorities": all.collect::<Json>(), "next": found.next}))
        } else {
            let title = match under {
                Some(under) => format!("Authorities under {under}"),
                None => "Naming authorities".to_string(),
            };
            let rules = self.web.registry().rules();
            self.page(&title, &body(&found, under, next.as_deref(), &rules))
        };
        response.with(LINK, links)
    }
}

/// The public part of an authority, without the roles on it.
fn public(authority: &Authority, rules: &dyn Rules) -> Json {
    let authority = convert::authority(authority, rules);
    let mut said = serde_json::to_value(authority).unwrap_or_default();
    if let Json::Object(said) = &mut said {
        said.remove("grants");
    }
    said
}

fn body(
    found: &AuthorityPage,
    under: Option<&str>,
    next: Option<&str>,
    rules: &dyn Rules,
) -> String {
    let asked = escape(under.unwrap_or_default());
    let mut out = format!(
        "<p>Who may name what here: prefixes, and authorities of URNs, ARKs and <code>info</code> \
        namespaces, each with \
         its policy.</p>\n<form action=\"/registry/authorities\" method=\"get\"><label \
         for=\"under\">Show one and what \
         derives from it</label> <input type=\"text\" id=\"under\" name=\"under\" \
         value=\"{asked}\" \
         placeholder=\"20.500.12345\"> <button>Show</button></form>\n<div class=\"tree\">\n"
    );
    let mut children: BTreeMap<Option<&str>, Vec<&Authority>> = BTreeMap::new();
    let is_shown = |key: &str| {
        let mut all = found.authorities.iter();
        all.any(|authority| authority.path.key() == key)
    };
    for authority in &found.authorities {
        let parent = authority.parent.as_ref().map(AuthorityPath::key);
        let parent = parent.filter(|parent| is_shown(parent));
        children.entry(parent).or_default().push(authority);
    }
    branch(&mut out, &children, None, rules);
    out.push_str("</div>\n");
    if found.authorities.is_empty() {
        out.push_str("<p>None.</p>\n");
    }
    more(&mut out, next);
    out
}

/// The authorities below one, at most as deep as a page has authorities.
fn branch(
    out: &mut String,
    children: &BTreeMap<Option<&str>, Vec<&Authority>>,
    of: Option<&str>,
    rules: &dyn Rules,
) {
    let Some(list) = children.get(&of) else {
        return;
    };
    out.push_str("<ul>\n");
    for authority in list {
        leaf(out, authority, rules);
        branch(out, children, Some(authority.path.key()), rules);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

fn leaf(out: &mut String, authority: &Authority, rules: &dyn Rules) {
    let path = authority.path.to_string();
    let (query, shown) = (encode(&path, SEGMENT), escape(&path));
    let title = escape(&authority.title);
    // A string takes everything.
    let _ = write!(
        out,
        "<li><a href=\"/registry/authorities?under={query}\"><code>{shown}</code></a> {title}"
    );
    if authority.status == AuthorityStatus::Retired {
        out.push_str(" <strong>retired</strong>");
    }
    let policy = &authority.policy;
    let case = match authority.case_rule(rules) {
        CaseRule::Sensitive => "case counts",
        CaseRule::AsciiInsensitive => "case does not count",
    };
    let persistence = policy.persistence.as_str();
    let _ = write!(out, "<br><span class=\"small\">{case}, {persistence}");
    if policy.cordra {
        out.push_str(", CORDRA identifiers");
    }
    if policy.approval {
        out.push_str(", new names wait for approval");
    }
    if let Some(pattern) = &policy.pattern {
        out.extend([", names fit <code>", &escape(pattern), "</code>"]);
    }
    if !authority.contact.is_empty() {
        out.extend(["; contact: ", &contact(&authority.contact)]);
    }
    out.push_str("</span>");
    if !authority.meaning.is_empty() {
        out.extend(["<br>", &paragraphs(&authority.meaning)]);
    }
    if let Some(name) = authority
        .path
        .key()
        .strip_prefix("info:")
        .filter(|name| !name.is_empty())
    {
        let name = escape(name);
        out.extend(["<br><a href=\"/registry/info/", &name, "\">entry</a>"]);
    }
    out.push('\n');
}
