//! Random operations on the registry and on a simple model in memory: both must answer the same.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{
    AuthorityChange, Edit, Environment, NameAction, NewAuthority, NewName, Persistence, Principal,
    Registry, State, StateCounts, Verify,
};
use proptest::prelude::*;

use common::fill_with;

const OPERATOR: Principal = Principal::Operator;

#[derive(Clone, Debug)]
enum Operation {
    Create {
        name: String,
        reserve: bool,
        url: u8,
    },
    Set {
        name: String,
        url: u8,
    },
    Activate(String),
    Withdraw(String),
    Restore(String),
    Erase(String),
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let name = prop::sample::select(vec![
        "20.1/a", "20.1/A", "20.1/b", "20.2/a", "20.2/A", "20.3/a",
    ]);
    let name = name.prop_map(str::to_string);
    prop_oneof![
        4 => (name.clone(), any::<bool>(), 0..3_u8)
            .prop_map(|(name, reserve, url)| Operation::Create { name, reserve, url }),
        3 => (name.clone(), 0..3_u8).prop_map(|(name, url)| Operation::Set { name, url }),
        2 => name.clone().prop_map(Operation::Activate),
        2 => name.clone().prop_map(Operation::Withdraw),
        2 => name.clone().prop_map(Operation::Restore),
        1 => name.prop_map(Operation::Erase),
        1 => Just(Operation::Reopen),
    ]
}

const PREFIXES: [&str; 3] = ["20.1", "20.2", "20.3"];

/// `20.1` folds case, `20.2` does not, `20.3` is erasable.
#[derive(Default)]
struct Model {
    names: BTreeMap<String, (State, u8, u64)>,
}

impl Model {
    fn key(name: &str) -> String {
        if name.starts_with("20.2/") {
            name.to_string()
        } else {
            name.to_uppercase()
        }
    }

    /// How many names a prefix has in each state.
    fn counts(&self, prefix: &str) -> StateCounts {
        let start = format!("{prefix}/");
        let names = self
            .names
            .iter()
            .filter(|(name, _)| name.starts_with(&start));
        let mut counts = StateCounts::default();
        for (_, (state, _, _)) in names {
            match state {
                State::Active => counts.active += 1,
                State::Reserved => counts.reserved += 1,
                State::Withdrawn => counts.withdrawn += 1,
            }
        }
        counts
    }

    fn apply(&mut self, operation: &Operation) -> &'static str {
        let changed = |found: Option<&mut (State, u8, u64)>, from: &[State], to: State| match found
        {
            None => "not-found",
            Some(name) if from.contains(&name.0) => {
                name.0 = to;
                name.2 += 1;
                "ok"
            }
            Some(_) => "state",
        };
        match operation {
            Operation::Create { name, reserve, url } => {
                let state = if *reserve {
                    State::Reserved
                } else {
                    State::Active
                };
                match self.names.entry(Self::key(name)) {
                    std::collections::btree_map::Entry::Occupied(_) => "exists",
                    std::collections::btree_map::Entry::Vacant(free) => {
                        free.insert((state, *url, 1));
                        "ok"
                    }
                }
            }
            Operation::Set { name, url } => match self.names.get_mut(&Self::key(name)) {
                None => "not-found",
                Some((State::Withdrawn, ..)) => "state",
                Some(found) => {
                    found.1 = *url;
                    found.2 += 1;
                    "ok"
                }
            },
            Operation::Activate(name) => changed(
                self.names.get_mut(&Self::key(name)),
                &[State::Reserved],
                State::Active,
            ),
            Operation::Withdraw(name) => changed(
                self.names.get_mut(&Self::key(name)),
                &[State::Active],
                State::Withdrawn,
            ),
            Operation::Restore(name) => changed(
                self.names.get_mut(&Self::key(name)),
                &[State::Withdrawn],
                State::Active,
            ),
            Operation::Erase(name) => match self.names.contains_key(&Self::key(name)) {
                false => "not-found",
                true if name.starts_with("20.3/") => {
                    self.names.remove(&Self::key(name));
                    "ok"
                }
                true => "permanent",
            },
            Operation::Reopen => "ok",
        }
    }
}

fn world() -> Environment {
    static CLOCK: AtomicU64 = AtomicU64::new(1_800_000_000_000);
    Environment::new(
        || CLOCK.fetch_add(1, Ordering::Relaxed),
        |bytes| fill_with(bytes, CLOCK.fetch_add(1, Ordering::Relaxed)),
    )
}

fn url(number: u8) -> String {
    format!("https://example.org/{number}")
}

fn apply(registry: &Registry, operation: &Operation) -> &'static str {
    let outcome = match operation {
        Operation::Create {
            name,
            reserve,
            url: number,
        } => {
            let new = NewName {
                urls: vec![url(*number)],
                reserve: *reserve,
                ..NewName::default()
            };
            registry.create_name(&OPERATOR, name, new).map(|_| ())
        }
        Operation::Set { name, url: number } => registry
            .edit_name(&OPERATOR, name, Edit::urls(&[&url(*number)]))
            .map(|_| ()),
        Operation::Activate(name) => registry
            .change_name(&OPERATOR, name, None, NameAction::Activate)
            .map(|_| ()),
        Operation::Withdraw(name) => registry
            .withdraw_name(&OPERATOR, name, "x", None)
            .map(|_| ()),
        Operation::Restore(name) => registry
            .change_name(&OPERATOR, name, None, NameAction::Restore)
            .map(|_| ()),
        Operation::Erase(name) => registry
            .change_name(&OPERATOR, name, None, NameAction::Erase)
            .map(|_| ()),
        Operation::Reopen => Ok(()),
    };
    outcome.map_or_else(|error| error.code(), |()| "ok")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None,
        ..Default::default() })]

    #[test]
    fn the_registry_answers_as_the_model_does(operations in prop::collection::vec(operation(),
        1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = Some(Registry::create(folder.path(), world()).unwrap());
        for (prefix, change) in [
            ("20.1", AuthorityChange::default()),
            ("20.2", AuthorityChange { case_sensitive: Some(true), ..Default::default() }),
            ("20.3", AuthorityChange { persistence: Some(Persistence::Erasable),
                ..Default::default() }),
        ] {
            let new = NewAuthority { change, ..NewAuthority::default() };
            registry.as_ref().unwrap().create_authority(&OPERATOR, prefix, new).unwrap();
        }
        let mut model = Model::default();
        for operation in &operations {
            if matches!(operation, Operation::Reopen) {
                drop(registry.take());
                let opened = Registry::open(folder.path(), world()).unwrap();
                // The counts follow the events from here on, or from an earlier time.
                for prefix in PREFIXES {
                    let counts = opened.counts(prefix).unwrap().own();
                    prop_assert_eq!(counts, model.counts(prefix), "{}", prefix);
                }
                registry = Some(opened);
            }
            let expected = model.apply(operation);
            prop_assert_eq!(apply(registry.as_ref().unwrap(), operation), expected, "{:?}",
                operation);
        }
        let registry = registry.unwrap();
        for prefix in PREFIXES {
            let counts = registry.counts(prefix).unwrap().own();
            prop_assert_eq!(counts, model.counts(prefix), "{}", prefix);
        }
        let audited = registry.verify_log(&Verify::default(), &mut |_, _| ()).unwrap();
        prop_assert!(audited.findings.is_empty(), "{:?}", audited.findings);
        for (name, (state, number, version)) in &model.names {
            let record = registry.show(&OPERATOR, name).unwrap().record;
            prop_assert_eq!(record.state, *state);
            prop_assert_eq!(record.version, *version);
            prop_assert_eq!(record.values[0].data.to_vec(), url(*number).into_bytes());
        }
        let check = registry.check().unwrap();
        prop_assert!(check.problems.is_empty(), "{:?}", check.problems);
    }
}
