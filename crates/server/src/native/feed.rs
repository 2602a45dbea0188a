//! The stream that follows a reply to a mirror (`handle-protocol.md` §11.2): blocks, "each
//! followed by `bytes signature`".
//!
//! The server makes it piece by piece and reads a bounded part of the registry at a time: a
//! slow mirror occupies neither memory nor old pages of the store.

use std::collections::VecDeque;
use std::fmt;

use handfast_registry::{Registry, RegistryError, Transaction, TransactionAction, Transactions};
use handfast_wire::body::Receiver;
use handfast_wire::crypto::{CryptoError, SigningKey};
use handfast_wire::{Codec, DigestAlgorithm, Value, handle_hash, put_bytes};
use tokio::sync::OwnedSemaphorePermit;

/// "Signed: next `str` hash name; then blocks."
const SIGNED: [u8; 4] = [0; 4];
/// The name of the hash that is signed.
const HASH: &str = "SHA-256";
/// How many blocks a piece has: signing takes about a millisecond for each.
const MAX_BLOCKS: usize = 64;
/// From how many bytes on a piece is long enough.
const LONG: usize = 256 << 10;
/// "u8 0xFF end — NOT followed by a signature."
const END_OF_DUMP: u8 = 0xFF;
/// The version of the form of dumps.
const DUMP_VERSION: u32 = 2;

/// A stream that is being made.
pub(crate) struct Feed {
    receiver: Receiver,
    /// Bytes to send unsigned before the next block.
    opening: Vec<u8>,
    /// Blocks to be signed.
    waiting: VecDeque<Vec<u8>>,
    source: FeedSource,
    /// Bytes to send unsigned at the end.
    closing: Vec<u8>,
    /// Among those who are served at the same time.
    _place: OwnedSemaphorePermit,
}

/// The source of blocks.
enum FeedSource {
    Dump(Phase),
    Ended,
    Transactions {
        transactions: Box<Transactions>,
        /// The blocks that follow them.
        end: Vec<Vec<u8>>,
    },
}

/// How far a dump has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handles after one.
    Handles(Option<String>),
    /// The prefixes after one.
    Prefixes(Option<String>),
}

/// Why a stream cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FeedError {
    #[error(transparent)]
    Read(#[from] RegistryError),
    #[error(transparent)]
    Sign(#[from] CryptoError),
}

impl Feed {
    fn new(receiver: Receiver, source: FeedSource, place: OwnedSemaphorePermit) -> Self {
        let mut opening = SIGNED.to_vec();
        put_bytes(&mut opening, HASH.as_bytes());
        Self {
            receiver,
            opening,
            waiting: VecDeque::new(),
            source,
            closing: Vec::new(),
            _place: place,
        }
    }

    /// Transactions; in the form for mirrors of many servers if these are called something.
    pub(crate) fn transactions(
        receiver: Receiver,
        transactions: Transactions,
        queue: Option<&str>,
        date: i64,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let (begin, end) = match queue {
            None => (
                vec![status(1, SENDING)],
                vec![block(0, &date.to_be_bytes())],
            ),
            Some(queue) => (
                vec![status(2, SENDING), text_block(2, queue)],
                vec![block(3, &date.to_be_bytes()), block(0, &[])],
            ),
        };
        let transactions = Box::new(transactions);
        let source = FeedSource::Transactions { transactions, end };
        let mut feed = Self::new(receiver, source, place);
        feed.waiting.extend(begin);
        feed
    }

    /// That the log does not reach back to where the mirror is: "with status 1 only the end record
    /// follows (format 1: date = the request's own last query date)".
    pub(crate) fn copy_anew(
        receiver: Receiver,
        is_of_many: bool,
        date: i64,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let mut feed = Self::new(receiver, FeedSource::Ended, place);
        feed.waiting.extend(if is_of_many {
            [status(2, COPY_ANEW), block(0, &[])]
        } else {
            let end = block(0, &date.to_be_bytes());
            [status(1, COPY_ANEW), end]
        });
        feed
    }

    /// Everything from a phase on; with the point, date and transaction, from which to follow.
    pub(crate) fn dump(
        receiver: Receiver,
        phase: Phase,
        point: Option<(i64, u64)>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let mut feed = Self::new(receiver, FeedSource::Dump(phase), place);
        feed.waiting.push_back(DUMP_VERSION.to_be_bytes().to_vec());
        if let Some((date, last)) = point {
            let mut record = block(0, &date.to_be_bytes());
            record.extend(last.to_be_bytes());
            feed.waiting.push_back(record);
        }
        feed.closing.push(END_OF_DUMP);
        feed
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(
        &mut self,
        registry: &Registry,
        key: &SigningKey,
    ) -> Result<Option<Vec<u8>>, FeedError> {
        let mut out = std::mem::take(&mut self.opening);
        for _ in 0..MAX_BLOCKS {
            while self.waiting.is_empty() && !matches!(self.source, FeedSource::Ended) {
                self.read(registry)?;
            }
            let Some(block) = self.waiting.pop_front() else {
                out.append(&mut self.closing);
                break;
            };
            let signature = key.sign(DigestAlgorithm::Sha256, &block)?;
            out.extend_from_slice(&block);
            put_bytes(&mut out, &signature);
            if out.len() >= LONG {
                break;
            }
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }

    /// Reads some more; a mirror gets what its server is responsible for.
    fn read(&mut self, registry: &Registry) -> Result<(), RegistryError> {
        let receiver = self.receiver;
        let is_wanted = |handle: &str| {
            let hash = handle_hash(handle, receiver.hash_option);
            hash.checked_rem(receiver.server_count) == Some(receiver.server_number)
        };
        match &mut self.source {
            FeedSource::Ended => {}
            FeedSource::Transactions { transactions, end } => {
                if let Some(read) = transactions.read(registry, &is_wanted)? {
                    self.waiting.extend(read.iter().map(transaction_block));
                } else {
                    self.waiting.extend(std::mem::take(end));
                    self.source = FeedSource::Ended;
                }
            }
            FeedSource::Dump(Phase::Handles(after)) => {
                let page = registry.handles_after(after.as_deref(), &is_wanted)?;
                let blocks = page.handles.iter().map(|(handle, values)| {
                    let mut block = text_block(1, handle);
                    put_values(&mut block, values);
                    block
                });
                self.waiting.extend(blocks);
                self.source = FeedSource::Dump(match page.last {
                    Some(last) => Phase::Handles(Some(last)),
                    None => Phase::Prefixes(None),
                });
            }
            FeedSource::Dump(Phase::Prefixes(after)) => {
                let after = after.take().map(|after| after.to_ascii_uppercase());
                let homed = registry.homed()?;
                let left = homed
                    .iter()
                    .filter(|handle| after.as_ref().is_none_or(|after| *handle > after));
                self.waiting
                    .extend(left.map(|handle| text_block(2, handle)));
                self.source = FeedSource::Ended;
            }
        }
        Ok(())
    }
}

/// The start of a stream of transactions.
fn status(format: u32, code: u32) -> Vec<u8> {
    [format.to_be_bytes(), code.to_be_bytes()].concat()
}

/// `NEED_TO_REDUMP`.
const COPY_ANEW: u32 = 1;
/// `SENDING_TRANSACTIONS`.
const SENDING: u32 = 2;

fn block(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}

fn text_block(kind: u8, text: &str) -> Vec<u8> {
    let mut block = vec![kind];
    put_bytes(&mut block, text.as_bytes());
    block
}

fn transaction_block(transaction: &Transaction) -> Vec<u8> {
    let mut block = block(1, &transaction.number.to_be_bytes());
    put_bytes(&mut block, transaction.handle.as_bytes());
    block.push(transaction.action.code());
    block.extend(transaction.date.to_be_bytes());
    if let TransactionAction::Create | TransactionAction::Update = transaction.action {
        put_values(&mut block, &transaction.values);
    }
    block
}

fn put_values(block: &mut Vec<u8>, values: &[Value<'_>]) {
    // A record has far fewer values than four bytes can count.
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    block.extend(count.to_be_bytes());
    for value in values {
        put_bytes(block, &value.to_bytes());
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its content must not be logged.
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}
