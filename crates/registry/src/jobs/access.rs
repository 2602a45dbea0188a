//! Who may see which jobs, and listing jobs page by page.

use crate::access::principal::{Limit, Principal};
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::Done;
use crate::jobs::job::{Job, JobKind, no_job};
use crate::log::event::Event;
use crate::registry::Registry;

/// A page of jobs, oldest first.
#[derive(Clone, Debug, Default)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The `after` of the next page, if there is one.
    pub next: Option<u64>,
}

/// The maximum number of bytes of text of the jobs on one page, unless one alone has more.
const MAX_PAGE_BYTES: usize = 256 << 10;

/// The maximum depth of undos of undos that are followed to find the subject of a job.
const MAX_UNDOS: usize = 8;

impl Registry {
    /// Jobs that a principal may see, after the one of a number.
    pub fn jobs_page(
        &self,
        who: &Principal,
        after: u64,
        limit: usize,
    ) -> Result<JobPage, RegistryError> {
        self.read(|view| {
            let sees_all = view.may_do_all(who)?;
            let (mut page, mut bytes) = (JobPage::default(), 0);
            view.visit_jobs(after.saturating_add(1), |job| {
                if !sees_all && (job.who != *who || !view.may_see_own(who, &job)?) {
                    return Ok(true);
                }
                bytes += job.kind.text_bytes();
                let is_full = page.jobs.len() == limit || bytes > MAX_PAGE_BYTES;
                if is_full && !page.jobs.is_empty() {
                    page.next = page.jobs.last().map(|job| job.number);
                    return Ok(false);
                }
                page.jobs.push(job);
                Ok(true)
            })?;
            Ok(page)
        })
    }

    /// Whether a principal may see a job: it started the job, or may do everything. With a limited
    /// token, only a job that the token could have started.
    pub fn may_see_job(&self, who: &Principal, job: &Job) -> Result<bool, RegistryError> {
        self.read(|view| view.may_see_job(who, job))
    }

    /// A job, if a principal may see it.
    pub fn job_of(&self, who: &Principal, number: u64) -> Result<Job, RegistryError> {
        let job = self.job(number)?;
        if self.may_see_job(who, &job)? {
            return Ok(job);
        }
        Err(no_job(number))
    }
}

impl View<'_> {
    pub(super) fn may_see_job(&self, who: &Principal, job: &Job) -> Result<bool, RegistryError> {
        Ok(self.may_do_all(who)? || job.who == *who && self.may_see_own(who, job)?)
    }

    /// Whether the job belongs to the principal's account.
    fn may_see_own(&self, who: &Principal, job: &Job) -> Result<bool, RegistryError> {
        let Principal::Limited { limit, .. } = who else {
            return Ok(true);
        };
        if limit.role < Role::Write {
            return Ok(false);
        }
        self.is_within(who, limit, job, MAX_UNDOS)
    }

    fn is_within(
        &self,
        who: &Principal,
        limit: &Limit,
        job: &Job,
        undos: usize,
    ) -> Result<bool, RegistryError> {
        let may_write = |path: &AuthorityPath| Ok(self.role(who, path)? >= Some(Role::Write));
        match &job.kind {
            // An import checks each name when it applies it, and does not store its authorities.
            JobKind::Import { .. } => Ok(true),
            JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
                match self.path(authority) {
                    Ok(path) => may_write(&path),
                    Err(_) => Ok(false),
                }
            }
            _ if limit.authority.is_none() => Ok(true),
            JobKind::Undo { job } => match self.job(*job)? {
                Some(undone) if undos > 0 => self.is_within(who, limit, &undone, undos - 1),
                _ => Ok(false),
            },
            JobKind::Withdraw { .. } => match self.authority_of_list(job)? {
                Some(path) => may_write(&path),
                None => Ok(false),
            },
        }
    }

    /// The authority of the first name of a list: by the list, by the first event, or by the first
    /// error.
    fn authority_of_list(&self, job: &Job) -> Result<Option<AuthorityPath>, RegistryError> {
        let mut name = self
            .listed(job.number, 0)?
            .into_iter()
            .find(|id| !id.is_empty());
        if name.is_none()
            && let Some((first, _)) = job.events.first()
        {
            let authority = self.event(*first)?.map(|Event { authority, .. }| authority);
            let found = authority
                .map(|key| self.authority_by_key(&key))
                .transpose()?;
            return Ok(found.flatten().map(|authority| authority.path));
        }
        if name.is_none() {
            self.visit_errors(job.number, 0, |_, outcome| {
                name = outcome
                    .id
                    .filter(|_| matches!(outcome.done, Done::Refused { .. }));
                false
            })?;
        }
        let identifier = name.as_deref().map(|id| self.identify_registered(id));
        Ok(match identifier {
            Some(Ok(identifier)) => Some(AuthorityPath::of(&identifier, self)),
            _ => None,
        })
    }
}

impl JobKind {
    /// The number of bytes of its texts.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Import { source, .. } => source.len(),
            Self::ReplaceUrl {
                authority,
                from,
                to,
                ..
            } => authority.len() + from.len() + to.len(),
            Self::SetTtl {
                authority,
                value_type,
                ..
            } => authority.len() + value_type.as_ref().map_or(0, String::len),
            Self::Undo { .. } => 0,
            Self::Withdraw { reason, .. } => reason.len(),
        }
    }
}
