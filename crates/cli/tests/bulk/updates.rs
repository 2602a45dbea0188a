//! Updates touch what they name, show what they would do, and are undone.

use std::fs;

use crate::*;

const ADMIN: &str = concat!(
    r#"{"index":100,"type":"HS_ADMIN","data":{"format":"admin","#,
    r#""value":{"handle":"0.NA/20.1","index":200,"permissions":"011111110011"}}}"#,
);
const SECRET: &str = r#"{"index":300,"type":"HS_SECKEY","data":"geheim"}"#;

/// Names with more values than most tables have columns.
fn rich() -> Folder {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let title = r#"{"index":2,"type":"TITLE","data":"A"}"#;
    let urls = [
        r#"{"index":2,"type":"URL","data":"https://b1","ttl":60,"permissions":"1110"}"#,
        r#"{"index":4,"type":"URL","data":"https://b2"}"#,
        r#"{"index":9,"type":"URL","data":"https://b3"}"#,
    ]
    .join(",");
    let tombstone = r#"{"reason":"old","successor":"20.1/a"}"#;
    let input = format!(
        r#"{{"id":"20.1/a","urls":["https://o/a"],"values":[{title},{ADMIN},{SECRET}]}}
{{"id":"20.1/b","values":[{urls}]}}
{{"id":"20.1/gone","urls":["https://o/gone"],"state":"withdrawn","withdrawn":{tombstone}}}
"#
    );
    let file = folder.write("names.ndjson", input);
    folder.done(&["import", &file]);
    folder
}

/// All names, but for the times at which values were set.
fn exported(folder: &Folder) -> Vec<Value> {
    let mut names = lines(&folder.done(&["export", "--with-secrets"]));
    names.retain(|line| line.get("id").is_some());
    for name in &mut names {
        for value in name["values"].as_array_mut().unwrap() {
            value.as_object_mut().unwrap().remove("timestamp");
        }
    }
    names
}

fn values(folder: &Folder, id: &str) -> Vec<String> {
    let shown = folder.json(&["name", "show", id]);
    let values = shown["values"].as_array().unwrap().iter();
    let text = |value: &Value| {
        let data = value["data"]["value"].as_str().unwrap_or("…").to_string();
        let value_type = value["type"].as_str().unwrap();
        format!("{} {value_type} {data}", value["index"])
    };
    values.map(text).collect()
}

fn changed_values(summary: &Value) -> [u64; 3] {
    ["added", "changed", "removed"].map(|what| summary["values"][what].as_u64().unwrap())
}

/// `import --update` of a table `id,url` deleted titles and administrators, and could not be
/// undone.
#[test]
fn a_table_updates_its_columns_and_nothing_else_and_is_undone() {
    let folder = rich();
    let before = exported(&folder);
    let table = "id,url\n20.1/a,https://n/a\n20.1/b,https://n/b\n20.1/gone,https://n/gone\n\
                 20.1/new,https://n/new\n";
    let file = folder.write("urls.csv", table);
    let summary = folder.json(&["import", &file, "--update"]);
    assert_eq!(counts(&summary), [1, 3, 0, 0]);
    assert_eq!(changed_values(&summary), [0, 3, 0]);
    let mut expected = before.clone();
    for (name, url) in [
        (0, "https://n/a"),
        (1, "https://n/b"),
        (2, "https://n/gone"),
    ] {
        expected[name]["urls"][0] = url.into();
        expected[name]["values"][0]["data"]["value"] = url.into();
    }
    let after = exported(&folder);
    assert_eq!(after[..3], expected);
    assert_eq!(
        counts(&folder.json(&["import", &file, "--update"])),
        [0, 0, 4, 0]
    );

    // The names are as they were, and those that the import created stay.
    let job = summary["job"].to_string();
    let planned = folder.done(&["job", "undo", &job, "--dry-run"]);
    assert!(
        planned.contains("would be changed 3, unchanged 0, refused 0"),
        "{planned}"
    );
    let undone = folder.done(&["job", "undo", &job]);
    assert!(
        undone.contains("changed 3, unchanged 0, refused 0"),
        "{undone}"
    );
    assert!(
        undone.contains("what the import created stays (1)"),
        "{undone}"
    );
    let restored = exported(&folder);
    assert_eq!(restored[..3], before);
    assert_eq!(restored[3], after[3]);

    // Undoing that does it again; the log is whole.
    let undo = folder.json(&["job", "list"]);
    let undo = undo.as_array().unwrap().last().unwrap()["job"].to_string();
    folder.done(&["job", "undo", &undo]);
    assert_eq!(exported(&folder), after);
    folder.done(&["check"]);
    folder.done(&["log", "verify"]);
}

/// The column of a title overwrote whatever else stood at its index, and an empty field removed a
/// value.
#[test]
fn values_are_named_by_index_and_urls_by_their_order() {
    let folder = rich();
    let table = "id,TITLE:2\n20.1/a,New\n20.1/b,B\n20.1/gone,\n";
    let file = folder.write("titles.csv", table);
    let (summary, told) = folder.not_all(&["import", &file, "--update"]);
    assert_eq!(counts(&summary[0]), [0, 1, 1, 1]);
    assert_eq!(refused_lines(&told), [(3, "other-type".to_string())]);
    let expected = ["1 URL https://o/a", "2 TITLE New", "100 HS_ADMIN …"];
    assert_eq!(values(&folder, "20.1/a")[..3], expected);

    let table = "id,url2,url\n20.1/a,https://second,\n20.1/b,https://n2,\n20.1/gone,,\n";
    let file = folder.write("second.csv", table);
    let summary = folder.json(&["import", &file, "--update"]);
    assert_eq!(counts(&summary), [0, 2, 1, 0]);
    assert_eq!(changed_values(&summary), [1, 1, 0]);
    assert_eq!(urls(&folder, "20.1/a"), ["https://o/a", "https://second"]);
    assert_eq!(
        urls(&folder, "20.1/b"),
        ["https://b1", "https://n2", "https://b3"]
    );

    // Lines of NDJSON obey the same rule.
    let lines = r#"{"id":"20.1/a","values":[{"index":5,"type":"EMAIL","data":"a@b"}]}
{"id":"20.1/b","urls":["https://n1"],"values":[{"index":9,"type":"URL","data":"https://n3"}]}
"#;
    let file = folder.write("more.ndjson", lines);
    let summary = folder.json(&["import", &file, "--update"]);
    assert_eq!(changed_values(&summary), [1, 2, 0]);
    assert_eq!(values(&folder, "20.1/a").len(), 6);
    assert_eq!(
        urls(&folder, "20.1/b"),
        ["https://n1", "https://n2", "https://n3"]
    );
    let ttls = folder.json(&["name", "show", "20.1/b"]);
    assert_eq!(ttls["values"][0]["ttl"], 60);
}

/// A table that withdraws names wiped their URLs and titles.
#[test]
fn a_table_withdraws_names_and_leaves_their_values() {
    let folder = rich();
    let before = exported(&folder);
    let table = "id,state,reason,successor\n20.1/a,withdrawn,moved,20.1/b\n20.1/gone,withdrawn,,\n";
    let file = folder.write("gone.csv", table);
    let dry = folder.done(&["import", &file, "--update", "--dry-run"]);
    assert!(
        dry.contains("line 2: changed 20.1/a\n    active becomes withdrawn\n"),
        "{dry}"
    );
    let summary = folder.json(&["import", &file, "--update"]);
    assert_eq!(counts(&summary), [0, 1, 1, 0]);
    assert_eq!(changed_values(&summary), [0, 0, 0]);
    let after = exported(&folder);
    assert_eq!(after[0]["values"], before[0]["values"]);
    assert_eq!(after[0]["withdrawn"]["successor"], "20.1/b");
    assert_eq!(after[2], before[2]);
    folder.done(&["job", "undo", &summary["job"].to_string()]);
    assert_eq!(exported(&folder), before);
}

#[test]
fn replace_removes_what_a_line_does_not_name_and_a_dry_run_says_so() {
    let folder = rich();
    let before = exported(&folder);
    let file = folder.write("urls.csv", "id,url\n20.1/a,https://n/a\n");
    let output = folder.run(&["import", &file, "--replace"]);
    assert_eq!(output.status.code(), Some(2));
    let told = folder.done(&["import", &file, "--update", "--replace", "--dry-run"]);
    assert_eq!(
        told,
        "line 2: changed 20.1/a\n    - 1 URL https://o/a\n    + 1 URL https://n/a\n    \
         - 2 TITLE A\n    - 100 HS_ADMIN (19 bytes)\n\
         would be created 0, changed 1 (values: 0 added, 1 changed, 2 removed), \
         unchanged 0, refused 0\n"
    );
    assert_eq!(exported(&folder), before);
    let (told, _) = lines_of(&folder.done(&["import", &file, "--update", "--dry-run", "--json"]));
    assert_eq!(
        told["changes"],
        serde_json::json!([
            {"index": 1, "type": "URL", "before": "https://o/a", "after": "https://n/a"}
        ])
    );
    let told = folder.done(&["import", &file, "--update", "--replace"]);
    let undo = "undo the changes with `handfast job undo 2`\n";
    assert_eq!(
        told,
        format!(
            "created 0, changed 1 (values: 0 added, 1 changed, 2 removed), \
             unchanged 0, refused 0\n{undo}"
        )
    );
    // Exports leave secrets out, so that even this keeps them.
    assert_eq!(values(&folder, "20.1/a").len(), 2);
    folder.done(&["job", "undo", "2"]);
    assert_eq!(exported(&folder), before);
}

fn lines_of(text: &str) -> (Value, Value) {
    let mut lines = lines(text);
    let last = lines.pop().unwrap();
    (lines.remove(0), last)
}

/// A secret in a dry run would be in the terminal, and in logs of those who keep outcomes.
#[test]
fn secrets_are_never_shown() {
    let folder = rich();
    let line = r#"{"id":"20.1/a","values":[{"index":300,"type":"HS_SECKEY","data":"anders"}]}"#;
    let file = folder.write("secret.ndjson", line);
    let outcome = folder.file("outcome.ndjson");
    let import = ["import", &file, "--update", "--outcome", &outcome];
    let told = folder.done(&[&import[..], &["--dry-run"]].concat());
    assert!(
        told.contains("    - 300 HS_SECKEY (hidden)\n    + 300 HS_SECKEY (hidden)\n"),
        "{told}"
    );
    folder.done(&import);
    let told = fs::read_to_string(&outcome).unwrap();
    assert!(told.contains("(hidden)") && !told.contains("anders") && !told.contains("geheim"));
}

/// An export that nobody has edited is no update, and with `--replace` everything is as it was
/// exported.
#[test]
fn what_was_exported_changes_nothing_and_restores_with_replace() {
    let folder = rich();
    let mut files = Vec::new();
    for format in ["csv", "ndjson"] {
        let file = folder.file(&format!("all.{format}"));
        folder.done(&["export", &file, "--format", format]);
        let summary = folder.json(&["import", &file, "--update"]);
        assert_eq!(counts(&summary)[1], 0, "{format}");
        assert_eq!(counts(&summary)[3], 0, "{format}");
        files.push(file);
    }
    let before = exported(&folder);
    folder.done(&[
        "name",
        "set",
        "20.1/a",
        "--value",
        "7:EMAIL:x@y",
        "--remove",
        "2",
    ]);
    folder.done(&["name", "restore", "20.1/gone"]);
    let ndjson = &files[1];
    folder.done(&["import", ndjson, "--update", "--replace"]);
    assert_eq!(exported(&folder), before);
}

#[test]
fn names_of_others_are_not_touched_and_not_shown() {
    let folder = rich();
    let before = exported(&folder);
    folder.done(&["user", "create", "eve"]);
    let table = "id,url,TITLE:300\n20.1/a,https://evil,\n20.1/b,,x\n20.1/a2,https://evil,\n";
    let file = folder.write("evil.csv", table);
    for flags in [&["--update"][..], &["--update", "--dry-run"]] {
        let import = [&["import", &file, "--as", "eve"], flags].concat();
        let (told, refused) = folder.not_all(&import);
        let all = [told, refused].concat();
        let codes: Vec<_> = refused_lines(&all)
            .into_iter()
            .map(|(_, code)| code)
            .collect();
        assert_eq!(codes, ["denied", "denied", "denied"], "{all:?}");
    }
    let table = "id,TITLE:300\n20.1/a,x\n";
    let file = folder.write("probe.csv", table);
    let (_, told) = folder.not_all(&["import", &file, "--update", "--as", "eve"]);
    assert_eq!(refused_lines(&told), [(2, "denied".to_string())]);
    assert_eq!(exported(&folder), before);
}

/// The operations of a batch say what they do; they are shown and undone like the rest.
#[test]
fn the_changes_of_a_batch_are_undone_and_its_creations_stay() {
    let folder = rich();
    let before = exported(&folder);
    let batch = "CREATE 20.1/c\n1 URL 86400 1110 UTF8 https://c\n\n\
                 MODIFY 20.1/a\n2 TITLE 86400 1110 UTF8 Changed\n\n\
                 MODIFY 20.1/c\n1 URL 86400 1110 UTF8 https://c2\n\n\
                 ADD 20.1/a\n5 EMAIL 86400 1110 UTF8 a@b\n\n\
                 REMOVE 4:20.1/b\n\nDELETE 20.1/b\n";
    let file = folder.write("changes.batch", batch);
    let summary = folder.json(&["import", &file]);
    assert_eq!(counts(&summary), [1, 5, 0, 0]);
    assert_eq!(changed_values(&summary), [1, 2, 1]);
    let undone = folder.json(&["job", "undo", &summary["job"].to_string()]);
    assert_eq!(
        (&undone["changed"], &undone["refused"], &undone["stay"]),
        (&2.into(), &0.into(), &1.into())
    );
    let after = exported(&folder);
    assert_eq!(
        [&after[0], &after[1], &after[3]],
        [&before[0], &before[1], &before[2]]
    );
    assert_eq!(urls(&folder, "20.1/c"), ["https://c2"]);
}

/// What was changed again since is not overwritten, and imports without changes have nothing to
/// undo.
#[test]
fn later_changes_are_not_undone_with_an_import() {
    let folder = rich();
    let refused = folder.run(&["job", "undo", "1"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("job 1 changed nothing") && told.contains("job withdraw FILE"),
        "{told}"
    );
    let file = folder.write(
        "urls.csv",
        "id,url\n20.1/a,https://n/a\n20.1/b,https://n/b\n",
    );
    folder.done(&["import", &file, "--update"]);
    folder.done(&["name", "set", "20.1/a", "--value", "1:URL:https://later"]);
    let (done, told) = folder.not_all(&["job", "undo", "2"]);
    assert_eq!(
        (&done[0]["changed"], &done[0]["refused"]),
        (&1.into(), &1.into())
    );
    assert_eq!(told[0]["code"], "changed-since");
    assert_eq!(urls(&folder, "20.1/a"), ["https://later"]);
    assert_eq!(urls(&folder, "20.1/b")[0], "https://b1");
}

/// Names that may be erased are not in the events: all that an import did to one of them is found
/// all the same.
#[test]
fn an_update_under_an_erasable_authority_is_undone() {
    let folder = Folder::empty(PROGRAM);
    folder.done(&["init"]);
    folder.done(&["authority", "create", "20.9", "--persistence", "erasable"]);
    folder.done(&["name", "create", "20.9/x", "--url", "https://x"]);
    folder.done(&["name", "withdraw", "20.9/x", "--reason", "old"]);
    let before = exported(&folder);
    let file = folder.write("urls.csv", "id,url\n20.9/x,https://n\n20.9/y,https://y\n");
    let summary = folder.json(&["import", &file, "--update"]);
    assert_eq!(counts(&summary), [1, 1, 0, 0]);
    let undone = folder.json(&["job", "undo", &summary["job"].to_string()]);
    assert_eq!(
        (&undone["changed"], &undone["refused"]),
        (&1.into(), &0.into())
    );
    assert_eq!(exported(&folder)[0], before[0]);
}

/// A row with a slip in its name and no value made an empty name, which is permanent.
#[test]
fn an_update_creates_no_empty_name() {
    let folder = rich();
    let file = folder.write("slip.csv", "id,url\n20.1/slip,\n");
    let (planned, _) = folder.not_all(&["import", &file, "--update", "--dry-run"]);
    let planned = planned.iter().map(ToString::to_string).collect::<String>();
    assert!(planned.contains("no-values"), "{planned}");
    let (_, told) = folder.not_all(&["import", &file, "--update"]);
    assert_eq!(refused_lines(&told), [(2, "no-values".to_string())]);
    folder.done(&["import", &file]);
}

/// What is wrong with a header is said so that it can be mended.
#[test]
fn headers_are_commas_and_columns_that_stand_once() {
    let folder = rich();
    for (table, word) in [
        ("id;url\n20.1/x;https://x.example/\n", "found `;`"),
        ("id,url,url\n20.1/x,https://x.example/,\n", "url2"),
        ("id,EMAIL:5,EMAIL:5\n20.1/x,a,b\n", "stands twice"),
    ] {
        let file = folder.write("bad.csv", table);
        let output = folder.run(&["import", &file]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(word), "{told}");
    }
}
