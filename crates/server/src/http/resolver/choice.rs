//! Choosing one of several locations for a client (`http-interfaces.md` B.5).

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::USER_AGENT;

use crate::admission::network::Network;
use crate::http::resolver::accept::{Accept, languages};
use crate::http::resolver::locations::{Location, Locations};
use crate::http::resolver::query::ResolveOptions;
use crate::http::{Caller, Web};

/// The properties of a client that decide between locations.
#[derive(Clone, Debug)]
pub(crate) struct ClientPreferences {
    /// Attributes that are liked, and perhaps their values, first ones first.
    pub(crate) attributes: Vec<(String, Option<String>)>,
    pub(crate) country: Option<String>,
    pub(crate) address: IpAddr,
    /// A number that nobody could foresee.
    pub(crate) chance: u64,
}

const METHODS: &str = "locatt,address,country,score,weighted";

impl ClientPreferences {
    /// The properties of a client, by its request and what that says itself.
    pub(crate) fn of(
        web: &Web,
        caller: &Caller,
        headers: &HeaderMap,
        options: &ResolveOptions,
    ) -> Self {
        let country = options.country.clone();
        let mut preferences = Self {
            attributes: options.attributes.clone(),
            country: country.or_else(|| web.country(caller, headers, options.address)),
            address: caller.address.ip(),
            chance: u64::from_be_bytes(web.context.world.random()),
        };
        preferences.add_headers(headers);
        preferences
    }

    /// Adds what headers say, after what the caller said itself.
    pub(crate) fn add_headers(&mut self, headers: &HeaderMap) {
        let accept = Accept::of(headers);
        let mut add = |name: &str, value: &str| {
            self.attributes
                .push((name.to_string(), Some(value.to_string())));
        };
        let page = |add: &mut dyn FnMut(&str, &str)| {
            add("ctype", "text/html");
            add("media-type", "text/html");
        };
        let first = accept.types().next().map(str::to_string);
        match first {
            Some(first) if !accept.is_anything() => {
                if is_of_browsers(&first) {
                    add("http_role", "browser");
                    if accept.weight("text/html") > 0 {
                        page(&mut add);
                    }
                } else {
                    for media in accept.types().take_while(|media| !media.contains('*')) {
                        add("ctype", media);
                        add("media-type", media);
                    }
                    add("http_role", "conneg");
                }
            }
            _ if is_browser(headers) => {
                add("http_role", "browser");
                page(&mut add);
            }
            _ => add("http_role", "no_conneg"),
        }
        for language in languages(headers) {
            add("language", &language);
        }
    }

    /// Chooses; `None` only if there is nothing to choose from.
    pub(crate) fn choose<'l>(&self, locations: &'l Locations) -> Option<&'l Location> {
        let mut left: Vec<_> = locations.list.iter().collect();
        let methods = locations.methods.as_deref().unwrap_or(METHODS);
        for method in methods.split(',').map(str::trim) {
            if left.len() <= 1 {
                break;
            }
            match method {
                "locatt" => self.by_attributes(&mut left),
                "address" => keep(&mut left, |one| {
                    let addresses = one.attribute("addresses").unwrap_or_default();
                    let mut networks = addresses.split(',').filter_map(|range| range.parse().ok());
                    networks.any(|network: Network| network.contains(self.address))
                }),
                "country" => keep(&mut left, |one| {
                    let country = self.country.as_deref().zip(one.attribute("country"));
                    country.is_some_and(|(own, of)| own.eq_ignore_ascii_case(of))
                }),
                "score" => {
                    let best_weight = left
                        .iter()
                        .map(|one| number(one, "score", 0.0))
                        .fold(f64::MIN, f64::max);
                    keep(&mut left, |one| number(one, "score", 0.0) >= best_weight);
                }
                "weighted" => return self.by_weight(&left),
                _ => {}
            }
        }
        self.by_weight(&left)
    }

    /// "For each `locatt` parameter in order: keep locations having that attribute (with that exact
    /// value); if none has, keep all."
    fn by_attributes(&self, left: &mut Vec<&Location>) {
        for (name, value) in &self.attributes {
            keep(left, |one| match (one.attribute(name), value) {
                (Some(own), Some(value)) => own == value,
                (own, _) => own.is_some(),
            });
        }
    }

    /// "Random choice by weight, negative = 0; if all are 0, uniform among them."
    fn by_weight<'l>(&self, left: &[&'l Location]) -> Option<&'l Location> {
        let weights: Vec<_> = left
            .iter()
            .map(|one| number(one, "weight", 1.0).max(0.0))
            .collect();
        let total: f64 = weights.iter().sum();
        // 32 bits are more than enough, and have no loss as a float.
        let chance = u32::try_from(self.chance & 0xFFFF_FFFF).unwrap_or_default();
        if total <= 0.0 || !total.is_finite() {
            let count = u32::try_from(left.len()).ok().filter(|count| *count > 0)?;
            let at = usize::try_from(chance % count).unwrap_or_default();
            return left.get(at).copied();
        }
        let mut point = f64::from(chance) / (f64::from(u32::MAX) + 1.0) * total;
        for (one, weight) in left.iter().zip(weights) {
            if point < weight {
                return Some(one);
            }
            point -= weight;
        }
        left.last().copied()
    }
}

/// Keeps those that fit, unless none does.
fn keep(left: &mut Vec<&Location>, fits: impl Fn(&Location) -> bool) {
    if left.iter().any(|one| fits(one)) {
        left.retain(|one| fits(one));
    }
}

fn number(location: &Location, name: &str, otherwise: f64) -> f64 {
    let number = location
        .attribute(name)
        .and_then(|text| text.trim().parse().ok());
    number
        .filter(|number: &f64| number.is_finite())
        .unwrap_or(otherwise)
}

/// "html, xhtml, pdf, wap, `image/*`, `audio/*`, `video/*`, wildcards".
fn is_of_browsers(media: &str) -> bool {
    matches!(
        media,
        "text/html" | "application/xhtml+xml" | "application/pdf" | "text/vnd.wap.wml"
    ) || ["image/", "audio/", "video/"]
        .iter()
        .any(|family| media.starts_with(family))
        || media.contains('*')
}

fn is_browser(headers: &HeaderMap) -> bool {
    headers.get(USER_AGENT).is_some_and(|agent| {
        let agent = agent.as_bytes();
        agent.starts_with(b"Mozilla/") || agent.starts_with(b"Opera/")
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::{ACCEPT, HeaderValue};

    use super::*;
    use crate::http::resolver::locations::tests::{LOCATIONS, name};

    fn preferences(chance: u64) -> ClientPreferences {
        ClientPreferences {
            attributes: Vec::new(),
            country: None,
            address: "192.0.2.7".parse().unwrap(),
            chance,
        }
    }

    fn chosen(preferences: &ClientPreferences, xml: &str) -> String {
        let found = Locations::of(&name(&[("10320/loc", xml), ("URL", "http://u/")]));
        String::from_utf8(preferences.choose(&found).unwrap().href.clone()).unwrap()
    }

    #[test]
    fn weights_attributes_and_countries_choose() {
        for chance in [0, 1 << 31, u64::from(u32::MAX)] {
            assert_eq!(
                chosen(&preferences(chance), LOCATIONS),
                "http://www1.example/"
            );
        }
        let british = ClientPreferences {
            country: Some("GB".into()),
            ..preferences(0)
        };
        assert_eq!(chosen(&british, LOCATIONS), "http://uk.example/");
        let by_id = ClientPreferences {
            attributes: vec![("id".into(), Some("0".into()))],
            ..preferences(0)
        };
        assert_eq!(chosen(&by_id, LOCATIONS), "http://uk.example/");
        let by_nothing = ClientPreferences {
            attributes: vec![("id".into(), Some("9".into()))],
            ..preferences(0)
        };
        assert_eq!(chosen(&by_nothing, LOCATIONS), "http://www1.example/");
    }

    #[test]
    fn addresses_and_scores_choose() {
        let xml = r#"<locations><location href="a" addresses="10.0.0.0/8, 192.0.2.0/24"/>
            <location href="b"/></locations>"#;
        assert_eq!(chosen(&preferences(0), xml), "a");
        let xml = r#"<locations><location href="a" score="0.5"/>
            <location href="b" score="1"/></locations>"#;
        assert_eq!(chosen(&preferences(0), xml), "b");
    }

    #[test]
    fn without_weights_each_has_its_chance() {
        let xml = r#"<locations no_legacy=""><location href="a" weight="0"/>
            <location href="b" weight="-1"/></locations>"#;
        assert_eq!(chosen(&preferences(0), xml), "a");
        assert_eq!(chosen(&preferences(1), xml), "b");
    }

    #[test]
    fn negotiation_leads_programs_to_what_negotiates() {
        for (accept, agent, expected) in [
            (
                "application/x-bibtex",
                "curl/8",
                "http://t.example/20.1%2Fa%20b%2Fc/20.1/a%20b/c",
            ),
            ("text/html,*/*;q=0.8", "Mozilla/5.0", "http://www1.example/"),
            ("*/*", "curl/8", "http://www1.example/"),
            ("", "Mozilla/5.0", "http://www1.example/"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            headers.insert(USER_AGENT, HeaderValue::from_static(agent));
            let mut preferences = preferences(0);
            preferences.add_headers(&headers);
            assert_eq!(chosen(&preferences, LOCATIONS), expected, "{accept}");
        }
    }
}
