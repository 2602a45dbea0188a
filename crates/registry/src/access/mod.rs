//! Access: principals, accounts, tokens, roles, the grants of `HS_ADMIN` values, and quotas.

pub(crate) mod account;
pub(crate) mod hs_admin;
pub(crate) mod principal;
pub(crate) mod quota;
pub(crate) mod rights;
pub(crate) mod token;
