//! Security considerations of `info` namespaces, also for names that are stored here (`INFO-9`,
//! `INFO-11`).

use std::sync::Arc;

use handfast_registry::{NamespaceEntry, Registry};
use hyper::HeaderMap;
use hyper::header::{HeaderValue, LINK};

/// The live entry that has something to say when a name of an authority is resolved.
pub(crate) fn entry(registry: &Registry, authority: Option<&str>) -> Option<Arc<NamespaceEntry>> {
    let name = authority?.strip_prefix("info:")?;
    let entry = registry.namespace(name).ok()?;
    let said = &entry.form.resolution;
    let is_said = said.page_first
        || said
            .security
            .as_deref()
            .is_some_and(|text| !text.is_empty());
    (is_said && entry.is_live(registry.time())).then_some(entry)
}

/// Links to the security considerations of an entry.
pub(crate) fn put_link(headers: &mut HeaderMap, entry: &NamespaceEntry) {
    let link = format!(
        "</registry/info/{}#security>; rel=\"describedby\"; type=\"text/html\"",
        entry.name()
    );
    if let Ok(link) = HeaderValue::try_from(link) {
        headers.append(LINK, link);
    }
}
