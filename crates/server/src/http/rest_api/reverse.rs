//! Reverse lookup: the handles that have given values (`http-interfaces.md` C.3).

use std::ops::ControlFlow;

use handfast_registry::{Matching, Record, Wildcard};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};

use super::answer::{RestAnswer, RestProblem, RestResult, put};
use super::credentials::login;
use super::request::RestRequest;
use crate::handles::stop_if;
use crate::http::Web;

/// How many handles are returned by default.
const USUAL: u64 = 1_000;
/// How many come at most.
const MAX_FOUND_HANDLES: u64 = 100_000;
/// The longest answer, in bytes: some records are short, and some are not.
const MAX_RESPONSE: usize = 32 << 20;
/// How many patterns there are at most: each is compared with each value.
const MAX_PATTERNS: usize = 16;
/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 4_096;

pub(crate) fn ping() -> RestAnswer {
    text(StatusCode::OK, "OK\n")
}

pub(crate) fn search(web: &Web, request: &RestRequest, prefix: Option<&str>) -> RestResult {
    if prefix.is_some_and(|prefix| !is_prefix(prefix)) {
        return Ok(text(StatusCode::NOT_FOUND, "this is no prefix\n"));
    }
    if !request.caller.is_secure {
        let problem = "credentials are taken over TLS alone\n";
        return Ok(text(StatusCode::FORBIDDEN, problem));
    }
    let login = match login(web, request) {
        Ok(login) => login,
        Err(RestProblem::Credentials(_)) => return Ok(unknown()),
        Err(problem) => return Err(problem),
    };
    let Some(known) = &login.known else {
        return Ok(unknown());
    };
    let asked = match ReverseQuery::read(request) {
        Ok(asked) => asked,
        Err(problem) => return Ok(text(StatusCode::BAD_REQUEST, problem)),
    };
    let matching = Matching {
        values: asked.values,
        prefix: prefix.map(str::to_string),
        skip: asked.page.saturating_mul(asked.limit),
        limit: asked.limit,
    };
    let mut found = FoundHandles::new(asked.has_records);
    let searched = web
        .registry()
        .matching(&known.login.who, &matching, &mut |record| found.add(record));
    searched?;
    Ok(match found.into_json() {
        Some(json) => RestAnswer::new(StatusCode::OK, json),
        None => text(
            StatusCode::BAD_REQUEST,
            "the answer would be too long: ask for less with limit\n",
        ),
    })
}

/// The response: names, or records.
struct FoundHandles {
    out: Vec<u8>,
    has_records: bool,
    has_any: bool,
}

impl FoundHandles {
    fn new(has_records: bool) -> Self {
        Self {
            out: vec![if has_records { b'{' } else { b'[' }],
            has_records,
            has_any: false,
        }
    }

    fn is_too_long(&self) -> bool {
        self.out.len() > MAX_RESPONSE
    }

    fn add(&mut self, record: &Record) -> ControlFlow<()> {
        let out = &mut self.out;
        if std::mem::replace(&mut self.has_any, true) {
            out.push(b',');
        }
        put(out, &record.text);
        if self.has_records {
            out.push(b':');
            let public = record.values.iter().filter(|value| value.is_public());
            let shown = public.map(|value| {
                let text = String::from_utf8_lossy(&value.data);
                serde_json::json!({"type": value.value_type, "value": text})
            });
            put(out, &shown.collect::<Vec<_>>());
        }
        stop_if(self.is_too_long())
    }

    /// `None` if there was too much.
    fn into_json(mut self) -> Option<Vec<u8>> {
        if self.is_too_long() {
            return None;
        }
        self.out.push(if self.has_records { b'}' } else { b']' });
        Some(self.out)
    }
}

/// A reverse lookup.
struct ReverseQuery {
    values: Vec<(String, Wildcard)>,
    limit: u64,
    page: u64,
    has_records: bool,
}

impl ReverseQuery {
    fn read(request: &RestRequest) -> Result<Self, &'static str> {
        let mut asked = Self {
            values: Vec::new(),
            limit: USUAL,
            page: 0,
            has_records: false,
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| "a number is none\n");
        for (name, value) in request.parameters.iter() {
            match name {
                "limit" => asked.limit = number(value)?.min(MAX_FOUND_HANDLES),
                "page" => asked.page = number(value)?,
                "retrieverecords" => asked.has_records = value.eq_ignore_ascii_case("true"),
                "enforcesql" | "pretty" | "callback" => {}
                _ if handfast_wire::type_matches(name, "HS_SECKEY") => {
                    return Err("Searching via HS_SECKEY entries is not allowed!\n");
                }
                _ if value.len() > MAX_PATTERN => return Err("a pattern is too long\n"),
                _ if asked.values.len() == MAX_PATTERNS => return Err("too many patterns\n"),
                _ => asked.values.push((name.to_string(), Wildcard::new(value))),
            }
        }
        Ok(asked)
    }
}

/// "two digits followed by letters, digits, dots"
fn is_prefix(text: &str) -> bool {
    let (start, rest) = text.as_bytes().split_at_checked(2).unwrap_or_default();
    start.len() == 2
        && start.iter().all(u8::is_ascii_digit)
        && rest
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
}

fn unknown() -> RestAnswer {
    let basic = HeaderValue::from_static("Basic realm=\"default\"");
    text(StatusCode::UNAUTHORIZED, "who are you?\n").with(WWW_AUTHENTICATE, basic)
}

fn text(status: StatusCode, text: &'static str) -> RestAnswer {
    let content_type = HeaderValue::from_static("text/plain;charset=UTF-8");
    RestAnswer {
        text: Some(text),
        ..RestAnswer::empty(status)
    }
    .with(CONTENT_TYPE, content_type)
}
