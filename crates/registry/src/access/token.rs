//! Tokens: programs use them to act for an account.
//!
//! A token is shown once, when it is created; the store has only its SHA-256. It expires, and it
//! may be limited: to a role, and to one authority with everything below it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use handfast_store::{Table, TableKey, Write};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::principal::{Limit, Principal};
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// The stored data of a token. The token itself cannot be derived from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its id: the beginning of its digest.
    pub id: String,
    /// The account that it acts for.
    pub account: String,
    /// Its purpose, for people.
    pub title: String,
    /// Its limit, if it allows less than the account.
    pub limit: Option<Limit>,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// When it expires.
    pub expires: u64,
}

/// A token to be created.
///
/// ```
/// use handfast_registry::NewToken;
///
/// assert_eq!(NewToken::default().days, 90);
/// ```
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its purpose, for people.
    pub title: String,
    /// The authority that it covers, with everything below it; all authorities if `None`.
    pub authority: Option<String>,
    /// The highest role that it gives; `admin` if `None`.
    pub role: Option<Role>,
    /// How many days it lasts.
    pub days: u64,
}

impl Default for NewToken {
    fn default() -> Self {
        Self {
            title: String::new(),
            authority: None,
            role: None,
            days: 90,
        }
    }
}

/// The maximum lifetime of a token, in days.
const MAX_TOKEN_DAYS: u64 = handfast_api::limits::TOKEN_DAYS;
const DAY_MS: u64 = 86_400_000;
/// The maximum number of tokens of an account.
const MAX_TOKENS_PER_ACCOUNT: usize = 1_000;
/// The start of every token, so that people and scanners for leaked secrets recognise it.
const TOKEN_PREFIX: &str = "handfast_";
/// The start of the keys of tokens in the table `meta`.
const KEYS: &[u8] = b"token:";

impl Registry {
    /// Creates a token for an account. The operator may do so for any account, others for their
    /// own; a principal with a limited token may not. Returns the token itself, which is not
    /// stored.
    ///
    /// ```
    /// # use handfast_registry::{NewToken, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// registry.create_account(&Principal::Operator, "ann", "")?;
    /// let operator = Principal::Operator;
    /// let (text, token) = registry.create_token(&operator, "ann", NewToken::default())?;
    /// assert_eq!(registry.who_has(&text)?, Some(Principal::parse("ann").unwrap()));
    /// registry.revoke_token(&Principal::Operator, &token.id)?;
    /// assert_eq!(registry.who_has(&text)?, None);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn create_token(
        &self,
        who: &Principal,
        account: &str,
        new: NewToken,
    ) -> Result<(String, Token), RegistryError> {
        let account = Principal::account(account)
            .map_err(|error| RegistryError::policy("bad-account", error.to_string()))?;
        if !may_handle(who, &account) && !self.is_administrator(who)? {
            return Err(not_theirs());
        }
        if new.days == 0 || new.days > MAX_TOKEN_DAYS {
            let problem = format!("a token lasts 1 to {MAX_TOKEN_DAYS} days");
            return Err(RegistryError::policy("bad-expiry", problem));
        }
        if new.title.len() > handfast_api::limits::TOKEN_TITLE {
            let problem = "the title of a token has at most 1000 bytes";
            return Err(RegistryError::policy("too-large", problem));
        }
        let secret = self.random();
        let text = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(secret));
        let key = key_of(&text);
        let token = self.change(who, move |change_set| {
            change_set.need_account(&account)?;
            if change_set.tokens_of(Some(&account))?.len() >= MAX_TOKENS_PER_ACCOUNT {
                let problem =
                    format!("{account} has {MAX_TOKENS_PER_ACCOUNT} tokens: revoke some first");
                return Err(RegistryError::policy("too-many-tokens", problem));
            }
            let authority = match &new.authority {
                Some(text) => {
                    let path = change_set.path(text)?;
                    change_set.need_visible(change_set.who(), &path)?;
                    Some(path)
                }
                None => None,
            };
            let is_limited = authority.is_some() || new.role.is_some();
            let limit = is_limited.then(|| Limit {
                authority,
                role: new.role.unwrap_or(Role::Admin),
            });
            let token = Token {
                id: id_of(&key),
                account: account.to_string(),
                title: new.title,
                limit,
                created: change_set.time(),
                expires: change_set.time().saturating_add(new.days * DAY_MS),
            };
            change_set.store_encoded(Table::Meta, &key, &token)?;
            change_set.note(Action::Token, &token.note("create"))?;
            Ok(token)
        })?;
        Ok((text, token))
    }

    /// The tokens that a principal may see: the operator all, others their own.
    pub fn tokens(&self, who: &Principal) -> Result<Vec<Token>, RegistryError> {
        let of = Some(who).filter(|_| !self.is_administrator(who).unwrap_or(false));
        let found = self.read(|view| view.tokens_of(of))?;
        let mut tokens: Vec<_> = found.into_iter().map(|(_, token)| token).collect();
        tokens.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(tokens)
    }

    /// Revokes a token.
    pub fn revoke_token(&self, who: &Principal, id: &str) -> Result<Token, RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            let all = change_set.tokens_of(None)?.into_iter();
            let mut same = all.filter(|(_, token)| token.id == id);
            let may_all = change_set.may_do_all(change_set.who())?;
            let found = same.find(|(_, token)| {
                let of = Principal::account(&token.account);
                may_all || of.is_ok_and(|of| may_handle(change_set.who(), &of))
            });
            let Some((key, token)) = found else {
                let problem = format!("there is no token {id}");
                return Err(RegistryError::policy("no-token", problem));
            };
            change_set.push(Write::Delete(
                TableKey::named(Table::Meta, &key).into_owned(),
            ));
            change_set.note(Action::Token, &token.note("revoke"))?;
            Ok(token)
        })
    }

    /// The principal that a token acts for, if the token is valid and has not expired.
    pub fn who_has(&self, text: &str) -> Result<Option<Principal>, RegistryError> {
        Ok(self.token(text)?.map(|(who, _)| who))
    }

    /// The principal of a token, and the stored data of the token.
    pub fn token(&self, text: &str) -> Result<Option<(Principal, Token)>, RegistryError> {
        if !text.starts_with(TOKEN_PREFIX) || text.len() > 100 {
            return Ok(None);
        }
        // The lookup is by digest: its time reveals nothing about stored tokens.
        let key = key_of(text);
        let token = self.read(|view| {
            let token: Option<Token> = view.decode_stored(Table::Meta, &key)?;
            let Some(token) = token else {
                return Ok(None);
            };
            let account = view.account(&Principal::Account(token.account.clone()))?;
            Ok(Some(token).filter(|_| account.is_none_or(|account| !account.is_suspended)))
        })?;
        let token = token.filter(|token| token.expires > self.time());
        if let Some(token) = &token {
            self.note_token_used(&token.id);
            self.note_account_seen(&token.account);
        }
        Ok(token.map(|token| {
            let account = token.account.clone();
            let who = match token.limit.clone() {
                Some(limit) => Principal::Limited { account, limit },
                None => Principal::Account(account),
            };
            (who, token)
        }))
    }
}

impl Token {
    /// The private text of an event.
    fn note(&self, action: &str) -> String {
        let account = Principal::Account(self.account.clone()).key();
        format!("token:{} {action} {account}", self.id)
    }
}

impl View<'_> {
    /// Tokens of an account, or all of them, with their keys.
    pub(crate) fn tokens_of(
        &self,
        account: Option<&Principal>,
    ) -> Result<Vec<(Vec<u8>, Token)>, RegistryError> {
        let mut found = Vec::new();
        let from = TableKey::named(Table::Meta, KEYS);
        self.scan_names(&from, |table_key, bytes| {
            if let Ok(token) = postcard::from_bytes::<Token>(bytes)
                && account.is_none_or(|of| Principal::account(&token.account).as_ref() == Ok(of))
            {
                found.push((table_key.name().to_vec(), token));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Checks that the principal may manage the tokens of an account. A limited token does not suffice.
fn may_handle(who: &Principal, account: &Principal) -> bool {
    *who == Principal::Operator || matches!(who, Principal::Account(_)) && who == account
}

fn not_theirs() -> RegistryError {
    let problem = "tokens are made by administrators, and by an account for itself";
    RegistryError::policy("not-yours", problem)
}

fn key_of(text: &str) -> Vec<u8> {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    [KEYS, &digest[..]].concat()
}

/// Enough of a digest to distinguish tokens, and too little to be of use to an attacker.
fn id_of(key: &[u8]) -> String {
    let digest = key.get(KEYS.len()..).unwrap_or_default();
    let start = digest.first_chunk().copied().map(u64::from_be_bytes);
    format!("{:012x}", start.unwrap_or_default() >> 16)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::{Edit, Environment, NameAction, NewAuthority, NewName};

    fn registry(now: &Arc<AtomicU64>) -> (tempfile::TempDir, Registry) {
        let folder = tempfile::tempdir().unwrap();
        let (now, count) = (Arc::clone(now), AtomicU64::new(0));
        let environment = Environment::new(
            move || now.load(Ordering::Relaxed),
            move |bytes| bytes.fill(u8::try_from(count.fetch_add(1, Ordering::Relaxed)).unwrap()),
        );
        let registry = Registry::create(folder.path(), environment).unwrap();
        let operator = Principal::Operator;
        for path in ["20.1000", "20.1000.1", "20.2000"] {
            let new = NewAuthority::default();
            registry.create_authority(&operator, path, new).unwrap();
        }
        registry.create_account(&operator, "ann", "").unwrap();
        (folder, registry)
    }

    fn token(registry: &Registry, authority: Option<&str>, role: Option<Role>) -> Principal {
        let new = NewToken {
            authority: authority.map(str::to_string),
            role,
            ..NewToken::default()
        };
        let (text, _) = registry
            .create_token(&Principal::Operator, "Ann", new)
            .unwrap();
        registry.who_has(&text).unwrap().unwrap()
    }

    #[test]
    fn a_limit_holds_down_the_tree_and_takes_from_every_role() {
        let (_folder, registry) = registry(&Arc::default());
        let ann = Principal::parse("ann").unwrap();
        for path in ["20.1000", "20.2000"] {
            let operator = Principal::Operator;
            registry.grant(&operator, path, &ann, Role::Admin).unwrap();
        }
        let create = |who: &Principal, id: &str| registry.create_name(who, id, NewName::default());
        let limited = token(&registry, Some("20.1000"), Some(Role::Write));
        assert!(create(&limited, "20.1000/a").is_ok());
        assert!(create(&limited, "20.1000.1/a").is_ok());
        assert!(create(&limited, "20.2000/a").is_err());
        assert!(
            registry
                .grant(&limited, "20.1000", &ann, Role::Read)
                .is_err()
        );
        let reads = token(&registry, None, Some(Role::Read));
        assert!(create(&reads, "20.1000/b").is_err());
        assert!(
            registry
                .names(&reads, "20.2000", None, &mut |_| ControlFlow::Break(()))
                .is_ok()
        );
        // A limit beyond the rights of the account adds nothing.
        let child = token(&registry, Some("20.1000.1"), None);
        assert!(create(&child, "20.1000/c").is_err());
        assert!(create(&child, "20.1000.1/c").is_ok());
        // Events name the account as the actor.
        let who = registry
            .history_page(&ann, "20.1000/a", 0, 9, None)
            .unwrap()
            .entries[0]
            .who
            .clone();
        assert!(matches!(who, Some(Principal::Account(name)) if name.eq_ignore_ascii_case("ann")));
    }

    #[test]
    fn who_was_handed_a_name_has_it_only_as_far_as_the_token_goes() {
        let (_folder, registry) = registry(&Arc::default());
        let (operator, ann) = (Principal::Operator, Principal::parse("ann").unwrap());
        let id = "20.1000/a";
        registry
            .create_name(&operator, id, NewName::default())
            .unwrap();
        registry
            .change_name(
                &operator,
                id,
                None,
                NameAction::Transfer {
                    to: ann.clone(),
                    creates_account: true,
                },
            )
            .unwrap();
        let edit =
            |who: &Principal| registry.edit_name(who, id, Edit::urls(&["https://example.org/"]));
        assert!(edit(&token(&registry, Some("20.2000"), None)).is_err());
        assert!(edit(&token(&registry, None, Some(Role::Read))).is_err());
        assert!(edit(&token(&registry, Some("20.1000"), Some(Role::Write))).is_ok());
    }

    #[test]
    fn a_token_ends() {
        let now = Arc::new(AtomicU64::new(0));
        let (_folder, registry) = registry(&now);
        let new = NewToken {
            days: 1,
            ..NewToken::default()
        };
        let operator = Principal::Operator;
        let (text, _) = registry
            .create_token(&operator, "ann", new.clone())
            .unwrap();
        assert!(registry.who_has(&text).unwrap().is_some());
        now.store(DAY_MS, Ordering::Relaxed);
        assert!(registry.who_has(&text).unwrap().is_none());
        let forever = NewToken {
            days: MAX_TOKEN_DAYS + 1,
            ..new
        };
        assert!(registry.create_token(&operator, "ann", forever).is_err());
        assert!(
            registry
                .create_token(&operator, "bob", NewToken::default())
                .is_err()
        );
    }
}
