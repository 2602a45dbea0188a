//! An authority as public pages show it.

use handfast_id::recognise;
use handfast_registry::{Authority, AuthorityPath, Persistence, Principal};

use crate::http::Web;
use crate::http::percent::{COMPONENT, encode};

/// An authority that is registered here, without the roles on it.
pub(crate) struct AuthorityWords {
    /// Its path, such as `20.1000`.
    pub(crate) path: String,
    /// Its title, or its path if it has none.
    pub(crate) title: String,
    pub(crate) has_title: bool,
    /// The address of its page.
    pub(crate) page: String,
    /// What its names mean.
    pub(crate) meaning: String,
    /// Whom to ask, if it or an authority above it says so.
    pub(crate) contact: Option<String>,
    /// Whether its names are never assigned again, and their events are public.
    pub(crate) is_permanent: bool,
    /// The authorities above it, topmost first.
    pub(crate) above: Vec<AuthorityCrumb>,
}

/// An authority in a breadcrumb.
pub(crate) struct AuthorityCrumb {
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) page: String,
}

/// How many authorities above one a breadcrumb shows.
const MAX_ABOVE: usize = 8;

impl AuthorityWords {
    /// The authority that a name is, or would be, assigned by, if it is registered here.
    pub(crate) fn of_name(web: &Web, id: &str) -> Option<Self> {
        let rules = web.registry().rules();
        let identifier = recognise(id, &rules).ok()?.identifier;
        let identifier = identifier.named(&rules).unwrap_or(identifier);
        Self::at(web, &AuthorityPath::of(&identifier, &rules).to_string())
    }

    /// The authority with a path, if it is registered here. A requested one is not public.
    pub(crate) fn at(web: &Web, path: &str) -> Option<Self> {
        let registry = web.registry();
        let authority = registry.authority(&Principal::nobody(), path).ok()?;
        authority
            .status
            .is_in_force()
            .then(|| Self::new(web, &authority))
    }

    pub(crate) fn new(web: &Web, authority: &Authority) -> Self {
        let crumb = AuthorityCrumb::new(authority);
        let (above, contact_above) = above(web, authority);
        Self {
            has_title: !authority.title.trim().is_empty(),
            contact: contact_of(authority).or(contact_above),
            is_permanent: authority.policy.persistence == Persistence::Permanent,
            above,
            meaning: authority.meaning.trim().to_string(),
            path: crumb.path,
            title: crumb.title,
            page: crumb.page,
        }
    }
}

impl AuthorityCrumb {
    pub(crate) fn new(authority: &Authority) -> Self {
        let path = authority.path.to_string();
        let title = authority.title.trim();
        Self {
            title: if title.is_empty() { &path } else { title }.to_string(),
            page: page_of(&path),
            path,
        }
    }
}

/// The address of the page of an authority.
pub(crate) fn page_of(path: &str) -> String {
    format!("/registry/authorities/{}", encode(path, COMPONENT))
}

fn contact_of(authority: &Authority) -> Option<String> {
    Some(authority.contact.clone()).filter(|contact| !contact.trim().is_empty())
}

/// The authorities above one, topmost first, and the contact of the nearest that has one.
fn above(web: &Web, authority: &Authority) -> (Vec<AuthorityCrumb>, Option<String>) {
    let mut all = Vec::new();
    let mut contact = None;
    let mut parent = authority.parent.as_ref().map(ToString::to_string);
    while let Some(path) = parent.take().filter(|_| all.len() < MAX_ABOVE) {
        let found = web.registry().authority(&Principal::nobody(), &path);
        let Some(found) = found.ok().filter(|found| found.status.is_in_force()) else {
            break;
        };
        parent = found.parent.as_ref().map(ToString::to_string);
        contact = contact.or_else(|| contact_of(&found));
        all.push(AuthorityCrumb::new(&found));
    }
    all.reverse();
    (all, contact)
}

/// A name without its authority, for the end of a breadcrumb.
pub(crate) fn local_part<'n>(name: &'n str, authority: &str) -> &'n str {
    let rest = name
        .get(..authority.len())
        .filter(|start| start.eq_ignore_ascii_case(authority))
        .and_then(|_| name.get(authority.len()..));
    let rest = rest.map(|rest| rest.trim_start_matches(['/', ':']));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breadcrumb_ends_with_the_local_part_of_a_name() {
        assert_eq!(local_part("20.1000/map-0412", "20.1000"), "map-0412");
        assert_eq!(
            local_part("urn:urn-3:HUL.OIS:Home", "urn:urn-3:hul.ois"),
            "Home"
        );
        assert_eq!(local_part("20.1/ü", "20.10000000000"), "20.1/ü");
        assert_eq!(local_part("20.1", "20.1"), "20.1");
    }
}
