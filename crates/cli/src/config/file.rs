//! The sections and keys of `handfast.toml`.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::acme::AcmeSection;

/// The name of the configuration file, in the data folder.
pub(crate) const FILE: &str = "handfast.toml";

/// The whole file.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    /// The version of the format; v1 if it is not said.
    #[serde(default)]
    pub(super) version: Version,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) resolvers: Vec<String>,
    #[serde(default)]
    pub(crate) native: NativeSection,
    #[serde(default)]
    pub(crate) web: WebSection,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) registry: RegistrySection,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) limits: LimitsSection,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) urn: Vec<UrnSection>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) dspace: Vec<DspaceSection>,
}

impl ConfigFile {
    /// Reads the file of a data folder; a folder without one has the standard configuration.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let file = folder.join(FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        toml::from_str(&text)
            .context("the configuration is not as etc/handfast.toml describes it")
            .with_context(|| format!("cannot use {}", file.display()))
    }

    /// Writes the file to a folder that has none.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let file = folder.join(FILE);
        let keys = toml::to_string(self)?;
        let text = format!("# etc/handfast.toml of the program describes every key.\n{keys}");
        let mut options = std::fs::OpenOptions::new();
        let created = options.write(true).create_new(true).open(&file);
        created
            .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()))
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// A `DSpace` repository that the server asks for handles.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DspaceSection {
    pub(super) endpoint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) prefixes: Vec<String>,
}

/// The native handle protocol.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NativeSection {
    pub(crate) listen: Option<SocketAddr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) administrators: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full_access: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replication: Vec<String>,
    pub(super) roots: Option<PathBuf>,
    #[serde(rename = "udp-allowance")]
    pub(super) udp_limit: Option<u64>,
    pub(super) minimum_version: Option<String>,
    #[serde(rename = "udp-total-allowance")]
    pub(super) udp_total_limit: Option<u64>,
}

/// The HTTP server.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WebSection {
    pub(crate) listen: Option<SocketAddr>,
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    pub(super) client_certificates: Option<bool>,
    pub(super) country_header: Option<String>,
    pub(super) geoip: Option<PathBuf>,
    pub(super) client_header: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) trusted_proxies: Vec<String>,
    pub(super) access_log: Option<AccessLogFormat>,
    pub(super) access_log_file: Option<PathBuf>,
    pub(super) spool_limit: Option<u64>,
    pub(super) public_search: Option<bool>,
    pub(super) public_url: Option<String>,
    pub(super) name: Option<String>,
    pub(super) logo: Option<PathBuf>,
    pub(super) contact: Option<String>,
    pub(super) footer: Option<String>,
    pub(super) accent: Option<String>,
    pub(super) accent_dark: Option<String>,
    pub(super) list_authorities: Option<bool>,
    pub(super) acme: Option<AcmeSection>,
}

/// The public registry of namespaces.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RegistrySection {
    pub(super) email: Option<String>,
    pub(super) default_case: Option<DefaultCase>,
    pub(super) grammar: Option<Grammar>,
}

/// The case rule of new prefixes.
#[derive(Clone, Copy, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DefaultCase {
    Insensitive,
    Sensitive,
}

/// The grammar of `info` URIs.
#[derive(Clone, Copy, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grammar {
    Draft,
    Rfc4452,
}

/// The limits of each account.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LimitsSection {
    pub(super) jobs_per_day: Option<u64>,
    pub(super) open_jobs: Option<u64>,
    pub(super) requested_authorities: Option<u64>,
}

/// Whether a section says nothing.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

/// The format of the access log.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AccessLogFormat {
    Common,
    Json,
    #[default]
    Off,
}

#[derive(Clone, Default, Deserialize, Serialize)]
pub(super) enum Version {
    #[default]
    #[serde(rename = "v1")]
    V1,
}

/// A URN namespace.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UrnSection {
    pub(super) nid: String,
    #[serde(default)]
    pub(super) delegated: bool,
    pub(super) characters: Option<String>,
    pub(super) pattern: Option<String>,
    #[serde(default)]
    pub(super) ignore_case: bool,
    #[serde(default)]
    pub(super) registrant: String,
    #[serde(default)]
    pub(super) affiliation: String,
    #[serde(default)]
    pub(super) address: String,
    #[serde(default)]
    pub(super) contact: String,
    #[serde(default)]
    pub(super) registration: String,
    #[serde(default)]
    pub(super) date: String,
}
