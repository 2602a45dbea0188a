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
    /// The browser, in words.
    browser: String,
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
            browser: browser_words(&session.agent),
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

/// The browsers and systems that people know by name. The first that fits counts, because browsers
/// name others, too.
const BROWSERS: [(&str, &str); 7] = [
    ("Firefox/", "Firefox"),
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];
/// How much is shown of the name of another program.
const MAX_UNKNOWN: usize = 60;

/// A browser as people call it, from what it calls itself.
fn browser_words(agent: &str) -> String {
    let named = |all: &[(&str, &'static str)]| {
        let found = all.iter().find(|(mark, _)| agent.contains(mark));
        found.map(|(_, name)| *name)
    };
    match (named(&BROWSERS), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_string(),
        (None, _) if agent.trim().is_empty() => "A program without a name".to_string(),
        (None, _) => agent.chars().take(MAX_UNKNOWN).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::browser_words;

    #[test]
    fn browsers_have_the_names_that_people_know() {
        for (agent, words) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            ("curl/8.5.0", "curl"),
            ("reader 1", "reader 1"),
            ("", "A program without a name"),
        ] {
            assert_eq!(browser_words(agent), words);
        }
    }
}
