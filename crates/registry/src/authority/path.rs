//! Paths of authorities.

use std::fmt;
use std::str::FromStr;

use handfast_id::{
    Ark, Doi, Identifier, NssGrammar, ParseError, Prefix, Rules, Scheme, Standard, Urn, UrnProfile,
    is_trimmed, recognise,
};
use serde::{Deserialize, Serialize};

/// The path of an authority: a prefix, a URN authority path, an `info` namespace, an ARK authority
/// number, or the root of a scheme.
///
/// People write `20.500` or `0.NA/20.500`, `urn:urn-3:HUL.OIS`, `urn:urn-3` (the root of the
/// namespace), `info:lccn`, `ark:12025`. Two paths are equal if their [keys](Self::key) are.
///
/// ```
/// use handfast_id::Standard;
/// use handfast_registry::AuthorityPath;
///
/// let path = AuthorityPath::parse("urn:urn-3:HUL.OIS", &Standard)?;
/// assert_eq!(path.key(), "urn:urn-3:hul.ois");
/// assert_eq!(path.parent().unwrap().to_string(), "urn:urn-3:HUL");
/// # Ok::<_, handfast_registry::PathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AuthorityPath {
    text: String,
    key: String,
}

impl AuthorityPath {
    /// Reads a path as people write it.
    pub fn parse(text: &str, rules: &dyn Rules) -> Result<Self, PathError> {
        if let Some(rest) = strip(text, "urn:") {
            return Self::parse_urn(rest, rules);
        }
        if text.eq_ignore_ascii_case("info:") {
            return Ok(Self::info_root());
        }
        if let Some(name) = strip(text, "info:") {
            let key = handfast_id::Namespace::new(name)?.name().to_string();
            return Ok(Self::canonical(format!("info:{key}")));
        }
        if let Some(naan) = strip(text, "ark:") {
            let naan = naan.trim_matches('/').to_ascii_lowercase();
            Ark::parse(&format!("ark:{naan}/x"))?;
            return Ok(Self::canonical(format!("ark:{naan}")));
        }
        if let Some(prefix) = strip(text, "hdl:") {
            return Self::parse_hdl(prefix);
        }
        if let Some(prefix) = strip(text, "doi:") {
            if prefix.contains(['?', '#']) {
                return Self::parse_hdl(prefix);
            }
            let prefix = Prefix::parse(prefix)?;
            if !prefix.is_doi() {
                Doi::parse(&format!("doi:{prefix}/x"))?;
            }
            return Ok(Self::of_prefix(&prefix));
        }
        if !is_trimmed(text) {
            let authority = text.trim().trim_matches(['<', '>', '[', ']', '"']);
            return Err(PathError::Wrapped {
                authority: authority.trim().to_string(),
            });
        }
        let prefix = strip(text, "0.NA/").unwrap_or(text);
        if let Some((authority, _)) = prefix.split_once('/')
            && !begins_with_scheme(prefix)
            && Prefix::parse(authority).is_ok()
        {
            return Err(PathError::Name {
                authority: authority.to_string(),
            });
        }
        let prefix = Prefix::parse(prefix)?;
        if begins_with_scheme(prefix.as_str()) {
            // A text that begins like a URI of another scheme is never a prefix: its names could
            // not be parsed (§7).
            Scheme::from_str(prefix.as_str())?;
        }
        Ok(Self::of_prefix(&prefix))
    }

    /// A path whose text is its key.
    fn canonical(key: String) -> Self {
        Self {
            text: key.clone(),
            key,
        }
    }

    /// Reads the text after `hdl:` as the part of a URI in front of the suffix: it decodes
    /// triplets, and rejects a query or fragment, which is no part of the prefix (`CID-14`).
    fn parse_hdl(text: &str) -> Result<Self, PathError> {
        let end = text.find(['?', '#']).unwrap_or(text.len());
        let (prefix, tail) = text.split_at_checked(end).unwrap_or((text, ""));
        // What has no suffix is no URI.
        let probe = format!("hdl:{prefix}/x{tail}");
        let found = recognise(&probe, &Standard)?;
        found.check_whole(&Standard)?;
        match &found.identifier {
            Identifier::Hdl(uri) if uri.handle().suffix() == "x" => {
                Ok(Self::of_prefix(&uri.handle().prefix()))
            }
            _ => Ok(Self::of_prefix(&Prefix::parse(prefix)?)),
        }
    }

    fn parse_urn(text: &str, rules: &dyn Rules) -> Result<Self, PathError> {
        let (nid, path) = text.split_once(':').unwrap_or((text, ""));
        let nid = nid.to_ascii_lowercase();
        UrnProfile::new(&nid, NssGrammar::Any)?;
        if path.is_empty() {
            return Ok(Self::canonical(format!("urn:{nid}")));
        }
        // A colon would start a name, and the rights would be on another authority than the
        // intended one.
        if let Some(colon) = path.find(':') {
            return Err(PathError::Colon {
                authority: format!("urn:{nid}:{}", path.get(..colon).unwrap_or_default()),
            });
        }
        // CID-14: what would be cut off is refused.
        if let Some(end) = path.find(['?', '#']) {
            let (path, tail) = path.split_at_checked(end).unwrap_or((path, ""));
            let probe = format!("urn:{nid}:{path}:x{tail}");
            recognise(&probe, rules)?.check_whole(rules)?;
        }
        // The grammar of a path is that of the names in it.
        let probe = format!("urn:{nid}:{path}:x");
        let urn = Urn::parse_with(&probe, rules)?;
        if urn.authority_path().is_none() {
            return Err(PathError::NotDelegated { nid });
        }
        Ok(Self::of_urn(&urn))
    }

    /// The root of `info`, which has no names: roles on it are roles in the registry of namespaces.
    #[must_use]
    pub fn info_root() -> Self {
        Self::canonical("info:".to_string())
    }

    /// The authority of a prefix.
    #[must_use]
    pub fn of_prefix(prefix: &Prefix<'_>) -> Self {
        let text = prefix.as_str().to_string();
        Self {
            key: format!("hdl:{}", text.to_ascii_uppercase()),
            text,
        }
    }

    fn of_urn(urn: &Urn<'_>) -> Self {
        let canonical = urn.to_string();
        let Some(path) = urn.authority_path() else {
            return Self::canonical(format!("urn:{}", urn.nid()));
        };
        let path: Vec<_> = path.collect();
        let text = format!("urn:{}:{}", urn.nid(), path.join("."));
        let key = canonical.get(..text.len()).unwrap_or_default().to_string();
        Self { text, key }
    }

    /// The authority that an identifier belongs to. The record `0.NA/P` belongs to `P` itself.
    #[must_use]
    pub fn of(identifier: &Identifier<'_>, rules: &dyn Rules) -> Self {
        let named = identifier.named(rules);
        match named.as_ref().unwrap_or(identifier) {
            Identifier::Ark(ark) => {
                Self::canonical(format!("ark:{}", ark.naan().to_ascii_lowercase()))
            }
            Identifier::Info(uri) => Self::canonical(format!("info:{}", uri.namespace())),
            Identifier::Urn(urn) => Self::of_urn(urn),
            Identifier::Cordra(id) => Self::of_prefix(&id.naming_authority()),
            Identifier::Doi(doi) => Self::of_prefix(&doi.handle().prefix()),
            Identifier::Handle(handle) => Self::of_handle(handle),
            Identifier::Hdl(uri) => Self::of_handle(uri.handle()),
        }
    }

    fn of_handle(handle: &handfast_id::Handle<'_>) -> Self {
        let prefix = handle.prefix();
        match Prefix::parse(handle.suffix()) {
            Ok(named) if prefix.as_str().eq_ignore_ascii_case("0.NA") => Self::of_prefix(&named),
            _ => Self::of_prefix(&prefix),
        }
    }

    /// The full name for a local name, which stays unchanged (`HDL-10`).
    ///
    /// ```
    /// # use handfast_id::Standard;
    /// # use handfast_registry::AuthorityPath;
    /// let maps = AuthorityPath::parse("20.1000", &Standard)?;
    /// assert_eq!(maps.name("shelf/7"), "20.1000/shelf/7");
    /// # Ok::<_, handfast_registry::PathError>(())
    /// ```
    #[must_use]
    pub fn name(&self, local: &str) -> String {
        let mark = if self.is_urn() { ':' } else { '/' };
        format!("{self}{mark}{local}")
    }

    /// The start of the keys of its names.
    #[must_use]
    pub(crate) fn start_of_names(&self) -> String {
        let mark = if self.is_urn() { ':' } else { '/' };
        format!("{}{mark}", self.key)
    }

    /// Whether an authority, given by its key, is this one or derives from it.
    #[must_use]
    pub(crate) fn is_above(&self, key: &str) -> bool {
        match key.strip_prefix(&self.key) {
            Some(rest) => rest.is_empty() || rest.starts_with(['.', ':']),
            None => false,
        }
    }

    /// Its key in the store.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The path that it derives from: the prefix or authority path without its last part. The
    /// parent of a one-part URN authority path is the root of its namespace. `None` for a root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        // In front of the text of a prefix there is no scheme, which only moves where it begins.
        let key = parent_key(&self.key)?;
        let shorter = self.key.len() - key.len();
        Some(Self {
            text: self
                .text
                .get(..self.text.len().checked_sub(shorter)?)?
                .to_string(),
            key: key.to_string(),
        })
    }

    /// The prefix, if it is one.
    #[must_use]
    pub fn prefix(&self) -> Option<Prefix<'_>> {
        self.key.strip_prefix("hdl:")?;
        Prefix::parse(&self.text).ok()
    }

    /// Whether it is the root of a URN namespace that delegates.
    #[must_use]
    pub fn is_delegating_root(&self, rules: &dyn Rules) -> bool {
        let nid = self
            .key
            .strip_prefix("urn:")
            .filter(|nid| !nid.contains(':'));
        nid.and_then(|nid| rules.urn_profile(nid))
            .is_some_and(UrnProfile::is_delegated)
    }

    /// The `info` namespace, if it is the authority of one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        let name = self.key.strip_prefix("info:")?;
        (!name.is_empty()).then_some(name)
    }

    /// Whether it is a path in a URN namespace.
    #[must_use]
    pub fn is_urn(&self) -> bool {
        self.key.starts_with("urn:")
    }
}

/// The text is not the path of an authority.
///
/// ```
/// use handfast_id::Standard;
/// use handfast_registry::{AuthorityPath, PathError};
///
/// let error = AuthorityPath::parse("urn:isbn:978", &Standard).unwrap_err();
/// assert!(matches!(error, PathError::NotDelegated { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A `:` in a URN authority path. Only a name can follow it.
    #[error("an authority path has no `:`; did you mean {authority}?")]
    Colon {
        /// The authority in front of the colon.
        authority: String,
    },
    /// The text is a name, not an authority.
    #[error("this is a name, and an authority has no `/`; did you mean {authority}?")]
    Name {
        /// The authority of the name.
        authority: String,
    },
    /// The URN namespace has no authority paths.
    #[error("urn:{nid} has no authority paths")]
    NotDelegated {
        /// The namespace identifier.
        nid: String,
    },
    /// White space, or a pair of brackets or quotation marks, surrounds a prefix.
    #[error("an authority stands without anything around it; did you mean {authority}?")]
    Wrapped {
        /// The authority inside.
        authority: String,
    },
    /// The text does not have the form of a path.
    #[error(transparent)]
    Syntax(#[from] ParseError),
}

/// The key of the authority that one derives from: see [`AuthorityPath::parent`].
pub(crate) fn parent_key(key: &str) -> Option<&str> {
    let start = key.rfind(':').map_or(0, |colon| colon + 1);
    let is_urn_path = || {
        key.strip_prefix("urn:")
            .is_some_and(|rest| rest.contains(':'))
    };
    match key.get(start..)?.rfind('.') {
        Some(dot) => key.get(..start + dot),
        None if is_urn_path() => key.get(..start.checked_sub(1)?),
        None => None,
    }
}

/// Whether a text begins like a URI: `[A-Za-z][A-Za-z0-9+.-]*:`.
pub(crate) fn begins_with_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
}

fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

impl fmt::Display for AuthorityPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> AuthorityPath {
        AuthorityPath::parse(text, &Standard).unwrap()
    }

    #[test]
    fn paths_are_found_in_any_case() {
        assert_eq!(path("20.ab").key(), "hdl:20.AB");
        assert_eq!(path("0.na/20.AB").key(), "hdl:20.AB");
        assert_eq!(path("URN:URN-3:Hul.OIS").key(), "urn:urn-3:hul.ois");
        assert_eq!(path("urn:isbn").key(), "urn:isbn");
        assert_eq!(path("INFO:LCCN").key(), "info:lccn");
    }

    #[test]
    fn hdl_2_urn_5_parents() {
        let parents = |text: &str| {
            let mut keys = Vec::new();
            let mut next = path(text).parent();
            while let Some(parent) = next {
                keys.push(parent.key().to_string());
                next = parent.parent();
            }
            keys
        };
        assert_eq!(parents("20.500.1"), ["hdl:20.500", "hdl:20"]);
        assert_eq!(parents("urn:urn-3:HUL.OIS"), ["urn:urn-3:hul", "urn:urn-3"]);
        assert!(parents("urn:urn-3").is_empty());
        assert!(parents("info:lccn").is_empty());
        assert!(path("urn:urn-3").is_delegating_root(&Standard));
        assert!(!path("urn:isbn").is_delegating_root(&Standard));
    }

    #[test]
    fn names_belong_to_their_authority() {
        let of =
            |text| AuthorityPath::of(&recognise(text, &Standard).unwrap().identifier, &Standard);
        assert_eq!(of("hdl:20.1000/x").key(), "hdl:20.1000");
        assert_eq!(of("info:doi/10.1/x").key(), "hdl:10.1");
        assert_eq!(of("0.NA/20.1000").key(), "hdl:20.1000");
        assert_eq!(of("urn:urn-3:HUL.OIS:Home").key(), "urn:urn-3:hul.ois");
        assert_eq!(of("urn:isbn:1").key(), "urn:isbn");
        assert_eq!(of("info:lccn/1").key(), "info:lccn");
        assert_eq!(of("ark:12025/x").key(), "ark:12025");
    }

    /// A grant on `urn:urn-3:HBS.X:secret` was one on all of `HBS.X`.
    #[test]
    fn urn_2_a_colon_in_an_authority_path_is_refused() {
        for text in ["urn:urn-3:HBS.X:Y", "urn:urn-3:A:", "urn:urn-3:A:B.C"] {
            let error = AuthorityPath::parse(text, &Standard).unwrap_err();
            assert!(matches!(error, PathError::Colon { .. }), "{text}");
        }
    }

    /// `authority create hdl:20.79` made a prefix that was called `hdl:20.79`.
    #[test]
    fn hdl_2_schemes_in_front_of_a_prefix_are_no_part_of_it() {
        for (text, key) in [
            ("hdl:20.79", "hdl:20.79"),
            ("HDL://20.79", "hdl:20.79"),
            ("doi:10.5555", "hdl:10.5555"),
            ("20:79", "hdl:20:79"),
        ] {
            assert_eq!(path(text).key(), key);
        }
        for text in [
            "doi:20.79",
            "foo:20.79",
            "http://20.79",
            "hdl:20.79/x",
            "hdl:",
            "0.NA/x:1",
        ] {
            assert!(AuthorityPath::parse(text, &Standard).is_err(), "{text}");
        }
    }

    /// Guards: `authority create hdl:20%2E90` made the prefix `20%2E90`, and `hdl:20.1?x` the
    /// prefix `20.1?x`.
    #[test]
    fn uri_2_authorities_behind_hdl_are_read_as_uris() {
        for (text, key) in [
            ("hdl:20%2E90", "hdl:20.90"),
            ("hdl://20%2e90", "hdl:20.90"),
            ("hdl:b%C3%BC", "hdl:Bü"),
        ] {
            assert_eq!(path(text).key(), key);
        }
        for (text, code) in [
            ("hdl:20.1?x", "has-query"),
            ("hdl:20.91#x", "has-fragment"),
            ("hdl://20.92?q", "has-query"),
            ("doi:10.93?x", "has-query"),
            ("doi:10.93#x", "has-fragment"),
        ] {
            match AuthorityPath::parse(text, &Standard) {
                Err(PathError::Syntax(error)) => assert_eq!(error.code(), code, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["hdl:20.1%2Fx", "hdl:20.1%zz", "hdl:20 1", "hdl:?x"] {
            assert!(AuthorityPath::parse(text, &Standard).is_err(), "{text}");
        }
        for text in ["urn:urn-3:HBS.Z#f", "urn:urn-3:HBS.Z?=q"] {
            match AuthorityPath::parse(text, &Standard) {
                Err(PathError::Syntax(error)) => assert!(error.code().starts_with("has-")),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["20.84/x", "0.NA/20.84/x"] {
            let error = AuthorityPath::parse(text, &Standard).unwrap_err();
            assert!(error.to_string().contains("mean 20.84?"), "{error}");
        }
        for text in ["<20.96>", " 20.96", "[20.96]", "\"20.96\""] {
            let error = AuthorityPath::parse(text, &Standard).unwrap_err();
            assert!(error.to_string().contains("mean 20.96?"), "{error}");
        }
    }

    #[test]
    fn a_path_derives_from_a_shorter_one() {
        for (key, parent) in [
            ("urn:urn-3:hul.ois", Some("urn:urn-3:hul")),
            ("urn:urn-3:hul", Some("urn:urn-3")),
            ("urn:urn-3", None),
            ("hdl:20.9.1", Some("hdl:20.9")),
            ("hdl:20", None),
            ("hdl:20:79.5", Some("hdl:20:79")),
            ("info:x", None),
        ] {
            assert_eq!(parent_key(key), parent, "{key}");
        }
        assert_eq!(path("20.A.b").parent().unwrap().to_string(), "20.A");
    }

    #[test]
    fn bad_paths_are_refused() {
        for text in [
            "",
            "20..1",
            "urn:x",
            "urn:urn-3:HUL..X",
            "urn:urn-3:H&L",
            "info:1",
            "ark:e",
        ] {
            assert!(AuthorityPath::parse(text, &Standard).is_err(), "{text}");
        }
    }
}
