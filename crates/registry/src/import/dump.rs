//! The JSON dump of handle servers (`handle-protocol.md` §12.2).
//!
//! ```json
//! {"homedPrefixes": ["0.NA/20.1"],
//!  "handleRecords": {"20.1/A": {"handle": "20.1/A", "values": []}}}
//! ```
//!
//! A dump is one JSON object with any number of names. So a thread of its own parses it and passes
//! the names on one by one.

use std::cell::Cell;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use handfast_wire::json::ParsedValue;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use crate::import::outcome::Outcome;
use crate::import::parsed::ParsedName;
use crate::import::source::{
    BLOCK_BYTES, Block, BoundedItems, Item, ItemBudget, MAX_NAMES_PER_BLOCK, Source,
};

/// The maximum number of blocks of records that wait to be prepared.
const MAX_WAITING_BLOCKS: usize = 2;
/// The maximum number of bytes of the list of prefixes.
const MAX_PREFIXES: u64 = 64 << 20;

/// The members of a dump.
const MEMBERS: [&str; 2] = ["homedPrefixes", "handleRecords"];

/// The parts of a dump.
pub(crate) enum Part {
    /// Prefixes that the server is responsible for.
    Prefixes(Vec<String>),
    Records(Vec<Item>),
    /// The dump ends early.
    Broken(String),
}

/// Names from a dump that another thread reads.
pub(crate) struct DumpInput {
    parts: Receiver<Part>,
    /// Prefixes that the server is responsible for; they come first.
    pub(crate) prefixes: Vec<String>,
    waiting: Option<Part>,
}

impl DumpInput {
    /// A dump, and the function that reads it.
    pub(crate) fn new<R: Read>(input: R) -> (Self, impl FnOnce()) {
        let (send, parts) = sync_channel(MAX_WAITING_BLOCKS);
        let dump = Self {
            parts,
            prefixes: Vec::new(),
            waiting: None,
        };
        let read = move || {
            let (input, budget) = BoundedItems::new(input, MAX_PREFIXES);
            let input = io::BufReader::with_capacity(1 << 18, input);
            let mut json = serde_json::Deserializer::from_reader(input);
            let whole = Whole {
                send: &send,
                budget: &budget,
            };
            let outcome = json.deserialize_map(whole).and_then(|()| json.end());
            if let Err(error) = outcome {
                // The receiver is gone only if the import has failed.
                drop(send.send(Part::Broken(error.to_string())));
            }
        };
        (dump, read)
    }

    /// Waits for the prefixes, if they come first.
    pub(crate) fn read_prefixes(&mut self) {
        while let Ok(part) = self.parts.recv() {
            match part {
                Part::Prefixes(prefixes) => self.prefixes.extend(prefixes),
                other => {
                    self.waiting = Some(other);
                    return;
                }
            }
        }
    }
}

/// Checks that an input is a dump, as far as its first member shows, before a job begins for it. A
/// mistake further on is reported by the import, which takes the records in front of it.
pub(crate) fn check_beginning(beginning: &[u8]) -> io::Result<()> {
    if beginning.trim_ascii().is_empty() {
        return Ok(());
    }
    let is_dump = Cell::new(false);
    let mut json = serde_json::Deserializer::from_slice(beginning);
    let read = json.deserialize_map(FirstMember(&is_dump));
    if is_dump.get() {
        return Ok(());
    }
    let found = match read {
        Err(error) => error.to_string(),
        Ok(()) => "its first member is another one".to_string(),
    };
    let problem = format!(
        "a dump is one JSON object with `homedPrefixes` and `handleRecords` ({found}): \
         say `ndjson` if each line is an object, `csv` or `batch`"
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, problem))
}

/// Notes whether an object is empty or begins with a member of a dump.
struct FirstMember<'f>(&'f Cell<bool>);

impl<'de> Visitor<'de> for FirstMember<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let first = map.next_key::<String>()?;
        let is_member = |name: &str| MEMBERS.contains(&name);
        self.0.set(first.as_deref().is_none_or(is_member));
        match first {
            Some(name) if !is_member(&name) => {
                Err(A::Error::custom(format!("unknown member `{name}`")))
            }
            _ => Ok(()),
        }
    }
}

impl Source for DumpInput {
    fn next(&mut self) -> io::Result<Option<Block>> {
        let Some(part) = self.waiting.take().or_else(|| self.parts.recv().ok()) else {
            return Ok(None);
        };
        match part {
            Part::Records(items) => Ok(Some(Block::Names(items))),
            Part::Prefixes(_) => {
                let reason = "`homedPrefixes` stands behind `handleRecords`: it must come first";
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
            Part::Broken(reason) => Err(io::Error::new(io::ErrorKind::InvalidData, reason)),
        }
    }
}

struct Whole<'s> {
    send: &'s SyncSender<Part>,
    budget: &'s ItemBudget,
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with `homedPrefixes` and `handleRecords`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key::<String>()? {
            match member.as_str() {
                "homedPrefixes" => {
                    let prefixes = map.next_value::<Vec<String>>()?;
                    send(self.send, Part::Prefixes(prefixes))?;
                }
                "handleRecords" => {
                    let mut block = Collected {
                        items: Vec::new(),
                        size: 0,
                        send: self.send,
                        budget: self.budget,
                    };
                    let read = map.next_value_seed(&mut block);
                    // Records before an error are good.
                    block.send()?;
                    read?;
                }
                other => {
                    let known = "`homedPrefixes` and `handleRecords`";
                    let problem = format!("unknown member `{other}`, known are {known}");
                    return Err(A::Error::custom(problem));
                }
            }
        }
        Ok(())
    }
}

/// The records of one block.
struct Collected<'s> {
    items: Vec<Item>,
    /// The number of bytes of their texts.
    size: usize,
    send: &'s SyncSender<Part>,
    budget: &'s ItemBudget,
}

impl Collected<'_> {
    fn push<E: Error>(&mut self, item: Item, size: usize) -> Result<(), E> {
        self.items.push(item);
        self.size += size;
        if self.items.len() < MAX_NAMES_PER_BLOCK && self.size < BLOCK_BYTES {
            return Ok(());
        }
        self.send()
    }

    fn send<E: Error>(&mut self) -> Result<(), E> {
        self.size = 0;
        let items = std::mem::take(&mut self.items);
        if items.is_empty() {
            return Ok(());
        }
        send(self.send, Part::Records(items))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Collected<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Collected<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of records by handle")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut line = 0;
        self.budget.renew();
        while let Some(key) = map.next_key::<String>()? {
            line += 1;
            // Read as text first, so that a malformed record does not affect the others.
            let text = map.next_value::<Box<serde_json::value::RawValue>>()?;
            let parsed = serde_json::from_str::<DumpRecord>(text.get());
            let parsed = match parsed {
                Ok(record) => Ok(ParsedName {
                    values: record.values,
                    ..ParsedName::new(record.handle.unwrap_or(key))
                }),
                Err(error) => Err(Outcome::bad(
                    line,
                    Some(&key),
                    "bad-json",
                    error.to_string(),
                )),
            };
            self.push(Item { line, parsed }, text.get().len())?;
            self.budget.renew();
        }
        Ok(())
    }
}

fn send<E: Error>(to: &SyncSender<Part>, part: Part) -> Result<(), E> {
    to.send(part).map_err(|_| E::custom("the receiver is gone"))
}

struct DumpRecord {
    handle: Option<String>,
    values: Vec<ParsedValue<'static>>,
}

impl<'de> Deserialize<'de> for DumpRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = DumpRecord;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with `handle` and `values`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DumpRecord, A::Error> {
                let mut record = DumpRecord {
                    handle: None,
                    values: Vec::new(),
                };
                while let Some(member) = map.next_key::<String>()? {
                    match member.as_str() {
                        "handle" => record.handle = Some(map.next_value()?),
                        "values" => {
                            let values = map.next_value::<Vec<ParsedValue<'_>>>()?;
                            let values = values.into_iter().map(ParsedValue::into_owned);
                            record.values = values.collect();
                        }
                        // Servers add a response code.
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(record)
            }
        }
        deserializer.deserialize_map(Members)
    }
}
