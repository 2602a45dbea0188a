//! One file for each command.

pub(crate) mod access;
pub(crate) mod authority;
pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod import_input;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod inspect_view;
pub(crate) mod job;
pub(crate) mod log;
pub(crate) mod log_verify;
pub(crate) mod mint;
pub(crate) mod name;
pub(crate) mod name_history;
pub(crate) mod namespace;
pub(crate) mod namespace_form;
pub(crate) mod namespace_view;
pub(crate) mod resolve;
pub(crate) mod serve;
pub(crate) mod takeover;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod user_sign_in;
