//! Updates by import over the network: what they touch, what a dry run shows, and how they are
//! undone.

use handfast_testing::{Response, Server};
use serde_json::{Value as Json, json};

use crate::{start, token};

const TABLE: &str = "id,url\n20.1000/a,https://n/a\n20.1000/new,https://n/new\n";

fn import(server: &Server, who: &str, query: &str) -> Response {
    let path = format!("/api/v1/import?format=csv{query}");
    server.ask("POST", &path, &[who], Some(TABLE))
}

fn values(server: &Server) -> Vec<String> {
    let shown = server.get("/api/v1/names/20.1000%2Fa").json();
    let values = shown["values"].as_array().unwrap().iter();
    let data = |value: &Json| value["data"]["value"].as_str().unwrap().to_string();
    values.map(data).collect()
}

/// An update by table over the API deleted all values without a column, and could not be undone.
#[test]
fn an_update_is_shown_done_and_undone_over_the_api() {
    let server = start();
    let ann = token(&server);
    let before: [(u32, &str, &[u8]); 2] = [(1, "URL", b"https://o/a"), (2, "TITLE", b"A")];
    server.name("20.1000/a", &before);
    let refused = import(&server, &ann, "&replace=true");
    assert_eq!(refused.status, 400);

    let told = import(&server, &ann, "&update=true&dry-run=true").lines();
    assert_eq!(
        (&told[0]["values"], &told[0]["changes"]),
        (
            &json!({"added": 0, "changed": 1, "removed": 0}),
            &json!([{"index": 1, "type": "URL", "before": "https://o/a", "after": "https://n/a"}])
        )
    );
    let told = import(&server, &ann, "&update=true&replace=true&dry-run=true").lines();
    assert_eq!(told[2]["values"]["removed"], 1);
    assert_eq!(told[0]["changes"][1]["after"], Json::Null);
    assert_eq!(values(&server), ["https://o/a", "A"]);

    let told = import(&server, &ann, "&update=true").lines();
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
    assert_eq!(server.get("/api/v1/names/20.1000%2Fnew").status, 200);
}
