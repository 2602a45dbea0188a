//! The living registry of `info` namespaces.
//!
//! Whoever has an identifier `info:lccn/n78-89035` in hand asks the registry what `lccn` is, whose it is, and
//! how its identifiers are written and compared (`INFO-9`). An [entry](NamespaceEntry) is what the namespace's
//! authority says of it, a [form](NamespaceForm), and what the registry says: its state, who was verified how,
//! versions and dates. The rules in it are consulted whenever an `info` URI is read here.
//!
//! The 29 entries of the original registry are there from the start, *historical* and unclaimed. They come with
//! the program and cost nothing until somebody touches them.

mod entry;
mod form;
mod kept;
mod live;
mod read;
mod seeds;
pub(crate) mod to_json;

pub use entry::{Capacity, NamespaceEntry, NamespaceStatus};
pub use form::{
    NamespaceAuthority, NamespaceCase, NamespaceDeclaration, NamespaceForm, NamespaceSample,
    NormalisationForm, ResolutionForm, SyntaxForm,
};
pub(crate) use live::{Book, Generation};
pub use read::{
    NamespaceChange, NamespacePage, NamespaceQuery, NamespaceVersion, NamespacesChanged,
};
