//! One request to a service.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use handfast_id::{Urn, recognise};
use handfast_registry::RegistryError;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::http::registry_pages::security;
use crate::http::registry_pages::unregistered_name::UnregisteredName;
use crate::http::resolver::accept::Accept;
use crate::http::resolver::choice::ClientPreferences;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::page::fresh;
use crate::http::resolver::path::{NameKind, RequestedName};
use crate::http::resolver::query::ResolveOptions;
use crate::http::resolver::redirect::Target;
use crate::http::resolver::source::Source;
use crate::http::resolver::target::{escaped_text, is_web};
use crate::http::resolver::{address, failure, query_and_fragment, with_components, with_scheme};
use crate::http::response::Body;
use crate::http::uri_res::description::DescriptionContext;
use crate::http::uri_res::list;
use crate::http::uri_res::operand::{self, Operand, uri};
use crate::http::uri_res::service::{Service, ServiceOutput};
use crate::http::{Caller, Web};

/// How many places are listed of all names at one place.
const MAX_LISTED_LOCATIONS: usize = 1_000;

/// One request.
pub(crate) struct Resolution<'r> {
    pub(crate) web: &'r Arc<Web>,
    pub(crate) caller: &'r Caller,
    pub(crate) head: &'r Parts,
    pub(crate) service: Service,
    /// The URI, as it was sent.
    pub(crate) asked: &'r str,
    pub(crate) accept: &'r Accept,
    /// The answer of a repository, if one may have the name.
    pub(crate) source: Option<Source>,
}

impl Resolution<'_> {
    pub(crate) fn answer(&self) -> Response<Body> {
        let operand = Operand::read(
            self.web,
            self.service.from,
            &self.text(),
            self.source.as_ref(),
        );
        let answered = operand.and_then(|operand| match operand {
            Operand::Name(name) => self.of_name(&name),
            Operand::Location { names } => self.of_location(&names),
        });
        answered.unwrap_or_else(|failure| {
            let missing = (failure.code == "not-found")
                .then(|| self.unregistered())
                .flatten();
            missing.unwrap_or_else(|| failure.answer(self.web, self.accept))
        })
    }

    /// The answer for an `info` URI without a record, from its namespace (`INFO-11`).
    fn unregistered(&self) -> Option<Response<Body>> {
        let registry = self.web.registry();
        let unregistered = UnregisteredName::read(registry, &self.text())?;
        // A handle whose prefix is homed here is not asked for at another server.
        let (text, rules) = (self.text(), registry.rules());
        let read = recognise(&text, &rules).ok()?.identifier;
        let handle = read.spellings(&rules).handle;
        if handle.is_some_and(|handle| registry.is_responsible(&handle).unwrap_or(true)) {
            return None;
        }
        let version = self.head.version;
        // RFC 2169 §2.1: programs that ask for a location get one, with a link to the security
        // considerations; a page that must be shown first is for people, who ask for `/info:…`.
        let offered = match (self.service.to, unregistered.location()) {
            (ServiceOutput::Location | ServiceOutput::Resource | ServiceOutput::Resources, _)
                if unregistered.has_dot_segment() =>
            {
                unregistered.shown(self.web, self.accept.wants_json())
            }
            (ServiceOutput::Location, _) => unregistered.redirect(StatusCode::SEE_OTHER, version),
            (ServiceOutput::Resource | ServiceOutput::Resources, _) => {
                unregistered.redirect(StatusCode::FOUND, version)
            }
            (ServiceOutput::Locations, Some(location)) => {
                Some(unregistered.described(self.list(&[location])))
            }
            _ => None,
        };
        let failed = || unregistered.failure().answer(self.web, self.accept);
        let nothing = || unregistered.described(failed());
        Some(offered.unwrap_or_else(nothing))
    }

    fn text(&self) -> Cow<'_, str> {
        meant(self.asked)
    }

    fn of_name(&self, name: &Name) -> Result<Response<Body>, Failure> {
        match self.service.to {
            ServiceOutput::Location => self.redirect(name, StatusCode::SEE_OTHER),
            ServiceOutput::Resource => self.redirect(name, StatusCode::FOUND),
            ServiceOutput::Resources => self.resources(name),
            ServiceOutput::Locations => Ok(self.list(&self.locations(name))),
            ServiceOutput::Description => Ok(self.described(|context| context.one(name))),
            ServiceOutput::Descriptions => {
                Ok(self.described(|context| context.several(slice::from_ref(name))))
            }
            ServiceOutput::Name | ServiceOutput::Equality => {
                Ok(self.list(&[uri(self.web.registry(), name)]))
            }
            ServiceOutput::Names => self.others(name).map_err(|error| failure(&error)),
        }
    }

    fn of_location(&self, names: &[Name]) -> Result<Response<Body>, Failure> {
        let Some(first) = names.first() else {
            return Err(Failure::missing(self.asked));
        };
        let own = self.text();
        match self.service.to {
            ServiceOutput::Names => {
                let uris = names.iter().map(|name| uri(self.web.registry(), name));
                Ok(self.list(&uris.collect::<Vec<_>>()))
            }
            ServiceOutput::Descriptions => Ok(self.described(|context| context.several(names))),
            ServiceOutput::Locations | ServiceOutput::Resources | ServiceOutput::Equality => {
                let mut seen = HashSet::from([own.into_owned()]);
                let urls = names.iter().flat_map(|name| self.locations(name));
                let urls = urls.filter(|url| seen.insert(url.clone()));
                Ok(self.list(&urls.take(MAX_LISTED_LOCATIONS).collect::<Vec<_>>()))
            }
            ServiceOutput::Description
            | ServiceOutput::Location
            | ServiceOutput::Name
            | ServiceOutput::Resource => self.of_name(first),
        }
    }

    /// Where a name is, first places first (`URN-9`), with the components of the URN that was asked
    /// for.
    fn locations(&self, name: &Name) -> Vec<String> {
        let locations = Locations::of(name).list.into_iter();
        locations
            .filter(|location| !location.href.trim_ascii().is_empty())
            .map(|location| escaped_text(&self.with_components(&name.with_rest(&location.href))))
            .collect()
    }

    /// RFC 2169 §2.1: "clients of HTTP/1.1 get 303, those of HTTP/1.0 302".
    fn redirect(&self, name: &Name, usual: StatusCode) -> Result<Response<Body>, Failure> {
        let now = self.web.context.now();
        let options = ResolveOptions::default();
        let preferences =
            || ClientPreferences::of(self.web, self.caller, &self.head.headers, &options);
        let target = Target::of(name, preferences, now).ok_or_else(|| nowhere(name))?;
        let url = self.with_components(&target.url);
        let response = target.respond(name, &url, usual, (self.head.version, now));
        let mut response = response.ok_or_else(|| nowhere(name))?;
        if let Some(entry) = security::entry(self.web.registry(), name.authority()) {
            security::put_link(response.headers_mut(), &entry);
        }
        Ok(response)
    }

    /// All instances: one by a redirect, several as external bodies (RFC 2017).
    fn resources(&self, name: &Name) -> Result<Response<Body>, Failure> {
        let mut urls = self.locations(name);
        urls.retain(|url| is_web(url.as_bytes()));
        match urls.as_slice() {
            [] => return Err(nowhere(name)),
            [_] => return self.redirect(name, StatusCode::FOUND),
            _ => {}
        }
        let mut out = String::new();
        for url in &urls {
            let url = url.replace('"', "%22");
            let kind = "Content-Type: message/external-body; access-type=URL; URL=";
            out.extend(["--", BOUNDARY, "\r\n", kind, "\"", &url, "\"\r\n\r\n"]);
            out.push_str("Content-Type: application/octet-stream\r\n\r\n\r\n");
        }
        out.extend(["--", BOUNDARY, "--\r\n"]);
        Ok(fresh(StatusCode::OK, MULTIPART, out))
    }

    /// Other names of the same thing: `N2Ns` those that have the same first URL now; `I2Ns` only
    /// the name that was asked for, as nobody has said of others that they are interchangeable.
    fn others(&self, name: &Name) -> Result<Response<Body>, RegistryError> {
        let registry = self.web.registry();
        let own = uri(registry, name);
        if self.service.from == crate::http::uri_res::service::ServiceInput::Any {
            return Ok(self.list(&[own]));
        }
        let mut uris = Vec::new();
        if let Some(url) = name.urls().next().and_then(|url| url.text()) {
            let names = operand::holders(registry, url)?;
            uris.extend(names.iter().map(|name| uri(registry, name)));
        }
        uris.retain(|uri| *uri != own);
        Ok(self.list(&uris))
    }

    fn with_components(&self, url: &[u8]) -> Vec<u8> {
        let text = self.text();
        let asked = RequestedName::typed(&text);
        if asked.kind != NameKind::Urn {
            return query_and_fragment::handed_on(url, &text, &self.web.registry().rules());
        }
        let text = with_scheme(&asked.text);
        match Urn::parse_with(&text, &self.web.registry().rules()) {
            Ok(urn) => with_components(url, &urn),
            Err(_) => url.to_vec(),
        }
    }

    fn list(&self, uris: &[String]) -> Response<Body> {
        list::list(self.web, self.asked, uris, self.accept)
    }

    fn described(
        &self,
        describe: impl FnOnce(&DescriptionContext<'_>) -> Response<Body>,
    ) -> Response<Body> {
        let head = self.head;
        describe(&DescriptionContext {
            web: self.web,
            base: &address::base(self.web, self.caller, &head.uri, &head.headers),
            accept: self.accept,
        })
    }
}

/// "The URI is the entire query string"; some clients escape all of it.
pub(crate) fn meant(asked: &str) -> Cow<'_, str> {
    if asked.contains(':') || !asked.contains("%3") {
        return Cow::Borrowed(asked);
    }
    let decoded = percent_decode_str(asked).decode_utf8();
    decoded.unwrap_or(Cow::Borrowed(asked))
}

const BOUNDARY: &str = "handfast-part";
const MULTIPART: &str = "multipart/alternative; boundary=handfast-part";

/// "Exists, but this operation has nothing to give."
fn nowhere(name: &Name) -> Failure {
    let detail = format!("\"{}\" is known, but no URL of it.", name.text);
    Failure::new(StatusCode::NOT_FOUND, "no-url", "No Location", detail)
}
