//! An `info` URI without a stored record: what its namespace says about it (`INFO-11`,
//! `INFO-12`).
//!
//! If the live entry names a resolution mechanism, the server offers it. Otherwise the server
//! describes the identifier and answers 404, because it has neither the thing nor its location.

use percent_encoding::percent_decode_str;
use std::sync::Arc;

use askama::Template;
use handfast_id::InfoUri;
use handfast_registry::{NamespaceEntry, NamespaceForm, NamespaceStatus, Registry};
use hyper::header::{CACHE_CONTROL, LINK};
use hyper::{Response, StatusCode, Version};
use serde_json::{Map, Value as Json};

use crate::http::Web;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::failure::{Failure, FailurePage};
use crate::http::resolver::page::{JSON, fresh};
use crate::http::resolver::redirect::RedirectResponse;
use crate::http::response::{Body, WithHeader};

/// An identifier that is described by its namespace alone.
pub(crate) struct UnregisteredName {
    canonical: String,
    /// The identifier without namespace and fragment, in its canonical form.
    identifier: String,
    namespace: String,
    entry: Option<Arc<NamespaceEntry>>,
    state: Option<NamespaceStatus>,
    registered: bool,
}

impl UnregisteredName {
    /// Reads a text, if it is an `info` URI.
    pub(crate) fn read(registry: &Registry, text: &str) -> Option<Self> {
        let uri = InfoUri::parse(text).ok()?;
        let canonical = uri.canonical(&registry.rules()).ok()?;
        let (registered, canonical) = (canonical.registered(), canonical.as_str().to_string());
        let behind = canonical.split_once('/').map_or("", |(_, rest)| rest);
        let entry = registry.namespace(uri.namespace()).ok();
        let is_registered = registered == Some(true);
        Some(Self {
            identifier: behind.split('#').next().unwrap_or_default().to_string(),
            namespace: uri.namespace().to_string(),
            state: entry
                .as_ref()
                .map(|entry| match (is_registered, entry.status) {
                    // Whether it has lapsed is the registry's to say.
                    (false, NamespaceStatus::Registered | NamespaceStatus::Deprecated) => {
                        NamespaceStatus::Lapsed
                    }
                    (_, status) => status,
                }),
            registered: is_registered,
            entry,
            canonical,
        })
    }

    /// The URL from the mechanism of its namespace, if the live entry has one.
    pub(crate) fn location(&self) -> Option<String> {
        let entry = self.entry.as_ref().filter(|_| self.registered)?;
        entry.location(&self.identifier)
    }

    /// Whether people are to see a page before they are sent on.
    pub(crate) fn is_page_first(&self) -> bool {
        let entry = self.entry.as_ref();
        entry.is_some_and(|entry| entry.form.resolution.page_first) || self.has_dot_segment()
    }

    /// Whether a `.` or `..` stands between slashes: a browser removes it, so that the location
    /// would lead to another page than it says.
    pub(crate) fn has_dot_segment(&self) -> bool {
        let is_dots = |segment: &[u8]| segment == b"." || segment == b"..";
        let decoded: Vec<u8> = percent_decode_str(&self.identifier).collect();
        decoded.split(|b| *b == b'/').any(is_dots)
    }

    /// To where the mechanism leads, with a link to its security considerations.
    pub(crate) fn redirect(&self, status: StatusCode, version: Version) -> Option<Response<Body>> {
        let location = self.location()?;
        let redirect = RedirectResponse::new(location.as_bytes(), status);
        let response = self.described(redirect.into_response(version)?);
        // "Each resolution reads the live entry."
        Some(response.with(CACHE_CONTROL, "no-cache"))
    }

    /// A page, or JSON, that says where it would lead, for those who do not want to be sent there
    /// at once.
    pub(crate) fn shown(&self, web: &Web, is_json: bool) -> Option<Response<Body>> {
        let location = self.location()?;
        let response = if is_json {
            let mut said = self.members();
            said.insert("location".into(), location.into());
            fresh(StatusCode::OK, JSON, Json::Object(said).to_string())
        } else {
            let page = UnregisteredPage {
                frame: Frame::new(web, &self.canonical, MenuPlace::Registry),
                facts: self.facts(),
                security: self.security(),
                location,
            };
            page.frame.respond(StatusCode::OK, &page)
        };
        Some(self.described(response))
    }

    /// The error that the server has no record and no location.
    pub(crate) fn failure(&self) -> Failure {
        let text = &self.canonical;
        let (code, title, words) = match self.state {
            None => (
                "no-namespace",
                "Not Registered",
                "is in a namespace that is not registered here: nothing is known of what it \
                 identifies",
            ),
            Some(NamespaceStatus::Candidate) => (
                "no-namespace",
                "Not Registered",
                "is in a namespace that was proposed, and is not registered yet",
            ),
            Some(NamespaceStatus::Refused) => (
                "no-namespace",
                "Not Registered",
                "is in a namespace that was proposed, and not registered",
            ),
            Some(NamespaceStatus::Withdrawn) => (
                "namespace-withdrawn",
                "Withdrawn Namespace",
                "is in a namespace that was withdrawn. It still identifies what it did; nothing \
                 more is claimed of it",
            ),
            Some(NamespaceStatus::Lapsed) => (
                "namespace-lapsed",
                "Lapsed Namespace",
                "is in a namespace whose provisional registration has lapsed",
            ),
            Some(_) => (
                "no-resolution",
                "No Resolution",
                "cannot be found here, and no resolution is claimed for it: it identifies \
                 something, and need not lead anywhere",
            ),
        };
        let status = match self.state {
            Some(NamespaceStatus::Withdrawn) => StatusCode::GONE,
            _ => StatusCode::NOT_FOUND,
        };
        let mut failure = Failure::new(status, code, title, format!("\"{text}\" {words}."));
        failure.page = FailurePage::Unregistered(Box::new(self.facts()));
        failure.members = self.members();
        failure
    }

    /// With a link to the entry, as far as there is one.
    pub(crate) fn described(&self, response: Response<Body>) -> Response<Body> {
        if self.entry.is_none() {
            return response;
        }
        let page = self.page();
        let link = format!("<{page}#security>; rel=\"describedby\"; type=\"text/html\"");
        response.with(LINK, link)
    }

    /// The address of the entry.
    fn page(&self) -> String {
        format!("/registry/info/{}", self.namespace)
    }

    fn members(&self) -> Map<String, Json> {
        let mut said = Map::new();
        said.insert("canonical".into(), self.canonical.clone().into());
        said.insert("namespace".into(), self.namespace.clone().into());
        said.insert("registered".into(), self.registered.into());
        if let (Some(entry), Some(state)) = (&self.entry, self.state) {
            let form = &entry.form;
            said.insert("namespaceStatus".into(), state.as_str().into());
            said.insert("namespaceTitle".into(), form.title.clone().into());
            said.insert(
                "authority".into(),
                form.authority.organisation.clone().into(),
            );
            said.insert("describedby".into(), self.page().into());
            if let Some(security) = &form.resolution.security {
                said.insert("security".into(), security.clone().into());
            }
        }
        said
    }

    /// The facts about the identifier.
    fn facts(&self) -> NamespaceFacts {
        let form = self.entry.as_ref().map(|entry| &entry.form);
        let text = |of: fn(&NamespaceForm) -> &str| form.map(of).unwrap_or_default().to_string();
        NamespaceFacts {
            canonical: self.canonical.clone(),
            uri: format!("info:{}/", self.namespace),
            page: self.entry.as_ref().map(|_| self.page()),
            title: text(|form| &form.title),
            status: self.state.map_or("not registered", NamespaceStatus::as_str),
            organisation: text(|form| &form.authority.organisation),
            contact: text(NamespaceForm::contact),
            url: text(|form| &form.authority.url),
            is_deprecated: self.state == Some(NamespaceStatus::Deprecated),
        }
    }

    fn security(&self) -> String {
        let entry = self.entry.as_ref();
        let said = entry.and_then(|entry| entry.form.resolution.security.as_deref());
        said.unwrap_or("The entry states none.").to_string()
    }
}

/// What a namespace says about an identifier.
#[derive(Debug)]
pub(crate) struct NamespaceFacts {
    pub(crate) canonical: String,
    pub(crate) uri: String,
    /// The address of its entry, if there is one.
    pub(crate) page: Option<String>,
    pub(crate) title: String,
    pub(crate) status: &'static str,
    pub(crate) organisation: String,
    pub(crate) contact: String,
    pub(crate) url: String,
    pub(crate) is_deprecated: bool,
}

/// The page before an identifier leads on.
#[derive(Template)]
#[template(path = "registry/unregistered.html")]
struct UnregisteredPage<'a> {
    frame: Frame<'a>,
    facts: NamespaceFacts,
    security: String,
    location: String,
}
