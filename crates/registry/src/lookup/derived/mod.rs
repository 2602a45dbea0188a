//! Data that is derived from the events: counts of names, and where to find events.
//!
//! It is stored in an environment of its own, the folder `derived/` in the data folder, for two
//! reasons: writing to it does not empty the cache of redirects, and it may be deleted at any time.
//! One background thread of the server follows the events ([`Registry::follow_events`]); it reads
//! snapshots and has its own writer, so no change and no import waits for it. Without that thread,
//! a command brings the data up to date when it needs it. The data always belongs to an event, its
//! last one, and answers name it.
//!
//! [`Registry::follow_events`]: crate::Registry::follow_events

pub(crate) mod counts;
pub(crate) mod environment;
pub(crate) mod event_blocks;
pub(crate) mod follow;
pub(crate) mod gather;
