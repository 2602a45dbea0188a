//! `/console/authorities/{a}/transfer`: another admin.

use askama::Template;
use handfast_registry::{AuthorityAction, Principal, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl_with, is_wrong_input};
use crate::http::console::again::need_fresh;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

#[derive(Template)]
#[template(path = "console/authorities/transfer.html")]
struct TransferAuthorityPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    /// Those who are admin by a grant here, and will not be any more.
    admins: Vec<String>,
    to: String,
    version: u64,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    here.need(Role::Admin)?;
    need_fresh(visit)?;
    transfer_page(visit, &here, StatusCode::OK, None)
}

fn transfer_page(
    visit: &Visit<'_>,
    here: &Here,
    status: StatusCode,
    error: Option<FieldError>,
) -> Answered {
    let (id, encoded) = (here.id(), encode(&here.id(), COMPONENT));
    let same = [
        format!("handfast authority transfer '{id}' --to WHO"),
        curl_with(
            visit,
            "POST",
            &format!("/authorities/{encoded}/transfer"),
            r#"{"to": "WHO"}"#,
        ),
    ];
    let grants = here.authority.grants.iter();
    let admins = grants.filter(|grant| grant.role == Role::Admin);
    let page = TransferAuthorityPage {
        frame: here
            .frame(visit, "Transfer")
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "")?,
        admins: admins.map(|grant| grant.to.to_string()).collect(),
        to: visit.field("to").to_string(),
        version: here.authority.version,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn transfer(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    here.need(Role::Admin)?;
    let invalid = |text: String| {
        let error = FieldError::new("to", text);
        transfer_page(visit, &here, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    let Ok(to) = Principal::parse(visit.field("to")) else {
        return invalid("Write an account, or group:NAME.".to_string());
    };
    need_fresh(visit)?;
    let action = AuthorityAction::Transfer {
        to,
        creates_account: false,
    };
    let expected = visit.field("version").parse().ok();
    let done = visit
        .registry()
        .act_on_authority(&visit.who(), &here.id(), expected, action);
    match done {
        Ok(()) => Ok(see(&format!("{}?done=transferred", here.path()))),
        Err(error) if is_wrong_input(&error) => invalid(message(&error)),
        Err(error) => Err(error.into()),
    }
}
