//! Permissions: who may read and write a value.

use std::fmt;
use std::str::FromStr;

/// The permissions of a value (`handle-protocol.md` §5). Other bits of the byte are dropped.
///
/// As text they are four digits, admin-read, admin-write, public-read, public-write.
///
/// ```
/// use handfast_wire::Permissions;
///
/// assert_eq!(Permissions::default().to_string(), "1110");
/// let secret: Permissions = "1100".parse().unwrap();
/// assert!(secret.admin_read() && !secret.public_read());
/// assert!("11".parse::<Permissions>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permissions(u8);

impl Permissions {
    /// `1110`: the default of values.
    pub const DEFAULT: Self = Self(0x0E);
    /// `1100`: for secrets.
    pub const SECRET: Self = Self(0x0C);

    /// From the byte on the wire.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Self(bits & 0x0F)
    }

    /// The byte on the wire.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Administrators may read it.
    #[must_use]
    pub fn admin_read(self) -> bool {
        self.0 & 0x08 != 0
    }

    /// Administrators may write it.
    #[must_use]
    pub fn admin_write(self) -> bool {
        self.0 & 0x04 != 0
    }

    /// Everybody may read it.
    #[must_use]
    pub fn public_read(self) -> bool {
        self.0 & 0x02 != 0
    }

    /// Everybody may write it.
    #[must_use]
    pub fn public_write(self) -> bool {
        self.0 & 0x01 != 0
    }
}

impl Default for Permissions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04b}", self.0)
    }
}

impl FromStr for Permissions {
    type Err = PermissionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bits = binary(text).filter(|_| text.len() == 4);
        let bits = bits.and_then(|bits| u8::try_from(bits).ok());
        bits.map(Self).ok_or(PermissionsError)
    }
}

/// Permissions that are not four digits.
///
/// ```
/// use handfast_wire::{Permissions, PermissionsError};
///
/// assert_eq!("rwrw".parse::<Permissions>(), Err(PermissionsError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "permissions are four digits, admin-read, admin-write, public-read, public-write: for example \
     1110"
)]
pub struct PermissionsError;

/// A number in binary digits, at least one and at most sixteen.
pub(crate) fn binary(digits: &str) -> Option<u16> {
    let is_binary = digits.bytes().all(|byte| matches!(byte, b'0' | b'1'));
    is_binary.then(|| u16::from_str_radix(digits, 2).ok())?
}
