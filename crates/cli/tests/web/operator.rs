//! The local operator: what the socket of the data folder gives, and the network does not.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;

use handfast_testing::Folder;
use serde_json::Value as Json;

use crate::server::{PROGRAM, ann_leads, token};

/// Asks at the socket: the status and the body.
fn ask_locally(
    folder: &Folder,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let mut stream = UnixStream::connect(folder.data().join("handfast.sock")).unwrap();
    let length = body.len();
    let request = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_string())
}

const ACCOUNT: &str = r#"{"account":"eve"}"#;

#[test]
fn a_caller_at_the_socket_is_the_operator_or_the_named_account() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    let post = |headers: &str| ask_locally(&folder, "POST", "/accounts", headers, ACCOUNT);
    assert_eq!(post("Handfast-As: ann\r\n").0, 403);
    assert_eq!(post("Handfast-As: 20.1/\r\n").0, 400);
    assert_eq!(post("").0, 201);
    let (status, body) = ask_locally(&folder, "GET", "/accounts/this", "Handfast-As: ann\r\n", "");
    let this: Json = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &this["account"]), (200, &"ann".into()));
    drop(server);
}

/// `--url` was the name of the server, and is the target of a name.
#[test]
fn a_server_is_named_by_a_flag_or_by_the_environment() {
    let folder = ann_leads();
    let token = token(&folder, &[]);
    let server = folder.serve(&[]);
    let url = server.url();
    let run = |variable: Option<&str>, arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(folder.path())
            .env("HANDFAST_TOKEN", &token);
        match variable {
            Some(url) => command.env("HANDFAST_URL", url),
            None => command.env_remove("HANDFAST_URL"),
        };
        let output = command.args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), told)
    };
    let show = ["name", "show", "20.1000/n0"];
    let create = |n: &str, flag: &str| {
        let id = format!("20.1000/n{n}");
        let arguments = ["name", "create", &id, "--url", "https://example.org/"];
        run(None, &[&[flag, &url], &arguments[..]].concat())
    };
    assert_eq!(create("0", "--api"), (Some(0), String::new()));
    assert_eq!(create("1", "--url"), (Some(0), String::new()));
    assert_eq!(run(Some(&url), &show).0, Some(0));
    // A folder that is named is meant, and a command that needs one uses it.
    for name in [
        ["--data", "none", "name", "show", "20.1000/n0"],
        ["name", "show", "20.1000/n0", "--data", "none"],
    ] {
        assert_eq!(run(Some(&url), &name).0, Some(1), "{name:?}");
    }
    let (status, told) = run(Some(&url), &["check"]);
    assert!(
        status == Some(1) && told.contains("handfast-data"),
        "{told}"
    );
    let (status, told) = run(None, &["--api", &url, "check"]);
    assert!(
        status == Some(2) && told.contains("without --api"),
        "{told}"
    );
}
