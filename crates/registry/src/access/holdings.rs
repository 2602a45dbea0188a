//! Everything that an account has, for the day on which its owner leaves.

use handfast_store::{Table, TableKey};

use crate::access::account::{Account, named, no_account};
use crate::access::principal::Principal;
use crate::access::token::Token;
use crate::access::why::group_of;
use crate::authority::policy::{Authority, Role};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::Record;
use crate::registry::Registry;

/// Everything that an account has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// The account.
    pub account: Account,
    /// Its roles, by authority, also those of its groups.
    pub roles: Vec<AccountRole>,
    /// Its tokens, oldest first.
    pub tokens: Vec<Token>,
    /// Its groups, by name.
    pub groups: Vec<String>,
    /// The number of names that were transferred to it.
    pub names: u64,
    /// Whether all names were counted, and not only the first 100,000 of the registry.
    pub is_complete: bool,
}

/// A role on an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRole {
    /// The authority.
    pub authority: String,
    /// The role.
    pub role: Role,
    /// The group that it was granted to, if not to the account itself.
    pub through: Option<String>,
}

/// How many names are read to count those of an account.
const MAX_NAMES_READ: usize = 100_000;

impl Registry {
    /// Everything that an account has: roles, tokens, groups, and names that were transferred to
    /// it. The account itself may ask, and administrators.
    pub fn holdings(&self, who: &Principal, account: &str) -> Result<Holdings, RegistryError> {
        let account = named(account)?;
        self.read(|view| {
            view.need_own_or_administrator(who, &account)?;
            let found = view
                .account(&account)?
                .ok_or_else(|| no_account(&account))?;
            let mut tokens: Vec<_> = view.tokens_of(Some(&account))?;
            tokens.sort_by_key(|(_, token)| token.created);
            let (names, is_complete) = view.transferred_names(&account)?;
            Ok(Holdings {
                account: found,
                roles: view.account_roles(&account, usize::MAX)?,
                tokens: tokens.into_iter().map(|(_, token)| token).collect(),
                groups: view.groups_of(&account)?,
                names,
                is_complete,
            })
        })
    }

    /// The roles of a principal, for itself: handle identities have no account, and roles all the
    /// same.
    pub fn own_roles(&self, who: &Principal) -> Result<Vec<AccountRole>, RegistryError> {
        self.read(|view| view.account_roles(who, usize::MAX))
    }

    /// The names that were transferred to an account, up to a number, among the first 100,000 of
    /// the registry. For the account itself and for administrators.
    ///
    /// ```
    /// # use handfast_registry::{NameAction, NewAuthority, NewName, Principal, Registry};
    /// # use handfast_registry::Environment;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/a", NewName::default())?;
    /// let to = Principal::parse("ann").unwrap();
    /// let transfer = NameAction::Transfer { to, creates_account: true };
    /// registry.change_name(&operator, "20.1000/a", None, transfer)?;
    /// assert_eq!(registry.names_transferred_to(&operator, "ann", 10)?, ["20.1000/a"]);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn names_transferred_to(
        &self,
        who: &Principal,
        account: &str,
        limit: usize,
    ) -> Result<Vec<String>, RegistryError> {
        let account = named(account)?;
        self.read(|view| {
            view.need_own_or_administrator(who, &account)?;
            let mut names = Vec::new();
            view.visit_transferred(&account, &mut |record| {
                names.push(record.text);
                names.len() < limit
            })?;
            Ok(names)
        })
    }

    /// The roles that were granted to a principal or to its groups, by authority, up to a number.
    pub fn roles_granted_to(
        &self,
        who: &Principal,
        limit: usize,
    ) -> Result<Vec<AccountRole>, RegistryError> {
        self.read(|view| view.account_roles(who, limit))
    }
}

impl View<'_> {
    fn account_roles(
        &self,
        who: &Principal,
        limit: usize,
    ) -> Result<Vec<AccountRole>, RegistryError> {
        let mut roles = Vec::new();
        self.scan_while(&TableKey::named(Table::Authorities, b""), |_, bytes| {
            // An authority that cannot be read grants nothing.
            let Ok(authority) = postcard::from_bytes::<Authority>(bytes) else {
                return Ok(true);
            };
            for grant in &authority.grants {
                if self.is_granted_to(who, &grant.to)? {
                    roles.push(AccountRole {
                        authority: authority.path.to_string(),
                        role: grant.role,
                        through: group_of(who, grant),
                    });
                }
            }
            roles.truncate(limit);
            Ok(roles.len() < limit)
        })?;
        Ok(roles)
    }

    fn need_own_or_administrator(
        &self,
        who: &Principal,
        account: &Principal,
    ) -> Result<(), RegistryError> {
        let is_own = matches!(who, Principal::Account(_)) && who == account;
        if is_own || self.may_do_all(who)? {
            return Ok(());
        }
        let problem = "this is for the account itself and for administrators";
        Err(RegistryError::policy("not-yours", problem))
    }

    /// The number of names that were transferred to a principal, and whether all names were read.
    fn transferred_names(&self, who: &Principal) -> Result<(u64, bool), RegistryError> {
        let mut count = 0;
        let is_complete = self.visit_transferred(who, &mut |_| {
            count += 1;
            true
        })?;
        Ok((count, is_complete))
    }

    /// Visits the names that were transferred to a principal while the visitor returns `true`.
    /// Returns whether all names were read.
    fn visit_transferred(
        &self,
        who: &Principal,
        visit: &mut dyn FnMut(Record) -> bool,
    ) -> Result<bool, RegistryError> {
        let mut left = MAX_NAMES_READ;
        self.scan_while(&TableKey::record(b""), |_, bytes| {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            if Record::holder_in(bytes).as_ref() != Some(who) {
                return Ok(true);
            }
            // A damaged record is reported where it is read.
            Ok(Record::from_bytes(bytes).ok().is_none_or(&mut *visit))
        })?;
        Ok(left > 0)
    }
}
