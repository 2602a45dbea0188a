//! Writing prepared names: the part of an import that runs in the writer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use handfast_id::{Handle, Identifier, is_trimmed};
use handfast_store::{Loading, Snapshot, TableKey};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Authority;
use crate::change::change_set::{Call, ChangeSet, has_nul};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::is_prefix_record;
use crate::import::apply::{ConflictPolicy, WantedRecord};
use crate::import::changes::{Changes, ValueCounts};
use crate::import::histories::Histories;
use crate::import::outcome::{Counts, Done, Outcome};
use crate::import::prepared_name::{ImportContext, PreparedName, PreparedRecord};
use crate::log::event::Event;
use crate::log::event_time::event_time;
use crate::log::tree;
use crate::lookup::value_index;
use crate::name::create::check_name;
use crate::name::record::Record;
use crate::namespace::NamespaceRules;

/// Names that are written in one transaction, by key, none twice.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) names: Vec<PreparedName>,
    /// The authorities that the names were prepared with, and their versions: all versions, if an
    /// authority changed in between.
    pub(crate) assumed: HashSet<(String, u64)>,
    /// The last change of an entry of the `info` registry that was known at that time.
    pub(crate) namespaces: u64,
}

/// The result of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) counts: Counts,
    /// Counts of changed values.
    pub(crate) values: ValueCounts,
    /// The outcomes of all lines, or only of the rejected ones.
    pub(crate) outcomes: Vec<Outcome>,
    /// The number of bytes of the values that the outcomes list.
    listed_bytes: usize,
    /// How many names were created without being indexed, and the number of events before and
    /// after.
    pub(crate) parsed: (u64, u64, u64),
    /// Whether the rest of the chunk was left out, because the import is to stop.
    pub(crate) was_interrupted: bool,
}

impl Loaded {
    pub(crate) fn add(&mut self, mut outcome: Outcome, tells_all: bool) {
        self.counts.add(&outcome.done);
        self.values.add(outcome.changes.counts);
        self.listed_bytes += outcome.changes.text_bytes();
        if self.listed_bytes > MAX_LISTED_BYTES {
            outcome.changes.listed = Vec::new();
        }
        if tells_all || matches!(outcome.done, Done::Refused { .. }) {
            self.outcomes.push(outcome);
        }
    }
}

/// The maximum number of bytes of values that the outcomes of one chunk list, because they are
/// buffered in memory. Further values are only counted.
const MAX_LISTED_BYTES: usize = 16 << 20;

/// Writes chunks.
#[derive(Clone)]
pub(crate) struct Loader {
    pub(crate) rules: Arc<NamespaceRules>,
    /// The identities that may do everything.
    pub(crate) administrators: Arc<[Principal]>,
    pub(crate) who: Principal,
    pub(crate) context: ImportContext,
    pub(crate) conflicts: ConflictPolicy,
    /// Whether to report all lines, and not only the rejected ones.
    pub(crate) tells_all: bool,
    /// The job, unless this is a dry run: its events are stored with it, so that it can be undone.
    pub(crate) job: Option<u64>,
}

impl Loader {
    /// Adds all events after the first `before` ones to the job of the import. No other change is
    /// written at the same time.
    pub(crate) fn note_events(
        &self,
        loading: &mut Loading<'_>,
        before: u64,
    ) -> Result<(), RegistryError> {
        let after = tree::read(&loading.snapshot())?.size();
        let job = match self.job {
            Some(number) if after > before => {
                let snapshot = loading.snapshot();
                self.view(&snapshot).job(number)?
            }
            _ => None,
        };
        if let Some(mut job) = job {
            job.add_events(before + 1, after + 1);
            loading.apply(&job.to_write()?)?;
        }
        Ok(())
    }

    /// A snapshot with the rules and administrators of this import.
    pub(crate) fn view<'n>(&'n self, now: &'n Snapshot<'n>) -> View<'n> {
        View::new(now, &self.rules).with_administrators(&self.administrators)
    }

    /// A loader with another time.
    pub(crate) fn at(&self, time: u64) -> Self {
        let mut loader = self.clone();
        loader.context.time = time;
        loader
    }

    /// Writes the names of a chunk, until it is to stop.
    pub(crate) fn load(
        &self,
        loading: &mut Loading<'_>,
        chunk: Chunk,
        is_to_stop: impl Fn() -> bool,
    ) -> Result<Loaded, RegistryError> {
        let mut loaded = Loaded::default();
        let has_same_policies = self.has_same_policies(loading, &chunk)?;
        let is_current = has_same_policies && self.may_do_all(loading)?;
        let has_same_rules = self.rules.at(&loading.snapshot())?.number == chunk.namespaces;
        let mut tree = tree::read(&loading.snapshot())?;
        let before = tree.size();
        let time = event_time(&loading.snapshot(), &tree, self.context.time)?;
        let mut parsed = 0;
        let mut histories = Histories::default();
        value_index::leave_for_later(loading, before + 1)?;
        for name in chunk.names {
            if is_to_stop() {
                loaded.was_interrupted = true;
                break;
            }
            let PreparedName {
                key,
                line,
                prepared,
            } = name;
            if !(has_same_rules && has_same_policies) {
                let text = Record::name_in(&prepared.record).unwrap_or(&key);
                let snapshot = loading.snapshot();
                let checked =
                    self.check_again(&snapshot, &key, text, has_same_rules, has_same_policies);
                if let Err(error) = split_failure(checked)? {
                    let refused = Outcome::refused(line, Some(text), &error);
                    loaded.add(refused, self.tells_all);
                    continue;
                }
            }
            let table_key = TableKey::record(key.as_bytes());
            let is_new = loading.is_behind(&table_key)?
                || loading.snapshot().get(&table_key, |_| ())?.is_none();
            let is_new = is_new && !loading.snapshot().is_of_other_name(&table_key)?;
            let mut prepared = prepared;
            // A name without a record but with a history, or with a character that new names cannot
            // have, takes the slow path.
            let is_free =
                is_new && !has_nul(&key) && histories.has_none(&loading.snapshot(), &key)?;
            if is_free && is_current && prepared.is_plain {
                let number = tree.size() + 1;
                Event::set_number(&mut prepared.event, number);
                Event::set_time(&mut prepared.event, time);
                let leaf = Event::leaf(&prepared.event);
                tree::append(&mut tree, leaf, loading)?;
                prepared.event.extend_from_slice(&leaf);
                Record::set_event(&mut prepared.record, number, time);
                loading.put(&TableKey::event(number), &prepared.event)?;
                loading.put(&TableKey::event_of(key.as_bytes(), number), &[])?;
                loading.put(&table_key, &prepared.record)?;
                if self.tells_all {
                    let id = Record::name_in(&prepared.record).map(str::to_string);
                    let done = Done::Created(Some(number));
                    let changes = Changes::default();
                    loaded.outcomes.push(Outcome {
                        line,
                        id,
                        done,
                        changes,
                    });
                }
                loaded.counts.created += 1;
                parsed += 1;
                continue;
            }
            tree::write(&tree, loading)?;
            let wanted = wanted_record(&key, prepared)?;
            let id = wanted.record.text.clone();
            let applied = self.decide(loading, |change_set| {
                change_set.apply_record(&key, wanted, self.conflicts)
            })?;
            loaded.add(Outcome::of_applied(line, id, applied), self.tells_all);
            tree = tree::read(&loading.snapshot())?;
        }
        tree::write(&tree, loading)?;
        self.note_events(loading, before)?;
        loaded.parsed = (parsed, before, tree.size());
        Ok(loaded)
    }

    /// The outcomes of a chunk in a dry run.
    pub(crate) fn judge(
        &self,
        now: &Snapshot<'_>,
        planned: &HashMap<String, Authority>,
        chunk: Chunk,
    ) -> Result<Loaded, RegistryError> {
        let mut loaded = Loaded::default();
        for name in chunk.names {
            let wanted = wanted_record(&name.key, name.prepared)?;
            let id = wanted.record.text.clone();
            let view = self.view(now).with_planned(planned);
            let mut change_set = ChangeSet::begin(view, self.call())?;
            let applied =
                split_failure(change_set.apply_record(&name.key, wanted, self.conflicts))?;
            loaded.add(Outcome::of_applied(name.line, id, applied), self.tells_all);
        }
        Ok(loaded)
    }

    /// Whether the authorities of a chunk still have the versions that its names were prepared
    /// with.
    fn has_same_policies(
        &self,
        loading: &Loading<'_>,
        chunk: &Chunk,
    ) -> Result<bool, RegistryError> {
        let snapshot = loading.snapshot();
        let view = self.view(&snapshot);
        for (key, version) in &chunk.assumed {
            let found = view.authority_by_key(key)?;
            if found.is_none_or(|found| found.version != *version) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rights are checked for all principals but those that may do everything.
    fn may_do_all(&self, loading: &Loading<'_>) -> Result<bool, RegistryError> {
        let snapshot = loading.snapshot();
        self.view(&snapshot).may_do_all(&self.who)
    }

    /// Checks a name that was prepared under other rules of its namespace, or under another version
    /// of its authority.
    fn check_again(
        &self,
        now: &Snapshot<'_>,
        key: &str,
        text: &str,
        has_same_rules: bool,
        has_same_policies: bool,
    ) -> Result<(), RegistryError> {
        let view = self.view(now);
        let check_key = |identifier: &Identifier<'_>, of: &str| {
            if identifier.key(&view).as_str() == key {
                return Ok(());
            }
            let problem = format!("the rules of its {of} have changed meanwhile: import it again");
            Err(RegistryError::policy("rules-changed", problem))
        };
        if !has_same_rules && key.starts_with("info:") {
            check_key(&view.identify(text)?, "namespace")?;
        }
        // The record of a prefix follows the policy of the registry only.
        if has_same_policies || is_prefix_record(key) {
            return Ok(());
        }
        let identifier = match view.identify(text) {
            Ok(identifier) if is_trimmed(text) => identifier,
            strict => match Handle::from_stored(text) {
                Ok(handle) => Identifier::Handle(handle),
                Err(_) => strict?,
            },
        };
        let path = AuthorityPath::of(&identifier, &view);
        check_key(&identifier, "authority")?;
        check_name(&identifier, &view.existing_authority(&path)?, &view)
    }

    /// Decides a change as usual, and writes it. A rejected change writes nothing; only an error of
    /// the store fails the load.
    pub(crate) fn decide<T>(
        &self,
        loading: &mut Loading<'_>,
        decide: impl FnOnce(&mut ChangeSet<'_>) -> Result<T, RegistryError>,
    ) -> Result<Result<T, RegistryError>, RegistryError> {
        let (done, writes) = {
            let snapshot = loading.snapshot();
            let mut change_set = ChangeSet::begin(self.view(&snapshot), self.call())?;
            match split_failure(decide(&mut change_set))? {
                Ok(done) => (done, change_set.into_writes()),
                Err(error) => return Ok(Err(error)),
            }
        };
        for write in &writes {
            loading.apply(write)?;
        }
        Ok(Ok(done))
    }

    pub(crate) fn call(&self) -> Call {
        Call {
            actor: self.who.clone(),
            time: self.context.time,
            node: self.context.node,
            random: self.context.random,
        }
    }
}

/// Separates failures of the store from rejections. One lost record does not stop the import of the
/// others.
pub(crate) fn split_failure<T>(
    decided: Result<T, RegistryError>,
) -> Result<Result<T, RegistryError>, RegistryError> {
    match decided {
        Err(lost @ RegistryError::LostRecord { .. }) => Ok(Err(lost)),
        Err(failure) if failure.is_failure() => Err(failure),
        decided => Ok(decided),
    }
}

fn wanted_record(key: &str, prepared: PreparedRecord) -> Result<WantedRecord, RegistryError> {
    let record = Record::from_bytes(&prepared.record)
        .map_err(|_| RegistryError::corrupt(format!("the prepared record of {key}")))?;
    Ok(WantedRecord {
        record,
        says_state: prepared.says_state,
        named: prepared.named,
    })
}
