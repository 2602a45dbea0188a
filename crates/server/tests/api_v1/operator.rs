//! What only the local operator may do is not there on the network.

use handfast_testing::Server;

use crate::{start, token};

const ACCOUNT: &str = r#"{"account":"eve"}"#;

/// Guards against a header that makes anybody on the network the operator.
#[test]
fn over_the_network_nobody_is_the_operator() {
    let server = start();
    let ann = token(&server);
    let ask = |server: &Server, who: &[&str]| {
        let made = server.ask("POST", "/api/v1/accounts", who, Some(ACCOUNT));
        let this = server.get_with("/api/v1/accounts/this", who);
        (made.status, this.status)
    };
    let operator = "Handfast-As: operator";
    for header in [
        operator,
        "Handfast-As: ann",
        "Handfast-As: 300%3A0.SITE%2FADMIN",
    ] {
        assert_eq!(ask(&server, &[header]), (401, 401), "{header}");
        assert_eq!(ask(&server, &[header, &ann]), (403, 200), "{header}");
        let this = server
            .get_with("/api/v1/accounts/this", &[header, &ann])
            .json();
        assert_eq!(this["account"], "ann", "{header}");
    }
    // What only the operator can ask for is not there.
    for (method, path, status) in [
        ("POST", "/operator/namespaces", 404),
        ("GET", "/export?with-secrets=true", 400),
        ("POST", "/import?size=3", 400),
        ("POST", "/names?migrate=true", 400),
        ("POST", "/jobs/1/resume?dry-run=true", 400),
    ] {
        let path = format!("/api/v1{path}");
        let refused = server.ask(method, &path, &[&ann, operator], Some("{}"));
        assert_eq!(refused.status, status, "{path}: {}", refused.body);
    }
}
