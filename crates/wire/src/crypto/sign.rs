//! Signing messages and answering challenges with a private key.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPairComponents, PublicKeyComponents};
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use zeroize::Zeroizing;

use super::CryptoError;
use super::number::{bits, power, trim};
use super::private_key::{PrivateKey, RsaFactors};
use crate::codec::put_bytes;
use crate::credential::{Credential, Framing};
use crate::digest::DigestAlgorithm;
use crate::public_key::PublicKey;
use crate::version::Version;

/// An RSA key that is ready to sign.
///
/// Keys of 2048 bits and more sign SHA-256 with aws-lc-rs. It makes no SHA-1 signatures, which
/// messages below 2.7 need, and takes no shorter keys, which old servers have: those are signed
/// here, more slowly, in constant time.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use handfast_wire::DigestAlgorithm;
/// use handfast_wire::crypto::{SigningKey, read_private_key, verify_signature};
///
/// # let file = [0; 4];
/// let key = SigningKey::new(read_private_key(&file, None)?)?;
/// let signature = key.sign(DigestAlgorithm::Sha256, b"message")?;
/// verify_signature(key.public_key().unwrap(), DigestAlgorithm::Sha256, b"message", &signature)?;
/// # Ok(()) }
/// ```
pub struct SigningKey {
    n: Vec<u8>,
    d: Zeroizing<Vec<u8>>,
    public: Option<PublicKey<'static>>,
    pair: Option<RsaKeyPair>,
}

impl SigningKey {
    /// Makes a key ready. DSA keys are refused.
    pub fn new(key: PrivateKey) -> Result<Self, CryptoError> {
        let public = key.public_key();
        let PrivateKey::Rsa { n, d, factors } = key else {
            return Err(CryptoError::VerifyOnly);
        };
        let bits = bits(&n);
        if !(1024..=8192).contains(&bits) {
            return Err(CryptoError::Key);
        }
        let pair = match &factors {
            Some(factors) if bits >= 2048 => Some(pair(&n, &d, factors)?),
            _ => None,
        };
        Ok(Self {
            n: trim(&n).to_vec(),
            d,
            public,
            pair,
        })
    }

    /// The public key, if the private key tells it.
    #[must_use]
    pub fn public_key(&self) -> Option<&PublicKey<'static>> {
        self.public.as_ref()
    }

    /// The private key in the form that TLS libraries read, if it has 2048 bits and more and tells
    /// its factors.
    #[must_use]
    pub fn to_pkcs8(&self) -> Option<Zeroizing<Vec<u8>>> {
        let der: Pkcs8V1Der<'static> = self.pair.as_ref()?.as_der().ok()?;
        Some(Zeroizing::new(der.as_ref().to_vec()))
    }

    /// A signature by RSA, PKCS #1 v1.5.
    pub fn sign(&self, algorithm: DigestAlgorithm, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match (&self.pair, algorithm) {
            (Some(pair), DigestAlgorithm::Sha256) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                // PKCS #1 v1.5 takes no chance; the argument is unused.
                let random = SystemRandom::new();
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(|_| CryptoError::Key)?;
                Ok(signature)
            }
            _ => self.sign_here(algorithm, message),
        }
    }

    fn sign_here(
        &self,
        algorithm: DigestAlgorithm,
        message: &[u8],
    ) -> Result<Vec<u8>, CryptoError> {
        let encoded = encode_pkcs1(algorithm, message, self.n.len()).ok_or(CryptoError::Key)?;
        let signature = power(&encoded, &self.d, &self.n)?.to_vec();
        // A signature that was computed wrongly may give the key away.
        if let Some(PublicKey::Rsa { e, .. }) = &self.public {
            let back = power(&signature, trim(e), &self.n)?;
            if *back != encoded {
                return Err(CryptoError::Key);
            }
        }
        Ok(signature)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(RSA, {} bits)", bits(&self.n))
    }
}

/// Signs a message: an `HS_SIGNED` credential over `message`, which is header and body
/// (`handle-protocol.md` §4.3, §4.4). Outside of sessions the counter is 0.
///
/// ```no_run
/// # use handfast_wire::crypto::{CryptoError, SigningKey};
/// # fn f(key: &SigningKey) -> Result<(), CryptoError> {
/// use handfast_wire::crypto::sign_message;
/// use handfast_wire::{Envelope, Framing, Version};
///
/// let framing = Framing::of(&Envelope::new(Version::CURRENT));
/// let credential = sign_message(key, &framing, b"header and body")?;
/// assert!(credential.is_signed());
/// # Ok(()) }
/// ```
pub fn sign_message(
    key: &SigningKey,
    framing: &Framing,
    message: &[u8],
) -> Result<Credential<'static>, CryptoError> {
    let algorithm = certified_algorithm(framing.version, false);
    let signature = key.sign(algorithm, &framing.covered(0, message))?;
    Ok(Credential::new(
        Credential::SIGNED,
        0,
        algorithm.name(),
        signature,
    ))
}

/// By what a server signs, and a client answers a challenge (`handle-protocol.md` §4.2, §7.2):
/// "reply version ≥ 2.11 → SHA-256; 2.7 ≤ v < 2.11 → SHA-256 if the server key is RSA, SHA-1 if
/// DSA; below 2.7 → SHA-1".
///
/// ```
/// use handfast_wire::crypto::certified_algorithm;
/// use handfast_wire::{DigestAlgorithm, Version};
///
/// let version = Version::new(2, 7);
/// assert_eq!(certified_algorithm(version, true), DigestAlgorithm::Sha1);
/// assert_eq!(certified_algorithm(version, false), DigestAlgorithm::Sha256);
/// ```
#[must_use]
pub fn certified_algorithm(version: Version, is_dsa: bool) -> DigestAlgorithm {
    let since = if is_dsa { 11 } else { 7 };
    if version >= Version::new(2, since) {
        DigestAlgorithm::Sha256
    } else {
        DigestAlgorithm::Sha1
    }
}

/// The answer to a challenge with a private key: hash name and signature over nonce and request
/// digest (`handle-protocol.md` §7.2). `version` is that of the challenge.
///
/// ```no_run
/// # use handfast_wire::crypto::{CryptoError, SigningKey};
/// # fn f(key: &SigningKey) -> Result<(), CryptoError> {
/// use handfast_wire::Version;
/// use handfast_wire::crypto::answer_with_key;
///
/// let response = answer_with_key(key, Version::CURRENT, &[7; 16], &[9; 32])?;
/// # Ok(()) }
/// ```
pub fn answer_with_key(
    key: &SigningKey,
    version: Version,
    nonce: &[u8],
    digest: &[u8],
) -> Result<Vec<u8>, CryptoError> {
    let algorithm = certified_algorithm(version, false);
    let signature = key.sign(algorithm, &[nonce, digest].concat())?;
    let mut out = Vec::new();
    put_bytes(&mut out, algorithm.name().as_bytes());
    put_bytes(&mut out, &signature);
    Ok(out)
}

fn pair(n: &[u8], d: &[u8], factors: &RsaFactors) -> Result<RsaKeyPair, CryptoError> {
    let components = KeyPairComponents {
        public_key: PublicKeyComponents {
            n: trim(n),
            e: trim(&factors.e),
        },
        d,
        p: &factors.p,
        q: &factors.q,
        dP: &factors.d_p,
        dQ: &factors.d_q,
        qInv: &factors.q_inverse,
    };
    RsaKeyPair::from_components(&components).map_err(|_| CryptoError::Key)
}

/// RFC 8017 §9.2: "EM = 0x00 || 0x01 || PS || 0x00 || T", with PS of at least eight octets.
pub(super) fn encode_pkcs1(
    algorithm: DigestAlgorithm,
    message: &[u8],
    length: usize,
) -> Option<Vec<u8>> {
    let prefix = match algorithm {
        DigestAlgorithm::Md5 => MD5_PREFIX,
        DigestAlgorithm::Sha1 => SHA1_PREFIX,
        DigestAlgorithm::Sha256 => SHA256_PREFIX,
    };
    let digest = algorithm.digest(&[message]);
    let padding = length.checked_sub(prefix.len() + digest.len() + 3)?;
    let padding = vec![0xFF; (padding >= 8).then_some(padding)?];
    Some([&[0, 1], padding.as_slice(), &[0], prefix, &digest].concat())
}

/// RFC 8017 §9.2, note 1.
const MD5_PREFIX: &[u8] =
    b"\x30\x20\x30\x0c\x06\x08\x2a\x86\x48\x86\xf7\x0d\x02\x05\x05\x00\x04\x10";
const SHA1_PREFIX: &[u8] = b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14";
const SHA256_PREFIX: &[u8] =
    b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
