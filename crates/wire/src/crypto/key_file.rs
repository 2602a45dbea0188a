//! Private key files: `privkey.bin`, `admpriv.bin`, `replpriv.bin`.
//!
//! Public key files are the bare encoding: [`PublicKey::from_bytes`](crate::Codec::from_bytes)
//! reads them.

use std::fmt;

use zeroize::Zeroizing;

use super::CryptoError;
use super::old::{OldCipher, md5};
use super::private_key::PrivateKey;
use super::secret::derive;
use super::session::{decrypt_aes, encrypt_aes};
use crate::codec::{DecodeError, Reader, put_bytes, put_u32};

/// With what a key file is encrypted.
///
/// ```
/// use handfast_wire::crypto::Protection;
///
/// let protection = Protection { passphrase: b"secret", salt: [1; 16], iv: [2; 16] };
/// assert!(!format!("{protection:?}").contains("115"));
/// ```
#[derive(Clone, Copy)]
pub struct Protection<'a> {
    /// The passphrase, in UTF-8.
    pub passphrase: &'a [u8],
    /// Random.
    pub salt: [u8; 16],
    /// Random.
    pub iv: [u8; 16],
}

impl fmt::Debug for Protection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protection(..)")
    }
}

/// Whether a key file needs a passphrase to be read.
///
/// ```
/// use handfast_wire::crypto::is_encrypted;
///
/// assert!(!is_encrypted(&[0, 0, 0, 1]));
/// assert!(is_encrypted(&[0, 0, 0, 4]));
/// ```
#[must_use]
pub fn is_encrypted(file: &[u8]) -> bool {
    matches!(file, [0, 0, 0, 0 | 2 | 3 | 4, ..])
}

/// Reads a private key file (`handle-protocol.md` §6.8), in any of its five schemes.
///
/// ```
/// use handfast_wire::crypto::{KeyFileError, read_private_key};
///
/// assert_eq!(read_private_key(&[0, 0, 0, 4], None).err(), Some(KeyFileError::NoPassphrase));
/// ```
pub fn read_private_key(
    file: &[u8],
    passphrase: Option<&[u8]>,
) -> Result<PrivateKey, KeyFileError> {
    let mut reader = Reader::new(file);
    let scheme = reader.u32()?;
    if scheme == PLAIN {
        return Ok(PrivateKey::from_plain(reader.rest())?);
    }
    if !is_encrypted(file) {
        return Err(KeyFileError::Scheme(scheme));
    }
    let passphrase = passphrase.ok_or(KeyFileError::NoPassphrase)?;
    let plain = match scheme {
        DES_ECB => des(passphrase)?.decrypt(None, reader.rest()),
        DES_CBC => {
            let iv = reader.array()?;
            des(passphrase)?.decrypt(Some(iv), reader.rest())
        }
        _ => decrypt_derived(scheme, &mut reader, passphrase)?,
    };
    // With a wrong passphrase, padding is right by chance in one of 256 cases; the key then makes
    // no sense.
    let plain = plain.map_err(|_| KeyFileError::WrongPassphrase)?;
    PrivateKey::from_plain(&plain).map_err(|_| KeyFileError::WrongPassphrase)
}

/// Writes a private key file: with a passphrase as scheme 4, which is the default of deployed
/// software, else as scheme 1.
///
/// ```
/// use handfast_wire::crypto::{KeyFileError, PrivateKey, Protection};
/// use handfast_wire::crypto::{read_private_key, write_private_key};
///
/// let key = PrivateKey::from_plain(b"\0\0\0\x0CRSA_PRIV_KEY\0\0\0\x01\x23\0\0\0\x01\x05")?;
/// let protection = Protection { passphrase: b"secret", salt: [1; 16], iv: [2; 16] };
/// let file = write_private_key(&key, Some(&protection))?;
/// assert!(read_private_key(&file, Some(b"secret")).is_ok());
/// assert_eq!(read_private_key(&file, Some(b"guess")).err(), Some(KeyFileError::WrongPassphrase));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn write_private_key(
    key: &PrivateKey,
    protection: Option<&Protection<'_>>,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let plain = key.to_plain();
    let mut out = Zeroizing::new(Vec::with_capacity(plain.len().saturating_add(128)));
    let Some(Protection {
        passphrase,
        salt,
        iv,
    }) = protection
    else {
        put_u32(&mut out, PLAIN);
        out.extend_from_slice(&plain);
        return Ok(out);
    };
    let unusable = |_| KeyFileError::Parameter;
    let key = derive(passphrase, salt, ITERATIONS, 16).map_err(unusable)?;
    put_u32(&mut out, AES);
    put_bytes(&mut out, salt);
    put_u32(&mut out, ITERATIONS);
    put_u32(&mut out, 128);
    put_bytes(&mut out, iv);
    put_bytes(&mut out, &encrypt_aes(&key, iv, &plain).map_err(unusable)?);
    Ok(out)
}

/// Schemes 3 and 4.
fn decrypt_derived(
    scheme: u32,
    reader: &mut Reader<'_>,
    passphrase: &[u8],
) -> Result<Result<Zeroizing<Vec<u8>>, CryptoError>, KeyFileError> {
    let (salt, iterations, bits) = (reader.bytes()?, reader.u32()?, reader.u32()?);
    let (iv, cipher) = (reader.bytes()?, reader.bytes()?);
    reader.finish()?;
    let expected = if scheme == AES { 128 } else { 192 };
    if bits != expected || !(1..=MAX_ITERATIONS).contains(&iterations) {
        return Err(KeyFileError::Parameter);
    }
    let unusable = |_| KeyFileError::Parameter;
    let key = derive(passphrase, salt, iterations, bits / 8).map_err(unusable)?;
    Ok(if scheme == AES {
        let iv = iv.try_into().map_err(|_| KeyFileError::Parameter)?;
        decrypt_aes(&key, iv, cipher)
    } else {
        let iv = iv.try_into().map_err(|_| KeyFileError::Parameter)?;
        OldCipher::new(&key).and_then(|des| des.decrypt(Some(iv), cipher))
    })
}

/// Schemes 0 and 2: "first 8 octets of MD5(passphrase)".
fn des(passphrase: &[u8]) -> Result<OldCipher, KeyFileError> {
    let hash = Zeroizing::new(md5(&[passphrase]));
    let key = hash.get(..8).unwrap_or_default();
    OldCipher::new(key).map_err(|_| KeyFileError::Parameter)
}

/// Why a private key file cannot be read or written.
///
/// ```
/// use handfast_wire::crypto::KeyFileError;
///
/// let text = KeyFileError::Scheme(9).to_string();
/// assert_eq!(text, "the encryption scheme 9 of the key file is not known");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The bytes are not those of a key file.
    #[error("this is no private key file: {0}")]
    Decode(DecodeError),
    /// The file is encrypted.
    #[error("the key file is encrypted, and needs its passphrase")]
    NoPassphrase,
    /// Parameters of the encryption that make no sense, or ask for too much work.
    #[error("the encryption of the key file has unusable parameters")]
    Parameter,
    /// A scheme that is not known.
    #[error("the encryption scheme {0} of the key file is not known")]
    Scheme(u32),
    /// The passphrase is wrong, or the file is damaged.
    #[error("the passphrase of the key file is wrong, or the file is damaged")]
    WrongPassphrase,
}

impl From<DecodeError> for KeyFileError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

const DES_ECB: u32 = 0;
const PLAIN: u32 = 1;
const DES_CBC: u32 = 2;
const AES: u32 = 4;

/// The number of iterations that deployed software writes.
const ITERATIONS: u32 = 10_000;
/// About a second of work.
const MAX_ITERATIONS: u32 = 2_000_000;
