#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

extern crate alloc;

mod ark;
mod chars;
mod cordra;
mod doi;
mod error;
mod explain;
mod guid;
mod handle;
mod hdl_uri;
#[cfg(feature = "historical")]
mod historical;
mod http;
mod identifier;
mod info;
mod inspect;
mod key;
mod namespace;
mod pattern;
mod percent;
mod prefix;
mod recognise;
mod rules;
mod spellings;
mod steps;
mod tail;
mod traits;
mod urn;
mod urn_profile;
mod words;

pub use ark::Ark;
pub use cordra::CordraId;
pub use doi::Doi;
pub use error::{ErrorKind, ParseError, Part};
pub use explain::{Explanation, explain};
pub use guid::{Guid, TimeGuids};
pub use handle::{CaseRule, Handle, MAX_HANDLE, utf8};
pub use hdl_uri::{HdlForm, HdlUri, MAX_TEXT};
pub use http::HttpResolver;
pub use identifier::{Identifier, Scheme, parse_as};
pub use info::{CanonicalInfo, InfoComparison, InfoGrammar, InfoUri, InfoValidity};
pub use inspect::{Component, Inspected, Inspection, inspect};
pub use key::Key;
pub use namespace::{
    Namespace, NamespaceError, NamespaceExample, NamespaceLookup, NamespaceRecord, Namespaces,
};
pub use pattern::{Pattern, PatternError};
pub use prefix::Prefix;
pub use recognise::{Recognised, RecognisedBy, is_trimmed, recognise};
pub use rules::{HandleProfile, RuleBook, Rules, Standard};
pub use spellings::Spellings;
pub use steps::{Fold, Step, StepError, Steps};
pub use urn::Urn;
pub use urn_profile::{DelegatedGrammar, NssGrammar, UrnProfile, UrnRegistration};
