//! The policy of the register, as its maintainer has written it.

use askama::Template;
use handfast_registry::NamespacePolicy;
use hyper::header::LINK;
use hyper::{Response, StatusCode};

use super::{Asking, Form};
use crate::http::api_v1::convert;
use crate::http::pages::{Frame, filters};
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
        let page = NamespacePolicyPage {
            frame: self.frame("Policy of the registry"),
            tab: "policy",
            policy,
        };
        page.frame.respond(StatusCode::OK, &page).with(LINK, links)
    }
}

#[derive(Template)]
#[template(path = "registry/policy.html")]
struct NamespacePolicyPage<'a> {
    frame: Frame<'a>,
    tab: &'static str,
    policy: NamespacePolicy,
}
