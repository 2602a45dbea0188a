//! The header `Accept`: the media types that a client prefers (RFC 9110 §12.5.1).

use hyper::HeaderMap;
use hyper::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderName};

/// The media types that a client names, the preferred first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accept {
    ranges: Vec<(String, u16)>,
}

/// `http-interfaces.md` E, the table of DOI content negotiation.
const CITATIONS: [&str; 7] = [
    "application/ld+json",
    "application/rdf+xml",
    "application/vnd.citationstyles.csl+json",
    "application/x-bibtex",
    "application/x-research-info-systems",
    "text/turtle",
    "text/x-bibliography",
];
/// How many are looked at.
const MAX_RANGES: usize = 32;
/// The weight of what is liked without reserve.
const FULL: u16 = 1_000;

impl Accept {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let ranges = weighted(headers, &ACCEPT);
        let is_type = |text: &str| {
            text.split_once('/')
                .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        };
        Self {
            ranges: ranges
                .into_iter()
                .filter(|(text, _)| is_type(text))
                .collect(),
        }
    }

    /// Whether anything will do: nothing is named, or only `*/*`.
    pub(crate) fn is_anything(&self) -> bool {
        self.ranges.iter().all(|(range, _)| range == "*/*")
    }

    /// How much a type is liked that is named itself; wildcards do not count.
    pub(crate) fn named(&self, media: &str) -> u16 {
        let found = self.ranges.iter().find(|(range, _)| range == media);
        found.map_or(0, |(_, weight)| *weight)
    }

    /// How much a type is liked: by its name, its family, or because anything will do.
    pub(crate) fn weight(&self, media: &str) -> u16 {
        if self.ranges.is_empty() {
            return FULL;
        }
        let family = media.split('/').next().unwrap_or_default();
        let named = |wanted: &str| self.ranges.iter().find(|(range, _)| range == wanted);
        let of_family = || {
            let mut ranges = self.ranges.iter();
            ranges.find(|(range, _)| range.strip_suffix("/*") == Some(family))
        };
        let found = named(media).or_else(of_family).or_else(|| named("*/*"));
        found.map_or(0, |(_, weight)| *weight)
    }

    /// The offered type, best first, that the client prefers; `None` if it accepts none.
    pub(crate) fn choose<'m>(&self, offered: &[&'m str]) -> Option<&'m str> {
        // Of several that are liked as much, `max_by_key` gives the last.
        let best = offered.iter().rev().max_by_key(|media| self.weight(media));
        best.copied().filter(|media| self.weight(media) > 0)
    }

    /// Whether a program asks: some JSON is named, and liked more than a page.
    pub(crate) fn wants_json(&self) -> bool {
        let is_json =
            |(range, _): &&(String, u16)| range.ends_with("/json") || range.ends_with("+json");
        let json = self
            .ranges
            .iter()
            .find(is_json)
            .map_or(0, |(_, weight)| *weight);
        json > self.page()
    }

    /// Whether only descriptions of something cited are asked for, in formats that agencies of DOIs
    /// have.
    pub(crate) fn is_of_citations(&self) -> bool {
        let is_one = |media: &str| {
            CITATIONS.contains(&media)
                || media.starts_with("application/vnd.crossref.")
                || media.starts_with("application/vnd.datacite.")
        };
        self.types().next().is_some() && self.types().all(is_one)
    }

    /// How much a page is liked that is named.
    pub(crate) fn page(&self) -> u16 {
        self.named("text/html")
            .max(self.named("application/xhtml+xml"))
    }

    /// The types by name, the preferred first.
    pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
        let liked = self.ranges.iter().filter(|(_, weight)| *weight > 0);
        liked.map(|(range, _)| range.as_str())
    }
}

/// The languages that a client names, the preferred first.
pub(crate) fn languages(headers: &HeaderMap) -> Vec<String> {
    let liked = weighted(headers, &ACCEPT_LANGUAGE).into_iter();
    let liked = liked.filter(|(language, weight)| *weight > 0 && language != "*");
    liked.map(|(language, _)| language).collect()
}

/// A list with weights, in lowercase, highest weight first. What cannot be read is left out.
pub(crate) fn weighted(headers: &HeaderMap, name: &HeaderName) -> Vec<(String, u16)> {
    let lines = headers.get_all(name).iter();
    let mut items: Vec<_> = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(|item| {
            let mut parts = item.split(';').map(str::trim);
            let text = parts.next().filter(|text| !text.is_empty())?;
            let weight = parts.find_map(|part| {
                let (name, value) = part.split_once('=')?;
                name.trim()
                    .eq_ignore_ascii_case("q")
                    .then_some(value.trim())
            });
            Some((
                text.to_ascii_lowercase(),
                thousandths(weight.unwrap_or("1")),
            ))
        })
        .take(MAX_RANGES)
        .collect();
    items.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    items
}

/// `qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )`; anything else is no reason to
/// send nothing.
fn thousandths(text: &str) -> u16 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole != "0" || fraction.len() > 3 {
        return FULL;
    }
    format!("{fraction:0<3}").parse().unwrap_or(FULL).min(FULL)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn accept(text: &'static str) -> Accept {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(text));
        Accept::of(&headers)
    }

    #[test]
    fn the_preferred_type_is_chosen_and_the_first_offered_of_equals() {
        let offered = ["text/html", "text/uri-list", "application/json"];
        for (text, chosen) in [
            ("*/*", Some("text/html")),
            ("", Some("text/html")),
            (",;,q=,/ , */", Some("text/html")),
            ("text/*;q=0.5, application/json", Some("application/json")),
            ("Text/URI-List", Some("text/uri-list")),
            ("text/html;q=0, */*", Some("text/uri-list")),
            ("application/json;q=0.001", Some("application/json")),
            ("image/png", None),
        ] {
            assert_eq!(accept(text).choose(&offered), chosen, "{text}");
        }
    }

    #[test]
    fn a_program_is_known_by_the_json_it_names() {
        for (text, is_program) in [
            ("application/json", true),
            ("application/problem+json, */*", true),
            ("application/json, text/plain, */*", true),
            ("*/*", false),
            ("text/html, application/json", false),
            ("text/html;q=0.5, application/json", true),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                false,
            ),
        ] {
            assert_eq!(accept(text).wants_json(), is_program, "{text}");
        }
    }
}
