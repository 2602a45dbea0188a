//! The state of the server: health, store, log, certificate, backup, configuration.

use super::page_table::PageRoute;

pub(super) const PAGES: &[PageRoute] = &[];
