//! The public register: `/registry/…`, for people and for programs (`INFO-9`, `CID-9`,
//! `URN-5`).
//!
//! The same address answers with a page, JSON or XML, as the client prefers; `.json` and `.xml`
//! name two of them. A page has no `ETag`, because each has a nonce of its own.

mod about;
mod authorities;
mod authority;
mod changes;
pub(crate) mod contact;
mod entry;
mod entry_words;
mod feed;
mod list;
mod policy;
pub(crate) mod reg;
pub(crate) mod security;
mod trial;
pub(crate) mod unregistered_name;
mod urns;

use std::sync::Arc;

use http_body_util::{Either, Full};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, ETAG, IF_NONE_MATCH, LOCATION, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::http::connection::request_body::Incoming;
use crate::http::pages::{Frame, MenuPlace};
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::accept::Accept;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::page::{JSON, fresh};
use crate::http::resolver::{address, failure, front};
use crate::http::response::{Body, WithHeader, empty, not_allowed, plain, run_blocking};
use crate::http::{Caller, Web, form};

const ALLOWED: &str = "GET, HEAD, OPTIONS";
const XML: &str = "application/xml; charset=utf-8";

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, _) = request.into_parts();
    let response = match head.method {
        Method::GET | Method::HEAD => {
            let (at_work, client) = (Arc::clone(web), Arc::clone(caller));
            // Some of it waits for the disk.
            let work = move || Asking::new(&at_work, &client, head).answer();
            run_blocking(web, caller.address.ip(), work).await
        }
        Method::OPTIONS => options(),
        _ => {
            let text = "the register is read here; it is changed through /api/v1/namespaces\n";
            not_allowed(ALLOWED, text)
        }
    };
    let exposed = "Content-Length, ETag, Link, Location";
    response
        .with(VARY, "Accept")
        // All of it is public.
        .with(ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .with(ACCESS_CONTROL_EXPOSE_HEADERS, exposed)
}

fn options() -> Response<Body> {
    empty(StatusCode::NO_CONTENT)
        .with(ALLOW, ALLOWED)
        .with(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED)
        .with(ACCESS_CONTROL_ALLOW_HEADERS, "Accept, If-None-Match")
}

/// In which form something is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Page,
    Xml,
}

/// One request.
struct Asking<'r> {
    web: &'r Arc<Web>,
    caller: &'r Caller,
    head: Parts,
    accept: Accept,
    query: Vec<(String, String)>,
    /// How this resolver is reached.
    base: String,
    now: u64,
}

impl<'r> Asking<'r> {
    fn new(web: &'r Arc<Web>, caller: &'r Caller, head: Parts) -> Self {
        Self {
            web,
            caller,
            accept: Accept::of(&head.headers),
            query: form::pairs(head.uri.query().unwrap_or_default()).unwrap_or_default(),
            base: address::base(web, caller, &head.uri, &head.headers),
            now: web.registry().time(),
            head,
        }
    }

    fn answer(&self) -> Response<Body> {
        let path = self.head.uri.path().trim_start_matches('/');
        let path = path.strip_prefix("registry").unwrap_or_default();
        match path {
            "/" => self.list(self.form(false)),
            "" | "/info" | "/info/" => self.moved("/registry/"),
            "/info.json" => self.list(Form::Json),
            "/about" => self.about(self.form(false)),
            "/about.json" => self.about(Form::Json),
            "/recognise" => self.recognise(),
            "/changes" => self.changes(),
            "/changes.atom" => self.tagged("application/atom+xml; charset=utf-8", &self.feed()),
            "/policy" => self.policy(self.form(false)),
            "/policy.json" => self.policy(Form::Json),
            "/authorities" => self.authorities(self.form(false)),
            "/authorities.json" => self.authorities(Form::Json),
            "/urn" | "/urn/" => self.urns(self.form(false)),
            "/urn.json" => self.urns(Form::Json),
            path => self.one(path),
        }
    }

    /// The page of one entry.
    fn one(&self, path: &str) -> Response<Body> {
        if let Some(nid) = path.strip_prefix("/urn/") {
            return self.urn(nid);
        }
        if let Some(authority) = path.strip_prefix("/authorities/") {
            return self.authority(authority);
        }
        match path.strip_prefix("/info/") {
            Some(name) => self.entry(name),
            None => self.nothing("There is no such page in the register."),
        }
    }

    /// What a typed text is: the box of the front page asks while a person types.
    fn recognise(&self) -> Response<Body> {
        let (uri, headers) = (&self.head.uri, &self.head.headers);
        let own = front::own_resolvers(self.web, self.caller, uri, headers);
        // The text counts as it was typed, with its blanks.
        let typed = self.query.iter().find(|(name, _)| name == "id");
        let typed = typed.map_or("", |(_, typed)| typed);
        front::recognition_page(self.web, typed, &own)
    }

    /// The form that the client prefers.
    fn form(&self, has_xml: bool) -> Form {
        let offered = [
            "text/html",
            "application/json",
            "application/xml",
            "text/xml",
        ];
        let offered = if has_xml {
            offered.as_slice()
        } else {
            offered.split_at(2).0
        };
        match self.accept.choose(offered) {
            Some("application/json") => Form::Json,
            Some("application/xml" | "text/xml") => Form::Xml,
            _ => Form::Page,
        }
    }

    /// A parameter that says something.
    fn query(&self, name: &str) -> Option<&str> {
        let mut found = self.query.iter().filter(|(given, _)| given == name);
        let value = found.next().map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// How many things a page has: what is asked for, within bounds.
    fn limit(&self, usual: usize) -> usize {
        let asked = self.query("limit").and_then(|text| text.parse().ok());
        asked.unwrap_or(usual).clamp(1, 1_000)
    }

    /// What the frame of a page needs.
    fn frame(&self, title: impl Into<String>) -> Frame<'_> {
        Frame::new(self.web, title, MenuPlace::Registry)
    }

    /// The address of the next page of a list, with the parameters that it was asked for with.
    fn next_page(&self, path: &str, parameters: &[&str], after: &str) -> String {
        let shown = parameters.iter();
        let shown = shown.filter_map(|name| Some((*name, self.query(name)?)));
        let pairs = shown.chain([("after", after)]);
        let pairs = pairs.map(|(name, value)| format!("{name}={}", encode(value, COMPONENT)));
        format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
    }

    fn json(&self, body: &impl Serialize) -> Response<Body> {
        self.tagged(JSON, &serde_json::to_string(body).unwrap_or_default())
    }

    /// A body that the client may have already.
    fn tagged(&self, content_type: &'static str, body: &str) -> Response<Body> {
        self.tag(fresh(StatusCode::OK, content_type, body.to_string()), body)
    }

    /// A response with the tag of its body; if the client has that, without the body.
    fn tag(&self, mut response: Response<Body>, body: &str) -> Response<Body> {
        let digest = Sha256::digest(body.as_bytes());
        let digits = digest.iter().take(12).map(|byte| format!("{byte:02x}"));
        let tag = format!("\"{}\"", digits.collect::<String>());
        let known = self.head.headers.get_all(IF_NONE_MATCH).iter();
        let is_known = known.filter_map(|line| line.to_str().ok()).any(|line| {
            let mut tags = line.split(',').map(str::trim);
            tags.any(|known| known == "*" || known.trim_start_matches("W/") == tag)
        });
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Either::Left(Full::default());
        }
        response.with(ETAG, tag)
    }

    fn moved(&self, path: &'static str) -> Response<Body> {
        let place = match self.head.uri.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_string(),
        };
        let response = plain(StatusCode::PERMANENT_REDIRECT, "");
        response.with(LOCATION, place)
    }

    fn nothing(&self, words: &str) -> Response<Body> {
        let (status, words) = (StatusCode::NOT_FOUND, words.to_string());
        let failure = Failure::new(status, "not-found", "Not Found", words);
        failure.answer(self.web, &self.accept)
    }

    fn failed(&self, error: &handfast_registry::RegistryError) -> Response<Body> {
        failure(error).answer(self.web, &self.accept)
    }
}
