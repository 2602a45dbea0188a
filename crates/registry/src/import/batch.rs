//! Handle batch files (`handle-protocol.md` §12.1): a sequence of operations.
//!
//! Operations are applied in order, some hundreds in a transaction together with the progress of
//! the job. An interrupted job resumes after the last applied operation, because an operation
//! cannot be applied twice.
//!
//! Nothing here opens a file: a value that names a file is rejected. `handfast import` reads such
//! files on its own machine and puts their bytes into the batch first.

use std::io::{BufReader, Read};

use handfast_id::{Handle, Identifier};
use handfast_wire::batch::{BatchData, BatchEntry, BatchReader, BatchValue, Operation};
use handfast_wire::{Ttl, Value};
use sha2::{Digest, Sha256};

use crate::authority::path::AuthorityPath;
use crate::authority::policy::AuthorityStatus;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::import::apply::{ConflictPolicy, WantedRecord};
use crate::import::changes::{Changes, ValueCounts};
use crate::import::check_stop;
use crate::import::load::{Loaded, Loader, split_failure};
use crate::import::outcome::{Counts, Done, Outcome};
use crate::import::parsed::ParsedAuthority;
use crate::import::prepared_name::{NameOptions, check_text};
use crate::import::reporter::Reporter;
use crate::jobs::job::Job;
use crate::jobs::running::RunningJob;
use crate::name::create::Origin;
use crate::name::edit::Edit;
use crate::name::record::{Record, State};
use crate::name::values::NewValue;
use crate::registry::Registry;

/// The number of operations in one transaction.
pub(super) const OPERATIONS_PER_BATCH: usize = 500;
/// The approximate maximum of bytes of the values in one transaction, which are buffered in memory.
const MAX_BATCH_BYTES: usize = 8 << 20;

impl Registry {
    /// Applies the operations of a batch.
    pub(crate) fn import_batch<R: Read>(
        &self,
        by: &Loader,
        options: &NameOptions,
        running_job: Option<&RunningJob>,
        mut job: Option<Job>,
        input: R,
        mut reporter: Reporter<'_>,
    ) -> Result<(Option<Job>, Counts, ValueCounts), RegistryError> {
        reporter.counts = job.as_ref().map(|job| job.counts).unwrap_or_default();
        let done = job.as_ref().map_or(0, |job| job.done);
        let mut batch = BatchInput {
            entries: BatchReader::new(BufReader::with_capacity(1 << 16, input)),
            done,
            seen: [0; 32],
            expected: job.as_ref().map(|job| job.seen),
        };
        let Some(job) = &mut job else {
            self.rehearse_batch(by, options, &mut batch, &mut reporter)?;
            return Ok((None, reporter.counts, reporter.values));
        };
        while let Some(operations) = batch.next()? {
            check_stop(running_job)?;
            let (by, options) = (by.at(self.time()), options.clone());
            let mut after = Job {
                seen: batch.seen,
                done: operations.last().map_or(job.done, |entry| entry.line),
                ..job.clone()
            };
            let (after, loaded) = self.load(move |loading| {
                let from = crate::log::tree::read(&loading.snapshot())?.size() + 1;
                let loaded = by.operations(loading, &options, operations)?;
                let to = crate::log::tree::read(&loading.snapshot())?.size() + 1;
                after.add_events(from, to);
                after.counts.add_counts(loaded.counts);
                loading.apply(&after.to_write()?)?;
                Ok((after, loaded))
            })?;
            *job = after;
            reporter.loaded(&loaded);
            reporter.progress();
        }
        Ok((Some(job.clone()), reporter.counts, reporter.values))
    }
}

/// Reads operations in groups.
pub(super) struct BatchInput<R> {
    entries: BatchReader<BufReader<R>>,
    /// The line up to which operations were applied.
    done: u64,
    /// A digest of all operations so far.
    seen: [u8; 32],
    /// The digest of the operations that were applied.
    expected: Option<[u8; 32]>,
}

impl<R: Read> BatchInput<R> {
    /// The next operations that were not applied; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<BatchEntry>>, RegistryError> {
        let mut operations = Vec::new();
        let mut size = 0;
        while let Some(entry) = self.entries.next() {
            let entry = entry.map_err(|source| RegistryError::Input {
                what: "the batch file".into(),
                source,
            })?;
            let is_new = entry.line > self.done;
            if is_new {
                self.are_the_same()?;
            }
            self.seen = tell_apart(self.seen, &entry);
            if is_new {
                size += size_of(&entry);
                operations.push(entry);
            }
            if operations.len() == OPERATIONS_PER_BATCH || size > MAX_BATCH_BYTES {
                break;
            }
        }
        Ok(Some(operations).filter(|operations| !operations.is_empty()))
    }

    /// Checks that the applied operations are the ones at the start of this input.
    fn are_the_same(&mut self) -> Result<(), RegistryError> {
        match self.expected.take() {
            Some(expected) if self.done > 0 && expected != self.seen => Err(RegistryError::policy(
                "other-file",
                "an import of this file was interrupted, and the file has been changed since: \
                 with --restart all of it is done as if it were new",
            )),
            _ => Ok(()),
        }
    }
}

/// The approximate size of an operation in bytes.
pub(super) fn size_of(entry: &BatchEntry) -> usize {
    let of_value = |value: &BatchValue| {
        let data = match &value.data {
            BatchData::Bytes(bytes) => bytes.len(),
            BatchData::File(text) | BatchData::Text(text) => text.len(),
            _ => 0,
        };
        100 + value.value_type.len() + data
    };
    match &entry.operation {
        Ok(
            Operation::Create { values, .. }
            | Operation::Add { values, .. }
            | Operation::Modify { values, .. },
        ) => values.iter().map(of_value).sum(),
        Ok(Operation::Home { prefixes, .. } | Operation::Unhome { prefixes, .. }) => {
            prefixes.iter().map(|prefix| 100 + prefix.len()).sum()
        }
        _ => 100,
    }
}

/// Extends a digest of operations by one more.
fn tell_apart(before: [u8; 32], entry: &BatchEntry) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(entry.line.to_be_bytes());
    let (handle, values) = match &entry.operation {
        Ok(Operation::Create { handle, values }) => (handle, values),
        Ok(Operation::Add { handle, values } | Operation::Modify { handle, values }) => {
            (handle, values)
        }
        other => {
            hash.update(format!("{other:?}"));
            return hash.finalize().into();
        }
    };
    hash.update(handle);
    for value in values {
        hash.update(format!("{value:?}"));
        // The text is not shown: it may contain a secret.
        hash.update(value.data.to_bytes().unwrap_or_default());
    }
    hash.finalize().into()
}

impl Loader {
    pub(super) fn operations(
        &self,
        loading: &mut handfast_store::Loading<'_>,
        options: &NameOptions,
        entries: Vec<BatchEntry>,
    ) -> Result<Loaded, RegistryError> {
        let mut loaded = Loaded::default();
        for entry in entries {
            let line = entry.line;
            let done = self.decide(loading, |change_set| {
                operation(change_set, entry, options, self.conflicts)
            })?;
            match done {
                Ok(outcomes) => {
                    for outcome in outcomes {
                        loaded.add(outcome, self.tells_all);
                    }
                }
                Err(error) => {
                    loaded.add(Outcome::refused(line, None, &error), self.tells_all);
                }
            }
        }
        Ok(loaded)
    }
}

/// Applies one operation and returns its outcome; `None` for operations that do not concern names.
fn operation(
    change_set: &mut ChangeSet<'_>,
    entry: BatchEntry,
    options: &NameOptions,
    conflicts: ConflictPolicy,
) -> Result<Vec<Outcome>, RegistryError> {
    let line = entry.line;
    let operation = match entry.operation {
        Ok(operation) => operation,
        Err(error) => {
            let reason = error.reason.to_string();
            return Ok(vec![Outcome::bad(
                error.line,
                None,
                "bad-operation",
                reason,
            )]);
        }
    };
    let Some(id) = handle_of(&operation).map(|handle| options.whole(handle.clone())) else {
        return match operation {
            Operation::Home { prefixes, .. } => change_set.home_all(line, &prefixes, conflicts),
            Operation::Unhome { prefixes, .. } => change_set.unhome_all(line, &prefixes),
            // The principal is already known, and this machine needs no session.
            _ => Ok(Vec::new()),
        };
    };
    let before = change_set.record_before(&id)?;
    let by_event = |event| Done::Changed(Some(event));
    let done = match operation {
        Operation::Create { values, .. } => read_values(&values)
            .and_then(|new| change_set.create_handle(&id, new, options.migrate, conflicts)),
        Operation::Add { values, .. } => read_values(&values)
            .and_then(|put| change_set.add_values(&id, put, false))
            .map(|(event, _)| by_event(event)),
        Operation::Modify { values, .. } => read_values(&values)
            .and_then(|put| change_set.modify_values(&id, put))
            .map(by_event),
        Operation::Remove { indexes, .. } => {
            let removed = change_set.edit_handle(&id, &Edit::remove(&indexes));
            removed.map(by_event)
        }
        Operation::Delete { .. } => change_set.delete_handle(&id).map(by_event),
        _ => return Ok(Vec::new()),
    };
    let done = split_failure(done)?;
    let changes = match (&done, before) {
        (Ok(Done::Changed(_)), Some((key, path, before))) => {
            let after = change_set.record(&key)?;
            change_set.changes(&path, &before, after.as_ref(), conflicts.lists_changes)?
        }
        _ => Changes::default(),
    };
    Ok(vec![Outcome {
        changes,
        ..Outcome::of(line, id, done)
    }])
}

/// The handle that an operation is about, if it is about one.
pub(super) fn handle_of(operation: &Operation) -> Option<&String> {
    match operation {
        Operation::Add { handle, .. }
        | Operation::Create { handle, .. }
        | Operation::Delete { handle }
        | Operation::Modify { handle, .. }
        | Operation::Remove { handle, .. } => Some(handle),
        _ => None,
    }
}

impl ChangeSet<'_> {
    /// The key, the authority and the record of a handle before an operation, if it exists.
    fn record_before(
        &self,
        handle: &str,
    ) -> Result<Option<(String, AuthorityPath, Record)>, RegistryError> {
        let Ok(identifier) = Handle::from_stored(handle).map(Identifier::Handle) else {
            return Ok(None);
        };
        let key = identifier.key(&**self).as_str().to_string();
        let path = AuthorityPath::of(&identifier, &**self);
        let record = split_failure(self.record(&key))?.ok().flatten();
        Ok(record.map(|record| (key, path, record)))
    }

    fn create_handle(
        &mut self,
        handle: &str,
        values: Vec<NewValue>,
        migrate: bool,
        conflicts: ConflictPolicy,
    ) -> Result<Done, RegistryError> {
        check_text(handle)?;
        let identifier = match (Handle::parse(handle), migrate) {
            (Err(_), true) => Handle::from_stored(handle),
            (read, _) => read,
        };
        let identifier = identifier.map(Identifier::Handle);
        let identifier =
            identifier.and_then(|handle| handle.check_record(&**self).map(|()| handle));
        let identifier = identifier.map_err(|source| RegistryError::identifier(handle, source))?;
        let key = identifier.key(&**self).as_str().to_string();
        let path = AuthorityPath::of(&identifier, &**self);
        let new = crate::name::create::NewName {
            values,
            ..crate::name::create::NewName::default()
        };
        let old = self.record(&key)?;
        if let Some(old) = old.as_ref().filter(|old| old.state == State::Withdrawn) {
            return Err(RegistryError::Exists {
                id: handle.to_string(),
                event: Some(old.first_event),
            });
        }
        if old.is_none() && Handle::parse(handle).is_ok() {
            let shown = self.create(handle, &new, Origin::Supplied)?;
            return Ok(Done::Created(Some(shown.record.first_event)));
        }
        let ttl = self.existing_authority(&path)?.policy.default_ttl;
        let values: Vec<Value<'static>> =
            new.values.iter().map(|value| value.settle(ttl)).collect();
        let wanted = Record {
            values: crate::name::values::settle(&[], values, self.timestamp())?,
            ..Record::new(handle.to_string(), path.key(), State::Active, self.time())
        };
        let wanted = WantedRecord {
            record: wanted,
            says_state: true,
            named: None,
        };
        Ok(self.apply_record(&key, wanted, conflicts)?.done)
    }

    fn home_all(
        &mut self,
        line: u64,
        prefixes: &[String],
        conflicts: ConflictPolicy,
    ) -> Result<Vec<Outcome>, RegistryError> {
        let mut outcomes = Vec::new();
        for prefix in prefixes {
            let path = self.path(prefix)?;
            let status = self.authority(&path)?.map(|authority| authority.status);
            let done = match status {
                Some(AuthorityStatus::Active) => Ok(Done::Unchanged),
                // As HOME of the handle protocol: a retired prefix is taken up again, and a request
                // is answered.
                Some(before) => {
                    let homed = split_failure(self.home_prefix(prefix))?;
                    let event = self.authority(&path)?.map(|authority| authority.last_event);
                    homed.map(|_| match before {
                        AuthorityStatus::Retired => Done::Changed(event),
                        _ => Done::Created(event),
                    })
                }
                None => {
                    let applied =
                        self.apply_authority(&ParsedAuthority::named(prefix), conflicts, None);
                    split_failure(applied.map(|(done, _)| done))?
                }
            };
            outcomes.push(Outcome::of(line, prefix.clone(), done));
        }
        Ok(outcomes)
    }

    /// Retires a prefix that the server is no longer responsible for: its names stay.
    fn unhome_all(
        &mut self,
        line: u64,
        prefixes: &[String],
    ) -> Result<Vec<Outcome>, RegistryError> {
        let mut outcomes = Vec::new();
        for prefix in prefixes {
            let before = self.next_event();
            let done = split_failure(self.retire(prefix, true))?;
            let done = done.map(|()| Done::Changed(Some(before)));
            outcomes.push(Outcome::of(line, prefix.clone(), done));
        }
        Ok(outcomes)
    }
}

fn read_values(values: &[BatchValue]) -> Result<Vec<NewValue>, RegistryError> {
    values.iter().map(read_value).collect()
}

fn read_value(value: &BatchValue) -> Result<NewValue, RegistryError> {
    let data = match &value.data {
        BatchData::File(_) => {
            let index = value.index;
            let problem = format!(
                "value {index} names a file, and an import opens no files: give the data in the \
                 batch (UTF8 or HEX), or run `handfast import` on the machine where the file is"
            );
            return Err(RegistryError::policy("no-files", problem));
        }
        data => data.to_bytes().unwrap_or_default(),
    };
    Ok(NewValue {
        permissions: Some(value.permissions),
        ttl: Some(Ttl::Relative(value.ttl)),
        ..NewValue::new(value.index, &value.value_type, &data)
    })
}
