//! The grants of the handle protocol: `HS_ADMIN` bits, `HS_VLIST` groups, identities `index:handle`
//! (`handle-protocol.md` §7.4 to §7.6), to the letter and no more.

use std::collections::{HashSet, VecDeque};

use handfast_id::Handle;
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, Value, ValueList};

use crate::access::principal::Principal;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::State;
use crate::registry::Registry;

/// The maximum number of groups that one search reads.
const MAX_GROUPS: usize = 1_000;

impl Registry {
    /// Whether an identity is in a list of administrators, or in a group of the list. An entry with
    /// index 0 stands for every index.
    pub fn is_one_of(&self, who: &Principal, list: &[Principal]) -> Result<bool, RegistryError> {
        self.read(|view| view.is_one_of(who, list))
    }

    /// Whether the principal may do everything.
    pub fn is_administrator(&self, who: &Principal) -> Result<bool, RegistryError> {
        self.read(|view| view.may_do_all(who))
    }
}

impl View<'_> {
    /// §7.4: whether one `HS_ADMIN` value among `values` grants all of `needed` to a principal.
    pub(crate) fn protocol_grants(
        &self,
        who: &Principal,
        needed: AdminPermissions,
        values: &[Value<'_>],
    ) -> Result<bool, RegistryError> {
        let admins = values.iter().filter(|value| value.is_type("HS_ADMIN"));
        let admins = admins.filter_map(|value| Admin::from_bytes(&value.data).ok());
        let admins = admins.filter(|admin| admin.permissions.contains(needed));
        self.is_among(who, admins.map(|admin| admin.administrator))
    }

    /// §7.4: whether an identity is in a list of administrators, or in a group of the list.
    pub(crate) fn is_one_of(
        &self,
        who: &Principal,
        list: &[Principal],
    ) -> Result<bool, RegistryError> {
        let references = list.iter().filter_map(|listed| match listed {
            Principal::Identity { index, handle } => Some(Reference::new(handle.as_str(), *index)),
            _ => None,
        });
        self.is_among(who, references)
    }

    /// Whether an identity is one of the administrators, or a member of a group among them.
    fn is_among<'r>(
        &self,
        who: &Principal,
        administrators: impl Iterator<Item = Reference<'r>>,
    ) -> Result<bool, RegistryError> {
        let Principal::Identity { index, handle } = who else {
            return Ok(false);
        };
        let identity = Reference::new(handle.as_str(), *index);
        let mut groups = VecDeque::new();
        for administrator in administrators {
            if matches(&administrator, &identity) {
                return Ok(true);
            }
            groups.push_back(administrator.into_owned());
        }
        self.is_member(&identity, groups)
    }

    /// Searches groups breadth-first; references to index 0 are not expanded.
    fn is_member(
        &self,
        identity: &Reference<'_>,
        mut groups: VecDeque<Reference<'static>>,
    ) -> Result<bool, RegistryError> {
        let mut seen = HashSet::new();
        while let Some(group) = groups.pop_front() {
            if group.index == 0 || seen.len() > MAX_GROUPS || !seen.insert(group.clone()) {
                continue;
            }
            for member in self.members(&group)? {
                if matches(&member, identity) {
                    return Ok(true);
                }
                groups.push_back(member);
            }
        }
        Ok(false)
    }

    /// The members of a group that is registered here; none if it is not a group, or not here.
    fn members(&self, group: &Reference<'_>) -> Result<Vec<Reference<'static>>, RegistryError> {
        let Ok(handle) = Handle::parse(&group.handle) else {
            return Ok(Vec::new());
        };
        let key = handfast_id::Identifier::Handle(handle).key(self);
        let Some(record) = self.record(key.as_str())? else {
            return Ok(Vec::new());
        };
        // A group that the public cannot resolve grants nothing.
        if record.state != State::Active {
            return Ok(Vec::new());
        }
        let lists = record
            .values
            .iter()
            .filter(|value| value.index == group.index);
        let lists = lists.filter(|value| value.is_type("HS_VLIST"));
        let members = lists.filter_map(|value| ValueList::from_bytes(&value.data).ok());
        Ok(members
            .flat_map(|list| list.0)
            .map(Reference::into_owned)
            .collect())
    }
}

/// §7.4: a reference matches an identity when the handles are equal (prefix ignoring case, suffix
/// by its bytes, under `0.` ignoring case throughout) and its index is 0 or the same.
fn matches(reference: &Reference<'_>, identity: &Reference<'_>) -> bool {
    let handles = (
        Handle::from_stored(&reference.handle),
        Handle::from_stored(&identity.handle),
    );
    let (Ok(a), Ok(b)) = handles else {
        return false;
    };
    let is_same = if a.as_str().starts_with("0.") {
        a.as_str().eq_ignore_ascii_case(b.as_str())
    } else {
        a.prefix() == b.prefix() && a.suffix() == b.suffix()
    };
    is_same && (reference.index == 0 || reference.index == identity.index)
}

/// §7.6 and §9: the permissions that the difference between two sets of values needs.
pub(crate) fn needed_for(old: &[Value<'_>], new: &[Value<'_>]) -> AdminPermissions {
    use AdminPermissions as P;
    let is_admin = |value: &Value<'_>| value.is_type("HS_ADMIN");
    let mut needed = P::NONE;
    for value in new {
        let before = old.iter().find(|before| before.index == value.index);
        needed = needed
            | match before.map(|before| (before, is_admin(before), is_admin(value))) {
                None if is_admin(value) => P::ADD_ADMIN,
                None => P::ADD_VALUE,
                Some((before, ..)) if value.is_unchanged_from(before) => P::NONE,
                Some((before, ..)) if is_public_write(before, value) => P::NONE,
                Some((_, false, false)) => P::MODIFY_VALUE,
                Some((_, true, true)) => P::MODIFY_ADMIN,
                Some((_, true, false)) => P::REMOVE_ADMIN | P::MODIFY_VALUE,
                Some((_, false, true)) => P::MODIFY_VALUE | P::ADD_ADMIN,
            };
    }
    for value in old
        .iter()
        .filter(|value| new.iter().all(|after| after.index != value.index))
    {
        needed = needed
            | if is_admin(value) {
                P::REMOVE_ADMIN
            } else {
                P::REMOVE_VALUE
            };
    }
    needed
}

/// Whether `PUBLIC_WRITE` lets everybody replace one value by another: the data changes, the type
/// and the permissions do not. Types that the handle system itself reads (`HS_…`: keys,
/// administrators, groups, sites) are never open to everybody, whatever their permissions say.
///
/// ```
/// use handfast_registry::is_public_write;
/// use handfast_wire::{Permissions, Value};
///
/// let note = |kind: &'static str| Value {
///     permissions: Permissions::from_bits(0x0F),
///     ..Value::new(1, kind, b"x")
/// };
/// assert!(is_public_write(&note("NOTE"), &note("NOTE")));
/// assert!(!is_public_write(&note("NOTE"), &note("HS_SECKEY")));
/// assert!(!is_public_write(&note("HS_SECKEY"), &note("HS_SECKEY")));
/// ```
#[must_use]
pub fn is_public_write(old: &Value<'_>, new: &Value<'_>) -> bool {
    let start = old.value_type.as_bytes().get(..3).unwrap_or_default();
    old.permissions.public_write()
        && !start.eq_ignore_ascii_case(b"HS_")
        && (new.index, &new.value_type, new.permissions)
            == (old.index, &old.value_type, old.permissions)
}

/// Whether a change touches the administrators of a handle.
pub(crate) fn touches_admins(old: &[Value<'_>], new: &[Value<'_>]) -> bool {
    touches(old, new, &["HS_ADMIN"])
}

/// Whether a change of existing values touches how anybody is identified: groups and keys, too,
/// also those of sites.
pub(crate) fn touches_identities(old: &[Value<'_>], new: &[Value<'_>]) -> bool {
    touches(
        old,
        new,
        &["HS_ADMIN", "HS_VLIST", "HS_PUBKEY", "HS_SECKEY", "HS_SITE"],
    )
}

fn touches(old: &[Value<'_>], new: &[Value<'_>], types: &[&str]) -> bool {
    let is_one = |value: &Value<'_>| types.iter().any(|wanted| value.is_type(wanted));
    let is_in = |value: &Value<'_>, values: &[Value<'_>]| {
        values.iter().any(|other| value.is_unchanged_from(other))
    };
    old.iter().any(|value| is_one(value) && !is_in(value, new))
        || new.iter().any(|value| is_one(value) && !is_in(value, old))
}
