//! A name as a row of a table.

use handfast_registry::{ListedName, rfc3339};

use crate::http::percent::{COMPONENT, encode};

/// A row.
pub(super) struct NameRow {
    pub(super) id: String,
    /// Its page in the console.
    pub(super) path: String,
    pub(super) title: Option<String>,
    /// The host that it leads to, or the URL if that has none.
    pub(super) leads_to: String,
    pub(super) state: &'static str,
    /// RFC 3339, and the day alone.
    pub(super) changed: String,
    pub(super) changed_day: String,
}

impl From<ListedName> for NameRow {
    fn from(name: ListedName) -> Self {
        let changed = rfc3339(name.modified);
        Self {
            path: name_path(&name.id),
            id: name.id,
            title: name.title.filter(|title| !title.trim().is_empty()),
            leads_to: name.url.as_deref().map(host_of).unwrap_or_default(),
            state: name.state.as_str(),
            changed_day: changed.get(..10).unwrap_or_default().to_string(),
            changed,
        }
    }
}

/// The page of a name in the console.
pub(super) fn name_path(id: &str) -> String {
    format!("/console/names/{}", encode(id, COMPONENT))
}

/// The host of a URL; the URL itself if it has none.
fn host_of(url: &str) -> String {
    let after = url.split_once("://").map(|(_, after)| after);
    let host = after.and_then(|after| after.split(['/', '?', '#']).next());
    let host = host.and_then(|host| host.rsplit('@').next());
    host.filter(|host| !host.is_empty())
        .unwrap_or(url)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_host_that_a_browser_would_ask() {
        for (url, host) in [
            ("https://maps.example/a/b", "maps.example"),
            ("https://user@maps.example:8080?x", "maps.example:8080"),
            ("mailto:a@b.example", "mailto:a@b.example"),
            ("https://", "https://"),
        ] {
            assert_eq!(host_of(url), host);
        }
        assert_eq!(name_path("20.1/a b"), "/console/names/20.1%2Fa%20b");
    }
}
