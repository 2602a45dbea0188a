//! The proof log against independent programs: `signed_note` reads its checkpoints, `tlog_tiles`
//! its tiles and proofs; and the log stays valid after any operations.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_log::{Bundle, Tile as OwnTile};
use handfast_registry::{
    AuthorityChange, Edit, Environment, Event, NameAction, NewAuthority, NewName, NewValue,
    Persistence, Principal, Proof, Record, Registry, State, Verify, verify_proof,
};
use proptest::prelude::*;
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::{Hash, HashReader, Tile, TileHashReader, TileReader};

use common::fill_with;

const OPERATOR: Principal = Principal::Operator;

fn world() -> Environment {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    Environment::new(
        || 1_800_000_000_000 + COUNT.fetch_add(1, Ordering::Relaxed),
        |bytes| fill_with(bytes, COUNT.fetch_add(1, Ordering::Relaxed)),
    )
}

/// `20.1` keeps its names for ever, `20.2` may erase them.
fn registry(data: &Path) -> Registry {
    let registry = Registry::create(data, world()).unwrap();
    for (path, persistence) in [
        ("20.1", Persistence::Permanent),
        ("20.2", Persistence::Erasable),
    ] {
        let change = AuthorityChange {
            persistence: Some(persistence),
            ..AuthorityChange::default()
        };
        let new = NewAuthority {
            change,
            ..NewAuthority::default()
        };
        registry.create_authority(&OPERATOR, path, new).unwrap();
    }
    registry
}

/// Creates names and changes some, so that there are at least so many events.
fn fill(registry: &Registry, from: u64, events: u64) {
    let mut number = from;
    while registry.event_count().unwrap() < events {
        let id = format!("20.1/n{number}");
        registry
            .create_name(&OPERATOR, &id, NewName::urls(&["https://example.org/"]))
            .unwrap();
        if number.is_multiple_of(3) {
            registry
                .edit_name(&OPERATOR, &id, Edit::urls(&["https://example.net/"]))
                .unwrap();
        }
        number += 1;
    }
}

/// Checks a note with `signed_note`, and reads it with `tlog_tiles`.
fn opened(note: &str, key: &str) -> tlog_tiles::Checkpoint {
    let verifier = StandardVerifier::new(key).unwrap();
    let known = VerifierList::new(vec![Box::new(verifier)]);
    let note = Note::from_bytes(note.as_bytes()).unwrap();
    let (genuine, _) = note.verify(&known).unwrap();
    assert_eq!(genuine.len(), 1);
    tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap()
}

/// Tiles as files of a web server.
struct Files(PathBuf);

impl TileReader for Files {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        let read = |tile: &Tile| {
            // They write the height of the tiles, which C2SP leaves out.
            let path = tile.path().replacen("tile/8/", "tile/", 1);
            fs::read(self.0.join(&path)).unwrap()
        };
        Ok(tiles.iter().map(read).collect())
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

/// The events of a folder of tiles, in their order.
fn entries(folder: &Path, size: u64) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for index in 0..size.div_ceil(256) {
        let width = (size - index * 256).min(256);
        let partial = if width < 256 {
            format!(".p/{width}")
        } else {
            String::new()
        };
        let path = format!("tile/entries/{index:03}{partial}");
        let bundle = fs::read(folder.join(path)).unwrap();
        let mut rest = &bundle[..];
        while let Some((length, behind)) = rest.split_first_chunk() {
            let (event, behind) = behind.split_at(u16::from_be_bytes(*length).into());
            found.push(event.to_vec());
            rest = behind;
        }
    }
    found
}

/// The head of a tree that `tlog_tiles` computes from nothing but the events.
fn from_scratch(events: &[Vec<u8>]) -> Stored {
    let mut stored = Stored(Vec::new());
    for (number, event) in (0..).zip(events) {
        let more = tlog_tiles::stored_hashes(number, event, &stored).unwrap();
        stored.0.extend(more);
    }
    stored
}

struct Stored(Vec<Hash>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, tlog_tiles::Error> {
        let read = |index: &u64| self.0[usize::try_from(*index).unwrap()];
        Ok(indexes.iter().map(read).collect())
    }
}

fn hashes(texts: &[String]) -> Vec<Hash> {
    let decode = |text: &String| Hash(STANDARD.decode(text).unwrap().try_into().unwrap());
    texts.iter().map(decode).collect()
}

fn check_with_theirs(proof: &Proof, size: u64, root: Hash) {
    assert!(!proof.events.is_empty());
    for event in &proof.events {
        let leaf = tlog_tiles::record_hash(&STANDARD.decode(&event.event).unwrap());
        let path = hashes(&event.inclusion);
        tlog_tiles::check_record(&path, size, root, event.number - 1, leaf).unwrap();
        assert!(
            tlog_tiles::check_record(&path, size, root, event.number, leaf).is_err(),
            "the place counts"
        );
    }
}

/// Writes the checkpoint, all bundles and all tiles, as they are served; returns the checkpoint.
fn write_tiles(registry: &Registry, folder: &Path) -> String {
    let note = registry.checkpoint().unwrap().to_string();
    let size = registry.event_count().unwrap();
    let write = |path: &str, content: &[u8]| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    for bundle in (0..).map_while(|index| Bundle::of(index, size)) {
        write(&bundle.path(), &registry.bundle(&bundle).unwrap().unwrap());
    }
    for level in 0..8 {
        for tile in (0..).map_while(|index| OwnTile::of(level, index, size)) {
            write(&tile.path(), &registry.tile(&tile).unwrap().unwrap());
        }
    }
    write("checkpoint", note.as_bytes());
    note
}

#[test]
fn checkpoints_tiles_and_proofs_are_right_to_other_implementations() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(&folder.path().join("data"));
    let key = registry.log_key().unwrap().to_string();
    let files = folder.path().join("tiles");
    let mut earlier: Vec<(u64, Hash, String)> = Vec::new();
    for size in [5, 255, 256, 300, 515, 700] {
        fill(&registry, size * 1_000, size);
        let note = write_tiles(&registry, &files);
        let head = opened(&note, &key);
        assert_eq!(head.size(), registry.event_count().unwrap());
        let (size, root) = (head.size(), *head.hash());

        // Reading hashes from tiles checks each tile against the head.
        let files_reader = Files(files.clone());
        let tiles = TileHashReader::new(size, root, &files_reader);
        let events = entries(&files, size);
        assert_eq!(u64::try_from(events.len()).unwrap(), size);
        for (number, event) in (0..size).zip(&events) {
            assert_eq!(Event::from_bytes(event).unwrap().number, number + 1);
        }
        for number in (0..size).step_by(37) {
            let leaf = tlog_tiles::record_hash(&events[usize::try_from(number).unwrap()]);
            let path = tlog_tiles::prove_record(size, number, &tiles).unwrap();
            tlog_tiles::check_record(&path, size, root, number, leaf).unwrap();
        }
        assert_eq!(
            tlog_tiles::tree_hash(size, &from_scratch(&events)).unwrap(),
            root
        );

        let proof = registry.prove(&OPERATOR, "20.1/n5000").unwrap();
        check_with_theirs(&proof, size, root);

        for (old, old_root, old_note) in &earlier {
            let growth = registry.prove_growth(old_note).unwrap();
            let path = hashes(&growth.consistency);
            tlog_tiles::check_tree(&path, size, root, *old, *old_root).unwrap();
            let theirs = tlog_tiles::prove_tree(size, *old, &tiles).unwrap();
            assert_eq!(path, theirs);
        }
        earlier.push((size, root, note));
    }
}

/// Full tiles never change; what is partial today is in a file of its own tomorrow.
#[test]
fn a_tile_that_is_full_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(&folder.path().join("data"));
    let files = folder.path().join("tiles");
    fill(&registry, 0, 300);
    write_tiles(&registry, &files);
    let full = files.join("tile/0/000");
    let before = fs::read(&full).unwrap();
    assert_eq!(before.len(), 256 * 32);
    fill(&registry, 10_000, 600);
    write_tiles(&registry, &files);
    assert_eq!(fs::read(&full).unwrap(), before);
    assert!(files.join("tile/0/001").exists());
    assert_eq!(fs::read(files.join("tile/1/000.p/2")).unwrap().len(), 64);
}

#[derive(Clone, Debug)]
enum Operation {
    Create(u8, bool),
    Edit(u8, u8),
    Withdraw(u8),
    Restore(u8),
    Activate(u8),
    Erase(u8),
    Undo(u8),
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let name = 0..6_u8;
    prop_oneof![
        4 => (name.clone(), any::<bool>()).prop_map(|(name, reserve)| Operation::Create(name,
            reserve)),
        4 => (name.clone(), any::<u8>()).prop_map(|(name, url)| Operation::Edit(name, url)),
        2 => name.clone().prop_map(Operation::Withdraw),
        2 => name.clone().prop_map(Operation::Restore),
        2 => name.clone().prop_map(Operation::Activate),
        2 => name.clone().prop_map(Operation::Erase),
        2 => name.prop_map(Operation::Undo),
        1 => Just(Operation::Reopen),
    ]
}

/// Names 0 to 2 are permanent, 3 to 5 may be erased.
fn id(name: u8) -> String {
    let authority = if name < 3 { "20.1" } else { "20.2" };
    format!("{authority}/n{name}")
}

fn edit(choice: u8) -> Edit {
    match choice % 4 {
        0 => Edit::urls(&[&format!("https://example.org/{choice}")]),
        1 => Edit::put(vec![NewValue::new(
            5 + u32::from(choice % 3),
            "DESC",
            &[choice],
        )]),
        2 => Edit::put(vec![NewValue::new(300, "HS_SECKEY", b"secret")]),
        _ => Edit::urls(&["https://a.example/", "https://b.example/"]),
    }
}

fn apply(registry: &Registry, operation: &Operation) -> bool {
    let done = match operation {
        Operation::Create(name, reserve) => {
            let new = NewName {
                reserve: *reserve,
                ..NewName::urls(&["https://example.org/"])
            };
            registry.create_name(&OPERATOR, &id(*name), new).map(|_| ())
        }
        Operation::Edit(name, choice) => registry
            .edit_name(&OPERATOR, &id(*name), edit(*choice))
            .map(|_| ()),
        Operation::Withdraw(name) => registry
            .withdraw_name(&OPERATOR, &id(*name), "why", None)
            .map(|_| ()),
        Operation::Restore(name) => registry
            .change_name(&OPERATOR, &id(*name), None, NameAction::Restore)
            .map(|_| ()),
        Operation::Activate(name) => registry
            .change_name(&OPERATOR, &id(*name), None, NameAction::Activate)
            .map(|_| ()),
        Operation::Erase(name) => registry
            .change_name(&OPERATOR, &id(*name), None, NameAction::Erase)
            .map(|_| ()),
        Operation::Undo(name) => registry
            .change_name(&OPERATOR, &id(*name), None, NameAction::Undo(None))
            .map(|_| ()),
        Operation::Reopen => return false,
    };
    done.is_ok()
}

fn record(registry: &Registry, name: u8) -> Option<Record> {
    let shown = registry.show(&OPERATOR, &id(name));
    shown.ok().map(|shown| shown.record)
}

fn is_alike(a: &Record, b: &Record) -> bool {
    a.values.len() == b.values.len()
        && a.values
            .iter()
            .zip(&b.values)
            .all(|(a, b)| a.is_unchanged_from(b))
        && a.tombstone == b.tombstone
        && a.state == b.state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None,
        ..Default::default() })]

    #[test]
    fn whatever_is_done_the_log_stays_whole(operations in prop::collection::vec(operation(),
        1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let mut registry = Some(registry(&data));
        let (mut done, before) = (0, registry.as_ref().unwrap().event_count().unwrap());
        for operation in &operations {
            if matches!(operation, Operation::Reopen) {
                drop(registry.take());
                registry = Some(Registry::open(&data, world()).unwrap());
            }
            done += u64::from(apply(registry.as_ref().unwrap(), operation));
        }
        let registry = registry.unwrap();
        prop_assert_eq!(registry.event_count().unwrap(), before + done, "one event a change");
        let audited = registry.verify_log(&Verify::default(), &mut |_, _| ()).unwrap();
        prop_assert!(audited.findings.is_empty(), "{:?}", audited.findings);

        // The tree that is stored with each change is the tree of all events.
        let files = folder.path().join("tiles");
        let note = write_tiles(&registry, &files);
        let key = registry.log_key().unwrap();
        let head = opened(&note, &key.to_string());
        let (size, root) = (head.size(), *head.hash());
        let stored = from_scratch(&entries(&files, size));
        prop_assert_eq!(tlog_tiles::tree_hash(size, &stored).unwrap(), root);
        for name in 0..6 {
            let Some(record) = record(&registry, name) else { continue };
            let proof = registry.prove(&OPERATOR, &id(name)).unwrap();
            check_with_theirs(&proof, size, root);
            let proven = verify_proof(&proof, Some(&id(name)), &key).unwrap();
            prop_assert_eq!(u64::try_from(proven.events.len()).unwrap(), record.version);
            let mut public = record.values.clone();
            public.retain(|value| value.permissions.public_read());
            prop_assert_eq!(proven.values, public);
        }
    }

    #[test]
    fn undoing_a_change_gives_back_what_was_before(operations in prop::collection::vec(operation(),
        1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let registry = registry(&folder.path().join("data"));
        for operation in &operations {
            let (Operation::Edit(name,
                _) | Operation::Withdraw(name) | Operation::Restore(name)) = *operation else {
                apply(&registry, operation);
                continue;
            };
            let Some(before) = record(&registry, name) else { continue };
            if !apply(&registry, operation) {
                continue;
            }
            let after = record(&registry, name).unwrap();
            registry.change_name(&OPERATOR, &id(name), None, NameAction::Undo(None)).unwrap();
            let undone = record(&registry, name).unwrap();
            prop_assert!(is_alike(&undone, &before), "{:?} {:?}", undone, before);
            prop_assert_eq!(undone.version, before.version + 2);
            registry.change_name(&OPERATOR, &id(name), None, NameAction::Undo(None)).unwrap();
            let again = record(&registry, name).unwrap();
            prop_assert!(is_alike(&again, &after), "{:?} {:?}", again, after);
        }
        let audited = registry.verify_log(&Verify::default(), &mut |_, _| ()).unwrap();
        prop_assert!(audited.findings.is_empty(), "{:?}", audited.findings);
    }
}

/// A reserved name is hidden until it is activated, and an erasable one for ever; both have proofs
/// for principals that may see them, and the log contains nothing of them.
#[test]
fn hidden_names_are_proven_and_do_not_stand_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(&folder.path().join("data"));
    let reserved = NewName {
        reserve: true,
        ..NewName::urls(&["https://example.org/"])
    };
    registry
        .create_name(&OPERATOR, "20.1/Plan-X", reserved.clone())
        .unwrap();
    registry
        .create_name(
            &OPERATOR,
            "20.2/Person-Y",
            NewName::urls(&["https://p.example/"]),
        )
        .unwrap();
    let key = registry.log_key().unwrap();
    for id in ["20.1/plan-x", "20.2/person-y"] {
        let proof = registry.prove(&OPERATOR, id).unwrap();
        assert_eq!(
            verify_proof(&proof, Some(id), &key).unwrap().events.len(),
            1
        );
        let unopened = Proof {
            salt: None,
            ..proof
        };
        assert!(verify_proof(&unopened, Some(id), &key).is_err());
        let outsider = Principal::parse("eve").unwrap();
        assert!(registry.prove(&outsider, id).is_err(), "{id}");
    }
    let mut export = Vec::new();
    registry.export_log(&mut export, &mut |_| ()).unwrap();
    let events = |export: &[u8]| {
        let text = String::from_utf8(export.to_vec()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let bytes = lines
            .iter()
            .map(|line| STANDARD.decode(line["event"].as_str().unwrap()).unwrap());
        bytes.collect::<Vec<_>>().concat()
    };
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    let log = events(&export);
    assert!(!has(&log, "PLAN-X") && !has(&log, "PERSON-Y"));

    registry
        .change_name(&OPERATOR, "20.1/plan-x", None, NameAction::Activate)
        .unwrap();
    registry
        .change_name(&OPERATOR, "20.2/person-y", None, NameAction::Erase)
        .unwrap();
    let proof = registry.prove(&OPERATOR, "20.1/plan-x").unwrap();
    let proven = verify_proof(&proof, Some("20.1/Plan-X"), &key).unwrap();
    assert_eq!(proven.events.len(), 2);
    let shown = registry.show(&OPERATOR, "20.1/plan-x").unwrap();
    assert_eq!(shown.record.state, State::Active);
    let mut export = Vec::new();
    registry.export_log(&mut export, &mut |_| ()).unwrap();
    let log = events(&export);
    assert!(has(&log, "PLAN-X") && !has(&log, "PERSON-Y"));
}
