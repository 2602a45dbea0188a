//! Setting up a server: its identity and keys, its site record, the bundle for a registrar, and
//! the take-over of a deployed handle server.

pub(crate) mod bundle;
pub(crate) mod identity;
pub(crate) mod key_files;
pub(crate) mod site_record;
pub(crate) mod takeover;
pub(crate) mod zip;
