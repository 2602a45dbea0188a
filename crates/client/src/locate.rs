//! Finding the server of a handle (`handle-protocol.md` §8.1, §8.6).

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use handfast_wire::body::{Referral, ResolutionRequest};
use handfast_wire::{Message, OpFlags, ResponseCode, Site, Value};

use crate::client::{Client, RequestOptions};
use crate::error::ClientError;
use crate::exchange::{Answer, Ask};
use crate::roots::ROOT;
use crate::service::{Kind, Service, sites_of};
use crate::target::Target;

/// Limits on the requests for one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// The number of referrals.
    pub(crate) hops: u8,
    /// The number of nested lookups.
    depth: u8,
    /// The number of all requests: a service may name many others, and each of those many.
    asked: Arc<AtomicU32>,
}

impl Trail {
    /// Counts one referral, if the limit allows it.
    fn further(&self, handle: &str) -> Result<Self, ClientError> {
        let hops = self.hops.saturating_add(1);
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if hops > MAX_REFERRALS || asked >= MAX_REQUESTS {
            return Err(too_far(handle));
        }
        Ok(Self {
            hops,
            ..self.clone()
        })
    }

    /// Starts a nested lookup.
    fn deeper(&self, handle: &str) -> Result<Self, ClientError> {
        let depth = self.depth + 1;
        if depth > MAX_NESTED_LOOKUPS {
            return Err(too_far(handle));
        }
        let further = self.further(handle)?;
        Ok(Self { depth, ..further })
    }
}

type Located<'a> = Pin<Box<dyn Future<Output = Result<Vec<Site>, ClientError>> + Send + 'a>>;

impl Client {
    /// Asks the servers of a handle, and follows their referrals.
    pub(crate) async fn route(&self, mut ask: Ask, trail: &Trail) -> Result<Answer, ClientError> {
        let mut trail = trail.clone();
        trail.hops = trail.hops.saturating_add(self.options.passed);
        ask.hops = trail.hops;
        let mut answer = match &self.options.target {
            Target::Located => self.ask_located(&ask, &trail).await?,
            Target::Server(address) => {
                let servers = self.servers_at(address, &ask).await?;
                self.ask_servers(&servers, &ask).await?
            }
            Target::Sites(sites) => self.ask_sites(sites, &ask).await?,
        };
        let follows = self.options.follows_referrals || self.options.target == Target::Located;
        while follows && is_followed(&answer.message, &ask.handle) {
            trail = trail.further(&ask.handle)?;
            let sites = self.referred(&answer.message, &ask.handle, &trail).await?;
            ask.hops = trail.hops;
            answer = self.ask_sites(&sites, &ask).await?;
        }
        Ok(answer)
    }

    async fn ask_located(&self, ask: &Ask, trail: &Trail) -> Result<Answer, ClientError> {
        let sites = self.locate(&ask.handle, false, trail.clone()).await?;
        let answer = self.ask_sites(&sites, ask).await?;
        if answer.message.outcome() != ResponseCode::OutOfDateSiteInfo {
            return Ok(answer);
        }
        let sites = self.locate(&ask.handle, true, trail.clone()).await?;
        self.ask_sites(&sites, ask).await
    }

    /// The sites of a handle; with `fresh` without the cache.
    pub(crate) fn locate<'a>(
        &'a self,
        handle: &'a str,
        is_fresh: bool,
        trail: Trail,
    ) -> Located<'a> {
        Box::pin(async move {
            let roots = self.shared.roots();
            let prefix = handle.split_once('/').map_or("0.NA", |(prefix, _)| prefix);
            if let Some(local) = roots.local(prefix) {
                return Ok(local.to_vec());
            }
            if roots.sites().is_empty() {
                let handle = handle.to_string();
                return Err(ClientError::NoRoots { handle });
            }
            let is_of_root = prefix == "0" || prefix.starts_with("0.");
            if is_of_root {
                return Ok(roots.sites().to_vec());
            }
            let record = format!("0.NA/{}", prefix.to_ascii_uppercase());
            let trail = trail.deeper(handle)?;
            let service = Service::named(record);
            let attempts = [false, true];
            for is_fresh in attempts.into_iter().skip(is_fresh.into()) {
                let found = self.gather(&service, Kind::Handles, is_fresh, &trail);
                let sites = found.await?;
                if !sites.is_empty() {
                    return Ok(sites);
                }
            }
            let handle = handle.to_string();
            Err(ClientError::NoService { handle })
        })
    }

    /// The sites that values name for a prefix handle (`handle-protocol.md` §8.6): `HS_SITE.PREFIX`
    /// values, and the services in `HS_SERV.PREFIX` values; if there are none, `HS_SITE` and
    /// `HS_SERV`.
    ///
    /// This is for servers that ask on behalf of their clients: `client.at(sites)` asks there.
    pub async fn referral_sites(&self, values: &[Value<'_>]) -> Result<Vec<Site>, ClientError> {
        self.sites_for(values, PREFIX_REFERRAL, &Trail::default())
            .await
    }

    async fn sites_for(
        &self,
        values: &[Value<'_>],
        kinds: &[Kind],
        trail: &Trail,
    ) -> Result<Vec<Site>, ClientError> {
        for kind in kinds {
            let service = sites_of(values, *kind);
            let sites = self.gather(&service, *kind, false, trail).await?;
            if !sites.is_empty() {
                return Ok(sites);
            }
        }
        Ok(Vec::new())
    }

    /// The sites that a referral names.
    async fn referred(
        &self,
        reply: &Message<'_>,
        handle: &str,
        trail: &Trail,
    ) -> Result<Vec<Site>, ClientError> {
        let no_service = || ClientError::NoService {
            handle: handle.to_string(),
        };
        let referral: Referral<'_> = reply.read().map_err(|_| no_service())?;
        let kinds = match reply.outcome() {
            ResponseCode::PrefixReferral => PREFIX_REFERRAL,
            _ => SERVICE_REFERRAL,
        };
        let mut sites = self.sites_for(&referral.values, kinds, trail).await?;
        if sites.is_empty() && !referral.handle.is_empty() {
            let kind = kinds.first().copied().unwrap_or(Kind::Handles);
            let service = Service::named(referral.handle.to_string());
            sites = self.gather(&service, kind, false, trail).await?;
        }
        if sites.is_empty() {
            return Err(no_service());
        }
        Ok(sites)
    }

    /// The sites of a service, and those of the services that it names (`handle-protocol.md` §6.4).
    /// A failed lookup is an error only if nothing else is found.
    async fn gather(
        &self,
        service: &Service,
        kind: Kind,
        is_fresh: bool,
        trail: &Trail,
    ) -> Result<Vec<Site>, ClientError> {
        let mut sites = service.direct.clone();
        let named = |service: &Service, depth: u32| {
            let handles = service.service_handles.iter();
            let handles = handles.map(|handle| (handle.clone(), depth));
            handles.collect::<Vec<_>>()
        };
        let (mut next, mut seen) = (named(service, 0), BTreeSet::new());
        let mut failed = None;
        while let Some((handle, depth)) = next.pop() {
            if depth > MAX_SERVICE_DEPTH || !seen.insert(handle.to_ascii_uppercase()) {
                continue;
            }
            // "`0.NA/0.NA` as a target means 'the configured root sites'."
            if handle.eq_ignore_ascii_case(ROOT) {
                sites.extend_from_slice(self.shared.roots().sites());
                continue;
            }
            match self.service_values(&handle, kind, is_fresh, trail).await {
                Ok(values) => {
                    let mut found = sites_of(&values, kind);
                    // A service for derived prefixes may also use the ordinary types.
                    if found.direct.is_empty() && found.service_handles.is_empty() {
                        found = sites_of(&values, Kind::Handles);
                    }
                    next.extend(named(&found, depth + 1));
                    sites.extend(found.direct);
                }
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if sites.is_empty() => Err(error),
            _ => Ok(sites),
        }
    }

    /// The service of a service handle; `None` if there is none.
    async fn service_values(
        &self,
        handle: &str,
        kind: Kind,
        is_fresh: bool,
        trail: &Trail,
    ) -> Result<Vec<Value<'static>>, ClientError> {
        if let Some(known) = self.shared.roots().known(handle) {
            return Ok(known.to_vec());
        }
        let mut types = Kind::Handles.types().to_vec();
        if kind == Kind::DerivedPrefixes {
            types.extend_from_slice(kind.types());
        }
        let request = ResolutionRequest {
            types: types.into_iter().map(Into::into).collect(),
            ..ResolutionRequest::all(handle)
        };
        let mut options = RequestOptions {
            is_careful: self.options.is_careful,
            ..RequestOptions::default()
        };
        // A client that requires signatures, or logs in, must be certain of the server.
        if self.options.is_certified() || self.options.login.is_some() {
            options.certify();
        }
        if is_fresh {
            options.flags = options.flags | OpFlags::AT;
        }
        let asked = Self {
            shared: Arc::clone(&self.shared),
            options,
        };
        if is_fresh {
            self.shared.cache.forget(handle);
        }
        let trail = trail.further(handle)?;
        let found = Box::pin(asked.values(&request, false, &trail)).await;
        found
            .map(|found| found.values)
            .or_else(|error| match error.code() {
                Some(ResponseCode::HandleNotFound | ResponseCode::ValuesNotFound) => Ok(Vec::new()),
                _ => Err(error),
            })
    }
}

/// Whether a reply is a referral. "Client on 303 (only for `0.NA/…` or slashless handles) and 302".
fn is_followed(reply: &Message<'_>, handle: &str) -> bool {
    match reply.outcome() {
        ResponseCode::ServiceReferral => true,
        ResponseCode::PrefixReferral => {
            let start = handle.get(..5);
            !handle.contains('/') || start.is_some_and(|start| start.eq_ignore_ascii_case("0.NA/"))
        }
        _ => false,
    }
}

/// The kinds of values of a referral, in order of preference.
const PREFIX_REFERRAL: &[Kind] = &[Kind::DerivedPrefixes, Kind::Handles];
const SERVICE_REFERRAL: &[Kind] = &[Kind::Handles];

fn too_far(handle: &str) -> ClientError {
    ClientError::Referrals {
        handle: handle.to_string(),
    }
}

/// "the client library gives up at 40 hops"
const MAX_REFERRALS: u8 = 40;
/// The maximum number of requests for one answer.
const MAX_REQUESTS: u32 = 100;
/// The maximum number of nested lookups: a service handle is under a prefix, too.
const MAX_NESTED_LOOKUPS: u8 = 8;
/// The maximum depth of services that name services.
const MAX_SERVICE_DEPTH: u32 = 20;
