//! `/console/authorities/{a}/why?who=`: why somebody may do something here, as numbered sentences.

use askama::Template;
use handfast_registry::{Principal, Reason};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl, titled};
use super::path_of;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::ConsoleFrame;
use crate::http::console::people::{path_of_group, path_of_person};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

#[derive(Template)]
#[template(path = "console/authorities/why.html")]
struct WhyPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    who: String,
    is_own: bool,
    person: String,
    reasons: Vec<ShownReason>,
}

/// The sentences of a reason.
struct ShownReason {
    role: &'static str,
    is_administrator: bool,
    /// The group, and its page.
    group: Option<(String, String)>,
    joined_by: Option<String>,
    joined_at: Option<u64>,
    authority: String,
    authority_path: String,
    granted_by: Option<String>,
    granted_at: Option<u64>,
    words: Option<String>,
    is_inherited: bool,
}

impl ShownReason {
    fn new(reason: Reason, titles: &dyn Fn(&Principal) -> String) -> Self {
        let group = reason.through.map(|name| {
            let path = path_of_group(&name);
            (name, path)
        });
        Self {
            role: reason.role.as_str(),
            is_administrator: reason.is_administrator,
            group,
            joined_by: reason.joined_by.as_ref().map(titles),
            joined_at: reason.joined_at,
            authority_path: path_of(&reason.authority),
            authority: reason.authority,
            granted_by: reason.granted_by.as_ref().map(titles),
            granted_at: reason.granted_at,
            words: reason.reason,
            is_inherited: reason.is_inherited,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let (registry, me) = (visit.registry(), visit.who());
    let about = match visit.query("who") {
        None => me.clone(),
        Some(text) => {
            Principal::parse(text).map_err(|error| PageError::not_found(error.to_string()))?
        }
    };
    let reasons = registry.why(&me, &about, &here.id())?;
    // What somebody without a role here is called, or whether they exist, is not for this reader.
    let is_known = about == me || !reasons.is_empty() || registry.is_administrator(&me)?;
    let title = |who: &Principal| match who {
        Principal::Account(name) => {
            let account = registry.account(name);
            titled(account.as_ref().map_or("", |account| &account.title), name)
        }
        other => other.to_string(),
    };
    let reasons: Vec<_> = reasons
        .into_iter()
        .map(|reason| ShownReason::new(reason, &title))
        .collect();
    let who = about.to_string();
    let (id, encoded) = (here.id(), encode(&here.id(), COMPONENT));
    let in_query = encode(&who, COMPONENT);
    let same = [
        format!("handfast authority why '{id}' --who '{who}'"),
        curl(
            visit,
            "GET",
            &format!("/authorities/{encoded}/why?who={in_query}"),
        ),
    ];
    let is_account = matches!(about, Principal::Account(_) | Principal::Group(_));
    let page = WhyPage {
        frame: here.frame(visit, "Why").same(same),
        head: here.head(visit, "People")?,
        is_own: about == me,
        person: if is_account && is_known {
            path_of_person(&about)
        } else {
            String::new()
        },
        who: if is_known { title(&about) } else { who },
        reasons,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}
