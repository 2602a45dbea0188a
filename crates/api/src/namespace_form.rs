//! The entry of a namespace, as its authority fills it in.

use handfast_id::{
    Fold, Namespace, NamespaceError, NamespaceExample, NamespaceRecord, Pattern, StepError, Steps,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::limits;
use crate::words::words;

/// The form that an authority fills in: everything that a proposal holds, and that its owner can
/// change later.
///
/// The stored text of an entry, to which events commit, has the members in this order.
///
/// ```
/// use handfast_api::NamespaceForm;
///
/// let form = NamespaceForm::from_json(
///     r#"{"namespace": "OAI", "title": "OAI identifiers", "normalisation": {"case": "lower"}}"#,
/// )?;
/// assert_eq!(form.namespace, "oai");
/// assert_eq!(form.rules()?.steps().iter().count(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["authority", "declaration", "namespace", "title"]))]
pub struct NamespaceForm {
    /// The namespace string, in lowercase (`INFO-10`).
    #[schemars(length(min = 1, max = limits::NAMESPACE_NAME), example = &"example")]
    pub namespace: String,
    /// A title for people; at most 500 bytes.
    #[schemars(length(min = 1, max = limits::NAMESPACE_LINE), example = &"Example numbers")]
    pub title: String,
    /// Who owns the namespace.
    pub authority: NamespaceAuthority,
    /// Scope, history, sub-spaces and policy; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub description: String,
    /// URIs of documents about that.
    #[schemars(length(max = limits::NAMESPACE_URIS), inner(length(max = limits::NAMESPACE_URI)))]
    pub see: Vec<String>,
    /// How identifiers are written.
    pub syntax: SyntaxForm,
    /// How identifiers are compared.
    pub normalisation: NormalisationForm,
    /// Where identifiers resolve to, if they do.
    pub resolution: ResolutionForm,
    /// Identifiers and their canonical forms.
    #[schemars(length(max = limits::NAMESPACE_EXAMPLES))]
    pub examples: Vec<NamespaceSample>,
    /// What the authority declares; historical entries have none.
    pub declaration: Option<NamespaceDeclaration>,
}

/// Who owns a namespace, as the public may know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = []))]
pub struct NamespaceAuthority {
    /// The organisation; at most 500 bytes.
    #[schemars(length(max = limits::NAMESPACE_LINE), example = &"Example Library")]
    pub organisation: String,
    /// Its postal address; at most 2,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_URI))]
    pub address: String,
    /// Its web address.
    #[schemars(length(max = limits::NAMESPACE_URI), example = &"https://example.org/")]
    pub url: String,
    /// How the public reaches it; at most 500 bytes.
    #[schemars(length(max = limits::NAMESPACE_LINE), example = &"names@example.org")]
    pub contact: String,
}

/// How identifiers are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = []))]
pub struct SyntaxForm {
    /// The syntax in words; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT), example = &"Eight digits.")]
    pub summary: String,
    /// A regular expression over the normalised, decoded identifier (`INFO-8`).
    #[schemars(length(max = limits::PATTERN), example = &"[0-9]{8}")]
    pub pattern: Option<String>,
    /// URIs of documents about that.
    #[schemars(length(max = limits::NAMESPACE_URIS), inner(length(max = limits::NAMESPACE_URI)))]
    pub see: Vec<String>,
}

/// How identifiers are compared (`INFO-6`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = []))]
pub struct NormalisationForm {
    /// Whether case counts, and if not, which case is canonical.
    pub case: NamespaceCase,
    /// Characters that are dropped before that.
    #[schemars(example = &"-")]
    pub strip: String,
    /// The normalisation in words; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub summary: String,
    /// Ordered steps, in place of `strip` and `case`. Each is a list: its name, then arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Vec<Json>>>")]
    pub steps: Option<Vec<Json>>,
    /// URIs of documents about that.
    #[schemars(length(max = limits::NAMESPACE_URIS), inner(length(max = limits::NAMESPACE_URI)))]
    pub see: Vec<String>,
}

words! {
    /// Whether case counts in identifiers.
    #[derive(Default)]
    NamespaceCase {
        /// No: the canonical form is in lowercase.
        Lower = "lower",
        /// Yes.
        #[default]
        Sensitive = "sensitive",
        /// No: the canonical form is in uppercase.
        Upper = "upper",
    }
}

/// Where identifiers resolve to (`INFO-11`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = []))]
pub struct ResolutionForm {
    /// A URL template with `{id}` for the decoded identifier, percent-encoded again with `/` left
    /// bare.
    #[schemars(length(max = limits::NAMESPACE_URI), example = &"https://example.org/{id}")]
    pub mechanism: Option<String>,
    /// The security considerations, without which no mechanism is registered.
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub security: Option<String>,
    /// Whether people see a page before they are redirected.
    pub page_first: bool,
    /// A service for these identifiers, in words; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub summary: String,
    /// URIs of documents about that.
    #[schemars(length(max = limits::NAMESPACE_URIS), inner(length(max = limits::NAMESPACE_URI)))]
    pub see: Vec<String>,
}

/// An example: an identifier as it may be written, and its canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceSample {
    /// The identifier as its authority writes it, outside of URIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::NAMESPACE_EXAMPLE), example = &"1234-5678")]
    pub native: Option<String>,
    /// The identifier as an `info` URI.
    #[schemars(length(max = limits::NAMESPACE_EXAMPLE), example = &"info:example/1234-5678")]
    pub input: String,
    /// The canonical form of that URI.
    #[schemars(length(max = limits::NAMESPACE_EXAMPLE), example = &"info:example/12345678")]
    pub canonical: String,
}

/// What a proposal states (`INFO-10`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceDeclaration {
    /// The namespace is public.
    pub public: bool,
    /// It is in use; if not, it is formally planned.
    pub in_use: bool,
    /// Its identifiers have no URI form of their own.
    pub without_uri_form: bool,
}

/// Members that the registry adds to a form. A form that has them is read without them, so that
/// an entry that the registry showed can be sent back with changes.
const ADDED: [&str; 18] = [
    "by",
    "changed",
    "claim_pending",
    "claimed",
    "deleted",
    "dry_run",
    "example_changes",
    "historical",
    "live",
    "owner",
    "proposed",
    "provisional_until",
    "registered",
    "status",
    "uri",
    "verified",
    "version",
    "why",
];

impl NamespaceForm {
    /// Reads a form in JSON, without the members that the registry adds.
    pub fn from_json(text: &str) -> Result<Self, NamespaceError> {
        let json = |error: serde_json::Error| NamespaceError::Json {
            message: error.to_string(),
        };
        let mut object: Map<String, Json> = serde_json::from_str(text).map_err(json)?;
        object.retain(|name, _| !ADDED.contains(&name.as_str()));
        let form: Self = serde_json::from_value(Json::Object(object)).map_err(json)?;
        Ok(form.in_lowercase())
    }

    /// Strings that differ in case are one (`INFO-10`).
    #[must_use]
    pub fn in_lowercase(mut self) -> Self {
        self.namespace.make_ascii_lowercase();
        self
    }

    /// The syntax in words: the summary of its authority, or a sentence about its pattern.
    #[must_use]
    pub fn syntax_in_words(&self) -> String {
        match (self.syntax.summary.trim(), &self.syntax.pattern) {
            ("", Some(pattern)) => format!("Matches the regular expression {pattern}"),
            ("", None) => "Any identifier that the grammar of info URIs allows.".to_string(),
            (summary, _) => summary.to_string(),
        }
    }

    /// The normalisation in words: the summary of its authority, or sentences about its rules.
    #[must_use]
    pub fn normalisation_in_words(&self) -> String {
        let said = &self.normalisation;
        let summary = said.summary.trim();
        if !summary.is_empty() {
            return summary.to_string();
        }
        if let Some(steps) = said.steps.as_ref().filter(|steps| !steps.is_empty()) {
            let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
            return format!("In this order: {}", steps.join(", "));
        }
        let mut words = String::new();
        if !said.strip.is_empty() {
            words = format!("These characters are left out: {} ", said.strip);
        }
        words.push_str(match said.case {
            NamespaceCase::Lower => "Case does not count; lowercase is canonical.",
            NamespaceCase::Sensitive => "Case counts.",
            NamespaceCase::Upper => "Case does not count; uppercase is canonical.",
        });
        words
    }

    /// How the public reaches its authority: its contact, or its web address.
    #[must_use]
    pub fn contact(&self) -> &str {
        match self.authority.contact.trim() {
            "" => self.authority.url.trim(),
            contact => contact,
        }
    }

    /// The rules that software consults.
    pub fn rules(&self) -> Result<Namespace, NamespaceError> {
        let name = || self.namespace.clone();
        let namespace = Namespace::new(&self.namespace).map_err(|source| NamespaceError::Name {
            name: name(),
            source,
        })?;
        let steps = self
            .normalisation
            .steps()
            .map_err(|source| NamespaceError::Step {
                name: name(),
                source,
            })?;
        let pattern = self.syntax.pattern.as_deref().map(Pattern::new);
        let pattern = pattern
            .transpose()
            .map_err(|source| NamespaceError::Pattern {
                name: name(),
                source,
            })?;
        Ok(namespace
            .with_steps(steps)
            .with_pattern(pattern)
            .with_record(self.record()))
    }

    fn record(&self) -> NamespaceRecord {
        let example = |sample: &NamespaceSample| NamespaceExample {
            input: sample.input.clone(),
            canonical: sample.canonical.clone(),
        };
        NamespaceRecord {
            title: self.title.clone(),
            organisation: self.authority.organisation.clone(),
            url: self.authority.url.clone(),
            status: String::new(),
            registered: None,
            description: self.description.clone(),
            syntax: self.syntax.summary.clone(),
            normalisation: self.normalisation.summary.clone(),
            mechanism: self.resolution.mechanism.clone(),
            security: self.resolution.security.clone(),
            examples: self.examples.iter().map(example).collect(),
        }
    }
}

impl NormalisationForm {
    /// `steps` stand in place of `strip` and `case`, which are short forms of them.
    fn steps(&self) -> Result<Steps, StepError> {
        if let Some(steps) = &self.steps {
            return Steps::from_json(&Json::from(steps.clone()).to_string());
        }
        let fold = match self.case {
            NamespaceCase::Lower => Some(Fold::Lower),
            NamespaceCase::Sensitive => None,
            NamespaceCase::Upper => Some(Fold::Upper),
        };
        Steps::short(&self.strip, fold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_known_is_an_error() {
        let error = NamespaceForm::from_json(r#"{"namespace": "x", "normalization": {}}"#);
        assert!(error.unwrap_err().to_string().contains("normalization"));
    }

    #[test]
    fn info_10_strings_that_differ_in_case_are_one() {
        let form = NamespaceForm::from_json(r#"{"namespace": "LCCN"}"#).unwrap();
        assert_eq!(form.namespace, "lccn");
    }
}
