//! People: accounts, groups, invitations, and what one person may do.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
