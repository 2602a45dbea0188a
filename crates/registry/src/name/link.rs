//! The link by which people cite a name.
//!
//! Commands, the API, exports and pages all print it, and all of them make it here.

use handfast_id::Rules;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode, utf8_percent_encode};

/// Makes the links of names, which begin with the base URL of a resolver.
///
/// ```
/// use handfast_id::{HttpResolver, RuleBook};
/// use handfast_registry::CitableLinks;
///
/// let rules = RuleBook::standard();
/// assert!(CitableLinks::configured(&rules, None).is_none());
/// let links = CitableLinks::configured(&rules, Some("https://pid.example.org")).unwrap();
/// assert_eq!(links.link("20.1000/a b"), "https://pid.example.org/20.1000/a%20b");
/// // A resolver that is configured as the one that prints names is the one to cite.
/// let rules = rules.with_resolver(HttpResolver::parse("https://hdl.example.org")?);
/// let links = CitableLinks::configured(&rules, Some("https://pid.example.org")).unwrap();
/// assert_eq!(links.link("20.1000/a"), "https://hdl.example.org/20.1000/a");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitableLinks {
    base: String,
}

impl CitableLinks {
    /// Links that begin with a base URL, which has no slash at the end.
    #[must_use]
    pub fn new(base: impl Into<String>) -> Self {
        Self { base: base.into() }
    }

    /// Links as the configuration wants them: at its first resolver, or else at its public URL.
    /// `None` if it has neither: the address of a server that nobody named is nothing to cite.
    #[must_use]
    pub fn configured(rules: &dyn Rules, public_url: Option<&str>) -> Option<Self> {
        let mut resolvers = rules.resolvers().iter();
        let resolver = resolvers.find(|resolver| !resolver.is_only_read());
        let base = resolver.map(ToString::to_string);
        base.or_else(|| public_url.map(str::to_string))
            .map(Self::new)
    }

    /// The link of a name, by its text as it was registered.
    #[must_use]
    pub fn link(&self, text: &str) -> String {
        let is_uri = URI_SCHEMES.iter().any(|scheme| {
            let start = text.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if is_uri {
            // It is a URI already, and a `%` in it begins a triplet.
            let path = percent_encode(text.as_bytes(), &NOT_IN_URIS);
            return format!("{}/{path}", self.base);
        }
        // Two slashes would begin another host.
        let path = handle_path(text.trim_start_matches('/'));
        format!("{}/{path}", self.base)
    }
}

/// The schemes of names that are URIs. All other names are handles.
const URI_SCHEMES: [&str; 3] = ["ark:", "info:", "urn:"];

/// The path of a handle at a resolver, without the first slash.
#[must_use]
pub fn handle_path(handle: &str) -> String {
    utf8_percent_encode(handle, &NOT_IN_HANDLE_PATHS).to_string()
}

/// "It leaves letters, digits and `- . _ ~ : @ / ! $ ( ) * , ; =` alone and escapes the rest."
const NOT_IN_HANDLE_PATHS: AsciiSet = all_but(b"-._~:@/!$()*,;=");
/// RFC 3986 §2: everything but unreserved and reserved characters and `%`.
const NOT_IN_URIS: AsciiSet = all_but(b"-._~:/?#[]@!$&'()*+,;=%");

/// Everything but letters, digits and some other characters.
const fn all_but(mut bare: &[u8]) -> AsciiSet {
    let mut set = NON_ALPHANUMERIC.union(AsciiSet::EMPTY);
    while let [first, rest @ ..] = bare {
        set = set.remove(*first);
        bare = rest;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_a_uri_whatever_the_name_is() {
        let links = CitableLinks::new("https://pid.example.org");
        for (text, path) in [
            ("20.1000/a/b", "20.1000/a/b"),
            ("20.1000/50% ü?#", "20.1000/50%25%20%C3%BC%3F%23"),
            // Such names come from other servers.
            ("//evil.example/x", "evil.example/x"),
            ("20.1000/<b>\"'", "20.1000/%3Cb%3E%22%27"),
            ("ark:12345/x5%2Fb", "ark:12345/x5%2Fb"),
            ("urn:urn-3:hul.ois:home", "urn:urn-3:hul.ois:home"),
            ("info:example/a<b", "info:example/a%3Cb"),
        ] {
            let expected = format!("https://pid.example.org/{path}");
            assert_eq!(links.link(text), expected);
        }
    }
}
