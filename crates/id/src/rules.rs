//! The context: everything about identifiers that comes from outside.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::handle::CaseRule;
use crate::http::HttpResolver;
use crate::info::InfoGrammar;
use crate::namespace::{Namespace, NamespaceLookup, Namespaces};
use crate::prefix::Prefix;
use crate::urn_profile::UrnProfile;

/// The context of reading and comparing identifiers: the case rule and profile of a prefix, URN
/// profiles, the `info` registry, and HTTP resolvers.
///
/// Every method has a sensible default; [`Standard`] takes them all, [`RuleBook`] lets each be set.
/// A server implements the trait over its own authorities.
///
/// ```
/// use handfast_id::{CaseRule, Identifier, Prefix, Rules, recognise};
///
/// struct Ours;
/// impl Rules for Ours {
///     fn case_rule(&self, prefix: &Prefix<'_>) -> CaseRule {
///         if prefix.as_str() == "20.1000" { CaseRule::Sensitive } else { CaseRule::default() }
///     }
/// }
///
/// let id = recognise("hdl:20.1000/abc", &Ours)?.identifier;
/// assert_eq!(id.key(&Ours).as_str(), "hdl:20.1000/abc");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
pub trait Rules {
    /// The case rule of the suffixes under a prefix. Where the Handle System knows better
    /// (`10`, `10.*`, `0.*`), and under a `cordra` profile, the answer does not count.
    fn case_rule(&self, prefix: &Prefix<'_>) -> CaseRule {
        let _ = prefix;
        CaseRule::AsciiInsensitive
    }

    /// Whether the rules of a prefix are known. Of one that is not, handles that differ in case are
    /// not called equal, though they are looked up alike (`HDL-6`).
    fn knows(&self, prefix: &Prefix<'_>) -> bool {
        let _ = prefix;
        false
    }

    /// The profile of the names under a prefix (`CID-10`, `CID-12`).
    fn handle_profile(&self, prefix: &Prefix<'_>) -> HandleProfile {
        let _ = prefix;
        HandleProfile::Handle
    }

    /// The profile of a URN namespace, whose NID is in lowercase.
    fn urn_profile(&self, nid: &str) -> Option<&UrnProfile> {
        standard_urn_profile(nid)
    }

    /// By which grammar `info` URIs are read.
    fn info_grammar(&self) -> InfoGrammar {
        InfoGrammar::Rfc4452
    }

    /// The entry of the `info` registry for a namespace, whose name is in lowercase. The default is
    /// the registry that ships with the crate; without the feature `historical`, none.
    fn namespace(&self, name: &str) -> NamespaceLookup<'_> {
        shipped_namespace(name)
    }

    /// The HTTP resolvers that were configured, beside those that everybody knows. The first of
    /// them prints the HTTP form.
    fn resolvers(&self) -> &[HttpResolver] {
        &[]
    }
}

/// The form of the names under a prefix (`CID-10`).
///
/// ```
/// use handfast_id::{HandleProfile, RuleBook, recognise, Prefix};
///
/// let prefix = Prefix::parse("100.102")?;
/// let rules = RuleBook::standard().with_profile(&prefix, HandleProfile::Cordra);
/// let with_query = recognise("hdl:100.102/F58FB49EB1F848f0A606E84CEF294BE5?x", &rules)?;
/// let key = with_query.identifier.key(&rules);
/// assert_eq!(key.as_str(), "hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HandleProfile {
    /// CORDRA identifiers: paths in uppercase in every interface (`CID-11`), query and fragment not
    /// part of the name of the record (`CID-8`).
    Cordra,
    /// Any handle.
    #[default]
    Handle,
}

/// The defaults of [`Rules`].
///
/// ```
/// use handfast_id::{Standard, recognise};
///
/// assert!(recognise("urn-3:HUL.OIS:Home", &Standard).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl Rules for Standard {}

/// Rules that are set one by one.
///
/// ```
/// use handfast_id::{CaseRule, HttpResolver, InfoGrammar, Prefix, RuleBook};
///
/// let rules = RuleBook::standard()
///     .with_case_rule(&Prefix::parse("20.1000")?, CaseRule::Sensitive)
///     .with_resolver(HttpResolver::parse("https://hdl.example.org")?)
///     .with_info_grammar(InfoGrammar::Draft)
///     .without_registry();
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RuleBook {
    /// By the prefix in ASCII uppercase.
    prefixes: BTreeMap<String, PrefixRules>,
    urn_profiles: BTreeMap<String, UrnProfile>,
    info_grammar: InfoGrammar,
    registry: Registry,
    resolvers: Vec<HttpResolver>,
    new_prefix_case: CaseRule,
}

#[derive(Clone, Copy, Debug, Default)]
struct PrefixRules {
    case: CaseRule,
    profile: HandleProfile,
}

#[derive(Clone, Debug, Default)]
enum Registry {
    #[default]
    Shipped,
    Given(Namespaces),
    Unavailable,
}

impl RuleBook {
    /// The same as [`Standard`].
    #[must_use]
    pub fn standard() -> Self {
        Self::default()
    }

    /// Sets the case rule of the names directly under a prefix.
    #[must_use]
    pub fn with_case_rule(mut self, prefix: &Prefix<'_>, case: CaseRule) -> Self {
        self.rules_of(prefix).case = case;
        self
    }

    /// Sets the profile of the names directly under a prefix.
    #[must_use]
    pub fn with_profile(mut self, prefix: &Prefix<'_>, profile: HandleProfile) -> Self {
        self.rules_of(prefix).profile = profile;
        self
    }

    /// Adds the profile of a URN namespace, or replaces it.
    #[must_use]
    pub fn with_urn_profile(mut self, profile: UrnProfile) -> Self {
        self.urn_profiles.insert(profile.nid().to_string(), profile);
        self
    }

    /// Sets the grammar of `info` URIs.
    #[must_use]
    pub fn with_info_grammar(mut self, info_grammar: InfoGrammar) -> Self {
        self.info_grammar = info_grammar;
        self
    }

    /// Takes another registry in place of the one that ships with the crate.
    #[must_use]
    pub fn with_registry(mut self, registry: Namespaces) -> Self {
        self.registry = Registry::Given(registry);
        self
    }

    /// Adds an entry to the registry, or replaces it.
    #[must_use]
    pub fn with_namespace(mut self, entry: Namespace) -> Self {
        let mut registry = match self.registry {
            Registry::Given(registry) => registry,
            Registry::Shipped => shipped_namespaces(),
            Registry::Unavailable => Namespaces::default(),
        };
        registry.insert(entry);
        self.registry = Registry::Given(registry);
        self
    }

    /// Does without a registry (`INFO-7`).
    #[must_use]
    pub fn without_registry(mut self) -> Self {
        self.registry = Registry::Unavailable;
        self
    }

    /// Adds an HTTP resolver. The first one added prints the HTTP form.
    #[must_use]
    pub fn with_resolver(mut self, resolver: HttpResolver) -> Self {
        self.resolvers.push(resolver);
        self
    }

    /// The profiles of URN namespaces, by NID.
    #[must_use]
    pub fn urn_profiles(&self) -> Vec<&UrnProfile> {
        let harvard = UrnProfile::harvard();
        let shipped = (!self.urn_profiles.contains_key(harvard.nid())).then_some(harvard);
        let mut all: Vec<_> = shipped
            .into_iter()
            .chain(self.urn_profiles.values())
            .collect();
        all.sort_by_key(|profile| profile.nid());
        all
    }

    /// Sets the case rule that new prefixes get unless they choose one (`HDL-6`).
    #[must_use]
    pub fn with_new_prefix_case(mut self, new_prefix_case: CaseRule) -> Self {
        self.new_prefix_case = new_prefix_case;
        self
    }

    /// The case rule that new prefixes get unless they choose one.
    #[must_use]
    pub fn new_prefix_case(&self) -> CaseRule {
        self.new_prefix_case
    }

    fn rules_of(&mut self, prefix: &Prefix<'_>) -> &mut PrefixRules {
        self.prefixes
            .entry(prefix.as_str().to_ascii_uppercase())
            .or_default()
    }

    fn find(&self, prefix: &Prefix<'_>) -> PrefixRules {
        if self.prefixes.is_empty() {
            return PrefixRules::default();
        }
        self.prefixes
            .get(&prefix.as_str().to_ascii_uppercase())
            .copied()
            .unwrap_or_default()
    }
}

impl Rules for RuleBook {
    fn case_rule(&self, prefix: &Prefix<'_>) -> CaseRule {
        self.find(prefix).case
    }

    fn knows(&self, prefix: &Prefix<'_>) -> bool {
        self.prefixes
            .contains_key(&prefix.as_str().to_ascii_uppercase())
    }

    fn handle_profile(&self, prefix: &Prefix<'_>) -> HandleProfile {
        self.find(prefix).profile
    }

    fn urn_profile(&self, nid: &str) -> Option<&UrnProfile> {
        self.urn_profiles
            .get(nid)
            .or_else(|| standard_urn_profile(nid))
    }

    fn info_grammar(&self) -> InfoGrammar {
        self.info_grammar
    }

    fn namespace(&self, name: &str) -> NamespaceLookup<'_> {
        match &self.registry {
            Registry::Given(registry) => registry.lookup(name),
            Registry::Shipped => shipped_namespace(name),
            Registry::Unavailable => NamespaceLookup::Unavailable,
        }
    }

    fn resolvers(&self) -> &[HttpResolver] {
        &self.resolvers
    }
}

fn standard_urn_profile(nid: &str) -> Option<&'static UrnProfile> {
    let harvard = UrnProfile::harvard();
    (harvard.nid() == nid).then_some(harvard)
}

#[cfg(feature = "historical")]
fn shipped_namespace(name: &str) -> NamespaceLookup<'static> {
    Namespaces::historical().lookup(name)
}

#[cfg(not(feature = "historical"))]
fn shipped_namespace(_name: &str) -> NamespaceLookup<'static> {
    NamespaceLookup::Unavailable
}

#[cfg(feature = "historical")]
fn shipped_namespaces() -> Namespaces {
    Namespaces::historical().clone()
}

#[cfg(not(feature = "historical"))]
fn shipped_namespaces() -> Namespaces {
    Namespaces::default()
}
