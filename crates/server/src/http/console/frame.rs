//! The frame of the console's pages: menu, breadcrumb, messages, and the same by command.

use std::fmt::Display;

use askama::Template;
use hyper::header::CONTENT_SECURITY_POLICY;
use hyper::{Response, StatusCode};

use super::visit::Visit;
use crate::http::pages::site::Site;
use crate::http::pages::{policy, rendered};
use crate::http::response::{Body, WithHeader};

/// What the frame of a page needs: a field `frame` of its template.
pub(super) struct ConsoleFrame<'a> {
    pub(super) site: &'a Site,
    pub(super) title: String,
    pub(super) nonce: &'a str,
    pub(super) person: Option<ShownPerson>,
    pub(super) current: MenuItem,
    /// What the search field contains.
    pub(super) find: String,
    /// What the last action has done.
    pub(super) flash: Option<Flash>,
    /// What is wrong with a form.
    pub(super) errors: Vec<FieldError>,
    pub(super) crumbs: Vec<Crumb>,
    /// Commands that do the same as this page.
    pub(super) same: Vec<String>,
    inbox: u64,
    is_administrator: bool,
}

/// The account that is signed in.
pub(super) struct ShownPerson {
    pub(super) title: String,
    pub(super) initials: String,
}

/// What has happened, at the top of the page that a form leads to.
pub(super) struct Flash {
    /// `good`, `note` or `look`.
    pub(super) kind: &'static str,
    pub(super) head: String,
    pub(super) text: String,
    /// Where a form is sent that takes it back.
    pub(super) undo: Option<String>,
}

impl Flash {
    /// One that cannot be taken back.
    pub(super) fn new(kind: &'static str, head: &str, text: &str) -> Self {
        Self {
            kind,
            head: head.to_string(),
            text: text.to_string(),
            undo: None,
        }
    }
}

/// What is wrong with a field of a form.
pub(super) struct FieldError {
    /// The `id` of the field; empty if it is not about one field.
    pub(super) field: String,
    pub(super) text: String,
}

impl FieldError {
    pub(super) fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            text: text.into(),
        }
    }
}

/// A part of the breadcrumb; the last one has no path.
pub(super) struct Crumb {
    pub(super) text: String,
    pub(super) path: String,
}

impl Crumb {
    pub(super) fn new(text: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            path: path.into(),
        }
    }
}

/// The items of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MenuItem {
    Authorities,
    Events,
    Inbox,
    Jobs,
    Names,
    Namespaces,
    Nothing,
    People,
    Server,
}

/// Items of the menu under one title.
pub(super) struct MenuGroup {
    pub(super) title: &'static str,
    pub(super) items: Vec<ShownItem>,
}

/// An item of the menu, as a page shows it.
pub(super) struct ShownItem {
    pub(super) path: &'static str,
    pub(super) word: &'static str,
    pub(super) icon: &'static str,
    pub(super) is_current: bool,
    pub(super) count: u64,
}

impl<'a> ConsoleFrame<'a> {
    pub(super) fn new(visit: &'a Visit<'_>, title: impl Into<String>, current: MenuItem) -> Self {
        let person = visit.person.as_ref();
        Self {
            site: &visit.web.site,
            title: title.into(),
            nonce: &visit.nonce,
            person: person.map(|person| ShownPerson {
                title: person.title.clone(),
                initials: initials(&person.title),
            }),
            current,
            find: String::new(),
            flash: None,
            errors: Vec::new(),
            crumbs: Vec::new(),
            same: Vec::new(),
            inbox: u64::try_from(visit.waiting().decisions()).unwrap_or(0),
            is_administrator: person.is_some_and(|person| person.is_administrator),
        }
    }

    /// Whether the person who is signed in may do everything.
    pub(super) fn is_administrator(&self) -> bool {
        self.is_administrator
    }

    /// Commands that do the same as this page.
    pub(super) fn same(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.same = lines.into_iter().collect();
        self
    }

    pub(super) fn crumbs(mut self, crumbs: impl IntoIterator<Item = Crumb>) -> Self {
        self.crumbs = crumbs.into_iter().collect();
        self
    }

    pub(super) fn errors(mut self, errors: Vec<FieldError>) -> Self {
        self.errors = errors;
        self
    }

    pub(super) fn flash(mut self, flash: Option<Flash>) -> Self {
        self.flash = flash;
        self
    }

    /// The message about a field, if something is wrong with it.
    pub(super) fn error(&self, field: &str) -> Option<&str> {
        let mut errors = self.errors.iter().filter(|error| error.field == field);
        errors.next().map(|error| error.text.as_str())
    }

    /// The message about a field of a row, which has the number of its row behind its name.
    pub(super) fn row_error(&self, field: &str, row: &impl Display) -> Option<&str> {
        self.error(&format!("{field}-{row}"))
    }

    /// The menu; it has no items that the person cannot use.
    pub(super) fn menu(&self) -> Vec<MenuGroup> {
        let item = |this: MenuItem, path, word, icon| ShownItem {
            path,
            word,
            icon,
            is_current: self.current == this,
            count: if this == MenuItem::Inbox {
                self.inbox
            } else {
                0
            },
        };
        let mut institution = vec![
            item(MenuItem::People, "/console/people", "People", "people"),
            item(MenuItem::Events, "/console/events", "Events", "event"),
        ];
        if self.is_administrator {
            institution.push(item(
                MenuItem::Server,
                "/console/server",
                "Server",
                "server",
            ));
        }
        let group = |title, items| MenuGroup { title, items };
        vec![
            group(
                "",
                vec![item(MenuItem::Inbox, "/console/", "Inbox", "inbox")],
            ),
            group(
                "Registry",
                vec![
                    item(MenuItem::Names, "/console/names", "Names", "name"),
                    item(
                        MenuItem::Authorities,
                        "/console/authorities",
                        "Authorities",
                        "authority",
                    ),
                    item(
                        MenuItem::Namespaces,
                        "/console/namespaces",
                        "Namespaces",
                        "namespace",
                    ),
                ],
            ),
            group(
                "Work",
                vec![item(MenuItem::Jobs, "/console/jobs", "Jobs", "job")],
            ),
            group("Institution", institution),
        ]
    }

    /// A page as a response.
    pub(super) fn respond(&self, status: StatusCode, page: &impl Template) -> Response<Body> {
        rendered(status, page).with(CONTENT_SECURITY_POLICY, policy(self.nonce, "'self'"))
    }
}

/// The first letters of the first two words.
fn initials(title: &str) -> String {
    let words = title
        .split_whitespace()
        .filter_map(|word| word.chars().next());
    words.take(2).flat_map(char::to_uppercase).collect()
}
