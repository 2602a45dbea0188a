//! `handfast serve`: the native protocol, HTTP, and the socket of the data folder.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use handfast_server::{Addresses, Dspace, Identity, Listener, PublicUrl, ServerContext, Tls};
use serde_json::json;

use crate::commands::demo;
use crate::config::{Config, PUBLIC_URL};
use crate::exit::{Answer, misuse, refused};
use crate::folder::{Data, program, world};
use crate::terminal::output::Output;

/// Serve the handle protocol, and resolve names over HTTP
///
/// The first start makes the data folder, the keys of the server and those of its administrator.
#[derive(Args)]
pub(crate) struct Serve {
    /// Where the native handle protocol is spoken, over UDP and TCP [default: 127.0.0.1:2641]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HANDFAST_NATIVE")]
    native: Option<SocketAddr>,
    /// Where HTTP is spoken [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HANDFAST_WEB")]
    web: Option<SocketAddr>,
    /// The URL that clients use: absolute URLs begin with it, and credentials are taken under its
    /// host
    #[arg(long, value_name = "URL", env = PUBLIC_URL)]
    public_url: Option<PublicUrl>,
    /// Fill a new data folder with examples
    #[arg(long)]
    demo: bool,
    /// Print the configuration that holds, and do nothing
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    output: Output,
}

impl Serve {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let config = misuse(Config::read(&data.folder))?;
        let config = config
            .with_listen(self.native, self.web)
            .with_public_url(self.public_url.as_ref());
        if self.print_config {
            write!(io::stdout(), "{}", config.print()?)?;
            return Ok(Answer::Done);
        }
        let registry = data.open_or_make(&config, self.output, self.demo);
        let registry = registry.map_err(refused)?;
        let administrators = misuse(config.administrators())?;
        let replicators = misuse(config.replicators())?;
        let mut full = vec![Identity::administrator()];
        if config.has_full_access() {
            full.extend(administrators.iter().cloned());
        }
        let registry = registry.with_administrators(full);
        let example = match registry.handle(demo::EXAMPLE)? {
            Some(_) => demo::EXAMPLE,
            None => Identity::ADMINISTRATOR,
        };
        let wanted = config.listen();
        let listener = Listener::bind(wanted.native, wanted.web)?;
        let addresses = listener.addresses();
        let mut identity = Identity::open_or_make(&data.folder, addresses)?;
        if addresses != wanted {
            // A port that the system chose is where the server is now, whatever was said of it
            // before.
            identity = identity.with_ports_of(addresses);
        }
        self.warn(&data.folder, &identity, addresses);
        let mut context = ServerContext::new(Arc::new(registry), identity, world(), administrators)
            .with_replicators(replicators)
            .with_udp_limits(config.udp_limits())
            .with_minimum_version(config.minimum_version()?);
        if let Some(roots) = config.roots()? {
            context = context.with_roots(roots)?;
        }
        let repositories = config.repositories();
        if !repositories.is_empty() {
            let (dspace, silent) = Dspace::connect(repositories)?;
            for endpoint in silent {
                self.output.note(&format!(
                    "warning: {endpoint} does not say its prefixes; say them in handfast.toml"
                ));
            }
            context = context.with_dspace(dspace);
        }
        tell_operators();
        let settings = config.web()?;
        let tls = settings.tls.clone();
        let served = listener.open(context, settings)?;
        let socket = served.open_socket().inspect_err(|error| {
            let problem = format!("warning: commands on this folder have to wait: {error}");
            self.output.note(&problem);
        });
        let sign_in = served.first_sign_in_link().unwrap_or_else(|error| {
            let problem = format!("warning: there is no link to sign in with: {error}");
            self.output.note(&problem);
            None
        });
        let told = self.told(&data.folder, addresses, &tls, example, sign_in.as_ref());
        writeln!(io::stdout(), "{told}")?;
        io::stdout().flush()?;
        served.wait()?;
        if let Ok(socket) = socket {
            socket.close();
        }
        Ok(Answer::Done)
    }

    /// Says what of the site record may not lead here. It may still be right, where ports are
    /// forwarded.
    fn warn(&self, folder: &Path, identity: &Identity, addresses: Addresses) {
        let server = identity.site().servers.first();
        let address = server.map(handfast_wire::SiteServer::ip);
        if address.is_some_and(|address| address.is_unspecified()) {
            self.output.note(&format!(
                "warning: clients are told no address; \
                 say one with `{} init --bundle --public-address IP`",
                program(folder)
            ));
        }
        let is_hidden = addresses.native.ip().is_loopback();
        if is_hidden && address.is_some_and(|address| !address.is_loopback()) {
            self.output.note(
                "warning: clients are told an address where this server does not listen: \
                 see --native",
            );
        }
        if !identity.names_ports_of(addresses) {
            self.output
                .note("warning: siteinfo.json names other ports than the server listens at");
        }
    }

    /// Where the server listens, and how to log in.
    fn told(
        &self,
        folder: &Path,
        addresses: Addresses,
        tls: &Tls,
        example: &str,
        sign_in: Option<&(String, String)>,
    ) -> String {
        let (native, web) = (addresses.native, addresses.web);
        let who = Identity::administrator();
        let key = Identity::administrator_file(folder);
        let key = key.map(|key| key.display().to_string());
        let command = format!("handfast resolve {example} --server {}", reachable(native));
        let url = format!("http://{}/", reachable(web));
        let secure = secure_url(tls, web);
        if self.output.is_json() {
            return json!({
                "native": native.to_string(),
                "web": web.to_string(),
                "url": url,
                "secureUrl": secure,
                "tls": tls.kind(),
                "data": folder.display().to_string(),
                "administrator": who.to_string(),
                "key": key,
                "try": command,
                "signIn": sign_in.map(|(_, link)| link),
            })
            .to_string();
        }
        let key = key.unwrap_or_else(|| "the private key of admpub.bin".into());
        let at = if web.ip().is_unspecified() {
            format!(", at {web}")
        } else {
            String::new()
        };
        let sign_in = sign_in.map(|(account, link)| {
            let program = program(folder);
            format!(
                "\nconsole {link}\n        signs {account} in, once, within 15 minutes; \
                 `{program} user sign-in` prints another link"
            )
        });
        format!(
            "native  {native}, over UDP and TCP\n\
             web     {url} and {secure}{at}\n\
             tls     {tls}\n\
             data    {}\n\
             log in  as {who}, with {key}\n\
             try     {command}{}",
            folder.display(),
            sign_in.unwrap_or_default()
        )
    }
}

/// What the server has to say while it runs goes to standard error, a line each.
fn tell_operators() {
    let told = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        // A log that cannot be written, on a full disk for example, must not fail the request that
        // it is about.
        .log_internal_errors(false)
        .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
        .try_init();
    // Somebody else in the process listens already.
    drop(told);
    handfast_server::log_panics();
}

/// Where a person can go who trusts the certificate, if it can be told.
fn secure_url(tls: &Tls, web: SocketAddr) -> String {
    let host = match tls.domain() {
        Some(domain) => domain.to_string(),
        None if reachable(web).ip().is_loopback() => "localhost".to_string(),
        None => reachable(SocketAddr::new(web.ip(), 0))
            .to_string()
            .trim_end_matches(":0")
            .to_string(),
    };
    match web.port() {
        443 => format!("https://{host}/"),
        port => format!("https://{host}:{port}/"),
    }
}

/// An address that a client on this machine can use.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}
