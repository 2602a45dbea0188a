//! The spellings of one identifier.

use alloc::string::{String, ToString};

use crate::ark::Ark;
use crate::chars::{PATH, PCHAR};
use crate::doi::Doi;
use crate::handle::{CaseRule, Handle};
use crate::hdl_uri::HdlUri;
use crate::http::HttpResolver;
use crate::identifier::{Identifier, cordra_form, shown_handle};
use crate::info::InfoGrammar;
use crate::percent;
use crate::rules::{HandleProfile, Rules};
use crate::urn::Urn;

/// The spellings of what an identifier names (`EQ-1`), each where it exists: built from the
/// canonical form. The URI forms and `cordra` have the query and fragment that the identifier has
/// (`CID-13`).
///
/// ```
/// use handfast_id::{Standard, recognise};
///
/// let id = recognise("20.1000/5555", &Standard)?.identifier;
/// let spellings = id.spellings(&Standard);
/// assert_eq!(spellings.hdl.as_deref(), Some("hdl:20.1000/5555"));
/// assert_eq!(spellings.hdl_host.as_deref(), Some("hdl://20.1000/5555"));
/// assert_eq!(spellings.http.as_deref(), Some("https://hdl.handle.net/20.1000/5555"));
/// assert_eq!(spellings.info.as_deref(), Some("info:hdl/20.1000/5555"));
/// assert_eq!(spellings.doi, None);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spellings {
    /// The bare handle.
    pub handle: Option<String>,
    /// The `hdl` URI in path form.
    pub hdl: Option<String>,
    /// The `hdl` URI in host form.
    pub hdl_host: Option<String>,
    /// The URL of a resolver.
    pub http: Option<String>,
    /// The `info` URI.
    pub info: Option<String>,
    /// The DOI.
    pub doi: Option<String>,
    /// The CORDRA identifier.
    pub cordra: Option<String>,
    /// The URN.
    pub urn: Option<String>,
    /// The ARK.
    pub ark: Option<String>,
}

impl Spellings {
    /// Those that exist, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("handle", &self.handle),
            ("hdl", &self.hdl),
            ("hdl_host", &self.hdl_host),
            ("http", &self.http),
            ("info", &self.info),
            ("doi", &self.doi),
            ("cordra", &self.cordra),
            ("urn", &self.urn),
            ("ark", &self.ark),
        ]
        .into_iter()
        .filter_map(|(name, spelling)| Some((name, spelling.as_deref()?)))
    }

    pub(crate) fn of(identifier: &Identifier<'_>, rules: &dyn Rules) -> Self {
        match identifier {
            Identifier::Ark(ark) => Self::of_ark(ark, rules),
            Identifier::Cordra(id) => {
                let uri = id.to_hdl_uri();
                Self {
                    handle: Some(id.to_string()),
                    cordra: Some(id.to_string()),
                    ..Self::of_uri(&uri, rules)
                }
            }
            Identifier::Doi(doi) => Self::of_handle(&doi.handle().to_ascii_lowercase(), rules),
            Identifier::Handle(handle) => Self {
                cordra: cordra_spelling(identifier, rules),
                ..Self::of_handle(&shown_handle(handle, rules), rules)
            },
            Identifier::Hdl(uri) => Self {
                cordra: cordra_spelling(identifier, rules),
                ..Self::of_uri(&uri.with_handle(shown_handle(uri.handle(), rules)), rules)
            },
            Identifier::Info(_) => {
                let info = identifier.canonical(rules);
                let fragment = info.find('#').and_then(|mark| info.get(mark..));
                let fragment = fragment.unwrap_or_default().to_string();
                let named = match identifier.named(rules) {
                    // The canonical form of an `info:doi/` URI is not that of the DOI: what is
                    // built from it keeps its case.
                    Some(Identifier::Doi(doi)) => Self::of_handle(doi.handle(), rules),
                    Some(named) => Self::of(&named, rules),
                    None => Self::default(),
                };
                let with_fragment = |uri: Option<String>| uri.map(|uri| uri + &fragment);
                Self {
                    hdl: with_fragment(named.hdl),
                    hdl_host: with_fragment(named.hdl_host),
                    http: with_fragment(named.http),
                    info: Some(info),
                    ..named
                }
            }
            Identifier::Urn(urn) => Self::of_urn(urn, rules),
        }
    }

    /// Those of a URI, with its query and fragment where the form has a place for them.
    fn of_uri(uri: &HdlUri<'_>, rules: &dyn Rules) -> Self {
        let plain = Self::of_handle(uri.handle(), rules);
        if uri.tail().is_empty() {
            return plain;
        }
        let mut tail = String::new();
        // Writing to a string cannot fail.
        let _ = uri.tail().write(&mut tail);
        Self {
            hdl: plain.hdl.map(|hdl| hdl + &tail),
            hdl_host: plain.hdl_host.map(|hdl| hdl + &tail),
            http: plain.http.map(|url| url + &tail),
            info: None,
            ..plain
        }
    }

    fn of_handle(handle: &Handle<'_>, rules: &dyn Rules) -> Self {
        let doi = Doi::new(handle.borrowed()).ok();
        let is_doi = doi.is_some();
        // Where there is no URI of it, as of `..`, there is no URL and no `info` URI either.
        let uri = HdlUri::new(handle.borrowed()).ok();
        let known = |resolver: &&HttpResolver| {
            if is_doi {
                resolver.serves_dois()
            } else {
                resolver.serves_handles()
            }
        };
        let resolver = printer(rules, known);
        let namespace = if is_doi { "doi" } else { "hdl" };
        Self {
            handle: Some(handle.as_str().to_string()),
            hdl_host: uri.as_ref().map(HdlUri::to_host_form),
            http: resolver.and_then(|resolver| resolver.url(handle).ok()),
            info: uri
                .as_ref()
                .map(|_| info(namespace, handle.as_str(), rules)),
            hdl: uri.map(|uri| uri.to_string()),
            doi: doi.map(|doi| doi.to_string()),
            ..Self::default()
        }
    }

    fn of_ark(ark: &Ark<'_>, rules: &dyn Rules) -> Self {
        let canonical = ark.to_string();
        let names = canonical.strip_prefix("ark:").unwrap_or_default();
        let resolver = printer(rules, |resolver| resolver.serves_arks());
        Self {
            http: resolver.map(|resolver| resolver.name_url(&canonical)),
            info: Some(info("ark", names, rules)),
            ark: Some(canonical),
            ..Self::default()
        }
    }

    fn of_urn(urn: &Urn<'_>, rules: &dyn Rules) -> Self {
        let known = |resolver: &&HttpResolver| urn.nid() == "urn-3" && resolver.serves_urns();
        let resolver = printer(rules, known);
        Self {
            http: resolver.map(|resolver| resolver.urn_url(urn)),
            urn: Some(urn.to_string()),
            ..Self::default()
        }
    }
}

/// An object of those that exist.
#[cfg(feature = "serde")]
impl serde::Serialize for Spellings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The CORDRA form of a handle, left out where case counts and the form in uppercase is another
/// name.
fn cordra_spelling(identifier: &Identifier<'_>, rules: &dyn Rules) -> Option<String> {
    let id = cordra_form(identifier)?;
    let handle = match identifier {
        Identifier::Handle(handle) => handle,
        Identifier::Hdl(uri) => uri.handle(),
        _ => return None,
    };
    let prefix = handle.prefix();
    let counts_case = rules.handle_profile(&prefix) != HandleProfile::Cordra
        && rules.case_rule(&prefix) == CaseRule::Sensitive;
    let is_same = !counts_case || handle.as_str().starts_with(id.record().as_str());
    is_same.then(|| id.to_string())
}

/// The resolver that prints the HTTP form: the first that was configured, else the first of those
/// that everybody knows and that will do.
fn printer(rules: &dyn Rules, known: impl Fn(&&HttpResolver) -> bool) -> Option<&HttpResolver> {
    rules
        .resolvers()
        .iter()
        .find(|resolver| !resolver.is_only_read())
        .or_else(|| HttpResolver::known_everywhere().iter().find(known))
}

/// The `info` URI of a literal identifier.
pub(crate) fn info(namespace: &str, identifier: &str, rules: &dyn Rules) -> String {
    let mut out = String::from("info:");
    out.push_str(namespace);
    out.push('/');
    // Writing to a string cannot fail.
    let bare = if rules.info_grammar() == InfoGrammar::Draft {
        &PCHAR
    } else {
        &PATH
    };
    let _ = percent::write_encoded(&mut out, identifier, bare);
    out
}
