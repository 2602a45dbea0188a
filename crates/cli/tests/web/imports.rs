//! Imports over the network and beside a server: who opens which file, and what an import waits
//! for.

use std::io::Write as _;
use std::process::{Output, Stdio};

use handfast_testing::{Folder, Process};
use serde_json::json;

use crate::server::{ann_leads, token};

fn run_there(folder: &Folder, server: Option<&Process>, arguments: &[&str], input: &str) -> Output {
    let url = server.map(|server| server.url());
    let server_options = url
        .iter()
        .flat_map(|url| ["--api", url, "--token-file", "token"]);
    let arguments: Vec<_> = server_options.chain(arguments.iter().copied()).collect();
    let mut command = folder.command(&arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// Through the socket, `FILE` was relative to the folder of the server, and opened by it.
#[test]
fn files_in_a_batch_are_read_by_the_user_of_the_command() {
    for way in ["alone", "beside", "url"] {
        let folder = ann_leads();
        folder.write("token", token(&folder, &[]));
        folder.write("photo.bin", [0, 0xFF, b'\n']);
        // The server has the root folder as its working folder.
        let server = (way != "alone").then(|| folder.serve(&[]));
        let there = server.as_ref().filter(|_| way == "url");
        let batch = |name: &str| format!("CREATE 20.1000/{name}\n3 PHOTO 60 1110 FILE photo.bin\n");
        folder.write("names.batch", batch("a"));
        let from_file = run_there(
            &folder,
            there,
            &["import", "names.batch", "--format", "batch"],
            "",
        );
        let from_input = run_there(&folder, there, &["import", "-"], &batch("b"));
        for output in [from_file, from_input] {
            let said = String::from_utf8_lossy(&output.stdout);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("created 1, changed 0"), "{way}: {said}{told}");
        }
        for name in ["a", "b"] {
            let shown = folder.json(&["name", "show", &format!("20.1000/{name}")]);
            assert_eq!(
                shown["values"][0]["data"],
                json!({"format": "base64", "value": "AP8K"}),
                "{way}"
            );
        }
        // A file that is not there is named before anything is done.
        let bad = batch("c") + "\nCREATE 20.1000/d\n1 X 60 1110 FILE none.bin\n";
        let output = run_there(&folder, there, &["import", "-"], &bad);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{way}: {told}");
        assert!(
            told.contains("line 5: cannot read none.bin"),
            "{way}: {told}"
        );
        assert!(!folder.run(&["name", "show", "20.1000/c"]).status.success());
    }
}

/// Standard input that is no batch, and is not told by its name, goes on behind what was looked at.
#[test]
fn lines_from_standard_input_come_whole() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    let line = |n: u32| format!("{{\"id\":\"20.1000/n{n:05}\"}}\n{}\n", " ".repeat(20));
    let lines = (0..40_000).map(line).collect::<Vec<_>>().concat();
    assert!(lines.len() > 1 << 20);
    let output = run_there(&folder, None, &["import", "-"], &lines);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("created 40000,"), "{said}");
    drop(server);
}

#[test]
fn an_import_without_a_right_token_is_refused_however_long_it_is() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    let lines = "{\"id\":\"20.1000/a\",\"urls\":[\"https://example.org/\"]}\n".repeat(200_000);
    folder.write("names.ndjson", lines);
    folder.write("token", "handfast_wrong");
    let url = server.url();
    for token in [&["--token-file", "token"][..], &[]] {
        let arguments = [&["--api", &url], token, &["import", "names.ndjson"]].concat();
        let output = folder.run(&arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("--token-file"), "{told}");
    }
}
