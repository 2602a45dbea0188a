//! Authorities: their paths, policies and grants, and every change of them.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod erasures;
pub(crate) mod grants;
pub(crate) mod lineage;
pub(crate) mod list;
pub(crate) mod path;
pub(crate) mod pattern_cache;
pub(crate) mod policy;
pub(crate) mod policy_check;
pub(crate) mod request;
pub(crate) mod request_list;
pub(crate) mod retire;
pub(crate) mod show;
pub(crate) mod tree;
