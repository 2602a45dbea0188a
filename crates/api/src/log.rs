//! The log of events, and proofs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The public key of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogKey {
    /// The key, as a verifier key of a signed note.
    pub key: String,
    /// The name of the log, with which its checkpoints begin.
    #[schemars(example = &"example.org/names")]
    pub origin: String,
}

/// A new log, which continues the old one with a new key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLog {
    /// The name of the log: by default the server chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"example.org/names")]
    pub origin: Option<String>,
}

/// Something that happened, in a list of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedEvent {
    /// What was done.
    #[schemars(example = &"change")]
    pub action: String,
    /// The authority that it is about; empty for accounts, groups and tokens.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// What was done to which account, group, token or role; `null` if there is nothing more to
    /// say, or if the caller may not know it.
    #[schemars(example = &"write to ann")]
    pub detail: Option<String>,
    /// The number of the event.
    #[schemars(example = 7)]
    pub event: u64,
    /// The name that it is about; `null` if there is none, or if it is not public.
    #[schemars(example = &"20.1000/report-7")]
    pub name: Option<String>,
    /// When it happened (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub time: String,
    /// Who did it, if that is known.
    #[schemars(example = &"ann")]
    pub who: Option<String>,
}

/// A page of a list of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedEventPage {
    /// The events, newest first.
    pub events: Vec<ListedEvent>,
    /// The parameter `after` of the next page; `null` on the last page. A page may have no events
    /// and still have a next one.
    pub next: Option<String>,
}

/// The proof that the log holds the history of a name.
///
/// It holds a signed checkpoint, every event of the name with the hashes that lead from it to the
/// head, and what opens the commitments of the last event: the public values. Byte strings are
/// base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The name as it is registered.
    #[schemars(example = &"20.1000/report-7")]
    pub id: String,
    /// The key of the name, by which events call it.
    #[schemars(example = &"20.1000/report-7")]
    pub key: String,
    /// The public key of the log, for those who have none that they trust more.
    pub log: String,
    /// The head of the log, signed.
    pub checkpoint: String,
    /// What opens events that hide the name because it was reserved. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub salt: Option<String>,
    /// All events of the name, oldest first.
    pub events: Vec<ProvenEvent>,
    /// What opens the commitments of the last event: the public values, and at index 0 what the
    /// change says beside them.
    pub values: Vec<Opening>,
    /// Indexes and commitments of all values, if the event has one for all of them. Left out
    /// otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<(u32, String)>,
}

/// An event, and the hashes that lead from it to the head of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenEvent {
    /// The number of the event; its place in the tree is one less.
    #[schemars(example = 7)]
    pub number: u64,
    /// The bytes of the event.
    pub event: String,
    /// The inclusion proof of RFC 6962.
    pub inclusion: Vec<String>,
}

/// What opens a commitment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opening {
    /// The index of the value.
    #[schemars(example = 1)]
    pub index: u32,
    /// The random bytes.
    pub salt: String,
    /// The value, in wire form.
    pub value: String,
}

/// The proof that a log has only grown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// The earlier checkpoint.
    pub from: String,
    /// The later checkpoint.
    pub to: String,
    /// The consistency proof of RFC 6962.
    pub consistency: Vec<String>,
}
