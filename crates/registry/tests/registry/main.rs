//! The promises of the registry, tested as a user of the library would.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access_requests;
mod authorities;
#[path = "../common/mod.rs"]
mod common;
mod derived;
mod groups;
mod histories;
mod identifiers;
mod import;
mod inbox;
mod jobs;
mod lists;
mod name_facets;
mod names;
mod namespace_lives;
mod namespace_stage;
mod namespaces;
mod observed;
mod previews;
mod protocol;
mod protocol_rights;
mod quotas;
mod rights;
mod secrets;
mod transactions;
mod undo;
mod updates;

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{
    AuthorityAction, AuthorityChange, Edit, Environment, HistoryEntry, Limits, MintOptions,
    NameAction, NewAuthority, NewName, NewValue, Persistence, Principal, Registry, RegistryError,
    Shown, Verify, verify_export,
};

use common::fill_with;

const OPERATOR: Principal = Principal::Operator;
const RETIRE: AuthorityAction = AuthorityAction::Retire {
    keep_children: false,
};

/// A clock that advances a second with each call, and random bytes that differ each time.
fn environment() -> Environment {
    let clock = AtomicU64::new(1_800_000_000_000);
    let chance = AtomicU64::new(1);
    Environment::new(
        move || clock.fetch_add(1_000, Ordering::Relaxed),
        move |bytes| fill_with(bytes, chance.fetch_add(1, Ordering::Relaxed)),
    )
}

/// Declines a request for an authority, without a reason.
fn decline() -> AuthorityAction {
    let reason = String::new();
    AuthorityAction::Decline { reason }
}

/// An input that fails after its text, as a disk or a network does.
struct InterruptedReader<'t>(&'t [u8]);

impl Read for InterruptedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the line was cut"));
        }
        self.0.read(buffer)
    }
}

struct Scene {
    registry: Registry,
    folder: tempfile::TempDir,
}

impl std::ops::Deref for Scene {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.registry
    }
}

impl Scene {
    /// The whole history of a name, read two events at a time.
    fn history(&self, who: &Principal, id: &str) -> Result<Vec<HistoryEntry>, RegistryError> {
        history(&self.registry, who, id)
    }
}

fn history(
    registry: &Registry,
    who: &Principal,
    id: &str,
) -> Result<Vec<HistoryEntry>, RegistryError> {
    let (mut all, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let page = registry.history_page(who, id, from, 2, None)?;
        all.extend(page.entries);
        after = page.next;
    }
    Ok(all)
}

impl Drop for Scene {
    fn drop(&mut self) {
        is_honest(&self.registry);
    }
}

/// A copy of a data folder that no process has open.
fn copy_of(registry: &Registry) -> std::path::PathBuf {
    let (file, folder) = (
        registry.folder().with_extension("backup"),
        registry.folder().with_extension("copy"),
    );
    registry.backup(&file).unwrap();
    drop(Registry::restore(&file, &folder, environment()).unwrap());
    folder
}

/// Every test ends with an audit of its log, in the folder and as an export.
fn is_honest(registry: &Registry) {
    if std::thread::panicking() {
        return;
    }
    let mut export = Vec::new();
    registry.export_log(&mut export, &mut |_| ()).unwrap();
    let verify = Verify::default();
    let (exported, _) = verify_export(&mut &export[..], &verify, &mut |_, _| ()).unwrap();
    assert_eq!(exported.findings, []);
    let verified = registry.verify_log(&verify, &mut |_, _| ()).unwrap();
    assert_eq!(verified.findings, []);
}

fn scene() -> Scene {
    scene_with(Limits::default())
}

fn scene_with(limits: Limits) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(&folder.path().join("data"), environment()).unwrap();
    Scene {
        registry: registry.with_limits(limits),
        folder,
    }
}

fn authority(registry: &Registry, path: &str) {
    create_authority(registry, &OPERATOR, path);
}

fn create_authority(registry: &Registry, who: &Principal, path: &str) {
    let created = registry.create_authority(who, path, NewAuthority::default());
    created.unwrap();
}

fn request(registry: &Registry, who: &Principal, path: &str) {
    let requested = registry.request_authority(who, path, NewAuthority::default());
    requested.unwrap();
}

fn erasable_authority(registry: &Registry, path: &str) {
    let new = with_policy(AuthorityChange {
        persistence: Some(Persistence::Erasable),
        ..AuthorityChange::default()
    });
    registry.create_authority(&OPERATOR, path, new).unwrap();
}

/// An authority in whose names case counts.
fn sensitive_authority() -> NewAuthority {
    with_policy(AuthorityChange {
        case_sensitive: Some(true),
        ..AuthorityChange::default()
    })
}

/// An authority whose names are CORDRA identifiers.
fn cordra_authority() -> NewAuthority {
    with_policy(AuthorityChange {
        cordra: Some(true),
        ..AuthorityChange::default()
    })
}

fn with_policy(change: AuthorityChange) -> NewAuthority {
    NewAuthority {
        change,
        ..NewAuthority::default()
    }
}

/// The operator acts on an authority.
fn act_on(registry: &Registry, path: &str, action: AuthorityAction) {
    let done = registry.act_on_authority(&OPERATOR, path, None, action);
    done.unwrap();
}

fn revoke(from: &Principal) -> AuthorityAction {
    let from = from.clone();
    AuthorityAction::Revoke { from, role: None }
}

fn name(registry: &Registry, id: &str) {
    registry
        .create_name(&OPERATOR, id, NewName::urls(&["https://example.org/"]))
        .unwrap();
}

fn create(registry: &Registry, who: &Principal, id: &str) -> Shown {
    registry.create_name(who, id, NewName::default()).unwrap()
}

fn reserved() -> NewName {
    NewName {
        reserve: true,
        ..NewName::default()
    }
}

fn with_values(values: Vec<NewValue>) -> NewName {
    NewName {
        values,
        ..NewName::default()
    }
}

/// The operator changes a name.
fn act(registry: &Registry, id: &str, action: NameAction) -> Option<Shown> {
    let changed = registry.change_name(&OPERATOR, id, None, action);
    changed.unwrap()
}

fn change_values(registry: &Registry, id: &str, edit: Edit) -> Shown {
    registry.edit_name(&OPERATOR, id, edit).unwrap()
}

fn withdraw(registry: &Registry, id: &str) {
    let withdrawn = registry.withdraw_name(&OPERATOR, id, "wrong", None);
    withdrawn.unwrap();
}

fn transfer(to: &Principal) -> NameAction {
    NameAction::Transfer {
        to: to.clone(),
        creates_account: true,
    }
}

fn new_values(values: Vec<(u32, String, Vec<u8>)>) -> Vec<NewValue> {
    values.into_iter().map(NewValue::from).collect()
}

fn account(name: &str) -> Principal {
    Principal::parse(name).unwrap()
}

fn code<T: std::fmt::Debug>(outcome: Result<T, RegistryError>) -> &'static str {
    outcome.unwrap_err().code()
}
