//! Reverse lookup: the handles that hold values (`http-interfaces.md` C.3).

use handfast_registry::{Matching, Wildcard};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};

use super::answer::{Answer, Problem, put};
use super::credentials::login;
use super::question::Question;
use crate::web::Web;

/// How many handles come unless someone says otherwise.
const USUAL: u64 = 1_000;
/// How many come at most.
const MOST: u64 = 100_000;

pub(crate) fn ping() -> Answer {
    text(StatusCode::OK, "OK\n")
}

pub(crate) fn search(
    web: &Web,
    question: &Question,
    prefix: Option<&str>,
) -> Result<Answer, Problem> {
    if prefix.is_some_and(|prefix| !is_prefix(prefix)) {
        return Ok(text(StatusCode::NOT_FOUND, "this is no prefix\n"));
    }
    if !question.caller.is_secure {
        let problem = "credentials are taken over TLS alone\n";
        return Ok(text(StatusCode::FORBIDDEN, problem));
    }
    let login = match login(web, question) {
        Ok(login) => login,
        Err(Problem::Credentials(_)) => return Ok(unknown()),
        Err(problem) => return Err(problem),
    };
    let Some(known) = &login.known else {
        return Ok(unknown());
    };
    let asked = match Asked::read(question) {
        Ok(asked) => asked,
        Err(problem) => return Ok(text(StatusCode::BAD_REQUEST, problem)),
    };
    let matching = Matching {
        values: asked.values,
        prefix: prefix.map(str::to_string),
        skip: asked.page.saturating_mul(asked.limit),
        most: asked.limit,
    };
    let found = web.registry().matching(&known.who, &matching)?;
    let mut out = Vec::new();
    if asked.has_records {
        out.push(b'{');
        for (number, record) in found.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            put(&mut out, &record.text);
            out.push(b':');
            let public = record.values.iter().filter(|value| value.is_public());
            let shown = public.map(|value| {
                let text = String::from_utf8_lossy(&value.data);
                serde_json::json!({"type": value.value_type, "value": text})
            });
            put(&mut out, &shown.collect::<Vec<_>>());
        }
        out.push(b'}');
    } else {
        let names: Vec<_> = found.iter().map(|record| record.text.as_str()).collect();
        put(&mut out, &names);
    }
    Ok(Answer::new(StatusCode::OK, out))
}

/// What is searched for.
struct Asked {
    values: Vec<(String, Wildcard)>,
    limit: u64,
    page: u64,
    has_records: bool,
}

impl Asked {
    fn read(question: &Question) -> Result<Self, &'static str> {
        let mut asked = Self {
            values: Vec::new(),
            limit: USUAL,
            page: 0,
            has_records: false,
        };
        let number = |text: &str| text.parse::<u64>().map_err(|_| "a number is none\n");
        for (name, value) in question.parameters.iter() {
            match name {
                "limit" => asked.limit = number(value)?.min(MOST),
                "page" => asked.page = number(value)?,
                "retrieverecords" => asked.has_records = value.eq_ignore_ascii_case("true"),
                "enforcesql" | "pretty" | "callback" => {}
                _ if handfast_wire::type_matches(name, "HS_SECKEY") => {
                    return Err("Searching via HS_SECKEY entries is not allowed!\n");
                }
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

fn unknown() -> Answer {
    let basic = HeaderValue::from_static("Basic realm=\"default\"");
    text(StatusCode::UNAUTHORIZED, "who are you?\n").with(WWW_AUTHENTICATE, basic)
}

fn text(status: StatusCode, text: &'static str) -> Answer {
    let content_type = HeaderValue::from_static("text/plain;charset=UTF-8");
    Answer {
        text: Some(text),
        ..Answer::empty(status)
    }
    .with(CONTENT_TYPE, content_type)
}
