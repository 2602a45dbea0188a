//! `handfast init`: a data folder with the identity of a server, and what a prefix registrar needs
//! of it.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use handfast_registry::StoreError;
use handfast_server::{Addresses, Bundle, Contact, Identity, SiteNote};
use serde_json::{Value as Json, json};

use crate::commands::demo;
use crate::commands::takeover;
use crate::config::{self, Config, ConfigFile};
use crate::exit::{Answer, misuse, misused, refused};
use crate::folder::{Data, make, program};
use crate::terminal::output::Output;

/// Make a data folder
///
/// It gets the keys of a server, a key pair of its administrator, and a registration bundle: what
/// is sent to the registrar from whom one gets a prefix.
#[derive(Args)]
pub(crate) struct Init {
    /// Fill it with the examples of the documents that describe these identifiers
    #[arg(long, conflicts_with_all = ["bundle", "from_handle_server"])]
    demo: bool,
    /// Write only the registration bundle, of a folder that is there
    #[arg(long, conflicts_with_all = ["native", "web", "from_handle_server"])]
    bundle: bool,
    /// Take over the identity of a handle server: keys, site record, prefixes and administrators. A
    /// passphrase is asked for, or read from `HANDFAST_PASSPHRASE`
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        conflicts_with_all = ["native", "web", "public_address", "description"]
    )]
    from_handle_server: Option<PathBuf>,
    /// Where the server will speak the native handle protocol [default: 127.0.0.1:2641]
    #[arg(long, value_name = "ADDRESS:PORT")]
    native: Option<SocketAddr>,
    /// Where it will speak HTTP [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    web: Option<SocketAddr>,
    /// The address by which others reach it, for the site record
    #[arg(long, value_name = "IP")]
    public_address: Option<IpAddr>,
    /// What the site is, for the site record
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Whose server it is, for the registrar
    #[arg(long, value_name = "NAME")]
    organisation: Option<String>,
    /// Who answers for it, for the registrar
    #[arg(long, value_name = "NAME")]
    contact_name: Option<String>,
    /// How to reach them
    #[arg(long, value_name = "ADDRESS")]
    contact_email: Option<String>,
    /// And otherwise
    #[arg(long, value_name = "NUMBER")]
    contact_phone: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Init {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        if let Some(server) = &self.from_handle_server {
            return takeover::run(server, &data.folder, &self.contact(), self.output);
        }
        if [self.native, self.web]
            .iter()
            .flatten()
            .any(|address| address.port() == 0)
        {
            let problem = "a server that others are to find has a port that stays the same";
            return Err(misused(problem));
        }
        let configured = data.folder.join(config::FILE);
        let has_addresses = self.native.is_some() || self.web.is_some();
        if has_addresses && configured.exists() {
            let file = configured.display();
            return Err(misused(format!(
                "{file} is there: say where to listen in it"
            )));
        }
        let config = misuse(Config::read(&data.folder))?;
        let addresses = config.with_listen(self.native, self.web).listen();
        if self.bundle {
            return self.renew(&data.folder, addresses);
        }
        self.make(&data.folder, addresses)
    }

    fn make(&self, folder: &Path, addresses: Addresses) -> anyhow::Result<Answer> {
        let check = make(folder).and_then(|registry| {
            if self.demo {
                demo::fill(&registry)?;
            }
            registry.check()
        });
        let check = check.map_err(refused)?;
        if self.native.is_some() || self.web.is_some() {
            let mut config = ConfigFile::default();
            config.native.listen = self.native;
            config.web.listen = self.web;
            config.write(folder)?;
        }
        let ready = self.ready(folder, addresses)?;
        let (authorities, names) = (check.authorities, check.records);
        let told = ready.as_json(folder, json!({"authorities": authorities, "names": names}));
        self.output.print(&told, |out| {
            let (made, program) = (folder.display(), program(folder));
            if self.demo {
                writeln!(out, "made {made}: {authorities} authorities, {names} names")?;
            } else {
                writeln!(out, "made {made}")?;
            }
            ready.tell(folder, out)?;
            if self.demo {
                writeln!(out, "try:  {program} name show urn:urn-3:HUL.OIS:Home")
            } else {
                writeln!(out, "next: {program} authority create PREFIX")
            }
        })
    }

    fn renew(&self, folder: &Path, addresses: Addresses) -> anyhow::Result<Answer> {
        if !folder.join("data.mdb").exists() {
            let folder = folder.to_path_buf();
            return Err(refused(StoreError::NoStore { folder }.into()));
        }
        let ready = self.ready(folder, addresses)?;
        self.output.print(&ready.as_json(folder, json!({})), |out| {
            ready.tell(folder, out)?;
            let program = program(folder);
            writeln!(out, "next: {program} serve, anew if it is running")
        })
    }

    /// The identity of a folder, and the bundle that says who it is.
    fn ready(&self, folder: &Path, addresses: Addresses) -> anyhow::Result<Ready> {
        let mut identity = Identity::open_or_make(folder, addresses)?;
        let note = SiteNote {
            address: self.public_address,
            description: self.description.clone(),
        };
        if note != SiteNote::default() {
            identity = identity.say(folder, &note)?;
        }
        Ready::new(folder, &identity, &self.contact())
    }

    fn contact(&self) -> Contact {
        Contact {
            organisation: self.organisation.clone(),
            name: self.contact_name.clone(),
            email: self.contact_email.clone(),
            phone: self.contact_phone.clone(),
        }
    }
}

/// What an operator has to know of a folder that is ready.
pub(crate) struct Ready {
    key: Option<PathBuf>,
    bundle: Bundle,
    address: Option<IpAddr>,
}

impl Ready {
    /// Writes the bundle.
    pub(crate) fn new(
        folder: &Path,
        identity: &Identity,
        contact: &Contact,
    ) -> anyhow::Result<Self> {
        let server = identity.site().servers.first();
        Ok(Self {
            key: Identity::administrator_file(folder),
            bundle: Bundle::write(folder, identity, contact)?,
            address: server.map(handfast_wire::SiteServer::ip),
        })
    }

    /// As JSON, with something more.
    pub(crate) fn as_json(&self, folder: &Path, mut more: Json) -> Json {
        let told = json!({
            "folder": folder.display().to_string(),
            "administrator": Identity::administrator().to_string(),
            "key": self.key.as_ref().map(|key| key.display().to_string()),
            "bundle": self.bundle.archive.display().to_string(),
            "address": self.address.map(|address| address.to_string()),
        });
        if let (Json::Object(more), Json::Object(told)) = (&mut more, told) {
            more.extend(told);
        }
        more
    }

    pub(crate) fn tell(&self, folder: &Path, out: &mut dyn Write) -> io::Result<()> {
        let who = Identity::administrator();
        match &self.key {
            Some(key) => writeln!(out, "administrator: {who}, with {}", key.display())?,
            None => writeln!(out, "administrator: {who}, with the key of admpub.bin")?,
        }
        writeln!(out, "for a registrar: {}", self.bundle.archive.display())?;
        // A registrar could do nothing with it.
        let is_here = |address: &IpAddr| address.is_loopback() || address.is_unspecified();
        if let Some(address) = self.address.filter(is_here) {
            writeln!(
                out,
                "  it says {address}; \
                 `{} init --bundle --public-address IP` says where others find you",
                program(folder)
            )?;
        }
        Ok(())
    }
}
