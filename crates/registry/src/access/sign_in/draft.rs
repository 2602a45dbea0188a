//! Drafts: a form that was sent in a session that had ended is back after signing in again.

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::sign_in::{key_of, subject};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

#[derive(Serialize, Deserialize)]
struct Draft {
    account: String,
    path: String,
    form: Vec<u8>,
    created: u64,
}

/// The start of the keys of drafts in the table `meta`.
pub(crate) const KEYS: &[u8] = b"draft:";
/// How long a draft is stored, in milliseconds.
const LIFETIME: u64 = 15 * 60 * 1_000;
/// The longest path and form, in bytes.
const MAX_DRAFT_BYTES: usize = 64 << 10;
/// How many drafts an account has; the oldest is deleted first.
const MAX_DRAFTS_PER_ACCOUNT: usize = 10;

impl Registry {
    /// Stores a form for 15 minutes, and returns its id.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// registry.create_account(&Principal::Operator, "ann", "")?;
    /// let id = registry.store_draft("ann", "/console/names/new", b"title=Maps")?;
    /// assert_eq!(registry.take_draft("bob", &id)?, None);
    /// let (path, form) = registry.take_draft("ann", &id)?.unwrap();
    /// assert_eq!((path.as_str(), &form[..]), ("/console/names/new", &b"title=Maps"[..]));
    /// assert_eq!(registry.take_draft("ann", &id)?, None);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn store_draft(
        &self,
        account: &str,
        path: &str,
        form: &[u8],
    ) -> Result<String, RegistryError> {
        let subject = subject(account)?;
        if path.len() + form.len() > MAX_DRAFT_BYTES {
            let problem = "the form is too long to be stored until you have signed in again";
            return Err(RegistryError::policy("too-large", problem));
        }
        let secret = self.new_secret();
        let id = secret.text;
        let draft = Draft {
            account: subject.to_string(),
            path: path.to_string(),
            form: form.to_vec(),
            created: self.time(),
        };
        self.change_sign_in(move |change_set| {
            if !change_set.may_sign_in(&subject)? {
                return Err(RegistryError::policy(
                    "no-account",
                    "there is no such account",
                ));
            }
            change_set.delete_old_drafts(&subject, draft.created)?;
            change_set.store_encoded(Table::Meta, &[KEYS, &secret.digest[..]].concat(), &draft)
        })?;
        Ok(id)
    }

    /// The path and the form of a draft of this account, which is then deleted.
    pub fn take_draft(
        &self,
        account: &str,
        id: &str,
    ) -> Result<Option<(String, Vec<u8>)>, RegistryError> {
        let subject = subject(account)?;
        let Some(key) = key_of(KEYS, id) else {
            return Ok(None);
        };
        let now = self.time();
        let is_there = self.read(|view| view.draft(&key, &subject, now))?.is_some();
        if !is_there {
            return Ok(None);
        }
        self.change_sign_in(move |change_set| {
            let draft = change_set.draft(&key, &subject, now)?;
            if draft.is_some() {
                change_set.delete_meta(&key);
            }
            Ok(draft.map(|draft| (draft.path, draft.form)))
        })
    }
}

impl Draft {
    fn is_of(&self, subject: &Principal) -> bool {
        Principal::parse(&self.account).as_ref() == Ok(subject)
    }

    fn has_ended(&self, now: u64) -> bool {
        now >= self.created.saturating_add(LIFETIME)
    }
}

impl View<'_> {
    fn draft(
        &self,
        key: &[u8],
        subject: &Principal,
        now: u64,
    ) -> Result<Option<Draft>, RegistryError> {
        let draft: Option<Draft> = self.decode_stored(Table::Meta, key)?;
        Ok(draft.filter(|draft| draft.is_of(subject) && !draft.has_ended(now)))
    }

    fn drafts(&self) -> Result<Vec<(Vec<u8>, Draft)>, RegistryError> {
        let mut found = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, KEYS), |table_key, bytes| {
            if let Ok(draft) = postcard::from_bytes(bytes) {
                found.push((table_key.name().to_vec(), draft));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl ChangeSet<'_> {
    fn delete_old_drafts(&mut self, subject: &Principal, now: u64) -> Result<(), RegistryError> {
        let (old, mut current): (Vec<_>, Vec<_>) = self
            .drafts()?
            .into_iter()
            .partition(|(_, draft)| draft.has_ended(now));
        current.retain(|(_, draft)| draft.is_of(subject));
        current.sort_by_key(|(_, draft)| draft.created);
        let too_many = (current.len() + 1).saturating_sub(MAX_DRAFTS_PER_ACCOUNT);
        for (key, _) in old.iter().chain(current.iter().take(too_many)) {
            self.delete_meta(key);
        }
        Ok(())
    }

    /// Deletes the drafts of a principal.
    pub(crate) fn forget_drafts(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        for (key, draft) in self.drafts()? {
            if draft.is_of(subject) {
                self.delete_meta(&key);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sign_in::tests::SignInTest;

    #[test]
    fn a_draft_is_for_its_account_once_and_for_15_minutes() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let store = || registry.store_draft("ann", "/console/x", b"a=b").unwrap();
        let id = store();
        assert_eq!(registry.take_draft("bob", &id).unwrap(), None);
        let taken = registry.take_draft("Ann", &id).unwrap();
        assert_eq!(taken, Some(("/console/x".to_string(), b"a=b".to_vec())));
        assert_eq!(registry.take_draft("ann", &id).unwrap(), None);
        let late = store();
        test.advance(LIFETIME);
        assert_eq!(registry.take_draft("ann", &late).unwrap(), None);
        for id in ["", "x", &"x".repeat(9_999)] {
            assert_eq!(registry.take_draft("ann", id).unwrap(), None);
        }
    }

    #[test]
    fn drafts_are_short_and_few() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let long = vec![b'x'; MAX_DRAFT_BYTES];
        assert!(registry.store_draft("ann", "", &long).is_ok());
        let longer = registry.store_draft("ann", "/", &long);
        assert_eq!(longer.unwrap_err().code(), "too-large");
        assert!(registry.store_draft("nobody", "/", b"").is_err());
        let of_bob = registry.store_draft("bob", "/", b"").unwrap();
        let first = registry.store_draft("ann", "/", b"").unwrap();
        for _ in 0..MAX_DRAFTS_PER_ACCOUNT {
            test.advance(1);
            registry.store_draft("ann", "/", b"").unwrap();
        }
        assert_eq!(registry.take_draft("ann", &first).unwrap(), None);
        assert!(registry.take_draft("bob", &of_bob).unwrap().is_some());
        let count = registry.read(|view| Ok(view.drafts()?.len()));
        assert_eq!(count.unwrap(), MAX_DRAFTS_PER_ACCOUNT);
    }
}
