//! `/console/authorities/new`: a new authority, or a request for one.

use askama::Template;
use handfast_registry::{AuthorityChange, NewAuthority, RegistryError};
use hyper::StatusCode;

use super::here::{Answered, curl, is_wrong_input};
use super::path_of;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;

#[derive(Template)]
#[template(path = "console/authorities/new.html")]
struct NewPage<'a> {
    frame: ConsoleFrame<'a>,
    typed: TypedAuthority,
    /// Whether it is created at once; else somebody decides.
    is_administrator: bool,
}

/// The fields of the form.
pub(super) struct TypedAuthority {
    pub(super) authority: String,
    pub(super) title: String,
    pub(super) meaning: String,
    pub(super) contact: String,
    pub(super) reason: String,
    /// `handle`, `cordra`, or empty: as the parent has it.
    pub(super) profile: String,
}

impl TypedAuthority {
    pub(super) fn read(visit: &Visit<'_>) -> Self {
        let field = |name| visit.field(name).to_string();
        Self {
            authority: field("authority"),
            title: field("title"),
            meaning: field("meaning"),
            contact: field("contact"),
            reason: field("reason"),
            profile: field("profile"),
        }
    }

    pub(super) fn new_authority(&self) -> NewAuthority {
        NewAuthority {
            title: self.title.clone(),
            meaning: self.meaning.clone(),
            contact: self.contact.clone(),
            reason: self.reason.clone(),
            change: AuthorityChange {
                cordra: match self.profile.as_str() {
                    "cordra" => Some(true),
                    "handle" => Some(false),
                    _ => None,
                },
                ..AuthorityChange::default()
            },
        }
    }

    /// The field that an error is about.
    pub(super) fn field_of(&self, error: &RegistryError) -> &'static str {
        match error.code() {
            "not-cordra" | "case-of-cordra" | "prefix-policy" | "case-of-nid" => "profile",
            "too-large" if self.reason.len() > 1_000 => "reason",
            "too-large" => "title",
            _ => "authority",
        }
    }

    /// The commands that do the same.
    pub(super) fn same(&self, visit: &Visit<'_>) -> [String; 2] {
        let path = match self.authority.as_str() {
            "" => "20.1000",
            path => path,
        };
        let curl = curl(visit, "POST", "/authorities");
        [
            format!("handfast authority create '{path}' --title TITLE"),
            format!(
                "{curl} -H 'Content-Type: application/json' -d '{{\"authority\": \"{path}\"}}'"
            ),
        ]
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    new_page(visit, StatusCode::OK, None)
}

fn new_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let typed = TypedAuthority::read(visit);
    let is_administrator = visit.person()?.is_administrator;
    let title = if is_administrator {
        "New authority"
    } else {
        "Ask for an authority"
    };
    let crumbs = [
        Crumb::new("Authorities", "/console/authorities"),
        Crumb::new(title, ""),
    ];
    let page = NewPage {
        frame: ConsoleFrame::new(visit, title, MenuItem::Authorities)
            .crumbs(crumbs)
            .errors(error.into_iter().collect())
            .same(typed.same(visit)),
        typed,
        is_administrator,
    };
    Ok(page.frame.respond(status, &page))
}

/// Creates the authority, if the person may, and asks for it otherwise.
pub(super) fn create(visit: &Visit<'_>) -> Answered {
    let typed = TypedAuthority::read(visit);
    let invalid = |error: &RegistryError| {
        let error = FieldError::new(typed.field_of(error), message(error));
        new_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    if typed.authority.is_empty() {
        let text = "Write the prefix or the path, such as 20.1000.";
        let error = FieldError::new("authority", text);
        return new_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error));
    }
    let (registry, who) = (visit.registry(), visit.who());
    let created = registry.create_authority(&who, &typed.authority, typed.new_authority());
    let error = match created {
        Ok(path) => {
            let page = path_of(&path.to_string());
            return Ok(see(&format!("{page}?done=created")));
        }
        Err(error) => error,
    };
    if !matches!(error.code(), "denied" | "operator-only") {
        return if is_wrong_input(&error) {
            invalid(&error)
        } else {
            Err(error.into())
        };
    }
    match registry.request_authority(&who, &typed.authority, typed.new_authority()) {
        Ok(path) => Ok(see(&format!(
            "{}?done=requested",
            path_of(&path.to_string())
        ))),
        Err(error) if is_wrong_input(&error) => invalid(&error),
        Err(error) => Err(error.into()),
    }
}
