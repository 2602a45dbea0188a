//! The filters of the list of names, as they stand in its URL.

use handfast_registry::{NameFilter, State, Words, parse_rfc3339};

use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;
use crate::http::percent::{COMPONENT, encode};

/// The filters of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct UrlFilters {
    /// Words, an identifier or a URL.
    pub(super) q: String,
    /// How `q` is read; a link to the next page says it.
    pub(super) by: Option<SearchBy>,
    pub(super) authority: String,
    pub(super) with_children: bool,
    pub(super) state: Option<State>,
    /// A day: `2026-11-14`.
    pub(super) since: String,
}

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchBy {
    /// The beginning of names.
    Prefix,
    /// A URL of names.
    Url,
    /// Words in names and their public values.
    Words,
}

impl SearchBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "beginning",
            Self::Url => "url",
            Self::Words => "words",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [Self::Prefix, Self::Url, Self::Words];
        all.into_iter().find(|by| by.as_str() == text)
    }
}

/// A filter that a person can take away.
pub(super) struct Chip {
    pub(super) text: String,
    /// The list without it.
    pub(super) path: String,
}

impl UrlFilters {
    pub(super) fn read(visit: &Visit<'_>) -> Self {
        let text = |name| visit.query(name).unwrap_or_default().to_string();
        Self {
            q: text("q"),
            by: visit.query("by").and_then(SearchBy::parse),
            authority: text("authority"),
            with_children: visit.query("children").is_some(),
            state: visit.query("state").and_then(State::parse),
            since: text("since"),
        }
    }

    /// The filter for the registry, without the search.
    pub(super) fn filter(&self, errors: &mut Vec<FieldError>) -> NameFilter {
        let since = Some(self.since.as_str()).filter(|since| !since.is_empty());
        let changed_since = since.and_then(|since| parse_rfc3339(&format!("{since}T00:00:00Z")));
        if since.is_some() && changed_since.is_none() {
            let text = "Write the day as 2026-11-14: year, month and day.";
            errors.push(FieldError::new("since", text));
        }
        NameFilter {
            authority: Some(self.authority.clone()).filter(|authority| !authority.is_empty()),
            with_children: self.with_children,
            state: self.state,
            changed_since,
            ..NameFilter::default()
        }
    }

    /// The ways to read `q`, the likeliest first.
    pub(super) fn ways(&self) -> Vec<SearchBy> {
        let is_one_word = !self.q.contains(char::is_whitespace);
        match self.by {
            Some(by) => vec![by],
            None if self.q.is_empty() => Vec::new(),
            None if self.q.contains("://") => vec![SearchBy::Url, SearchBy::Words],
            None if is_one_word && self.q.contains(['/', ':']) => {
                vec![SearchBy::Prefix, SearchBy::Words]
            }
            None => vec![SearchBy::Words],
        }
    }

    /// The filter with the search.
    pub(super) fn search(
        &self,
        filter: &NameFilter,
        by: SearchBy,
    ) -> Result<NameFilter, FieldError> {
        let mut filter = filter.clone();
        match by {
            SearchBy::Prefix => filter.prefix = Some(self.q.clone()),
            SearchBy::Url => filter.url = Some(self.q.clone()),
            SearchBy::Words => {
                let words = Words::parse(&self.q);
                let words = words.map_err(|_| {
                    FieldError::new("q", "Search for one to ten words, 200 bytes in all.")
                })?;
                filter.words = Some(words);
            }
        }
        Ok(filter)
    }

    /// The query of a URL with these filters: empty, or with its question mark.
    pub(super) fn query(&self, more: &[(&str, &str)]) -> String {
        let state = self.state.map_or("", State::as_str);
        let by = self.by.map_or("", SearchBy::as_str);
        let children = if self.with_children { "1" } else { "" };
        let own = [
            ("q", self.q.as_str()),
            ("by", by),
            ("authority", &self.authority),
            ("children", children),
            ("state", state),
            ("since", &self.since),
        ];
        let all = own
            .iter()
            .chain(more)
            .filter(|(_, value)| !value.is_empty());
        let pairs = all.map(|(name, value)| format!("{name}={}", encode(value, COMPONENT)));
        let pairs: Vec<_> = pairs.collect();
        if pairs.is_empty() {
            return String::new();
        }
        format!("?{}", pairs.join("&"))
    }

    pub(super) fn path(&self) -> String {
        format!("/console/names{}", self.query(&[]))
    }

    /// One chip for each filter.
    pub(super) fn chips(&self, authority_title: &str) -> Vec<Chip> {
        let mut chips = Vec::new();
        let mut add = |text: String, without: Self| {
            let path = without.path();
            chips.push(Chip { text, path });
        };
        let this = || self.clone();
        if !self.q.is_empty() {
            let without = Self {
                q: String::new(),
                by: None,
                ..this()
            };
            add(self.q.clone(), without);
        }
        if let Some(state) = self.state {
            let text = match state {
                State::Active => "Active",
                State::Reserved => "Reserved",
                State::Withdrawn => "Withdrawn",
            };
            add(
                text.to_string(),
                Self {
                    state: None,
                    ..this()
                },
            );
        }
        if !self.authority.is_empty() {
            let title = if authority_title.is_empty() {
                &self.authority
            } else {
                authority_title
            };
            let without = Self {
                authority: String::new(),
                with_children: false,
                ..this()
            };
            add(title.to_string(), without);
            if self.with_children {
                let without = Self {
                    with_children: false,
                    ..this()
                };
                add("with those below it".to_string(), without);
            }
        }
        if !self.since.is_empty() {
            let without = Self {
                since: String::new(),
                ..this()
            };
            add(format!("Changed since {}", self.since), without);
        }
        chips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searching(q: &str) -> UrlFilters {
        UrlFilters {
            q: q.to_string(),
            ..UrlFilters::default()
        }
    }

    #[test]
    fn a_search_is_read_as_identifier_url_or_words() {
        use SearchBy::{Prefix, Url, Words};
        for (q, ways) in [
            ("", vec![]),
            ("harbour map", vec![Words]),
            ("20.1000", vec![Words]),
            ("20.1000/map-04", vec![Prefix, Words]),
            ("urn:isbn:04", vec![Prefix, Words]),
            ("https://maps.example/1", vec![Url, Words]),
            ("either / or", vec![Words]),
        ] {
            assert_eq!(searching(q).ways(), ways, "{q}");
        }
    }

    #[test]
    fn each_chip_leads_to_the_list_without_its_filter() {
        let filters = UrlFilters {
            authority: "20.1".to_string(),
            with_children: true,
            state: Some(State::Active),
            since: "2026-11-01".to_string(),
            ..searching("a&b")
        };
        let chips = filters.chips("Maps");
        let texts: Vec<_> = chips.iter().map(|chip| chip.text.as_str()).collect();
        let since = "Changed since 2026-11-01";
        assert_eq!(
            texts,
            ["a&b", "Active", "Maps", "with those below it", since]
        );
        let path = "/console/names?q=a%26b&state=active&since=2026-11-01";
        assert_eq!(chips.get(2).map(|chip| chip.path.as_str()), Some(path));
        assert_eq!(searching("").query(&[]), "");
    }
}
