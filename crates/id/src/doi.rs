//! Digital Object Identifiers.

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::chars::{PATH, lowercase, strip_scheme};
use crate::error::{ErrorKind, ParseError, Part};
use crate::handle::{CaseRule, Handle};
use crate::hdl_uri::{check_dot_segment, check_length};
use crate::http::{HttpResolver, HttpUrl};
use crate::info::{InfoGrammar, InfoUri};
use crate::percent::{self, NonAscii};

/// A DOI such as `doi:10.1045/april2006-paskin`.
///
/// `DOI-1`: a handle whose prefix is `10` or begins with `10.`, ASCII case-insensitive.
///
/// ```text
/// doi = "doi:" handle                                         ; literal: no triplets
///     / ( "http" / "https" ) "://" [ "dx." ] "doi.org/" name  ; decoded, without query, fragment
///     / "info:doi/" name                                      ; likewise
///     / handle
/// ```
///
/// `Display` prints the canonical form, `doi:` and the handle in ASCII lowercase; `==` compares it.
///
/// ```
/// use handfast_id::Doi;
///
/// let doi = Doi::parse("https://doi.org/10.1000/A%2FB?x=1")?;
/// assert_eq!(doi.handle().as_str(), "10.1000/A/B");
/// assert_eq!(doi.to_string(), "doi:10.1000/a/b");
/// assert_eq!(doi, Doi::parse("doi:10.1000/a/b")?);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Doi<'a>(Handle<'a>);

impl<'a> Doi<'a> {
    /// Reads a DOI in any of its spellings, to the letter. Nothing is copied where no triplet has
    /// to be decoded.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        Self::parse_by(text, InfoGrammar::Rfc4452)
    }

    /// Reads a DOI, and `info:doi/` by a grammar of choice.
    pub fn parse_by(text: &'a str, grammar: InfoGrammar) -> Result<Self, ParseError> {
        if let Some(name) = strip_scheme(text, "doi") {
            check_length(text)?;
            return Self::literal(name, text.len() - name.len());
        }
        if strip_scheme(text, "info").is_some() {
            let uri = InfoUri::parse_by(text, grammar)?;
            let at = "info:doi/".len();
            if uri.namespace() != "doi" {
                return Err(ErrorKind::NotADoi.at(Part::Namespace, "info:".len()));
            }
            let end = at + uri.identifier().len();
            return Self::encoded(text.get(at..end).unwrap_or_default(), at);
        }
        if let Some(url) = HttpUrl::parse(text) {
            check_length(text)?;
            let mut known = HttpResolver::known_everywhere().iter();
            if !known.any(|resolver| resolver.serves_dois() && url.is_of(resolver)) {
                return Err(url.unknown_resolver());
            }
            let (name, at) = url.path()?;
            percent::check(name, at, &PATH, NonAscii::Refused, Part::Suffix).map_err(|error| {
                let head = name.get(..error.at() - at).unwrap_or_default();
                earlier_error(head, at).unwrap_or(error)
            })?;
            url.tail().check(at + name.len(), NonAscii::Refused)?;
            return Self::encoded(name, at);
        }
        Self::literal(text, 0)
    }

    /// The DOI of a handle. A stored name that is irregular (`HDL-8`) is not one.
    pub fn new(handle: Handle<'a>) -> Result<Self, ParseError> {
        match handle.irregularity() {
            Some(error) => Err(error),
            None => Self::of_regular(handle),
        }
    }

    /// The DOI that a handle is which has been parsed.
    pub(crate) fn of_regular(handle: Handle<'a>) -> Result<Self, ParseError> {
        if handle.prefix().is_doi() {
            Ok(Self(handle))
        } else {
            Err(ErrorKind::NotADoi.at(Part::Prefix, 0))
        }
    }

    /// The handle that the DOI is, as written.
    #[must_use]
    pub fn handle(&self) -> &Handle<'a> {
        &self.0
    }

    /// The handle that the DOI is, leaving the rest behind.
    #[must_use]
    pub fn into_handle(self) -> Handle<'a> {
        self.0
    }

    /// The same DOI, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Doi<'static> {
        Doi(self.0.into_owned())
    }

    fn literal(name: &'a str, base: usize) -> Result<Self, ParseError> {
        Handle::parse(name)
            .and_then(Self::of_regular)
            .map_err(|error| in_input(error, base))
    }

    /// A name in a URI, already checked against the grammar there.
    pub(crate) fn encoded(name: &'a str, base: usize) -> Result<Self, ParseError> {
        let handle = if name.contains('%') {
            let decoded = percent::decode_or_offset(name).map_err(|offset| {
                let error = ErrorKind::NotUtf8Triplets.at(Part::Handle, base + offset);
                earlier_error(name.get(..offset).unwrap_or_default(), base).unwrap_or(error)
            })?;
            Handle::from_owned(decoded)
        } else {
            Handle::parse(name)
        };
        let doi = handle
            .and_then(Self::new)
            .map_err(|error| match error.kind() {
                ErrorKind::TooLong(_) => error,
                _ => error.moved_to(base + percent::encoded_offset(name, error.at())),
            })?;
        let suffix_at = doi.0.as_str().len() - doi.0.suffix().len();
        check_dot_segment(
            doi.0.suffix(),
            base + percent::encoded_offset(name, suffix_at),
        )?;
        Ok(doi)
    }
}

/// What is wrong with a name before a place that is.
fn earlier_error(head: &str, base: usize) -> Option<ParseError> {
    percent::earlier_error(head, base, Part::Handle, |text| {
        Handle::parse(text).map(|_| ())
    })
}

fn in_input(error: ParseError, base: usize) -> ParseError {
    match error.kind() {
        ErrorKind::TooLong(_) => error,
        _ => error.shifted(base),
    }
}

impl fmt::Display for Doi<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("doi:")?;
        f.write_str(&lowercase(self.0.as_str()))
    }
}

impl PartialEq<Doi<'_>> for Doi<'_> {
    fn eq(&self, other: &Doi<'_>) -> bool {
        self.0.matches(&other.0, CaseRule::AsciiInsensitive)
    }
}

impl Hash for Doi<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key(CaseRule::AsciiInsensitive).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    fn refused(text: &str) -> (&'static str, usize) {
        let error = Doi::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    fn canonical(text: &str) -> String {
        Doi::parse(text).unwrap().to_string()
    }

    #[test]
    fn doi_1_spellings() {
        for (text, expected) in [
            ("DOI:10.1000/a%2Fb", "doi:10.1000/a%2fb"),
            ("http://DX.doi.org:80/10.1000/A%2F", "doi:10.1000/a/"),
            ("https://doi.org/10.1000%2F182?x#y", "doi:10.1000/182"),
            ("INFO:DOI/10.1000%2F182#f", "doi:10.1000/182"),
            ("10/ABC", "doi:10/abc"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn x_5_the_first_byte_that_cannot_be_right_is_named() {
        assert_eq!(refused("https://doi.org/.<"), ("empty-segment", 16));
        assert_eq!(
            refused("https://doi.org/10.1/%07%ff"),
            ("bad-character", 21)
        );
        assert_eq!(refused("info:doi/10.1/.."), ("dot-segment", 14));
    }

    #[test]
    fn doi_1_errors() {
        for (text, code, at) in [
            ("doi:11.1000/182", "not-a-doi", 4),
            ("doi:10x/1", "not-a-doi", 4),
            ("doi:10.1000", "missing-suffix", 11),
            ("https://doi.org/20.1000/1", "not-a-doi", 16),
            ("https://doi.org/10.1000/é", "bad-character", 24),
            ("https://doi.org/10.1000/1?<", "bad-character", 26),
            ("https://doi.org/10.1000/%2E", "dot-segment", 24),
            ("https://hdl.handle.net/10.1/x", "unknown-resolver", 8),
            ("https://doi.org", "missing-suffix", 15),
            ("info:hdl/10.1/x", "not-a-doi", 5),
            ("info:doi/10.1%07/x", "bad-character", 13),
            ("hdl:10.1/x", "not-a-doi", 0),
        ] {
            assert_eq!(refused(text), (code, at), "{text}");
        }
    }
}
