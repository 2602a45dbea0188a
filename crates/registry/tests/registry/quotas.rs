//! Limits on what one account may store, and bounded responses.

use handfast_registry::{Edit, HistoryPoint, Import, JobKind, NewToken, Outcome, Role};

use super::*;

fn names_of(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{prefix}/n{number}"))
        .collect()
}

fn withdraw(scene: &Scene, who: &Principal, ids: &[String]) -> Result<Vec<Outcome>, RegistryError> {
    let mut told = Vec::new();
    let mut report = |outcome: &Outcome| told.push(outcome.clone());
    scene.withdraw_all(who, ids, "wrong", false, &mut report)?;
    Ok(told)
}

/// Guards: an account without a role stored its lists for ever, 60 MB a second.
#[test]
fn a_withdrawal_without_the_right_stores_nothing() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/n0");
    let (carol, before) = (account("carol"), scene.usage().used);
    for _ in 0..30 {
        // Some 2 MB, of one name that is there and many that are not.
        let refused = withdraw(&scene, &carol, &names_of("20.1", 100_000));
        assert_eq!(code(refused), "denied");
        assert_eq!(
            code(withdraw(&scene, &carol, &names_of("no name", 10))),
            "white-space"
        );
    }
    assert!(scene.jobs().unwrap().is_empty());
    assert!(scene.usage().used < before + (1 << 20));
}

/// Guards: 100,000 names were checked for a principal that may change none of them.
#[test]
fn a_list_that_begins_with_many_names_of_others_is_refused_as_a_whole() {
    let scene = scene();
    for prefix in ["20.1", "20.2"] {
        authority(&scene, prefix);
        name(&scene, &format!("{prefix}/n0"));
    }
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    let own = names_of("20.1", 1);
    let late = [names_of("20.2", 1_000), own.clone()].concat();
    assert_eq!(code(withdraw(&scene, &ann, &late)), "denied");
    let soon = [names_of("20.2", 999), own].concat();
    assert_eq!(withdraw(&scene, &ann, &soon).unwrap().len(), 1_000);
    assert_eq!(scene.jobs().unwrap().len(), 1);
}

/// Guards: a list stayed after its job had ended.
#[test]
fn names_of_others_are_refused_and_lists_go_with_their_jobs() {
    let scene = scene();
    for prefix in ["20.1", "20.2"] {
        authority(&scene, prefix);
        for id in &names_of(prefix, 3) {
            name(&scene, id);
        }
    }
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    let ids = [
        names_of("20.2", 2),
        names_of("20.1", 2),
        names_of("20.2", 3),
    ]
    .concat();
    let told = withdraw(&scene, &ann, &ids).unwrap();
    let lines: Vec<_> = told
        .iter()
        .map(|outcome| (outcome.line, outcome.done.as_str()))
        .collect();
    let (refused, changed) = ("refused", "changed");
    assert_eq!(
        lines,
        [
            (1, refused),
            (2, refused),
            (5, refused),
            (6, refused),
            (7, refused),
            (3, changed),
            (4, changed)
        ]
    );
    let job = scene.jobs().unwrap().pop().unwrap();
    assert_eq!((job.counts.changed, job.counts.refused), (2, 5));
    // The job can be undone without the list.
    let undo = JobKind::Undo { job: job.number };
    let undone = scene.run_job(&ann, undo, false, &mut |_| ()).unwrap();
    assert_eq!(undone.counts.changed, 2);
    let bad = scene.withdraw_all(&ann, &ids, " ", false, &mut |_| ());
    assert_eq!(code(bad), "bad-reason");
}

/// Guards: nothing limited how many jobs an account started, and an empty import left a job.
#[test]
fn an_account_starts_so_many_jobs_and_the_operator_any_number() {
    let scene = scene_with(Limits {
        jobs_per_day: 3,
        ..Limits::default()
    });
    authority(&scene, "20.1");
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    let import = |who: &Principal, text: &str| {
        scene.import(who, &Import::default(), text.as_bytes(), &mut |_| ())
    };
    for _ in 0..10 {
        assert_eq!(import(&ann, " \n \n").unwrap().job, None);
    }
    for number in 0..3 {
        import(&ann, &format!("{{\"id\":\"20.1/{number}\"}}")).unwrap();
    }
    match import(&ann, "{\"id\":\"20.1/x\"}") {
        Err(RegistryError::Quota {
            retry_after: Some(seconds),
            ..
        }) => assert!((80_000..=86_400).contains(&seconds), "{seconds}"),
        other => panic!("{other:?}"),
    }
    for number in 0..5 {
        import(&OPERATOR, &format!("{{\"id\":\"20.1/o{number}\"}}")).unwrap();
    }
}

/// Guards: a token for one authority saw all jobs of its account.
#[test]
fn a_limited_token_sees_jobs_that_it_could_have_started() {
    let scene = scene();
    for prefix in ["20.1", "20.2"] {
        authority(&scene, prefix);
        name(&scene, &format!("{prefix}/n0"));
    }
    let ann = account("ann");
    for prefix in ["20.1", "20.2"] {
        scene.grant(&OPERATOR, prefix, &ann, Role::Write).unwrap();
    }
    let with = |authority: Option<&str>, role: Role| {
        let new = NewToken {
            authority: authority.map(str::to_string),
            role: Some(role),
            ..NewToken::default()
        };
        let (token, _) = scene.create_token(&OPERATOR, "ann", new).unwrap();
        scene.who_has(&token).unwrap().unwrap()
    };
    let ttl = |authority: &str| JobKind::SetTtl {
        authority: authority.into(),
        value_type: None,
        seconds: 60,
    };
    for authority in ["20.1", "20.2"] {
        scene
            .run_job(&ann, ttl(authority), false, &mut |_| ())
            .unwrap();
        withdraw(&scene, &ann, &[format!("{authority}/n0")]).unwrap();
    }
    scene
        .run_job(&ann, JobKind::Undo { job: 1 }, false, &mut |_| ())
        .unwrap();
    let seen = |who: &Principal| {
        let page = scene.jobs_page(who, 0, 100).unwrap();
        page.jobs.iter().map(|job| job.number).collect::<Vec<_>>()
    };
    assert_eq!(seen(&ann), [1, 2, 3, 4, 5]);
    assert_eq!(seen(&with(Some("20.1"), Role::Write)), [1, 2, 5]);
    assert_eq!(seen(&with(Some("20.2"), Role::Write)), [3, 4]);
    assert_eq!(seen(&with(None, Role::Write)), [1, 2, 3, 4, 5]);
    assert!(seen(&with(None, Role::Read)).is_empty());
    assert!(seen(&account("eve")).is_empty());
    let other = with(Some("20.1"), Role::Write);
    for refused in [scene.cancel_job(&other, 3), scene.job_of(&other, 3)] {
        assert_eq!(code(refused), "no-job");
    }
    let undo = scene.start_job(&other, JobKind::Undo { job: 3 });
    assert_eq!(code(undo), "operator-only");
    // Page by page.
    let page = scene.jobs_page(&ann, 1, 2).unwrap();
    assert_eq!((page.jobs.len(), page.next), (2, Some(3)));
}

/// Guards: a mere request made the server answer for the prefix, and kept the operator from
/// creating it.
#[test]
fn an_authority_that_is_asked_for_is_none_yet() {
    let scene = scene();
    let carol = account("carol");
    scene.create_account(&OPERATOR, "carol", "").unwrap();
    let ask = |path: &str| scene.request_authority(&carol, path, NewAuthority::default());
    ask("21.999").unwrap();
    for handle in ["21.999/x", "0.NA/21.999", "0.NA/21.999.1"] {
        assert!(!scene.is_responsible(handle).unwrap(), "{handle}");
    }
    let handle = handfast_id::Handle::from_stored("21.999/x").unwrap();
    assert!(scene.with_record(&handle, |_| ()).unwrap().is_none());
    assert!(scene.authorities().unwrap().is_empty());
    assert_eq!(scene.requested_authorities().unwrap(), 1);
    assert!(scene.homed().unwrap().is_empty());
    // Neither it nor the authorities below it wait for that.
    authority(&scene, "21.999.1");
    let over = scene.create_authority_over(&OPERATOR, "21.999", NewAuthority::default());
    let (path, declined) = over.unwrap();
    assert_eq!(
        (path.to_string().as_str(), declined),
        ("21.999", Some(carol.clone()))
    );
    assert!(scene.is_responsible("21.999/x").unwrap());
    assert!(scene.with_record(&handle, |_| ()).unwrap().is_some());
    let created = scene.authority(&OPERATOR, "21.999").unwrap();
    assert!(created.grants.is_empty());
    assert_eq!(code(ask("21.999")), "authority-exists");
    ask("21.998").unwrap();
    let home = handfast_registry::Operation::Home {
        prefix: "21.998".into(),
    };
    scene.perform(&OPERATOR, home).unwrap();
    assert!(scene.is_responsible("21.998/x").unwrap());
    assert!(scene.check().unwrap().problems.is_empty());
}

/// Guards: an account without a role requested any number of authorities, of 30 kB each.
#[test]
fn an_account_asks_for_so_many_authorities() {
    let scene = scene();
    let carol = account("carol");
    for name in ["carol", "dave", "eve"] {
        scene.create_account(&OPERATOR, name, "").unwrap();
    }
    let ask = |who: &Principal, number: u64| {
        let path = format!("21.{number}");
        scene.request_authority(who, &path, NewAuthority::default())
    };
    for number in 0..5 {
        ask(&carol, number).unwrap();
    }
    for number in 5..50 {
        assert_eq!(code(ask(&carol, number)), "quota");
    }
    ask(&account("dave"), 100).unwrap();
    for number in 200..210 {
        ask(&OPERATOR, number).unwrap();
    }
    act_on(&scene, "21.0", decline());
    ask(&carol, 5).unwrap();
    let long = NewAuthority {
        meaning: "x".repeat(2_000),
        ..NewAuthority::default()
    };
    let refused = scene.request_authority(&account("eve"), "21.300", long);
    assert_eq!(code(refused), "too-large");
}

/// Guards: reserved names of another tenant were shown because of the text of their path.
#[test]
fn a_parent_that_came_later_sees_nothing_of_those_below_it() {
    let scene = scene();
    authority(&scene, "20.500.1");
    authority(&scene, "20.500");
    authority(&scene, "20.500.2");
    let alice = account("alice");
    scene
        .grant(&OPERATOR, "20.500", &alice, Role::Write)
        .unwrap();
    for (id, reserve) in [
        ("20.500.1/secret", true),
        ("20.500.1/open", false),
        ("20.500.2/own", true),
    ] {
        let new = NewName {
            reserve,
            ..NewName::urls(&["https://internal.example/plan"])
        };
        scene.create_name(&OPERATOR, id, new).unwrap();
    }
    let export = handfast_registry::Export {
        authority: Some("20.500".into()),
        ..handfast_registry::Export::default()
    };
    let exported = |who: &Principal| {
        let mut out = Vec::new();
        scene.export(who, &export, &mut out, &mut |_| ()).unwrap();
        String::from_utf8(out).unwrap()
    };
    let all = exported(&OPERATOR);
    assert!(all.contains("20.500.1/secret") && all.contains("20.500.2/own"));
    let own = exported(&alice);
    assert!(own.contains("20.500.2/own"), "{own}");
    assert!(!own.contains("20.500.1"), "{own}");
    let replace = JobKind::ReplaceUrl {
        authority: "20.500".into(),
        from: "https://".into(),
        to: "x:".into(),
        is_host: false,
    };
    for dry_run in [true, false] {
        let mut told = Vec::new();
        let mut report = |outcome: &Outcome| told.extend(outcome.id.clone());
        scene
            .run_job(&alice, replace.clone(), dry_run, &mut report)
            .unwrap();
        let told = told.join(" ").to_uppercase();
        assert_eq!(told, "20.500.2/OWN");
    }
}

/// Guards: an expensive pattern was accepted, and compiled for each name.
#[test]
fn patterns_that_cost_much_are_refused_before_the_writer_sees_them() {
    let scene = scene();
    authority(&scene, "20.1");
    let bob = account("bob");
    scene.grant(&OPERATOR, "20.1", &bob, Role::Lead).unwrap();
    let set = |pattern: &str| {
        let change = AuthorityChange {
            pattern: Some(Some(pattern.into())),
            ..AuthorityChange::default()
        };
        scene.change_authority(&bob, "20.1", change)
    };
    assert_eq!(code(set(r"\w{20}x*|.*")), "bad-pattern");
    assert_eq!(code(set("(")), "bad-pattern");
    set("[a-z]+[0-9]*").unwrap();
    name(&scene, "20.1/abc7");
    let refused = scene.create_name(&bob, "20.1/7abc", NewName::default());
    assert_eq!(code(refused), "pattern");
    let mut made = 0;
    let minted = scene.mint(&bob, "20.1", &MintOptions::default(), 3, |_| {
        made += 1;
        Ok(())
    });
    // Minted names follow it, too, or are rejected by it.
    assert!(minted.is_ok() && made == 3 || minted.is_err());
}

fn changed(scene: &Scene, id: &str, size: usize, times: usize) {
    for time in 0..times {
        let data = format!("{time}-{}", "x".repeat(size));
        let edit = Edit::put(vec![NewValue::new(7, "DESC", data.as_bytes())]);
        change_values(scene, id, edit);
    }
}

/// Guards: the whole history was in memory at once, 225 MB for any client that asked.
#[test]
fn a_history_comes_page_by_page_and_no_page_is_long() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    // A name whose key has the same beginning, and one after it.
    name(&scene, "20.1/xy");
    changed(&scene, "20.1/x", 100_000, 12);
    let nobody = Principal::nobody();
    let (mut after, mut pages, mut all) = (0, 0, Vec::new());
    loop {
        let page = scene
            .history_page(&nobody, "20.1/x", after, 100, None)
            .unwrap();
        assert!(!page.entries.is_empty());
        let bytes = |entry: &handfast_registry::HistoryEntry| -> usize {
            let values = |record: &handfast_registry::Record| {
                record
                    .values
                    .iter()
                    .map(|value| value.data.len())
                    .sum::<usize>()
            };
            let sides = entry
                .changes
                .iter()
                .flat_map(|change| [&change.before, &change.after]);
            let sides: usize = sides.flatten().map(|value| value.data.len()).sum();
            sides + entry.version.as_ref().map_or(0, values)
        };
        let size: usize = page.entries.iter().map(bytes).sum();
        assert!(size <= 512 << 10 || page.entries.len() == 1, "{size}");
        (pages, after) = (pages + 1, page.next.unwrap_or_default());
        all.extend(page.entries);
        if page.next.is_none() {
            break;
        }
    }
    assert!(pages >= 6, "{pages}");
    assert_eq!(all.len(), 13);
    assert_eq!(all[0].changes.len(), 1);
    for (number, entry) in (0..).zip(&all[1..]) {
        let [change] = &entry.changes[..] else {
            panic!("{entry:?}");
        };
        let begins = |number: i32| format!("{number}-").into_bytes();
        assert!(
            change
                .after
                .as_ref()
                .unwrap()
                .data
                .starts_with(&begins(number))
        );
        let before = change
            .before
            .as_ref()
            .map(|value| value.data.starts_with(&begins(number - 1)));
        assert_eq!(before, (number > 0).then_some(true));
    }
    // By number and by time, and from anywhere.
    let middle = &all[6].event;
    let from = |after: u64, limit: usize, until: Option<HistoryPoint>| {
        let page = scene
            .history_page(&nobody, "20.1/x", after, limit, until)
            .unwrap();
        let numbers: Vec<_> = page
            .entries
            .iter()
            .map(|entry| entry.event.number)
            .collect();
        (numbers, page.next)
    };
    assert_eq!(
        from(middle.number - 1, 1, None),
        (vec![middle.number], Some(middle.number))
    );
    let past = from(
        middle.number - 1,
        9,
        Some(HistoryPoint::Event(middle.number)),
    );
    assert_eq!(past, (vec![middle.number], None));
    let past = from(middle.number - 1, 2, Some(HistoryPoint::Time(middle.time)));
    assert_eq!(past.0.last(), Some(&middle.number));
    assert_eq!(from(u64::MAX, 9, None), (vec![], None));
    assert!(scene.has_more_events(&nobody, "20.1/x", 12).unwrap());
    assert!(!scene.has_more_events(&nobody, "20.1/x", 13).unwrap());
}
