//! Imports.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::*;

const BAD: &str = concat!(
    r#"{"id":"20.1/first","urls":["https://a.example/"]}
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
{"id":"20.1/last","urls":["https://a.example/"],"state":"reserved","#,
    r#""values":[{"index":5,"type":"EMAIL","data":"a@b.example"}]}"#,
);

#[test]
fn bad_lines_are_named_and_good_ones_are_not_lost() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
        refused_lines(&told),
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

/// A file that is damaged in the middle: what was read before is kept, and what is too long is
/// named.
#[test]
fn bytes_that_are_no_text_spoil_their_line_alone() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let mut input =
        b"{\"id\":\"20.1/a\"}\r\n{\"id\":\"20.1/\xFF\"}\r\n{\"id\":\"20.1/b\"}\r\n".to_vec();
    input.extend(b"{\"id\":\"20.1/long\",\"urls\":[\"");
    input.extend(vec![b'x'; 5 << 20]);
    input.extend(b"\"]}\n{\"id\":\"20.1/c\"}");
    let file = folder.write("names.ndjson", input);
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [3, 0, 0, 2]);
    let refused: Vec<_> = refused_lines(&told)
        .into_iter()
        .map(|(line, _)| line)
        .collect();
    assert_eq!(refused, [2, 4]);
    assert_eq!(names(&folder, "20.1"), ["20.1/a", "20.1/b", "20.1/c"]);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
{"id":"20.5/under-new","urls":["https://u.example/"]}
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
    let folder = Folder::with(PROGRAM, &["20.1"]);
    folder.done(&["name", "create", "20.1/same", "--url", "https://s.example/"]);
    let mut input = r#"{"id":"20.1/same","urls":["https://s.example/"]}"#.to_string();
    for number in 0..300 {
        // Neither in order nor all right.
        let local = (number * 7) % 300;
        let url = format!("https://{number}.example/");
        let line = json!({"id": format!("20.1/n{local:03}"), "urls": [url]});
        write!(input, "\n{line}").unwrap();
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
    assert_eq!(refused_lines(&outcomes).len(), 3);
    // An import that is run again says the same of each line, but that nothing is new.
    folder.not_all(&["import", &file, "--outcome", &outcome]);
    let again = lines(&fs::read_to_string(&outcome).unwrap());
    assert_eq!(again.len(), outcomes.len());
    assert!(again.iter().all(|line| line["outcome"] != "created"));
}

#[test]
fn equal_names_are_unchanged_and_different_ones_are_changed_only_when_asked() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
        r#"{"id":"20.1/x","values":[{"index":7,"type":"DESC","data":"d"}],"urls":["https://n/"]}
{"id":"20.1/gone","urls":["https://back.example/"],"state":"active"}
{"id":"20.1/id","values":[{"index":5,"type":"EMAIL","data":"a@b.example"}]}"#,
    );
    let (summary, told) = folder.not_all(&["import", &different]);
    assert_eq!(counts(&summary[0]), [0, 0, 0, 3]);
    assert!(
        refused_lines(&told)
            .iter()
            .all(|(_, code)| code == "differs")
    );
    assert_eq!(events(&folder), before);

    assert_eq!(
        counts(&folder.json(&["import", &different, "--update"])),
        [0, 3, 0, 0]
    );
    assert_eq!(urls(&folder, "20.1/x"), ["https://n/"]);
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
    assert!(
        refused_lines(&told)
            .iter()
            .all(|(_, code)| code == "denied")
    );
}

#[test]
fn a_table_gives_names_with_urls_in_order_and_other_values() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
        refused_lines(&told),
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
    let other = Folder::with(PROGRAM, &["20.1"]);
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
    let folder = Folder::empty(PROGRAM);
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
    let refused = refused_lines(&told);
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
    let folder = Folder::with(PROGRAM, &[]);
    folder.done(&["authority", "create", "20.2", "--persistence", "erasable"]);
    folder.done(&["name", "create", "20.2/x", "--url", "https://x.example/"]);
    let file = folder.write("operations", "DELETE 20.2/x\n\nDELETE 20.2/x\n");
    let (summary, told) = folder.not_all(&["import", &file]);
    assert_eq!(counts(&summary[0]), [0, 1, 0, 1]);
    assert_eq!(refused_lines(&told), [(3, "not-found".to_string())]);
    assert!(names(&folder, "20.2").is_empty());
}

/// More operations than share a transaction.
#[test]
fn a_batch_file_of_thousands_of_operations_is_done_to_its_end() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let mut batch = String::new();
    for number in 0..1_234 {
        write!(
            batch,
            "CREATE 20.1/n{number}\n1 URL 60 1110 UTF8 https://{number}.example/\n\n"
        )
        .unwrap();
    }
    let file = folder.write("names.batch", batch);
    assert_eq!(counts(&folder.json(&["import", &file])), [1_234, 0, 0, 0]);
    assert_eq!(counts(&folder.json(&["import", &file])), [0, 0, 1_234, 0]);
    assert_eq!(names(&folder, "20.1").len(), 1_234);
}

#[test]
fn a_json_dump_brings_its_prefixes_and_records() {
    let folder = Folder::empty(PROGRAM);
    let dump = r#"{ "homedPrefixes": ["0.NA/0.NA", "0.NA/20.500.12345"],
  "handleRecords": {
    "20.500.12345/ABC": { "handle": "20.500.12345/ABC", "responseCode": 1, "values": [
      {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"},
        "ttl": 60, "timestamp": "2020-01-02T03:04:05Z"},
      {"index": 100, "type": "HS_ADMIN", "data": {"format": "admin", "value":
        {"handle": "0.NA/20.500.12345", "index": 200, "permissions": "011111110011"}},
        "ttl": 86400, "timestamp": "2020-01-02T03:04:05Z"}]},
    "20.500.12345/BAD": { "handle": "20.500.12345/BAD", "values": [{"index": "one"}]},
    "20.500.12345/script": { "values": [
      {"index": 1, "type": "URL", "data": {"format": "string", "value": "javascript:1"}}]},
    "20.500.12345/bin": { "values": [
      {"index": 1, "type": "B", "data": {"format": "base64", "value": "AAH/"},
        "permissions": "1100", "references": [{"handle": "20.1/r", "index": 3}]}]}
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
    let other = Folder::empty(PROGRAM);
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
fn a_json_dump_that_breaks_off_keeps_what_came_before() {
    let folder = Folder::empty(PROGRAM);
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
fn a_line_that_is_an_array_is_refused() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
    let folder = Folder::with(PROGRAM, &["20.1"]);
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
    assert_eq!(refused_lines(&told), expected);

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
    // In another folder they migrate again, and are the same.
    let exported = folder.done(&["export"]);
    let other = Folder::empty(PROGRAM);
    let file = other.write("export.ndjson", &exported);
    other.done(&["import", &file, "--migrate"]);
    assert_eq!(other.done(&["export"]), exported);
}

#[test]
fn local_names_are_put_under_an_authority() {
    let folder = Folder::with(PROGRAM, &["20.1", "20.1.x"]);
    let file = folder.write(
        "names.csv",
        "id,url\nx,https://1.example/\n20.9/y,https://2.example/\n",
    );
    folder.done(&["import", &file, "--authority", "20.1"]);
    assert_eq!(names(&folder, "20.1"), ["20.1/20.9/y", "20.1/x"]);
    folder.done(&["authority", "create", "urn:urn-3"]);
    folder.done(&["authority", "create", "urn:urn-3:HUL"]);
    let file = folder.write("names.ndjson", "{\"id\":\"Home\"}\n");
    folder.done(&["import", &file, "--authority", "urn:urn-3:HUL"]);
    assert_eq!(names(&folder, "urn:urn-3:HUL"), ["urn:urn-3:HUL:Home"]);
    let (_, error) = folder.not_all(&["import", &file, "--authority", "20.77"]);
    assert_eq!(error[0]["error"]["code"], "no-authority");
}

/// What an operation does depends on those before it, in a dry run too.
#[test]
fn a_dry_run_of_a_batch_file_says_what_the_batch_would_do() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let batch = "CREATE 20.1/x\n1 URL 60 1110 UTF8 https://x.example/\n\n\
                 ADD 20.1/x\n2 DESC 60 1110 UTF8 two\n\nREMOVE 2:20.1/x\n\nDELETE 20.1/x\n";
    let file = folder.write("x.batch", batch);
    let before = whole(&folder);
    let told = folder.done(&["import", &file, "--dry-run", "--json"]);
    assert_eq!(counts(lines(&told).last().unwrap()), [1, 3, 0, 0]);
    assert_eq!(whole(&folder), before);
    assert_eq!(counts(&folder.json(&["import", &file])), [1, 3, 0, 0]);
}

/// What was refused as a whole has left nothing, and there is nothing to go on with.
#[test]
fn a_file_that_is_refused_as_a_whole_leaves_no_job() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let table = folder.write("no.csv", "name,url\n20.1/x,https://x.example/\n");
    folder.not_all(&["import", &table]);
    let list = folder.json(&["job", "list"]);
    assert_eq!(list, json!([]));
}

/// Where new names wait for a lead, what someone else imports is reserved; imported again, or
/// resumed after an interruption, that is what it was the first time.
#[test]
fn names_that_wait_for_approval_are_unchanged_when_they_are_imported_again() {
    let folder = Folder::with(PROGRAM, &[]);
    folder.done(&["authority", "create", "20.5", "--approval", "true"]);
    folder.done(&[
        "authority",
        "grant",
        "20.5",
        "--to",
        "ann",
        "--role",
        "write",
        "--create",
    ]);
    let line = r#"{"id":"20.5/a","urls":["https://a.example/"]}"#;
    let file = folder.write("names.ndjson", line);
    let first = folder.json(&["import", &file, "--as", "ann"]);
    assert_eq!(counts(&first), [1, 0, 0, 0]);
    assert_eq!(
        folder.json(&["name", "show", "20.5/a"])["state"],
        "reserved"
    );
    let again = folder.json(&["import", &file, "--as", "ann"]);
    assert_eq!(counts(&again), [0, 0, 1, 0]);
}
