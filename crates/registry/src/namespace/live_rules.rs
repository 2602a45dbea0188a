//! The current rules, for code that reads identifiers and changes nothing.

use std::sync::Arc;

use handfast_id::{
    CaseRule, HandleProfile, HttpResolver, InfoGrammar, NamespaceLookup, Prefix, RuleBook, Rules,
    UrnProfile,
};

use crate::lookup::fast_path::KnownPrefix;
use crate::registry::Registry;

/// The rules of a registry: case rule and profile of its prefixes, the live entries of the `info`
/// registry, and the configured rules.
///
/// A new authority counts at once; the entries are those at the time of the call.
pub struct LiveRules<'r> {
    registry: &'r Registry,
    rules: Arc<RuleBook>,
    info_grammar: InfoGrammar,
    /// Resolvers that replace those of the registry.
    resolvers: Option<Vec<HttpResolver>>,
}

impl Registry {
    /// The current rules.
    #[must_use]
    pub fn rules(&self) -> LiveRules<'_> {
        let rules = self.rules.public_rules(self.time());
        LiveRules {
            registry: self,
            info_grammar: rules.info_grammar(),
            rules,
            resolvers: None,
        }
    }

    /// The current rules of `info` URIs and URNs, without those of authorities, for testing others
    /// with them.
    #[must_use]
    pub fn rule_book(&self) -> Arc<RuleBook> {
        self.rules.public_rules(self.time())
    }

    /// The URN namespaces that have rules of their own.
    #[must_use]
    pub fn urn_profiles(&self) -> Vec<UrnProfile> {
        self.rules
            .base
            .urn_profiles()
            .into_iter()
            .cloned()
            .collect()
    }

    /// Sets the base URLs of this server: names are recognised there, too (`URI-13`), directly
    /// after the host and after `hdl/`.
    pub fn set_own_urls(&self, bases: &[String]) {
        self.rules.set_own_urls(bases);
    }
}

impl LiveRules<'_> {
    /// The rules with another grammar of `info` URIs.
    #[must_use]
    pub fn with_info_grammar(self, info_grammar: InfoGrammar) -> Self {
        Self {
            info_grammar,
            ..self
        }
    }

    /// The rules with one more resolver. The first one that may be printed is used for printing.
    #[must_use]
    pub fn with_resolver(mut self, resolver: HttpResolver) -> Self {
        let mut resolvers = self.resolvers().to_vec();
        resolvers.push(resolver);
        self.resolvers = Some(resolvers);
        self
    }

    fn known(&self, prefix: &Prefix<'_>) -> Option<KnownPrefix> {
        let upper = prefix.as_str().to_ascii_uppercase();
        // A lookup of the name reports the damage.
        self.registry.known_prefix(&upper).ok().flatten()
    }
}

impl Rules for LiveRules<'_> {
    fn case_rule(&self, prefix: &Prefix<'_>) -> CaseRule {
        let known = self.known(prefix).map(|known| known.case);
        known.unwrap_or_else(|| self.rules.case_rule(prefix))
    }

    fn knows(&self, prefix: &Prefix<'_>) -> bool {
        self.known(prefix).is_some() || self.rules.knows(prefix)
    }

    fn handle_profile(&self, prefix: &Prefix<'_>) -> HandleProfile {
        let known = self.known(prefix).map(|known| known.profile);
        known.unwrap_or_else(|| self.rules.handle_profile(prefix))
    }

    fn urn_profile(&self, nid: &str) -> Option<&UrnProfile> {
        self.rules.urn_profile(nid)
    }

    fn info_grammar(&self) -> InfoGrammar {
        self.info_grammar
    }

    fn namespace(&self, name: &str) -> NamespaceLookup<'_> {
        self.rules.namespace(name)
    }

    fn resolvers(&self) -> &[HttpResolver] {
        match &self.resolvers {
            Some(resolvers) => resolvers,
            None => self.registry.rules.resolvers(),
        }
    }
}
