//! Ranges of IP addresses.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// A range of addresses such as `192.0.2.0/24`, or one address. An IPv4 address that is mapped
/// into IPv6 (`::ffff:192.0.2.7`) counts as the IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(IpNet);

/// A text that is no range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a range of addresses: one looks like 192.0.2.0/24 or 2001:db8::/32")]
pub struct BadNetwork;

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let text = text.trim();
        let one_address = |_| {
            text.parse()
                .map(|address: IpAddr| address.to_canonical().into())
        };
        let network = text.parse().or_else(one_address);
        network.map(Self).map_err(|_| BadNetwork)
    }
}

impl Network {
    /// Whether the range contains an address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip] // One row per line.
    fn a_range_contains_the_addresses_that_begin_as_it_does() {
        for (range, address, is_inside) in [
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            (" 192.0.2.7 ", "192.0.2.7", true),
            ("::ffff:192.0.2.7", "192.0.2.7", true),
            ("0.0.0.0/0", "192.0.2.7", true),
            ("192.0.2.9/24", "192.0.2.7", true),
            ("192.0.2.8/31", "192.0.2.7", false),
            ("192.0.2.0/24", "::ffff:192.0.2.7", true),
            ("::/0", "192.0.2.7", false),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            let network: Network = range.parse().unwrap();
            let address = address.parse().unwrap();
            assert_eq!(network.contains(address), is_inside, "{range} {address}");
        }
        for bad in ["", "x/8", "192.0.2.0/33", "::/129", "192.0.2.0/", "192.0.2.0/-1", "1.2.3/8"] {
            assert_eq!(bad.parse::<Network>(), Err(BadNetwork), "{bad}");
        }
    }
}
