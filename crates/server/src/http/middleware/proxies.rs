//! Proxies in front of the server, and the clients behind them (`http-interfaces.md` B.9).
//!
//! Any client can send any header. The server believes such a header only if a trusted proxy
//! has sent it, and only as far as trusted proxies have written it: "walking from the right".

use std::net::{IpAddr, SocketAddr};

use hyper::header::{HeaderMap, HeaderName};

use crate::admission::network::Network;

/// The proxies that the server trusts, and their header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    /// The header that has the addresses, such as `X-Forwarded-For`.
    pub(crate) header: Option<HeaderName>,
    pub(crate) trusted: Vec<Network>,
}

/// The header in which a proxy names the protocol of its client.
const PROTOCOL: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// How many addresses of a header are looked at, from the right.
const MAX_HOPS: usize = 32;

impl Proxies {
    pub(crate) fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|one| one.contains(address))
    }

    /// Whether a trusted proxy has spoken TLS with its client, and says so.
    pub(crate) fn is_secure(headers: &HeaderMap) -> bool {
        let mut lines = headers.get_all(PROTOCOL).iter();
        // Exactly one line: the proxy has not written a second one.
        let said = lines.next().filter(|_| lines.next().is_none());
        said.is_some_and(|said| said.as_bytes().eq_ignore_ascii_case(b"https"))
    }

    /// The address of the client behind a trusted proxy: the last one that no trusted proxy has, or
    /// the first if all are trusted. `None` if nothing says so.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let lines = headers.get_all(self.header.as_ref()?).iter().rev();
        let addresses = lines
            .map(|line| line.to_str().unwrap_or_default())
            .flat_map(|line| line.rsplit(','))
            .take(MAX_HOPS);
        let mut client = None;
        for text in addresses {
            // Behind what cannot be read nothing can be believed.
            let Some(address) = address(text.trim()) else {
                break;
            };
            client = Some(address);
            if !self.is_trusted(address) {
                break;
            }
        }
        client
    }
}

/// An address, which may have a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let alone = bare.parse().ok();
    alone
        .or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()))
        .map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn addresses_are_believed_from_the_right() {
        let proxies = Proxies {
            header: Some(HeaderName::from_static("x-forwarded-for")),
            trusted: vec![
                "10.0.0.0/8".parse().unwrap(),
                "2001:db8::/32".parse().unwrap(),
            ],
        };
        for (lines, client) in [
            (&["203.0.113.9"][..], Some("203.0.113.9")),
            (&["198.51.100.1, 203.0.113.9"], Some("203.0.113.9")),
            (
                &["198.51.100.1", "203.0.113.9, 10.1.1.1"],
                Some("203.0.113.9"),
            ),
            (&["203.0.113.9:1234,10.1.1.1"], Some("203.0.113.9")),
            (&["[2001:db9::1]:80, [2001:db8::1]"], Some("2001:db9::1")),
            (&["::ffff:203.0.113.9"], Some("203.0.113.9")),
            (&["10.2.2.2, 10.1.1.1"], Some("10.2.2.2")),
            (&["203.0.113.9, nonsense"], None),
            (&["203.0.113.9, nonsense, 10.1.1.1"], Some("10.1.1.1")),
            (&[",,"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("X-Forwarded-For", HeaderValue::from_static(line));
            }
            let client = client.map(|client| client.parse::<IpAddr>().unwrap());
            assert_eq!(proxies.client(&headers), client, "{lines:?}");
        }
    }
}
