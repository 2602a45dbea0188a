//! The review of `info` namespaces: proposals, comments, claims, decisions.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
