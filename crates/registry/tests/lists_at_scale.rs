//! How long lists, counts and near names take with a million names.
//!
//! `cargo test --profile suite -p handfast-registry --test lists_at_scale -- --ignored --nocapture`

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(
    clippy::disallowed_methods,
    reason = "how long it takes is what is tested"
)]
#![expect(clippy::print_stdout, reason = "a measurement is read by people")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use handfast_registry::{
    Action, Environment, EventFilter, Format, Import, NameFilter, NewAuthority, NewName, Principal,
    Registry, Role, State, Words,
};

const OPERATOR: Principal = Principal::Operator;
const NAMES: usize = 1_000_000;
/// The limit for one call, in a build with optimisations.
const LIMIT: Duration = Duration::from_millis(100);

struct Measured {
    is_slow: bool,
}

impl Measured {
    /// Takes the median of five calls.
    fn call<T>(&mut self, what: &str, mut call: impl FnMut() -> T) -> T {
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..5 {
            let start = Instant::now();
            last = Some(call());
            times.push(start.elapsed());
        }
        times.sort();
        let median = times.get(2).copied().unwrap();
        println!("{:>8.2} ms  {what}", median.as_secs_f64() * 1_000.0);
        self.is_slow |= median > LIMIT;
        last.unwrap()
    }
}

fn environment() -> Environment {
    let clock = AtomicU64::new(1_800_000_000_000);
    Environment::new(
        move || clock.fetch_add(1, Ordering::Relaxed),
        |bytes| bytes.fill(7),
    )
}

#[test]
#[ignore = "imports a million names"]
fn each_call_takes_less_than_a_tenth_of_a_second_with_a_million_names() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Arc::new(Registry::create(folder.path(), environment()).unwrap());
    fill(&registry);
    let _follower = registry.follow_events(|error| panic!("{error}")).unwrap();
    let mut measured = Measured { is_slow: false };
    measured.call("counts", || registry.counts("20.1000").unwrap());
    measured.call("counts of all", || registry.counts_of_all().unwrap());
    measure_names(&registry, &mut measured);
    measure_events(&registry, &mut measured);
    let near = measured.call("near names", || registry.near_names("20.2000/99999"));
    assert!(near.unwrap().is_empty());
    measured.call("near names of a long name", || {
        let long = "20.2000/report-on-the-state-of-the-library-2026";
        registry.near_names(long).unwrap()
    });
    assert!(cfg!(debug_assertions) || !measured.is_slow);
}

fn ann() -> Principal {
    Principal::account("ann").unwrap()
}

/// A million names in three authorities, and one name of ann in a fourth.
fn fill(registry: &Registry) {
    for prefix in ["20.1000", "20.1000.1", "20.2000", "20.3000"] {
        let new = NewAuthority::default();
        registry.create_authority(&OPERATOR, prefix, new).unwrap();
    }
    registry.create_account(&OPERATOR, "ann", "").unwrap();
    let granted = registry.grant(&OPERATOR, "20.3000", &ann(), Role::Write);
    granted.unwrap();
    let own = registry.create_name(&ann(), "20.3000/own", NewName::default());
    own.unwrap();
    let mut lines = String::new();
    for number in 0..NAMES {
        let prefix = ["20.1000", "20.1000.1", "20.2000"].get(number % 3).unwrap();
        let url = format!("https://example.org/{number}");
        writeln!(lines, r#"{{"id":"{prefix}/{number:07}","urls":["{url}"]}}"#).unwrap();
    }
    let import = Import {
        format: Some(Format::Ndjson),
        ..Import::default()
    };
    let start = Instant::now();
    let done = registry.import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ());
    assert_eq!(done.unwrap().counts.refused, 0);
    println!("{:>8.2} s   import", start.elapsed().as_secs_f64());
    let withdrawn = registry.withdraw_name(&OPERATOR, "20.2000/0999998", "last", None);
    withdrawn.unwrap();
    let start = Instant::now();
    let counts = registry.counts("20.1000").unwrap();
    println!("{:>8.2} s   counting all", start.elapsed().as_secs_f64());
    assert_eq!(counts.with_children.active, 666_667);
}

#[rustfmt::skip] // A filter is a line.
fn measure_names(registry: &Registry, measured: &mut Measured) {
    let none = NameFilter::default;
    let text = |text: &str| Some(text.to_string());
    let words = Words::parse("atlas north").ok();
    let now = Some(registry.time());
    let withdrawn = Some(State::Withdrawn);
    for (what, who, filter) in [
        ("all names", OPERATOR, none()),
        ("names that ann may list", ann(), none()),
        ("names of an authority", OPERATOR, NameFilter { authority: text("20.2000"), ..none() }),
        ("names of it and below", OPERATOR,
            NameFilter { authority: text("20.1000"), with_children: true, ..none() }),
        ("names that begin so", OPERATOR, NameFilter { prefix: text("20.2000/09"), ..none() }),
        ("withdrawn names", OPERATOR, NameFilter { state: withdrawn, ..none() }),
        ("names with words that none has", OPERATOR, NameFilter { words, ..none() }),
        ("names changed just now", OPERATOR, NameFilter { changed_since: now, ..none() }),
        ("names that ann changed", OPERATOR, NameFilter { changed_by: text("ann"), ..none() }),
    ] {
        let list = || registry.list_names(&who, &filter, None, 100).unwrap();
        let page = measured.call(what, list);
        let (found, looked_at) = (page.names.len(), page.looked_at);
        println!("             {found} found, {looked_at} looked at");
    }
    let far = registry.list_names(&OPERATOR, &none(), Some("hdl:20.2000/0900000"), 100);
    assert_eq!(far.unwrap().names.len(), 100);
}

#[rustfmt::skip] // A filter is a line.
fn measure_events(registry: &Registry, measured: &mut Measured) {
    let none = EventFilter::default;
    let text = |text: &str| Some(text.to_string());
    let withdraw = Some(Action::Withdraw);
    for (what, who, filter) in [
        ("all events", OPERATOR, none()),
        ("events that ann may list", ann(), none()),
        ("events of ann", OPERATOR, EventFilter { account: text("ann"), ..none() }),
        ("events of nobody", OPERATOR, EventFilter { account: text("eve"), ..none() }),
        ("events of an authority", OPERATOR, EventFilter { authority: text("20.1000"), ..none() }),
        ("withdrawals", OPERATOR, EventFilter { action: withdraw, ..none() }),
        ("events of a name", OPERATOR, EventFilter { id: text("20.2000/0999998"), ..none() }),
    ] {
        let list = || registry.list_events(&who, &filter, None, 100).unwrap();
        let page = measured.call(what, list);
        let (found, looked_at) = (page.events.len(), page.looked_at);
        println!("             {found} found, {looked_at} looked at");
    }
}
