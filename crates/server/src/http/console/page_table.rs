//! All pages of the console.

use hyper::{Method, Response};

use super::error_page::PageError;
use super::visit::Visit;
use super::{
    account, again, authorities, events, inbox, jobs, names, namespaces, people, server, sign_in,
};
use crate::http::percent::decode;
use crate::http::response::Body;

/// A page, or a form that is sent to it.
pub(super) struct PageRoute {
    pub(super) method: &'static str,
    /// Below `/console`; braces stand for one segment, percent-encoded.
    pub(super) path: &'static str,
    pub(super) access: Access,
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
        page,
    }
}

pub(super) const fn form(path: &'static str, page: PageFunction) -> PageRoute {
    PageRoute {
        method: "POST",
        path,
        access: Access::SignedIn,
        page,
    }
}

pub(super) const fn open(route: PageRoute) -> PageRoute {
    PageRoute {
        access: Access::Anyone,
        ..route
    }
}

/// The pages of each area.
pub(super) const AREAS: &[&[PageRoute]] = &[
    sign_in::PAGES,
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
    routes.find_map(|route| Some((route, places(route.path, path)?)))
}

/// What stands for the braces of a pattern, if a path is like it.
fn places(pattern: &str, path: &str) -> Option<Vec<String>> {
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
        let id = places("/names/{id}/edit", "/names/20.1%2Fa/edit");
        assert_eq!(id, Some(vec!["20.1/a".to_string()]));
        assert_eq!(places("/names/{id}", "/names/20.1/a"), None);
        assert_eq!(places("/names/{id}", "/names/"), None);
        assert_eq!(places("/", "/"), Some(vec![]));
    }
}
