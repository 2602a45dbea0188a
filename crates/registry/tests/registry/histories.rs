//! Assigned names stay assigned, also if a record is lost or a policy changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use handfast_registry::{
    Done, Edit, Format, Import, NameAction, Operation, Outcome, Report, verify_proof,
};
use handfast_store::{Store, StoreError, TableKey, Write};

use super::*;

/// A registry as a scene has left it, without the records of some keys: as if bits had rotted.
fn without_records(scene: &Scene, keys: &[&str]) -> Registry {
    let folder = copy_of(scene);
    let store = Store::open(&folder).unwrap();
    let lost = keys.iter().map(|key| key.as_bytes().to_vec());
    let lost: Vec<_> = lost
        .map(|key| Write::Delete(TableKey::record(&key).into_owned()))
        .collect();
    store.change(|_| Ok::<_, StoreError>((lost, ()))).unwrap();
    drop(store);
    Registry::open(&folder, environment()).unwrap()
}

/// The outcomes of an import, by name.
fn import(registry: &Registry, import: &Import, text: &str) -> BTreeMap<String, String> {
    let mut done = BTreeMap::new();
    let import = Import {
        tells_all: true,
        ..import.clone()
    };
    registry
        .import(&OPERATOR, &import, text.as_bytes(), &mut |report| {
            if let Report::Line(Outcome { id, done: what, .. }) = report {
                let what = match what {
                    Done::Refused { code, .. } => code.clone(),
                    Done::Created(_) => "created".to_string(),
                    other => format!("{other:?}"),
                };
                done.insert(id.clone().unwrap_or_default(), what);
            }
        })
        .unwrap();
    done
}

/// After a record was lost its name was free: it could be assigned a second time.
#[test]
fn a_name_whose_record_is_lost_is_not_free() {
    let scene = scene();
    authority(&scene, "20.1");
    erasable_authority(&scene, "20.2");
    for id in ["20.1/a", "20.1/b", "20.1/c", "20.2/a", "20.2/gone"] {
        name(&scene, id);
    }
    act(&scene, "20.2/gone", NameAction::Erase);
    let lost = ["hdl:20.1/A", "hdl:20.1/C", "hdl:20.2/A", "hdl:0.NA/20.1"];
    let registry = without_records(&scene, &lost);
    let new = || NewName::urls(&["https://other.example/"]);
    for id in ["20.1/a", "20.2/a"] {
        let error = registry.create_name(&OPERATOR, id, new()).unwrap_err();
        assert_eq!(error.code(), "lost-record");
        assert!(error.hint().unwrap().contains("restore from a backup"));
        let create = Operation::Create {
            handle: id.to_string(),
            values: Vec::new(),
            overwrite: true,
            mint: false,
        };
        assert_eq!(code(registry.perform(&OPERATOR, create)), "lost-record");
    }
    let home = Operation::Create {
        handle: "0.NA/20.1".into(),
        values: Vec::new(),
        overwrite: false,
        mint: false,
    };
    assert!(registry.perform(&OPERATOR, home).is_err());
    // An impossible line is rejected, and the others are imported: on the fast path and on the slow
    // path.
    let line =
        |id: &str, more: &str| format!("{{\"id\":\"{id}\",\"urls\":[\"https://x\"]{more}}}\n");
    let withdrawn = r#","state":"withdrawn","withdrawn":{"reason":"x"}"#;
    let lines = [
        line("20.1/a", ""),
        line("20.1/bb", ""),
        line("20.1/c", withdrawn),
        line("20.1/d", ""),
        line("20.2/a", ""),
        line("20.2/gone", ""),
    ];
    let done = import(&registry, &Import::default(), &lines.concat());
    let expected = [
        ("20.1/a", "lost-record"),
        ("20.1/bb", "created"),
        ("20.1/c", "lost-record"),
        ("20.1/d", "created"),
        ("20.2/a", "lost-record"),
        ("20.2/gone", "created"),
    ];
    let expected = expected.map(|(id, done)| (id.to_string(), done.to_string()));
    assert_eq!(done, BTreeMap::from(expected));
    let batch = Import {
        format: Some(Format::Batch),
        ..Import::default()
    };
    let done = import(
        &registry,
        &batch,
        "CREATE 20.1/a\n1 URL 86400 1110 UTF8 x\n",
    );
    assert_eq!(done.into_values().collect::<Vec<_>>(), ["lost-record"]);
}

/// Two names were assigned twice, and the audit found nothing: the authority called them permanent
/// afterwards.
#[test]
fn an_authority_that_has_erased_names_never_becomes_permanent() {
    let scene = scene();
    for path in ["20.1", "20.2", "20.3"] {
        erasable_authority(&scene, path);
    }
    let change = |persistence| AuthorityChange {
        persistence: Some(persistence),
        ..AuthorityChange::default()
    };
    let permanent = |path: &str| {
        let change = change(Persistence::Permanent);
        scene.change_authority(&OPERATOR, path, change)
    };
    // Erased and gone; erased and assigned again.
    name(&scene, "20.1/x");
    act(&scene, "20.1/x", NameAction::Erase);
    assert_eq!(code(permanent("20.1")), "erased-names");
    name(&scene, "20.1/x");
    assert_eq!(code(permanent("20.1")), "erased-names");
    let line = r#"{"authority":"20.1","policy":{"erasable":false}}"#;
    let update = Import {
        update: true,
        ..Import::default()
    };
    let done = import(&scene, &update, line);
    assert_eq!(done["20.1"], "erased-names");
    // Other changes are made, and where nothing was erased this one is.
    scene
        .change_authority(&OPERATOR, "20.1", change(Persistence::Erasable))
        .unwrap();
    name(&scene, "20.2/x");
    permanent("20.2").unwrap();
    permanent("20.3").unwrap();
    let verified = scene
        .verify_log(&Verify::default(), &mut |_, _| ())
        .unwrap();
    assert_eq!((verified.erased, verified.reassigned), (1, Some(1)));
    // The records of three prefixes are public; two names are hidden, and stay hidden until they
    // change.
    assert_eq!((verified.names, verified.hidden), (3, 2));
}

/// U+0000 let entries of one name stand between those of another, and came in by `migrate`.
#[test]
fn no_way_leads_to_a_name_with_u_0000() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let before = scene.event_count().unwrap();
    let nul = "20.1/x\0y";
    let created = scene.create_name(&OPERATOR, nul, NewName::default());
    assert!(created.is_err());
    for mint in [false, true] {
        let create = Operation::Create {
            handle: nul.into(),
            values: Vec::new(),
            overwrite: true,
            mint,
        };
        assert!(scene.perform(&OPERATOR, create).is_err());
    }
    let add = Operation::Add {
        handle: nul.into(),
        values: Vec::new(),
        overwrite: true,
    };
    assert!(scene.perform(&OPERATOR, add).is_err());
    for path in ["20.1\0", "0.NA/20.\0", "urn:a\0b", "info:a\0", "ark:1\0"] {
        let new = NewAuthority::default();
        assert!(scene.create_authority(&OPERATOR, path, new).is_err());
    }
    let style = "sequence:a\0:3".parse();
    if let Ok(style) = style {
        let options = MintOptions {
            style: Some(style),
            ..MintOptions::default()
        };
        let minted = scene.mint(&OPERATOR, "20.1", &options, 1, |_| Ok(()));
        assert!(minted.is_err());
    }
    assert_eq!(scene.event_count().unwrap(), before);
    let migrate = |format| Import {
        migrate: true,
        format: Some(format),
        ..Import::default()
    };
    let id = r"20.1/x\u0000y";
    let withdrawn = format!(r#"{{"id":"{id}w","state":"withdrawn","withdrawn":{{"reason":"x"}}}}"#);
    let lines = format!("{{\"id\":\"{id}\"}}\n{withdrawn}\n");
    let done = import(&scene, &migrate(Format::Ndjson), &lines);
    assert_eq!(
        done.into_values().collect::<Vec<_>>(),
        ["nul-character", "nul-character"]
    );
    for (format, text) in [
        (
            Format::Batch,
            format!("CREATE {nul}\n1 URL 86400 1110 UTF8 x\n"),
        ),
        (Format::Csv, format!("id,url\n{nul},https://x\n")),
        (
            Format::Dump,
            format!(r#"{{"handleRecords":{{"{id}":[]}}}}"#),
        ),
    ] {
        let done = import(&scene, &migrate(format), &text);
        assert!(done.values().all(|done| done != "created"), "{done:?}");
    }
    assert!(scene.names_of("20.1").iter().all(|key| !key.contains('\0')));
}

impl Scene {
    fn names_of(&self, path: &str) -> Vec<String> {
        let mut keys = Vec::new();
        self.names(&OPERATOR, path, None, &mut |shown| {
            keys.push(shown.key);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        keys
    }
}

/// A proof took its checkpoint from one snapshot and its values from another: a change in between
/// made it worthless.
#[test]
fn a_proof_holds_whatever_changes_while_it_is_made() {
    let scene = Arc::new(scene());
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let is_done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let (scene, is_done) = (Arc::clone(&scene), Arc::clone(&is_done));
            thread::spawn(move || {
                for number in 0.. {
                    let url = format!("https://{writer}-{number}.example/");
                    let edit = Edit::urls(&[&url]);
                    change_values(&scene, "20.1/x", edit);
                    if is_done.load(Ordering::Relaxed) || number == 2_000 {
                        break;
                    }
                }
            })
        })
        .collect();
    let key = scene.log_key().unwrap();
    for _ in 0..40 {
        let proof = scene.prove(&OPERATOR, "20.1/x").unwrap();
        let proven = verify_proof(&proof, Some("20.1/x"), &key).unwrap();
        let last = proven.events.last().unwrap();
        assert!(last.number <= proven.checkpoint.size);
        assert_eq!(proven.values.len(), 1);
    }
    is_done.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.join().unwrap();
    }
}
