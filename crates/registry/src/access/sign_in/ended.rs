//! Sessions that a person or an administrator has ended.
//!
//! Their secrets give no rights. For a day the store still says to which account such a secret
//! belonged, so that a form that its browser sends afterwards can be stored as a draft.

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::sign_in::key_of;
use crate::access::sign_in::session::{self, Session};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;

#[derive(Serialize, Deserialize)]
struct EndedSession {
    account: String,
    ended: u64,
}

/// The start of the keys of ended sessions in the table `meta`.
pub(crate) const KEYS: &[u8] = b"ended:";
/// How long a session that has ended is remembered, in milliseconds.
pub(crate) const MEMORY: u64 = 24 * 60 * 60 * 1_000;
/// How many ended sessions of an account are remembered; the oldest is forgotten first.
const MAX_ENDED_PER_ACCOUNT: usize = 50;

impl EndedSession {
    fn is_of(&self, subject: &Principal) -> bool {
        Principal::parse(&self.account).as_ref() == Ok(subject)
    }

    fn is_forgotten(&self, now: u64) -> bool {
        now >= self.ended.saturating_add(MEMORY)
    }
}

impl View<'_> {
    /// The account of a secret whose session was ended, if it may still sign in.
    pub(crate) fn ended_session(
        &self,
        secret: &str,
        now: u64,
    ) -> Result<Option<String>, RegistryError> {
        let Some(key) = key_of(KEYS, secret) else {
            return Ok(None);
        };
        let ended: Option<EndedSession> = self.decode_stored(Table::Meta, &key)?;
        let Some(ended) = ended.filter(|ended| !ended.is_forgotten(now)) else {
            return Ok(None);
        };
        let subject = Principal::parse(&ended.account);
        let may_sign_in = match &subject {
            Ok(subject) => self.may_sign_in(subject)?,
            Err(_) => false,
        };
        Ok(may_sign_in.then_some(ended.account))
    }

    fn ended_sessions(&self) -> Result<Vec<(Vec<u8>, EndedSession)>, RegistryError> {
        let mut found = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, KEYS), |table_key, bytes| {
            if let Ok(ended) = postcard::from_bytes(bytes) {
                found.push((table_key.name().to_vec(), ended));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl ChangeSet<'_> {
    /// Deletes a session, and remembers for a day whose it was.
    pub(crate) fn end_stored_session(
        &mut self,
        key: &[u8],
        session: &Session,
    ) -> Result<(), RegistryError> {
        self.delete_meta(key);
        let Some(digest) = key.strip_prefix(session::KEYS) else {
            return Ok(());
        };
        let ended = EndedSession {
            account: session.account.clone(),
            ended: self.time(),
        };
        self.store_encoded(Table::Meta, &[KEYS, digest].concat(), &ended)
    }

    /// Deletes ended sessions that are a day old, and those of a principal that are too many.
    pub(crate) fn delete_old_ended(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        let now = self.time();
        let (old, mut current): (Vec<_>, Vec<_>) = self
            .ended_sessions()?
            .into_iter()
            .partition(|(_, ended)| ended.is_forgotten(now));
        current.retain(|(_, ended)| ended.is_of(subject));
        current.sort_by_key(|(_, ended)| ended.ended);
        let too_many = current.len().saturating_sub(MAX_ENDED_PER_ACCOUNT);
        for (key, _) in old.iter().chain(current.iter().take(too_many)) {
            self.delete_meta(key);
        }
        Ok(())
    }

    /// Forgets the ended sessions of a principal.
    pub(crate) fn forget_ended(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        for (key, ended) in self.ended_sessions()? {
            if ended.is_of(subject) {
                self.delete_meta(&key);
            }
        }
        Ok(())
    }
}
