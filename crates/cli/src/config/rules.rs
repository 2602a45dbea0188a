//! The rules that the configuration sets for identifiers: resolvers, case, grammar, URN namespaces.

use std::borrow::Cow;

use anyhow::{Context, bail};
use handfast_id::{
    CaseRule, DelegatedGrammar, HttpResolver, InfoGrammar, NssGrammar, Pattern, RuleBook,
    UrnProfile, UrnRegistration,
};

use super::file::{ConfigFile, DefaultCase, Grammar, UrnSection};

/// The standard rules, with the changes that the configuration makes.
pub(super) fn rules(file: &ConfigFile) -> anyhow::Result<RuleBook> {
    let mut rules = RuleBook::standard();
    for resolver in &file.resolvers {
        let read = HttpResolver::parse(resolver);
        rules = rules.with_resolver(read.with_context(|| format!("resolver {resolver}"))?);
    }
    if let Some(DefaultCase::Sensitive) = file.registry.default_case {
        rules = rules.with_new_prefix_case(CaseRule::Sensitive);
    }
    if let Some(Grammar::Draft) = file.registry.grammar {
        rules = rules.with_info_grammar(InfoGrammar::Draft);
    }
    for namespace in &file.urn {
        let profile = namespace.clone().profile();
        rules = rules.with_urn_profile(profile.with_context(|| format!("urn {}", namespace.nid))?);
    }
    Ok(rules)
}

impl UrnSection {
    fn profile(self) -> anyhow::Result<UrnProfile> {
        let grammar = match (self.delegated, self.pattern, self.characters) {
            (true, Some(_), _) => bail!("a namespace is delegated or has a pattern, not both"),
            (true, None, Some(extra)) => NssGrammar::Delegated(DelegatedGrammar::new(&extra)?),
            (true, None, None) => NssGrammar::harvard(),
            (false, _, Some(_)) => {
                bail!("characters are those of authority names: set delegated = true")
            }
            (false, Some(pattern), None) => NssGrammar::Matching(Pattern::new(&pattern)?),
            (false, None, None) => NssGrammar::Any,
        };
        let registration = UrnRegistration {
            registrant: Cow::Owned(self.registrant),
            affiliation: Cow::Owned(self.affiliation),
            address: Cow::Owned(self.address),
            contact: Cow::Owned(self.contact),
            version: Cow::Owned(self.registration),
            date: Cow::Owned(self.date),
        };
        let profile = UrnProfile::new(&self.nid, grammar)?;
        Ok(profile
            .ignoring_case(self.ignore_case)
            .with_registration(registration))
    }
}

#[cfg(test)]
mod tests {
    use handfast_id::{Rules, Urn};

    use super::*;

    fn read(text: &str) -> anyhow::Result<RuleBook> {
        rules(&toml::from_str(text)?)
    }

    #[test]
    fn urn_10_namespaces_are_configured_not_coded() {
        let rules = read(
            r#"
            version = "v1"
            resolvers = ["https://hdl.example.org"]
            [[urn]]
            nid = "urn-42"
            delegated = true
            ignore-case = true
            [[urn]]
            nid = "isbn"
            pattern = "[0-9]{13}"
            "#,
        )
        .unwrap();
        let urn = Urn::parse_with("urn:urn-42:LIB.Maps:Atlas", &rules).unwrap();
        assert_eq!(urn.to_string(), "urn:urn-42:lib.maps:atlas");
        assert!(Urn::parse_with("urn:isbn:1", &rules).is_err());
        assert_eq!(rules.resolvers().len(), 1);
        // Somebody else can be named as the registrant of one that the program knows.
        let rules = read(
            r#"
            version = "v1"
            [[urn]]
            nid = "urn-3"
            delegated = true
            ignore-case = true
            registrant = "A. Successor"
            registration = "2"
            date = "2030-01-01"
            "#,
        )
        .unwrap();
        let registration = rules.urn_profile("urn-3").unwrap().registration();
        assert_eq!(
            [&registration.registrant, &registration.version],
            ["A. Successor", "2"]
        );
        let urn = Urn::parse_with("urn:urn-3:HUL.OIS:Home", &rules).unwrap();
        assert_eq!(urn.to_string(), "urn:urn-3:hul.ois:home");
    }

    #[test]
    fn hdl_6_info_3_the_registry_has_a_default_case_and_a_grammar() {
        let text =
            "version = \"v1\"\n[registry]\ndefault-case = \"sensitive\"\ngrammar = \"draft\"";
        let rules = read(text).unwrap();
        assert_eq!(rules.new_prefix_case(), CaseRule::Sensitive);
        assert_eq!(rules.info_grammar(), InfoGrammar::Draft);
        let rules = read("version = \"v1\"").unwrap();
        assert_eq!(rules.new_prefix_case(), CaseRule::AsciiInsensitive);
        assert!(read("version = \"v1\"\n[registry]\ndefault-case = \"upper\"").is_err());
    }

    #[test]
    fn the_reference_file_can_be_read_with_its_examples() {
        let reference = include_str!("../../../../etc/handfast.toml");
        assert!(read(reference).is_ok());
        let example = |line: &&str| line.starts_with("# [") || line.contains(" = ");
        let lines = reference
            .lines()
            .filter(example)
            .map(|line| line.trim_start_matches("# "));
        let mut text: Vec<&str> = lines.filter(|line| !line.starts_with("pattern")).collect();
        text.dedup();
        assert!(read(&text.join("\n")).is_ok(), "{}", text.join("\n"));
    }

    /// The console shows lines to paste; a folder without a file gets one with those lines alone,
    /// and the server did not start any more.
    #[test]
    fn a_file_may_leave_out_its_version() {
        let web = "[web]\npublic-url = \"https://id.library.example\"\n";
        assert!(read(web).is_ok());
        let acme = "[web.acme]\ndomains = [\"id.library.example\"]\n\
                    contact = [\"ops@library.example\"]\nagree-terms = true";
        assert!(read(&format!("{web}{acme}")).is_ok());
    }

    #[test]
    fn what_is_not_known_is_an_error_that_names_it() {
        for (text, named) in [
            ("version = \"v2\"", "v2"),
            ("version = \"v1\"\nresolver = []", "resolver"),
            (
                "version = \"v1\"\n[[urn]]\nnid = \"x\"",
                "namespace identifier",
            ),
            (
                "version = \"v1\"\n[[urn]]\nnid = \"xy\"\ndelegated = true\npattern = \"x\"",
                "not both",
            ),
        ] {
            let error = read(text).err().unwrap();
            assert!(format!("{error:#}").contains(named), "{error:#}");
        }
    }
}
