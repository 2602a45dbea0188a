//! Previewing a new version of an entry.

use handfast_api::NamespaceForm;
use handfast_id::{InfoUri, RuleBook};

use crate::error::RegistryError;
use crate::registry::Registry;

/// An example whose canonical form would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleChange {
    /// The identifier.
    pub input: String,
    /// Its canonical form now.
    pub before: String,
    /// Its canonical form under the new version; `None` if it would have none.
    pub after: Option<String>,
}

impl Registry {
    /// The examples, of the current and of the new version, whose canonical form would change.
    ///
    /// ```
    /// # use handfast_registry::{NamespaceCase, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let mut form = registry.namespace("pronom")?.form.clone();
    /// assert!(registry.preview_namespace(&form)?.is_empty());
    /// form.normalisation.case = NamespaceCase::Upper;
    /// let changes = registry.preview_namespace(&form)?;
    /// assert_eq!(changes[0].before, "info:pronom/fmt/42");
    /// assert_eq!(changes[0].after.as_deref(), Some("info:pronom/FMT/42"));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn preview_namespace(
        &self,
        form: &NamespaceForm,
    ) -> Result<Vec<ExampleChange>, RegistryError> {
        let current = self.namespace(&form.namespace).ok();
        let book = RuleBook::standard();
        // A namespace that is not registered has no rules.
        let in_force = current.filter(|entry| entry.was_registered());
        let before = match in_force.as_ref().map(|entry| entry.rules()) {
            Some(Ok(rules)) => book.clone().with_namespace(rules),
            _ => book.clone().without_registry(),
        };
        let after = book.with_namespace(super::validate::rules(form)?);
        let old = in_force
            .as_ref()
            .map(|entry| entry.form.examples.as_slice());
        let mut inputs: Vec<_> = old
            .unwrap_or_default()
            .iter()
            .chain(&form.examples)
            .map(|sample| sample.input.as_str())
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        let changes = inputs.into_iter().filter_map(|input| {
            let uri = InfoUri::parse(input).ok()?;
            let before = uri.canonical(&before).ok()?.as_str().to_string();
            let after = uri.canonical(&after).ok();
            let after = after.map(|after| after.as_str().to_string());
            let is_changed = after.as_deref() != Some(&before);
            let input = input.to_string();
            is_changed.then_some(ExampleChange {
                input,
                before,
                after,
            })
        });
        Ok(changes.collect())
    }
}
