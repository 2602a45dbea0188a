//! The registry of `info` namespaces: proposals, entries, claims and decisions.

mod act;
mod change;
mod entry;
mod fields;
mod list;
mod propose;

use std::sync::Arc;

use handfast_registry::{NamespaceEntry, NamespaceStatus};

use super::error_page::PageError;
use super::page_table::{PageRoute, form, page};
use super::visit::Visit;
use crate::http::percent::{COMPONENT, encode};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/namespaces", list::show),
    page("/namespaces/new", propose::show),
    form("/namespaces/new", propose::send),
    page("/namespaces/{namespace}", entry::show),
    page("/namespaces/{namespace}/edit", change::show),
    form("/namespaces/{namespace}/edit", change::send),
    form("/namespaces/{namespace}/comments", entry::comment),
    form("/namespaces/{namespace}/acts/{act}", act::take),
];

/// The page of an entry.
fn path_of(name: &str) -> String {
    format!("/console/namespaces/{}", encode(name, COMPONENT))
}

/// The entry of a page.
fn entry_of(visit: &Visit<'_>) -> Result<Arc<NamespaceEntry>, PageError> {
    match visit.registry().namespace(visit.id()) {
        Err(error) if error.code() == "no-namespace" => {
            let text = format!("There is no entry for the namespace {}.", visit.id());
            Err(PageError::not_found(text))
        }
        entry => Ok(entry?),
    }
}

/// Where an entry is in its life, as pages show it.
struct ShownStatus {
    word: &'static str,
    class: &'static str,
    icon: &'static str,
}

impl ShownStatus {
    fn of(entry: &NamespaceEntry, now: u64) -> Self {
        let (word, class, icon) = match entry.state(now) {
            NamespaceStatus::Candidate => ("Proposed", "new", "clock"),
            NamespaceStatus::Deprecated => ("Deprecated", "look", "warning"),
            NamespaceStatus::Lapsed => ("Lapsed", "look", "warning"),
            NamespaceStatus::Refused => ("Declined", "withdrawn", "withdrawn"),
            NamespaceStatus::Registered if entry.historical && !entry.claimed => {
                ("Historical", "", "clock")
            }
            NamespaceStatus::Registered if entry.historical => ("Claimed", "good", "check"),
            NamespaceStatus::Registered if entry.provisional_until.is_some() => {
                ("Provisional", "reserved", "reserved")
            }
            NamespaceStatus::Registered => ("Registered", "active", "active"),
            NamespaceStatus::Withdrawn => ("Withdrawn", "withdrawn", "withdrawn"),
        };
        Self { word, class, icon }
    }
}
