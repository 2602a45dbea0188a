//! Authorities: their paths, policies and grants, and every change of them.

pub(crate) mod erasures;
pub(crate) mod grants;
pub(crate) mod list;
pub(crate) mod manage;
pub(crate) mod path;
pub(crate) mod pattern_cache;
pub(crate) mod policy;
