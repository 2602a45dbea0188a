//! Finding names by their values, with wildcards.

use std::collections::HashMap;
use std::ops::ControlFlow;

use handfast_id::Prefix;
use handfast_store::{Table, TableKey, index_value};
use handfast_wire::{AdminPermissions, Value};
use memchr::memmem;

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::lookup::value_index::reverse_value;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// A search for handles: for each type, a public value must match all its patterns.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// Types and patterns. All patterns of one type apply to the same value.
    pub values: Vec<(String, Wildcard)>,
    /// Only under this prefix.
    pub prefix: Option<String>,
    /// How many matches to skip.
    pub skip: u64,
    /// The maximum number of matches.
    pub limit: u64,
}

/// A text in which `*` stands for any text.
///
/// ```
/// use handfast_registry::Wildcard;
///
/// let pattern = Wildcard::new("http://*.org/*");
/// assert!(pattern.matches(b"http://example.org/7"));
/// assert!(!pattern.matches(b"http://example.com/7"));
/// assert!(!Wildcard::new("x").matches(b"xy"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard(Vec<String>);

impl Wildcard {
    /// Reads a pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.split('*').map(str::to_string).collect())
    }

    /// The start of every match.
    fn start(&self) -> &str {
        self.0.first().map(String::as_str).unwrap_or_default()
    }

    fn is_exact(&self) -> bool {
        self.0.len() == 1
    }

    /// Whether all of some bytes match.
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return bytes == self.start().as_bytes();
        };
        let rest = bytes.strip_prefix(first.as_bytes());
        let Some(mut rest) = rest.and_then(|rest| rest.strip_suffix(last.as_bytes())) else {
            return false;
        };
        // The first occurrence of a part leaves the most text for the others. The search takes
        // linear time, because a client may choose pattern and value for each other: `aaa…b` in
        // `aaa…`.
        for part in middle.iter().filter(|part| !part.is_empty()) {
            let Some(at) = memmem::find(rest, part.as_bytes()) else {
                return false;
            };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        true
    }
}

impl Registry {
    /// Visits the matching records of handles that a principal may list, in a stable order, one by
    /// one: all of them may not fit into memory.
    pub fn matching(
        &self,
        who: &Principal,
        wanted: &Matching,
        visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
    ) -> Result<(), RegistryError> {
        // Start with the pattern that leaves the fewest entries to scan.
        let narrowest = wanted.values.iter().max_by_key(|(_, pattern)| {
            let is_exact = pattern.is_exact();
            (is_exact, pattern.start().len())
        });
        let Some((value_type, pattern)) = narrowest else {
            return Ok(());
        };
        self.read(|view| {
            let first = Value::new(1, value_type, pattern.start().as_bytes());
            let start = reverse_value(&first);
            let mut search = WildcardScan {
                view,
                who,
                wanted,
                narrowest: value_type,
                listable: HashMap::new(),
                skip: wanted.skip,
                found: 0,
                give: visit,
            };
            let mut outcome = Ok(());
            if wanted.limit > 0 && search.may_find_any()? {
                view.now.scan_index(&start, &mut |value, key, bytes| {
                    let visited = search.visit(value, key, bytes);
                    visited.unwrap_or_else(|error| {
                        outcome = Err(error);
                        ControlFlow::Break(())
                    })
                })?;
            }
            outcome
        })
    }
}

struct WildcardScan<'s> {
    view: &'s View<'s>,
    who: &'s Principal,
    wanted: &'s Matching,
    narrowest: &'s str,
    /// Whether a principal may list the names of an authority.
    listable: HashMap<String, bool>,
    skip: u64,
    found: u64,
    give: &'s mut dyn FnMut(&Record) -> ControlFlow<()>,
}

impl WildcardScan<'_> {
    fn visit(
        &mut self,
        sought: &[u8],
        key: &[u8],
        bytes: &[u8],
    ) -> Result<ControlFlow<()>, RegistryError> {
        let next = Ok(ControlFlow::Continue(()));
        let Some(handle) = key.strip_prefix(b"hdl:") else {
            return next;
        };
        if let Some(prefix) = &self.wanted.prefix {
            let length = prefix.len();
            let is_under = handle
                .get(..length)
                .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
                && handle.get(length) == Some(&b'/');
            if !is_under {
                return next;
            }
        }
        let Ok(record) = Record::from_bytes(bytes) else {
            return next;
        };
        if record.state != State::Active || !self.is_first_match(&record, sought) {
            return next;
        }
        if !self.may_list(&record.authority)? {
            return next;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return next;
        }
        self.found += 1;
        let wish = (self.give)(&record);
        Ok(if self.found < self.wanted.limit {
            wish
        } else {
            ControlFlow::Break(())
        })
    }

    /// Whether a record matches and was not visited before: it is visited at the first of its
    /// matching values.
    fn is_first_match(&self, record: &Record, sought: &[u8]) -> bool {
        let types = self.wanted.values.iter().map(|(value_type, _)| value_type);
        if !types.into_iter().all(|value_type| {
            let mut values = self.matching(record, value_type);
            values.next().is_some()
        }) {
            return false;
        }
        let all = self.matching(record, self.narrowest);
        let first = all.map(|value| index_value(&reverse_value(value)).into_owned());
        first.min().is_some_and(|first| first == sought)
    }

    fn matching<'r>(
        &'r self,
        record: &'r Record,
        value_type: &'r str,
    ) -> impl Iterator<Item = &'r Value<'static>> {
        record.values.iter().filter(move |value| {
            let mut patterns = self.wanted.values.iter();
            value.is_public()
                && value.value_type.eq_ignore_ascii_case(value_type)
                && patterns.all(|(of, pattern)| {
                    !of.eq_ignore_ascii_case(value_type) || pattern.matches(&value.data)
                })
        })
    }

    /// Whether there is anything to scan. A principal that may list nothing must not cause a full
    /// scan.
    fn may_find_any(&mut self) -> Result<bool, RegistryError> {
        if let Some(prefix) = &self.wanted.prefix {
            return self.may_list(&format!("hdl:{}", prefix.to_ascii_uppercase()));
        }
        let mut is_any = false;
        let (view, from) = (self.view, TableKey::named(Table::Authorities, b"hdl:"));
        view.scan_while(&from, |table_key, _| {
            is_any = self.may_list(&String::from_utf8_lossy(table_key.name()))?;
            Ok(!is_any && table_key.name().starts_with(b"hdl:"))
        })?;
        Ok(is_any)
    }

    fn may_list(&mut self, authority: &str) -> Result<bool, RegistryError> {
        if let Some(may) = self.listable.get(authority) {
            return Ok(*may);
        }
        let prefix = authority.strip_prefix("hdl:").unwrap_or_default();
        let may = match Prefix::parse(prefix) {
            Ok(prefix) => {
                let path = AuthorityPath::of_prefix(&prefix);
                self.view.role(self.who, &path)?.is_some()
                    || self
                        .view
                        .prefix_grants(self.who, &path, AdminPermissions::LIST_HANDLES)?
            }
            Err(_) => false,
        };
        self.listable.insert(authority.to_string(), may);
        Ok(may)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    #[rustfmt::skip] // A row is a line.
    fn parts_are_found_in_their_order_and_not_twice() {
        for (pattern, text, matches) in [
            ("", "", true), ("", "x", false), ("*", "", true), ("**", "x", true),
            ("a*a", "a", false), ("a*a", "aa", true), ("*b*b*", "abc", false),
            ("*b*b*", "abcb", true),
            ("a*b*c", "abbc", true), ("a*c*b", "abbc", false), ("*ab*ba*", "aba", false),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(text.as_bytes()), matches, "{pattern} \
                {text}");
        }
    }

    /// It took a minute when each position was tried by itself.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it takes is what is tested"
    )]
    fn a_pattern_made_for_a_value_takes_no_longer_than_another() {
        let value = vec![b'a'; 1 << 20];
        let half = "a".repeat(1 << 19);
        let pattern = Wildcard::new(&format!("*{half}b*"));
        let start = Instant::now();
        assert!(!pattern.matches(&value));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
