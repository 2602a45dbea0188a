//! The locations of a name: its `10320/loc` and `URL` values (`http-interfaces.md` B.5).

use handfast_wire::Value;
use handfast_wire::namespace::has_few_attributes;
use roxmltree::{Document, Node, ParsingOptions};

use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::name_lookup::{Name, is_special_url, is_url};
use crate::http::resolver::target::path_of;

/// All that a name may lead to.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    /// How one is chosen.
    pub(crate) methods: Option<String>,
    /// The status of a redirect to those that do not say.
    pub(crate) status: Option<String>,
    pub(crate) list: Vec<Location>,
    /// Whether any of them came from a `10320/loc` value.
    pub(crate) is_described: bool,
}

/// One of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Location {
    pub(crate) href: Vec<u8>,
    /// All that is said about it, beside where it is.
    pub(crate) attributes: Vec<(String, String)>,
}

/// The most elements and texts of one value.
const MAX_XML_NODES: u32 = 10_000;
/// How many locations one name has.
const MAX_LOCATIONS: usize = 10_000;
/// How many of them others can be about.
const MAX_ANCHORS: usize = 100;

impl Location {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Locations {
    /// Those of a name: its own, those it includes, its `URL` values, and those of its namespace.
    pub(crate) fn of(name: &Name) -> Self {
        let mut found = Self::default();
        let mut legacy = Legacy::default();
        let own = of_type(&name.values, "10320/loc");
        for value in own.chain(of_type(&name.merged.included, "10320/loc")) {
            read(value, |root| found.add(root, &name.text, &mut legacy));
        }
        let mut of_namespace = Self {
            is_described: found.is_described,
            ..Self::default()
        };
        for value in of_type(&name.merged.shared, "10320/loc") {
            read(value, |root| {
                of_namespace.add(root, &name.text, &mut legacy);
            });
        }
        if !legacy.is_suppressed {
            legacy.add(name, &mut found);
        }
        found.list.append(&mut of_namespace.list);
        found.list.truncate(MAX_LOCATIONS);
        Self {
            methods: found.methods.or(of_namespace.methods),
            status: found.status.or(of_namespace.status),
            list: found.list,
            is_described: of_namespace.is_described,
        }
    }

    /// Whether any of them is for those who ask for a format.
    pub(crate) fn negotiates(&self) -> bool {
        let mut roles = self
            .list
            .iter()
            .filter_map(|one| one.attribute("http_role"));
        roles.any(|role| role.contains("conneg") && !role.contains("no_conneg"))
    }

    /// Adds those of one value; of what is said for all, the first counts.
    fn add(&mut self, root: Node<'_, '_>, handle: &str, legacy: &mut Legacy) {
        self.is_described = true;
        let first = |slot: &mut Option<String>, name: &str| {
            if slot.is_none() {
                *slot = root.attribute(name).map(str::to_string);
            }
        };
        first(&mut self.methods, "choose_by");
        first(&mut self.methods, "chooseby");
        first(&mut self.status, "http_sc");
        first(&mut legacy.url_weight, "urlWeight");
        first(&mut legacy.subtype_weight, "urlSubtypeWeight");
        legacy.is_suppressed |= is_set(root, "no_legacy");
        if self.list.len() < MAX_LOCATIONS {
            self.list.extend(locations(root, handle));
        }
    }
}

/// Whether an attribute says yes: it is there, whatever it says but no.
pub(crate) fn is_set(root: Node<'_, '_>, name: &str) -> bool {
    let said = root.attribute(name).map(str::trim);
    said.is_some_and(|said| !["0", "false", "no"].contains(&said.to_ascii_lowercase().as_str()))
}

/// How `10320/loc` treats `URL` values.
#[derive(Default)]
struct Legacy {
    is_suppressed: bool,
    url_weight: Option<String>,
    subtype_weight: Option<String>,
}

impl Legacy {
    /// "Default: `URL` 0 if a 10320/loc exists on the handle, else 1; subtypes 0 (if no plain `URL`
    /// exists subtypes get the `URL` weight)."
    fn add(&self, name: &Name, to: &mut Locations) {
        let usual = if to.is_described { "0" } else { "1" };
        let of_urls = self.url_weight.as_deref().unwrap_or(usual);
        let has_plain = name.values.iter().any(is_url);
        let of_subtypes = self.subtype_weight.as_deref();
        let of_subtypes = of_subtypes.unwrap_or(if has_plain { "0" } else { of_urls });
        for value in name.urls() {
            let weight = if is_special_url(value) {
                of_subtypes
            } else {
                of_urls
            };
            to.list.push(Location {
                href: value.data.to_vec(),
                attributes: vec![
                    ("mode".into(), "legacy".into()),
                    ("weight".into(), weight.into()),
                ],
            });
        }
    }
}

/// The elements of `10320/links` values, and the locations that say how they are related.
pub(crate) fn links(name: &Name) -> Vec<Location> {
    let mut links = Vec::new();
    for value_type in ["10320/links", "10320/loc"] {
        for value in own_and_shared(name, value_type) {
            if links.len() < MAX_LOCATIONS {
                read(value, |root| links.extend(locations(root, &name.text)));
            }
        }
    }
    let anchors: Vec<_> = links
        .iter()
        .filter_map(|one| Some((one.attribute("id")?.to_string(), one.href.clone())))
        .take(MAX_ANCHORS)
        .collect();
    links.retain_mut(|link| {
        let Some(id) = link.attribute("anchor-id") else {
            return link.attribute("rel").is_some();
        };
        // One that is about something that is not there says nothing.
        let anchor = anchors.iter().find(|(own, _)| own == id);
        let anchor = anchor.map(|(_, href)| String::from_utf8_lossy(href).into_owned());
        let is_anchored = anchor.is_some();
        link.attributes.retain(|(name, _)| name != "anchor");
        link.attributes
            .extend(anchor.map(|href| ("anchor".to_string(), href)));
        is_anchored && link.attribute("rel").is_some()
    });
    links
}

/// Values of a type: of a name, of those it includes, and of its namespace unless that is not
/// wished for.
pub(crate) fn own_and_shared<'n>(
    name: &'n Name,
    value_type: &'static str,
) -> impl Iterator<Item = &'n Value<'static>> {
    let merged = &name.merged;
    let shared: &[_] = if merged.hides_headers {
        &[]
    } else {
        &merged.shared
    };
    of_type(&name.values, value_type)
        .chain(of_type(&merged.included, value_type))
        .chain(of_type(shared, value_type))
}

pub(crate) fn of_type<'v>(
    values: &'v [Value<'static>],
    value_type: &'static str,
) -> impl Iterator<Item = &'v Value<'static>> {
    values
        .iter()
        .filter(move |value| value.value_type.eq_ignore_ascii_case(value_type))
}

/// Reads the XML of a value. What is none says nothing. A document type is refused: it can make
/// much out of little.
pub(crate) fn read(value: &Value<'_>, read: impl FnOnce(Node<'_, '_>)) {
    let options = ParsingOptions {
        nodes_limit: MAX_XML_NODES,
        ..ParsingOptions::default()
    };
    let text = value.text().filter(|text| has_few_attributes(text));
    let document = text.and_then(|text| Document::parse_with_options(text, options).ok());
    if let Some(document) = document {
        read(document.root_element());
    }
}

fn locations(root: Node<'_, '_>, handle: &str) -> Vec<Location> {
    let elements = root.descendants().filter(|node| {
        ["location", "loc_template", "link"]
            .iter()
            .any(|name| node.has_tag_name(*name))
    });
    elements
        .filter_map(|element| {
            let href = match (
                element.attribute("href"),
                element.attribute("href_template"),
            ) {
                (Some(href), _) => href.to_string(),
                (None, template) => expanded(template?, handle),
            };
            let attributes = element
                .attributes()
                .filter(|attribute| !matches!(attribute.name(), "href" | "href_template"))
                .map(|attribute| (attribute.name().to_string(), attribute.value().to_string()));
            Some(Location {
                href: href.into_bytes(),
                attributes: attributes.collect(),
            })
        })
        .collect()
}

/// "`{hdl}` = handle escaped as a query component (`/` → `%2F`) and `{hdl:path}` = escaped as a
/// path."
pub(crate) fn expanded(template: &str, handle: &str) -> String {
    template
        .replace("{hdl:path}", &path_of(handle))
        .replace("{hdl}", &encode(handle, COMPONENT))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const LOCATIONS: &str = r#"
        <locations chooseby="locatt,country,weighted" http_sc="307">
        <location id="0" href="http://uk.example/" country="gb" weight="0"/>
        <location id="1" href="http://www1.example/" weight="1" http_sc="303"/>
        <location id="2" href_template="http://t.example/{hdl}/{hdl:path}" weight="0"
            http_role="conneg"/>
        </locations>"#;

    pub(crate) fn name(values: &[(&str, &str)]) -> Name {
        let values = (1..).zip(values).map(|(index, (value_type, data))| {
            Value::new(index, value_type, data.as_bytes()).into_owned()
        });
        Name::made("20.1/a b/c", values.collect())
    }

    #[test]
    fn locations_are_read_and_urls_join_them() {
        let found = Locations::of(&name(&[
            ("10320/LOC", LOCATIONS),
            ("URL", "http://u.example/"),
        ]));
        let hrefs: Vec<_> = found
            .list
            .iter()
            .map(|one| String::from_utf8_lossy(&one.href))
            .collect();
        assert_eq!(
            hrefs,
            [
                "http://uk.example/",
                "http://www1.example/",
                "http://t.example/20.1%2Fa%20b%2Fc/20.1/a%20b/c",
                "http://u.example/",
            ]
        );
        assert_eq!(found.status.as_deref(), Some("307"));
        assert_eq!(found.list[3].attribute("weight"), Some("0"));
    }

    #[test]
    fn what_is_no_xml_says_nothing() {
        for text in [
            "",
            "<locations",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><locations/>",
            "\0",
        ] {
            let found = Locations::of(&name(&[
                ("10320/loc", text),
                ("URL.x", "http://u.example/"),
            ]));
            assert!(!found.is_described, "{text}");
            assert_eq!(found.list[0].attribute("weight"), Some("1"));
        }
    }
}
