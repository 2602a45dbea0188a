//! The promises of the registry, tested as a user of the library would.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access_requests;
mod authorities;
mod derived;
mod groups;
mod histories;
mod identifiers;
mod import;
mod jobs;
mod names;
mod namespace_lives;
mod namespace_stage;
mod namespaces;
mod observed;
mod protocol;
mod protocol_rights;
mod quotas;
mod rights;
mod secrets;
mod transactions;
mod undo;
mod updates;

use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{
    AuthorityAction, AuthorityChange, Environment, HistoryEntry, Limits, NewAuthority, NewName,
    NewValue, Persistence, Principal, Registry, RegistryError, Verify, verify_export,
};

const OPERATOR: Principal = Principal::Operator;

/// A clock that advances a second with each call, and random bytes that differ each time.
fn environment() -> Environment {
    let clock = AtomicU64::new(1_800_000_000_000);
    let chance = AtomicU64::new(1);
    Environment::new(
        move || clock.fetch_add(1_000, Ordering::Relaxed),
        move |bytes| {
            let draw = chance.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            bytes
                .iter_mut()
                .zip(draw.iter().cycle())
                .for_each(|(byte, d)| *byte = *d);
        },
    )
}

/// Declines a request for an authority, without a reason.
fn decline() -> AuthorityAction {
    let reason = String::new();
    AuthorityAction::Decline { reason }
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
    registry
        .create_authority(&OPERATOR, path, NewAuthority::default())
        .unwrap();
}

fn erasable_authority(registry: &Registry, path: &str) {
    let change = AuthorityChange {
        persistence: Some(Persistence::Erasable),
        ..AuthorityChange::default()
    };
    let new = NewAuthority {
        change,
        ..NewAuthority::default()
    };
    registry.create_authority(&OPERATOR, path, new).unwrap();
}

fn name(registry: &Registry, id: &str) {
    registry
        .create_name(&OPERATOR, id, NewName::urls(&["https://example.org/"]))
        .unwrap();
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
