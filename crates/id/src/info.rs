//! `info` URIs.
//!
//! An `info` URI names a thing by an identifier from a public namespace (RFC 4452). A registry
//! lists the namespaces and the rules of their identifiers; if it cannot be consulted, only the
//! normalisation of the scheme itself applies.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;

use crate::chars::{PATH, PCHAR, lowercase, strip_scheme};
use crate::error::{ErrorKind, ParseError, Part};
use crate::hdl_uri::{check_canonical_length, check_length, wrong_scheme};
use crate::namespace::{Namespace, NamespaceLookup};
use crate::percent::{self, NonAscii, Piece};
use crate::rules::{Rules, Standard};
use crate::spellings;
use crate::tail::{check_fragment, owned};

/// An `info` URI such as `info:lccn/2002022641`.
///
/// RFC 4452 §3, with what the draft of 2003 (§5.1) had instead:
///
/// ```text
/// info-URI   = "info:" namespace "/" identifier [ "#" fragment ]   ; draft: no fragment
/// namespace  = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )          ; case-insensitive
/// identifier = *( pchar / "/" )                                    ; draft: *pchar
/// ```
///
/// `Display` prints the scheme's own canonical form (`INFO-4`): scheme and namespace in lowercase,
/// every triplet decoded whose character is a `pchar`, the others in uppercase; `==` compares it.
/// [`canonical`](Self::canonical) consults the registry as well.
///
/// ```
/// use handfast_id::{InfoUri, Standard};
///
/// let uri = InfoUri::parse("INFO:LCCN/n78%2D89035")?;
/// assert_eq!(uri.namespace(), "lccn");
/// assert_eq!(uri.to_string(), "info:lccn/n78-89035");
/// // The registry knows that the hyphen stands for zeros (`info-registry.md` §6).
/// let canonical = uri.canonical(&Standard)?;
/// assert_eq!(canonical.as_str(), "info:lccn/n78089035");
/// assert_eq!(canonical.registered(), Some(true));
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InfoUri<'a> {
    /// In lowercase.
    namespace: Cow<'a, str>,
    /// As written.
    identifier: Cow<'a, str>,
    /// As written.
    fragment: Option<Cow<'a, str>>,
}

/// Which grammar an `info` URI is read by.
///
/// ```
/// use handfast_id::{InfoGrammar, InfoUri};
///
/// assert!(InfoUri::parse_by("info:ddc/22/eng", InfoGrammar::Rfc4452).is_ok());
/// assert!(InfoUri::parse_by("info:ddc/22/eng", InfoGrammar::Draft).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InfoGrammar {
    /// The first draft of 2003: `/` must be `%2F`, and there is no fragment.
    Draft,
    /// RFC 4452: raw `/` in the identifier, and a fragment. Names in use need it.
    #[default]
    Rfc4452,
}

impl<'a> InfoUri<'a> {
    /// Reads an `info` URI by the grammar of RFC 4452, to the letter. Nothing is copied where the
    /// namespace is in lowercase.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        Self::parse_by(text, InfoGrammar::Rfc4452)
    }

    /// Reads an `info` URI by a grammar of choice.
    pub fn parse_by(text: &'a str, grammar: InfoGrammar) -> Result<Self, ParseError> {
        check_length(text)?;
        let rest = strip_scheme(text, "info").ok_or_else(|| wrong_scheme(text))?;
        let namespace_at = text.len() - rest.len();
        let namespace = rest.split('/').next().unwrap_or_default();
        check_namespace(namespace).map_err(|error| error.shifted(namespace_at))?;
        let identifier_at = namespace_at + namespace.len() + 1;
        let Some(rest) = text.get(identifier_at..) else {
            return Err(ErrorKind::MissingIdentifier.at(Part::Text, text.len()));
        };
        let (identifier, fragment) = match (grammar, rest.split_once('#')) {
            (InfoGrammar::Rfc4452, Some((identifier, fragment))) => (identifier, Some(fragment)),
            _ => (rest, None),
        };
        let allowed = if grammar == InfoGrammar::Draft {
            &PCHAR
        } else {
            &PATH
        };
        percent::check(
            identifier,
            identifier_at,
            allowed,
            NonAscii::Refused,
            Part::Identifier,
        )
        .map_err(|error| match error.found() {
            Some('?') => ErrorKind::HasQuery.at(Part::Identifier, error.at()),
            Some('#') => ErrorKind::HasFragment.at(Part::Identifier, error.at()),
            _ => error,
        })?;
        if let Some(fragment) = fragment {
            let at = identifier_at + identifier.len() + 1;
            check_fragment(fragment, at, NonAscii::Refused, Part::Fragment)?;
        }
        Ok(Self {
            namespace: lowercase(namespace),
            identifier: Cow::Borrowed(identifier),
            fragment: fragment.map(Cow::Borrowed),
        })
    }

    /// Makes a URI from a namespace and an identifier in its own, literal form: what is no `pchar`
    /// and no `/` is percent-encoded.
    ///
    /// ```
    /// # use handfast_id::InfoUri;
    /// let uri = InfoUri::new("sici", "0363-0277(19950315)120:5<>1.0.TX;2-V")?;
    /// assert_eq!(uri.to_string(), "info:sici/0363-0277(19950315)120:5%3C%3E1.0.TX;2-V");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn new(namespace: &str, identifier: &str) -> Result<InfoUri<'static>, ParseError> {
        check_namespace(namespace)?;
        InfoUri::parse(&spellings::info(namespace, identifier, &Standard)).map(InfoUri::into_owned)
    }

    /// The namespace, in lowercase.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The identifier as written.
    #[must_use]
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// The identifier with its triplets decoded; `None` if that is not UTF-8.
    ///
    /// ```
    /// # use handfast_id::InfoUri;
    /// let uri = InfoUri::parse("info:ddc/22%2Feng%2F%2F004.678")?;
    /// assert_eq!(uri.decoded().as_deref(), Some("22/eng//004.678"));
    /// assert_eq!(InfoUri::parse("info:x/%FF")?.decoded(), None);
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    #[must_use]
    pub fn decoded(&self) -> Option<Cow<'_, str>> {
        percent::decode(&self.identifier)
    }

    /// The fragment as written. No registry rule is ever applied to it.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.fragment.as_deref()
    }

    /// The canonical form under a registry (`INFO-6`): the scheme's own normalisation, then the
    /// steps of the namespace. It may be too long, as steps can add characters.
    pub fn canonical(&self, rules: &dyn Rules) -> Result<CanonicalInfo, ParseError> {
        let lookup = rules.namespace(&self.namespace);
        let text = match lookup.entry() {
            Some(entry) if !entry.steps().is_empty() => {
                self.with_identifier(&entry.steps().apply(self.normalised())?)
            }
            _ => self.to_string(),
        };
        check_canonical_length(text.len())?;
        Ok(CanonicalInfo {
            text,
            registered: lookup.is_registered(),
        })
    }

    /// Whether two URIs are the same under the registry that was consulted, which the answer says
    /// (`INFO-7`).
    ///
    /// ```
    /// # use handfast_id::{InfoUri, Standard};
    /// let a = InfoUri::parse("info:doi/10.1000/abc")?;
    /// let b = InfoUri::parse("info:doi/10.1000/ABC")?;
    /// let answer = a.compare(&b, &Standard)?;
    /// assert!(answer.equal);
    /// assert_eq!(answer.registered, Some(true));
    /// assert_ne!(a, b); // without the registry nothing is assumed
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn compare(
        &self,
        other: &InfoUri<'_>,
        rules: &dyn Rules,
    ) -> Result<InfoComparison, ParseError> {
        let (a, b) = (self.canonical(rules)?, other.canonical(rules)?);
        Ok(InfoComparison {
            equal: a.text == b.text,
            registered: a.registered,
        })
    }

    /// Whether the identifier fits the syntax of its namespace (`INFO-8`): a pattern over the
    /// identifier after all steps, decoded.
    ///
    /// ```
    /// # use handfast_id::{InfoUri, InfoValidity, Standard};
    /// let valid = |text| InfoUri::parse(text).unwrap().validate(&Standard);
    /// assert_eq!(valid("info:lccn/n78-89035"), InfoValidity::Fits);
    /// assert_eq!(valid("info:lccn/n78-8903x"), InfoValidity::DoesNotFit);
    /// assert_eq!(valid("info:nobody/knows"), InfoValidity::NotRegistered);
    /// ```
    #[must_use]
    pub fn validate(&self, rules: &dyn Rules) -> InfoValidity {
        match rules.namespace(&self.namespace) {
            NamespaceLookup::Unavailable => InfoValidity::RegistryUnavailable,
            NamespaceLookup::Former(_) | NamespaceLookup::Unknown => InfoValidity::NotRegistered,
            NamespaceLookup::Registered(entry) => self.validate_under(entry),
        }
    }

    fn validate_under(&self, entry: &Namespace) -> InfoValidity {
        let Some(pattern) = entry.pattern() else {
            return InfoValidity::NoSyntax;
        };
        let identifier = entry.steps().apply(self.normalised());
        let decoded = identifier.as_deref().ok().and_then(percent::decode);
        match decoded {
            Some(decoded) if pattern.matches(&decoded) => InfoValidity::Fits,
            _ => InfoValidity::DoesNotFit,
        }
    }

    /// The same URI, owning its text.
    #[must_use]
    pub fn into_owned(self) -> InfoUri<'static> {
        InfoUri {
            namespace: Cow::Owned(self.namespace.into_owned()),
            identifier: Cow::Owned(self.identifier.into_owned()),
            fragment: owned(self.fragment),
        }
    }

    /// The identifier after `INFO-4` (c) and (d).
    pub(crate) fn normalised(&self) -> String {
        let mut out = String::with_capacity(self.identifier.len());
        // Writing to a string cannot fail.
        let _ = write_normalised(&mut out, &self.identifier);
        out
    }

    /// The canonical form with another identifier in it.
    pub(crate) fn with_identifier(&self, identifier: &str) -> String {
        let mut out = String::with_capacity(6 + self.namespace.len() + identifier.len());
        out.push_str("info:");
        out.push_str(&self.namespace);
        out.push('/');
        out.push_str(identifier);
        if let Some(fragment) = &self.fragment {
            out.push('#');
            let _ = percent::write_upper_triplets(&mut out, fragment);
        }
        out
    }
}

/// A canonical form, and what the registry said.
///
/// ```
/// use handfast_id::{InfoUri, RuleBook};
///
/// let rules = RuleBook::standard().without_registry();
/// let canonical = InfoUri::parse("INFO:DOI/10.1000/abc")?.canonical(&rules)?;
/// assert_eq!(canonical.as_str(), "info:doi/10.1000/abc");
/// assert_eq!(canonical.registered(), None); // not consulted
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalInfo {
    text: String,
    registered: Option<bool>,
}

impl CanonicalInfo {
    /// The canonical form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the namespace was registered; `None` if the registry was not consulted.
    #[must_use]
    pub fn registered(&self) -> Option<bool> {
        self.registered
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

/// The result of [`InfoUri::compare`].
///
/// ```
/// # use handfast_id::{InfoUri, Standard};
/// let a = InfoUri::parse("info:nobody/x")?;
/// let answer = a.compare(&a, &Standard)?;
/// assert_eq!((answer.equal, answer.registered), (true, Some(false)));
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InfoComparison {
    /// Whether the two are the same.
    pub equal: bool,
    /// Whether the namespace was registered; `None` if the registry was not consulted.
    pub registered: Option<bool>,
}

/// The result of [`InfoUri::validate`].
///
/// ```
/// # use handfast_id::{InfoUri, InfoValidity, Standard};
/// assert_eq!(InfoUri::parse("info:pmid/12376099")?.validate(&Standard), InfoValidity::Fits);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfoValidity {
    /// The identifier does not fit the syntax of its namespace.
    DoesNotFit,
    /// The identifier fits.
    Fits,
    /// The entry states no syntax.
    NoSyntax,
    /// The namespace is not registered.
    NotRegistered,
    /// The registry could not be consulted.
    RegistryUnavailable,
}

/// `INFO-2`: an ASCII letter, then letters, digits, `+`, `-`, `.`.
pub(crate) fn check_namespace(text: &str) -> Result<(), ParseError> {
    let Some(first) = text.chars().next() else {
        return Err(ErrorKind::EmptyNamespace.at(Part::Namespace, 0));
    };
    let later = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let wrong = text.char_indices().find(|(_, c)| !later(*c));
    match wrong {
        _ if !first.is_ascii_alphabetic() => {
            Err(ParseError::character(Part::Namespace, 0, Some(first)))
        }
        Some((at, c)) => Err(ParseError::character(Part::Namespace, at, Some(c))),
        None => Ok(()),
    }
}

/// `INFO-4` (c) and (d): decode every triplet whose character is in `pchar`, once; write the others
/// in uppercase.
fn write_normalised(out: &mut dyn fmt::Write, identifier: &str) -> fmt::Result {
    for piece in percent::pieces(identifier) {
        match piece {
            Piece::Bare(bare) => out.write_str(bare)?,
            Piece::Triplet(byte) if PCHAR.has(byte) => out.write_char(char::from(byte))?,
            Piece::Triplet(byte) => percent::write_triplet(out, byte)?,
        }
    }
    Ok(())
}

impl fmt::Display for InfoUri<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("info:")?;
        f.write_str(&self.namespace)?;
        f.write_str("/")?;
        write_normalised(f, &self.identifier)?;
        if let Some(fragment) = &self.fragment {
            f.write_str("#")?;
            percent::write_upper_triplets(f, fragment)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, grammar: InfoGrammar) -> (&'static str, usize) {
        let error = InfoUri::parse_by(text, grammar).unwrap_err();
        (error.code(), error.at())
    }

    fn canonical(text: &str) -> String {
        InfoUri::parse(text).unwrap().to_string()
    }

    #[test]
    fn info_1_info_2_namespace() {
        assert_eq!(canonical("INFO:A+b-C.d/X"), "info:a+b-c.d/X");
        for (text, code, at) in [
            ("info:lccn", "missing-identifier", 9),
            ("info:", "empty-namespace", 5),
            ("info:/x", "empty-namespace", 5),
            ("info:1c/x", "bad-character", 5),
            ("info:l_c/x", "bad-character", 6),
            ("info:x#y/z", "bad-character", 6),
            ("inf:x/y", "wrong-scheme", 0),
        ] {
            assert_eq!(refused(text, InfoGrammar::Rfc4452), (code, at), "{text}");
        }
    }

    /// Every ASCII character in each place, by the grammar of the draft.
    #[test]
    fn info_2_info_3_characters() {
        for c in (0_u8..128).map(char::from) {
            let first = ["info:", &c.to_string(), "x/1"].concat();
            let is_name = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            let is_read = InfoUri::parse_by(&first, InfoGrammar::Draft).is_ok();
            assert_eq!(is_read, c.is_ascii_alphabetic(), "{first:?}");
            // A slash ends the namespace.
            let inner = ["info:x", &c.to_string(), "y/1"].concat();
            let namespace = InfoUri::parse_by(&inner, InfoGrammar::Rfc4452)
                .map(|uri| uri.namespace().to_string());
            match c {
                '/' => assert_eq!(namespace.unwrap(), "x"),
                c => assert_eq!(namespace.is_ok(), is_name(c), "{inner:?}"),
            }
            let identifier = ["info:x/a", &c.to_string(), "z"].concat();
            let is_path = c.is_ascii_alphanumeric() || "-_.!~*'();:@&=+$,".contains(c);
            let is_read = |grammar| InfoUri::parse_by(&identifier, grammar).is_ok();
            assert_eq!(is_read(InfoGrammar::Draft), is_path, "{identifier:?}");
            let is_path = is_path || c == '/' || c == '#';
            assert_eq!(is_read(InfoGrammar::Rfc4452), is_path, "{identifier:?}");
        }
        assert!(InfoUri::parse_by("info:x/", InfoGrammar::Draft).is_ok());
        for bad in ["%", "%4", "%4g", "%g4"] {
            let text = ["info:x/", bad].concat();
            assert_eq!(refused(&text, InfoGrammar::Draft).0, "bad-triplet");
        }
    }

    #[test]
    fn info_3_two_grammars() {
        for (grammar, text, code, at) in [
            (InfoGrammar::Draft, "info:ddc/22/eng", "bad-character", 11),
            (InfoGrammar::Draft, "info:lccn/a#b", "has-fragment", 11),
            (InfoGrammar::Draft, "info:lccn/a?b", "has-query", 11),
            (InfoGrammar::Rfc4452, "info:lccn/a?b", "has-query", 11),
            (InfoGrammar::Rfc4452, "info:x/a#b#c", "second-fragment", 10),
            (InfoGrammar::Rfc4452, "info:x/é", "bad-character", 7),
        ] {
            assert_eq!(refused(text, grammar), (code, at), "{text}");
        }
        assert_eq!(InfoUri::parse("info:lccn/#").unwrap().fragment(), Some(""));
        // The printed form obeys the grammar, too.
        let draft = crate::RuleBook::standard().with_info_grammar(InfoGrammar::Draft);
        let rules: [(&dyn crate::Rules, &str); 2] = [
            (&crate::Standard, "info:hdl/20.1/a/b"),
            (&draft, "info:hdl/20.1%2Fa%2Fb"),
        ];
        for (rules, expected) in rules {
            let handle = crate::recognise("20.1/a/b", rules).unwrap().identifier;
            assert_eq!(handle.spellings(rules).info.unwrap(), expected);
        }
    }

    #[test]
    fn info_4_normalisation() {
        assert_eq!(
            canonical("info:x/%3a%2D%2f%25%7E%ff%c3%a9"),
            "info:x/:-%2F%25~%FF%C3%A9"
        );
        assert_eq!(canonical("info:x/%2541"), "info:x/%2541");
        assert_eq!(canonical("info:x/a#%41%2f"), "info:x/a#%41%2F");
    }

    #[test]
    fn info_5_case_counts() {
        assert_ne!(InfoUri::parse("info:x/a"), InfoUri::parse("info:x/A"));
        assert_eq!(InfoUri::parse("INFO:X/%41"), InfoUri::parse("info:x/A"));
    }
}
