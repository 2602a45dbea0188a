//! Authentication: who a client is, whichever protocol it speaks.
//!
//! The native protocol and the REST API check keys and passwords here, count failed logins in one
//! table, and ask remote servers for the keys of identities that are not registered on this server.

pub(crate) mod administrator;
pub(crate) mod evidence;
pub(crate) mod failed_logins;
mod homed_prefix;
pub(crate) mod login;
pub(crate) mod remote_servers;
pub(crate) mod session_table;
pub(crate) mod sessions;
