//! Import, export and bulk changes, as a user of the command line meets them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Folder, lines};
use serde_json::{Value, json};

/// Refused lines with their numbers and codes, by number.
fn refusals(outcomes: &[Value]) -> Vec<(u64, String)> {
    let refused = outcomes
        .iter()
        .filter(|outcome| outcome["outcome"] == "refused");
    let mut found: Vec<_> = refused
        .map(|outcome| {
            assert!(!outcome["reason"].as_str().unwrap().is_empty());
            let code = outcome["code"].as_str().unwrap().to_string();
            (outcome["line"].as_u64().unwrap(), code)
        })
        .collect();
    found.sort();
    found
}

fn counts(summary: &Value) -> [u64; 4] {
    ["created", "changed", "unchanged", "refused"].map(|what| summary[what].as_u64().unwrap())
}

fn names(folder: &Folder, authority: &str) -> Vec<String> {
    let listed = folder.done(&["name", "list", "--authority", authority, "--json"]);
    let listed = lines(&listed);
    let ids = listed.iter().map(|name| name["id"].as_str().unwrap());
    ids.map(str::to_string).collect()
}

fn urls(folder: &Folder, id: &str) -> Vec<String> {
    let shown = folder.json(&["name", "show", id]);
    let values = shown["values"].as_array().unwrap().iter();
    let urls = values.filter(|value| value["type"] == "URL");
    urls.map(|value| value["data"]["value"].as_str().unwrap().to_string())
        .collect()
}

/// How many events there are, by a proof that costs none.
fn events(folder: &Folder) -> u64 {
    folder.json(&["log", "verify"])["events"].as_u64().unwrap()
}

/// All that can be told from outside.
fn whole(folder: &Folder) -> (String, u64, Value) {
    let exported = folder.done(&["export", "--with-secrets"]);
    (exported, events(folder), folder.json(&["job", "list"]))
}

const BAD: &str = r#"{"id":"20.1/first","urls":["https://a.example/"]}
not JSON
{"id":"20.1/unknown-field","colour":"red"}
{"id":"20.1/","urls":["https://a.example/"]}
{"id":"no-slash"}
{"id":"20.1/twice","urls":["https://a.example/"]}
{"id":"hdl:20.1/TWICE","urls":["https://b.example/"]}
{"id":"20.1/script","urls":["JavaScript:alert(1)"]}
{"id":"20.77/nobody"}

{"id":"20.1/index","values":[{"index":5,"type":"A","data":"a"},{"index":5,"type":"B","data":"b"}]}
{"id":"20.1/reason","state":"withdrawn"}
{"id":"20.1/state","state":"lost"}
"20.1/text"
{"id":"20.1/last","urls":["https://a.example/"],"values":[{"index":5,"type":"EMAIL","data":"a@b.example"}],"state":"reserved"}"#;

#[test]
fn bad_lines_are_named_and_good_ones_are_not_lost() {
    let folder = Folder::with(&["20.1"]);
    let file = folder.write("names.ndjson", BAD);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [3, 0, 0, 11]);
    let expected = [
        (2, "bad-json"),
        (3, "bad-field"),
        (4, "empty-suffix"),
        (5, "missing-suffix"),
        (7, "duplicate"),
        (8, "invalid-value"),
        (9, "no-authority"),
        (11, "invalid-value"),
        (12, "bad-reason"),
        (13, "bad-field"),
        (14, "bad-field"),
    ];
    assert_eq!(
        refusals(&told),
        expected.map(|(line, code)| (line, code.to_string()))
    );
    let reason = |line: u64| {
        let found = told.iter().find(|outcome| outcome["line"] == line);
        found.unwrap()["reason"].as_str().unwrap().to_string()
    };
    assert!(reason(3).contains("colour"), "{}", reason(3));
    assert!(reason(7).contains("line 6"), "{}", reason(7));
    assert_eq!(
        names(&folder, "20.1"),
        ["20.1/first", "20.1/last", "20.1/twice"]
    );
    assert_eq!(urls(&folder, "20.1/twice"), ["https://a.example/"]);
    let last = folder.json(&["name", "show", "20.1/last"]);
    assert_eq!(last["state"], "reserved");
    assert_eq!(last["values"][1]["data"]["value"], "a@b.example");

    // For people: the number of the line, what is wrong, and the code.
    let output = folder.run(&["import", &file]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    let line = told.lines().find(|line| line.starts_with("line 8:"));
    assert!(line.unwrap().contains("javascript:"), "{told}");
    assert!(line.unwrap().ends_with("[invalid-value]"), "{told}");
}

/// A file that is damaged in the middle: what was read before is kept, and what is too long is named.
#[test]
fn bytes_that_are_no_text_spoil_their_line_alone() {
    let folder = Folder::with(&["20.1"]);
    let mut input =
        b"{\"id\":\"20.1/a\"}\r\n{\"id\":\"20.1/\xFF\"}\r\n{\"id\":\"20.1/b\"}\r\n".to_vec();
    input.extend(b"{\"id\":\"20.1/long\",\"urls\":[\"");
    input.extend(vec![b'x'; 5 << 20]);
    input.extend(b"\"]}\n{\"id\":\"20.1/c\"}");
    let file = folder.write("names.ndjson", input);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [3, 0, 0, 2]);
    let refused: Vec<_> = refusals(&told).into_iter().map(|(line, _)| line).collect();
    assert_eq!(refused, [2, 4]);
    assert_eq!(names(&folder, "20.1"), ["20.1/a", "20.1/b", "20.1/c"]);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let folder = Folder::with(&["20.1"]);
    folder.done(&["name", "create", "20.1/same", "--url", "https://s.example/"]);
    folder.done(&[
        "name",
        "create",
        "20.1/other",
        "--url",
        "https://o.example/",
    ]);
    let file = folder.write(
        "names.ndjson",
        r#"{"authority":"20.5","title":"New"}
{"id":"20.5/under-new"}
{"id":"20.1/same","urls":["https://s.example/"]}
{"id":"20.1/other","urls":["https://new.example/"]}
{"id":"20.1/new","urls":["https://n.example/"]}
{"id":"20.1/NEW","urls":["https://n.example/"]}
"#,
    );
    let before = whole(&folder);
    let (told, _) = folder.not_all(&["import", &file, "--update", "--dry-run"]);
    let (summary, told) = told.split_last().unwrap();
    assert_eq!(summary["dry-run"], true);
    assert_eq!(summary["job"], Value::Null);
    assert_eq!(counts(summary), [3, 1, 1, 1]);
    let mut outcomes: Vec<_> = told
        .iter()
        .map(|outcome| {
            let told = outcome["outcome"].as_str().unwrap();
            (outcome["line"].as_u64().unwrap(), told)
        })
        .collect();
    outcomes.sort_unstable();
    assert_eq!(
        outcomes,
        [
            (1, "created"),
            (2, "created"),
            (3, "unchanged"),
            (4, "changed"),
            (5, "created"),
            (6, "refused")
        ]
    );
    assert_eq!(whole(&folder), before);
    // And it was right.
    let (summary, _) = folder.not_all(&["import", &file, "--update"]);
    assert_eq!(counts(&summary[0]), [3, 1, 1, 1]);
}

#[test]
fn the_outcome_has_a_line_for_each_line_with_its_event() {
    let folder = Folder::with(&["20.1"]);
    folder.done(&["name", "create", "20.1/same", "--url", "https://s.example/"]);
    let mut input = r#"{"id":"20.1/same","urls":["https://s.example/"]}"#.to_string();
    for number in 0..300 {
        // Neither in order nor all right.
        let local = (number * 7) % 300;
        input +=
            &format!("\n{{\"id\":\"20.1/n{local:03}\",\"urls\":[\"https://{number}.example/\"]}}");
        if number % 100 == 50 {
            input += "\n{\"id\":\"20.1/bad\",\"urls\":[\"data:x\"]}";
        }
    }
    let file = folder.write("names.ndjson", &input);
    let outcome = folder.file("outcome.ndjson");
    folder.not_all(&["import", &file, "--outcome", &outcome]);
    let outcomes = lines(&fs::read_to_string(&outcome).unwrap());
    let mut numbers: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome["line"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    let expected: Vec<u64> = (1..=304).collect();
    assert_eq!(numbers, expected);
    for outcome in &outcomes {
        let id = outcome["id"].as_str().unwrap();
        assert_eq!(outcome["event"].is_u64(), outcome["outcome"] == "created");
        // Each costs a process: a few are looked at.
        if outcome["outcome"] == "created" && id.ends_with("00") {
            let history = folder.json(&["name", "history", id]);
            assert_eq!(history[0]["event"], outcome["event"], "{id}");
            let number = outcome["line"].as_u64().unwrap() - 2;
            let url = urls(&folder, id).remove(0);
            let passed = u64::from(number > 50) + u64::from(number > 151) + u64::from(number > 252);
            assert_eq!(url, format!("https://{}.example/", number - passed));
        }
    }
    assert_eq!(refusals(&outcomes).len(), 3);
    // An import that is run again says the same of each line, but that nothing is new.
    folder.not_all(&["import", &file, "--outcome", &outcome]);
    let again = lines(&fs::read_to_string(&outcome).unwrap());
    assert_eq!(again.len(), outcomes.len());
    assert!(again.iter().all(|line| line["outcome"] != "created"));
}

#[test]
fn equal_names_are_unchanged_and_different_ones_are_changed_only_when_asked() {
    let folder = Folder::with(&["20.1"]);
    folder.done(&["name", "create", "20.1/x", "--url", "https://x.example/"]);
    folder.done(&["name", "create", "20.1/gone", "--url", "https://g.example/"]);
    folder.done(&["name", "withdraw", "20.1/gone", "--reason", "wrong"]);
    folder.done(&[
        "name",
        "create",
        "20.1/id",
        "--value",
        "300:HS_SECKEY:geheim",
    ]);
    let equal = folder.write(
        "equal.ndjson",
        r#"{"id":"20.1/X","urls":["https://x.example/"]}
{"id":"20.1/gone","urls":["https://g.example/"],"state":"withdrawn","withdrawn":{"reason":"wrong"}}
{"id":"20.1/id"}"#,
    );
    let before = events(&folder);
    assert_eq!(counts(&folder.json(&["import", &equal])), [0, 0, 3, 0]);
    assert_eq!(events(&folder), before);

    let different = folder.write(
        "different.ndjson",
        r#"{"id":"20.1/x","urls":["https://new.example/"],"values":[{"index":7,"type":"DESC","data":"d"}]}
{"id":"20.1/gone","urls":["https://back.example/"]}
{"id":"20.1/id","values":[{"index":5,"type":"EMAIL","data":"a@b.example"}]}"#,
    );
    let (summary, told) = folder.not_all(&["import", &different]);
    assert_eq!(counts(&summary[0]), [0, 0, 0, 3]);
    assert!(refusals(&told).iter().all(|(_, code)| code == "differs"));
    assert_eq!(events(&folder), before);

    assert_eq!(
        counts(&folder.json(&["import", &different, "--update"])),
        [0, 3, 0, 0]
    );
    assert_eq!(urls(&folder, "20.1/x"), ["https://new.example/"]);
    assert_eq!(
        folder.json(&["name", "show", "20.1/gone"])["state"],
        "active"
    );
    // An export leaves secrets out, so a line that does not speak of them does not take them away.
    let secret = folder.done(&["export", "--with-secrets"]);
    assert!(secret.contains("geheim") && secret.contains("a@b.example"));
    let history = folder.json(&["name", "history", "20.1/x"]);
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert_eq!(
        counts(&folder.json(&["import", &different, "--update"])),
        [0, 0, 3, 0]
    );
    assert_eq!(
        folder.json(&["name", "history", "20.1/x"]),
        history,
        "nothing is done twice"
    );
    let (_, told) = folder.not_all(&["import", &equal, "--update", "--as", "eve"]);
    assert!(refusals(&told).iter().all(|(_, code)| code == "denied"));
}

#[test]
fn a_table_gives_names_with_urls_in_order_and_other_values() {
    let folder = Folder::with(&["20.1"]);
    let table = "\u{FEFF}id,url,url2,EMAIL:5,state,reason,successor\n\
                 20.1/a,https://1.example/,https://2.example/,\"a,\"\"b\"\"@example.org\",,,\n\
                 20.1/b,,,,reserved,,\n\
                 20.1/c,https://c.example/,,,withdrawn,moved,20.1/a\n\
                 20.1/d,https://d.example/,,,lost,,\n\
                 20.1/e,1,2,3,,,,more\n\
                 20.1/f,data:x,,,,,\n\
                 20.1/A,https://again.example/,,,,,\n";
    let file = folder.write("names.csv", table);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(summary[0]["format"], "csv");
    assert_eq!(counts(&summary[0]), [3, 0, 0, 4]);
    let expected = [
        (5, "bad-row"),
        (6, "bad-row"),
        (7, "invalid-value"),
        (8, "duplicate"),
    ];
    assert_eq!(
        refusals(&told),
        expected.map(|(line, code)| (line, code.to_string()))
    );
    assert_eq!(
        urls(&folder, "20.1/a"),
        ["https://1.example/", "https://2.example/"]
    );
    let shown = folder.json(&["name", "show", "20.1/a"]);
    assert_eq!(shown["values"][2]["index"], 5);
    assert_eq!(shown["values"][2]["data"]["value"], "a,\"b\"@example.org");
    let gone = folder.json(&["name", "show", "20.1/c"]);
    assert_eq!(gone["withdrawn"]["successor"], "20.1/a");
    let (_, told) = folder.not_all(&["import", &folder.write("no.csv", "id,colour\n20.1/x,red\n")]);
    assert_eq!(told[0]["error"]["code"], "bad-header");

    // What a table can say comes back from one.
    let exported = folder.file("out.csv");
    folder.done(&["export", &exported, "--format", "csv"]);
    let other = Folder::with(&["20.1"]);
    other.done(&["import", &exported]);
    let again = other.file("again.csv");
    other.done(&["export", &again, "--format", "csv"]);
    assert_eq!(
        fs::read_to_string(&again).unwrap(),
        fs::read_to_string(&exported).unwrap()
    );
}

#[test]
fn a_batch_file_does_its_operations_in_their_order() {
    let folder = Folder::empty();
    let data = folder.write("data.bin", [0, 1, 0xFF]);
    let batch = format!(
        "AUTHENTICATE PUBKEY:300:0.NA/20.500.12345
/path/admpriv.bin|passphrase

HOME 127.0.0.1:2641:TCP
0.NA/20.500.12345
0.NA/20.9

CREATE 20.500.12345/abc
100 HS_ADMIN 86400 1110 ADMIN 200:111111111111:0.NA/20.500.12345
1 URL 86400 1110 UTF8 https://example.org/abc
2 DESC 300 1111 UTF8 two words
3 BINARY 300 1100 FILE {data}
4 HS_VLIST 86400 1110 LIST 300:20.1/a;301:20.1/b

MODIFY 20.500.12345/abc
1 URL 60 1110 UTF8 https://example.org/new

ADD 20.500.12345/abc
5 EMAIL 86400 1110 UTF8 a@example.org

REMOVE 2,4:20.500.12345/abc

CREATE 20.500.12345/gone
1 URL 86400 1110 UTF8 https://example.org/gone

DELETE 20.500.12345/gone

ADD 20.500.12345/abc
5 EMAIL 86400 1110 UTF8 twice@example.org

MODIFY 20.500.12345/abc
77 EMAIL 86400 1110 UTF8 none@example.org

REMOVE 99:20.500.12345/abc

DELETE 20.500.12345/never

CREATE 20.500.12345/bad
1 URL sixty 1110 UTF8 https://example.org/

CREATE 20.500.12345/script
1 URL 60 1110 UTF8 javascript:1

UNHOME 127.0.0.1:2641:TCP
0.NA/20.9
"
    );
    let file = folder.write("operations.txt", &batch);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(summary[0]["format"], "batch");
    assert_eq!(counts(&summary[0]), [4, 5, 0, 6]);
    let refused = refusals(&told);
    let line = |text: &str, nth: usize| {
        let mut found = (1_u64..).zip(batch.lines());
        found
            .by_ref()
            .filter(|(_, line)| *line == text)
            .nth(nth)
            .unwrap()
            .0
    };
    let expected = [
        (line("ADD 20.500.12345/abc", 1), "invalid-value"),
        (line("MODIFY 20.500.12345/abc", 1), "invalid-value"),
        (line("REMOVE 99:20.500.12345/abc", 0), "invalid-value"),
        (line("DELETE 20.500.12345/never", 0), "not-found"),
    ];
    for (at, code) in expected {
        assert!(
            refused.contains(&(at, code.to_string())),
            "{at} {refused:?}"
        );
    }
    assert_eq!(refused[4].1, "bad-operation");
    assert_eq!(refused[5].1, "invalid-value");

    let shown = folder.json(&["name", "show", "20.500.12345/abc"]);
    let values = shown["values"].as_array().unwrap();
    let indexes: Vec<_> = values.iter().map(|value| &value["index"]).collect();
    assert_eq!(indexes, [1, 3, 5, 100]);
    assert_eq!(values[0]["data"]["value"], "https://example.org/new");
    assert_eq!(values[0]["ttl"], 60);
    assert_eq!(
        values[1]["data"],
        json!({"format": "base64", "value": "AAH/"})
    );
    assert_eq!(values[1]["permissions"], "1100");
    assert_eq!(values[3]["data"]["value"]["handle"], "0.NA/20.500.12345");
    let gone = folder.json(&["name", "show", "20.500.12345/gone"]);
    assert_eq!(
        gone["state"], "withdrawn",
        "what was given is never deleted"
    );
    assert_eq!(
        folder.json(&["authority", "show", "20.9"])["status"],
        "retired"
    );

    // As a batch file again, into another folder.
    let exported = folder.file("out.batch");
    folder.done(&[
        "export",
        &exported,
        "--format",
        "batch",
        "--authority",
        "20.500.12345",
    ]);
    assert!(
        fs::read_to_string(&exported)
            .unwrap()
            .starts_with("CREATE ")
    );
    assert!(!fs::read_to_string(&exported).unwrap().contains("gone"));
}

/// Where deleting is allowed a batch file deletes.
#[test]
fn a_batch_file_erases_where_that_is_allowed() {
    let folder = Folder::with(&[]);
    folder.done(&["authority", "create", "20.2", "--persistence", "erasable"]);
    folder.done(&["name", "create", "20.2/x", "--url", "https://x.example/"]);
    let file = folder.write("operations", "DELETE 20.2/x\n\nDELETE 20.2/x\n");
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [0, 1, 0, 1]);
    assert_eq!(refusals(&told), [(3, "not-found".to_string())]);
    assert!(names(&folder, "20.2").is_empty());
}

/// More operations than share a transaction.
#[test]
fn a_batch_file_of_thousands_of_operations_is_done_to_its_end() {
    let folder = Folder::with(&["20.1"]);
    let mut batch = String::new();
    for number in 0..1_234 {
        batch +=
            &format!("CREATE 20.1/n{number}\n1 URL 60 1110 UTF8 https://{number}.example/\n\n");
    }
    let file = folder.write("names.batch", batch);
    assert_eq!(counts(&folder.json(&["import", &file])), [1_234, 0, 0, 0]);
    assert_eq!(counts(&folder.json(&["import", &file])), [0, 0, 1_234, 0]);
    assert_eq!(names(&folder, "20.1").len(), 1_234);
}

#[test]
fn a_json_dump_brings_its_prefixes_and_records() {
    let folder = Folder::empty();
    let dump = r#"{ "homedPrefixes": ["0.NA/0.NA", "0.NA/20.500.12345"],
  "handleRecords": {
    "20.500.12345/ABC": { "handle": "20.500.12345/ABC", "responseCode": 1, "values": [
      {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}, "ttl": 60, "timestamp": "2020-01-02T03:04:05Z"},
      {"index": 100, "type": "HS_ADMIN", "data": {"format": "admin", "value": {"handle": "0.NA/20.500.12345", "index": 200, "permissions": "011111110011"}}, "ttl": 86400, "timestamp": "2020-01-02T03:04:05Z"}]},
    "20.500.12345/BAD": { "handle": "20.500.12345/BAD", "values": [{"index": "one"}]},
    "20.500.12345/script": { "values": [{"index": 1, "type": "URL", "data": {"format": "string", "value": "javascript:1"}}]},
    "20.500.12345/bin": { "values": [{"index": 1, "type": "B", "data": {"format": "base64", "value": "AAH/"}, "permissions": "1100", "references": [{"handle": "20.1/r", "index": 3}]}]}
  }}"#;
    let file = folder.write("dump.json", dump);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(summary[0]["format"], "json");
    let refused: Vec<_> = told
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert!(refused.contains(&"20.500.12345/BAD"), "{refused:?}");
    assert!(refused.contains(&"20.500.12345/script"), "{refused:?}");
    assert_eq!(
        names(&folder, "20.500.12345"),
        ["20.500.12345/ABC", "20.500.12345/bin"]
    );
    let shown = folder.json(&["name", "show", "20.500.12345/abc"]);
    assert_eq!(shown["values"][0]["timestamp"], "2020-01-02T03:04:05Z");
    assert_eq!(shown["values"][0]["ttl"], 60);
    assert_eq!(
        shown["values"][1]["data"]["value"]["permissions"],
        "011111110011"
    );

    // As a dump into another folder and back: the same bytes.
    let first = folder.file("out.json");
    folder.done(&[
        "export",
        &first,
        "--format",
        "json",
        "--authority",
        "20.500.12345",
    ]);
    let other = Folder::empty();
    other.done(&["import", &first]);
    let again = other.file("again.json");
    other.done(&[
        "export",
        &again,
        "--format",
        "json",
        "--authority",
        "20.500.12345",
    ]);
    assert_eq!(
        fs::read_to_string(&again).unwrap(),
        fs::read_to_string(&first).unwrap()
    );
}

/// One that ends before its end: what came before is kept, and it is said that it is not whole.
#[test]
#[ignore = "records that were read before the break, up to a block of them, are lost"]
fn a_json_dump_that_breaks_off_keeps_what_came_before() {
    let folder = Folder::empty();
    let dump = r#"{"homedPrefixes": ["0.NA/20.1"], "handleRecords": {
"20.1/a": {"handle": "20.1/a", "values": []},
"20.1/b": {"handle": "20.1/b", "values": []},
"20.1/c": {"handle"#;
    let output = folder.run(&["import", &folder.write("cut.json", dump)]);
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(names(&folder, "20.1"), ["20.1/a", "20.1/b"]);
}

/// A line is an object: an array is none, even if its first item is a name.
#[test]
#[ignore = "an array whose items are the fields in order is taken for a name"]
fn a_line_that_is_an_array_is_refused() {
    let folder = Folder::with(&["20.1"]);
    let file = folder.write(
        "names.ndjson",
        "[\"20.1/list\"]\n[\"20.1/b\",[\"https://b\"]]\n",
    );
    let output = folder.run(&["import", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(names(&folder, "20.1").is_empty());
}

#[test]
fn irregular_names_are_taken_only_when_they_migrate_and_are_marked() {
    let folder = Folder::with(&["20.1"]);
    let file = folder.write(
        "names.ndjson",
        r#"{"id":"20.1/regular","urls":["https://r.example/"]}
{"id":"20.1/tab\there","urls":["https://t.example/"]}
{"id":"20.1/bell\u0007","urls":["https://b.example/"]}
{"id":"20.1/turned\u202ename","urls":["https://u.example/"]}"#,
    );
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [1, 0, 0, 3]);
    let expected = [2, 3, 4].map(|line| (line, "bad-character".to_string()));
    assert_eq!(refusals(&told), expected);

    assert_eq!(
        counts(&folder.json(&["import", &file, "--migrate"])),
        [3, 0, 1, 0]
    );
    for id in [
        "20.1/tab\there",
        "20.1/bell\u{7}",
        "20.1/turned\u{202E}name",
    ] {
        let shown = folder.json(&["name", "show", id]);
        assert_eq!(shown["id"], id);
        assert_eq!(shown["irregular"], "bad-character", "{id:?}");
        let people = folder.done(&["name", "show", id]);
        assert!(people.contains("irregular"), "{people}");
    }
    let regular = folder.json(&["name", "show", "20.1/regular"]);
    assert_eq!(regular["irregular"], Value::Null);
    // Nobody gives such a name here, and none of them is ever given again.
    let (_, error) = folder.not_all(&["name", "create", "20.1/other\u{7}"]);
    assert_eq!(error[0]["error"]["code"], "bad-character");
    // Elsewhere they migrate again, and are the same.
    let exported = folder.done(&["export"]);
    let other = Folder::empty();
    let file = other.write("export.ndjson", &exported);
    other.done(&["import", &file, "--migrate"]);
    assert_eq!(other.done(&["export"]), exported);
}

#[test]
fn local_names_are_put_under_an_authority() {
    let folder = Folder::with(&["20.1", "20.1.x"]);
    let file = folder.write(
        "names.csv",
        "id,url\nx,https://1.example/\n20.9/y,https://2.example/\n",
    );
    folder.done(&["import", &file, "--authority", "20.1"]);
    assert_eq!(names(&folder, "20.1"), ["20.1/20.9/y", "20.1/x"]);
    folder.done(&["authority", "create", "urn:urn-3:HUL"]);
    let file = folder.write("names.ndjson", "{\"id\":\"Home\"}\n");
    folder.done(&["import", &file, "--authority", "urn:urn-3:HUL"]);
    assert_eq!(names(&folder, "urn:urn-3:HUL"), ["urn:urn-3:HUL:Home"]);
    let (_, error) = folder.not_all(&["import", &file, "--authority", "20.77"]);
    assert_eq!(error[0]["error"]["code"], "no-authority");
}

/// A folder with all that a registry can hold.
fn rich() -> Folder {
    let folder = Folder::with(&["20.1", "20.1.sub", "20.9", "20.2.own", "urn:urn-3:HUL"]);
    let done = |arguments: &[&str]| drop(folder.done(arguments));
    done(&[
        "authority",
        "create",
        "20.3",
        "--persistence",
        "erasable",
        "--title",
        "Erasable \"x\"",
        "--meaning",
        "é\n",
        "--contact",
        "a@b.example",
    ]);
    done(&[
        "authority",
        "create",
        "20.4",
        "--case",
        "sensitive",
        "--ttl",
        "77",
        "--pattern",
        "[a-z]+",
        "--approval",
        "true",
    ]);
    done(&["authority", "create", "2000.02", "--profile", "cordra"]);
    done(&["authority", "request", "20.6", "--as", "ann"]);
    done(&[
        "authority",
        "grant",
        "20.1",
        "--to",
        "ann",
        "--role",
        "lead",
    ]);
    done(&[
        "authority",
        "grant",
        "20.1",
        "--to",
        "300:20.1/bob",
        "--role",
        "write",
    ]);
    let binary = folder.write("binary", [0, 0xFF, b'\n', 0xC3, 0x28]);
    let long = folder.write("long", "ü\t\"\\\u{2028}".repeat(500));
    done(&[
        "name",
        "create",
        "20.1/Rich",
        "--url",
        "https://b.example/",
        "--url",
        "https://a.example/?q=%22&x",
        "--value",
        &format!("7:BINARY:@{binary}"),
        "--permissions",
        "7:1010",
        "--ttl",
        "7:0",
        "--value",
        &format!("8:TEXT:@{long}"),
        "--value",
        "300:HS_SECKEY:geheim",
    ]);
    done(&["name", "create", "20.1/Empty"]);
    done(&["name", "create", "20.1/gone", "--url", "https://g.example/"]);
    done(&[
        "name",
        "withdraw",
        "20.1/gone",
        "--reason",
        "moved\n\"away\"",
        "--successor",
        "20.1/rich",
    ]);
    done(&[
        "name",
        "create",
        "20.1/hidden",
        "--reserve",
        "--url",
        "https://h.example/",
    ]);
    done(&["name", "create", "20.1/held"]);
    done(&["name", "transfer", "20.1/held", "--to", "300:20.1/bob"]);
    done(&[
        "name",
        "create",
        "20.1.sub/x/y",
        "--url",
        "https://sub.example/",
    ]);
    done(&[
        "name",
        "create",
        "20.3/person",
        "--url",
        "https://p.example/",
    ]);
    done(&["name", "create", "20.3/secretly", "--reserve"]);
    done(&["name", "create", "20.4/abc", "--value", "1:DESC:lower"]);
    done(&[
        "name",
        "create",
        "urn:urn-3:HUL:Home",
        "--url",
        "https://urn.example/",
    ]);
    done(&[
        "name",
        "set",
        "0.NA/20.1",
        "--value",
        "5:DESC:of the prefix",
    ]);
    done(&[
        "name",
        "create",
        "20.9/old",
        "--url",
        "https://old.example/",
    ]);
    done(&["authority", "retire", "20.9"]);
    // References and absolute TTLs have no flags.
    let file = folder.write(
        "references.ndjson",
        r#"{"id":"20.1/refers","values":[{"index":2147483647,"type":"X","data":"","ttl":"2030-01-01T00:00:00Z","timestamp":"1999-12-31T23:59:59Z","permissions":"1111","references":[{"handle":"20.1/rich","index":7},{"handle":"é/x","index":0}]}],"created":"1998-07-06T05:04:03.002Z"}"#,
    );
    done(&["import", &file]);
    folder
}

#[test]
fn what_is_exported_and_imported_elsewhere_gives_the_same_bytes() {
    let folder = rich();
    for secrets in [&[][..], &["--with-secrets"]] {
        let exported = folder.done(&[&["export"], secrets].concat());
        assert_eq!(exported.contains("geheim"), !secrets.is_empty());
        let other = Folder::empty();
        let file = other.write("export.ndjson", &exported);
        other.done(&["import", &file]);
        let again = other.done(&[&["export"], secrets].concat());
        for (again, first) in again.lines().zip(exported.lines()) {
            assert_eq!(again, first);
        }
        assert_eq!(again, exported);
        other.done(&["check"]);
        other.done(&["log", "verify"]);
    }
    let exported = folder.done(&["export"]);
    for part in [
        r#""state":"withdrawn""#,
        r#""successor":"20.1/rich""#,
        r#""state":"reserved""#,
        r#""status":"retired""#,
        r#""status":"requested""#,
        r#""erasable":true"#,
        r#""id":"0.NA/20.1""#,
        r#""holder":"300:20.1/bob""#,
        r#""created":"1998-07-06T05:04:03.002Z""#,
        r#""timestamp":"1999-12-31T23:59:59Z""#,
        r#""permissions":"1010""#,
        "urn:urn-3:HUL:Home",
        r#""index":2147483647"#,
    ] {
        assert!(exported.contains(part), "{part}");
    }
    // Secrets that a file holds are for its owner alone.
    let file = folder.file("secret.ndjson");
    folder.done(&["export", &file, "--with-secrets"]);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// An export that is imported where it came from, or twice, changes nothing: everything is as it says.
#[test]
#[ignore = "names under an authority that is retired are refused, though they are as the line says"]
fn what_is_there_already_is_unchanged_under_retired_authorities_too() {
    let folder = rich();
    let file = folder.file("export.ndjson");
    folder.done(&["export", &file]);
    let before = events(&folder);
    let summary = folder.json(&["import", &file]);
    let [created, changed, _, refused] = counts(&summary);
    assert_eq!([created, changed, refused], [0, 0, 0]);
    assert_eq!(events(&folder), before);
}

#[test]
fn an_export_is_of_an_authority_or_of_what_came_after_an_event() {
    let folder = rich();
    let ids = |exported: &str| {
        let names = lines(exported).into_iter();
        let ids = names.filter_map(|line| line["id"].as_str().map(str::to_string));
        ids.collect::<Vec<_>>()
    };
    let authorities = |exported: &str| {
        let lines = lines(exported).into_iter();
        let paths = lines.filter_map(|line| line["authority"].as_str().map(str::to_string));
        paths.collect::<Vec<_>>()
    };
    let under = folder.done(&["export", "--authority", "20.1"]);
    assert_eq!(authorities(&under), ["20.1", "20.1.sub"]);
    assert_eq!(
        ids(&under),
        [
            "0.NA/20.1",
            "20.1.sub/x/y",
            "20.1/Empty",
            "20.1/gone",
            "20.1/held",
            "20.1/hidden",
            "20.1/refers",
            "20.1/Rich"
        ]
    );
    let event = events(&folder).to_string();
    folder.done(&[
        "name",
        "create",
        "20.1/later",
        "--url",
        "https://l.example/",
    ]);
    folder.done(&[
        "name",
        "set",
        "20.1.sub/x/y",
        "--url",
        "https://new.example/",
    ]);
    let since = folder.done(&["export", "--since", &event]);
    assert_eq!(ids(&since), ["20.1.sub/x/y", "20.1/later"]);
    assert!(authorities(&since).is_empty());
    let both = folder.done(&["export", "--since", &event, "--authority", "20.1.sub"]);
    assert_eq!(ids(&both), ["20.1.sub/x/y"]);

    // What was exported before and since, imported one after the other, is the whole.
    let other = Folder::empty();
    let first = folder.file("first.ndjson");
    folder.done(&["export", &first]);
    let told = folder.json(&["export", &first]);
    assert_eq!(told["event"].as_u64(), Some(events(&folder)));
    other.done(&["import", &first]);
    let mark = told["event"].to_string();
    folder.done(&["name", "withdraw", "20.1/later", "--reason", "no"]);
    folder.done(&["name", "create", "20.1/last"]);
    let more = folder.file("more.ndjson");
    folder.done(&["export", &more, "--since", &mark]);
    other.done(&["import", &more, "--update"]);
    assert_eq!(other.done(&["export"]), folder.done(&["export"]));

    // Others export what they may read.
    let (_, error) = folder.not_all(&["export", "--as", "ann"]);
    assert_eq!(error[0]["error"]["code"], "operator-only");
    let (_, error) = folder.not_all(&["export", "--as", "eve", "--authority", "20.1"]);
    assert_eq!(error[0]["error"]["code"], "denied");
    let seen = folder.done(&["export", "--as", "ann", "--authority", "20.1"]);
    assert!(ids(&seen).contains(&"20.1/hidden".to_string()));
}

fn job(folder: &Folder, arguments: &[&str]) -> Value {
    folder.json(&[&["job"], arguments].concat())
}

#[test]
fn urls_hosts_and_ttls_of_a_subtree_are_changed_and_all_of_it_is_undone() {
    let folder = Folder::with(&["20.1", "20.1.sub", "20.2"]);
    for (id, url) in [
        ("20.1/a", "https://old.example/a"),
        (
            "20.1/b",
            "https://old.example:8080/b?u=https://old.example/",
        ),
        ("20.1/c", "https://older.example/c"),
        ("20.1.sub/d", "http://OLD.example/d"),
        ("20.2/e", "https://old.example/e"),
    ] {
        folder.done(&[
            "name",
            "create",
            id,
            "--url",
            url,
            "--value",
            "9:DESC:https://old.example/",
        ]);
    }
    folder.done(&[
        "name",
        "create",
        "20.1/gone",
        "--url",
        "https://old.example/g",
    ]);
    folder.done(&["name", "withdraw", "20.1/gone", "--reason", "no"]);
    let before = folder.done(&["export"]);
    let replace = [
        "replace-host",
        "old.example",
        "new.example",
        "--authority",
        "20.1",
    ];

    let told = folder.done(&[&["job"], &replace[..], &["--dry-run", "--json"]].concat());
    let told = lines(&told);
    assert_eq!(told.last().unwrap()["changed"], 3);
    assert_eq!(told.len(), 4);
    assert_eq!(folder.done(&["export"]), before);
    assert_eq!(job(&folder, &["list"]), json!([]));

    let count = events(&folder);
    let done = job(&folder, &replace);
    assert_eq!(counts(&done), [0, 3, 2, 0]);
    assert_eq!(events(&folder), count + 3, "one event a name");
    assert_eq!(done["events"], json!([[count + 1, count + 3]]));
    for (id, url) in [
        ("20.1/a", "https://new.example/a"),
        (
            "20.1/b",
            "https://new.example:8080/b?u=https://old.example/",
        ),
        ("20.1/c", "https://older.example/c"),
        ("20.1.sub/d", "http://new.example/d"),
        ("20.2/e", "https://old.example/e"),
    ] {
        assert_eq!(urls(&folder, id), [url]);
    }
    let shown = folder.json(&["name", "show", "20.1/a"]);
    assert_eq!(shown["values"][1]["data"]["value"], "https://old.example/");

    let prefix = job(
        &folder,
        &[
            "replace-url",
            "https://new.example/",
            "https://cdn.example/new/",
            "--authority",
            "20.1",
        ],
    );
    assert_eq!(counts(&prefix), [0, 1, 4, 0]);
    assert_eq!(urls(&folder, "20.1/a"), ["https://cdn.example/new/a"]);

    let ttl = job(
        &folder,
        &["set-ttl", "60", "--type", "DESC", "--authority", "20.1.sub"],
    );
    assert_eq!(counts(&ttl), [0, 1, 0, 0]);
    let shown = folder.json(&["name", "show", "20.1.sub/d"]);
    assert_eq!(shown["values"][0]["ttl"], 86_400);
    assert_eq!(shown["values"][1]["ttl"], 60);

    // The first job cannot be undone where a later one has changed the same; the rest of it is.
    let first = done["job"].to_string();
    let (summary, told) = folder.not_all(&["job", "undo", &first]);
    assert_eq!(counts(&summary[0]), [0, 2, 0, 1]);
    let id = told[0]["id"].as_str().unwrap().to_lowercase();
    assert!(id.ends_with("20.1/a"), "{id}");
    assert_eq!(told[0]["code"], "changed-since");
    assert_eq!(urls(&folder, "20.1.sub/d"), ["http://OLD.example/d"]);
    for job_number in [&prefix["job"], &ttl["job"]] {
        job(&folder, &["undo", &job_number.to_string()]);
    }
    let (summary, _) = folder.not_all(&["job", "undo", &first]);
    assert_eq!(counts(&summary[0]), [0, 1, 0, 2]);

    let list = job(&folder, &["list"]);
    let kinds: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["kind"])
        .collect();
    assert_eq!(
        kinds,
        [
            "replace-url",
            "replace-url",
            "set-ttl",
            "undo",
            "undo",
            "undo",
            "undo"
        ]
    );
    assert!(
        list.as_array()
            .unwrap()
            .iter()
            .all(|job| job["ended"].is_string())
    );
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
    let folder = Folder::with(&["20.1"]);
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
        refusals(&told),
        expected.map(|(line, code)| (line, code.to_string()))
    );
    let gone = folder.json(&["name", "show", "20.1/n2"]);
    assert_eq!(gone["withdrawn"]["reason"], "wrong");
    assert_eq!(folder.json(&["name", "show", "20.1/n3"])["state"], "active");

    let number = summary[0]["job"].to_string();
    let (_, error) = folder.not_all(&["job", "undo", "77"]);
    assert_eq!(error[0]["error"]["code"], "no-job");
    let (summary, told) = folder.not_all(&["job", "undo", &number, "--as", "eve"]);
    assert_eq!(counts(&summary[0]), [0, 0, 0, 4]);
    assert!(refusals(&told).iter().all(|(_, code)| code == "denied"));
    assert_eq!(counts(&job(&folder, &["undo", &number])), [0, 4, 0, 0]);
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
    let folder = Folder::with(&["20.1"]);
    let input: String = (0..1_203)
        .map(|number| {
            format!(
                "{{\"id\":\"20.1/n{number:04}\",\"urls\":[\"https://old.example/{number}\"]}}\n"
            )
        })
        .collect();
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
