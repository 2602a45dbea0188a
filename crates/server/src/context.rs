//! The state that the native protocol and HTTP share.
//!
//! `native` and `http` are siblings: both hold an `Arc` of the same [`ServerContext`], and neither
//! calls the other. Only `http/native_tunnel.rs` does, because it carries native messages in HTTP.

use std::io;
use std::sync::Arc;

use handfast_client::Roots;
use handfast_registry::{Environment, Principal, Registry};
use handfast_wire::Version;

use crate::admission::Admission;
use crate::admission::udp_responses::{UdpLimits, UdpResponses};
use crate::auth::failed_logins::FailedLogins;
use crate::auth::remote_servers::RemoteServers;
use crate::auth::sessions::Sessions;
use crate::dspace::Dspace;
use crate::runtime::native_metrics::NativeMetrics;
use crate::setup::identity::Identity;

/// Registry, identity, clock, limits and sources of one server.
pub struct ServerContext {
    pub(crate) registry: Arc<Registry>,
    pub(crate) identity: Identity,
    /// Clock and random numbers.
    pub(crate) world: Environment,
    /// When the server started, in milliseconds since 1970.
    pub(crate) started: u64,
    /// Principals who may home prefixes, beside those who may do everything.
    pub(crate) administrators: Vec<Principal>,
    /// Principals who may mirror the whole server.
    pub(crate) replicators: Vec<Principal>,
    pub(crate) admission: Admission,
    /// Failed logins over every interface.
    pub(crate) failed_logins: FailedLogins,
    /// Sessions of the native protocol.
    pub(crate) sessions: Sessions,
    /// Remote handle servers; `None` if this server never asks any.
    pub(crate) remote_servers: Option<RemoteServers>,
    /// `DSpace` repositories that resolve some prefixes.
    pub(crate) dspace: Option<Dspace>,
    pub(crate) metrics: NativeMetrics,
    /// The oldest protocol version in which the server accepts logins, sessions and
    /// administration; `None` accepts every version.
    pub(crate) minimum_version: Option<Version>,
}

impl ServerContext {
    /// A server with a registry and an identity.
    #[must_use]
    pub fn new(
        registry: Arc<Registry>,
        identity: Identity,
        world: Environment,
        administrators: Vec<Principal>,
    ) -> Self {
        Self {
            registry,
            identity,
            started: world.now(),
            world,
            administrators,
            replicators: Vec::new(),
            admission: Admission::default(),
            failed_logins: FailedLogins::default(),
            sessions: Sessions::default(),
            remote_servers: None,
            dspace: None,
            metrics: NativeMetrics::default(),
            minimum_version: None,
        }
    }

    /// Lets the server ask remote servers for the keys of identities that it does not store, and
    /// for the records of delegated prefixes when a client does not understand referrals.
    pub fn with_roots(self, roots: Roots) -> io::Result<Self> {
        Ok(Self {
            remote_servers: Some(RemoteServers::new(roots)?),
            ..self
        })
    }

    /// Lets the server ask `DSpace` repositories for their handles.
    #[must_use]
    pub fn with_dspace(self, dspace: Dspace) -> Self {
        Self {
            dspace: Some(dspace),
            ..self
        }
    }

    /// Limits how much the server sends over UDP.
    #[must_use]
    pub fn with_udp_limits(mut self, limits: UdpLimits) -> Self {
        self.admission.udp_responses = UdpResponses::new(limits);
        self
    }

    /// Accepts logins, sessions and administration only from clients that speak at least this
    /// version of the protocol. Public resolution accepts every version.
    #[must_use]
    pub fn with_minimum_version(self, minimum_version: Option<Version>) -> Self {
        Self {
            minimum_version,
            ..self
        }
    }

    /// Lets these principals mirror the whole server.
    #[must_use]
    pub fn with_replicators(self, replicators: Vec<Principal>) -> Self {
        Self {
            replicators,
            ..self
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.world.now()
    }
}

impl std::fmt::Debug for ServerContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerContext").finish_non_exhaustive()
    }
}
