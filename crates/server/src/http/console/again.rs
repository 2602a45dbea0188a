//! `/console/again`: the password once more, before something that is hard to take back.
//!
//! Creating a token, granting `admin`, transferring or retiring an authority and making an
//! administrator need a person who has proved in the last ten minutes who they are. A form that was
//! sent is stored meanwhile, and comes back afterwards.

use askama::Template;
use handfast_registry::{Principal, Role};
use hyper::{Response, StatusCode};

use super::error_page::PageError;
use super::frame::{ConsoleFrame, FieldError, MenuItem};
use super::page_table::{PageRoute, form, hashing, page};
use super::see;
use super::sign_in::{TOO_MANY, place_of, signed_in};
use super::visit::Visit;
use crate::admission::peer::Peer;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

pub(super) const PAGES: &[PageRoute] = &[page("/again", show), hashing(form("/again", confirm))];

#[derive(Template)]
#[template(path = "console/again.html")]
struct AgainPage<'a> {
    frame: ConsoleFrame<'a>,
    account: String,
    to: String,
    has_password: bool,
    /// Whether it is an account: handle identities have keys instead of passwords.
    is_account: bool,
}

/// Leads to the page that asks for the password, unless the person has lately proved who they are.
pub(super) fn need_fresh(visit: &Visit<'_>) -> Result<(), PageError> {
    let session = &visit.person()?.session;
    if session.is_fresh(visit.now) {
        return Ok(());
    }
    let head = &visit.request.head;
    let to = if head.method == hyper::Method::POST {
        let (path, form) = (head.uri.path(), &visit.request.raw_form);
        let id = visit.registry().store_draft(&session.account, path, form)?;
        format!("/console/draft/{id}?again=1")
    } else {
        visit.here()
    };
    let path = format!("/console/again?to={}", encode(&to, COMPONENT));
    Err(PageError::Answered(Box::new(see(&path))))
}

/// The same before a request for access is granted, if it is for `admin`.
pub(super) fn need_fresh_for_admin(visit: &Visit<'_>, id: &str) -> Result<(), PageError> {
    let mut requests = visit.registry().access_requests(&visit.who())?.into_iter();
    let is_admin = requests.any(|request| request.id == id && request.role == Role::Admin);
    if is_admin { need_fresh(visit) } else { Ok(()) }
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let to = visit.query("to").unwrap_or_default();
    again(visit, StatusCode::OK, to, None)
}

fn again(
    visit: &Visit<'_>,
    status: StatusCode,
    to: &str,
    error: Option<FieldError>,
) -> Result<Response<Body>, PageError> {
    let account = &visit.person()?.session.account;
    let frame = ConsoleFrame::new(visit, "Your password again", MenuItem::Nothing);
    let page = AgainPage {
        frame: frame.errors(error.into_iter().collect()),
        account: account.clone(),
        to: place_of(to).to_string(),
        has_password: visit.registry().has_password(account).unwrap_or(false),
        is_account: matches!(visit.who(), Principal::Account(_)),
    };
    Ok(page.frame.respond(status, &page))
}

fn confirm(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let account = &visit.person()?.session.account;
    let to = visit.field("to");
    let wrong = |status, text: &str| {
        let error = FieldError::new("password", text);
        again(visit, status, to, Some(error))
    };
    let peer = Peer::connected(visit.caller.address.ip());
    let identity = format!("account:{account}");
    let logins = &visit.web.context.failed_logins;
    let Ok(attempt) = logins.begin(peer, &identity, visit.now) else {
        return wrong(StatusCode::TOO_MANY_REQUESTS, TOO_MANY);
    };
    let secret = visit.secret().unwrap_or_default();
    let confirmed = visit
        .registry()
        .confirm_session(secret, visit.exact_field("password"));
    let confirmed = match confirmed {
        Ok(session) => Some(session),
        Err(error) if error.code() == "wrong-password" => None,
        Err(error) => return Err(error.into()),
    };
    if attempt.finish(confirmed.is_some()).is_err() {
        return wrong(StatusCode::TOO_MANY_REQUESTS, TOO_MANY);
    }
    match confirmed {
        Some(session) => Ok(signed_in(visit, &session, place_of(to))),
        None => wrong(
            StatusCode::UNPROCESSABLE_ENTITY,
            "This is not your password.",
        ),
    }
}
