//! The rules that the events of a log must follow, and how an event breaks one.

use std::fmt;

use crate::log::event::Action;

/// How an event breaks a rule that every event of an honest log follows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrokenRule {
    /// A name moves from one authority to another.
    AuthorityChanged {
        /// The name, by its key, unless it is hidden.
        name: Option<String>,
        /// The authority that it was assigned under.
        was: String,
        /// The authority that the event names.
        is: String,
    },
    /// The state of an authority does not allow the action.
    AuthorityState {
        /// The authority, by its key.
        authority: String,
        /// The action.
        action: Action,
        /// The state of the authority.
        state: &'static str,
    },
    /// An authority that exists is created again.
    AuthorityTwice {
        /// The authority, by its key.
        authority: String,
        /// The event that created it.
        first: u64,
    },
    /// The version does not follow the last one of the authority.
    AuthorityUnfollowed {
        /// The authority, by its key.
        authority: String,
    },
    /// An authority whose names were permanent erases one.
    BecameErasable {
        /// The authority, by its key.
        authority: String,
        /// The event that shows that its names were permanent.
        since: u64,
    },
    /// Names of an authority are permanent that could be erased before, and no event has changed
    /// the authority since.
    BecamePermanent {
        /// The authority, by its key.
        authority: String,
        /// The event that shows that its names could be erased.
        since: u64,
    },
    /// The parts of the event do not fit its action.
    Form {
        /// What does not fit.
        what: &'static str,
    },
    /// A name that was public is hidden again.
    HiddenAgain {
        /// The event that assigned it.
        first: u64,
    },
    /// A name is assigned under an authority that is not active.
    InactiveAuthority {
        /// The authority, by its key.
        authority: String,
        /// The state of the authority.
        state: &'static str,
    },
    /// The state of a namespace does not allow the action.
    NamespaceState {
        /// The namespace.
        namespace: String,
        /// The action.
        action: Action,
        /// The state of the namespace.
        state: &'static str,
    },
    /// The version does not follow the last one of the namespace.
    NamespaceUnfollowed {
        /// The namespace.
        namespace: String,
    },
    /// A name is assigned under an authority that was never created.
    NoAuthority {
        /// The authority, by its key.
        authority: String,
    },
    /// An authority is created below one that is not active.
    NoParent {
        /// The authority, by its key.
        authority: String,
        /// The authority above it.
        parent: String,
    },
    /// An event about a name does not name it.
    NoSubject {
        /// The action.
        action: Action,
    },
    /// A key, of a name or of an authority, is not canonical.
    NotCanonical {
        /// The key.
        key: String,
        /// Why.
        why: &'static str,
    },
    /// An erased name is opened.
    OpenedAfterErase {
        /// The name, by its key.
        key: String,
    },
    /// A name is under an authority that it does not belong to.
    OtherAuthority {
        /// The name, by its key.
        key: String,
        /// The authority that the event names.
        authority: String,
    },
    /// A name is opened with random bytes that match none of its earlier events.
    OtherSalt {
        /// The name, by its key.
        key: String,
    },
    /// The record of a prefix, which always exists, is withdrawn, erased, reserved or hidden.
    PrefixRecord {
        /// The record, by its key.
        key: String,
        /// The action.
        action: Action,
    },
    /// A public name is erased.
    PublicErased {
        /// The name, by its key.
        key: String,
    },
    /// The commitment of an erased hidden name is assigned again: it is the same name.
    ReusedCommitment {
        /// The event that assigned it first.
        first: u64,
    },
    /// The state of a name does not allow the action.
    State {
        /// The name, by its key, unless it is hidden.
        name: Option<String>,
        /// The action.
        action: Action,
        /// The state of the name.
        state: &'static str,
    },
    /// An event that is not about a name has a name as its subject.
    StraySubject {
        /// The action.
        action: Action,
    },
    /// The subject is hidden, open or opened, but this action takes another kind.
    SubjectForm {
        /// The action.
        action: Action,
        /// The kind that the action takes.
        should: &'static str,
    },
    /// The time is more than a day before that of an earlier event.
    TimeBack {
        /// By how many milliseconds.
        by: u64,
    },
    /// An action that changes no values lists them at other indexes than the event before.
    ValuesChanged {
        /// The name, by its key, unless it is hidden.
        name: Option<String>,
        /// What the event does.
        action: Action,
    },
}

impl BrokenRule {
    /// Returns a stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AuthorityChanged { .. } => "authority-changed",
            Self::AuthorityState { .. } => "authority-state",
            Self::AuthorityTwice { .. } => "authority-twice",
            Self::AuthorityUnfollowed { .. } => "authority-unfollowed",
            Self::BecameErasable { .. } => "became-erasable",
            Self::BecamePermanent { .. } => "became-permanent",
            Self::Form { .. } => "bad-form",
            Self::HiddenAgain { .. } => "hidden-again",
            Self::InactiveAuthority { .. } => "inactive-authority",
            Self::NamespaceState { .. } => "namespace-state",
            Self::NamespaceUnfollowed { .. } => "namespace-unfollowed",
            Self::NoAuthority { .. } => "no-authority",
            Self::NoParent { .. } => "no-parent",
            Self::NoSubject { .. } => "no-subject",
            Self::NotCanonical { .. } => "not-canonical",
            Self::OpenedAfterErase { .. } => "opened-after-erase",
            Self::OtherAuthority { .. } => "other-authority",
            Self::OtherSalt { .. } => "other-salt",
            Self::PrefixRecord { .. } => "prefix-record",
            Self::PublicErased { .. } => "public-erased",
            Self::ReusedCommitment { .. } => "reused-commitment",
            Self::State { .. } => "bad-state",
            Self::StraySubject { .. } => "stray-subject",
            Self::SubjectForm { .. } => "bad-subject",
            Self::TimeBack { .. } => "time-back",
            Self::ValuesChanged { .. } => "values-changed",
        }
    }

    /// Whether an earlier event that was changed, or is missing, can be all that is wrong: what
    /// this event builds on may have been said there.
    pub(super) fn may_follow(&self) -> bool {
        matches!(
            self,
            Self::AuthorityState { .. }
                | Self::AuthorityUnfollowed { .. }
                | Self::BecamePermanent { .. }
                | Self::InactiveAuthority { .. }
                | Self::NamespaceState { .. }
                | Self::NamespaceUnfollowed { .. }
                | Self::NoAuthority { .. }
                | Self::NoParent { .. }
                | Self::OtherSalt { .. }
                | Self::State { .. }
                | Self::SubjectForm { .. }
                | Self::TimeBack { .. }
                | Self::ValuesChanged { .. }
        )
    }
}

/// The text that follows "event N".
impl fmt::Display for BrokenRule {
    #[expect(
        clippy::too_many_lines,
        reason = "a sentence for each rule, side by side"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &Option<String>| name.clone().unwrap_or_else(|| "a hidden name".into());
        match self {
            Self::AuthorityChanged { name, was, is } => {
                write!(f, "moves {} from authority {was} to {is}", shown(name))
            }
            Self::AuthorityState {
                authority,
                action,
                state,
            } => write!(
                f,
                "({}) cannot be: authority {authority} is {state}",
                action.as_str()
            ),
            Self::AuthorityTwice { authority, first } => write!(
                f,
                "creates authority {authority} again: event {first} has created it"
            ),
            Self::AuthorityUnfollowed { authority } => {
                write!(f, "does not follow the last one of authority {authority}")
            }
            Self::BecameErasable { authority, since } => write!(
                f,
                "shows that names of {authority} may be erased, but event {since} shows that they \
                 are permanent"
            ),
            Self::BecamePermanent { authority, since } => write!(
                f,
                "shows that names of {authority} are permanent, but event {since} shows that they \
                 may be \
                 erased, and no later event has changed the authority"
            ),
            Self::Form { what } => write!(f, "has a form that no program writes: {what}"),
            Self::HiddenAgain { first } => write!(
                f,
                "hides a name that was public, the one that event {first} assigned"
            ),
            Self::InactiveAuthority { authority, state } => {
                write!(f, "assigns a name under {authority}, which is {state}")
            }
            Self::NamespaceState {
                namespace,
                action,
                state,
            } => write!(
                f,
                "({}) cannot be: namespace {namespace} is {state}",
                action.as_str()
            ),
            Self::NamespaceUnfollowed { namespace } => {
                write!(f, "does not follow the last one of namespace {namespace}")
            }
            Self::NoAuthority { authority } => write!(
                f,
                "is of a name under {authority}, an authority that no event has created"
            ),
            Self::NoParent { authority, parent } => write!(
                f,
                "creates authority {authority}, but {parent} above it is not in use"
            ),
            Self::NoSubject { action } => write!(
                f,
                "({}) does not say which name it is about",
                action.as_str()
            ),
            Self::NotCanonical { key, why } => {
                write!(f, "says {key}, which is not a canonical key: {why}")
            }
            Self::OpenedAfterErase { key } => write!(f, "opens {key}, which had been erased"),
            Self::OtherAuthority { key, authority } => write!(
                f,
                "puts {key} under {authority}, which is not the authority of that name"
            ),
            Self::OtherSalt { key } => write!(
                f,
                "opens {key} with random bytes that hide none of its earlier events"
            ),
            Self::PrefixRecord { key, action } => write!(
                f,
                "({}) cannot be: {key} is the record of a prefix, which is always public and in \
                 use",
                action.as_str()
            ),
            Self::PublicErased { key } => {
                write!(f, "erases {key}: a name that was public is never erased")
            }
            Self::ReusedCommitment { first } => write!(
                f,
                "assigns a hidden name again that was erased: the one of event {first}"
            ),
            Self::State {
                name,
                action,
                state,
            } => write!(
                f,
                "({}) cannot be: {} is {state}",
                action.as_str(),
                shown(name)
            ),
            Self::StraySubject { action } => write!(
                f,
                "({}) names a name, but is not about one",
                action.as_str()
            ),
            Self::SubjectForm { action, should } => write!(f, "({}): {should}", action.as_str()),
            Self::TimeBack { by } => write!(
                f,
                "is dated {} hours before an earlier one",
                by / (60 * 60 * 1_000)
            ),
            Self::ValuesChanged { name, action } => write!(
                f,
                "({}) changes values of {}, which this action never does",
                action.as_str(),
                shown(name)
            ),
        }
    }
}
