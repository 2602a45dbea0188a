//! Commands that ask a server elsewhere.

use std::process::Output;

use crate::server::{Folder, Server};

fn there(folder: &Folder, server: &Server, command: &str) -> Output {
    let url = format!("http://{}", server.web);
    let start = ["--url", &url, "--token-file", "token"];
    let arguments: Vec<_> = start.into_iter().chain(command.split(' ')).collect();
    folder.run(&arguments)
}

fn start() -> (Folder, Server) {
    let folder = Folder::new();
    let token = folder.token(&[]);
    std::fs::write(folder.path().join("token"), format!("{token}\n")).unwrap();
    let server = folder.serve();
    (folder, server)
}

#[test]
fn commands_are_done_there() {
    let (folder, server) = start();
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
