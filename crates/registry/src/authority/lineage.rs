//! Which authorities derive from another one.

use std::collections::HashMap;

use crate::change::view::View;
use crate::error::RegistryError;

/// The maximum depth of the tree of authorities, against a cycle in damaged data.
pub(crate) const MAX_DEPTH: usize = 256;

/// The authorities that derive from one, as far as they were asked for: each parent of many is read
/// once.
pub(crate) struct Lineage<'v> {
    view: &'v View<'v>,
    known: HashMap<String, bool>,
}

impl<'v> Lineage<'v> {
    /// The lineage of the authority with a key.
    pub(crate) fn of(view: &'v View<'v>, above: &str) -> Self {
        Self {
            view,
            known: HashMap::from([(above.to_string(), true)]),
        }
    }

    /// Whether an authority is this one, or has it among the parents that it was created under.
    /// Texts do not tell: a parent that was created later has no rights below it.
    pub(crate) fn derives(&mut self, key: &str) -> Result<bool, RegistryError> {
        let (mut unknown, mut next) = (Vec::new(), Some(key.to_string()));
        let mut derives = false;
        for _ in 0..MAX_DEPTH {
            let Some(key) = next else { break };
            if let Some(known) = self.known.get(&key) {
                derives = *known;
                break;
            }
            let authority = self.view.authority_by_key(&key)?;
            unknown.push(key);
            let parent = authority.and_then(|authority| authority.parent);
            next = parent.map(|parent| parent.key().to_string());
        }
        self.known
            .extend(unknown.into_iter().map(|key| (key, derives)));
        Ok(derives)
    }
}
