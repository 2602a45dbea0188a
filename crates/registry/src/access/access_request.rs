//! Requests for access: an account asks for a role, and someone who may grant it decides.

use handfast_store::{Table, TableKey, Write};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::why::reason_key;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

/// A request of an account for a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRequest {
    /// Its id.
    pub id: String,
    /// The account that asks.
    pub account: String,
    /// The authority.
    pub authority: String,
    /// The role.
    pub role: Role,
    /// Why, as the account says.
    pub reason: String,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// Open, granted or declined.
    pub status: AccessRequestStatus,
}

/// Whether a request for access is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessRequestStatus {
    /// Nobody has decided it.
    Open,
    /// The role was granted.
    Granted {
        /// By whom.
        by: Principal,
        /// When, in milliseconds since 1970.
        at: u64,
    },
    /// It was declined, or taken back by the account itself.
    Declined {
        /// By whom.
        by: Principal,
        /// When, in milliseconds since 1970.
        at: u64,
        /// Why; may be empty.
        reason: String,
    },
}

/// The decision on a request for access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessDecision {
    /// Grants the role.
    Grant,
    /// Declines the request. The account that asked may so take its own request back.
    Decline {
        /// Why; may be empty.
        reason: String,
    },
}

/// The maximum number of requests of an account that are open, or were made in the last day.
const MAX_REQUESTS: usize = 20;
/// The maximum length of a reason, in bytes.
const MAX_REASON_BYTES: usize = handfast_api::limits::ACCESS_REASON;
const DAY_MS: u64 = 86_400_000;
/// How long a decided request is stored at least, in milliseconds.
const STORED_MS: u64 = 365 * DAY_MS;
/// The start of the keys of requests in the table `meta`.
const REQUESTS: &[u8] = b"access-request:";

impl Registry {
    /// Asks for a role on an authority. Only an account can ask, without the limits of a token.
    ///
    /// ```
    /// # use handfast_registry::{
    /// #     AccessDecision, NewAuthority, Principal, Registry, Role, Environment,
    /// # };
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// # registry.create_account(&operator, "ann", "")?;
    /// let ann = Principal::parse("ann").unwrap();
    /// let asked = registry.request_access(&ann, "20.1000", Role::Write, "I keep the maps")?;
    /// registry.decide_access_request(&operator, &asked.id, AccessDecision::Grant)?;
    /// let reasons = registry.why(&ann, &ann, "20.1000")?;
    /// assert_eq!(reasons[0].reason.as_deref(), Some("I keep the maps"));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn request_access(
        &self,
        who: &Principal,
        authority: &str,
        role: Role,
        reason: &str,
    ) -> Result<AccessRequest, RegistryError> {
        if !matches!(who, Principal::Account(name) if !name.is_empty()) {
            let problem = "only an account asks for access, and not with a token that is limited: \
                           say which one with --as ACCOUNT, or use another token";
            return Err(RegistryError::policy("account-only", problem));
        }
        let (authority, reason) = (authority.to_string(), checked_reason(reason)?);
        self.change(who, move |change_set| {
            let who = change_set.who().clone();
            change_set.need_account(&who)?;
            let path = change_set.path(&authority)?;
            // An authority that is only requested has no names that a role would be for.
            if !change_set.is_in_force(&path)? {
                return Err(RegistryError::NoAuthority(path));
            }
            if change_set.role(&who, &path)? >= Some(role) {
                let problem = format!(
                    "{who} has this role on {path} already: run `handfast authority why {path}`"
                );
                return Err(RegistryError::policy("has-role", problem));
            }
            let request = AccessRequest {
                id: request_id(&change_set.random("access request")),
                account: who.to_string(),
                authority: path.to_string(),
                role,
                reason,
                created: change_set.time(),
                status: AccessRequestStatus::Open,
            };
            change_set.check_request_limit(&request)?;
            change_set.store_request(&request)?;
            let note = request.note("request");
            change_set.note(Action::RequestAccess, &note)?;
            Ok(request)
        })
    }

    /// The open requests that a principal may decide, and all requests of its own, oldest first.
    pub fn access_requests(&self, who: &Principal) -> Result<Vec<AccessRequest>, RegistryError> {
        self.read(|view| {
            let mut found = Vec::new();
            for request in view.all_requests()? {
                if request.is_of(who) || request.is_open() && view.may_decide(who, &request)? {
                    found.push(request);
                }
            }
            found.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
            Ok(found)
        })
    }

    /// Grants or declines a request. This takes the right to grant the role: a `lead` up to `lead`,
    /// an `admin` every role. The account that asked may decline its own request.
    pub fn decide_access_request(
        &self,
        who: &Principal,
        id: &str,
        decision: AccessDecision,
    ) -> Result<(), RegistryError> {
        let id = id.to_string();
        let decline_reason = match decision {
            AccessDecision::Grant => None,
            AccessDecision::Decline { reason } => Some(checked_reason(&reason)?),
        };
        self.change(who, move |change_set| {
            let who = change_set.who().clone();
            let found = change_set.request(&id)?;
            let is_own = found.as_ref().is_some_and(|found| found.is_of(&who));
            let may_decide = match &found {
                Some(found) => change_set.may_decide(&who, found)?,
                None => false,
            };
            let Some(request) = found.filter(|_| is_own || may_decide) else {
                let problem = format!("there is no request {id} that you may decide");
                return Err(RegistryError::policy("no-access-request", problem));
            };
            if !request.is_open() {
                let problem = format!("request {id} is decided already");
                return Err(RegistryError::policy("decided", problem));
            }
            match decline_reason {
                Some(reason) => change_set.decline_access(request, reason),
                None if is_own => {
                    let problem = "someone else must grant your request";
                    Err(RegistryError::policy("own-request", problem))
                }
                None => change_set.grant_access(request),
            }
        })
    }
}

impl AccessRequest {
    pub(crate) fn is_open(&self) -> bool {
        self.status == AccessRequestStatus::Open
    }

    pub(crate) fn is_of(&self, who: &Principal) -> bool {
        matches!(who, Principal::Account(_) | Principal::Limited { .. })
            && Principal::Account(self.account.clone()) == *who
    }

    /// The private text of an event.
    fn note(&self, action: &str) -> String {
        let account = Principal::Account(self.account.clone()).key();
        let (id, role, authority) = (&self.id, self.role, &self.authority);
        format!("access-request:{id} {action} {account} {role} {authority}")
    }
}

impl View<'_> {
    fn request(&self, id: &str) -> Result<Option<AccessRequest>, RegistryError> {
        self.decode_stored(Table::Meta, &request_key(id))
    }

    pub(crate) fn all_requests(&self) -> Result<Vec<AccessRequest>, RegistryError> {
        self.decode_all(Table::Meta, REQUESTS, "a request for access")
    }

    /// Whether a principal may grant the role of a request.
    pub(crate) fn may_decide(
        &self,
        who: &Principal,
        request: &AccessRequest,
    ) -> Result<bool, RegistryError> {
        // The rules of its namespace may have changed since: then nobody decides it.
        let Ok(path) = self.path(&request.authority) else {
            return Ok(false);
        };
        Ok(self.role(who, &path)? >= Some(request.role.max(Role::Lead)))
    }
}

impl ChangeSet<'_> {
    fn store_request(&mut self, request: &AccessRequest) -> Result<(), RegistryError> {
        self.store_encoded(Table::Meta, &request_key(&request.id), request)
    }

    /// Checks that the account of a new request may make one more, and deletes its old ones.
    fn check_request_limit(&mut self, new: &AccessRequest) -> Result<(), RegistryError> {
        let now = self.time();
        let who = Principal::Account(new.account.clone());
        let mut own = self.all_requests()?;
        own.retain(|request| request.is_of(&who));
        let is_same = |request: &&AccessRequest| {
            request.is_open() && request.authority == new.authority && request.role >= new.role
        };
        if let Some(request) = own.iter().find(is_same) {
            let (id, role, authority) = (&request.id, request.role, &request.authority);
            let problem =
                format!("request {id} for {role} on {authority} is open: wait until it is decided");
            return Err(RegistryError::policy("requested", problem));
        }
        let is_recent = |since: u64, period: u64| since.saturating_add(period) > now;
        let counts =
            |request: &&AccessRequest| request.is_open() || is_recent(request.created, DAY_MS);
        if own.iter().filter(counts).count() >= MAX_REQUESTS {
            let problem = format!(
                "an account has at most {MAX_REQUESTS} requests for access that are open or of the \
                 last 24 hours: wait until they are decided"
            );
            return Err(RegistryError::quota(problem, None));
        }
        for old in own {
            if !old.is_open() && !is_recent(old.created, STORED_MS) {
                let key = request_key(&old.id);
                self.push(Write::Delete(
                    TableKey::named(Table::Meta, &key).into_owned(),
                ));
            }
        }
        Ok(())
    }

    fn grant_access(&mut self, mut request: AccessRequest) -> Result<(), RegistryError> {
        let path = self.path(&request.authority)?;
        let account = Principal::Account(request.account.clone());
        self.need_account(&account)?;
        // A higher role that someone has granted since stays.
        let has_role = self.role(&account, &path)? >= Some(request.role);
        if !has_role {
            let event = self.next_event();
            self.grant(&path, account, request.role, false)?;
            if !request.reason.is_empty() {
                self.store_encoded(Table::Meta, &reason_key(event), &request.reason)?;
            }
        }
        request.status = AccessRequestStatus::Granted {
            by: self.who().lasting(),
            at: self.time(),
        };
        self.store_request(&request)
    }

    fn decline_access(
        &mut self,
        mut request: AccessRequest,
        reason: String,
    ) -> Result<(), RegistryError> {
        request.status = AccessRequestStatus::Declined {
            by: self.who().lasting(),
            at: self.time(),
            reason,
        };
        self.store_request(&request)?;
        self.note(Action::DeclineAccess, &request.note("decline"))
    }
}

fn checked_reason(reason: &str) -> Result<String, RegistryError> {
    if reason.len() > MAX_REASON_BYTES {
        let problem = format!("a reason has at most {MAX_REASON_BYTES} bytes");
        return Err(RegistryError::policy("too-large", problem));
    }
    Ok(reason.to_string())
}

fn request_key(id: &str) -> Vec<u8> {
    [REQUESTS, id.as_bytes()].concat()
}

fn request_id(random: &[u8; 32]) -> String {
    let start = random.first_chunk().copied().map(u64::from_be_bytes);
    format!("{:012x}", start.unwrap_or_default() >> 16)
}
