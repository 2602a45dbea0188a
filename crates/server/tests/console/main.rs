//! The console, as a browser without script uses it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod authorities;
mod browser;
mod hostile;
mod last_used;
mod names_list;
mod namespaces;
mod one_name;
mod people;
mod said;
mod sessions;
mod text_back;
mod work;
