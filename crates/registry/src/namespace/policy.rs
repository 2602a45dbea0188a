//! The public policy of the registry, which its maintainer sets.

use handfast_store::Table;
use serde::{Deserialize, Serialize};

use super::validate::check_filled;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::{Action, Commitments, Subject};
use crate::registry::Registry;

/// The maximum length of the policy, in bytes.
const MAX_POLICY_BYTES: usize = handfast_api::limits::NAMESPACE_POLICY;

/// One version of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespacePolicy {
    /// 1, 2, 3 …; 0 for the one that comes with the program.
    pub version: u64,
    /// Plain text.
    pub text: String,
    /// When it was set, in milliseconds since 1970.
    pub time: u64,
    /// The event.
    pub event: u64,
    /// The random bytes of the commitment in that event.
    pub seed: [u8; 32],
}

/// The start of the keys of versions in the table `namespaces`.
pub(crate) const POLICY: &[u8] = b"policy:";

impl Registry {
    /// The current policy.
    ///
    /// ```
    /// # use handfast_registry::{Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// assert_eq!(registry.namespace_policy()?.version, 0);
    /// registry.set_namespace_policy(&Principal::Operator, "Ask first.")?;
    /// assert_eq!(registry.namespace_policy()?.text, "Ask first.");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn namespace_policy(&self) -> Result<NamespacePolicy, RegistryError> {
        let last = self.read(|view| Ok(view.policies()?.pop()))?;
        Ok(last.unwrap_or_else(NamespacePolicy::original))
    }

    /// Sets the policy. Only the maintainer may.
    pub fn set_namespace_policy(
        &self,
        who: &Principal,
        text: &str,
    ) -> Result<NamespacePolicy, RegistryError> {
        check_filled("policy", text, MAX_POLICY_BYTES, "empty-policy")?;
        let text = text.to_string();
        self.change(who, move |change_set| {
            let root = AuthorityPath::info_root();
            change_set.need(change_set.who(), Role::Admin, &root)?;
            let last = change_set.policies()?.last().map_or(0, |last| last.version);
            let policy = NamespacePolicy {
                version: last + 1,
                text,
                time: change_set.time(),
                event: change_set.next_event(),
                seed: change_set.random("seed"),
            };
            let commitments = policy.commitments();
            change_set.add_event(
                Action::NamespacePolicy,
                Subject::None,
                root.key(),
                policy.version,
                commitments,
            );
            let key = [POLICY, &policy.version.to_be_bytes()[..]].concat();
            change_set.store_encoded(Table::Namespaces, &key, &policy)?;
            Ok(policy)
        })
    }
}

impl View<'_> {
    fn policies(&self) -> Result<Vec<NamespacePolicy>, RegistryError> {
        let what = "the policy of the registry of namespaces";
        self.decode_all(Table::Namespaces, POLICY, what)
    }
}

impl NamespacePolicy {
    fn original() -> Self {
        Self {
            version: 0,
            text: ORIGINAL.to_string(),
            time: 0,
            event: 0,
            seed: [0; 32],
        }
    }

    pub(crate) fn commitments(&self) -> Commitments {
        Commitments::to(&self.seed, [(0, self.text.as_bytes())].into_iter())
    }
}

const ORIGINAL: &str = "\
Who may register. Only the organisation that owns or manages a namespace; never a third party. It
picks the string, and gives a public contact.

What may be registered. A namespace that is public, is in use or formally planned, and has no URI
form of its own. There is no speculative registration and no fee.

How. A proposal is open to comments until the operator approves or refuses it; the operator looks
for clashes and records how the authority was verified. A namespace that is only planned is
registered provisionally, for twelve months at most, and lapses unless it is renewed. Disputes go
to the maintainer.

Afterwards. Only the authority changes its entry. It may deprecate or withdraw it; a string that
was registered is never used for something else, and what was normalised by its rules stays so.

What registration means. Identification only: no persistence, no resolution, no meaning. Where an
entry names a resolution mechanism, read its security considerations.
";
