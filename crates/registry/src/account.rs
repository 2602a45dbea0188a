//! Accounts.

use std::ops::ControlFlow;

use handfast_store::{Place, Table};
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::event::Action;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::registry::Registry;

/// Someone who can be given roles, and for whom programs act by tokens.
///
/// ```
/// # use handfast_registry::{Principal, Registry, World};
/// # let folder = tempfile::tempdir().unwrap();
/// # let registry = Registry::create(folder.path(), World::new(|| 0, |b| b.fill(1)))?;
/// registry.create_account(&Principal::Operator, "ann", "Ann of the map room")?;
/// assert_eq!(registry.accounts()?[0].name, "ann");
/// # Ok::<_, handfast_registry::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// What grants call it.
    pub name: String,
    /// Who that is, for people.
    pub title: String,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
}

impl Registry {
    /// Creates an account. Only the operator may.
    pub fn create_account(&self, who: &Principal, name: &str, title: &str) -> Result<(), Refusal> {
        let account = Principal::account(name)
            .map_err(|error| Refusal::policy("bad-account", error.to_string()))?;
        let title = title.to_string();
        self.change(who, move |draft| {
            if *draft.who() != Principal::Operator {
                return Err(Refusal::policy(
                    "operator-only",
                    "only the operator creates accounts",
                ));
            }
            if draft.account(&account)?.is_some() {
                return Err(Refusal::policy(
                    "account-exists",
                    format!("account {account} exists already"),
                ));
            }
            draft.make_account(&account, &title)
        })
    }

    /// All accounts, by name.
    pub fn accounts(&self) -> Result<Vec<Account>, Refusal> {
        self.read(|view| {
            let mut names = Vec::new();
            view.now
                .scan(&Place::named(Table::Accounts, b""), &mut |place, _| {
                    names.push(place.name().to_vec());
                    ControlFlow::Continue(())
                })?;
            let accounts = names.iter().map(|name| view.posted(Table::Accounts, name));
            Ok(accounts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect())
        })
    }
}

impl Draft<'_> {
    fn account(&self, account: &Principal) -> Result<Option<Account>, Refusal> {
        self.posted(Table::Accounts, account.key().as_bytes())
    }

    fn make_account(&mut self, account: &Principal, title: &str) -> Result<(), Refusal> {
        let kept = Account {
            name: account.to_string(),
            title: title.to_string(),
            created: self.time(),
        };
        self.keep_posted(Table::Accounts, account.key().as_bytes(), &kept)?;
        self.note(Action::Account, account.key().as_bytes());
        Ok(())
    }

    /// Whoever is to have a token has an account.
    pub(crate) fn need_account(&self, account: &Principal) -> Result<(), Refusal> {
        match self.account(account)? {
            Some(_) => Ok(()),
            None => Err(Refusal::policy(
                "no-account",
                format!("there is no account {account}: run `handfast user create {account}`"),
            )),
        }
    }

    /// Makes sure that an account that is given something exists.
    pub(crate) fn ensure_account(&mut self, who: &Principal) -> Result<(), Refusal> {
        match who {
            Principal::Account(_) if self.account(who)?.is_none() => self.make_account(who, ""),
            _ => Ok(()),
        }
    }
}
