//! The handle REST API, as deployed (`http-interfaces.md` A), and reverse lookup (C.3).
//!
//! A request is read whole, then answered in one go: reads of what is public where they are, everything else – changes
//! wait for the disk, signatures for the processor – on a thread of its own. Where this differs from deployed servers,
//! `docs/compatibility.md` says why.

mod answer;
pub(crate) mod authorization;
mod certificate;
mod changes;
mod credentials;
mod handles;
mod listing;
mod open_sessions;
mod parameters;
mod prefixes;
mod presentation;
mod question;
mod reverse;
mod route;
mod sessions;
mod site;
mod verifications;

use std::cell::RefCell;
use std::sync::Arc;

use handfast_wire::ResponseCode;
use handfast_wire::body::ResolutionRequest;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW,
    AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, ORIGIN, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use self::answer::{Answer, Problem, refusal};
use self::credentials::{challenge, is_expensive};
use self::open_sessions::OpenSessions;
use self::parameters::{Parameters, wrong};
pub(crate) use self::presentation::JSON;
use self::presentation::Presentation;
use self::question::Question;
use self::route::Route;
use crate::admission::expensive_work::Busy;
use crate::native::login::busy;
use crate::native::response::Fault;
use crate::web::incoming::{Incoming, NotTaken};
use crate::web::resolve::quick;
use crate::web::{Body, Caller, PATIENCE, Web};

/// The longest body: a record of the most values, in the longest of their forms.
const LONGEST: usize = 1 << 20;

/// What the API remembers between requests.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    sessions: OpenSessions,
}

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let origin = parts.headers.get(ORIGIN).cloned();
    let mut response = if parts.method == Method::OPTIONS {
        options(parts.uri.path(), &parts.headers)
    } else {
        respond(web, caller, parts, body).await
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(origin) = origin {
        allow_origin(headers, origin);
    }
    response
}

/// What everybody may read of a handle, if its path and what is stored are plain; `None` if it takes more than a look.
pub(crate) fn stored(web: &Web, path: &str) -> Option<Vec<u8>> {
    let name = path.strip_prefix("/api/handles/")?;
    if !quick::is_plain(name) || web.native.has_source(name) {
        return None;
    }
    let asked = ResolutionRequest::all(name);
    handles::stored(web, &asked).ok().flatten()
}

async fn respond(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    parts: hyper::http::request::Parts,
    body: Incoming,
) -> Response<Body> {
    let is_secure = caller.is_secure;
    let early = |fault: Fault, status| {
        let answer = refusal(&fault, None, status, is_secure);
        answer.into_response(&Presentation::default())
    };
    let parameters = match Parameters::read(parts.uri.query().unwrap_or_default()) {
        Ok(parameters) => parameters,
        Err(fault) => return early(fault, None),
    };
    let has_body = matches!(parts.method, Method::POST | Method::PUT);
    let body = if has_body {
        match receive(web, body).await {
            Ok(body) => body,
            Err((fault, status)) => return early(fault, Some(status)),
        }
    } else {
        Bytes::new()
    };
    let method = match parts.method {
        Method::HEAD => Method::GET,
        method => method,
    };
    let question = Question {
        presentation: Presentation::of(&parameters),
        path: parts.uri.path().to_string(),
        authority: parts.uri.authority().map(ToString::to_string),
        headers: parts.headers,
        caller: Arc::clone(caller),
        method,
        parameters,
        body,
        permit: RefCell::default(),
    };
    let route = Route::of(&question.path);
    // What everybody may read waits for nothing.
    let is_near = match &route {
        Ok(Route::Handles(name)) => !web.native.has_source(name),
        Ok(Route::Site | Route::Ping) => true,
        _ => false,
    };
    let is_quick = is_near
        && question.method == Method::GET
        && !question.headers.contains_key(AUTHORIZATION)
        && caller.certificate.is_none();
    if is_quick {
        return finish(web, question, route);
    }
    if route
        .as_ref()
        .is_ok_and(|route| is_expensive(&question, route))
    {
        let logins = &web.native.admission().expensive_work.logins;
        match logins.enter(question.peer()).await {
            Ok(permit) => drop(question.permit.replace(Some(permit))),
            Err(Busy) => return early(busy(), None),
        }
    }
    let at_work = Arc::clone(web);
    let working = crate::blocking::spawn_blocking(move || finish(&at_work, question, route));
    working
        .await
        .unwrap_or_else(|_| early(Fault::new(ResponseCode::Error, "the server failed"), None))
}

/// Reads a body of a sensible length in a sensible time.
async fn receive(web: &Web, body: Incoming) -> Result<Bytes, (Fault, StatusCode)> {
    // One that does not say how long it is may be as long as any.
    let length = body.length().unwrap_or(LONGEST).min(LONGEST);
    let room = timeout(PATIENCE, web.native.room(length)).await;
    let taken = match room {
        Ok(_) => body.take(LONGEST).await,
        Err(_) => Err(NotTaken::Late),
    };
    drop(room);
    taken.map_err(|error| match error {
        NotTaken::TooLong => {
            let fault = wrong(format!("the body has more than {LONGEST} bytes"));
            (fault, StatusCode::PAYLOAD_TOO_LARGE)
        }
        NotTaken::Broken => (wrong("the body broke off"), StatusCode::BAD_REQUEST),
        NotTaken::Late => (wrong("the body did not come"), StatusCode::REQUEST_TIMEOUT),
    })
}

/// Answers a question that was read.
fn finish(web: &Web, mut question: Question, route: Result<Route, Fault>) -> Response<Body> {
    let is_secure = question.caller.is_secure;
    let answered = match (with_body(&mut question), route) {
        (Ok(()), Ok(route)) => route::follow(web, &question, route),
        (Err(fault), _) | (_, Err(fault)) => Err(fault.into()),
    };
    let answer = match answered {
        Ok(answer) | Err(Problem::Plain(answer)) => answer,
        Err(Problem::Credentials(error)) => {
            let answer = Answer::empty(StatusCode::UNAUTHORIZED);
            challenge(web, &question, answer, Some(error))
        }
        Err(Problem::Refused {
            fault,
            handle,
            status,
        }) => {
            let answer = refusal(&fault, handle.as_deref(), status, is_secure);
            if answer.status == StatusCode::UNAUTHORIZED {
                challenge(web, &question, answer, None)
            } else {
                answer
            }
        }
    };
    answer.into_response(&question.presentation)
}

/// The members of the body of a POST are parameters: "URL parameters come first".
fn with_body(question: &mut Question) -> Result<(), Fault> {
    let is_form = question.is_body("application/x-www-form-urlencoded");
    let is_read = is_form || question.is_body("application/json");
    if question.method == Method::POST && !question.body.is_empty() && is_read {
        let parameters = std::mem::take(&mut question.parameters);
        question.parameters = parameters.with_body(&question.body, is_form)?;
        question.presentation = Presentation::of(&question.parameters);
    }
    Ok(())
}

/// What may be asked at a path, by anyone and from anywhere.
fn options(path: &str, headers: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    let out = response.headers_mut();
    if headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        for (name, value) in [
            (ACCESS_CONTROL_MAX_AGE, "86400"),
            (ACCESS_CONTROL_ALLOW_METHODS, "GET,POST,HEAD,PUT,DELETE"),
            (
                ACCESS_CONTROL_ALLOW_HEADERS,
                "X-Requested-With,Authorization,Origin,Accept,Content-Type",
            ),
        ] {
            out.insert(name, HeaderValue::from_static(value));
        }
    } else {
        let allowed = Route::of(path).map_or("OPTIONS", |route| route.methods());
        out.insert(ALLOW, HeaderValue::from_static(allowed));
    }
    response
}

/// Any page may read what anybody may: credentials that a browser adds by itself are never allowed.
fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    let exposed = [
        (WWW_AUTHENTICATE, "WWW-Authenticate"),
        (LOCATION, "Location"),
        (ALLOW, "Allow"),
    ];
    let mut names = "Content-Length".to_string();
    for (name, shown) in exposed {
        if headers.contains_key(name) {
            names = format!("{names},{shown}");
        }
    }
    if let Ok(names) = HeaderValue::try_from(names) {
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
    }
}
