//! Changing many names as a job. Each name gets one event; a transaction contains some hundreds of
//! names and the progress of the job; the whole job can be undone.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use handfast_store::TableKey;

use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::{ConflictPolicy, Counts, Done, ImportContext, Loader, Outcome, split_failure};
use crate::jobs::errors::JobErrors;
use crate::jobs::job::{Begun, Job, JobKind};
use crate::jobs::running::Stop;
use crate::jobs::undo::ToUndo;
use crate::jobs::withdrawal::{Permitted, withdrawal};
use crate::name::record::{Record, State, Tombstone};
use crate::name::rewrite::{changed_ttls, changed_urls, check_changed_urls, is_host};
use crate::name::states::Name;
use crate::registry::Registry;

/// The maximum number of bytes of the texts of a job.
const MAX_JOB_TEXT: usize = handfast_api::limits::JOB_TEXT;

/// The number of names in one transaction.
const NAMES_PER_BATCH: usize = 500;

/// The result of a bulk change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkChanged {
    /// The job; `None` for a dry run.
    pub job: Option<Job>,
    /// The counts of its outcomes.
    pub counts: Counts,
    /// The number of names and authorities that an undone import had created: they stay.
    pub stay: u64,
}

/// A job that has started and waits to be run. Dropping it interrupts the job.
pub struct StartedJob {
    begun: Begun,
    /// The names that were rejected before it started, each with its line.
    refused: Vec<(u64, String)>,
}

impl StartedJob {
    /// The job as it is stored.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.begun.job
    }

    /// Detaches the job: no caller waits for it, and it stops at its next batch when the process
    /// ends.
    #[must_use]
    pub fn left_alone(self) -> Self {
        self.begun.entered.detach();
        self
    }
}

impl fmt::Debug for StartedJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StartedJob").field(self.job()).finish()
    }
}

/// The subject of one step.
pub(super) enum Task {
    /// A name, by its key.
    Key(String),
    /// A name in its original spelling.
    Id(String),
    /// The events of a job on a name.
    Events(ToUndo),
    /// A name that was rejected before the job started.
    Refused,
}

impl Task {
    /// The key of the name, if it is known before the step.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Events(undo) => undo.key.as_deref(),
            Self::Id(_) | Self::Refused => None,
        }
    }
}

impl Registry {
    /// Withdraws the names of a list.
    pub fn withdraw_all(
        &self,
        who: &Principal,
        ids: &[String],
        reason: &str,
        dry_run: bool,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        if dry_run {
            return self.plan_all(who, withdrawal(ids, reason), ids, report);
        }
        let started = self.start_withdrawal(who, ids, reason)?;
        self.finish_job(who, started, report)
    }

    /// Runs a bulk change, or resumes the same one if it was interrupted. `report` receives the
    /// outcome of each name.
    pub fn run_job(
        &self,
        who: &Principal,
        kind: JobKind,
        dry_run: bool,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        if dry_run {
            return self.plan_all(who, kind, &[], report);
        }
        let started = self.start_job(who, kind)?;
        self.finish_job(who, started, report)
    }

    /// Starts a bulk change, or resumes the same one if it was interrupted;
    /// [`finish_job`](Self::finish_job) runs it.
    pub fn start_job(&self, who: &Principal, kind: JobKind) -> Result<StartedJob, RegistryError> {
        self.may_run(who, &kind)?;
        let begun = self.begin_job(who, kind, &[])?;
        Ok(StartedJob {
            begun,
            refused: Vec::new(),
        })
    }

    /// Starts withdrawing the names of a list. Names that the principal may not change are rejected
    /// and not stored.
    pub fn start_withdrawal(
        &self,
        who: &Principal,
        ids: &[String],
        reason: &str,
    ) -> Result<StartedJob, RegistryError> {
        let Permitted { list, refused } = self.permitted(who, ids, reason)?;
        let begun = self.begin_job(who, withdrawal(ids, reason), &list)?;
        Ok(StartedJob { begun, refused })
    }

    /// Resumes an interrupted job, by its number.
    pub fn resume_job(&self, who: &Principal, number: u64) -> Result<StartedJob, RegistryError> {
        let begun = self.take_up(who, number)?;
        self.may_run(who, &begun.job.kind)?;
        Ok(StartedJob {
            begun,
            refused: Vec::new(),
        })
    }

    /// Runs a job to its end, or until it is told to stop.
    pub fn finish_job(
        &self,
        who: &Principal,
        started: StartedJob,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        let Begun {
            mut job,
            actor,
            entered,
            ..
        } = started.begun;
        self.report_refused(who, &started.refused, report)?;
        let runner = self.runner(who, actor);
        let events = self.events_to_undo(&job.kind, u64::MAX)?;
        let events = events.unwrap_or_default();
        match &job.kind {
            JobKind::Undo { .. } => entered
                .running_job
                .set_total(events.len().try_into().unwrap_or(0)),
            JobKind::Withdraw { count, .. } => entered.running_job.set_total(*count),
            _ => {}
        }
        let mut errors = JobErrors::of(self, job.number)?;
        let counts = loop {
            let tasks = self.next_tasks(&job, &events, &[])?;
            let stop = entered.running_job.stop();
            if tasks.is_empty() || stop.is_some() {
                let counts = job.counts;
                if !tasks.is_empty() && stop == Some(Stop::Pause) {
                    break counts;
                }
                job.is_cancelled = !tasks.is_empty();
                job = self.end_job(job)?;
                break counts;
            }
            let (runner, before) = (runner.at(self.time()), job);
            let mut stored = errors;
            let (after, outcomes, stored) = self.load(move |loading| {
                let mut job = before;
                let from = crate::log::tree::read(&loading.snapshot())?.size() + 1;
                let mut outcomes = Vec::new();
                for (line, task) in (job.done + 1..).zip(&tasks) {
                    if matches!(task, Task::Refused) {
                        continue;
                    }
                    let mut id = None;
                    let decide =
                        |change_set: &mut ChangeSet<'_>| change_set.step(&job.kind, task, &mut id);
                    let done = runner.decide(loading, decide)?;
                    outcomes.push(outcome(line, task, id.as_deref(), done));
                }
                let to = crate::log::tree::read(&loading.snapshot())?.size() + 1;
                job.add_events(from, to);
                job.advance(&tasks, &outcomes);
                for outcome in &outcomes {
                    stored.add(outcome);
                }
                stored.take().put(loading)?;
                loading.apply(&job.to_write()?)?;
                Ok((job, outcomes, stored))
            })?;
            (job, errors) = (after, stored);
            entered.running_job.at(job.done, job.counts);
            outcomes.iter().for_each(&mut *report);
        };
        let stay = self.created_by_undone(&job.kind)?;
        Ok(BulkChanged {
            job: Some(job),
            counts,
            stay,
        })
    }

    /// Runs all of it without changing anything.
    fn plan_all(
        &self,
        who: &Principal,
        kind: JobKind,
        list: &[String],
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        self.may_run(who, &kind)?;
        let mut job = Job::planned(who, kind);
        let runner = self.runner(who, [0; 16]);
        let events = self.events_to_undo(&job.kind, u64::MAX)?;
        let events = events.unwrap_or_default();
        let mut met = HashSet::new();
        loop {
            let tasks = self.next_tasks(&job, &events, list)?;
            if tasks.is_empty() {
                break;
            }
            let outcomes = self.plan(&runner, &job, &tasks, &mut met)?;
            job.advance(&tasks, &outcomes);
            outcomes.iter().for_each(&mut *report);
        }
        Ok(BulkChanged {
            job: None,
            counts: job.counts,
            stay: self.created_by_undone(&job.kind)?,
        })
    }

    /// The loader that runs the steps of a job for a principal.
    pub(crate) fn runner(&self, who: &Principal, actor: [u8; 16]) -> Loader {
        Loader {
            rules: Arc::clone(&self.rules),
            administrators: self.administrators(),
            who: who.clone(),
            context: ImportContext {
                time: self.time(),
                actor,
                node: 1,
                random: self.random(),
            },
            conflicts: ConflictPolicy {
                update: true,
                since: u64::MAX,
                lists_changes: false,
            },
            tells_all: true,
            job: None,
        }
    }

    /// Checks that a principal may start a job at all; each name is checked again.
    pub(super) fn may_run(&self, who: &Principal, kind: &JobKind) -> Result<(), RegistryError> {
        match kind {
            JobKind::Import { .. } => {
                let problem = "to resume an import, run it again";
                Err(RegistryError::policy("not-a-change", problem))
            }
            JobKind::ReplaceUrl {
                from,
                to,
                is_host: true,
                ..
            } if !is_host(from) || !is_host(to) => {
                let problem = "a host is a name such as old.example.org, with or without :PORT";
                Err(RegistryError::policy("bad-host", problem))
            }
            JobKind::ReplaceUrl { .. } | JobKind::SetTtl { .. }
                if kind.text_bytes() > MAX_JOB_TEXT =>
            {
                let problem = format!("the texts of a job have at most {MAX_JOB_TEXT} bytes");
                Err(RegistryError::policy("too-large", problem))
            }
            JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
                self.read(|view| {
                    let path = view.path(authority)?;
                    view.existing_authority(&path)?;
                    view.need(who, Role::Write, &path)
                })
            }
            JobKind::Undo { job } => self.may_undo(who, *job),
            JobKind::Withdraw { .. } => Ok(()),
        }
    }

    pub(super) fn next_tasks(
        &self,
        job: &Job,
        events: &[ToUndo],
        list: &[String],
    ) -> Result<Vec<Task>, RegistryError> {
        let done = usize::try_from(job.done).unwrap_or(usize::MAX);
        match &job.kind {
            JobKind::Undo { .. } => {
                let next = events.iter().skip(done).take(NAMES_PER_BATCH);
                Ok(next.cloned().map(Task::Events).collect())
            }
            // A dry run has no stored list, only the given one.
            JobKind::Withdraw { .. } if job.number == 0 => {
                let next = list.iter().skip(done).take(NAMES_PER_BATCH);
                Ok(next.cloned().map(Task::Id).collect())
            }
            JobKind::Withdraw { .. } => {
                let next = self.read(|view| view.listed(job.number, job.done))?;
                let task = |id: String| match id.as_str() {
                    "" => Task::Refused,
                    _ => Task::Id(id),
                };
                Ok(next.into_iter().map(task).collect())
            }
            JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
                let cursor = job.cursor.as_deref();
                self.read(|view| next_keys(view, &job.who, authority, cursor))
            }
            JobKind::Import { .. } => Ok(Vec::new()),
        }
    }

    /// The names of a dry run. A list may contain a name twice, but it would be changed once.
    fn plan(
        &self,
        runner: &Loader,
        job: &Job,
        tasks: &[Task],
        met: &mut HashSet<String>,
    ) -> Result<Vec<Outcome>, RegistryError> {
        self.read(|view| {
            let mut outcomes = Vec::new();
            for (line, task) in (job.done + 1..).zip(tasks) {
                let mut change_set = ChangeSet::begin(runner.view(view.now), runner.call())?;
                let mut found = None;
                let done = split_failure(change_set.step(&job.kind, task, &mut found))?;
                let done = done.and_then(|(done, id)| {
                    if matches!(task, Task::Id(_)) && !met.insert(id.clone()) {
                        return Err(RegistryError::State {
                            id,
                            state: State::Withdrawn.as_str(),
                            way_out: "nothing is left to do",
                        });
                    }
                    Ok((done, id))
                });
                outcomes.push(outcome(line, task, found.as_deref(), done).planned());
            }
            Ok(outcomes)
        })
    }
}

/// The next names under an authority and below it, after a key, of those authorities on which a
/// principal has a role.
fn next_keys(
    view: &View<'_>,
    who: &Principal,
    authority: &str,
    cursor: Option<&str>,
) -> Result<Vec<Task>, RegistryError> {
    let path = view.path(authority)?;
    let start = path.key();
    let mut tasks = Vec::new();
    let mut is_theirs: HashMap<String, bool> = HashMap::new();
    let from = TableKey::record(cursor.unwrap_or(start).as_bytes());
    view.scan_while(&from, |table_key, bytes| {
        let key = String::from_utf8_lossy(table_key.name());
        if !key.starts_with(start) || tasks.len() == NAMES_PER_BATCH {
            return Ok(false);
        }
        let authority = Record::authority_in(bytes);
        let Some(authority) = authority.filter(|authority| path.is_above(authority)) else {
            return Ok(true);
        };
        let known = is_theirs.get(authority).copied();
        let may_read = known.map_or_else(|| view.may_read_under(who, authority), Ok)?;
        if known.is_none() {
            is_theirs.insert(authority.to_string(), may_read);
        }
        if may_read && Some(&*key) != cursor {
            tasks.push(Task::Key(key.into_owned()));
        }
        Ok(true)
    })?;
    Ok(tasks)
}

impl View<'_> {
    /// Whether a principal may see all names of an authority, by its key. Rights follow the creator
    /// of an authority: another organisation may have one whose path stands below.
    fn may_read_under(&self, who: &Principal, authority: &str) -> Result<bool, RegistryError> {
        match self.authority_by_key(authority)? {
            Some(authority) => Ok(self.role(who, &authority.path)? >= Some(Role::Read)),
            None => Ok(false),
        }
    }
}

/// The outcome for a name; `found` is its text, if it was found.
pub(super) fn outcome(
    number: u64,
    task: &Task,
    found: Option<&str>,
    done: Result<(Done, String), RegistryError>,
) -> Outcome {
    // Only a list has line numbers.
    let line = match task {
        Task::Id(_) => number,
        Task::Events(_) | Task::Key(_) | Task::Refused => 0,
    };
    match done {
        Ok((done, id)) => Outcome::of(line, id, Ok(done)),
        Err(error) => {
            let id = match task {
                Task::Id(id) => Some(id.as_str()),
                Task::Key(key) => Some(found.unwrap_or(without_tag(key))),
                Task::Events(undo) => {
                    let key = undo.key.as_deref().map(without_tag);
                    found.or(key)
                }
                Task::Refused => None,
            };
            Outcome::refused(line, id, &error)
        }
    }
}

/// The key of a handle without its scheme.
fn without_tag(key: &str) -> &str {
    key.strip_prefix("hdl:").unwrap_or(key)
}

impl Job {
    /// A job for a dry run.
    pub(crate) fn planned(who: &Principal, kind: JobKind) -> Self {
        Self {
            number: 0,
            kind,
            who: who.clone(),
            started: 0,
            ended: None,
            first_event: 0,
            events: Vec::new(),
            done: 0,
            cursor: None,
            seen: [0; 32],
            counts: Counts::default(),
            is_cancelled: false,
        }
    }

    pub(super) fn advance(&mut self, tasks: &[Task], outcomes: &[Outcome]) {
        self.done += u64::try_from(tasks.len()).unwrap_or(0);
        if let Some(Task::Key(key)) = tasks.last() {
            self.cursor = Some(key.clone());
        }
        for outcome in outcomes {
            self.counts.add(&outcome.done);
        }
    }
}

impl ChangeSet<'_> {
    /// Applies a job to one name; also returns the name, and sets `found` to it as soon as it is
    /// found.
    pub(super) fn step(
        &mut self,
        kind: &JobKind,
        task: &Task,
        found: &mut Option<String>,
    ) -> Result<(Done, String), RegistryError> {
        let mut name = match task {
            Task::Id(id) => self.find(id)?,
            Task::Key(key) => self.find_key(key)?,
            Task::Events(undo) => return self.undo_changes(undo, found),
            Task::Refused => {
                return Err(RegistryError::policy("not-found", "the name was refused"));
            }
        };
        let id = name.record.text.clone();
        *found = Some(id.clone());
        let old = name.record.clone();
        let values = match kind {
            JobKind::ReplaceUrl {
                from, to, is_host, ..
            } => changed_urls(&old, from, to, *is_host),
            JobKind::SetTtl {
                value_type,
                seconds,
                ..
            } => changed_ttls(&old, value_type.as_deref(), *seconds),
            JobKind::Withdraw { reason, .. } => {
                let tombstone = Tombstone {
                    reason: reason.clone(),
                    date: self.time(),
                    successor: None,
                };
                let action = name.withdraw(self, tombstone)?;
                let event = self.store_name(&old, name, action);
                return Ok((Done::Changed(Some(event)), id));
            }
            JobKind::Import { .. } | JobKind::Undo { .. } => None,
        };
        // A withdrawn name stays unchanged.
        let Some(values) = values.filter(|_| old.state != State::Withdrawn) else {
            return Ok((Done::Unchanged, id));
        };
        if matches!(kind, JobKind::ReplaceUrl { .. }) {
            check_changed_urls(&old, &values)?;
        }
        let action = name.edit(self, values)?;
        let event = self.store_name(&old, name, action);
        Ok((Done::Changed(Some(event)), id))
    }

    /// A stored name, by its key.
    pub(super) fn find_key(&self, key: &str) -> Result<Name, RegistryError> {
        let not_found = || RegistryError::NotFound(key.to_string());
        let record = self.record(key)?.ok_or_else(not_found)?;
        let authority = self.authority_by_key(&record.authority)?;
        let authority = authority.ok_or_else(not_found)?;
        if record.state == State::Reserved && !self.may_see(self.who(), &authority.path, &record)? {
            return Err(not_found());
        }
        Ok(Name {
            key: key.to_string(),
            authority,
            record,
        })
    }
}
