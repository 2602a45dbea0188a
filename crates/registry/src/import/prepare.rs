//! Preparing names in parallel: from blocks of lines to chunks of prepared names.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use handfast_store::StoreError;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sha2::{Digest, Sha256};

use crate::authority::policy::Authority;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::import::Import;
use crate::import::load::{Chunk, Loader, split_failure};
use crate::import::outcome::{Done, Outcome};
use crate::import::parsed::{ParsedAuthority, ParsedName, ParsedStatus};
use crate::import::prepared_name::{NameOptions, PreparedName, Preparing};
use crate::import::source::{Block, Source};
use crate::lookup::value_index::IndexEntries;
use crate::registry::Registry;

/// The number of blocks that are prepared in parallel and then written as one group.
const BLOCKS_PER_GROUP: usize = 8;

/// The maximum number of authorities of one import: those seen so far are in memory.
const MAX_AUTHORITIES: usize = 500_000;

/// Prepares the blocks of a source.
pub(crate) struct Preparer<'r> {
    registry: &'r Registry,
    loader: &'r Loader,
    options: &'r NameOptions,
    import: &'r Import,
    /// Authorities that would exist after a dry run.
    planned: Arc<HashMap<String, Authority>>,
    /// The lines of authorities, by a digest of their paths.
    lines: HashMap<[u8; 16], u64>,
}

/// The result of a group of blocks.
#[derive(Default)]
pub(crate) struct PreparedGroup {
    /// Names, by key and line.
    pub(crate) chunk: Chunk,
    /// Lines that already have an outcome.
    pub(crate) outcomes: Vec<Outcome>,
    /// Authorities to retire after their names are imported.
    pub(crate) retired: Vec<String>,
    pub(crate) planned: Arc<HashMap<String, Authority>>,
    /// Index entries for the values of the names.
    pub(crate) index: Vec<IndexEntries>,
    /// Why the input ends here.
    pub(crate) failed: Option<io::Error>,
}

/// The result of a block.
#[derive(Default)]
struct Prepared {
    names: Vec<PreparedName>,
    refused: Vec<Outcome>,
    assumed: HashSet<(String, u64)>,
    index: IndexEntries,
}

impl<'r> Preparer<'r> {
    pub(crate) fn new(
        registry: &'r Registry,
        loader: &'r Loader,
        options: &'r NameOptions,
        import: &'r Import,
    ) -> Self {
        Self {
            registry,
            loader,
            options,
            import,
            planned: Arc::default(),
            lines: HashMap::new(),
        }
    }

    /// Prepares the next blocks; `None` at the end.
    pub(crate) fn next(
        &mut self,
        source: &mut impl Source,
    ) -> Result<Option<PreparedGroup>, RegistryError> {
        let mut group = PreparedGroup::default();
        let mut blocks = Vec::with_capacity(BLOCKS_PER_GROUP);
        while blocks.len() < BLOCKS_PER_GROUP && group.failed.is_none() {
            match source.next() {
                Ok(Some(block)) => blocks.push(block),
                Ok(None) => break,
                // The names read before are imported: a bad end of a file does not lose good lines.
                Err(error) => group.failed = Some(error),
            }
        }
        if blocks.is_empty() && group.failed.is_none() {
            return Ok(None);
        }
        self.authorities(&blocks, &mut group)?;
        self.names(blocks, &mut group)?;
        group.planned = Arc::clone(&self.planned);
        Ok(Some(group))
    }

    /// Creates authorities for the prefixes that a handle server is responsible for.
    pub(crate) fn prefixes(&mut self, prefixes: &[String]) -> Result<PreparedGroup, RegistryError> {
        let mut group = PreparedGroup::default();
        let parsed = prefixes.iter().map(|prefix| ParsedAuthority::named(prefix));
        // A dump only says that a prefix exists: an existing authority is right.
        let is_new = |parsed: &ParsedAuthority| {
            let found = self.registry.authority(&self.loader.who, &parsed.authority);
            found.is_err()
        };
        let new = parsed.filter(is_new).map(|parsed| (0, parsed)).collect();
        self.apply_authorities(new, &mut group)?;
        group.planned = Arc::clone(&self.planned);
        Ok(group)
    }

    /// Authorities come before the names under them.
    fn authorities(
        &mut self,
        blocks: &[Block],
        group: &mut PreparedGroup,
    ) -> Result<(), RegistryError> {
        let mut found = Vec::new();
        for block in blocks {
            let Block::Lines { first, text } = block else {
                continue;
            };
            for (number, line) in numbered(*first, text) {
                if !is_authority(line) {
                    continue;
                }
                match serde_json::from_slice::<ParsedAuthority>(line) {
                    Ok(parsed) => found.push((number, parsed)),
                    Err(error) => group.outcomes.push(bad_json(number, &error)),
                }
            }
        }
        self.apply_authorities(found, group)
    }

    fn apply_authorities(
        &mut self,
        found: Vec<(u64, ParsedAuthority)>,
        group: &mut PreparedGroup,
    ) -> Result<(), RegistryError> {
        let mut new = Vec::new();
        for (line, parsed) in found {
            let id = Some(parsed.authority.as_str());
            let digest = digest(&parsed.authority);
            if let Some(first) = self.lines.get(&digest) {
                let reason = format!("the same authority stands in line {first} already");
                let outcome = Outcome::bad(line, id, "duplicate", reason);
                group.outcomes.push(outcome);
            } else if self.lines.len() >= MAX_AUTHORITIES {
                let reason = format!(
                    "an import takes at most {MAX_AUTHORITIES} authorities: give the others in \
                     another file"
                );
                let outcome = Outcome::bad(line, id, "too-many", reason);
                group.outcomes.push(outcome);
            } else {
                self.lines.insert(digest, line);
                new.push((line, parsed));
            }
        }
        let found = new;
        if found.is_empty() {
            return Ok(());
        }
        let is_retired =
            |(_, parsed): &(u64, ParsedAuthority)| parsed.status == ParsedStatus::Retired;
        let retired: Vec<_> = found.iter().map(is_retired).collect();
        let outcomes = if self.import.dry_run {
            self.plan_authorities(&found)?
        } else {
            let loader = self.loader.at(self.registry.time());
            let registry = self.registry;
            let looked = found.into_iter().map(|(line, parsed)| {
                let look =
                    |change_set: &mut ChangeSet<'_>| Ok(change_set.look_for_erased_by(&parsed));
                let nothing_erased = registry.dry_run(&loader.who, look)?;
                Ok((line, parsed, nothing_erased))
            });
            let looked = looked.collect::<Result<Vec<_>, RegistryError>>()?;
            registry.load(move |loading| {
                let mut outcomes = Vec::new();
                let before = crate::log::tree::read(&loading.snapshot())?.size();
                for (line, parsed, nothing_erased) in looked {
                    let done = loader.decide(loading, |change_set| {
                        let nothing_erased = nothing_erased.as_ref();
                        let conflicts = loader.conflicts;
                        Ok(change_set
                            .apply_authority(&parsed, conflicts, nothing_erased)?
                            .0)
                    })?;
                    outcomes.push(Outcome::of(line, parsed.authority, done));
                }
                loader.note_events(loading, before)?;
                Ok(outcomes)
            })?
        };
        // They are retired after their names are imported, and only if this import created them.
        for (outcome, is_retired) in outcomes.iter().zip(retired) {
            if is_retired && matches!(outcome.done, Done::Created(_) | Done::Changed(_)) {
                group.retired.extend(outcome.id.clone());
            }
        }
        group.outcomes.extend(outcomes);
        Ok(())
    }

    fn plan_authorities(
        &mut self,
        found: &[(u64, ParsedAuthority)],
    ) -> Result<Vec<Outcome>, RegistryError> {
        let mut outcomes = Vec::new();
        for (line, parsed) in found {
            let applied = self.registry.store.read(|now| {
                let view = self.loader.view(now).with_planned(&self.planned);
                let change_set = ChangeSet::begin(view, self.loader.call());
                Ok(change_set.and_then(|mut change_set| {
                    change_set.apply_authority(parsed, self.loader.conflicts, None)
                }))
            })?;
            let done = split_failure(applied)?.map(|(done, authority)| {
                let key = authority.path.key().to_string();
                Arc::make_mut(&mut self.planned).insert(key, authority);
                done
            });
            outcomes.push(Outcome::of(*line, parsed.authority.clone(), done));
        }
        Ok(outcomes)
    }

    fn names(
        &mut self,
        blocks: Vec<Block>,
        group: &mut PreparedGroup,
    ) -> Result<(), RegistryError> {
        let (registry, loader, options) = (self.registry, self.loader, self.options);
        let planned = &*self.planned;
        // Before any snapshot is taken: the writer notices changes in between.
        group.chunk.namespaces = registry.rules.newest().number;
        let prepared = blocks
            .into_par_iter()
            .map(|block| {
                registry.store.read(|now| {
                    let view = loader.view(now).with_planned(planned);
                    let preparing = Preparing::new(&view, options, &loader.context);
                    Ok(prepare(preparing, block))
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let chunk = &mut group.chunk;
        let blocks = prepared.iter().flatten();
        chunk
            .names
            .reserve(blocks.map(|block| block.names.len()).sum());
        for block in prepared {
            let block = block?;
            chunk.names.extend(block.names);
            chunk.assumed.extend(block.assumed);
            group.outcomes.extend(block.refused);
            group.index.push(block.index);
        }
        // A stable sort leaves sorted input as it is.
        chunk
            .names
            .sort_by(|a, b| (&a.key, a.line).cmp(&(&b.key, b.line)));
        Ok(())
    }
}

fn prepare(mut preparing: Preparing<'_>, block: Block) -> Result<Prepared, RegistryError> {
    let mut prepared = Prepared::default();
    match block {
        Block::Lines { first, text } => {
            // Reserve all the memory at once, so that nothing is moved.
            prepared.names.reserve(text.len() / 100);
            prepared.index = IndexEntries::with_capacity(text.len());
            for (line, text) in numbered(first, &text) {
                if is_authority(text) {
                    continue;
                }
                if !text.starts_with(b"{") {
                    prepared.refused.push(no_object(line, text));
                    continue;
                }
                match serde_json::from_slice::<ParsedName<'_>>(text) {
                    Ok(parsed) => prepared.prepare_name(&mut preparing, line, &parsed)?,
                    Err(error) => prepared.refused.push(bad_json(line, &error)),
                }
            }
        }
        Block::Names(items) => {
            for item in items {
                match item.parsed {
                    Ok(parsed) => prepared.prepare_name(&mut preparing, item.line, &parsed)?,
                    Err(outcome) => prepared.refused.push(outcome),
                }
            }
        }
    }
    let assumed = preparing.assumed();
    prepared.assumed = assumed
        .map(|(key, version)| (key.to_string(), version))
        .collect();
    Ok(prepared)
}

impl Prepared {
    fn prepare_name(
        &mut self,
        preparing: &mut Preparing<'_>,
        line: u64,
        parsed: &ParsedName<'_>,
    ) -> Result<(), RegistryError> {
        match split_failure(preparing.prepared_name(line, parsed, &mut self.index))? {
            Ok(name) => self.names.push(name),
            Err(error) => {
                let outcome = Outcome::refused(line, Some(&parsed.id.0), &error);
                self.refused.push(outcome);
            }
        }
        Ok(())
    }
}

/// A digest of a text.
fn digest(text: &str) -> [u8; 16] {
    let digest = Sha256::digest(text);
    digest.first_chunk().copied().unwrap_or_default()
}

/// The lines of a block that are not blank, with their numbers.
fn numbered(first: u64, text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain(std::iter::once(text.len()));
    let lines = ends.map(move |end| {
        let line = text.get(start..end).unwrap_or_default();
        start = end + 1;
        line.trim_ascii()
    });
    (first..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// Whether a line is an authority: such lines begin with the member `authority`.
fn is_authority(line: &[u8]) -> bool {
    let rest = line
        .strip_prefix(b"{")
        .unwrap_or_default()
        .trim_ascii_start();
    rest.starts_with(br#""authority""#)
}

fn no_object(line: u64, text: &[u8]) -> Outcome {
    match serde_json::from_slice::<serde::de::IgnoredAny>(text) {
        Ok(_) => {
            let reason = "a line is an object, such as {\"id\":\"20.500/x\"}".to_string();
            Outcome::bad(line, None, "bad-field", reason)
        }
        Err(error) => bad_json(line, &error),
    }
}

fn bad_json(line: u64, error: &serde_json::Error) -> Outcome {
    let (problem, column) = (error.to_string(), error.column());
    // Each line is parsed by itself, so the parser reports line 1 in all errors.
    let problem = problem
        .split(" at line 1 column")
        .next()
        .unwrap_or_default();
    let (code, what) = match error.classify() {
        serde_json::error::Category::Data => ("bad-field", ""),
        _ => ("bad-json", "not JSON: "),
    };
    let reason = format!("{what}{problem}, at column {column}");
    Outcome::bad(line, None, code, reason)
}
