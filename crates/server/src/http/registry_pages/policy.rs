//! By which rules the register is kept: what its maintainer says.

use handfast_registry::rfc3339;
use hyper::{Response, StatusCode};

use super::page::{fresh_page, html, paragraphs};
use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::response::Body;

impl Asking<'_> {
    pub(super) fn policy(&self, form: Form) -> Response<Body> {
        let policy = match self.web.registry().namespace_policy() {
            Ok(policy) => policy,
            Err(refusal) => return self.failed(&refusal),
        };
        let links = "</registry/policy.json>; rel=\"alternate\"; type=\"application/json\"";
        if form == Form::Json {
            return Self::linked(self.json(&convert::namespace_policy(&policy)), links);
        }
        let mut body = format!("<p>{}</p>\n", paragraphs(&policy.text));
        if policy.version > 0 {
            let time = rfc3339(policy.time);
            let number = policy.version.to_string();
            body.extend([
                "<p class=\"small\">Version ",
                &number,
                ", ",
                &time,
                "</p>\n",
            ]);
        }
        let text = html("Policy of the registry", &body);
        let response = self.tag(fresh_page(StatusCode::OK, text.clone()), &text);
        Self::linked(response, links)
    }
}
