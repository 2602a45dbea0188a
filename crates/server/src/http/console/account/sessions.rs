//! `/console/me/sessions`: where this person is signed in.

use askama::Template;
use handfast_registry::Session;
use hyper::{Response, StatusCode};

use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Flash, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/sessions.html")]
struct SessionsPage<'a> {
    frame: ConsoleFrame<'a>,
    sessions: Vec<ShownSession>,
    current: String,
}

/// A session, and when it was last used.
struct ShownSession {
    session: Session,
    last_seen: u64,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    let account = &person.session.account;
    let text = match visit.query("done") {
        Some("ended") => Some("That session has ended."),
        Some("others-ended") => Some("All other sessions have ended."),
        _ => None,
    };
    let flash = text.map(|text| Flash {
        kind: "good",
        head: "Signed out.".to_string(),
        text: text.to_string(),
        undo: None,
    });
    let registry = visit.registry();
    let sessions = registry.sessions(&person.who, account)?;
    let sessions = sessions.into_iter().map(|session| {
        let seen = registry.session_last_seen(&session.id);
        ShownSession {
            last_seen: seen.unwrap_or_default().max(session.signed_in),
            session,
        }
    });
    let path = format!("/accounts/{}/sessions", encode(account, COMPONENT));
    let same = [
        format!("handfast user sessions {account}"),
        format!("handfast user end-sessions {account} --session ID"),
        curl(visit, "GET", &path),
    ];
    let page = SessionsPage {
        frame: ConsoleFrame::new(visit, "Where you are signed in", MenuItem::Nothing)
            .flash(flash)
            .same(same),
        sessions: sessions.collect(),
        current: person.session.id.clone(),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

pub(super) fn end(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    visit.registry().end_session(&visit.who(), visit.id())?;
    Ok(see("/console/me/sessions?done=ended"))
}

pub(super) fn end_others(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    let (account, this) = (&person.session.account, &person.session.id);
    visit
        .registry()
        .end_sessions(&person.who, account, Some(this))?;
    Ok(see("/console/me/sessions?done=others-ended"))
}
