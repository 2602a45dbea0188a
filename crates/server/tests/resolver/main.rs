//! Redirects and pages over HTTP (`http-interfaces.md` B), octet by octet where that matters.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod countries;
mod fast_and_slow_path;
mod hostile;
mod keep_alive;
mod locations;
#[expect(clippy::indexing_slicing, reason = "a test may panic")]
#[path = "../web/mmdb.rs"]
mod mmdb;
mod pages;
mod public_pages;
mod redirects;
mod schemes;
