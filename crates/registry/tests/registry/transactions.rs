//! What mirrors see: each row of the table of events and transactions, and full copies.

use std::collections::BTreeMap;

use handfast_registry::{
    AuthorityAction, Edit, Import, NameAction, Role, Transaction, TransactionAction,
};

use super::*;

/// All transactions after a number, read to the end.
fn after(registry: &Registry, number: u64) -> Vec<Transaction> {
    let mut transactions = registry.transactions(number).unwrap();
    let mut all = Vec::new();
    while let Some(read) = transactions.read(registry, &|_| true).unwrap() {
        all.extend(read);
    }
    all
}

/// Their actions, in short.
fn seen(registry: &Registry, number: u64) -> Vec<String> {
    let all = after(registry, number);
    let short = |transaction: &Transaction| {
        let Transaction { action, handle, .. } = transaction;
        format!("{action:?} {handle}").to_lowercase()
    };
    all.iter().map(short).collect()
}

/// The transactions after all earlier ones.
fn new(registry: &Registry, what: impl FnOnce()) -> Vec<String> {
    let before = registry.event_count().unwrap();
    what();
    seen(registry, before)
}

fn reserve(registry: &Registry, id: &str) {
    let reserved = NewName {
        reserve: true,
        ..NewName::urls(&["https://example.org/"])
    };
    registry.create_name(&OPERATOR, id, reserved).unwrap();
}

#[test]
fn an_authority_is_homed_and_its_record_created() {
    let scene = scene();
    let made = new(&scene, || authority(&scene, "20.ab"));
    assert_eq!(made, ["home 0.na/20.ab", "create 0.na/20.ab"]);
    assert_eq!(after(&scene, 0)[0].number, 1);
    // Handles are named by their keys.
    assert_eq!(after(&scene, 0)[0].handle, "0.NA/20.AB");
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    let asked = new(&scene, || {
        request(&scene, &account("ann"), "20.ab.1");
    });
    assert_eq!(asked, [""; 0]);
    assert_eq!(scene.homed().unwrap(), ["0.NA/20.AB"]);
    let approved = new(&scene, || {
        act_on(&scene, "20.ab.1", AuthorityAction::Approve);
    });
    assert_eq!(approved, ["home 0.na/20.ab.1", "create 0.na/20.ab.1"]);
}

/// After an unhome a mirror would refuse names that resolve here.
#[test]
fn retiring_an_authority_takes_nothing_from_mirrors() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let retired = new(&scene, || {
        act_on(&scene, "20.1", RETIRE);
    });
    assert_eq!(retired, [""; 0]);
    assert_eq!(scene.homed().unwrap(), ["0.NA/20.1"]);
    assert!(seen(&scene, 0).contains(&"create 20.1/x".to_string()));
}

#[test]
fn create_change_withdraw_and_restore() {
    let scene = scene();
    authority(&scene, "20.1");
    let start = scene.event_count().unwrap();
    name(&scene, "20.1/x");
    assert_eq!(seen(&scene, start), ["create 20.1/x"]);
    let edit = Edit::urls(&["https://example.org/2"]);
    let changed = new(&scene, || {
        change_values(&scene, "20.1/x", edit);
    });
    assert_eq!(changed, ["update 20.1/x"]);
    // Values are the current ones, also in the create.
    let all = after(&scene, start);
    assert_eq!(all.len(), 2);
    for transaction in all {
        assert_eq!(&*transaction.values[0].data, b"https://example.org/2");
    }
    let withdrawn = new(&scene, || withdraw(&scene, "20.1/x"));
    assert_eq!(withdrawn, ["delete 20.1/x"]);
    // A deleted handle is neither created nor updated.
    assert_eq!(seen(&scene, start), ["delete 20.1/x"]);
    let restored = new(&scene, || {
        act(&scene, "20.1/x", NameAction::Restore);
    });
    assert_eq!(restored, ["create 20.1/x"]);
    // A restored handle is not deleted.
    let all = ["create 20.1/x", "update 20.1/x", "create 20.1/x"];
    assert_eq!(seen(&scene, start), all);
    let handed = new(&scene, || {
        let to = account("301:20.1/x");
        act(&scene, "20.1/x", transfer(&to));
    });
    assert_eq!(handed, [""; 0]);
}

#[test]
fn a_reserved_name_is_seen_when_it_becomes_active() {
    let scene = scene();
    authority(&scene, "20.1");
    let reserved = new(&scene, || {
        reserve(&scene, "20.1/x");
        let edit = Edit::urls(&["https://example.org/2"]);
        change_values(&scene, "20.1/x", edit);
    });
    assert_eq!(reserved, [""; 0]);
    let activated = new(&scene, || {
        act(&scene, "20.1/x", NameAction::Activate);
    });
    assert_eq!(activated, ["create 20.1/x"]);
}

#[test]
fn erasable_names_are_seen_although_their_events_hide_them() {
    let scene = scene();
    erasable_authority(&scene, "20.1");
    let start = scene.event_count().unwrap();
    for id in ["20.1/x", "20.1/y", "20.1/z"] {
        name(&scene, id);
    }
    reserve(&scene, "20.1/secret");
    let edit = Edit::urls(&["https://example.org/2"]);
    change_values(&scene, "20.1/y", edit);
    let all = [
        "create 20.1/x",
        "create 20.1/y",
        "create 20.1/z",
        "update 20.1/y",
    ];
    assert_eq!(seen(&scene, start), all);
    let erased = new(&scene, || {
        act(&scene, "20.1/x", NameAction::Erase);
    });
    assert_eq!(erased, ["delete 20.1/x"]);
    // It was never public, and never will be.
    let erased = new(&scene, || {
        act(&scene, "20.1/secret", NameAction::Erase);
    });
    assert_eq!(erased, [""; 0]);
    let again = new(&scene, || name(&scene, "20.1/X"));
    assert_eq!(again, ["create 20.1/x"]);
    let withdrawn = new(&scene, || withdraw(&scene, "20.1/z"));
    assert_eq!(withdrawn, ["delete 20.1/z"]);
}

#[test]
fn grants_that_the_record_of_a_prefix_shows_update_it() {
    let scene = scene();
    authority(&scene, "20.1");
    let (ann, admin) = (account("ann"), account("300:20.1/admin"));
    let to_account = new(&scene, || {
        scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    });
    assert_eq!(to_account, [""; 0]);
    let before = scene.event_count().unwrap();
    scene.grant(&OPERATOR, "20.1", &admin, Role::Lead).unwrap();
    assert_eq!(seen(&scene, before), ["update 0.na/20.1"]);
    // As resolution shows it.
    let shown = scene.handle("0.NA/20.1").unwrap().unwrap();
    assert_eq!(after(&scene, before)[0].values, shown.values);
    assert_eq!(shown.values.len(), 1);
    let revoked = new(&scene, || {
        act_on(&scene, "20.1", revoke(&admin));
    });
    assert_eq!(revoked, ["update 0.na/20.1"]);
    let handed = new(&scene, || {
        act_on(
            &scene,
            "20.1",
            AuthorityAction::Transfer {
                to: admin.clone(),
                creates_account: true,
            },
        );
    });
    assert_eq!(handed, ["update 0.na/20.1"]);
    let policy = new(&scene, || {
        let change = AuthorityChange {
            title: Some("Maps".into()),
            ..AuthorityChange::default()
        };
        scene.change_authority(&OPERATOR, "20.1", change).unwrap();
    });
    assert_eq!(policy, [""; 0]);
}

#[test]
fn what_is_no_handle_of_the_protocol_is_left_out() {
    let scene = scene();
    let others = new(&scene, || {
        for path in ["urn:urn-3", "urn:urn-3:HUL", "info:lccn", "ark:12025"] {
            authority(&scene, path);
        }
        for id in ["urn:urn-3:HUL:x", "info:lccn/n78089035", "ark:12025/x"] {
            name(&scene, id);
        }
        let admin = account("300:20.1/admin");
        scene
            .grant(&OPERATOR, "urn:urn-3", &admin, Role::Lead)
            .unwrap();
    });
    assert_eq!(others, [""; 0]);
    authority(&scene, "20.1");
    let (fits, too_long) = ("x".repeat(2_048 - 5), "x".repeat(2_048 - 4));
    let long = new(&scene, || {
        let line =
            |name: &str| format!("{{\"id\":\"20.1/{name}\",\"urls\":[\"https://a.example\"]}}\n");
        let lines = line(&fits) + &line(&too_long);
        let import = Import {
            migrate: true,
            ..Import::default()
        };
        let imported = scene.import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ());
        assert_eq!(imported.unwrap().counts.created, 2);
    });
    assert_eq!(long, [format!("create 20.1/{fits}")]);
    assert_eq!(scene.homed().unwrap(), ["0.NA/20.1"]);
    let handles = copy(&scene, None);
    let lengths: Vec<_> = handles.keys().map(String::len).collect();
    assert_eq!(lengths, ["0.NA/20.1".len(), 2_048]);
}

type Handles = BTreeMap<String, Vec<handfast_wire::Value<'static>>>;

fn copy(registry: &Registry, from: Option<&str>) -> Handles {
    let mut all = Handles::new();
    let mut after = from.map(str::to_string);
    loop {
        let page = registry.handles_after(after.as_deref(), &|_| true).unwrap();
        all.extend(page.handles);
        after = page.last;
        if after.is_none() {
            return all;
        }
    }
}

/// After any operations, a mirror that follows and one that copies have exactly the handles that
/// the protocol resolves here.
#[test]
fn following_and_copying_come_to_the_same() {
    let scene = scene();
    authority(&scene, "20.1");
    erasable_authority(&scene, "20.2");
    let mut mirror = Handles::new();
    let mut seen = 0;
    for round in 0..20_u32 {
        for prefix in ["20.1", "20.2"] {
            name(&scene, &format!("{prefix}/n{round}"));
            reserve(&scene, &format!("{prefix}/r{round}"));
        }
        if round % 3 == 2 {
            withdraw(&scene, &format!("20.1/n{}", round - 1));
            act(&scene, &format!("20.2/n{}", round - 1), NameAction::Erase);
            let id = format!("20.1/r{}", round - 2);
            act(&scene, &id, NameAction::Activate);
        }
        if round % 5 == 4 {
            let edit = Edit::urls(&["https://example.org/5"]);
            let id = format!("20.2/n{round}");
            change_values(&scene, &id, edit);
        }
        for transaction in after(&scene, seen) {
            seen = transaction.number;
            match transaction.action {
                TransactionAction::Delete => drop(mirror.remove(&transaction.handle)),
                TransactionAction::Home => {}
                _ => drop(mirror.insert(transaction.handle, transaction.values)),
            }
        }
        let copied = copy(&scene, None);
        assert_eq!(mirror, copied, "round {round}");
    }
    for (handle, values) in &mirror {
        assert_eq!(&scene.handle(handle).unwrap().unwrap().values, values);
    }
    // A copy can continue after any handle, also after a deleted one.
    let (middle, _) = mirror.iter().nth(mirror.len() / 2).unwrap();
    let rest = copy(&scene, Some(middle));
    let expected = mirror.len() - mirror.len() / 2 - 1;
    assert_eq!(rest.len(), expected);
    assert_eq!(copy(&scene, Some("20.2/zzz")), Handles::new());
}

#[test]
fn more_than_is_read_at_once_comes_whole() {
    let scene = scene();
    authority(&scene, "20.1");
    let large = "y".repeat(60_000);
    for number in 0..90 {
        let values = new_values(vec![(1, "DESC".into(), large.clone().into_bytes())]);
        let new = with_values(values);
        let id = format!("20.1/{number}");
        scene.create_name(&OPERATOR, &id, new).unwrap();
    }
    let first = scene.handles_after(None, &|_| true).unwrap();
    assert!(first.handles.len() < 80, "{}", first.handles.len());
    assert_eq!(copy(&scene, None).len(), 91);
    let mut transactions = scene.transactions(0).unwrap();
    let read = transactions.read(&scene, &|_| true).unwrap().unwrap();
    assert!(read.len() < 80, "{}", read.len());
    assert_eq!(after(&scene, 0).len(), 92);
    // Unwanted handles are not read; every mirror gets the prefixes.
    let mut transactions = scene.transactions(0).unwrap();
    let wanted = |handle: &str| handle == "20.1/7";
    let read = transactions.read(&scene, &wanted).unwrap().unwrap();
    assert_eq!(read.len(), 2);
    assert!(transactions.read(&scene, &wanted).unwrap().is_none());
}

/// Skipping a range must not skip the events after it.
#[test]
fn what_comes_after_events_that_mean_nothing_is_seen() {
    let scene = scene();
    authority(&scene, "20.1");
    authority(&scene, "urn:urn-3");
    authority(&scene, "urn:urn-3:HUL");
    name(&scene, "20.1/first");
    let urn = |number: u32| name(&scene, &format!("urn:urn-3:HUL:{number}"));
    (0..5).for_each(urn);
    let before = scene.event_count().unwrap();
    let first = before - 6;
    for after in [0, first, first + 1, before - 1, before] {
        let news = seen(&scene, after);
        assert_eq!(news.contains(&"create 20.1/first".into()), after <= first);
        assert_eq!(news, seen(&scene, after));
    }
    (5..10).for_each(urn);
    assert_eq!(seen(&scene, before), [""; 0]);
    assert_eq!(seen(&scene, first), ["create 20.1/first"]);
    name(&scene, "20.1/second");
    urn(10);
    for after in [before, before + 5, before - 2] {
        assert_eq!(seen(&scene, after), ["create 20.1/second"]);
        assert_eq!(seen(&scene, after), ["create 20.1/second"]);
    }
    let both = ["create 20.1/first", "create 20.1/second"];
    assert_eq!(seen(&scene, first), both);
}

#[test]
fn a_registry_that_was_restored_begins_a_new_log() {
    let scene = scene();
    assert_eq!(scene.log_start().unwrap(), None);
    authority(&scene, "20.1");
    let start = scene.log_start().unwrap().unwrap();
    assert_eq!(start.number, 1);
    assert_eq!(scene.event_time(1).unwrap(), Some(start.time));
    let events = scene.event_count().unwrap();
    let file = scene.folder.path().join("backup");
    scene.backup(&file).unwrap();
    name(&scene, "20.1/lost");
    let folder = scene.folder.path().join("restored");
    let restored = Registry::restore(&file, &folder, environment()).unwrap();
    assert_eq!(restored.log_start().unwrap().unwrap().number, events + 1);
    assert_eq!(seen(&restored, events), [""; 0]);
    name(&restored, "20.1/new");
    assert_eq!(seen(&restored, events), ["create 20.1/new"]);
}
