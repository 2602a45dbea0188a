//! Commands that ask a server on the network.

use std::process::Output;
use std::time::{Duration, UNIX_EPOCH};

use handfast_registry::rfc3339;
use handfast_testing::{Folder, Process};

use crate::server::{ann_leads, token};

fn there(folder: &Folder, server: &Process, command: &str) -> Output {
    let url = server.url();
    let start = ["--api", &url, "--token-file", "token"];
    let arguments: Vec<_> = start.into_iter().chain(command.split(' ')).collect();
    folder.run(&arguments)
}

fn start() -> (Folder, Process) {
    let folder = ann_leads();
    let token = token(&folder, &[]);
    folder.write("token", format!("{token}\n"));
    let server = folder.serve(&[]);
    (folder, server)
}

#[test]
fn commands_are_done_there() {
    let (folder, server) = start();
    folder.done(&["user", "create", "bob"]);
    for (command, status, said) in [
        (
            "name create 20.1000/a --url https://example.org/ --value 7:DESC:x",
            0,
            "created 20.1000/a (active)\n",
        ),
        ("name create 20.1000/a", 1, ""),
        (
            "name set 20.1000/a --remove 7",
            0,
            "changed 20.1000/a (active)\n",
        ),
        (
            "name create 20.1000/b --reserve",
            0,
            "created 20.1000/b (reserved)\n",
        ),
        (
            "name activate 20.1000/b",
            0,
            "activated 20.1000/b (active)\n",
        ),
        (
            "name withdraw 20.1000/b --reason gone",
            0,
            "withdrew 20.1000/b (withdrawn)\n",
        ),
        ("name restore 20.1000/b", 0, "restored 20.1000/b (active)\n"),
        (
            "name undo 20.1000/a",
            0,
            "undid the change of 20.1000/a (active)\n",
        ),
        (
            "name list --authority 20.1000",
            0,
            "active     20.1000/a\nactive     20.1000/b\n",
        ),
        ("name show 20.1000/none", 1, ""),
        ("name show 20.1000/a --as bob", 2, ""),
        (
            "authority create 20.1000.1 --title Maps",
            0,
            "created 20.1000.1\n",
        ),
        ("authority grant 20.1000.1 --to bbo --role read", 1, ""),
        // Ann is no administrator, and creates no accounts.
        (
            "authority grant 20.1000.1 --to bbo --role read --create",
            1,
            "",
        ),
        (
            "authority grant 20.1000.1 --to bob --role read",
            0,
            "granted 20.1000.1\n",
        ),
        (
            "authority revoke 20.1000.1 --from bob",
            0,
            "revoked 20.1000.1\n",
        ),
        (
            "authority policy 20.1000.1 --pattern [0-9]+",
            0,
            "changed 20.1000.1\n",
        ),
        ("authority retire 20.1000.1", 0, "retired 20.1000.1\n"),
        ("check", 2, ""),
        ("backup copy", 2, ""),
        ("init", 2, ""),
    ] {
        let output = there(&folder, &server, command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{command}: {told}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            said,
            "{command}: {told}"
        );
    }
}

#[test]
fn what_is_there_is_shown_as_on_the_folder() {
    let (folder, server) = start();
    for command in [
        "name create 20.1000/a --url https://example.org/",
        "name set 20.1000/a --url https://example.org/2",
        "authority create 20.1000.1 --title Maps",
    ] {
        assert!(there(&folder, &server, command).status.success());
    }
    for command in [
        "name show 20.1000/a",
        "name show 20.1000/a --json",
        "name show 20.1000/none",
        "name show 20.1000/none --json",
        "name history 20.1000/a",
        "name history 20.1000/a --json",
        "name list --authority 20.1000 --json",
        "authority show 20.1000.1",
        "authority show 20.1000.1 --json",
        "authority show 20.4000",
        "authority list",
    ] {
        let here = folder.run(&command.split(' ').collect::<Vec<_>>());
        let there = there(&folder, &server, command);
        assert_eq!(here.status, there.status, "{command}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&here.stdout), text(&there.stdout), "{command}");
        assert_eq!(text(&here.stderr), text(&there.stderr), "{command}");
    }
}

/// Times, keys and who asks are not the same on two folders.
fn evened(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace("the operator", "WHO");
    // An account is seen where it acts by a token, and not where the operator acts.
    let text = text.replace(&format!("{:<25}", "never seen"), "seen VARIES");
    let mut out = String::new();
    for word in text
        .replace("boss", "WHO")
        .split_inclusive([' ', '\n', '"'])
    {
        let is_time = word.contains('T') && word.matches(|c: char| c.is_ascii_digit()).count() > 12;
        let is_id = word.trim().len() == 12 && word.trim().chars().all(|c| c.is_ascii_hexdigit());
        let is_key = is_id || word.contains("handfast-log-") || word.contains("handfast_");
        out.push_str(if is_time || is_key { "VARIES " } else { word });
    }
    out
}

/// Commands whose output is compared.
const COMPARED: &[&str] = &[
    "name create 20.1000/a --url https://example.org/ --value 7:HS_SECKEY:x",
    "name set 20.1000/a --remove 7",
    "name transfer 20.1000/a --to bob",
    "name withdraw 20.1000/a --reason burnt",
    "name history 20.1000/a",
    "name show 20.1000/a",
    "import names.ndjson",
    "import names.ndjson --dry-run",
    "import names.ndjson --dry-run --json --outcome outcome.ndjson",
    "import missing.ndjson",
    "import names.ndjson --authority 20.7",
    "export names.out",
    "export names.csv --format csv --json",
    "export --since 9999",
    "export --authority 20.7",
    "mint --authority 20.1000 --count 3 --style sequence --url https://example.org/{name}",
    "mint --authority 20.1000 --style sequence:m:4 --json",
    "mint --authority 20.7",
    "job replace-host example.org example.net --authority 20.1000 --dry-run",
    "job replace-host example.org example.net --authority 20.1000",
    "job replace-url https://example.net https://example.com --authority 20.1000 --json",
    "job replace-url a b --authority 20.7",
    "job set-ttl 60 --authority 20.1000",
    "job withdraw gone.txt --reason gone",
    "job list",
    "job show 2",
    "job show 2 --json --follow",
    "job show 77",
    "job undo 3 --dry-run",
    "job undo 3",
    "job undo 3",
    "job resume 3",
    "job cancel 3",
    "user create eve --title Eve",
    "user create eve",
    "user suspend eve",
    "user show eve",
    "user list",
    "token create eve",
    "user restore eve --json",
    "user set eve --title Evelyn",
    "user show eve --json",
    "user set eve --email eve",
    "user set eve --email eve@example.org",
    "user show eve",
    "group create editors --title Editors",
    "group create editors",
    "group add editors eve",
    "group add editors nobody",
    "group add none eve",
    "group show group:editors",
    "group list",
    "group list --json",
    "authority grant 20.1000 --to group:editors --role write",
    "authority grant 20.1000 --to group:none --role write --create",
    "authority show 20.1000",
    "authority why 20.1000 --who eve",
    "authority why 20.1000 --who group:editors --json",
    "authority why 20.1000 --who nobody",
    "authority people 20.1000",
    "authority people 20.1000 --json",
    "user holdings eve",
    "user holdings eve --json",
    "user holdings none",
    "access list",
    "access grant none",
    "access decline none --reason no",
    "group remove editors eve",
    "group remove editors eve",
    "token create eve --authority 20.1000 --role write",
    "token revoke none",
    "log prove 20.1000/a",
    "log prove 20.1000/none",
    "log export log.ndjson",
    "log verify --export log.ndjson",
    "log tiles tiles",
    "log key --json",
    "inspect 20.1000/a",
];

#[test]
fn the_output_is_the_same_there() {
    let (alone, beside) = (ann_leads(), ann_leads());
    let lines = r#"{"id":"20.1000/i","urls":["https://example.org/i"]}
{"id":"20.1000/j","urls":["javascript:1"]}
"#;
    for folder in [&alone, &beside] {
        folder.done(&["user", "create", "boss", "--administrator"]);
        let token = folder.done(&["token", "create", "boss"]);
        folder.write("token", token);
        folder.write("names.ndjson", lines);
        folder.write("gone.txt", "20.1000/i\n20.1000/none\n");
    }
    let server = beside.serve(&[]);
    for command in COMPARED {
        let arguments: Vec<_> = command.split(' ').collect();
        let (here, there) = (alone.run(&arguments), there(&beside, &server, command));
        let told = String::from_utf8_lossy(&there.stderr);
        assert_eq!(here.status, there.status, "{command}: {told}");
        assert_eq!(evened(&here.stdout), evened(&there.stdout), "{command}");
        assert_eq!(evened(&here.stderr), evened(&there.stderr), "{command}");
    }
    let read = |folder: &Folder, file: &str| std::fs::read(folder.path().join(file)).unwrap();
    for file in ["outcome.ndjson", "names.out", "names.csv"] {
        assert_eq!(
            evened(&read(&alone, file)),
            evened(&read(&beside, file)),
            "{file}"
        );
    }
}

/// What befalls entries, and who does it.
const LIFE: &[(&str, &str)] = &[
    (
        "ann",
        "list --status registered --historical true --text library",
    ),
    ("ann", "list --json"),
    ("ann", "show lccn"),
    ("ann", "show hdl --json"),
    ("ann", "show none"),
    ("ann", "show "),
    (
        "ann",
        "propose oai --title OAI --organisation OAI --contact oai@example.org --case lower",
    ),
    (
        "ann",
        "propose oai --title OAI --organisation OAI --contact oai@example.org --case lower \
         --declare in-use --syntax Names --pattern [a-z:.]+ \
         --mechanism https://oai.example/{id} --security none \
         --example info:oai/A info:oai/a --dry-run",
    ),
    (
        "ann",
        "propose oai --title OAI --organisation OAI --contact oai@example.org --case lower \
         --declare in-use --syntax Names --pattern [a-z:.]+ \
         --mechanism https://oai.example/{id} --security none \
         --example info:oai/A info:oai/a",
    ),
    ("bob", "comment oai Fine --dry-run"),
    ("bob", "comment oai Fine"),
    ("ann", "comment oai"),
    ("ann", "approve oai --why mine"),
    ("bob", "approve oai --why asked --until SOON"),
    ("bob", "renew oai --why longer --until LATER --json"),
    ("bob", "approve oai --why asked"),
    (
        "ann",
        "change oai --title Open --pattern  --why shorter --dry-run",
    ),
    ("ann", "change oai --title Open --pattern  --why shorter"),
    ("ann", "change oai --title Older --expects 1"),
    ("bob", "change oai --title Mine"),
    ("ann", "show oai"),
    ("ann", "claim lccn --why ours"),
    ("ann", "claim lccn --take-back"),
    ("ann", "claim lccn --why ours"),
    ("bob", "refuse lccn --why no"),
    ("ann", "claim lccn --why really"),
    ("bob", "verify lccn --why asked"),
    ("ann", "deprecate oai --why old"),
    ("ann", "withdraw oai --why older"),
    ("ann", "history oai"),
    ("bob", "history lccn --json"),
    ("ann", "policy"),
    ("ann", "policy --file policy.txt"),
    ("bob", "policy --file policy.txt"),
    ("bob", "policy"),
];

#[test]
fn namespaces_are_proposed_and_decided_there() {
    let (alone, beside) = (ann_leads(), ann_leads());
    for folder in [&alone, &beside] {
        folder.done(&["user", "create", "bob"]);
        folder.done(&["authority", "create", "info:"]);
        folder.done(&[
            "authority",
            "grant",
            "info:",
            "--to",
            "bob",
            "--role",
            "admin",
        ]);
        folder.write("policy.txt", "Be kind.\nBe clear.\n");
        for who in ["ann", "bob"] {
            let token = folder.done(&["token", "create", who]);
            folder.write(who, token);
        }
    }
    let server = beside.serve(&[]);
    let url = server.url();
    let days = |number: u64| {
        let since = UNIX_EPOCH.elapsed().unwrap() + Duration::from_hours(24 * number);
        rfc3339(u64::try_from(since.as_millis()).unwrap())
    };
    let (soon, later) = (days(30)[..10].to_string(), days(60));
    let mut refused = Vec::new();
    for (who, command) in LIFE {
        let command = command.replace("SOON", &soon).replace("LATER", &later);
        let words = command.split(' ');
        let command_line: Vec<_> = ["namespace"].into_iter().chain(words).collect();
        let is_public = matches!(command_line[1], "list" | "show");
        let by: &[&str] = if is_public { &[] } else { &["--as", who] };
        let here = alone.run(&[&command_line, by].concat());
        let start = ["--api", &url, "--token-file", who];
        let there = beside.run(&[&start, &command_line[..]].concat());
        let told = String::from_utf8_lossy(&there.stderr);
        assert_eq!(here.status, there.status, "{command}: {told}");
        assert_eq!(evened(&here.stdout), evened(&there.stdout), "{command}");
        assert_eq!(evened(&here.stderr), evened(&there.stderr), "{command}");
        if !there.status.success() {
            refused.push(command);
        }
    }
    assert_eq!(
        refused,
        [
            "show none",
            "show ",
            "propose oai --title OAI --organisation OAI --contact oai@example.org --case lower",
            "comment oai Fine --dry-run",
            "approve oai --why mine",
            "change oai --title Older --expects 1",
            "policy --file policy.txt",
        ]
    );
    for (arguments, problem) in [
        (
            ["verify", "lccn", "--why", "x", "--as", "bob"],
            "leave out --as",
        ),
        (
            ["import", "x.xml", "--dry-run", "--json", "--as", "bob"],
            "leave out --as",
        ),
    ] {
        let start = ["--api", &url, "--token-file", "bob", "namespace"];
        let output = beside.run(&[&start[..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(problem));
    }
}

#[test]
fn an_auditor_checks_the_log_of_a_server() {
    let (folder, server) = start();
    let done = |command: &str| {
        let output = there(&folder, &server, command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {told}");
        String::from_utf8(output.stdout).unwrap()
    };
    let first = done("log verify --keep saved");
    assert!(first.contains("from now on"), "{first}");
    // Past a full tile.
    done("mint --authority 20.1000 --count 300");
    assert!(done("log verify --keep saved").contains("continues that of"));
    assert!(done("log verify").contains("the log is whole"));
    // As the tiles that are published are those that the folder would write.
    done("log tiles there");
    folder.done(&["log", "tiles", "here"]);
    for file in ["tile/0/000", "tile/entries/000", "tile/1/000.p/1"] {
        let read = |start: &str| std::fs::read(folder.path().join(start).join(file)).unwrap();
        assert_eq!(read("here"), read("there"), "{file}");
    }
    // A log that is another than it was is found out.
    let saved = folder.path().join("saved");
    let old = folder.done(&["log", "checkpoint"]);
    let other = ann_leads();
    std::fs::write(&saved, other.done(&["log", "checkpoint"])).unwrap();
    let refused = there(&folder, &server, "log verify --keep saved");
    assert_eq!(refused.status.code(), Some(1));
    std::fs::write(&saved, &old).unwrap();
    done("log verify --keep saved");
    // What never changes may be kept for ever.
    let full = server.get("/api/v1/log/tile/0/000");
    assert_eq!(full.bytes.len(), 256 * 32);
    assert!(full.head.contains("immutable"), "{}", full.head);
    assert!(
        full.head.contains("application/octet-stream"),
        "{}",
        full.head
    );
    for missing in [
        "tile/0/001",
        "tile/0/900",
        "tile/0/0",
        "tile/entries/x",
        "tile/9/000",
    ] {
        let reply = server.get(&format!("/api/v1/log/{missing}"));
        assert_eq!(reply.status, 404, "{missing}");
    }
}

/// A folder tells of all names, a server of so many, and says how many more there are.
#[test]
fn a_long_dry_run_says_what_the_server_does_not_tell() {
    let (folder, server) = start();
    let names: Vec<_> = (0..10_003).map(|n| format!("20.1000/none{n}")).collect();
    folder.write("none.txt", names.join("\n"));
    let command = "job withdraw none.txt --reason gone --dry-run";
    let there = |more: &str| there(&folder, &server, &format!("{command}{more}"));
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
    let here = folder.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(lines(&here.stdout), 10_004);
    let told = there("");
    assert_eq!(lines(&told.stdout), 10_001);
    let note = String::from_utf8_lossy(&told.stderr);
    assert_eq!(note, "the server does not tell of 3 names more\n");
    let told = String::from_utf8(there(" --json").stdout).unwrap();
    let summary: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&summary["refused"], &summary["untold"]),
        (&10_003.into(), &3.into())
    );
}
