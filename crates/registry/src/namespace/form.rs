//! The form of a namespace: what its authority states.

use handfast_id::{
    Fold, Namespace, NamespaceError, NamespaceExample, NamespaceRecord, Pattern, StepError, Steps,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The form that an authority fills in: the content of a proposal, which its owner can change
/// later.
///
/// In JSON it has the shape of the historical records, with a few more fields.
///
/// ```
/// use handfast_registry::NamespaceForm;
///
/// let form = NamespaceForm::from_json(
///     r#"{"namespace": "OAI", "title": "OAI identifiers", "normalisation": {"case": "lower"}}"#,
/// )?;
/// assert_eq!(form.namespace, "oai");
/// assert_eq!(form.rules()?.steps().iter().count(), 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NamespaceForm {
    /// The namespace string, in lowercase (`INFO-10`).
    pub namespace: String,
    /// A title for people.
    pub title: String,
    /// The owner of the namespace.
    pub authority: NamespaceAuthority,
    /// Scope, history, sub-spaces, policy.
    pub description: String,
    /// Addresses of further documents.
    pub see: Vec<String>,
    /// The syntax of identifiers.
    pub syntax: SyntaxForm,
    /// The normalisation of identifiers.
    pub normalisation: NormalisationForm,
    /// How identifiers resolve, if they do.
    pub resolution: ResolutionForm,
    /// Identifiers and their canonical forms.
    pub examples: Vec<NamespaceSample>,
    /// The declarations of the authority; unknown for historical entries.
    pub declaration: Option<NamespaceDeclaration>,
}

/// The owner of a namespace, as far as it is public.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NamespaceAuthority {
    /// The organisation.
    pub organisation: String,
    /// Its postal address.
    pub address: String,
    /// Its web address.
    pub url: String,
    /// Its public contact.
    pub contact: String,
}

/// The syntax of identifiers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyntaxForm {
    /// In words.
    pub summary: String,
    /// A regular expression over the normalised, decoded identifier (`INFO-8`).
    pub pattern: Option<String>,
    /// Addresses of further documents.
    pub see: Vec<String>,
}

/// The normalisation of identifiers (`INFO-6`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NormalisationForm {
    /// Whether case counts, and if not, which case is canonical.
    pub case: NamespaceCase,
    /// Characters that are removed first.
    pub strip: String,
    /// In words.
    pub summary: String,
    /// Ordered steps, instead of `strip` and `case`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Json>>,
    /// Addresses of further documents.
    pub see: Vec<String>,
}

/// Whether case counts in identifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamespaceCase {
    /// No: the canonical form is in lowercase.
    Lower,
    /// Yes.
    #[default]
    Sensitive,
    /// No: the canonical form is in uppercase.
    Upper,
}

/// How identifiers resolve (`INFO-11`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResolutionForm {
    /// A URL template with `{id}` for the decoded identifier, percent-encoded again with `/` left
    /// bare.
    pub mechanism: Option<String>,
    /// The security considerations; a mechanism is not registered without them.
    pub security: Option<String>,
    /// Whether people see a page before the redirect.
    pub page_first: bool,
    /// A service for these identifiers, in words.
    pub summary: String,
    /// Addresses of further documents.
    pub see: Vec<String>,
}

/// An example: an identifier as it may be written, and its canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamespaceSample {
    /// As the authority writes it, outside of URIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// As an `info` URI.
    pub input: String,
    /// The canonical form of that.
    pub canonical: String,
}

/// The declarations of a proposal (`INFO-10`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamespaceDeclaration {
    /// The namespace is public.
    pub public: bool,
    /// It is in use; if not, it is formally planned.
    pub in_use: bool,
    /// Its identifiers have no URI form of their own.
    pub without_uri_form: bool,
}

/// The fields that the registry adds to a form. Reading ignores them, so that a client can send a
/// shown entry back with changes.
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
    /// Reads a form in JSON. Fields that the registry itself adds to an entry are ignored.
    pub fn from_json(text: &str) -> Result<Self, NamespaceError> {
        let json = |error: serde_json::Error| NamespaceError::Json {
            message: error.to_string(),
        };
        let mut object: Map<String, Json> = serde_json::from_str(text).map_err(json)?;
        object.retain(|name, _| !ADDED.contains(&name.as_str()));
        let form: Self = serde_json::from_value(Json::Object(object)).map_err(json)?;
        Ok(form.in_lowercase())
    }

    /// Strings that differ in case only are equal (`INFO-10`).
    #[must_use]
    pub(crate) fn in_lowercase(mut self) -> Self {
        self.namespace.make_ascii_lowercase();
        self
    }

    /// The syntax in words: the text of its authority, or a description of its pattern.
    #[must_use]
    pub fn syntax_in_words(&self) -> String {
        match (self.syntax.summary.trim(), &self.syntax.pattern) {
            ("", Some(pattern)) => format!("Matches the regular expression {pattern}"),
            ("", None) => "Any identifier that the grammar of info URIs allows.".to_string(),
            (summary, _) => summary.to_string(),
        }
    }

    /// The normalisation in words: the text of its authority, or a description of its rules.
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

    /// The public contact of its authority, or its web address.
    #[must_use]
    pub fn contact(&self) -> &str {
        match self.authority.contact.trim() {
            "" => self.authority.url.trim(),
            contact => contact,
        }
    }

    /// Its rules for software.
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
    /// `steps` replace `strip` and `case`, which are short forms of them.
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
