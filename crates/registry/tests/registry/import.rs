//! Interrupted imports.

use std::io::{self, Read};
use std::sync::Arc;

use handfast_registry::{AuthorityStatus, Done, Format, Import, Report, Role};

use super::*;

/// A batch resumes by its position: if the file has other operations there now, resuming would
/// leave them out silently. Trying again does not make it right.
#[test]
fn a_batch_that_was_changed_after_an_interruption_is_refused_until_it_is_begun_anew() {
    let scene = scene();
    authority(&scene, "20.1");
    let url = "x".repeat(1_000);
    let batch = |changed: &str| -> String {
        let operation = |number: u32| {
            let url = if number == 1_500 { changed } else { &url };
            format!("CREATE 20.1/{number}\n1 URL 86400 1110 UTF8 https://{url}\n\n")
        };
        (0..2_500).map(operation).collect()
    };
    let import = |restart: bool| Import {
        format: Some(Format::Batch),
        restart,
        ..Import::default()
    };
    let first = batch("as-it-was");
    let cut = InterruptedReader(&first.as_bytes()[..2_200_000]);
    let outcome = scene.import(&OPERATOR, &import(false), cut, &mut |_| ());
    assert_eq!(code(outcome), "input");

    let changed = batch("corrected");
    for _ in 0..2 {
        let input = changed.as_bytes();
        let outcome = scene.import(&OPERATOR, &import(false), input, &mut |_| ());
        assert_eq!(code(outcome), "other-file");
    }
    let input = changed.as_bytes();
    let imported = scene.import(&OPERATOR, &import(true), input, &mut |_| ());
    let counts = imported.unwrap().counts;
    // The applied operations are there already; the corrected operation is reported.
    assert_eq!(counts.refused, 1);
    assert_eq!(counts.created + counts.unchanged, 2_499);
}

fn batch_import(dry_run: bool) -> Import {
    Import {
        format: Some(Format::Batch),
        dry_run,
        tells_all: true,
        ..Import::default()
    }
}

/// The outcome of each line, as a code or an action.
fn outcomes(registry: &Registry, who: &Principal, import: &Import, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    registry
        .import(who, import, text.as_bytes(), &mut |report| {
            if let Report::Line(outcome) = report {
                found.push(match &outcome.done {
                    Done::Refused { code, .. } => format!("{} {code}", outcome.line),
                    done => format!("{} {}", outcome.line, done.as_str()),
                });
            }
        })
        .unwrap();
    found
}

/// A batch that names a file made the registry open it, whatever client had sent the batch:
/// `log.key` could be published.
#[test]
fn a_batch_that_names_a_file_is_refused() {
    let scene = scene();
    authority(&scene, "20.1");
    let secret = scene.folder.path().join("data/log.key");
    assert!(secret.exists());
    let file = secret.display();
    let text = format!(
        "CREATE 20.1/a\n1 X 86400 1110 FILE {file}\n\nCREATE 20.1/b\n1 X 86400 1110 HEX 00FF\n\n\
         ADD 20.1/b\n2 X 86400 1110 FILE {file}\n\nMODIFY 20.1/b\n1 X 86400 1110 FILE {file}\n"
    );
    let expected = ["1 no-files", "4 created", "7 no-files", "10 no-files"];
    for dry_run in [true, false] {
        let found = outcomes(&scene, &OPERATOR, &batch_import(dry_run), &text);
        assert_eq!(found, expected);
    }
    let shown = scene.show(&OPERATOR, "20.1/b").unwrap();
    assert_eq!(shown.record.values.len(), 1);
    assert_eq!(*shown.record.values[0].data, [0, 0xFF]);
}

/// A dry run of a batch collected all operations and ran them in one transaction: an untrusted
/// client could use up the memory and block the writer.
#[test]
fn a_dry_run_of_a_batch_is_done_in_groups_that_say_what_they_cannot_know() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/there");
    let create =
        |n: u32| format!("CREATE 20.1/{n}\n1 URL 86400 1110 UTF8 https://example.org/\n\n");
    let mut text: String = (0..6_000).map(create).collect();
    text.push_str("ADD 20.1/3\n2 X 86400 1110 UTF8 x\n\n");
    text.push_str("ADD 20.1/5999\n2 X 86400 1110 UTF8 x\n\n");
    text.push_str("CREATE 20.1/there\n1 X 86400 1110 UTF8 x\n\n");
    let found = outcomes(&scene, &OPERATOR, &batch_import(true), &text);
    let odd: Vec<_> = found
        .iter()
        .filter(|line| !line.ends_with("created"))
        .collect();
    // 20.1/3 belongs to an earlier group, 20.1/5999 to the same.
    assert_eq!(
        odd,
        ["18004 changed", "18007 differs", "18001 not-rehearsed"]
    );
    assert_eq!(found.len(), 6_003);
    assert_eq!(code(scene.show(&OPERATOR, "20.1/3")), "not-found");
}

/// A configured administrator could start an import, and was then denied on every name.
#[test]
fn configured_administrators_import() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(folder.path(), environment()).unwrap();
    authority(&registry, "20.1");
    let ann = account("300:20.1/ann");
    let registry = registry.with_administrators(vec![ann.clone()]);
    let lines = "{\"authority\":\"20.2\"}\n{\"id\":\"20.1/a\"}\n{\"id\":\"20.2/b\"}\n";
    for dry_run in [true, false] {
        let import = Import {
            format: Some(Format::Ndjson),
            dry_run,
            tells_all: true,
            ..Import::default()
        };
        let found = outcomes(&registry, &ann, &import, lines);
        assert_eq!(found, ["1 created", "2 created", "3 created"]);
    }
    let text = "CREATE 20.1/c\n1 X 86400 1110 UTF8 x\n\nHOME 127.0.0.1:2641:TCP\n0.NA/20.3\n";
    for dry_run in [true, false] {
        let found = outcomes(&registry, &ann, &batch_import(dry_run), text);
        assert_eq!(found, ["1 created", "4 created"]);
    }
}

/// `HOME` in a batch left a retired prefix retired and said nothing of it, and left a request for
/// it open.
#[test]
fn home_in_a_batch_takes_a_prefix_up_again() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/a");
    act_on(&scene, "20.1", RETIRE);
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    request(&scene, &account("ann"), "20.2");
    let text = "HOME 127.0.0.1:2641:TCP\n0.NA/20.1\n0.NA/20.2\n0.NA/20.3\n\n\
                CREATE 20.1/b\n1 X 86400 1110 UTF8 x\n";
    let run = |dry_run| outcomes(&scene, &OPERATOR, &batch_import(dry_run), text);
    let expected = ["1 changed", "1 created", "1 created", "6 created"];
    assert_eq!(run(true), expected);
    assert_eq!(run(false), expected);
    let status = |path: &str| scene.authority(&OPERATOR, path).unwrap().status;
    for path in ["20.1", "20.2", "20.3"] {
        assert_eq!(status(path), AuthorityStatus::Active, "{path}");
    }
    // Names of before are as they were, and are given to nobody again.
    assert_eq!(
        code(scene.create_name(&OPERATOR, "20.1/a", NewName::default())),
        "exists"
    );
}

/// `HOME` of a retired prefix takes the right to create it.
#[test]
fn home_in_a_batch_needs_the_right_to_create_a_prefix() {
    let scene = scene();
    authority(&scene, "20.1");
    authority(&scene, "20.9");
    let ann = account("ann");
    for path in ["20.1", "20.9"] {
        scene.grant(&OPERATOR, path, &ann, Role::Admin).unwrap();
    }
    act_on(&scene, "20.1", RETIRE);
    let text = "HOME 127.0.0.1:2641:TCP\n0.NA/20.1\n";
    let found = outcomes(&scene, &ann, &batch_import(false), text);
    assert_eq!(found, ["1 operator-only"]);
    let status = scene.authority(&OPERATOR, "20.1").unwrap().status;
    assert_eq!(status, AuthorityStatus::Retired);
}

/// A body that was no JSON, taken for a dump, left a job that was done.
#[test]
fn a_dump_that_is_none_leaves_no_job() {
    let scene = scene();
    authority(&scene, "20.1");
    let import = Import {
        format: Some(Format::Dump),
        ..Import::default()
    };
    let inputs = [
        "id,url\n20.1/a,https://a/\n",
        "[]",
        "\"homedPrefixes\"",
        "{\"id\":\"20.1/a\"}",
        "{homedPrefixes:",
        "{",
        "\u{feff}\u{feff}{}",
    ];
    for input in inputs {
        let refused = scene.import(&OPERATOR, &import, input.as_bytes(), &mut |_| ());
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), "input", "{input}");
        let told = refused.to_string();
        assert!(
            told.contains("`handleRecords`") && told.contains("ndjson"),
            "{told}"
        );
        assert!(!refused.is_failure(), "{input}");
    }
    assert!(scene.jobs_page(&OPERATOR, 0, 10).unwrap().jobs.is_empty());
    for input in [
        "{}",
        "{\"handleRecords\":{}}",
        " {\n \"homedPrefixes\" : [] }",
    ] {
        scene
            .import(&OPERATOR, &import, input.as_bytes(), &mut |_| ())
            .unwrap();
    }
}

/// An empty input that runs a function when it is read.
struct Meanwhile<F>(Option<F>);

impl<F: FnOnce()> Read for Meanwhile<F> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        if let Some(act) = self.0.take() {
            act();
        }
        Ok(0)
    }
}

/// An import remembered only the last version of an authority: names that were prepared under
/// another policy were registered without a check against the new one.
#[test]
fn a_policy_that_changes_during_an_import_is_seen() {
    let scene = scene();
    authority(&scene, "20.1");
    // Three groups of blocks. The second is not behind the first in order, so that it waits for the
    // third.
    let line = |name: String| {
        let data = "x".repeat(100_000);
        format!(
            r#"{{"id":"20.1/{name}","values":[{{"index":1,"type":"X","data":"{data}"}}]}}{}"#,
            "\n"
        )
    };
    let group =
        |start: &str| -> String { (0..90).map(|n| line(format!("{start}{n:03}"))).collect() };
    let (first, last) = (group("z") + &group("a"), group("b"));
    let change = Meanwhile(Some(|| {
        let change = AuthorityChange {
            pattern: Some(Some("b.*".into())),
            ..AuthorityChange::default()
        };
        scene.change_authority(&OPERATOR, "20.1", change).unwrap();
    }));
    let input = first.as_bytes().chain(change).chain(last.as_bytes());
    let imported = scene.import(&OPERATOR, &Import::default(), input, &mut |_| ());
    let counts = imported.unwrap().counts;
    assert_eq!(code(scene.show(&OPERATOR, "20.1/a000")), "not-found");
    assert!(scene.show(&OPERATOR, "20.1/b089").is_ok());
    assert!(counts.refused >= 80, "{counts:?}");
}

/// All events of an import carried the time of its start, after later events of other changes; and
/// a clock that stepped back took the log with it.
#[test]
fn event_times_never_go_back() {
    let clock = Arc::new(AtomicU64::new(1_000_000));
    let folder = tempfile::tempdir().unwrap();
    let now = Arc::clone(&clock);
    let environment = Environment::new(move || now.load(Ordering::Relaxed), |bytes| bytes.fill(7));
    let registry = Registry::create(folder.path(), environment).unwrap();
    authority(&registry, "20.1");
    // The beginning of an input is read before the import starts.
    let first = format!("{{\"id\":\"20.1/a\"}}\n{}\n", " ".repeat(1_200_000));
    let meanwhile = Meanwhile(Some(|| {
        clock.store(2_000_000, Ordering::Relaxed);
        name(&registry, "20.1/other");
    }));
    let last = "{\"id\":\"20.1/b\",\"state\":\"withdrawn\",\"withdrawn\":{\"reason\":\"r\"}}\n";
    let input = first.as_bytes().chain(meanwhile).chain(last.as_bytes());
    registry
        .import(&OPERATOR, &Import::default(), input, &mut |_| ())
        .unwrap();
    clock.store(5, Ordering::Relaxed);
    name(&registry, "20.1/c");
    let batch = "CREATE 20.1/d\n1 X 86400 1110 UTF8 x\n\n";
    outcomes(&registry, &OPERATOR, &batch_import(false), batch);
    let mut times = Vec::new();
    for id in ["20.1/a", "20.1/other", "20.1/b", "20.1/c", "20.1/d"] {
        for change in crate::history(&registry, &OPERATOR, id).unwrap() {
            times.push((change.event.number, change.event.time));
        }
    }
    times.sort_unstable();
    assert_eq!(times.len(), 6);
    assert!(times.is_sorted_by_key(|(_, time)| *time), "{times:?}");
    assert_eq!(times.last().unwrap().1, 2_000_000);
}

/// U+0000 in a name hides part of the history of another name; `migrate` let it in.
#[test]
fn no_import_takes_u_0000_in_a_name() {
    let scene = scene();
    authority(&scene, "20.1");
    for (format, text) in [
        (Format::Ndjson, "{\"id\":\"20.1/a\\u0000b\"}\n"),
        (Format::Csv, "id,url\n20.1/a\0b,https://example.org/\n"),
        (Format::Batch, "CREATE 20.1/a\0b\n1 X 86400 1110 UTF8 x\n"),
        (
            Format::Dump,
            "{\"handleRecords\":{\"20.1/a\\u0000b\":{\"values\":[]}}}",
        ),
    ] {
        for (migrate, dry_run) in [(false, false), (true, false), (true, true)] {
            let import = Import {
                format: Some(format),
                migrate,
                dry_run,
                tells_all: true,
                ..Import::default()
            };
            let found = outcomes(&scene, &OPERATOR, &import, text);
            assert_eq!(found.len(), 1);
            assert!(found[0].ends_with(" nul-character"), "{found:?}");
        }
    }
}

/// A principal with `write` could import names that could never be corrected.
#[test]
fn names_that_could_not_be_registered_are_taken_from_those_who_decide() {
    let scene = scene();
    authority(&scene, "20.1");
    for (who, role) in [("ann", Role::Write), ("eve", Role::Lead)] {
        let who = account(who);
        scene
            .create_account(&OPERATOR, &who.to_string(), "")
            .unwrap();
        scene.grant(&OPERATOR, "20.1", &who, role).unwrap();
    }
    let text = "{\"id\":\"20.1/good\"}\n{\"id\":\"20.1/ b\"}\n";
    let import = Import {
        format: Some(Format::Ndjson),
        migrate: true,
        tells_all: true,
        ..Import::default()
    };
    let mut found = outcomes(&scene, &account("ann"), &import, text);
    found.sort_unstable();
    assert_eq!(found, ["1 created", "2 denied"]);
    let mut found = outcomes(&scene, &account("eve"), &import, text);
    found.sort_unstable();
    assert_eq!(found, ["1 unchanged", "2 created"]);
}

/// One entry of an input was buffered in memory, however long it was.
#[test]
fn an_entry_of_any_length_is_not_buffered_whole() {
    let scene = scene();
    authority(&scene, "20.1");
    let long = "x".repeat(10 << 20);
    for (format, text) in [
        (
            Format::Csv,
            format!("id,X:1\n20.1/a,x\n20.1/b,\"{long}\"\n20.1/c,x\n"),
        ),
        (
            Format::Dump,
            format!(
                r#"{{"handleRecords":{{"20.1/d":{{"values":[]}},
                    "20.1/e":{{"x":"{long}","values":[]}}}}}}"#
            ),
        ),
    ] {
        let import = Import {
            format: Some(format),
            ..Import::default()
        };
        let outcome = scene.import(&OPERATOR, &import, text.as_bytes(), &mut |_| ());
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }
    // The entries before it are imported.
    for id in ["20.1/a", "20.1/d"] {
        assert!(scene.show(&OPERATOR, id).is_ok(), "{id}");
    }
}

/// A name that ends in the digest of a longer one gave "table records is damaged", and its import
/// failed as a whole.
#[test]
fn a_name_that_looks_like_the_short_form_of_another_is_refused_alone() {
    let scene = scene();
    let new = sensitive_authority();
    scene.create_authority(&OPERATOR, "20.1000", new).unwrap();
    // SHA-256 of the key of the longer name, found by a search for one that is text.
    let start = format!("20.1000/{}", "x".repeat(436));
    let long = format!("{start}{:040}", 540_276_376);
    let digest = "xh~\tW2:\u{1}]\u{16}Pp<\u{18}>\u{15}\tl\u{3}\\\u{f}[2\u{5}mn>*$K\u{c}=";
    let short = format!("{start}{digest}");
    name(&scene, &long);
    let line = |id: &str| format!("{}\n", serde_json::json!({ "id": id }));
    let ndjson = [line(&short), line("20.1000/other")].concat();
    let import = Import {
        format: Some(Format::Ndjson),
        migrate: true,
        tells_all: true,
        ..Import::default()
    };
    let batch = format!("CREATE {short}\n1 X 86400 1110 UTF8 x\n");
    for dry_run in [true, false] {
        let import = Import {
            dry_run,
            ..import.clone()
        };
        let mut found = outcomes(&scene, &OPERATOR, &import, &ndjson);
        found.sort_unstable();
        assert_eq!(found, ["1 key-taken", "2 created"]);
        let import = Import {
            format: Some(Format::Batch),
            ..import
        };
        assert_eq!(
            outcomes(&scene, &OPERATOR, &import, &batch),
            ["1 key-taken"]
        );
    }
    assert!(scene.show(&OPERATOR, &long).is_ok());
    assert_eq!(scene.check().unwrap().problems.len(), 0);
}
