//! An entry in the XML of the original registry (`info-registry.md` §1): the metadata format `reg`.

use handfast_registry::{NamespaceEntry, NamespaceForm};

use crate::http::registry_pages::contact::ContactLink;
use crate::http::xml::Xml;

/// The namespace of its elements.
pub(crate) const NAMESPACE: &str = "http://info-uri.info/registry";
/// The address of the original schema.
pub(crate) const SCHEMA: &str = "http://info-uri.info/info-uri-registry.xsd";
/// The namespace of `schemaLocation`.
pub(crate) const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A document of its own.
pub(crate) fn document(entry: &NamespaceEntry) -> String {
    let mut xml = Xml::new();
    write(&mut xml, entry);
    xml.finish()
}

/// The element `info-registry-entry`; its children stand in the order of the original.
pub(crate) fn write(xml: &mut Xml, entry: &NamespaceEntry) {
    let form = &entry.form;
    let location = format!("{NAMESPACE} {SCHEMA}");
    xml.open(
        "info-registry-entry",
        &[
            ("xmlns", NAMESPACE),
            ("xmlns:xsi", INSTANCE),
            ("xsi:schemaLocation", &location),
        ],
    );
    xml.text("info-namespace", entry.name());
    xml.text("namespace-title", &form.title);
    // Some entries of the original have none: the element is there, and empty.
    xml.text(
        "registration-date",
        entry.registered.as_deref().unwrap_or_default(),
    );
    authority(xml, form);
    xml.open("identifier-syntax", &[]);
    xml.text("description", &form.syntax_in_words());
    uris(xml, &form.syntax.see);
    xml.close();
    xml.open("identifier-normalization", &[]);
    xml.text_if("description", &form.normalisation_in_words());
    uris(xml, &form.normalisation.see);
    xml.close();
    examples(xml, form);
    xml.open("namespace-information", &[]);
    xml.text_if("description", &form.description);
    uris(xml, &form.see);
    xml.close();
    service(xml, form);
    xml.close();
}

fn authority(xml: &mut Xml, form: &NamespaceForm) {
    let said = &form.authority;
    xml.open("namespace-authority", &[]);
    xml.text("organisation-name", &said.organisation);
    xml.text_if("organisation-address", &said.address);
    xml.text_if("organisation-uri", &said.url);
    match ContactLink::of(form.contact()) {
        ContactLink::Email(email) => xml.text_if("contact-email", email),
        ContactLink::Web(url) => xml.text_if("contact-uri", url),
        ContactLink::Words(words) => xml.text_if("contact-person", words),
    }
    xml.close();
}

/// Each canonical form once, with what the authority writes.
fn examples(xml: &mut Xml, form: &NamespaceForm) {
    let mut seen = Vec::new();
    xml.open("identifier-examples", &[]);
    for sample in &form.examples {
        let example = (sample.native.as_deref(), sample.canonical.as_str());
        if seen.contains(&example) {
            continue;
        }
        seen.push(example);
        xml.open("identifier-example", &[]);
        xml.text("native", example.0.unwrap_or_default());
        xml.text("info-uri", example.1);
        xml.close();
    }
    xml.close();
}

/// The original has no place for security considerations; they go where people read of the service.
fn service(xml: &mut Xml, form: &NamespaceForm) {
    let said = &form.resolution;
    xml.open("service-mechanism", &[]);
    let mut words = said.summary.trim().to_string();
    if let Some(security) = said.security.as_deref().filter(|text| !text.is_empty()) {
        if !words.is_empty() {
            words.push('\n');
        }
        words.extend(["Security considerations: ", security]);
    }
    xml.text_if("description", &words);
    if let Some(mechanism) = &said.mechanism {
        // A template is no URI: the original gave what identifiers are appended to.
        let uri = mechanism.split("{id}").next().unwrap_or_default();
        xml.text_if("uri", uri);
    }
    uris(xml, &said.see);
    xml.close();
}

fn uris(xml: &mut Xml, uris: &[String]) {
    for uri in uris {
        xml.text_if("uri", uri);
    }
}
