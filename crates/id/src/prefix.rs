//! Prefixes: the authority of a handle.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::chars::is_printable;
use crate::error::{ErrorKind, ParseError, Part, check_limit};
use crate::handle::MAX_HANDLE;

/// The prefix of a handle, such as `20.500.12345`: also known as a naming authority.
///
/// `HDL-2`: one or more non-empty segments joined by `.`; no segment contains `/` or `.`.
///
/// ```text
/// prefix  = segment *( "." segment )
/// segment = 1*<printable character that is neither "/", "." nor white space>
/// ```
///
/// `12345.1` is *derived* from `12345`, and is a prefix in its own right. Prefixes compare ignoring
/// ASCII case.
///
/// ```
/// use handfast_id::Prefix;
///
/// let derived = Prefix::parse("12345.1")?;
/// let parent = derived.parent().unwrap();
/// assert_eq!(parent.as_str(), "12345");
/// assert_eq!(parent.parent(), None);
/// assert!(derived.derives_from(&parent));
/// assert_eq!(Prefix::parse("0.na")?, Prefix::parse("0.NA")?);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prefix<'a>(Cow<'a, str>);

impl<'a> Prefix<'a> {
    /// Reads a prefix to the letter.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        // A prefix is of use only with a `/` and at least one byte of suffix.
        check_limit(text.len(), MAX_HANDLE - 2, Part::Prefix)?;
        check(text)?;
        Ok(Self(Cow::Borrowed(text)))
    }

    /// The part before the first `/` of a handle that has been parsed, or was taken as stored.
    pub(crate) fn of_handle(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The prefix this one derives from directly; `None` for one segment.
    #[must_use]
    pub fn parent(&self) -> Option<Prefix<'_>> {
        let (parent, _) = self.0.rsplit_once('.')?;
        Some(Prefix(Cow::Borrowed(parent)))
    }

    /// The segments between the dots.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }

    /// Whether this prefix derives from `other`, at any depth. No prefix derives from itself.
    #[must_use]
    pub fn derives_from(&self, other: &Prefix<'_>) -> bool {
        self.0
            .split_at_checked(other.0.len())
            .is_some_and(|(head, tail)| {
                head.eq_ignore_ascii_case(&other.0) && tail.starts_with('.')
            })
    }

    /// Whether handles under this prefix are DOIs (`DOI-1`): it is `10` or begins with `10.`.
    #[must_use]
    pub fn is_doi(&self) -> bool {
        self.0 == "10" || self.0.starts_with("10.")
    }

    /// Whether its handles ignore ASCII case whatever the service says (`HDL-6`): DOIs, and the
    /// handles under `0.*` in which the Handle System keeps its own records.
    #[must_use]
    pub fn is_always_insensitive(&self) -> bool {
        self.is_doi() || self.0.starts_with("0.")
    }

    /// The same prefix, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Prefix<'static> {
        Prefix(Cow::Owned(self.0.into_owned()))
    }
}

/// `HDL-2` and `HDL-3` for the part before the first `/`.
pub(crate) fn check(text: &str) -> Result<(), ParseError> {
    let mut segment_is_empty = true;
    for (at, c) in text.char_indices() {
        match c {
            '.' if segment_is_empty => {
                return Err(ErrorKind::EmptySegment.at(Part::Prefix, at));
            }
            '.' => segment_is_empty = true,
            '/' => return Err(ErrorKind::SlashInPrefix.at(Part::Prefix, at)),
            '!'..='~' => segment_is_empty = false,
            _ if c.is_whitespace() => {
                let error = ErrorKind::WhiteSpace.at(Part::Prefix, at);
                return Err(error.with_found(Some(c)));
            }
            _ if !is_printable(c) => {
                return Err(ParseError::character(Part::Prefix, at, Some(c)));
            }
            _ => segment_is_empty = false,
        }
    }
    match (text.is_empty(), segment_is_empty) {
        (true, _) => Err(ErrorKind::EmptyPrefix.at(Part::Prefix, 0)),
        (_, true) => Err(ErrorKind::EmptySegment.at(Part::Prefix, text.len())),
        _ => Ok(()),
    }
}

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<Prefix<'_>> for Prefix<'_> {
    fn eq(&self, other: &Prefix<'_>) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Hash for Prefix<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_uppercase());
        }
        state.write_u8(0xFF);
    }
}

impl From<Prefix<'_>> for String {
    fn from(prefix: Prefix<'_>) -> Self {
        prefix.0.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hdl_2_segments_are_not_empty() {
        for (text, at) in [(".10", 0), ("10.", 3), ("10..5", 3), (".", 0)] {
            let error = Prefix::parse(text).unwrap_err();
            assert_eq!((error.code(), error.at()), ("empty-segment", at), "{text}");
        }
        assert_eq!(Prefix::parse("").unwrap_err().code(), "empty-prefix");
        assert_eq!(Prefix::parse("10/x").unwrap_err().code(), "slash-in-prefix");
    }

    #[test]
    fn hdl_2_derivation_follows_whole_segments() {
        let prefix = |text| Prefix::parse(text).unwrap();
        assert!(prefix("20.500.1").derives_from(&prefix("20")));
        assert!(prefix("0.NA.x").derives_from(&prefix("0.na")));
        assert!(!prefix("20.5001").derives_from(&prefix("20.500")));
        assert!(!prefix("20.500").derives_from(&prefix("20.500")));
        assert!(!prefix("20").derives_from(&prefix("20.500")));
        assert_eq!(prefix("20.500.1").segments().count(), 3);
    }

    #[test]
    fn hdl_3_no_white_space_in_a_prefix() {
        for text in ["20 1000", " 20", "20\u{A0}1", "20\u{3000}"] {
            assert_eq!(
                Prefix::parse(text).unwrap_err().code(),
                "white-space",
                "{text:?}"
            );
        }
    }

    #[test]
    fn hdl_6_some_prefixes_ignore_case_always() {
        for (text, always) in [
            ("10", true),
            ("10.1", true),
            ("0.NA", true),
            ("0", false),
            ("100", false),
            ("20", false),
        ] {
            assert_eq!(
                Prefix::parse(text).unwrap().is_always_insensitive(),
                always,
                "{text}"
            );
        }
    }
}
