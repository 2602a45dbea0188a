//! The account that is signed in: `/console/me`, its sessions and tokens.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
