//! The page of a namespace, and the same entry as JSON and XML.

use std::fmt::Write as _;
use std::sync::Arc;

use handfast_registry::{
    NamespaceCase, NamespaceEntry, NamespaceRemark, NamespaceStatus, NamespaceVersion, Principal,
    rfc3339,
};
use hyper::Response;
use hyper::header::LINK;
use serde_json::Value as Json;

use super::page::{contact, escape, link, paragraphs, row};
use super::trial::Trial;
use super::{Asking, Form, XML, reg};
use crate::http::api_v1::convert;
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
                let title = format!("{} {}", entry.uri(), entry.form.title);
                let mut body = self.entry_body(&entry, trial.as_ref());
                said_of_it(&mut body, &comments);
                Self::history(&mut body, &history);
                self.citation(&mut body, &entry);
                self.page(&title, &body)
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

    fn entry_body(&self, entry: &NamespaceEntry, trial: Option<&Trial>) -> String {
        let form = &entry.form;
        let mut out = self.notice(entry);
        if !form.description.is_empty() {
            out.extend(["<p>", &paragraphs(&form.description), "</p>\n"]);
        }
        out.push_str("<table><tbody>\n");
        let code = |text: &str| format!("<code>{}</code>", escape(text));
        row(&mut out, "Identifiers begin", &code(&entry.uri()));
        row(&mut out, "Status", &self.status_words(entry));
        let day = entry.registered.as_deref();
        row(&mut out, "Registered", &escape(day.unwrap_or_default()));
        if let Some(until) = entry.provisional_until {
            row(&mut out, "Provisional until", &rfc3339(until));
        }
        let authority = &form.authority;
        row(&mut out, "Authority", &escape(&authority.organisation));
        row(&mut out, "Address", &paragraphs(&authority.address));
        row(&mut out, "Web", &link(&authority.url));
        row(&mut out, "Contact", &contact(form.contact()));
        let verified = entry.verified.as_deref().unwrap_or_default();
        row(&mut out, "Verified", &paragraphs(verified));
        row(&mut out, "See", &links(&form.see));
        if let Some(said) = &form.declaration {
            let mut words = Vec::new();
            let mut say = |is_so: bool, yes, no| words.push(if is_so { yes } else { no });
            say(said.public, "it is public", "it is not public");
            say(said.in_use, "it is in use", "it is planned");
            let has_none = "its identifiers have no URI form of their own";
            let has = "its identifiers have a URI form of their own";
            say(said.without_uri_form, has_none, has);
            row(&mut out, "Declared", &words.join("; "));
        }
        out.push_str("</tbody></table>\n");
        rules(&mut out, entry);
        resolution(&mut out, entry);
        examples(&mut out, entry);
        self.trial_form(&mut out, entry, trial);
        out
    }

    fn notice(&self, entry: &NamespaceEntry) -> String {
        let words = match entry.state(self.now) {
            NamespaceStatus::Candidate => {
                "This is a proposal. It is open to comments, and its rules do not hold yet."
            }
            NamespaceStatus::Refused => "This was proposed and not registered. The string is free.",
            NamespaceStatus::Lapsed => "The provisional registration of this namespace has lapsed.",
            NamespaceStatus::Deprecated => "This namespace is deprecated.",
            NamespaceStatus::Withdrawn => {
                "This namespace was withdrawn. Its string is never used again; identifiers that \
                were given still \
                 identify what they did."
            }
            NamespaceStatus::Registered if entry.historical && !entry.claimed => {
                "This entry was made by the original registry. Its authority has not claimed it \
                 yet."
            }
            NamespaceStatus::Registered => return String::new(),
        };
        let mut out = format!("<p class=\"notice\">{words}");
        if !entry.why.is_empty() {
            out.extend(["<br>\n", &paragraphs(&entry.why)]);
        }
        if entry.claim_pending {
            out.push_str("<br>\nSomebody says that it is theirs, and is being verified.");
        }
        out.push_str("</p>\n");
        out
    }

    /// The form that tries identifiers, and what came of it.
    fn trial_form(&self, out: &mut String, entry: &NamespaceEntry, trial: Option<&Trial>) {
        let value = |name| escape(self.query(name).unwrap_or_default());
        let (id, other) = (value("id"), value("other"));
        let hint = entry.form.examples.first();
        let hint = escape(hint.map_or("", |example| example.input.as_str()));
        let name = escape(entry.name());
        // A string takes everything.
        let _ = write!(
            out,
            "<h2 id=\"try\">Try it</h2>\n<form action=\"/registry/info/{name}#try\" method=\"get\">\
             <label for=\"id\">An identifier, as a URI or as the authority writes it</label>\n\
             <input type=\"text\" id=\"id\" name=\"id\" required maxlength=\"4096\" \
             placeholder=\"{hint}\" value=\"{id}\">\n\
             <label for=\"other\">A second one to compare it with, if you like</label>\n\
             <input type=\"text\" id=\"other\" name=\"other\" maxlength=\"4096\" \
             value=\"{other}\">\n\
             <button>Normalise, validate, compare</button></form>\n"
        );
        if let Some(trial) = trial {
            out.push_str(&trial.shown());
        }
    }

    fn history(out: &mut String, history: &[NamespaceVersion]) {
        out.push_str(
            "<h2 id=\"history\">History</h2>\n<table><thead><tr><th scope=\"col\">Version<th \
            scope=\"col\">Time\
             <th scope=\"col\">What<th scope=\"col\">By<th scope=\"col\">Why</tr></thead><tbody>\n",
        );
        for version in history.iter().rev() {
            let entry = &version.entry;
            let (time, by, why) = entry.made();
            let what = match version.action {
                Some(action) => format!("{}: {}", action.as_str(), entry.status.as_str()),
                None => "as the original registry had it".to_string(),
            };
            let _ = writeln!(
                out,
                "<tr><td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
                entry.version,
                rfc3339(time),
                escape(&what),
                by.as_str(),
                paragraphs(why)
            );
        }
        out.push_str("</tbody></table>\n");
        if history
            .first()
            .is_some_and(|oldest| oldest.entry.version > 1)
        {
            out.push_str("<p>Older versions are in the API.</p>\n");
        }
    }

    fn citation(&self, out: &mut String, entry: &NamespaceEntry) {
        let form = &entry.form;
        let day = entry.registered.as_deref().unwrap_or("without a date");
        let cited = format!(
            "{}. {} ({}). In: Registry of info namespaces, version {}, registered {day}. \
             {}/registry/info/{}",
            form.authority.organisation,
            form.title,
            entry.uri(),
            entry.version,
            self.base,
            entry.name()
        );
        let name = escape(entry.name());
        let _ = write!(
            out,
            "<h2 id=\"cite\">Cite</h2>\n<p>{}</p>\n<p class=\"small\">The same as <a \
            href=\"/registry/info/{name}.json\">\
             JSON</a> and <a href=\"/registry/info/{name}.xml\">XML</a>.</p>",
            escape(&cited)
        );
    }
}

/// The comments on a proposal.
fn said_of_it(out: &mut String, comments: &[NamespaceRemark]) {
    if comments.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"comments\">Comments</h2>\n<ol>\n");
    for NamespaceRemark { comment, by, .. } in comments {
        let _ = writeln!(
            out,
            "<li><span class=\"small\">{}, {}, on version {}</span><br>{}</li>",
            by,
            rfc3339(comment.time),
            comment.version,
            paragraphs(&comment.text)
        );
    }
    out.push_str("</ol>\n");
}

/// Syntax and normalisation.
fn rules(out: &mut String, entry: &NamespaceEntry) {
    let code = |text: &str| format!("<code>{}</code>", escape(text));
    let form = &entry.form;
    out.push_str("<h2 id=\"syntax\">Syntax</h2>\n<table><tbody>\n");
    row(out, "In words", &paragraphs(&form.syntax.summary));
    if let Some(pattern) = &form.syntax.pattern {
        row(out, "Pattern", &code(pattern));
    }
    row(out, "See", &links(&form.syntax.see));
    out.push_str("</tbody></table>\n<h2 id=\"normalisation\">Normalisation</h2>\n<table><tbody>\n");
    let said = &form.normalisation;
    row(out, "In words", &paragraphs(&said.summary));
    if let Some(steps) = &said.steps {
        let mut list = String::from("<ol>");
        for step in steps {
            list.extend(["<li>", &code(&step.to_string()), "</li>"]);
        }
        list.push_str("</ol>");
        row(out, "Steps", &list);
    } else {
        let case = match said.case {
            NamespaceCase::Lower => "does not count; the canonical form is in lowercase",
            NamespaceCase::Sensitive => "counts",
            NamespaceCase::Upper => "does not count; the canonical form is in uppercase",
        };
        row(out, "Case", case);
        if !said.strip.is_empty() {
            row(out, "Dropped", &code(&said.strip));
        }
    }
    row(out, "See", &links(&said.see));
    out.push_str("</tbody></table>\n");
}

fn resolution(out: &mut String, entry: &NamespaceEntry) {
    let said = &entry.form.resolution;
    out.push_str("<h2 id=\"resolution\">Resolution</h2>\n");
    match &said.mechanism {
        Some(mechanism) => {
            out.push_str("<table><tbody>\n");
            let code = format!("<code>{}</code>", escape(mechanism));
            row(out, "Mechanism", &code);
            if said.page_first {
                row(out, "First", "a page is shown before anybody is sent on");
            }
        }
        None => out.push_str(
            "<p>No mechanism is registered. An <code>info</code> URI need not \
             resolve.</p>\n<table><tbody>\n",
        ),
    }
    row(out, "In words", &paragraphs(&said.summary));
    row(out, "See", &links(&said.see));
    out.push_str("</tbody></table>\n<h3 id=\"security\">Security considerations</h3>\n<p>");
    let security = said.security.as_deref().filter(|text| !text.is_empty());
    out.push_str(&paragraphs(security.unwrap_or("The entry states none.")));
    out.push_str("</p>\n");
}

fn examples(out: &mut String, entry: &NamespaceEntry) {
    if entry.form.examples.is_empty() {
        return;
    }
    out.push_str(
        "<h2 id=\"examples\">Examples</h2>\n<table><thead><tr><th scope=\"col\">Native<th \
        scope=\"col\">URI\
         <th scope=\"col\">Canonical</tr></thead><tbody>\n",
    );
    let name = escape(entry.name());
    for sample in &entry.form.examples {
        let query = encode(&sample.input, URI_IN_QUERY);
        let _ = writeln!(
            out,
            "<tr><td>{}<td><a \
             href=\"/registry/info/{name}?id={query}#try\">{}</a><td><code>{}</code></tr>",
            escape(sample.native.as_deref().unwrap_or_default()),
            escape(&sample.input),
            escape(&sample.canonical)
        );
    }
    out.push_str("</tbody></table>\n");
}

fn links(urls: &[String]) -> String {
    let all: Vec<_> = urls.iter().map(|url| link(url)).collect();
    all.join("<br>\n")
}
