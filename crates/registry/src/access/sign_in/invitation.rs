//! Invitations: a new account, a role for it, and a link by which the person signs in first.

use crate::access::account::{checked_email, checked_title};
use crate::access::principal::Principal;
use crate::access::sign_in::link::{LinkKind, SignInLink, StoredLink};
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::registry::Registry;

/// An invitation to be made.
///
/// ```
/// use handfast_registry::{NewInvitation, Role};
///
/// let new = NewInvitation {
///     account: "ann".into(),
///     authority: Some("20.1000".into()),
///     role: Some(Role::Write),
///     ..NewInvitation::default()
/// };
/// assert_eq!(new.title, "");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewInvitation {
    /// The account.
    pub account: String,
    /// Who that is, for people.
    pub title: String,
    /// The e-mail address of the person; nothing is sent there.
    pub email: String,
    /// The authority on which a role is granted.
    pub authority: Option<String>,
    /// The role.
    pub role: Option<Role>,
}

/// An invitation that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The account.
    pub account: String,
    /// The authority on which a role was granted.
    pub authority: Option<String>,
    /// The role.
    pub role: Option<Role>,
    /// The link by which the person signs in first. `None` if the account existed before: it gets
    /// the role, but nobody gets a link to the account of another person.
    pub link: Option<SignInLink>,
}

/// How many invitations of one account are open, if it is not an administrator.
const MAX_OPEN_INVITATIONS: usize = 100;

impl Registry {
    /// Invites a person: creates the account and grants the role, if the principal may grant it
    /// there. Without a role, only the operator and administrators may.
    ///
    /// ```
    /// # use handfast_registry::{Environment, NewAuthority, NewInvitation};
    /// # use handfast_registry::{Principal, Registry, Role};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// let new = NewInvitation {
    ///     account: "ann".into(),
    ///     authority: Some("20.1000".into()),
    ///     role: Some(Role::Write),
    ///     ..NewInvitation::default()
    /// };
    /// let invitation = registry.invite(&operator, new.clone())?;
    /// assert!(registry.look_at_link(&invitation.link.unwrap().code)?.unwrap().is_invitation);
    /// // The account exists now.
    /// assert!(registry.invite(&operator, new)?.link.is_none());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn invite(&self, who: &Principal, new: NewInvitation) -> Result<Invitation, RegistryError> {
        let account = Principal::account(&new.account)
            .map_err(|error| RegistryError::policy("bad-account", error.to_string()))?;
        if new.authority.is_some() != new.role.is_some() {
            let problem = "an invitation names an authority and a role, or neither";
            return Err(RegistryError::policy("bad-invitation", problem));
        }
        let (secret, by) = (self.new_secret(), who.to_string());
        self.change(who, move |change_set| {
            let is_new = change_set.account(&account)?.is_none();
            change_set.need_to_invite(&by)?;
            if is_new {
                change_set.make_invited_account(&account, &new)?;
            }
            let authority = if let (Some(text), Some(role)) = (&new.authority, new.role) {
                let path = change_set.path(text)?;
                change_set.grant(&path, account.clone(), role, false)?;
                Some(path.to_string())
            } else {
                change_set.need_administrator()?;
                None
            };
            let link = is_new.then(|| {
                let kind = LinkKind::Invitation { by: by.clone() };
                change_set.create_link(secret, &account, kind, &by)
            });
            let stored = change_set.account(&account)?;
            Ok(Invitation {
                account: stored.map_or_else(|| account.to_string(), |account| account.name),
                authority,
                role: new.role,
                link: link.transpose()?,
            })
        })
    }
}

impl ChangeSet<'_> {
    /// Checks that the principal may invite at all. The rights for the role are checked when it is
    /// granted.
    fn need_to_invite(&self, by: &str) -> Result<(), RegistryError> {
        if self.may_do_all(self.who())? {
            return Ok(());
        }
        if matches!(self.who(), Principal::Limited { .. }) {
            let problem = "a token with limits cannot invite: an invitation outlives it";
            return Err(RegistryError::policy("not-yours", problem));
        }
        let now = self.time();
        let links = self.links()?;
        let is_open = |link: &StoredLink| {
            let is_own = matches!(&link.kind, LinkKind::Invitation { by: other } if other == by);
            is_own && link.expires > now
        };
        if links.iter().filter(|(_, link)| is_open(link)).count() >= MAX_OPEN_INVITATIONS {
            let problem = format!(
                "{MAX_OPEN_INVITATIONS} of your invitations are open: each ends when it is used, \
                 or after seven days"
            );
            return Err(RegistryError::quota(problem, None));
        }
        Ok(())
    }

    fn make_invited_account(
        &mut self,
        account: &Principal,
        new: &NewInvitation,
    ) -> Result<(), RegistryError> {
        let title = checked_title(&new.title)?;
        let email = checked_email(&new.email)?;
        self.make_account_with(account, &title, email)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sign_in::link::INVITATION_LIFETIME;
    use crate::access::sign_in::tests::{OPERATOR, PASSWORD, SignInTest, ann, client};
    use crate::{NewAuthority, NewName, NewToken};

    fn test() -> SignInTest {
        let test = SignInTest::new();
        for path in ["20.1000", "20.2000"] {
            let new = NewAuthority::default();
            test.registry
                .create_authority(&OPERATOR, path, new)
                .unwrap();
        }
        let lead = Role::Lead;
        test.registry
            .grant(&OPERATOR, "20.1000", &ann(), lead)
            .unwrap();
        test
    }

    fn new(account: &str, authority: &str, role: Role) -> NewInvitation {
        NewInvitation {
            account: account.into(),
            title: "A new person".into(),
            email: "new@example.org".into(),
            authority: Some(authority.into()),
            role: Some(role),
        }
    }

    #[test]
    fn a_lead_invites_a_person_who_signs_in_and_works() {
        let test = test();
        let registry = &test.registry;
        let made = registry
            .invite(&ann(), new("eve", "20.1000", Role::Write))
            .unwrap();
        let link = made.link.unwrap();
        let info = registry.look_at_link(&link.code).unwrap().unwrap();
        assert!(info.is_invitation);
        assert_eq!(
            (info.account.as_str(), info.title.as_str()),
            ("eve", "A new person")
        );
        assert_eq!(registry.account("eve").unwrap().email, "new@example.org");
        test.advance(INVITATION_LIFETIME - 1);
        let session = registry.use_link(&link.code, &client()).unwrap();
        registry
            .choose_password(&session.secret, PASSWORD, &client())
            .unwrap();
        let eve = Principal::parse("eve").unwrap();
        let name = NewName::default();
        assert!(
            registry
                .create_name(&eve, "20.1000/a", name.clone())
                .is_ok()
        );
        assert!(registry.create_name(&eve, "20.2000/a", name).is_err());
        let check = registry.check().unwrap();
        assert_eq!(check.problems, []);
    }

    /// A lead would have signed in as an administrator.
    #[test]
    fn nobody_gets_a_link_to_an_existing_account() {
        let test = test();
        let registry = &test.registry;
        let made = registry
            .invite(&ann(), new("Bob", "20.1000", Role::Read))
            .unwrap();
        assert_eq!((made.account.as_str(), made.link), ("bob", None));
        let bob = registry.account("bob").unwrap();
        assert_eq!(bob.title, "");
        let made = registry
            .invite(&OPERATOR, new("bob", "20.1000", Role::Write))
            .unwrap();
        assert_eq!(made.link, None);
    }

    #[test]
    fn an_invitation_needs_the_right_to_grant_and_fails_as_a_whole() {
        let test = test();
        let registry = &test.registry;
        let limited = NewToken {
            authority: Some("20.1000".into()),
            ..NewToken::default()
        };
        let (token, _) = registry.create_token(&OPERATOR, "ann", limited).unwrap();
        let limited = registry.who_has(&token).unwrap().unwrap();
        let bob = Principal::parse("bob").unwrap();
        for (who, authority, role) in [
            (&ann(), "20.1000", Role::Admin),
            (&ann(), "20.2000", Role::Read),
            (&ann(), "20.3000", Role::Read),
            (&bob, "20.1000", Role::Read),
            (&limited, "20.1000", Role::Read),
            (&Principal::nobody(), "20.1000", Role::Read),
        ] {
            assert!(registry.invite(who, new("eve", authority, role)).is_err());
        }
        let plain = NewInvitation {
            account: "eve".into(),
            ..NewInvitation::default()
        };
        assert!(registry.invite(&ann(), plain.clone()).is_err());
        assert!(registry.account("eve").is_err());
        let wrong = NewInvitation {
            email: "eve at example".into(),
            ..plain.clone()
        };
        let wrong = registry.invite(&OPERATOR, wrong);
        assert_eq!(wrong.unwrap_err().code(), "bad-email");
        let half = NewInvitation {
            role: Some(Role::Read),
            ..plain.clone()
        };
        let half = registry.invite(&OPERATOR, half);
        assert_eq!(half.unwrap_err().code(), "bad-invitation");
        assert!(registry.invite(&OPERATOR, plain).unwrap().link.is_some());
    }

    #[test]
    fn open_invitations_of_a_lead_are_bounded() {
        let test = test();
        let registry = &test.registry;
        for number in 0..MAX_OPEN_INVITATIONS {
            let new = new(&format!("eve{number}"), "20.1000", Role::Read);
            registry.invite(&ann(), new).unwrap();
        }
        let more = || registry.invite(&ann(), new("more", "20.1000", Role::Read));
        assert_eq!(more().unwrap_err().code(), "quota");
        test.advance(INVITATION_LIFETIME);
        assert!(more().is_ok());
    }
}
