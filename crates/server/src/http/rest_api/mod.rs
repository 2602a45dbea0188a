//! The handle REST API, as deployed (`http-interfaces.md` A), and reverse lookup (C.3).
//!
//! The server reads a request as a whole. It answers reads of public values on the thread of
//! the connection, and everything else on a blocking thread: changes wait for the disk,
//! signatures for the processor. `docs/compatibility.md` lists the differences to deployed
//! servers, with reasons.

pub(crate) mod answer;
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
mod request;
mod reverse;
mod route;
mod sessions;
mod site;
mod verifications;

use std::cell::RefCell;
use std::sync::Arc;

use handfast_wire::ResponseCode;
use handfast_wire::body::ResolutionRequest;
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, AUTHORIZATION, HeaderMap,
    HeaderValue, LOCATION, ORIGIN, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};

use self::answer::{RestAnswer, RestProblem, error_answer};
use self::credentials::{challenge, is_expensive};
use self::open_sessions::RestSessions;
use self::parameters::Parameters;
pub(crate) use self::presentation::JSON;
use self::presentation::Presentation;
use self::request::RestRequest;
use self::route::RestRoute;
use crate::admission::body_memory::Sender;
use crate::admission::expensive_work::{Busy, WorkPermit};
use crate::auth::login::busy;
use crate::error::{Fault, wrong};
use crate::http::connection::request_body::{BodyError, Incoming, late_body};
use crate::http::resolver::{fast_redirect, is_preflight, preflight};
use crate::http::response::{WithHeader, empty};
use crate::http::{Body, Caller, Web};
use crate::runtime::blocking::{self, WorkError};

/// The longest body: a record of the most values, in the longest of their forms.
const MAX_REST_BODY: usize = 1 << 20;

/// The state of the API between requests.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    sessions: RestSessions,
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
        let responded = respond(web, caller, parts, body).await;
        responded.unwrap_or_else(|fault| {
            let answer = error_answer(&fault, None, None, caller.is_secure);
            answer.into_response(&Presentation::default())
        })
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(origin) = origin {
        allow_origin(headers, origin);
    }
    response
}

/// What everybody may read of a handle, if its path and what is stored are plain; `None` if it
/// takes more than a look.
pub(crate) fn stored(web: &Web, path: &str) -> Option<Vec<u8>> {
    let name = path.strip_prefix("/api/handles/")?;
    if !fast_redirect::is_plain(name) || web.context.has_source(name) {
        return None;
    }
    let asked = ResolutionRequest::all(name);
    handles::stored(web, &asked)
}

async fn respond(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    parts: hyper::http::request::Parts,
    body: Incoming,
) -> Result<Response<Body>, Fault> {
    let parameters = Parameters::read(parts.uri.query().unwrap_or_default())?;
    let has_body = matches!(parts.method, Method::POST | Method::PUT);
    let method = match parts.method {
        Method::HEAD => Method::GET,
        method => method,
    };
    let mut request = RestRequest {
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
    let route = RestRoute::of(&request.path);
    if has_body {
        // Credentials are looked at before the body they come with: wrong ones end everything.
        let sender = match &route {
            Ok(RestRoute::Handles(_) | RestRoute::Prefixes(_))
                if credentials::are_given(&request) =>
            {
                let permit = login_permit(web, &request, &route).await?;
                request.permit.replace(permit);
                let at_work = Arc::clone(web);
                let work = move || {
                    let sender = log_in(&at_work, &request);
                    (request, sender)
                };
                let (given, sender) = run(web, caller, work).await?;
                request = given;
                match sender {
                    Ok(sender) => sender,
                    Err(problem) => return Ok(explain(web, &request, problem)),
                }
            }
            _ => Sender::Anonymous,
        };
        match body.receive(web, caller, sender, MAX_REST_BODY).await {
            Ok(body) => request.body = body,
            Err(error) => return Ok(not_received(error, sender, caller.is_secure)),
        }
    }
    // Public values are read without waiting.
    let is_near = match &route {
        Ok(RestRoute::Handles(name)) => !web.context.has_source(name),
        Ok(RestRoute::Site | RestRoute::Ping) => true,
        _ => false,
    };
    let is_nonblocking = is_near
        && request.method == Method::GET
        && !request.headers.contains_key(AUTHORIZATION)
        && caller.certificate.is_none();
    if is_nonblocking {
        return Ok(finish(web, request, route));
    }
    // A client that is known already has had its permit.
    if request.login.borrow().is_none() {
        let permit = login_permit(web, &request, &route).await?;
        request.permit.replace(permit);
    }
    let at_work = Arc::clone(web);
    run(web, caller, move || finish(&at_work, request, route)).await
}

/// Runs work on a thread that may wait.
async fn run<T: Send + 'static>(
    web: &Web,
    caller: &Caller,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let queue = &web.context.admission.expensive_work.requests;
    let done = blocking::run(queue, caller.address.ip(), work).await;
    done.map_err(|error| match error {
        WorkError::Busy => busy(),
        WorkError::Failed => Fault::new(ResponseCode::Error, "the server failed"),
    })
}

/// Waits for a permit to look at what a client says of itself, if that costs much.
fn login_permit<'w>(
    web: &'w Web,
    request: &RestRequest,
    route: &Result<RestRoute, Fault>,
) -> impl Future<Output = Result<Option<WorkPermit>, Fault>> + Send + use<'w> {
    let costs = route
        .as_ref()
        .is_ok_and(|route| is_expensive(request, route));
    let peer = request.peer();
    async move {
        if !costs {
            return Ok(None);
        }
        let logins = &web.context.admission.expensive_work.logins;
        let permit = logins.enter(peer).await;
        permit.map(Some).map_err(|Busy| busy())
    }
}

/// Finds out who asks, and keeps it for when the question is answered.
fn log_in(web: &Web, request: &RestRequest) -> Result<Sender, RestProblem> {
    let login = credentials::login(web, request)?;
    let sender = if login.known.is_some() {
        Sender::Known
    } else {
        Sender::Anonymous
    };
    request.login.replace(Some(login));
    Ok(sender)
}

fn not_received(error: BodyError, sender: Sender, is_secure: bool) -> Response<Body> {
    let fault = match error {
        BodyError::Broken => wrong("the body broke off"),
        BodyError::Busy => Fault::new(
            ResponseCode::ServerTooBusy,
            "too many bodies are on their way to this server: try again",
        ),
        BodyError::Late(time) => wrong(late_body(sender, time)),
        BodyError::TooLong => wrong(format!("the body has more than {MAX_REST_BODY} bytes")),
    };
    let answer = error_answer(&fault, None, Some(error.status()), is_secure);
    answer.into_response(&Presentation::default())
}

/// Answers a question that was read.
fn finish(web: &Web, mut request: RestRequest, route: Result<RestRoute, Fault>) -> Response<Body> {
    let answered = match (with_body(&mut request), route) {
        (Ok(()), Ok(route)) => route::follow(web, &request, route),
        (Err(fault), _) | (_, Err(fault)) => Err(fault.into()),
    };
    match answered {
        Ok(answer) => answer.into_response(&request.presentation),
        Err(problem) => explain(web, &request, problem),
    }
}

/// The response to an error.
fn explain(web: &Web, request: &RestRequest, problem: RestProblem) -> Response<Body> {
    let answer = match problem {
        RestProblem::Plain(answer) => answer,
        RestProblem::Credentials(error) => {
            let answer = RestAnswer::empty(StatusCode::UNAUTHORIZED);
            challenge(web, request, answer, Some(error))
        }
        RestProblem::Refused {
            fault,
            handle,
            status,
        } => {
            let is_secure = request.caller.is_secure;
            let answer = error_answer(&fault, handle.as_deref(), status, is_secure);
            if answer.status == StatusCode::UNAUTHORIZED {
                challenge(web, request, answer, None)
            } else {
                answer
            }
        }
    };
    answer.into_response(&request.presentation)
}

/// The members of the body of a POST are parameters: "URL parameters come first".
fn with_body(request: &mut RestRequest) -> Result<(), Fault> {
    let is_form = request.is_body("application/x-www-form-urlencoded");
    let is_read = is_form || request.is_body("application/json");
    if request.method == Method::POST && !request.body.is_empty() && is_read {
        let parameters = std::mem::take(&mut request.parameters);
        request.parameters = parameters.with_body(&request.body, is_form)?;
        request.presentation = Presentation::of(&request.parameters);
    }
    Ok(())
}

/// The response to OPTIONS.
fn options(path: &str, headers: &HeaderMap) -> Response<Body> {
    let response = empty(StatusCode::OK);
    if is_preflight(headers) {
        return preflight(response, "GET,POST,HEAD,PUT,DELETE");
    }
    let allowed = RestRoute::of(path).map_or("OPTIONS", |route| route.methods());
    response.with(ALLOW, allowed)
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
