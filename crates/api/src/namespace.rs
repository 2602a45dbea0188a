//! The registry of `info` namespaces.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::namespace_form::{
    NamespaceAuthority, NamespaceDeclaration, NamespaceForm, NamespaceSample, NormalisationForm,
    ResolutionForm, SyntaxForm,
};
use crate::words::words;

/// An entry of the registry of namespaces, or a proposal of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the JSON has them")]
pub struct Namespace {
    /// Who owns the namespace.
    pub authority: NamespaceAuthority,
    /// As what the caller acted who made this version.
    pub by: Capacity,
    /// When this version was made (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub changed: String,
    /// Whether somebody says that it is theirs, and waits for verification.
    pub claim_pending: bool,
    /// Whether a verified authority looks after it.
    pub claimed: bool,
    /// What the authority declares; historical entries have none.
    pub declaration: Option<NamespaceDeclaration>,
    /// Scope, history, sub-spaces and policy.
    pub description: String,
    /// Identifiers and their canonical forms.
    pub examples: Vec<NamespaceSample>,
    /// Whether it comes from the original registry.
    pub historical: bool,
    /// Whether it is registered now.
    pub live: bool,
    /// The namespace string.
    #[schemars(example = &"example")]
    pub namespace: String,
    /// How identifiers are compared.
    pub normalisation: NormalisationForm,
    /// When it was proposed (RFC 3339).
    pub proposed: Option<String>,
    /// When it lapses unless it is renewed (RFC 3339).
    pub provisional_until: Option<String>,
    /// The day it was registered, `YYYY-MM-DD`, if that is known.
    pub registered: Option<String>,
    /// Where identifiers resolve to, if they do.
    pub resolution: ResolutionForm,
    /// URIs of documents about it.
    pub see: Vec<String>,
    /// Where it is in its life.
    pub status: NamespaceStatus,
    /// How identifiers are written.
    pub syntax: SyntaxForm,
    /// A title for people.
    #[schemars(example = &"Example numbers")]
    pub title: String,
    /// The beginning of all its identifiers.
    #[schemars(example = &"info:example/")]
    pub uri: String,
    /// How its authority was verified.
    pub verified: Option<String>,
    /// The version, which each change counts up. It is also the `ETag`.
    #[schemars(example = 1)]
    pub version: u64,
    /// Why this version was made.
    pub why: String,
}

words! {
    /// Where an entry is in its life (`INFO-10`).
    NamespaceStatus {
        /// Proposed, and open to comments.
        Candidate = "candidate",
        /// Registered; its authority is no longer in good standing, or advises against it.
        Deprecated = "deprecated",
        /// Was registered provisionally, and its time is over.
        Lapsed = "lapsed",
        /// Was proposed and not accepted, or taken back. The string is free.
        Refused = "refused",
        /// In force.
        Registered = "registered",
        /// Withdrawn, with a tombstone. The string is never used again.
        Withdrawn = "withdrawn",
    }
}

impl NamespaceStatus {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 6] = [
        Self::Candidate,
        Self::Refused,
        Self::Registered,
        Self::Lapsed,
        Self::Deprecated,
        Self::Withdrawn,
    ];
}

impl FromStr for NamespaceStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is none of {all}")
        })
    }
}

words! {
    /// As what a caller acts: who it is, is not for the public.
    #[derive(Default)]
    Capacity {
        /// The namespace's own authority; of a candidate, the account that says to be it.
        Authority = "authority",
        /// An account that says that a namespace is theirs, and is not verified.
        Claimant = "claimant",
        /// The maintainer of the registry: sets policy, settles disputes, appoints.
        Maintainer = "maintainer",
        /// The operator of the registry: reviews, and records how authorities were verified.
        Operator = "operator",
        /// The original registry.
        #[default]
        Original = "original",
    }
}

/// An entry after something was done with it, or in a dry run, as it would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceDone {
    /// The entry.
    #[serde(flatten)]
    pub entry: Namespace,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Examples whose canonical form changes.
    pub example_changes: Vec<ExampleChange>,
}

/// An example whose canonical form changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExampleChange {
    /// The canonical form under the new version; `null` if there is none.
    pub after: Option<String>,
    /// The canonical form now.
    #[schemars(example = &"info:example/12345678")]
    pub before: String,
    /// The identifier.
    #[schemars(example = &"info:example/1234-5678")]
    pub input: String,
}

/// An entry in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedNamespace {
    /// When it was last changed (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub changed: String,
    /// Whether a verified authority looks after it.
    pub claimed: bool,
    /// Whether it comes from the original registry.
    pub historical: bool,
    /// The namespace string.
    #[schemars(example = &"example")]
    pub namespace: String,
    /// The organisation that owns it.
    #[schemars(example = &"Example Library")]
    pub organisation: String,
    /// The day it was registered, `YYYY-MM-DD`, if that is known.
    pub registered: Option<String>,
    /// Where it is in its life.
    pub status: NamespaceStatus,
    /// A title for people.
    #[schemars(example = &"Example numbers")]
    pub title: String,
    /// The beginning of all its identifiers.
    #[schemars(example = &"info:example/")]
    pub uri: String,
    /// The version.
    #[schemars(example = 1)]
    pub version: u64,
}

/// A page of entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespacePage {
    /// The entries, by their strings.
    pub namespaces: Vec<ListedNamespace>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
    /// How many entries there are on all pages.
    pub total: usize,
}

/// A version in the history of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceVersion {
    /// What was done; `null` for the version that came with the program.
    pub action: Option<String>,
    /// As what the caller acted.
    pub by: Capacity,
    /// The entry as it was.
    pub entry: Namespace,
    /// The number of the event; `null` for the version that came with the program.
    pub event: Option<u64>,
    /// Where the entry was in its life.
    pub status: NamespaceStatus,
    /// When it happened (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub time: String,
    /// The version.
    #[schemars(example = 1)]
    pub version: u64,
    /// Who did it, for callers that may see that.
    pub who: Option<String>,
    /// Why it was done.
    pub why: String,
}

/// A page of the history of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceHistory {
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
    /// The versions, oldest first.
    pub versions: Vec<NamespaceVersion>,
}

/// A comment on a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceComment {
    /// The account that commented, for callers that may see that.
    pub author: Option<String>,
    /// As what that account commented.
    #[schemars(extend("enum" = ["account", "authority", "maintainer", "operator"]))]
    pub by: String,
    /// The number of the comment.
    #[schemars(example = 1)]
    pub comment: u64,
    /// What it says.
    #[schemars(example = &"The pattern should allow a check digit.")]
    pub text: String,
    /// When it was made (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub time: String,
    /// The version of the entry that it is about.
    #[schemars(example = 1)]
    pub version: u64,
}

/// A comment to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewComment {
    /// What it says; at most 4,000 bytes.
    #[schemars(
        length(max = limits::NAMESPACE_COMMENT),
        example = &"The pattern should allow a check digit."
    )]
    pub text: String,
}

/// The policy of the registry of namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespacePolicy {
    /// The policy, as plain text.
    pub text: String,
    /// When it was set (RFC 3339); `null` for the one that comes with the program.
    pub time: Option<String>,
    /// The version; 0 for the one that comes with the program.
    #[schemars(example = 0)]
    pub version: u64,
}

/// A policy to set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNamespacePolicy {
    /// The policy, as plain text; at most 100,000 bytes.
    #[schemars(
        length(max = limits::NAMESPACE_POLICY),
        example = &"Namespaces are registered after review."
    )]
    pub text: String,
}

/// A namespace to propose. Members that the registry adds to an entry are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamespaceProposal {
    /// The entry.
    #[serde(flatten)]
    pub form: NamespaceForm,
    /// Why it is proposed; at most 10,000 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub why: String,
}

/// What changes of an entry (RFC 7396): `null` removes a member, and whatever is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("required" = []))]
pub struct NamespaceChange {
    /// The members of the entry that change.
    #[serde(flatten)]
    #[schemars(with = "NamespaceForm")]
    pub members: serde_json::Map<String, serde_json::Value>,
    /// Why it changes; at most 10,000 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub why: String,
}

/// Why something is done with an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceReason {
    /// Why, or how something was verified; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT), example = &"The organisation asked for it.")]
    pub why: String,
}

/// The approval of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceApproval {
    /// Why it is registered although its string, or a similar one, is in use already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::NAMESPACE_TEXT))]
    pub despite: Option<String>,
    /// Register it provisionally, until this day or time, within twelve months.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2027-01-31")]
    pub until: Option<String>,
    /// How it was verified who owns the namespace; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT), example = &"By letter of the director.")]
    pub why: String,
}

/// The renewal of a provisional entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamespaceRenewal {
    /// The day or time until which the entry is registered, within twelve months.
    #[schemars(example = &"2027-01-31")]
    pub until: String,
    /// Why it is renewed; at most 10,000 bytes.
    #[schemars(length(max = limits::NAMESPACE_TEXT), example = &"It is in use next month.")]
    pub why: String,
}
