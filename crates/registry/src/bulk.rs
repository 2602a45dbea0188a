//! Changing many names at once, as a job: one event a name, some hundreds of names in a transaction with
//! how far the job has come, and the whole of it can be undone.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use handfast_store::Place;
use handfast_wire::{Ttl, Value, type_matches};
use sha2::{Digest, Sha256};

use crate::authority::Role;
use crate::draft::Draft;
use crate::event::Subject;
use crate::import::{Counts, Done, Loader, Outcome, Stamp, Taking, judged};
use crate::job::{Job, JobKind};
use crate::name::Name;
use crate::principal::Principal;
use crate::record::{Record, State, Tombstone};
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::view::View;

/// How many names share a transaction.
const TOGETHER: usize = 500;

/// What came of a bulk change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkChanged {
    /// The job; `None` if nothing was done.
    pub job: Option<Job>,
    /// What came of the names.
    pub counts: Counts,
}

/// What one step is about.
enum Task {
    /// A name, by its key.
    Key(String),
    /// A name as someone wrote it.
    Id(String),
    /// What an event did, to the name of a key.
    Event(u64, Option<String>),
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
    ) -> Result<BulkChanged, Refusal> {
        let mut hash = Sha256::new();
        for id in ids {
            hash.update(id);
            hash.update([0]);
        }
        let kind = JobKind::Withdraw {
            count: u64::try_from(ids.len()).unwrap_or(u64::MAX),
            fingerprint: hash.finalize().into(),
            reason: reason.to_string(),
        };
        self.run_list(who, kind, ids, dry_run, report)
    }

    /// Runs a bulk change, or goes on with the same one that was cut short. `report` is told what becomes
    /// of each name.
    pub fn run_job(
        &self,
        who: &Principal,
        kind: JobKind,
        dry_run: bool,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, Refusal> {
        self.run_list(who, kind, &[], dry_run, report)
    }

    fn run_list(
        &self,
        who: &Principal,
        kind: JobKind,
        list: &[String],
        dry_run: bool,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, Refusal> {
        self.may_run(who, &kind)?;
        let (mut job, actor) = if dry_run {
            (Job::planned(who, kind), [0; 16])
        } else {
            self.begin_job(who, kind, list)?
        };
        let mut random = [0; 32];
        self.random(&mut random);
        let runner = Loader {
            rules: Arc::clone(&self.rules),
            who: who.clone(),
            stamp: Stamp {
                time: self.now(),
                actor,
                node: 1,
                random,
            },
            taking: Taking {
                update: true,
                since: u64::MAX,
            },
            tells_all: true,
        };
        let events = self.events_to_undo(&job.kind)?;
        let mut met = HashSet::new();
        loop {
            let tasks = self.next_tasks(&job, &events, list)?;
            if tasks.is_empty() {
                break;
            }
            let outcomes = if dry_run {
                let outcomes = self.plan(&runner, &job, &tasks, &mut met)?;
                job.advance(&tasks, &outcomes);
                outcomes
            } else {
                let (runner, before) = (runner.clone(), job);
                let (after, outcomes) = self.load(move |loading| {
                    let mut job = before;
                    let from = crate::tree::read(&loading.snapshot())?.size() + 1;
                    let mut outcomes = Vec::new();
                    for (line, task) in (job.done + 1..).zip(&tasks) {
                        let done = runner.decide(loading, |draft| draft.step(&job.kind, task))?;
                        outcomes.push(outcome(line, task, done));
                    }
                    let to = crate::tree::read(&loading.snapshot())?.size() + 1;
                    job.add_events(from, to);
                    job.advance(&tasks, &outcomes);
                    loading.apply(&job.to_write()?)?;
                    Ok((job, outcomes))
                })?;
                job = after;
                outcomes
            };
            outcomes.iter().for_each(&mut *report);
        }
        let counts = job.counts;
        let job = if dry_run {
            None
        } else {
            Some(self.end_job(job)?)
        };
        Ok(BulkChanged { job, counts })
    }

    /// Whether someone may begin a job at all; each name is looked at again.
    fn may_run(&self, who: &Principal, kind: &JobKind) -> Result<(), Refusal> {
        match kind {
            JobKind::Import { .. } => {
                let problem = "an import is gone on with by running it again";
                Err(Refusal::policy("not-a-change", problem))
            }
            JobKind::ReplaceUrl {
                from,
                to,
                is_host: true,
                ..
            } if !is_host(from) || !is_host(to) => {
                let problem = "a host is a name such as old.example.org, with or without :PORT";
                Err(Refusal::policy("bad-host", problem))
            }
            JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
                self.read(|view| {
                    let path = view.path(authority)?;
                    view.kept(&path)?;
                    view.need(who, Role::Write, &path)
                })
            }
            JobKind::Undo { job } => self.may_undo(who, *job),
            JobKind::Withdraw { .. } => Ok(()),
        }
    }

    fn may_undo(&self, who: &Principal, job: u64) -> Result<(), Refusal> {
        let (jobs, undone) = (self.jobs()?, self.job(job)?);
        if *who != Principal::Operator && undone.who != *who {
            let problem = "only who ran a job, and the operator, undo all of it";
            return Err(Refusal::policy("operator-only", problem));
        }
        if matches!(undone.kind, JobKind::Import { .. }) {
            let problem = "an import gives names, and names that were given stay: withdraw them";
            return Err(Refusal::policy("cannot-undo", problem));
        }
        // One of which not everything could be undone can be tried again.
        let mut later = jobs
            .iter()
            .filter(|later| later.ended.is_some() && later.counts.refused == 0);
        match later.find(|later| later.kind == JobKind::Undo { job }) {
            Some(later) => {
                let problem = format!("job {job} was undone by job {}", later.number);
                Err(Refusal::policy("undone", problem))
            }
            None => Ok(()),
        }
    }

    /// The events that a job is to undo, last first, each with the key of its name.
    fn events_to_undo(&self, kind: &JobKind) -> Result<Vec<(u64, Option<String>)>, Refusal> {
        let JobKind::Undo { job } = kind else {
            return Ok(Vec::new());
        };
        let job = self.job(*job)?;
        self.read(|view| {
            let mut events = Vec::new();
            let mut hidden = HashMap::new();
            for number in job.events.iter().flat_map(|(from, to)| *from..=*to) {
                let key = match view.event(number)?.map(|event| event.subject) {
                    Some(Subject::Open(key) | Subject::Opened { key, .. }) => Some(key),
                    Some(Subject::Hidden(commitment)) => {
                        hidden.insert(commitment, events.len());
                        None
                    }
                    Some(Subject::None) | None => continue,
                };
                events.push((number, key));
            }
            find_hidden(view, &hidden, &mut events)?;
            events.reverse();
            Ok(events)
        })
    }

    fn next_tasks(
        &self,
        job: &Job,
        events: &[(u64, Option<String>)],
        list: &[String],
    ) -> Result<Vec<Task>, Refusal> {
        let done = usize::try_from(job.done).unwrap_or(usize::MAX);
        match &job.kind {
            JobKind::Undo { .. } => {
                let next = events.iter().skip(done).take(TOGETHER);
                Ok(next
                    .map(|(number, key)| Task::Event(*number, key.clone()))
                    .collect())
            }
            // One that is only looked at has no list but the one that is given.
            JobKind::Withdraw { .. } if job.number == 0 => {
                let next = list.iter().skip(done).take(TOGETHER);
                Ok(next.cloned().map(Task::Id).collect())
            }
            JobKind::Withdraw { .. } => {
                let next = self.read(|view| view.listed(job.number, job.done))?;
                Ok(next.into_iter().map(Task::Id).collect())
            }
            JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
                self.read(|view| next_keys(view, authority, job.cursor.as_deref()))
            }
            JobKind::Import { .. } => Ok(Vec::new()),
        }
    }

    /// What would be done. A list may have a name twice, which would be done once.
    fn plan(
        &self,
        runner: &Loader,
        job: &Job,
        tasks: &[Task],
        met: &mut HashSet<String>,
    ) -> Result<Vec<Outcome>, Refusal> {
        self.read(|view| {
            let mut outcomes = Vec::new();
            for (line, task) in (job.done + 1..).zip(tasks) {
                let view = View::new(view.now, &self.rules);
                let mut draft = Draft::begin(view, runner.call())?;
                let done = judged(draft.step(&job.kind, task))?;
                let done = done.and_then(|(done, id)| {
                    if matches!(task, Task::Id(_)) && !met.insert(id.clone()) {
                        return Err(Refusal::State {
                            id,
                            state: State::Withdrawn.as_str(),
                            way_out: "nothing is left to do",
                        });
                    }
                    Ok((done, id))
                });
                outcomes.push(outcome(line, task, done));
            }
            Ok(outcomes)
        })
    }
}

/// Names that may be erased do not stand in their events: they are found by trying.
fn find_hidden(
    view: &View<'_>,
    hidden: &HashMap<[u8; 32], usize>,
    events: &mut [(u64, Option<String>)],
) -> Result<(), Refusal> {
    if hidden.is_empty() {
        return Ok(());
    }
    view.now.scan(&Place::record(b""), &mut |place, bytes| {
        let key = String::from_utf8_lossy(place.name());
        let salt = Record::from_bytes(bytes)
            .ok()
            .and_then(|record| record.salt);
        if let Some(salt) = salt
            && let Subject::Hidden(commitment) = Subject::hide(&key, &salt)
            && let Some(event) = hidden.get(&commitment).and_then(|at| events.get_mut(*at))
        {
            event.1 = Some(key.into_owned());
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// The next names under an authority and below it, behind a key.
fn next_keys(view: &View<'_>, authority: &str, cursor: Option<&str>) -> Result<Vec<Task>, Refusal> {
    let path = view.path(authority)?;
    let start = path.key();
    let mut tasks = Vec::new();
    let from = Place::record(cursor.unwrap_or(start).as_bytes());
    view.now.scan(&from, &mut |place, bytes| {
        let key = String::from_utf8_lossy(place.name());
        if !key.starts_with(start) || tasks.len() == TOGETHER {
            return ControlFlow::Break(());
        }
        let authority = Record::authority_in(bytes);
        let is_under = authority.is_some_and(|authority| path.is_above(authority));
        if is_under && Some(&*key) != cursor {
            tasks.push(Task::Key(key.into_owned()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(tasks)
}

fn outcome(line: u64, task: &Task, done: Result<(Done, String), Refusal>) -> Outcome {
    match done {
        Ok((done, id)) => Outcome::of(line, id, Ok(done)),
        Err(refusal) => {
            let id = match task {
                Task::Id(id) => Some(id.as_str()),
                Task::Key(key) => Some(without_tag(key)),
                Task::Event(_, key) => key.as_deref().map(without_tag),
            };
            Outcome::refused(line, id, &refusal)
        }
    }
}

/// A key of a handle as people know handles.
fn without_tag(key: &str) -> &str {
    key.strip_prefix("hdl:").unwrap_or(key)
}

impl Job {
    /// A job that is only looked at.
    fn planned(who: &Principal, kind: JobKind) -> Self {
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
        }
    }

    fn advance(&mut self, tasks: &[Task], outcomes: &[Outcome]) {
        self.done += u64::try_from(tasks.len()).unwrap_or(0);
        if let Some(Task::Key(key)) = tasks.last() {
            self.cursor = Some(key.clone());
        }
        for outcome in outcomes {
            self.counts.add(&outcome.done);
        }
    }
}

impl Draft<'_> {
    /// Does to one name what a job does to all; also gives the name.
    fn step(&mut self, kind: &JobKind, task: &Task) -> Result<(Done, String), Refusal> {
        let mut name = match task {
            Task::Id(id) => self.find(id)?,
            Task::Key(key) | Task::Event(_, Some(key)) => self.find_key(key)?,
            Task::Event(number, None) => {
                let problem = format!("the name of event {number} is not there any more");
                return Err(Refusal::policy("not-found", problem));
            }
        };
        let id = name.record.text.clone();
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
                return Ok((Done::Changed(self.keep_name(&old, name, action)), id));
            }
            JobKind::Undo { .. } => {
                let event = match task {
                    Task::Event(number, _) => Some(*number),
                    Task::Id(_) | Task::Key(_) => None,
                };
                return Ok((Done::Changed(self.undo(name, event)?), id));
            }
            JobKind::Import { .. } => None,
        };
        // What is withdrawn stays as it was.
        let Some(values) = values.filter(|_| old.state != State::Withdrawn) else {
            return Ok((Done::Unchanged, id));
        };
        let action = name.edit(self, values)?;
        Ok((Done::Changed(self.keep_name(&old, name, action)), id))
    }

    /// A name that is kept, by its key.
    fn find_key(&self, key: &str) -> Result<Name, Refusal> {
        let not_found = || Refusal::NotFound(key.to_string());
        let record = self.record(key)?.ok_or_else(not_found)?;
        let authority = self.authority_by_key(&record.authority)?;
        Ok(Name {
            key: key.to_string(),
            authority: authority.ok_or_else(not_found)?,
            record,
        })
    }
}

/// The values with other URLs; `None` if none of them is meant.
fn changed_urls(old: &Record, from: &str, to: &str, is_host: bool) -> Option<Vec<Value<'static>>> {
    let mut is_changed = false;
    let mut values = old.values.clone();
    for value in &mut values {
        if !value.value_type.eq_ignore_ascii_case("URL") {
            continue;
        }
        let Ok(url) = std::str::from_utf8(&value.data) else {
            continue;
        };
        let changed = if is_host {
            with_host(url, from, to)
        } else {
            url.strip_prefix(from).map(|rest| format!("{to}{rest}"))
        };
        if let Some(changed) = changed.filter(|changed| changed != url) {
            value.data = changed.into_bytes().into();
            value.timestamp = 0;
            is_changed = true;
        }
    }
    is_changed.then_some(values)
}

/// Whether a text is a host, with or without a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !text.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let inside = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_name = match inside {
        Some(address) => address
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || b == b':' || b == b'.'),
        None => name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')),
    };
    !name.is_empty() && is_name && port.is_none_or(is_port)
}

/// A URL at another host, if it is at `from`. A port in either must be meant too.
fn with_host(url: &str, from: &str, to: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at_checked(end)?;
    let (user, host) = match place.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), place),
    };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    };
    if host.eq_ignore_ascii_case(from) {
        return Some(format!("{scheme}://{user}{to}{path}"));
    }
    // A port stays where only the name is meant.
    let port = port.filter(|_| name.eq_ignore_ascii_case(from))?;
    Some(format!("{scheme}://{user}{to}:{port}{path}"))
}

/// The values with another TTL; `None` if they have it.
fn changed_ttls(
    old: &Record,
    value_type: Option<&str>,
    seconds: u32,
) -> Option<Vec<Value<'static>>> {
    let ttl = Ttl::Relative(seconds);
    let mut is_changed = false;
    let mut values = old.values.clone();
    for value in &mut values {
        let is_meant = value_type.is_none_or(|wanted| type_matches(&value.value_type, wanted));
        if is_meant && value.ttl != ttl {
            value.ttl = ttl;
            value.timestamp = 0;
            is_changed = true;
        }
    }
    is_changed.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_other_texts() {
        for host in [
            "old.example",
            "localhost:8000",
            "[2001:db8::1]",
            "[::1]:80",
            "bücher.example",
        ] {
            assert!(is_host(host), "{host}");
        }
        for other in [
            "",
            "a/b",
            "x@evil.org",
            "https://old.org",
            "a b",
            "a:",
            ":80",
            "a?x",
        ] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn a_host_is_replaced_and_nothing_else() {
        let change = |url| with_host(url, "old.example", "new.example");
        assert_eq!(
            change("https://OLD.example/old.example?x").as_deref(),
            Some("https://new.example/old.example?x")
        );
        assert_eq!(
            change("http://u@old.example:8080").as_deref(),
            Some("http://u@new.example:8080")
        );
        for other in [
            "https://sold.example/",
            "https://old.example.org/",
            "https://x/?old.example",
            "mailto:a@old.example",
        ] {
            assert_eq!(change(other), None, "{other}");
        }
        let moved = with_host("http://a:80/x", "a:80", "b");
        assert_eq!(moved.as_deref(), Some("http://b/x"));
    }
}
