//! Lookup keys.

use alloc::string::String;
use core::fmt;

use crate::handle::CaseRule;
use crate::prefix::Prefix;

/// The lookup key of a record: all spellings of one thing have one key (`EQ-1`).
///
/// A key is a tag that names the scheme, and a text in which what does not count (case, needless
/// triplets, hyphens of an ARK …) has been evened out:
///
/// | of | key |
/// | --- | --- |
/// | a handle in any form | `hdl:`, ASCII-uppercase prefix, `/`, suffix by its case rule |
/// | a URN | its canonical form |
/// | an ARK | its canonical form |
/// | an `info` URI | its canonical form with its fragment |
/// | an `info:hdl/`, `info:doi/` or `info:ark/` URI | the key of the thing that it names |
///
/// Keys are not identifiers: they are never shown or parsed.
///
/// ```
/// use handfast_id::{Standard, recognise};
///
/// let key = |text| recognise(text, &Standard).unwrap().identifier.key(&Standard);
/// assert_eq!(key("https://doi.org/10.1000/abc"), key("info:doi/10.1000%2FABC"));
/// assert_eq!(key("doi:10.1000/abc").as_str(), "hdl:10.1000/ABC");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(crate) fn of_handle(prefix: &Prefix<'_>, suffix: &str, rule: CaseRule) -> Self {
        let mut key = String::with_capacity(4 + prefix.as_str().len() + 1 + suffix.len());
        key.push_str("hdl:");
        key.push_str(prefix.as_str());
        key.push('/');
        let folded = match rule.under(prefix) {
            CaseRule::AsciiInsensitive => key.len() + suffix.len(),
            CaseRule::Sensitive => key.len(),
        };
        key.push_str(suffix);
        if let Some(tagged) = key.get_mut(4..folded) {
            tagged.make_ascii_uppercase();
        }
        Self(key)
    }

    /// The key of a thing whose canonical form begins with its scheme.
    pub(crate) fn of_canonical(canonical: String) -> Self {
        Self(canonical)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
