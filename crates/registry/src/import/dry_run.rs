//! Dry runs of batches.
//!
//! Operations depend on those before them, so a dry run applies them in a transaction and rolls it
//! back. Such a transaction blocks the writer and buffers its writes in memory, so its number of
//! operations is limited. The next group starts again from the stored state. If an operation
//! concerns a name or a prefix that an earlier group would have changed, its result is unknown: it
//! is reported as `not-rehearsed`, and never as if the earlier operation had not been there.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;

use handfast_wire::batch::{BatchEntry, Operation};

use crate::error::RegistryError;
use crate::import::batch::{BatchInput, handle_of, size_of};
use crate::import::load::{Loaded, Loader};
use crate::import::outcome::{Done, Outcome};
use crate::import::prepared_name::NameOptions;
use crate::import::reporter::Reporter;
use crate::registry::Registry;

/// The maximum number of operations in one transaction of a dry run.
const MAX_DRY_RUN_OPERATIONS: usize = 5_000;
/// The approximate maximum of bytes of their values.
const MAX_DRY_RUN_BYTES: usize = 16 << 20;
/// The maximum number of operations of a dry run: the names that they would change are buffered in
/// memory.
const MAX_OPERATIONS: usize = 1_000_000;

impl Registry {
    /// Reports what the operations of a batch would do, group by group.
    pub(super) fn rehearse_batch<R: Read>(
        &self,
        by: &Loader,
        options: &NameOptions,
        batch: &mut BatchInput<R>,
        reporter: &mut Reporter<'_>,
    ) -> Result<(), RegistryError> {
        let mut changed = Changed::default();
        let mut operations = 0;
        let mut next = batch.next()?;
        while next.is_some() {
            let (mut group, mut bytes) = (Vec::new(), 0_usize);
            let mut unknown = Loaded::default();
            while let Some(entries) = next.take() {
                for entry in entries {
                    operations += 1;
                    bytes += size_of(&entry);
                    if operations > MAX_OPERATIONS {
                        unknown.add(unchecked(entry.line, None, &too_many()), true);
                        break;
                    }
                    match changed.named_by(&entry, options) {
                        Some(id) => {
                            unknown.add(
                                unchecked(entry.line, Some(&id), &depends_on_earlier()),
                                true,
                            );
                        }
                        None => group.push(entry),
                    }
                }
                let is_full = group.len() >= MAX_DRY_RUN_OPERATIONS || bytes >= MAX_DRY_RUN_BYTES;
                if operations <= MAX_OPERATIONS {
                    next = batch.next()?;
                }
                if is_full {
                    break;
                }
            }
            let loader = Loader {
                tells_all: true,
                ..by.at(self.time())
            };
            let options = options.clone();
            let mut rehearsed =
                self.dry_run_load(move |loading| loader.operations(loading, &options, group))?;
            changed.add(&rehearsed);
            let is_told =
                |outcome: &Outcome| by.tells_all || matches!(outcome.done, Done::Refused { .. });
            rehearsed.outcomes.retain(is_told);
            for loaded in [&rehearsed, &unknown] {
                reporter.loaded(loaded);
                reporter.progress();
            }
        }
        Ok(())
    }
}

fn unchecked(line: u64, id: Option<&str>, reason: &str) -> Outcome {
    Outcome::bad(line, id, "not-rehearsed", reason.to_string())
}

fn depends_on_earlier() -> String {
    format!(
        "an operation above would change this name or its prefix, more than \
         {MAX_DRY_RUN_OPERATIONS} operations before: a dry run does not carry what it did so far; \
         split the batch, or run it"
    )
}

fn too_many() -> String {
    format!(
        "a dry run looks at the first {MAX_OPERATIONS} operations of a batch, and this one and all \
         behind it were not looked at; split the batch, or run it"
    )
}

/// The names and prefixes that earlier groups would have changed.
#[derive(Default)]
struct Changed {
    names: HashSet<u64>,
    hasher: RandomState,
}

impl Changed {
    fn add(&mut self, loaded: &Loaded) {
        for outcome in &loaded.outcomes {
            if let (Some(id), Done::Changed(_) | Done::Created(_)) = (&outcome.id, &outcome.done) {
                let hash = self.hash(id);
                self.names.insert(hash);
            }
        }
    }

    /// The name of an operation, if an earlier group would have changed it or its prefix.
    fn named_by(&self, entry: &BatchEntry, options: &NameOptions) -> Option<String> {
        let is_changed = |name: &str| self.names.contains(&self.hash(name));
        let operation = entry.operation.as_ref().ok()?;
        if let Operation::Home { prefixes, .. } | Operation::Unhome { prefixes, .. } = operation {
            return prefixes.iter().find(|prefix| is_changed(prefix)).cloned();
        }
        let name = options.whole(handle_of(operation)?.clone());
        let prefix = name.split('/').next().unwrap_or_default();
        (is_changed(&name) || is_changed(&format!("0.NA/{prefix}"))).then_some(name)
    }

    /// The hash ignores case, because case does not count under most prefixes. At worst an
    /// operation is reported as unknown that could have been checked.
    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(name.to_ascii_uppercase())
    }
}
