//! The client: its options, and sending requests.

use std::sync::Arc;

use handfast_wire::body::{HandleRequest, SiteInfoReply};
use handfast_wire::{OpFlags, Opcode, ResponseCode, Site};

use crate::authentication::Login;
use crate::environment::Environment;
use crate::error::ClientError;
use crate::exchange::{Answer, Ask, refused};
use crate::locate::Trail;
use crate::resolve::Query;
use crate::roots::{ROOT, Roots};
use crate::service::{Need, Server, servers, servers_at};
use crate::shared::Shared;
use crate::target::{ServerAddress, Target, Transport};

/// A client of handle servers.
///
/// A client is cheap to clone, and clones share cache, sessions and roots. Methods such as
/// [`at`](Self::at) and [`certified`](Self::certified) return a client with other options. Dropping
/// a future stops its work: nothing continues in the background.
///
/// ```no_run
/// use handfast_client::{Client, Query, ServerAddress, Environment};
///
/// # async fn example() -> Result<(), handfast_client::ClientError> {
/// let client = Client::new(Environment::system());
/// let server: ServerAddress = "127.0.0.1:2641".parse()?;
/// let found = client.at(server).certified().resolve("20.1000/5555", &Query::all()).await?;
/// for value in &found.values {
///     println!("{} {}", value.index, value.value_type);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) options: RequestOptions,
}

/// The options of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOptions {
    pub(crate) target: Target,
    pub(crate) transport: Option<Transport>,
    /// CT and RD, AT.
    pub(crate) flags: OpFlags,
    pub(crate) login: Option<Login>,
    pub(crate) is_without_session: bool,
    pub(crate) follows_referrals: bool,
    /// Only public addresses.
    pub(crate) is_careful: bool,
    /// The number of servers that have passed the request on.
    pub(crate) passed: u8,
}

impl RequestOptions {
    pub(crate) fn is_certified(&self) -> bool {
        self.flags.contains(OpFlags::CT)
    }

    pub(crate) fn is_authoritative(&self) -> bool {
        self.flags.contains(OpFlags::AT)
    }

    pub(crate) fn certify(&mut self) {
        // The signature covers the reply, and the digest in it identifies the request.
        self.flags = self.flags | OpFlags::CT | OpFlags::RD;
    }
}

impl Client {
    /// A client without roots that caches up to 10,000 answers.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self::with_cache(environment, 10_000)
    }

    /// A client that caches up to so many answers for as long as their TTLs allow; 0 for none.
    #[must_use]
    pub fn with_cache(environment: Environment, max_answers: usize) -> Self {
        Self {
            shared: Arc::new(Shared::new(environment, max_answers)),
            options: RequestOptions::default(),
        }
    }

    /// Sets the roots of this client and its clones.
    pub fn set_roots(&self, roots: Roots) {
        self.shared.set_roots(roots);
    }

    /// Asks this server, or the servers of this site, instead of finding the server of the handle.
    /// Its answers are not cached, and its referrals are not followed.
    ///
    /// If only the address of a server is known, its signatures are verified with the key that it
    /// shows at the first request. To use another key, give its site record.
    #[must_use]
    pub fn at(&self, target: impl Into<Target>) -> Self {
        self.with_options(|options| options.target = target.into())
    }

    /// Uses this transport only.
    #[must_use]
    pub fn by(&self, transport: Transport) -> Self {
        self.with_options(|options| options.transport = Some(transport))
    }

    /// Accepts signed answers only.
    #[must_use]
    pub fn certified(&self) -> Self {
        self.with_options(RequestOptions::certify)
    }

    /// Asks primary sites only, and uses no cache.
    #[must_use]
    pub fn authoritative(&self) -> Self {
        self.with_options(|options| options.flags = options.flags | OpFlags::AT)
    }

    /// Answers challenges with a login, in a session that is set up when it is needed.
    #[must_use]
    pub fn with_login(&self, login: Login) -> Self {
        self.with_options(|options| options.login = Some(login))
    }

    /// Answers a challenge for each request instead of using a session. Then nothing is encrypted:
    /// secrets in values travel in the clear.
    #[must_use]
    pub fn without_session(&self) -> Self {
        self.with_options(|options| options.is_without_session = true)
    }

    /// Follows referrals of a chosen server.
    #[must_use]
    pub fn following_referrals(&self) -> Self {
        self.with_options(|options| options.follows_referrals = true)
    }

    /// Asks on behalf of a client whose request so many servers have passed on, including this one.
    /// The next server must not pass it on any further (`handle-protocol.md` §8.6: "recursion count
    /// + 1 (…), REC cleared").
    #[must_use]
    pub fn passing_on(&self, recursion_count: u8) -> Self {
        self.with_options(|options| options.passed = recursion_count)
    }

    /// Asks public addresses only, over UDP and TCP, unless the roots name the site. This is for
    /// servers that look up names from untrusted clients: a client must not reach private addresses
    /// through them.
    #[must_use]
    pub fn careful(&self) -> Self {
        self.with_options(|options| options.is_careful = true)
    }

    fn with_options(&self, change: impl FnOnce(&mut RequestOptions)) -> Self {
        let mut client = self.clone();
        change(&mut client.options);
        client
    }

    /// The site information of the asked server.
    pub async fn site_info(&self) -> Result<Site, ClientError> {
        let mut ask = Ask::new(Opcode::GetSiteInfo, "", &HandleRequest::default());
        let servers = match &self.options.target {
            Target::Located => return Err(ClientError::NoTarget),
            // "`GET_SITE_INFO` on an unknown address: use version 2.3, CT off".
            Target::Server(address) => servers_at(address, &self.transports(ask.opcode), None),
            Target::Sites(sites) => {
                ask.flags = self.flags();
                self.servers_of(sites, &ask, Some(0))
            }
        };
        let answer = self.as_nobody().ask_servers(&servers, &ask).await?;
        Ok(succeeded(answer)?.read::<SiteInfoReply>()?.site)
    }

    /// Asks the root at an address for its site and for the values of `0.NA/0.NA`.
    pub async fn roots_from(&self, address: &ServerAddress) -> Result<Roots, ClientError> {
        let client = self.at(address.clone());
        let site = client.site_info().await?;
        let roots = Roots::of_site(site.clone());
        match client.at(site).resolve(ROOT, &Query::all()).await {
            Ok(found) => {
                let found = Roots::of_handles([(ROOT.to_string(), found.values)].into());
                // If the record of the root has no sites, the asked address is its site.
                let is_enough = !found.sites().is_empty();
                Ok(if is_enough { found } else { roots })
            }
            Err(error) if error.code().is_some() => Ok(roots),
            Err(error) => Err(error),
        }
    }

    /// Sends a request, and accepts nothing but success.
    pub(crate) async fn ask(&self, ask: Ask, trail: &Trail) -> Result<Answer, ClientError> {
        succeeded(self.route(ask, trail).await?)
    }

    /// The flags of a request with the options of this client.
    pub(crate) fn flags(&self) -> OpFlags {
        let flags = OpFlags::REQUEST | self.options.flags;
        if self.options.passed == 0 {
            flags
        } else {
            flags.without(OpFlags::REC)
        }
    }

    /// The client without its login.
    pub(crate) fn as_nobody(&self) -> Self {
        self.with_options(|options| options.login = None)
    }

    /// The transports for a request.
    pub(crate) fn transports(&self, opcode: Opcode) -> Vec<Transport> {
        let is_steady = self.options.login.is_some() || opcode.needs_admin_interface();
        match (self.options.transport, &self.options.target) {
            (Some(transport), _) => vec![transport],
            (None, Target::Server(address)) if address.is_http => vec![Transport::Http],
            (None, _) if is_list(opcode) => vec![Transport::Tcp],
            (None, _) if self.options.is_careful => vec![Transport::Udp, Transport::Tcp],
            (None, _) if is_steady => Transport::STEADY.to_vec(),
            (None, _) => Transport::ALL.to_vec(),
        }
    }

    /// The servers of sites to ask: those of the handle, or the one with a number in each site.
    pub(crate) fn servers_of(
        &self,
        sites: &[Site],
        ask: &Ask,
        server: Option<usize>,
    ) -> Vec<Server> {
        let need = Need {
            opcode: ask.opcode,
            handle: &ask.handle,
            is_authoritative: self.options.is_authoritative(),
            is_careful: self.options.is_careful,
            server,
            transports: &self.transports(ask.opcode),
        };
        servers(sites, &self.shared.roots(), need)
    }

    /// The server at an address. Its key and version are requested when they are needed.
    pub(crate) async fn servers_at(
        &self,
        address: &ServerAddress,
        ask: &Ask,
    ) -> Result<Vec<Server>, ClientError> {
        let transports = self.transports(ask.opcode);
        let needs_key = ask.flags.contains(OpFlags::CT) || self.uses_session(ask.opcode);
        if !needs_key {
            return Ok(servers_at(address, &transports, None));
        }
        let site = if let Some(site) = self.shared.site_of(address) {
            site
        } else {
            let site = self.site_info().await?;
            self.shared.keep_site(address, &site);
            site
        };
        Ok(servers_at(address, &transports, Some(&site)))
    }

    /// Whether an operation uses a session. Lists do not: deployed servers expect that.
    fn uses_session(&self, opcode: Opcode) -> bool {
        let options = &self.options;
        options.login.is_some() && !options.is_without_session && !is_list(opcode)
    }

    /// Asks the servers of sites, one after the other, until one answers.
    pub(crate) async fn ask_sites(&self, sites: &[Site], ask: &Ask) -> Result<Answer, ClientError> {
        let servers = self.servers_of(sites, ask, None);
        self.ask_servers(&servers, ask).await
    }

    pub(crate) async fn ask_servers(
        &self,
        servers: &[Server],
        ask: &Ask,
    ) -> Result<Answer, ClientError> {
        let mut last = ClientError::NoService {
            handle: ask.handle.clone(),
        };
        for server in servers {
            let login = self.options.login.as_ref();
            // Sessions exist since 2.1.
            let uses_session = self.uses_session(ask.opcode) && !server.version.is_ancient();
            let asked = match login.filter(|_| uses_session) {
                Some(login) => self.shared.ask_in_session(server, ask, login).await,
                None => self.shared.ask_alone(server, ask, login).await,
            };
            let answer = asked.and_then(|answer| match answer.message.outcome() {
                ResponseCode::Error => Err(refused(server, &answer.message)),
                _ => Ok(answer),
            });
            match answer {
                Ok(answer) => return Ok(answer),
                // A change whose reply was lost is not made again by another transport.
                Err(error) if ask.opcode.needs_admin_interface() && error.may_be_done() => {
                    return Err(error);
                }
                Err(error) if error.is_failed_attempt() => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

fn is_list(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::ListHandles | Opcode::ListDerivedPrefixes | Opcode::ListHomedPrefixes
    )
}

/// Returns an answer unless it is an error.
pub(crate) fn succeeded(answer: Answer) -> Result<Answer, ClientError> {
    match answer.message.outcome() {
        ResponseCode::Success => Ok(answer),
        _ => Err(refused(answer.server(), &answer.message)),
    }
}
