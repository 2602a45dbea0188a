//! What only other servers know: the keys of those who log in here but are kept elsewhere (§7.2, §7.3), and the records
//! of delegated prefixes, for clients that are too old to be sent there (§8.6).

use std::time::Duration;

use handfast_client::{Client, ClientError, Environment, Query, Roots};
use handfast_registry::with_slash;
use handfast_wire::body::{ResolutionReply, ResolutionRequest, VerifyReply, VerifyRequest};
use handfast_wire::{Codec, Message, Opcode, Reference, ResponseCode, Value};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::native::operations::Done;
use crate::native::read;
use crate::native::response::Fault;

/// How long others are waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// A client, and who to begin with.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    client: Client,
    /// There until this goes.
    runtime: Option<Runtime>,
    waiting: Semaphore,
}

impl Elsewhere {
    /// How many are waited for at once: who asks for handles of servers that never answer must not keep everybody else
    /// waiting.
    pub(crate) const MOST: usize = 8;

    pub(crate) fn new(roots: Roots) -> std::io::Result<Self> {
        // Anybody can have records that name addresses: nobody is to reach through us what only we can reach.
        let client = Client::new(Environment::system()).careful();
        client.set_roots(roots);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("handfast-elsewhere")
            .enable_all()
            .build()?;
        Ok(Self {
            client,
            runtime: Some(runtime),
            waiting: Semaphore::new(Self::MOST),
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

    /// What those have to say to whom a client that does not understand referrals would be sent.
    pub(crate) fn answer(
        &self,
        request: &Message<'_>,
        delegations: &[Value<'_>],
    ) -> Result<Done, Fault> {
        // "A server at 10" hops gives up.
        if request.header.recursion_count >= 10 {
            return Err(Fault::plain(ResponseCode::RecursionCountTooHigh));
        }
        if request.header.opcode == Opcode::VerifyChallenge {
            let asked: VerifyRequest<'_> = read(request)?;
            let is_match = self.at_delegates(request, delegations, async |client| {
                let (nonce, digest) = (&asked.nonce, &asked.digest);
                client
                    .verify(&asked.key, nonce, digest, &asked.response)
                    .await
            })?;
            return Ok(Done::with(VerifyReply { is_match }.to_bytes()));
        }
        let asked: ResolutionRequest<'_> = read(request)?;
        let query = Query {
            indexes: asked.indexes.clone(),
            types: asked.types.iter().map(ToString::to_string).collect(),
            ..Query::all()
        };
        let whole = with_slash(&asked.handle);
        let found = self.at_delegates(request, delegations, async |client| {
            client.resolve(&whole, &query).await
        })?;
        let reply = ResolutionReply {
            handle: asked.handle,
            values: found.values,
        };
        Ok(Done::with(reply.to_bytes()))
    }

    /// Asks whom the record of a prefix names for those that derive from it.
    fn at_delegates<T>(
        &self,
        request: &Message<'_>,
        delegations: &[Value<'_>],
        ask: impl AsyncFnOnce(Client) -> Result<T, ClientError>,
    ) -> Result<T, Fault> {
        // What we say of it may be signed by us.
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
        let runtime = self.runtime.as_ref();
        let runtime = runtime.ok_or_else(|| Fault::plain(ResponseCode::Error))?;
        runtime
            .block_on(async { tokio::time::timeout(PATIENCE, asked).await })
            .map_err(slow)
    }
}

impl Drop for Elsewhere {
    /// Nobody is waited for, because this may go where nobody may wait.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
