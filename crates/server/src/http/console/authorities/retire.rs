//! `/console/authorities/{a}/retire`: what stays, then retiring.

use askama::Template;
use handfast_registry::{AuthorityAction, RegistryError, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl};
use crate::http::console::again::need_fresh;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::ConsoleFrame;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words;
use crate::http::percent::{COMPONENT, encode};

#[derive(Template)]
#[template(path = "console/authorities/retire.html")]
struct RetirePage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    names: String,
    /// The active authorities below, the first of them.
    below: Vec<String>,
    below_count: usize,
    version: u64,
}

/// How many authorities below are named.
const MAX_LISTED: usize = 20;

/// Retiring takes `lead` on the authority above.
fn need_over(here: &Here) -> Result<(), PageError> {
    if !here.is_active() {
        return Err(RegistryError::Retired(here.authority.path.clone()).into());
    }
    if here.rights.is_over {
        return Ok(());
    }
    match &here.authority.parent {
        Some(parent) => Err(RegistryError::Denied {
            needs: Role::Lead,
            authority: parent.clone(),
        }
        .into()),
        None => Err(PageError::new(
            StatusCode::FORBIDDEN,
            "operator-only",
            "Only an administrator retires an authority that has none above it here.",
        )),
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    need_over(&here)?;
    need_fresh(visit)?;
    let id = here.id();
    let tree = visit.registry().authority_tree(&visit.who())?;
    let mut keys = vec![here.authority.path.key().to_string()];
    let mut below = Vec::new();
    // Parents stand before their children in the order of keys.
    for node in &tree {
        let is_below = node.parent.as_ref().is_some_and(|key| keys.contains(key));
        if is_below {
            keys.push(node.key.clone());
            if !node.is_retired {
                below.push(node.path.clone());
            }
        }
    }
    let below_count = below.len();
    below.truncate(MAX_LISTED);
    let counts = visit.registry().counts(&id)?;
    let encoded = encode(&id, COMPONENT);
    let same = [
        format!("handfast authority retire '{id}'"),
        curl(visit, "POST", &format!("/authorities/{encoded}/retire")),
    ];
    let page = RetirePage {
        frame: here.frame(visit, "Retire").same(same),
        head: here.head(visit, "")?,
        names: words::count(counts.with_children.total(), "name", "names"),
        below,
        below_count,
        version: here.authority.version,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

pub(super) fn retire(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    need_over(&here)?;
    need_fresh(visit)?;
    let action = AuthorityAction::Retire {
        keep_children: visit.field("children") == "keep",
    };
    let expected = visit.field("version").parse().ok();
    visit
        .registry()
        .act_on_authority(&visit.who(), &here.id(), expected, action)?;
    Ok(see(&format!("{}?done=retired", here.path())))
}
