//! The routes of the REST API (`http-interfaces.md` A.2).

use handfast_wire::ResponseCode;
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, StatusCode};

use super::answer::{RestAnswer, RestProblem, RestResult};
use super::request::RestRequest;
use super::{changes, handles, listing, prefixes, reverse, sessions, site, verifications};
use crate::error::{Fault, wrong};
use crate::http::Web;
use crate::http::percent::decode;

/// A path of the API.
#[derive(Debug)]
pub(crate) enum RestRoute {
    /// A handle; if it is empty, perhaps all of a prefix.
    Handles(String),
    /// Whether reverse lookup is there.
    Ping,
    /// The prefixes that are homed here, or one of them.
    Prefixes(String),
    /// Reverse lookup, perhaps under a prefix.
    Search(Option<String>),
    Sessions,
    /// The session that the header names.
    SessionThis,
    /// A link to the console for the identity of that session: an extension of this server.
    SessionSignInLink,
    /// Sessions of others, which cannot be read.
    SessionOther,
    Site,
    Unknown,
    Verifications(String),
}

impl RestRoute {
    /// A path as it was sent.
    pub(crate) fn of(path: &str) -> Result<Self, Fault> {
        let path = path.trim_start_matches('/');
        if let Some(rest) = path.strip_prefix("hrls/") {
            return Ok(Self::of_search(rest));
        }
        let Some(rest) = path.strip_prefix("api/") else {
            return Ok(Self::Unknown);
        };
        let (word, rest) = match rest.find('/') {
            Some(at) => rest.split_at_checked(at).unwrap_or((rest, "")),
            None => (rest, ""),
        };
        // "Drop exactly one leading `/`. The rest is the handle, byte for byte."
        let name = || {
            let decoded =
                decode(rest).ok_or_else(|| wrong("the path is not UTF-8, percent-encoded"))?;
            let name = decoded.strip_prefix('/').unwrap_or(&decoded);
            Ok::<_, Fault>(name.to_string())
        };
        Ok(match word {
            "handles" => Self::Handles(name()?),
            "prefixes" => Self::Prefixes(name()?),
            "verifications" => Self::Verifications(name()?),
            "site" if matches!(rest, "" | "/") => Self::Site,
            "sessions" => match rest {
                "" | "/" => Self::Sessions,
                "/this" => Self::SessionThis,
                "/this/sign-in-link" => Self::SessionSignInLink,
                _ => Self::SessionOther,
            },
            _ => Self::Unknown,
        })
    }

    fn of_search(rest: &str) -> Self {
        match rest.trim_end_matches('/') {
            "ping" => Self::Ping,
            "handles" => Self::Search(None),
            path => match path.strip_prefix("handles/") {
                Some(prefix) => Self::Search(Some(prefix.to_string())),
                None => Self::Unknown,
            },
        }
    }

    /// The methods it has.
    pub(crate) fn methods(&self) -> &'static str {
        match self {
            Self::Prefixes(name) if name.is_empty() => "GET, HEAD, POST, DELETE, OPTIONS",
            Self::Prefixes(_) => "POST, DELETE, OPTIONS",
            Self::Sessions | Self::SessionSignInLink => "POST, OPTIONS",
            Self::Handles(_) | Self::SessionThis => "GET, HEAD, POST, PUT, DELETE, OPTIONS",
            Self::Verifications(_) => "GET, HEAD, POST, OPTIONS",
            Self::Ping | Self::Search(_) | Self::Site => "GET, HEAD, OPTIONS",
            Self::SessionOther | Self::Unknown => "OPTIONS",
        }
    }
}

/// Answers a question that came by a route.
pub(crate) fn follow(web: &Web, request: &RestRequest, route: RestRoute) -> RestResult {
    let method = &request.method;
    let is_known = [&Method::GET, &Method::POST, &Method::PUT, &Method::DELETE].contains(&method);
    if !is_known && *method != Method::TRACE {
        let fault = wrong(format!("Unknown method {method}"));
        return Err(RestProblem::with_status(fault, StatusCode::NOT_IMPLEMENTED));
    }
    let (is_read, is_post) = (*method == Method::GET, *method == Method::POST);
    match route {
        RestRoute::Handles(name) if is_read || is_post => {
            if name.is_empty() && request.parameters.first("prefix").is_some() {
                return listing::list(web, request);
            }
            handles::read(web, request, &name)
        }
        RestRoute::Handles(name) if *method == Method::PUT => changes::put(web, request, &name),
        RestRoute::Handles(name) if *method == Method::DELETE => {
            changes::delete(web, request, &name)
        }
        RestRoute::Prefixes(name) if name.is_empty() && is_read => prefixes::list(web, request),
        RestRoute::Prefixes(name) if is_post || *method == Method::DELETE => {
            prefixes::change(web, request, &name)
        }
        RestRoute::Site if is_read => Ok(site::show(web)),
        RestRoute::Verifications(name) if is_read || is_post => {
            verifications::verify(web, request, &name)
        }
        RestRoute::Sessions if is_post => sessions::start(web, request),
        RestRoute::SessionThis if is_known => sessions::this(web, request),
        RestRoute::SessionSignInLink if is_post => sessions::sign_in_link(web, request),
        RestRoute::SessionOther => Ok(RestAnswer::empty(StatusCode::FORBIDDEN)),
        RestRoute::Sessions | RestRoute::Prefixes(_) => Err(RestProblem::Plain(not_allowed(
            RestAnswer::empty(StatusCode::METHOD_NOT_ALLOWED),
            &route,
        ))),
        RestRoute::Ping if is_read => Ok(reverse::ping()),
        RestRoute::Search(prefix) if is_read => reverse::search(web, request, prefix.as_deref()),
        RestRoute::Unknown => Err(RestProblem::with_status(
            unknown(request),
            StatusCode::NOT_FOUND,
        )),
        route => {
            let refused = super::answer::error_answer(
                &unknown(request),
                None,
                Some(StatusCode::METHOD_NOT_ALLOWED),
                request.caller.is_secure,
            );
            Err(RestProblem::Plain(not_allowed(refused, &route)))
        }
    }
}

fn unknown(request: &RestRequest) -> Fault {
    let RestRequest { method, path, .. } = request;
    Fault::new(
        ResponseCode::ProtocolError,
        format!("Unknown HTTP API endpoint {method} {path}"),
    )
}

fn not_allowed(answer: RestAnswer, route: &RestRoute) -> RestAnswer {
    answer.with(ALLOW, HeaderValue::from_static(route.methods()))
}
