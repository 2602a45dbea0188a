//! A request that was read.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method};

use super::parameters::Parameters;
use super::presentation::Presentation;
use crate::web::Caller;

/// What is asked, how, and by whom.
#[derive(Debug)]
pub(crate) struct Question {
    /// `HEAD` is asked as `GET`.
    pub(crate) method: Method,
    /// As it was sent.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) parameters: Parameters,
    pub(crate) presentation: Presentation,
    pub(crate) body: Bytes,
    pub(crate) caller: Arc<Caller>,
}

impl Question {
    /// Whether the page of another site may have made a browser ask, with what the browser knows of its user: by a
    /// script that is loaded, or a form that is sent. Passwords and certificates that browsers add by themselves are
    /// not theirs to use.
    pub(crate) fn is_by_another_page(&self) -> bool {
        let says = |name: &str, words: &[&str]| {
            let said = self.headers.get(name).map(HeaderValue::as_bytes);
            said.is_some_and(|said| words.iter().any(|word| word.as_bytes() == said))
        };
        let is_read = self.method == Method::GET;
        is_read && self.presentation.is_script()
            || !is_read
                && says("sec-fetch-site", &["cross-site", "same-site"])
                && says("sec-fetch-mode", &["navigate", "no-cors"])
    }

    /// Whether the body is of a type, whatever its parameters.
    pub(crate) fn is_body(&self, wanted: &str) -> bool {
        let said = self.headers.get(CONTENT_TYPE);
        said.and_then(|said| said.to_str().ok()?.split(';').next())
            .is_some_and(|said| said.trim().eq_ignore_ascii_case(wanted))
    }
}
