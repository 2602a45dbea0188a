//! `/api/v1` over HTTP. Tests that compare it with commands are with the commands.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod accounts;
mod groups;
mod guarded;
mod imports;
mod jobs;
mod names;
mod operator;
mod sign_in;
mod updates;

use handfast_registry::{NewToken, Role};
use handfast_server::WebSettings;
use handfast_testing::{Server, Setup};
use serde_json::json;

/// A server with `20.1000` and `20.2000`, on which `ann` has the role `lead`.
fn start() -> Server {
    start_with(WebSettings::default())
}

fn start_with(settings: WebSettings) -> Server {
    let authorities = ["20.1000", "20.2000"];
    let server = Setup::new().settings(settings).start_for(&authorities);
    server.account("ann", &authorities.map(|authority| (authority, Role::Lead)));
    server
}

/// The header of a token of ann's.
fn token(server: &Server) -> String {
    server.token("ann", NewToken::default())
}

/// The header of a token that gives less.
fn limited_token(
    server: &Server,
    account: &str,
    authority: Option<&str>,
    role: Option<Role>,
) -> String {
    let new = NewToken {
        authority: authority.map(str::to_string),
        role,
        ..NewToken::default()
    };
    server.token(account, new)
}

/// Creates a name over the API: the status.
fn create(server: &Server, who: &str, id: &str, extra: &[&str]) -> u16 {
    let body = json!({"id": id, "urls": ["https://example.org/"]}).to_string();
    let headers = [&[who], extra].concat();
    server
        .ask("POST", "/api/v1/names", &headers, Some(&body))
        .status
}
