//! Sessions (`http-interfaces.md` A.12).

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::rfc3339;
use handfast_wire::ResponseCode;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, LOCATION};
use hyper::{Method, StatusCode, Uri};

use super::answer::{RestAnswer, RestProblem, RestResult, put, put_member};
use super::authorization::{Authorization, Fields};
use super::credentials::{Signed, by_answer, by_password, session, sign, with_challenge};
use super::open_sessions::RestSession;
use super::request::RestRequest;
use crate::error::wrong;
use crate::http::Web;

/// Opens a session.
pub(crate) fn start(web: &Web, request: &RestRequest) -> RestResult {
    let said = SessionRequest::read(request)?;
    if said.fields.session().is_some() {
        return Ok(RestAnswer::empty(StatusCode::BAD_REQUEST));
    }
    let session = web.rest.sessions.start(&web.context.world, request.peer());
    if let Some(readings) = said.basic {
        if request.is_by_another_page() {
            return Ok(RestAnswer::empty(StatusCode::FORBIDDEN));
        }
        match by_password(web, request, readings) {
            Ok(known) => {
                let now = web.context.world.now();
                web.rest.sessions.keep(&session, known, now);
            }
            Err(problem) => return not_verified(&session, problem),
        }
    }
    let nonce = said.fields.client_nonce();
    let signed = nonce.and_then(|nonce| sign(&web.context, &session, &nonce));
    let shown = show(&session, signed.as_ref(), None);
    Ok(RestAnswer::new(StatusCode::CREATED, shown)
        .with(LOCATION, HeaderValue::from_static("/api/sessions/this")))
}

/// Shows, authenticates or ends the session that is named.
pub(crate) fn this(web: &Web, request: &RestRequest) -> RestResult {
    let said = SessionRequest::read(request)?;
    let forbidden = || RestAnswer::empty(StatusCode::FORBIDDEN);
    let Some(id) = said.fields.session() else {
        return Ok(if request.method == Method::GET {
            RestAnswer::new(StatusCode::OK, br#"{"authenticated":false}"#.to_vec())
        } else {
            forbidden()
        });
    };
    let Some(session) = session(web, id)? else {
        return Ok(forbidden());
    };
    if request.method == Method::DELETE {
        web.rest.sessions.remove(id);
        return Ok(RestAnswer::empty(StatusCode::NO_CONTENT));
    }
    if said.fields.is_authenticating() {
        if !said.fields.is_version_known() {
            let problem = RestProblem::Credentials("Unsupported version");
            return not_verified(&session, problem);
        }
        if let Err(problem) = by_answer(web, request, &said.fields, &session) {
            return not_verified(&session, problem);
        }
    }
    let nonce = said.fields.client_nonce();
    let nonce = nonce.filter(|_| !said.fields.is_authenticating());
    let signed = nonce.and_then(|nonce| sign(&web.context, &session, &nonce));
    Ok(RestAnswer::new(
        StatusCode::OK,
        show(&session, signed.as_ref(), None),
    ))
}

/// Creates a one-time link by which the identity of the session signs in to the console. The
/// session has to be named: no browser adds that by itself.
pub(crate) fn sign_in_link(web: &Web, request: &RestRequest) -> RestResult {
    let said = SessionRequest::read(request)?;
    let session = said.fields.session().map(|id| session(web, id));
    let known = session.transpose()?.flatten().and_then(|found| found.who());
    let Some(known) = known else {
        return Err(RestProblem::code(ResponseCode::AuthenticationNeeded));
    };
    let who = known.login.who;
    let link = web.registry().create_sign_in_link(&who, &who.to_string())?;
    let uri = request
        .authority
        .as_deref()
        .and_then(|host| host.parse().ok());
    let uri: Uri = uri.unwrap_or_default();
    let base = web.hosts.base(&request.caller, &uri, &request.headers);
    let mut out = b"{\"account\":".to_vec();
    put(&mut out, &link.account);
    put_member(&mut out, "expires", &rfc3339(link.expires));
    put_member(
        &mut out,
        "link",
        &crate::http::api_v1::sign_in_url(&base, &link),
    );
    out.push(b'}');
    let answer = RestAnswer::new(StatusCode::CREATED, out);
    Ok(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

/// The fields of the header and the body.
struct SessionRequest {
    basic: Option<Vec<super::authorization::Basic>>,
    fields: Fields,
}

impl SessionRequest {
    fn read(request: &RestRequest) -> Result<Self, RestProblem> {
        if !request.caller.is_secure {
            return Err(RestProblem::Plain(RestAnswer::empty(StatusCode::FORBIDDEN)));
        }
        let header = request.headers.get(AUTHORIZATION);
        let mut said = Self {
            basic: None,
            fields: Fields::default(),
        };
        match header.map(|header| Authorization::read(header.as_bytes())) {
            Some(Authorization::Basic(readings)) => said.basic = Some(readings),
            Some(Authorization::Handle(fields)) => said.fields = fields,
            Some(Authorization::Other) => {
                return Err(wrong("the header Authorization cannot be read").into());
            }
            None => {}
        }
        if request.body.iter().any(|byte| !byte.is_ascii_whitespace()) {
            let fields = said.fields.with_json(&request.body);
            said.fields = fields.ok_or_else(|| wrong("the body is no JSON object"))?;
        }
        Ok(said)
    }
}

/// A session as JSON.
fn show(session: &RestSession, signed: Option<&Signed>, error: Option<&str>) -> Vec<u8> {
    let mut out = b"{\"sessionId\":".to_vec();
    put(&mut out, &session.id);
    put_member(&mut out, "nonce", &BASE64_STANDARD.encode(session.nonce));
    if let Some(known) = session.who().filter(|_| error.is_none()) {
        put_member(&mut out, "authenticated", &true);
        put_member(&mut out, "id", &known.id);
    }
    if let Some(signed) = signed {
        put_member(&mut out, "serverAlg", signed.algorithm);
        put_member(&mut out, "serverSignature", &signed.signature);
    }
    if let Some(error) = error {
        put_member(&mut out, "error", error);
    }
    out.push(b'}');
    out
}

/// 401, with the session that may be tried again.
fn not_verified(session: &Arc<RestSession>, problem: RestProblem) -> RestResult {
    let RestProblem::Credentials(error) = problem else {
        return Err(problem);
    };
    let shown = show(session, None, Some(error));
    let answer = RestAnswer::new(StatusCode::UNAUTHORIZED, shown);
    Ok(with_challenge(answer, session, None, Some(error)))
}
