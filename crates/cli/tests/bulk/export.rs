//! Exports.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::*;

/// A folder with all that a registry can hold.
pub(crate) fn rich() -> Folder {
    let folder = Folder::with(
        PROGRAM,
        &[
            "20.1",
            "20.1.sub",
            "20.9",
            "20.2.own",
            "urn:urn-3",
            "urn:urn-3:HUL",
        ],
    );
    let binary = folder.write("binary", [0, 0xFF, b'\n', 0xC3, 0x28]);
    let long = folder.write("long", "ü\t\"\\\u{2028}".repeat(500));
    // References and absolute TTLs have no flags.
    let references = folder.write(
        "references.ndjson",
        concat!(
            r#"{"id":"20.1/refers","values":[{"index":2147483647,"type":"X","data":"","#,
            r#""ttl":"2030-01-01T00:00:00Z","timestamp":"1999-12-31T23:59:59Z","#,
            r#""permissions":"1111","references":[{"handle":"20.1/rich","index":7},"#,
            r#"{"handle":"é/x","index":0}]}],"created":"1998-07-06T05:04:03.002Z"}"#,
        ),
    );
    let about = r#"--persistence|erasable|--title|Erasable "x"|--meaning|é|--contact|a@b.example"#;
    let values = format!(
        "--value|7:BINARY:@{binary}|--permissions|7:1010|--ttl|7:0|\
         --value|8:TEXT:@{long}|--value|300:HS_SECKEY:geheim"
    );
    let commands = format!(
        r#"authority|create|20.3|{about}
authority|create|20.4|--case|sensitive|--ttl|77|--pattern|[a-z]+|--approval|true
authority|create|2000.02|--profile|cordra
authority|request|20.6|--as|ann|--create
authority|grant|20.1|--to|ann|--role|lead
authority|grant|20.1|--to|300:20.1/bob|--role|write
name|create|20.1/Rich|--url|https://b.example/|--url|https://a.example/?q=%22&x|{values}
name|create|20.1/Empty
name|create|20.1/gone|--url|https://g.example/
name|withdraw|20.1/gone|--reason|moved "away"	é|--successor|20.1/rich
name|create|20.1/hidden|--reserve|--url|https://h.example/
name|create|20.1/handed-over
name|transfer|20.1/handed-over|--to|300:20.1/bob
name|create|20.1.sub/x/y|--url|https://sub.example/
name|create|20.3/person|--url|https://p.example/
name|create|20.3/secretly|--reserve
name|create|20.4/abc|--value|1:DESC:lower
name|create|urn:urn-3:HUL:Home|--url|https://urn.example/
name|set|0.NA/20.1|--value|5:DESC:of the prefix
name|create|20.9/old|--url|https://old.example/
authority|retire|20.9
import|{references}"#
    );
    for command in commands.lines() {
        folder.done(&command.split('|').collect::<Vec<_>>());
    }
    folder
}

#[test]
fn what_is_exported_and_imported_into_another_folder_gives_the_same_bytes() {
    let folder = rich();
    for secrets in [&[][..], &["--with-secrets"]] {
        let exported = folder.done(&[&["export"], secrets].concat());
        assert_eq!(exported.contains("geheim"), !secrets.is_empty());
        let other = Folder::empty(PROGRAM);
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
        r#""successor":"20.1/Rich""#,
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

/// An export that is imported where it came from, or twice, changes nothing: everything is as it
/// says.
#[test]
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
            "20.1/handed-over",
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
    let other = Folder::empty(PROGRAM);
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
