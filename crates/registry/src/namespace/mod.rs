//! The registry of `info` namespaces.
//!
//! A reader of `info:lccn/n78-89035` asks the registry what `lccn` is, who owns it, and how its
//! identifiers are written and compared (`INFO-9`). An [entry](NamespaceEntry) has the
//! [form](NamespaceForm) of the namespace's authority, and the data of the registry: state,
//! verification, versions and dates. Its rules are used whenever an `info` URI is read here.
//!
//! The 29 entries of the original registry are there from the start, *historical* and unclaimed.
//! They come with the program and take no space in the store until somebody changes them.

mod act;
mod clash;
pub(crate) mod comments;
mod entry;
mod import;
mod lifecycle;
mod literals;
mod live;
pub(crate) mod live_rules;
mod mechanism;
mod moved;
mod original_xml;
pub(crate) mod policy;
mod preview;
mod read;
mod seeds;
pub(crate) mod stored;
mod trials;
mod validate;

pub use act::NamespaceOrder;
pub use comments::{NamespaceComment, NamespaceRemark};
pub use entry::{Capacity, NamespaceAside, NamespaceEntry, NamespaceStatus};
pub use handfast_api::{
    NamespaceAuthority, NamespaceCase, NamespaceDeclaration, NamespaceForm, NamespaceSample,
    NormalisationForm, ResolutionForm, SyntaxForm,
};
pub use import::{NamespaceImport, NamespaceImported};
pub use lifecycle::NamespaceAct;
pub(crate) use live::{NamespaceGeneration, NamespaceRules};
pub use policy::NamespacePolicy;
pub use preview::ExampleChange;
pub use read::{
    NamespaceChange, NamespacePage, NamespaceQuery, NamespaceVersion, NamespacesChanged,
    bare as bare_namespace,
};
pub(crate) use seeds::is_historical;
