//! `/api/v1/tokens`.

use handfast_registry::{NewToken, Role, json};
use serde::Deserialize;
use serde_json::Value as Json;

use super::call::{Answer, Call};
use super::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    account: Option<String>,
    #[serde(default)]
    title: String,
    authority: Option<String>,
    role: Option<String>,
    days: Option<u64>,
}

/// Whoever has a token for less than its account may do knows of that one only.
pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let tokens = match &call.token {
        Some(token) if token.limit.is_some() => vec![token.clone()],
        _ => call.registry().tokens(&call.who)?,
    };
    Ok(Answer::json(
        tokens.iter().map(json::token).collect::<Json>(),
    ))
}

/// The token itself is in this answer, and nowhere else.
pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: Given = call.read()?;
    let role = given.role.as_deref().map(str::parse::<Role>).transpose();
    let new = NewToken {
        title: given.title,
        authority: given.authority,
        role: role.map_err(|error| Problem::usage(error.to_string()))?,
        days: given.days.unwrap_or(NewToken::default().days),
    };
    let account = given.account.unwrap_or_else(|| call.who.to_string());
    let (secret, token) = call.registry().create_token(&call.who, &account, new)?;
    let mut body = json::token(&token);
    if let Json::Object(body) = &mut body {
        body.insert("secret".into(), secret.into());
    }
    Ok(Answer::json(body).created("tokens", &token.id))
}

pub(super) fn revoke(call: &Call) -> Result<Answer, Problem> {
    call.registry().revoke_token(&call.who, call.id())?;
    Ok(Answer::done())
}
