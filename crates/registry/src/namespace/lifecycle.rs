//! The life cycle of an entry: which actions are possible, and who may take them (`INFO-10`).
//!
//! One table lists, for each state and action, the next state and the capacities that may act: the
//! namespace's own authority, the operator of the registry (`lead` on `info:`) or its maintainer
//! (`admin` there).

use super::entry::{Capacity, NamespaceEntry, NamespaceStatus};
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use handfast_api::NamespaceForm;

use Capacity::{Authority, Claimant, Maintainer, Operator};
use NamespaceStatus::{Candidate, Deprecated, Lapsed, Refused, Registered, Withdrawn};

/// An action on an entry.
#[derive(Clone, Debug)]
pub enum NamespaceAct {
    /// Registers a candidate, makes a provisional entry permanent, or restores a deprecated one.
    /// The reason says how its authority was verified.
    Approve {
        /// When it expires unless it is renewed: the namespace is only planned.
        until: Option<u64>,
    },
    /// Changes the form of its authority.
    Change(Box<NamespaceForm>),
    /// Claims it.
    Claim,
    /// Deprecates it: it should not be used for anything new.
    Deprecate,
    /// Proposes a namespace.
    Propose(Box<NamespaceForm>),
    /// Declines a candidate or a claim.
    Refuse,
    /// Renews a provisional entry.
    Renew {
        /// When it expires then.
        until: u64,
    },
    /// Takes a claim back.
    TakeBack,
    /// Accepts a claim. The reason says how the claimant was verified.
    Verify,
    /// Withdraws it and leaves a tombstone; takes a candidate back.
    Withdraw,
}

impl NamespaceAct {
    /// One word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "approve",
            Self::Change(_) => "change",
            Self::Claim => "claim",
            Self::Deprecate => "deprecate",
            Self::Propose(_) => "propose",
            Self::Refuse => "refuse",
            Self::Renew { .. } => "renew",
            Self::TakeBack => "take-back",
            Self::Verify => "verify",
            Self::Withdraw => "withdraw",
        }
    }

    pub(super) fn action(&self) -> Action {
        match self {
            Self::Approve { .. } => Action::ApproveNamespace,
            Self::Change(_) => Action::ChangeNamespace,
            Self::Claim => Action::ClaimNamespace,
            Self::Deprecate => Action::DeprecateNamespace,
            Self::Propose(_) => Action::ProposeNamespace,
            Self::Refuse | Self::TakeBack => Action::RefuseNamespace,
            Self::Renew { .. } => Action::RenewNamespace,
            Self::Verify => Action::VerifyNamespace,
            Self::Withdraw => Action::WithdrawNamespace,
        }
    }

    /// Whether it needs a reason: proposals and changes have their form.
    pub(super) fn needs_reason(&self) -> bool {
        !matches!(self, Self::Propose(_) | Self::Change(_) | Self::TakeBack)
    }

    /// Whether it is for accounts only.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self, Self::Propose(_) | Self::Claim | Self::TakeBack)
    }
}

/// An action, the status that it needs, the status that it leaves, and the capacities that may
/// act; the first that fits is recorded.
type Row = (
    &'static str,
    NamespaceStatus,
    NamespaceStatus,
    &'static [Capacity],
);

/// What a row of the table allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) to: NamespaceStatus,
    needs: &'static [Capacity],
}

/// All actions on existing entries. Any account may propose and claim.
const TABLE: &[Row] = &[
    ("propose", Refused, Candidate, &[Authority]),
    ("change", Candidate, Candidate, &[Authority, Maintainer]),
    ("change", Registered, Registered, &[Authority, Maintainer]),
    ("change", Deprecated, Deprecated, &[Authority, Maintainer]),
    ("approve", Candidate, Registered, &[Operator]),
    ("approve", Registered, Registered, &[Operator]),
    ("approve", Lapsed, Registered, &[Operator]),
    ("approve", Deprecated, Registered, &[Operator]),
    ("refuse", Candidate, Refused, &[Operator]),
    ("refuse", Registered, Registered, &[Operator]),
    ("refuse", Lapsed, Lapsed, &[Operator]),
    ("refuse", Deprecated, Deprecated, &[Operator]),
    ("claim", Registered, Registered, &[Claimant]),
    ("take-back", Registered, Registered, &[Claimant]),
    ("claim", Lapsed, Lapsed, &[Claimant]),
    ("take-back", Lapsed, Lapsed, &[Claimant]),
    ("claim", Deprecated, Deprecated, &[Claimant]),
    ("take-back", Deprecated, Deprecated, &[Claimant]),
    ("verify", Registered, Registered, &[Operator]),
    ("verify", Lapsed, Lapsed, &[Operator]),
    ("verify", Deprecated, Deprecated, &[Operator]),
    ("renew", Registered, Registered, &[Operator]),
    ("renew", Lapsed, Registered, &[Operator]),
    ("deprecate", Registered, Deprecated, &[Authority, Operator]),
    ("deprecate", Lapsed, Deprecated, &[Operator]),
    ("withdraw", Candidate, Refused, &[Authority]),
    ("withdraw", Registered, Withdrawn, &[Authority, Maintainer]),
    ("withdraw", Lapsed, Withdrawn, &[Authority, Maintainer]),
    ("withdraw", Deprecated, Withdrawn, &[Authority, Maintainer]),
];

/// The transition of an action, or why there is none.
pub(super) fn transition(
    act: &NamespaceAct,
    entry: &NamespaceEntry,
    now: u64,
) -> Result<Transition, RegistryError> {
    let from = entry.state(now);
    let mut rows = TABLE.iter();
    let found = rows.find(|(name, before, ..)| *name == act.as_str() && *before == from);
    let refuse = |way_out| entry.in_state(now, way_out);
    let Some((.., to, needs)) = found else {
        return Err(refuse(match (from, act) {
            (Withdrawn, _) => "its string is never used again",
            (Refused, _) => "it would have to be proposed again",
            (Candidate, _) => "it is not registered yet",
            (_, NamespaceAct::Propose(_)) => "claim it if it is yours",
            (Lapsed, _) => "renew it first",
            _ => "nothing is left to do",
        }));
    };
    let is_waiting = entry.claim_pending;
    let is_provisional = entry.provisional_until.is_some();
    match act {
        NamespaceAct::Approve { .. } if from == Registered && !is_provisional => {
            Err(refuse("nothing is left to do"))
        }
        NamespaceAct::Renew { .. } if !is_provisional => {
            Err(refuse("it is not provisional, so it does not lapse"))
        }
        NamespaceAct::Verify | NamespaceAct::TakeBack if !is_waiting => {
            Err(refuse("nobody claims it"))
        }
        NamespaceAct::Refuse if from != Candidate && !is_waiting => {
            Err(refuse("nobody claims it, so nothing can be declined"))
        }
        _ => Ok(Transition { to: *to, needs }),
    }
}

impl View<'_> {
    /// The entry of a namespace that is registered now: names can be created only under one
    /// (`INFO-10`).
    pub(crate) fn live_namespace(
        &self,
        name: &str,
        now: u64,
    ) -> Result<NamespaceEntry, RegistryError> {
        match self.find_namespace(name)? {
            Some(entry) if entry.is_live(now) => Ok(entry),
            entry => {
                let state = entry.map_or("not registered", |entry| entry.state(now).as_str());
                let problem = format!(
                    "namespace {name} is {state}: names can be created only under a registered \
                     one; see `handfast namespace propose`"
                );
                Err(RegistryError::policy("not-live", problem))
            }
        }
    }

    /// Whether a principal owns the entry of a namespace.
    pub(crate) fn owns_namespace(
        &self,
        who: &Principal,
        name: &str,
    ) -> Result<bool, RegistryError> {
        let entry = self.find_namespace(name)?;
        Ok(entry.is_some_and(|entry| owns(who, &entry)) && self.is_in_use(who)?)
    }

    /// Whether a principal has an account that is not suspended.
    fn is_in_use(&self, who: &Principal) -> Result<bool, RegistryError> {
        let account = self.account(&who.lasting())?;
        Ok(account.is_some_and(|account| !account.is_suspended))
    }

    /// The capacity of a principal for an action, if it may take it.
    pub(super) fn capacity(
        &self,
        who: &Principal,
        entry: &NamespaceEntry,
        act: &NamespaceAct,
        transition: &Transition,
    ) -> Result<Capacity, RegistryError> {
        // A claim on an owned entry is a dispute.
        let is_dispute = matches!(act, NamespaceAct::Verify) && entry.claimed;
        let needs = if is_dispute {
            &[Maintainer]
        } else {
            transition.needs
        };
        let root = AuthorityPath::info_root();
        let asks = match act {
            NamespaceAct::Approve { .. } | NamespaceAct::Refuse | NamespaceAct::Renew { .. } => {
                entry.owner.as_ref()
            }
            NamespaceAct::Verify => entry.claimant.as_ref(),
            _ => None,
        };
        for capacity in needs {
            let may = match capacity {
                Authority | Claimant if is_open(act) => true,
                Claimant => entry.claimant.as_ref() == Some(who),
                Authority => owns(who, entry) && self.is_in_use(who)?,
                Operator => self.role(who, &root)? >= Some(Role::Lead),
                Maintainer => self.role(who, &root)? >= Some(Role::Admin),
                Capacity::Original => false,
            };
            if !may {
                continue;
            }
            if asks == Some(who) && *capacity != Authority {
                let problem = "someone else must decide your request";
                return Err(RegistryError::policy("own-request", problem));
            }
            return Ok(*capacity);
        }
        let only = |role| RegistryError::denied(role, &root);
        Err(match needs {
            [Operator] => only(Role::Lead),
            [Maintainer] => only(Role::Admin),
            _ => RegistryError::NotTheirs {
                namespace: entry.name().to_string(),
            },
        })
    }
}

/// Whether any account may take it.
fn is_open(act: &NamespaceAct) -> bool {
    matches!(act, NamespaceAct::Propose(_) | NamespaceAct::Claim)
}

/// Whether a principal owns an entry, and the limit of its token allows it.
fn owns(who: &Principal, entry: &NamespaceEntry) -> bool {
    entry.owner.as_ref() == Some(who) && has_all_of(who, entry.name(), Role::Admin)
}

/// Whether the token of a principal, if it has one, is sufficient for an action on a namespace.
pub(super) fn has_all_of(who: &Principal, name: &str, needs: Role) -> bool {
    let Principal::Limited { limit, .. } = who else {
        return true;
    };
    let path = format!("info:{name}");
    let mut authority = limit.authority.iter();
    limit.role >= needs && authority.all(|authority| ["info:", &path].contains(&authority.key()))
}
