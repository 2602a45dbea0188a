//! The first page: what waits for this person.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
