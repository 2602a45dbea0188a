//! URN namespaces with rules of their own, and their registrations (`URN-10`).

use askama::Template;
use handfast_id::{NssGrammar, UrnProfile};
use handfast_registry::Principal;
use hyper::header::LINK;
use hyper::{Response, StatusCode};
use serde_json::{Value as Json, json};

use super::{Asking, Form};
use crate::http::pages::{Frame, filters};
use crate::http::response::{Body, WithHeader};

impl Asking<'_> {
    /// All of them.
    pub(super) fn urns(&self, form: Form) -> Response<Body> {
        let profiles = self.web.registry().urn_profiles();
        let links = "</registry/urn.json>; rel=\"alternate\"; type=\"application/json\"";
        if form == Form::Json {
            let all: Json = profiles
                .iter()
                .map(|profile| self.registration(profile))
                .collect();
            return self.json(&json!({"namespaces": all})).with(LINK, links);
        }
        let page = UrnListPage {
            frame: self.frame("URN namespaces"),
            tab: "urn",
            profiles: &profiles,
        };
        page.frame.respond(StatusCode::OK, &page).with(LINK, links)
    }

    /// One, with the fields of its registration.
    pub(super) fn urn(&self, name: &str) -> Response<Body> {
        let (nid, is_json) = match name.strip_suffix(".json") {
            Some(nid) => (nid, true),
            None => (name, self.form(false) == Form::Json),
        };
        let profiles = self.web.registry().urn_profiles();
        let mut found = profiles.iter();
        let Some(profile) = found.find(|profile| profile.nid().eq_ignore_ascii_case(nid)) else {
            return self.nothing("There is no such URN namespace with rules of its own here.");
        };
        let nid = profile.nid();
        let links =
            format!("</registry/urn/{nid}.json>; rel=\"alternate\"; type=\"application/json\"");
        let said = self.registration(profile);
        if is_json {
            return self.json(&said).with(LINK, links);
        }
        let fields = FIELDS.iter().map(|(title, field)| {
            let text = said.get(*field).map(|value| match value {
                Json::String(text) => text.clone(),
                Json::Array(list) => {
                    let words: Vec<_> = list.iter().filter_map(Json::as_str).collect();
                    words.join("\n")
                }
                Json::Null => String::new(),
                other => other.to_string(),
            });
            RegistrationField {
                title,
                kind: match *field {
                    "contact" | "authorities" => "link",
                    "syntax" => "grammar",
                    _ => "text",
                },
                text: text.unwrap_or_default(),
            }
        });
        let page = UrnPage {
            frame: self.frame(format!("urn:{nid}")),
            nid,
            fields: fields.filter(|field| !field.text.is_empty()).collect(),
        };
        page.frame.respond(StatusCode::OK, &page).with(LINK, links)
    }

    /// The fields of the template of a registration (RFC 2611, RFC 8141 Appendix A).
    fn registration(&self, profile: &UrnProfile) -> Json {
        let said = profile.registration();
        let nid = profile.nid();
        let base = &self.base;
        // A server may have the rules of a namespace and no authority in it.
        let root = format!("urn:{nid}");
        let has_authorities = self
            .web
            .registry()
            .authority(&Principal::nobody(), &root)
            .is_ok();
        let authorities = format!("{base}/registry/authorities?under={root}");
        json!({
            "namespace": format!("urn:{nid}"),
            "nid": nid,
            "version": said.version,
            "date": said.date,
            "registrant": said.registrant,
            "affiliation": said.affiliation,
            "address": said.address,
            "contact": said.contact,
            "syntax": syntax(profile),
            "delegated": profile.is_delegated(),
            "case": if profile.ignores_case() { "insensitive" } else { "sensitive" },
            "equivalence": equivalence(profile),
            "persistence": "A URN once assigned is never assigned to another resource; one that \
                            is withdrawn leaves a tombstone.",
            "resolution": [
                format!("{base}/urn:{nid}:NAME"),
                format!("{base}/uri-res/N2L?urn:{nid}:NAME"),
                format!("{base}/uri-res/N2Ls?urn:{nid}:NAME"),
            ],
            "authorities": has_authorities.then_some(authorities),
        })
    }
}

#[derive(Template)]
#[template(path = "registry/urns.html")]
struct UrnListPage<'a> {
    frame: Frame<'a>,
    tab: &'static str,
    profiles: &'a [UrnProfile],
}

#[derive(Template)]
#[template(path = "registry/urn.html")]
struct UrnPage<'a> {
    frame: Frame<'a>,
    nid: &'a str,
    fields: Vec<RegistrationField>,
}

/// A field of a registration.
struct RegistrationField {
    title: &'static str,
    /// `grammar`, `link` or `text`.
    kind: &'static str,
    text: String,
}

/// Titles of the fields, in the order of the template.
const FIELDS: &[(&str, &str)] = &[
    ("Namespace", "namespace"),
    ("Version of the registration", "version"),
    ("Date", "date"),
    ("Registrant", "registrant"),
    ("Affiliation", "affiliation"),
    ("Address", "address"),
    ("Contact", "contact"),
    ("Syntax", "syntax"),
    ("Equivalence", "equivalence"),
    ("Persistence", "persistence"),
    ("Resolution", "resolution"),
    ("Naming authorities", "authorities"),
];

fn syntax(profile: &UrnProfile) -> String {
    match profile.grammar() {
        NssGrammar::Delegated(grammar) => {
            let mut text = format!(
                "urn           = \"urn:{}:\" authoritypath \":\" resourcename\n\
                 authoritypath = authority *( \".\" authority )\n\
                 authority     = 1*authoritychar\n\
                 resourcename  = 1*( authoritychar / \".\" / \":\" )\n\
                 authoritychar = ALPHA / DIGIT / ",
                profile.nid()
            );
            for c in grammar.extra() {
                text.extend(['"', c, '"', ' ', '/', ' ']);
            }
            text + "(\"%\" HEXDIG HEXDIG)"
        }
        NssGrammar::Matching(pattern) => {
            let (nid, pattern) = (profile.nid(), pattern.as_str());
            format!("urn:{nid}: and a name that matches {pattern}")
        }
        _ => format!("urn:{}: and a name as RFC 8141 has it", profile.nid()),
    }
}

fn equivalence(profile: &UrnProfile) -> &'static str {
    if profile.ignores_case() {
        "The whole URN is case-insensitive; lowercase is canonical. A triplet is not equal to the \
         character it stands for."
    } else {
        "Scheme and NID are case-insensitive, the name is case-sensitive (RFC 8141)."
    }
}
