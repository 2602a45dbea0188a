//! Quotas: how much one account may have open and stored.
//!
//! An account without any role can still request authorities and start jobs. Both are stored, so
//! both are counted by account. The operator and administrators have no quotas.

use std::collections::HashMap;
use std::ops::ControlFlow;

use handfast_store::{Table, TableKey};

use crate::access::principal::Principal;
use crate::authority::create::NewAuthority;
use crate::authority::policy::{Authority, AuthorityStatus};
use crate::error::RegistryError;
use crate::jobs::job::Job;
use crate::registry::{Registry, locked};

/// The limits for one account.
///
/// ```
/// use handfast_registry::Limits;
///
/// let strict = Limits { open_jobs: 1, ..Limits::default() };
/// assert!(strict.jobs_per_day > strict.open_jobs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that an account may start in 24 hours.
    pub jobs_per_day: u64,
    /// Jobs of an account that wait, run or were interrupted.
    pub open_jobs: u64,
    /// Authorities that an account has requested and nobody has decided on. Requests that it took
    /// back count for 24 hours.
    pub requested_authorities: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            jobs_per_day: 500,
            open_jobs: 20,
            requested_authorities: 5,
        }
    }
}

/// A day, in milliseconds.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// After how many seconds an account with too many open jobs may see one of them ended.
const OPEN_JOBS_RETRY: u64 = 60;

/// The maximum length of title, meaning, contact and path of a requested authority, in bytes.
const MAX_REQUEST_TEXT: usize = 1_000;

/// How many authorities each account has requested, in a version of the prefixes.
#[derive(Default)]
pub(crate) struct OpenRequests {
    version: u64,
    by_account: HashMap<String, u64>,
    /// When accounts took their own requests back, in the last day. The events of a request stay in
    /// the store, so that an account could write any number of them by asking and taking back.
    withdrawn: HashMap<String, Vec<u64>>,
}

/// Counts of the jobs of one account.
#[derive(Default)]
pub(crate) struct JobsOfAccount {
    /// How many have not ended.
    open: u64,
    /// When the jobs of the last day started, oldest first.
    recent: Vec<u64>,
    /// The numbers of its ended jobs, oldest first.
    ended: Vec<u64>,
}

/// Old jobs of an account that are pruned when a new one starts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OldJobs {
    /// Jobs to delete.
    pub(crate) forgotten: Vec<u64>,
    /// Jobs whose errors are deleted.
    pub(crate) without_outcomes: Vec<u64>,
}

/// The maximum number of stored ended jobs of an account, unless it may start more in a day.
const MAX_STORED_JOBS: usize = 1_000;

/// The maximum number of jobs of an account whose errors are stored.
const MAX_JOBS_WITH_OUTCOMES: usize = 10;

/// The maximum number of old jobs that are deleted when a new one starts.
const MAX_PRUNED_AT_ONCE: usize = 20;

impl OpenRequests {
    /// When an account took requests back in the last day, oldest first.
    fn withdrawn_since(&self, who: &Principal, now: u64) -> Vec<u64> {
        let times = self.withdrawn.get(&who.key());
        let recent = |at: &&u64| at.saturating_add(DAY_MS) > now;
        times
            .into_iter()
            .flatten()
            .filter(recent)
            .copied()
            .collect()
    }
}

impl JobsOfAccount {
    pub(crate) fn add(&mut self, job: &Job, now: u64) {
        if job.ended.is_none() {
            self.open += 1;
        } else {
            self.ended.push(job.number);
        }
        if job.started.saturating_add(DAY_MS) > now {
            self.recent.push(job.started);
        }
    }

    /// The jobs to prune when another one starts.
    pub(crate) fn old(&self, limits: &Limits) -> OldJobs {
        let per_day = usize::try_from(limits.jobs_per_day).unwrap_or(usize::MAX);
        let stored = MAX_STORED_JOBS.max(per_day);
        let newest_first = || self.ended.iter().rev().copied();
        let mut forgotten: Vec<_> = newest_first().skip(stored - 1).collect();
        forgotten.reverse();
        forgotten.truncate(MAX_PRUNED_AT_ONCE);
        // One more leaves the list each time.
        let without_outcomes = newest_first().skip(MAX_JOBS_WITH_OUTCOMES - 1).take(1);
        OldJobs {
            forgotten,
            without_outcomes: without_outcomes.collect(),
        }
    }

    /// Checks that the account may start another job.
    pub(crate) fn check(&self, limits: &Limits, now: u64) -> Result<(), RegistryError> {
        if self.open >= limits.open_jobs {
            let open = limits.open_jobs;
            let problem = format!(
                "an account has at most {open} jobs that have not ended: wait for them, or cancel \
                 some; the operator sets this with `open-jobs` in `[limits]` of handfast.toml"
            );
            return Err(RegistryError::quota(problem, Some(OPEN_JOBS_RETRY)));
        }
        let count = u64::try_from(self.recent.len()).unwrap_or(u64::MAX);
        if count >= limits.jobs_per_day {
            let limit = limits.jobs_per_day;
            let problem = format!(
                "an account starts at most {limit} jobs in 24 hours: wait, or send more names in \
                 each; the operator sets this with `jobs-per-day` in `[limits]` of handfast.toml"
            );
            let oldest = self.recent.iter().min().copied().unwrap_or(now);
            let wait = oldest.saturating_add(DAY_MS).saturating_sub(now) / 1_000 + 1;
            return Err(RegistryError::quota(problem, Some(wait)));
        }
        Ok(())
    }
}

impl Registry {
    /// Replaces the default quotas.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Checks that a principal may request one more authority.
    pub(crate) fn check_request(
        &self,
        who: &Principal,
        path: &str,
        new: &NewAuthority,
    ) -> Result<(), RegistryError> {
        if self.is_administrator(who)? {
            return Ok(());
        }
        let texts = [path, &new.title, &new.meaning, &new.contact];
        if texts.iter().any(|text| text.len() > MAX_REQUEST_TEXT) {
            let problem = format!(
                "path, title, meaning and contact of an authority that is asked for have at most \
                 {MAX_REQUEST_TEXT} bytes each; more can be said when it is approved"
            );
            return Err(RegistryError::policy("too-large", problem));
        }
        let limit = self.limits.requested_authorities;
        let now = self.time();
        let (open, withdrawn) = self.open_requests(|open| {
            let count = open.by_account.get(&who.key()).copied();
            (count.unwrap_or_default(), open.withdrawn_since(who, now))
        })?;
        let count = u64::try_from(withdrawn.len()).unwrap_or(u64::MAX);
        if open.saturating_add(count) < limit {
            return Ok(());
        }
        let problem = format!(
            "an account has at most {limit} open requests for authorities, and one that it took \
             back counts for 24 hours: wait until one is decided; the operator sets this with \
             `requested-authorities` in `[limits]` of handfast.toml"
        );
        let first = withdrawn.first().copied();
        let wait = first.map(|at| at.saturating_add(DAY_MS).saturating_sub(now) / 1_000 + 1);
        Err(RegistryError::quota(problem, wait))
    }

    /// The number of open requests for authorities.
    pub fn requested_authorities(&self) -> Result<u64, RegistryError> {
        self.open_requests(|open| open.by_account.values().sum())
    }

    /// Reads the number of open requests of each account. It counts all authorities again only
    /// after one has changed, so that rejected requests cost nothing.
    fn open_requests<T>(&self, read: impl FnOnce(&OpenRequests) -> T) -> Result<T, RegistryError> {
        let version = self.prefixes.version();
        let mut open = locked(&self.open_requests);
        if open.version != version {
            let mut by_account = HashMap::new();
            self.visit_authorities(None, &mut |authority| {
                if let AuthorityStatus::Requested { by } = authority.status {
                    *by_account.entry(by.key()).or_default() += 1;
                }
                ControlFlow::Continue(())
            })?;
            open.version = version;
            open.by_account = by_account;
        }
        Ok(read(&open))
    }

    /// Remembers that an account took back a request of its own.
    pub(crate) fn count_withdrawn_request(&self, who: &Principal) {
        let now = self.time();
        let mut open = locked(&self.open_requests);
        open.withdrawn.retain(|_, times| {
            times.retain(|at| at.saturating_add(DAY_MS) > now);
            !times.is_empty()
        });
        open.withdrawn.entry(who.key()).or_default().push(now);
    }

    /// Visits authorities one by one in the order of their keys, after a key, with their grants;
    /// open requests, too.
    pub fn visit_authorities(
        &self,
        after: Option<&str>,
        visit: &mut dyn FnMut(Authority) -> ControlFlow<()>,
    ) -> Result<(), RegistryError> {
        let from = TableKey::named(Table::Authorities, after.unwrap_or_default().as_bytes());
        self.read(|view| {
            view.scan_while(&from, |table_key, bytes| {
                if after.is_some_and(|after| after.as_bytes() == table_key.name()) {
                    return Ok(true);
                }
                let key = String::from_utf8_lossy(table_key.name());
                let corrupt = |_| RegistryError::corrupt(format!("authorities {key}"));
                Ok(visit(postcard::from_bytes(bytes).map_err(corrupt)?).is_continue())
            })
        })
    }
}
