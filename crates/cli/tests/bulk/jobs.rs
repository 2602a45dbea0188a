//! Changing many names at once.

use serde_json::json;

use crate::*;

fn job(folder: &Folder, arguments: &[&str]) -> Value {
    folder.json(&[&["job"], arguments].concat())
}

/// Names of which some are at `old.example`, one of them withdrawn.
fn at_old_example() -> Folder {
    let folder = Folder::with(PROGRAM, &["20.1", "20.1.sub", "20.2"]);
    for (id, url) in [
        ("20.1/a", "https://old.example/a"),
        ("20.1/b", "https://old.example:8080/?u=https://old.example/"),
        ("20.1/c", "https://older.example/c"),
        ("20.1.sub/d", "http://OLD.example/d"),
        ("20.2/e", "https://old.example/e"),
        ("20.1/gone", "https://old.example/g"),
    ] {
        let value = "9:DESC:https://old.example/";
        folder.done(&["name", "create", id, "--url", url, "--value", value]);
    }
    folder.done(&["name", "withdraw", "20.1/gone", "--reason", "no"]);
    folder
}

const REPLACE: [&str; 5] = [
    "replace-host",
    "old.example",
    "new.example",
    "--authority",
    "20.1",
];

#[test]
fn a_host_is_replaced_in_a_subtree_and_a_dry_run_does_nothing() {
    let folder = at_old_example();
    let before = folder.done(&["export"]);
    let told = folder.done(&[&["job"], &REPLACE[..], &["--dry-run", "--json"]].concat());
    let told = lines(&told);
    assert_eq!(told.last().unwrap()["changed"], 3);
    assert_eq!(told.len(), 4);
    assert_eq!(folder.done(&["export"]), before);
    assert_eq!(job(&folder, &["list"]), json!([]));

    let count = events(&folder);
    let done = job(&folder, &REPLACE);
    assert_eq!(counts(&done), [0, 3, 2, 0]);
    assert_eq!(events(&folder), count + 3, "one event a name");
    assert_eq!(done["events"], json!([[count + 1, count + 3]]));
    for (id, url) in [
        ("20.1/a", "https://new.example/a"),
        ("20.1/b", "https://new.example:8080/?u=https://old.example/"),
        ("20.1/c", "https://older.example/c"),
        ("20.1.sub/d", "http://new.example/d"),
        ("20.2/e", "https://old.example/e"),
        ("20.1/gone", "https://old.example/g"),
    ] {
        assert_eq!(urls(&folder, id), [url]);
    }
    let shown = folder.json(&["name", "show", "20.1/a"]);
    assert_eq!(shown["values"][1]["data"]["value"], "https://old.example/");
    let again = job(&folder, &REPLACE);
    assert_eq!(counts(&again), [0, 0, 5, 0], "nothing is left to do");
}

#[test]
fn jobs_are_undone_but_not_over_later_ones() {
    let folder = at_old_example();
    let before = folder.done(&["export"]);
    let first = job(&folder, &REPLACE)["job"].to_string();
    let (from, to) = ("https://new.example/", "https://cdn.example/new/");
    let prefix = job(&folder, &["replace-url", from, to, "--authority", "20.1"]);
    assert_eq!(counts(&prefix), [0, 1, 4, 0]);
    assert_eq!(urls(&folder, "20.1/a"), ["https://cdn.example/new/a"]);
    let only = ["--type", "DESC", "--authority", "20.1.sub"];
    let ttl = job(&folder, &[&["set-ttl", "60"], &only[..]].concat());
    assert_eq!(counts(&ttl), [0, 1, 0, 0]);
    let shown = folder.json(&["name", "show", "20.1.sub/d"]);
    assert_eq!(shown["values"][0]["ttl"], 86_400);
    assert_eq!(shown["values"][1]["ttl"], 60);

    // The first job cannot be undone where a later one has changed the same; the rest of it is.
    let (summary, told) = folder.not_all(&["job", "undo", &first]);
    assert_eq!(counts(&summary[0]), [0, 2, 0, 1]);
    assert_eq!(told[0]["id"], "20.1/a");
    assert_eq!(told[0]["code"], "changed-since");
    assert_eq!(urls(&folder, "20.1.sub/d"), ["http://OLD.example/d"]);
    for number in [&prefix["job"], &ttl["job"]] {
        job(&folder, &["undo", &number.to_string()]);
    }
    // What is as it was already stays so.
    assert_eq!(counts(&job(&folder, &["undo", &first])), [0, 1, 2, 0]);

    let list = job(&folder, &["list"]);
    let list = list.as_array().unwrap();
    let kinds: Vec<_> = list
        .iter()
        .map(|job| job["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..3], ["replace-url", "replace-url", "set-ttl"]);
    assert_eq!(kinds[3..], ["undo"; 4]);
    assert!(list.iter().all(|job| job["ended"].is_string()));
    assert_eq!(job(&folder, &["show", &first])["changed"], 3);
    // All as it was, but for the times of values.
    let bare = |exported: &str| {
        let mut lines = lines(exported);
        for line in &mut lines {
            for value in line["values"].as_array_mut().into_iter().flatten() {
                value.as_object_mut().unwrap().remove("timestamp");
            }
        }
        lines
    };
    assert_eq!(bare(&folder.done(&["export"])), bare(&before));
    folder.done(&["log", "verify"]);
}

#[test]
fn a_list_of_names_is_withdrawn_and_comes_back_with_the_job_undone() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    folder.done(&["authority", "create", "20.3", "--persistence", "erasable"]);
    let ids: Vec<_> = (0..5).map(|number| format!("20.1/n{number}")).collect();
    for id in &ids {
        folder.done(&["name", "create", id, "--url", "https://x.example/"]);
    }
    folder.done(&["name", "create", "20.3/person"]);
    let list = folder.write(
        "list",
        format!(
            "{}\n\n20.3/person\n20.1/never\n hdl:20.1/N0 \n",
            ids[..3].join("\n")
        ),
    );
    let before = whole(&folder);
    folder.not_all(&["job", "withdraw", &list, "--reason", "wrong", "--dry-run"]);
    assert_eq!(whole(&folder), before);
    let (summary, told) = folder.not_all(&["job", "withdraw", &list, "--reason", "wrong"]);
    assert_eq!(counts(&summary[0]), [0, 4, 0, 2]);
    let expected = [(5, "not-found"), (6, "state")];
    assert_eq!(
        refused_lines(&told),
        expected.map(|(line, code)| (line, code.to_string()))
    );
    let gone = folder.json(&["name", "show", "20.1/n2"]);
    assert_eq!(gone["withdrawn"]["reason"], "wrong");
    assert_eq!(folder.json(&["name", "show", "20.1/n3"])["state"], "active");

    let number = summary[0]["job"].to_string();
    let (_, error) = folder.not_all(&["job", "undo", "77"]);
    assert_eq!(error[0]["error"]["code"], "no-job");
    let (_, error) = folder.not_all(&["job", "undo", &number, "--as", "eve"]);
    assert_eq!(error[0]["error"]["code"], "operator-only");
    assert_eq!(counts(&job(&folder, &["undo", &number])), [0, 4, 0, 0]);
    let (_, error) = folder.not_all(&["job", "undo", &number]);
    assert_eq!(error[0]["error"]["code"], "undone");
    for id in ["20.1/n0", "20.1/n2", "20.3/person"] {
        assert_eq!(folder.json(&["name", "show", id])["state"], "active");
    }
    // Names that were given stay: an import is not undone.
    let file = folder.write("names.ndjson", "{\"id\":\"20.1/new\"}\n");
    let import = folder.json(&["import", &file])["job"].to_string();
    let (_, error) = folder.not_all(&["job", "undo", &import]);
    assert_eq!(error[0]["error"]["code"], "cannot-undo");
    let (_, error) = folder.not_all(&["job", "set-ttl", "5", "--authority", "20.1", "--as", "eve"]);
    assert_eq!(error[0]["error"]["code"], "denied");
}

/// More names than share a transaction.
#[test]
fn a_job_goes_over_all_names_of_an_authority() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let mut input = String::new();
    for number in 0..1_203 {
        let url = format!("https://old.example/{number}");
        let line = json!({"id": format!("20.1/n{number:04}"), "urls": [url]});
        input += &(line.to_string()
            + "
");
    }
    folder.done(&["import", &folder.write("names.ndjson", input)]);
    let before = folder
        .done(&["export"])
        .replace("old.example", "new.example");
    let done = job(
        &folder,
        &[
            "replace-url",
            "https://old.example/",
            "https://new.example/",
            "--authority",
            "20.1",
        ],
    );
    assert_eq!(counts(&done), [0, 1_203, 0, 0]);
    let after = folder.done(&["export"]);
    assert!(!after.contains("old.example"));
    let ids = |exported: &str| {
        lines(exported)
            .into_iter()
            .map(|line| (line["id"].clone(), line["urls"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&after), ids(&before));
    let undone = job(&folder, &["undo", &done["job"].to_string()]);
    assert_eq!(counts(&undone), [0, 1_203, 0, 0]);
    assert!(!folder.done(&["export"]).contains("new.example"));
    folder.done(&["log", "verify"]);
}
