//! Protocol versions.

use std::cmp::Ordering;
use std::fmt;

/// A version of the protocol (`handle-protocol.md` §1.3).
///
/// Versions compare by major and minor number, but for one: "a message whose major is 5 is an
/// ancient client and counts as older than 2.1".
///
/// ```
/// use handfast_wire::Version;
///
/// assert!(Version::new(2, 11) > Version::new(2, 7));
/// assert!(Version::new(5, 0) < Version::new(2, 1));
/// // A newer peer is answered in the newest version that is known here.
/// assert_eq!(Version::new(3, 0).negotiate(Version::CURRENT), Version::new(2, 11));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// The major number.
    pub major: u8,
    /// The minor number.
    pub minor: u8,
}

impl Version {
    /// 2.3: for a server of which only the address is known.
    pub const BLIND: Self = Self::new(2, 3);
    /// 2.11: the newest that is deployed.
    pub const CURRENT: Self = Self::new(2, 11);
    /// No version: an envelope that suggests none has it.
    pub const NONE: Self = Self::new(0, 0);

    /// A version.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// The version for a peer that suggests this one, if we know versions up to `own`: the older of
    /// the two.
    #[must_use]
    pub fn negotiate(self, own: Self) -> Self {
        self.min(own)
    }

    /// Whether it is older than 2.1: no request digests but in challenges, and those in a layout of
    /// their own.
    #[must_use]
    pub fn is_ancient(self) -> bool {
        self < Self::new(2, 1)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.major != 5, version.major, version.minor);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_5_is_older_than_all_but_itself() {
        let ordered = [
            (5, 0),
            (5, 1),
            (0, 0),
            (2, 0),
            (2, 1),
            (2, 11),
            (3, 0),
            (6, 0),
        ];
        let versions = ordered.map(|(major, minor)| Version::new(major, minor));
        assert!(versions.is_sorted());
        assert!(Version::new(5, 0).is_ancient());
        assert!(!Version::new(2, 1).is_ancient());
    }
}
