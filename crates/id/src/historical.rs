//! The registry that ships with the crate, and registries in JSON.
//!
//! `data/info-namespaces.json` has the 29 namespaces of the original `info` registry, which closed
//! in 2010.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use once_cell::race::OnceBox;
use serde::Deserialize;
use serde_json::Value;

use crate::namespace::{Namespace, NamespaceError, NamespaceExample, NamespaceRecord, Namespaces};
use crate::pattern::Pattern;
use crate::steps::{Fold, Step, StepError, Steps};

const HISTORICAL: &str = include_str!("../data/info-namespaces.json");

impl Namespaces {
    /// The 29 namespaces of the original `info` registry. Read on first use.
    ///
    /// ```
    /// use handfast_id::Namespaces;
    ///
    /// let doi = Namespaces::historical().get("doi").unwrap();
    /// assert_eq!(doi.record().mechanism.as_deref(), Some("https://doi.org/{id}"));
    /// ```
    #[must_use]
    pub fn historical() -> &'static Self {
        static READ: OnceBox<Namespaces> = OnceBox::new();
        // The file is part of the crate, and `all_29_entries_are_read` below is the test that it
        // can be read whole.
        READ.get_or_init(|| Box::new(Self::from_json(HISTORICAL).unwrap_or_default()))
    }

    /// The same as they stand in `data/info-namespaces.json`.
    #[must_use]
    pub fn historical_json() -> &'static str {
        HISTORICAL
    }

    /// Reads a list of entries in the form of `data/info-namespaces.json`. Only `namespace` is
    /// required; a field that is not known, and a namespace that stands twice, are errors.
    ///
    /// ```
    /// use handfast_id::Namespaces;
    ///
    /// let json = r#"[{"namespace": "oai", "normalisation": {"case": "lower"}}]"#;
    /// let namespaces = Namespaces::from_json(json)?;
    /// assert_eq!(namespaces.get("oai").unwrap().steps().iter().count(), 1);
    /// # Ok::<_, handfast_id::NamespaceError>(())
    /// ```
    pub fn from_json(json: &str) -> Result<Self, NamespaceError> {
        let entries: Vec<Entry> =
            serde_json::from_str(json).map_err(|error| NamespaceError::json(&error))?;
        let entries = entries
            .into_iter()
            .map(Entry::read)
            .collect::<Result<_, _>>()?;
        Self::from_entries(entries)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    namespace: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    authority: Authority,
    #[serde(default)]
    status: String,
    #[serde(default)]
    registered: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    syntax: Syntax,
    #[serde(default)]
    normalisation: Normalisation,
    #[serde(default)]
    resolution: Resolution,
    #[serde(default)]
    examples: Vec<NamespaceExample>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Authority {
    organisation: String,
    url: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Syntax {
    summary: String,
    pattern: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Normalisation {
    case: Case,
    strip: String,
    summary: String,
    steps: Option<Vec<Value>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Case {
    Lower,
    #[default]
    Sensitive,
    Upper,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Resolution {
    mechanism: Option<String>,
    security: Option<String>,
}

impl Entry {
    fn read(self) -> Result<Namespace, NamespaceError> {
        let name = self.namespace;
        let namespace = Namespace::new(&name).map_err(|source| NamespaceError::Name {
            name: name.clone(),
            source,
        })?;
        let steps = self
            .normalisation
            .steps()
            .map_err(|source| NamespaceError::Step {
                name: name.clone(),
                source,
            })?;
        let pattern = self
            .syntax
            .pattern
            .map(|pattern| Pattern::new(&pattern))
            .transpose()
            .map_err(|source| NamespaceError::Pattern { name, source })?;
        let record = NamespaceRecord {
            title: self.title,
            organisation: self.authority.organisation,
            url: self.authority.url,
            status: self.status,
            registered: self.registered,
            description: self.description,
            syntax: self.syntax.summary,
            normalisation: self.normalisation.summary,
            mechanism: self.resolution.mechanism,
            security: self.resolution.security,
            examples: self.examples,
        };
        Ok(namespace
            .with_steps(steps)
            .with_pattern(pattern)
            .with_record(record))
    }
}

impl Normalisation {
    /// `steps` stand in place of `strip` and `case`, which are short forms of them.
    fn steps(&self) -> Result<Steps, StepError> {
        match &self.steps {
            Some(steps) => Steps::new(
                steps
                    .iter()
                    .map(Step::from_json)
                    .collect::<Result<_, _>>()?,
            ),
            None => Steps::short(
                &self.strip,
                match self.case {
                    Case::Lower => Some(Fold::Lower),
                    Case::Sensitive => None,
                    Case::Upper => Some(Fold::Upper),
                },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InfoUri, InfoValidity, Standard};

    #[test]
    fn all_29_entries_are_read() {
        let namespaces = Namespaces::from_json(HISTORICAL).unwrap();
        assert_eq!(namespaces.iter().count(), 29);
        assert!(namespaces.iter().all(|entry| entry.pattern().is_some()));
    }

    #[test]
    fn info_6_all_81_examples_come_out_as_stated() {
        let mut count = 0;
        for example in Namespaces::historical()
            .iter()
            .flat_map(|entry| &entry.record().examples)
        {
            let uri = InfoUri::parse(&example.input).unwrap();
            assert_eq!(
                uri.canonical(&Standard).unwrap().as_str(),
                example.canonical
            );
            let again = InfoUri::parse(&example.canonical).unwrap();
            assert_eq!(
                again.canonical(&Standard).unwrap().as_str(),
                example.canonical
            );
            assert_eq!(
                uri.validate(&Standard),
                InfoValidity::Fits,
                "{}",
                example.input
            );
            count += 1;
        }
        assert_eq!(count, 81);
    }

    #[test]
    fn bad_entries_are_named() {
        let error = |json| {
            let error = Namespaces::from_json(json).unwrap_err();
            let source = core::error::Error::source(&error);
            alloc::format!(
                "{error}{}",
                source.map(|s| alloc::format!(": {s}")).unwrap_or_default()
            )
        };
        assert!(error("{").starts_with("not a list of registry entries: "));
        assert_eq!(
            error(r#"[{"namespace":"x","normalisation":{"steps":[["shout"]]}}]"#),
            "steps of namespace `x`: [\"shout\"] is not a step"
        );
        assert!(error(r#"[{"namespace":"x","syntax":{"pattern":"("}}]"#).starts_with("syntax of"));
        assert!(error(r#"[{"namespace":"_"}]"#).starts_with("namespace `_`: "));
        assert!(error(r#"[{"namespace":"x","normalization":{}}]"#).contains("unknown field"));
        assert_eq!(
            error(r#"[{"namespace":"x"},{"namespace":"X"}]"#),
            "namespace `x` stands twice"
        );
    }
}
