//! The private texts of events about people.
//!
//! An event about an account, a group, a token or a request for access names nobody in public: it
//! has one commitment. The store has the text behind the commitment, such as
//! `group:editors add account:ann`, and the random bytes that open it.

use handfast_store::Table;
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Commitments;
use crate::registry::Registry;

/// The text of an event, and the random bytes of its commitment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventNote {
    pub(crate) text: String,
    pub(crate) seed: [u8; 32],
}

/// The start of the keys of notes in the table `meta`.
pub(crate) const NOTES: &[u8] = b"event-note:";

impl EventNote {
    pub(crate) fn key(number: u64) -> Vec<u8> {
        [NOTES, &number.to_be_bytes()[..]].concat()
    }

    /// Whether the text names a principal.
    pub(crate) fn names(&self, who: &Principal) -> bool {
        let key = who.key();
        self.text.split(' ').any(|word| word == key)
    }

    pub(crate) fn commitments(&self) -> Commitments {
        Commitments::to(&self.seed, [(0, self.text.as_bytes())].into_iter())
    }
}

impl Registry {
    /// The text of an event about people, such as `group:editors add account:ann`, if the principal
    /// may read it: administrators may, and so may the actor and the account that it names. Events
    /// of earlier versions of the program have none.
    ///
    /// ```
    /// # use handfast_registry::{Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// registry.create_account(&Principal::Operator, "ann", "")?;
    /// let text = registry.event_note(&Principal::Operator, registry.event_count()?)?;
    /// assert_eq!(text.as_deref(), Some("account:ann"));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn event_note(
        &self,
        who: &Principal,
        number: u64,
    ) -> Result<Option<String>, RegistryError> {
        self.read(|view| {
            let Some(note) = view.event_note(number)? else {
                return Ok(None);
            };
            let may_read = note.names(who)
                || view.may_do_all(who)?
                || view.actor(&view.existing_event(number)?.actor)?.as_ref() == Some(who);
            Ok(Some(note.text).filter(|_| may_read))
        })
    }
}

impl View<'_> {
    pub(crate) fn event_note(&self, number: u64) -> Result<Option<EventNote>, RegistryError> {
        self.decode_stored(Table::Meta, &EventNote::key(number))
    }
}
