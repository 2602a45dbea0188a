//! The list of all namespaces, with a search.

use handfast_registry::{NamespaceEntry, NamespacePage, NamespaceQuery, NamespaceStatus};
use hyper::header::LINK;
use hyper::{Response, StatusCode};

use super::page::{escape, more};
use super::{Asking, Form};
use crate::http::api_v1::convert;
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
            let body = self.body(&found, next.as_deref());
            self.page("Registry of info namespaces", &body)
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

    fn body(&self, found: &NamespacePage, next: Option<&str>) -> String {
        let mut out = format!(
            "<p>An <code>info</code> URI names something by an identifier of a public namespace \
            (RFC 4452). Here is \
             shown which namespaces there are, whose they are, and what counts in their \
             identifiers. That a namespace \
             is registered says what its identifiers identify: not that they resolve.</p>\n{}\n",
            self.search_form()
        );
        out.extend(["<p>", &found.total.to_string(), " found.</p>\n"]);
        out.push_str(
            "<table><thead><tr><th scope=\"col\">Namespace<th scope=\"col\">Title<th \
            scope=\"col\">Authority\
             <th scope=\"col\">Status<th scope=\"col\">Registered</tr></thead><tbody>\n",
        );
        for entry in &found.entries {
            self.line(&mut out, entry);
        }
        out.push_str("</tbody></table>\n");
        more(&mut out, next);
        out.push_str(
            "<p class=\"small\">For programs: <a href=\"/registry/info.json\">JSON</a>, \
             <a href=\"/registry/changes.atom\">Atom</a>, <a \
             href=\"/oai?verb=Identify\">OAI-PMH</a>, \
             <a href=\"/api/v1/openapi.json\">OpenAPI</a>.</p>",
        );
        out
    }

    fn search_form(&self) -> String {
        let asked = escape(self.query("q").unwrap_or_default());
        let mut out = format!(
            "<form action=\"/registry/\" method=\"get\" role=\"search\"><label \
            for=\"q\">Find</label> \
             <input type=\"search\" id=\"q\" name=\"q\" value=\"{asked}\"> \
             <label for=\"status\">Status</label> <select id=\"status\" name=\"status\"><option \
                 value=\"\">any"
        );
        for status in NamespaceStatus::ALL {
            let selected = if self.query("status") == Some(status.as_str()) {
                " selected"
            } else {
                ""
            };
            out.extend(["<option", selected, ">", status.as_str()]);
        }
        out.push_str("</select> <button>Search</button></form>");
        out
    }

    fn line(&self, out: &mut String, entry: &NamespaceEntry) {
        let name = escape(entry.name());
        let cells = [
            &*entry.form.title,
            &entry.form.authority.organisation,
            &self.status_words(entry),
            entry.registered.as_deref().unwrap_or_default(),
        ];
        let cells = cells.map(escape).join("<td>");
        let link = format!("<a href=\"/registry/info/{name}\">info:{name}/</a>");
        out.extend(["<tr><td>", &link, "<td>", &cells, "</tr>\n"]);
    }

    /// The status of an entry, and whether it is maintained.
    pub(super) fn status_words(&self, entry: &NamespaceEntry) -> String {
        let mut words = entry.state(self.now).as_str().to_string();
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
