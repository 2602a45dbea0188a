//! What was said in requests for authorities: why one was asked for, and why it was declined.
//!
//! A request is an authority with a status, and a declined one is deleted with it. Its reasons are
//! stored beside it, so that the account that asked can read the answer.

use std::ops::ControlFlow;

use handfast_store::Table;
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::registry::Registry;

/// A request for an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorityRequest {
    /// The path of the authority.
    pub authority: String,
    /// Its title.
    pub title: String,
    /// The authority above it, if that is registered here.
    pub parent: Option<String>,
    /// Who asks.
    pub by: Principal,
    /// Why, in their words; may be empty.
    pub reason: String,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// Whether it is decided.
    pub status: AuthorityRequestStatus,
}

/// Whether a request for an authority is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthorityRequestStatus {
    /// Nobody has decided it.
    Open,
    /// The authority was created, for the account that asked.
    Approved {
        /// By whom.
        by: Principal,
        /// When, in milliseconds since 1970.
        at: u64,
    },
    /// It was declined.
    Declined {
        /// By whom.
        by: Principal,
        /// When, in milliseconds since 1970.
        at: u64,
        /// Why; may be empty.
        reason: String,
    },
}

/// The start of the keys of requests in the table `meta`; the key of the authority follows.
const REQUESTS: &[u8] = b"authority-request:";
/// How long a decided request is stored at least, in milliseconds.
const STORED_MS: u64 = 365 * 86_400_000;
/// The maximum length of a reason, in bytes.
const MAX_REASON_BYTES: usize = handfast_api::limits::ACCESS_REASON;

impl Registry {
    /// The open requests for authorities that a principal may decide, and all of its own, oldest
    /// first.
    ///
    /// ```
    /// # use handfast_registry::{AuthorityAction, AuthorityRequestStatus, Environment};
    /// # use handfast_registry::{NewAuthority, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_account(&operator, "ann", "")?;
    /// let ann = Principal::parse("ann").unwrap();
    /// let new = NewAuthority { reason: "For the maps".into(), ..NewAuthority::default() };
    /// registry.request_authority(&ann, "20.1000", new)?;
    /// assert_eq!(registry.authority_requests(&operator)?[0].reason, "For the maps");
    ///
    /// let decline = AuthorityAction::Decline { reason: "Use 20.2000".into() };
    /// registry.act_on_authority(&operator, "20.1000", None, decline)?;
    /// assert_eq!(registry.authority_requests(&operator)?, []);
    /// let own = registry.authority_requests(&ann)?;
    /// assert!(matches!(
    ///     &own[0].status,
    ///     AuthorityRequestStatus::Declined { reason, .. } if reason == "Use 20.2000"
    /// ));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn authority_requests(
        &self,
        who: &Principal,
    ) -> Result<Vec<AuthorityRequest>, RegistryError> {
        let mut requested = Vec::new();
        self.visit_authorities(None, &mut |authority| {
            if let AuthorityStatus::Requested { by } = authority.status.clone() {
                requested.push((authority, by));
            }
            ControlFlow::Continue(())
        })?;
        self.dry_run(who, |change_set| {
            let mut found = Vec::new();
            for (authority, by) in requested {
                let over = change_set.need_over_child(&authority.path, authority.parent.as_ref());
                if over.is_ok() || is_own(who, &by) {
                    found.push(change_set.open_request(&authority, by)?);
                }
            }
            let what = "a request for an authority";
            let stored: Vec<AuthorityRequest> =
                change_set.decode_all(Table::Meta, REQUESTS, what)?;
            let is_decided = |request: &AuthorityRequest| {
                request.status != AuthorityRequestStatus::Open && is_own(who, &request.by)
            };
            found.extend(stored.into_iter().filter(is_decided));
            found.sort_by(|a, b| (a.created, &a.authority).cmp(&(b.created, &b.authority)));
            Ok(found)
        })
    }
}

impl ChangeSet<'_> {
    /// A request that is open. Those of earlier versions have no reason.
    pub(crate) fn open_request(
        &self,
        authority: &Authority,
        by: Principal,
    ) -> Result<AuthorityRequest, RegistryError> {
        let key = request_key(&authority.path);
        let stored: Option<AuthorityRequest> = self.decode_stored(Table::Meta, &key)?;
        let stored = stored.filter(|stored| stored.by == by);
        Ok(AuthorityRequest {
            reason: stored.map(|stored| stored.reason).unwrap_or_default(),
            ..new_request(authority, by)
        })
    }

    /// Stores why an authority is asked for, and deletes old requests of the same account.
    pub(crate) fn store_request_reason(
        &mut self,
        authority: &Authority,
        by: Principal,
        reason: String,
    ) -> Result<(), RegistryError> {
        let now = self.time();
        let what = "a request for an authority";
        let stored: Vec<AuthorityRequest> = self.decode_all(Table::Meta, REQUESTS, what)?;
        for old in stored {
            let is_old = old.created.saturating_add(STORED_MS) <= now;
            if old.by == by && is_old && old.status != AuthorityRequestStatus::Open {
                let path = self.path(&old.authority)?;
                self.delete_meta(&request_key(&path));
            }
        }
        let request = AuthorityRequest {
            reason,
            ..new_request(authority, by)
        };
        self.store_encoded(Table::Meta, &request_key(&authority.path), &request)
    }

    /// Stores how a request was decided.
    pub(crate) fn store_request_decision(
        &mut self,
        authority: &Authority,
        by: Principal,
        status: AuthorityRequestStatus,
    ) -> Result<(), RegistryError> {
        let request = AuthorityRequest {
            status,
            ..self.open_request(authority, by)?
        };
        self.store_encoded(Table::Meta, &request_key(&authority.path), &request)
    }

    /// Deletes what was said in a request that its account takes back.
    pub(crate) fn forget_request_reason(&mut self, path: &AuthorityPath) {
        self.delete_meta(&request_key(path));
    }
}

fn new_request(authority: &Authority, by: Principal) -> AuthorityRequest {
    AuthorityRequest {
        authority: authority.path.to_string(),
        title: authority.title.clone(),
        parent: authority.parent.as_ref().map(ToString::to_string),
        by,
        reason: String::new(),
        created: authority.created,
        status: AuthorityRequestStatus::Open,
    }
}

/// Checks that a reason is not too long.
pub(crate) fn check_reason(reason: &str) -> Result<(), RegistryError> {
    if reason.len() > MAX_REASON_BYTES {
        let problem = format!("a reason has at most {MAX_REASON_BYTES} bytes");
        return Err(RegistryError::policy("too-large", problem));
    }
    Ok(())
}

fn is_own(who: &Principal, by: &Principal) -> bool {
    *who != Principal::nobody() && who == by
}

fn request_key(path: &AuthorityPath) -> Vec<u8> {
    [REQUESTS, path.key().as_bytes()].concat()
}
