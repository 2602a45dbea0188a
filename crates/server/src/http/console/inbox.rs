//! The first page: what waits for this person.

use askama::Template;
use hyper::{Response, StatusCode};

use super::error_page::PageError;
use super::frame::{ConsoleFrame, Flash, MenuItem};
use super::page_table::{PageRoute, page};
use super::visit::Visit;
use crate::http::response::Body;

pub(super) const PAGES: &[PageRoute] = &[page("/", show)];

#[derive(Template)]
#[template(path = "console/inbox.html")]
struct InboxPage<'a> {
    frame: ConsoleFrame<'a>,
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let flash = visit.query("done").filter(|done| *done == "password");
    let flash = flash.map(|_| Flash {
        kind: "good",
        head: "Saved.".to_string(),
        text: "Your new password counts from now on. You were signed out everywhere else."
            .to_string(),
        undo: None,
    });
    let page = InboxPage {
        frame: ConsoleFrame::new(visit, "Inbox", MenuItem::Inbox).flash(flash),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}
