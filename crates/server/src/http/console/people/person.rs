//! `/console/people/{account}`: what a person may do and why, their groups, tokens and names.

use askama::Template;
use handfast_registry::{Account, Principal, Token};
use hyper::StatusCode;

use super::{path_of_group, path_of_person, seen_people};
use crate::http::console::authorities::{Answered, because, curl, flash, path_of, titled};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words;
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::record_page::quoted;

/// How many roles a page has.
const MAX_LISTED: usize = 200;

const DONE: &[(&str, &str, &str)] = &[
    (
        "suspended",
        "Suspended.",
        "The person is signed out everywhere, and their tokens are refused.",
    ),
    (
        "active",
        "Active again.",
        "The person can sign in, and their tokens count again.",
    ),
    (
        "described",
        "Saved.",
        "This is how others see the person from now on.",
    ),
    (
        "administrator",
        "Done.",
        "The person is an administrator, and may do everything.",
    ),
    (
        "no-administrator",
        "Done.",
        "The person is no administrator any more. Other roles stay.",
    ),
    ("left", "Done.", "This page shows what the person has now."),
    (
        "left-more",
        "Done for 500 names.",
        "There are more: open the page about leaving again and send it once more.",
    ),
];

#[derive(Template)]
#[template(path = "console/people/person.html")]
struct PersonPage<'a> {
    frame: ConsoleFrame<'a>,
    path: String,
    name: String,
    title: String,
    typed: TypedDescription,
    details: Option<PersonDetails>,
    roles: Vec<ShownPersonRole>,
    is_cut: bool,
    /// A one-time link, which is shown this once.
    link: Option<(String, u64)>,
    /// Whether the reader is an administrator and looks at somebody else.
    may_act: bool,
    is_own: bool,
}

/// Name and e-mail, as they are or as they were typed.
struct TypedDescription {
    title: String,
    email: String,
}

/// What only the person and administrators see.
struct PersonDetails {
    account: Account,
    last_seen: Option<u64>,
    groups: Vec<(String, String)>,
    tokens: Vec<(Token, Option<u64>)>,
    names: String,
    sessions: usize,
}

struct ShownPersonRole {
    authority: String,
    path: String,
    role: &'static str,
    because: String,
    why: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    person_page(visit, StatusCode::OK, None, None)
}

/// The answer about somebody whom the reader may not see, and about nobody.
fn nobody() -> PageError {
    PageError::not_found("There is no such person here, or you may not see them.")
}

pub(super) fn person_page(
    visit: &Visit<'_>,
    status: StatusCode,
    link: Option<(String, u64)>,
    error: Option<FieldError>,
) -> Answered {
    let (registry, me) = (visit.registry(), visit.who());
    let subject = Principal::account(visit.id()).map_err(|_| nobody())?;
    let is_own = matches!(me, Principal::Account(_)) && me == subject;
    let is_administrator = registry.is_administrator(&me)?;
    let (details, mut roles) = if is_own || is_administrator {
        let (details, roles) = all_of(visit, &subject)?;
        (Some(details), roles)
    } else {
        (None, seen_of(visit, &subject)?)
    };
    let is_cut = roles.len() > MAX_LISTED;
    roles.truncate(MAX_LISTED);
    let account = match &details {
        Some(details) => details.account.clone(),
        None => registry.account(visit.id())?,
    };
    let (name, title) = (account.name, account.title);
    let crumbs = [
        Crumb::new("People", "/console/people"),
        Crumb::new(name.clone(), ""),
    ];
    let may_act = is_administrator && !is_own;
    let encoded = encode(&name, COMPONENT);
    let mut same = vec![
        format!("handfast user holdings {name}"),
        curl(visit, "GET", &format!("/accounts/{encoded}/holdings")),
    ];
    let email = details.as_ref().map(|details| &details.account.email);
    if let Some(email) = email.filter(|_| may_act) {
        let (title, email) = (quoted(&title), quoted(email));
        same.push(format!(
            "handfast user set {name} --title {title} --email {email}"
        ));
    }
    let typed = error.as_ref().map(|_| TypedDescription {
        title: visit.field("title").to_string(),
        email: visit.field("email").to_string(),
    });
    let page = PersonPage {
        frame: ConsoleFrame::new(visit, titled(&title, &name), MenuItem::People)
            .crumbs(crumbs)
            .flash(flash(visit, DONE))
            .errors(error.into_iter().collect())
            .same(same),
        path: path_of_person(&subject),
        typed: typed.unwrap_or_else(|| TypedDescription {
            title: title.clone(),
            email: email.cloned().unwrap_or_default(),
        }),
        title: titled(&title, &name),
        name,
        details,
        roles,
        is_cut,
        link,
        may_act,
        is_own,
    };
    Ok(page.frame.respond(status, &page))
}

/// Everything of an account.
fn all_of(
    visit: &Visit<'_>,
    subject: &Principal,
) -> Result<(PersonDetails, Vec<ShownPersonRole>), PageError> {
    let (registry, me) = (visit.registry(), visit.who());
    let holdings = registry.holdings(&me, &subject.to_string())?;
    let roles = holdings.roles.iter().map(|role| {
        let because = match &role.through {
            Some(group) => format!("by group {group}"),
            None => "granted to this person".to_string(),
        };
        shown_role(subject, &role.authority, role.role.as_str(), because, true)
    });
    let roles = roles.collect();
    let counted = words::count(holdings.names, "name", "names");
    let names = if holdings.is_complete {
        counted
    } else {
        format!("{counted} among the first 100,000 of the registry")
    };
    let groups = holdings.groups.into_iter();
    let tokens = holdings.tokens.into_iter();
    let details = PersonDetails {
        last_seen: registry.account_last_seen(&holdings.account.name),
        groups: groups
            .map(|group| {
                let path = path_of_group(&group);
                (group, path)
            })
            .collect(),
        tokens: tokens
            .map(|token| {
                let used = registry.token_last_used(&token.id);
                (token, used)
            })
            .collect(),
        names,
        sessions: registry.sessions(&me, &holdings.account.name)?.len(),
        account: holdings.account,
    };
    Ok((details, roles))
}

/// What of a person's roles is on authorities of the reader.
fn seen_of(visit: &Visit<'_>, subject: &Principal) -> Result<Vec<ShownPersonRole>, PageError> {
    let me = visit.who();
    let mut roles = Vec::new();
    for (authority, person) in seen_people(visit)? {
        if person.who == *subject {
            let leads = visit.registry().rights_on(&me, &authority)?;
            roles.push(shown_role(
                subject,
                &authority,
                person.reason.role.as_str(),
                because(&person.reason),
                leads.has(handfast_registry::Role::Lead),
            ));
        }
    }
    if roles.is_empty() {
        return Err(nobody());
    }
    Ok(roles)
}

fn shown_role(
    subject: &Principal,
    authority: &str,
    role: &'static str,
    because: String,
    may_ask_why: bool,
) -> ShownPersonRole {
    let path = path_of(authority);
    let who = encode(&subject.to_string(), COMPONENT);
    ShownPersonRole {
        authority: authority.to_string(),
        role,
        because,
        why: if may_ask_why {
            format!("{path}/why?who={who}")
        } else {
            String::new()
        },
        path,
    }
}
