//! Setting up sessions.

use std::borrow::Cow;

use super::Body;
use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_u32};
use crate::field::wire_form;
use crate::reference::Reference;
use crate::version::Version;

/// A session is asked for (`handle-protocol.md` §3.8).
///
/// ```
/// use handfast_wire::Reference;
/// use handfast_wire::body::{KeyExchange, SessionSetup};
///
/// let setup = SessionSetup {
///     key_exchange: KeyExchange::DiffieHellman { public_key: vec![].into() },
///     timeout: SessionSetup::TIMEOUT,
///     identity: SessionSetup::ANONYMOUS,
/// };
/// assert!(setup.is_anonymous());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSetup<'a> {
    /// How the two sides come to a key.
    pub key_exchange: KeyExchange<'a>,
    /// After how many seconds without a message the session ends.
    pub timeout: u32,
    /// The key that the client claims to have.
    pub identity: Reference<'a>,
}

impl SessionSetup<'_> {
    /// The anonymous identity.
    pub const ANONYMOUS: Reference<'static> = Reference {
        handle: Cow::Borrowed(""),
        index: 0xFFFF_FFFF,
    };
    /// A day: what the reference asks for.
    pub const TIMEOUT: u32 = 86_400;

    /// Whether the client is anonymous.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.identity.handle.is_empty() || self.identity.index == Self::ANONYMOUS.index
    }
}

/// How the two sides of a session come to a key. Only Diffie–Hellman works with deployed software.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyExchange<'a> {
    /// Mode 1: the server encrypts the key with the client's RSA key.
    ClientKey {
        /// As in `HS_PUBKEY`.
        public_key: Cow<'a, [u8]>,
    },
    /// Mode 2: the client encrypts the key with the server's RSA key.
    ServerKey,
    /// Mode 3: the server encrypts the key with an RSA key that a handle has.
    HandleKey {
        /// Where it stands.
        key: Reference<'a>,
    },
    /// Mode 4.
    DiffieHellman {
        /// As in `HS_PUBKEY`.
        public_key: Cow<'a, [u8]>,
    },
    /// A mode that is not known here, with all that follows the identity.
    Unknown {
        /// The mode.
        mode: u16,
        /// The rest of the body.
        rest: Cow<'a, [u8]>,
    },
}

impl KeyExchange<'_> {
    /// The number on the wire.
    #[must_use]
    pub fn mode(&self) -> u16 {
        match self {
            Self::ClientKey { .. } => 1,
            Self::ServerKey => 2,
            Self::HandleKey { .. } => 3,
            Self::DiffieHellman { .. } => 4,
            Self::Unknown { mode, .. } => *mode,
        }
    }
}

impl<'a> Codec<'a> for SessionSetup<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key_exchange.mode().to_be_bytes());
        put_u32(out, self.timeout);
        self.identity.encode(out);
        match &self.key_exchange {
            KeyExchange::ClientKey { public_key } | KeyExchange::DiffieHellman { public_key } => {
                put_bytes(out, public_key);
            }
            KeyExchange::ServerKey => {}
            KeyExchange::HandleKey { key } => key.encode(out),
            KeyExchange::Unknown { rest, .. } => {
                out.extend_from_slice(rest);
                return;
            }
        }
        out.extend_from_slice(&SURPLUS);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mode = reader.u16()?;
        let timeout = reader.u32()?;
        let identity = Reference::decode(reader)?;
        let key_exchange = match mode {
            1 => KeyExchange::ClientKey {
                public_key: reader.bytes()?.into(),
            },
            2 => KeyExchange::ServerKey,
            3 => KeyExchange::HandleKey {
                key: Reference::decode(reader)?,
            },
            4 => KeyExchange::DiffieHellman {
                public_key: reader.bytes()?.into(),
            },
            _ => KeyExchange::Unknown {
                mode,
                rest: reader.take(reader.rest().len())?.into(),
            },
        };
        skip_surplus(reader)?;
        Ok(Self {
            key_exchange,
            timeout,
            identity,
        })
    }
}

/// The server's part of a session key (`handle-protocol.md` §3.8). The id of the session is in the
/// envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSetupReply<'a> {
    /// The mode of the request.
    pub mode: u16,
    /// In mode 4 a [`DhOffer`], in modes 1 and 3 the encrypted key, in mode 2 the server's public
    /// key.
    pub data: Cow<'a, [u8]>,
}

impl<'a> Codec<'a> for SessionSetupReply<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.mode.to_be_bytes());
        put_bytes(out, &self.data);
        out.extend_from_slice(&SURPLUS);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mode = reader.u16()?;
        let data = reader.bytes()?.into();
        skip_surplus(reader)?;
        Ok(Self { mode, data })
    }
}

/// The data of a [`SessionSetupReply`] in mode 4, in the layout of the reply's version: "`u32
/// algorithm` followed immediately by the server's DH public key (…). Below 2.4 the key only", for
/// DES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DhOffer<'a> {
    /// 1 DES, 2 `DESede`, 3 AES.
    pub algorithm: u32,
    /// As in `HS_PUBKEY`.
    pub public_key: Cow<'a, [u8]>,
}

impl<'a> Body<'a> for DhOffer<'a> {
    fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version >= ALGORITHM_IS_NAMED {
            put_u32(out, self.algorithm);
        }
        out.extend_from_slice(&self.public_key);
    }

    fn read(version: Version, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let algorithm = if version >= ALGORITHM_IS_NAMED {
            reader.u32()?
        } else {
            DES
        };
        Ok(Self {
            algorithm,
            public_key: reader.take(reader.rest().len())?.into(),
        })
    }
}

/// The key of a session that was set up in mode 2, encrypted with the server's key
/// (`handle-protocol.md` §3.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedSessionKey<'a> {
    /// The ciphertext.
    pub encrypted: Cow<'a, [u8]>,
}

wire_form!(EncryptedSessionKey<'a> { encrypted });

/// "The two trailing zero octets are always present from the reference; they are not required by
/// it."
fn skip_surplus(reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    if reader.rest() == SURPLUS {
        reader.u16()?;
    }
    Ok(())
}

const SURPLUS: [u8; 2] = [0, 0];
const ALGORITHM_IS_NAMED: Version = Version::new(2, 4);
const DES: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surplus_may_be_missing() {
        let setup = SessionSetup {
            key_exchange: KeyExchange::ServerKey,
            timeout: 1,
            identity: SessionSetup::ANONYMOUS,
        };
        let bytes = setup.to_bytes();
        assert_eq!(SessionSetup::from_bytes(&bytes).as_ref(), Ok(&setup));
        let shorter = &bytes[..bytes.len() - 2];
        assert_eq!(SessionSetup::from_bytes(shorter), Ok(setup));
    }
}
