//! Access: principals, accounts, groups, tokens, roles and why someone has them, requests for
//! access, the grants of `HS_ADMIN` values, quotas, and signing in.

pub(crate) mod access_request;
pub(crate) mod account;
pub(crate) mod group;
pub(crate) mod holdings;
pub(crate) mod hs_admin;
pub(crate) mod inbox;
pub(crate) mod principal;
pub(crate) mod quota;
pub(crate) mod rights;
pub(crate) mod sign_in;
pub(crate) mod token;
pub(crate) mod why;
