//! Names at a server, as a user of the command line meets them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::process::{Command, Output};

use handfast_testing::{Folder, Process, done};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// A server with the prefix `20.1000`, and a folder beside it for those who ask.
struct Server {
    process: Process,
    native: String,
    folder: Folder,
    secret: String,
}

const ADMIN: &str = "300:20.1000/admin";

impl Server {
    fn start() -> Self {
        let folder = Folder::with(PROGRAM, &["20.1000"]);
        folder.done(&[
            "name",
            "create",
            "20.1000/admin",
            "--value",
            "300:HS_SECKEY:secret",
        ]);
        for who in [ADMIN, "301:20.1000/admin"] {
            folder.done(&[
                "authority",
                "grant",
                "20.1000",
                "--to",
                who,
                "--role",
                "admin",
            ]);
        }
        folder.done(&[
            "name",
            "create",
            "20.1000/5555",
            "--url",
            "https://example.org/5555",
        ]);
        let secret = folder.write("secret", "secret\n");
        let process = folder.serve(&[]);
        Self {
            native: process.native.to_string(),
            process,
            folder,
            secret,
        }
    }

    /// A command for this server, without a data folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.folder.program();
        command.args(["--data", "nothing"]).args(arguments);
        command.args(["--server", &self.native]);
        command
    }

    fn done(&self, arguments: &[&str]) -> String {
        done(&mut self.command(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// The same, logged in with the secret.
    fn as_admin(&self, arguments: &[&str]) -> String {
        let login = ["--as", ADMIN, "--secret-file", &self.secret];
        self.done(&[arguments, &login].concat())
    }

    /// A command that is refused: its exit status, and the code that it gives.
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let arguments = [arguments, &["--json"]].concat();
        status_and_code(&self.command(&arguments).output().unwrap())
    }
}

fn status_and_code(output: &Output) -> (i32, String) {
    let told = String::from_utf8_lossy(&output.stderr);
    let error: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    let code = error["error"]["code"].as_str().unwrap();
    (output.status.code().unwrap(), code.to_string())
}

fn data(found: &Value) -> Vec<&str> {
    let values = found["values"].as_array().unwrap().iter();
    values
        .filter(|value| value["type"] != "HS_ADMIN")
        .map(|value| value["data"]["value"].as_str().unwrap())
        .collect()
}

#[test]
fn handles_are_resolved_in_any_spelling_and_by_all_ways() {
    let server = Server::start();
    for id in ["20.1000/5555", "hdl:20.1000/5555", "info:hdl/20.1000/5555"] {
        let found = server.json(&["resolve", id, "--certified"]);
        assert_eq!(data(&found), ["https://example.org/5555"]);
        assert_eq!(found["certified"], true);
    }
    for way in ["udp", "tcp"] {
        let found = server.json(&["resolve", "20.1000/5555", "--way", way, "--type", "URL"]);
        assert_eq!(data(&found), ["https://example.org/5555"]);
    }
    let web = server.process.url();
    let found = server
        .folder
        .json(&["resolve", "20.1000/5555", "--server", &web]);
    assert_eq!(data(&found), ["https://example.org/5555"]);
    let text = server.done(&["resolve", "20.1000/5555"]);
    let expected = format!(
        "20.1000/5555\n  answered by   {} over UDP\n  1     URL         https://example.org/5555\n",
        server.native
    );
    assert_eq!(text, expected);
    // The server as its own root.
    let found = server
        .folder
        .json(&["resolve", "0.NA/20.1000", "--root", &server.native]);
    assert_eq!(found["handle"], "0.NA/20.1000");
}

#[test]
fn exit_statuses_say_whether_it_was_the_answer_the_usage_or_the_network() {
    let server = Server::start();
    let expected = |status, code: &str| (status, code.to_string());
    let refused = |arguments: &[&str]| server.refused(arguments);
    let missing = refused(&["resolve", "20.1000/missing"]);
    assert_eq!(missing, expected(1, "handle-not-found"));
    let none = refused(&["resolve", "20.1000/5555", "--index", "7"]);
    assert_eq!(none, expected(1, "values-not-found"));
    assert_eq!(
        refused(&["resolve", "30/x"]),
        expected(1, "server-not-resp")
    );
    assert_eq!(
        refused(&["resolve", "urn:isbn:0451450523"]),
        expected(2, "usage")
    );
    assert_eq!(
        refused(&["name", "withdraw", "20.1000/5555"]),
        expected(2, "usage")
    );
    let (delete, login) = (
        ["name", "withdraw", "20.1000/5555", "--as"],
        "--secret-file",
    );
    let wrong = server.folder.write("wrong", "guess");
    let denied = refused(&[&delete[..], &[ADMIN, login, &wrong]].concat());
    assert_eq!(denied, expected(1, "authentication-failed"));
    assert_eq!(
        refused(&[&delete[..], &[ADMIN]].concat()),
        expected(2, "usage")
    );
    let account = refused(&[&delete[..], &["ann", login, &wrong]].concat());
    assert_eq!(account, expected(2, "usage"));
    for local in [
        &["name", "create", "20.1000/y", "--reserve"][..],
        &["name", "show", "20.1000/5555", "--at", "1"],
        &["name", "withdraw", "20.1000/5555", "--reason", "old"],
    ] {
        assert_eq!(refused(local), expected(2, "usage"), "{local:?}");
    }
    let closed = [
        "resolve",
        "20.1000/5555",
        "--json",
        "--server",
        "127.0.0.1:1",
    ];
    assert_eq!(
        status_and_code(&server.folder.run(&closed)),
        expected(3, "network")
    );
}

#[test]
fn names_are_administered_with_a_secret_and_with_a_key() {
    let server = Server::start();
    let urls = [
        "--url",
        "https://example.org/1",
        "--url",
        "https://example.org/2",
    ];
    let note = [
        "--value",
        "2:NOTE:hidden",
        "--permissions",
        "2:1100",
        "--ttl",
        "2:60",
    ];
    let create = [&["name", "create", "20.1000/new"][..], &urls, &note].concat();
    let told = server.as_admin(&create);
    assert_eq!(told, format!("created 20.1000/new at {}\n", server.native));
    let found = server.json(&["name", "show", "20.1000/new"]);
    assert_eq!(
        data(&found),
        ["https://example.org/1", "https://example.org/2"]
    );

    // The key of the server, as an administrator's.
    let public = server.folder.data().join("pubkey.bin");
    let value = format!("301:HS_PUBKEY:@{}", public.display());
    server.as_admin(&["name", "set", "20.1000/admin", "--value", &value]);
    let private = server.folder.data().join("privkey.bin");
    let with_key = [
        "--as",
        "301:20.1000/admin",
        "--key",
        private.to_str().unwrap(),
    ];
    let by_key = |arguments: &[&str]| server.json(&[arguments, &with_key].concat());
    // What is not said stays: permissions and TTL.
    let set = [
        "name",
        "set",
        "20.1000/new",
        "--url",
        "https://example.org/3",
    ];
    by_key(&[&set[..], &["--value", "2:NOTE:still hidden"]].concat());
    let found = by_key(&["name", "show", "20.1000/new"]);
    assert_eq!(data(&found), ["https://example.org/3", "still hidden"]);
    assert_eq!(found["values"][1]["ttl"], 60);
    assert_eq!(found["values"][1]["permissions"], "1100");
    by_key(&["name", "set", "20.1000/new", "--remove", "2"]);
    let found = by_key(&["resolve", "20.1000/new"]);
    assert_eq!(data(&found), ["https://example.org/3"]);

    let listed =
        server.done(&[&["name", "list", "--authority", "20.1000"][..], &with_key].concat());
    assert_eq!(listed, "20.1000/5555\n20.1000/ADMIN\n20.1000/NEW\n");
    server.as_admin(&["name", "withdraw", "20.1000/new"]);
    let gone = server.refused(&["resolve", "20.1000/new"]);
    assert_eq!(gone, (1, "handle-not-found".to_string()));
}

#[test]
fn without_a_server_the_folder_is_asked() {
    let folder = Folder::with(PROGRAM, &["20.1000"]);
    folder.done(&[
        "name",
        "create",
        "20.1000/x",
        "--url",
        "https://example.org/",
    ]);
    folder.done(&[
        "name",
        "create",
        "20.1000/hidden",
        "--value",
        "1:HS_SECKEY:secret",
    ]);
    assert_eq!(
        folder.done(&["resolve", "hdl:20.1000/x"]),
        "20.1000/x\n  1     URL         https://example.org/\n"
    );
    assert_eq!(
        folder.json(&["resolve", "20.1000/x"])["handle"],
        "20.1000/x"
    );
    for (id, to) in [("a", "x"), ("b", "a"), ("circle", "CIRCLE")] {
        let (id, value) = (format!("20.1000/{id}"), format!("1:HS_ALIAS:20.1000/{to}"));
        folder.done(&["name", "create", &id, "--value", &value]);
    }
    let found = folder.json(&["resolve", "20.1000/b", "--follow-aliases"]);
    assert_eq!(
        found["aliases"],
        serde_json::json!(["20.1000/b", "20.1000/a"])
    );
    assert_eq!(data(&found), ["https://example.org/"]);
    let (_, told) = folder.not_all(&["resolve", "20.1000/circle", "--follow-aliases"]);
    assert_eq!(told[0]["error"]["code"], "alias-loop");
    for id in ["20.1000/hidden", "20.1000/missing"] {
        let (_, told) = folder.not_all(&["resolve", id]);
        assert_eq!(told[0]["error"]["code"], "not-found");
    }
    let output = folder.run(&["resolve", "30/x", "--json"]);
    assert_eq!(status_and_code(&output), (2, "usage".to_string()));
    let output = folder.run(&["resolve", "20.1000/x", "--certified", "--json"]);
    assert_eq!(status_and_code(&output), (2, "usage".to_string()));
}

/// A name that ends with white space was another one with `--server` than without.
#[test]
fn hdl_8_a_name_that_ends_with_white_space_has_one_reading() {
    let server = Server::start();
    let lines = r#"{"id":"20.1000/ws","urls":["https://example.org/1"]}
{"id":"20.1000/ws ","urls":["https://example.org/2"]}
"#;
    let file = server.folder.write("names.ndjson", lines);
    server.folder.done(&["import", &file, "--migrate"]);
    for (id, url) in [
        ("20.1000/ws", "https://example.org/1"),
        ("20.1000/ws ", "https://example.org/2"),
        (" 20.1000/ws", "https://example.org/1"),
        ("hdl:20.1000/ws", "https://example.org/1"),
        ("hdl:20.1000/ws%20", "https://example.org/2"),
    ] {
        assert_eq!(data(&server.folder.json(&["resolve", id])), [url], "{id}");
        assert_eq!(data(&server.json(&["resolve", id])), [url], "{id}");
    }
}
