//! Trying an identifier on the page of a namespace: its normalised form, whether it fits the
//! rules, whether it equals another identifier, and where it leads. The page uses the current
//! rules, and for a proposal the proposed ones.

use handfast_id::{InfoUri, InfoValidity, RuleBook};
use handfast_registry::{NamespaceEntry, Registry};
use serde_json::{Value as Json, json};

use crate::http::registry_pages::unregistered_name::UnregisteredName;
use crate::http::resolver::path::strip;

/// The longest text that is tried.
const MAX_TRIAL_TEXT: usize = 4 << 10;

/// An identifier, and perhaps a second one.
pub(super) struct Trial {
    one: Tried,
    other: Option<Tried>,
    /// Whether they are the same, if both can be read.
    equal: Option<bool>,
    /// By the rules that hold, or by those that were proposed.
    is_proposed: bool,
}

pub(super) struct Tried {
    /// As it was typed.
    pub(super) input: String,
    pub(super) outcome: Result<Read, String>,
}

pub(super) struct Read {
    pub(super) canonical: String,
    registered: Option<bool>,
    validity: &'static str,
    /// Its path at this resolver.
    pub(super) path: String,
    /// The URL from the mechanism of its namespace.
    pub(super) location: Option<String>,
}

impl Trial {
    pub(super) fn new(
        registry: &Registry,
        entry: &NamespaceEntry,
        one: &str,
        other: Option<&str>,
    ) -> Self {
        let live = registry.rule_book();
        // The rules of a proposal hold nowhere yet.
        let proposed = (!entry.was_registered())
            .then(|| entry.form.rules().ok())
            .flatten()
            .map(|rules| RuleBook::clone(&live).with_namespace(rules));
        let rules = proposed.as_ref().unwrap_or(&live);
        let mut one = Tried::new(registry, entry, one, rules);
        let mut other = other.map(|text| Tried::new(registry, entry, text, rules));
        if proposed.is_some() {
            // Not before the proposal is.
            for tried in [Some(&mut one), other.as_mut()].into_iter().flatten() {
                if let Ok(read) = &mut tried.outcome {
                    read.registered = Some(false);
                }
            }
        }
        let equal = match (&one.outcome, other.as_ref().map(|other| &other.outcome)) {
            (Ok(one), Some(Ok(other))) => Some(one.canonical == other.canonical),
            _ => None,
        };
        Self {
            one,
            other,
            equal,
            is_proposed: proposed.is_some(),
        }
    }

    pub(super) fn json(&self) -> Json {
        let mut said = self.one.json();
        if let Json::Object(said) = &mut said {
            said.insert("proposed".into(), self.is_proposed.into());
            if let Some(other) = &self.other {
                said.insert("other".into(), other.json());
                said.insert("equal".into(), self.equal.into());
            }
        }
        said
    }

    /// The texts that were tried.
    pub(super) fn tried(&self) -> impl Iterator<Item = &Tried> {
        [Some(&self.one), self.other.as_ref()].into_iter().flatten()
    }

    /// Whether the two texts are the same, in words.
    pub(super) fn comparison(&self) -> Option<&'static str> {
        Some(if self.equal? {
            "yes: their canonical forms are the same"
        } else {
            "no: their canonical forms differ"
        })
    }

    pub(super) fn is_proposed(&self) -> bool {
        self.is_proposed
    }
}

impl Tried {
    fn new(registry: &Registry, entry: &NamespaceEntry, text: &str, rules: &RuleBook) -> Self {
        let input = text.trim().to_string();
        let outcome = if input.len() > MAX_TRIAL_TEXT {
            Err("that is too long to be tried here".to_string())
        } else {
            Read::new(registry, entry, &input, rules)
        };
        Self { input, outcome }
    }

    fn json(&self) -> Json {
        match &self.outcome {
            Ok(read) => json!({
                "input": self.input,
                "canonical": read.canonical,
                "registered": read.registered,
                "validity": read.validity,
                "resolver": read.path,
                "location": read.location,
            }),
            Err(error) => json!({"input": self.input, "error": error}),
        }
    }
}

impl Read {
    fn new(
        registry: &Registry,
        entry: &NamespaceEntry,
        text: &str,
        rules: &RuleBook,
    ) -> Result<Self, String> {
        let say = |error: handfast_id::ParseError| format!("{error}: {}", error.remedy());
        let uri = if strip(text, "info:").is_some() {
            InfoUri::parse(text).map(InfoUri::into_owned).map_err(say)?
        } else {
            // As the authority writes it.
            InfoUri::new(entry.name(), text).map_err(say)?
        };
        let canonical = uri.canonical(rules).map_err(say)?;
        let validity = match uri.validate(rules) {
            InfoValidity::DoesNotFit => "does-not-fit",
            InfoValidity::Fits => "fits",
            InfoValidity::NoSyntax => "no-syntax",
            InfoValidity::NotRegistered => "not-registered",
            _ => "unknown",
        };
        let path = canonical.as_str().split('#').next().unwrap_or_default();
        Ok(Self {
            registered: canonical.registered(),
            validity,
            location: UnregisteredName::read(registry, path)
                .and_then(|unregistered| unregistered.location()),
            path: format!("/{path}"),
            canonical: canonical.as_str().to_string(),
        })
    }

    /// Whether it fits the syntax, in words.
    pub(super) fn syntax(&self) -> &'static str {
        match self.validity {
            "fits" => "fits the syntax of the namespace",
            "does-not-fit" => "does not fit the syntax of the namespace",
            "no-syntax" => "the namespace states none that a program can check",
            "not-registered" => "the namespace is not registered",
            _ => "not known",
        }
    }
}
