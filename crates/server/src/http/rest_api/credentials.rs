//! Authentication of a request: by a password, an answer to a challenge, a session or a
//! certificate (`http-interfaces.md` A.13).

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::Principal;
use handfast_wire::body::ChallengeAnswer;
use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret, certified_algorithm};
use handfast_wire::{PublicKey, Reference, ResponseCode as Code, Version};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};

use super::answer::{RestAnswer, RestProblem};
use super::authorization::{Authorization, Basic, Fields};
use super::certificate::ClientCertificate;
use super::open_sessions::{Known, RestSession};
use super::request::RestRequest;
use super::route::RestRoute;
use crate::auth::login::Authenticated;
use crate::context::ServerContext;
use crate::error::Fault;
use crate::http::Web;

/// Whether it takes a permit for expensive work to look at what a client says of itself: it shows a
/// signature, or what PBKDF2 makes of a secret, or asks the server to sign. Passwords cost next to
/// nothing.
pub(crate) fn is_expensive(request: &RestRequest, route: &RestRoute) -> bool {
    let has_body = !request.body.is_empty();
    match route {
        // Fields may be in the body as well.
        RestRoute::Sessions | RestRoute::SessionThis if has_body => return true,
        RestRoute::Verifications(_) => return true,
        _ => {}
    }
    let header = request.headers.get(AUTHORIZATION);
    match header.map(|header| Authorization::read(header.as_bytes())) {
        Some(Authorization::Handle(fields)) => fields.is_expensive(),
        _ => false,
    }
}

/// The outcome of a login.
#[derive(Default)]
pub(crate) struct Login {
    pub(crate) known: Option<Known>,
    /// The session that was named.
    pub(crate) session: Option<Arc<RestSession>>,
    /// The signature of the server that was asked for.
    pub(crate) signed: Option<Signed>,
}

/// The signature of the server.
pub(crate) struct Signed {
    pub(crate) algorithm: &'static str,
    pub(crate) signature: String,
}

/// The error for wrong credentials.
pub(crate) const NOT_VERIFIED: &str = "Identity not verified";

impl Login {
    /// The client, in the form of the native protocol.
    pub(crate) fn who(&self) -> Option<&Authenticated> {
        self.known.as_ref().map(|known| &known.login)
    }

    /// The client; an error if it is anonymous.
    pub(crate) fn need(&self) -> Result<&Authenticated, Fault> {
        self.who()
            .ok_or_else(|| Fault::plain(Code::AuthenticationNeeded))
    }
}

/// Who asks a question about handles. Wrong credentials end it, whatever it is about.
pub(crate) fn login(web: &Web, request: &RestRequest) -> Result<Login, RestProblem> {
    if let Some(login) = request.login.take() {
        return Ok(login);
    }
    let login = authenticate(web, request);
    // The following may wait for the disk.
    drop(request.permit.take());
    login
}

fn authenticate(web: &Web, request: &RestRequest) -> Result<Login, RestProblem> {
    if !request.caller.is_secure {
        return Ok(Login::default());
    }
    let header = request.headers.get(AUTHORIZATION);
    let is_trusted = !request.is_by_another_page();
    let known = match header.map(|header| Authorization::read(header.as_bytes())) {
        Some(Authorization::Basic(readings)) if is_trusted => {
            Some(by_password(web, request, readings)?)
        }
        Some(Authorization::Handle(fields)) => return by_fields(web, request, &fields),
        Some(Authorization::Other) => return Err(RestProblem::Credentials(NOT_VERIFIED)),
        None if is_trusted => by_certificate(web, request)?,
        _ => None,
    };
    Ok(Login {
        known,
        ..Login::default()
    })
}

/// Whether a request comes with credentials that can be looked at.
pub(crate) fn are_given(request: &RestRequest) -> bool {
    let is_given = request.headers.contains_key(AUTHORIZATION);
    request.caller.is_secure && (is_given || request.caller.certificate.is_some())
}

/// A session that lives: with the key that opened it, it goes.
pub(crate) fn session(web: &Web, id: &str) -> Result<Option<Arc<RestSession>>, Fault> {
    let session = web.rest.sessions.named(id, web.context.world.now());
    let known = session.as_ref().and_then(|session| session.who());
    let by = known.and_then(|known| known.login.by);
    if web.context.holds(by.as_ref())? {
        return Ok(session);
    }
    web.rest.sessions.remove(id);
    Ok(None)
}

fn by_fields(web: &Web, request: &RestRequest, fields: &Fields) -> Result<Login, RestProblem> {
    if !fields.is_version_known() {
        return Err(RestProblem::Credentials("Unsupported version"));
    }
    let session = match fields.session() {
        None => None,
        Some(id) => {
            let session = session(web, id)?;
            Some(session.ok_or(RestProblem::Credentials("Invalid session"))?)
        }
    };
    if fields.is_authenticating() {
        let session = session.ok_or(RestProblem::Credentials("Missing session"))?;
        return Ok(Login {
            known: Some(by_answer(web, request, fields, &session)?),
            session: Some(session),
            signed: None,
        });
    }
    let mut login = Login {
        known: session.as_ref().and_then(|session| session.who()),
        session,
        signed: None,
    };
    if let Some(nonce) = fields.client_nonce() {
        let world = &web.context.world;
        let start = || web.rest.sessions.start(world, request.peer());
        let session = login.session.get_or_insert_with(start);
        login.signed = sign(&web.context, session, &nonce);
    }
    if login.known.is_none() && !request.is_by_another_page() {
        login.known = by_certificate(web, request)?;
        if login.known.is_none() && fields.asks_for_certificate() {
            return Err(RestProblem::Credentials(NOT_VERIFIED));
        }
    }
    Ok(login)
}

/// One comparison for each secret of the handle, in constant time: of what the secret, and what the
/// password, make of a number that nobody knew before.
pub(crate) fn by_password(
    web: &Web,
    request: &RestRequest,
    readings: Vec<Basic>,
) -> Result<Known, RestProblem> {
    let context = &web.context;
    let nonce: [u8; 16] = context.world.random();
    for Basic { id, key, password } in readings {
        let algorithm = SecretAlgorithm::Sha256;
        let response = answer_with_secret(&password, algorithm, &nonce, &[], &[0; 16]);
        let Ok(response) = response else { continue };
        let answer = ChallengeAnswer {
            authentication_type: "HS_SECKEY".into(),
            key,
            response: response.into(),
        };
        if let Some(login) = verified(web, request, &answer, &nonce, &[])? {
            return Ok(Known { id, login });
        }
    }
    Err(RestProblem::Credentials(NOT_VERIFIED))
}

/// Logs in by the answer of a key to the nonces of both sides.
pub(crate) fn by_answer(
    web: &Web,
    request: &RestRequest,
    fields: &Fields,
    session: &Arc<RestSession>,
) -> Result<Known, RestProblem> {
    let given = |name: &str| {
        let missing = RestProblem::Credentials("Missing fields in authentication data");
        fields.get(name).ok_or(missing)
    };
    let (id, key_type) = (given("id")?, given("type")?);
    for name in ["signature", "cnonce", "alg"] {
        given(name)?;
    }
    let key = super::authorization::reference(id);
    let read = (key, fields.client_nonce(), fields.response());
    let (Some(key), Some(client_nonce), Some(response)) = read else {
        return Err(RestProblem::Credentials(NOT_VERIFIED));
    };
    let answer = ChallengeAnswer {
        authentication_type: key_type.to_string().into(),
        key,
        response: response.into(),
    };
    let login = verified(web, request, &answer, &session.nonce, &client_nonce)?;
    let id = id.to_string();
    let known = login.map(|login| Known { id, login });
    let known = known.ok_or(RestProblem::Credentials(NOT_VERIFIED))?;
    let now = web.context.world.now();
    web.rest.sessions.keep(session, known.clone(), now);
    Ok(known)
}

/// The identity behind an answer, if it is right. Too many failed logins are an error.
fn verified(
    web: &Web,
    request: &RestRequest,
    answer: &ChallengeAnswer<'_>,
    nonce: &[u8],
    client_nonce: &[u8],
) -> Result<Option<Authenticated>, RestProblem> {
    let challenge = (nonce, client_nonce);
    let permit = request.permit.take();
    match web
        .context
        .log_in(request.peer(), answer, challenge, permit)
    {
        Ok(who) => Ok(Some(who)),
        // Nothing is known of it yet.
        Err(fault) if matches!(fault.code, Code::Error | Code::ServerTooBusy) => Err(fault.into()),
        Err(_) => Ok(None),
    }
}

/// Whom a certificate names, if it is their key. Browsers show certificates unasked: one that names
/// nobody here is as good as none.
fn by_certificate(web: &Web, request: &RestRequest) -> Result<Option<Known>, RestProblem> {
    let Some(certificate) = &request.caller.certificate else {
        return Ok(None);
    };
    let Some(certified) = ClientCertificate::read(certificate) else {
        return Ok(None);
    };
    let values = web.context.keys_of(&certified.key)?;
    let Some(found) = certified.is_in(&values) else {
        return Ok(None);
    };
    let Reference { handle, .. } = &certified.key;
    let who = Principal::parse(&format!("{found}:{handle}"));
    Ok(who.ok().map(|who| Known {
        id: certified.id,
        // It is shown again with each connection.
        login: Authenticated { who, by: None },
    }))
}

/// "RSA/DSA signature with the site key over N + C"
pub(crate) fn sign(
    context: &ServerContext,
    session: &RestSession,
    client_nonce: &[u8],
) -> Option<Signed> {
    let key = context.identity.key();
    let is_dsa = matches!(key.public_key(), Some(PublicKey::Dsa { .. }));
    let algorithm = certified_algorithm(Version::CURRENT, is_dsa);
    let signed = key.sign(algorithm, &[&session.nonce, client_nonce].concat());
    Some(Signed {
        algorithm: algorithm.name(),
        signature: BASE64_STANDARD.encode(signed.ok()?),
    })
}

/// The headers of a challenge, "as separate header lines".
pub(crate) fn challenge(
    web: &Web,
    request: &RestRequest,
    mut answer: RestAnswer,
    error: Option<&str>,
) -> RestAnswer {
    let header = request.headers.get(AUTHORIZATION);
    let is_basic = header.is_none_or(|header| {
        let start = header.as_bytes().get(..6);
        start.is_some_and(|start| start.eq_ignore_ascii_case(b"Basic "))
    });
    let is_by_script = request
        .headers
        .get("x-requested-with")
        .is_some_and(|by| by.as_bytes().eq_ignore_ascii_case(b"XMLHttpRequest"));
    if is_basic && !is_by_script {
        let basic = HeaderValue::from_static("Basic realm=\"handle\"");
        answer = answer.with(WWW_AUTHENTICATE, basic);
    }
    let session = web.rest.sessions.start(&web.context.world, request.peer());
    with_challenge(answer, &session, None, error)
}

/// `Handle sessionId="…", nonce="…"`
pub(crate) fn with_challenge(
    answer: RestAnswer,
    session: &RestSession,
    signed: Option<&Signed>,
    error: Option<&str>,
) -> RestAnswer {
    let nonce = BASE64_STANDARD.encode(session.nonce);
    let mut line = format!("Handle sessionId=\"{}\", nonce=\"{nonce}\"", session.id);
    if let Some(Signed {
        algorithm,
        signature,
    }) = signed
    {
        line = format!("{line}, serverAlg=\"{algorithm}\", serverSignature=\"{signature}\"");
    }
    if let Some(error) = error {
        line = format!("{line}, error=\"{error}\"");
    }
    match HeaderValue::try_from(line) {
        Ok(line) => answer.with(WWW_AUTHENTICATE, line),
        Err(_) => answer,
    }
}
