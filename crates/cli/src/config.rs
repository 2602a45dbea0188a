//! Configuration: `handfast.toml` in the data folder.

mod acme;

use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use handfast_client::Roots;
use handfast_id::{
    CaseRule, DelegatedGrammar, HttpResolver, InfoGrammar, NssGrammar, Pattern, RuleBook,
    UrnProfile, UrnRegistration,
};
use handfast_registry::{Limits, Principal};
use handfast_server::{
    AccessLog, Addresses, DspaceSource, HeaderName, Network, PublicUrl, Tls, TlsFiles, UdpLimits,
    WebSettings,
};
use handfast_wire::Version as ProtocolVersion;
use serde::{Deserialize, Serialize};

/// The rules that a data folder's configuration sets; the standard ones where it has none.
pub(crate) fn rules(folder: &Path) -> anyhow::Result<RuleBook> {
    read(folder, Config::rules).map(Option::unwrap_or_default)
}

/// Who may say which prefixes the native door is responsible for.
pub(crate) fn administrators(folder: &Path) -> anyhow::Result<Vec<Principal>> {
    read(folder, Config::administrators).map(Option::unwrap_or_default)
}

/// Who may copy everything, as mirrors do.
pub(crate) fn replicators(folder: &Path) -> anyhow::Result<Vec<Principal>> {
    read(folder, Config::replicators).map(Option::unwrap_or_default)
}

/// Whether these administrators may do everything else, too.
pub(crate) fn has_full_access(folder: &Path) -> anyhow::Result<bool> {
    let full = read(folder, |config| Ok(config.native.full_access))?;
    Ok(full.unwrap_or_default())
}

/// The file of root information, if others may be asked for what is not kept here.
pub(crate) fn roots(folder: &Path) -> anyhow::Result<Option<Roots>> {
    let Some(file) = read(folder, |config| Ok(config.native.roots))?.flatten() else {
        return Ok(None);
    };
    let file = folder.join(file);
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let roots = Roots::read(&bytes).with_context(|| format!("cannot use {}", file.display()))?;
    Ok(Some(roots))
}

/// The repositories that are asked for handles of theirs.
pub(crate) fn repositories(folder: &Path) -> anyhow::Result<Vec<DspaceSource>> {
    let said = read(folder, |config| Ok(config.dspace))?.unwrap_or_default();
    let sources = said.into_iter().map(|said| DspaceSource {
        endpoint: said.endpoint,
        prefixes: said.prefixes,
    });
    Ok(sources.collect())
}

/// How many bytes a second are sent over UDP: 0 is no limit.
pub(crate) fn udp_limits(folder: &Path) -> anyhow::Result<UdpLimits> {
    let said = read(folder, |config| {
        let Native {
            udp_allowance,
            udp_total_allowance,
            ..
        } = config.native;
        Ok((udp_allowance, udp_total_allowance))
    })?;
    let (per_network, total) = said.unwrap_or_default();
    let limit = |bytes: u64| Some(bytes).filter(|bytes| *bytes > 0);
    Ok(UdpLimits {
        per_network: limit(per_network.unwrap_or(UDP_ALLOWANCE)),
        total: limit(total.unwrap_or(UDP_TOTAL_ALLOWANCE)),
    })
}

/// The oldest version of the native protocol in which logins, sessions and administration are taken.
pub(crate) fn minimum_version(folder: &Path) -> anyhow::Result<Option<ProtocolVersion>> {
    let said = read(folder, |config| {
        let said = config.native.minimum_version.as_deref();
        said.map(protocol_version).transpose()
    })?;
    // That is the oldest there is.
    let oldest = |version: &ProtocolVersion| *version > ProtocolVersion::new(2, 0);
    Ok(said.flatten().filter(oldest))
}

/// What is set unless something else is said.
const MINIMUM_VERSION: &str = "2.0";

/// Enough for a hundred answers a second to each network, and too little to drown anybody with.
const UDP_ALLOWANCE: u64 = 50_000;
/// Enough for twenty thousand answers a second, and less than a line of 100 Mbit/s.
const UDP_TOTAL_ALLOWANCE: u64 = 10_000_000;

/// How the web door is set up. Files are named from the data folder on.
pub(crate) fn web(folder: &Path) -> anyhow::Result<WebSettings> {
    let settings = read(folder, |config| {
        let Web {
            certificate,
            key,
            client_certificates,
            country_header,
            geoip,
            client_header,
            trusted_proxies,
            access_log,
            access_log_file,
            acme,
            spool_limit,
            public_search,
            public_url,
            ..
        } = config.web;
        let registry_email = config.registry.email;
        let form = access_log.unwrap_or_default();
        let access_log = (form != LogForm::Off).then(|| AccessLog {
            is_json: form == LogForm::Json,
            file: access_log_file.map(|file| folder.join(file)),
        });
        let header = |name: Option<String>| {
            let read = name.map(|name| {
                let read = HeaderName::from_bytes(name.as_bytes());
                read.with_context(|| format!("{name} is no name of a header"))
            });
            read.transpose()
        };
        let (country_header, client_header) = (header(country_header)?, header(client_header)?);
        let trusted_proxies: Vec<Network> = trusted_proxies
            .iter()
            .map(|range| range.parse().with_context(|| range.clone()))
            .collect::<Result<_, _>>()?;
        if client_header.is_some() && trusted_proxies.is_empty() {
            bail!("anybody can send a client-header: say in trusted-proxies who is believed");
        }
        let tls = match (certificate, key, acme) {
            (None, None, Some(acme)) => Tls::Acme(acme.settings(folder)?),
            (_, _, Some(_)) => bail!("a certificate comes from files or by ACME, not both"),
            (Some(certificate), Some(key), None) => Tls::Files(TlsFiles {
                certificate: folder.join(certificate),
                key: folder.join(key),
            }),
            (None, None, None) => Tls::Site,
            _ => bail!("a certificate needs its key: give both, certificate and key"),
        };
        Ok(WebSettings {
            tls,
            client_certificates,
            country_header,
            registry_email,
            geoip: geoip.map(|file| folder.join(file)),
            client_header,
            trusted_proxies,
            access_log,
            patience: None,
            spool_limit,
            public_search: public_search.unwrap_or(false),
            public_url: public_url.as_deref().map(read_public_url).transpose()?,
        })
    })?;
    Ok(settings.unwrap_or_default())
}

/// What one account may have at most.
pub(crate) fn limits(folder: &Path) -> anyhow::Result<Limits> {
    let said = read(folder, |config| Ok(config.limits))?.unwrap_or_default();
    let usual = Limits::default();
    Ok(Limits {
        jobs_per_day: said.jobs_per_day.unwrap_or(usual.jobs_per_day),
        open_jobs: said.open_jobs.unwrap_or(usual.open_jobs),
        requested_authorities: said
            .requested_authorities
            .unwrap_or(usual.requested_authorities),
    })
}

/// Where the doors are, unless someone says otherwise.
pub(crate) fn doors(folder: &Path) -> anyhow::Result<Addresses> {
    let said = read(folder, |config| {
        Ok((config.native.listen, config.web.listen))
    })?;
    let (native, web) = said.unwrap_or_default();
    let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
    Ok(Addresses {
        native: native.unwrap_or(local(2641)),
        web: web.unwrap_or(local(8000)),
    })
}

fn read_public_url(text: &str) -> anyhow::Result<PublicUrl> {
    text.parse()
        .with_context(|| format!("[web] public-url is {text}"))
}

/// The configuration as it holds, with what may have been said elsewhere.
pub(crate) fn print(
    folder: &Path,
    doors: Addresses,
    public_url: Option<&PublicUrl>,
) -> anyhow::Result<String> {
    let mut config = read(folder, Ok)?.unwrap_or_default();
    config.native.listen = Some(doors.native);
    config.web.listen = Some(doors.web);
    let minimum = &mut config.native.minimum_version;
    minimum.get_or_insert_with(|| MINIMUM_VERSION.to_string());
    if let Some(public_url) = public_url {
        config.web.public_url = Some(public_url.to_string());
    }
    Ok(toml::to_string(&config)?)
}

/// Writes a configuration to a folder that has none.
pub(crate) fn write(folder: &Path, config: &Config) -> anyhow::Result<()> {
    let file = folder.join(FILE);
    let said = toml::to_string(config)?;
    let text = format!("# etc/handfast.toml of the program describes every key.\n{said}");
    let mut options = std::fs::OpenOptions::new();
    let written = options.write(true).create_new(true).open(&file);
    written
        .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()))
        .with_context(|| format!("cannot write {}", file.display()))
}

/// The file of the configuration, in the data folder.
pub(crate) const FILE: &str = "handfast.toml";

/// Takes something out of a data folder's configuration, if it has one.
fn read<T>(
    folder: &Path,
    take: impl FnOnce(Config) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let file = folder.join(FILE);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let config = toml::from_str::<Config>(&text);
    config
        .context("the configuration is not as etc/handfast.toml describes it")
        .and_then(take)
        .map(Some)
        .with_context(|| format!("cannot use {}", file.display()))
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    version: Version,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resolvers: Vec<String>,
    #[serde(default)]
    pub(crate) native: Native,
    #[serde(default)]
    pub(crate) web: Web,
    #[serde(default, skip_serializing_if = "Register::is_silent")]
    registry: Register,
    #[serde(default, skip_serializing_if = "LimitsSection::is_silent")]
    limits: LimitsSection,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    urn: Vec<Namespace>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dspace: Vec<Repository>,
}

/// A repository of `DSpace` that is asked for handles.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    endpoint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prefixes: Vec<String>,
}

/// The native door.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Native {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<SocketAddr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) administrators: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full_access: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replication: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) roots: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) udp_allowance: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minimum_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) udp_total_allowance: Option<u64>,
}

/// The web door.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Web {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_certificates: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country_header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geoip: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_header: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trusted_proxies: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_log: Option<LogForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_log_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spool_limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) public_search: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) public_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acme: Option<acme::Section>,
}

/// The public register of namespaces.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Register {
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_case: Option<DefaultCase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<Grammar>,
}

/// The case rule of new prefixes.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DefaultCase {
    Insensitive,
    Sensitive,
}

/// The grammar of `info` URIs.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grammar {
    Draft,
    Rfc4452,
}

impl Register {
    fn is_silent(&self) -> bool {
        self.email.is_none() && self.default_case.is_none() && self.grammar.is_none()
    }
}

/// What one account may have at most.
#[derive(Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LimitsSection {
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs_per_day: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_jobs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_authorities: Option<u64>,
}

impl LimitsSection {
    fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

/// What lines of the access log look like.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogForm {
    Common,
    Json,
    #[default]
    Off,
}

#[derive(Default, Deserialize, Serialize)]
enum Version {
    #[default]
    #[serde(rename = "v1")]
    V1,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Namespace {
    nid: String,
    #[serde(default)]
    delegated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    registrant: String,
    #[serde(default)]
    affiliation: String,
    #[serde(default)]
    address: String,
    #[serde(default)]
    contact: String,
    #[serde(default)]
    registration: String,
    #[serde(default)]
    date: String,
}

impl Config {
    fn administrators(self) -> anyhow::Result<Vec<Principal>> {
        principals(&self.native.administrators)
    }

    fn replicators(self) -> anyhow::Result<Vec<Principal>> {
        principals(&self.native.replication)
    }

    fn rules(self) -> anyhow::Result<RuleBook> {
        let Version::V1 = self.version;
        let mut rules = RuleBook::standard();
        for resolver in &self.resolvers {
            let read = HttpResolver::parse(resolver);
            rules = rules.with_resolver(read.with_context(|| format!("resolver {resolver}"))?);
        }
        if let Some(DefaultCase::Sensitive) = self.registry.default_case {
            rules = rules.with_new_prefix_case(CaseRule::Sensitive);
        }
        if let Some(Grammar::Draft) = self.registry.grammar {
            rules = rules.with_info_grammar(InfoGrammar::Draft);
        }
        for namespace in self.urn {
            let nid = namespace.nid.clone();
            rules =
                rules.with_urn_profile(namespace.profile().with_context(|| format!("urn {nid}"))?);
        }
        Ok(rules)
    }
}

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

impl Namespace {
    fn profile(self) -> anyhow::Result<UrnProfile> {
        let grammar = match (self.delegated, self.pattern, self.characters) {
            (true, Some(_), _) => bail!("a namespace is delegated or has a pattern, not both"),
            (true, None, Some(extra)) => NssGrammar::Delegated(DelegatedGrammar::new(&extra)?),
            (true, None, None) => NssGrammar::harvard(),
            (false, _, Some(_)) => {
                bail!("characters are those of authority names: set delegated = true")
            }
            (false, Some(pattern), None) => NssGrammar::Matching(Pattern::new(&pattern)?),
            (false, None, None) => NssGrammar::Any,
        };
        let registration = UrnRegistration {
            registrant: Cow::Owned(self.registrant),
            affiliation: Cow::Owned(self.affiliation),
            address: Cow::Owned(self.address),
            contact: Cow::Owned(self.contact),
            version: Cow::Owned(self.registration),
            date: Cow::Owned(self.date),
        };
        let profile = UrnProfile::new(&self.nid, grammar)?;
        Ok(profile
            .ignoring_case(self.ignore_case)
            .with_registration(registration))
    }
}

#[cfg(test)]
mod tests {
    use handfast_id::{Rules, Urn};

    use super::*;

    fn read(text: &str) -> anyhow::Result<RuleBook> {
        toml::from_str::<Config>(text)?.rules()
    }

    #[test]
    fn urn_10_namespaces_are_configured_not_coded() {
        let rules = read(
            r#"
            version = "v1"
            resolvers = ["https://hdl.example.org"]
            [[urn]]
            nid = "urn-42"
            delegated = true
            ignore-case = true
            [[urn]]
            nid = "isbn"
            pattern = "[0-9]{13}"
            "#,
        )
        .unwrap();
        let urn = Urn::parse_with("urn:urn-42:LIB.Maps:Atlas", &rules).unwrap();
        assert_eq!(urn.to_string(), "urn:urn-42:lib.maps:atlas");
        assert!(Urn::parse_with("urn:isbn:1", &rules).is_err());
        assert_eq!(rules.resolvers().len(), 1);
        // Somebody else can be named as the registrant of one that the program knows.
        let rules = read(
            r#"
            version = "v1"
            [[urn]]
            nid = "urn-3"
            delegated = true
            ignore-case = true
            registrant = "A. Successor"
            registration = "2"
            date = "2030-01-01"
            "#,
        )
        .unwrap();
        let registration = rules.urn_profile("urn-3").unwrap().registration();
        assert_eq!(
            [&registration.registrant, &registration.version],
            ["A. Successor", "2"]
        );
        let urn = Urn::parse_with("urn:urn-3:HUL.OIS:Home", &rules).unwrap();
        assert_eq!(urn.to_string(), "urn:urn-3:hul.ois:home");
    }

    #[test]
    fn hdl_6_info_3_the_registry_has_a_default_case_and_a_grammar() {
        let text =
            "version = \"v1\"\n[registry]\ndefault-case = \"sensitive\"\ngrammar = \"draft\"";
        let rules = read(text).unwrap();
        assert_eq!(rules.new_prefix_case(), CaseRule::Sensitive);
        assert_eq!(rules.info_grammar(), InfoGrammar::Draft);
        let rules = read("version = \"v1\"").unwrap();
        assert_eq!(rules.new_prefix_case(), CaseRule::AsciiInsensitive);
        assert!(read("version = \"v1\"\n[registry]\ndefault-case = \"upper\"").is_err());
    }

    #[test]
    fn the_reference_file_can_be_read_with_its_examples() {
        let reference = include_str!("../../../etc/handfast.toml");
        assert!(read(reference).is_ok());
        let example = |line: &&str| line.starts_with("# [") || line.contains(" = ");
        let lines = reference
            .lines()
            .filter(example)
            .map(|line| line.trim_start_matches("# "));
        let mut text: Vec<&str> = lines.filter(|line| !line.starts_with("pattern")).collect();
        text.dedup();
        assert!(read(&text.join("\n")).is_ok(), "{}", text.join("\n"));
    }

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

    #[test]
    fn what_is_not_known_is_an_error_that_names_it() {
        for (text, named) in [
            ("version = \"v2\"", "v2"),
            ("version = \"v1\"\nresolver = []", "resolver"),
            (
                "version = \"v1\"\n[[urn]]\nnid = \"x\"",
                "namespace identifier",
            ),
            (
                "version = \"v1\"\n[[urn]]\nnid = \"xy\"\ndelegated = true\npattern = \"x\"",
                "not both",
            ),
        ] {
            let error = read(text).err().unwrap();
            assert!(format!("{error:#}").contains(named), "{error:#}");
        }
    }
}
