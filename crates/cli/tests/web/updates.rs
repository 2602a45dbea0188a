//! Updates by import over the network: what they touch, what a dry run shows, and how they are
//! undone.

use serde_json::{Value as Json, json};

use crate::server::{Folder, Reply, Server};

const TABLE: &str = "id,url\n20.1000/a,https://n/a\n20.1000/new,https://n/new\n";

fn import(server: &Server, who: &str, query: &str) -> Reply {
    let path = format!("/api/v1/import?format=csv{query}");
    server.ask("POST", &path, &[who], Some(TABLE))
}

fn lines(reply: &Reply) -> Vec<Json> {
    assert_eq!(reply.status, 200, "{reply:?}");
    let lines = reply.body.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn values(server: &Server) -> Vec<String> {
    let shown = server.get("/api/v1/names/20.1000%2Fa", &[]).json();
    let values = shown["values"].as_array().unwrap().iter();
    let data = |value: &Json| value["data"]["value"].as_str().unwrap().to_string();
    values.map(data).collect()
}

/// An update by table over the API deleted all values without a column, and could not be undone.
#[test]
fn an_update_is_shown_done_and_undone_over_the_api() {
    let folder = Folder::new();
    let ann = format!("Authorization: Bearer {}", folder.token(&[]));
    let create = ["name", "create", "20.1000/a", "--url", "https://o/a"];
    folder.done(&[&create[..], &["--value", "2:TITLE:A"]].concat());
    let server = folder.serve();
    let refused = import(&server, &ann, "&replace=true");
    assert_eq!(refused.status, 400);

    let told = lines(&import(&server, &ann, "&update=true&dry-run=true"));
    assert_eq!(
        (&told[0]["values"], &told[0]["changes"]),
        (
            &json!({"added": 0, "changed": 1, "removed": 0}),
            &json!([{"index": 1, "type": "URL", "before": "https://o/a", "after": "https://n/a"}])
        )
    );
    let told = lines(&import(
        &server,
        &ann,
        "&update=true&replace=true&dry-run=true",
    ));
    assert_eq!(told[2]["values"]["removed"], 1);
    assert_eq!(told[0]["changes"][1]["after"], Json::Null);
    assert_eq!(values(&server), ["https://o/a", "A"]);

    let told = lines(&import(&server, &ann, "&update=true"));
    let summary = told.last().unwrap();
    assert_eq!(
        (&summary["created"], &summary["changed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(values(&server), ["https://n/a", "A"]);
    let undo = format!("/api/v1/jobs/{}/undo", summary["job"]);
    let undone = server.ask("POST", &undo, &[&ann], None).json();
    assert_eq!(
        (&undone["changed"], &undone["refused"], &undone["stay"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert_eq!(values(&server), ["https://o/a", "A"]);
    assert_eq!(server.get("/api/v1/names/20.1000%2Fnew", &[]).status, 200);
}

/// The command says the same on a folder, beside a server, and over the network.
#[test]
fn the_command_shows_and_undoes_updates_everywhere() {
    let told = ["folder", "socket", "url"].map(|place| {
        let folder = Folder::new();
        let token = folder.token(&[]);
        std::fs::write(folder.path().join("token"), token).unwrap();
        std::fs::write(folder.path().join("names.csv"), TABLE).unwrap();
        folder.done(&["name", "create", "20.1000/a", "--url", "https://o/a"]);
        let server = (place != "folder").then(|| folder.serve());
        let url = server
            .as_ref()
            .map(|server| format!("http://{}", server.web));
        let url = url.filter(|_| place == "url");
        let run = |arguments: &str| {
            let server_options = url
                .iter()
                .flat_map(|url| ["--api", url, "--token-file", "token"]);
            let arguments: Vec<_> = server_options.chain(arguments.split(' ')).collect();
            folder.done(&arguments)
        };
        [
            "import names.csv --update --replace --dry-run",
            "import names.csv --update",
            "job undo 1 --dry-run",
            "job undo 1",
            "job undo 2",
        ]
        .map(run)
    });
    assert!(told[0][0].contains("    - 1 URL https://o/a\n    + 1 URL https://n/a\n"));
    assert!(told[0][1].contains("changed 1 (values: 0 added, 1 changed, 0 removed)"));
    assert!(
        told[0][3].contains("what the import created stays (1)"),
        "{told:?}"
    );
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}
