//! The slow path: answers any request for a name.

use std::sync::Arc;

use handfast_id::Urn;
use handfast_registry::{LiveRules, RegistryError};
use hyper::header::LOCATION;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::http::registry_pages::security;
use crate::http::registry_pages::unregistered_name::UnregisteredName;
use crate::http::resolver::accept::Accept;
use crate::http::resolver::choice::ClientPreferences;
use crate::http::resolver::failure::{Failure, FailurePage};
use crate::http::resolver::links::{self, LINKS, LINKSET};
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::{Name, NameLookup, find, follow};
use crate::http::resolver::page::{self, escape, fresh};
use crate::http::resolver::path::{BadPath, NameKind, RequestedName, strip};
use crate::http::resolver::qr_code::QrSymbol;
use crate::http::resolver::query::{Action, ResolveOptions};
use crate::http::resolver::record_page::RecordView;
use crate::http::resolver::redirect::{RedirectResponse, Target};
use crate::http::resolver::source::Source;
use crate::http::resolver::target::{appended, escaped_text, is_web, with_fragment, with_query};
use crate::http::resolver::{address, ark, front, headers, query_and_fragment, target};
use crate::http::response::{Body, empty, plain};
use crate::http::{Caller, Web};
use crate::setup::identity::Identity;

/// One request.
pub(crate) struct ResolveRequest<'r> {
    web: &'r Arc<Web>,
    caller: &'r Caller,
    head: &'r Parts,
    options: ResolveOptions,
    accept: Accept,
    /// The answer of a repository, if one may have the name.
    source: Option<Source>,
    now: u64,
}

impl<'r> ResolveRequest<'r> {
    pub(crate) fn new(
        web: &'r Arc<Web>,
        caller: &'r Caller,
        head: &'r Parts,
        options: ResolveOptions,
        source: Option<Source>,
    ) -> Self {
        Self {
            web,
            caller,
            head,
            options,
            source,
            accept: Accept::of(&head.headers),
            now: web.context.world.now(),
        }
    }

    pub(crate) fn answer(&self, asked: Result<RequestedName<'_>, BadPath>) -> Response<Body> {
        match self.head.uri.path().trim_matches('/') {
            "" => return self.front(),
            "favicon.ico" => return empty(StatusCode::NO_CONTENT),
            "robots.txt" => {
                let text = "User-agent: *\nDisallow: /api/\nDisallow: /console\n";
                return plain(StatusCode::OK, text);
            }
            _ => {}
        }
        match asked {
            Ok(asked) if asked.written.is_empty() => self.fail(Failure::malformed(
                "There is no identifier here.".to_string(),
            )),
            Ok(asked) => self.name(&asked),
            Err(bad) => self.fail(Failure::malformed(bad.as_str().to_string())),
        }
    }

    /// The front page, or where the typed text leads.
    fn front(&self) -> Response<Body> {
        let Some(typed) = &self.options.name else {
            if self.accept.wants_json() {
                let said = address::statement(&self.base());
                let said = serde_json::to_string(&said).unwrap_or_default();
                return fresh(StatusCode::OK, page::JSON, said);
            }
            return front::page(self.web);
        };
        let own = front::own_resolvers(self.web, self.caller, &self.head.uri, &self.head.headers);
        let found = front::path_of_typed(typed, &own, &self.rules());
        let found = found.and_then(|found| {
            if found.is_identifier || self.leads_somewhere(&found.path) {
                Ok(found.path)
            } else {
                Err(front::no_identifier())
            }
        });
        let mut url = match found {
            Ok(path) => path.into_bytes(),
            Err(failure) if self.accept.wants_json() => return failure.problem(),
            Err(failure) => return front::refused_page(self.web, typed, &failure, &own),
        };
        if self.options.action == Action::Show {
            url = with_query(&url, b"noredirect");
        }
        RedirectResponse::new(&url, StatusCode::SEE_OTHER)
            .into_response(self.head.version)
            .unwrap_or_else(|| front::page(self.web))
    }

    /// Whether a typed text that is no identifier is stored here, or looks like a prefix, about
    /// which there is a page.
    fn leads_somewhere(&self, path: &str) -> bool {
        let Ok(asked) = RequestedName::read(path, None) else {
            return false;
        };
        let is_stored = || {
            let found = find(self.web.registry(), &asked);
            matches!(
                found,
                Ok(NameLookup::Name(_) | NameLookup::Withdrawn(_)) | Err(_)
            )
        };
        front::is_numeric_prefix(&asked) || is_stored()
    }

    fn name(&self, asked: &RequestedName<'_>) -> Response<Body> {
        // The one handle that is the server's own.
        if asked.text.eq_ignore_ascii_case(Identity::ADMINISTRATOR) {
            let key = self.web.context.identity.administrator_value();
            return self.found(asked, Name::made(&asked.text, vec![key.into_owned()]));
        }
        let found = match find(self.web.registry(), asked) {
            Ok(found) => Source::or(self.source.as_ref(), &asked.text, found),
            Err(error) => return self.failed(&error),
        };
        match found {
            Ok(NameLookup::Name(name)) => self.found(asked, name),
            Ok(found) => self.not_found(asked, &found),
            Err(failure) => self.fail(failure),
        }
    }

    fn found(&self, asked: &RequestedName<'_>, name: Name) -> Response<Body> {
        if let Some(json) = self.as_json(&name) {
            return json;
        }
        let mut name = name;
        if !self.options.ignores_aliases && name.alias().is_some() {
            match follow(&self.web.context, name) {
                Ok(NameLookup::Name(meant)) if self.options.action == Action::Show => name = meant,
                Ok(NameLookup::Name(meant)) => return self.moved(&meant),
                Ok(found) => return self.not_found(asked, &found),
                Err(error) => return self.failed(&error),
            }
        }
        self.options.select(&mut name.values);
        match self.options.action {
            Action::Locations => return locations(&name),
            Action::Label | Action::QrPng | Action::QrSvg => return self.picture(&name),
            Action::Json | Action::Redirect | Action::Show => {}
        }
        if self.options.is_selective() && name.values.is_empty() {
            return self.no_values(&name);
        }
        let is_inflected = asked.kind == NameKind::Other
            && matches!(self.head.uri.query(), Some("" | "?" | "info"));
        if is_inflected && ark::is_ark(&asked.text) {
            let is_full = self.head.uri.query() != Some("");
            let base = self.base();
            let said = ark::description(self.web, &name, &base, is_full, &self.accept);
            return links::put(said, &name);
        }
        let considered = security::entry(self.web.registry(), name.authority());
        let is_page_first = considered
            .as_ref()
            .is_some_and(|entry| entry.form.resolution.page_first);
        let redirect = if self.options.action == Action::Show || is_inflected {
            None
        } else {
            self.redirect(asked, &name)
        };
        let location = redirect
            .as_ref()
            .and_then(|redirect| redirect.headers().get(LOCATION));
        let target = location.and_then(|location| location.to_str().ok().map(String::from));
        let mut response = redirect.filter(|_| !is_page_first).unwrap_or_else(|| {
            let security = considered.as_ref();
            let security = security.and_then(|entry| entry.form.resolution.security.as_deref());
            let base = self.base();
            let view = RecordView {
                target: target.or_else(|| self.target(&name)),
                security,
                is_first: is_page_first && self.options.action == Action::Redirect,
                ..self.view(&name, &base)
            };
            let mut shown = links::put(view.respond(), &name);
            headers::put(shown.headers_mut(), &name);
            shown
        });
        if let Some(entry) = considered {
            security::put_link(response.headers_mut(), &entry);
        }
        response
    }

    /// Where a name leads now, if a browser can be sent there.
    fn target(&self, name: &Name) -> Option<String> {
        let preferences =
            || ClientPreferences::of(self.web, self.caller, &self.head.headers, &self.options);
        let target = Target::of(name, preferences, self.now)?;
        is_web(&target.url).then(|| escaped_text(&target.url))
    }

    fn view<'v>(&'v self, name: &'v Name, base: &'v str) -> RecordView<'v> {
        RecordView::new(self.web, base, name)
    }

    /// The QR code of the citable link of a name, or a label with it.
    fn picture(&self, name: &Name) -> Response<Body> {
        let base = self.base();
        let view = self.view(name, &base);
        if self.options.action == Action::Label {
            return view.label();
        }
        let Some(symbol) = QrSymbol::new(&view.citable()) else {
            let detail = "The link is too long for a QR code.".to_string();
            let status = StatusCode::NOT_FOUND;
            return self.fail(Failure::new(status, "no-qr-code", "No QR Code", detail));
        };
        match (self.options.action, symbol.png()) {
            (Action::QrPng, Ok(png)) => fresh(StatusCode::OK, "image/png", png),
            _ => fresh(StatusCode::OK, "image/svg+xml", symbol.svg()),
        }
    }

    /// "Nothing found: the "values not found" page, status 200."
    fn no_values(&self, name: &Name) -> Response<Body> {
        let detail = format!("\"{}\" has no such values.", name.text);
        let failure = Failure::new(StatusCode::OK, "no-values", "No Values Found", detail);
        failure.page(self.web)
    }

    /// The record or its links, for programs that ask for them by media type.
    fn as_json(&self, name: &Name) -> Option<Response<Body>> {
        let json = self.accept.named("application/json");
        let page = self.accept.page();
        let (set, text) = (self.accept.named(LINKSET), self.accept.named(LINKS));
        if set.max(text) > page && set.max(text) >= json {
            let base = self.base();
            return Some(if set >= text {
                fresh(StatusCode::OK, LINKSET, links::set(name, &base).to_string())
            } else {
                fresh(StatusCode::OK, LINKS, links::lines(name, &base))
            });
        }
        (json > page || self.options.action == Action::Json).then(|| {
            let mut values = name.values.clone();
            self.options.select(&mut values);
            links::put(page::record_json(&name.text, &values), name)
        })
    }

    /// To the name that an alias means, with the query as it was.
    fn moved(&self, meant: &Name) -> Response<Body> {
        let mut url = meant.path();
        if let Some(query) = self.head.uri.query() {
            url = format!("{url}?{query}");
        }
        let seconds = target::lifetime(meant.values.iter(), self.now);
        RedirectResponse::new(url.as_bytes(), StatusCode::MOVED_PERMANENTLY)
            .cached(seconds, self.now)
            .into_response(self.head.version)
            .unwrap_or_else(|| self.view(meant, &self.base()).respond())
    }

    /// To where the name leads; `None` if nothing in its record can be a target.
    fn redirect(&self, asked: &RequestedName<'_>, name: &Name) -> Option<Response<Body>> {
        if self.accept.is_of_citations() && name.is_doi() && !Locations::of(name).negotiates() {
            // "204 DOI known, no metadata": "a script asking for CSL or BibTeX never gets HTML".
            return Some(links::put(empty(StatusCode::NO_CONTENT), name));
        }
        let preferences =
            || ClientPreferences::of(self.web, self.caller, &self.head.headers, &self.options);
        let target = Target::of(name, preferences, self.now)?;
        let mut url = appended(&target.url, &self.options.append);
        if asked.kind == NameKind::Handle {
            url = query_and_fragment::handed_on(&url, &asked.text, &self.rules());
        }
        let mut usual = StatusCode::FOUND;
        let mut is_handed_on = !self.options.rest.is_empty();
        if asked.kind == NameKind::Urn {
            usual = StatusCode::SEE_OTHER;
            let text = with_scheme(&asked.text);
            if let Ok(urn) = Urn::parse_with(&text, &self.rules()) {
                // The query of a URN with components is those components.
                is_handed_on &= urn.q().is_none() && urn.r().is_none();
                url = with_components(&url, &urn);
            }
        } else {
            is_handed_on = is_handed_on && name.hands_queries_on(self.web.registry());
        }
        if is_handed_on {
            if asked.kind != NameKind::Urn && !query_and_fragment::is_query(&self.options.rest) {
                let problem = "The query is no URI syntax: a % needs two hexadecimal digits \
                    behind it, other than 00.";
                return Some(self.fail(Failure::malformed(problem.to_string())));
            }
            url = with_query(&url, self.options.rest.as_bytes());
        }
        let mut response = target.respond(name, &url, usual, (self.head.version, self.now))?;
        if self.options.shows_headers {
            *response.status_mut() = StatusCode::OK;
        }
        Some(response)
    }

    fn not_found(&self, asked: &RequestedName<'_>, found: &NameLookup) -> Response<Body> {
        let text = match asked.kind {
            NameKind::Prefix => &*asked.written,
            _ => &*asked.text,
        };
        if matches!(found, NameLookup::Missing) && asked.kind == NameKind::Other {
            let unregistered = UnregisteredName::read(self.web.registry(), &asked.text);
            if let Some(unregistered) = unregistered {
                return self.unregistered(&unregistered);
            }
        }
        if matches!(found, NameLookup::Foreign)
            && let Some(unregistered) = self.spelt_as_info()
        {
            return self.unregistered(&unregistered);
        }
        let mut failure = match found {
            NameLookup::Missing | NameLookup::Name(_) => Failure::missing(text),
            NameLookup::Foreign => Failure::foreign(text),
            found => found.failure(text),
        };
        if matches!(found, NameLookup::Endless) {
            failure.page = FailurePage::Plain;
            failure.detail.push_str(" Its alias chain is too long.");
        }
        self.fail(failure)
    }

    /// A handle that was asked for as `info:hdl/…` or `info:doi/…`, if its namespace names a
    /// mechanism: a name whose prefix is not kept here may be found there.
    fn spelt_as_info(&self) -> Option<UnregisteredName> {
        let path = self.head.uri.path().trim_start_matches('/');
        let unregistered = UnregisteredName::read(self.web.registry(), path)?;
        unregistered.location().is_some().then_some(unregistered)
    }

    /// An `info` URI without a stored record (`INFO-11`).
    fn unregistered(&self, unregistered: &UnregisteredName) -> Response<Body> {
        let is_json = self.options.action == Action::Json || self.accept.wants_json();
        let is_shown = self.options.action != Action::Redirect || unregistered.is_page_first();
        let offered = if is_shown {
            unregistered.shown(self.web, is_json)
        } else {
            unregistered.redirect(StatusCode::FOUND, self.head.version)
        };
        offered.unwrap_or_else(|| unregistered.described(self.fail(unregistered.failure())))
    }

    fn fail(&self, failure: Failure) -> Response<Body> {
        if self.options.action == Action::Json {
            return failure.problem();
        }
        failure.answer(self.web, &self.accept)
    }

    fn failed(&self, error: &RegistryError) -> Response<Body> {
        self.fail(failure(error))
    }

    fn base(&self) -> String {
        address::base(self.web, self.caller, &self.head.uri, &self.head.headers)
    }

    fn rules(&self) -> LiveRules<'_> {
        self.web.registry().rules()
    }
}

/// The response when the registry fails.
pub(crate) fn failure(error: &RegistryError) -> Failure {
    tracing::error!(%error, "a name could not be looked up");
    let detail = "The server cannot look names up at the moment.".to_string();
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Failure::new(status, "failure", "The Server Failed", detail)
}

/// Copies the components of a URN that are for the resource (RFC 8141 §2.3): the r-component is the
/// resolver's, and means nothing yet.
pub(crate) fn with_components(url: &[u8], urn: &Urn<'_>) -> Vec<u8> {
    let mut url = url.to_vec();
    if let Some(q) = urn.q() {
        url = with_query(&url, q.as_bytes());
    }
    if let Some(f) = urn.f().filter(|f| !f.is_empty()) {
        url = with_fragment(&url, f.as_bytes());
    }
    url
}

/// `urn-3:…` is `urn:urn-3:…`.
pub(crate) fn with_scheme(text: &str) -> String {
    match strip(text, "urn:") {
        Some(_) => text.to_string(),
        None => format!("urn:{text}"),
    }
}

/// `action=showurls`: "a `<locations>` element with every candidate and its computed `href`".
fn locations(name: &Name) -> Response<Body> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<locations>\n");
    for location in Locations::of(name).list {
        out.push_str("  <location href=\"");
        out.push_str(&escape(&escaped_text(&location.href)));
        for (attribute, value) in &location.attributes {
            out.extend(["\" ", attribute, "=\"", &escape(value)]);
        }
        out.push_str("\"/>\n");
    }
    out.push_str("</locations>\n");
    fresh(StatusCode::OK, "text/xml; charset=utf-8", out)
}
