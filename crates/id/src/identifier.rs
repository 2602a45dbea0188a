//! Any identifier.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::ark::Ark;
use crate::cordra::CordraId;
use crate::doi::Doi;
use crate::error::{ErrorKind, ParseError, Part};
use crate::handle::{CaseRule, Handle};
use crate::hdl_uri::{HdlUri, check_length, wrong_scheme};
use crate::http::HttpUrl;
use crate::info::InfoUri;
use crate::key::Key;
use crate::percent::{self, NonAscii};
use crate::recognise::recognise;
use crate::rules::{HandleProfile, Rules};
use crate::spellings::Spellings;
use crate::tail::Tail;
use crate::urn::Urn;
use crate::words::words;

/// An identifier of any scheme.
///
/// ```
/// use handfast_id::{Identifier, Scheme, Standard, parse_as};
///
/// let id = parse_as("info:doi/10.1000/182", Scheme::Info, &Standard)?;
/// assert!(matches!(id, Identifier::Info(_)));
/// assert_eq!(id.scheme(), Scheme::Info);
/// // It names a handle: what is looked up is the handle's record.
/// assert_eq!(id.named(&Standard).unwrap().to_string(), "doi:10.1000/182");
/// assert_eq!(id.key(&Standard).as_str(), "hdl:10.1000/182");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Identifier<'a> {
    /// An ARK.
    Ark(Ark<'a>),
    /// A CORDRA identifier, written bare.
    Cordra(CordraId<'a>),
    /// A DOI.
    Doi(Doi<'a>),
    /// A bare handle.
    Handle(Handle<'a>),
    /// A handle as an `hdl` or HTTP URI.
    Hdl(HdlUri<'a>),
    /// An `info` URI.
    Info(InfoUri<'a>),
    /// A URN.
    Urn(Urn<'a>),
}

/// Reads `text` as one scheme, to the letter; [`Scheme::Any`] recognises it as [`recognise`] does.
///
/// ```
/// use handfast_id::{Scheme, Standard, parse_as};
///
/// assert!(parse_as("20.1000/5555", Scheme::Handle, &Standard).is_ok());
/// assert!(parse_as(" 20.1000/5555", Scheme::Handle, &Standard).is_err());
/// assert!(parse_as(" 20.1000/5555", Scheme::Any, &Standard).is_ok());
/// ```
pub fn parse_as<'a>(
    text: &'a str,
    scheme: Scheme,
    rules: &dyn Rules,
) -> Result<Identifier<'a>, ParseError> {
    match scheme {
        Scheme::Any => recognise(text, rules).map(|recognised| recognised.identifier),
        Scheme::Ark => Ark::parse(text).map(Identifier::Ark),
        Scheme::Cordra => parse_cordra(text, rules).map(Identifier::Cordra),
        Scheme::Doi => Doi::parse_by(text, rules.info_grammar()).map(Identifier::Doi),
        Scheme::Handle => Handle::parse(text).map(Identifier::Handle),
        Scheme::Hdl => HdlUri::parse(text).map(Identifier::Hdl),
        Scheme::Http => {
            check_length(text)?;
            let url = HttpUrl::parse(text).ok_or_else(|| wrong_scheme(text))?;
            url.read(NonAscii::Refused, rules)
                .unwrap_or_else(|| Err(url.unknown_resolver()))
        }
        Scheme::Info => {
            let uri = InfoUri::parse_by(text, rules.info_grammar())?;
            uri.check_canonical(rules)?;
            Ok(Identifier::Info(uri))
        }
        Scheme::Urn => Urn::parse_with(text, rules).map(Identifier::Urn),
    }
}

/// Reads a CORDRA identifier: bare, or as an `hdl` URI whose prefix has that profile.
fn parse_cordra<'a>(text: &'a str, rules: &dyn Rules) -> Result<CordraId<'a>, ParseError> {
    let bare = CordraId::parse(text);
    if bare.is_err()
        && let Ok(uri) = HdlUri::parse(text)
        && rules.handle_profile(&uri.handle().prefix()) == HandleProfile::Cordra
        && let Some(id) = CordraId::from_hdl_uri(&uri)
    {
        return Ok(id);
    }
    bare
}

impl Identifier<'_> {
    /// `CID-14`: an error if the handle of a `cordra` authority has a query or fragment, which a
    /// URI may hide behind triplets. Registering never cuts.
    pub fn check_record(&self, rules: &dyn Rules) -> Result<(), ParseError> {
        let named = self.named(rules);
        let named = named.as_ref().unwrap_or(self);
        let text = match named {
            Identifier::Cordra(id) => id.to_handle(),
            Identifier::Handle(handle) => handle.borrowed(),
            Identifier::Hdl(uri) => uri.handle().borrowed(),
            Identifier::Ark(_) | Identifier::Doi(_) | Identifier::Info(_) | Identifier::Urn(_) => {
                return Ok(());
            }
        };
        if rules.handle_profile(&text.prefix()) != HandleProfile::Cordra {
            return Ok(());
        }
        let (record, tail) = Tail::split(text.as_str());
        if tail.is_empty() || CordraId::parse(record).is_err() {
            return Ok(());
        }
        let (kind, part) = if tail.query.is_some() {
            (ErrorKind::HasQuery, Part::Query)
        } else {
            (ErrorKind::HasFragment, Part::Fragment)
        };
        Err(kind.at(part, record.len()))
    }

    /// The scheme it was written in.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        match self {
            Self::Ark(_) => Scheme::Ark,
            Self::Cordra(_) => Scheme::Cordra,
            Self::Doi(_) => Scheme::Doi,
            Self::Handle(_) => Scheme::Handle,
            Self::Hdl(_) => Scheme::Hdl,
            Self::Info(_) => Scheme::Info,
            Self::Urn(_) => Scheme::Urn,
        }
    }

    /// The canonical form under `rules`. `Display` prints the one that needs no registry.
    ///
    /// ```
    /// use handfast_id::{Standard, recognise};
    ///
    /// let id = recognise("info:doi/10.1000/abc", &Standard)?.identifier;
    /// assert_eq!(id.canonical(&Standard), "info:doi/10.1000/ABC");
    /// assert_eq!(id.to_string(), "info:doi/10.1000/abc");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    #[must_use]
    pub fn canonical(&self, rules: &dyn Rules) -> String {
        match self {
            // One that was parsed under the same rules has been found short enough.
            Self::Info(uri) => match uri.canonical(rules) {
                Ok(canonical) => canonical.into_string(),
                Err(_) => uri.to_string(),
            },
            Self::Handle(handle) => shown_handle(handle, rules).to_string(),
            Self::Hdl(uri) => uri
                .with_handle(shown_handle(uri.handle(), rules))
                .to_string(),
            _ => self.to_string(),
        }
    }

    /// The handle or ARK that an `info:hdl/`, `info:doi/` or `info:ark/` URI names (`EQ-1`), found
    /// by its canonical, decoded identifier. `None` for anything else.
    #[must_use]
    pub fn named(&self, rules: &dyn Rules) -> Option<Identifier<'static>> {
        let Self::Info(uri) = self else { return None };
        uri.named(rules)
    }

    /// The lookup key: all spellings of one thing have one key (`EQ-1`).
    #[must_use]
    pub fn key(&self, rules: &dyn Rules) -> Key {
        match (self.handle(), self.named(rules)) {
            (Some(handle), _) => handle_key(handle, rules),
            (None, Some(named)) => named.key(rules),
            (None, None) => Key::of_canonical(self.canonical(rules)),
        }
    }

    /// Whether two identifiers name the same thing: those that have a query or fragment, with it.
    ///
    /// ```
    /// use handfast_id::{Standard, recognise};
    ///
    /// let id = |text| recognise(text, &Standard).unwrap().identifier;
    /// let other = id("https://hdl.handle.net/20.1000/5555");
    /// assert!(id("20.1000/5555").is_same_as(&other, &Standard));
    /// // A query is no part of the name, but it is part of what was written.
    /// assert!(!id("hdl:20.1000/5555").is_same_as(&id("hdl:20.1000/5555?x"), &Standard));
    /// // Unequal by their scheme, though both find the same record.
    /// assert!(!id("info:doi/10.1000/1").is_same_as(&id("info:doi/10.1000%2F1"), &Standard));
    /// ```
    #[must_use]
    pub fn is_same_as(&self, other: &Identifier<'_>, rules: &dyn Rules) -> bool {
        match (self, other) {
            (Self::Info(_), Identifier::Info(_)) => self.canonical(rules) == other.canonical(rules),
            _ => {
                self.key(rules) == other.key(rules)
                    && self.tail() == other.tail()
                    && self.is_same_case(other, rules)
            }
        }
    }

    /// `HDL-6`: of a prefix whose case rule is not known, handles that differ in case are not
    /// called equal.
    fn is_same_case(&self, other: &Identifier<'_>, rules: &dyn Rules) -> bool {
        let named = (self.named(rules), other.named(rules));
        let handles = (
            named.0.as_ref().unwrap_or(self).handle(),
            named.1.as_ref().unwrap_or(other).handle(),
        );
        let (Some(a), Some(b)) = handles else {
            return true;
        };
        let prefix = a.prefix();
        prefix.is_always_insensitive() || rules.knows(&prefix) || a.suffix() == b.suffix()
    }

    /// The handle that it names, unless it is of another kind.
    fn handle(&self) -> Option<&Handle<'_>> {
        match self {
            Self::Cordra(id) => Some(id.record()),
            Self::Doi(doi) => Some(doi.handle()),
            Self::Handle(handle) => Some(handle),
            Self::Hdl(uri) => Some(uri.handle()),
            Self::Ark(_) | Self::Info(_) | Self::Urn(_) => None,
        }
    }

    /// All spellings of the thing it names.
    #[must_use]
    pub fn spellings(&self, rules: &dyn Rules) -> Spellings {
        Spellings::of(self, rules)
    }

    /// The same identifier, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Identifier<'static> {
        match self {
            Self::Ark(ark) => Identifier::Ark(ark.into_owned()),
            Self::Cordra(id) => Identifier::Cordra(id.into_owned()),
            Self::Doi(doi) => Identifier::Doi(doi.into_owned()),
            Self::Handle(handle) => Identifier::Handle(handle.into_owned()),
            Self::Hdl(uri) => Identifier::Hdl(uri.into_owned()),
            Self::Info(uri) => Identifier::Info(uri.into_owned()),
            Self::Urn(urn) => Identifier::Urn(urn.into_owned()),
        }
    }

    /// Query and fragment that count in comparison.
    fn tail(&self) -> Tail<'_> {
        let (query, fragment) = match self {
            Self::Cordra(id) => (id.query(), id.fragment()),
            Self::Hdl(uri) => (uri.query(), uri.fragment()),
            Self::Info(uri) => (None, uri.fragment()),
            Self::Ark(_) | Self::Doi(_) | Self::Handle(_) | Self::Urn(_) => (None, None),
        };
        Tail {
            query: query.map(Cow::Borrowed),
            fragment: fragment.map(Cow::Borrowed),
        }
    }
}

/// A handle as it is shown: under a `cordra` authority the path is in uppercase (`CID-11`).
pub(crate) fn shown_handle<'h>(handle: &'h Handle<'_>, rules: &dyn Rules) -> Handle<'h> {
    if rules.handle_profile(&handle.prefix()) == HandleProfile::Cordra
        && let Ok(id) = CordraId::parse(handle.as_str())
    {
        return id.to_handle().into_owned();
    }
    handle.borrowed()
}

/// The CORDRA identifier whose form a handle, written bare or as a URI, has (`CID-12`). DOIs have
/// none.
pub(crate) fn cordra_form(identifier: &Identifier<'_>) -> Option<CordraId<'static>> {
    match identifier {
        Identifier::Handle(handle) if !handle.prefix().is_doi() => CordraId::parse(handle.as_str())
            .ok()
            .map(CordraId::into_owned),
        Identifier::Hdl(uri) if !uri.handle().prefix().is_doi() => CordraId::from_hdl_uri(uri),
        _ => None,
    }
}

/// The key of a handle under the case rule and profile of its prefix.
fn handle_key(handle: &Handle<'_>, rules: &dyn Rules) -> Key {
    let prefix = handle.prefix();
    if rules.handle_profile(&prefix) == HandleProfile::Handle {
        return handle.key(rules.case_rule(&prefix));
    }
    // CID-8 and CID-11: query and fragment are no part of the record's name, and case never counts.
    // CID-13: one that is malformed is not cut off.
    match CordraId::parse(handle.as_str()) {
        Ok(id) => id.record().key(CaseRule::AsciiInsensitive),
        Err(_) => handle.key(CaseRule::AsciiInsensitive),
    }
}

impl InfoUri<'_> {
    fn named(&self, rules: &dyn Rules) -> Option<Identifier<'static>> {
        let namespace = self.namespace();
        if !matches!(namespace, "ark" | "doi" | "hdl") {
            return None;
        }
        let canonical = self.canonical(rules).ok()?;
        let canonical = canonical.as_str().split('#').next()?;
        let identifier = canonical.get("info:/".len() + namespace.len()..)?;
        let decoded = percent::decode(identifier)?;
        let named = match namespace {
            "ark" if decoded.contains(['?', '#']) => return None,
            "ark" => Ark::parse_after_scheme(&decoded, 0, NonAscii::Refused).map(Identifier::Ark),
            "doi" => Handle::parse(&decoded)
                .and_then(Doi::of_regular)
                .map(Identifier::Doi),
            _ => Handle::parse(&decoded).map(Identifier::Handle),
        };
        named.ok().map(Identifier::into_owned)
    }

    /// `X-4` for the canonical form, which registry steps can make longer than the text.
    pub(crate) fn check_canonical(&self, rules: &dyn Rules) -> Result<(), ParseError> {
        match rules.namespace(self.namespace()).entry() {
            Some(entry) if !entry.steps().is_empty() => self.canonical(rules).map(|_| ()),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ark(ark) => ark.fmt(f),
            Self::Cordra(id) => id.fmt(f),
            Self::Doi(doi) => doi.fmt(f),
            Self::Handle(handle) => handle.fmt(f),
            Self::Hdl(uri) => uri.fmt(f),
            Self::Info(uri) => uri.fmt(f),
            Self::Urn(urn) => urn.fmt(f),
        }
    }
}

words! {
    /// How a text is to be read.
    ///
    /// ```
    /// use handfast_id::Scheme;
    ///
    /// assert_eq!("cordra".parse(), Ok(Scheme::Cordra));
    /// assert_eq!(Scheme::Cordra.as_str(), "cordra");
    /// assert!("gopher".parse::<Scheme>().is_err());
    /// ```
    #[derive(Default)]
    Scheme {
        /// Any scheme: a text that a person pastes.
        #[default]
        Any = "any",
        /// `ark:NAAN/name`
        Ark = "ark",
        /// `naming-authority/path`
        Cordra = "cordra",
        /// `doi:10.…`, or another spelling of a DOI.
        Doi = "doi",
        /// `prefix/suffix`
        Handle = "handle",
        /// `hdl:prefix/suffix` or `hdl://prefix/suffix`
        Hdl = "hdl",
        /// The URL of a known resolver.
        Http = "http",
        /// `info:namespace/identifier`
        Info = "info",
        /// `urn:NID:NSS`
        Urn = "urn",
    }
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Handle,
        Self::Hdl,
        Self::Cordra,
        Self::Info,
        Self::Urn,
        Self::Doi,
        Self::Ark,
        Self::Http,
        Self::Any,
    ];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scheme {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.as_str() == text);
        found.ok_or(ErrorKind::UnknownScheme.at(Part::Scheme, 0))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{Prefix, RuleBook, Standard};

    fn id(text: &str) -> Identifier<'_> {
        recognise(text, &Standard).unwrap().identifier
    }

    /// The canonical form had the fragment, and none of the spellings.
    #[test]
    fn cid_13_spellings_of_an_info_uri_keep_its_fragment() {
        let spellings = id("info:lccn/n78#f").spellings(&Standard);
        assert_eq!(spellings.info.as_deref(), Some("info:lccn/n78#f"));
        let spellings = id("info:hdl/20.1/a#f").spellings(&Standard);
        for (spelling, expected) in [
            (&spellings.handle, "20.1/a"),
            (&spellings.hdl, "hdl:20.1/a#f"),
            (&spellings.hdl_host, "hdl://20.1/a#f"),
            (&spellings.http, "https://hdl.handle.net/20.1/a#f"),
            (&spellings.info, "info:hdl/20.1/a#f"),
        ] {
            assert_eq!(spelling.as_deref(), Some(expected));
        }
    }

    #[test]
    fn eq_1_all_spellings_of_one_thing_have_one_key() {
        for group in [
            &[
                "20.1000/5555",
                "hdl:20.1000/5555",
                "hdl://20.1000/5555",
                "HDL:20.1000/%35555",
                "https://hdl.handle.net/20.1000/5555",
                "hdl.handle.net/20.1000/5555",
                "info:hdl/20.1000/5555",
                "info:hdl/20.1000%2F5555",
                "hdl:20.1000/5555?q#f",
            ][..],
            &[
                "doi:10.1000/Abc",
                "10.1000/aBC",
                "hdl:10.1000/abc",
                "https://doi.org/10.1000/abc",
                "info:doi/10.1000/abc",
                "info:hdl/10.1000/ABC",
                "https://hdl.handle.net/10.1000/abc",
            ],
            &[
                "ark:12025/654xz321",
                "ark:/12025/65-4-xz32-1",
                "info:ark/12025/654xz321.",
                "https://n2t.net/ark:12025/654xz321",
                "https://n2t.net/ark:/12025/654xz321?info",
            ],
            &[
                "urn:urn-3:HUL.OIS:Home",
                "urn-3:hul.ois:home",
                "https://nrs.harvard.edu/urn-3:HUL.ois:Home",
            ],
        ] {
            let keys: Vec<_> = group.iter().map(|text| id(text).key(&Standard)).collect();
            assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
        }
    }

    #[test]
    fn eq_1_spellings_of_a_spelling_have_its_key() {
        for text in [
            "20.1000/a b/ü%",
            "doi:10.1/X",
            "ark:12025/a-b%2f",
            "urn:urn-3:a:B",
            "info:doi/10.1/é%".replace("é%", "%C3%A9%25").as_str(),
        ] {
            let one = id(text);
            for (_, spelling) in one.spellings(&Standard).iter() {
                assert_eq!(
                    id(spelling).key(&Standard),
                    one.key(&Standard),
                    "{text} {spelling}"
                );
            }
        }
    }

    /// Under a case-sensitive prefix the `cordra` spelling of `400/d41d…` was `400/D41D…`, another
    /// name.
    #[test]
    fn cid_12_every_spelling_names_the_same_record() {
        let prefix = |text| Prefix::parse(text).unwrap();
        let rules = RuleBook::standard()
            .with_case_rule(&prefix("400"), CaseRule::Sensitive)
            .with_case_rule(&prefix("401"), CaseRule::AsciiInsensitive)
            .with_profile(&prefix("402"), HandleProfile::Cordra)
            .with_case_rule(&prefix("402"), CaseRule::Sensitive);
        let lower = "d41d8cd98f00b204e9800998ecf8427e";
        let upper = lower.to_ascii_uppercase();
        for (prefix, suffix, has_cordra) in [
            ("400", lower, false),
            ("400", &upper, true),
            ("401", lower, true),
            ("402", lower, true),
            ("403", lower, true),
        ] {
            for start in ["", "hdl:", "hdl://", "info:hdl/", "https://hdl.handle.net/"] {
                let text = [start, prefix, "/", suffix].concat();
                let read = |text: &str| recognise(text, &rules).unwrap().identifier.into_owned();
                let spellings = read(&text).spellings(&rules);
                assert_eq!(spellings.cordra.is_some(), has_cordra, "{text}");
                for (name, spelling) in spellings.iter() {
                    let key = read(spelling).key(&rules);
                    assert_eq!(key, read(&text).key(&rules), "{text} {name} {spelling}");
                }
            }
        }
    }

    #[test]
    fn cid_8_cid_11_the_record_of_a_cordra_authority() {
        let prefix = Prefix::parse("100.102").unwrap();
        let rules = RuleBook::standard()
            .with_profile(&prefix, HandleProfile::Cordra)
            .with_case_rule(&prefix, CaseRule::Sensitive);
        let key = |text| recognise(text, &rules).unwrap().identifier.key(&rules);
        let expected = "hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5";
        for text in [
            "100.102/f58fb49eb1f848f0a606e84cef294be5?q#f",
            "hdl:100.102/f58fb49eb1f848f0a606e84cef294be5?q",
            "hdl:100.102/f58fb49eb1f848f0a606e84cef294be5%3Fq",
        ] {
            assert_eq!(key(text).as_str(), expected, "{text}");
        }
        let shown = recognise("hdl:100.102/f58fb49eb1f848f0a606e84cef294be5?q", &rules)
            .unwrap()
            .identifier;
        assert_eq!(
            shown.canonical(&rules),
            "hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5?q"
        );
        let handle = shown.spellings(&rules).handle.unwrap();
        assert_eq!(handle, "100.102/F58FB49EB1F848F0A606E84CEF294BE5");
    }

    #[test]
    fn info_keys_are_those_of_what_they_name_only_if_it_is_one() {
        for (text, key) in [
            ("info:hdl/no-slash", "info:hdl/no-slash"),
            ("info:doi/20.1/x", "info:doi/20.1/X"),
            ("info:bnf/a/b#c", "info:bnf/a/b#c"),
        ] {
            assert_eq!(id(text).key(&Standard).as_str(), key);
        }
    }
}
