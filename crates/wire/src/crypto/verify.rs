//! Verifying signatures with a public key.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
};
use dsa::signature::hazmat::PrehashVerifier;
use dsa::{Components, Signature, VerifyingKey};

use super::CryptoError;
use super::number::{bits, boxed, is_within, power, trim};
use super::sign::encode_pkcs1;
use crate::codec::Reader;
use crate::credential::{Credential, Framing};
use crate::digest::DigestAlgorithm;
use crate::public_key::PublicKey;

/// Verifies the signature of a message, which is header and body (`handle-protocol.md` §4.3): that
/// of a certified reply with the key of the server.
///
/// ```
/// use handfast_wire::crypto::{CryptoError, verify_message};
/// use handfast_wire::{Credential, Envelope, Framing, PublicKey, Version};
///
/// let framing = Framing::of(&Envelope::new(Version::CURRENT));
/// let key = PublicKey::Rsa { e: vec![3].into(), n: vec![7].into() };
/// let mac = Credential::new("HS_MAC", 1, "HMAC-SHA256", vec![0; 32]);
/// assert_eq!(verify_message(&mac, &key, &framing, b"message"), Err(CryptoError::Mismatch));
/// ```
pub fn verify_message(
    credential: &Credential<'_>,
    key: &PublicKey<'_>,
    framing: &Framing,
    message: &[u8],
) -> Result<(), CryptoError> {
    if !credential.is_signed() {
        return Err(CryptoError::Mismatch);
    }
    let algorithm = DigestAlgorithm::from_name(&credential.algorithm);
    let algorithm = algorithm.ok_or(CryptoError::Algorithm)?;
    let covered = framing.covered(credential.counter(), message);
    verify_signature(key, algorithm, &covered, &credential.signature)
}

/// Verifies an answer to a challenge: hash name and signature over nonce and request digest
/// (`handle-protocol.md` §7.2).
///
/// ```
/// use handfast_wire::PublicKey;
/// use handfast_wire::crypto::verify_key_answer;
///
/// let key = PublicKey::Rsa { e: vec![3].into(), n: vec![7].into() };
/// assert!(verify_key_answer(&key, &[7; 16], &[9; 32], b"").is_err());
/// ```
pub fn verify_key_answer(
    key: &PublicKey<'_>,
    nonce: &[u8],
    digest: &[u8],
    response: &[u8],
) -> Result<(), CryptoError> {
    let mut reader = Reader::new(response);
    let algorithm = DigestAlgorithm::from_name(reader.bytes()?).ok_or(CryptoError::Algorithm)?;
    let signature = reader.bytes()?;
    verify_signature(key, algorithm, &[nonce, digest].concat(), signature)
}

/// Verifies a signature. "The key type decides RSA/DSA" (`handle-protocol.md` §4.2).
///
/// ```
/// use handfast_wire::crypto::{CryptoError, verify_signature};
/// use handfast_wire::{DigestAlgorithm, PublicKey};
///
/// // A key that is far too small.
/// let key = PublicKey::Rsa { e: vec![3].into(), n: vec![7].into() };
/// let verified = verify_signature(&key, DigestAlgorithm::Sha256, b"message", &[1]);
/// assert_eq!(verified, Err(CryptoError::Key));
/// ```
pub fn verify_signature(
    key: &PublicKey<'_>,
    algorithm: DigestAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), CryptoError> {
    match key {
        PublicKey::Rsa { e, n } => verify_rsa(trim(e), trim(n), algorithm, message, signature),
        PublicKey::Dsa { q, p, g, y } => verify_dsa(
            [p, q, g, y].map(|number| trim(number)),
            algorithm,
            message,
            signature,
        ),
        PublicKey::Dh { .. } | PublicKey::Unknown { .. } => Err(CryptoError::Key),
    }
}

fn verify_rsa(
    e: &[u8],
    n: &[u8],
    algorithm: DigestAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), CryptoError> {
    if !(1024..=8192).contains(&bits(n)) || !(2..=33).contains(&bits(e)) {
        return Err(CryptoError::Key);
    }
    let parameters = match algorithm {
        DigestAlgorithm::Md5 => {
            // aws-lc-rs does not verify MD5.
            let encoded = encode_pkcs1(algorithm, message, n.len()).ok_or(CryptoError::Key)?;
            let is_right = signature.len() == n.len() && *power(signature, e, n)? == encoded;
            return is_right.then_some(()).ok_or(CryptoError::Mismatch);
        }
        DigestAlgorithm::Sha1 => &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        DigestAlgorithm::Sha256 => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    };
    PublicKeyComponents { n, e }
        .verify(parameters, message, signature)
        .map_err(|_| CryptoError::Mismatch)
}

/// The key is checked before the library sees it, which takes much on trust.
fn verify_dsa(
    [p, q, g, y]: [&[u8]; 4],
    algorithm: DigestAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), CryptoError> {
    let is_odd = |number: &[u8]| number.last().is_some_and(|last| last % 2 == 1);
    let has_size = matches!(
        (bits(p), bits(q)),
        (1024, 160) | (2048, 224) | (2048 | 3072, 256)
    );
    if !has_size || !is_odd(p) || !is_odd(q) || !is_within(g, p) || !is_within(y, p) {
        return Err(CryptoError::Key);
    }
    let components = Components::from_components(boxed(p, p)?, boxed(q, q)?, boxed(g, p)?);
    let components = components.map_err(|_| CryptoError::Key)?;
    let key = VerifyingKey::from_components(components, boxed(y, p)?);
    let key = key.map_err(|_| CryptoError::Key)?;
    let signature = Signature::try_from(signature).map_err(|_| CryptoError::Mismatch)?;
    key.verify_prehash(&algorithm.digest(&[message]), &signature)
        .map_err(|_| CryptoError::Mismatch)
}
