//! Tests with names that earlier versions of the program assigned.

use super::*;
use crate::name::edit::Edit;
use crate::{Environment, NameAction, NewAuthority, NewName, Registry, Verify, verify_proof};

const OPERATOR: Principal = Principal::Operator;

/// Assigns a name without checking its characters, as earlier versions did.
fn assign_unchecked(registry: &Registry, id: &str) {
    let id = id.to_string();
    let assigned = registry.change(&OPERATOR, move |change_set| {
        let (prefix, _) = id.split_once('/').unwrap_or_default();
        let (key, authority) = (
            format!("hdl:{}", id.to_ascii_uppercase()),
            format!("hdl:{prefix}"),
        );
        let record = Record::new(id, &authority, State::Active, change_set.time());
        Ok(change_set.store_record(&key, None, record, Action::Create, Persistence::Permanent))
    });
    assigned.unwrap();
}

fn edit(registry: &Registry, id: &str) {
    let number = registry.event_count().unwrap();
    let url = format!("https://{number}.example/");
    registry
        .edit_name(&OPERATOR, id, Edit::urls(&[&url]))
        .unwrap();
}

fn events(registry: &Registry, id: &str) -> Vec<u64> {
    let history = registry.history_page(&OPERATOR, id, 0, 100, None).unwrap();
    history
        .entries
        .iter()
        .map(|entry| entry.event.number)
        .collect()
}

/// A name with U+0000 hid part of the history, proof and undo of another name, and made `check` and
/// `log verify` report damage for ever.
#[test]
fn keys_that_begin_alike_do_not_cut_off_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let registry = Registry::create(&data, Environment::new(|| 1, |b| b.fill(1))).unwrap();
    let new = NewAuthority::default();
    registry.create_authority(&OPERATOR, "20.1", new).unwrap();
    let created = registry.create_name(&OPERATOR, "20.1/victim", NewName::default());
    let mut expected = vec![created.unwrap().record.last_event];
    for number in 0..30 {
        // Keys before, between and behind the events of the other name, and keys that its events
        // split.
        let at = registry.event_count().unwrap() + u64::from(number % 3 == 0);
        let bytes = at.to_be_bytes().map(char::from);
        let between: String = bytes.into_iter().collect();
        assign_unchecked(&registry, &format!("20.1/victim{between}z{number}"));
        assign_unchecked(&registry, &format!("20.1/victim\0{number}"));
        edit(&registry, "20.1/victim");
        expected.push(registry.event_count().unwrap());
    }
    for nuls in 1..9 {
        let id = format!("20.1/victim{}", "\0".repeat(nuls));
        assign_unchecked(&registry, &id);
        for _ in 0..80 {
            edit(&registry, &id);
        }
        edit(&registry, "20.1/victim");
        expected.push(registry.event_count().unwrap());
        assert_eq!(events(&registry, &id).len(), 81);
    }
    assert_eq!(events(&registry, "20.1/victim"), expected);
    let (last, before) = (expected.len() - 1, expected.len() - 2);
    registry
        .change_name(
            &OPERATOR,
            "20.1/victim",
            None,
            NameAction::Undo(expected.get(last).copied()),
        )
        .unwrap();
    assert!(expected.get(before).is_some());
    let proof = registry.prove(&OPERATOR, "20.1/victim").unwrap();
    let proven = verify_proof(&proof, None, &registry.log_key().unwrap()).unwrap();
    assert_eq!(proven.events.len(), expected.len() + 1);
    // Stored names of this kind are withdrawn and restored as any other.
    let odd = "20.1/victim\0";
    registry.withdraw_name(&OPERATOR, odd, "x", None).unwrap();
    registry
        .change_name(&OPERATOR, odd, None, NameAction::Restore)
        .unwrap();
    assert!(registry.show(&OPERATOR, odd).is_ok());
    let verified = registry.verify_log(&Verify::default(), &mut |_, _| ());
    let verified = verified.unwrap();
    assert_eq!(verified.findings, []);
    let notes: Vec<_> = verified.notes.iter().map(crate::Note::code).collect();
    assert_eq!(notes, ["irregular"]);
    assert_eq!(registry.check().unwrap().problems, []);
}

/// Hidden names that are one were taken for two, though the folder knows their keys.
#[test]
fn a_hidden_name_that_was_assigned_twice_is_found_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut draws = 0_u8;
    let random = move |bytes: &mut [u8]| {
        draws = draws.wrapping_add(1);
        bytes.fill(draws);
    };
    let random = std::sync::Mutex::new(random);
    let environment = Environment::new(|| 1, move |bytes| random.lock().unwrap()(bytes));
    let registry = Registry::create(&data, environment).unwrap();
    let new = NewAuthority {
        change: crate::AuthorityChange {
            persistence: Some(Persistence::Erasable),
            ..crate::AuthorityChange::default()
        },
        ..NewAuthority::default()
    };
    registry.create_authority(&OPERATOR, "20.2", new).unwrap();
    let create = |id: &str| registry.create_name(&OPERATOR, id, NewName::default());
    let verify = || {
        let verified = registry.verify_log(&Verify::default(), &mut |_, _| ());
        verified.unwrap()
    };
    create("20.2/a").unwrap();
    registry
        .change_name(&OPERATOR, "20.2/a", None, NameAction::Erase)
        .unwrap();
    create("20.2/a").unwrap();
    let first = create("20.2/b").unwrap().record.last_event;
    let verified = verify();
    assert_eq!((verified.findings, verified.reassigned), (vec![], Some(1)));
    // As an attacker with write access to the folder could: a new name, with other random bytes.
    let assigned = registry.change(&OPERATOR, |change_set| {
        let record = Record::new(
            "20.2/b".into(),
            "hdl:20.2",
            State::Active,
            change_set.time(),
        );
        let (key, action) = ("hdl:20.2/B", Action::Create);
        Ok(change_set.store_record(key, None, record, action, Persistence::Erasable))
    });
    let again = assigned.unwrap();
    let key = Some("hdl:20.2/B".to_string());
    let twice = crate::Finding::AssignedTwice { key, first, again };
    assert!(
        verify().findings.contains(&twice),
        "{:?}",
        verify().findings
    );
}
