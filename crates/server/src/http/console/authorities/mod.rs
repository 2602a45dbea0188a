//! Authorities: the tree, one authority, its people, policy, children and requests.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
