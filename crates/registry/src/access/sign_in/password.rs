//! Passwords of accounts.

use handfast_store::{Table, TableKey};

use crate::access::account::no_account;
use crate::access::principal::Principal;
use crate::access::sign_in::audit::{SignIn, SignInMeans, SignInOutcome};
use crate::access::sign_in::hashing::PasswordHash;
use crate::access::sign_in::session::{NewSession, session_ended};
use crate::access::sign_in::{SignInClient, is_own, not_yours, password_rules};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// The start of the keys of passwords in the table `meta`.
const KEYS: &[u8] = b"password:";

/// A password that was right.
pub(crate) struct VerifiedPassword {
    pub(crate) account: Principal,
    /// The hash that it was compared with.
    pub(crate) checked: PasswordHash,
    /// A hash with the parameters of today, if the stored one has others.
    pub(crate) renewed: Option<PasswordHash>,
}

impl Registry {
    /// Sets the password of an account, and ends its sessions and links. For the account itself,
    /// the operator and administrators. A password has at least 15 characters, and is not made of
    /// common pieces.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_account(&operator, "ann", "")?;
    /// let short = registry.set_password(&operator, "ann", "secret");
    /// assert_eq!(short.unwrap_err().code(), "short-password");
    /// registry.set_password(&operator, "ann", "a blue horse swims at dawn")?;
    /// assert!(registry.check_password("ann", "a blue horse swims at dawn")?);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn set_password(
        &self,
        who: &Principal,
        account: &str,
        password: &str,
    ) -> Result<(), RegistryError> {
        let account = named(account)?;
        // Nobody else has a hash computed.
        if !is_own(who, &account) && !self.is_administrator(who)? {
            return Err(not_yours());
        }
        let hash = self.new_hash(&account, password)?;
        let by = who.to_string();
        self.change(who, move |change_set| {
            change_set.need_own(&account)?;
            change_set.replace_password(&account, &hash, &by, &SignInClient::default())
        })
    }

    /// Sets the password of the account that is signed in. All its sessions end; the caller gets a
    /// new one. Needs a fresh sign-in.
    pub fn choose_password(
        &self,
        secret: &str,
        password: &str,
        client: &SignInClient,
    ) -> Result<NewSession, RegistryError> {
        let session = self.session(secret)?.ok_or_else(session_ended)?;
        if !session.is_fresh(self.time()) {
            let problem = "changing a password needs a fresh sign-in: sign in again";
            return Err(RegistryError::policy("sign-in-again", problem));
        }
        let account = named(&session.account)?;
        let hash = self.new_hash(&account, password)?;
        let (client, means, id) = (client.clone(), session.means, session.id);
        self.start(self.new_secret(), move |change_set, secret| {
            // The session may have been ended while the hash was computed.
            if !change_set.has_session(&account, &id)? {
                return Err(session_ended());
            }
            change_set.replace_password(&account, &hash, &account.to_string(), &client)?;
            change_set.start_session(secret, &account, means, &client)
        })
    }

    /// Whether a password is that of an account. Takes as long for accounts that do not exist, are
    /// suspended or have no password: for those it is `false`.
    pub fn check_password(&self, account: &str, password: &str) -> Result<bool, RegistryError> {
        Ok(self.verify(account, password)?.is_some())
    }

    /// Whether an account has a password.
    pub fn has_password(&self, account: &str) -> Result<bool, RegistryError> {
        let account = named(account)?;
        self.read(|view| Ok(view.password(&account)?.is_some()))
    }

    pub(crate) fn verify(
        &self,
        account: &str,
        password: &str,
    ) -> Result<Option<VerifiedPassword>, RegistryError> {
        let stored = match Principal::account(account) {
            Ok(account) => self.read(|view| {
                let password = view.password(&account)?;
                let may_sign_in = view.may_sign_in(&account)?;
                Ok(password.filter(|_| may_sign_in).map(|hash| (account, hash)))
            })?,
            Err(_) => None,
        };
        let permits = &self.sign_in.permits;
        let Some((account, checked)) = stored else {
            PasswordHash::of_nobody().matches(permits, password)?;
            return Ok(None);
        };
        if !checked.matches(permits, password)? {
            return Ok(None);
        }
        let renewed = checked.is_outdated().then(|| {
            let salt = first_bytes(self.random());
            PasswordHash::new(permits, password, salt, checked.set)
        });
        Ok(Some(VerifiedPassword {
            account,
            checked,
            renewed: renewed.transpose()?,
        }))
    }

    fn new_hash(&self, account: &Principal, password: &str) -> Result<PasswordHash, RegistryError> {
        let name = account.to_string();
        password_rules::check(password, &[&name])?;
        let salt = first_bytes(self.random());
        PasswordHash::new(&self.sign_in.permits, password, salt, self.time())
    }
}

impl View<'_> {
    pub(crate) fn password(
        &self,
        account: &Principal,
    ) -> Result<Option<PasswordHash>, RegistryError> {
        let read = |bytes: &[u8]| postcard::from_bytes(bytes).ok();
        let key = key_of_account(account);
        let table_key = TableKey::named(Table::Meta, &key);
        self.stored(&table_key, read, || format!("the password of {account}"))
    }

    /// Whether an account can sign in with a password.
    pub(crate) fn anybody_has_password(&self) -> Result<bool, RegistryError> {
        let mut accounts = Vec::new();
        self.scan_names(&TableKey::named(Table::Meta, KEYS), |table_key, _| {
            let key = table_key.name().strip_prefix(KEYS).unwrap_or_default();
            accounts.push(key.to_vec());
            Ok(())
        })?;
        for key in accounts {
            let name = key.strip_prefix(b"account:").map(String::from_utf8_lossy);
            let account = name.and_then(|name| Principal::account(&name).ok());
            if let Some(account) = account
                && self.may_sign_in(&account)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl ChangeSet<'_> {
    pub(crate) fn store_password(
        &mut self,
        account: &Principal,
        hash: &PasswordHash,
    ) -> Result<(), RegistryError> {
        self.store_encoded(Table::Meta, &key_of_account(account), hash)
    }

    /// Stores a new password, ends the sessions and links of the account, and records that.
    fn replace_password(
        &mut self,
        account: &Principal,
        hash: &PasswordHash,
        by: &str,
        client: &SignInClient,
    ) -> Result<(), RegistryError> {
        self.need_account(account)?;
        self.store_password(account, hash)?;
        self.forget_sessions(account, None)?;
        self.forget_links(account)?;
        let name = self.account(account)?.map(|account| account.name);
        let name = name.ok_or_else(|| no_account(account))?;
        let means = SignInMeans::Password;
        let entry = SignIn::new(&name, means, SignInOutcome::PasswordSet, client);
        self.note_sign_in(entry.by(by))
    }
}

fn named(account: &str) -> Result<Principal, RegistryError> {
    let account = Principal::account(account);
    account.map_err(|error| RegistryError::policy("bad-account", error.to_string()))
}

fn key_of_account(account: &Principal) -> Vec<u8> {
    [KEYS, account.key().as_bytes()].concat()
}

fn first_bytes(random: [u8; 32]) -> [u8; 16] {
    random.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccountChange;
    use crate::access::sign_in::tests::{OPERATOR, PASSWORD, SignInTest, ann, client};

    const OTHER: &str = "seven green owls read maps";

    #[test]
    fn only_the_right_password_of_an_active_account_is_right() {
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.set_password(&OPERATOR, "Ann", PASSWORD).unwrap();
        let check = |account, password| registry.check_password(account, password).unwrap();
        assert!(check("ann", PASSWORD) && check("ANN", PASSWORD));
        assert!(registry.has_password("ann").unwrap() && !registry.has_password("bob").unwrap());
        for (account, password) in [
            ("ann", OTHER),
            ("ann", ""),
            ("bob", PASSWORD),
            ("nobody", PASSWORD),
            ("no account: a text", PASSWORD),
            ("", ""),
        ] {
            assert!(!check(account, password), "{account}");
        }
        let suspend = AccountChange {
            suspended: Some(true),
            ..AccountChange::default()
        };
        registry.change_account(&OPERATOR, "ann", &suspend).unwrap();
        assert!(!check("ann", PASSWORD));
    }

    #[test]
    fn a_password_is_set_by_its_owner_and_by_administrators_only() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let bob = Principal::parse("bob").unwrap();
        for (who, may) in [(&bob, false), (&Principal::nobody(), false), (&ann(), true)] {
            let set = registry.set_password(who, "ann", PASSWORD);
            assert_eq!(set.is_ok(), may, "{who}");
        }
        let administrator = AccountChange {
            administrator: Some(true),
            ..AccountChange::default()
        };
        registry
            .change_account(&OPERATOR, "bob", &administrator)
            .unwrap();
        registry.set_password(&bob, "ann", OTHER).unwrap();
        assert!(registry.check_password("ann", OTHER).unwrap());
        let none = registry.set_password(&OPERATOR, "eve", PASSWORD);
        assert_eq!(none.unwrap_err().code(), "no-account");
    }

    /// A thief who knew the old password would have stayed signed in.
    #[test]
    fn a_new_password_ends_all_sessions_and_links() {
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        let old = registry
            .sign_in_with_password("ann", PASSWORD, &client())
            .unwrap();
        let link = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        let new = registry.choose_password(&old.secret, OTHER, &client());
        let new = new.unwrap();
        assert_eq!(registry.session(&old.secret).unwrap(), None);
        assert_eq!(registry.look_at_link(&link.code).unwrap(), None);
        assert_eq!(registry.session(&new.secret).unwrap(), Some(new.session));
        assert!(registry.check_password("ann", OTHER).unwrap());
        registry.set_password(&ann(), "ann", PASSWORD).unwrap();
        assert_eq!(registry.session(&new.secret).unwrap(), None);
    }

    #[test]
    fn choosing_a_password_needs_a_fresh_sign_in_and_a_good_password() {
        let test = SignInTest::new();
        let registry = &test.registry;
        let link = registry.create_sign_in_link(&OPERATOR, "ann").unwrap();
        let session = registry.use_link(&link.code, &client()).unwrap();
        let code = |password| {
            let chosen = registry.choose_password(&session.secret, password, &client());
            chosen.unwrap_err().code()
        };
        assert_eq!(code("too short"), "short-password");
        assert_eq!(code("password123456789"), "common-password");
        test.advance(600_000);
        assert_eq!(code(PASSWORD), "sign-in-again");
        assert!(!registry.has_password("ann").unwrap());
    }
}
