//! When tokens and sessions were last used, on the pages of their owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{NewToken, SignInClient};
use handfast_server::WebSettings;
use handfast_testing::{OPERATOR, Server, bearer, clock};

const DAY: u64 = 86_400_000;

#[test]
fn a_person_sees_when_their_tokens_and_sessions_were_last_used() {
    let clock = Arc::new(AtomicU64::new(clock::NOW));
    let server = Server::start_as(&clock, WebSettings::default());
    server.account("ann", &[]);
    server.account("eve", &[]);
    let browser = |account: &str| {
        let link = server.registry.create_sign_in_link(&OPERATOR, account);
        let client = SignInClient::default();
        let session = server.registry.use_link(&link.unwrap().code, &client);
        format!("Cookie: handfast-local={}", session.unwrap().secret)
    };
    let cookie = browser("ann");
    let new = |title: &str| NewToken {
        title: title.to_string(),
        ..NewToken::default()
    };
    let make = |title: &str| server.registry.create_token(&OPERATOR, "ann", new(title));
    let (secret, _) = make("used").unwrap();
    make("unused").unwrap();
    let row = |page: &str, cookie: &str, word: &str| {
        let body = server.get_with(page, &[cookie]).body;
        let row = body.split("<tr>").find(|row| row.contains(word));
        let row = row.unwrap_or_else(|| panic!("{word}: {body}"));
        let (_, cell) = row.split_once("data-label=\"Last used\">").unwrap();
        cell.split_once("</td>").unwrap().0.to_string()
    };
    let tokens = "/console/me/tokens";
    assert_eq!(row(tokens, &cookie, "<bdi>used"), "never");
    assert_eq!(
        server
            .get_with("/api/v1/accounts/this", &[&bearer(&secret)])
            .status,
        200
    );
    let today = handfast_registry::rfc3339(clock::NOW / DAY * DAY);
    let used = row(tokens, &cookie, "<bdi>used");
    assert!(used.contains(&format!("datetime=\"{today}\"")), "{used}");
    assert_eq!(row(tokens, &cookie, "<bdi>unused"), "never");
    // Looking at a session uses it; a second one that nobody uses stays as it was.
    browser("ann");
    let later = clock.fetch_add(600_000, Ordering::Relaxed) + 600_000;
    let sessions = "/console/me/sessions";
    let used = row(sessions, &cookie, "this one");
    assert!(used.contains(&handfast_registry::rfc3339(later)), "{used}");
    let other = row(sessions, &cookie, "/end\"");
    assert!(
        other.contains(&handfast_registry::rfc3339(clock::NOW)),
        "{other}"
    );
    let foreign = server.get_with(tokens, &[&browser("eve")]);
    assert!(!foreign.body.contains("<bdi>used"), "{}", foreign.body);
}
