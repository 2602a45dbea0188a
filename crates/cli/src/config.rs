//! Configuration: `handfast.toml` in the data folder, then environment variables, then arguments.
//!
//! A command reads the file once. Each part is checked when it is used, so that a mistake in the
//! section of the HTTP server does not keep other commands from running.

mod acme;
mod file;
mod rules;
mod shown;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use handfast_client::Roots;
use handfast_id::RuleBook;
use handfast_registry::{Limits, Principal};
use handfast_server::{
    AccessLog, Addresses, Colour, DspaceSource, HeaderName, Network, PublicUrl, SiteSettings, Tls,
    TlsFiles, UdpLimits, WebSettings,
};
use handfast_wire::Version as ProtocolVersion;

use self::file::AccessLogFormat;
pub(crate) use self::file::{ConfigFile, FILE};

/// The configuration of a data folder. It does not change while the program runs.
pub(crate) struct Config {
    folder: PathBuf,
    file: ConfigFile,
    /// The keys that arguments or environment variables have set.
    overridden: Vec<&'static str>,
}

impl Config {
    /// Reads the file of a data folder.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        let file = ConfigFile::read(folder)?;
        let folder = folder.to_path_buf();
        Ok(Self {
            folder,
            file,
            overridden: Vec::new(),
        })
    }

    /// The same with addresses from arguments or environment variables.
    pub(crate) fn with_listen(
        mut self,
        native: Option<SocketAddr>,
        web: Option<SocketAddr>,
    ) -> Self {
        let given = [("native.listen", native), ("web.listen", web)];
        let given = given.into_iter().filter(|(_, address)| address.is_some());
        self.overridden.extend(given.map(|(key, _)| key));
        self.file.native.listen = native.or(self.file.native.listen);
        self.file.web.listen = web.or(self.file.web.listen);
        self
    }

    /// The same with a public URL from an argument or an environment variable.
    pub(crate) fn with_public_url(mut self, url: Option<&PublicUrl>) -> Self {
        self.overridden.extend(url.map(|_| "web.public-url"));
        let url = url.map(ToString::to_string);
        self.file.web.public_url = url.or(self.file.web.public_url);
        self
    }

    /// The URL at which clients reach the server: as the environment or the file says it. One that
    /// cannot be used is none; `serve` says what is wrong with it.
    pub(crate) fn public_url(&self) -> Option<PublicUrl> {
        let said = std::env::var(PUBLIC_URL).ok();
        let said = said.filter(|text| !text.is_empty());
        said.as_ref()
            .or(self.file.web.public_url.as_ref())?
            .parse()
            .ok()
    }

    /// The rules for identifiers.
    pub(crate) fn rules(&self) -> anyhow::Result<RuleBook> {
        self.usable(rules::rules(&self.file))
    }

    /// The administrators of the server, who say for which prefixes it is responsible.
    pub(crate) fn administrators(&self) -> anyhow::Result<Vec<Principal>> {
        self.usable(principals(&self.file.native.administrators))
    }

    /// The principals who may copy everything, as mirrors do.
    pub(crate) fn replicators(&self) -> anyhow::Result<Vec<Principal>> {
        self.usable(principals(&self.file.native.replication))
    }

    /// Whether the administrators may do everything else, too.
    pub(crate) fn has_full_access(&self) -> bool {
        self.file.native.full_access
    }

    /// The root information, if the server asks other servers for names that it does not have.
    pub(crate) fn roots(&self) -> anyhow::Result<Option<Roots>> {
        let Some(file) = &self.file.native.roots else {
            return Ok(None);
        };
        let file = self.folder.join(file);
        let bytes =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let roots =
            Roots::read(&bytes).with_context(|| format!("cannot use {}", file.display()))?;
        Ok(Some(roots))
    }

    /// The `DSpace` repositories that the server asks for their handles.
    pub(crate) fn repositories(&self) -> Vec<DspaceSource> {
        let sources = self.file.dspace.iter().map(|section| DspaceSource {
            endpoint: section.endpoint.clone(),
            prefixes: section.prefixes.clone(),
        });
        sources.collect()
    }

    /// How many bytes a second the server sends over UDP; in the file, 0 is no limit.
    pub(crate) fn udp_limits(&self) -> UdpLimits {
        let native = &self.file.native;
        let limit = |bytes: Option<u64>, standard| {
            Some(bytes.unwrap_or(standard)).filter(|bytes| *bytes > 0)
        };
        UdpLimits {
            per_network: limit(native.udp_limit, UDP_BYTES_PER_NETWORK),
            total: limit(native.udp_total_limit, UDP_BYTES_TOTAL),
        }
    }

    /// The oldest version of the native protocol in which the server takes logins, sessions and
    /// administration, if it does not take them in all versions.
    pub(crate) fn minimum_version(&self) -> anyhow::Result<Option<ProtocolVersion>> {
        let version = self.file.native.minimum_version.as_deref();
        let version = self.usable(version.map(protocol_version).transpose())?;
        Ok(version.filter(|version| *version > ProtocolVersion::new(2, 0)))
    }

    /// The limits of each account.
    pub(crate) fn limits(&self) -> Limits {
        let (limits, standard) = (&self.file.limits, Limits::default());
        Limits {
            jobs_per_day: limits.jobs_per_day.unwrap_or(standard.jobs_per_day),
            open_jobs: limits.open_jobs.unwrap_or(standard.open_jobs),
            requested_authorities: limits
                .requested_authorities
                .unwrap_or(standard.requested_authorities),
        }
    }

    /// Where the server listens.
    pub(crate) fn listen(&self) -> Addresses {
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        Addresses {
            native: self.file.native.listen.unwrap_or(local(2641)),
            web: self.file.web.listen.unwrap_or(local(8000)),
        }
    }

    /// The settings of the HTTP server.
    pub(crate) fn web(&self) -> anyhow::Result<WebSettings> {
        self.usable(self.web_settings())
    }

    fn web_settings(&self) -> anyhow::Result<WebSettings> {
        let web = self.file.web.clone();
        let in_folder = |file: PathBuf| self.folder.join(file);
        let format = web.access_log.unwrap_or_default();
        let access_log = (format != AccessLogFormat::Off).then(|| AccessLog {
            is_json: format == AccessLogFormat::Json,
            file: web.access_log_file.map(in_folder),
        });
        let header = |name: Option<String>| {
            let read = name.map(|name| {
                let read = HeaderName::from_bytes(name.as_bytes());
                read.with_context(|| format!("{name} is no name of a header"))
            });
            read.transpose()
        };
        let country_header = header(web.country_header)?;
        let client_header = header(web.client_header)?;
        let networks = web.trusted_proxies.into_iter();
        let trusted_proxies: Vec<Network> = networks
            .map(|range| range.parse().context(range))
            .collect::<Result<_, _>>()?;
        if client_header.is_some() && trusted_proxies.is_empty() {
            bail!("anybody can send a client-header: say in trusted-proxies who is believed");
        }
        let tls = match (web.certificate, web.key, web.acme) {
            (None, None, Some(acme)) => Tls::Acme(acme.settings(&self.folder)?),
            (_, _, Some(_)) => bail!("a certificate comes from files or by ACME, not both"),
            (Some(certificate), Some(key), None) => Tls::Files(TlsFiles {
                certificate: in_folder(certificate),
                key: in_folder(key),
            }),
            (None, None, None) => Tls::Site,
            _ => bail!("a certificate needs its key: give both, certificate and key"),
        };
        let public_url = |text: String| {
            let read = text.parse();
            read.with_context(|| format!("[web] public-url is {text}"))
        };
        let colour = |key: &str, text: Option<String>| {
            let read = text.map(|text| {
                let read = text.parse::<Colour>();
                read.with_context(|| format!("[web] {key} is {text}"))
            });
            read.transpose()
        };
        let site = SiteSettings {
            name: web.name,
            logo: web.logo.map(in_folder),
            contact: web.contact,
            footer: web.footer,
            accent: colour("accent", web.accent)?,
            accent_dark: colour("accent-dark", web.accent_dark)?,
            lists_authorities: web.list_authorities,
        };
        Ok(WebSettings {
            tls,
            client_certificates: web.client_certificates,
            country_header,
            registry_email: self.file.registry.email.clone(),
            geoip: web.geoip.map(in_folder),
            client_header,
            trusted_proxies,
            access_log,
            client_timeout: None,
            spool_limit: web.spool_limit,
            public_search: web.public_search.unwrap_or(false),
            public_url: web.public_url.map(public_url).transpose()?,
            site,
            configuration: shown::settings(&self.file, &self.print()?, &self.overridden),
        })
    }

    /// The configuration in force, as a file.
    pub(crate) fn print(&self) -> anyhow::Result<String> {
        let mut file = self.file.clone();
        let listen = self.listen();
        file.native.listen = Some(listen.native);
        file.web.listen = Some(listen.web);
        let version = &mut file.native.minimum_version;
        version.get_or_insert_with(|| MINIMUM_VERSION.to_string());
        Ok(toml::to_string(&file)?)
    }

    /// Names the file in an error.
    fn usable<T>(&self, read: anyhow::Result<T>) -> anyhow::Result<T> {
        read.with_context(|| format!("cannot use {}", self.folder.join(FILE).display()))
    }
}

/// The environment variable with the public URL.
pub(crate) const PUBLIC_URL: &str = "HANDFAST_PUBLIC_URL";
const MINIMUM_VERSION: &str = "2.0";
/// Enough for a hundred answers a second to each network, and too little for an attack.
const UDP_BYTES_PER_NETWORK: u64 = 50_000;
/// Enough for twenty thousand answers a second, and less than a line of 100 Mbit/s.
const UDP_BYTES_TOTAL: u64 = 10_000_000;

fn principals(texts: &[String]) -> anyhow::Result<Vec<Principal>> {
    let parse = |text: &String| match Principal::parse(text)? {
        who @ Principal::Identity { .. } => Ok(who),
        _ => bail!("{text} is nobody whom the protocol knows: write INDEX:HANDLE"),
    };
    texts.iter().map(parse).collect()
}

/// A version such as `2.7`, of those that are known.
fn protocol_version(text: &str) -> anyhow::Result<ProtocolVersion> {
    let minor = text.strip_prefix("2.").and_then(|minor| minor.parse().ok());
    let version = minor.map(|minor| ProtocolVersion::new(2, minor));
    let newest = ProtocolVersion::CURRENT;
    let known = version.filter(|version| *version <= newest);
    known.with_context(|| format!("minimum-version is {text}: write 2.0 to {newest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_version_is_one_that_is_known() {
        for (text, version) in [
            ("2.0", Some((2, 0))),
            ("2.7", Some((2, 7))),
            ("2.11", Some((2, 11))),
            ("2.12", None),
            ("2", None),
            ("3.0", None),
            ("two", None),
        ] {
            let read = protocol_version(text).ok();
            let version = version.map(|(major, minor)| ProtocolVersion::new(major, minor));
            assert_eq!(read, version, "{text}");
        }
    }
}
