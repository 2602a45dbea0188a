//! The public register over HTTP: pages, JSON, XML, the feed, OAI-PMH, and what `info` URIs lead
//! to.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod living;
mod oai;
mod pages;
mod resolving;
