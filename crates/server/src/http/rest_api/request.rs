//! A request of the REST API, read as a whole.

use std::cell::RefCell;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method};

use super::credentials::Login;
use super::parameters::Parameters;
use super::presentation::Presentation;
use crate::admission::expensive_work::WorkPermit;
use crate::admission::peer::Peer;
use crate::http::Caller;

/// A request, its parameters and its client.
pub(crate) struct RestRequest {
    /// `HEAD` is asked as `GET`.
    pub(crate) method: Method,
    /// As it was sent.
    pub(crate) path: String,
    /// Where it was sent to, if the address says so (HTTP/2); else the head does.
    pub(crate) authority: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) parameters: Parameters,
    pub(crate) presentation: Presentation,
    pub(crate) body: Bytes,
    pub(crate) caller: Arc<Caller>,
    /// The client, if it logged in before the body was read.
    pub(crate) login: RefCell<Option<Login>>,
    /// For looking at what the client says of itself, if that costs much.
    pub(crate) permit: RefCell<Option<WorkPermit>>,
}

impl RestRequest {
    /// The peer that failed logins count for.
    pub(crate) fn peer(&self) -> Peer {
        Peer::connected(self.caller.address.ip())
    }

    /// Whether the page of another site may have made a browser ask, with what the browser knows of
    /// its user: by a script that is loaded, a form that is sent, or a script of theirs that asks
    /// without asking first whether it may. Passwords and certificates that browsers add by
    /// themselves are not theirs to use. A password that a script has set itself looks the same,
    /// and is not taken either.
    pub(crate) fn is_by_another_page(&self) -> bool {
        if self.method == Method::GET {
            return self.presentation.is_script();
        }
        self.is_from_other_site() && !self.was_asked_for()
    }

    /// Whether a browser says that a page of another origin asks. What it says of the site, no page
    /// and no proxy changes; older browsers say the origin alone.
    fn is_from_other_site(&self) -> bool {
        match self.said("sec-fetch-site") {
            Some(b"same-origin" | b"none") => return false,
            Some(_) => return true,
            None => {}
        }
        let Some(origin) = self.said(ORIGIN.as_str()) else {
            return false;
        };
        let scheme: &[u8] = if self.caller.is_secure {
            b"https://"
        } else {
            b"http://"
        };
        let host = self.authority.as_deref().map(str::as_bytes);
        let host = host.or_else(|| self.said(HOST.as_str()));
        !host.is_some_and(|host| [scheme, host].concat().eq_ignore_ascii_case(origin))
    }

    /// Whether a browser asks before it sends such a request for another page, and is told that
    /// what it knows of its user is not wanted: forms and simple requests have none of these (Fetch
    /// standard, "CORS-safelisted").
    fn was_asked_for(&self) -> bool {
        matches!(self.method, Method::DELETE | Method::PUT)
            || self.is_body("application/json")
            || self.headers.contains_key("x-requested-with")
    }

    fn said(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name).map(HeaderValue::as_bytes)
    }

    /// Whether the body is of a type, whatever its parameters.
    pub(crate) fn is_body(&self, wanted: &str) -> bool {
        let said = self.headers.get(CONTENT_TYPE);
        said.and_then(|said| said.to_str().ok()?.split(';').next())
            .is_some_and(|said| said.trim().eq_ignore_ascii_case(wanted))
    }
}
