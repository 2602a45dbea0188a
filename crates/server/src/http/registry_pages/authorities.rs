//! The tree of authorities: prefixes, and authorities of URNs, ARKs and `info` namespaces
//! (`CID-9`, `URN-5`).

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use handfast_id::{CaseRule, Rules};
use handfast_registry::{Authority, AuthorityPage, AuthorityPath, AuthorityStatus, RegistryError};
use hyper::header::LINK;
use hyper::{Response, StatusCode};
use serde_json::{Value as Json, json};

use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::pages::authority::AuthorityCrumb;
use crate::http::pages::{Frame, filters};
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
            let page = self.authorities_list(&found, under, next);
            page.frame.respond(StatusCode::OK, &page)
        };
        response.with(LINK, links)
    }

    fn authorities_list(
        &self,
        found: &AuthorityPage,
        under: Option<&str>,
        next: Option<String>,
    ) -> AuthorityListPage<'_> {
        let registry = self.web.registry();
        let mut children: BTreeMap<Option<&str>, Vec<&Authority>> = BTreeMap::new();
        let keys: BTreeSet<_> = found.authorities.iter().map(|one| one.path.key()).collect();
        for authority in &found.authorities {
            let parent = authority.parent.as_ref().map(AuthorityPath::key);
            let parent = parent.filter(|parent| keys.contains(parent));
            children.entry(parent).or_default().push(authority);
        }
        let mut lines = Vec::new();
        // A stack in place of recursion: authorities derive from each other as deep as they like.
        let roots = children.get(&None).into_iter().flatten().rev();
        let mut open: Vec<_> = roots.map(|root| (0, *root)).collect();
        while let Some((level, authority)) = open.pop() {
            lines.push(self.line(authority, level));
            let below = children.get(&Some(authority.path.key()));
            let below = below.into_iter().flatten().rev();
            open.extend(below.map(|child| (level + 1, *child)));
        }
        let close = |from: usize, to: usize| {
            let levels = "</ul></li>".repeat(from.saturating_sub(to));
            format!("</li>{levels}")
        };
        let mut last = None;
        for line in &mut lines {
            line.before = match last {
                None => String::new(),
                Some(above) if line.level > above => "<ul>".to_string(),
                Some(before) => close(before, line.level),
            };
            last = Some(line.level);
        }
        let total = registry.statistics().map_or(0, |found| found.authorities);
        let requested = registry.requested_authorities().unwrap_or_default();
        AuthorityListPage {
            frame: self.frame(match under {
                Some(under) => format!("Authorities under {under}"),
                None => "Naming authorities".to_string(),
            }),
            tab: "authorities",
            under: under.unwrap_or_default().to_string(),
            total: total.saturating_sub(requested),
            after: last.map(|last| close(last, 0)).unwrap_or_default(),
            lines,
            next,
        }
    }

    fn line(&self, authority: &Authority, level: usize) -> AuthorityLine {
        let registry = self.web.registry();
        let policy = &authority.policy;
        let mut rules = vec![
            match authority.case_rule(&registry.rules()) {
                CaseRule::Sensitive => "case counts",
                CaseRule::AsciiInsensitive => "case does not count",
            },
            policy.persistence.as_str(),
        ];
        if policy.cordra {
            rules.push("CORDRA identifiers");
        }
        if policy.approval {
            rules.push("new names wait for approval");
        }
        let counts = registry.counts(&authority.path.to_string());
        AuthorityLine {
            level,
            before: String::new(),
            is_retired: authority.status == AuthorityStatus::Retired,
            names: counts.map_or(0, |counts| counts.active),
            rules: rules.join(", "),
            pattern: policy.pattern.clone(),
            contact: authority.contact.trim().to_string(),
            meaning: authority.meaning.trim().to_string(),
            has_title: !authority.title.trim().is_empty(),
            crumb: AuthorityCrumb::new(authority),
        }
    }
}

#[derive(Template)]
#[template(path = "registry/authorities.html")]
struct AuthorityListPage<'a> {
    frame: Frame<'a>,
    tab: &'static str,
    under: String,
    total: u64,
    lines: Vec<AuthorityLine>,
    /// The tags that end the last item.
    after: String,
    next: Option<String>,
}

/// An authority in the tree.
struct AuthorityLine {
    level: usize,
    /// The tags between the last item and this one.
    before: String,
    crumb: AuthorityCrumb,
    has_title: bool,
    is_retired: bool,
    names: u64,
    rules: String,
    pattern: Option<String>,
    contact: String,
    meaning: String,
}

/// The public part of an authority, without the roles on it.
pub(super) fn public(authority: &Authority, rules: &dyn Rules) -> Json {
    let authority = convert::authority(authority, rules);
    let mut said = serde_json::to_value(authority).unwrap_or_default();
    if let Json::Object(said) = &mut said {
        said.remove("grants");
    }
    said
}
