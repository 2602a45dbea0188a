//! `/console/me/tokens`: what programs use in the name of this person.

use askama::Template;
use handfast_registry::{NewToken, Role, Token};
use hyper::{Response, StatusCode};

use crate::http::console::again::need_fresh;
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError, Flash, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

/// How many days a token lasts at most.
const MAX_DAYS: u64 = handfast_api::limits::TOKEN_DAYS;

#[derive(Template)]
#[template(path = "console/tokens.html")]
struct TokensPage<'a> {
    frame: ConsoleFrame<'a>,
    tokens: Vec<ShownToken>,
    /// A new token, which is shown this once.
    secret: Option<String>,
    now: u64,
    title: String,
    authority: String,
    role: String,
    days: String,
}

/// A token, and the day when it was last used.
struct ShownToken {
    token: Token,
    last_used: Option<u64>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    tokens(visit, StatusCode::OK, None, Vec::new())
}

fn tokens(
    visit: &Visit<'_>,
    status: StatusCode,
    secret: Option<String>,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    let account = &person.session.account;
    let mut tokens = visit.registry().tokens(&person.who)?;
    tokens.retain(|token| token.account.eq_ignore_ascii_case(account));
    let shown = tokens.into_iter().map(|token| ShownToken {
        last_used: visit.registry().token_last_used(&token.id),
        token,
    });
    let tokens = shown.collect();
    let flash = visit.query("done").map(|_| Flash {
        kind: "good",
        head: "Revoked.".to_string(),
        text: "Programs with that token are refused from now on.".to_string(),
        undo: None,
    });
    let typed = |name: &str, usual: &str| match visit.field(name) {
        "" => usual.to_string(),
        _ if secret.is_some() => usual.to_string(),
        text => text.to_string(),
    };
    let same = [
        format!("handfast token create {account} --title TITLE --days 90"),
        curl(visit, "GET", "/tokens"),
    ];
    let page = TokensPage {
        title: typed("title", ""),
        authority: typed("authority", ""),
        role: typed("role", ""),
        days: typed("days", "90"),
        frame: ConsoleFrame::new(visit, "Tokens", MenuItem::Nothing)
            .flash(flash)
            .errors(errors)
            .same(same),
        tokens,
        secret,
        now: visit.now,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn create(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    let (registry, account) = (visit.registry(), &person.session.account);
    let invalid = |errors| tokens(visit, StatusCode::UNPROCESSABLE_ENTITY, None, errors);
    let new = match typed_token(visit)? {
        Ok(new) => new,
        Err(errors) => return invalid(errors),
    };
    // Only a form that can be carried out is worth the password.
    need_fresh(visit)?;
    match registry.create_token(&person.who, account, new) {
        Ok((secret, _)) => tokens(visit, StatusCode::CREATED, Some(secret), Vec::new()),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) => {
            let field = match error.code() {
                "bad-expiry" => "days",
                "too-large" => "title",
                "too-many-tokens" => "",
                _ => "authority",
            };
            invalid(vec![FieldError::new(field, message(&error))])
        }
    }
}

/// The token that the form describes, or everything that is wrong with the form.
fn typed_token(visit: &Visit<'_>) -> Result<Result<NewToken, Vec<FieldError>>, PageError> {
    let mut errors = Vec::new();
    let title = visit.field("title");
    if title.is_empty() {
        let text = "Say what it is for: the list of tokens shows it.";
        errors.push(FieldError::new("title", text));
    }
    let authority = Some(visit.field("authority")).filter(|authority| !authority.is_empty());
    if let Some(path) = authority {
        match visit.registry().authority(&visit.who(), path) {
            Ok(_) => {}
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(error) => errors.push(FieldError::new("authority", message(&error))),
        }
    }
    let role = match visit.field("role") {
        "" => None,
        text => {
            let role = text.parse::<Role>();
            if role.is_err() {
                errors.push(FieldError::new("role", "Choose a role."));
            }
            role.ok()
        }
    };
    let days = visit.field("days").parse().unwrap_or_default();
    if !(1..=MAX_DAYS).contains(&days) {
        let text = format!("Write for how many days it counts: 1 to {MAX_DAYS}, such as 90.");
        errors.push(FieldError::new("days", text));
    }
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    Ok(Ok(NewToken {
        title: title.to_string(),
        authority: authority.map(str::to_string),
        role,
        days,
    }))
}

pub(super) fn revoke(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    visit.registry().revoke_token(&visit.who(), visit.id())?;
    Ok(see("/console/me/tokens?done=revoked"))
}
