//! Exporting the log to a file, and auditing one.
//!
//! The first line, in JSON, names the log and its head; then comes a line for each event.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_log::VerifyingKey;
use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use crate::authority::policy::Persistence;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::audit::{Audit, Audited, BrokenOrigin, Finding, Finished, Note};
use crate::log::checkpoint::{last_checkpoint, log_key};
use crate::log::event::{Action, Event};
use crate::log::proof::open_checkpoint;
use crate::log::tree;
use crate::name::record::Record;
use crate::registry::Registry;

/// The first line of an export of a log.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The format.
    log: String,
    /// The public key.
    key: String,
    /// The signed head.
    checkpoint: String,
}

/// An event, as a line.
#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    number: u64,
    event: &'a str,
    leaf: &'a str,
}

const FORMAT: &str = "handfast-log-1";

/// What to compare a log with.
///
/// ```
/// let verify = handfast_registry::Verify::default();
/// assert!(verify.keys.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// Trusted keys; if there are none, the log's own key.
    pub keys: Vec<VerifyingKey>,
    /// Earlier checkpoints, which the log must continue.
    pub from: Vec<String>,
    /// The current time in milliseconds since 1970, to note events from the future.
    pub now: Option<u64>,
}

impl Registry {
    /// Writes the log to a file that anyone can audit: see [`verify_export`].
    pub fn export_log(
        &self,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, RegistryError> {
        let failed = |source: io::Error| RegistryError::Output { source };
        self.read_signed(|view, head| {
            let size = head.size;
            let header = Header {
                log: FORMAT.into(),
                key: log_key(view)?.to_string(),
                checkpoint: head.note.to_string(),
            };
            let json = |error: serde_json::Error| failed(error.into());
            serde_json::to_writer(&mut *out, &header).map_err(json)?;
            out.write_all(b"\n").map_err(failed)?;
            view.scan_while(&TableKey::event(0), |table_key, bytes| {
                let number = table_key.number().unwrap_or_default();
                let (event, leaf) = bytes.split_at(bytes.len().saturating_sub(32));
                if number > size {
                    return Ok(false);
                }
                if number % 1_000 == 0 {
                    progress(number);
                }
                write_line(out, number, event, leaf).map_err(failed)?;
                Ok(true)
            })?;
            out.flush().map_err(failed)?;
            Ok(size)
        })
    }

    /// Audits the log of this registry: its tree and its signatures, whether it continues earlier
    /// checkpoints, whether no name was ever assigned twice, and whether the stored names are as
    /// their last events say.
    pub fn verify_log(
        &self,
        verify: &Verify,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Audited, RegistryError> {
        let mut audited = self.read(|view| {
            let total = tree::read(view.now)?.size();
            let mut audit = Audit::new(&verify.keys, verify.now);
            let own = log_key(view)?;
            let keys = if verify.keys.is_empty() {
                vec![own.clone()]
            } else {
                verify.keys.clone()
            };
            if let Some(note) = last_checkpoint(view)? {
                expect(&mut audit, "the last checkpoint", &note, &keys);
            }
            audit.signed_by(&own);
            expect_earlier(&mut audit, verify, &keys);
            let mut tiles = BTreeMap::new();
            let mut count = 0;
            view.now.scan(&TableKey::event(0), &mut |_, bytes| {
                let (event, leaf) = bytes.split_at(bytes.len().saturating_sub(32));
                audit.event(event, leaf.try_into().ok(), &mut |tile| {
                    tiles.insert((tile.level, tile.index), tile.hash);
                });
                count += 1;
                if count % 10_000 == 0 {
                    progress(count, total);
                }
                ControlFlow::Continue(())
            })?;
            compare_tiles(view, &mut audit, &tiles)?;
            let mut finished = audit.finish();
            let (twice, reassigned) = lives_of_hidden(view, &finished)?;
            finished.audited.findings.extend(twice);
            finished.audited.reassigned = Some(reassigned);
            let permanent = permanent_after_erasing(view, &finished)?;
            finished.audited.notes.extend(permanent);
            let mut audited = finished.audited;
            if finished.tree != tree::read(view.now)? {
                let problem = "the stored tree does not match the events".to_string();
                audited.findings.push(Finding::StoreDiffers(problem));
            }
            audited.findings.extend(keys_of_other_case(view)?);
            Ok(audited)
        })?;
        let problems = self.check()?.problems.into_iter();
        let problems = problems.map(|problem| Finding::StoreDiffers(problem.to_string()));
        audited.findings.extend(problems);
        Ok(audited)
    }
}

/// Audits an export of a log. Also returns the key that the export states as its own: if no others
/// were given, it was used to check the signatures.
pub fn verify_export(
    input: &mut dyn BufRead,
    verify: &Verify,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Audited, String), RegistryError> {
    let failed = |source: io::Error| RegistryError::Input {
        what: "the export".into(),
        source,
    };
    let not_one = || RegistryError::policy("no-log", "that is no export of a log");
    let mut line = Vec::new();
    let mut bytes = read_line(input, &mut line).map_err(failed)?;
    let header: Header = serde_json::from_slice(&line).map_err(|_| not_one())?;
    if header.log != FORMAT {
        return Err(not_one());
    }
    let mut audit = Audit::new(&verify.keys, verify.now);
    let keys = match (verify.keys.is_empty(), header.key.parse()) {
        (true, Ok(own)) => vec![own],
        _ => verify.keys.clone(),
    };
    let is_known = keys.iter().any(|key| key.to_string() == header.key);
    if !is_known && !keys.is_empty() {
        let key = header.key.clone();
        audit.note(Note::OtherKey { key });
    }
    let signed = expect(&mut audit, "its checkpoint", &header.checkpoint, &keys);
    if let Some((_, key)) = signed {
        audit.signed_by(key);
        if key.to_string() != header.key {
            let said = header.key.clone();
            let origin = key.name().to_string();
            audit.find(Finding::Origin(BrokenOrigin::WrongKey { said, origin }));
        }
    }
    expect_earlier(&mut audit, verify, &keys);
    let (mut event, mut count) = (Vec::new(), 0);
    loop {
        let read = read_line(input, &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        bytes += read;
        count += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        event.clear();
        let Some((number, leaf)) = read_event(&line, &mut event) else {
            audit.find(Finding::Unreadable(count));
            continue;
        };
        // The stated number and leaf of the line must be true, too.
        if Event::number_in(&event).is_some_and(|own| own != number) {
            audit.find(Finding::Changed(number));
        }
        audit.event(&event, Some(&leaf), &mut |_| ());
        if count % 10_000 == 0 {
            progress(count, bytes);
        }
    }
    let Finished {
        tree, mut audited, ..
    } = audit.finish();
    let size = signed.map(|(size, _)| size);
    if let Some(size) = size.filter(|size| *size < tree.size()) {
        let from = size + 1;
        audited.findings.push(Finding::Unsigned { from, size });
    }
    Ok((audited, header.key))
}

/// The maximum length of a line: an event has at most 65,535 bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    line.clear();
    let read = io::Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', line)?;
    Ok(u64::try_from(read).unwrap_or(u64::MAX))
}

/// Reads an event; returns the number and the leaf that the line states.
fn read_event(line: &[u8], event: &mut Vec<u8>) -> Option<(u64, [u8; 32])> {
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    STANDARD.decode_vec(line.event, event).ok()?;
    // A malformed leaf matches no event.
    let leaf = STANDARD.decode(line.leaf).ok();
    let leaf = leaf.and_then(|leaf| leaf.try_into().ok());
    Some((line.number, leaf.unwrap_or_default()))
}

fn write_line(out: &mut dyn Write, number: u64, event: &[u8], leaf: &[u8]) -> io::Result<()> {
    let (event, leaf) = (STANDARD.encode(event), STANDARD.encode(leaf));
    // None of these needs escapes.
    writeln!(
        out,
        r#"{{"number":{number},"event":"{event}","leaf":"{leaf}"}}"#
    )
}

/// Returns the number of events of the checkpoint, and the key that has signed it.
fn expect<'k>(
    audit: &mut Audit,
    what: &str,
    note: &str,
    keys: &'k [VerifyingKey],
) -> Option<(u64, &'k VerifyingKey)> {
    match open_checkpoint(note, keys) {
        Ok((checkpoint, key)) => {
            audit.expect(what, &checkpoint, key);
            Some((checkpoint.size, key))
        }
        Err(problem) => {
            audit.find(Finding::Signature {
                what: what.to_string(),
                problem: problem.to_string(),
            });
            None
        }
    }
}

fn expect_earlier(audit: &mut Audit, verify: &Verify, keys: &[VerifyingKey]) {
    for note in &verify.from {
        expect(audit, "the earlier checkpoint", note, keys);
    }
}

/// Checks names that were hidden once, by their keys: which were assigned again without an erasure,
/// and how many were assigned again after one. An export does not show it: the new name is hidden
/// with other random bytes.
fn lives_of_hidden(
    view: &View<'_>,
    finished: &Finished,
) -> Result<(Vec<Finding>, u64), RegistryError> {
    let (mut twice, mut reassigned) = (Vec::new(), 0);
    for key in hidden_keys(view, &finished.hidden_assignments)? {
        // The event that assigned it; `None` after an erasure.
        let mut first: Option<u64> = None;
        let mut is_erased = false;
        for number in view.events_of(&key)? {
            // An unreadable event has been reported.
            let event = view.event(number).ok().flatten();
            match event.map(|event| event.action) {
                Some(Action::Erase) => (first, is_erased) = (None, true),
                Some(action) if action.is_assignment() => {
                    reassigned += u64::from(is_erased);
                    is_erased = false;
                    match first {
                        None => first = Some(number),
                        Some(first) => twice.push(Finding::AssignedTwice {
                            key: Some(key.clone()),
                            first,
                            again: number,
                        }),
                    }
                }
                _ => {}
            }
        }
    }
    // The events of an opened name show it themselves.
    twice.retain(|finding| !finished.audited.findings.contains(finding));
    Ok((twice, reassigned))
}

/// The keys that have more than one event, of which one assigned a hidden name.
fn hidden_keys(view: &View<'_>, hidden: &HashSet<u64>) -> Result<BTreeSet<String>, RegistryError> {
    let mut keys = BTreeSet::new();
    if hidden.is_empty() {
        return Ok(keys);
    }
    let mut before: (Vec<u8>, bool) = (Vec::new(), false);
    let from = TableKey::named(Table::EventsByKey, b"");
    view.now.scan(&from, &mut |table_key, _| {
        let key = table_key.name();
        let is_hidden = table_key
            .number()
            .is_some_and(|number| hidden.contains(&number));
        // Entries of keys that begin alike may stand between each other.
        let is_alike =
            !before.0.is_empty() && (key.starts_with(&before.0) || before.0.starts_with(key));
        let any_hidden = is_hidden || is_alike && before.1;
        if is_alike && any_hidden {
            for key in [key, &before.0] {
                keys.insert(String::from_utf8_lossy(key).into_owned());
            }
        }
        before = (key.to_vec(), any_hidden);
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

/// Authorities whose names are permanent now, and that erased names before. The registry knows
/// their policy, which an export does not show.
fn permanent_after_erasing(
    view: &View<'_>,
    finished: &Finished,
) -> Result<Vec<Note>, RegistryError> {
    let mut notes = Vec::new();
    for (authority, event) in &finished.erasing {
        let found = view.authority_by_key(authority)?;
        let note = Note::ErasedThenPermanent {
            authority: authority.clone(),
            event: *event,
        };
        let is_permanent =
            found.is_some_and(|found| found.policy.persistence == Persistence::Permanent);
        if is_permanent && !finished.audited.notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Handles whose keys are in lowercase, though case does not count under their authority. The
/// registry knows the policy, which an export does not show.
fn keys_of_other_case(view: &View<'_>) -> Result<Vec<Finding>, RegistryError> {
    let mut findings = Vec::new();
    let mut last: Option<(String, bool)> = None;
    view.now
        .scan(&TableKey::record(b"hdl:"), &mut |table_key, bytes| {
            let Some(handle) = table_key.name().strip_prefix(b"hdl:") else {
                return ControlFlow::Break(());
            };
            if !handle.iter().any(u8::is_ascii_lowercase) {
                return ControlFlow::Continue(());
            }
            let authority = Record::authority_in(bytes).unwrap_or_default();
            if last.as_ref().is_none_or(|(last, _)| last != authority) {
                let found = view.authority_by_key(authority);
                // The check of all tables reports an unreadable one.
                let counts = !matches!(&found, Ok(Some(found)) if !found.policy.case_sensitive);
                last = Some((authority.to_string(), counts));
            }
            if last.as_ref().is_some_and(|(_, counts)| !counts) {
                let key = String::from_utf8_lossy(table_key.name());
                let problem = format!("{key} is not in upper case, but case does not count there");
                findings.push(Finding::StoreDiffers(problem));
            }
            ControlFlow::Continue(())
        })?;
    Ok(findings)
}

fn compare_tiles(
    view: &View<'_>,
    audit: &mut Audit,
    tiles: &BTreeMap<(u8, u64), [u8; 32]>,
) -> Result<(), RegistryError> {
    let mut stored = BTreeMap::new();
    let from = TableKey::numbered(Table::Tiles, 0);
    view.now.scan(&from, &mut |table_key, bytes| {
        let at = tree::level_and_index(table_key.number().unwrap_or_default());
        stored.insert(at, <[u8; 32]>::try_from(bytes).unwrap_or_default());
        ControlFlow::Continue(())
    })?;
    if stored != *tiles {
        let problem = "the stored hashes do not match the events".to_string();
        audit.find(Finding::StoreDiffers(problem));
    }
    Ok(())
}
