//! Text search: finding names and authorities by words or by their beginning.
//!
//! A search scans names in the order of their keys, a limited number at a time, and the caller
//! continues where the last page ended. An index of words would find rare words at once. But it
//! would have several entries for each name where the index of values has one, and every import
//! would have to sort and write all of them at its end.

use std::ops::ControlFlow;

use handfast_store::TableKey;

use crate::access::principal::Principal;
use crate::authority::policy::Authority;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::lookup::known_roles::KnownRoles;
use crate::lookup::name_list::{NameFilter, NameKinds};
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::registry::Registry;

/// The words of a search; a match contains all of them.
///
/// ```
/// use handfast_registry::Words;
///
/// let words = Words::parse("Map  ROOM").unwrap();
/// assert!(words.are_in(&["the map", "a Room with a view"]));
/// assert!(!words.are_in(&["the map"]));
/// assert!(Words::parse(" ").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

/// There are not one to ten words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give one to ten words, of at most 200 bytes in all")]
pub struct WordsError;

const MAX_WORDS: usize = 10;
const MAX_QUERY_BYTES: usize = handfast_api::limits::SEARCH_WORDS;

impl Words {
    /// Reads words, separated by spaces.
    pub fn parse(text: &str) -> Result<Self, WordsError> {
        if text.len() > MAX_QUERY_BYTES {
            return Err(WordsError);
        }
        let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() || words.len() > MAX_WORDS {
            return Err(WordsError);
        }
        Ok(Self(words))
    }

    /// Whether each word occurs in one of some texts, ignoring case.
    #[must_use]
    pub fn are_in(&self, texts: &[&str]) -> bool {
        let texts: Vec<_> = texts.iter().map(|text| text.to_lowercase()).collect();
        let mut words = self.0.iter();
        words.all(|word| texts.iter().any(|text| text.contains(word)))
    }

    pub(crate) fn are_in_record(&self, record: &Record) -> bool {
        let mut texts = vec![record.text.as_str()];
        let public = record.values.iter().filter(|value| value.is_public());
        // Values of the protocol itself are not text for people.
        let public = public.filter(|value| !value.value_type.starts_with("HS_"));
        texts.extend(public.filter_map(|value| str::from_utf8(&value.data).ok()));
        self.are_in(&texts)
    }
}

/// A page of search results.
#[derive(Clone, Debug, Default)]
pub struct SearchPage {
    /// The names, in the order of their keys, without their values.
    pub names: Vec<Shown>,
    /// Where to continue, if there are more names to scan.
    pub next: Option<String>,
}

impl Registry {
    /// Finds active names that contain some words, in the name or in its public values, and names
    /// that begin with a text. It returns names that the principal may list, after a key.
    pub fn search(
        &self,
        who: &Principal,
        words: Option<&Words>,
        prefix: Option<&str>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<SearchPage, RegistryError> {
        let filter = NameFilter {
            state: Some(State::Active),
            words: words.cloned(),
            prefix: prefix.map(str::to_string),
            ..NameFilter::default()
        };
        let mut names = Vec::new();
        let page = self.read(|view| {
            view.scan_listed(who, &filter, NameKinds::All, after, limit, &mut |shown| {
                names.push(shown.without_values());
            })
        })?;
        Ok(SearchPage {
            names,
            next: page.next,
        })
    }

    /// Finds authorities with some words in their paths, titles or meanings, or whose paths begin
    /// with a text.
    pub fn search_authorities(
        &self,
        words: Option<&Words>,
        prefix: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Authority>, RegistryError> {
        let is_meant = |authority: &Authority| {
            let path = authority.path.to_string();
            let (title, meaning) = (authority.title.as_str(), authority.meaning.as_str());
            let begins = |prefix: &str| {
                let start = path.get(..prefix.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            };
            words.is_none_or(|words| words.are_in(&[&path, title, meaning]))
                && prefix.is_none_or(begins)
        };
        let mut found = Vec::new();
        self.visit_authorities(None, &mut |authority| {
            if authority.status.is_in_force() && is_meant(&authority) {
                found.push(authority);
            }
            if found.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(found)
    }
}

impl View<'_> {
    /// The start of the keys of names that begin with a text.
    pub(crate) fn key_start(&self, prefix: &str) -> String {
        // A text that parses as a name has a key; remove the suffix that was added to parse it.
        let longer = format!("{prefix}0");
        let whole = self.identify(&longer).ok();
        let key = whole.map(|identifier| identifier.key(self).as_str().to_string());
        let start = key.and_then(|key| key.strip_suffix('0').map(str::to_string));
        start.unwrap_or_else(|| match prefix.split_once(':') {
            Some(_) => prefix.to_string(),
            None => format!("hdl:{}", prefix.to_ascii_uppercase()),
        })
    }

    /// The keys of the authorities whose names a principal may list, none of them below another.
    pub(crate) fn listable(&self, who: &Principal) -> Result<Vec<String>, RegistryError> {
        if self.may_do_all(who)? {
            return Ok(vec![String::new()]);
        }
        let mut granted = Vec::new();
        let mut roles = KnownRoles::of(self, who)?;
        let from = TableKey::named(handfast_store::Table::Authorities, b"");
        self.scan_names(&from, |_, bytes| {
            // An authority that cannot be read grants nothing.
            let Ok(authority) = postcard::from_bytes::<Authority>(bytes) else {
                return Ok(());
            };
            if roles.is_granted_on(&authority) {
                granted.push(authority.path);
            }
            Ok(())
        })?;
        if let Principal::Limited { limit, .. } = who {
            granted.extend(limit.authority.clone());
        }
        let mut keys: Vec<String> = Vec::new();
        granted.sort_by(|a, b| a.key().cmp(b.key()));
        for path in granted {
            let is_below = keys.last().is_some_and(|key| path.key().starts_with(key));
            if is_below {
                continue;
            }
            let role = match self.authority(&path)? {
                Some(authority) => roles.role(&authority)?,
                None => None,
            };
            if role.is_some() {
                keys.push(path.key().to_string());
            }
        }
        Ok(keys)
    }
}
