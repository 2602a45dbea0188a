//! `handfast inspect` as a user runs it: the contract of `identifiers.md` §8.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;

fn handfast() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
    command.arg("inspect");
    command
}

fn run(arguments: &[&str]) -> Output {
    handfast().args(arguments).output().unwrap()
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = handfast()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

fn objects(output: &Output) -> Vec<Value> {
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn one(arguments: &[&str]) -> Value {
    let output = run(arguments);
    let mut objects = objects(&output);
    assert_eq!(objects.len(), 1, "{output:?}");
    objects.remove(0)
}

#[test]
fn an_identifier_gives_one_object() {
    let object = one(&["--json", "HDL://100.102/F58FB49EB1F848f0A606E84CEF294BE5"]);
    let expected: Value = serde_json::from_str(
        r#"{"input":"HDL://100.102/F58FB49EB1F848f0A606E84CEF294BE5","ok":true,"scheme":"hdl",
            "canonical":"hdl:100.102/F58FB49EB1F848f0A606E84CEF294BE5",
            "components":{"prefix":"100.102","suffix":"F58FB49EB1F848f0A606E84CEF294BE5",
                          "query":null,"fragment":null,"form":"host"},
            "spellings":{"handle":"100.102/F58FB49EB1F848f0A606E84CEF294BE5",
                         "hdl":"hdl:100.102/F58FB49EB1F848f0A606E84CEF294BE5",
                         "hdl_host":"hdl://100.102/F58FB49EB1F848f0A606E84CEF294BE5",
                         "http":"https://hdl.handle.net/100.102/F58FB49EB1F848f0A606E84CEF294BE5",
                         "info":"info:hdl/100.102/F58FB49EB1F848f0A606E84CEF294BE5",
                         "cordra":"100.102/F58FB49EB1F848F0A606E84CEF294BE5"}}"#,
    )
    .unwrap();
    assert_eq!(object, expected);
}

#[test]
fn an_error_is_an_object_too_and_the_status_is_1() {
    let output = run(&["--json", "--as", "hdl", "hdl:100.102", "hdl:20.1000/x"]);
    assert_eq!(output.status.code(), Some(1));
    let objects = objects(&output);
    assert_eq!(objects[0]["ok"], false);
    assert_eq!(objects[0]["error"]["code"], "missing-suffix");
    assert_eq!(objects[0]["error"]["at"], 11);
    assert!(objects[0]["error"]["message"].is_string());
    assert_eq!(objects[1]["ok"], true);
}

#[test]
fn bad_lines_have_objects_of_their_own_and_the_stream_goes_on() {
    let mut input = Vec::new();
    let long = vec![b'x'; 9_000];
    let huge = vec![b'y'; 3 << 20];
    for line in [
        &b"info:lccn/1"[..],
        b"info:lccn/\xED\xA0\x80",
        b"",
        b"info:lccn/\0",
        &long,
        &huge,
        b"info:lccn/2\r",
    ] {
        input.extend(line);
        input.push(b'\n');
    }
    input.extend(b"info:lccn/3");
    let output = run_with_input(&["--json", "--as", "info", "-"], &input);
    assert_eq!(output.status.code(), Some(1));
    let objects = objects(&output);
    let view: Vec<_> = objects
        .iter()
        .map(|object| match object["ok"].as_bool() {
            Some(true) => object["canonical"].as_str().unwrap().to_string(),
            _ => format!(
                "{} {}",
                object["error"]["code"].as_str().unwrap(),
                object["error"]["at"]
            ),
        })
        .collect();
    assert_eq!(
        view,
        [
            "info:lccn/1",
            "not-utf8 10",
            "empty 0",
            "bad-character 10",
            "too-long 8192",
            "too-long 8192",
            "info:lccn/2",
            "info:lccn/3",
        ]
    );
    assert_eq!(objects[1]["input"], "info:lccn/\u{FFFD}\u{FFFD}\u{FFFD}");
    assert_eq!(objects[4]["input"].as_str().unwrap().len(), 9_000);
    assert_eq!(objects[6]["input"], "info:lccn/2");
}

#[test]
fn answers_come_as_soon_as_there_is_a_line() {
    let mut child = handfast()
        .args(["--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in ["20.1000/1\n", "20.1000/2\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.contains(line.trim_end()), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = handfast()
        .args(["--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let writer = thread::spawn(move || {
        for _ in 0..100_000 {
            if stdin.write_all(b"20.1000/1\n").is_err() {
                return;
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success());

    let mut child = handfast()
        .args(["bad", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(
        child.wait().unwrap().code(),
        Some(1),
        "the answer was no, read or not"
    );
}

#[test]
fn registry_grammar_and_resolvers_are_options() {
    let canonical = |arguments: &[&str]| one(arguments)["canonical"].as_str().map(str::to_string);
    let lccn = ["--json", "info:lccn/n78-89035"];
    assert_eq!(canonical(&lccn).unwrap(), "info:lccn/n78089035");
    assert_eq!(one(&lccn)["components"]["registered"], true);

    let bare = [&lccn[..], &["--no-registry"]].concat();
    assert_eq!(canonical(&bare).unwrap(), "info:lccn/n78-89035");
    assert_eq!(one(&bare)["components"]["registered"], Value::Null);

    let slash = ["--json", "--as", "info", "info:ddc/22/eng"];
    assert!(canonical(&slash).is_some());
    assert!(canonical(&[&slash[..], &["--grammar", "draft"]].concat()).is_none());

    let url = ["--json", "--as", "http", "http://hld.handle.net/100.102/x"];
    assert_eq!(one(&url)["error"]["code"], "unknown-resolver");
    let known = one(&[&url[..], &["--resolver", "http://hld.handle.net/"]].concat());
    assert_eq!(known["components"]["form"], "http");
    assert_eq!(
        known["spellings"]["http"],
        "http://hld.handle.net/100.102/x"
    );
}

#[test]
fn a_registry_can_be_read_from_a_file() {
    let file = std::env::temp_dir().join(format!("handfast-registry-{}.json", std::process::id()));
    let name = file.to_str().unwrap();
    std::fs::write(
        &file,
        r#"[{"namespace":"oai","normalisation":{"case":"lower"}}]"#,
    )
    .unwrap();
    let object = one(&[
        "--json",
        "--registry",
        name,
        "info:OAI/arXiv.org%3AHEP-TH%2F9901001",
    ]);
    assert_eq!(object["canonical"], "info:oai/arxiv.org:hep-th%2F9901001");
    std::fs::write(&file, "[{").unwrap();
    let output = run(&["--registry", name, "info:oai/x"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot use the registry"));
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn steps_are_explained_in_json_too() {
    let object = one(&["--json", "--explain", "--as", "info", "INFO:LCCN/n78-89035"]);
    let steps = object["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 7);
    assert_eq!(steps[6]["what"], "pad-after \"-\" 6");
    assert_eq!(steps[6]["text"], "info:lccn/n78089035");
    assert_eq!(object["ok"], true);
}

#[test]
fn people_see_errors_with_a_caret_on_standard_error() {
    let output = run(&["hdl:100.102/a b"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "error: U+0020 is not allowed in the suffix [bad-character]",
            "  | hdl:100.102/a b",
            "  |              ^",
            "  hint: percent-encode it",
            "",
        ]
    );
}

#[test]
fn arguments_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let output = handfast()
        .args(["--json"])
        .arg(OsStr::from_bytes(b"20.1000/\xFF"))
        .output()
        .unwrap();
    assert_eq!(objects(&output)[0]["error"]["code"], "not-utf8");
}

#[test]
fn wrong_usage_is_status_2_with_a_way_out() {
    for arguments in [
        &[][..],
        &["--as", "gopher", "x"],
        &["--resolver", "ftp://x", "y"],
        &["--no-such-flag"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("error: "), "{text}");
        assert!(text.contains("--help"), "{text}");
    }
}
