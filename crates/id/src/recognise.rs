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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecognisedBy {
    /// It has the form of a handle, a DOI or a CORDRA identifier.
    BareHandle,
    /// It begins with `urn-<digits>:`.
    BareUrn,
    /// It is a URL of a known resolver.
    Resolver,
    /// It begins with a known scheme.
    Scheme,
}

impl RecognisedBy {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BareHandle => "bare handle",
            Self::BareUrn => "bare urn-<number>: name",
            Self::Resolver => "URL of a known resolver",
            Self::Scheme => "known scheme",
        }
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
    use alloc::string::ToString;

    use super::*;
    use crate::{HttpResolver, Prefix, RuleBook, Standard};

    fn refused(text: &str) -> (&'static str, usize) {
        let error = recognise(text, &Standard).unwrap_err();
        (error.code(), error.at())
    }

    fn found(text: &str) -> (&'static str, alloc::string::String) {
        let identifier = recognise(text, &Standard).unwrap().identifier;
        (identifier.scheme().as_str(), identifier.to_string())
    }

    #[test]
    fn x_7_trims_white_space_and_one_pair_of_brackets() {
        assert_eq!(found(" \u{A0}< 20.1000/x >\n").1, "20.1000/x");
        assert_eq!(found("\"20.1000/x\"").1, "20.1000/x");
        assert_eq!(found("[20.1000/x]").1, "20.1000/x");
        assert_eq!(
            found("[2000.01/FFEE9F72B00C4189B137ECD34188B94E]").1,
            "2000.01/FFEE9F72B00C4189B137ECD34188B94E"
        );
        assert_eq!(found("\"<20.1000/x>\"").1, "<20.1000/x>");
        assert_eq!(found("<20.1000/x").1, "<20.1000/x");
        assert_eq!(refused("  <hdl:100.102>"), ("missing-suffix", 14));
        assert_eq!(refused(" \" "), ("missing-suffix", 2));
        assert_eq!(refused("<>"), ("empty", 1));
        assert_eq!(refused(""), ("empty", 0));
    }

    #[test]
    fn x_4_limits_apply_to_what_is_left() {
        let long = " ".repeat(9_000) + "20.1000/x";
        assert!(recognise(&long, &Standard).is_ok());
        assert_eq!(
            refused(&(" hdl:1/x?".to_string() + &"q".repeat(9_000))),
            ("too-long", 8_193)
        );
        assert_eq!(
            refused(&("urn-3:a:".to_string() + &"b".repeat(8_181))),
            ("too-long", 8_192)
        );
    }

    #[test]
    fn known_schemes_never_fall_through() {
        assert_eq!(refused("hdl:20.1/a/b"), ("slash-in-suffix", 10));
        assert_eq!(refused("DOI:x/y"), ("not-a-doi", 4));
        assert_eq!(refused("foo:20.1/x"), ("unknown-scheme", 0));
        assert_eq!(refused("http://x.example/y"), ("unknown-scheme", 0));
        assert_eq!(refused("hello"), ("missing-suffix", 5));
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
        assert_eq!(cut(&(cordra.clone() + "?x=1#f")), Err(("has-query", 38)));
        assert_eq!(cut(&(cordra.clone() + "#f")), Err(("has-fragment", 38)));
        assert_eq!(cut(" hdl:12/q?x=1 "), Err(("has-query", 9)));
        assert_eq!(cut("hdl://12/q#"), Err(("has-fragment", 10)));
        assert_eq!(cut("https://hdl.handle.net/12/q?x"), Err(("has-query", 27)));
        assert_eq!(cut("https://doi.org/10.1/x?y"), Err(("has-query", 22)));
        assert_eq!(cut("doi.org/10.1/x#y"), Err(("has-fragment", 14)));
        assert_eq!(cut("info:doi/10.1/x#y"), Err(("has-fragment", 15)));
        assert_eq!(cut("urn:urn-3:HBS:a#b"), Err(("has-fragment", 15)));
        assert_eq!(cut("urn:urn-3:HBS:a?=b"), Err(("has-query", 15)));
        assert_eq!(cut("ark:12/x?info"), Err(("has-query", 8)));
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
        assert_eq!(
            found("HTTPS://HDL.Handle.net:443/20.1000/a/b?x").1,
            "hdl:20.1000/a%2Fb?x"
        );
        assert_eq!(found("hdl.handle.net:443/20.1000/x").1, "hdl:20.1000/x");
        assert_eq!(
            refused("http://hdl.handle.net:443/20.1000/x").0,
            "unknown-scheme"
        );
        assert_eq!(found("https://hdl.handle.net/10.1/X?q").1, "doi:10.1/x");
        assert_eq!(found("https://hdl.handle.net/urn:a/b").1, "hdl:urn%3Aa/b");
        assert_eq!(found("https://doi.org/10.1%2Fx").1, "doi:10.1/x");
        assert_eq!(
            refused("https://hdl.handle.net/20.1%2Fx").0,
            "slash-in-prefix"
        );
        assert_eq!(
            refused("https://hdl.handle.net/20.1/%2e."),
            ("dot-segment", 28)
        );
        assert_eq!(refused("https://hdl.handle.net"), ("missing-suffix", 22));
        assert_eq!(refused("https://n2t.net/20.1/x"), ("not-served", 16));
        assert_eq!(
            refused("https://nrs.harvard.edu/urn-5:a:b"),
            ("not-served", 24)
        );
        assert_eq!(found("nrs.harvard.edu/URN:urn-3:A:b").1, "urn:urn-3:a:b");
        assert_eq!(
            refused("https://nrs.harvard.edu/urn-3:A:b?x").0,
            "bad-component"
        );
    }

    #[test]
    fn uri_9_configured_resolvers() {
        let resolver = |text| HttpResolver::parse(text).unwrap();
        let rules = RuleBook::standard()
            .with_resolver(resolver("http://r.example:2641/hdl"))
            .with_resolver(resolver("https://s.example/"));
        let read = |text| recognise(text, &rules).map(|found| found.identifier.to_string());
        assert_eq!(
            read("http://r.example:2641/hdl/20.1/x").unwrap(),
            "hdl:20.1/x"
        );
        assert_eq!(read("r.example:2641/hdl/20.1/x").unwrap(), "hdl:20.1/x");
        let whole = "http://r.example:2641/hdl/20.1/a%2Fb?q=1#f";
        assert_eq!(read(whole).unwrap(), "hdl:20.1/a%2Fb?q=1#f");
        let again = recognise(whole, &rules).unwrap().identifier;
        assert_eq!(again.spellings(&rules).http.unwrap(), whole);
        for (path, code) in [
            ("hdl//x", "empty-prefix"),
            ("hdl/20.1/", "empty-suffix"),
            ("hdl/20.1", "missing-suffix"),
            ("hdl/20.1/x?%zz", "bad-triplet"),
            ("hdl/20.1/x#a#b", "second-fragment"),
        ] {
            let url = "http://r.example:2641/".to_string() + path;
            assert_eq!(recognise(&url, &rules).unwrap_err().code(), code, "{url}");
        }
        assert_eq!(
            read("http://r.example:2641/20.1/x").unwrap_err().code(),
            "not-served"
        );
        assert_eq!(
            read("http://r.example:2641/urn:isbn:1").unwrap(),
            "urn:isbn:1"
        );
        for misplaced in ["hdl/urn:isbn:1", "hdl/urn-3:a:b/c", "hdl/ark:12/x"] {
            let url = "http://r.example:2641/".to_string() + misplaced;
            assert_eq!(recognise(&url, &rules).unwrap_err().code(), "not-served");
        }
        assert_eq!(read("http://r.example:2641/ark:12/x").unwrap(), "ark:12/x");
        assert_eq!(
            read("https://s.example/hdl/20.1/x").unwrap(),
            "hdl:hdl/20.1%2Fx"
        );
        assert_eq!(read("https://hdl.handle.net/20.1/x").unwrap(), "hdl:20.1/x");
        let spellings = recognise("20.1/x", &rules)
            .unwrap()
            .identifier
            .spellings(&rules);
        assert_eq!(spellings.http.unwrap(), "http://r.example:2641/hdl/20.1/x");
        let urn = recognise("urn-3:a:b", &rules).unwrap().identifier;
        let url = urn.spellings(&rules).http.unwrap();
        assert_eq!(url, "http://r.example:2641/urn-3:a:b");
    }

    #[test]
    fn pasted_addresses_may_hold_raw_characters() {
        assert_eq!(
            found("https://hdl.handle.net/20.1/é?é").1,
            "hdl:20.1/%C3%A9?%C3%A9"
        );
        assert_eq!(
            found("https://nrs.harvard.edu/urn-3:A:É").1,
            "urn:urn-3:a:%C3%89"
        );
        assert_eq!(found("https://n2t.net/ark:12/é-").1, "ark:12/%C3%A9");
        assert_eq!(
            refused("https://hdl.handle.net/20.1/a b").0,
            "bad-character"
        );
        assert_eq!(
            refused("https://hdl.handle.net/20.1/\u{200B}").0,
            "bad-character"
        );
    }
}
