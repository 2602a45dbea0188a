//! The public register over HTTP: pages, JSON, XML, the feed, OAI-PMH, and what `info` URIs lead
//! to.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "a test may panic, and need not use all that another does"
)]

mod living;
mod oai;
mod pages;
mod resolving;
#[path = "../web/mod.rs"]
mod web;
