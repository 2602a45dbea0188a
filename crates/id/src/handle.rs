//! Handles.
//!
//! A handle is `prefix "/" suffix` (RFC 3650, RFC 3651). The prefix names the authority that may
//! create handles; the suffix is its own business and may contain further slashes. Prefixes compare
//! ignoring ASCII case; suffixes by the rule of their authority: see [`Handle::key`].

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::chars::is_printable;
use crate::error::{ErrorKind, ParseError, Part, check_limit};
use crate::key::Key;
use crate::prefix::{self, Prefix};

/// `X-4`: a handle is at most this many bytes long.
pub const MAX_HANDLE: usize = 2_048;

/// A handle such as `10.1045/april2006-paskin`.
///
/// RFC 3651 §3: `<Handle> ::= <Handle Naming Authority> "/" <Handle Local Name>`.
///
/// ```text
/// handle = prefix "/" suffix        ; the first "/" divides them (HDL-1)
/// suffix = 1*<printable character>  ; no white space at either end (HDL-3)
/// ```
///
/// Nothing is decoded, folded or normalised: `%` is an ordinary character. `==` compares as a
/// service that says nothing about case does: suffixes by their bytes, except under the prefixes
/// that ignore case always (`HDL-6`). Use [`matches`](Self::matches) or [`key`](Self::key) where
/// the rule of the authority is known.
///
/// ```
/// use handfast_id::{CaseRule, Handle};
///
/// let a: Handle = "20.500.12345/Report-7".parse()?;
/// let b: Handle = "20.500.12345/REPORT-7".parse()?;
/// assert_eq!(a.prefix().as_str(), "20.500.12345");
/// assert_eq!(a.suffix(), "Report-7");
/// assert_ne!(a, b);
/// assert_eq!(a.key(CaseRule::AsciiInsensitive), b.key(CaseRule::AsciiInsensitive));
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Handle<'a> {
    text: Cow<'a, str>,
    /// Where the `/` between prefix and suffix stands.
    slash: usize,
}

impl<'a> Handle<'a> {
    /// Reads a handle to the letter. Nothing is copied.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        let slash = check(text)?;
        Ok(Self {
            text: Cow::Borrowed(text),
            slash,
        })
    }

    /// Reads a handle from bytes, which must be UTF-8 (`HDL-5`).
    ///
    /// ```
    /// # use handfast_id::Handle;
    /// assert!(Handle::parse_bytes(b"20.1000/caf\xC3\xA9").is_ok());
    /// let error = Handle::parse_bytes(b"20.1000/caf\xE9").unwrap_err();
    /// assert_eq!((error.code(), error.at()), ("not-utf8", 11));
    /// ```
    pub fn parse_bytes(bytes: &'a [u8]) -> Result<Self, ParseError> {
        Self::parse(utf8(bytes)?)
    }

    /// Accepts a name that already exists on another server, even if it breaks `HDL-3`, `HDL-4` or
    /// `X-4` (`HDL-8`): any text with a `/` and at least one byte before it. For resolving,
    /// importing and mirroring; registration is strict.
    ///
    /// ```
    /// # use handfast_id::Handle;
    /// let odd = Handle::from_stored("20.1000/ old name")?;
    /// assert_eq!(odd.irregularity().unwrap().code(), "white-space");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn from_stored(text: &'a str) -> Result<Self, ParseError> {
        match text.find('/') {
            Some(0) => Err(ErrorKind::EmptyPrefix.at(Part::Prefix, 0)),
            Some(slash) => Ok(Self {
                text: Cow::Borrowed(text),
                slash,
            }),
            None => Err(ErrorKind::MissingSuffix.at(Part::Handle, text.len())),
        }
    }

    /// Joins a prefix and a suffix. Offsets in errors count from the start of the whole handle.
    ///
    /// `HDL-10`: the local names of an existing namespace become suffixes, unchanged.
    ///
    /// ```
    /// # use handfast_id::{Handle, Prefix};
    /// let handle = Handle::new(&Prefix::parse("20.1000")?, "shelf/7")?;
    /// assert_eq!(handle.as_str(), "20.1000/shelf/7");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn new(prefix: &Prefix<'_>, suffix: &str) -> Result<Handle<'static>, ParseError> {
        let mut text = String::with_capacity(prefix.as_str().len() + 1 + suffix.len());
        text.push_str(prefix.as_str());
        text.push('/');
        text.push_str(suffix);
        Handle::from_owned(text)
    }

    pub(crate) fn from_owned(text: String) -> Result<Handle<'static>, ParseError> {
        let slash = check(&text)?;
        Ok(Handle {
            text: Cow::Owned(text),
            slash,
        })
    }

    /// Takes a text that has been checked in its parts.
    pub(crate) fn from_checked(text: Cow<'a, str>, slash: usize) -> Self {
        Self { text, slash }
    }

    /// The text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the first `/`.
    #[must_use]
    pub fn prefix(&self) -> Prefix<'_> {
        Prefix::of_handle(self.split().0)
    }

    /// The part after the first `/`.
    #[must_use]
    pub fn suffix(&self) -> &str {
        self.split().1
    }

    /// The texts of prefix and suffix.
    #[must_use]
    pub fn split(&self) -> (&str, &str) {
        let (prefix, rest) = self.text.split_at_checked(self.slash).unwrap_or_default();
        (prefix, rest.get(1..).unwrap_or_default())
    }

    /// Why this handle cannot be registered; `None` unless it was made by
    /// [`from_stored`](Self::from_stored).
    #[must_use]
    pub fn irregularity(&self) -> Option<ParseError> {
        check(&self.text).err()
    }

    /// Whether two handles are the same under a case rule (`HDL-6`).
    #[must_use]
    pub fn matches(&self, other: &Handle<'_>, rule: CaseRule) -> bool {
        let prefix = self.prefix();
        prefix == other.prefix()
            && match rule.under(&prefix) {
                CaseRule::Sensitive => self.suffix() == other.suffix(),
                CaseRule::AsciiInsensitive => self.suffix().eq_ignore_ascii_case(other.suffix()),
            }
    }

    /// The lookup key (`HDL-6`): the ASCII-uppercase prefix, `/`, and the suffix, in ASCII upper
    /// case under the insensitive rule and unchanged otherwise.
    #[must_use]
    pub fn key(&self, rule: CaseRule) -> Key {
        Key::of_handle(&self.prefix(), self.suffix(), rule)
    }

    /// The same handle, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Handle<'static> {
        Handle {
            text: Cow::Owned(self.text.into_owned()),
            slash: self.slash,
        }
    }

    /// The same handle, lending its text.
    #[must_use]
    pub fn borrowed(&self) -> Handle<'_> {
        Handle {
            text: Cow::Borrowed(&self.text),
            slash: self.slash,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_borrowed(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    pub(crate) fn to_ascii_lowercase(&self) -> Handle<'static> {
        Handle {
            text: Cow::Owned(self.text.to_ascii_lowercase()),
            slash: self.slash,
        }
    }
}

/// Whether the suffixes of a namespace differ by ASCII case (`HDL-6`).
///
/// The default is that of deployed servers.
///
/// ```
/// use handfast_id::{CaseRule, Handle};
///
/// let a = Handle::parse("20.1000/abc")?;
/// let b = Handle::parse("20.1000/ABC")?;
/// assert!(a.matches(&b, CaseRule::AsciiInsensitive));
/// assert!(!a.matches(&b, CaseRule::Sensitive));
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CaseRule {
    /// `a` and `A` are one.
    #[default]
    AsciiInsensitive,
    /// `a` and `A` are two.
    Sensitive,
}

impl CaseRule {
    /// The effective rule under `prefix` for a configured rule: `10`, `10.*` and `0.*` are always
    /// insensitive.
    #[must_use]
    pub fn under(self, prefix: &Prefix<'_>) -> Self {
        if prefix.is_always_insensitive() {
            Self::AsciiInsensitive
        } else {
            self
        }
    }
}

/// The text of `bytes`, which must be UTF-8 (`X-1`).
///
/// ```
/// assert_eq!(handfast_id::utf8(b"\xED\xA0\x80").unwrap_err().code(), "not-utf8");
/// ```
pub fn utf8(bytes: &[u8]) -> Result<&str, ParseError> {
    core::str::from_utf8(bytes)
        .map_err(|error| ErrorKind::NotUtf8.at(Part::Text, error.valid_up_to()))
}

/// The strict rules for a whole handle; returns where the dividing `/` stands.
fn check(text: &str) -> Result<usize, ParseError> {
    check_limit(text.len(), MAX_HANDLE, Part::Handle)?;
    let slash = text.find('/').unwrap_or(text.len());
    let (prefix, rest) = text.split_at_checked(slash).unwrap_or((text, ""));
    match prefix::check(prefix) {
        // `10.` alone lacks its last segment, but first of all it lacks a suffix.
        Err(error) if rest.is_empty() && error.at() == text.len() => {
            let kind = if text.is_empty() {
                ErrorKind::Empty
            } else {
                ErrorKind::MissingSuffix
            };
            return Err(kind.at(Part::Handle, text.len()));
        }
        outcome => outcome?,
    }
    let Some(suffix) = rest.strip_prefix('/') else {
        return Err(ErrorKind::MissingSuffix.at(Part::Handle, text.len()));
    };
    check_suffix(suffix).map_err(|error| error.shifted(slash + 1))?;
    Ok(slash)
}

/// `HDL-3` and `HDL-4` for the part after the first `/`.
pub(crate) fn check_suffix(text: &str) -> Result<(), ParseError> {
    let space = |at, c| {
        ErrorKind::WhiteSpace
            .at(Part::Suffix, at)
            .with_found(Some(c))
    };
    let Some(first) = text.chars().next() else {
        return Err(ErrorKind::EmptySuffix.at(Part::Suffix, 0));
    };
    if first.is_whitespace() {
        return Err(space(0, first));
    }
    if text.bytes().any(|b| !matches!(b, b' '..=b'~'))
        && let Some((at, c)) = text.char_indices().find(|(_, c)| !is_printable(*c))
    {
        return Err(ParseError::character(Part::Suffix, at, Some(c)));
    }
    match text.chars().next_back() {
        Some(last) if last.is_whitespace() => Err(space(text.len() - last.len_utf8(), last)),
        _ => Ok(()),
    }
}

impl fmt::Display for Handle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<Handle<'_>> for Handle<'_> {
    fn eq(&self, other: &Handle<'_>) -> bool {
        self.matches(other, CaseRule::Sensitive)
    }
}

impl Hash for Handle<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key(CaseRule::Sensitive).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn refused(text: &str) -> (&'static str, usize) {
        let error = Handle::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    #[test]
    fn hdl_1_the_first_slash_divides() {
        let handle = Handle::parse("20.1000/a/b/c").unwrap();
        assert_eq!(
            (handle.prefix().as_str(), handle.suffix()),
            ("20.1000", "a/b/c")
        );
        assert_eq!(refused("10.1045"), ("missing-suffix", 7));
        assert_eq!(refused(""), ("empty", 0));
        assert_eq!(refused("10."), ("missing-suffix", 3));
        // The octet 0x2F and no other stroke.
        for stroke in ["\\", "\u{2044}", "\u{2215}", "\u{FF0F}", "%2F"] {
            let text = ["20.1000", stroke, "x"].concat();
            assert_eq!(refused(&text).0, "missing-suffix", "{text}");
        }
    }

    #[test]
    fn hdl_2_errors_point_at_the_place() {
        assert_eq!(refused("10..5/x"), ("empty-segment", 3));
        assert_eq!(refused("10./x"), ("empty-segment", 3));
        assert_eq!(refused(".10/x"), ("empty-segment", 0));
    }

    #[test]
    fn hdl_3_characters() {
        assert!(Handle::parse("20.1000/naïve\u{A0}café 中文\u{200C}x").is_ok());
        assert_eq!(refused("20.1000/😀"), ("bad-character", 8));
        assert_eq!(refused("20.1000/a\tb"), ("bad-character", 9));
        assert_eq!(refused("20.1000/é\u{202E}b"), ("bad-character", 10));
        assert_eq!(refused("20.1000/x "), ("white-space", 9));
        assert_eq!(refused("20.1000/x\u{3000}"), ("white-space", 9));
        assert_eq!(refused("20.1000/ x"), ("white-space", 8));
        assert_eq!(refused("20 1000/x"), ("white-space", 2));
    }

    #[test]
    fn hdl_4_both_parts_are_needed() {
        assert_eq!(refused("/x"), ("empty-prefix", 0));
        assert_eq!(refused("10.1045/"), ("empty-suffix", 8));
    }

    #[test]
    fn hdl_5_bytes_must_be_utf8() {
        let error = Handle::parse_bytes(b"20.1000/\xED\xA0\x80").unwrap_err();
        assert_eq!((error.code(), error.at()), ("not-utf8", 8));
        for latin1 in [&b"20.1000/caf\xE9"[..], b"\xFF/x", b"20.1000/\xC0\xAF"] {
            let error = Handle::parse_bytes(latin1).unwrap_err();
            assert_eq!(error.code(), "not-utf8", "{latin1:?}");
        }
        // A name in ASCII is the same bytes.
        let ascii = b"10.1045/april2006-paskin";
        let handle = Handle::parse_bytes(ascii).unwrap();
        assert_eq!(handle.as_str().as_bytes(), ascii);
    }

    #[test]
    fn hdl_6_case() {
        let handle = |text| Handle::parse(text).unwrap();
        let (a, b) = (handle("20.ab/Éx"), handle("20.AB/ÉX"));
        assert_ne!(a, b);
        assert!(a.matches(&b, CaseRule::AsciiInsensitive));
        assert!(!handle("20.ab/é").matches(&handle("20.ab/É"), CaseRule::AsciiInsensitive));
        assert_eq!(handle("20.ab/x"), handle("20.AB/x"));
        assert_eq!(handle("10.1/x"), handle("10.1/X"));
        assert_eq!(a.key(CaseRule::Sensitive).as_str(), "hdl:20.AB/Éx");
        assert_eq!(a.key(CaseRule::AsciiInsensitive).as_str(), "hdl:20.AB/ÉX");
        assert_eq!(
            handle("10.1/x").key(CaseRule::Sensitive).as_str(),
            "hdl:10.1/X"
        );
    }

    #[test]
    fn hdl_8_stored_names_may_be_irregular() {
        for text in [
            "10./ x",
            "a/",
            "20.1000/a\tb",
            &("1/".to_string() + &"x".repeat(9_000)),
        ] {
            let handle = Handle::from_stored(text).unwrap();
            assert_eq!(handle.as_str(), text);
            assert!(handle.irregularity().is_some());
        }
        let regular = Handle::from_stored("20.1000/x").unwrap();
        assert!(regular.irregularity().is_none());
        for (text, code) in [("/x", "empty-prefix"), ("x", "missing-suffix")] {
            assert_eq!(Handle::from_stored(text).unwrap_err().code(), code);
        }
    }

    #[test]
    fn hdl_10_local_names_become_suffixes() {
        let prefix = Prefix::parse("20.1000").unwrap();
        assert_eq!(
            Handle::new(&prefix, "a b/%41").unwrap().as_str(),
            "20.1000/a b/%41"
        );
        let error = Handle::new(&prefix, "a\n").unwrap_err();
        assert_eq!((error.code(), error.at()), ("bad-character", 9));
    }

    #[test]
    fn x_4_limit() {
        let text = "20.1000/".to_string() + &"a".repeat(2_040);
        assert!(Handle::parse(&text).is_ok());
        assert_eq!(refused(&(text + "a")), ("too-long", 2_048));
    }
}
