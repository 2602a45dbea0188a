//! Sessions: a person is signed in, in one browser.

use std::fmt;

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::sign_in::audit::{SignIn, SignInMeans, SignInOutcome};
use crate::access::sign_in::ended::MEMORY;
use crate::access::sign_in::password::VerifiedPassword;
use crate::access::sign_in::{
    Secret, SignInClient, client_text, is_own, key_of, not_yours, subject,
};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// A session. Its secret cannot be derived from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id, which is no secret.
    pub id: String,
    /// The account that is signed in, or `INDEX:HANDLE`.
    pub account: String,
    /// When it began, in milliseconds since 1970.
    pub created: u64,
    /// When it ends, whatever happens.
    pub expires: u64,
    /// When the person last proved who they are.
    pub signed_in: u64,
    /// How.
    pub means: SignInMeans,
    /// The browser, as it calls itself.
    pub agent: String,
    /// The network that it was started from.
    pub network: String,
}

/// A session that was just started, and its secret, which is not stored.
#[derive(Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The secret, for a cookie.
    pub secret: String,
    /// The session.
    pub session: Session,
}

impl fmt::Debug for NewSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewSession")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// The start of the keys of sessions in the table `meta`.
pub(crate) const KEYS: &[u8] = b"session:";
const HOUR_MS: u64 = 60 * 60 * 1_000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// How long a session may be unused.
const IDLE_LIMIT: u64 = 12 * HOUR_MS;
/// How long a session lasts, however much it is used.
const MAX_LIFETIME: u64 = 14 * DAY_MS;
/// How long a sign-in counts as fresh.
const FRESH: u64 = 10 * 60 * 1_000;
/// How many sessions a principal has; the oldest ends first.
const MAX_SESSIONS_PER_ACCOUNT: usize = 50;

impl Session {
    /// The principal that is signed in.
    #[must_use]
    pub fn who(&self) -> Principal {
        Principal::parse(&self.account).unwrap_or_else(|_| Principal::nobody())
    }

    /// Whether the person has proved who they are in the last ten minutes. Creating tokens,
    /// granting `admin`, transferring or retiring an authority, and changing a password need that.
    #[must_use]
    pub fn is_fresh(&self, now: u64) -> bool {
        now < self.signed_in.saturating_add(FRESH)
    }
}

impl Registry {
    /// Signs in with a password.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry, SignInClient};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_account(&operator, "ann", "")?;
    /// registry.set_password(&operator, "ann", "a blue horse swims at dawn")?;
    /// let client = SignInClient::default();
    /// assert!(registry.sign_in_with_password("ann", "a blue horse", &client).is_err());
    /// let new = registry.sign_in_with_password("ann", "a blue horse swims at dawn", &client)?;
    /// assert_eq!(registry.session(&new.secret)?.unwrap().account, "ann");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn sign_in_with_password(
        &self,
        account: &str,
        password: &str,
        client: &SignInClient,
    ) -> Result<NewSession, RegistryError> {
        let Some(verified) = self.verify(account, password)? else {
            self.note_failure(account, client)?;
            return Err(wrong_password());
        };
        let (secret, client) = (self.new_secret(), client.clone());
        let VerifiedPassword {
            account,
            checked,
            renewed,
        } = verified;
        self.start(secret, move |change_set, secret| {
            // The password may have changed while its hash was computed.
            let is_same = change_set.password(&account)?.as_ref() == Some(&checked);
            if !is_same || !change_set.may_sign_in(&account)? {
                return Err(wrong_password());
            }
            if let Some(renewed) = &renewed {
                change_set.store_password(&account, renewed)?;
            }
            change_set.start_session(secret, &account, SignInMeans::Password, &client)
        })
    }

    pub(crate) fn start(
        &self,
        secret: Secret,
        decide: impl FnOnce(&mut ChangeSet<'_>, &Secret) -> Result<Session, RegistryError>
        + Send
        + 'static,
    ) -> Result<NewSession, RegistryError> {
        let text = secret.text.clone();
        let session = self.change_sign_in(move |change_set| decide(change_set, &secret))?;
        Ok(NewSession {
            secret: text,
            session,
        })
    }

    /// The session of a secret, unless it has ended: after 12 hours without use, after 14 days,
    /// because the account is suspended, or because the key of the handle identity has changed.
    pub fn session(&self, secret: &str) -> Result<Option<Session>, RegistryError> {
        let now = self.time();
        let session = self.stored_session(secret)?;
        let session = session.filter(|session| !self.has_lapsed(session, now));
        if let Some(session) = &session {
            self.note_session_seen(&session.id);
            self.note_account_seen(&session.account);
        }
        Ok(session)
    }

    /// The account of a session that has ended up to a day ago, by itself or because somebody
    /// ended it. It gives no rights: a form that was sent in such a session can be stored as a
    /// draft for this account. An account that is suspended is not told.
    pub fn ended_session(&self, secret: &str) -> Result<Option<String>, RegistryError> {
        let now = self.time();
        let session = self.stored_session(secret)?;
        match session.filter(|session| self.has_lapsed(session, now)) {
            Some(session) => Ok(Some(session.account)),
            None => self.read(|view| view.ended_session(secret, now)),
        }
    }

    /// Proves again who is signed in, with the password. The session gets a new secret.
    pub fn confirm_session(
        &self,
        secret: &str,
        password: &str,
    ) -> Result<NewSession, RegistryError> {
        let old = self.session(secret)?.ok_or_else(session_ended)?;
        let client = SignInClient {
            agent: old.agent.clone(),
            network: old.network.clone(),
        };
        let Some(verified) = self.verify(&old.account, password)? else {
            self.note_failure(&old.account, &client)?;
            return Err(wrong_password());
        };
        let old_key = key_of(KEYS, secret).ok_or_else(session_ended)?;
        self.start(self.new_secret(), move |change_set, new| {
            let stored: Option<Session> = change_set.decode_stored(Table::Meta, &old_key)?;
            let stored = stored.ok_or_else(session_ended)?;
            let is_same = change_set.password(&verified.account)? == Some(verified.checked);
            if !is_same {
                return Err(wrong_password());
            }
            change_set.delete_meta(&old_key);
            let session = Session {
                id: id_of(new),
                signed_in: change_set.time(),
                means: SignInMeans::Password,
                ..stored
            };
            change_set.store_session(new, &session)?;
            change_set.note_sign_in(SignIn::of(&session, SignInOutcome::Confirmed))?;
            Ok(session)
        })
    }

    /// The sessions of an account that have not ended, the newest first. For the account itself,
    /// the operator and administrators.
    pub fn sessions(&self, who: &Principal, account: &str) -> Result<Vec<Session>, RegistryError> {
        let subject = subject(account)?;
        if !is_own(who, &subject) && !self.is_administrator(who)? {
            return Err(not_yours());
        }
        let found = self.read(|view| view.sessions_of(Some(&subject)))?;
        let now = self.time();
        let sessions = found.into_iter().map(|(_, session)| session);
        let mut sessions: Vec<_> = sessions
            .filter(|session| !self.has_lapsed(session, now))
            .collect();
        sessions.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
        Ok(sessions)
    }

    /// Ends a session. For its account, the operator and administrators.
    pub fn end_session(&self, who: &Principal, id: &str) -> Result<(), RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            let may_all = change_set.may_do_all(change_set.who())?;
            let all = change_set.sessions_of(None)?.into_iter();
            let mut same = all.filter(|(_, session)| session.id == id);
            let found =
                same.find(|(_, session)| may_all || is_own(change_set.who(), &session.who()));
            let Some((key, session)) = found else {
                let problem = format!("there is no session {id}, or it has ended");
                return Err(RegistryError::policy("no-session", problem));
            };
            change_set.end_stored_session(&key, &session)
        })
    }

    /// Ends the sessions of an account, except one if its id is given. Returns how many.
    pub fn end_sessions(
        &self,
        who: &Principal,
        account: &str,
        except: Option<&str>,
    ) -> Result<u64, RegistryError> {
        let subject = subject(account)?;
        let except = except.map(str::to_string);
        self.change(who, move |change_set| {
            change_set.need_own(&subject)?;
            change_set.forget_sessions(&subject, except.as_deref())
        })
    }

    fn stored_session(&self, secret: &str) -> Result<Option<Session>, RegistryError> {
        let Some(key) = key_of(KEYS, secret) else {
            return Ok(None);
        };
        self.read(|view| {
            let session: Option<Session> = view.decode_stored(Table::Meta, &key)?;
            let Some(session) = session else {
                return Ok(None);
            };
            let who = session.who();
            let may_stay =
                view.may_sign_in(&who)? && view.has_key_since(&who, session.signed_in)?;
            Ok(may_stay.then_some(session))
        })
    }

    fn has_lapsed(&self, session: &Session, now: u64) -> bool {
        let seen = self.session_last_seen(&session.id).unwrap_or_default();
        let used = seen.max(session.signed_in);
        now >= session.expires || now >= used.saturating_add(IDLE_LIMIT)
    }
}

impl View<'_> {
    /// The stored sessions of a principal, or all of them, with their keys.
    pub(crate) fn sessions_of(
        &self,
        subject: Option<&Principal>,
    ) -> Result<Vec<(Vec<u8>, Session)>, RegistryError> {
        let mut found = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, KEYS), |table_key, bytes| {
            if let Ok(session) = postcard::from_bytes::<Session>(bytes)
                && subject.is_none_or(|subject| session.who() == *subject)
            {
                found.push((table_key.name().to_vec(), session));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl ChangeSet<'_> {
    /// Whether a session has not been ended.
    pub(crate) fn has_session(&self, subject: &Principal, id: &str) -> Result<bool, RegistryError> {
        let sessions = self.sessions_of(Some(subject))?;
        Ok(sessions.iter().any(|(_, session)| session.id == id))
    }

    /// Starts a session, and records the sign-in. Deletes sessions that have long ended.
    pub(crate) fn start_session(
        &mut self,
        secret: &Secret,
        subject: &Principal,
        means: SignInMeans,
        client: &SignInClient,
    ) -> Result<Session, RegistryError> {
        self.delete_old_sessions(subject)?;
        self.delete_old_ended(subject)?;
        let account = self.account(subject)?;
        let now = self.time();
        let session = Session {
            id: id_of(secret),
            account: account.map_or_else(|| subject.to_string(), |account| account.name),
            created: now,
            expires: now.saturating_add(MAX_LIFETIME),
            signed_in: now,
            means,
            agent: client_text(&client.agent),
            network: client_text(&client.network),
        };
        self.store_session(secret, &session)?;
        self.note_sign_in(SignIn::of(&session, SignInOutcome::SignedIn))?;
        Ok(session)
    }

    fn store_session(&mut self, secret: &Secret, session: &Session) -> Result<(), RegistryError> {
        self.store_encoded(Table::Meta, &[KEYS, &secret.digest[..]].concat(), session)
    }

    fn delete_old_sessions(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        let now = self.time();
        let (old, mut current): (Vec<_>, Vec<_>) = self
            .sessions_of(None)?
            .into_iter()
            .partition(|(_, session)| now >= session.expires.saturating_add(MEMORY));
        current.retain(|(_, session)| session.who() == *subject);
        current.sort_by_key(|(_, session)| session.created);
        let too_many = (current.len() + 1).saturating_sub(MAX_SESSIONS_PER_ACCOUNT);
        for (key, _) in &old {
            self.delete_meta(key);
        }
        for (key, session) in current.iter().take(too_many) {
            self.end_stored_session(key, session)?;
        }
        Ok(())
    }

    /// Ends the sessions of a principal, except one. Returns how many.
    pub(crate) fn forget_sessions(
        &mut self,
        subject: &Principal,
        except: Option<&str>,
    ) -> Result<u64, RegistryError> {
        let mut found = self.sessions_of(Some(subject))?;
        found.retain(|(_, session)| Some(session.id.as_str()) != except);
        for (key, session) in &found {
            self.end_stored_session(key, session)?;
        }
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }
}

/// Enough of a digest to distinguish sessions, and too little to be of use to an attacker.
fn id_of(secret: &Secret) -> String {
    let start = secret.digest.first_chunk().copied().map(u64::from_be_bytes);
    format!("{:012x}", start.unwrap_or_default() >> 16)
}

pub(crate) fn wrong_password() -> RegistryError {
    let problem = "the account or the password is wrong; an administrator can give you a link \
                   with `handfast user sign-in NAME`";
    RegistryError::policy("wrong-password", problem)
}

pub(crate) fn session_ended() -> RegistryError {
    RegistryError::policy("no-session", "your session has ended: sign in again")
}

#[cfg(test)]
mod tests;
