//! Handles in URI syntax.
//!
//! "Encoding CORDRA Identifiers in URI Syntax" writes a handle in two ways, `hdl://prefix/suffix`
//! (host form) and `hdl:prefix/suffix` (path form), and a third, the URL of an HTTP resolver, for
//! software that knows no other: see [`HttpResolver`](crate::HttpResolver).

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::chars::{CharSet, PCHAR, REG_NAME, scheme_length, strip_scheme};
use crate::error::{ErrorKind, ParseError, Part, check_limit};
use crate::handle::{self, CaseRule, Handle, MAX_HANDLE};
use crate::percent::{self, NonAscii};
use crate::prefix;
use crate::tail::Tail;
use crate::words::words;

/// `X-4`: any text but a handle, and its canonical form, is at most this many bytes long.
pub const MAX_TEXT: usize = 8_192;

/// A handle as an `hdl` URI, with the query and fragment that came with it.
///
/// ```text
/// hdl-uri = "hdl:" ( "//" host "/" suffix / prefix "/" suffix ) [ "?" query ] [ "#" fragment ]
/// host    = 1*( unreserved / sub-delims / triplet )   ; carries the prefix (URI-2)
/// prefix  = 1*pchar                                    ; (URI-3)
/// suffix  = 1*pchar                                    ; one segment: "/" is written %2F
/// ```
///
/// Query and fragment are not part of the handle; they are preserved and printed back (`URI-4`).
/// The canonical form, which `Display` prints, is the path form with triplets only where they are
/// needed (`URI-7`). `==` compares handles as [`Handle`] does, and query and fragment.
///
/// ```
/// use handfast_id::{HdlForm, HdlUri};
///
/// let uri = HdlUri::parse("HDL://20.1000/a%2fb?lang=en")?;
/// assert_eq!(uri.handle().as_str(), "20.1000/a/b");
/// assert_eq!(uri.query(), Some("lang=en"));
/// assert_eq!(uri.form(), HdlForm::Host);
/// assert_eq!(uri.to_string(), "hdl:20.1000/a%2Fb?lang=en");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HdlUri<'a> {
    handle: Handle<'a>,
    tail: Tail<'a>,
    form: HdlForm,
}

words! {
    /// In which form a handle was written as a URI.
    ///
    /// ```
    /// use handfast_id::{HdlForm, HdlUri};
    ///
    /// assert_eq!(HdlUri::parse("hdl:20.1000/5555")?.form(), HdlForm::Path);
    /// assert_eq!(HdlForm::Path.as_str(), "path");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    HdlForm {
        /// `hdl://prefix/suffix`
        Host = "host",
        /// The URL of an HTTP resolver.
        Http = "http",
        /// `hdl:prefix/suffix`, the canonical one.
        Path = "path",
    }
}

impl<'a> HdlUri<'a> {
    /// Reads an `hdl` URI in host or path form, to the letter. Nothing is copied where no triplet
    /// has to be decoded.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        check_length(text)?;
        let rest = strip_scheme(text, "hdl").ok_or_else(|| wrong_scheme(text))?;
        let (body, tail) = Tail::split(rest);
        let (form, names) = match body.strip_prefix("//") {
            Some(names) => (HdlForm::Host, names),
            None => (HdlForm::Path, body),
        };
        let in_prefix = if form == HdlForm::Host {
            &REG_NAME
        } else {
            &PCHAR
        };
        let tail_at = text.len() - rest.len() + body.len();
        let handle = read_handle(
            names,
            tail_at - names.len(),
            in_prefix,
            &PCHAR,
            NonAscii::Refused,
        )?;
        tail.check(tail_at, NonAscii::Refused)?;
        Self { handle, tail, form }.within_limit()
    }

    /// The handle of an `hdl` URI without query and fragment, even if it breaks `HDL-3` or `HDL-4`
    /// (`HDL-8`): for resolving existing names. `None` if the text is no such URI.
    ///
    /// ```
    /// # use handfast_id::HdlUri;
    /// assert!(HdlUri::parse("hdl:20.1000/a%20").is_err());
    /// let stored = HdlUri::stored_handle("hdl:20.1000/a%20").unwrap();
    /// assert_eq!(stored.as_str(), "20.1000/a ");
    /// assert!(HdlUri::stored_handle("20.1000/a%20").is_none());
    /// assert!(HdlUri::stored_handle("hdl:20.1000/a%20?b").is_none());
    /// ```
    #[must_use]
    pub fn stored_handle(text: &str) -> Option<Handle<'static>> {
        let rest = strip_scheme(text, "hdl")?;
        let names = rest.strip_prefix("//").unwrap_or(rest);
        if names.contains(['?', '#']) {
            return None;
        }
        let decoded = percent::decode(names)?;
        let handle = Handle::from_stored(&decoded).ok()?;
        Some(handle.into_owned())
    }

    pub(crate) fn from_http(handle: Handle<'a>, tail: Tail<'a>) -> Result<Self, ParseError> {
        Self {
            handle,
            tail,
            form: HdlForm::Http,
        }
        .within_limit()
    }

    /// A CORDRA identifier is ASCII, and too short to outgrow the limit.
    pub(crate) fn from_cordra(record: Handle<'a>, tail: Tail<'a>) -> Self {
        Self {
            handle: record,
            tail,
            form: HdlForm::Path,
        }
    }

    /// The URI of a handle, without query and fragment. A suffix of `.` or `..` has none
    /// (`URI-11`).
    ///
    /// ```
    /// # use handfast_id::{Handle, HdlUri};
    /// let uri = HdlUri::new(Handle::parse("20.1000/naïve café")?)?;
    /// assert_eq!(uri.to_string(), "hdl:20.1000/na%C3%AFve%20caf%C3%A9");
    /// assert_eq!(uri.to_host_form(), "hdl://20.1000/na%C3%AFve%20caf%C3%A9");
    /// assert!(HdlUri::new(Handle::parse("20.1000/..")?).is_err());
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn new(handle: Handle<'a>) -> Result<Self, ParseError> {
        check_has_uri(&handle)?;
        Self::from_cordra(handle, Tail::default()).within_limit()
    }

    /// The same URI with another query, which must be `uric` (percent-encoded already).
    pub fn with_query(mut self, query: Option<&'a str>) -> Result<Self, ParseError> {
        self.tail.query = query.map(Cow::Borrowed);
        self.tail.check(0, NonAscii::Refused)?;
        self.within_limit()
    }

    /// The same URI with another fragment, which must be `uric` (percent-encoded already).
    pub fn with_fragment(mut self, fragment: Option<&'a str>) -> Result<Self, ParseError> {
        self.tail.fragment = fragment.map(Cow::Borrowed);
        self.tail.check(0, NonAscii::Refused)?;
        self.within_limit()
    }

    /// The same URI of another handle, which must be as long.
    pub(crate) fn with_handle<'h>(&'h self, handle: Handle<'h>) -> HdlUri<'h> {
        HdlUri {
            handle,
            tail: self.tail.clone(),
            form: self.form,
        }
    }

    /// The handle, decoded.
    #[must_use]
    pub fn handle(&self) -> &Handle<'a> {
        &self.handle
    }

    /// The handle, decoded, leaving query and fragment behind.
    #[must_use]
    pub fn into_handle(self) -> Handle<'a> {
        self.handle
    }

    /// The query as written: `None` without a `?`, `Some("")` behind a `?` alone.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.tail.query.as_deref()
    }

    /// The fragment as written: `None` without a `#`, `Some("")` behind a `#` alone.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.tail.fragment.as_deref()
    }

    /// In which form it was written.
    #[must_use]
    pub fn form(&self) -> HdlForm {
        self.form
    }

    /// The URI in host form, query and fragment included.
    #[must_use]
    pub fn to_host_form(&self) -> String {
        let mut out = String::from("hdl://");
        // Writing to a string cannot fail.
        let _ = self.write_after_scheme(&mut out);
        out
    }

    /// Whether two URIs are the same where suffixes follow a case rule (`HDL-6`).
    #[must_use]
    pub fn matches(&self, other: &HdlUri<'_>, rule: CaseRule) -> bool {
        self.handle.matches(&other.handle, rule) && self.tail == other.tail
    }

    /// The same URI, owning its text.
    #[must_use]
    pub fn into_owned(self) -> HdlUri<'static> {
        HdlUri {
            handle: self.handle.into_owned(),
            tail: self.tail.into_owned(),
            form: self.form,
        }
    }

    pub(crate) fn tail(&self) -> &Tail<'a> {
        &self.tail
    }

    fn write_after_scheme(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write_names(out, &self.handle)?;
        self.tail.write(out)
    }

    /// `X-4` for the canonical form, which is longer than the text if the prefix had `:` or `@`, or
    /// a pasted URL had raw characters.
    fn within_limit(self) -> Result<Self, ParseError> {
        // No byte becomes more than three: mostly there is nothing to count.
        let max_length = 3 * (self.handle.as_str().len() + self.tail.len());
        if "hdl:".len() + max_length > MAX_TEXT {
            let names = names_len(&self.handle);
            check_canonical_length("hdl:".len() + names + self.tail.written_len())?;
        }
        Ok(self)
    }
}

/// `URI-5`: prefix and suffix as they stand in the path of a URI.
pub(crate) fn write_names(out: &mut dyn fmt::Write, handle: &Handle<'_>) -> fmt::Result {
    percent::write_encoded(out, handle.prefix().as_str(), &REG_NAME)?;
    out.write_char('/')?;
    percent::write_encoded(out, handle.suffix(), &PCHAR)
}

/// How many bytes [`write_names`] writes.
pub(crate) fn names_len(handle: &Handle<'_>) -> usize {
    percent::encoded_len(handle.prefix().as_str(), &REG_NAME)
        + 1
        + percent::encoded_len(handle.suffix(), &PCHAR)
}

/// `URI-6`: reads `prefix "/" suffix` out of a URI. `text` begins `base` bytes into the input.
pub(crate) fn read_handle<'a>(
    text: &'a str,
    base: usize,
    in_prefix: &CharSet,
    in_suffix: &CharSet,
    non_ascii: NonAscii,
) -> Result<Handle<'a>, ParseError> {
    let slash = text.bytes().position(|b| b == b'/').unwrap_or(text.len());
    let (raw_prefix, rest) = text.split_at_checked(slash).unwrap_or((text, ""));

    let checks = PartChecks {
        base,
        part: Part::Prefix,
        rule: prefix::check,
    };
    let triplets = checks.characters(raw_prefix, in_prefix, non_ascii)?;
    let prefix = if triplets {
        Cow::Owned(checks.decoded(&[], raw_prefix)?)
    } else {
        Cow::Borrowed(raw_prefix)
    };
    match prefix::check(&prefix) {
        Err(error) if rest.is_empty() && error.at() == prefix.len() => {} // Reported below.
        outcome => outcome.map_err(|error| relocate(error, raw_prefix, base))?,
    }

    let suffix_at = base + slash + 1;
    let Some(raw_suffix) = rest.strip_prefix('/') else {
        return Err(ErrorKind::MissingSuffix.at(Part::Handle, base + text.len()));
    };
    let checks = PartChecks {
        base: suffix_at,
        part: Part::Suffix,
        rule: handle::check_suffix,
    };
    let triplets = match checks.characters(raw_suffix, in_suffix, non_ascii) {
        Err(error) if error.found() == Some('/') => {
            return Err(ErrorKind::SlashInSuffix.at(Part::Suffix, error.at()));
        }
        outcome => outcome?,
    };
    let (text, slash) = match prefix {
        Cow::Borrowed(_) if !triplets => (Cow::Borrowed(text), slash),
        prefix => {
            let text = checks.decoded(&[&prefix, "/"], raw_suffix)?;
            (Cow::Owned(text), prefix.len())
        }
    };
    let suffix = text.get(slash + 1..).unwrap_or_default();
    handle::check_suffix(suffix).map_err(|error| relocate(error, raw_suffix, suffix_at))?;
    check_dot_segment(suffix, suffix_at)?;
    check_limit(text.len(), MAX_HANDLE, Part::Handle)?;
    Ok(Handle::from_checked(text, slash))
}

/// How the part of a URI that carries a prefix or a suffix is checked.
struct PartChecks {
    /// Where it begins.
    base: usize,
    part: Part,
    /// The rules for its decoded form.
    rule: fn(&str) -> Result<(), ParseError>,
}

impl PartChecks {
    /// The characters of the URI; whether there is a triplet among them.
    fn characters(
        &self,
        raw: &str,
        allowed: &CharSet,
        non_ascii: NonAscii,
    ) -> Result<bool, ParseError> {
        percent::check(raw, self.base, allowed, non_ascii, self.part)
            .map_err(|error| self.earlier(raw, error.at() - self.base).unwrap_or(error))
    }

    /// The decoded form, behind texts that are decoded already.
    fn decoded(&self, head: &[&str], raw: &str) -> Result<String, ParseError> {
        percent::decode_behind(head, raw).map_err(|offset| {
            let error = ErrorKind::NotUtf8Triplets.at(self.part, self.base + offset);
            self.earlier(raw, offset).unwrap_or(error)
        })
    }

    fn earlier(&self, raw: &str, end: usize) -> Option<ParseError> {
        let head = raw.get(..end).unwrap_or_default();
        percent::earlier_error(head, self.base, self.part, self.rule)
    }
}

/// An error in decoded text, seen from the input.
fn relocate(error: ParseError, raw: &str, base: usize) -> ParseError {
    error.moved_to(base + percent::encoded_offset(raw, error.at()))
}

/// An error if a handle cannot stand in a URI: if its suffix is `.` or `..`, or if it is irregular.
pub(crate) fn check_has_uri(handle: &Handle<'_>) -> Result<(), ParseError> {
    if let Some(error) = handle.irregularity() {
        return Err(error);
    }
    let (prefix, suffix) = handle.split();
    check_dot_segment(suffix, prefix.len() + 1)
}

/// `URI-11`: generic software removes such segments from a path.
pub(crate) fn check_dot_segment(suffix: &str, at: usize) -> Result<(), ParseError> {
    if suffix == "." || suffix == ".." {
        return Err(ErrorKind::DotSegment.at(Part::Suffix, at));
    }
    Ok(())
}

/// `X-4` for what was given.
pub(crate) fn check_length(text: &str) -> Result<(), ParseError> {
    check_limit(text.len(), MAX_TEXT, Part::Text)
}

/// `X-4` for the canonical form.
pub(crate) fn check_canonical_length(length: usize) -> Result<(), ParseError> {
    check_limit(length, MAX_TEXT, Part::Canonical)
}

/// Why a text without the scheme that was asked for is refused.
pub(crate) fn wrong_scheme(text: &str) -> ParseError {
    let kind = match scheme_length(text) {
        _ if text.is_empty() => ErrorKind::Empty,
        Some(_) => ErrorKind::WrongScheme,
        None => ErrorKind::NoScheme,
    };
    kind.at(Part::Scheme, 0)
}

impl fmt::Display for HdlUri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hdl:")?;
        self.write_after_scheme(f)
    }
}

impl PartialEq<HdlUri<'_>> for HdlUri<'_> {
    fn eq(&self, other: &HdlUri<'_>) -> bool {
        self.matches(other, CaseRule::Sensitive)
    }
}

impl Hash for HdlUri<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.handle.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn refused(text: &str) -> (&'static str, usize) {
        let error = HdlUri::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    fn canonical(text: &str) -> String {
        HdlUri::parse(text).unwrap().to_string()
    }

    #[test]
    fn uri_1_scheme() {
        assert_eq!(canonical("hDl:20.1000/x"), "hdl:20.1000/x");
        assert_eq!(refused("http:20.1000/x"), ("wrong-scheme", 0));
        assert_eq!(refused(""), ("empty", 0));
    }

    #[test]
    fn uri_2_host_form() {
        assert_eq!(canonical("hdl://20.1000/x"), "hdl:20.1000/x");
        let uri = HdlUri::parse("hdl://20%2E1000/a;b%2F").unwrap();
        assert_eq!(uri.form(), HdlForm::Host);
        assert_eq!(uri.handle().prefix().as_str(), "20.1000");
        assert_eq!(uri.handle().suffix(), "a;b/");
        assert_eq!(refused("hdl:///x"), ("empty-prefix", 6));
        assert_eq!(refused("hdl://20.1000"), ("missing-suffix", 13));
        assert_eq!(refused("hdl://20.1000/"), ("empty-suffix", 14));
        assert_eq!(refused("hdl://20.1000/a/b"), ("slash-in-suffix", 15));
        assert_eq!(refused("hdl://20.1000/a b"), ("bad-character", 15));
        assert_eq!(refused("hdl://20.1000/é"), ("bad-character", 14));
        assert_eq!(refused("hdl://a@b/x"), ("bad-character", 7));
        assert_eq!(refused("hdl://20.1000:80/c"), ("bad-character", 13));
    }

    #[test]
    fn uri_3_path_form() {
        let uri = HdlUri::parse("hdl:20%2E1000/a;b%2F").unwrap();
        assert_eq!(uri.form(), HdlForm::Path);
        assert_eq!(uri.handle().prefix().as_str(), "20.1000");
        assert_eq!(uri.handle().suffix(), "a;b/");
        assert_eq!(refused("hdl:20.1000/"), ("empty-suffix", 12));
        assert_eq!(refused("hdl:20.1000/a b"), ("bad-character", 13));
        assert_eq!(refused("hdl:20.1000"), ("missing-suffix", 11));
        assert_eq!(refused("hdl:"), ("missing-suffix", 4));
        assert_eq!(refused("hdl:/20.1000/x"), ("empty-prefix", 4));
        assert_eq!(refused("hdl:20.1000/a/b"), ("slash-in-suffix", 13));
    }

    #[test]
    fn uri_4_query_and_fragment_stay() {
        let uri = HdlUri::parse("hdl:20.1000/x?%c3%a9#").unwrap();
        assert_eq!((uri.query(), uri.fragment()), (Some("%c3%a9"), Some("")));
        assert_eq!(uri.to_string(), "hdl:20.1000/x?%C3%A9#");
        assert_ne!(uri, HdlUri::parse("hdl:20.1000/x?%c3%a9").unwrap());
        assert_eq!(uri, HdlUri::parse("hdl:20.1000/x?%C3%A9#").unwrap());
        assert_eq!(
            canonical("hdl://20.1000/x?a=/?b#c/?"),
            "hdl:20.1000/x?a=/?b#c/?"
        );
        // The same syntax in both forms.
        for start in ["hdl:20.1000/x", "hdl://20.1000/x"] {
            for (tail, code, at) in [
                ("#a#b", "second-fragment", 2),
                ("?%zz", "bad-triplet", 1),
                ("#%4", "bad-triplet", 1),
                ("?a b", "bad-character", 2),
                ("?{", "bad-character", 1),
                ("#a\\", "bad-character", 2),
                ("?é", "bad-character", 1),
                ("?%00", "nul-triplet", 1),
                ("#%00", "nul-triplet", 1),
            ] {
                let text = [start, tail].concat();
                assert_eq!(refused(&text), (code, start.len() + at), "{text}");
            }
        }
    }

    #[test]
    fn uri_5_what_is_encoded() {
        let uri = HdlUri::new(Handle::parse("a:b@c/d:e@/?#%").unwrap()).unwrap();
        assert_eq!(uri.to_string(), "hdl:a%3Ab%40c/d:e@%2F%3F%23%25");
        assert_eq!(
            HdlUri::parse(&uri.to_string()).unwrap().handle().as_str(),
            "a:b@c/d:e@/?#%"
        );
        let uri = HdlUri::new(Handle::parse("a:b@é/中").unwrap()).unwrap();
        assert_eq!(uri.to_host_form(), "hdl://a%3Ab%40%C3%A9/%E4%B8%AD");
    }

    #[test]
    fn uri_6_decoding() {
        assert_eq!(refused("hdl:20%2F1000/x"), ("slash-in-prefix", 6));
        assert_eq!(refused("hdl:20.1000/a%ff"), ("not-utf8-triplets", 13));
        assert_eq!(refused("hdl:20.1000/%41%09b"), ("bad-character", 15));
        assert_eq!(refused("hdl:20.1000/x%C2%A0"), ("white-space", 13));
        assert_eq!(refused("hdl:20%20/x"), ("white-space", 6));
    }

    #[test]
    fn uri_7_canonical_has_no_needless_triplets() {
        assert_eq!(canonical("hdl:20%2E1000/%41b%63%3a"), "hdl:20.1000/Abc:");
    }

    #[test]
    fn uri_8_machines_need_the_scheme() {
        assert_eq!(refused("20.1000/x"), ("no-scheme", 0));
    }

    #[test]
    fn uri_11_dot_segments() {
        for text in [
            "hdl:20.1000/.",
            "hdl:20.1000/..",
            "hdl:20.1000/%2E.",
            "hdl://20.1000/.",
        ] {
            assert_eq!(refused(text).0, "dot-segment", "{text}");
        }
        assert!(HdlUri::parse("hdl:20.1000/...").is_ok());
    }

    #[test]
    fn x_5_the_first_byte_that_cannot_be_right_is_named() {
        assert_eq!(refused("hdl:a..b<c/x"), ("empty-segment", 6));
        assert_eq!(refused("hdl:1/%07<"), ("bad-character", 6));
        assert_eq!(refused("hdl:1/%ff<"), ("not-utf8-triplets", 6));
        assert_eq!(refused("hdl:1/%07%ff"), ("bad-character", 6));
        // A text that could still have been completed is not wrong: the `<` is.
        assert_eq!(refused("hdl:1/%C3<"), ("bad-character", 9));
        assert_eq!(refused("hdl:1/x%20<"), ("bad-character", 10));
        assert_eq!(refused("hdl:1.<"), ("bad-character", 6));
    }

    #[test]
    fn x_4_limits_of_handle_text_and_canonical_form() {
        let long = |n: usize| "hdl:1/".to_string() + &"a".repeat(n);
        assert!(HdlUri::parse(&long(2_046)).is_ok());
        assert_eq!(refused(&long(2_047)), ("too-long", 2_048));
        assert_eq!(refused(&long(8_187)), ("too-long", 8_192));
        let query = |n: usize| "hdl:1/a?".to_string() + &"q".repeat(n);
        assert!(HdlUri::parse(&query(8_184)).is_ok());
        assert_eq!(refused(&query(8_185)), ("too-long", 8_192));
        let colons = "hdl:".to_string() + &":".repeat(2_000) + "/x?" + &"a".repeat(2_200);
        assert_eq!(HdlUri::parse(&colons).unwrap_err().part(), Part::Canonical);
    }

    #[test]
    fn parsing_borrows_where_nothing_is_decoded() {
        let uri = HdlUri::parse("hdl://20.1000/x?q").unwrap();
        let text: &'static str = "hdl://20.1000/x?q";
        assert_eq!(uri.handle().as_str(), &text[6..15]);
        assert!(uri.handle.is_borrowed());
    }
}
