//! Commands on a folder that a server is using.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::server::ann_leads;

/// Times and random bytes are not the same twice.
fn evened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let is_digit = |c: char| c.is_ascii_digit();
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n', '"']) {
        let is_time = word.contains('T') && word.matches(is_digit).count() > 12;
        let is_key = word.contains("handfast-log-");
        out.push_str(if is_time || is_key { "VARIES " } else { word });
    }
    out
}

#[test]
fn the_output_is_the_same_either_way() {
    let (alone, beside) = (ann_leads(), ann_leads());
    let server = beside.serve(&[]);
    let lines = r#"{"id":"20.1000/i","urls":["https://example.org/i"]}
{"id":"20.1000/j","urls":["javascript:1"]}
"#;
    for folder in [&alone, &beside] {
        folder.write("names.ndjson", lines);
        folder.write("data.txt", "from a file");
        folder.write("gone.txt", "20.1000/i\n");
    }
    for command in [
        "name create 20.1000/a --url https://example.org/ --value 7:DESC:@data.txt",
        "name create 20.1000/a",
        "name create 20.1000/b --reserve --json",
        "name show 20.1000/a",
        "name show 20.1000/a --json",
        "name show 20.1000/none",
        "name set 20.1000/a",
        "name set 20.1000/a --remove 7",
        "name history 20.1000/a",
        "name list --authority 20.1000",
        "name list --authority 20.1000 --as nobody",
        "name show 20.1000/b --as nobody",
        "resolve 20.1000/a",
        "resolve 20.3000/a",
        "import names.ndjson",
        "import names.ndjson --dry-run --json --outcome outcome.ndjson",
        "import missing.ndjson",
        "export names.out",
        "export",
        "job withdraw gone.txt --reason gone",
        "job list",
        "job show 77",
        "authority show 20.1000",
        "authority list --json",
        "user create bob",
        "user list",
        "token revoke none",
        "mint --authority 20.1000 --style sequence --url https://example.org/{name}",
        "log export log.ndjson",
        "log tiles tiles",
        "log verify --export log.ndjson",
        "backup copy.mdb",
        "backup copy.mdb",
        "check",
    ] {
        let arguments: Vec<_> = command.split(' ').collect();
        // Messages name the folder as the command does.
        let [here, there] = [&alone, &beside].map(|folder| {
            let mut command = folder.program();
            let command = command.args(["--data", "data"]).args(&arguments);
            command.output().unwrap()
        });
        assert_eq!(here.status, there.status, "{command}");
        assert_eq!(evened(&here.stdout), evened(&there.stdout), "{command}");
        assert_eq!(evened(&here.stderr), evened(&there.stderr), "{command}");
    }
    // Files are where the command was, not where the server is.
    for file in [
        "outcome.ndjson",
        "names.out",
        "log.ndjson",
        "tiles/checkpoint",
        "copy.mdb",
    ] {
        assert!(beside.path().join(file).exists(), "{file}");
    }
    let mode = fs::metadata(beside.data().join("handfast.sock")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    drop(server);
    // What a killed server has left does not stand in the way.
    assert!(beside.data().join("handfast.sock").exists());
    beside.done(&["name", "show", "20.1000/a"]);
}

#[test]
fn input_comes_from_where_the_command_is() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    let mut command = folder.command(&["import", "-", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(
        input,
        r#"{{"id":"20.1000/x","urls":["https://example.org/"]}}"#
    )
    .unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let imported: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(imported["created"], 1);
    // What a command has done every interface knows at once.
    assert_eq!(server.get("/api/v1/names/20.1000%2Fx").status, 200);
}
