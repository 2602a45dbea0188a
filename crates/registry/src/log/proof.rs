//! Proofs that anyone can check offline: with the public key of the log, the proof, and the name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_api::{Growth, Opening, Proof, ProvenEvent};
use handfast_id::{CaseRule, Handle, Identifier, Prefix, Rules, recognise};
use handfast_log::{
    Checkpoint, Hash, Inclusions, SignedNote, VerifyingKey, verify_consistency, verify_inclusion,
};
use handfast_wire::{Codec, Value};

use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::error::RegistryError;
use crate::log::event::{Action, Commitments, Event, Subject, commit_with, salt};
use crate::log::tree::StoredHashes;
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::registry::Registry;

/// What a proof proves.
#[derive(Clone, Debug)]
pub struct Proven {
    /// The head of the log.
    pub checkpoint: Checkpoint,
    /// The events of the name, oldest first.
    pub events: Vec<Event>,
    /// The public values after the last event.
    pub values: Vec<Value<'static>>,
}

/// Why a proof proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofProblem {
    /// The key has not signed the checkpoint.
    #[error("the checkpoint: {0}")]
    Checkpoint(String),
    /// An event is not in the log.
    #[error("event {0} is not in the log")]
    NotIncluded(u64),
    /// An event is not about the name.
    #[error("event {0} is about another name")]
    OtherName(u64),
    /// The proof is for another name.
    #[error("the proof is of {0}")]
    OtherProof(String),
    /// Events are missing.
    #[error("the history is not whole: {0}")]
    Partial(String),
    /// The log did not only grow.
    #[error("the later log does not continue the earlier one")]
    Rewritten,
    /// A part cannot be read.
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    /// A value does not match its commitment.
    #[error("value {0} is not what the last event committed to")]
    Value(u32),
}

impl Registry {
    /// Proves the history of a name, against a new checkpoint.
    pub fn prove(&self, who: &Principal, id: &str) -> Result<Proof, RegistryError> {
        // A principal that may not see the name gets the error before anything is signed.
        self.show(who, id)?;
        self.read_signed(|view, head| {
            let size = head.size;
            let Shown { key, .. } = view.show(who, id)?;
            let not_found = || RegistryError::NotFound(id.to_string());
            let record = view.record(&key)?.ok_or_else(not_found)?;
            // A name that may be erased is hidden for ever, and so are its openings.
            let last = view.event(record.last_event)?;
            let is_hidden = last.is_some_and(|last| matches!(last.subject, Subject::Hidden(_)));
            let (_, path) = view.place_of(id)?;
            let sees_all = view.may_see(who, &path, &record)?;
            if is_hidden && !sees_all {
                return Err(RegistryError::denied(Role::Read, &path));
            }
            let mut events = Vec::new();
            let hashes = StoredHashes(view.now);
            let mut inclusions = Inclusions::new(&hashes, size);
            // Without the events of an earlier life that was erased.
            let numbers = view.events_of(&key)?.into_iter();
            let numbers = numbers.filter(|number| *number >= record.first_event);
            for number in numbers {
                let missing = || RegistryError::corrupt(format!("event {number}"));
                let path = inclusions.of(number.saturating_sub(1));
                events.push(ProvenEvent {
                    number,
                    event: STANDARD.encode(view.event_bytes(number)?),
                    inclusion: path.map_err(|_| missing())?.iter().map(encode).collect(),
                });
            }
            let (mut values, commitments) = openings(&record);
            if record.state == State::Withdrawn && !sees_all {
                // Only its tombstone is public.
                values.retain(|opening| opening.index == 0);
            }
            Ok(Proof {
                id: record.text.clone(),
                log: crate::log::checkpoint::log_key(view)?.to_string(),
                checkpoint: head.note.to_string(),
                salt: record.salt.as_ref().map(encode),
                events,
                values,
                commitments,
                key,
            })
        })
    }
}

/// The public values of a record, without its holder, which is not public.
fn openings(record: &Record) -> (Vec<Opening>, Vec<(u32, String)>) {
    let open = |index: u32, value: &[u8]| Opening {
        index,
        salt: encode(&salt(&record.seed, index)),
        value: STANDARD.encode(value),
    };
    let mut opened = Vec::new();
    if record.holder.is_none() {
        opened.push(open(0, &record.detail()));
    }
    let public = record.values.iter();
    let public = public.filter(|value| value.is_public());
    opened.extend(public.map(|value| open(value.index, &value.to_bytes())));
    let each = crate::change::change_set::all_commitments(record);
    let listed = match Commitments::from_each(each.clone()) {
        Commitments::Each(_) => Vec::new(),
        Commitments::Combined { .. } => {
            let each = each.into_iter();
            each.map(|(index, hash)| (index, encode(&hash))).collect()
        }
    };
    (opened, listed)
}

/// Checks the proof: that the checkpoint is signed by a key, that each event is in the log, is of
/// this name, and that none is missing between them; and that the values are those of the last one.
pub fn verify_proof(
    proof: &Proof,
    id: Option<&str>,
    key: &VerifyingKey,
) -> Result<Proven, ProofProblem> {
    is_of(proof, id)?;
    let (checkpoint, _) = open_checkpoint(&proof.checkpoint, std::slice::from_ref(key))?;
    let mut events = Vec::new();
    for proven in &proof.events {
        let event = verify_event(proven, &checkpoint)?;
        names(proof, &event)?;
        events.push(event);
    }
    is_whole(&events)?;
    let values = match events.last() {
        Some(last) => open(proof, last)?,
        None => Vec::new(),
    };
    Ok(Proven {
        checkpoint,
        events,
        values,
    })
}

/// Whether the proof is of a name, under either rule of case: which one holds is its authority's.
fn is_of(proof: &Proof, id: Option<&str>) -> Result<(), ProofProblem> {
    let other = || ProofProblem::OtherProof(proof.id.clone());
    // The text of the proof must be of its key too, or it would name one name and prove another.
    for id in id.into_iter().chain([proof.id.as_str()]) {
        let cases = [CaseRule::AsciiInsensitive, CaseRule::Sensitive];
        let mut keys = cases.into_iter().flat_map(|case| keys(id, case));
        let is_of = keys.any(|key| key == proof.key);
        if !is_of {
            return Err(other());
        }
    }
    Ok(())
}

fn names(proof: &Proof, event: &Event) -> Result<(), ProofProblem> {
    let is_named = match &event.subject {
        Subject::Open(key) | Subject::Opened { key, .. } => *key == proof.key,
        Subject::Hidden(_) => {
            let salt = proof.salt.as_deref().and_then(decode);
            salt.is_some_and(|salt| Subject::hide(&proof.key, &salt) == event.subject)
        }
        Subject::None => false,
    };
    if is_named {
        Ok(())
    } else {
        Err(ProofProblem::OtherName(event.number))
    }
}

fn open(proof: &Proof, last: &Event) -> Result<Vec<Value<'static>>, ProofProblem> {
    let listed = match &last.commitments {
        Commitments::Each(each) => each.clone(),
        combined @ Commitments::Combined { .. } => {
            let each = proof.commitments.iter();
            let each = each.map(|(index, hash)| Some((*index, decode(hash)?)));
            let each: Option<Vec<_>> = each.collect();
            let each = each.ok_or(ProofProblem::Unreadable("a commitment"))?;
            if Commitments::from_each(each.clone()) != *combined {
                return Err(ProofProblem::Value(0));
            }
            each
        }
    };
    let mut values = Vec::new();
    for opening in &proof.values {
        let bytes = STANDARD.decode(&opening.value);
        let bytes = bytes.map_err(|_| ProofProblem::Unreadable("a value"))?;
        let salt: Hash = decode(&opening.salt).ok_or(ProofProblem::Unreadable("a salt"))?;
        let commitment = (opening.index, commit_with(&salt, &bytes));
        let wrong = ProofProblem::Value(opening.index);
        if !listed.contains(&commitment) {
            return Err(wrong);
        }
        if opening.index != 0 {
            let value = Value::from_bytes(&bytes).map_err(|_| wrong)?;
            values.push(value.into_owned());
        }
    }
    Ok(values)
}

fn verify_event(proven: &ProvenEvent, checkpoint: &Checkpoint) -> Result<Event, ProofProblem> {
    let bytes = STANDARD.decode(&proven.event);
    let bytes = bytes.map_err(|_| ProofProblem::Unreadable("an event"))?;
    let event = Event::from_bytes(&bytes).map_err(|_| ProofProblem::Unreadable("an event"))?;
    let path: Option<Vec<Hash>> = proven.inclusion.iter().map(|hash| decode(hash)).collect();
    let path = path.ok_or(ProofProblem::Unreadable("a hash"))?;
    let missing = ProofProblem::NotIncluded(proven.number);
    let index = event.number.checked_sub(1).ok_or(missing.clone())?;
    if event.number != proven.number {
        return Err(missing);
    }
    let leaf = Event::leaf(&bytes);
    let (size, root) = (checkpoint.size, &checkpoint.root);
    verify_inclusion(&leaf, index, size, &path, root).map_err(|_| missing)?;
    Ok(event)
}

/// Versions count from the one that assigned the name, without gaps.
fn is_whole(events: &[Event]) -> Result<(), ProofProblem> {
    let partial = |problem: &str| Err(ProofProblem::Partial(problem.to_string()));
    let Some(first) = events.first() else {
        return partial("it has no events");
    };
    if !first.action.is_assignment() || first.version != 1 {
        return partial("its first event does not give the name");
    }
    for (expected, event) in (1..).zip(events) {
        if event.version != expected || (expected > 1 && event.action.is_assignment()) {
            return partial(&format!("version {expected} is missing"));
        }
        if event.action == Action::Erase {
            return partial("the name was erased");
        }
    }
    Ok(())
}

pub(crate) fn growth(from: &str, to: &str, proof: &[Hash]) -> Growth {
    Growth {
        from: from.to_string(),
        to: to.to_string(),
        consistency: proof.iter().map(encode).collect(),
    }
}

/// Checks that the later checkpoint continues the earlier one; gives both.
pub fn verify_growth(
    growth: &Growth,
    keys: &[VerifyingKey],
) -> Result<(Checkpoint, Checkpoint), ProofProblem> {
    let (from, _) = open_checkpoint(&growth.from, keys)?;
    let (to, _) = open_checkpoint(&growth.to, keys)?;
    let proof: Option<Vec<Hash>> = growth.consistency.iter().map(|hash| decode(hash)).collect();
    let proof = proof.ok_or(ProofProblem::Unreadable("a hash"))?;
    verify_consistency(from.size, &from.root, to.size, &to.root, &proof)
        .map_err(|_| ProofProblem::Rewritten)?;
    Ok((from, to))
}

/// A checkpoint that one of the keys has signed, and that key.
pub(crate) fn open_checkpoint<'k>(
    note: &str,
    keys: &'k [VerifyingKey],
) -> Result<(Checkpoint, &'k VerifyingKey), ProofProblem> {
    let note: SignedNote = note
        .parse()
        .map_err(|_| ProofProblem::Unreadable("the checkpoint"))?;
    let mut problem = ProofProblem::Checkpoint("there is no key to check it with".into());
    for key in keys {
        match Checkpoint::open_note(&note, key) {
            Ok(checkpoint) => return Ok((checkpoint, key)),
            Err(error) => problem = ProofProblem::Checkpoint(error.to_string()),
        }
    }
    Err(problem)
}

/// The keys that a text may have under a rule of case: as people write names, and as a migrated
/// name.
fn keys(id: &str, case: CaseRule) -> Vec<String> {
    struct Case(CaseRule);
    impl Rules for Case {
        fn case_rule(&self, _: &Prefix<'_>) -> CaseRule {
            self.0
        }
    }
    let rules = Case(case);
    let found = recognise(id, &rules).ok().map(|found| found.identifier);
    let stored = Handle::from_stored(id).ok().map(Identifier::Handle);
    let both = found.into_iter().chain(stored);
    both.map(|identifier| identifier.key(&rules).to_string())
        .collect()
}

fn encode(hash: &Hash) -> String {
    STANDARD.encode(hash)
}

fn decode(text: &str) -> Option<Hash> {
    STANDARD.decode(text).ok()?.try_into().ok()
}
