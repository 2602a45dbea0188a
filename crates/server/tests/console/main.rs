//! The console, as a browser with a session sees it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod names_list;
