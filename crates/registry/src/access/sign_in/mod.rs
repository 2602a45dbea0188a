//! Signing in: passwords, one-time links, invitations, sessions, drafts, and the audit of sign-ins.
//!
//! People sign in with a password or with a one-time link; both start a session. The codes of links
//! and the secrets of sessions are 32 random bytes. The store has only their SHA-256, in the table
//! `meta`, beside the tokens. Nothing of all this is in exports or in the public log: sign-ins are
//! recorded in a private audit.

pub(crate) mod audit;
pub(crate) mod draft;
pub(crate) mod ended;
pub(crate) mod hashing;
pub(crate) mod invitation;
pub(crate) mod link;
pub(crate) mod password;
pub(crate) mod password_rules;
pub(crate) mod session;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use handfast_store::{Table, TableKey, Write};
use sha2::{Digest, Sha256};

use self::audit::FailureLimit;
use self::hashing::HashPermits;
use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::State;
use crate::registry::Registry;

/// The browser, or the program, that signs in.
///
/// ```
/// use handfast_registry::SignInClient;
///
/// let client = SignInClient { agent: "Firefox".into(), network: "192.0.2.7".into() };
/// assert_ne!(client, SignInClient::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignInClient {
    /// The header `User-Agent`, or as much of it as is shown to the person.
    pub agent: String,
    /// The network that it comes from: an IPv4 address, or a /64 of IPv6.
    pub network: String,
}

/// The state of signing in that lasts as long as the process.
#[derive(Default)]
pub(crate) struct SignInState {
    pub(crate) permits: HashPermits,
    pub(crate) failures: FailureLimit,
}

/// The longest text that can be the code of a link, the secret of a session or the id of a draft.
const MAX_SECRET_BYTES: usize = 100;
/// The longest text of a client that is stored, in bytes.
const MAX_CLIENT_TEXT: usize = 300;

/// A new secret.
pub(crate) struct Secret {
    pub(crate) text: String,
    pub(crate) digest: [u8; 32],
}

impl Registry {
    pub(crate) fn new_secret(&self) -> Secret {
        let text = URL_SAFE_NO_PAD.encode(self.random());
        let digest = Sha256::digest(text.as_bytes()).into();
        Secret { text, digest }
    }

    /// Changes entries of sign-in that leave no event.
    pub(crate) fn change_sign_in<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&mut ChangeSet<'_>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.change(&Principal::Operator, decide)
    }

    /// Ends all sessions, and deletes all links and drafts. A backup would bring back those that
    /// ended after it was made.
    pub(crate) fn forget_all_sessions(&self) -> Result<(), RegistryError> {
        self.change_sign_in(|change_set| {
            for start in [session::KEYS, ended::KEYS, link::KEYS, draft::KEYS] {
                for key in change_set.meta_keys(start)? {
                    change_set.delete_meta(&key);
                }
            }
            Ok(())
        })
    }
}

/// The key of a secret text in the store; `None` if no secret looks like that. The lookup is by
/// digest: its time reveals nothing about stored secrets.
pub(crate) fn key_of(start: &[u8], text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > MAX_SECRET_BYTES {
        return None;
    }
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    Some([start, &digest[..]].concat())
}

/// Reads the account, or the handle identity, that signs in.
pub(crate) fn subject(text: &str) -> Result<Principal, RegistryError> {
    let subject = Principal::parse(text);
    subject.map_err(|error| RegistryError::policy("bad-account", error.to_string()))
}

/// Whether a principal acts for itself, without the limits of a token.
pub(crate) fn is_own(who: &Principal, subject: &Principal) -> bool {
    matches!(who, Principal::Account(_) | Principal::Identity { .. }) && who == subject
}

/// The beginning of a text that a client sent, without control characters.
pub(crate) fn client_text(text: &str) -> String {
    let mut short = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        if short.len() + c.len_utf8() > MAX_CLIENT_TEXT {
            break;
        }
        short.push(c);
    }
    short
}

impl View<'_> {
    /// Whether a principal may have a session: an account that is not suspended, or a handle
    /// identity.
    pub(crate) fn may_sign_in(&self, subject: &Principal) -> Result<bool, RegistryError> {
        Ok(match subject {
            Principal::Account(_) => self
                .account(subject)?
                .is_some_and(|account| !account.is_suspended),
            Principal::Identity { .. } => self.has_key_since(subject, u64::MAX)?,
            _ => false,
        })
    }

    /// Whether the key of a handle identity is there, and was not changed after a time. Of a handle
    /// of another server nothing is known here.
    pub(crate) fn has_key_since(
        &self,
        subject: &Principal,
        time: u64,
    ) -> Result<bool, RegistryError> {
        let Principal::Identity { index, handle } = subject else {
            return Ok(true);
        };
        let Ok((key, path)) = self.place_of(handle) else {
            return Ok(true);
        };
        if self.authority(&path)?.is_none() {
            return Ok(true);
        }
        let record = self.record(&key)?;
        let record = record.filter(|record| record.state == State::Active);
        Ok(record.is_some_and(|record| {
            record.values.iter().any(|value| {
                [0, value.index].contains(index)
                    && (value.is_type("HS_PUBKEY") || value.is_type("HS_SECKEY"))
                    && u64::from(value.timestamp).saturating_mul(1_000) <= time
            })
        }))
    }

    /// The keys in the table `meta` that begin with a text.
    fn meta_keys(&self, start: &[u8]) -> Result<Vec<Vec<u8>>, RegistryError> {
        let mut keys = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, start), |table_key, _| {
            keys.push(table_key.name().to_vec());
            Ok(())
        })?;
        Ok(keys)
    }
}

impl ChangeSet<'_> {
    /// Checks that the principal acts for itself, or is the operator or an administrator.
    pub(crate) fn need_own(&self, subject: &Principal) -> Result<(), RegistryError> {
        if is_own(self.who(), subject) || self.may_do_all(self.who())? {
            return Ok(());
        }
        Err(not_yours())
    }

    pub(crate) fn delete_meta(&mut self, key: &[u8]) {
        let table_key = TableKey::named(Table::Meta, key).into_owned();
        self.push(Write::Delete(table_key));
    }

    /// Ends the sessions of a principal, and deletes its links and drafts. Its password stays.
    pub(crate) fn forget_sign_ins(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        for (key, _) in self.sessions_of(Some(subject))? {
            self.delete_meta(&key);
        }
        self.forget_ended(subject)?;
        self.forget_links(subject)?;
        self.forget_drafts(subject)
    }
}

pub(crate) fn not_yours() -> RegistryError {
    let problem = "this is for the account itself, the operator and administrators; a token with \
                   limits is not enough";
    RegistryError::policy("not-yours", problem)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::{Environment, Principal, Registry, SignInClient};

    pub(crate) const PASSWORD: &str = "a blue horse swims at dawn";
    pub(crate) const OPERATOR: Principal = Principal::Operator;

    /// A registry with the accounts `ann` and `bob`, and a clock that the test sets.
    pub(crate) struct SignInTest {
        pub(crate) folder: tempfile::TempDir,
        pub(crate) registry: Registry,
        pub(crate) now: Arc<AtomicU64>,
    }

    impl SignInTest {
        pub(crate) fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let now = Arc::new(AtomicU64::new(1_800_000_000_000));
            let environment = environment(&now);
            let registry = Registry::create(folder.path(), environment).unwrap();
            for name in ["ann", "bob"] {
                registry.create_account(&OPERATOR, name, "").unwrap();
            }
            Self {
                folder,
                registry,
                now,
            }
        }

        pub(crate) fn advance(&self, milliseconds: u64) {
            self.now.fetch_add(milliseconds, Ordering::Relaxed);
        }
    }

    pub(crate) fn environment(now: &Arc<AtomicU64>) -> Environment {
        let (now, count) = (Arc::clone(now), AtomicU64::new(0));
        Environment::new(
            move || now.load(Ordering::Relaxed),
            move |bytes| {
                let count = count.fetch_add(1, Ordering::Relaxed).to_be_bytes();
                for (byte, number) in bytes.iter_mut().zip(count.iter().rev().cycle()) {
                    *byte = *number;
                }
            },
        )
    }

    pub(crate) fn client() -> SignInClient {
        SignInClient {
            agent: "Firefox".into(),
            network: "192.0.2.7".into(),
        }
    }

    pub(crate) fn ann() -> Principal {
        Principal::parse("ann").unwrap()
    }

    /// An export and the public log would publish them.
    #[test]
    fn secrets_are_neither_in_the_store_nor_in_exports() {
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        let link = registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
        let session = registry
            .sign_in_with_password("ann", PASSWORD, &client())
            .unwrap();
        let events_before = registry.statistics().unwrap().events;
        let draft = registry
            .store_draft("ann", "/console/names", b"title=Maps")
            .unwrap();
        assert_eq!(registry.statistics().unwrap().events, events_before);
        let file = test.folder.path().join("copy");
        registry.backup(&file).unwrap();
        let stored = std::fs::read(file).unwrap();
        let is_stored = |text: &str| {
            let mut found = stored.windows(text.len());
            found.any(|bytes| bytes == text.as_bytes())
        };
        assert!(is_stored("ann"));
        for secret in [PASSWORD, &link.code, &session.secret, &draft] {
            assert!(!is_stored(secret), "{secret}");
        }
        for shown in [format!("{link:?}"), format!("{session:?}")] {
            assert!(!shown.contains(&link.code) && !shown.contains(&session.secret));
        }
    }

    #[test]
    fn a_restored_folder_has_no_sessions_and_no_links() {
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        let link = registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
        let session = registry
            .sign_in_with_password("ann", PASSWORD, &client())
            .unwrap();
        let file = test.folder.path().join("copy");
        registry.backup(&file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let restored = folder.path().join("data");
        let restored = Registry::restore(&file, &restored, environment(&test.now)).unwrap();
        assert_eq!(restored.session(&session.secret).unwrap(), None);
        assert_eq!(restored.look_at_link(&link.code).unwrap(), None);
        assert!(restored.check_password("ann", PASSWORD).unwrap());
    }
}
