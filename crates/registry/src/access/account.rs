//! Accounts.

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// An account: it can be granted roles, and programs act for it with tokens.
///
/// ```
/// # use handfast_registry::{Principal, Registry, Environment};
/// # let folder = tempfile::tempdir().unwrap();
/// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
/// registry.create_account(&Principal::Operator, "ann", "Ann of the map room")?;
/// assert_eq!(registry.accounts()?[0].name, "ann");
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its name, as grants use it.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// Whether it is suspended: its tokens are rejected, and it cannot sign in.
    pub is_suspended: bool,
    /// Whether it is an administrator, over the web, too.
    pub is_administrator: bool,
    /// The address for mail to its owner; empty if there is none. It is never public.
    pub email: String,
}

/// A change of an account; unset fields stay as they are.
#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    /// A title for people.
    pub title: Option<String>,
    /// Whether it is suspended: its tokens are rejected.
    pub suspended: Option<bool>,
    /// Whether it is an administrator.
    pub administrator: Option<bool>,
    /// The address for mail to its owner; an empty one removes it.
    pub email: Option<String>,
}

impl Account {
    /// Checks that a text can be the address for mail of an account; an empty one can.
    pub fn check_email(email: &str) -> Result<(), RegistryError> {
        checked_email(email).map(|_| ())
    }

    /// Accounts stored by earlier versions lack the address for mail, or that and the two flags:
    /// they have no address, and are neither suspended nor administrators.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let with = |rest: &[u8]| postcard::from_bytes(&[bytes, rest].concat()).ok();
        let whole = postcard::from_bytes(bytes).ok();
        whole.or_else(|| with(&[0])).or_else(|| with(&[0, 0, 0]))
    }
}

/// The maximum length of the title of an account, in bytes.
const MAX_TITLE_BYTES: usize = handfast_api::limits::ACCOUNT_TITLE;
/// The maximum length of an address for mail, in bytes.
const MAX_EMAIL_BYTES: usize = handfast_api::limits::ACCOUNT_EMAIL;

impl Registry {
    /// Creates an account. Only the operator and administrators may.
    pub fn create_account(
        &self,
        who: &Principal,
        name: &str,
        title: &str,
    ) -> Result<(), RegistryError> {
        let account = named(name)?;
        let title = checked_title(title)?;
        self.change(who, move |change_set| {
            change_set.need_administrator()?;
            if change_set.account(&account)?.is_some() {
                return Err(RegistryError::policy(
                    "account-exists",
                    format!("account {account} exists already"),
                ));
            }
            change_set.make_account(&account, &title)
        })
    }

    /// Changes an account. The operator and administrators may, and the account itself may change
    /// its title and e-mail address.
    ///
    /// ```
    /// # use handfast_registry::{AccountChange, NewToken, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_account(&operator, "ann", "")?;
    /// let (token, _) = registry.create_token(&operator, "ann", NewToken::default())?;
    /// let suspend = AccountChange { suspended: Some(true), ..AccountChange::default() };
    /// registry.change_account(&operator, "ann", &suspend)?;
    /// assert_eq!(registry.who_has(&token)?, None);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn change_account(
        &self,
        who: &Principal,
        name: &str,
        change: &AccountChange,
    ) -> Result<Account, RegistryError> {
        let account = named(name)?;
        let title = change.title.as_deref().map(checked_title).transpose()?;
        let email = change.email.as_deref().map(checked_email).transpose()?;
        let (suspended, administrator) = (change.suspended, change.administrator);
        self.change(who, move |change_set| {
            // Everybody may say what they are called.
            let is_description = suspended.is_none() && administrator.is_none();
            let is_own = matches!(change_set.who(), own @ Principal::Account(_) if *own == account);
            if !(is_description && is_own) {
                change_set.need_administrator()?;
            }
            let found = change_set.account(&account)?;
            let mut stored = found.ok_or_else(|| no_account(&account))?;
            let takes_own = suspended == Some(true) || administrator == Some(false);
            if takes_own && *change_set.who() == account {
                let problem = "someone else takes the rights of your own account";
                return Err(RegistryError::policy("own-account", problem));
            }
            if suspended == Some(true) {
                change_set.forget_sign_ins(&account)?;
            }
            stored.title = title.unwrap_or(stored.title);
            stored.is_suspended = suspended.unwrap_or(stored.is_suspended);
            stored.is_administrator = administrator.unwrap_or(stored.is_administrator);
            stored.email = email.unwrap_or(stored.email);
            change_set.store_encoded(Table::Accounts, account.key().as_bytes(), &stored)?;
            change_set.note(Action::Account, &account.key())?;
            Ok(stored)
        })
    }

    /// An account.
    pub fn account(&self, name: &str) -> Result<Account, RegistryError> {
        let account = named(name)?;
        let found = self.read(|view| view.account(&account))?;
        found.ok_or_else(|| no_account(&account))
    }

    /// All accounts, by name.
    pub fn accounts(&self) -> Result<Vec<Account>, RegistryError> {
        let mut accounts = Vec::new();
        self.read(|view| {
            view.scan_names(&TableKey::named(Table::Accounts, b""), |_, bytes| {
                accounts.extend(Account::from_bytes(bytes));
                Ok(())
            })
        })?;
        Ok(accounts)
    }
}

pub(crate) fn named(name: &str) -> Result<Principal, RegistryError> {
    let account = Principal::account(name);
    account.map_err(|error| RegistryError::policy("bad-account", error.to_string()))
}

pub(crate) fn checked_title(title: &str) -> Result<String, RegistryError> {
    if title.len() > MAX_TITLE_BYTES {
        let problem = format!("the title of an account has at most {MAX_TITLE_BYTES} bytes");
        return Err(RegistryError::policy("too-large", problem));
    }
    Ok(title.to_string())
}

/// Checks an address for mail. Only its recipient knows whether it is right, so this finds no more
/// than typing errors.
pub(crate) fn checked_email(email: &str) -> Result<String, RegistryError> {
    let is_clean = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    let parts = email.rsplit_once('@');
    let is_address = parts.is_some_and(|(local, host)| is_clean(local) && is_clean(host));
    if email.len() > MAX_EMAIL_BYTES || !email.is_empty() && !is_address {
        let problem = format!(
            "an e-mail address is written ann@example.org, with at most {MAX_EMAIL_BYTES} bytes"
        );
        return Err(RegistryError::policy("bad-email", problem));
    }
    Ok(email.to_string())
}

pub(crate) fn no_account(account: &Principal) -> RegistryError {
    let problem = format!("there is no account {account}: run `handfast user create {account}`");
    RegistryError::policy("no-account", problem)
}

impl View<'_> {
    pub(crate) fn account(&self, account: &Principal) -> Result<Option<Account>, RegistryError> {
        let key = account.key();
        let table_key = TableKey::named(Table::Accounts, key.as_bytes());
        self.stored(&table_key, Account::from_bytes, || {
            format!("the account {key}")
        })
    }

    /// Whether the principal is an administrator's account without the limits of a token.
    pub(crate) fn administers(&self, who: &Principal) -> Result<bool, RegistryError> {
        if !matches!(who, Principal::Account(name) if !name.is_empty()) {
            return Ok(false);
        }
        let account = self.account(who)?;
        Ok(account.is_some_and(|account| account.is_administrator && !account.is_suspended))
    }
}

impl ChangeSet<'_> {
    /// Checks that the principal is the operator or an administrator.
    pub(crate) fn need_administrator(&self) -> Result<(), RegistryError> {
        if self.may_do_all(self.who())? {
            return Ok(());
        }
        let problem = "this is for the operator and for administrators";
        Err(RegistryError::policy("operator-only", problem))
    }

    pub(crate) fn make_account(
        &mut self,
        account: &Principal,
        title: &str,
    ) -> Result<(), RegistryError> {
        self.make_account_with(account, title, String::new())
    }

    /// The same with an address for mail.
    pub(crate) fn make_account_with(
        &mut self,
        account: &Principal,
        title: &str,
        email: String,
    ) -> Result<(), RegistryError> {
        let stored = Account {
            name: account.to_string(),
            title: title.to_string(),
            created: self.time(),
            is_suspended: false,
            is_administrator: false,
            email,
        };
        self.store_encoded(Table::Accounts, account.key().as_bytes(), &stored)?;
        self.note(Action::Account, &account.key())
    }

    /// Checks that the owner of a token has an account.
    pub(crate) fn need_account(&self, account: &Principal) -> Result<(), RegistryError> {
        match self.account(account)? {
            Some(found) if found.is_suspended => {
                let problem = format!("account {account} is suspended");
                Err(RegistryError::policy("suspended", problem))
            }
            Some(_) => Ok(()),
            None => Err(no_account(account)),
        }
    }

    /// Checks that the account of a grantee exists. It is created only if the caller asks for that
    /// and may: nobody can remove an account that a typing error would create.
    pub(crate) fn need_or_create_account(
        &mut self,
        who: &Principal,
        creates_account: bool,
    ) -> Result<(), RegistryError> {
        if let Principal::Group(_) = who {
            return self.existing_group(who).map(|_| ());
        }
        if !matches!(who, Principal::Account(_)) || self.account(who)?.is_some() {
            return Ok(());
        }
        if !creates_account {
            let problem = format!(
                "there is no account {who}: give --create, or run `handfast user create {who}`"
            );
            return Err(RegistryError::policy("no-account", problem));
        }
        self.need_administrator()?;
        self.make_account(who, "")
    }

    /// Creates the account, or the group without members, that an imported record names, if it does
    /// not exist.
    pub(crate) fn ensure_account(&mut self, who: &Principal) -> Result<(), RegistryError> {
        match who {
            Principal::Account(_) if self.account(who)?.is_none() => self.make_account(who, ""),
            Principal::Group(_) if self.group(who)?.is_none() => self.make_group(who, ""),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format on disk: if this test fails, the code is wrong.
    #[test]
    fn accounts_of_all_versions_are_read() {
        let first = [&b"\x03ann\x03Ann"[..], &[7]].concat();
        let second = [&first[..], &[1, 0]].concat();
        let third = [&second[..], b"\x05a@b.c"].concat();
        let read = |bytes: &[u8]| Account::from_bytes(bytes).unwrap();
        for (bytes, is_suspended, email) in [
            (&first, false, ""),
            (&second, true, ""),
            (&third, true, "a@b.c"),
        ] {
            let expected = Account {
                name: "ann".into(),
                title: "Ann".into(),
                created: 7,
                is_suspended,
                is_administrator: false,
                email: email.into(),
            };
            assert_eq!(read(bytes), expected);
        }
        assert_eq!(postcard::to_stdvec(&read(&third)).unwrap(), third);
        assert_eq!(Account::from_bytes(b"\x03ann"), None);
    }
}
