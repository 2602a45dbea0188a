//! Undoing a job: which changes to undo, and undoing them name by name.
//!
//! Every job stores its own events. All its changes of one name are undone as a whole, last first,
//! or not at all. Names that an import created stay.

use std::collections::HashMap;

use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::{Done, split_failure};
use crate::jobs::job::{Job, JobKind};
use crate::jobs::undone;
use crate::log::event::Subject;
use crate::lookup::hidden_names::HiddenEvents;
use crate::registry::Registry;

/// The changes of a job on a name, to be undone.
#[derive(Clone)]
pub(crate) struct ToUndo {
    /// The events, last first.
    pub(crate) events: Vec<u64>,
    /// The key of the name, if it exists.
    pub(crate) key: Option<String>,
}

impl Registry {
    /// Checks that a principal may undo a job, and that something is left to undo.
    pub(crate) fn may_undo(&self, who: &Principal, job: u64) -> Result<(), RegistryError> {
        let found = self.job(job)?;
        if !self.may_see_job(who, &found)? {
            let problem = "only who ran a job, and the operator, undo all of it";
            return Err(RegistryError::policy("operator-only", problem));
        }
        let jobs = self.undos_and(job)?;
        if matches!(found.kind, JobKind::Import { .. }) {
            self.may_undo_import(&found)?;
        }
        match undone::undone(&jobs).get(&job) {
            Some(later) => {
                let problem = format!("job {job} was undone by job {later}");
                Err(RegistryError::policy("undone", problem))
            }
            None => Ok(()),
        }
    }

    /// Checks that there is anything to undo: names that an import created stay.
    fn may_undo_import(&self, import: &Job) -> Result<(), RegistryError> {
        let number = import.number;
        let refuse = |problem: String| Err(RegistryError::policy("cannot-undo", problem));
        if self.running_jobs.holds(number) {
            return refuse(format!(
                "job {number} is under way: cancel it first with `handfast job cancel {number}`"
            ));
        }
        if import.ended.is_none() {
            return refuse(format!(
                "job {number} was interrupted: import the same again to finish it, or cancel it \
                 with `handfast job cancel {number}`, and then undo it"
            ));
        }
        if import.counts.changed == 0 && !import.is_cancelled {
            return refuse(format!(
                "job {number} changed nothing that was there before; what it created stays: \
                 withdraw names with `handfast job withdraw FILE --reason WHY`"
            ));
        }
        if import.events.is_empty() {
            return refuse(format!(
                "it is not known which changes are of job {number}, because an earlier version ran \
                 it: undo them name by name with `handfast name undo`"
            ));
        }
        Ok(())
    }

    /// The number of names and authorities that the undone job had created, if it is an import.
    pub(crate) fn created_by_undone(&self, kind: &JobKind) -> Result<u64, RegistryError> {
        let JobKind::Undo { job } = kind else {
            return Ok(0);
        };
        let undone = self.job(*job)?;
        let is_import = matches!(undone.kind, JobKind::Import { .. });
        Ok(if is_import { undone.counts.created } else { 0 })
    }

    /// The changes to undo, by name, the last changed name first. `None` if more names than a
    /// number would have to be looked at to find those that events hide.
    pub(crate) fn events_to_undo(
        &self,
        kind: &JobKind,
        max_names: u64,
    ) -> Result<Option<Vec<ToUndo>>, RegistryError> {
        let JobKind::Undo { job } = kind else {
            return Ok(Some(Vec::new()));
        };
        let job = self.job(*job)?;
        let is_import = matches!(job.kind, JobKind::Import { .. });
        self.read(|view| {
            let mut events = Vec::new();
            let mut hidden: HashMap<String, HiddenEvents> = HashMap::new();
            for number in job.events.iter().flat_map(|(from, to)| *from..=*to) {
                let Some(event) = view.event(number)? else {
                    continue;
                };
                if is_import && !event.action.changes_name() {
                    continue;
                }
                let key = match event.subject {
                    Subject::Open(key) | Subject::Opened { key, .. } => Some(key),
                    Subject::Hidden(commitment) => {
                        let authority = hidden.entry(event.authority).or_default();
                        authority.add(commitment, number, events.len());
                        None
                    }
                    Subject::None => continue,
                };
                events.push((number, key));
            }
            // Events do not contain names that may be erased: they are found by trying.
            let is_found = view.visit_hidden(hidden, max_names, &mut |at, key, _| {
                if let Some(event) = events.get_mut(at) {
                    event.1 = Some(key.to_string());
                }
            })?;
            if !is_found {
                return Ok(None);
            }
            let mut by_name = by_name(events);
            if is_import {
                // A name that the import created stays as it is.
                let mut others = Vec::with_capacity(by_name.len());
                for name in by_name {
                    if !is_created_by(view, &job, &name)? {
                        others.push(name);
                    }
                }
                by_name = others;
            }
            Ok(Some(by_name))
        })
    }
}

impl ChangeSet<'_> {
    /// Undoes the changes of a job on one name; also returns the name, and sets `found` to it as
    /// soon as it is found.
    pub(super) fn undo_changes(
        &mut self,
        undo: &ToUndo,
        found: &mut Option<String>,
    ) -> Result<(Done, String), RegistryError> {
        let Some(key) = &undo.key else {
            let number = undo.events.first().copied().unwrap_or_default();
            let problem = format!("the name of event {number} is not there any more");
            return Err(RegistryError::policy("not-found", problem));
        };
        let name = self.find_key(key)?;
        let id = name.record.text.clone();
        *found = Some(id.clone());
        let done = self.undo_what_is_left(name, &undo.events)?;
        Ok((
            done.map_or(Done::Unchanged, |event| Done::Changed(Some(event))),
            id,
        ))
    }
}

/// Groups the events by name, the last changed name first.
fn by_name(events: Vec<(u64, Option<String>)>) -> Vec<ToUndo> {
    let mut names: Vec<ToUndo> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for (number, key) in events.into_iter().rev() {
        let position = key.as_ref().and_then(|key| positions.get(key)).copied();
        if let Some(name) = position.and_then(|position| names.get_mut(position)) {
            name.events.push(number);
            continue;
        }
        if let Some(key) = &key {
            positions.insert(key.clone(), names.len());
        }
        let events = vec![number];
        names.push(ToUndo { events, key });
    }
    names
}

/// Whether a job created a name.
fn is_created_by(view: &View<'_>, job: &Job, name: &ToUndo) -> Result<bool, RegistryError> {
    let Some(key) = &name.key else {
        return Ok(false);
    };
    let first = split_failure(view.record(key))?.ok().flatten();
    let Some(first) = first.map(|record| record.first_event) else {
        return Ok(false);
    };
    let after = job.events.partition_point(|(_, to)| *to < first);
    let range = job.events.get(after);
    Ok(range.is_some_and(|(from, to)| (*from..=*to).contains(&first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;
    use crate::import::Counts;

    /// Imports of earlier versions stored no events. Undoing them would have done nothing and
    /// reported success.
    #[test]
    fn an_import_of_an_earlier_version_is_not_undone() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
        let registry = Registry::create(folder.path(), environment).unwrap();
        let kind = JobKind::Import {
            source: "names.csv".into(),
            fingerprint: [0; 32],
        };
        let undo = |job: Job| {
            let number = job.number;
            registry
                .change(&Principal::Operator, move |change_set| {
                    change_set.store_job(&job)
                })
                .unwrap();
            let kind = JobKind::Undo { job: number };
            let undone = registry.run_job(&Principal::Operator, kind, false, &mut |_| ());
            let error = undone.unwrap_err();
            assert_eq!(error.code(), "cannot-undo");
            error.to_string()
        };
        let old = Job {
            number: 1,
            ended: Some(1),
            counts: Counts {
                changed: 3,
                ..Counts::default()
            },
            ..Job::planned(&Principal::Operator, kind)
        };
        assert!(undo(old.clone()).contains("earlier version"));
        let interrupted = Job { ended: None, ..old };
        assert!(undo(interrupted).contains("was interrupted"));
    }
}
