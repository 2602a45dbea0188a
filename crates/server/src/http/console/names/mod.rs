//! Names: list, create, mint, show, edit, history, states.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
