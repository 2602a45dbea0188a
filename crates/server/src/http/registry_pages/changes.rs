//! Recent changes of namespaces, for people. The feed has the same.

use std::sync::Arc;

use askama::Template;
use handfast_registry::NamespaceEntry;
use hyper::{Response, StatusCode};

use super::Asking;
use super::entry_words::{StatusBadge, badge};
use crate::http::pages::{Frame, filters};
use crate::http::response::Body;

impl Asking<'_> {
    pub(super) fn changes(&self) -> Response<Body> {
        let changed = self.last_changed().into_iter();
        let page = ChangesPage {
            frame: self.frame("Changes"),
            tab: "changes",
            changes: changed
                .map(|entry| (entry.changed_by(self.now), badge(&entry, self.now), entry))
                .collect(),
        };
        page.frame.respond(StatusCode::OK, &page)
    }
}

#[derive(Template)]
#[template(path = "registry/changes.html")]
struct ChangesPage<'a> {
    frame: Frame<'a>,
    tab: &'static str,
    changes: Vec<(u64, StatusBadge, Arc<NamespaceEntry>)>,
}
