//! The private audit of sign-ins: who signed in when, how and from where. Entries are stored for a
//! year, and are not part of the public log.

use std::sync::Mutex;

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::sign_in::session::Session;
use crate::access::sign_in::{SignInClient, client_text, is_own, not_yours, subject};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::{Registry, locked};

/// How a person proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SignInMeans {
    /// A one-time link that the operator or an administrator created.
    Link,
    /// The link of an invitation.
    Invitation,
    /// A password.
    Password,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SignInOutcome {
    /// A session was started.
    SignedIn,
    /// The person in a session proved again who they are.
    Confirmed,
    /// The password was wrong, or there is no such account.
    Failed,
    /// A one-time link was created.
    LinkCreated,
    /// The password was set.
    PasswordSet,
}

impl SignInMeans {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Invitation => "invitation",
            Self::Password => "password",
        }
    }
}

impl SignInOutcome {
    /// The words for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed in",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::LinkCreated => "link created",
            Self::PasswordSet => "password set",
        }
    }
}

/// An entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The account, or `INDEX:HANDLE`. Empty if there is no such account: people type passwords
    /// into the wrong field.
    pub account: String,
    /// How.
    pub means: SignInMeans,
    /// What happened.
    pub outcome: SignInOutcome,
    /// The network that the request came from; empty if it was a command.
    pub network: String,
    /// Who created the link or set the password; otherwise empty.
    pub by: String,
    /// How many failures before this one were not recorded, because there were too many.
    pub unrecorded: u64,
}

/// A page of the audit, the newest entries first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignInPage {
    /// The entries.
    pub entries: Vec<SignIn>,
    /// The parameter `after` of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// The start of the keys of entries in the table `meta`. The time follows, counted down, so that
/// the newest entry is the first.
const KEYS: &[u8] = b"sign-in:";
/// How long an entry is stored: a year, in milliseconds.
const LIFETIME: u64 = 366 * 24 * 60 * 60 * 1_000;
/// How many old entries are deleted when a new one is written.
const MAX_DELETED: usize = 100;
/// How many entries a page looks at.
const MAX_LOOKED_AT: usize = 10_000;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;
/// How many failures are recorded in a minute, and in a day. Anonymous clients cause them, and each
/// is a commit.
const MAX_FAILURES_PER_MINUTE: u64 = 30;
const MAX_FAILURES_PER_DAY: u64 = 2_000;

impl SignIn {
    pub(crate) fn new(
        account: &str,
        means: SignInMeans,
        outcome: SignInOutcome,
        client: &SignInClient,
    ) -> Self {
        Self {
            time: 0,
            account: account.to_string(),
            means,
            outcome,
            network: client_text(&client.network),
            by: String::new(),
            unrecorded: 0,
        }
    }

    pub(crate) fn of(session: &Session, outcome: SignInOutcome) -> Self {
        let client = SignInClient {
            network: session.network.clone(),
            ..SignInClient::default()
        };
        Self::new(&session.account, session.means, outcome, &client)
    }

    pub(crate) fn by(mut self, who: &str) -> Self {
        self.by = who.to_string();
        self
    }
}

impl Registry {
    /// Sign-ins, the newest first: of an account for itself, of any or all accounts for the
    /// operator and administrators. A page may have fewer entries than `limit` and still have a
    /// next one.
    pub fn sign_ins(
        &self,
        who: &Principal,
        account: Option<&str>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<SignInPage, RegistryError> {
        let subject = account.map(subject).transpose()?;
        let is_own = subject.as_ref().is_some_and(|subject| is_own(who, subject));
        if !is_own && !self.is_administrator(who)? {
            return Err(not_yours());
        }
        let after = after.map(|text| u128::from_str_radix(text, 16));
        let after = after.transpose().map_err(|_| {
            RegistryError::policy("bad-page", "`after` is `next` of the page before")
        })?;
        let oldest = self.time().saturating_sub(LIFETIME);
        self.read(|view| view.sign_ins(subject.as_ref(), after, limit, oldest))
    }

    /// Records that a password was wrong.
    pub(crate) fn note_failure(
        &self,
        account: &str,
        client: &SignInClient,
    ) -> Result<(), RegistryError> {
        let Some(unrecorded) = self.sign_in.failures.admit(self.time()) else {
            return Ok(());
        };
        let (subject, client) = (Principal::account(account), client.clone());
        self.change_sign_in(move |change_set| {
            let found = match &subject {
                Ok(subject) => change_set.account(subject)?,
                Err(_) => None,
            };
            let name = found.map(|account| account.name).unwrap_or_default();
            let (means, outcome) = (SignInMeans::Password, SignInOutcome::Failed);
            change_set.note_sign_in(SignIn {
                unrecorded,
                ..SignIn::new(&name, means, outcome, &client)
            })
        })
    }
}

impl View<'_> {
    fn sign_ins(
        &self,
        subject: Option<&Principal>,
        after: Option<u128>,
        limit: usize,
        oldest: u64,
    ) -> Result<SignInPage, RegistryError> {
        let mut page = SignInPage::default();
        let mut looked_at = 0;
        let from = after.map_or(0, |after| after.saturating_add(1));
        let from = [KEYS, &from.to_be_bytes()[..]].concat();
        let limit = limit.max(1);
        let mut last = 0;
        self.scan_while(&TableKey::named(Table::Meta, &from), |table_key, bytes| {
            let Some(place) = place_of(table_key.name()) else {
                return Ok(false);
            };
            if looked_at == MAX_LOOKED_AT || page.entries.len() == limit {
                page.next = Some(format!("{last:032x}"));
                return Ok(false);
            }
            (looked_at, last) = (looked_at + 1, place);
            let entry: SignIn = postcard::from_bytes(bytes)
                .map_err(|_| RegistryError::corrupt("the audit of sign-ins"))?;
            if entry.time < oldest {
                return Ok(false);
            }
            let is_meant = subject
                .is_none_or(|subject| Principal::parse(&entry.account).as_ref() == Ok(subject));
            if is_meant {
                page.entries.push(entry);
            }
            Ok(true)
        })?;
        Ok(page)
    }
}

impl ChangeSet<'_> {
    /// Writes an entry, and deletes some that are more than a year old.
    pub(crate) fn note_sign_in(&mut self, entry: SignIn) -> Result<(), RegistryError> {
        let time = self.time();
        let mut old = Vec::new();
        let first = key(time.saturating_sub(LIFETIME), [0; 8]);
        self.scan_while(&TableKey::named(Table::Meta, &first), |table_key, _| {
            let is_old = place_of(table_key.name()).is_some() && old.len() < MAX_DELETED;
            if is_old {
                old.push(table_key.name().to_vec());
            }
            Ok(is_old)
        })?;
        for key in old {
            self.delete_meta(&key);
        }
        // Several entries of one change have the same time.
        let random = self.random(&format!("{:?} {}", entry.outcome, entry.account));
        let random = random.first_chunk().copied().unwrap_or_default();
        self.store_encoded(Table::Meta, &key(time, random), &SignIn { time, ..entry })
    }
}

fn key(time: u64, random: [u8; 8]) -> Vec<u8> {
    [KEYS, &(u64::MAX - time).to_be_bytes()[..], &random[..]].concat()
}

fn place_of(name: &[u8]) -> Option<u128> {
    let place: [u8; 16] = name.strip_prefix(KEYS)?.try_into().ok()?;
    Some(u128::from_be_bytes(place))
}

/// How many failures were recorded in this minute and in this day.
#[derive(Default)]
pub(crate) struct FailureLimit(Mutex<FailureCounts>);

#[derive(Default)]
struct FailureCounts {
    minute: (u64, u64),
    day: (u64, u64),
    unrecorded: u64,
}

impl FailureLimit {
    /// Whether a failure is recorded now, and how many before it were not.
    fn admit(&self, now: u64) -> Option<u64> {
        let mut counts = locked(&self.0);
        for (window, length) in [(0, MINUTE_MS), (1, DAY_MS)] {
            let window = match window {
                0 => &mut counts.minute,
                _ => &mut counts.day,
            };
            if window.0 != now / length {
                *window = (now / length, 0);
            }
        }
        if counts.minute.1 >= MAX_FAILURES_PER_MINUTE || counts.day.1 >= MAX_FAILURES_PER_DAY {
            counts.unrecorded += 1;
            return None;
        }
        counts.minute.1 += 1;
        counts.day.1 += 1;
        Some(std::mem::take(&mut counts.unrecorded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::sign_in::tests::{OPERATOR, PASSWORD, SignInTest, ann, client};

    fn outcomes(test: &SignInTest, account: Option<&str>) -> Vec<(String, SignInOutcome)> {
        let page = test.registry.sign_ins(&OPERATOR, account, None, 1_000);
        let entries = page.unwrap().entries.into_iter();
        entries
            .map(|entry| (entry.account, entry.outcome))
            .collect()
    }

    #[test]
    fn sign_ins_are_recorded_newest_first() {
        use SignInOutcome::{Confirmed, Failed, LinkCreated, PasswordSet, SignedIn};
        let test = SignInTest::new();
        let registry = &test.registry;
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
        test.advance(1);
        let wrong = registry.sign_in_with_password("Ann", "wrong", &client());
        assert_eq!(wrong.unwrap_err().code(), "wrong-password");
        test.advance(1);
        let new = registry.sign_in_with_password("ann", PASSWORD, &client());
        test.advance(1);
        let confirmed = registry.confirm_session(&new.unwrap().secret, PASSWORD);
        confirmed.unwrap();
        test.advance(1);
        let link = registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
        test.advance(1);
        registry.use_link(&link.code, &client()).unwrap();
        let of_ann = [Confirmed, SignedIn, Failed, PasswordSet].map(|o| ("ann".to_string(), o));
        assert_eq!(outcomes(&test, Some("ann")), of_ann);
        let of_bob = [SignedIn, LinkCreated].map(|outcome| ("bob".to_string(), outcome));
        assert_eq!(outcomes(&test, None), [&of_bob[..], &of_ann[..]].concat());
        let page = registry.sign_ins(&OPERATOR, Some("ann"), None, 1).unwrap();
        assert_eq!(page.entries[0].network, "192.0.2.7");
        let mut all = page.entries;
        let mut next = page.next;
        while let Some(after) = next {
            let page = registry.sign_ins(&OPERATOR, Some("ann"), Some(&after), 1);
            let page = page.unwrap();
            all.extend(page.entries);
            next = page.next;
        }
        assert_eq!(all.len(), 4);
        assert_eq!(all[3].by, "the operator");
    }

    #[test]
    fn each_account_sees_its_own_sign_ins() {
        let test = SignInTest::new();
        let registry = &test.registry;
        assert!(registry.sign_ins(&ann(), Some("ann"), None, 9).is_ok());
        assert!(registry.sign_ins(&ann(), Some("bob"), None, 9).is_err());
        assert!(registry.sign_ins(&ann(), None, None, 9).is_err());
        assert!(registry.sign_ins(&OPERATOR, None, Some("x"), 9).is_err());
    }

    /// A password that was typed into the field of the name would have been stored.
    #[test]
    fn a_name_that_is_no_account_is_not_recorded() {
        let test = SignInTest::new();
        for text in ["hunter2hunter2", "a text: no name"] {
            let failed = test.registry.sign_in_with_password(text, "x", &client());
            assert!(failed.is_err());
            assert_eq!(
                outcomes(&test, None)[0],
                (String::new(), SignInOutcome::Failed)
            );
        }
    }

    /// Each failure was a commit, and anonymous clients cause them.
    #[test]
    fn of_many_failures_some_are_recorded_and_the_others_counted() {
        let limit = FailureLimit::default();
        let admitted = (0..100).filter(|_| limit.admit(5).is_some()).count();
        assert_eq!(admitted, 30);
        assert_eq!(limit.admit(MINUTE_MS), Some(70));
        assert_eq!(limit.admit(MINUTE_MS), Some(0));
        let minutes = (2..1_000).map(|minute| minute * MINUTE_MS);
        let later = minutes.flat_map(|now| [now; 50]);
        let admitted = later.filter(|now| limit.admit(*now).is_some()).count();
        assert_eq!(admitted, 2_000 - 32);
        assert!(limit.admit(DAY_MS).is_some());
    }

    #[test]
    fn entries_are_stored_for_a_year() {
        let test = SignInTest::new();
        let link = || test.registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
        link();
        test.advance(LIFETIME);
        assert_eq!(outcomes(&test, None).len(), 1);
        test.advance(1);
        assert_eq!(outcomes(&test, None).len(), 0);
        link();
        link();
        let stored = test.registry.read(|view| view.meta_keys(KEYS)).unwrap();
        assert_eq!(stored.len(), 2);
    }
}
