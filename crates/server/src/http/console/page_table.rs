//! All pages of the console.

use hyper::{Method, Response};

use super::error_page::PageError;
use super::visit::Visit;
use super::{
    account, again, authorities, draft_page, events, inbox, jobs, names, namespaces, people,
    server, sign_in,
};
use crate::http::percent::decode;
use crate::http::response::Body;

/// A page, or a form that is sent to it.
#[derive(Clone, Copy)]
pub(super) struct PageRoute {
    pub(super) method: &'static str,
    /// Below `/console`; braces stand for one segment, percent-encoded.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// Whether it computes the hash of a password, which takes time and memory.
    pub(super) hashes_password: bool,
    pub(super) page: PageFunction,
}

pub(super) type PageFunction = fn(&Visit<'_>) -> Result<Response<Body>, PageError>;

/// Who may open a page; the registry decides what they see there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Anyone,
    SignedIn,
}

pub(super) const fn page(path: &'static str, page: PageFunction) -> PageRoute {
    PageRoute {
        method: "GET",
        path,
        access: Access::SignedIn,
        hashes_password: false,
        page,
    }
}

pub(super) const fn form(path: &'static str, page: PageFunction) -> PageRoute {
    PageRoute {
        method: "POST",
        path,
        access: Access::SignedIn,
        hashes_password: false,
        page,
    }
}

pub(super) const fn open(route: PageRoute) -> PageRoute {
    PageRoute {
        access: Access::Anyone,
        ..route
    }
}

/// A form with a password.
pub(super) const fn hashing(route: PageRoute) -> PageRoute {
    PageRoute {
        hashes_password: true,
        ..route
    }
}

/// The pages of each area.
pub(super) const AREAS: &[&[PageRoute]] = &[
    sign_in::PAGES,
    draft_page::PAGES,
    again::PAGES,
    account::PAGES,
    inbox::PAGES,
    names::PAGES,
    names::one_name::PAGES,
    authorities::PAGES,
    people::PAGES,
    namespaces::PAGES,
    jobs::PAGES,
    events::PAGES,
    server::PAGES,
];

/// The page of a path, and what stands for its braces.
pub(super) fn find(method: &Method, path: &str) -> Option<(&'static PageRoute, Vec<String>)> {
    let method = if method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let path = path.trim_start_matches('/');
    let path = path.strip_prefix("console")?;
    let path = if path.is_empty() { "/" } else { path };
    let routes = AREAS.iter().flat_map(|area| area.iter());
    let mut routes = routes.filter(|route| route.method == method);
    routes.find_map(|route| Some((route, parameters(route.path, path)?)))
}

/// What stands for the braces of a pattern, if a path is like it.
fn parameters(pattern: &str, path: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut segments = path.split('/');
    for expected in pattern.split('/') {
        let segment = segments.next()?;
        if expected.starts_with('{') {
            let text = decode(segment).filter(|text| !text.is_empty())?;
            found.push(text);
        } else if expected != segment {
            return None;
        }
    }
    segments.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_one_segment() {
        let id = parameters("/names/{id}/edit", "/names/20.1%2Fa/edit");
        assert_eq!(id, Some(vec!["20.1/a".to_string()]));
        assert_eq!(parameters("/names/{id}", "/names/20.1/a"), None);
        assert_eq!(parameters("/names/{id}", "/names/"), None);
        assert_eq!(parameters("/", "/"), Some(vec![]));
    }

    /// The suite `tests/console` tries every page as every kind of account: it must know them all.
    #[test]
    fn the_suite_in_a_browser_knows_every_page() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/console/pages.json"
        );
        let routes = AREAS.iter().flat_map(|area| area.iter());
        let lines: Vec<_> = routes
            .map(|route| {
                let access = match route.access {
                    Access::Anyone => "anyone",
                    Access::SignedIn => "signed-in",
                };
                let (method, path) = (route.method, route.path);
                format!(
                    "  {{\"method\": \"{method}\", \"path\": \"{path}\", \"access\": \"{access}\"}}"
                )
            })
            .collect();
        let table = format!("[\n{}\n]\n", lines.join(",\n"));
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::write(file, &table).unwrap();
        }
        let stored = std::fs::read_to_string(file).unwrap_or_default();
        let how = "UPDATE_PAGES=1 cargo test -p handfast-server the_suite_in_a_browser";
        assert_eq!(stored, table, "tests/console/pages.json is old: run {how}");
    }
}
