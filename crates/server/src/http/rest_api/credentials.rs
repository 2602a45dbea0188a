//! Who asks: by a password, an answer to a challenge, a session or a certificate (`http-interfaces.md` A.13).

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::Principal;
use handfast_wire::body::ChallengeAnswer;
use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret, certified_algorithm};
use handfast_wire::{PublicKey, Reference, ResponseCode as Code, Version};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};

use super::answer::{Answer, Problem};
use super::authorization::{Authorization, Basic, Fields};
use super::certificate::Certified;
use super::open_sessions::{Known, Session};
use super::question::Question;
use super::route::Route;
use crate::admission::peer::Peer;
use crate::http::Web;
use crate::native::response::Fault;
use crate::native::{Authenticated, Native};

/// Whether it takes a permit for expensive work to look at what a client says of itself: it shows a signature, or what
/// PBKDF2 makes of a secret, or asks the server to sign. Passwords cost next to nothing.
pub(crate) fn is_expensive(question: &Question, route: &Route) -> bool {
    let has_body = !question.body.is_empty();
    match route {
        // Fields may be in the body as well.
        Route::Sessions | Route::SessionThis if has_body => return true,
        Route::Verifications(_) => return true,
        _ => {}
    }
    let header = question.headers.get(AUTHORIZATION);
    match header.map(|header| Authorization::read(header.as_bytes())) {
        Some(Authorization::Handle(fields)) => fields.is_expensive(),
        _ => false,
    }
}

/// What the client has said of itself.
#[derive(Default)]
pub(crate) struct Login {
    pub(crate) known: Option<Known>,
    /// The session that was named.
    pub(crate) session: Option<Arc<Session>>,
    /// The signature of the server that was asked for.
    pub(crate) signed: Option<Signed>,
}

/// What shows who the server is.
pub(crate) struct Signed {
    pub(crate) algorithm: &'static str,
    pub(crate) signature: String,
}

/// What is said of credentials that are not right.
pub(crate) const NOT_VERIFIED: &str = "Identity not verified";

impl Login {
    /// Who it is, as the native protocol has it.
    pub(crate) fn who(&self) -> Option<Authenticated> {
        self.known.as_ref().map(|known| Authenticated {
            who: known.who.clone(),
            by: known.by.clone(),
        })
    }

    /// Who it is; somebody it must be.
    pub(crate) fn need(&self) -> Result<&Principal, Fault> {
        let known = self.known.as_ref();
        known
            .map(|known| &known.who)
            .ok_or_else(|| Fault::plain(Code::AuthenticationNeeded))
    }
}

/// Who asks a question about handles. Wrong credentials end it, whatever it is about.
pub(crate) fn login(web: &Web, question: &Question) -> Result<Login, Problem> {
    if let Some(login) = question.take_login() {
        return Ok(login);
    }
    let login = look_at(web, question);
    // What follows may wait for the disk.
    drop(question.take_permit());
    login
}

fn look_at(web: &Web, question: &Question) -> Result<Login, Problem> {
    if !question.caller.is_secure {
        return Ok(Login::default());
    }
    let header = question.headers.get(AUTHORIZATION);
    let is_trusted = !question.is_by_another_page();
    match header.map(|header| Authorization::read(header.as_bytes())) {
        Some(Authorization::Basic(readings)) if is_trusted => Ok(Login {
            known: Some(by_password(web, question, readings)?),
            ..Login::default()
        }),
        Some(Authorization::Handle(fields)) => by_fields(web, question, &fields),
        Some(Authorization::Other) => Err(Problem::Credentials(NOT_VERIFIED)),
        None if is_trusted => Ok(Login {
            known: by_certificate(web, question)?,
            ..Login::default()
        }),
        _ => Ok(Login::default()),
    }
}

/// Whether a request comes with credentials that can be looked at.
pub(crate) fn are_given(question: &Question) -> bool {
    let is_given = question.headers.contains_key(AUTHORIZATION);
    question.caller.is_secure && (is_given || question.caller.certificate.is_some())
}

/// A session that lives: with the key that opened it, it goes.
pub(crate) fn session(web: &Web, id: &str) -> Result<Option<Arc<Session>>, Fault> {
    let session = web.rest.sessions.get(id, web.native.world().now());
    let known = session.as_ref().and_then(|session| session.known());
    let by = known.and_then(|known| known.by);
    if web.native.holds(by.as_ref())? {
        return Ok(session);
    }
    web.rest.sessions.end(id);
    Ok(None)
}

fn by_fields(web: &Web, question: &Question, fields: &Fields) -> Result<Login, Problem> {
    if !fields.is_version_known() {
        return Err(Problem::Credentials("Unsupported version"));
    }
    let session = match fields.session() {
        None => None,
        Some(id) => {
            let session = session(web, id)?;
            Some(session.ok_or(Problem::Credentials("Invalid session"))?)
        }
    };
    if fields.is_authenticating() {
        let session = session.ok_or(Problem::Credentials("Missing session"))?;
        let known = by_answer(web, question, fields, &session)?;
        return Ok(Login {
            known: Some(known),
            session: Some(session),
            signed: None,
        });
    }
    let mut login = Login {
        known: session.as_ref().and_then(|session| session.known()),
        session,
        signed: None,
    };
    if let Some(nonce) = fields.client_nonce() {
        let world = web.native.world();
        let peer = Peer::connected(question.caller.address.ip());
        let session = login
            .session
            .get_or_insert_with(|| web.rest.sessions.start(world, peer));
        login.signed = sign(&web.native, session, &nonce);
    }
    if login.known.is_none() && !question.is_by_another_page() {
        login.known = by_certificate(web, question)?;
        if login.known.is_none() && fields.asks_for_certificate() {
            return Err(Problem::Credentials(NOT_VERIFIED));
        }
    }
    Ok(login)
}

/// One comparison for each secret of the handle, in constant time: of what the secret, and what the password, make of a
/// number that nobody knew before.
pub(crate) fn by_password(
    web: &Web,
    question: &Question,
    readings: Vec<Basic>,
) -> Result<Known, Problem> {
    let native = &web.native;
    let nonce: [u8; 16] = native.world().random();
    for Basic { id, key, password } in readings {
        let algorithm = SecretAlgorithm::Sha256;
        let response = answer_with_secret(&password, algorithm, &nonce, &[], &[0; 16]);
        let Ok(response) = response else { continue };
        let answer = ChallengeAnswer {
            authentication_type: "HS_SECKEY".into(),
            key,
            response: response.into(),
        };
        if let Some(Authenticated { who, by, .. }) = verified(web, question, &answer, &nonce, &[])?
        {
            return Ok(Known { who, id, by });
        }
    }
    Err(Problem::Credentials(NOT_VERIFIED))
}

/// What a key has made of the nonces of both sides.
pub(crate) fn by_answer(
    web: &Web,
    question: &Question,
    fields: &Fields,
    session: &Arc<Session>,
) -> Result<Known, Problem> {
    let missing = Problem::Credentials("Missing fields in authentication data");
    let given = (
        fields.get("id"),
        fields.get("type"),
        fields.get("signature"),
    );
    let (Some(id), Some(key_type), Some(_)) = given else {
        return Err(missing);
    };
    let (Some(client_nonce), Some(_)) = (fields.get("cnonce"), fields.get("alg")) else {
        return Err(missing);
    };
    let client_nonce = super::authorization::from_base64(client_nonce);
    let key = super::authorization::reference(id);
    let (Some(key), Some(client_nonce), Some(response)) = (key, client_nonce, fields.response())
    else {
        return Err(Problem::Credentials(NOT_VERIFIED));
    };
    let answer = ChallengeAnswer {
        authentication_type: key_type.to_string().into(),
        key,
        response: response.into(),
    };
    match verified(web, question, &answer, &session.nonce, &client_nonce)? {
        Some(Authenticated { who, by, .. }) => {
            let id = id.to_string();
            let known = Known { who, id, by };
            let now = web.native.world().now();
            web.rest.sessions.keep(session, known.clone(), now);
            Ok(known)
        }
        None => Err(Problem::Credentials(NOT_VERIFIED)),
    }
}

/// Whose answer it is, if it is right. Whoever has guessed too often is not listened to.
fn verified(
    web: &Web,
    question: &Question,
    answer: &ChallengeAnswer<'_>,
    nonce: &[u8],
    client_nonce: &[u8],
) -> Result<Option<Authenticated>, Problem> {
    let challenge = (nonce, client_nonce);
    let permit = question.take_permit();
    match web
        .native
        .log_in(question.peer(), answer, challenge, permit)
    {
        Ok(who) => Ok(Some(who)),
        // Nothing is known of it yet.
        Err(fault) if matches!(fault.code, Code::Error | Code::ServerTooBusy) => Err(fault.into()),
        Err(_) => Ok(None),
    }
}

/// Whom a certificate names, if it is their key. Browsers show certificates unasked: one that names nobody here is as
/// good as none.
fn by_certificate(web: &Web, question: &Question) -> Result<Option<Known>, Problem> {
    let Some(certificate) = &question.caller.certificate else {
        return Ok(None);
    };
    let Some(certified) = Certified::read(certificate) else {
        return Ok(None);
    };
    let values = web.native.keys_of(&certified.key)?;
    let Some(found) = certified.is_in(&values) else {
        return Ok(None);
    };
    let Reference { handle, .. } = &certified.key;
    let who = Principal::parse(&format!("{found}:{handle}"));
    Ok(who.ok().map(|who| Known {
        who,
        id: certified.id,
        // It is shown again with each connection.
        by: None,
    }))
}

/// "RSA/DSA signature with the site key over N + C"
pub(crate) fn sign(native: &Native, session: &Session, client_nonce: &[u8]) -> Option<Signed> {
    let key = native.identity().key();
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
    question: &Question,
    mut answer: Answer,
    error: Option<&str>,
) -> Answer {
    let header = question.headers.get(AUTHORIZATION);
    let is_basic = header.is_none_or(|header| {
        let start = header.as_bytes().get(..6);
        start.is_some_and(|start| start.eq_ignore_ascii_case(b"Basic "))
    });
    let is_by_script = question
        .headers
        .get("x-requested-with")
        .is_some_and(|by| by.as_bytes().eq_ignore_ascii_case(b"XMLHttpRequest"));
    if is_basic && !is_by_script {
        let basic = HeaderValue::from_static("Basic realm=\"handle\"");
        answer = answer.with(WWW_AUTHENTICATE, basic);
    }
    let peer = Peer::connected(question.caller.address.ip());
    let session = web.rest.sessions.start(web.native.world(), peer);
    let line = challenge_line(&session, None, error);
    match line {
        Some(line) => answer.with(WWW_AUTHENTICATE, line),
        None => answer,
    }
}

/// `Handle sessionId="…", nonce="…"`
pub(crate) fn challenge_line(
    session: &Session,
    signed: Option<&Signed>,
    error: Option<&str>,
) -> Option<HeaderValue> {
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
    HeaderValue::try_from(line).ok()
}
