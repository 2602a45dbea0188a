//! Recent changes, as an Atom feed (RFC 4287).

use std::sync::Arc;

use handfast_registry::{NamespaceEntry, NamespaceQuery, NamespaceStatus, rfc3339};

use super::Asking;
use crate::http::xml::Xml;

/// How many of the last changes are told.
const MAX_FEED_ENTRIES: usize = 100;

impl Asking<'_> {
    /// The last changes, newest first. Proposals are told too: they are open to comments.
    pub(super) fn feed(&self) -> String {
        let base = &self.base;
        let entries = self.last_changed();
        let newest = entries.first();
        let updated = newest.map_or(self.now, |entry| entry.changed_by(self.now));
        let mut xml = Xml::new();
        xml.open(
            "feed",
            &[("xmlns", "http://www.w3.org/2005/Atom"), ("xml:lang", "en")],
        );
        let own = format!("{base}/registry/changes.atom");
        xml.text("id", &own);
        xml.text("title", "Registry of info namespaces: changes");
        xml.text("updated", &rfc3339(updated));
        xml.open("author", &[]);
        xml.text("name", "Registry of info namespaces");
        xml.close();
        link(&mut xml, "self", "application/atom+xml", &own);
        let list = format!("{base}/registry/");
        link(&mut xml, "alternate", "text/html", &list);
        for entry in &entries {
            let page = format!("{base}/registry/info/{}", entry.name());
            let state = entry.state(self.now);
            xml.open("entry", &[]);
            let changed = entry.changed_by(self.now);
            // A claim gives it a new version, and is no news.
            xml.text("id", &format!("{page}#{}-{changed}", state.as_str()));
            xml.text("title", &format!("{} {}", entry.uri(), state.as_str()));
            xml.text("updated", &rfc3339(changed));
            link(&mut xml, "alternate", "text/html", &page);
            let json = format!("{page}.json");
            link(&mut xml, "alternate", "application/json", &json);
            xml.element("summary", &[("type", "text")], &summary(entry, state));
            xml.close();
        }
        xml.finish()
    }

    /// The entries that changed last, newest first.
    pub(super) fn last_changed(&self) -> Vec<Arc<NamespaceEntry>> {
        let found = self.web.registry().namespaces(&NamespaceQuery {
            limit: usize::MAX,
            ..NamespaceQuery::default()
        });
        let mut entries = found.entries;
        let order = |entry: &Arc<NamespaceEntry>| {
            (
                std::cmp::Reverse(entry.changed_by(self.now)),
                entry.name().to_string(),
            )
        };
        entries.sort_by_cached_key(order);
        entries.truncate(MAX_FEED_ENTRIES);
        entries
    }
}

fn link(xml: &mut Xml, relation: &str, kind: &str, href: &str) {
    let attributes = [("rel", relation), ("type", kind), ("href", href)];
    xml.element("link", &attributes, "");
}

fn summary(entry: &NamespaceEntry, state: NamespaceStatus) -> String {
    let form = &entry.form;
    let mut words = format!("{} ({})", form.title, form.authority.organisation);
    match state {
        NamespaceStatus::Candidate => words.push_str(". Proposed, and open to comments."),
        NamespaceStatus::Lapsed => words.push_str(". Its provisional registration has lapsed."),
        _ => {}
    }
    if !entry.why.is_empty() {
        words.extend([" ", &entry.why]);
    }
    words
}
