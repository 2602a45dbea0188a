//! Reading the XML of the original registry (`info-registry.md` §1).
//!
//! People wrote these records by hand. So the reader accepts a misspelt element, empty examples,
//! prose instead of a URI, a URI without scheme, repeated descriptions, line breaks inside values,
//! and missing fields. It leaves personal contacts out.

use handfast_api::{NamespaceAuthority, NamespaceForm, NamespaceSample};
use handfast_id::InfoUri;
use handfast_wire::namespace::has_few_attributes;
use roxmltree::{Document, Node, ParsingOptions};

use super::import::{NamespaceImport, day};
use super::validate::is_web_address;
use crate::error::RegistryError;

/// The maximum number of nodes of a document.
const MAX_XML_NODES: u32 = 500_000;

/// Reads all records of a document, wherever they are.
pub(super) fn read(text: &str) -> Result<Vec<NamespaceImport>, RegistryError> {
    if !has_few_attributes(text) {
        let problem = "an element of it has thousands of attributes";
        return Err(RegistryError::policy("bad-record", problem));
    }
    let options = ParsingOptions {
        // Entities could expand without bounds.
        allow_dtd: false,
        nodes_limit: MAX_XML_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| RegistryError::policy("bad-record", format!("not XML: {error}")))?;
    let records = document.descendants();
    let records: Vec<_> = records
        .filter(|node| node.tag_name().name() == "info-registry-entry")
        .map(record)
        .collect();
    if records.is_empty() {
        let problem = "there is no info-registry-entry in it";
        return Err(RegistryError::policy("bad-record", problem));
    }
    Ok(records)
}

fn record(node: Node<'_, '_>) -> NamespaceImport {
    let part = |name: &str| child(node, &[name]);
    let mut form = NamespaceForm {
        namespace: part("info-namespace").map(squeezed).unwrap_or_default(),
        title: part("namespace-title").map(line).unwrap_or_default(),
        ..NamespaceForm::default()
    };
    form = form.in_lowercase();
    let authority = child(node, &["namespace-authority", "namespace-authorithy"]);
    if let Some(authority) = authority {
        let say = |name: &str| child(authority, &[name]).map(line).unwrap_or_default();
        let address = |name: &str| child(authority, &[name]).and_then(uri).unwrap_or_default();
        let url = address("organisation-uri");
        form.authority = NamespaceAuthority {
            organisation: say("organisation-name"),
            address: say("organisation-address"),
            // The web address serves as contact if there is no other.
            contact: Some(address("contact-uri"))
                .filter(|contact| *contact != url)
                .unwrap_or_default(),
            url,
        };
    }
    (form.description, form.see) = part("namespace-information").map(prose).unwrap_or_default();
    let syntax = part("identifier-syntax").map(prose).unwrap_or_default();
    (form.syntax.summary, form.syntax.see) = syntax;
    let normalisation = part("identifier-normalization").map(prose);
    (form.normalisation.summary, form.normalisation.see) = normalisation.unwrap_or_default();
    let service = part("service-mechanism").map(prose).unwrap_or_default();
    (form.resolution.summary, form.resolution.see) = service;
    form.resolution.summary = without_security(&form.resolution.summary);
    let examples = part("identifier-examples").into_iter();
    let examples = examples.flat_map(|examples| examples.children());
    form.examples = examples
        .filter_map(|node| example(node, &form.namespace))
        .collect();
    NamespaceImport {
        registered: part("registration-date")
            .map(squeezed)
            .and_then(|text| day(&text)),
        form,
        has_rules: false,
    }
}

/// The first child of one of some names, in whatever XML namespace.
fn child<'a, 'i>(node: Node<'a, 'i>, names: &[&str]) -> Option<Node<'a, 'i>> {
    let mut children = node.children();
    children.find(|child| names.contains(&child.tag_name().name()))
}

fn text(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|node| node.text()).collect()
}

/// A value without its line breaks.
fn line(node: Node<'_, '_>) -> String {
    let text = text(node);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value without any white space.
fn squeezed(node: Node<'_, '_>) -> String {
    text(node).split_whitespace().collect()
}

/// An address, if the text is one.
fn uri(node: Node<'_, '_>) -> Option<String> {
    let said = squeezed(node);
    if is_web_address(&said) {
        return Some(said);
    }
    // `www.example.org/x` without its scheme, but not `N/A`.
    let with_scheme = format!("http://{said}");
    let host = said.split('/').next().unwrap_or_default();
    (host.contains('.') && is_web_address(&with_scheme)).then_some(with_scheme)
}

/// The descriptions, including prose that is written in fields for addresses; and the addresses.
fn prose(node: Node<'_, '_>) -> (String, Vec<String>) {
    let (mut texts, mut uris) = (Vec::new(), Vec::new());
    for child in node.children().filter(Node::is_element) {
        match (child.tag_name().name(), uri(child)) {
            ("uri", Some(uri)) => uris.push(uri),
            ("uri" | "description", _) => texts.push(line(child)),
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty() && !text.eq_ignore_ascii_case("n/a"));
    (texts.join("\n\n"), uris)
}

/// The original had no field for security considerations, so this registry appends them to the
/// description of the service. Reading removes them again; those of the entry stay.
fn without_security(text: &str) -> String {
    let words = text.split(SECURITY).next().unwrap_or_default();
    words.trim_end().to_string()
}

/// The text before security considerations.
const SECURITY: &str = "Security considerations: ";

/// An example, unless it is a placeholder or not an identifier of the namespace.
fn example(node: Node<'_, '_>, namespace: &str) -> Option<NamespaceSample> {
    let input = child(node, &["info-uri"]).map(squeezed)?;
    let uri = InfoUri::parse(&input).ok()?;
    if uri.namespace() != namespace {
        return None;
    }
    let native = child(node, &["native"]).map(line);
    let canonical = uri.to_string();
    Some(NamespaceSample {
        native: native.filter(|native| !native.is_empty()),
        canonical,
        input,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One record with all the irregularities of the 29.
    const ODD: &str = r#"<?xml version="1.0"?>
        <OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><GetRecord><record><metadata>
        <info-registry-entry xmlns="http://info-uri.info/registry">
          <info-namespace>Odd
          </info-namespace>
          <namespace-title>Odd
             names</namespace-title>
          <registration-date></registration-date>
          <namespace-authorithy>
            <organisation-name>Example Library</organisation-name>
            <organisation-uri>www.example.org/odd</organisation-uri>
            <contact-person>Ann Example</contact-person>
            <contact-email>ann@example.org</contact-email>
          </namespace-authorithy>
          <identifier-syntax><description>One.</description><description>Two.</description>
            <uri>http://example.org/syntax</uri></identifier-syntax>
          <identifier-normalization/>
          <identifier-examples>
            <identifier-example><native/><info-uri/></identifier-example>
            <identifier-example><native>a b</native><info-uri>info:odd/a%20
               b</info-uri></identifier-example>
          </identifier-examples>
          <service-mechanism><uri>N/A</uri><uri>no service</uri></service-mechanism>
        </info-registry-entry></metadata></record></GetRecord></OAI-PMH>"#;

    #[test]
    fn what_is_odd_in_the_old_records_is_borne_with() {
        let [given] = &read(ODD).unwrap()[..] else {
            panic!("one record");
        };
        let form = &given.form;
        assert_eq!(
            (form.namespace.as_str(), form.title.as_str()),
            ("odd", "Odd names")
        );
        assert_eq!(form.authority.organisation, "Example Library");
        assert_eq!(form.authority.url, "http://www.example.org/odd");
        assert_eq!(form.authority.contact, "");
        assert!(!format!("{form:?}").contains("Ann"));
        assert_eq!(form.syntax.summary, "One.\n\nTwo.");
        assert_eq!(form.syntax.see, ["http://example.org/syntax"]);
        assert_eq!(form.resolution.summary, "no service");
        assert_eq!(form.resolution.see, Vec::<String>::new());
        assert_eq!(form.examples.len(), 1);
        assert_eq!(form.examples[0].input, "info:odd/a%20b");
        assert_eq!(given.registered, None);
    }

    #[test]
    fn what_grows_without_bounds_is_refused() {
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>
            <info-registry-entry><info-namespace>&b;</info-namespace></info-registry-entry>"#;
        assert_eq!(read(bomb).unwrap_err().code(), "bad-record");
        let many: Vec<_> = (0..5_000).map(|i| format!("a{i}='x'")).collect();
        let many = format!("<info-registry-entry {}/>", many.join(" "));
        assert_eq!(read(&many).unwrap_err().code(), "bad-record");
        assert!(read("<x/>").is_err() && read("<x>").is_err());
    }
}
