//! The page of a withdrawn name: what it was, why and when it was withdrawn, and what to use
//! instead.

use std::sync::Arc;

use askama::Template;
use handfast_registry::{Registry, Tombstone};
use hyper::{Response, StatusCode};

use crate::http::Web;
use crate::http::pages::authority::{AuthorityWords, local_part};
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::name_lookup::{NameLookup, find};
use crate::http::resolver::path::RequestedName;
use crate::http::resolver::target::path_of;
use crate::http::resolver::title::title_of;
use crate::http::response::Body;

/// A withdrawn name.
#[derive(Clone, Debug)]
pub(crate) struct WithdrawnName {
    pub(crate) text: String,
    pub(crate) tombstone: Option<Tombstone>,
    /// What it was called. No other value of a withdrawn name is public.
    pub(crate) title: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub(crate) created: u64,
}

/// A name to use instead.
struct SuccessorLink {
    id: String,
    title: Option<String>,
    path: String,
    /// Whether it can be looked up here, and leads on.
    is_active: bool,
}

#[derive(Template)]
#[template(path = "resolver/tombstone.html")]
struct TombstonePage<'a> {
    frame: Frame<'a>,
    name: &'a WithdrawnName,
    local: &'a str,
    authority: Option<AuthorityWords>,
    successor: Option<SuccessorLink>,
    /// Where the events of the name are proven, if they are public.
    proof: Option<String>,
    contact: Option<String>,
    /// The link by which it was cited, if the configuration says where links begin.
    citable: Option<String>,
}

pub(crate) fn answer(web: &Web, status: StatusCode, name: &WithdrawnName) -> Response<Body> {
    let authority = AuthorityWords::of_name(web, &name.text);
    let successor = name.tombstone.as_ref();
    let successor = successor.and_then(|tombstone| tombstone.successor.as_deref());
    let of_authority = authority.as_ref().and_then(|found| found.contact.clone());
    let is_public = authority.as_ref().is_some_and(|found| found.is_permanent);
    let title = name.title.as_deref().unwrap_or(&name.text);
    let page = TombstonePage {
        frame: Frame::new(web, format!("Withdrawn: {title}"), MenuPlace::Registry),
        local: match &authority {
            Some(authority) => local_part(&name.text, &authority.path),
            None => &name.text,
        },
        successor: successor.map(|id| SuccessorLink::new(web.registry(), id)),
        proof: is_public.then(|| proof_of(&name.text)),
        contact: of_authority.or_else(|| web.site.contact.clone()),
        citable: web.api.links().map(|links| links.link(&name.text)),
        authority,
        name,
    };
    page.frame.respond(status, &page)
}

/// The address of the proof of a name.
pub(crate) fn proof_of(id: &str) -> String {
    format!("/api/v1/names/{}/proof", encode(id, COMPONENT))
}

impl SuccessorLink {
    fn new(registry: &Arc<Registry>, id: &str) -> Self {
        let found = find(registry, &RequestedName::typed(id));
        let title = match &found {
            Ok(NameLookup::Name(name)) => title_of(&name.values),
            _ => None,
        };
        Self {
            is_active: matches!(found, Ok(NameLookup::Name(_))),
            id: id.to_string(),
            path: format!("/{}", path_of(id.trim_start_matches('/'))),
            title,
        }
    }
}
