//! Actions on an entry.

use std::sync::Arc;

use handfast_api::{NamespaceForm, limits};
use handfast_id::Namespace;
use handfast_store::{Table, TableKey};

use super::clash;
use super::entry::{Capacity, NamespaceAside, NamespaceEntry, NamespaceStatus};
use super::lifecycle::{NamespaceAct, Transition, has_all_of, transition};
use super::moved::{LookedThrough, look_again, look_through};
use super::read::bare;
use super::stored::{LAST_CHANGE, StoredNamespace, entry_key, history_key};
use super::validate::{check, check_declaration, check_review, check_text};
use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::clock::rfc3339;
use crate::error::RegistryError;
use crate::log::event::{Action, Subject};
use crate::name::change::other_version;
use crate::registry::Registry;

/// The maximum number of candidates of one account.
const MAX_PROPOSALS_PER_ACCOUNT: usize = 20;
/// The maximum number of entries: all of them are in memory.
const MAX_ENTRIES: usize = 10_000;
/// The maximum number of versions of an entry that its authority makes in a day.
const MAX_VERSIONS_PER_DAY: u64 = 100;
/// The maximum number of versions of an entry that claims may make in a day: claimants must not use
/// up the limit of its authority.
const MAX_CLAIM_VERSIONS_PER_DAY: u64 = 20;
/// The maximum number of open claims of one account.
const MAX_CLAIMS_PER_ACCOUNT: usize = 5;
/// A day, in milliseconds.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// The maximum time until a provisional entry expires, in milliseconds: twelve months.
const MAX_PROVISIONAL_MS: u64 = 366 * 24 * 60 * 60 * 1_000;
/// Namespaces whose identifiers are looked up by other schemes, which entries cannot change.
const NAMESPACES_OF_OTHERS: [&str; 3] = ["ark", "doi", "hdl"];

/// An action on an entry, and its reason.
#[derive(Clone, Debug)]
pub struct NamespaceOrder {
    /// The action.
    pub act: NamespaceAct,
    /// The reason, or how an authority was verified.
    pub why: String,
    /// The version that the entry must have.
    pub expects: Option<u64>,
    /// Why a namespace is registered although another system uses the same or a similar string.
    pub despite: Option<String>,
}

impl NamespaceOrder {
    /// An action on any version of the entry.
    #[must_use]
    pub fn new(act: NamespaceAct, why: &str) -> Self {
        Self {
            act,
            why: why.to_string(),
            expects: None,
            despite: None,
        }
    }
}

impl Registry {
    /// Applies an action to an entry.
    ///
    /// ```
    /// # use handfast_registry::{Environment, NamespaceAct, NamespaceForm, NamespaceOrder};
    /// # use handfast_registry::{Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # registry.create_account(&Principal::Operator, "ann", "")?;
    /// let form = NamespaceForm::from_json(r#"{
    ///     "namespace": "oai", "title": "OAI identifiers",
    ///     "authority": {"organisation": "Open Archives Initiative", "contact": "oai@example.org"},
    ///     "syntax": {"summary": "A repository, a colon, and its local name."},
    ///     "normalisation": {"case": "lower"},
    ///     "declaration": {"public": true, "in_use": true, "without_uri_form": true}
    /// }"#).unwrap();
    /// let ann = Principal::account("ann").unwrap();
    /// let propose = NamespaceOrder::new(NamespaceAct::Propose(Box::new(form)), "");
    /// registry.act_on_namespace(&ann, "oai", propose)?;
    /// let approve = NamespaceOrder::new(NamespaceAct::Approve { until: None }, "letterhead");
    /// assert!(registry.act_on_namespace(&ann, "oai", approve.clone()).is_err());
    /// let oai = registry.act_on_namespace(&Principal::Operator, "oai", approve)?;
    /// assert!(oai.is_live(0) && oai.claimed);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn act_on_namespace(
        &self,
        who: &Principal,
        name: &str,
        order: NamespaceOrder,
    ) -> Result<Arc<NamespaceEntry>, RegistryError> {
        let name = bare(name);
        let ready = self.prepare_namespace(who, &name, order)?;
        self.change(who, move |change_set| {
            let (entry, action) = change_set.act_on_namespace(&name, ready)?;
            change_set.store_namespace(entry, action).map(Arc::new)
        })
    }

    /// Returns the entry as an action would leave it, and changes nothing.
    pub fn consider_namespace(
        &self,
        who: &Principal,
        name: &str,
        order: NamespaceOrder,
    ) -> Result<NamespaceEntry, RegistryError> {
        let name = bare(name);
        let ready = self.prepare_namespace(who, &name, order)?;
        self.dry_run(who, move |change_set| {
            let (entry, _) = change_set.act_on_namespace(&name, ready)?;
            Ok(entry)
        })
    }

    /// Which actions a principal may take on an entry as it is now, by their names. The rules that
    /// they need beyond that are checked when they are taken.
    ///
    /// ```
    /// # use handfast_registry::{Environment, Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # registry.create_account(&Principal::Operator, "ann", "")?;
    /// let ann = Principal::account("ann").unwrap();
    /// assert_eq!(registry.namespace_acts(&ann, "lccn")?, ["claim"]);
    /// assert_eq!(
    ///     registry.namespace_acts(&Principal::Operator, "lccn")?,
    ///     ["change", "deprecate", "withdraw"]
    /// );
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn namespace_acts(
        &self,
        who: &Principal,
        name: &str,
    ) -> Result<Vec<&'static str>, RegistryError> {
        let name = bare(name);
        let until = self.time().saturating_add(DAY_MS);
        self.dry_run(who, move |change_set| {
            let entry = change_set.namespace_entry(&name)?;
            let may_claim = !entry.claim_pending && entry.owner.as_ref() != Some(change_set.who());
            let acts = [
                NamespaceAct::Propose(Box::new(entry.form.clone())),
                NamespaceAct::Change(Box::new(entry.form.clone())),
                NamespaceAct::Approve { until: None },
                NamespaceAct::Verify,
                NamespaceAct::Refuse,
                NamespaceAct::Claim,
                NamespaceAct::TakeBack,
                NamespaceAct::Renew { until },
                NamespaceAct::Deprecate,
                NamespaceAct::Withdraw,
            ];
            let mut possible = Vec::new();
            for act in acts {
                let word = act.as_str();
                if word == "claim" && !may_claim {
                    continue;
                }
                match change_set.may_act(&name, &NamespaceOrder::new(act, "")) {
                    Ok(_) => possible.push(word),
                    Err(error) if error.is_failure() => return Err(error),
                    Err(_) => {}
                }
            }
            Ok(possible)
        })
    }

    /// Does the slow part before the change reaches the writer: testing rules, and scanning names.
    fn prepare_namespace(
        &self,
        who: &Principal,
        name: &str,
        mut order: NamespaceOrder,
    ) -> Result<CheckedOrder, RegistryError> {
        // INFO-10: strings that differ in case are one, and registered in lowercase.
        if let NamespaceAct::Propose(form) | NamespaceAct::Change(form) = &mut order.act {
            form.namespace = bare(&form.namespace);
        }
        // The rights are checked first, so that nothing is tested for a principal without them.
        self.dry_run(who, |change_set| {
            change_set.may_act(name, &order).map(|_| ())
        })?;
        check_text("the reason", &order.why, limits::NAMESPACE_TEXT)?;
        if order.act.needs_reason() && order.why.trim().is_empty() {
            let problem = "a reason is needed: it stands in the history of the entry";
            return Err(RegistryError::policy("bad-reason", problem));
        }
        if let NamespaceAct::Propose(form) | NamespaceAct::Change(form) = &order.act {
            if bare(&form.namespace) != name {
                let problem = format!("the form is of {}, not of {name}", form.namespace);
                return Err(RegistryError::policy("other-namespace", problem));
            }
            check(form)?;
        }
        if let NamespaceAct::Propose(form) = &order.act {
            check_declaration(form)?;
        }
        let looked = self.read(|view| {
            let current = view.find_namespace(name)?;
            let rules = coming_into_force(current.as_ref(), &order.act)?;
            rules.map(|rules| look_through(view, &rules)).transpose()
        })?;
        Ok(CheckedOrder { order, looked })
    }
}

/// An action that was checked as far as possible outside the writer.
struct CheckedOrder {
    order: NamespaceOrder,
    looked: Option<LookedThrough>,
}

/// The rules that an action puts in force, if they differ from the current ones.
fn coming_into_force(
    current: Option<&NamespaceEntry>,
    act: &NamespaceAct,
) -> Result<Option<Namespace>, RegistryError> {
    let Some(current) = current else {
        return Ok(None);
    };
    let form = match act {
        NamespaceAct::Approve { .. } if !current.was_registered() => &current.form,
        NamespaceAct::Change(form) if current.was_registered() => form,
        _ => return Ok(None),
    };
    let rules = super::validate::rules(form)?;
    let is_same =
        current.was_registered() && current.rules().is_ok_and(|r| r.steps() == rules.steps());
    Ok((!is_same).then_some(rules))
}

/// Checks that the rules of a namespace of another scheme do not change.
pub(super) fn check_fixed(name: &str) -> Result<(), RegistryError> {
    if !NAMESPACES_OF_OTHERS.contains(&name) {
        return Ok(());
    }
    let problem = format!(
        "identifiers of {name} are looked up as those of another scheme: their normalisation is \
         fixed"
    );
    Err(RegistryError::policy("fixed-rules", problem))
}

impl ChangeSet<'_> {
    /// The entry after an action.
    fn act_on_namespace(
        &self,
        name: &str,
        ready: CheckedOrder,
    ) -> Result<(NamespaceEntry, Action), RegistryError> {
        let CheckedOrder { order, looked } = ready;
        let allowed = self.may_act(name, &order)?;
        let NamespaceOrder {
            act, why, despite, ..
        } = order;
        let action = act.action();
        let Some((current, transition, by)) = allowed else {
            let NamespaceAct::Propose(form) = act else {
                return Err(super::read::no_namespace(name));
            };
            return Ok((self.proposed(*form, why)?, action));
        };
        match &act {
            NamespaceAct::Change(form) if !current.historical => check_declaration(form)?,
            NamespaceAct::Approve { until } if !current.historical => {
                check_declaration(&current.form)?;
                check_review(&current.form, *until)?;
            }
            _ => {}
        }
        let why = match &act {
            NamespaceAct::Approve { .. } if current.status == NamespaceStatus::Candidate => {
                self.reviewed(name, why, despite.as_deref())?
            }
            _ => why,
        };
        match by {
            // A claimed entry has been counted before.
            _ if matches!(act, NamespaceAct::TakeBack) => {}
            Capacity::Authority => self.check_rate(&current, MAX_VERSIONS_PER_DAY)?,
            Capacity::Claimant => self.check_rate(&current, MAX_CLAIM_VERSIONS_PER_DAY)?,
            _ => {}
        }
        if let Some(rules) = coming_into_force(Some(&current), &act)? {
            check_fixed(name)?;
            match looked {
                Some(looked) => look_again(self, &rules, looked)?,
                None => drop(look_through(self, &rules)?),
            }
        }
        let had_lapsed = current.state(self.time()) == NamespaceStatus::Lapsed;
        let is_aside = match act {
            NamespaceAct::Claim | NamespaceAct::TakeBack => true,
            NamespaceAct::Refuse => current.status != NamespaceStatus::Candidate,
            _ => false,
        };
        let aside = NamespaceAside {
            time: self.time(),
            by,
            why: why.clone(),
        };
        let mut entry = NamespaceEntry {
            // The stored state of an expired entry is not "expired".
            status: match transition.to {
                NamespaceStatus::Lapsed => current.status,
                to => to,
            },
            by: if is_aside { current.by } else { by },
            why: if is_aside {
                current.why.clone()
            } else {
                why.clone()
            },
            aside: is_aside.then_some(aside),
            ..current
        };
        match act {
            NamespaceAct::Approve { until } => {
                self.check_until(until)?;
                entry.provisional_until = until;
                if entry.registered.is_none() && !entry.historical {
                    entry.registered = rfc3339(self.time()).get(..10).map(str::to_string);
                }
                if current.status == NamespaceStatus::Candidate {
                    entry.verified = Some(why);
                }
            }
            NamespaceAct::Change(form) => entry.form = form.in_lowercase(),
            NamespaceAct::Claim => self.claim(&mut entry)?,
            NamespaceAct::Propose(form) => entry = self.proposed(*form, why)?,
            NamespaceAct::TakeBack => entry.claimant = None,
            NamespaceAct::Refuse if is_aside => entry.claimant = None,
            NamespaceAct::Renew { until } => {
                self.check_until(Some(until))?;
                entry.provisional_until = Some(until);
            }
            NamespaceAct::Verify => {
                entry.owner = entry.claimant.take();
                entry.verified = Some(why);
            }
            // The staff of the registry has taken it up again, even if only to deprecate it.
            NamespaceAct::Deprecate if had_lapsed => entry.provisional_until = None,
            NamespaceAct::Deprecate | NamespaceAct::Refuse | NamespaceAct::Withdraw => {}
        }
        Ok((entry, action))
    }

    /// The current entry, its transition and the capacity of the principal, if the principal may
    /// act; `None` if the namespace can be proposed.
    fn may_act(
        &self,
        name: &str,
        order: &NamespaceOrder,
    ) -> Result<Option<(NamespaceEntry, Transition, Capacity)>, RegistryError> {
        let act = &order.act;
        let current = self.find_namespace(name)?;
        let Some(current) = current else {
            if !matches!(act, NamespaceAct::Propose(_)) {
                return Err(super::read::no_namespace(name));
            }
            self.may_ask(name)?;
            return Ok(None);
        };
        let version = current.version;
        if order.expects.is_some_and(|expected| expected != version) {
            return Err(other_version(&current.uri(), version));
        }
        let transition = transition(act, &current, self.time())?;
        if act.is_asked() {
            self.may_ask(name)?;
        }
        let by = self.capacity(self.who(), &current, act, &transition)?;
        Ok(Some((current, transition, by)))
    }

    /// Checks that the principal has an account: proposals, claims and comments need one.
    pub(super) fn may_ask(&self, name: &str) -> Result<(), RegistryError> {
        let who = self.who();
        let account = who.lasting();
        if !matches!(account, Principal::Account(_)) {
            let problem = "only an account can do this: say which one with --as ACCOUNT";
            return Err(RegistryError::policy("account-only", problem));
        }
        if !has_all_of(who, name, Role::Write) {
            return Err(RegistryError::NotTheirs {
                namespace: name.to_string(),
            });
        }
        self.need_account(&account)
    }

    fn proposed(&self, form: NamespaceForm, why: String) -> Result<NamespaceEntry, RegistryError> {
        let owner = self.who().lasting();
        let all = self.namespaces()?;
        let open = all.entries.iter().filter(|entry| {
            entry.status == NamespaceStatus::Candidate && entry.owner.as_ref() == Some(&owner)
        });
        if open.count() >= MAX_PROPOSALS_PER_ACCOUNT || all.entries.len() >= MAX_ENTRIES {
            let problem =
                format!("an account has at most {MAX_PROPOSALS_PER_ACCOUNT} candidates at a time");
            return Err(RegistryError::policy("too-many-proposals", problem));
        }
        Ok(NamespaceEntry {
            status: NamespaceStatus::Candidate,
            historical: false,
            proposed: Some(self.time()),
            changed: self.time(),
            by: Capacity::Authority,
            why,
            owner: Some(owner),
            ..NamespaceEntry::original(form.in_lowercase())
        })
    }

    /// The reason of a registration, with the reason for accepting a clash.
    fn reviewed(
        &self,
        name: &str,
        why: String,
        despite: Option<&str>,
    ) -> Result<String, RegistryError> {
        let all = self.namespaces()?;
        let names = all.entries.iter().map(|entry| entry.name());
        let clashes = clash::clashes(name, names);
        let despite = despite.map(str::trim).filter(|reason| !reason.is_empty());
        match (clashes.is_empty(), despite) {
            (true, _) => Ok(why),
            (false, Some(reason)) => {
                let whole = format!("{why}; despite {}: {reason}", clashes.join(", "));
                check_text("the reason", &whole, limits::NAMESPACE_TEXT)?;
                Ok(whole)
            }
            (false, None) => {
                let problem = format!(
                    "{name} may be confused with {}: say with --despite why it is registered \
                     nevertheless",
                    clashes.join(", ")
                );
                Err(RegistryError::policy("clash", problem))
            }
        }
    }

    fn claim(&self, entry: &mut NamespaceEntry) -> Result<(), RegistryError> {
        let who = self.who().lasting();
        let problem = if entry.owner.as_ref() == Some(&who) {
            Some("it is yours already")
        } else if entry.claim_pending {
            Some("someone claims it already: that is decided first")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(RegistryError::policy("claimed", problem));
        }
        let all = self.namespaces()?;
        let open = all.entries.iter();
        let open = open.filter(|entry| entry.claimant.as_ref() == Some(&who));
        if open.count() >= MAX_CLAIMS_PER_ACCOUNT {
            let problem =
                format!("an account has at most {MAX_CLAIMS_PER_ACCOUNT} claims at a time");
            return Err(RegistryError::policy("too-many-claims", problem));
        }
        entry.claimant = Some(who);
        Ok(())
    }

    /// Limits the rate of new versions: all versions are stored.
    fn check_rate(&self, current: &NamespaceEntry, limit: u64) -> Result<(), RegistryError> {
        let Some(first) = (current.version + 1).checked_sub(limit).filter(|v| *v > 0) else {
            return Ok(());
        };
        let made = if first == current.version {
            Some(current.made().0)
        } else {
            let version = self.namespace_version(current.name(), first)?;
            version.map(|version| version.made().0)
        };
        if made.is_none_or(|made| made.saturating_add(DAY_MS) <= self.time()) {
            return Ok(());
        }
        let problem =
            format!("an entry has at most {limit} new versions a day: try again tomorrow");
        Err(RegistryError::policy("too-often", problem))
    }

    fn check_until(&self, until: Option<u64>) -> Result<(), RegistryError> {
        let now = self.time();
        let is_fit = until.is_none_or(|until| until > now && until - now <= MAX_PROVISIONAL_MS);
        if is_fit {
            return Ok(());
        }
        let problem = "a provisional entry ends within the next twelve months";
        Err(RegistryError::policy("bad-date", problem))
    }

    /// Stores a new version of an entry, with its event.
    pub(super) fn store_namespace(
        &mut self,
        mut entry: NamespaceEntry,
        action: Action,
    ) -> Result<NamespaceEntry, RegistryError> {
        let name = entry.name().to_string();
        let (number, history) = (self.next_event(), history_key(&name));
        let old = match self.stored_namespace(&name)? {
            Some(stored) => Some(stored),
            None => super::seeds::seed(&name)
                .map(|seed| StoredNamespace::of(seed))
                .transpose()?,
        };
        entry.version = 1;
        if let Some(old) = old {
            let bytes = old.to_bytes()?;
            let version = old
                .read()
                .ok_or_else(|| super::stored::damaged(&name))?
                .version;
            self.put(TableKey::version(history.as_bytes(), version), bytes);
            entry.version = version + 1;
        }
        if entry.aside.is_none() {
            entry.changed = self.time();
        }
        entry.last_event = number;
        entry.seed = self.random("seed");
        entry.claimed = entry.was_registered() && entry.owner.is_some();
        entry.claim_pending = entry.claimant.is_some();
        let stored = StoredNamespace::of(&entry)?;
        let authority = format!("info:{name}");
        self.add_event(
            action,
            Subject::None,
            &authority,
            entry.version,
            stored.commitments(),
        );
        self.put(TableKey::event_of(history.as_bytes(), number), Vec::new());
        self.store_encoded(Table::Namespaces, entry_key(&name).as_bytes(), &stored)?;
        self.store_encoded(Table::Meta, LAST_CHANGE, &number)?;
        Ok(entry)
    }
}
