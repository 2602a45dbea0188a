//! x

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
