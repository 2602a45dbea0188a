//! Administration: creating, changing and deleting handles and prefixes.

use std::ops::ControlFlow;

use handfast_wire::body::{
    CreateReply, HandleRequest, ListReply, RemoveRequest, ValuesRequest, VerifyReply, VerifyRequest,
};
use handfast_wire::{Codec, OpFlags, Opcode, Reference, Site, Value};

use crate::client::{Client, succeeded};
use crate::error::ClientError;
use crate::exchange::{Answer, Ask};
use crate::locate::Trail;
use crate::service::Server;
use crate::target::{Target, Transport};

/// Options for creating a handle.
///
/// ```
/// use handfast_client::Creation;
///
/// let creation = Creation { overwrites: true, ..Creation::default() };
/// assert!(!creation.mints);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Creation {
    /// Replaces the values of an existing handle.
    pub overwrites: bool,
    /// The handle is only a beginning; the server adds the rest.
    pub mints: bool,
}

/// A created handle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Created {
    /// The handle.
    pub handle: String,
    /// Whether it existed, and its values were replaced.
    pub was_overwritten: bool,
}

impl Client {
    /// Creates a handle.
    pub async fn create(
        &self,
        handle: &str,
        values: &[Value<'_>],
        creation: Creation,
    ) -> Result<Created, ClientError> {
        let mut ask = self.with_values(Opcode::CreateHandle, handle, values);
        if creation.overwrites {
            ask.flags = ask.flags | OpFlags::OWE;
        }
        if creation.mints {
            ask.flags = ask.flags | OpFlags::MNS;
        }
        let answer = self.ask(ask, &Trail::default()).await?;
        self.shared.cache.forget(handle);
        let reply: CreateReply<'_> = answer.read()?;
        Ok(Created {
            handle: reply.handle.map_or(handle.to_string(), Into::into),
            was_overwritten: answer.message.header.flags.contains(OpFlags::OWE),
        })
    }

    /// Deletes a handle.
    pub async fn delete(&self, handle: &str) -> Result<(), ClientError> {
        let body = HandleRequest::new(handle);
        self.change(self.asking(Opcode::DeleteHandle, handle, &body))
            .await
    }

    /// Adds values to a handle. A value whose index is in use is rejected, or overwrites the old
    /// one.
    pub async fn add(
        &self,
        handle: &str,
        values: &[Value<'_>],
        overwrites: bool,
    ) -> Result<(), ClientError> {
        let mut ask = self.with_values(Opcode::AddValue, handle, values);
        if overwrites {
            ask.flags = ask.flags | OpFlags::OWE;
        }
        self.change(ask).await
    }

    /// Removes values from a handle.
    pub async fn remove(&self, handle: &str, indexes: &[u32]) -> Result<(), ClientError> {
        let body = RemoveRequest {
            handle: handle.into(),
            indexes: indexes.to_vec(),
        };
        self.change(self.asking(Opcode::RemoveValue, handle, &body))
            .await
    }

    /// Replaces values of the same index.
    pub async fn modify(&self, handle: &str, values: &[Value<'_>]) -> Result<(), ClientError> {
        self.change(self.with_values(Opcode::ModifyValue, handle, values))
            .await
    }

    /// The handles under a prefix, in the spelling of the server: deployed ones use uppercase. It
    /// asks every server of a site.
    pub async fn list(
        &self,
        prefix: &str,
        each: &mut (dyn FnMut(&str) -> ControlFlow<()> + Send),
    ) -> Result<(), ClientError> {
        let record = prefix_handle(prefix);
        let body = HandleRequest::new(&*record);
        let ask = self.asking(Opcode::ListHandles, &record, &body);
        self.list_all(&ask, each).await
    }

    /// The prefixes that a server is responsible for. The server must be chosen.
    pub async fn list_homed(
        &self,
        each: &mut (dyn FnMut(&str) -> ControlFlow<()> + Send),
    ) -> Result<(), ClientError> {
        self.need_target()?;
        let body = HandleRequest::default();
        let ask = self.asking(Opcode::ListHomedPrefixes, "", &body);
        self.list_all(&ask, each).await
    }

    /// The lists of all servers of a site.
    async fn list_all(
        &self,
        ask: &Ask,
        each: &mut (dyn FnMut(&str) -> ControlFlow<()> + Send),
    ) -> Result<(), ClientError> {
        for servers in self.every_server(ask).await? {
            let answer = succeeded(self.ask_servers(&servers, ask).await?)?;
            if self.read_list(answer, each).await?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Makes every server of the chosen site responsible for a prefix.
    pub async fn home(&self, prefix: &str) -> Result<(), ClientError> {
        self.tell_all(Opcode::HomePrefix, prefix).await
    }

    /// Ends the responsibility of every server of the chosen site for a prefix.
    pub async fn unhome(&self, prefix: &str) -> Result<(), ClientError> {
        self.tell_all(Opcode::UnhomePrefix, prefix).await
    }

    /// Asks the holder of a secret key to verify an answer to a challenge. The reply is certified.
    pub async fn verify(
        &self,
        key: &Reference<'_>,
        nonce: &[u8],
        digest: &[u8],
        response: &[u8],
    ) -> Result<bool, ClientError> {
        let body = VerifyRequest {
            key: key.clone(),
            nonce: nonce.into(),
            digest: digest.into(),
            response: response.into(),
        };
        // The server that is asked must be certain, too.
        let certified = self.certified();
        let ask = certified.asking(Opcode::VerifyChallenge, &key.handle, &body);
        let answer = certified.ask(ask, &Trail::default()).await?;
        Ok(answer.read::<VerifyReply>()?.is_match)
    }

    /// Ends the sessions of this client and its clones. Other sessions time out at the server.
    pub async fn end_sessions(&self) {
        for (endpoint, session) in self.shared.sessions.take().await {
            drop(self.shared.terminate(endpoint, &session).await);
        }
    }

    fn asking<'b>(&self, opcode: Opcode, handle: &str, body: &impl Codec<'b>) -> Ask {
        Ask {
            flags: self.flags(),
            ..Ask::new(opcode, handle, body)
        }
    }

    fn with_values(&self, opcode: Opcode, handle: &str, values: &[Value<'_>]) -> Ask {
        let body = ValuesRequest {
            handle: handle.into(),
            values: values.to_vec(),
        };
        let is_private = values.iter().any(|value| !value.permissions.public_read());
        Ask {
            is_private,
            ..self.asking(opcode, handle, &body)
        }
    }

    async fn change(&self, ask: Ask) -> Result<(), ClientError> {
        let handle = ask.handle.clone();
        self.ask(ask, &Trail::default()).await?;
        // Cached values of it are out of date.
        self.shared.cache.forget(&handle);
        Ok(())
    }

    async fn tell_all(&self, opcode: Opcode, prefix: &str) -> Result<(), ClientError> {
        self.need_target()?;
        let record = prefix_handle(prefix);
        let ask = self.asking(opcode, &record, &HandleRequest::new(&*record));
        for servers in self.every_server(&ask).await? {
            succeeded(self.ask_servers(&servers, &ask).await?)?;
        }
        Ok(())
    }

    fn need_target(&self) -> Result<(), ClientError> {
        match self.options.target {
            Target::Located => Err(ClientError::NoTarget),
            _ => Ok(()),
        }
    }

    /// For each server of the site, the transports to it.
    async fn every_server(&self, ask: &Ask) -> Result<Vec<Vec<Server>>, ClientError> {
        let located: Vec<Site>;
        let sites = match &self.options.target {
            Target::Server(address) => return Ok(vec![self.servers_at(address, ask).await?]),
            Target::Sites(sites) => sites,
            Target::Located => {
                // The server of a prefix has the handles under it; the root has prefix handles.
                let inner = ask.handle.split_once('/').map_or("", |(_, inner)| inner);
                let handle = if inner.to_ascii_uppercase().starts_with("0.NA") {
                    ask.handle.clone()
                } else {
                    format!("{inner}/")
                };
                located = self.locate(&handle, false, Trail::default()).await?;
                &located
            }
        };
        // Any primary site has all of them.
        let primary = sites.iter().find(|site| site.is_primary);
        let sites = primary.map_or(&[][..], std::slice::from_ref);
        let count = primary.map_or(0, |site| site.servers.len());
        if count == 0 {
            let handle = ask.handle.clone();
            return Err(ClientError::NoService { handle });
        }
        let all = (0..count).map(|number| self.servers_of(sites, ask, Some(number)));
        Ok(all.collect())
    }

    async fn read_list(
        &self,
        mut answer: Answer,
        each: &mut (dyn FnMut(&str) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<()>, ClientError> {
        loop {
            for handle in &answer.read::<ListReply<'_>>()?.handles {
                if each(handle).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if !answer.goes_on() {
                return Ok(ControlFlow::Continue(()));
            }
            if answer.server().endpoint.transport != Transport::Tcp {
                return Err(ClientError::Incomplete {
                    server: answer.server().endpoint.to_string(),
                });
            }
            answer.receive(&self.shared).await?;
            answer = succeeded(answer)?;
        }
    }
}

/// "A name without slash is converted to `0.NA/<name>`."
pub(crate) fn prefix_handle(prefix: &str) -> String {
    if prefix.contains('/') {
        prefix.to_string()
    } else {
        format!("0.NA/{prefix}")
    }
}
