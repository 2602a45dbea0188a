//! The rules that the events of a log must follow, and how an event breaks one.

use crate::log::event::Action;

/// How an event breaks a rule that every event of an honest log follows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenRule {
    /// A name moves from one authority to another.
    #[error("moves {} from authority {was} to {is}", shown(.name.as_deref()))]
    AuthorityChanged {
        /// The name, by its key, unless it is hidden.
        name: Option<String>,
        /// The authority that it was assigned under.
        was: String,
        /// The authority that the event names.
        is: String,
    },
    /// The state of an authority does not allow the action.
    #[error("({action}) cannot be: authority {authority} is {state}")]
    AuthorityState {
        /// The authority, by its key.
        authority: String,
        /// The action.
        action: Action,
        /// The state of the authority.
        state: &'static str,
    },
    /// An authority that exists is created again.
    #[error("creates authority {authority} again: event {first} has created it")]
    AuthorityTwice {
        /// The authority, by its key.
        authority: String,
        /// The event that created it.
        first: u64,
    },
    /// The version does not follow the last one of the authority.
    #[error("does not follow the last one of authority {authority}")]
    AuthorityUnfollowed {
        /// The authority, by its key.
        authority: String,
    },
    /// An authority whose names were permanent erases one.
    #[error(
        "shows that names of {authority} may be erased, but event {since} shows that they are \
         permanent"
    )]
    BecameErasable {
        /// The authority, by its key.
        authority: String,
        /// The event that shows that its names were permanent.
        since: u64,
    },
    /// Names of an authority are permanent that could be erased before, and no event has changed
    /// the authority since.
    #[error(
        "shows that names of {authority} are permanent, but event {since} shows that they may be \
         erased, and no later event has changed the authority"
    )]
    BecamePermanent {
        /// The authority, by its key.
        authority: String,
        /// The event that shows that its names could be erased.
        since: u64,
    },
    /// The parts of the event do not fit its action.
    #[error("has a form that no program writes: {what}")]
    Form {
        /// What does not fit.
        what: &'static str,
    },
    /// A name that was public is hidden again.
    #[error("hides a name that was public, the one that event {first} assigned")]
    HiddenAgain {
        /// The event that assigned it.
        first: u64,
    },
    /// A name is assigned under an authority that is not active.
    #[error("assigns a name under {authority}, which is {state}")]
    InactiveAuthority {
        /// The authority, by its key.
        authority: String,
        /// The state of the authority.
        state: &'static str,
    },
    /// The state of a namespace does not allow the action.
    #[error("({action}) cannot be: namespace {namespace} is {state}")]
    NamespaceState {
        /// The namespace.
        namespace: String,
        /// The action.
        action: Action,
        /// The state of the namespace.
        state: &'static str,
    },
    /// The version does not follow the last one of the namespace.
    #[error("does not follow the last one of namespace {namespace}")]
    NamespaceUnfollowed {
        /// The namespace.
        namespace: String,
    },
    /// A name is assigned under an authority that was never created.
    #[error("is of a name under {authority}, an authority that no event has created")]
    NoAuthority {
        /// The authority, by its key.
        authority: String,
    },
    /// An authority is created below one that is not active.
    #[error("creates authority {authority}, but {parent} above it is not in use")]
    NoParent {
        /// The authority, by its key.
        authority: String,
        /// The authority above it.
        parent: String,
    },
    /// An event about a name does not name it.
    #[error("({action}) does not say which name it is about")]
    NoSubject {
        /// The action.
        action: Action,
    },
    /// A key, of a name or of an authority, is not canonical.
    #[error("says {key}, which is not a canonical key: {why}")]
    NotCanonical {
        /// The key.
        key: String,
        /// Why.
        why: &'static str,
    },
    /// An erased name is opened.
    #[error("opens {key}, which had been erased")]
    OpenedAfterErase {
        /// The name, by its key.
        key: String,
    },
    /// A name is under an authority that it does not belong to.
    #[error("puts {key} under {authority}, which is not the authority of that name")]
    OtherAuthority {
        /// The name, by its key.
        key: String,
        /// The authority that the event names.
        authority: String,
    },
    /// A name is opened with random bytes that match none of its earlier events.
    #[error("opens {key} with random bytes that hide none of its earlier events")]
    OtherSalt {
        /// The name, by its key.
        key: String,
    },
    /// The record of a prefix, which always exists, is withdrawn, erased, reserved or hidden.
    #[error(
        "({action}) cannot be: {key} is the record of a prefix, which is always public and in use"
    )]
    PrefixRecord {
        /// The record, by its key.
        key: String,
        /// The action.
        action: Action,
    },
    /// A public name is erased.
    #[error("erases {key}: a name that was public is never erased")]
    PublicErased {
        /// The name, by its key.
        key: String,
    },
    /// The commitment of an erased hidden name is assigned again: it is the same name.
    #[error("assigns a hidden name again that was erased: the one of event {first}")]
    ReusedCommitment {
        /// The event that assigned it first.
        first: u64,
    },
    /// The state of a name does not allow the action.
    #[error("({action}) cannot be: {} is {state}", shown(.name.as_deref()))]
    State {
        /// The name, by its key, unless it is hidden.
        name: Option<String>,
        /// The action.
        action: Action,
        /// The state of the name.
        state: &'static str,
    },
    /// An event that is not about a name has a name as its subject.
    #[error("({action}) names a name, but is not about one")]
    StraySubject {
        /// The action.
        action: Action,
    },
    /// The subject is hidden, open or opened, but this action takes another kind.
    #[error("({action}): {should}")]
    SubjectForm {
        /// The action.
        action: Action,
        /// The kind that the action takes.
        should: &'static str,
    },
    /// The time is more than a day before that of an earlier event.
    #[error("is dated {} hours before an earlier one", .by / (60 * 60 * 1_000))]
    TimeBack {
        /// By how many milliseconds.
        by: u64,
    },
    /// An action that changes no values lists them at other indexes than the event before.
    #[error(
        "({action}) changes values of {}, which this action never does",
        shown(.name.as_deref())
    )]
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
fn shown(name: Option<&str>) -> &str {
    name.unwrap_or("a hidden name")
}
