//! Names: list, create, mint, show, edit, history, states.

pub(super) mod one_name;

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
