//! Targets: which server to ask, and by which transport.

use std::fmt;
use std::str::FromStr;

use handfast_wire::Site;

use crate::error::ClientError;

/// A transport for messages.
///
/// ```
/// use handfast_client::Transport;
///
/// assert_eq!(Transport::Udp.to_string(), "UDP");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Datagrams, repeated until a reply comes.
    Udp,
    /// A connection for each request.
    Tcp,
    /// A connection with the message in the body of an HTTP request.
    Http,
}

impl Transport {
    /// All transports, in the order of attempts.
    pub(crate) const ALL: &[Self] = &[Self::Udp, Self::Tcp, Self::Http];
    /// Transports that never repeat a message. A challenge is answered once, and a message of a
    /// session counts once: a repeated datagram would look like a replay.
    pub(crate) const STEADY: &[Self] = &[Self::Tcp, Self::Http];

    /// Its number in site records.
    pub(crate) fn protocol(self) -> u8 {
        match self {
            Self::Udp => 0,
            Self::Tcp => 1,
            Self::Http => 2,
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Http => "HTTP",
        })
    }
}

/// Which server to ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// The server of the handle, found from the roots.
    #[default]
    Located,
    /// This server.
    Server(ServerAddress),
    /// The servers of these sites; the first that answers is used.
    Sites(Vec<Site>),
}

impl From<ServerAddress> for Target {
    fn from(address: ServerAddress) -> Self {
        Self::Server(address)
    }
}

impl From<Site> for Target {
    fn from(site: Site) -> Self {
        Self::Sites(vec![site])
    }
}

impl From<Vec<Site>> for Target {
    fn from(sites: Vec<Site>) -> Self {
        Self::Sites(sites)
    }
}

/// The address of a server: `HOST:PORT`, or `http://HOST:PORT` for the handle protocol through
/// HTTP.
///
/// ```
/// use handfast_client::ServerAddress;
///
/// let address: ServerAddress = "127.0.0.1:2641".parse()?;
/// assert_eq!(address.to_string(), "127.0.0.1:2641");
/// let address: ServerAddress = "http://[::1]:8000".parse()?;
/// assert_eq!(address.to_string(), "http://[::1]:8000");
/// // The port may be left out.
/// assert_eq!("localhost".parse::<ServerAddress>()?.to_string(), "localhost:2641");
/// # Ok::<_, handfast_client::ClientError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_http: bool,
    /// The path before handles in HTTP.
    pub(crate) path: String,
}

impl FromStr for ServerAddress {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        let wrong = || ClientError::Address(text.to_string());
        let (is_http, rest) = match text.strip_prefix("http://") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (place, path) = match rest.split_once('/') {
            Some((place, path)) if is_http => (place, path.trim_end_matches('/')),
            Some(_) => return Err(wrong()),
            None => (rest, ""),
        };
        let usual = if is_http { 80 } else { 2641 };
        let (host, port) = match place.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, ""))) => (host, usual),
            Some(Some((host, port))) => {
                let port = port.strip_prefix(':').ok_or_else(wrong)?;
                (host, port.parse().map_err(|_| wrong())?)
            }
            Some(None) => return Err(wrong()),
            // More than one colon without brackets is an IPv6 address without a port.
            None => match place.split_once(':') {
                Some((host, port)) if !port.contains(':') => {
                    (host, port.parse().map_err(|_| wrong())?)
                }
                _ => (place, usual),
            },
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        if host.is_empty() || port == 0 || !host.chars().all(is_part) {
            return Err(wrong());
        }
        if !path.chars().all(|c| c.is_ascii_graphic()) {
            return Err(wrong());
        }
        Ok(Self {
            host: host.to_string(),
            port,
            is_http,
            path: path.to_string(),
        })
    }
}

impl From<std::net::SocketAddr> for ServerAddress {
    fn from(address: std::net::SocketAddr) -> Self {
        Self {
            host: address.ip().to_string(),
            port: address.port(),
            is_http: false,
            path: String::new(),
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_http {
            f.write_str("http://")?;
        }
        write_host_port(f, &self.host, self.port)?;
        if self.path.is_empty() {
            Ok(())
        } else {
            write!(f, "/{}", self.path)
        }
    }
}

/// A host and a port, with brackets if the host has colons.
pub(crate) fn write_host_port(f: &mut impl fmt::Write, host: &str, port: u16) -> fmt::Result {
    if host.contains(':') {
        write!(f, "[{host}]:{port}")
    } else {
        write!(f, "{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, written) in [
            ("example.org", "example.org:2641"),
            ("example.org:7", "example.org:7"),
            ("::1", "[::1]:2641"),
            ("[::1]:7", "[::1]:7"),
            ("http://example.org", "http://example.org:80"),
            (
                "http://example.org:8000/hdl/",
                "http://example.org:8000/hdl",
            ),
        ] {
            let address: ServerAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), written);
        }
        for wrong in [
            "",
            ":7",
            "a:b",
            "a:0",
            "a/b",
            "[::1",
            "[::1]7",
            "a b:7",
            "https://a:7",
        ] {
            assert!(wrong.parse::<ServerAddress>().is_err(), "{wrong}");
        }
    }
}
