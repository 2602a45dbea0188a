//! Handfast's own API: `/api/v1/…`.
//!
//! What can be asked is a table ([`routes`]), from which requests are matched and the `OpenAPI`
//! document is made. Handlers are plain functions: they run where waiting for the disk is no harm,
//! are given a [`Call`](call::Call) and answer JSON, or a problem.

mod about;
mod access;
mod accounts;
mod authorities;
mod background;
mod bulk;
mod call;
pub mod convert;
mod events;
mod groups;
mod idempotency;
pub(crate) mod jobs;
mod log;
mod names;
mod namespaces;
mod openapi;
pub(crate) mod operator;
pub(crate) mod problem;
mod route;
mod route_table;
mod search;
mod sign_in;
mod spool;
mod tokens;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use handfast_registry::{CitableLinks, Principal, Registry, RegistryError, SignInLink};
use http_body_util::{BodyExt, Either};
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, IF_MATCH, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::oneshot;

use self::background::Background;
use self::call::{Answer, Call};
use self::idempotency::{Answered, Begun, First, Key};
use self::problem::Problem;
use self::route::{Found, Group, Handler, RequestBody, Route};
use self::route_table::GROUPS;
use self::spool::Spooling;
use crate::admission::body_memory::Sender;
use crate::admission::expensive_work::Busy;
use crate::admission::peer::Peer;
use crate::admission::shared_limit::{SharePermit, SharedLimit};
use crate::http::connection::request_body::{BodyError, Incoming, late_body};
use crate::http::middleware::host::PublicUrl;
use crate::http::percent::decode_form;
use crate::http::response::{Body, WithHeader, empty};
use crate::http::{Caller, Web};
use crate::runtime::lock::Lock;

/// The registry that the API serves, and the state between requests.
pub(crate) struct Api {
    registry: Arc<Registry>,
    settings: ApiSettings,
    answered: Answered,
    background: Background,
    /// Bodies of any length that are on their way, by account.
    streams: Arc<SharedLimit<String>>,
    /// How many bytes of imports are on their way.
    spooling: Spooling,
    /// The last checkpoint that was signed, and of how many events.
    checkpoint: Lock<Option<(u64, String)>>,
    /// Numbers for the files of imports that are being received.
    spool_files: AtomicU64,
}

/// What the configuration of a server says about its API.
pub(crate) struct ApiSettings {
    /// How many bytes the imports of one account have, at most, that are being received or wait.
    pub(crate) spool_limit: u64,
    /// The URL under which clients reach the server, if it is configured.
    pub(crate) public_url: Option<PublicUrl>,
    /// Whether everybody may find active names by words, or by how they begin.
    pub(crate) public_search: bool,
    /// How long a client may take to send the next bytes of an import.
    pub(crate) client_timeout: Duration,
    /// The base of links that the local operator asks for.
    pub(crate) base: String,
}

impl Api {
    pub(crate) fn new(registry: Arc<Registry>, settings: ApiSettings) -> Self {
        Self {
            registry,
            settings,
            answered: Answered::default(),
            background: Background::default(),
            streams: SharedLimit::new(MAX_STREAMS, MAX_STREAMS_PER_ACCOUNT),
            spooling: Spooling::default(),
            checkpoint: Lock::new(None),
            spool_files: AtomicU64::new(0),
        }
    }

    /// Removes files of imports that nothing will read any more.
    pub(crate) fn clean(self) -> Self {
        spool::clean(&self.registry);
        self
    }

    fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What makes the citable links of names, if the configuration says where they begin.
    pub(crate) fn links(&self) -> Option<CitableLinks> {
        let public_url = self.settings.public_url.as_ref().map(ToString::to_string);
        CitableLinks::configured(&self.registry.rules(), public_url.as_deref())
    }

    /// The signed head of the log. It is signed anew only when there is something new: asking does
    /// not make the server write.
    pub(crate) fn signed_checkpoint(&self) -> Result<String, RegistryError> {
        let events = self.registry.event_count()?;
        let mut signed = self.checkpoint.lock();
        if let Some((of, text)) = &*signed
            && *of == events
        {
            return Ok(text.clone());
        }
        let text = self.registry.checkpoint()?.to_string();
        *signed = Some((events, text.clone()));
        Ok(text)
    }

    /// The URL of a one-time link, for people on this machine or under the public URL.
    pub(crate) fn sign_in_url(&self, link: &SignInLink) -> String {
        sign_in_url(&self.settings.base, link)
    }
}

/// The URL of a one-time link.
pub(crate) fn sign_in_url(base: &str, link: &SignInLink) -> String {
    format!("{base}/console/enter/{}", link.code)
}

/// How many bodies of any length are on their way at once. Each has a thread that waits for it, for
/// as long as something comes or goes; there are more threads, so that some are left for everything
/// else.
const MAX_STREAMS: usize = 8;
const MAX_STREAMS_PER_ACCOUNT: usize = 3;
/// The longest body that is not read line by line.
const MAX_BODY: usize = 2 << 20;
/// The longest body of an anonymous client.
const MAX_ANONYMOUS_BODY: usize = 16 << 10;
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let outcome = find_and_answer(web, caller, request).await;
    let exposed = "ETag, Location, Preference-Applied, X-Request-Id";
    let response = outcome
        .unwrap_or_else(Problem::into_response)
        // Who asks is said by a header that a page must set itself: no site acts in the name of
        // who visits it.
        .with(ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .with(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    // What never changes says so itself.
    if response.headers().contains_key(CACHE_CONTROL) {
        return response;
    }
    let response = response.with(CACHE_CONTROL, "private, no-cache");
    response.with(VARY, "Authorization")
}

async fn find_and_answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let (route, path) = match find_route(&request, GROUPS)? {
        Ok(found) => found,
        Err(other_method) => return Ok(other_method),
    };
    let (parts, body) = request.into_parts();
    let query = read_query(&parts, route, &[])?;
    let token = token_of(&parts.headers, caller)?;
    if token.is_none() && route.is_known {
        return Err(Problem::unknown());
    }
    // Who asks is known before anything that they send is taken.
    let found = token
        .map(|token| web.registry().token(&token))
        .transpose()?;
    let (who, token) = match found {
        Some(Some((who, token))) => (who, Some(token)),
        Some(None) => {
            let message = "there is no such token, or it has ended";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "bad-token", message));
        }
        None => (Principal::nobody(), None),
    };
    let base = web.hosts.base(caller, &parts.uri, &parts.headers);
    let mut call = Call {
        api: Arc::clone(&web.api),
        who,
        token,
        path,
        query,
        headers: parts.headers,
        body: Bytes::new(),
        base,
        is_local: false,
    };
    check_type(&call.headers, route)?;
    let mut stream = None;
    match route.body {
        Some(RequestBody::Lines) => stream = Some(LineStream::Remote(body)),
        Some(_) => {
            let sender = if call.token.is_some() {
                Sender::Known
            } else {
                Sender::Anonymous
            };
            match body.receive(web, caller, sender, max_body(sender)).await {
                Ok(body) => call.body = body,
                Err(error) => return Ok(not_received(error, sender)),
            }
        }
        None => drop(body),
    }
    let work = &web.context.admission.expensive_work;
    let queue = if route.hashes_password {
        &work.passwords
    } else {
        &work.requests
    };
    let permit = queue.enter(Peer::connected(caller.address.ip())).await;
    let permit = permit.map_err(|Busy| {
        Problem::busy("too many requests are under way: try again in a few seconds")
    })?;
    run(call, route, stream, permit).await
}

/// Finds the route of a request, or the answer to one with another method.
fn find_route<B>(request: &Request<B>, groups: &'static [Group]) -> Result<FoundRoute, Problem> {
    let path = request.uri().path().trim_start_matches('/');
    // Auditors look for the log at `/log`, too.
    let path = match path.strip_prefix("api/v1") {
        Some(path) => path.to_string(),
        None => format!("/{path}"),
    };
    match route::find(groups, request.method(), &path) {
        Found::Route(route, path) => Ok(Ok((route, path))),
        Found::Methods(methods) => Ok(Err(other_method(request.method(), &methods))),
        Found::Nothing => {
            let problem = Problem::new(StatusCode::NOT_FOUND, "no-such-path", "nothing is here");
            Err(problem.hint("GET /api/v1/openapi.json says what is"))
        }
        Found::Unreadable => Err(Problem::usage("the path is not percent-encoded UTF-8")),
    }
}

type FoundRoute = Result<(&'static Route, Vec<String>), Response<Body>>;

/// Lines that are sent, as they come.
enum LineStream {
    /// By the local operator.
    Local(operator::LocalBody),
    /// Over the network.
    Remote(Incoming),
}

/// Answers a request on a thread that may wait for the disk, some of it for long. `permit` is held
/// until it is done.
async fn run(
    call: Call,
    route: &'static Route,
    stream: Option<LineStream>,
    permit: impl Send + 'static,
) -> Result<Response<Body>, Problem> {
    let (begun, first) = oneshot::channel();
    let work = crate::runtime::blocking::spawn_blocking(move || {
        let _permit = permit;
        let mut begun = Some(begun);
        let mut tell = |response| {
            if let Some(begun) = begun.take() {
                // The client has gone.
                drop(begun.send(response));
            }
        };
        match work(&call, route, stream, &mut tell) {
            Ok(Some(response)) => tell(response),
            Ok(None) => {}
            Err(problem) => tell(problem.into_response_to(&call)),
        }
    });
    drop(work);
    first
        .await
        .map_err(|_| Problem::failed("the server could not do this; its log says why"))
}

/// Answers a request, or begins to.
fn work(
    call: &Call,
    route: &'static Route,
    stream: Option<LineStream>,
    begun: &mut dyn FnMut(Response<Body>),
) -> Result<Option<Response<Body>>, Problem> {
    let is_stream = !call.is_local && !matches!(route.handler, Handler::Job(_) | Handler::Plain(_));
    let _open = is_stream.then(|| call.enter_stream()).transpose()?;
    let handler = match (&route.handler, stream) {
        (Handler::Import, Some(LineStream::Local(body))) => {
            return operator::import(call, body, begun).map(|()| None);
        }
        (Handler::Import, Some(LineStream::Remote(body))) => {
            return bulk::import(call, route, body).map(Some);
        }
        (Handler::Export, _) => return bulk::export(call, begun).map(|()| None),
        (Handler::LogExport, _) => return bulk::export_log(call, begun).map(|()| None),
        (Handler::Import, None) => return Err(Problem::usage("there is no body")),
        (Handler::Job(read), _) if call.is_local => {
            return operator::run_job(call, read(call)?, begun).map(|()| None);
        }
        (Handler::Job(read), _) => {
            let handler = |call: &Call| jobs::run(call, read(call)?);
            return once(call, route, &call.body, handler).map(Some);
        }
        (Handler::Plain(handler), _) => handler,
    };
    once(call, route, &call.body, handler).map(Some)
}

/// Answers a request, or says again what was answered to the same one before.
fn once(
    call: &Call,
    route: &Route,
    body: &[u8],
    handler: impl FnOnce(&Call) -> Result<Answer, Problem>,
) -> Result<Response<Body>, Problem> {
    let answer = |call: &Call| match handler(call) {
        Ok(answer) => answer.0,
        // Who is not known is told to say who they are.
        Err(problem) if problem.status == StatusCode::FORBIDDEN && !call.is_known() => {
            Problem::unknown().into_response()
        }
        Err(problem) => problem.into_response_to(call),
    };
    let key = idempotency_key(call, route)?;
    let Some(key) = key else {
        return Ok(answer(call));
    };
    let query = format!("{:?}", call.query);
    let condition = call.headers.get(IF_MATCH).map(HeaderValue::as_bytes);
    let condition = condition.unwrap_or_default();
    let asked = idempotency::key(&[route.name.as_bytes(), query.as_bytes(), condition, body]);
    let answered = &call.api.answered;
    match answered.begin(key, asked, call.registry().time())? {
        First::Again(response) => Ok(response),
        First::New(begun) => {
            let response = answer(call);
            keep(begun, &response);
            Ok(response)
        }
    }
}

fn keep(begun: Begun<'_>, response: &Response<Body>) {
    // A body that is there can be had again; any other request is forgotten.
    if let Either::Left(full) = response.body() {
        let body = full.clone().collect();
        let mut body = std::pin::pin!(body);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        if let std::task::Poll::Ready(Ok(body)) = body.as_mut().poll(&mut context) {
            begun.end(response.status(), response.headers(), &body.to_bytes());
        }
    }
}

/// Under what a request is remembered, if it is to be: for each token its own, as what one may see
/// another may not. A token or a link
/// that was made is shown once.
fn idempotency_key(call: &Call, route: &Route) -> Result<Option<Key>, Problem> {
    let Some(key) = call.headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    if route.method != "POST"
        || !route.is_known
        || matches!(route.name, "createToken" | "createSignInLink" | "invite")
    {
        return Ok(None);
    }
    let text = key
        .to_str()
        .ok()
        .filter(|text| !text.is_empty() && text.len() <= 255);
    let problem = || Problem::usage("`Idempotency-Key` has 1 to 255 visible characters");
    let text = text.ok_or_else(problem)?;
    let token = call.token.as_ref().map_or("", |token| &token.id);
    let path = call.path.join("\n");
    let parts = [token, &path, text].map(str::as_bytes);
    Ok(Some(idempotency::key(&parts)))
}

impl Call {
    /// Whether it is known who asks.
    fn is_known(&self) -> bool {
        self.who != Principal::nobody()
    }

    /// Counts a body of any length until the permit is dropped.
    fn enter_stream(&self) -> Result<SharePermit<String>, Problem> {
        let permit = self.api.streams.try_take(self.who.to_string(), 1);
        permit.ok_or_else(|| {
            Problem::busy("others are being sent and taken already: come again later")
        })
    }
}

fn read_query(
    parts: &Parts,
    route: &Route,
    further: &[&str],
) -> Result<Vec<(String, String)>, Problem> {
    let mut query: Vec<(String, String)> = Vec::new();
    let text = parts.uri.query().unwrap_or_default();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (decode_form(name), decode_form(value)) else {
            return Err(Problem::usage("the query is not percent-encoded UTF-8"));
        };
        let is_of_route = route.query.iter().any(|parameter| parameter.name == name);
        if !is_of_route && !further.contains(&name.as_str()) {
            return Err(Problem::usage(format!(
                "there is no parameter `{name}` here"
            )));
        }
        if query.iter().any(|(given, _)| *given == name) {
            return Err(Problem::usage(format!("`{name}` is given twice")));
        }
        query.push((name, value));
    }
    Ok(query)
}

/// The token that a request brings; over a connection to which others may listen, none may be
/// brought.
fn token_of(headers: &HeaderMap, caller: &Caller) -> Result<Option<String>, Problem> {
    let Some(given) = headers.get(AUTHORIZATION) else {
        return Ok(None);
    };
    let text = given.to_str().unwrap_or_default();
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => return Err(Problem::unknown()),
    };
    if !caller.is_secure && !caller.address.ip().to_canonical().is_loopback() {
        let message = "a token was sent where others may have read it: revoke it, and use https";
        return Err(Problem::new(StatusCode::FORBIDDEN, "insecure", message));
    }
    Ok(Some(token.to_string()))
}

fn check_type(headers: &HeaderMap, route: &Route) -> Result<(), Problem> {
    let Some(RequestBody::Json(_) | RequestBody::OptionalJson(_)) = route.body else {
        return Ok(());
    };
    let said = headers
        .get(CONTENT_TYPE)
        .and_then(|said| said.to_str().ok());
    let kind = said.map(|said| said.split(';').next().unwrap_or_default().trim());
    let is_json = |kind: &str| kind.eq_ignore_ascii_case("application/json");
    match (kind, route.body) {
        (Some(kind), _) if is_json(kind) => Ok(()),
        (None, Some(RequestBody::OptionalJson(_))) => Ok(()),
        _ => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "the body is JSON: say so with `Content-Type: application/json`",
        )),
    }
}

/// What anonymous clients send is short.
fn max_body(sender: Sender) -> usize {
    match sender {
        Sender::Anonymous => MAX_ANONYMOUS_BODY,
        Sender::Known => MAX_BODY,
    }
}

fn not_received(error: BodyError, sender: Sender) -> Response<Body> {
    let status = error.status();
    let problem = match error {
        BodyError::TooLong => {
            let message = format!("a body has at most {} bytes", max_body(sender));
            Problem::new(status, "too-large", message)
                .hint("many names are taken by /api/v1/import")
        }
        BodyError::Broken => {
            Problem::usage("the connection ended before the body did; nothing was done")
        }
        BodyError::Late(time) => Problem::new(status, "late", late_body(sender, time)),
        BodyError::Busy => {
            Problem::busy("too many bodies are on their way to this server: try again")
        }
    };
    problem.into_response()
}

/// What there is at a path by other methods; to browsers that ask, what they may.
fn other_method(method: &Method, methods: &[&'static str]) -> Response<Body> {
    let mut words: Vec<&str> = methods.to_vec();
    if words.contains(&"GET") {
        words.push("HEAD");
    }
    words.push("OPTIONS");
    let allowed = words.join(", ");
    let response = if method == Method::OPTIONS {
        let taken = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, \
            Prefer, X-Request-Id";
        empty(StatusCode::NO_CONTENT)
            .with(ACCESS_CONTROL_ALLOW_METHODS, &allowed)
            .with(ACCESS_CONTROL_ALLOW_HEADERS, taken)
    } else {
        let message = "this path has other methods: see `Allow`";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "other-method", message).into_response()
    };
    response.with(ALLOW, allowed)
}
