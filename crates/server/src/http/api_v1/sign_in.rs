//! How people sign in: links, passwords and sessions of accounts, `/api/v1/invitations` and
//! `/api/v1/sign-ins`.

use handfast_api as api;
use handfast_registry::{NewInvitation, SignIn, SignInLink, SignInMeans, SignInOutcome, rfc3339};
use hyper::header::CACHE_CONTROL;

use super::call::{Answer, Call, parse};
use super::convert;
use super::problem::Problem;
use super::sign_in_url;

/// The link itself is in this answer, and nowhere else.
pub(super) fn link(call: &Call) -> Result<Answer, Problem> {
    let link = call.registry().create_sign_in_link(&call.who, call.id())?;
    Ok(shown(call, &link))
}

/// A link for the first administrator.
pub(super) fn first_link(call: &Call) -> Result<Answer, Problem> {
    let link = call.registry().first_sign_in_link()?;
    let link = link.ok_or_else(|| {
        let problem = "an account has a password and can sign in: name the account";
        Problem::policy("not-first", problem)
    })?;
    Ok(shown(call, &link))
}

fn shown(call: &Call, link: &SignInLink) -> Answer {
    let body = api::SignInLink {
        account: link.account.clone(),
        expires: rfc3339(link.expires),
        link: sign_in_url(&call.base, link),
    };
    secret(Answer::json(&body))
}

/// Sets a password. A program with the token of an account may not: a token that leaks must not
/// become a sign-in that outlives it.
pub(super) fn password(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewPassword = call.read()?;
    if !call.registry().is_administrator(&call.who)? {
        let problem = "this is for administrators; people choose their password in the console";
        return Err(Problem::policy("operator-only", problem));
    }
    let registry = call.registry();
    registry.set_password(&call.who, call.id(), &given.password)?;
    Ok(Answer::done())
}

pub(super) fn invite(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewInvitation = call.read()?;
    let new = NewInvitation {
        account: given.account,
        title: given.title,
        email: given.email,
        authority: given.authority,
        role: given.role.as_deref().map(parse).transpose()?,
    };
    let made = call.registry().invite(&call.who, new)?;
    let body = api::Invitation {
        account: made.account,
        authority: made.authority,
        expires: made.link.as_ref().map(|link| rfc3339(link.expires)),
        link: made.link.as_ref().map(|link| sign_in_url(&call.base, link)),
        role: made.role.map(convert::role),
    };
    Ok(secret(Answer::json(&body)))
}

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let (account, after) = (call.query("account"), call.query("after"));
    let page = call
        .registry()
        .sign_ins(&call.who, account, after, call.limit()?)?;
    Ok(Answer::json(&api::SignInPage {
        next: page.next,
        sign_ins: page.entries.into_iter().map(entry).collect(),
    }))
}

/// Where an account is signed in.
pub(super) fn sessions(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    let sessions = registry.sessions(&call.who, call.id())?.into_iter();
    let shown: Vec<_> = sessions
        .map(|session| {
            let seen = registry.session_last_seen(&session.id).unwrap_or_default();
            api::Session {
                created: rfc3339(session.created),
                expires: rfc3339(session.expires),
                last_seen: rfc3339(seen.max(session.signed_in)),
                means: means(session.means),
                agent: session.agent,
                id: session.id,
                network: session.network,
            }
        })
        .collect();
    Ok(Answer::json(&shown))
}

pub(super) fn end_sessions(call: &Call) -> Result<Answer, Problem> {
    let ended = call.registry().end_sessions(&call.who, call.id(), None)?;
    Ok(Answer::json(&api::EndedSessions { ended }))
}

pub(super) fn end_session(call: &Call) -> Result<Answer, Problem> {
    let (registry, account) = (call.registry(), call.id());
    let id = call.path.get(1).map_or("", String::as_str);
    let mut sessions = registry.sessions(&call.who, account)?.into_iter();
    if !sessions.any(|session| session.id == id) {
        let problem = format!("{account} has no session {id}, or it has ended");
        return Err(Problem::policy("no-session", &problem));
    }
    registry.end_session(&call.who, id)?;
    Ok(Answer::done())
}

fn means(means: SignInMeans) -> api::SignInMeans {
    match means {
        SignInMeans::Invitation => api::SignInMeans::Invitation,
        SignInMeans::Password => api::SignInMeans::Password,
        _ => api::SignInMeans::Link,
    }
}

fn entry(entry: SignIn) -> api::SignIn {
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    api::SignIn {
        account: said(entry.account),
        by: said(entry.by),
        means: means(entry.means),
        network: said(entry.network),
        outcome: match entry.outcome {
            SignInOutcome::Confirmed => api::SignInOutcome::Confirmed,
            SignInOutcome::LinkCreated => api::SignInOutcome::LinkCreated,
            SignInOutcome::PasswordSet => api::SignInOutcome::PasswordSet,
            SignInOutcome::SignedIn => api::SignInOutcome::SignedIn,
            _ => api::SignInOutcome::Failed,
        },
        time: rfc3339(entry.time),
        unrecorded: entry.unrecorded,
    }
}

/// Nothing on the way stores the answer.
fn secret(answer: Answer) -> Answer {
    answer.with(CACHE_CONTROL, "no-store")
}
