//! `/console/server/sign-ins`: who has signed in, for administrators. It is not public, and stored
//! for a year.

use askama::Template;
use handfast_registry::SignIn;
use hyper::{Response, StatusCode};

use super::need_administrator;
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

/// How many entries a page has.
const PAGE: usize = 100;

#[derive(Template)]
#[template(path = "console/sign_ins.html")]
struct SignInsPage<'a> {
    frame: ConsoleFrame<'a>,
    account: String,
    entries: Vec<SignIn>,
    next: Option<String>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    need_administrator(visit)?;
    let account = visit.query("account");
    let after = visit.query("after");
    let found = visit
        .registry()
        .sign_ins(&visit.who(), account, after, PAGE);
    let (status, found, errors) = match found {
        Ok(found) => (StatusCode::OK, found, Vec::new()),
        Err(error) if error.is_failure() => return Err(error.into()),
        Err(error) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            handfast_registry::SignInPage::default(),
            vec![FieldError::new("account", message(&error))],
        ),
    };
    let name = account.unwrap_or_default();
    let page = SignInsPage {
        frame: ConsoleFrame::new(visit, "Sign-ins", MenuItem::Server)
            .crumbs([
                Crumb::new("Server", "/console/server"),
                Crumb::new("Sign-ins", ""),
            ])
            .errors(errors)
            .same([
                "handfast user audit".to_string(),
                curl(visit, "GET", "/sign-ins"),
            ]),
        account: name.to_string(),
        next: found.next.map(|next| {
            let name = encode(name, COMPONENT);
            format!("/console/server/sign-ins?account={name}&after={next}")
        }),
        entries: found.entries,
    };
    Ok(page.frame.respond(status, &page))
}
