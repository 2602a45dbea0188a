//! The data of an `HS_ADMIN` value: an administrator of a handle.

use std::fmt;

use crate::codec::{Codec, DecodeError, Reader};
use crate::reference::Reference;

/// An administrator and what they may do (`handle-protocol.md` §6.1).
///
/// ```
/// use handfast_wire::{Admin, AdminPermissions, Codec, Reference};
///
/// let admin = Admin {
///     permissions: AdminPermissions::ALL,
///     administrator: Reference::new("0.NA/20.500.12345", 200),
/// };
/// assert_eq!(admin.to_bytes()[..2], [0x0F, 0xFF]);
/// assert_eq!(Admin::from_bytes(&admin.to_bytes())?, admin);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin<'a> {
    /// The permissions.
    pub permissions: AdminPermissions,
    /// The key, or the group, that they are.
    pub administrator: Reference<'a>,
}

impl<'a> Codec<'a> for Admin<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.permissions.bits().to_be_bytes());
        self.administrator.encode(out);
    }

    /// Records of version 7.3 and earlier end in two zero bytes; nothing else may follow.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let permissions = AdminPermissions::from_bits(reader.u16()?);
        let administrator = Reference::decode(reader)?;
        if reader.rest() == [0, 0] {
            reader.u16()?;
        }
        Ok(Self {
            permissions,
            administrator,
        })
    }
}

/// The permissions of an administrator, as a set of bits.
///
/// ```
/// use handfast_wire::AdminPermissions as P;
///
/// let both = P::ADD_VALUE | P::ADD_ADMIN;
/// assert!(both.contains(P::ADD_ADMIN));
/// assert_eq!(both.to_string(), "001001000000");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AdminPermissions(u16);

impl AdminPermissions {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Create handles under the prefix.
    pub const ADD_HANDLE: Self = Self(0x0001);
    /// Delete this handle.
    pub const DELETE_HANDLE: Self = Self(0x0002);
    /// Create derived prefixes.
    pub const ADD_DERIVED_PREFIX: Self = Self(0x0004);
    /// Delete derived prefixes; never consulted.
    pub const DELETE_DERIVED_PREFIX: Self = Self(0x0008);
    /// Change values that are not `HS_ADMIN`.
    pub const MODIFY_VALUE: Self = Self(0x0010);
    /// Remove values that are not `HS_ADMIN`.
    pub const REMOVE_VALUE: Self = Self(0x0020);
    /// Add values that are not `HS_ADMIN`.
    pub const ADD_VALUE: Self = Self(0x0040);
    /// Change `HS_ADMIN` values.
    pub const MODIFY_ADMIN: Self = Self(0x0080);
    /// Remove `HS_ADMIN` values.
    pub const REMOVE_ADMIN: Self = Self(0x0100);
    /// Add `HS_ADMIN` values.
    pub const ADD_ADMIN: Self = Self(0x0200);
    /// Read values that the public may not.
    pub const READ_VALUE: Self = Self(0x0400);
    /// List the handles under the prefix.
    pub const LIST_HANDLES: Self = Self(0x0800);
    /// The twelve bits that deployed software knows.
    pub const ALL: Self = Self(0x0FFF);

    /// From the bits on the wire.
    #[must_use]
    pub fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The bits on the wire.
    #[must_use]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether all of `other` are in it.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for AdminPermissions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Twelve digits, the most significant bit first, as in JSON.
impl fmt::Display for AdminPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012b}", self.0 & 0x0FFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_record_ends_in_two_zeros_and_nothing_else_may_follow() {
        let admin = Admin {
            permissions: AdminPermissions::ALL,
            administrator: Reference::new("a/b", 1),
        };
        let mut bytes = admin.to_bytes();
        bytes.extend([0, 0]);
        assert_eq!(Admin::from_bytes(&bytes), Ok(admin));
        bytes.push(0);
        assert!(matches!(
            Admin::from_bytes(&bytes),
            Err(DecodeError::Trailing { .. })
        ));
    }
}
