//! A preview of a job: the same decisions as the job, for its first names, without changes.

use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::import::{Counts, Outcome, split_failure};
use crate::jobs::bulk::{Task, outcome};
use crate::jobs::job::{Job, JobKind};
use crate::name::record::State;
use crate::name::undo::{Difference, differences};
use crate::registry::Registry;

/// What a job would do with its first names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPreview {
    /// The counts of the names that were looked at.
    pub counts: Counts,
    /// How many names were looked at.
    pub looked_at: u64,
    /// Whether these are all names of the job.
    pub is_complete: bool,
    /// The first changes.
    pub changes: Vec<PreviewedChange>,
    /// The first names that the job would reject.
    pub rejections: Vec<Outcome>,
    /// The number of names and authorities that an undone import had created: they stay.
    pub stay: u64,
}

/// What a job would do with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewedChange {
    /// The name.
    pub id: String,
    /// Its state before and after.
    pub states: (State, State),
    /// The values that differ. Values that are not public are listed without their data.
    pub differences: Vec<Difference>,
}

/// The maximum number of events of a job whose undoing is previewed: all of them are read.
const MAX_EVENTS_TO_UNDO: u64 = 20_000;
/// The maximum number of names that are looked at to find those that the events hide.
const MAX_NAMES_TO_UNDO: u64 = 200_000;

impl Registry {
    /// What a bulk change would do with the first `names` names, with at most `listed` changes and
    /// as many rejections. The work is bounded: a job that made very many events is not looked
    /// through, and its preview is empty and not complete.
    ///
    /// ```
    /// # use handfast_registry::{Environment, JobKind, NewAuthority, NewName, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1/a", NewName::urls(&["https://old.example/a"]))?;
    /// let kind = JobKind::ReplaceUrl {
    ///     authority: "20.1".into(),
    ///     from: "old.example".into(),
    ///     to: "new.example".into(),
    ///     is_host: true,
    /// };
    /// let preview = registry.preview_job(&operator, kind, 1_000, 10)?;
    /// let after = preview.changes[0].differences[0].after.as_ref().unwrap();
    /// assert_eq!(after.data.as_ref(), b"https://new.example/a");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn preview_job(
        &self,
        who: &Principal,
        kind: JobKind,
        names: u64,
        listed: usize,
    ) -> Result<JobPreview, RegistryError> {
        self.may_run(who, &kind)?;
        let mut preview = JobPreview {
            stay: self.created_by_undone(&kind)?,
            ..JobPreview::default()
        };
        if let JobKind::Undo { job } = &kind {
            let ranges = self.job(*job)?.events.into_iter();
            let events = ranges.map(|(from, to)| to.saturating_sub(from).saturating_add(1));
            if events.fold(0, u64::saturating_add) > MAX_EVENTS_TO_UNDO {
                return Ok(preview);
            }
        }
        let mut job = Job::planned(who, kind);
        let Some(events) = self.events_to_undo(&job.kind, MAX_NAMES_TO_UNDO)? else {
            return Ok(preview);
        };
        while job.done < names {
            let tasks = self.next_tasks(&job, &events, &[])?;
            if tasks.is_empty() {
                preview.is_complete = true;
                break;
            }
            let outcomes = self.preview_tasks(&job, &tasks, &mut preview, listed)?;
            job.advance(&tasks, &outcomes);
        }
        if !preview.is_complete {
            preview.is_complete = self.next_tasks(&job, &events, &[])?.is_empty();
        }
        (preview.counts, preview.looked_at) = (job.counts, job.done);
        Ok(preview)
    }

    fn preview_tasks(
        &self,
        job: &Job,
        tasks: &[Task],
        preview: &mut JobPreview,
        listed: usize,
    ) -> Result<Vec<Outcome>, RegistryError> {
        let runner = self.runner(&job.who, [0; 16]);
        self.read(|view| {
            let mut outcomes = Vec::with_capacity(tasks.len());
            for (line, task) in (job.done + 1..).zip(tasks) {
                let mut change_set = ChangeSet::begin(runner.view(view.now), runner.call())?;
                let mut found = None;
                let done = split_failure(change_set.step(&job.kind, task, &mut found))?;
                let outcome = outcome(line, task, found.as_deref(), done).planned();
                if preview.changes.len() < listed
                    && let (Some(key), Some(id)) = (task.key(), found)
                {
                    let before = view.record(key)?;
                    let after = change_set.record(key)?;
                    if let (Some(before), Some(after)) = (before, after)
                        && before.version != after.version
                    {
                        preview.changes.push(PreviewedChange {
                            id,
                            states: (before.state, after.state),
                            differences: public(differences(&before.values, &after.values)),
                        });
                    }
                }
                if preview.rejections.len() < listed && outcome.is_refused() {
                    preview.rejections.push(outcome.clone());
                }
                outcomes.push(outcome);
            }
            Ok(outcomes)
        })
    }
}

/// Differences without the data of values that are not public.
fn public(mut all: Vec<Difference>) -> Vec<Difference> {
    for difference in &mut all {
        let values = [&mut difference.before, &mut difference.after];
        for value in values.into_iter().flatten() {
            if !value.is_public() {
                value.data = Vec::new().into();
            }
        }
    }
    all
}
