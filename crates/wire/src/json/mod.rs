//! Values in JSON, in the form of the handle REST API (`http-interfaces.md` A.15).
//!
//! Written values read back byte for byte. Data with a form of its own in JSON – administrators,
//! groups, keys, sites – is written in that form only if the form is complete; otherwise as text or
//! base64.
//!
//! ```
//! use handfast_wire::{Value, json};
//!
//! let url = Value::new(1, "URL", b"https://example.org/");
//! let mut text = Vec::new();
//! json::write_value(&mut text, &url);
//! let given: json::ParsedValue = serde_json::from_slice(&text)?;
//! assert_eq!(given.into_value(), url);
//! # Ok::<_, serde_json::Error>(())
//! ```

mod data;
mod read;
mod site;
mod time;
mod tree;
mod write;

pub use read::ParsedValue;
pub use site::{read_site, write_site};
pub use time::timestamp;
pub use write::{value, value_data, write_value};
