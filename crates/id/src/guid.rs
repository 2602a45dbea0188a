//! The paths of CORDRA identifiers, and how new ones are made.
//!
//! `CID-4`: a path comes from a UUID generator and is opaque: nothing is read from its bits.
//! Version 4 (random) is the default; version 1 (time and node) is available. Random bytes and time
//! are arguments.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::error::{ErrorKind, ParseError, Part};

/// The path of a CORDRA identifier: 32 hex digits, printed in uppercase.
///
/// ```
/// use handfast_id::Guid;
///
/// let guid: Guid = "f58fb49eb1f848f0a606e84cef294be5".parse()?;
/// assert_eq!(guid.to_string(), "F58FB49EB1F848F0A606E84CEF294BE5");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid([u8; 16]);

impl Guid {
    /// A UUID of version 4 (RFC 9562 §5.4) from 16 random bytes; six of their bits are overwritten.
    ///
    /// ```
    /// # use handfast_id::Guid;
    /// assert_eq!(Guid::v4([0xFF; 16]).to_string(), "FFFFFFFFFFFF4FFFBFFFFFFFFFFFFFFF");
    /// ```
    #[must_use]
    pub fn v4(random: [u8; 16]) -> Self {
        Self(random).with_version(4)
    }

    /// A UUID of version 1 (RFC 9562 §5.1) from a time, a clock sequence of 14 bits and a node.
    ///
    /// `time` is counted from the Unix epoch, in steps of 100 ns. Two calls with the same arguments
    /// give the same GUID: use [`TimeGuids`], which never repeats itself.
    ///
    /// ```
    /// # use handfast_id::Guid;
    /// use std::time::Duration;
    ///
    /// // RFC 9562, appendix A.1
    /// let time = Duration::new(1_645_557_742, 0);
    /// let guid = Guid::v1(time, 0x33C8, [0x9F, 0x6B, 0xDE, 0xCE, 0xD8, 0x46]);
    /// assert_eq!(guid.to_string(), "C232AB00941411ECB3C89F6BDECED846");
    /// ```
    #[must_use]
    pub fn v1(time: Duration, clock_sequence: u16, node: [u8; 6]) -> Self {
        Self::at_tick(ticks(time), clock_sequence, node)
    }

    /// The 16 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    fn at_tick(ticks: u64, clock_sequence: u16, node: [u8; 6]) -> Self {
        let [t7, t6, t5, t4, t3, t2, t1, t0] = ticks.to_be_bytes();
        let [c1, c0] = clock_sequence.to_be_bytes();
        let [n0, n1, n2, n3, n4, n5] = node;
        // time_low, time_mid, time_high, clock_seq, node
        Self([
            t3, t2, t1, t0, t5, t4, t7, t6, c1, c0, n0, n1, n2, n3, n4, n5,
        ])
        .with_version(1)
    }

    /// RFC 9562 §4.1 and §4.2: the version stands in the high half of octet 6, the variant `10` in
    /// the two high bits of octet 8.
    fn with_version(mut self, version: u8) -> Self {
        let [_, _, _, _, _, _, octet_6, _, octet_8, ..] = &mut self.0;
        *octet_6 = *octet_6 & 0x0F | version << 4;
        *octet_8 = *octet_8 & 0x3F | 0x80;
        self
    }

    /// Checks that `text` is 32 hex digits.
    pub(crate) fn check(text: &str) -> Result<(), ParseError> {
        const DIGITS: usize = 32;
        let wrong = text
            .char_indices()
            .take(DIGITS)
            .find(|(_, c)| !c.is_ascii_hexdigit());
        if let Some((at, found)) = wrong {
            return Err(ParseError::character(Part::Guid, at, Some(found)));
        }
        if text.len() != DIGITS {
            let at = text.len().min(DIGITS);
            return Err(ErrorKind::GuidLength.at(Part::Guid, at));
        }
        Ok(())
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl FromStr for Guid {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::check(text)?;
        let value =
            u128::from_str_radix(text, 16).map_err(|_| ErrorKind::GuidLength.at(Part::Guid, 0))?;
        Ok(Self(value.to_be_bytes()))
    }
}

/// A source of version 1 GUIDs that never gives the same one twice.
///
/// Within one tick of 100 ns it runs ahead of the clock; when the clock was set back it uses
/// another clock sequence (RFC 9562 §6.1). Start it with a random clock sequence, and a unique
/// node: a network address, or a random one from [`random_node`](Self::random_node).
///
/// ```
/// use handfast_id::TimeGuids;
/// use std::time::Duration;
///
/// let mut guids = TimeGuids::new(TimeGuids::random_node([7; 6]), 0x1234);
/// let now = Duration::from_secs(1_800_000_000);
/// assert_ne!(guids.next(now), guids.next(now));
/// ```
#[derive(Clone, Debug)]
pub struct TimeGuids {
    node: [u8; 6],
    clock_sequence: u16,
    last_seen: u64,
    last_given: u64,
}

impl TimeGuids {
    /// A source for one node.
    #[must_use]
    pub fn new(node: [u8; 6], clock_sequence: u16) -> Self {
        Self {
            node,
            clock_sequence,
            last_seen: 0,
            last_given: 0,
        }
    }

    /// A node identifier from random bytes, marked so that it is no network card's (RFC 9562
    /// §6.10).
    #[must_use]
    pub fn random_node(random: [u8; 6]) -> [u8; 6] {
        let mut node = random;
        let [first, ..] = &mut node;
        *first |= 0x01;
        node
    }

    /// The next GUID, at `now` since the Unix epoch.
    pub fn next(&mut self, now: Duration) -> Guid {
        let now = ticks(now);
        if now < self.last_seen {
            self.clock_sequence = self.clock_sequence.wrapping_add(1);
            self.last_given = 0;
        }
        self.last_seen = now;
        self.last_given = now.max(self.last_given + 1);
        Guid::at_tick(self.last_given, self.clock_sequence, self.node)
    }
}

/// Steps of 100 ns since 15 October 1582, when the Gregorian calendar began.
fn ticks(since_unix_epoch: Duration) -> u64 {
    const UNIX_EPOCH: u128 = 0x01B2_1DD2_1381_4000;
    let ticks = UNIX_EPOCH + since_unix_epoch.as_nanos() / 100;
    u64::try_from(ticks & 0x0FFF_FFFF_FFFF_FFFF).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn cid_4_version_and_variant_bits() {
        let guid = Guid::v4([0; 16]);
        assert_eq!(guid.to_string(), "00000000000040008000000000000000");
        let guid = Guid::v1(Duration::ZERO, 0xFFFF, [1, 2, 3, 4, 5, 6]);
        assert_eq!(
            guid.to_string(),
            "13814000 1DD2 11B2 BFFF 010203040506".replace(' ', "")
        );
    }

    #[test]
    fn cid_4_time_guids_never_repeat() {
        let mut guids = TimeGuids::new([0; 6], 0);
        let mut seen = BTreeSet::new();
        // A clock that stands still, then is set back by a second, then runs on.
        for nanos in (0..1_000)
            .map(|_| 5_000_000_000)
            .chain(4_000_000_000..4_000_002_000)
        {
            assert!(seen.insert(guids.next(Duration::from_nanos(nanos))));
        }
    }
}
