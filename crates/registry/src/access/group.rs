//! Groups of accounts.
//!
//! A role that is granted to a group counts for all of its members. Groups have no groups in them,
//! so that the answer to "who may do this?" is one list.

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::account::{checked_title, named, no_account};
use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// A group of accounts, to which roles can be granted.
///
/// ```
/// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Role, Environment};
/// # let folder = tempfile::tempdir().unwrap();
/// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
/// # let operator = Principal::Operator;
/// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
/// registry.create_account(&operator, "ann", "")?;
/// registry.create_group(&operator, "editors", "The editors of the map room")?;
/// registry.add_to_group(&operator, "editors", "ann")?;
/// let editors = Principal::parse("group:editors").unwrap();
/// registry.grant(&operator, "20.1000", &editors, Role::Write)?;
///
/// let ann = Principal::parse("ann").unwrap();
/// registry.create_name(&ann, "20.1000/map-7", NewName::default())?;
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name. As a principal it is written `group:NAME`.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// The names of its accounts, sorted.
    pub members: Vec<String>,
}

/// The maximum number of members of a group.
const MAX_MEMBERS: usize = 10_000;
/// The maximum number of groups that an account is in.
const MAX_GROUPS_OF_ACCOUNT: usize = 1_000;
/// The start of the keys of groups in the table `meta`: the key of such a principal.
pub(crate) const GROUPS: &[u8] = b"group:";
/// The start of the keys, in the table `meta`, of the groups of each account.
pub(crate) const GROUPS_OF: &[u8] = b"groups-of:";

/// The start of the keys, in the table `meta`, of the events by which accounts were added.
const MEMBER_SINCE: &[u8] = b"member-since:";

impl Registry {
    /// Creates a group without members. Only the operator and administrators may.
    pub fn create_group(
        &self,
        who: &Principal,
        name: &str,
        title: &str,
    ) -> Result<(), RegistryError> {
        let group = named_group(name)?;
        let title = checked_title(title)?;
        self.change(who, move |change_set| {
            change_set.need_administrator()?;
            if change_set.group(&group)?.is_some() {
                let problem = format!("{group} exists already: choose another name");
                return Err(RegistryError::policy("group-exists", problem));
            }
            change_set.make_group(&group, &title)
        })
    }

    /// Adds an account to a group. Only the operator and administrators may, because a member has
    /// every role of the group. Adding a member again changes nothing.
    pub fn add_to_group(
        &self,
        who: &Principal,
        group: &str,
        account: &str,
    ) -> Result<(), RegistryError> {
        let (group, account) = (named_group(group)?, named(account)?);
        self.change(who, move |change_set| {
            change_set.need_administrator()?;
            let mut stored = change_set.existing_group(&group)?;
            let found = change_set.account(&account)?;
            let member = found.ok_or_else(|| no_account(&account))?.name;
            let mut groups = change_set.groups_of(&account)?;
            if stored.has(&account) {
                return Ok(());
            }
            if stored.members.len() >= MAX_MEMBERS || groups.len() >= MAX_GROUPS_OF_ACCOUNT {
                let problem = format!(
                    "a group has at most {MAX_MEMBERS} members, and an account is in at most \
                     {MAX_GROUPS_OF_ACCOUNT} groups: make another group, or remove some"
                );
                return Err(RegistryError::policy("too-large", problem));
            }
            stored.members.push(member);
            groups.push(stored.name.clone());
            change_set.store_membership(stored, &account, groups, "add")
        })
    }

    /// Removes an account from a group. Only the operator and administrators may.
    pub fn remove_from_group(
        &self,
        who: &Principal,
        group: &str,
        account: &str,
    ) -> Result<(), RegistryError> {
        let (group, account) = (named_group(group)?, named(account)?);
        self.change(who, move |change_set| {
            change_set.need_administrator()?;
            let mut stored = change_set.existing_group(&group)?;
            if !stored.has(&account) {
                let problem = format!("{account} is not in {group}: nothing was removed");
                return Err(RegistryError::policy("no-member", problem));
            }
            let is_other = |name: &String| *name != account_text(&account);
            stored.members.retain(|name| is_other(&name.to_lowercase()));
            let mut groups = change_set.groups_of(&account)?;
            groups.retain(|name| named_group(name).as_ref().ok() != Some(&group));
            change_set.store_membership(stored, &account, groups, "remove")
        })
    }

    /// All groups, by name.
    pub fn groups(&self) -> Result<Vec<Group>, RegistryError> {
        self.read(|view| view.decode_all(Table::Meta, GROUPS, "a group"))
    }

    /// A group.
    pub fn group(&self, name: &str) -> Result<Group, RegistryError> {
        let group = named_group(name)?;
        self.read(|view| view.existing_group(&group))
    }

    /// The names of the groups that an account is in, sorted.
    pub fn groups_of(&self, account: &str) -> Result<Vec<String>, RegistryError> {
        let account = named(account)?;
        self.read(|view| view.groups_of(&account))
    }
}

impl Group {
    /// Whether an account is a member.
    pub(crate) fn has(&self, account: &Principal) -> bool {
        let name = account_text(account);
        self.members.iter().any(|it| it.to_lowercase() == name)
    }
}

impl View<'_> {
    pub(crate) fn group(&self, group: &Principal) -> Result<Option<Group>, RegistryError> {
        self.decode_stored(Table::Meta, group.key().as_bytes())
    }

    pub(crate) fn existing_group(&self, group: &Principal) -> Result<Group, RegistryError> {
        self.group(group)?.ok_or_else(|| {
            let name = group.to_string();
            let name = name.trim_start_matches("group:");
            let problem = format!("there is no {group}: run `handfast group create {name}`");
            RegistryError::policy("no-group", problem)
        })
    }

    /// The groups of an account. They are stored by account, so that a role is decided without
    /// reading the members of any group.
    pub(crate) fn groups_of(&self, account: &Principal) -> Result<Vec<String>, RegistryError> {
        let found = self.decode_stored(Table::Meta, &groups_key(account))?;
        Ok(found.unwrap_or_default())
    }

    /// The event by which an account was added to a group.
    pub(crate) fn membership_event(
        &self,
        account: &Principal,
        group: &Principal,
    ) -> Result<Option<u64>, RegistryError> {
        self.decode_stored(Table::Meta, &member_key(account, group))
    }

    /// Whether an account is in a group.
    pub(crate) fn is_in_group(
        &self,
        account: &Principal,
        group: &Principal,
    ) -> Result<bool, RegistryError> {
        let groups = self.groups_of(account)?;
        Ok(groups
            .into_iter()
            .any(|name| Principal::Group(name) == *group))
    }
}

impl ChangeSet<'_> {
    pub(crate) fn make_group(
        &mut self,
        group: &Principal,
        title: &str,
    ) -> Result<(), RegistryError> {
        let Principal::Group(name) = group else {
            return Ok(());
        };
        let stored = Group {
            name: name.clone(),
            title: title.to_string(),
            created: self.time(),
            members: Vec::new(),
        };
        self.store_encoded(Table::Meta, group.key().as_bytes(), &stored)?;
        self.note(Action::Group, &format!("{} create", group.key()))
    }

    /// Stores a group and the list of groups of the account that entered or left it.
    fn store_membership(
        &mut self,
        mut group: Group,
        account: &Principal,
        mut groups: Vec<String>,
        action: &str,
    ) -> Result<(), RegistryError> {
        group.members.sort_by_key(|name| name.to_lowercase());
        groups.sort_by_key(|name| name.to_lowercase());
        let who = Principal::Group(group.name.clone());
        let since = member_key(account, &who);
        if group.has(account) {
            self.store_encoded(Table::Meta, &since, &self.next_event())?;
        } else {
            self.delete_meta(&since);
        }
        let key = who.key();
        self.store_encoded(Table::Meta, key.as_bytes(), &group)?;
        self.store_encoded(Table::Meta, &groups_key(account), &groups)?;
        self.note(Action::Group, &format!("{key} {action} {}", account.key()))
    }
}

/// Checks that an entry of a group or of the groups of an account is stored under its own key, and
/// that the two directions agree.
pub(crate) fn is_consistent(view: &View<'_>, table_key: &TableKey<'_>, bytes: &[u8]) -> bool {
    let Some(account) = table_key.name().strip_prefix(GROUPS_OF) else {
        return postcard::from_bytes::<Group>(bytes).is_ok_and(|group| {
            let who = Principal::Group(group.name);
            let knows = |name: &String| {
                let account = Principal::Account(name.clone());
                view.is_in_group(&account, &who).is_ok_and(|is_in| is_in)
            };
            who.key().as_bytes() == table_key.name() && group.members.iter().all(knows)
        });
    };
    let account = Principal::Account(String::from_utf8_lossy(account).into_owned());
    postcard::from_bytes::<Vec<String>>(bytes).is_ok_and(|groups| {
        groups.into_iter().all(|name| {
            let found = view.group(&Principal::Group(name)).ok().flatten();
            found.is_some_and(|group| group.has(&account))
        })
    })
}

fn named_group(name: &str) -> Result<Principal, RegistryError> {
    let group = Principal::group(name.strip_prefix("group:").unwrap_or(name));
    group.map_err(|_| {
        let problem = "the name of a group has 1 to 64 bytes: letters, digits and . _ @ -";
        RegistryError::policy("bad-group", problem)
    })
}

/// The name of an account, as names compare.
fn account_text(account: &Principal) -> String {
    account.to_string().to_lowercase()
}

fn member_key(account: &Principal, group: &Principal) -> Vec<u8> {
    let text = format!("{} {}", group.key(), account_text(account));
    [MEMBER_SINCE, text.as_bytes()].concat()
}

fn groups_key(account: &Principal) -> Vec<u8> {
    [GROUPS_OF, account_text(account).as_bytes()].concat()
}
