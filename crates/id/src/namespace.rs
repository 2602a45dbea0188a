//! Entries of the `info` registry.
//!
//! The parts for software are typed: [`Steps`] normalise an identifier, and a [`Pattern`] checks
//! its form. The rest is a [`NamespaceRecord`] for people.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::ParseError;
use crate::info::check_namespace;
use crate::pattern::{Pattern, PatternError};
use crate::steps::{StepError, Steps};

/// An entry of the `info` registry (`INFO-9`).
///
/// ```
/// use handfast_id::{Fold, InfoUri, Namespace, RuleBook, Steps};
///
/// // INFO-6: "With `oai` registered as case-insensitive, lower …"
/// let oai = Namespace::new("oai")?.with_steps(Steps::short("", Some(Fold::Lower))?);
/// let rules = RuleBook::standard().with_namespace(oai);
/// let uri = InfoUri::parse("info:OAI/arXiv.org%3AHEP-TH%2F9901001")?;
/// assert_eq!(uri.canonical(&rules)?.as_str(), "info:oai/arxiv.org:hep-th%2F9901001");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Namespace {
    name: String,
    steps: Steps,
    pattern: Option<Pattern>,
    record: NamespaceRecord,
    is_former: bool,
}

impl Namespace {
    /// An entry without rules: its identifiers are taken as they are. Strings that differ in case
    /// only are equal (`INFO-10`); the name is stored in lowercase.
    pub fn new(name: &str) -> Result<Self, ParseError> {
        check_namespace(name)?;
        Ok(Self {
            name: name.to_ascii_lowercase(),
            steps: Steps::default(),
            pattern: None,
            record: NamespaceRecord::default(),
            is_former: false,
        })
    }

    /// The same entry with normalisation steps.
    #[must_use]
    pub fn with_steps(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }

    /// The same entry with a syntax.
    #[must_use]
    pub fn with_pattern(self, pattern: Option<Pattern>) -> Self {
        Self { pattern, ..self }
    }

    /// The same entry with a record for people.
    #[must_use]
    pub fn with_record(self, record: NamespaceRecord) -> Self {
        Self { record, ..self }
    }

    /// The same entry, registered no longer. A string is never used again for something else
    /// (`INFO-10`), so what its identifiers are normalised to stays as it was.
    ///
    /// ```
    /// use handfast_id::{Fold, InfoUri, Namespace, RuleBook, Steps};
    ///
    /// let shelf = Namespace::new("shelf")?.with_steps(Steps::short("", Some(Fold::Upper))?);
    /// let rules = RuleBook::standard().with_namespace(shelf.into_former());
    /// let canonical = InfoUri::parse("info:shelf/ab1")?.canonical(&rules)?;
    /// assert_eq!(canonical.as_str(), "info:shelf/AB1");
    /// assert_eq!(canonical.registered(), Some(false));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_former(mut self) -> Self {
        self.is_former = true;
        self
    }

    /// Whether it was registered, and is no longer.
    #[must_use]
    pub fn is_former(&self) -> bool {
        self.is_former
    }

    /// The namespace string, in lowercase.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The steps after `INFO-4`.
    #[must_use]
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The syntax of normalised, decoded identifiers, if the entry states one (`INFO-8`).
    #[must_use]
    pub fn pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    /// The texts of the entry for people.
    #[must_use]
    pub fn record(&self) -> &NamespaceRecord {
        &self.record
    }
}

/// The texts of an entry for people.
///
/// ```
/// let lccn = handfast_id::Namespaces::historical().get("lccn").unwrap();
/// assert_eq!(lccn.record().organisation, "Library of Congress");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceRecord {
    /// A title.
    pub title: String,
    /// The organisation that owns the namespace.
    pub organisation: String,
    /// Its web address.
    pub url: String,
    /// The review state, such as `registered`.
    pub status: String,
    /// The day of registration, `YYYY-MM-DD`, if it is known.
    pub registered: Option<String>,
    /// The purpose of the namespace.
    pub description: String,
    /// The syntax, in words.
    pub syntax: String,
    /// The normalisation, in words.
    pub normalisation: String,
    /// A URL template with `{id}` for the decoded identifier, if the entry names a mechanism.
    pub mechanism: Option<String>,
    /// The security considerations of that mechanism.
    pub security: Option<String>,
    /// Identifiers and their canonical forms.
    pub examples: Vec<NamespaceExample>,
}

/// An example in an entry: a URI and what it is normalised to.
///
/// ```
/// let pronom = handfast_id::Namespaces::historical().get("pronom").unwrap();
/// let example = &pronom.record().examples[1];
/// assert_eq!(example.input, "info:pronom/FMT/42");
/// assert_eq!(example.canonical, "info:pronom/fmt/42");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "historical",
    derive(serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct NamespaceExample {
    /// As someone may write it.
    pub input: String,
    /// Its canonical form.
    pub canonical: String,
}

/// The answer of a registry for a namespace string.
///
/// ```
/// use handfast_id::{NamespaceLookup, Rules, Standard};
///
/// assert!(matches!(Standard.namespace("lccn"), NamespaceLookup::Registered(_)));
/// assert!(matches!(Standard.namespace("nobody"), NamespaceLookup::Unknown));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum NamespaceLookup<'a> {
    /// There was a live entry: its steps are applied as before, and nothing else is claimed.
    Former(&'a Namespace),
    /// There is a live entry.
    Registered(&'a Namespace),
    /// The registry could not be consulted.
    Unavailable,
    /// There is no such entry.
    Unknown,
}

impl NamespaceLookup<'_> {
    /// `None` if the registry could not be consulted.
    #[must_use]
    pub fn is_registered(&self) -> Option<bool> {
        match self {
            Self::Registered(_) => Some(true),
            Self::Unavailable => None,
            Self::Former(_) | Self::Unknown => Some(false),
        }
    }
}

impl<'a> NamespaceLookup<'a> {
    /// The entry whose steps an identifier goes through.
    #[must_use]
    pub fn entry(&self) -> Option<&'a Namespace> {
        match self {
            Self::Former(entry) | Self::Registered(entry) => Some(entry),
            Self::Unavailable | Self::Unknown => None,
        }
    }
}

/// A set of entries, found by name.
///
/// ```
/// use handfast_id::{Namespace, Namespaces};
///
/// let mut namespaces = Namespaces::default();
/// namespaces.insert(Namespace::new("shelf")?);
/// assert!(namespaces.get("shelf").is_some());
/// assert_eq!(Namespaces::historical().iter().count(), 29);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Namespaces {
    /// Sorted by name.
    entries: Vec<Namespace>,
}

impl Namespaces {
    /// All of a list of entries, no two of which are for one namespace.
    #[cfg(feature = "historical")]
    pub(crate) fn from_entries(mut entries: Vec<Namespace>) -> Result<Self, NamespaceError> {
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let twice = entries.windows(2).find_map(|pair| match pair {
            [a, b] if a.name == b.name => Some(a.name.clone()),
            _ => None,
        });
        match twice {
            Some(name) => Err(NamespaceError::Duplicate { name }),
            None => Ok(Self { entries }),
        }
    }

    /// The entry of a namespace, whose name must be in lowercase.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Namespace> {
        let index = self
            .entries
            .binary_search_by(|entry| entry.name.as_str().cmp(name))
            .ok()?;
        self.entries.get(index)
    }

    /// Adds an entry, in place of the one of the same name if there is one, which is returned.
    pub fn insert(&mut self, entry: Namespace) -> Option<Namespace> {
        match self
            .entries
            .binary_search_by(|other| other.name.cmp(&entry.name))
        {
            Ok(index) => self
                .entries
                .get_mut(index)
                .map(|old| core::mem::replace(old, entry)),
            Err(index) => {
                self.entries.insert(index, entry);
                None
            }
        }
    }

    /// The entry of a namespace, whose name must be in lowercase.
    #[must_use]
    pub fn lookup(&self, name: &str) -> NamespaceLookup<'_> {
        match self.get(name) {
            Some(entry) if entry.is_former => NamespaceLookup::Former(entry),
            Some(entry) => NamespaceLookup::Registered(entry),
            None => NamespaceLookup::Unknown,
        }
    }

    /// All entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Namespace> {
        self.entries.iter()
    }
}

/// Why a registry entry cannot be taken.
///
/// ```
/// use handfast_id::{NamespaceError, Namespaces};
///
/// let error = Namespaces::from_json(r#"[{"namespace": "1x"}]"#).unwrap_err();
/// assert!(matches!(error, NamespaceError::Name { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// Two entries for one namespace.
    #[error("namespace `{name}` stands twice")]
    Duplicate {
        /// The namespace.
        name: String,
    },
    /// The text is not JSON of the expected shape.
    #[error("not a list of registry entries: {message}")]
    Json {
        /// The error of the JSON parser.
        message: String,
    },
    /// The namespace string is not one.
    #[error("namespace `{name}`")]
    Name {
        /// The string.
        name: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// The syntax does not compile.
    #[error("syntax of namespace `{name}`")]
    Pattern {
        /// The namespace.
        name: String,
        /// What is wrong with it.
        source: PatternError,
    },
    /// A normalisation step is not one.
    #[error("steps of namespace `{name}`")]
    Step {
        /// The namespace.
        name: String,
        /// What is wrong with it.
        source: StepError,
    },
}

impl NamespaceError {
    #[cfg(feature = "historical")]
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        Self::Json {
            message: alloc::format!("{error}"),
        }
    }
}
