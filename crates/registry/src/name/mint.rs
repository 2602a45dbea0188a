//! Minting names: the registry chooses them, without collisions and never twice.

use std::str::FromStr;
use std::time::Duration;

use handfast_id::{CaseRule, Guid, TimeGuids};
use handfast_store::Table;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::name::create::{NewName, Origin};
use crate::registry::Registry;

/// The form of minted names.
///
/// ```
/// use handfast_registry::Style;
///
/// assert_eq!("random:10".parse(), Ok(Style::Random { length: 10 }));
/// let sequence = Style::Sequence { start: "map-".into(), width: 6 };
/// assert_eq!("sequence:map-:6".parse(), Ok(sequence));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// 32 hex digits from a UUID of version 4 (`CID-4`).
    Guid,
    /// 32 hex digits from a UUID of version 1, which holds the time.
    GuidV1,
    /// Digits and consonants. The last one is a check character, which detects one mistyped
    /// character and two that changed places.
    Random {
        /// How many characters, the check character included.
        length: usize,
    },
    /// A running number after a fixed start.
    Sequence {
        /// The fixed start.
        start: String,
        /// The minimum number of digits.
        width: usize,
    },
    /// A UUID of version 4 as usually written.
    Uuid,
}

impl FromStr for Style {
    type Err = StyleError;

    fn from_str(text: &str) -> Result<Self, StyleError> {
        let (kind, rest) = text.split_once(':').unzip();
        match (kind.unwrap_or(text), rest) {
            ("guid", None) => Ok(Self::Guid),
            ("guid-v1", None) => Ok(Self::GuidV1),
            ("uuid", None) => Ok(Self::Uuid),
            ("random", None) => Ok(Self::Random { length: 9 }),
            ("random", Some(length)) => match length.parse() {
                Ok(length @ 4..=64) => Ok(Self::Random { length }),
                _ => Err(StyleError),
            },
            ("sequence", rest) => {
                let rest = rest.unwrap_or_default();
                let (start, width) = rest.rsplit_once(':').unwrap_or((rest, "1"));
                match width.parse() {
                    Ok(width @ 1..=20) => Ok(Self::Sequence {
                        start: start.to_string(),
                        width,
                    }),
                    _ => Err(StyleError),
                }
            }
            _ => Err(StyleError),
        }
    }
}

/// The text is not a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a style is guid, guid-v1, uuid, random[:LENGTH] (4 to 64) or sequence[:TEXT[:WIDTH]], a \
     number behind TEXT"
)]
pub struct StyleError;

/// What minted names look like, and what they hold.
#[derive(Clone, Debug, Default)]
pub struct MintOptions {
    /// The form of the names. By default a GUID under a CORDRA authority, else random characters.
    pub style: Option<Style>,
    /// URLs of each name, in which `{name}` stands for the local part.
    pub urls: Vec<String>,
    /// Whether the names start reserved.
    pub reserve: bool,
}

/// A minted name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minted {
    /// The name.
    pub id: String,
    /// Its URLs.
    pub urls: Vec<String>,
    /// The number of its event.
    pub event: u64,
}

/// The number of names in one change, whose events follow each other.
const NAMES_PER_CHANGE: u64 = 500;
/// How many random names may turn out to exist before the style counts as used up.
const MAX_TRIES: u32 = 100;

impl Registry {
    /// Mints `count` names. Each name is passed to `made` when it is on disk. Up to 500 names are
    /// one change: all of them are made or none, and the numbers of their events follow each other.
    pub fn mint(
        &self,
        who: &Principal,
        authority: &str,
        options: &MintOptions,
        count: u64,
        mut made: impl FnMut(Minted) -> Result<(), RegistryError>,
    ) -> Result<(), RegistryError> {
        let mut left = count;
        while left > 0 {
            let batch = left.min(NAMES_PER_CHANGE);
            let seed = self.random();
            let (authority, options) = (authority.to_string(), options.clone());
            let minted = self.change(who, move |change_set| {
                mint_batch(change_set, &authority, &options, batch, seed)
            })?;
            minted.into_iter().try_for_each(&mut made)?;
            left -= batch;
        }
        Ok(())
    }

    /// Names as [`mint`](Self::mint) would make them, up to 500; nothing is stored. Random names
    /// turn out differently when they are made.
    ///
    /// ```
    /// # use handfast_registry::{MintOptions, NewAuthority, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// let style = "sequence:map-:4".parse().ok();
    /// let options = MintOptions { style, ..MintOptions::default() };
    /// let examples = registry.mint_examples(&operator, "20.1000", &options, 2)?;
    /// assert_eq!(examples[1].id, "20.1000/map-0002");
    /// assert!(registry.show(&operator, "20.1000/map-0002").is_err());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn mint_examples(
        &self,
        who: &Principal,
        authority: &str,
        options: &MintOptions,
        count: u64,
    ) -> Result<Vec<Minted>, RegistryError> {
        let (seed, count) = (self.random(), count.min(NAMES_PER_CHANGE));
        self.dry_run(who, |change_set| {
            mint_batch(change_set, authority, options, count, seed)
        })
    }
}

fn mint_batch(
    change_set: &mut ChangeSet<'_>,
    authority: &str,
    options: &MintOptions,
    count: u64,
    seed: [u8; 32],
) -> Result<Vec<Minted>, RegistryError> {
    let path = change_set.path(authority)?;
    let mut mint = Mint::begin(change_set, path, options.style.clone(), seed)?;
    let names = (0..count).map(|_| mint.next(change_set, options));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    mint.end(change_set)?;
    Ok(names)
}

struct Mint {
    path: AuthorityPath,
    style: Style,
    seed: [u8; 32],
    counter_key: Vec<u8>,
    counter: u64,
    drawn: u64,
    timed: TimeGuids,
    time: Duration,
}

impl Mint {
    fn begin(
        change_set: &ChangeSet<'_>,
        path: AuthorityPath,
        style: Option<Style>,
        seed: [u8; 32],
    ) -> Result<Self, RegistryError> {
        let authority = change_set.active_for(change_set.who(), &path)?;
        let style = match style {
            Some(style) => style,
            None if authority.policy.cordra => Style::Guid,
            None => Style::Random { length: 9 },
        };
        let counter_key = counter_key(&path, &style, authority.policy.case_rule());
        let counter = change_set
            .decode_stored(Table::Meta, &counter_key)?
            .unwrap_or(0);
        // Each batch has a node id of its own, so no two batches can collide.
        let [n0, n1, n2, n3, n4, n5, s1, s0, ..] = seed;
        let node = TimeGuids::random_node([n0, n1, n2, n3, n4, n5]);
        let timed = TimeGuids::new(node, u16::from_be_bytes([s1, s0]));
        let time = Duration::from_millis(change_set.time());
        Ok(Self {
            path,
            style,
            seed,
            counter_key,
            counter,
            drawn: 0,
            timed,
            time,
        })
    }

    /// Creates the next name that has never existed.
    fn next(
        &mut self,
        change_set: &mut ChangeSet<'_>,
        options: &MintOptions,
    ) -> Result<Minted, RegistryError> {
        let tries = if matches!(self.style, Style::Sequence { .. }) {
            u32::MAX
        } else {
            MAX_TRIES
        };
        for _ in 0..tries {
            let local = self.local();
            let id = self.path.name(&local);
            let encoded = utf8_percent_encode(&local, URL_COMPONENT).to_string();
            let urls: Vec<_> = options
                .urls
                .iter()
                .map(|url| url.replace("{name}", &encoded))
                .collect();
            let new = NewName {
                urls: urls.clone(),
                reserve: options.reserve,
                ..NewName::default()
            };
            match change_set.create(&id, &new, Origin::Minted) {
                Ok(shown) => {
                    return Ok(Minted {
                        event: shown.record.first_event,
                        id: shown.record.text,
                        urls,
                    });
                }
                // The counter is behind, or the random name exists: try the next one.
                Err(RegistryError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let problem = "too many names of this style exist: choose a longer one, or another";
        Err(RegistryError::policy("used-up", problem))
    }

    fn end(&self, change_set: &mut ChangeSet<'_>) -> Result<(), RegistryError> {
        change_set.store_encoded(Table::Meta, &self.counter_key, &self.counter)
    }

    fn local(&mut self) -> String {
        match self.style.clone() {
            Style::Guid => Guid::v4(self.draw()).to_string(),
            Style::GuidV1 => self.timed.next(self.time).to_string(),
            Style::Uuid => hyphenated(&Guid::v4(self.draw()).to_string().to_lowercase()),
            Style::Random { length } => self.random(length),
            Style::Sequence { start, width } => {
                self.counter += 1;
                format!("{start}{:0width$}", self.counter)
            }
        }
    }

    fn random(&mut self, length: usize) -> String {
        let mut local = String::with_capacity(length);
        while local.len() + 1 < length {
            // 29 does not divide 256: bytes above its last multiple would favour the first
            // characters.
            let fair = self.draw().into_iter().filter(|byte| *byte < 232);
            for byte in fair.take(length - 1 - local.len()) {
                local.push(character(u32::from(byte) % 29));
            }
        }
        let check = check_character(&self.path.name(&local));
        local.push(check);
        local
    }

    /// 16 random bytes, never the same twice.
    fn draw(&mut self) -> [u8; 16] {
        use sha2::{Digest, Sha256};
        self.drawn += 1;
        let hash = Sha256::new()
            .chain_update(self.seed)
            .chain_update(self.drawn.to_be_bytes());
        let bytes: [u8; 32] = hash.finalize().into();
        bytes.first_chunk().copied().unwrap_or_default()
    }
}

/// Where case does not count, starts that differ in case only share a counter.
fn counter_key(path: &AuthorityPath, style: &Style, case: CaseRule) -> Vec<u8> {
    let start = match style {
        Style::Sequence { start, .. } if case == CaseRule::Sensitive => start.clone(),
        Style::Sequence { start, .. } => start.to_ascii_lowercase(),
        _ => String::new(),
    };
    format!("minted:{}:{start}", path.key()).into_bytes()
}

/// The digits and consonants of minted names: they form no words, and no two look alike.
const CHARACTERS: &str = "0123456789bcdfghjkmnpqrstvwxz";

fn character(value: u32) -> char {
    let index = usize::try_from(value).unwrap_or_default();
    CHARACTERS.chars().nth(index).unwrap_or('0')
}

/// The check character of the NOID scheme: the sum of each character's value times its position,
/// modulo the number of characters, which is a prime.
fn check_character(text: &str) -> char {
    let value = |c: char| {
        CHARACTERS
            .find(c)
            .and_then(|at| u32::try_from(at).ok())
            .unwrap_or(0)
    };
    let sum = (1..)
        .zip(text.chars())
        .fold(0, |sum, (place, c)| (sum + place % 29 * value(c)) % 29);
    character(sum)
}

pub(crate) fn hyphenated(hex: &str) -> String {
    let mut out = String::with_capacity(36);
    for (at, c) in hex.char_indices() {
        if matches!(at, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(c);
    }
    out
}

/// Everything that is escaped in a part of a URL: all but letters, digits and `- . _ ~`.
pub(crate) const URL_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_character_tells_typing_errors() {
        let good = "20.1000/3f7k2m9q";
        let check = check_character(good);
        for at in 8..good.len() {
            let mut wrong: Vec<char> = good.chars().collect();
            wrong[at] = if wrong[at] == '5' { '6' } else { '5' };
            assert_ne!(check_character(&wrong.iter().collect::<String>()), check);
            if at + 1 < good.len() {
                let mut swapped: Vec<char> = good.chars().collect();
                swapped.swap(at, at + 1);
                assert_ne!(check_character(&swapped.iter().collect::<String>()), check);
            }
        }
    }

    #[test]
    fn local_names_are_encoded_in_urls() {
        let encoded = utf8_percent_encode("a/b c", URL_COMPONENT).to_string();
        assert_eq!(encoded, "a%2Fb%20c");
        assert_eq!(hyphenated(&"0".repeat(32)).len(), 36);
    }
}
