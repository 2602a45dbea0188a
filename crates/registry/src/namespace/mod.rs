//! The living registry of `info` namespaces.
//!
//! Whoever has an identifier `info:lccn/n78-89035` in hand asks the registry what `lccn` is, whose it is, and
//! how its identifiers are written and compared (`INFO-9`). An [entry](NamespaceEntry) is what the namespace's
//! authority says of it, a [form](NamespaceForm), and what the registry says: its state, who was verified how,
//! versions and dates. The rules in it are consulted whenever an `info` URI is read here.
//!
//! The 29 entries of the original registry are there from the start, *historical* and unclaimed. They come with
//! the program and cost nothing until somebody touches them.

mod act;
mod clash;
pub(crate) mod comments;
mod entry;
mod form;
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
pub(crate) mod to_json;
mod trials;
mod validate;

pub use act::NamespaceOrder;
pub use comments::{NamespaceComment, NamespaceRemark};
pub use entry::{Capacity, NamespaceAside, NamespaceEntry, NamespaceStatus};
pub use form::{
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
