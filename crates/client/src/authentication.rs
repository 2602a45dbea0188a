//! Authentication: a challenge and its answer (`handle-protocol.md` §7).

use std::fmt;
use std::sync::Arc;

use handfast_wire::body::{Challenge, ChallengeAnswer};
use handfast_wire::crypto::{
    CryptoError, SecretAlgorithm, SigningKey, answer_with_key, answer_with_secret,
};
use handfast_wire::{Envelope, Reference};
use zeroize::Zeroizing;

use crate::error::ClientError;

/// An identity, and its key or secret.
///
/// ```
/// use handfast_client::Login;
///
/// let login = Login::with_secret("300:20.1000/admin", b"secret")?;
/// assert_eq!(format!("{login:?}"), "Login(300:20.1000/admin)");
/// # Ok::<_, handfast_client::ClientError>(())
/// ```
#[derive(Clone)]
pub struct Login {
    identity: Reference<'static>,
    proof: Proof,
}

#[derive(Clone)]
enum Proof {
    Key(Arc<SigningKey>),
    Secret(Arc<Zeroizing<Vec<u8>>>),
}

impl Login {
    /// `INDEX:HANDLE` of a value with a public key, and the private key.
    pub fn with_key(identity: &str, key: SigningKey) -> Result<Self, ClientError> {
        let proof = Proof::Key(Arc::new(key));
        parse(identity).map(|identity| Self { identity, proof })
    }

    /// `INDEX:HANDLE` of a value with a secret key, and the secret.
    pub fn with_secret(identity: &str, secret: &[u8]) -> Result<Self, ClientError> {
        let proof = Proof::Secret(Arc::new(Zeroizing::new(secret.to_vec())));
        parse(identity).map(|identity| Self { identity, proof })
    }

    /// The identity.
    #[must_use]
    pub fn identity(&self) -> &Reference<'static> {
        &self.identity
    }

    /// The answer to a challenge that came in this envelope. Secrets need random bytes.
    pub(crate) fn answer(
        &self,
        envelope: &Envelope,
        challenge: &Challenge<'_>,
        salt: &[u8; 16],
    ) -> Result<ChallengeAnswer<'static>, CryptoError> {
        let (nonce, digest) = (&challenge.nonce, challenge.digest.as_bytes());
        let (authentication_type, response) = match &self.proof {
            Proof::Key(key) => (
                "HS_PUBKEY",
                answer_with_key(key, envelope.version, nonce, digest)?,
            ),
            Proof::Secret(secret) => {
                // "v = the lower of the challenge's message version and its suggested version"
                let version = envelope.version.min(envelope.suggestion());
                let algorithm = SecretAlgorithm::for_version(version);
                (
                    "HS_SECKEY",
                    answer_with_secret(secret, algorithm, nonce, digest, salt)?,
                )
            }
        };
        Ok(ChallengeAnswer {
            authentication_type: authentication_type.into(),
            key: self.identity.clone(),
            response: response.into(),
        })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.identity)
    }
}

fn parse(identity: &str) -> Result<Reference<'static>, ClientError> {
    let wrong = || ClientError::Identity(identity.to_string());
    let (index, handle) = identity.split_once(':').ok_or_else(wrong)?;
    let index = index.parse().map_err(|_| wrong())?;
    if handle.is_empty() {
        return Err(wrong());
    }
    Ok(Reference::new(handle.to_string(), index))
}

#[cfg(test)]
mod tests {
    use handfast_wire::{RequestDigest, Version};

    use super::*;

    #[test]
    fn older_servers_are_answered_as_they_expect() {
        let login = Login::with_secret("300:20.1000/admin", b"secret").unwrap();
        let challenge = Challenge {
            digest: RequestDigest::Sha1([9; 20]),
            nonce: vec![7; 16].into(),
        };
        let octet = |version, suggested| {
            let envelope = Envelope {
                suggested,
                ..Envelope::new(version)
            };
            let answer = login.answer(&envelope, &challenge, &[1; 16]).unwrap();
            assert_eq!(answer.authentication_type, "HS_SECKEY");
            answer.response[0]
        };
        assert_eq!(octet(Version::CURRENT, Version::CURRENT), 0x22);
        assert_eq!(octet(Version::new(2, 6), Version::CURRENT), 0x02);
        // A server with an older verifier suggests a version that the verifier knows.
        assert_eq!(octet(Version::CURRENT, Version::new(2, 6)), 0x02);
    }

    #[test]
    fn an_identity_has_an_index_and_a_handle() {
        for wrong in ["", "300", "300:", "x:20.1000/admin", "-1:20.1000/admin"] {
            assert!(Login::with_secret(wrong, b"secret").is_err(), "{wrong}");
        }
    }
}
