//! `/console/groups/new`.

use askama::Template;
use hyper::StatusCode;

use super::{need_administrator, path_of_group};
use crate::http::console::authorities::{Answered, curl_with, is_wrong_input};
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;

#[derive(Template)]
#[template(path = "console/people/new_group.html")]
struct NewGroupPage<'a> {
    frame: ConsoleFrame<'a>,
    name: String,
    title: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    new_page(visit, StatusCode::OK, None)
}

fn new_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    need_administrator(visit)?;
    let crumbs = [
        Crumb::new("Groups", "/console/groups"),
        Crumb::new("New group", ""),
    ];
    let same = [
        "handfast group create NAME --title TITLE".to_string(),
        curl_with(
            visit,
            "POST",
            "/groups",
            r#"{"group": "NAME", "title": "TITLE"}"#,
        ),
    ];
    let page = NewGroupPage {
        frame: ConsoleFrame::new(visit, "New group", MenuItem::People)
            .crumbs(crumbs)
            .errors(error.into_iter().collect())
            .same(same),
        name: visit.field("name").to_string(),
        title: visit.field("title").to_string(),
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn create(visit: &Visit<'_>) -> Answered {
    let (name, title) = (visit.field("name"), visit.field("title"));
    match visit.registry().create_group(&visit.who(), name, title) {
        Ok(()) => {
            let path = path_of_group(name.trim_start_matches("group:"));
            Ok(see(&format!("{path}?done=created")))
        }
        Err(error) if is_wrong_input(&error) => {
            let field = if error.code() == "too-large" {
                "title"
            } else {
                "name"
            };
            let error = FieldError::new(field, message(&error));
            new_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
        }
        Err(error) => Err(error.into()),
    }
}
