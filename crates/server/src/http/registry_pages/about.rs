//! About this service: policy, contact, the public log, accessibility, and the address of the
//! resolver with the first segments that it uses itself (`URI-13`).

use askama::Template;
use handfast_api::Resolver;
use handfast_registry::NamespacePolicy;
use hyper::header::LINK;
use hyper::{Response, StatusCode};
use serde_json::json;

use super::{Asking, Form};
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::address;
use crate::http::response::{Body, WithHeader};

impl Asking<'_> {
    pub(super) fn about(&self, form: Form) -> Response<Body> {
        let registry = self.web.registry();
        let read = registry.namespace_policy().and_then(|policy| {
            let key = registry.log_key()?;
            let checkpoint = self.web.api.signed_checkpoint()?;
            Ok((policy, key, checkpoint))
        });
        let (policy, key, checkpoint) = match read {
            Ok(read) => read,
            Err(error) => return self.failed(&error),
        };
        let resolver = address::statement(&self.base);
        let institution = &self.web.site;
        let links = "</registry/about.json>; rel=\"alternate\"; type=\"application/json\"";
        if form == Form::Json {
            let said = json!({
                "name": institution.name,
                "contact": institution.contact,
                "resolver": resolver,
                "log": {
                    "origin": key.name(),
                    "key": key.to_string(),
                    "checkpoint": checkpoint,
                },
                "policy": policy.text,
            });
            return self.json(&said).with(LINK, links);
        }
        // The lines of a checkpoint: origin, size, root (C2SP tlog-checkpoint).
        let mut head = checkpoint.lines().skip(1);
        let size = head.next().and_then(|line| line.parse().ok());
        let page = AboutPage {
            frame: Frame::new(self.web, "About", MenuPlace::About),
            policy,
            resolver,
            key: key.to_string(),
            size: size.unwrap_or_default(),
            root: head.next().unwrap_or_default().to_string(),
        };
        page.frame.respond(StatusCode::OK, &page).with(LINK, links)
    }
}

#[derive(Template)]
#[template(path = "registry/about.html")]
struct AboutPage<'a> {
    frame: Frame<'a>,
    policy: NamespacePolicy,
    resolver: Resolver,
    /// The public key of the log.
    key: String,
    /// How many events the log has.
    size: u64,
    /// The root of its Merkle tree.
    root: String,
}
