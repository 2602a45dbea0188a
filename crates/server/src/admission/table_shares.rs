//! Which entries a full table evicts.
//!
//! All networks share a table of sessions, or of requests that wait. When it is full, the network
//! that uses the most of it gives up its oldest entry, so that a network that fills the table
//! evicts its own entries and no others.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::admission::peer::Peer;

/// An entry of a table.
pub(crate) struct TableEntry<K> {
    pub(crate) key: K,
    pub(crate) peer: Peer,
    /// When it was last used: in milliseconds, or how many came before it.
    pub(crate) last: u64,
    /// How much of the table it uses.
    pub(crate) size: usize,
}

/// The entries that a table gives up so that those that stay have at most a size.
pub(crate) fn surplus<K>(entries: impl Iterator<Item = TableEntry<K>>, max: usize) -> Vec<K> {
    let mut networks: HashMap<Peer, (usize, Vec<TableEntry<K>>)> = HashMap::new();
    let mut total = 0_usize;
    for entry in entries {
        let (size, share) = networks.entry(entry.peer).or_default();
        *size += entry.size;
        total += entry.size;
        share.push(entry);
    }
    let mut shares: Vec<_> = networks.into_values().collect();
    for (_, share) in &mut shares {
        // The oldest is at the end.
        share.sort_by_key(|entry| Reverse(entry.last));
    }
    let rank = |(size, share): &(usize, Vec<TableEntry<K>>)| {
        let oldest = share.last().map_or(u64::MAX, |entry| entry.last);
        (*size, Reverse(oldest))
    };
    let ranked = shares.iter().enumerate();
    let mut largest: BinaryHeap<_> = ranked.map(|(at, share)| (rank(share), at)).collect();
    let mut given_up = Vec::new();
    while total > max {
        let Some((_, at)) = largest.pop() else { break };
        let Some(share) = shares.get_mut(at) else {
            break;
        };
        if let Some(oldest) = share.1.pop() {
            share.0 -= oldest.size;
            total -= oldest.size;
            given_up.push(oldest.key);
            largest.push((rank(share), at));
        }
    }
    given_up
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(network: u8, key: u32) -> TableEntry<u32> {
        let peer = Peer::connected([192, 0, 2, network].into());
        let last = key.into();
        let size = 1;
        TableEntry {
            key,
            peer,
            last,
            size,
        }
    }

    #[test]
    fn the_largest_network_gives_up_its_oldest_entries() {
        let small = (0..5).map(|key| entry(1, key));
        let large = (100..200).map(|key| entry(2, key));
        let given_up = surplus(small.chain(large), 60);
        assert_eq!(given_up, (100..145).collect::<Vec<_>>());
        // Networks that have as many give up what is oldest among them.
        let equal = (0..10).map(|key| entry(u8::try_from(key).unwrap(), 100 - key));
        assert_eq!(surplus(equal, 8), [91, 92]);
        assert!(surplus((0..5).map(|key| entry(1, key)), 5).is_empty());
        assert_eq!(surplus((0..5).map(|key| entry(1, key)), 0).len(), 5);
        // One long entry counts as much as many short ones.
        let long = TableEntry {
            size: 50,
            ..entry(1, 0)
        };
        let short = (100..120).map(|key| entry(2, key));
        assert_eq!(surplus(short.chain([long]), 60), [0]);
    }
}
