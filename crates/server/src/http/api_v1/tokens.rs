//! `/api/v1/tokens`.

use handfast_api as api;
use handfast_registry::NewToken;

use super::call::{Answer, Call, parse};
use super::convert;
use super::problem::Problem;

/// A caller with a limited token sees that token only.
pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let tokens = match &call.token {
        Some(token) if token.limit.is_some() => vec![token.clone()],
        _ => call.registry().tokens(&call.who)?,
    };
    let shown = |token| convert::token(token, call.registry());
    let tokens: Vec<api::Token> = tokens.iter().map(shown).collect();
    Ok(Answer::json(&tokens))
}

/// The token itself is in this answer, and nowhere else.
pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewToken = call.read()?;
    let new = NewToken {
        title: given.title,
        authority: given.authority,
        role: given.role.as_deref().map(parse).transpose()?,
        days: given.days.unwrap_or(NewToken::default().days),
    };
    let account = given.account.unwrap_or_else(|| call.who.to_string());
    let (secret, token) = call.registry().create_token(&call.who, &account, new)?;
    let body = api::Token {
        secret: Some(secret),
        ..convert::token(&token, call.registry())
    };
    Ok(Answer::json(&body).created("tokens", &token.id))
}

pub(super) fn revoke(call: &Call) -> Result<Answer, Problem> {
    call.registry().revoke_token(&call.who, call.id())?;
    Ok(Answer::done())
}
