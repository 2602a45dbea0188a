//! Jobs: progress, stop, resume, undo, report.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
