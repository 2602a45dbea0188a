//! The hosts of this server.
//!
//! `Host` says which server a client means, and anybody can write anything there: a page of
//! another site that leads a browser here under a name of its own, or a client whose response a
//! cache stores for everybody. So the server makes no absolute URL from a host that is not its
//! own, and rejects requests with credentials there.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode, Uri};
use rustls::sign::CertifiedKey;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::http::api_v1::problem::Problem;
use crate::http::connection::request_body::Incoming;
use crate::http::connection::tls::CurrentCertificate;
use crate::http::response::Body;
use crate::http::{Caller, Part};
use crate::runtime::lock::Lock;
use crate::setup::identity::Identity;

/// The URL under which clients reach the server: `https://pid.example.org`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: &'static str,
    host: HostPort,
}

/// A text that is not the URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a public URL is http:// or https://, a host and perhaps a port, and nothing else, such as \
     https://pid.example.org"
)]
pub struct BadPublicUrl;

impl FromStr for PublicUrl {
    type Err = BadPublicUrl;

    fn from_str(text: &str) -> Result<Self, BadPublicUrl> {
        let text = text.strip_suffix('/').unwrap_or(text);
        let (scheme, host) = text.split_once("://").ok_or(BadPublicUrl)?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => "http",
            "https" => "https",
            _ => return Err(BadPublicUrl),
        };
        let host = HostPort::parse(host).ok_or(BadPublicUrl)?;
        Ok(Self { scheme, host })
    }
}

impl PublicUrl {
    /// The host alone, without brackets and port: for a certificate.
    pub(crate) fn host_name(&self) -> String {
        match &self.host.host {
            HostName::Address(address) => address.to_string(),
            HostName::Name(name) => name.clone(),
        }
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)
    }
}

/// The base of links for people: the public URL, or the address where the server listens. On this
/// machine that is plain HTTP, over a network a password would be readable on the way.
///
/// ```
/// use handfast_server::base_url;
///
/// assert_eq!(base_url(None, "0.0.0.0:8000".parse()?), "http://127.0.0.1:8000");
/// assert_eq!(base_url(None, "192.0.2.7:8000".parse()?), "https://192.0.2.7:8000");
/// assert_eq!(base_url(None, "[::1]:443".parse()?), "https://[::1]");
/// let public = "https://pid.example.org/".parse().unwrap();
/// assert_eq!(base_url(Some(&public), "0.0.0.0:8000".parse()?), "https://pid.example.org");
/// # Ok::<_, std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn base_url(public: Option<&PublicUrl>, listen: SocketAddr) -> String {
    if let Some(public) = public {
        return public.to_string();
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let is_plain = ip.to_canonical().is_loopback() && listen.port() != 443;
    let scheme = if is_plain { "http" } else { "https" };
    let host = HostPort {
        host: HostName::Address(ip),
        port: Some(listen.port()).filter(|port| *port != 443),
    };
    format!("{scheme}://{host}")
}

/// A host, in lower case, and perhaps a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostPort {
    host: HostName,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Address(IpAddr),
    Name(String),
}

impl HostPort {
    fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            // The colons of an address in brackets are not those of a port.
            Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        let host = if let Some(v6) = host.strip_prefix('[') {
            let v6: std::net::Ipv6Addr = v6.strip_suffix(']')?.parse().ok()?;
            HostName::Address(IpAddr::V6(v6).to_canonical())
        } else if let Ok(v4) = host.parse::<std::net::Ipv4Addr>() {
            HostName::Address(IpAddr::V4(v4))
        } else {
            let name = host.strip_suffix('.').unwrap_or(host);
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
            if name.is_empty() || name.len() > 253 || !name.bytes().all(fits) {
                return None;
            }
            HostName::Name(name.to_ascii_lowercase())
        };
        Some(Self { host, port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostName::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]")?,
            HostName::Address(v4) => write!(f, "{v4}")?,
            HostName::Name(name) => f.write_str(name)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// The hosts that mean this server.
pub(crate) struct OwnHosts {
    public: Option<PublicUrl>,
    listen: SocketAddr,
    /// The names of this machine, in lower case; the one that it calls itself first.
    names: Vec<String>,
    /// The addresses that the site record says.
    addresses: Vec<IpAddr>,
    certificate: Arc<dyn CurrentCertificate>,
    certified: Lock<CertifiedHosts>,
}

/// The names of a certificate.
type CertifiedHosts = Option<(Arc<CertifiedKey>, Arc<[HostName]>)>;

impl OwnHosts {
    /// The URL that the settings say; empty if they say none.
    pub(crate) fn public_url(&self) -> String {
        let public = self.public.as_ref();
        public.map(ToString::to_string).unwrap_or_default()
    }

    pub(crate) fn new(
        public: Option<PublicUrl>,
        listen: SocketAddr,
        identity: &Identity,
        certificate: Arc<dyn CurrentCertificate>,
    ) -> Self {
        let servers = identity.site().servers.iter();
        let said = servers.map(|server| server.ip().to_canonical());
        Self {
            public,
            listen,
            names: machine_names(),
            addresses: said.filter(|address| !address.is_unspecified()).collect(),
            certificate,
            certified: Lock::new(None),
        }
    }

    /// The base of absolute URLs: as it is configured, or as the client has called this server if
    /// that is one of its hosts, or where it listens.
    pub(crate) fn base(&self, caller: &Caller, uri: &Uri, headers: &HeaderMap) -> String {
        if let Some(public) = &self.public {
            return public.to_string();
        }
        let scheme = if caller.is_secure { "https" } else { "http" };
        let said = said(uri, headers).and_then(HostPort::parse);
        match said.filter(|said| self.is_ours(said, caller)) {
            Some(host) => format!("{scheme}://{host}"),
            None => format!("{scheme}://{}", self.own()),
        }
    }

    /// The base URLs under which this server is reached (`URI-13`): `public-url`, the address where
    /// it listens, and the names of this machine.
    pub(crate) fn urls(&self) -> Vec<String> {
        let port = self.listen.port();
        let scheme = if port == 443 { "https" } else { "http" };
        let mut urls = vec![format!("{scheme}://{LOCALHOST}:{port}")];
        if !self.listen.ip().is_unspecified() {
            urls.push(format!("{scheme}://{}", self.listen));
        }
        urls.extend(self.public.as_ref().map(ToString::to_string));
        for name in &self.names {
            let url = format!("{scheme}://{name}:{port}");
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
        urls
    }

    /// The URL of this server for a client on this machine.
    fn own(&self) -> HostPort {
        let ip = self.listen.ip();
        let host = match self.names.first() {
            Some(name) if ip.is_unspecified() => HostName::Name(name.clone()),
            None if ip.is_unspecified() => HostName::Name(LOCALHOST.into()),
            _ => HostName::Address(ip.to_canonical()),
        };
        let port = Some(self.listen.port());
        HostPort { host, port }
    }

    fn is_ours(&self, said: &HostPort, caller: &Caller) -> bool {
        let public_port = self.public.as_ref().and_then(|own| own.host.port);
        let is_port = said.port.is_none_or(|port| {
            [80, 443, self.listen.port()].contains(&port) || public_port == Some(port)
        });
        is_port && self.is_our_host(&said.host, caller)
    }

    fn is_our_host(&self, host: &HostName, caller: &Caller) -> bool {
        let public = self.public.as_ref();
        let is_public = public.is_some_and(|own| own.host.host == *host);
        let is_known = match host {
            HostName::Address(address) => {
                let local = caller.local.map(|local| local.ip().to_canonical());
                self.listen.ip().to_canonical() == *address
                    || local == Some(*address)
                    || self.addresses.contains(address)
            }
            HostName::Name(name) => name == LOCALHOST || self.names.contains(name),
        };
        is_public || is_known || self.certified().iter().any(|own| own.covers(host))
    }

    /// The names of the certificate that is used now.
    fn certified(&self) -> Arc<[HostName]> {
        let current = self.certificate.current();
        let mut certified = self.certified.lock();
        if let Some((key, names)) = &*certified
            && Arc::ptr_eq(key, &current)
        {
            return Arc::clone(names);
        }
        let names: Arc<[HostName]> = certificate_names(&current).unwrap_or_default().into();
        *certified = Some((current, Arc::clone(&names)));
        names
    }

    /// Refuses a request that uses credentials where its host is not one of ours. The native
    /// protocol in HTTP is taken under any name: its messages say themselves who sent them, and a
    /// browser has nothing to add.
    pub(crate) fn refuse(
        &self,
        part: Part,
        caller: &Caller,
        request: &Request<Incoming>,
    ) -> Option<Response<Body>> {
        if !uses_credentials(part, caller, request) {
            return None;
        }
        // Before HTTP/1.1 a client need not say.
        let text = said(request.uri(), request.headers())?;
        let host = HostPort::parse(text);
        if host.is_some_and(|host| self.is_ours(&host, caller)) {
            return None;
        }
        tracing::debug!(
            host = text,
            "a request with credentials was for another host"
        );
        let text = "this server does not know the host of this request as its own, and takes no \
            credentials under it";
        let problem = Problem::new(StatusCode::MISDIRECTED_REQUEST, "other-host", text);
        let hint = "set public-url in [web] of handfast.toml to the URL that clients use";
        Some(problem.hint(hint).into_response())
    }
}

impl HostName {
    /// Whether a name of a certificate, which may begin with `*.`, is for a host.
    fn covers(&self, host: &Self) -> bool {
        match (self, host) {
            (Self::Name(own), Self::Name(name)) => match own.strip_prefix("*.") {
                Some(own) => name.split_once('.').is_some_and(|(_, rest)| rest == own),
                None => own == name,
            },
            _ => self == host,
        }
    }
}

const LOCALHOST: &str = "localhost";

/// The host that a request says: in its target, which goes before its header (RFC 9112 §3.2.2).
fn said<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    let header = || headers.get(HOST).map(|host| host.to_str().unwrap_or(""));
    uri.authority().map(Authority::as_str).or_else(header)
}

/// Whether a request brings credentials, or asks for what needs some.
fn uses_credentials(part: Part, caller: &Caller, request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    let is_read = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    match part {
        Part::Tunnel | Part::Static => false,
        // A page of another site could lead a browser here under a name of its own.
        Part::Console => true,
        _ if headers.contains_key(AUTHORIZATION) || headers.contains_key(COOKIE) => true,
        Part::Rest => caller.certificate.is_some() || !is_read,
        Part::V1 => !is_read,
        _ => false,
    }
}

fn certificate_names(key: &CertifiedKey) -> Option<Vec<HostName>> {
    let (_, certificate) = X509Certificate::from_der(key.cert.first()?).ok()?;
    let names = certificate.subject_alternative_name().ok()??;
    let names = names.value.general_names.iter();
    let read = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(HostName::Name(name.to_ascii_lowercase())),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let v6 = <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
            let address = v4.or(v6).ok()?;
            Some(HostName::Address(address.to_canonical()))
        }
        _ => None,
    });
    Some(read.collect())
}

/// The names of this machine: its host name, and those in its list of hosts.
fn machine_names() -> Vec<String> {
    let name = nix::unistd::gethostname().unwrap_or_default();
    let name = name.to_string_lossy().to_ascii_lowercase();
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    names_in(&name, &hosts)
}

/// A name, its short form, and what a list of hosts has beside it.
fn names_in(name: &str, hosts: &str) -> Vec<String> {
    if name.is_empty() {
        return Vec::new();
    }
    let mut names = vec![name.to_string()];
    if let Some((short, _)) = name.split_once('.') {
        names.push(short.to_string());
    }
    for line in hosts.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let beside = line.split_whitespace().skip(1);
        let beside: Vec<_> = beside.map(str::to_ascii_lowercase).collect();
        if beside.iter().any(|one| names.contains(one)) {
            names.extend(beside);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_scheme_a_host_and_perhaps_a_port() {
        for (text, shown) in [
            ("https://PID.example.org/", "https://pid.example.org"),
            ("http://pid.example:8000", "http://pid.example:8000"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("HTTP://192.0.2.1", "http://192.0.2.1"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
        for bad in [
            "",
            "pid.example.org",
            "ftp://pid.example.org",
            "https://pid.example.org/path",
            "https://user@pid.example.org",
            "https://pid.example.org:port",
            "https://",
            "https://a b",
            "https://pid.example.org?x",
            "https://[::1",
        ] {
            assert_eq!(bad.parse::<PublicUrl>(), Err(BadPublicUrl), "{bad}");
        }
    }

    #[test]
    fn a_machine_has_the_names_that_its_list_of_hosts_says() {
        let hosts = "127.0.0.1 localhost\n192.0.2.1 pid.example.org PID # us\n192.0.2.2 other\n";
        assert_eq!(names_in("pid", hosts), ["pid", "pid.example.org", "pid"]);
        let names = names_in("pid.example.org", "");
        assert_eq!(names, ["pid.example.org", "pid"]);
        assert!(names_in("", hosts).is_empty());
    }

    #[test]
    fn a_wildcard_of_a_certificate_is_for_one_label() {
        let name = |text: &str| HostName::Name(text.into());
        assert!(name("*.example.org").covers(&name("pid.example.org")));
        assert!(!name("*.example.org").covers(&name("a.pid.example.org")));
        assert!(!name("*.example.org").covers(&name("example.org")));
        assert!(name("pid.example.org").covers(&name("pid.example.org")));
    }

    #[test]
    fn a_certificate_says_names_and_addresses() {
        let names = ["PID.example.org", "*.lib.example", "192.0.2.1"];
        let params = rcgen::CertificateParams::new(names.map(String::from)).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let chain = vec![params.self_signed(&key).unwrap().der().clone()];
        let der = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let certified = CertifiedKey::from_der(chain, der.into(), &provider).unwrap();
        let found = certificate_names(&certified).unwrap();
        let is_certified = |text: &str| {
            let host = HostPort::parse(text).unwrap().host;
            found.iter().any(|own| own.covers(&host))
        };
        for own in [
            "pid.example.org",
            "a.lib.example",
            "192.0.2.1",
            "Pid.Example.Org.",
        ] {
            assert!(is_certified(own), "{own}");
        }
        for other in ["example.org", "lib.example", "192.0.2.2", "localhost"] {
            assert!(!is_certified(other), "{other}");
        }
    }
}
