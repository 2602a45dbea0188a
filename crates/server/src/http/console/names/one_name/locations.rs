//! `10320/loc` values as a list of locations.

use handfast_registry::url_problem;
use handfast_wire::Value;
use handfast_wire::namespace::has_few_attributes;
use roxmltree::{Document, Node, ParsingOptions};

use super::form_fields::{exact, field_text};
use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;
use crate::http::resolver::locations::expanded;
use crate::http::resolver::target::is_web;

/// The most elements and texts of a value that is shown as a list.
const MAX_NODES: u32 = 1_000;
/// The attributes that have a field each.
const FIELDS: [&str; 4] = ["href", "href_template", "weight", "country"];

/// A list of locations in the form.
pub(super) struct LocationsFields {
    /// The index of the value.
    pub(super) index: u32,
    pub(super) rows: Vec<LocationFields>,
    /// Attributes of the list as a whole, which stay as they are.
    whole: Vec<(String, String)>,
}

/// A location in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LocationFields {
    pub(super) href: String,
    pub(super) weight: String,
    pub(super) country: String,
    /// Whether the address is a template, with `{hdl}` for the name.
    pub(super) is_template: bool,
    /// The place that it had in the stored list.
    pub(super) from: Option<usize>,
    /// The address that is stored: only another one is checked.
    was: String,
    /// Attributes without a field, which stay as they are.
    others: Vec<(String, String)>,
}

impl LocationsFields {
    /// A value as fields, if all of it can be shown so.
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        if !value.is_type("10320/loc") {
            return None;
        }
        let text = field_text(value).filter(|text| has_few_attributes(text))?;
        let options = ParsingOptions {
            nodes_limit: MAX_NODES,
            ..ParsingOptions::default()
        };
        let document = Document::parse_with_options(&text, options).ok()?;
        let root = document.root_element();
        let is_plain = |node: Node<'_, '_>| {
            node.is_element()
                && node.tag_name().namespace().is_none()
                && node.attributes().all(|found| found.namespace().is_none())
        };
        let is_list = is_plain(root) && root.has_tag_name("locations");
        let is_whole = document.root().children().count() == 1
            && root.children().all(|node| {
                let is_blank = node.is_text() && node.text().is_none_or(|it| it.trim().is_empty());
                is_blank || is_plain(node) && node.has_tag_name("location") && !node.has_children()
            });
        if !is_list || !is_whole {
            return None;
        }
        let rows = root.children().filter(Node::is_element);
        Some(Self {
            index: value.index,
            rows: rows
                .enumerate()
                .map(|(at, node)| LocationFields::of(at, node))
                .collect(),
            whole: attributes(root).collect(),
        })
    }

    /// A new list with one empty location.
    pub(super) fn new(index: u32) -> Self {
        Self {
            index,
            rows: vec![LocationFields::new()],
            whole: Vec::new(),
        }
    }

    /// Reads the fields of a form.
    pub(super) fn read(visit: &Visit<'_>, index: u32, before: Option<&Self>) -> Self {
        let all = |part: &str| exact(visit, &format!("loc-{part}-{index}")).into_iter();
        let others = all("weight").zip(all("country")).zip(all("from"));
        let rows = all("href")
            .zip(others)
            .map(|(href, ((weight, country), from))| {
                let from = from.parse().ok();
                let stored = from.and_then(|at: usize| before?.rows.get(at));
                LocationFields {
                    href: href.trim().to_string(),
                    weight: weight.trim().to_string(),
                    country: country.trim().to_string(),
                    from: from.filter(|_| stored.is_some()),
                    ..stored.cloned().unwrap_or_default()
                }
            });
        Self {
            index,
            rows: rows.collect(),
            whole: before
                .map(|before| before.whole.clone())
                .unwrap_or_default(),
        }
    }

    /// The data of the value; of rows without an address nothing is stored.
    pub(super) fn data(&self) -> Result<Vec<u8>, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut out = String::from("<locations");
        for (name, value) in &self.whole {
            put_attribute(&mut out, name, value);
        }
        out.push_str(">\n");
        for (at, row) in self.rows.iter().enumerate() {
            if row.href.is_empty() {
                continue;
            }
            errors.extend(row.address_problem(self.index, at + 1));
            errors.extend(row.problems(&format!("{}-{}", self.index, at + 1)));
            out.push_str("<location");
            let href = if row.is_template {
                "href_template"
            } else {
                "href"
            };
            put_attribute(&mut out, href, &row.href);
            for (name, value) in [("weight", &row.weight), ("country", &row.country)] {
                if !value.is_empty() {
                    put_attribute(&mut out, name, value);
                }
            }
            for (name, value) in &row.others {
                put_attribute(&mut out, name, value);
            }
            out.push_str("/>\n");
        }
        out.push_str("</locations>\n");
        if errors.is_empty() {
            Ok(out.into_bytes())
        } else {
            Err(errors)
        }
    }

    /// Whether no location has an address.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.href.is_empty())
    }
}

impl LocationFields {
    fn of(at: usize, node: Node<'_, '_>) -> Self {
        let text = |name: &str| node.attribute(name).unwrap_or_default().to_string();
        let is_template = node.attribute("href").is_none() && node.has_attribute("href_template");
        let href = text(if is_template { "href_template" } else { "href" });
        Self {
            was: href.clone(),
            href,
            weight: text("weight"),
            country: text("country"),
            is_template,
            from: Some(at),
            others: attributes(node)
                .filter(|(name, _)| !FIELDS.contains(&name.as_str()))
                .collect(),
        }
    }

    /// The fields beside the address: part of their names, label and text.
    pub(super) fn parts(&self) -> [(&'static str, &'static str, &str); 2] {
        [
            ("weight", "Weight", &self.weight),
            ("country", "Country", &self.country),
        ]
    }

    pub(super) fn new() -> Self {
        Self {
            weight: "1".to_string(),
            ..Self::default()
        }
    }

    /// What is wrong with an address that was typed: readers could not be led there.
    fn address_problem(&self, index: u32, place: usize) -> Option<FieldError> {
        if self.href == self.was {
            return None;
        }
        let url = if self.is_template {
            expanded(&self.href, "20.1000/a")
        } else {
            self.href.clone()
        };
        let problem = match url_problem(&url) {
            Some(problem) => problem,
            None if is_web(url.as_bytes()) => return None,
            None => format!("{url} leads no browser anywhere; write an address with https://"),
        };
        let text = format!("Location {place}: {problem}.");
        Some(FieldError::new(format!("loc-href-{index}-{place}"), text))
    }

    fn problems(&self, place: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let is_number = self.weight.parse().is_ok_and(|weight: f64| weight >= 0.0);
        if !self.weight.is_empty() && !is_number {
            let text = format!(
                "{} is no weight. Write a number such as 1 or 0.5.",
                self.weight
            );
            errors.push(FieldError::new(format!("loc-weight-{place}"), text));
        }
        let is_code =
            self.country.len() == 2 && self.country.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !self.country.is_empty() && !is_code {
            let text = format!(
                "{} is no country. Write two letters such as de.",
                self.country
            );
            errors.push(FieldError::new(format!("loc-country-{place}"), text));
        }
        errors
    }
}

fn attributes<'n>(node: Node<'n, '_>) -> impl Iterator<Item = (String, String)> + 'n {
    let found = node.attributes();
    found.map(|found| (found.name().to_string(), found.value().to_string()))
}

/// Appends an attribute of XML.
fn put_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(xml: &str) -> Option<LocationsFields> {
        LocationsFields::of(&Value::new(1, "10320/loc", xml.as_bytes()))
    }

    #[test]
    fn a_list_of_locations_is_written_with_all_it_had() {
        let xml = r#"<locations chooseby="country,weighted">
            <location id="0" href="http://a.example/?a=1&amp;b=2" country="gb" weight="0"/>
            <location href_template="http://t.example/{hdl}" http_role="conneg"/>
            </locations>"#;
        let found = fields(xml).unwrap();
        assert_eq!(found.rows[0].href, "http://a.example/?a=1&b=2");
        assert!(found.rows[1].is_template);
        let again = String::from_utf8(found.data().ok().unwrap()).unwrap();
        assert!(
            again.contains(r#"<locations chooseby="country,weighted">"#),
            "{again}"
        );
        assert!(again.contains("a=1&amp;b=2"), "{again}");
        assert!(again.contains(r#"country="gb" id="0""#), "{again}");
        assert_eq!(fields(&again).unwrap().rows, found.rows);
    }

    #[test]
    fn what_a_list_cannot_show_is_not_shown_as_a_list() {
        for xml in [
            "<locations><!-- why --><location href=\"http://a.example/\"/></locations>",
            "<locations>text<location href=\"http://a.example/\"/></locations>",
            "<locations><other/></locations>",
            "<locations><location href=\"a\"><x/></location></locations>",
            "<other/>",
            "no XML",
        ] {
            assert!(fields(xml).is_none(), "{xml}");
        }
    }

    /// A name with such a location led nobody anywhere any more.
    #[test]
    fn an_address_that_no_browser_follows_is_named_with_its_field() {
        let mut list = LocationsFields::new(7);
        for (href, is_right) in [
            ("https://a.example/", true),
            ("ftp://a.example/b", true),
            ("nourl", false),
            ("javascript:alert(1)", false),
            ("mailto:a@b.example", false),
            ("https://", false),
            ("https://a.example/a b", false),
        ] {
            list.rows[0].href = href.to_string();
            let errors = list.data().err().unwrap_or_default();
            let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
            let wrong: &[&str] = if is_right { &[] } else { &["loc-href-7-1"] };
            assert_eq!(fields, wrong, "{href}");
        }
        // A template is one with the name in it; what is stored already stays.
        let stored = r#"<locations><location href="nourl"/>
            <location href_template="https://t.example/{hdl}"/></locations>"#;
        let mut list = fields(stored).unwrap();
        assert!(list.data().is_ok());
        list.rows[1].href = "t.example/{hdl}".to_string();
        assert_eq!(list.data().unwrap_err()[0].field, "loc-href-1-2");
        list.rows[1].href = "https://u.example/{hdl:path}".to_string();
        assert!(list.data().is_ok());
    }

    #[test]
    fn a_wrong_weight_or_country_is_named_with_its_field() {
        let mut list = LocationsFields::new(7);
        list.rows[0].href = "https://a.example/".to_string();
        list.rows[0].weight = "much".to_string();
        list.rows[0].country = "Germany".to_string();
        let errors = list.data().unwrap_err();
        let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["loc-weight-7-1", "loc-country-7-1"]);
    }
}
