//! `/console/authorities/{a}/children`: the authorities below one, and a new one.

use askama::Template;
use handfast_registry::{AuthorityNode, RegistryError, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl, is_wrong_input, titled};
use super::new::TypedAuthority;
use super::path_of;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// How many authorities the page lists.
const MAX_LISTED: usize = 200;

#[derive(Template)]
#[template(path = "console/authorities/children.html")]
struct ChildrenPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    children: Vec<ShownChild>,
    is_cut: bool,
    typed: TypedAuthority,
    /// Whether the person may create one at once.
    may_create: bool,
    is_active: bool,
}

struct ShownChild {
    path: String,
    id: String,
    title: String,
    names: u64,
    is_retired: bool,
}

impl From<AuthorityNode> for ShownChild {
    fn from(node: AuthorityNode) -> Self {
        Self {
            path: path_of(&node.path),
            title: titled(&node.title, &node.path),
            names: node.names,
            is_retired: node.is_retired,
            id: node.path,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    children_page(visit, StatusCode::OK, None)
}

fn children_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let here = Here::load(visit)?;
    let key = here.authority.path.key();
    let mut children = visit.registry().authority_tree(&visit.who())?;
    children.retain(|node| node.parent.as_deref() == Some(key));
    let is_cut = children.len() > MAX_LISTED;
    children.truncate(MAX_LISTED);
    let start = start_of_children(&here);
    let mut typed = TypedAuthority::read(visit);
    if typed.authority.is_empty() {
        typed.authority.clone_from(&start);
    }
    let id = encode(&here.id(), COMPONENT);
    let same = [
        format!("handfast authority create '{start}5' --title TITLE"),
        curl(visit, "GET", &format!("/search?prefix={id}")),
    ];
    let page = ChildrenPage {
        frame: here
            .frame(visit, "Authorities below")
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "Authorities below")?,
        children: children.into_iter().map(ShownChild::from).collect(),
        is_cut,
        typed,
        may_create: here.has(Role::Lead),
        is_active: here.is_active() && has_children(&here),
    };
    Ok(page.frame.respond(status, &page))
}

/// Only prefixes and URN authorities have others below them.
fn has_children(here: &Here) -> bool {
    here.authority.path.prefix().is_some() || here.authority.path.is_urn()
}

/// The beginning of the path of a child: below the root of a URN namespace a colon follows, else a
/// dot.
fn start_of_children(here: &Here) -> String {
    let id = here.id();
    let is_root = here.authority.path.is_urn() && here.authority.path.parent().is_none();
    let mark = if is_root { ':' } else { '.' };
    format!("{id}{mark}")
}

pub(super) fn create(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let typed = TypedAuthority::read(visit);
    let start = start_of_children(&here);
    let invalid = |field: &str, text: String| {
        let error = FieldError::new(field, text);
        children_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    let begins = typed.authority.get(..start.len());
    let begins = begins.is_some_and(|begin| begin.eq_ignore_ascii_case(&start));
    if !begins || typed.authority.len() == start.len() {
        let text = format!("Write a path that begins with {start}, such as {start}5.");
        return invalid("authority", text);
    }
    let (registry, who) = (visit.registry(), visit.who());
    let new = typed.new_authority();
    let (made, done) = if here.has(Role::Lead) {
        let made = registry.create_authority(&who, &typed.authority, new);
        (made, "created")
    } else {
        let made = registry.request_authority(&who, &typed.authority, new);
        (made, "requested")
    };
    match made {
        Ok(path) => Ok(see(&format!("{}?done={done}", path_of(&path.to_string())))),
        Err(error @ RegistryError::AuthorityExists(_)) => invalid("authority", message(&error)),
        Err(error) if is_wrong_input(&error) => invalid(typed.field_of(&error), message(&error)),
        Err(error) => Err(error.into()),
    }
}
