//! Which entries of a full table make room.
//!
//! A table of sessions is shared by all networks. When it is full, the network that has the most
//! entries gives up its oldest one, so that a network that fills the table pushes out its own
//! entries and no others.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::admission::peer::Peer;

/// An entry of a table.
pub(crate) struct TableEntry<K> {
    pub(crate) key: K,
    pub(crate) peer: Peer,
    /// When it was last used, in milliseconds since 1970.
    pub(crate) last: u64,
}

/// The entries that a table gives up so that at most `max` stay.
pub(crate) fn surplus<K>(entries: impl Iterator<Item = TableEntry<K>>, max: usize) -> Vec<K> {
    let mut networks: HashMap<Peer, Vec<(u64, K)>> = HashMap::new();
    let mut count = 0_usize;
    for entry in entries {
        let share = networks.entry(entry.peer).or_default();
        share.push((entry.last, entry.key));
        count += 1;
    }
    let mut shares: Vec<_> = networks.into_values().collect();
    for share in &mut shares {
        // The oldest is at the end.
        share.sort_unstable_by_key(|(last, _)| Reverse(*last));
    }
    let rank = |share: &[(u64, K)]| {
        let oldest = share.last().map_or(u64::MAX, |(last, _)| *last);
        (share.len(), Reverse(oldest))
    };
    let ranked = shares.iter().enumerate();
    let mut largest: BinaryHeap<_> = ranked.map(|(at, share)| (rank(share), at)).collect();
    let mut given_up = Vec::new();
    while count - given_up.len() > max {
        let Some((_, at)) = largest.pop() else { break };
        let Some(share) = shares.get_mut(at) else {
            break;
        };
        given_up.extend(share.pop().map(|(_, key)| key));
        largest.push((rank(share), at));
    }
    given_up
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(network: u8, key: u32) -> TableEntry<u32> {
        let peer = Peer::connected([192, 0, 2, network].into());
        let last = key.into();
        TableEntry { key, peer, last }
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
    }
}
