//! The list of events.

use serde_json::json;

use crate::init;

#[test]
fn events_are_listed_newest_first_with_filters() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    for name in ["20.1/n3", "20.1/n4"] {
        folder.done(&["name", "create", name, "--url", "https://a.example/"]);
        folder.done(&["name", "set", name, "--url", "https://b.example/"]);
    }
    folder.done(&["name", "withdraw", "20.1/n4", "--reason", "lost"]);
    let listed = |arguments: &[&str]| {
        let list = [&["log", "list"], arguments].concat();
        folder.json(&list).as_array().unwrap().clone()
    };
    let all = listed(&[]);
    let numbers: Vec<_> = all.iter().map(|event| event["event"].as_u64()).collect();
    assert!(numbers.is_sorted_by(|newer, older| newer > older));
    assert_eq!(
        (&all[0]["action"], &all[0]["name"]),
        (&json!("withdraw"), &json!("20.1/n4"))
    );
    assert_eq!(listed(&["--limit", "3"]), all[..3]);
    assert_eq!(listed(&["--id", "20.1/N3"]).len(), 2);
    assert_eq!(listed(&["--action", "withdraw"]).len(), 1);
    assert_eq!(
        listed(&["--authority", "20.1", "--until", "2001-01-01"]).len(),
        0
    );
    let text = folder.done(&["log", "list", "--limit", "1"]);
    assert!(text.contains("withdraw 20.1/n4  by the operator"), "{text}");
    let refused = folder.run(&["log", "list", "--action", "fly"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("possible values") && said.contains("withdraw"),
        "{said}"
    );
    folder.done(&["user", "create", "ann"]);
    assert_eq!(listed(&["--as", "ann"]).len(), 0);
}
