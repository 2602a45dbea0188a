//! Counts what an import does, and reports it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::import::Report;
use crate::import::changes::ValueCounts;
use crate::import::load::Loaded;
use crate::import::outcome::Counts;

/// The counts so far, and where reports go.
pub(crate) struct Reporter<'r> {
    pub(crate) counts: Counts,
    pub(crate) values: ValueCounts,
    /// The number of bytes read so far.
    read: &'r AtomicU64,
    pub(crate) report: &'r mut dyn FnMut(Report<'_>),
}

impl<'r> Reporter<'r> {
    pub(crate) fn new(read: &'r AtomicU64, report: &'r mut dyn FnMut(Report<'_>)) -> Self {
        Self {
            counts: Counts::default(),
            values: ValueCounts::default(),
            read,
            report,
        }
    }

    pub(crate) fn loaded(&mut self, loaded: &Loaded) {
        self.counts.add_counts(loaded.counts);
        self.values.add(loaded.values);
        for outcome in &loaded.outcomes {
            (self.report)(Report::Line(outcome));
        }
    }

    pub(crate) fn progress(&mut self) {
        (self.report)(Report::Progress {
            bytes: self.read.load(Ordering::Relaxed),
            counts: self.counts,
        });
    }
}
