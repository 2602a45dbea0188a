//! A request as a handler sees it, and what it answers.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use handfast_api::limits;
use handfast_registry::{HistoryPoint, Principal, Registry, Token, parse_rfc3339};
use hyper::body::Bytes;
use hyper::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, LOCATION};
use hyper::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Api;
use super::problem::Problem;
use crate::http::percent::{SEGMENT, encode};
use crate::http::response::{Body, WithHeader, empty, reply};

/// A request, with everything but its body as a stream.
pub(super) struct Call {
    pub(super) api: Arc<Api>,
    /// Who asks; nobody if that is not known.
    pub(super) who: Principal,
    /// What they have shown.
    pub(super) token: Option<Token>,
    /// What stands for the braces of the path.
    pub(super) path: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// How clients reach this server.
    pub(super) base: String,
    /// Whether the local operator asks, in this process or over the socket of the data folder.
    pub(super) is_local: bool,
}

impl Call {
    pub(super) fn registry(&self) -> &Registry {
        self.api.registry()
    }

    /// What stands for the first braces of the path.
    pub(super) fn id(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let mut found = self.query.iter().filter(|(given, _)| given == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Problem::usage(format!("the parameter `{name}` is missing"));
        self.query(name).ok_or_else(missing)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.query(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Problem::usage(format!("`{name}` is true or false"))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let read = |text: &str| {
            let problem = || Problem::usage(format!("`{name}` is a number"));
            text.parse().map_err(|_| problem())
        };
        self.query(name).map(read).transpose()
    }

    /// How many things a page has.
    pub(super) fn limit(&self) -> Result<usize, Problem> {
        let limit = self.number("limit")?.unwrap_or(100);
        let fits = (1..=limits::PAGE).contains(&limit).then_some(limit);
        let fits = fits.and_then(|limit| usize::try_from(limit).ok());
        fits.ok_or_else(|| Problem::usage(format!("`limit` is 1 to {}", limits::PAGE)))
    }

    /// A point in the past, if one is asked for.
    pub(super) fn at(&self) -> Result<Option<HistoryPoint>, Problem> {
        let read = |text: &str| {
            let by_number = text.parse().ok().map(HistoryPoint::Event);
            let point = by_number.or_else(|| parse_rfc3339(text).map(HistoryPoint::Time));
            point.ok_or_else(|| {
                Problem::usage(
                    "`at` is the number of an event, or a time such as 2026-11-15T12:00:00Z",
                )
            })
        };
        self.query("at").map(read).transpose()
    }

    /// The body, as a type of the API.
    pub(super) fn read<'c, T: Deserialize<'c>>(&'c self) -> Result<T, Problem> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "bad-body",
                format!("the body is not as it is to be: {error}"),
            )
        })
    }

    /// The same, of which everything may be left out.
    pub(super) fn read_or_default<T: Default + DeserializeOwned>(&self) -> Result<T, Problem> {
        if self.body.is_empty() {
            return Ok(T::default());
        }
        self.read()
    }

    /// The version that what is changed must have.
    pub(super) fn expected(&self) -> Result<Option<u64>, Problem> {
        let Some(header) = self.headers.get(IF_MATCH) else {
            return Ok(None);
        };
        match header.as_bytes() {
            b"*" => Ok(None),
            _ => version(header).map(Some).ok_or_else(|| {
                let problem = "`If-Match` is `*`, or one ETag as it was given, such as \"7\"";
                Problem::usage(problem).hint("of several, ask again with the one you have seen")
            }),
        }
    }

    /// Whether the client has this version already.
    fn has(&self, version_now: u64) -> bool {
        self.headers.get(IF_NONE_MATCH).is_some_and(|header| {
            let text = header.to_str().unwrap_or_default();
            let mut tags = text.split(',').map(str::trim);
            let now = format!("\"{version_now}\"");
            tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == now)
        })
    }

    /// Something with a version, unless the client has it already.
    pub(super) fn versioned(&self, version: u64, body: &impl Serialize) -> Answer {
        let answer = if self.has(version) {
            Answer(empty(StatusCode::NOT_MODIFIED))
        } else {
            Answer::json(body)
        };
        answer.version(version)
    }
}

/// Reads a text that stands in a body or a query.
pub(super) fn parse<T: FromStr<Err: Display>>(text: &str) -> Result<T, Problem> {
    text.parse()
        .map_err(|error: T::Err| Problem::usage(error.to_string()))
}

fn version(header: &HeaderValue) -> Option<u64> {
    let text = header.to_str().ok()?;
    text.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

/// A page of a list that is written item by item: `{"NAME":[…],"next":"…"}`.
pub(super) struct WrittenPage {
    out: Vec<u8>,
    is_empty: bool,
}

impl WrittenPage {
    pub(super) fn new(name: &str) -> Self {
        Self {
            out: format!("{{\"{name}\":[").into_bytes(),
            is_empty: true,
        }
    }

    pub(super) fn add(&mut self, item: &impl Serialize) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(b',');
        }
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.out, item);
    }

    /// How much is written.
    pub(super) fn bytes(&self) -> usize {
        self.out.len()
    }

    pub(super) fn finish(mut self, next: Option<u64>) -> Vec<u8> {
        let next = next.map_or("null".into(), |next| format!("\"{next}\""));
        self.out.extend(format!("],\"next\":{next}}}").bytes());
        self.out
    }
}

/// What is answered.
pub(super) struct Answer(pub(super) Response<Body>);

impl Answer {
    /// A type of the API. None of them has a form that JSON lacks: writing cannot fail.
    pub(super) fn json(body: &impl Serialize) -> Self {
        Self::written(serde_json::to_vec(body).unwrap_or_default())
    }

    /// JSON that is written already.
    pub(super) fn written(body: impl Into<Bytes>) -> Self {
        Self(reply(StatusCode::OK, "application/json", body))
    }

    pub(super) fn text(text: String) -> Self {
        Self(reply(StatusCode::OK, "text/plain; charset=utf-8", text))
    }

    /// Done, and there is nothing to show.
    pub(super) fn done() -> Self {
        Self(empty(StatusCode::NO_CONTENT))
    }

    /// Something is new, at a place below `/api/v1`.
    pub(super) fn created(self, collection: &str, id: &str) -> Self {
        let place = format!("/api/v1/{collection}/{}", encode(id, SEGMENT));
        self.with(LOCATION, &place).status(StatusCode::CREATED)
    }

    pub(super) fn status(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
    }

    pub(super) fn version(self, version: u64) -> Self {
        self.with(ETAG, &format!("\"{version}\""))
    }

    pub(super) fn with(self, name: HeaderName, value: &str) -> Self {
        Self(self.0.with(name, value))
    }
}
