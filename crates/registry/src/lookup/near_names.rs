//! Names that are one edit away from a name that does not exist.

use std::collections::BTreeSet;

use handfast_id::CaseRule;
use handfast_store::TableKey;

use crate::authority::path::AuthorityPath;
use crate::authority::policy::Persistence;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::lookup::name_list::title_of;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// A name that someone may have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearName {
    /// The name as it was registered.
    pub id: String,
    /// Its title, if a public value has one.
    pub title: Option<String>,
}

/// The maximum number of spellings that are looked up.
const MAX_LOOKUPS: usize = 2_000;
/// The maximum number of names in the answer.
const MAX_NEAR_NAMES: usize = 5;
/// The maximum length of a name, in characters. Of a longer one too few spellings are looked up.
const MAX_CHARS: usize = 200;
/// The characters that may be missing or wrong, the likely ones first.
const DIGITS: &str = "0123456789";
const LOWERCASE: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPERCASE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MARKS: &str = "-._/:";

impl Registry {
    /// Names of the same authority that differ from a name by one edit: a character too many, too
    /// few or wrong, or two exchanged. It finds public names only: active names, of authorities
    /// that never erase one. At most 2,000 spellings are looked up.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/5555", NewName::default())?;
    /// assert_eq!(registry.near_names("20.1000/555")?[0].id, "20.1000/5555");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn near_names(&self, id: &str) -> Result<Vec<NearName>, RegistryError> {
        self.read(|view| view.near_names(id))
    }
}

impl View<'_> {
    fn near_names(&self, id: &str) -> Result<Vec<NearName>, RegistryError> {
        let Ok(identifier) = self.identify(id) else {
            return Ok(Vec::new());
        };
        let key = identifier.key(self);
        let path = AuthorityPath::of(&identifier, self);
        let authority = self.authority(&path)?;
        let is_public = authority.is_some_and(|authority| {
            authority.status.is_in_force() && authority.policy.persistence == Persistence::Permanent
        });
        let start = path.start_of_names();
        let Some(local) = key.as_str().strip_prefix(&start).filter(|_| is_public) else {
            return Ok(Vec::new());
        };
        let has_case = path.prefix().is_some_and(|prefix| {
            handfast_id::Rules::case_rule(self, &prefix) == CaseRule::Sensitive
        });
        let mut found = Vec::new();
        for spelling in spellings(local, has_case) {
            let near = format!("{start}{spelling}");
            let read = |bytes: &[u8]| Record::from_bytes(bytes).ok();
            let record = self.now.get(&TableKey::record(near.as_bytes()), read)?;
            let record = record
                .flatten()
                .filter(|record| record.state == State::Active && record.authority == path.key());
            found.extend(record.map(|record| NearName {
                title: title_of(&record),
                id: record.text,
            }));
            if found.len() == MAX_NEAR_NAMES {
                break;
            }
        }
        Ok(found)
    }
}

/// The spellings that are one edit away, each once, the likely ones first.
fn spellings(local: &str, has_case: bool) -> Vec<String> {
    let chars: Vec<char> = local.chars().collect();
    let mut all = Spellings {
        seen: BTreeSet::from([local.to_string()]),
        list: Vec::new(),
    };
    if chars.len() > MAX_CHARS {
        return all.list;
    }
    for at in 1..chars.len() {
        let mut exchanged = chars.clone();
        exchanged.swap(at - 1, at);
        all.add(exchanged);
    }
    for at in 0..chars.len() {
        let mut shorter = chars.clone();
        shorter.remove(at);
        all.add(shorter);
    }
    // Names under other schemes have keys in lowercase, handles without case in uppercase.
    let is_upper = chars.iter().any(char::is_ascii_uppercase);
    let mut alphabets = vec![DIGITS];
    alphabets.push(if is_upper { UPPERCASE } else { LOWERCASE });
    alphabets.push(MARKS);
    alphabets.push(if is_upper { LOWERCASE } else { UPPERCASE });
    if !has_case && chars.iter().any(char::is_ascii_alphabetic) {
        alphabets.pop();
    }
    for alphabet in alphabets {
        for at in 0..=chars.len() {
            for new in alphabet.chars() {
                if let Some(old) = chars.get(at)
                    && *old != new
                {
                    let mut other = chars.clone();
                    if let Some(place) = other.get_mut(at) {
                        *place = new;
                    }
                    all.add(other);
                }
                let mut longer = chars.clone();
                longer.insert(at, new);
                all.add(longer);
            }
            if all.list.len() >= MAX_LOOKUPS {
                all.list.truncate(MAX_LOOKUPS);
                return all.list;
            }
        }
    }
    all.list
}

struct Spellings {
    seen: BTreeSet<String>,
    list: Vec<String>,
}

impl Spellings {
    fn add(&mut self, chars: Vec<char>) {
        let spelling: String = chars.into_iter().collect();
        if self.seen.insert(spelling.clone()) {
            self.list.push(spelling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_edit_is_among_the_spellings() {
        let all = spellings("map7", true);
        for near in [
            "mpa7", "mp7", "map", "map8", "xap7", "map77", "map7-", "Map7",
        ] {
            assert!(all.iter().any(|one| one == near), "{near}");
        }
        assert!(!all.contains(&"map7".to_string()));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn a_long_name_has_no_more_spellings_than_the_limit() {
        assert_eq!(spellings(&"x7".repeat(60), true).len(), MAX_LOOKUPS);
        assert!(spellings(&"x".repeat(201), true).is_empty());
    }
}
