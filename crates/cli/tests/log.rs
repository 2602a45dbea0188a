//! The proof log, as someone meets it who does not trust its server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_log::{Checkpoint, SigningKey, Tree, leaf_hash};
use handfast_testing::{Folder, lines};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// The public key of the log of a folder.
fn key(folder: &Folder) -> String {
    folder.done(&["log", "key"]).trim().to_string()
}

/// Codes of findings, and the events they are about.
fn findings(verified: &Value) -> Vec<(String, Option<u64>)> {
    let findings = verified["findings"].as_array().unwrap().iter();
    let found = findings.map(|finding| {
        assert!(!finding["message"].as_str().unwrap().is_empty());
        let code = finding["code"].as_str().unwrap().to_string();
        (code, finding["event"].as_u64())
    });
    found.collect()
}

fn has(found: &[(String, Option<u64>)], code: &str, event: Option<u64>) -> bool {
    found.contains(&(code.to_string(), event))
}

/// Names that were given, changed, withdrawn and kept back.
fn log() -> Folder {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    for number in 0..8 {
        let (id, url) = (
            format!("20.1/n{number}"),
            format!("https://{number}.example/"),
        );
        folder.done(&["name", "create", &id, "--url", &url]);
    }
    folder.done(&["name", "set", "20.1/n3", "--url", "https://new.example/"]);
    folder.done(&["name", "withdraw", "20.1/n4", "--reason", "wrong"]);
    folder
}

/// More changes, and many of them.
fn grow(folder: &Folder, round: u32) {
    let mut input = String::new();
    for number in 0..3_000 {
        let line = json!({"id": format!("20.1/r{round}-{number}"), "urls": ["https://x.example/"]});
        writeln!(input, "{line}").unwrap();
    }
    let file = folder.write("more.ndjson", input);
    folder.done(&["import", &file]);
    folder.done(&[
        "job",
        "set-ttl",
        &(60 + round).to_string(),
        "--authority",
        "20.1",
    ]);
}

#[test]
fn a_proof_of_today_verifies_with_the_key_and_the_name_alone_whatever_comes_after() {
    let folder = log();
    let checkpoint = folder.write("checkpoint", folder.done(&["log", "checkpoint"]));
    let proof = folder.write("proof", folder.done(&["log", "prove", "20.1/n3", "--json"]));
    let key = key(&folder);
    grow(&folder, 1);
    grow(&folder, 2);

    // Somewhere else, where there is no data folder.
    let auditor = Folder::empty(PROGRAM);
    for id in ["20.1/n3", "hdl:20.1/N3", "https://hdl.handle.net/20.1/n3"] {
        let proven = auditor.json(&["log", "verify", "--proof", &proof, "--key", &key, id]);
        assert_eq!(proven["verified"], true);
        let actions: Vec<_> = proven["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["action"].as_str().unwrap())
            .collect();
        assert_eq!(actions, ["create", "change"]);
        assert_eq!(proven["values"][0]["data"]["value"], "https://new.example/");
    }
    let (_, error) =
        auditor.not_all(&["log", "verify", "--proof", &proof, "--key", &key, "20.1/n4"]);
    assert_eq!(error[0]["error"]["code"], "not-proven");
    let other = self::key(&Folder::with(PROGRAM, &[]));
    let (_, error) = auditor.not_all(&[
        "log", "verify", "--proof", &proof, "--key", &other, "20.1/n3",
    ]);
    assert_eq!(error[0]["error"]["code"], "not-proven");
    assert!(!auditor.data().exists());

    // The log continues the checkpoint, here and as an export; and a short proof says so too.
    let verified = folder.json(&["log", "verify", "--from", &checkpoint, "--key", &key]);
    assert_eq!(findings(&verified), []);
    assert!(verified["events"].as_u64().unwrap() > 12_000);
    let export = folder.file("log");
    folder.done(&["log", "export", &export]);
    let verified = auditor.json(&[
        "log",
        "verify",
        "--export",
        &export,
        "--from",
        &checkpoint,
        "--key",
        &key,
    ]);
    assert_eq!(verified["verified"], true);
    assert_eq!(verified["checkpoints"].as_array().unwrap().len(), 2);
    let growth = folder.done(&["log", "prove", "--from", &checkpoint, "--json"]);
    let growth_file = folder.write("growth", &growth);
    let proven = auditor.json(&["log", "verify", "--proof", &growth_file, "--key", &key]);
    assert_eq!(proven["to"], verified["events"]);
    let mut forged: Value = serde_json::from_str(&growth).unwrap();
    forged["consistency"][0] = forged["consistency"][1].clone();
    let file = folder.write("forged", forged.to_string());
    auditor.not_all(&["log", "verify", "--proof", &file, "--key", &key]);
}

/// A text of which one character is another.
fn altered(text: &str, at: usize) -> String {
    let mut characters: Vec<_> = text.chars().collect();
    characters[at] = if characters[at] == 'A' { 'B' } else { 'A' };
    characters.into_iter().collect()
}

/// All ways to change one part of a proof, each with what was changed.
fn tampered(proof: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(at) = waiting.pop() {
        let mut put = |what: &str, new: Value| {
            let mut changed = proof.clone();
            *changed.pointer_mut(&at).unwrap() = new;
            found.push((format!("{at} {what}"), changed));
        };
        match proof.pointer(&at).unwrap() {
            Value::Object(members) => {
                waiting.extend(members.keys().map(|name| format!("{at}/{name}")));
            }
            Value::Array(items) => {
                // Of many, the first and the last.
                let last = items.len().saturating_sub(1);
                waiting.extend(
                    (0..items.len())
                        .filter(|item| *item < 2 || *item == last)
                        .map(|item| format!("{at}/{item}")),
                );
                let is_opening = at == "/values";
                for gone in [0, last] {
                    // To open less than all says nothing that is wrong.
                    if !is_opening && !items.is_empty() {
                        let mut fewer = items.clone();
                        fewer.remove(gone);
                        put(&format!("without {gone}"), Value::Array(fewer));
                    }
                }
                if !is_opening && items.len() > 1 {
                    let mut turned = items.clone();
                    turned.swap(0, last);
                    put("turned", Value::Array(turned));
                }
            }
            Value::String(text) => {
                let mut start = 0;
                for line in text.split_inclusive('\n') {
                    put(&format!("character {start}"), altered(text, start).into());
                    start += line.chars().count();
                }
                put("middle", altered(text, text.chars().count() / 2).into());
                put("empty", "".into());
            }
            Value::Number(number) => put("plus one", json!(number.as_u64().unwrap() + 1)),
            other => panic!("{at} {other}"),
        }
    }
    found
}

#[test]
fn a_proof_of_which_anything_was_changed_is_refused() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    // Kept back at first, so that its first event hides it; and with more values than an event
    // lists.
    let values: Vec<_> = (1..=300)
        .map(|index| json!({"index": index, "type": "DESC", "data": format!("value {index}")}))
        .collect();
    let line = json!({"id": "20.1/many", "values": values, "state": "reserved"});
    folder.done(&["import", &folder.write("names.ndjson", line.to_string())]);
    folder.done(&[
        "name",
        "create",
        "20.1/few",
        "--reserve",
        "--url",
        "https://few.example/",
    ]);
    for id in ["20.1/few", "20.1/many"] {
        folder.done(&["name", "activate", id]);
        folder.done(&["name", "set", id, "--url", "https://new.example/"]);
    }
    let key = key(&folder);
    for id in ["20.1/few", "20.1/many"] {
        let proof = folder.json(&["log", "prove", id]);
        let file = folder.write("proof", proof.to_string());
        folder.done(&["log", "verify", "--proof", &file, "--key", &key, id]);
        let tampered = tampered(&proof);
        assert!(tampered.len() > 40, "{}", tampered.len());
        for (what, changed) in tampered {
            // Whose key it is supposed to be does not matter to someone who has it.
            if what.starts_with("/log ") {
                continue;
            }
            let file = folder.write("tampered", changed.to_string());
            let output = folder.run(&["log", "verify", "--proof", &file, "--key", &key, id]);
            assert_ne!(output.status.code(), Some(0), "{id} {what}");
        }
        assert_eq!(proof["commitments"].is_array(), id == "20.1/many");
    }
}

/// An export, taken apart.
struct Forged {
    header: Value,
    events: Vec<(u64, Vec<u8>, [u8; 32])>,
}

impl Forged {
    fn of(folder: &Folder) -> Self {
        let file = folder.file("log");
        folder.done(&["log", "export", &file]);
        let lines = lines(&fs::read_to_string(file).unwrap());
        let decode = |value: &Value| STANDARD.decode(value.as_str().unwrap()).unwrap();
        let events = lines[1..].iter().map(|line| {
            let leaf = decode(&line["leaf"]).try_into().unwrap();
            (
                line["number"].as_u64().unwrap(),
                decode(&line["event"]),
                leaf,
            )
        });
        Self {
            header: lines[0].clone(),
            events: events.collect(),
        }
    }

    fn verify(&self, folder: &Folder, arguments: &[&str]) -> Vec<(String, Option<u64>)> {
        let mut text = format!("{}\n", self.header);
        for (number, event, leaf) in &self.events {
            let (event, leaf) = (STANDARD.encode(event), STANDARD.encode(leaf));
            let line = json!({"number": number, "event": event, "leaf": leaf});
            writeln!(text, "{line}").unwrap();
        }
        let file = folder.write("forged", text);
        let output =
            folder.run(&[&["log", "verify", "--json", "--export", &file], arguments].concat());
        let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = findings(&verified);
        assert_eq!(output.status.success(), found.is_empty(), "{found:?}");
        assert_eq!(verified["verified"], found.is_empty());
        found
    }

    /// The place of the event that gave a name: byte 1 is what was done, the key stands behind byte
    /// 41 with its length.
    fn creation(&self, name: &str) -> usize {
        let is_it = |event: &[u8]| {
            event[1] == 1 && event[38] == 1 && event[41..].starts_with(name.as_bytes())
        };
        self.events
            .iter()
            .position(|(_, event, _)| is_it(event))
            .unwrap()
    }

    /// Puts an event behind all others, with their next number.
    fn append(&mut self, mut event: Vec<u8>) -> u64 {
        let number = u64::try_from(self.events.len()).unwrap() + 1;
        event[2..10].copy_from_slice(&number.to_be_bytes());
        let leaf = leaf_hash(&event);
        self.events.push((number, event, leaf));
        number
    }

    /// Signs whatever is there, with a key that is not the log's.
    fn sign(&mut self, key: &SigningKey) {
        let mut tree = Tree::default();
        for (_, event, leaf) in &mut self.events {
            *leaf = leaf_hash(event);
            tree.append(*leaf, &mut |_| ());
        }
        let head = Checkpoint::new(key.verifying_key().name(), tree.size(), tree.root());
        self.header["checkpoint"] = head.sign(key).unwrap().to_string().into();
        self.header["key"] = key.verifying_key().to_string().into();
    }
}

#[test]
fn a_changed_dropped_swapped_or_doubled_event_is_found_and_named() {
    let folder = log();
    let key = key(&folder);
    let whole = || Forged::of(&folder);
    assert_eq!(whole().verify(&folder, &["--key", &key]), []);
    let size = whole().events.len();
    for at in [1, size / 2, size - 2] {
        let number = Some(u64::try_from(at).unwrap() + 1);
        // The last byte of the time, and the last of a commitment or version.
        for byte in [17, whole().events[at].1.len() - 1] {
            let mut forged = whole();
            forged.events[at].1[byte] ^= 1;
            let found = forged.verify(&folder, &["--key", &key]);
            assert!(has(&found, "changed", number), "{at} {found:?}");
            assert!(has(&found, "other-head", None), "{at} {found:?}");
            // With a hash that fits it is the head that does not.
            forged.events[at].2 = leaf_hash(&forged.events[at].1);
            let found = forged.verify(&folder, &["--key", &key]);
            assert!(has(&found, "other-head", None), "{at} {found:?}");
        }
        let mut forged = whole();
        forged.events.remove(at);
        let found = forged.verify(&folder, &["--key", &key]);
        assert!(has(&found, "missing", number), "{at} {found:?}");
        assert!(has(&found, "too-short", None), "{at} {found:?}");

        let mut forged = whole();
        forged.events.swap(at, at + 1);
        let found = forged.verify(&folder, &["--key", &key]);
        assert!(has(&found, "out-of-order", number), "{at} {found:?}");
        assert!(
            found.iter().any(|(code, _)| code == "other-head"),
            "{found:?}"
        );

        let mut forged = whole();
        let event = forged.events[at].clone();
        forged.events.insert(at, event);
        let found = forged.verify(&folder, &["--key", &key]);
        assert!(has(&found, "twice", number), "{at} {found:?}");
        assert!(has(&found, "other-head", None), "{at} {found:?}");
    }
    let mut forged = whole();
    forged.events.truncate(size - 1);
    let found = forged.verify(&folder, &["--key", &key]);
    assert_eq!(found, [("too-short".to_string(), None)]);

    let mut forged = whole();
    forged.events[3].1 = vec![9; 40];
    let found = forged.verify(&folder, &["--key", &key]);
    assert!(has(&found, "unreadable", Some(4)), "{found:?}");

    let (_, error) = folder.not_all(&["log", "verify", "--export", &folder.write("no", "{}\n")]);
    assert_eq!(error[0]["error"]["code"], "no-log");
}

/// What is found of an event behind the last one that was signed, which gives a name again.
fn twice(again: u64) -> [(String, Option<u64>); 2] {
    ["assigned-twice", "unsigned"].map(|code| (code.to_string(), Some(again)))
}

#[test]
fn a_name_that_a_forged_export_assigns_twice_is_found_and_named() {
    let folder = log();
    let key = key(&folder);
    for name in ["hdl:20.1/N2", "hdl:20.1/N4"] {
        // Behind all that was signed: the old head still fits, but speaks of less.
        let mut forged = Forged::of(&folder);
        let at = forged.creation(name);
        let again = forged.append(forged.events[at].1.clone());
        let found = forged.verify(&folder, &["--key", &key]);
        assert_eq!(found, twice(again));
        let file = folder.file("forged");
        let people = folder.run(&["log", "verify", "--export", &file, "--key", &key]);
        let text = String::from_utf8(people.stdout).unwrap();
        let message = format!(
            "{name} was assigned twice: by event {} and by event {again}",
            at + 1
        );
        assert!(text.contains(&message), "{text}");

        // Minted instead of created, or as a name that was kept back: the same.
        for action in [2, 9, 10] {
            let mut forged = Forged::of(&folder);
            let mut event = forged.events[forged.creation(name)].1.clone();
            event[1] = action;
            let again = forged.append(event);
            let found = forged.verify(&folder, &["--key", &key]);
            assert_eq!(found, twice(again));
        }
    }
    // Signed by someone else from beginning to end: whole in itself, but for the name and the key.
    let other_key = SigningKey::new("example.org/forged", &[7; 32]).unwrap();
    let mut forged = Forged::of(&folder);
    let creation = forged.events[forged.creation("hdl:20.1/N2")].1.clone();
    let again = forged.append(creation);
    forged.sign(&other_key);
    let found = forged.verify(&folder, &[]);
    assert_eq!(found, [("assigned-twice".to_string(), Some(again))]);
    let found = forged.verify(&folder, &["--key", &key]);
    assert!(has(&found, "bad-signature", None), "{found:?}");
    // A history without the second change is whole in itself too; an old checkpoint gives it away.
    let mut forged = Forged::of(&folder);
    forged.events.truncate(5);
    forged.sign(&other_key);
    assert_eq!(forged.verify(&folder, &[]), []);
    let checkpoint = folder.write("checkpoint", folder.done(&["log", "checkpoint"]));
    let both = other_key.verifying_key().to_string();
    let found = forged.verify(
        &folder,
        &["--key", &key, "--key", &both, "--from", &checkpoint],
    );
    assert_eq!(found, [("too-short".to_string(), None)]);
}

#[test]
fn the_checkpoint_of_another_log_is_refused() {
    let (folder, other) = (log(), log());
    let checkpoint = other.write("checkpoint", other.done(&["log", "checkpoint"]));
    let (verified, _) = folder.not_all(&["log", "verify", "--from", &checkpoint]);
    assert_eq!(
        findings(&verified[0]),
        [("bad-signature".to_string(), None)]
    );
    let (ours, theirs) = (key(&folder), key(&other));
    // Even if both are trusted it is not a beginning of this one.
    let (verified, _) = folder.not_all(&[
        "log",
        "verify",
        "--from",
        &checkpoint,
        "--key",
        &ours,
        "--key",
        &theirs,
    ]);
    assert_eq!(findings(&verified[0]), [("other-head".to_string(), None)]);
    let (_, error) = folder.not_all(&["log", "prove", "--from", &checkpoint]);
    assert_eq!(error[0]["error"]["code"], "other-log");
    let (_, error) = folder.not_all(&["log", "prove", "--from", &folder.write("no", "no\n")]);
    assert_eq!(error[0]["error"]["code"], "bad-checkpoint");
    let misused = folder.run(&["log", "verify", "--key", "no+key"]);
    assert_eq!(misused.status.code(), Some(2));
}

#[test]
fn a_restored_folder_begins_a_log_that_continues_the_old_one() {
    let folder = log();
    let checkpoint = folder.write("checkpoint", folder.done(&["log", "checkpoint"]));
    let backup = folder.file("backup");
    folder.done(&["backup", &backup]);
    folder.done(&["name", "create", "20.1/after-the-backup"]);
    let later = folder.write("later", folder.done(&["log", "checkpoint"]));

    let restored = Folder::empty(PROGRAM);
    restored.done(&["restore", &backup]);
    let (old, new) = (key(&folder), key(&restored));
    assert_ne!(old, new);
    for number in 0..3 {
        restored.done(&["name", "create", &format!("20.1/new{number}")]);
    }
    restored.done(&["log", "checkpoint"]);
    let both = ["--key", &old, "--key", &new];
    let verified = restored.json(&[&["log", "verify", "--from", &checkpoint][..], &both].concat());
    assert_eq!(findings(&verified), []);
    let export = restored.file("log");
    restored.done(&["log", "export", &export]);
    let offline = ["log", "verify", "--export", &export, "--from", &checkpoint];
    Folder::empty(PROGRAM).done(&[&offline[..], &both].concat());
    // The new key alone does not vouch for the old head.
    let (verified, _) = Folder::empty(PROGRAM).not_all(&[&offline[..], &["--key", &new]].concat());
    assert_eq!(
        findings(&verified[0]),
        [("bad-signature".to_string(), None)]
    );
    // What was published after the backup is missing, and that is found.
    let (verified, _) =
        restored.not_all(&[&["log", "verify", "--from", &later][..], &both].concat());
    assert_eq!(findings(&verified[0]), [("other-head".to_string(), None)]);
    let proof = restored.write(
        "proof",
        restored.done(&["log", "prove", "20.1/n3", "--json"]),
    );
    restored.done(&["log", "verify", "--proof", &proof, "--key", &new, "20.1/n3"]);

    // An event that begins a log must name the head before it.
    let mut forged = Forged::of(&restored);
    let begins = forged
        .events
        .iter()
        .rposition(|(_, event, _)| event[1] == 0x30)
        .unwrap();
    let last = forged.events[begins].1.len() - 1;
    forged.events[begins].1[last] ^= 1;
    let found = forged.verify(&restored, &["--key", &new]);
    let number = Some(u64::try_from(begins).unwrap() + 1);
    assert!(has(&found, "bad-link", number), "{found:?}");
}

/// The checkpoint that was signed last is in the backup; it is of the old log, whose key is not
/// this one's.
#[test]
fn a_log_that_was_begun_anew_is_whole_before_anything_is_signed() {
    let folder = log();
    folder.done(&["log", "checkpoint"]);
    let backup = folder.file("backup");
    folder.done(&["backup", &backup]);
    let restored = Folder::empty(PROGRAM);
    restored.done(&["restore", &backup]);
    restored.done(&["log", "verify"]);
    folder.done(&["log", "begin"]);
    folder.done(&["log", "verify"]);
}

#[test]
fn a_log_is_begun_under_a_name_of_ones_own() {
    let folder = log();
    let old = key(&folder);
    let (_, error) = folder.not_all(&["log", "begin", "--origin", "with space"]);
    assert_eq!(error[0]["error"]["code"], "bad-origin");
    assert_eq!(key(&folder), old);
    let checkpoint = folder.write("checkpoint", folder.done(&["log", "checkpoint"]));

    folder.done(&["log", "begin", "--origin", "pid.example.org/log"]);
    let new = key(&folder);
    assert!(new.starts_with("pid.example.org/log+"), "{new}");
    let signed = folder.done(&["log", "checkpoint"]);
    assert!(signed.starts_with("pid.example.org/log\n"), "{signed}");
    let both = ["--key", &old, "--key", &new];
    folder.done(&[&["log", "verify", "--from", &checkpoint][..], &both].concat());
    let growth = folder.done(&["log", "prove", "--from", &checkpoint, "--json"]);
    let growth = folder.write("growth", growth);
    folder.done(&[&["log", "verify", "--proof", &growth][..], &both].concat());
    // One of the keys is not enough for both.
    folder.not_all(&["log", "verify", "--proof", &growth, "--key", &new]);
}

#[test]
fn secrets_stay_out_of_everything_that_is_given_away() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let secret = "very-secret-words";
    let value = format!("300:HS_SECKEY:{secret}");
    folder.done(&[
        "name",
        "create",
        "20.1/id",
        "--url",
        "https://x.example/",
        "--value",
        &value,
    ]);
    let value = |index: u32| json!({"index": index, "type": "HS_SECKEY", "data": secret});
    let line = |id: &str, index: u32| json!({"id": id, "values": [value(index)]});
    let text = format!("{}\n{}\n", line("20.1/other", 300), line("20.1/", 1));
    let file = folder.write("names.ndjson", text);
    let outcome = folder.file("outcome");
    let (summary, told) = folder.not_all(&["import", &file, "--outcome", &outcome]);
    let export = folder.file("log");
    folder.done(&["log", "export", &export]);
    let mut seen = vec![
        fs::read_to_string(&outcome).unwrap(),
        fs::read_to_string(&export).unwrap(),
        format!("{summary:?}{told:?}"),
        folder.done(&["export"]),
        folder.done(&["job", "list", "--json"]),
        folder.done(&["log", "checkpoint"]),
    ];
    for id in ["20.1/id", "20.1/other"] {
        for form in [&[][..], &["--json"]] {
            seen.push(folder.done(&[&["log", "prove", id], form].concat()));
            seen.push(folder.done(&[&["name", "history", id], form].concat()));
        }
    }
    let key = fs::read_to_string(folder.data().join("log.key")).unwrap();
    // PRIVATE+KEY+name+id+base64, which may have a + of its own.
    let private = key.trim().splitn(5, '+').last().unwrap();
    assert_eq!(private.len(), 44);
    for text in seen {
        assert!(!text.contains(secret), "{text}");
        assert!(!text.contains(private), "{text}");
        // Nor in base64, as values of proofs and events are written.
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c)) {
            let bytes = STANDARD.decode(word).unwrap_or_default();
            assert!(
                !bytes
                    .windows(secret.len())
                    .any(|at| at == secret.as_bytes()),
                "{word}"
            );
        }
    }
    // The key of the log is for its owner alone, the next one too.
    let mode = |name: &str| {
        fs::metadata(folder.data().join(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("log.key") & 0o777, 0o600);
    folder.done(&["log", "begin"]);
    assert_eq!(mode("log.key") & 0o777, 0o600);
}

/// A name from another registry may end in a blank, which is part of it.
#[test]
fn the_proof_of_a_name_that_ends_in_a_blank_verifies() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    let file = folder.write(
        "names.ndjson",
        "{\"id\":\"20.1/blank \"}\n{\"id\":\"20.1/plain\"}\n",
    );
    folder.done(&["import", &file, "--migrate"]);
    let key = key(&folder);
    for id in ["20.1/plain", "20.1/blank "] {
        let proof = folder.write("proof", folder.done(&["log", "prove", id, "--json"]));
        folder.done(&["log", "verify", "--proof", &proof, "--key", &key, id]);
    }
}

/// Names of all kinds, each in the spelling that it is registered under.
#[test]
fn names_of_all_schemes_are_proven() {
    let folder = Folder::empty(PROGRAM);
    folder.done(&["init", "--demo"]);
    folder.done(&["authority", "create", "20.4", "--case", "sensitive"]);
    folder.done(&["authority", "create", "20.1"]);
    let names = ["20.4/aB", "20.4/ab", "20.1/tab\there", "20.1/É%2F?x#y"];
    let names = names
        .map(|id| format!("{}\n", json!({ "id": id })))
        .concat();
    let file = folder.write("names.ndjson", names);
    folder.done(&["import", &file, "--migrate"]);
    let key = key(&folder);
    let exported = lines(&folder.done(&["export"]));
    let ids: Vec<_> = exported
        .iter()
        .filter_map(|line| line["id"].as_str())
        .collect();
    assert!(ids.len() > 12, "{ids:?}");
    for id in ids.into_iter().chain(["0.NA/20.1"]) {
        let proof = folder.write("proof", folder.done(&["log", "prove", id, "--json"]));
        let proven = folder.json(&["log", "verify", "--proof", &proof, "--key", &key, id]);
        assert_eq!(proven["id"], id);
    }
    // Where case counts, another case is another name.
    let proof = folder.write("proof", folder.done(&["log", "prove", "20.4/aB", "--json"]));
    for other in ["20.4/ab", "20.4/AB"] {
        folder.not_all(&["log", "verify", "--proof", &proof, "--key", &key, other]);
    }
}

/// Logs that only the holder of the key can forge passed for whole.
#[test]
fn every_forged_export_ends_with_status_1_and_every_honest_one_with_0() {
    let vectors = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../registry/tests/vectors/logs"
    );
    let index = fs::read_to_string(format!("{vectors}/index.json")).unwrap();
    let index: Vec<Value> = serde_json::from_str(&index).unwrap();
    assert!(index.len() > 100);
    let folder = Folder::empty(PROGRAM);
    for log in index {
        let file = format!("{vectors}/{}", log["file"].as_str().unwrap());
        let arguments = ["log", "verify", "--json", "--export", &file];
        let output = folder.run(&arguments);
        let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = log["findings"].as_array().unwrap();
        assert_eq!(
            output.status.code(),
            Some(i32::from(!expected.is_empty())),
            "{file}"
        );
        assert_eq!(verified["verified"], expected.is_empty(), "{file}");
        for (list, expected) in [
            ("findings", expected),
            ("notes", log["notes"].as_array().unwrap()),
        ] {
            let found = verified[list].as_array().unwrap().iter();
            let found: Vec<_> = found.map(|found| &found["code"]).collect();
            assert!(
                expected.iter().all(|code| found.contains(&code)),
                "{file}: {found:?}"
            );
        }
    }
}

/// A log passed that continued another one than it said, or that another key just signed.
#[test]
fn every_forged_succession_of_logs_ends_with_status_1() {
    let vectors = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../registry/tests/vectors/logs"
    );
    let index = fs::read_to_string(format!("{vectors}/successions.json")).unwrap();
    let index: Vec<Value> = serde_json::from_str(&index).unwrap();
    assert!(index.len() > 10);
    let folder = Folder::empty(PROGRAM);
    for log in index {
        let file = format!("{vectors}/{}", log["file"].as_str().unwrap());
        let mut arguments: Vec<String> = ["log", "verify", "--json", "--export", &file]
            .map(String::from)
            .to_vec();
        for key in log["keys"].as_array().unwrap() {
            arguments.extend(["--key".to_string(), key.as_str().unwrap().to_string()]);
        }
        for (at, from) in log["from"]
            .as_array()
            .iter()
            .flat_map(|all| all.iter().enumerate())
        {
            let from = folder.write(&format!("from{at}"), from.as_str().unwrap());
            arguments.extend(["--from".to_string(), from]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = folder.run(&arguments);
        let verified: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = log["findings"].as_array().unwrap();
        let status = Some(i32::from(!expected.is_empty()));
        assert_eq!(output.status.code(), status, "{file}: {verified}");
        let found = verified["findings"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|found| &found["code"]).collect();
        assert!(
            expected.iter().all(|code| found.contains(&code)),
            "{file}: {found:?}"
        );
    }
}

/// The verdict was that no name was assigned twice, after one had been erased and assigned again.
#[test]
fn a_verdict_says_what_it_covers() {
    let folder = Folder::with(PROGRAM, &["20.1"]);
    folder.done(&["authority", "create", "20.2", "--persistence", "erasable"]);
    for (action, id) in [
        ("create", "20.1/a"),
        ("create", "20.2/a"),
        ("create", "20.2/b"),
        ("erase", "20.2/a"),
        ("create", "20.2/a"),
    ] {
        folder.done(&["name", action, id]);
    }
    let verdict = |arguments: &[&str]| {
        let told = folder.done(arguments);
        told.lines().last().unwrap().to_string()
    };
    assert_eq!(
        verdict(&["log", "verify"]),
        "the log is whole: 3 public names, none assigned twice; 2 hidden; 1 erased, \
         1 of them assigned again"
    );
    let export = folder.file("log");
    folder.done(&["log", "export", &export]);
    assert_eq!(
        verdict(&["log", "verify", "--export", &export]),
        "the log is whole: 3 public names, none assigned twice; 2 hidden; 1 erased \
         (an export cannot show whether one was assigned again)"
    );
    let verified = folder.json(&["log", "verify"]);
    let counts = ["names", "hidden", "erased", "reassigned"].map(|count| verified[count].clone());
    assert_eq!(counts, [3, 2, 1, 1].map(Value::from));
    let verified = folder.json(&["log", "verify", "--export", &export]);
    assert_eq!(verified["reassigned"], Value::Null);
}
