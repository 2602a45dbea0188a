//! Message headers.

use std::fmt;

use crate::field::wire_form;
use crate::opcode::{Opcode, ResponseCode};

/// The header between envelope and body (`handle-protocol.md` §2.1).
///
/// ```text
/// opcode u32 · response code u32 · op flags u32 · site serial u16 · recursion count u8 ·
/// reserved u8 · expiration u32 · body length u32
/// ```
///
/// ```
/// use handfast_wire::{Codec, Header, Opcode, OpFlags};
///
/// let header = Header::request(Opcode::Resolution, 1_700_043_200);
/// assert_eq!(header.flags, OpFlags::REC | OpFlags::CA | OpFlags::PO);
/// assert_eq!(Header::from_bytes(&header.to_bytes())?, header);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The operation; a reply echoes it.
    pub opcode: Opcode,
    /// The response code, as on the wire: see [`ResponseCode::received_in`]. 0 in requests.
    pub response_code: ResponseCode,
    /// How it is asked or answered.
    pub flags: OpFlags,
    /// The serial number of the site record that the client used, or of the server's own.
    pub site_serial: u16,
    /// How many servers have passed the request on.
    pub recursion_count: u8,
    /// 0. It is preserved because digests and signatures cover it.
    pub reserved: u8,
    /// Until when the message is valid, in seconds since 1970. Clients refuse replies that have
    /// expired, and 0 and all from 2³¹ on have.
    pub expiration: u32,
    /// How many bytes the body has.
    pub body_length: u32,
}

impl Header {
    /// How many bytes a header has.
    pub const LENGTH: usize = 24;
    /// How many seconds from now messages of the reference expire.
    pub const VALID_FOR: u32 = 43_200;
    /// The serial number when no site record is known.
    pub const NO_SITE: u16 = 0xFFFF;

    /// The header of a request: the usual flags, no site record, no body yet.
    #[must_use]
    pub fn request(opcode: Opcode, expiration: u32) -> Self {
        Self {
            opcode,
            response_code: ResponseCode::Reserved,
            flags: OpFlags::REQUEST,
            site_serial: Self::NO_SITE,
            recursion_count: 0,
            reserved: 0,
            expiration,
            body_length: 0,
        }
    }

    /// Whether this is the header of a reply.
    #[must_use]
    pub fn is_reply(&self) -> bool {
        self.response_code != ResponseCode::Reserved
    }
}

wire_form!(Header {
    opcode,
    response_code,
    flags,
    site_serial,
    recursion_count,
    reserved,
    expiration,
    body_length
});

/// The flags of a request or reply (`handle-protocol.md` §2.4). Bits without a name are preserved.
///
/// ```
/// use handfast_wire::OpFlags;
///
/// let flags = OpFlags::REQUEST.without(OpFlags::PO) | OpFlags::CT;
/// assert_eq!(flags.bits(), 0x5800_0000);
/// assert!(flags.contains(OpFlags::CT));
/// assert_eq!(flags.to_string(), "CT|REC|CA");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpFlags(u32);

impl OpFlags {
    /// None.
    pub const NONE: Self = Self(0);
    /// Authoritative: ask primary sites only; the reply is from one.
    pub const AT: Self = Self(0x8000_0000);
    /// Certify: the reply is to be signed.
    pub const CT: Self = Self(0x4000_0000);
    /// Encrypt: the reply is to be encrypted, in a session.
    pub const ENC: Self = Self(0x2000_0000);
    /// Recursive: the server may ask other servers.
    pub const REC: Self = Self(0x1000_0000);
    /// Cache-certify: a cache is to sign what it returns.
    pub const CA: Self = Self(0x0800_0000);
    /// Continued: more messages of this reply follow.
    pub const CN: Self = Self(0x0400_0000);
    /// Keep connection.
    pub const KC: Self = Self(0x0200_0000);
    /// Public only: only values that everybody may read.
    pub const PO: Self = Self(0x0100_0000);
    /// Request digest: the reply is to begin with it; the reply begins with it.
    pub const RD: Self = Self(0x0080_0000);
    /// Overwrite when exists; something was overwritten.
    pub const OWE: Self = Self(0x0040_0000);
    /// Mint new suffix.
    pub const MNS: Self = Self(0x0020_0000);
    /// Do not refer.
    pub const DNR: Self = Self(0x0010_0000);
    /// The default of requests: REC, CA and PO.
    pub const REQUEST: Self = Self(0x1900_0000);
    /// The flags that a reply copies from the request: CT, CA, AT, ENC, PO, DNR and RD.
    pub const COPIED: Self = Self(0xE990_0000);

    /// From the bits on the wire.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits on the wire.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `other` are in it.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of these is among `other`.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These, but none of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl std::ops::BitAnd for OpFlags {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::BitOr for OpFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The names, and in hex what has none; `0` for none.
impl fmt::Display for OpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0");
        }
        let (mut rest, mut separator) = (*self, "");
        for (flag, name) in NAMES {
            if self.contains(flag) {
                write!(f, "{separator}{name}")?;
                (rest, separator) = (rest.without(flag), "|");
            }
        }
        if rest == Self::NONE {
            return Ok(());
        }
        write!(f, "{separator}{:#010x}", rest.0)
    }
}

const NAMES: [(OpFlags, &str); 12] = [
    (OpFlags::AT, "AT"),
    (OpFlags::CT, "CT"),
    (OpFlags::ENC, "ENC"),
    (OpFlags::REC, "REC"),
    (OpFlags::CA, "CA"),
    (OpFlags::CN, "CN"),
    (OpFlags::KC, "KC"),
    (OpFlags::PO, "PO"),
    (OpFlags::RD, "RD"),
    (OpFlags::OWE, "OWE"),
    (OpFlags::MNS, "MNS"),
    (OpFlags::DNR, "DNR"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_without_a_name_survive_and_are_shown() {
        let flags = OpFlags::from_bits(0x8000_0001);
        assert_eq!(flags.to_string(), "AT|0x00000001");
        assert_eq!(OpFlags::NONE.to_string(), "0");
    }

    #[test]
    fn sets_of_flags_are_what_their_names_say() {
        type F = OpFlags;
        assert_eq!(F::REQUEST, F::REC | F::CA | F::PO);
        let copied = F::CT | F::CA | F::AT | F::ENC | F::PO | F::DNR | F::RD;
        assert_eq!(F::COPIED, copied);
    }
}
