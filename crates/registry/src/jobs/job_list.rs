//! Lists of jobs, newest first, and the jobs that run now.

use handfast_store::Table;

use crate::access::principal::Principal;
use crate::error::RegistryError;
use crate::jobs::access::JobPage;
use crate::jobs::job::Job;
use crate::jobs::running::Progress;
use crate::registry::Registry;

/// The maximum number of jobs that are looked at for one page.
const MAX_LOOKED_AT: u64 = 5_000;

impl Registry {
    /// Jobs that a principal may see, newest first, before the one of a number. The work is
    /// bounded: a page may have fewer jobs than `limit` and still have a next one.
    ///
    /// ```
    /// # use handfast_registry::{Environment, JobKind, NewAuthority, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// for seconds in [60, 120] {
    ///     let kind = JobKind::SetTtl { authority: "20.1".into(), value_type: None, seconds };
    ///     registry.run_job(&operator, kind, false, &mut |_| ())?;
    /// }
    /// let page = registry.latest_jobs(&operator, None, 1)?;
    /// assert_eq!((page.jobs[0].number, page.next), (2, Some(2)));
    /// assert_eq!(registry.latest_jobs(&operator, page.next, 1)?.jobs[0].number, 1);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn latest_jobs(
        &self,
        who: &Principal,
        before: Option<u64>,
        limit: usize,
    ) -> Result<JobPage, RegistryError> {
        self.read(|view| {
            let last = view.now.last_number(Table::Jobs)?.unwrap_or(0);
            let newest = before.map_or(last, |before| last.min(before.saturating_sub(1)));
            let mut page = JobPage::default();
            for (looked_at, number) in (0_u64..).zip((1..=newest).rev()) {
                if page.jobs.len() >= limit || looked_at >= MAX_LOOKED_AT {
                    page.next = Some(number.saturating_add(1));
                    break;
                }
                if let Some(job) = view.job(number)?
                    && view.may_see_job(who, &job)?
                {
                    page.jobs.push(job);
                }
            }
            Ok(page)
        })
    }

    /// Whether a principal may undo a job, and something is left to undo.
    #[must_use]
    pub fn may_undo_job(&self, who: &Principal, job: u64) -> bool {
        self.may_undo(who, job).is_ok()
    }

    /// The jobs that run in this process and that a principal may see, oldest first.
    pub fn jobs_in_progress(
        &self,
        who: &Principal,
        limit: usize,
    ) -> Result<Vec<(Job, Progress)>, RegistryError> {
        let mut running = Vec::new();
        for (number, progress) in self.running_progress() {
            if running.len() >= limit {
                break;
            }
            match self.job_of(who, number) {
                Ok(job) => running.push((job, progress)),
                Err(error) if error.is_failure() => return Err(error),
                // The job of another account, or one that was deleted in between.
                Err(_) => {}
            }
        }
        Ok(running)
    }
}
