//! Requests to remote handle servers: for the keys of identities that are not registered on
//! this server (§7.2, §7.3), and for the records of delegated prefixes, for clients that are
//! too old to understand a referral (§8.6).

use std::time::Duration;

use handfast_client::{Client, ClientError, Environment, Query, Roots};
use handfast_wire::{Message, Reference, ResponseCode, Value};
use tokio::sync::Semaphore;

use crate::error::Fault;
use crate::runtime::own_runtime::OwnRuntime;

/// How long the server waits for a remote server.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(5);
/// A client of the handle protocol, on a thread of its own.
#[derive(Debug)]
pub(crate) struct RemoteServers {
    client: Client,
    runtime: OwnRuntime,
    waiting: Semaphore,
}

impl RemoteServers {
    /// How many are waited for at once: who asks for handles of servers that never answer must not
    /// keep everybody else waiting.
    pub(crate) const MAX_REQUESTS: usize = 8;

    pub(crate) fn new(roots: Roots) -> std::io::Result<Self> {
        // Anybody can have records that name addresses: nobody is to reach through us what only we
        // can reach.
        let client = Client::new(Environment::system()).careful();
        client.set_roots(roots);
        Ok(Self {
            client,
            runtime: OwnRuntime::new("handfast-remote")?,
            waiting: Semaphore::new(Self::MAX_REQUESTS),
        })
    }

    /// The public keys of a handle: the one at an index, or all.
    pub(crate) fn keys(&self, key: &Reference<'_>) -> Result<Vec<Value<'static>>, Fault> {
        let mut query = Query::all();
        if key.index == 0 {
            query.types = vec!["HS_PUBKEY".into()];
        } else {
            query.indexes = vec![key.index];
        }
        let asked = async { self.client.certified().resolve(&key.handle, &query).await };
        match self.wait(asked)? {
            Ok(found) => Ok(found.values),
            Err(error) => {
                tracing::info!(%error, "a key could not be had");
                Ok(Vec::new())
            }
        }
    }

    /// Whether an answer to a challenge was made with a secret key.
    pub(crate) fn verifies(
        &self,
        key: &Reference<'_>,
        nonce: &[u8],
        digest: &[u8],
        response: &[u8],
    ) -> Result<bool, Fault> {
        let asked = self.client.verify(key, nonce, digest, response);
        Ok(self.wait(asked)?.unwrap_or_else(|error| {
            tracing::info!(%error, "a secret key could not be verified");
            false
        }))
    }

    /// Asks whom the record of a prefix names for those that derive from it.
    pub(crate) fn at_delegates<T>(
        &self,
        request: &Message<'_>,
        delegations: &[Value<'_>],
        ask: impl AsyncFnOnce(Client) -> Result<T, ClientError>,
    ) -> Result<T, Fault> {
        // This server may sign its reply.
        let passed = request.header.recursion_count.saturating_add(1);
        let client = self.client.certified().passing_on(passed);
        let asked = async {
            let sites = client.referral_sites(delegations).await?;
            ask(client.at(sites).following_referrals()).await
        };
        self.wait(asked)?.map_err(|error| match error.code() {
            Some(code) => Fault::plain(code),
            None => Fault::new(ResponseCode::Error, "who has it does not answer"),
        })
    }

    fn wait<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<Result<T, ClientError>, Fault> {
        let busy = |_| Fault::plain(ResponseCode::ServerTooBusy);
        let _place = self.waiting.try_acquire().map_err(busy)?;
        let slow = |_| Fault::new(ResponseCode::Error, "another server does not answer");
        let runtime = self
            .runtime
            .get()
            .ok_or_else(|| Fault::plain(ResponseCode::Error))?;
        runtime
            .block_on(async { tokio::time::timeout(REMOTE_TIMEOUT, asked).await })
            .map_err(slow)
    }
}
