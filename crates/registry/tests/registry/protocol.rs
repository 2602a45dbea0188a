//! The operations of the handle protocol (`handle-protocol.md` §3, §9).

use handfast_registry::{Operation, Performed};

use super::*;

fn create(handle: &str, overwrite: bool) -> Operation {
    Operation::Create {
        handle: handle.into(),
        values: vec![NewValue::new(1, "URL", b"https://new.example/")],
        overwrite,
        mint: false,
    }
}

#[test]
fn what_was_withdrawn_or_is_reserved_is_taken_for_ever_and_not_there() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/gone");
    withdraw(&scene, "20.1/gone");
    let reserved = reserved();
    scene.create_name(&OPERATOR, "20.1/kept", reserved).unwrap();
    for handle in ["20.1/gone", "20.1/KEPT"] {
        assert!(scene.is_taken(handle).unwrap());
        assert!(scene.handle(handle).unwrap().is_none(), "{handle}");
        assert_eq!(
            code(scene.perform(&OPERATOR, create(handle, false))),
            "exists"
        );
    }
    // Overwrite flags included.
    assert_eq!(
        code(scene.perform(&OPERATOR, create("20.1/gone", true))),
        "exists"
    );
    let delete = Operation::Delete {
        handle: "20.1/gone".into(),
    };
    assert_eq!(code(scene.perform(&OPERATOR, delete)), "not-found");
}

#[test]
fn overwriting_replaces_all_values_and_says_so() {
    let scene = scene();
    authority(&scene, "20.1");
    let is_new = scene.perform(&OPERATOR, create("20.1/x", true)).unwrap();
    let (handle, overwrote) = ("20.1/x".to_string(), false);
    assert_eq!(is_new, Performed { handle, overwrote });
    assert!(
        scene
            .perform(&OPERATOR, create("20.1/x", true))
            .unwrap()
            .overwrote
    );
    assert_eq!(
        code(scene.perform(&account("eve"), create("20.1/x", true))),
        "denied"
    );
}

#[test]
fn a_minted_suffix_was_never_used() {
    let scene = scene();
    authority(&scene, "20.1");
    let mint = || Operation::Create {
        handle: "20.1/pre-".into(),
        values: Vec::new(),
        overwrite: false,
        mint: true,
    };
    let one = scene.perform(&OPERATOR, mint()).unwrap().handle;
    let other = scene.perform(&OPERATOR, mint()).unwrap().handle;
    assert!(
        one.starts_with("20.1/pre-") && one.len() == "20.1/pre-".len() + 36,
        "{one}"
    );
    assert_ne!(one, other);
}

#[test]
fn deleting_goes_as_far_as_the_authority_lets_names_go() {
    let scene = scene();
    authority(&scene, "20.1");
    erasable_authority(&scene, "20.2");
    for handle in ["20.1/x", "20.2/x"] {
        name(&scene, handle);
        let delete = Operation::Delete {
            handle: handle.into(),
        };
        scene.perform(&OPERATOR, delete).unwrap();
        assert!(scene.handle(handle).unwrap().is_none());
    }
    assert!(scene.is_taken("20.1/x").unwrap());
    assert!(!scene.is_taken("20.2/x").unwrap());
}

#[test]
fn the_record_of_a_derived_prefix_is_made_by_creating_it() {
    let scene = scene();
    authority(&scene, "20.1");
    assert!(scene.is_responsible("0.NA/20.1.5").unwrap());
    scene
        .perform(&OPERATOR, create("0.NA/20.1.5", false))
        .unwrap();
    let record = scene.handle("20.1.5").unwrap().unwrap();
    assert_eq!(*record.values[0].data, *b"https://new.example/");
    scene.perform(&OPERATOR, create("20.1.5/x", false)).unwrap();
    assert_eq!(
        code(scene.perform(&OPERATOR, create("0.NA/20.1.5", false))),
        "exists"
    );
    assert_eq!(
        code(scene.perform(&account("eve"), create("0.NA/20.1.6", false))),
        "denied"
    );
    assert!(!scene.is_responsible("0.NA/77").unwrap());
}
