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

use self::answer::{Answer, Problem, refusal};
use self::credentials::{challenge, is_expensive};
use self::open_sessions::OpenSessions;
use self::parameters::{Parameters, wrong};
pub(crate) use self::presentation::JSON;
use self::presentation::Presentation;
use self::question::Question;
use self::route::Route;
use crate::admission::body_memory::Sender;
use crate::admission::expensive_work::{Busy, WorkPermit};
use crate::http::connection::request_body::{BodyError, Incoming, late_body};
use crate::http::resolver::fast_redirect;
use crate::http::{Body, Caller, Web};
use crate::native::login::busy;
use crate::native::response::Fault;
use crate::runtime::blocking::{self, Undone};

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
    if !fast_redirect::is_plain(name) || web.native.has_source(name) {
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
    let method = match parts.method {
        Method::HEAD => Method::GET,
        method => method,
    };
    let mut question = Question {
        presentation: Presentation::of(&parameters),
        path: parts.uri.path().to_string(),
        authority: parts.uri.authority().map(ToString::to_string),
        headers: parts.headers,
        caller: Arc::clone(caller),
        method,
        parameters,
        body: Bytes::new(),
        login: RefCell::default(),
        permit: RefCell::default(),
    };
    let route = Route::of(&question.path);
    if has_body {
        // Credentials are looked at before the body they come with: wrong ones end everything.
        let sender = match &route {
            Ok(Route::Handles(_) | Route::Prefixes(_)) if credentials::are_given(&question) => {
                match login_permit(web, &question, &route).await {
                    Ok(permit) => drop(question.permit.replace(permit)),
                    Err(Busy) => return early(busy(), None),
                }
                let at_work = Arc::clone(web);
                let queue = &web.native.admission().expensive_work.requests;
                let work = move || {
                    let sender = log_in(&at_work, &question);
                    (question, sender)
                };
                let (given, sender) = match blocking::run(queue, caller.address.ip(), work).await {
                    Ok(found) => found,
                    Err(Undone::Busy) => return early(busy(), None),
                    Err(Undone::Failed) => return early(failed(), None),
                };
                question = given;
                match sender {
                    Ok(sender) => sender,
                    Err(problem) => return explain(web, &question, problem),
                }
            }
            _ => Sender::Anonymous,
        };
        match body.receive(web, caller, sender, LONGEST).await {
            Ok(body) => question.body = body,
            Err(error) => return not_received(error, sender, is_secure),
        }
    }
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
    // A client that is known already has had its permit.
    if question.login.borrow().is_none() {
        match login_permit(web, &question, &route).await {
            Ok(permit) => drop(question.permit.replace(permit)),
            Err(Busy) => return early(busy(), None),
        }
    }
    let at_work = Arc::clone(web);
    let queue = &web.native.admission().expensive_work.requests;
    let work = move || finish(&at_work, question, route);
    match blocking::run(queue, caller.address.ip(), work).await {
        Ok(response) => response,
        Err(Undone::Busy) => early(busy(), None),
        Err(Undone::Failed) => early(failed(), None),
    }
}

/// Waits for a permit to look at what a client says of itself, if that costs much.
fn login_permit<'w>(
    web: &'w Web,
    question: &Question,
    route: &Result<Route, Fault>,
) -> impl Future<Output = Result<Option<WorkPermit>, Busy>> + Send + use<'w> {
    let costs = route
        .as_ref()
        .is_ok_and(|route| is_expensive(question, route));
    let peer = question.peer();
    async move {
        if !costs {
            return Ok(None);
        }
        let logins = &web.native.admission().expensive_work.logins;
        logins.enter(peer).await.map(Some)
    }
}

/// Finds out who asks, and keeps it for when the question is answered.
fn log_in(web: &Web, question: &Question) -> Result<Sender, Problem> {
    let login = credentials::login(web, question)?;
    let sender = if login.known.is_some() {
        Sender::Known
    } else {
        Sender::Anonymous
    };
    question.login.replace(Some(login));
    Ok(sender)
}

fn not_received(error: BodyError, sender: Sender, is_secure: bool) -> Response<Body> {
    let fault = match error {
        BodyError::Broken => wrong("the body broke off"),
        BodyError::Busy => Fault::new(
            ResponseCode::ServerTooBusy,
            "too many bodies are on their way to this server: try again",
        ),
        BodyError::Late => wrong(late_body(sender)),
        BodyError::TooLong => wrong(format!("the body has more than {LONGEST} bytes")),
    };
    let answer = refusal(&fault, None, Some(error.status()), is_secure);
    answer.into_response(&Presentation::default())
}

fn failed() -> Fault {
    Fault::new(ResponseCode::Error, "the server failed")
}

/// Answers a question that was read.
fn finish(web: &Web, mut question: Question, route: Result<Route, Fault>) -> Response<Body> {
    let answered = match (with_body(&mut question), route) {
        (Ok(()), Ok(route)) => route::follow(web, &question, route),
        (Err(fault), _) | (_, Err(fault)) => Err(fault.into()),
    };
    match answered {
        Ok(answer) => answer.into_response(&question.presentation),
        Err(problem) => explain(web, &question, problem),
    }
}

/// Says why there is no answer.
fn explain(web: &Web, question: &Question, problem: Problem) -> Response<Body> {
    let answer = match problem {
        Problem::Plain(answer) => answer,
        Problem::Credentials(error) => {
            let answer = Answer::empty(StatusCode::UNAUTHORIZED);
            challenge(web, question, answer, Some(error))
        }
        Problem::Refused {
            fault,
            handle,
            status,
        } => {
            let is_secure = question.caller.is_secure;
            let answer = refusal(&fault, handle.as_deref(), status, is_secure);
            if answer.status == StatusCode::UNAUTHORIZED {
                challenge(web, question, answer, None)
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
