//! What all pages share: templates, one stylesheet and one script, the institution's name and
//! colours, and the headers that keep pages safe.
//!
//! The templates are in `templates/`, the files that browsers load in `static/`. A page is a
//! struct with a field `frame`, whose template extends `base.html` (public pages) or
//! `console/base.html` (the console). `docs/pages.md` describes how to add one.

pub(crate) mod assets;
pub(crate) mod authority;
pub(crate) mod escaper;
pub(crate) mod filters;
pub(crate) mod site;
pub(crate) mod words;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

use crate::http::Web;
use crate::http::pages::site::Site;
use crate::http::response::{Body, WithHeader, plain, reply};

/// What the frame of a public page needs.
pub(crate) struct Frame<'a> {
    pub(crate) site: &'a Site,
    /// The text of the title, before the name of the institution.
    pub(crate) title: String,
    /// What the policy of this response allows scripts by.
    pub(crate) nonce: String,
    pub(crate) current: MenuPlace,
}

/// The item of the main menu that a public page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MenuPlace {
    About,
    Nowhere,
    Registry,
    Resolve,
}

/// An item of the main menu.
pub(crate) struct PublicMenuItem {
    pub(crate) path: &'static str,
    pub(crate) word: &'static str,
    pub(crate) is_current: bool,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(web: &'a Web, title: impl Into<String>, current: MenuPlace) -> Self {
        Self {
            site: &web.site,
            title: title.into(),
            nonce: nonce(web),
            current,
        }
    }

    pub(crate) fn menu(&self) -> [PublicMenuItem; 4] {
        let item = |place, path, word| PublicMenuItem {
            path,
            word,
            is_current: self.current == place && place != MenuPlace::Nowhere,
        };
        [
            item(MenuPlace::Resolve, "/", "Resolve"),
            item(MenuPlace::Registry, "/registry/", "Registry"),
            item(MenuPlace::About, "/registry/about", "About"),
            item(MenuPlace::Nowhere, "/console/", "Sign in"),
        ]
    }

    /// The page as a response. Forms of most pages lead to this server only.
    pub(crate) fn respond(&self, status: StatusCode, page: &impl Template) -> Response<Body> {
        self.respond_with_forms(status, page, "'self'")
    }

    /// The page as a response, whose forms may lead to other places, too.
    pub(crate) fn respond_with_forms(
        &self,
        status: StatusCode,
        page: &impl Template,
        form_action: &str,
    ) -> Response<Body> {
        rendered(status, page)
            .with(CONTENT_SECURITY_POLICY, policy(&self.nonce, form_action))
            .with(CACHE_CONTROL, "no-cache")
            .with(REFERRER_POLICY, "same-origin")
    }
}

/// Random bytes that nobody can guess, for one response: a script runs only if its tag has them.
pub(crate) fn nonce(web: &Web) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(web.context.world.random::<18>())
}

/// A template as a response.
pub(crate) fn rendered(status: StatusCode, page: &impl Template) -> Response<Body> {
    match page.render() {
        Ok(text) => reply(status, "text/html; charset=utf-8", text)
            .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
            .with(FRAME_OPTIONS, "DENY"),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the server failed\n")
        }
    }
}

/// The policy of a page. Scripts have the nonce of the response: `'self'` would allow too much,
/// because the REST API can answer with a script (`callback=`).
pub(crate) fn policy(nonce: &str, form_action: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self'; \
         connect-src 'self'; form-action {form_action}; base-uri 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types handfast"
    )
}

const FRAME_OPTIONS: HeaderName = HeaderName::from_static("x-frame-options");
