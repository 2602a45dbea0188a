//! `/console/people`: accounts for administrators; for others the people whom they work with.

use std::collections::BTreeMap;

use askama::Template;
use handfast_registry::Principal;
use hyper::StatusCode;

use super::{path_of_person, seen_people};
use crate::http::console::authorities::{Answered, curl, flash, titled};
use crate::http::console::frame::{ConsoleFrame, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;

/// How many people a page has.
const MAX_LISTED: usize = 200;

const DONE: &[(&str, &str, &str)] = &[("invited", "Invited.", "The person has an account now.")];

#[derive(Template)]
#[template(path = "console/people/list.html")]
struct PeopleListPage<'a> {
    frame: ConsoleFrame<'a>,
    people: Vec<ListedPerson>,
    total: usize,
    q: String,
    is_administrator: bool,
}

struct ListedPerson {
    path: String,
    name: String,
    title: String,
    has_title: bool,
    is_suspended: bool,
    is_administrator: bool,
    /// Where, for those who see only a part.
    roles: String,
    last_seen: Option<u64>,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let is_administrator = visit.registry().is_administrator(&visit.who())?;
    let mut people = if is_administrator {
        accounts(visit)?
    } else {
        colleagues(visit)?
    };
    let q = visit.query("q").unwrap_or_default().to_string();
    let wanted = q.to_lowercase();
    people.retain(|person| {
        let text = format!("{} {}", person.name, person.title);
        text.to_lowercase().contains(&wanted)
    });
    let total = people.len();
    people.truncate(MAX_LISTED);
    if is_administrator {
        for person in &mut people {
            person.last_seen = visit.registry().account_last_seen(&person.name);
        }
    }
    let same = if is_administrator {
        vec![
            "handfast user list".to_string(),
            curl(visit, "GET", "/accounts"),
        ]
    } else {
        vec!["handfast authority people AUTHORITY".to_string()]
    };
    let page = PeopleListPage {
        frame: ConsoleFrame::new(visit, "People", MenuItem::People)
            .flash(flash(visit, DONE))
            .same(same),
        people,
        total,
        q,
        is_administrator,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

fn accounts(visit: &Visit<'_>) -> Result<Vec<ListedPerson>, super::PageError> {
    let accounts = visit.registry().accounts()?.into_iter();
    let listed = accounts.map(|account| ListedPerson {
        path: path_of_person(&Principal::Account(account.name.clone())),
        title: titled(&account.title, &account.name),
        has_title: !account.title.trim().is_empty(),
        is_suspended: account.is_suspended,
        is_administrator: account.is_administrator,
        roles: String::new(),
        last_seen: None,
        name: account.name,
    });
    Ok(listed.collect())
}

fn colleagues(visit: &Visit<'_>) -> Result<Vec<ListedPerson>, super::PageError> {
    let mut found: BTreeMap<String, ListedPerson> = BTreeMap::new();
    for (authority, person) in seen_people(visit)? {
        let name = person.who.to_string();
        let place = format!("{} on {authority}", person.reason.role);
        let listed = found.entry(person.who.key());
        let listed = listed.or_insert_with(|| ListedPerson {
            path: match &person.who {
                Principal::Account(_) => path_of_person(&person.who),
                _ => String::new(),
            },
            title: titled(&person.title, &name),
            has_title: !person.title.trim().is_empty(),
            is_suspended: person.is_suspended,
            is_administrator: person.reason.is_administrator,
            roles: String::new(),
            last_seen: None,
            name,
        });
        if !person.reason.is_administrator {
            if !listed.roles.is_empty() {
                listed.roles.push_str(", ");
            }
            listed.roles.push_str(&place);
        }
    }
    Ok(found.into_values().collect())
}
