//! OAI-PMH 2.0: `/oai`, and `/registry/OAIHandler` for old links (`info-registry.md` §4).
//!
//! Items are the entries of the `info` registry that are, or were, registered. All answers come
//! from memory.

mod date;
mod record;
mod request;
mod token;

use std::sync::Arc;

use handfast_registry::{NamespaceChange, NamespacesChanged};
use hyper::{Method, Request as HttpRequest, Response, StatusCode, Uri};

use self::record::{OAI_DC, header, record};
use self::request::{Format, OaiError, Request, Selection, Set};
use crate::http::connection::request_body::Incoming;
use crate::http::form;
use crate::http::registry_pages::contact::{ContactLink, is_email};
use crate::http::registry_pages::reg::{self, INSTANCE};
use crate::http::resolver::address;
use crate::http::resolver::page::fresh;
use crate::http::resolver::{finished, options, refused};
use crate::http::response::Body;
use crate::http::xml::Xml;
use crate::http::{Caller, Web};

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
const SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd";
/// How many records a list has at once.
const PAGE: usize = 10;
/// The longest form: no request has as much to say.
const MAX_FORM: usize = 16 << 10;
const ALLOWED: &str = "GET, HEAD, POST, OPTIONS";
/// No record is older: the day before the first namespace was registered.
const EARLIEST: u64 = 1_065_571_200_000;

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: HttpRequest<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let mut asked = head.uri.query().unwrap_or_default().to_string();
    match head.method {
        Method::GET | Method::HEAD => {}
        Method::POST => match body.text(web, caller, MAX_FORM).await {
            Ok(form) => asked.extend(["&", form.trim()]),
            Err(response) => return response,
        },
        Method::OPTIONS => return finished(options(&head.headers, ALLOWED), &head.headers),
        _ => return refused(ALLOWED),
    }
    let base = address::base(web, caller, &head.uri, &head.headers);
    let text = Repository { web, base: &base }.answer(form::pairs(&asked));
    let response = fresh(StatusCode::OK, "text/xml; charset=utf-8", text);
    finished(response, &head.headers)
}

/// A request, and the base URL.
struct Repository<'r> {
    web: &'r Arc<Web>,
    /// How this resolver is reached.
    base: &'r str,
}

impl Repository<'_> {
    fn answer(&self, arguments: Option<Vec<(String, String)>>) -> String {
        let arguments = arguments.unwrap_or_default();
        let mut xml = Xml::new();
        let location = format!("{NAMESPACE} {SCHEMA}");
        xml.open(
            "OAI-PMH",
            &[
                ("xmlns", NAMESPACE),
                ("xmlns:xsi", INSTANCE),
                ("xsi:schemaLocation", &location),
            ],
        );
        xml.text("responseDate", &date::written(self.web.context.now()));
        let mut content = Xml::default();
        let found = Request::read(&arguments).and_then(|request| self.find(&mut content, request));
        let is_said_again = found.as_ref().err().is_none_or(|fault| !fault.is_of_form());
        let said: Vec<_> = arguments
            .iter()
            .filter(|_| is_said_again)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        xml.element("request", &said, &self.url());
        match found {
            Ok(()) => xml.put(content),
            Err(fault) => xml.element("error", &[("code", fault.code)], &fault.message),
        }
        xml.finish()
    }

    /// Writes the content of a response.
    fn find(&self, xml: &mut Xml, request: Request) -> Result<(), OaiError> {
        match request {
            Request::GetRecord { identifier, format } => {
                let item = self.item(&identifier)?;
                xml.open("GetRecord", &[]);
                record(xml, &item, format, self.base);
            }
            Request::Identify => self.identify(xml),
            Request::ListIdentifiers(selection) => {
                xml.open("ListIdentifiers", &[]);
                self.list(xml, &selection, header)?;
            }
            Request::ListMetadataFormats { identifier } => {
                let item = identifier.map(|identifier| self.item(&identifier));
                if item.transpose()?.is_some_and(|item| item.deleted) {
                    let message = "the entry is gone, and nothing is said of it any more";
                    return Err(OaiError::new("noMetadataFormats", message));
                }
                formats(xml);
            }
            Request::ListRecords(selection) => {
                xml.open("ListRecords", &[]);
                self.list(xml, &selection, |xml, change| {
                    record(xml, change, selection.format, self.base);
                })?;
            }
            Request::ListSets => sets(xml),
        }
        Ok(())
    }

    /// An item by its identifier, such as `info:lccn/`.
    fn item(&self, identifier: &str) -> Result<NamespaceChange, OaiError> {
        let unknown = || OaiError::new("idDoesNotExist", "there is no such entry");
        let wanted = identifier.to_ascii_lowercase();
        let all = self.changes(&NamespacesChanged::default());
        all.into_iter()
            .find(|change| change.entry.uri() == wanted)
            .ok_or_else(unknown)
    }

    /// Writes a part of a list.
    fn list(
        &self,
        xml: &mut Xml,
        selection: &Selection,
        write: impl Fn(&mut Xml, &NamespaceChange),
    ) -> Result<(), OaiError> {
        let mut all = self.changes(&NamespacesChanged {
            from: selection.from,
            until: selection.until,
            ..NamespacesChanged::default()
        });
        all.retain(|change| {
            let own = Set::of(change.entry.historical);
            selection.set.is_none_or(|set| set == own)
        });
        let size = all.len();
        let after = selection.after.as_ref();
        let after = after.map(|(time, name)| (*time, name.as_str()));
        all.retain(|change| Some((change.changed, change.entry.name())) > after);
        if all.is_empty() && selection.after.is_none() {
            let message = "no record has all of that";
            return Err(OaiError::new("noRecordsMatch", message));
        }
        let is_more = all.len() > PAGE;
        all.truncate(PAGE);
        let token = match all.last() {
            Some(last) if is_more => {
                let after = (last.changed, last.entry.name());
                Some(token::written(
                    selection,
                    after,
                    selection.cursor + all.len(),
                ))
            }
            // "The last incomplete list must include an empty resumptionToken."
            _ if selection.after.is_some() => Some(String::new()),
            _ => None,
        };
        for change in &all {
            write(xml, change);
        }
        if let Some(token) = token {
            let (size, cursor) = (size.to_string(), selection.cursor.to_string());
            let said = [("completeListSize", &*size), ("cursor", &*cursor)];
            xml.element("resumptionToken", &said, &token);
        }
        Ok(())
    }

    fn changes(&self, wanted: &NamespacesChanged) -> Vec<NamespaceChange> {
        self.web.registry().namespaces_changed(wanted)
    }

    fn url(&self) -> String {
        format!("{}/oai", self.base)
    }

    fn identify(&self, xml: &mut Xml) {
        let first = self.changes(&NamespacesChanged {
            limit: 1,
            ..NamespacesChanged::default()
        });
        let first = first.first().map_or(EARLIEST, |change| change.changed);
        xml.open("Identify", &[]);
        xml.text("repositoryName", "'info' URI Registry");
        xml.text("baseURL", &self.url());
        xml.text("protocolVersion", "2.0");
        xml.text("adminEmail", &self.email());
        xml.text("earliestDatestamp", &date::written(first.min(EARLIEST)));
        xml.text("deletedRecord", "persistent");
        xml.text("granularity", "YYYY-MM-DDThh:mm:ssZ");
        xml.text("compression", "gzip");
    }

    /// Whom to write to: as configured, or the public contact of the registry; every host has a
    /// postmaster (RFC 5321).
    fn email(&self) -> String {
        let said = self.web.registry_email.as_ref();
        if let Some(email) = said.filter(|email| is_email(email)) {
            return email.clone();
        }
        let nobody = handfast_registry::Principal::nobody();
        if let Ok(root) = self.web.registry().authority(&nobody, "info:")
            && let ContactLink::Email(email) = ContactLink::of(&root.contact)
        {
            return email.to_string();
        }
        let base = self.base.parse::<Uri>().ok();
        let host = base.as_ref().and_then(Uri::host).unwrap_or_default();
        let own = format!("postmaster@{host}");
        if is_email(&own) {
            own
        } else {
            "postmaster@localhost.invalid".to_string()
        }
    }
}

fn formats(xml: &mut Xml) {
    xml.open("ListMetadataFormats", &[]);
    for format in Format::ALL {
        let (namespace, schema) = match format {
            Format::OaiDc => OAI_DC,
            Format::Reg => (reg::NAMESPACE, reg::SCHEMA),
        };
        xml.open("metadataFormat", &[]);
        xml.text("metadataPrefix", format.prefix());
        xml.text("schema", schema);
        xml.text("metadataNamespace", namespace);
        xml.close();
    }
}

fn sets(xml: &mut Xml) {
    xml.open("ListSets", &[]);
    for set in Set::ALL {
        let (name, about) = match set {
            Set::Historical => (
                "Entries of the original registry",
                "Namespaces that were registered from 2003 to 2010.",
            ),
            Set::Later => (
                "Later entries",
                "Namespaces that were registered since the registry came back.",
            ),
        };
        xml.open("set", &[]);
        xml.text("setSpec", set.spec());
        xml.text("setName", name);
        xml.open("setDescription", &[]);
        record::open_dublin_core(xml);
        xml.text("dc:description", about);
        xml.close();
        xml.close();
        xml.close();
    }
}
