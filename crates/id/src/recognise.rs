//! Recognising a text that a person pastes.

use crate::chars::{scheme_length, strip_scheme};
use crate::cordra::CordraId;
use crate::doi::Doi;
use crate::error::{ErrorKind, ParseError, Part};
use crate::handle::Handle;
use crate::hdl_uri::check_length;
use crate::http::{HttpUrl, is_bare_urn};
use crate::identifier::{Identifier, Scheme, parse_as};
use crate::percent::NonAscii;
use crate::rules::{HandleProfile, Rules};
use crate::tail::Tail;
use crate::urn::Urn;
use crate::words::words;

/// Reads text that a person typed or pasted.
///
/// White space around it is trimmed, then one pair of `<…>`, `[…]` or `"…"`, then white space. What
/// is left is, in order: a known scheme (`urn:`, `info:`, `hdl:`, `doi:`, `ark:`); the URL of a
/// known resolver, with or without its `http://`; a bare `urn-<digits>:…`; a bare handle. What
/// matched a rule never falls through to the next: a bad `hdl:` URI is an error. Text that begins
/// like another URI is never a bare handle.
///
/// Machines should ask for a scheme instead: see [`parse_as`].
///
/// ```
/// use handfast_id::{Identifier, RecognisedBy, Standard, recognise};
///
/// let found = recognise("  <https://doi.org/10.1000/182> ", &Standard)?;
/// assert_eq!(found.by, RecognisedBy::Resolver);
/// assert_eq!(found.identifier.to_string(), "doi:10.1000/182");
/// assert_eq!(recognise("gopher://x/y", &Standard).unwrap_err().code(), "unknown-scheme");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
pub fn recognise<'a>(text: &'a str, rules: &dyn Rules) -> Result<Recognised<'a>, ParseError> {
    let (start, trimmed) = trim(text);
    match read(trimmed, rules) {
        Ok((identifier, by)) => Ok(Recognised {
            identifier,
            by,
            text: trimmed,
            start,
        }),
        Err(error) => Err(error.shifted(start)),
    }
}

/// The result of [`recognise`].
///
/// ```
/// use handfast_id::{RecognisedBy, Standard, recognise};
///
/// let found = recognise("urn-3:HUL.OIS:Home", &Standard)?;
/// assert_eq!(found.by, RecognisedBy::BareUrn);
/// assert_eq!(found.text, "urn-3:HUL.OIS:Home");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recognised<'a> {
    /// The identifier.
    pub identifier: Identifier<'a>,
    /// The rule that recognised it.
    pub by: RecognisedBy,
    /// The text after trimming.
    pub text: &'a str,
    /// Where that begins in what was pasted.
    start: usize,
}

impl Recognised<'_> {
    /// `CID-14`: registering never cuts. An error if the text has a query, a fragment or a
    /// component of a URN, which is not part of the name that is looked up.
    ///
    /// ```
    /// use handfast_id::{Standard, recognise};
    ///
    /// let whole = |text| recognise(text, &Standard).unwrap().check_whole(&Standard).is_ok();
    /// assert!(whole("hdl:20.1000/5555"));
    /// assert!(!whole("hdl:20.1000/5555?x=1"));
    /// // In a bare handle `?` is an ordinary character.
    /// assert!(whole("20.1000/5555?x=1"));
    /// ```
    pub fn check_whole(&self, rules: &dyn Rules) -> Result<(), ParseError> {
        let is_literal = match &self.identifier {
            Identifier::Handle(_) => true,
            Identifier::Doi(_) => self.by != RecognisedBy::Resolver,
            // The fragment of an `info` URI is part of its key, unless it names something else.
            Identifier::Info(_) => self.identifier.named(rules).is_none(),
            Identifier::Ark(_)
            | Identifier::Cordra(_)
            | Identifier::Hdl(_)
            | Identifier::Urn(_) => false,
        };
        let mark = self
            .text
            .bytes()
            .position(|byte| matches!(byte, b'?' | b'#'));
        match mark.filter(|_| !is_literal) {
            None => self.identifier.check_record(rules),
            Some(mark) => {
                let is_query = self.text.as_bytes().get(mark) == Some(&b'?');
                let (kind, part) = if is_query {
                    (ErrorKind::HasQuery, Part::Query)
                } else {
                    (ErrorKind::HasFragment, Part::Fragment)
                };
                Err(kind.at(part, mark + self.start))
            }
        }
    }
}

words! {
    /// The rule that recognised an identifier.
    ///
    /// ```
    /// use handfast_id::{RecognisedBy, Standard, recognise};
    ///
    /// let by = |text| recognise(text, &Standard).unwrap().by;
    /// assert_eq!(by("hdl:20.1000/5555"), RecognisedBy::Scheme);
    /// assert_eq!(by("20.1000/5555"), RecognisedBy::BareHandle);
    /// assert_eq!(RecognisedBy::BareHandle.as_str(), "bare handle");
    /// ```
    RecognisedBy {
        /// It has the form of a handle, a DOI or a CORDRA identifier.
        BareHandle = "bare handle",
        /// It begins with `urn-<digits>:`.
        BareUrn = "bare urn-<number>: name",
        /// It is a URL of a known resolver.
        Resolver = "URL of a known resolver",
        /// It begins with a known scheme.
        Scheme = "known scheme",
    }
}

/// Whether [`recognise`] takes a text as it stands: with nothing around it that would be trimmed.
///
/// ```
/// assert!(handfast_id::is_trimmed("20.1000/x"));
/// assert!(!handfast_id::is_trimmed("[20.1000/x]"));
/// ```
#[must_use]
pub fn is_trimmed(text: &str) -> bool {
    trim(text).1.len() == text.len()
}

/// The trimmed text, and its offset.
fn trim(text: &str) -> (usize, &str) {
    let white_space = |start: usize, text: &str| start + text.len() - text.trim_start().len();
    let start = white_space(0, text);
    let text = text.trim();
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let pairs = [('<', '>'), ('[', ']'), ('"', '"')];
    match pairs
        .into_iter()
        .find_map(|(open, close)| inside(open, close))
    {
        Some(inner) => (white_space(start + 1, inner), inner.trim()),
        None => (start, text),
    }
}

fn read<'a>(
    text: &'a str,
    rules: &dyn Rules,
) -> Result<(Identifier<'a>, RecognisedBy), ParseError> {
    check_length(text)?;
    for scheme in [
        Scheme::Urn,
        Scheme::Info,
        Scheme::Hdl,
        Scheme::Doi,
        Scheme::Ark,
    ] {
        if strip_scheme(text, scheme.as_str()).is_some() {
            return Ok((parse_as(text, scheme, rules)?, RecognisedBy::Scheme));
        }
    }
    let url = HttpUrl::parse(text).unwrap_or_else(|| HttpUrl::without_scheme(text));
    if let Some(named) = url.read(NonAscii::Stands, rules) {
        return Ok((named?, RecognisedBy::Resolver));
    }
    if is_bare_urn(text) {
        let urn = Urn::parse_after_scheme(text, 0, NonAscii::Refused, rules)?;
        return Ok((Identifier::Urn(urn), RecognisedBy::BareUrn));
    }
    if scheme_length(text).is_some() {
        return Err(ErrorKind::UnknownScheme.at(Part::Scheme, 0));
    }
    Ok((read_bare_handle(text, rules)?, RecognisedBy::BareHandle))
}

/// `CID-12`: the profile of its authority, and nothing else, makes a handle a CORDRA identifier.
fn read_bare_handle<'a>(text: &'a str, rules: &dyn Rules) -> Result<Identifier<'a>, ParseError> {
    let handle = Handle::parse(text)?;
    let prefix = handle.prefix();
    if prefix.is_doi() {
        return Doi::of_regular(handle).map(Identifier::Doi);
    }
    if rules.handle_profile(&prefix) == HandleProfile::Cordra {
        match CordraId::parse(text) {
            Ok(id) => return Ok(Identifier::Cordra(id)),
            // CID-13: a query or fragment is never read as part of the path because it is
            // malformed.
            Err(error) if CordraId::parse(Tail::split(text).0).is_ok() => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Identifier::Handle(handle))
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;
    use crate::{HttpResolver, Prefix, RuleBook, Standard};

    /// The canonical form, or the code and offset of the error.
    type Read<T> = Result<T, (&'static str, usize)>;

    fn read_by(text: &str, rules: &dyn Rules) -> Read<String> {
        recognise(text, rules)
            .map(|found| found.identifier.to_string())
            .map_err(|error| (error.code(), error.at()))
    }

    fn check(rules: &dyn Rules, table: &[(&str, Read<&str>)]) {
        for (text, expected) in table {
            assert_eq!(read_by(text, rules), expected.map(str::to_string), "{text}");
        }
    }

    #[test]
    fn x_7_trims_white_space_and_one_pair_of_brackets() {
        let cordra = "2000.01/FFEE9F72B00C4189B137ECD34188B94E";
        let table = [
            (" \u{A0}< 20.1000/x >\n", Ok("20.1000/x")),
            ("\"20.1000/x\"", Ok("20.1000/x")),
            ("[20.1000/x]", Ok("20.1000/x")),
            ("[2000.01/FFEE9F72B00C4189B137ECD34188B94E]", Ok(cordra)),
            ("\"<20.1000/x>\"", Ok("<20.1000/x>")),
            ("<20.1000/x", Ok("<20.1000/x")),
            ("  <hdl:100.102>", Err(("missing-suffix", 14))),
            (" \" ", Err(("missing-suffix", 2))),
            ("<>", Err(("empty", 1))),
            ("", Err(("empty", 0))),
        ];
        check(&Standard, &table);
    }

    #[test]
    fn x_4_limits_apply_to_what_is_left() {
        let query = " hdl:1/x?".to_string() + &"q".repeat(9_000);
        let urn = "urn-3:a:".to_string() + &"b".repeat(8_181);
        let table = [
            (&*(" ".repeat(9_000) + "20.1000/x"), Ok("20.1000/x")),
            (&query, Err(("too-long", 8_193))),
            (&urn, Err(("too-long", 8_192))),
        ];
        check(&Standard, &table);
    }

    #[test]
    fn known_schemes_never_fall_through() {
        let table = [
            ("hdl:20.1/a/b", Err(("slash-in-suffix", 10))),
            ("DOI:x/y", Err(("not-a-doi", 4))),
            ("foo:20.1/x", Err(("unknown-scheme", 0))),
            ("http://x.example/y", Err(("unknown-scheme", 0))),
            ("hello", Err(("missing-suffix", 5))),
        ];
        check(&Standard, &table);
    }

    #[test]
    fn cid_12_the_profile_alone_makes_a_handle_a_cordra_identifier() {
        let guid = "d41d8cd98f00b204e9800998ecf8427e";
        let prefix = |text| Prefix::parse(text).unwrap();
        let rules = RuleBook::standard()
            .with_profile(&prefix("100.1"), HandleProfile::Cordra)
            .with_profile(&prefix("10.1"), HandleProfile::Cordra);
        let scheme = |text: &str, rules: &dyn Rules| {
            recognise(text, rules).map(|found| found.identifier.scheme().as_str())
        };
        for (text, standard, ours) in [
            ("100.1/".to_string() + guid, "handle", "cordra"),
            ("100.1/".to_string() + guid + "?a=1#b", "handle", "cordra"),
            ("100.1/x".to_string(), "handle", "handle"),
            ("100.2/".to_string() + guid, "handle", "handle"),
            ("10.1/".to_string() + guid, "doi", "doi"),
            ("10.1/".to_string() + guid + "?a b", "doi", "doi"),
        ] {
            assert_eq!(scheme(&text, &Standard), Ok(standard), "{text}");
            assert_eq!(scheme(&text, &rules), Ok(ours), "{text}");
        }
        let bad = "100.1/".to_string() + guid + "?%zz";
        assert_eq!(scheme(&bad, &Standard), Ok("handle"));
        assert_eq!(scheme(&bad, &rules).unwrap_err().code(), "bad-triplet");
    }

    /// Registering `hdl:12/q?x=1` gave the name `12/q`: what was cut was never mentioned.
    #[test]
    fn cid_14_a_query_or_fragment_is_named_where_it_would_be_cut() {
        let guid = "F58FB49EB1F848F0A606E84CEF294BE5";
        let cordra = "100.1/".to_string() + guid;
        let rules = RuleBook::standard()
            .with_profile(&Prefix::parse("100.1").unwrap(), HandleProfile::Cordra);
        let cut = |text: &str| {
            let found = recognise(text, &rules).unwrap();
            found
                .check_whole(&rules)
                .map_err(|error| (error.code(), error.at()))
        };
        for (text, code, at) in [
            (&*(cordra.clone() + "?x=1#f"), "has-query", 38),
            (&*(cordra.clone() + "#f"), "has-fragment", 38),
            (" hdl:12/q?x=1 ", "has-query", 9),
            ("hdl://12/q#", "has-fragment", 10),
            ("https://hdl.handle.net/12/q?x", "has-query", 27),
            ("https://doi.org/10.1/x?y", "has-query", 22),
            ("doi.org/10.1/x#y", "has-fragment", 14),
            ("info:doi/10.1/x#y", "has-fragment", 15),
            ("urn:urn-3:HBS:a#b", "has-fragment", 15),
            ("urn:urn-3:HBS:a?=b", "has-query", 15),
            ("ark:12/x?info", "has-query", 8),
        ] {
            assert_eq!(cut(text), Err((code, at)), "{text}");
        }
        for text in [
            "12/q?x#y",
            "doi:10.1/x?y#z",
            "10.1/x?y",
            "info:lccn/a#b",
            &cordra,
        ] {
            assert_eq!(cut(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn uri_9_resolvers_and_what_they_serve() {
        let table = [
            (
                "HTTPS://HDL.Handle.net:443/20.1000/a/b?x",
                Ok("hdl:20.1000/a%2Fb?x"),
            ),
            ("hdl.handle.net:443/20.1000/x", Ok("hdl:20.1000/x")),
            (
                "http://hdl.handle.net:443/20.1000/x",
                Err(("unknown-scheme", 0)),
            ),
            ("https://hdl.handle.net/10.1/X?q", Ok("doi:10.1/x")),
            ("https://hdl.handle.net/urn:a/b", Ok("hdl:urn%3Aa/b")),
            ("https://doi.org/10.1%2Fx", Ok("doi:10.1/x")),
            (
                "https://hdl.handle.net/20.1%2Fx",
                Err(("slash-in-prefix", 27)),
            ),
            ("https://hdl.handle.net/20.1/%2e.", Err(("dot-segment", 28))),
            ("https://hdl.handle.net", Err(("missing-suffix", 22))),
            ("https://n2t.net/20.1/x", Err(("not-served", 16))),
            ("https://nrs.harvard.edu/urn-5:a:b", Err(("not-served", 24))),
            ("nrs.harvard.edu/URN:urn-3:A:b", Ok("urn:urn-3:a:b")),
            (
                "https://nrs.harvard.edu/urn-3:A:b?x",
                Err(("bad-component", 33)),
            ),
        ];
        check(&Standard, &table);
    }

    #[test]
    fn uri_9_configured_resolvers() {
        let resolver = |text| HttpResolver::parse(text).unwrap();
        let rules = RuleBook::standard()
            .with_resolver(resolver("http://r.example:2641/hdl"))
            .with_resolver(resolver("https://s.example/"));
        let whole = "http://r.example:2641/hdl/20.1/a%2Fb?q=1#f";
        let table = [
            ("http://r.example:2641/hdl/20.1/x", Ok("hdl:20.1/x")),
            ("r.example:2641/hdl/20.1/x", Ok("hdl:20.1/x")),
            (whole, Ok("hdl:20.1/a%2Fb?q=1#f")),
            ("http://r.example:2641/hdl//x", Err(("empty-prefix", 26))),
            ("http://r.example:2641/hdl/20.1/", Err(("empty-suffix", 31))),
            (
                "http://r.example:2641/hdl/20.1",
                Err(("missing-suffix", 30)),
            ),
            (
                "http://r.example:2641/hdl/20.1/x?%zz",
                Err(("bad-triplet", 33)),
            ),
            (
                "http://r.example:2641/hdl/20.1/x#a#b",
                Err(("second-fragment", 34)),
            ),
            ("http://r.example:2641/20.1/x", Err(("not-served", 22))),
            ("http://r.example:2641/urn:isbn:1", Ok("urn:isbn:1")),
            (
                "http://r.example:2641/hdl/urn:isbn:1",
                Err(("not-served", 22)),
            ),
            (
                "http://r.example:2641/hdl/urn-3:a:b/c",
                Err(("not-served", 22)),
            ),
            (
                "http://r.example:2641/hdl/ark:12/x",
                Err(("not-served", 22)),
            ),
            ("http://r.example:2641/ark:12/x", Ok("ark:12/x")),
            ("https://s.example/hdl/20.1/x", Ok("hdl:hdl/20.1%2Fx")),
            ("https://hdl.handle.net/20.1/x", Ok("hdl:20.1/x")),
        ];
        check(&rules, &table);
        for (text, url) in [
            (whole, whole),
            ("20.1/x", "http://r.example:2641/hdl/20.1/x"),
            ("urn-3:a:b", "http://r.example:2641/urn-3:a:b"),
        ] {
            let found = recognise(text, &rules).unwrap().identifier;
            assert_eq!(found.spellings(&rules).http.unwrap(), url);
        }
    }

    #[test]
    fn pasted_addresses_may_hold_raw_characters() {
        let table = [
            (
                "https://hdl.handle.net/20.1/é?é",
                Ok("hdl:20.1/%C3%A9?%C3%A9"),
            ),
            (
                "https://nrs.harvard.edu/urn-3:A:É",
                Ok("urn:urn-3:a:%C3%89"),
            ),
            ("https://n2t.net/ark:12/é-", Ok("ark:12/%C3%A9")),
            (
                "https://hdl.handle.net/20.1/a b",
                Err(("bad-character", 29)),
            ),
            (
                "https://hdl.handle.net/20.1/\u{200B}",
                Err(("bad-character", 28)),
            ),
        ];
        check(&Standard, &table);
    }
}
