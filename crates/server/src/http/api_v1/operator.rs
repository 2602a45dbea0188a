//! The API for the local operator: commands in this process, or at the socket of the data folder.
//!
//! The local operator may do everything, and may act as somebody else ([`AS_HEADER`]). Some things
//! exist only here: what a browser or a token must never reach is not merely forbidden over the
//! network, it is not there. Imports are read as they come, without a copy on disk, and imports and
//! jobs answer line by line while they run.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use handfast_api::SignInLink;
use handfast_registry::{
    Done, Import, NamespaceImport, Principal, Registry, RegistryError, Report,
};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName};
use hyper::{Request, Response};
use serde::Serialize;
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;

use super::bulk::{self, Sending};
use super::call::{Answer, Call};
use super::jobs::{self, Wanted};
use super::problem::Problem;
use super::route::{Group, RequestBody, ResponseBody};
use super::route_table::{DRY_RUN, GROUPS, post};
use super::{
    Api, ApiSettings, LineStream, check_type, convert, find_route, read_query, run, sign_in,
};
use crate::http::CLIENT_TIMEOUT;
use crate::http::middleware::host::{PublicUrl, base_url};
use crate::http::percent::decode;
use crate::http::response::Body;

/// The header that says, percent-encoded, as whom the local operator acts. Over the network it
/// means nothing.
pub const AS_HEADER: HeaderName = HeaderName::from_static("handfast-as");

/// The body of a request of the local operator.
pub type LocalBody = UnsyncBoxBody<Bytes, io::Error>;

/// Parameters that only the local operator has, with every path: take URLs that no browser can
/// follow; the size of an import; secrets in an export; try a job before it is resumed.
const PARAMETERS: &[&str] = &["migrate", "size", "with-secrets", "dry-run"];

/// What only the local operator can ask for.
static OPERATOR_ROUTES: &[Group] = &[Group {
    tag: "Operator",
    about: "Only for the local operator.",
    routes: &[
        post(
            "/operator/namespaces",
            "importNamespaces",
            import_namespaces,
        )
        .query(&[DRY_RUN])
        .takes_body(RequestBody::Text)
        .gives_body(ResponseBody::Lines),
        post(
            "/operator/sign-in-link",
            "createFirstSignInLink",
            sign_in::first_link,
        )
        .gives::<SignInLink>(),
    ],
}];

/// How many names a job looks at between two lines of progress.
const PROGRESS_INTERVAL: u64 = 1_000;

/// The API as a function: a request in, a response out.
#[derive(Clone)]
pub struct LocalApi(Arc<Api>);

impl LocalApi {
    /// For a registry that this process has opened. Links begin with the public URL of its server,
    /// or with where it would listen.
    #[must_use]
    pub fn new(registry: Arc<Registry>, public_url: Option<PublicUrl>, listen: SocketAddr) -> Self {
        let settings = ApiSettings {
            spool_limit: 0,
            base: base_url(public_url.as_ref(), listen),
            public_url,
            public_search: false,
            client_timeout: CLIENT_TIMEOUT,
        };
        Self(Arc::new(Api::new(registry, settings)))
    }

    pub(crate) fn of(api: Arc<Api>) -> Self {
        Self(api)
    }

    /// Answers a request, on threads of the runtime that this is called in.
    pub async fn answer(&self, request: Request<LocalBody>) -> Response<Body> {
        let outcome = self.find_and_answer(request).await;
        outcome.unwrap_or_else(|problem| problem.for_operator().into_response())
    }

    async fn find_and_answer(
        &self,
        request: Request<LocalBody>,
    ) -> Result<Response<Body>, Problem> {
        let found = find_route(&request, OPERATOR_ROUTES);
        let (route, path) = match found.or_else(|_| find_route(&request, GROUPS))? {
            Ok(found) => found,
            Err(other_method) => return Ok(other_method),
        };
        let (parts, body) = request.into_parts();
        let query = read_query(&parts, route, PARAMETERS)?;
        let mut call = Call {
            api: Arc::clone(&self.0),
            who: acting_as(&parts.headers)?,
            token: None,
            path,
            query,
            headers: parts.headers,
            body: Bytes::new(),
            base: self.0.settings.base.clone(),
            is_local: true,
        };
        check_type(&call.headers, route)?;
        let mut stream = None;
        match route.body {
            Some(RequestBody::Lines) => stream = Some(LineStream::Local(body)),
            Some(_) => {
                let collected = body.collect().await;
                let broken = |error| Problem::usage(format!("the body did not come: {error}"));
                call.body = collected.map_err(broken)?.to_bytes();
            }
            None => drop(body),
        }
        run(call, route, stream, ()).await
    }
}

/// Who acts: the operator, or whom the operator names.
fn acting_as(headers: &HeaderMap) -> Result<Principal, Problem> {
    let Some(header) = headers.get(AS_HEADER) else {
        return Ok(Principal::Operator);
    };
    let text = header.to_str().ok().and_then(decode);
    let who = text.and_then(|text| Principal::parse_actor(&text).ok());
    who.ok_or_else(|| Problem::usage("`Handfast-As` names an account, or INDEX:HANDLE"))
}

/// Takes names as they come. Answers a line for each outcome, lines that say how far it has come,
/// and a last line for all.
pub(super) fn import(
    call: &Call,
    body: LocalBody,
    begun: &mut dyn FnMut(Response<Body>),
) -> Result<(), Problem> {
    let options = Import {
        size: call.number("size")?,
        ..bulk::options(call)?
    };
    let input = BodyReader {
        body,
        piece: Bytes::new(),
        runtime: Handle::current(),
    };
    send_lines(call, begun, |out| {
        let report = &mut |report: Report<'_>| match report {
            Report::Line(outcome) => {
                if options.tells_all || matches!(outcome.done, Done::Refused { .. }) {
                    line(out, &convert::outcome(outcome));
                }
            }
            Report::Progress { bytes, counts } => progress(out, bytes, counts.total()),
        };
        let imported = call.registry().import(&call.who, &options, input, report)?;
        Ok(bulk::summary(&options, &imported, 0))
    })
}

/// Runs a job to its end. Answers as an import does.
pub(super) fn run_job(
    call: &Call,
    wanted: Wanted,
    begun: &mut dyn FnMut(Response<Body>),
) -> Result<(), Problem> {
    let dry_run = call.flag("dry-run")?;
    send_lines(call, begun, |out| {
        let mut names = 0;
        let done = wanted.run(call.registry(), &call.who, dry_run, &mut |outcome| {
            names += 1;
            if jobs::is_listed(outcome, dry_run) {
                line(out, &convert::outcome(outcome));
            }
            if names % PROGRESS_INTERVAL == 0 {
                progress(out, names, names);
            }
        })?;
        Ok(jobs::summary(&done))
    })
}

/// Answers line by line; the last one says what came of all, or what went wrong on the way.
fn send_lines<S: Serialize>(
    call: &Call,
    begun: &mut dyn FnMut(Response<Body>),
    give: impl FnOnce(&mut Sending<'_>) -> Result<S, RegistryError>,
) -> Result<(), Problem> {
    let mut out = Sending::new(call, begun, "application/x-ndjson");
    match give(&mut out) {
        Ok(summary) => line(&mut out, &summary),
        Err(error) if out.is_begun() => {
            let problem = Problem::from(error).for_operator().into_document();
            line(&mut out, &json!({"problem": problem}));
        }
        Err(error) => return Err(error.into()),
    }
    // A client that has gone needs no last line.
    drop(out.flush());
    Ok(())
}

/// A client that has gone does not stop the work.
fn line(out: &mut Sending<'_>, said: &impl Serialize) {
    let line = serde_json::to_string(said).unwrap_or_default();
    drop(writeln!(out, "{line}"));
}

fn progress(out: &mut Sending<'_>, position: u64, names: u64) {
    line(out, &json!({"progress": position, "names": names}));
    drop(out.flush());
}

fn import_namespaces(call: &Call) -> Result<Answer, Problem> {
    let text = str::from_utf8(&call.body).map_err(|_| Problem::usage("the body is no UTF-8"))?;
    let records = NamespaceImport::read(text)?;
    let taken = if call.flag("dry-run")? {
        call.registry().consider_namespaces(&call.who, records)?
    } else {
        call.registry().import_namespaces(&call.who, records)?
    };
    let said = taken.iter().map(|record| match &record.outcome {
        Ok(changed) => json!({"namespace": record.namespace, "changed": changed}),
        Err(error) => {
            let error = convert::command_error(convert::problem(error));
            json!({"namespace": record.namespace, "error": error})
        }
    });
    Ok(Answer::json(&said.collect::<Json>()))
}

/// A body, read by a thread that may wait.
struct BodyReader {
    body: LocalBody,
    piece: Bytes,
    runtime: Handle,
}

impl Read for BodyReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.runtime.block_on(self.body.frame()) {
                Some(frame) => self.piece = frame?.into_data().unwrap_or_default(),
                None => return Ok(0),
            }
        }
        let count = into.len().min(self.piece.len());
        let read = self.piece.split_to(count);
        if let Some(into) = into.get_mut(..count) {
            into.copy_from_slice(&read);
        }
        Ok(count)
    }
}
