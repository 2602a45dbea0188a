//! OAI-PMH 2.0, by its own words.

use handfast_testing::Server;
use roxmltree::{Document, Node};

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
const DC: &str = "http://purl.org/dc/elements/1.1/";
const REG: &str = "http://info-uri.info/registry";

/// What is asked, and what comes back.
fn ask(server: &Server, query: &str) -> String {
    let answer = server.get(&format!("/oai?{query}"));
    assert_eq!(answer.status, 200, "{query}");
    assert_eq!(
        answer.header("content-type"),
        Some("text/xml; charset=utf-8")
    );
    answer.body
}

fn children<'a, 'd>(node: Node<'a, 'd>) -> Vec<Node<'a, 'd>> {
    node.children().filter(Node::is_element).collect()
}

fn all<'a, 'd>(document: &'a Document<'d>, name: &str) -> Vec<Node<'a, 'd>> {
    let nodes = document.descendants();
    nodes
        .filter(|node| node.tag_name().name() == name)
        .collect()
}

fn text<'d>(document: &'d Document<'_>, name: &str) -> &'d str {
    let found = all(document, name);
    assert_eq!(found.len(), 1, "{name}");
    found[0].text().unwrap_or_default()
}

#[test]
fn every_answer_has_the_same_frame() {
    let server = Server::start();
    for (query, third) in [
        ("verb=Identify", "Identify"),
        ("verb=ListMetadataFormats", "ListMetadataFormats"),
        ("verb=ListSets", "ListSets"),
        ("verb=ListIdentifiers&metadataPrefix=reg", "ListIdentifiers"),
        ("verb=ListRecords&metadataPrefix=oai_dc", "ListRecords"),
        (
            "verb=GetRecord&metadataPrefix=reg&identifier=info:lccn/",
            "GetRecord",
        ),
        ("verb=Nothing", "error"),
    ] {
        let body = ask(&server, query);
        let read = Document::parse(&body).unwrap();
        let root = read.root_element();
        assert_eq!(root.tag_name(), (OAI, "OAI-PMH").into());
        let names: Vec<_> = children(root)
            .iter()
            .map(|node| node.tag_name().name())
            .collect();
        assert_eq!(names, ["responseDate", "request", third], "{query}");
        assert_eq!(text(&read, "responseDate"), "2026-11-15T06:17:16Z");
        let request = children(root)[1];
        assert_eq!(request.text(), Some("http://names.example:8000/oai"));
        let said: Vec<_> = request
            .attributes()
            .map(|attribute| format!("{}={}", attribute.name(), attribute.value()))
            .collect();
        let expected = if third == "error" { "" } else { query };
        assert_eq!(said.join("&"), expected);
    }
}

#[test]
fn the_repository_says_what_it_is() {
    let server = Server::start();
    let body = ask(&server, "verb=Identify");
    let read = Document::parse(&body).unwrap();
    let said: Vec<_> = children(all(&read, "Identify")[0])
        .iter()
        .map(|node| (node.tag_name().name(), node.text().unwrap_or_default()))
        .collect();
    assert_eq!(
        said,
        [
            ("repositoryName", "'info' URI Registry"),
            ("baseURL", "http://names.example:8000/oai"),
            ("protocolVersion", "2.0"),
            ("adminEmail", "postmaster@names.example"),
            ("earliestDatestamp", "2003-10-08T00:00:00Z"),
            ("deletedRecord", "persistent"),
            ("granularity", "YYYY-MM-DDThh:mm:ssZ"),
            ("compression", "gzip"),
        ]
    );
}

#[test]
fn errors_have_codes_and_say_again_only_what_was_understood() {
    let server = Server::start();
    for (query, code, is_said_again) in [
        ("", "badVerb", false),
        ("verb=Explain&x=%3Cscript%3E", "badVerb", false),
        ("verb=Identify&verb=Identify", "badVerb", false),
        ("verb=Identify&from=2026-01-01", "badArgument", false),
        ("verb=GetRecord&identifier=info:lccn/", "badArgument", false),
        (
            "verb=GetRecord&metadataPrefix=marc&identifier=info:lccn/",
            "cannotDisseminateFormat",
            true,
        ),
        (
            "verb=GetRecord&metadataPrefix=reg&identifier=info:nobody/",
            "idDoesNotExist",
            true,
        ),
        (
            "verb=GetRecord&metadataPrefix=reg&identifier=lccn",
            "idDoesNotExist",
            true,
        ),
        (
            "verb=ListMetadataFormats&identifier=%3C%22%00%3E",
            "idDoesNotExist",
            true,
        ),
        (
            "verb=ListRecords&metadataPrefix=reg&from=2011-01-01&until=2011-12-31",
            "noRecordsMatch",
            true,
        ),
        (
            "verb=ListRecords&metadataPrefix=reg&set=later",
            "noRecordsMatch",
            true,
        ),
        (
            "verb=ListRecords&metadataPrefix=reg&until=1999-01-01",
            "noRecordsMatch",
            true,
        ),
        (
            "verb=ListRecords&resumptionToken=1~reg~~~~10~5~%3Cx%3E",
            "badResumptionToken",
            true,
        ),
        (
            "verb=ListSets&resumptionToken=x",
            "badResumptionToken",
            true,
        ),
    ] {
        let body = ask(&server, query);
        let read = Document::parse(&body).unwrap_or_else(|error| panic!("{query}: {error}"));
        let error = all(&read, "error")[0];
        assert_eq!(error.attribute("code"), Some(code), "{query}");
        assert!(error.text().is_some());
        let said = all(&read, "request")[0].attributes().count();
        assert_eq!(said > 0, is_said_again, "{query}");
    }
}

#[test]
fn all_entries_come_in_both_formats_ten_at_a_time() {
    let server = Server::start();
    for (verb, format) in [
        ("ListRecords", "oai_dc"),
        ("ListRecords", "reg"),
        ("ListIdentifiers", "reg"),
    ] {
        let mut query = format!("verb={verb}&metadataPrefix={format}");
        let (mut seen, mut stamps, mut pages) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let body = ask(&server, &query);
            let read = Document::parse(&body).unwrap();
            let headers = all(&read, "header");
            pages.push(headers.len());
            for header in headers {
                let said = children(header);
                let names: Vec<_> = said.iter().map(|node| node.tag_name().name()).collect();
                assert_eq!(names, ["identifier", "datestamp", "setSpec"]);
                seen.push(said[0].text().unwrap().to_string());
                stamps.push(said[1].text().unwrap().to_string());
                assert_eq!(said[2].text(), Some("historical"));
            }
            let token = all(&read, "resumptionToken")[0];
            assert_eq!(token.attribute("completeListSize"), Some("29"));
            let before: usize = token.attribute("cursor").unwrap().parse().unwrap();
            assert_eq!(before, (pages.len() - 1) * 10);
            match token.text() {
                Some(token) => query = format!("verb={verb}&resumptionToken={token}"),
                None => break,
            }
        }
        assert_eq!(pages, [10, 10, 9], "{verb} {format}");
        assert!(stamps.is_sorted());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 29);
    }
}

#[test]
fn records_are_chosen_by_day_second_and_set() {
    let server = Server::start();
    let count = |arguments: &str| {
        let body = ask(
            &server,
            &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&{arguments}"),
        );
        let read = Document::parse(&body).unwrap();
        match all(&read, "resumptionToken").first() {
            Some(token) => token
                .attribute("completeListSize")
                .unwrap()
                .parse()
                .unwrap(),
            None => all(&read, "header").len(),
        }
    };
    for (arguments, expected) in [
        ("set=historical", 29),
        ("from=2003-10-09&until=2003-10-09", 1),
        ("from=2003-10-09T00:00:00Z&until=2003-10-09T00:00:00Z", 1),
        ("from=2003-10-09T00:00:01Z&until=2003-10-16T23:59:59Z", 0),
        ("until=2003-10-17", 2),
        ("until=2003-10-16T23:59:59Z", 1),
        ("from=2010-01-01", 1),
    ] {
        assert_eq!(count(arguments), expected, "{arguments}");
    }
}

#[test]
fn a_full_record_has_the_elements_of_the_original_in_their_order() {
    let server = Server::start();
    let body = ask(
        &server,
        "verb=GetRecord&metadataPrefix=reg&identifier=info:ark/",
    );
    let read = Document::parse(&body).unwrap();
    let entry = all(&read, "info-registry-entry")[0];
    assert_eq!(entry.tag_name().namespace(), Some(REG));
    let names: Vec<_> = children(entry)
        .iter()
        .map(|node| node.tag_name().name())
        .collect();
    assert_eq!(
        names,
        [
            "info-namespace",
            "namespace-title",
            "registration-date",
            "namespace-authority",
            "identifier-syntax",
            "identifier-normalization",
            "identifier-examples",
            "namespace-information",
            "service-mechanism",
        ]
    );
    assert_eq!(text(&read, "info-namespace"), "ark");
    assert_eq!(text(&read, "registration-date"), "2007-10-09");
    assert_eq!(
        text(&read, "organisation-name"),
        "California Digital Library"
    );
    assert_eq!(text(&read, "info-uri"), "info:ark/12025/654xz321");
    let service = all(&read, "service-mechanism")[0];
    let uri = children(service)[1];
    assert_eq!(uri.text(), Some("https://n2t.net/ark:/"));
}

#[test]
fn a_short_record_is_dublin_core() {
    let server = Server::start();
    for (name, date) in [
        ("lccn", "2003-11-10"),
        ("bnf", "2008-05-13"),
        ("nyu", "2010-05-12"),
    ] {
        let body = ask(
            &server,
            &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier=info%3A{name}%2F"),
        );
        let read = Document::parse(&body).unwrap();
        let dc = all(&read, "dc")[0];
        assert!(
            children(dc)
                .iter()
                .all(|node| node.tag_name().namespace() == Some(DC))
        );
        assert_eq!(text(&read, "date"), date);
        let elements = children(dc);
        let address = elements
            .iter()
            .find(|node| node.tag_name().name() == "identifier");
        let expected = format!("http://names.example:8000/registry/info/{name}");
        assert_eq!(address.unwrap().text(), Some(expected.as_str()));
    }
}

#[test]
fn a_form_and_an_old_link_ask_the_same() {
    let server = Server::start();
    let query = "verb=GetRecord&metadataPrefix=reg&identifier=info:lccn/";
    let plain = server.get(&format!("/oai?{query}")).body;
    assert_eq!(
        server.get(&format!("/registry/OAIHandler?{query}")).body,
        plain
    );
    let form = server.raw(
        format!(
            "POST /oai HTTP/1.1\r\nHost: names.example:8000\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{query}",
            query.len()
        )
        .as_bytes(),
    );
    assert_eq!(form.body, plain);
    let head = server.ask("HEAD", &format!("/oai?{query}"), &[], None);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(server.ask("DELETE", "/oai", &[], None).status, 405);
    let other = server.get_with("/oai?verb=Identify", &["Origin: https://a.example\r\n"]);
    assert_eq!(
        other.header("access-control-allow-origin"),
        Some("https://a.example")
    );
}

/// What this registry says of its entries in the old form is nothing new to it.
#[test]
fn full_records_are_read_back_as_what_they_are() {
    use handfast_registry::{NamespaceImport, Principal};

    let server = Server::start();
    let names = server
        .registry
        .namespaces(&handfast_registry::NamespaceQuery::default());
    assert_eq!(names.entries.len(), 29);
    for entry in names.entries {
        let xml = server
            .get(&format!("/registry/info/{}.xml", entry.name()))
            .body;
        let given = NamespaceImport::read(&xml).unwrap();
        let done = server
            .registry
            .import_namespaces(&Principal::Operator, given);
        let [done] = &done.unwrap()[..] else {
            panic!("one record");
        };
        let is_changed = done.outcome.as_ref().unwrap();
        let after = server.registry.namespace(entry.name()).unwrap();
        assert_eq!((&after.form, *is_changed), (&entry.form, false));
    }
}
