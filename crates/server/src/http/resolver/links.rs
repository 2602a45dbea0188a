//! Links of a name: as a header (RFC 8288), and as a link set (RFC 9264).

use std::borrow::Cow;

use hyper::Response;
use hyper::header::LINK;
use serde_json::{Map, Value as Json, json};

use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::locations::{Location, links};
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::target::escaped_text;
use crate::http::response::{Body, WithHeader};

/// The media type of a set of links.
pub(crate) const LINKSET: &str = "application/linkset+json";
/// The same, in the words of the header.
pub(crate) const LINKS: &str = "application/linkset";

/// The longest header that is sent: some clients take no more.
const MAX_LINK_HEADER: usize = 8 << 10;

/// What every name links to: itself, as it is to be cited; its record; its links. They are the same
/// address, and what is wanted of it is asked for by media type. This is what follows the address.
const SIGNPOSTS: [&str; 3] = [
    ">; rel=\"cite-as\"",
    ">; rel=\"describedby\"; type=\"application/json\"",
    ">; rel=\"linkset\"; type=\"application/linkset+json\"",
];

/// The value of the header `Link` for a name.
pub(crate) struct Links<'n> {
    /// The path of the name, without the first slash.
    path: Cow<'n, str>,
    /// Links from the record, ready to be sent, each with a comma in front.
    related: String,
}

impl<'n> Links<'n> {
    /// The links that every name has.
    pub(crate) fn signposts(path: &'n str) -> Self {
        Self {
            path: Cow::Borrowed(path),
            related: String::new(),
        }
    }

    /// All links of a name, as far as they fit in one header. The link set has all of them.
    pub(crate) fn of(name: &Name) -> Self {
        let mut path = name.path();
        path.remove(0);
        let signposts = SIGNPOSTS.iter().map(|end| end.len() + path.len() + 2);
        let mut length: usize = signposts.sum::<usize>() + 2 * (SIGNPOSTS.len() - 1);
        let mut related = String::new();
        for link in self::related(name) {
            let link = written(&link, None);
            length += link.len() + 2;
            if length > MAX_LINK_HEADER {
                break;
            }
            related.extend([", ", &link]);
        }
        Self {
            path: Cow::Owned(path),
            related,
        }
    }

    /// Appends the value of the header.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let mut start = "<";
        for end in SIGNPOSTS {
            for part in [start, "/", &self.path, end] {
                out.extend_from_slice(part.as_bytes());
            }
            start = ", <";
        }
        out.extend_from_slice(self.related.as_bytes());
    }
}

/// The response with all links of a name in their header.
pub(crate) fn put(response: Response<Body>, name: &Name) -> Response<Body> {
    let mut text = Vec::new();
    Links::of(name).put(&mut text);
    response.with(LINK, text)
}

/// The links of a record, but for those that a browser would obey.
fn related(name: &Name) -> Vec<Location> {
    let mut links = links(name);
    links.retain(|link| !link.attribute("rel").is_none_or(is_obeyed));
    links
}

/// Whether relations make browsers load something: what is stored may not.
pub(crate) fn is_obeyed(relations: &str) -> bool {
    let relations = relations.to_ascii_lowercase();
    let obeyed = [
        "stylesheet",
        "preload",
        "prefetch",
        "preconnect",
        "prerender",
        "serviceworker",
    ];
    obeyed.iter().any(|relation| relations.contains(relation))
}

fn written(link: &Location, anchor: Option<&str>) -> String {
    let mut text = format!("<{}>", escaped_text(&link.href));
    let own = link.attribute("anchor");
    let own = own.map(|own| escaped_text(own.as_bytes()));
    if let Some(anchor) = own.as_deref().or(anchor) {
        text.extend(["; anchor=\"", anchor, "\""]);
    }
    for name in ["rel", "type", "target-type", "media", "hreflang", "title"] {
        let Some(value) = link.attribute(name) else {
            continue;
        };
        let value = value.trim();
        let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if is_plain {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            text.extend(["; ", name, "=\"", &value, "\""]);
        } else if name == "title" {
            let language = link.attribute("lang").unwrap_or_default();
            let language: String = language
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            // RFC 8187.
            let value = encode(value, COMPONENT);
            text.extend(["; title*=UTF-8'", &language, "'", &value]);
        }
    }
    text
}

/// All links of a name, as a set in the words of the header: "always write" the anchor.
pub(crate) fn lines(name: &Name, base: &str) -> String {
    let own = escaped_text(format!("{base}{}", name.path()).as_bytes());
    let link = |href: &[u8], attributes: &[(&str, &str)]| Location {
        href: href.to_vec(),
        attributes: attributes
            .iter()
            .map(|(name, value)| ((*name).to_string(), (*value).to_string()))
            .collect(),
    };
    let mut links = vec![
        link(own.as_bytes(), &[("rel", "cite-as")]),
        link(
            own.as_bytes(),
            &[("rel", "describedby"), ("type", "application/json")],
        ),
        link(own.as_bytes(), &[("rel", "linkset"), ("type", LINKSET)]),
    ];
    links.extend(
        name.urls()
            .map(|url| link(&url.data, &[("rel", "alternate")])),
    );
    links.extend(related(name));
    let written: Vec<_> = links.iter().map(|link| written(link, Some(&own))).collect();
    format!("{}\n", written.join(",\n"))
}

/// All links of a name, as a set.
pub(crate) fn set(name: &Name, base: &str) -> Json {
    let own = format!("{base}{}", name.path());
    let mut of_name = Map::new();
    let mut others: Vec<Json> = Vec::new();
    let mut add = |relation: &str, link: Json| {
        let list = of_name.entry(relation).or_insert_with(|| json!([]));
        if let Json::Array(list) = list {
            list.push(link);
        }
    };
    add("cite-as", json!({"href": own}));
    add(
        "describedby",
        json!({"href": own, "type": "application/json"}),
    );
    add("linkset", json!({"href": own, "type": LINKSET}));
    for url in name.urls() {
        add("alternate", json!({"href": escaped_text(&url.data)}));
    }
    for link in related(name) {
        let relations = link.attribute("rel").unwrap_or_default();
        // The anchor is no relation, and has the place of one.
        let relations = relations.split_ascii_whitespace();
        for relation in relations.filter(|relation| *relation != "anchor") {
            match link.attribute("anchor") {
                Some(anchor) => {
                    let anchor = escaped_text(anchor.as_bytes());
                    others.push(json!({"anchor": anchor, relation: [as_json(&link)]}));
                }
                None => add(relation, as_json(&link)),
            }
        }
    }
    of_name.insert("anchor".into(), own.into());
    others.insert(0, Json::Object(of_name));
    json!({"linkset": others})
}

/// "`hreflang` is an array, `type`, `media`, `title` plain strings".
fn as_json(link: &Location) -> Json {
    let mut object = Map::new();
    object.insert("href".into(), escaped_text(&link.href).into());
    for name in ["type", "media", "title"] {
        if let Some(value) = link.attribute(name) {
            object.insert(name.into(), value.into());
        }
    }
    // "Extension attributes" are arrays, too.
    for name in ["hreflang", "target-type"] {
        if let Some(value) = link.attribute(name) {
            object.insert(name.into(), json!([value]));
        }
    }
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::*;
    use crate::http::resolver::locations::tests::name;
    use crate::http::response::empty;

    const OF_RECORD: &str = r#"<links>
        <location rel="item" href="https://a.example/1 2" type="text/plain"
            title="a &quot;b&quot;"/>
        <location rel="license" href="https://l.example/" title="Größe&#13;&#10;X: y" lang="de"/>
        <location href="https://none.example/"/><location rel="stylesheet" href="https://evil.exam\
            ple/"/>
        <location id="one" href="https://one.example/"/>
        <location rel="author" anchor-id="one" href="https://me.example/"/>
        <location rel="author" anchor-id="two" href="https://lost.example/"/></links>"#;

    #[test]
    fn links_are_written_so_that_nothing_leaves_its_place() {
        let response = put(empty(StatusCode::OK), &name(&[("10320/links", OF_RECORD)]));
        let text = response.headers()[LINK].to_str().unwrap();
        assert!(
            text.starts_with("</20.1/a%20b/c>; rel=\"cite-as\", "),
            "{text}"
        );
        let item = r#"<https://a.example/1%202>; rel="item"; type="text/plain"; title="a \"b\"""#;
        assert!(text.contains(item), "{text}");
        let title = "title*=UTF-8'de'Gr%C3%B6%C3%9Fe%0D%0AX%3A%20y";
        assert!(text.contains(title), "{text}");
        let author = r#"<https://me.example/>; anchor="https://one.example/"; rel="author""#;
        assert!(text.contains(author), "{text}");
        for absent in ["none.example", "evil.example", "lost.example"] {
            assert!(!text.contains(absent), "{text}");
        }
    }

    #[test]
    fn every_line_of_a_set_has_an_anchor() {
        let name = name(&[("10320/links", OF_RECORD), ("URL", "https://u.example/")]);
        let lines = lines(&name, "https://r.example");
        assert_eq!(lines.lines().count(), 7);
        for line in lines.lines() {
            assert_eq!(line.matches("; anchor=\"https://").count(), 1, "{line}");
        }
    }

    #[test]
    fn a_set_has_an_anchor_and_lists() {
        let set = set(
            &name(&[("10320/links", OF_RECORD), ("URL", "https://u.example/")]),
            "https://r.example",
        );
        let of_name = &set["linkset"][0];
        assert_eq!(of_name["anchor"], "https://r.example/20.1/a%20b/c");
        assert_eq!(of_name["item"][0]["href"], "https://a.example/1%202");
        assert_eq!(of_name["alternate"][0]["href"], "https://u.example/");
        assert_eq!(of_name["license"].as_array().unwrap().len(), 1);
    }
}
