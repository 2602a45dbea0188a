//! A server of another version at the socket of a data folder.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::thread;

use handfast_testing::Folder;

/// What the server answers to every request; nothing if it does not speak HTTP.
fn answered_by(answer: &'static str) -> String {
    let folder = Folder::empty(env!("CARGO_BIN_EXE_handfast"));
    fs::create_dir(folder.data()).unwrap();
    let listener = UnixListener::bind(folder.data().join("handfast.sock")).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The first connection only shows that the server is there.
            let mut request = [0; 4096];
            drop(stream.read(&mut request));
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    let output = folder.run(&["name", "show", "20.1/x"]);
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Guards against a command of another version that fails and does not say why.
#[test]
fn a_request_that_the_server_does_not_know_is_explained() {
    let problem = r#"{"status":404,"code":"no-such-path","detail":"nothing is here"}"#;
    let head =
        "HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\nConnection: close\r\n";
    let answer = format!("{head}Content-Length: {}\r\n\r\n{problem}", problem.len());
    let told = answered_by(answer.leak());
    let hint = "the server that uses this folder is another version of handfast";
    assert!(told.contains(hint) && told.contains("restart it"), "{told}");
}

#[test]
fn a_server_that_takes_no_requests_is_explained() {
    let told = answered_by("");
    assert!(
        told.starts_with("error: the server that uses the data folder"),
        "{told}"
    );
    assert!(told.contains("restart the server"), "{told}");
}
