//! The policy of the register, as its maintainer has written it.

use handfast_registry::rfc3339;
use hyper::Response;
use hyper::header::LINK;

use super::page::paragraphs;
use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::response::{Body, WithHeader};

impl Asking<'_> {
    pub(super) fn policy(&self, form: Form) -> Response<Body> {
        let policy = match self.web.registry().namespace_policy() {
            Ok(policy) => policy,
            Err(error) => return self.failed(&error),
        };
        let links = "</registry/policy.json>; rel=\"alternate\"; type=\"application/json\"";
        if form == Form::Json {
            let said = convert::namespace_policy(&policy);
            return self.json(&said).with(LINK, links);
        }
        let mut body = format!("<p>{}</p>\n", paragraphs(&policy.text));
        if policy.version > 0 {
            let (version, time) = (policy.version, rfc3339(policy.time));
            let said = format!("<p class=\"small\">Version {version}, {time}</p>\n");
            body.push_str(&said);
        }
        self.page("Policy of the registry", &body).with(LINK, links)
    }
}
