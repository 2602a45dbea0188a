//! Evidence: the key with which a client has logged in. The key may be changed or removed
//! later.
//!
//! A session is as good as its key: when an administrator removes a stolen key, the server ends
//! the sessions that were opened with it.

use handfast_wire::{DigestAlgorithm, Value};

use crate::context::ServerContext;
use crate::error::Fault;

/// The longest time that a session lives, even if it is used, in milliseconds: a day. The server
/// does not learn when a remote key is removed.
pub(crate) const MAX_SESSION_AGE: u64 = 24 * 60 * 60_000;

/// A key of this server, which a client has proved to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    handle: String,
    index: u32,
    /// The digest of its type and data, which may be a secret.
    digest: Vec<u8>,
}

impl Evidence {
    fn of(handle: &str, value: &Value<'_>) -> Self {
        let parts = [value.value_type.as_bytes(), &[0], &value.data];
        Self {
            handle: handle.to_string(),
            index: value.index,
            digest: DigestAlgorithm::Sha256.digest(&parts),
        }
    }
}

impl ServerContext {
    /// The evidence of a key; `None` if the key is on a remote server.
    pub(crate) fn evidence(
        &self,
        handle: &str,
        value: &Value<'_>,
    ) -> Result<Option<Evidence>, Fault> {
        let evidence = Some(Evidence::of(handle, value));
        Ok(if self.holds(evidence.as_ref())? {
            evidence
        } else {
            None
        })
    }

    /// Whether a key still exists unchanged.
    pub(crate) fn holds(&self, evidence: Option<&Evidence>) -> Result<bool, Fault> {
        let Some(evidence) = evidence else {
            return Ok(true);
        };
        let values = self.values_of(&evidence.handle)?;
        let mut values = values.iter();
        let value = values.find(|value| value.index == evidence.index);
        Ok(value.is_some_and(|value| Evidence::of(&evidence.handle, value) == *evidence))
    }
}
