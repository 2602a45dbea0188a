//! Metrics of the native protocol.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use handfast_wire::{Opcode, ResponseCode};

use crate::runtime::counters::Shards;

/// How a native message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    Tcp,
    Udp,
}

/// All of them, by the numbers of [`number`].
const TRANSPORTS: [&str; 3] = ["http", "tcp", "udp"];

/// Why a message was not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    /// Its network has had what it may have over UDP.
    RateLimit,
    /// Too many that take time were waiting.
    Busy,
}

/// The counters of one shard.
#[derive(Default)]
pub(crate) struct NativeMetrics {
    shards: Shards<NativeCounters>,
    /// Connections that are open.
    pub(crate) open: Arc<AtomicU64>,
}

struct NativeCounters {
    /// By transport, operation and outcome, one behind the other, with a place for those that are
    /// not known.
    requests: Box<[AtomicU64]>,
    received: [AtomicU64; TRANSPORTS.len()],
    sent: [AtomicU64; TRANSPORTS.len()],
    dropped: [AtomicU64; 2],
}

impl Default for NativeCounters {
    fn default() -> Self {
        let slots = TRANSPORTS.len() * OPCODES * CODES;
        Self {
            requests: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            received: Default::default(),
            sent: Default::default(),
            dropped: Default::default(),
        }
    }
}

/// How many operations, and outcomes, are told apart: those that are known, and all others
/// together.
const OPCODES: usize = Opcode::ALL.len() + 1;
const CODES: usize = ResponseCode::ALL.len() + 1;

impl NativeMetrics {
    /// A request that was answered.
    pub(crate) fn count(&self, transport: Transport, opcode: Opcode, code: ResponseCode) {
        let opcode = Opcode::ALL.iter().position(|known| *known == opcode);
        let code = ResponseCode::ALL.iter().position(|known| *known == code);
        let (opcode, code) = (opcode.unwrap_or(OPCODES - 1), code.unwrap_or(CODES - 1));
        self.shards.add(1, |counters| {
            counters.requests.get(place(transport, opcode, code))
        });
    }

    /// Octets that came.
    pub(crate) fn received(&self, transport: Transport, octets: usize) {
        self.add(octets, |counters| counters.received.get(number(transport)));
    }

    /// Octets that went.
    pub(crate) fn sent(&self, transport: Transport, octets: usize) {
        self.add(octets, |counters| counters.sent.get(number(transport)));
    }

    fn add(&self, octets: usize, counter: impl FnOnce(&NativeCounters) -> Option<&AtomicU64>) {
        let octets = u64::try_from(octets).unwrap_or(u64::MAX);
        self.shards.add(octets, counter);
    }

    /// A message that was not answered.
    pub(crate) fn dropped(&self, why: Dropped) {
        let place = match why {
            Dropped::RateLimit => 0,
            Dropped::Busy => 1,
        };
        self.shards.add(1, |counters| counters.dropped.get(place));
    }

    /// Each transport, operation and outcome that was ever met, by name, and how often.
    pub(crate) fn requests(&self) -> Vec<(&'static str, String, String, u64)> {
        let slots = 0..TRANSPORTS.len() * OPCODES * CODES;
        let counted = slots.map(|slot| {
            let count = self.shards.sum(|counters| counters.requests.get(slot));
            (slot, count)
        });
        let met = counted.filter(|(_, count)| *count > 0);
        let met = met.map(|(slot, count)| {
            let transport = TRANSPORTS.get(slot / (OPCODES * CODES));
            let opcode = Opcode::ALL.get(slot / CODES % OPCODES);
            let code = ResponseCode::ALL.get(slot % CODES);
            let other = || "other".to_string();
            (
                transport.copied().unwrap_or_default(),
                opcode.map_or_else(other, ToString::to_string),
                code.map_or_else(other, |code| code.number().to_string()),
                count,
            )
        });
        met.collect()
    }

    /// How many requests were answered.
    pub(crate) fn answered(&self) -> u64 {
        self.requests().iter().map(|(.., count)| count).sum()
    }

    /// Octets by transport: those that came, and those that went.
    pub(crate) fn octets(&self) -> [(&'static str, u64, u64); TRANSPORTS.len()] {
        std::array::from_fn(|at| {
            let received = self.shards.sum(|counters| counters.received.get(at));
            let sent = self.shards.sum(|counters| counters.sent.get(at));
            (
                TRANSPORTS.get(at).copied().unwrap_or_default(),
                received,
                sent,
            )
        })
    }

    /// Messages that were not answered, by reason.
    pub(crate) fn lost(&self) -> [(&'static str, u64); 2] {
        let count = |place: usize| self.shards.sum(|counters| counters.dropped.get(place));
        [("allowance", count(0)), ("busy", count(1))]
    }

    /// Requests that were refused because there were too many: those answered so, and those not
    /// answered.
    pub(crate) fn refused(&self) -> u64 {
        let busy = ResponseCode::ServerTooBusy.number().to_string();
        let requests = self.requests();
        let answered = requests.iter().filter(|(_, _, code, _)| *code == busy);
        let answered: u64 = answered.map(|(.., count)| count).sum();
        let lost: u64 = self.lost().iter().map(|(_, count)| count).sum();
        answered + lost
    }
}

fn number(transport: Transport) -> usize {
    match transport {
        Transport::Http => 0,
        Transport::Tcp => 1,
        Transport::Udp => 2,
    }
}

fn place(transport: Transport, opcode: usize, code: usize) -> usize {
    (number(transport) * OPCODES + opcode) * CODES + code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_is_added_up() {
        let meters = NativeMetrics::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        meters.count(Transport::Udp, Opcode::Resolution, ResponseCode::Success);
                        meters.sent(Transport::Udp, 100);
                    }
                    meters.count(Transport::Tcp, Opcode::Unknown(7), ResponseCode::Unknown(9));
                });
            }
        });
        let found = meters.requests();
        let line = |transport, opcode: &str, code: &str, count| {
            (transport, opcode.to_string(), code.to_string(), count)
        };
        assert_eq!(
            found,
            [
                line("tcp", "other", "other", 4),
                line("udp", "RESOLUTION", "1", 4_000)
            ]
        );
        assert_eq!(meters.octets()[2], ("udp", 0, 400_000));
    }
}
