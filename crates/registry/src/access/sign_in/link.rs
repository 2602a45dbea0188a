//! One-time links: a person signs in once, without a password.

use std::fmt;

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::account::Account;
use crate::access::principal::Principal;
use crate::access::sign_in::audit::{SignIn, SignInMeans, SignInOutcome};
use crate::access::sign_in::session::NewSession;
use crate::access::sign_in::{Secret, SignInClient, is_own, key_of, subject};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// A one-time link. Its code is not stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SignInLink {
    /// The code, for the path `/console/enter/CODE`.
    pub code: String,
    /// The account that signs in with it, or `INDEX:HANDLE`.
    pub account: String,
    /// When it ends, in milliseconds since 1970.
    pub expires: u64,
}

impl fmt::Debug for SignInLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInLink")
            .field("account", &self.account)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// A link, as the page that it leads to shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// The account that signs in with it, or `INDEX:HANDLE`.
    pub account: String,
    /// The title of the account.
    pub title: String,
    /// When it ends, in milliseconds since 1970.
    pub expires: u64,
    /// Whether it is an invitation.
    pub is_invitation: bool,
}

/// A link in the store.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredLink {
    account: String,
    pub(crate) expires: u64,
    pub(crate) kind: LinkKind,
}

/// What a link is for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LinkKind {
    /// For an account that exists.
    SignIn,
    /// For an account that this principal has invited.
    Invitation { by: String },
    /// For the first administrator, whose account it creates.
    First,
}

impl LinkKind {
    fn lifetime(&self) -> u64 {
        match self {
            Self::Invitation { .. } => INVITATION_LIFETIME,
            Self::SignIn | Self::First => LIFETIME,
        }
    }

    fn means(&self) -> SignInMeans {
        match self {
            Self::Invitation { .. } => SignInMeans::Invitation,
            Self::SignIn | Self::First => SignInMeans::Link,
        }
    }
}

/// The start of the keys of links in the table `meta`.
pub(crate) const KEYS: &[u8] = b"link:";
/// How long a link can be used.
const LIFETIME: u64 = 15 * 60 * 1_000;
/// How long an invitation can be used: it reaches a person by mail, or by a colleague.
pub(crate) const INVITATION_LIFETIME: u64 = 7 * 24 * 60 * 60 * 1_000;
/// The accounts of the first administrator: the first name that is free.
const FIRST_ACCOUNTS: [&str; 2] = ["admin", "administrator"];

impl Registry {
    /// Creates a one-time link, and ends earlier ones of the account. For the operator and
    /// administrators. A handle identity creates links for itself: it has proved its key. An
    /// account does not: by its token, a program would get a sign-in that outlives the token.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry, SignInClient};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_account(&operator, "ann", "")?;
    /// let link = registry.create_sign_in_link(&operator, "ann")?;
    /// // Looking does not spend it.
    /// assert_eq!(registry.look_at_link(&link.code)?.unwrap().account, "ann");
    /// let new = registry.use_link(&link.code, &SignInClient::default())?;
    /// assert_eq!(new.session.account, "ann");
    /// assert_eq!(registry.look_at_link(&link.code)?, None);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn create_sign_in_link(
        &self,
        who: &Principal,
        account: &str,
    ) -> Result<SignInLink, RegistryError> {
        let (subject, secret, by) = (subject(account)?, self.new_secret(), who.to_string());
        self.change(who, move |change_set| {
            if !matches!(subject, Principal::Identity { .. }) || !is_own(change_set.who(), &subject)
            {
                change_set.need_administrator()?;
            }
            change_set.create_link(secret, &subject, LinkKind::SignIn, &by)
        })
    }

    /// A link for the first administrator, if no account can sign in yet. The link creates the
    /// account `admin` when it is used, unless there is an administrator. `None` if an account has
    /// a password.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry, SignInClient};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let link = registry.first_sign_in_link()?.unwrap();
    /// let client = SignInClient::default();
    /// let new = registry.use_link(&link.code, &client)?;
    /// assert!(registry.account("admin")?.is_administrator);
    /// registry.choose_password(&new.secret, "a blue horse swims at dawn", &client)?;
    /// assert!(registry.first_sign_in_link()?.is_none());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn first_sign_in_link(&self) -> Result<Option<SignInLink>, RegistryError> {
        let secret = self.new_secret();
        self.change(&Principal::Operator, move |change_set| {
            if change_set.anybody_has_password()? {
                return Ok(None);
            }
            let Some(subject) = change_set.first_administrator()? else {
                return Ok(None);
            };
            let is_first = change_set.account(&subject)?.is_none();
            let kind = if is_first {
                LinkKind::First
            } else {
                LinkKind::SignIn
            };
            let by = Principal::Operator.to_string();
            change_set
                .create_link(secret, &subject, kind, &by)
                .map(Some)
        })
    }

    /// A link that can be used. Nothing is spent.
    pub fn look_at_link(&self, code: &str) -> Result<Option<LinkInfo>, RegistryError> {
        let Some(key) = key_of(KEYS, code) else {
            return Ok(None);
        };
        let now = self.time();
        self.read(|view| {
            let Some(link) = view.usable_link(&key, now)? else {
                return Ok(None);
            };
            let account = view.account(&subject(&link.account)?)?;
            Ok(Some(LinkInfo {
                account: link.account,
                title: account.map(|account| account.title).unwrap_or_default(),
                expires: link.expires,
                is_invitation: link.kind.means() == SignInMeans::Invitation,
            }))
        })
    }

    /// Spends a link: signs its account in.
    pub fn use_link(&self, code: &str, client: &SignInClient) -> Result<NewSession, RegistryError> {
        let key = key_of(KEYS, code).ok_or_else(no_link)?;
        let (now, client) = (self.time(), client.clone());
        self.start(self.new_secret(), move |change_set, secret| {
            let link = change_set.usable_link(&key, now)?.ok_or_else(no_link)?;
            let account = subject(&link.account)?;
            if link.kind == LinkKind::First {
                change_set.make_administrator(&account)?;
            }
            change_set.delete_meta(&key);
            change_set.start_session(secret, &account, link.kind.means(), &client)
        })
    }
}

impl View<'_> {
    fn usable_link(&self, key: &[u8], now: u64) -> Result<Option<StoredLink>, RegistryError> {
        let link: Option<StoredLink> = self.decode_stored(Table::Meta, key)?;
        let Some(link) = link.filter(|link| link.expires > now) else {
            return Ok(None);
        };
        let account = subject(&link.account)?;
        let may_sign_in = match link.kind {
            LinkKind::First => !self.anybody_has_password()? && self.account(&account)?.is_none(),
            _ => self.may_sign_in(&account)?,
        };
        Ok(Some(link).filter(|_| may_sign_in))
    }

    /// All stored links, with their keys.
    pub(crate) fn links(&self) -> Result<Vec<(Vec<u8>, StoredLink)>, RegistryError> {
        let mut found = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, KEYS), |table_key, bytes| {
            if let Ok(link) = postcard::from_bytes(bytes) {
                found.push((table_key.name().to_vec(), link));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl ChangeSet<'_> {
    /// Creates a link, and deletes earlier ones of the same principal and those that have ended.
    pub(crate) fn create_link(
        &mut self,
        secret: Secret,
        subject: &Principal,
        kind: LinkKind,
        by: &str,
    ) -> Result<SignInLink, RegistryError> {
        if matches!(subject, Principal::Account(_)) && kind != LinkKind::First {
            self.need_account(subject)?;
        }
        let account = self.account(subject)?.map(|account| account.name);
        let account = account.unwrap_or_else(|| subject.to_string());
        self.forget_links(subject)?;
        let means = kind.means();
        let link = StoredLink {
            account: account.clone(),
            expires: self.time().saturating_add(kind.lifetime()),
            kind,
        };
        self.store_encoded(Table::Meta, &[KEYS, &secret.digest[..]].concat(), &link)?;
        let client = SignInClient::default();
        let entry = SignIn::new(&account, means, SignInOutcome::LinkCreated, &client);
        self.note_sign_in(entry.by(by))?;
        Ok(SignInLink {
            code: secret.text,
            account,
            expires: link.expires,
        })
    }

    /// Deletes the links of a principal, and all that have ended.
    pub(crate) fn forget_links(&mut self, subject: &Principal) -> Result<(), RegistryError> {
        let now = self.time();
        for (key, link) in self.links()? {
            let is_meant = Principal::parse(&link.account).as_ref() == Ok(subject);
            if is_meant || link.expires <= now {
                self.delete_meta(&key);
            }
        }
        Ok(())
    }

    /// The account that the first administrator has, or will have. `None` if its names belong to
    /// other accounts: none of them becomes an administrator by a restart.
    fn first_administrator(&self) -> Result<Option<Principal>, RegistryError> {
        let mut found = None;
        self.scan_names(&TableKey::named(Table::Accounts, b""), |_, bytes| {
            let account = Account::from_bytes(bytes);
            let account = account.filter(|a| a.is_administrator && !a.is_suspended);
            found = found.take().or(account.map(|account| account.name));
            Ok(())
        })?;
        if let Some(name) = found {
            return Ok(Some(Principal::Account(name)));
        }
        for name in FIRST_ACCOUNTS {
            let new = Principal::Account(name.to_string());
            if self.account(&new)?.is_none() {
                return Ok(Some(new));
            }
        }
        Ok(None)
    }

    /// Creates the account of the first administrator.
    fn make_administrator(&mut self, account: &Principal) -> Result<(), RegistryError> {
        self.make_account(account, "")?;
        let Some(stored) = self.account(account)? else {
            return Ok(());
        };
        let stored = Account {
            is_administrator: true,
            ..stored
        };
        self.store_encoded(Table::Accounts, account.key().as_bytes(), &stored)
    }
}

fn no_link() -> RegistryError {
    let problem = "this link was used or replaced, or it has ended: an administrator makes another \
                   with `handfast user sign-in NAME`";
    RegistryError::policy("no-link", problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sign_in::tests::{OPERATOR, PASSWORD, SignInTest, ann, client};
    use crate::{AccountChange, NewToken};

    #[test]
    fn a_link_works_once_and_for_15_minutes() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let link = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        assert!(registry.look_at_link(&link.code).unwrap().is_some());
        let session = registry.use_link(&link.code, &client()).unwrap().session;
        assert_eq!(
            (session.account.as_str(), session.means),
            ("ann", SignInMeans::Link)
        );
        let again = registry.use_link(&link.code, &client());
        assert_eq!(again.unwrap_err().code(), "no-link");
        let late = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        test.advance(LIFETIME);
        assert_eq!(registry.look_at_link(&late.code).unwrap(), None);
        assert!(registry.use_link(&late.code, &client()).is_err());
        for code in ["", "x", &"x".repeat(9_999)] {
            assert!(registry.use_link(code, &client()).is_err());
        }
    }

    #[test]
    fn of_many_uses_at_once_one_signs_in() {
        let test = SignInTest::new();
        let link = test.registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        let enter = || test.registry.use_link(&link.code, &client()).is_ok();
        let entered = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(enter)).collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.filter(|entered| *entered).count()
        });
        assert_eq!(entered, 1);
    }

    #[test]
    fn a_new_link_replaces_the_one_before() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let first = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        let of_bob = registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
        let second = registry.create_sign_in_link(&OPERATOR, "Ann").unwrap();
        assert!(registry.use_link(&first.code, &client()).is_err());
        assert!(registry.use_link(&second.code, &client()).is_ok());
        assert!(registry.use_link(&of_bob.code, &client()).is_ok());
    }

    #[test]
    fn links_are_created_by_the_operator_and_by_administrators() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let (token, _) = registry
            .create_token(&OPERATOR, "ann", NewToken::default())
            .unwrap();
        let with_token = registry.who_has(&token).unwrap().unwrap();
        let identity = Principal::parse("300:20.1000/ann").unwrap();
        for (who, account, may) in [
            (&OPERATOR, "ann", true),
            (&with_token, "ann", false),
            (&ann(), "bob", false),
            (&Principal::nobody(), "ann", false),
            (&identity, "ann", false),
            (&identity, "300:20.1000/ann", true),
            (&identity, "301:20.1000/ann", false),
            (&OPERATOR, "nobody", false),
        ] {
            let made = registry.create_sign_in_link(who, account);
            assert_eq!(made.is_ok(), may, "{who} for {account}");
        }
    }

    #[test]
    fn a_handle_identity_signs_in_as_itself() {
        let test = SignInTest::new();
        let identity = Principal::parse("300:20.1000/ann").unwrap();
        let registry = &test.registry;
        let link = registry.create_sign_in_link(&identity, "300:20.1000/ann");
        let new = registry.use_link(&link.unwrap().code, &client()).unwrap();
        assert_eq!(new.session.who(), identity);
        assert_eq!(
            registry
                .sessions(&identity, "300:20.1000/ann")
                .unwrap()
                .len(),
            1
        );
        assert!(registry.end_session(&ann(), &new.session.id).is_err());
        registry.end_session(&identity, &new.session.id).unwrap();
    }

    #[test]
    fn a_link_of_a_suspended_account_does_not_work() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let link = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        let suspend = AccountChange {
            suspended: Some(true),
            ..AccountChange::default()
        };
        registry.change_account(&OPERATOR, "ann", &suspend).unwrap();
        assert_eq!(registry.look_at_link(&link.code).unwrap(), None);
        assert!(registry.use_link(&link.code, &client()).is_err());
        assert!(registry.create_sign_in_link(&OPERATOR, "ann").is_err());
    }

    #[test]
    fn the_first_link_is_for_an_administrator_until_an_account_can_sign_in() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let first = registry.first_sign_in_link().unwrap().unwrap();
        assert_eq!(first.account, "admin");
        // The server was started again before the link was used.
        let second = registry.first_sign_in_link().unwrap().unwrap();
        assert_eq!(second.account, "admin");
        assert!(registry.use_link(&first.code, &client()).is_err());
        // The account is created when the link is used.
        assert!(registry.look_at_link(&second.code).unwrap().is_some());
        assert!(registry.account("admin").is_err());
        assert!(registry.use_link(&second.code, &client()).is_ok());
        assert!(registry.account("admin").unwrap().is_administrator);
        // Nobody could sign in again after this session.
        assert!(registry.first_sign_in_link().unwrap().is_some());
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        assert_eq!(registry.first_sign_in_link().unwrap(), None);
        assert_eq!(registry.check().unwrap().problems, []);
    }

    /// The link of a server that was set up otherwise meanwhile would have made an administrator.
    #[test]
    fn the_first_link_ends_when_an_account_can_sign_in() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let first = registry.first_sign_in_link().unwrap().unwrap();
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        assert_eq!(registry.look_at_link(&first.code).unwrap(), None);
        assert!(registry.use_link(&first.code, &client()).is_err());
        assert!(registry.account("admin").is_err());
    }

    /// An ordinary account would have become an administrator by a restart.
    #[test]
    fn an_existing_account_is_not_made_an_administrator() {
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.create_account(&OPERATOR, "Admin", "").unwrap();
        let link = registry.first_sign_in_link().unwrap().unwrap();
        assert_eq!(link.account, "administrator");
        registry.use_link(&link.code, &client()).unwrap();
        assert!(!registry.account("admin").unwrap().is_administrator);
    }
}
