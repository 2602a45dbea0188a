//! Observations: when tokens were last used, and when sessions and accounts were last seen.
//!
//! They are stored in an environment of their own, the folder `observed/` in the data folder: each
//! commit of the registry's environment would empty the cache of redirects. They cannot be rebuilt,
//! so backups contain them. They are written in the background and seldom: of a token the day of
//! its last use, of a session and an account at most one time every five minutes.

pub(crate) mod backup;
pub(crate) mod last_seen;
