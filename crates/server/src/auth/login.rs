//! Logging in: whether a client has the key of the identity that it claims.
//!
//! The server checks the proof before anything else: only a client that has logged in learns
//! what it may do, and whether the thing that it asks for exists. Everything that can be wrong
//! with a proof (an identity that does not exist, a key that is missing or of another type, a
//! wrong secret) has the same answer, 403 without a message.

use handfast_registry::{Principal, with_slash};
use handfast_wire::body::ChallengeAnswer;
use handfast_wire::crypto::{CryptoError, SecretAlgorithm, SecretAnswer, verify_key_answer};
use handfast_wire::{Codec, PublicKey, Reference, ResponseCode, Value, Version};

use crate::admission::expensive_work::{Busy, WorkPermit};
use crate::admission::peer::Peer;
use crate::auth::evidence::Evidence;
use crate::auth::failed_logins::{LoginAttempt, TooManyFailures};
use crate::auth::remote_servers::RemoteServers;
use crate::context::ServerContext;
use crate::error::Fault;

/// How many keys of a handle the server tries for an identity without an index.
const MAX_KEYS_TRIED: usize = 8;
/// How many iterations of PBKDF2 a request costs, with all keys that are tried: some 50
/// milliseconds.
const MAX_ITERATIONS_OF_REQUEST: u32 = 200_000;
/// The secret that is compared if an identity has none, so that it takes as long as if it had one.
const NO_SECRET: &[u8] = b"nobody has this secret";

/// A client that has logged in.
#[derive(Clone, Debug)]
pub(crate) struct Authenticated {
    pub(crate) who: Principal,
    /// The key that was used, if it is on this server.
    pub(crate) by: Option<Evidence>,
}

/// The proof in a login.
enum Proof<'a> {
    Key(&'a [u8]),
    Secret(SecretAnswer<'a>),
}

impl<'a> Proof<'a> {
    fn read(kind: &str, response: &'a [u8], minimum: Option<Version>) -> Result<Self, Fault> {
        match kind {
            "HS_PUBKEY" => Ok(Self::Key(response)),
            "HS_SECKEY" => Self::of_secret(response, minimum),
            _ => Err(Fault::plain(ResponseCode::InvalidCredential)),
        }
    }

    /// What is wrong with a proof itself is said before anything is looked up, so that it says
    /// nothing of anybody.
    fn of_secret(response: &'a [u8], minimum: Option<Version>) -> Result<Self, Fault> {
        let answer = SecretAnswer::read(response).map_err(|error| match error {
            CryptoError::Algorithm => Fault::plain(ResponseCode::AuthenticationError),
            _ => Fault::plain(ResponseCode::AuthenticationFailed),
        })?;
        // Clients that speak later versions do not use these.
        let last = match answer.algorithm() {
            SecretAlgorithm::Md5 => Some(Version::new(2, 0)),
            SecretAlgorithm::Sha1 => Some(Version::new(2, 6)),
            _ => None,
        };
        if let (Some(last), Some(minimum)) = (last, minimum)
            && last < minimum
        {
            let text = format!("this server takes no proofs of versions before {minimum}");
            return Err(Fault::new(ResponseCode::AuthenticationError, text));
        }
        Ok(Self::Secret(answer))
    }

    fn is_expensive(&self) -> bool {
        match self {
            Self::Key(_) => true,
            Self::Secret(answer) => answer.iterations() > 0,
        }
    }
}

/// Whether it takes a permit to look at an answer to a challenge, or to verify one for another
/// server.
pub(crate) fn is_expensive(kind: &str, response: &[u8]) -> bool {
    // A proof that cannot be read costs nothing.
    Proof::read(kind, response, None).is_ok_and(|proof| proof.is_expensive())
}

impl ServerContext {
    /// Whose answer to a challenge it is, if it is right. Wrong secrets are counted. The permit,
    /// which expensive proofs need, is given back as soon as the proof was looked at; without one,
    /// there has to be one now.
    pub(crate) fn log_in(
        &self,
        peer: Peer,
        answer: &ChallengeAnswer<'_>,
        (nonce, digest): (&[u8], &[u8]),
        permit: Option<WorkPermit>,
    ) -> Result<Authenticated, Fault> {
        let failed = || Fault::plain(ResponseCode::AuthenticationFailed);
        let kind = &*answer.authentication_type;
        let proof = Proof::read(kind, &answer.response, self.minimum_version)?;
        let (handle, index) = (&*answer.key.handle, answer.key.index);
        let (attempt, found) = match proof {
            Proof::Key(response) => {
                let key = self.find_key(&answer.key, (nonce, digest), response, permit)?;
                (None, key)
            }
            Proof::Secret(secret) => {
                let attempt = self.begin_login(peer, handle)?;
                let found = if let Some(remote) = self.remote_servers_for(handle)? {
                    drop(permit);
                    let response = &answer.response;
                    let is_right = remote.verifies(&answer.key, nonce, digest, response)?;
                    is_right.then_some((index, None))
                } else {
                    let values = self.values_of(handle)?;
                    let secrets = keys_at(&values, "HS_SECKEY", index);
                    let right = self.find_secret(secrets, &secret, (nonce, digest), permit)?;
                    // A secret without an index matches only references without one.
                    let by = right
                        .map(|value| self.evidence(handle, value))
                        .transpose()?;
                    by.map(|by| (index, by))
                };
                (Some(attempt), found)
            }
        };
        if let Some(attempt) = attempt {
            attempt.finish(found.is_some()).map_err(too_many)?;
        }
        let (index, by) = found.ok_or_else(failed)?;
        let who = Principal::parse(&format!("{index}:{handle}")).map_err(|_| failed())?;
        Ok(Authenticated { who, by })
    }

    /// The index of the public key that verifies a signature: that says which one it is.
    fn find_key(
        &self,
        key: &Reference<'_>,
        (nonce, digest): (&[u8], &[u8]),
        response: &[u8],
        mut permit: Option<WorkPermit>,
    ) -> Result<Option<(u32, Option<Evidence>)>, Fault> {
        if self.remote_servers_for(&key.handle)?.is_some() {
            // Another server may take its time; how many are asked at once is limited there.
            drop(permit.take());
        } else if permit.is_none() {
            permit = Some(self.permit_now()?);
        }
        let values = self.keys_of(key)?;
        let mut keys = keys_at(&values, "HS_PUBKEY", key.index);
        let right = keys.find(|value| {
            PublicKey::from_bytes(&value.data)
                .is_ok_and(|key| verify_key_answer(&key, nonce, digest, response).is_ok())
        });
        drop(permit);
        let Some(right) = right else {
            return Ok(None);
        };
        Ok(Some((right.index, self.evidence(&key.handle, right)?)))
    }

    /// The first secret that has made an answer, within the budget of one request.
    fn find_secret<'v>(
        &self,
        secrets: impl Iterator<Item = &'v Value<'static>>,
        answer: &SecretAnswer<'_>,
        (nonce, digest): (&[u8], &[u8]),
        permit: Option<WorkPermit>,
    ) -> Result<Option<&'v Value<'static>>, Fault> {
        let iterations = answer.iterations();
        let _permit = match permit {
            None if iterations > 0 => Some(self.permit_now()?),
            permit => permit,
        };
        let tries = MAX_ITERATIONS_OF_REQUEST.checked_div(iterations);
        let tries = tries.and_then(|tries| usize::try_from(tries).ok());
        let mut secrets = secrets.take(tries.unwrap_or(MAX_KEYS_TRIED)).peekable();
        if secrets.peek().is_none() {
            let _ = answer.verify(NO_SECRET, nonce, digest);
        }
        Ok(secrets.find(|secret| answer.verify(&secret.data, nonce, digest).is_ok()))
    }

    /// Whether a secret key of this server has made an answer to a challenge. Counts the attempt.
    pub(crate) fn verifies(
        &self,
        peer: Peer,
        key: &Reference<'_>,
        challenge: (&[u8], &[u8]),
        response: &[u8],
        permit: Option<WorkPermit>,
    ) -> Result<bool, Fault> {
        let attempt = self.begin_login(peer, &key.handle)?;
        let is_match = self.matches(key, challenge, response, permit)?;
        attempt.finish(is_match).map_err(too_many)?;
        Ok(is_match)
    }

    pub(crate) fn matches(
        &self,
        key: &Reference<'_>,
        challenge: (&[u8], &[u8]),
        response: &[u8],
        permit: Option<WorkPermit>,
    ) -> Result<bool, Fault> {
        let Ok(Proof::Secret(answer)) = Proof::of_secret(response, self.minimum_version) else {
            return Ok(false);
        };
        let record = self.registry.handle(&key.handle)?;
        let values = record.map(|record| record.values).unwrap_or_default();
        let secrets = keys_at(&values, "HS_SECKEY", key.index);
        Ok(self
            .find_secret(secrets, &answer, challenge, permit)?
            .is_some())
    }

    /// The values with the public keys of a handle, from this server or a remote one.
    pub(crate) fn keys_of(&self, key: &Reference<'_>) -> Result<Vec<Value<'static>>, Fault> {
        match self.remote_servers_for(&key.handle)? {
            Some(remote) => remote.keys(key),
            None => self.values_of(&key.handle),
        }
    }

    /// The remote servers to ask for the keys of a handle, if its prefix is not homed here.
    fn remote_servers_for(&self, handle: &str) -> Result<Option<&RemoteServers>, Fault> {
        let Some(remote) = &self.remote_servers else {
            return Ok(None);
        };
        let is_here =
            !self.values_of(handle)?.is_empty() || self.registry.is_responsible(handle)?;
        Ok((!is_here).then_some(remote))
    }

    /// A permit for expensive work, if there is one now: those who could wait have waited before
    /// they came here.
    pub(crate) fn permit_now(&self) -> Result<WorkPermit, Fault> {
        let logins = &self.admission.expensive_work.logins;
        logins.try_enter().map_err(|Busy| busy())
    }

    pub(crate) fn begin_login(&self, peer: Peer, handle: &str) -> Result<LoginAttempt<'_>, Fault> {
        let logins = &self.failed_logins;
        let begun = logins.begin(peer, &with_slash(handle), self.world.now());
        begun.map_err(too_many)
    }
}

/// The first keys of a type: at an index, or at all of them.
fn keys_at<'v>(
    values: &'v [Value<'static>],
    kind: &'static str,
    index: u32,
) -> impl Iterator<Item = &'v Value<'static>> {
    let is_meant = move |value: &&Value<'static>| {
        value.value_type == kind && (index == 0 || value.index == index)
    };
    values.iter().filter(is_meant).take(MAX_KEYS_TRIED)
}

pub(crate) fn too_many(TooManyFailures: TooManyFailures) -> Fault {
    let text = "too many attempts have failed: try again in a minute";
    Fault::new(ResponseCode::ServerTooBusy, text)
}

/// The error if there is no permit for expensive work.
pub(crate) fn busy() -> Fault {
    let text = "too many requests like this are under way: try again later";
    Fault::new(ResponseCode::ServerTooBusy, text)
}
