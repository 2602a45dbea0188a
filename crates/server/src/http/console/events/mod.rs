//! What has happened: `/console/events`, as a page, CSV and Atom.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
