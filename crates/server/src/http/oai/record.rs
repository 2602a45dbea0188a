//! Records: a header, and an entry in one of the formats.

use handfast_registry::{NamespaceChange, NamespaceEntry};

use crate::http::oai::date;
use crate::http::oai::request::{Format, Set};
use crate::http::registry_pages::reg::{self, INSTANCE};
use crate::http::xml::Xml;

/// The namespace of Dublin Core as OAI-PMH wraps it, and its schema.
pub(crate) const OAI_DC: (&str, &str) = (
    "http://www.openarchives.org/OAI/2.0/oai_dc/",
    "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
);
const DC: &str = "http://purl.org/dc/elements/1.1/";

/// The header of a record: its identifier, datestamp and set.
pub(crate) fn header(xml: &mut Xml, change: &NamespaceChange) {
    let deleted: &[_] = if change.deleted {
        &[("status", "deleted")]
    } else {
        &[]
    };
    xml.open("header", deleted);
    xml.text("identifier", &change.entry.uri());
    xml.text("datestamp", &date::written(change.changed));
    xml.text("setSpec", Set::of(change.entry.historical).spec());
    xml.close();
}

/// A record; of one that is deleted, the header alone.
pub(crate) fn record(xml: &mut Xml, change: &NamespaceChange, format: Format, base: &str) {
    xml.open("record", &[]);
    header(xml, change);
    if !change.deleted {
        xml.open("metadata", &[]);
        match format {
            Format::OaiDc => dublin_core(xml, &change.entry, base),
            Format::Reg => reg::write(xml, &change.entry),
        }
        xml.close();
    }
    xml.close();
}

/// The short record (`info-registry.md` §4).
fn dublin_core(xml: &mut Xml, entry: &NamespaceEntry, base: &str) {
    open_dublin_core(xml);
    let form = &entry.form;
    xml.text_if("dc:title", &form.title);
    xml.text_if("dc:creator", &form.authority.organisation);
    xml.text_if("dc:date", registered(entry));
    let address = format!("{base}/registry/info/{}", entry.name());
    xml.text("dc:identifier", &address);
    xml.text_if("dc:description", &form.description);
    xml.close();
}

/// The beginning of Dublin Core, for records and for what is said of sets.
pub(crate) fn open_dublin_core(xml: &mut Xml) {
    let location = format!("{} {}", OAI_DC.0, OAI_DC.1);
    xml.open(
        "oai_dc:dc",
        &[
            ("xmlns:oai_dc", OAI_DC.0),
            ("xmlns:dc", DC),
            ("xmlns:xsi", INSTANCE),
            ("xsi:schemaLocation", &location),
        ],
    );
}

/// "Fills the gap for bnf and nyu": their full records have no date, their short ones had.
fn registered(entry: &NamespaceEntry) -> &str {
    match (&entry.registered, entry.name()) {
        (Some(day), _) => day,
        (None, "bnf") => "2008-05-13",
        (None, "nyu") => "2010-05-12",
        (None, _) => "",
    }
}
