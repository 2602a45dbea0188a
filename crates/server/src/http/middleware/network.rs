//! Networks: ranges of addresses.

use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses such as `192.0.2.0/24`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    start: IpAddr,
    /// How many of the first bits count.
    bits: u8,
}

/// Something that is no range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a range of addresses: one looks like 192.0.2.0/24 or 2001:db8::/32")]
pub struct BadNetwork;

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let (start, bits) = match text.trim().split_once('/') {
            Some((start, bits)) => (start, Some(bits.parse().map_err(|_| BadNetwork)?)),
            None => (text.trim(), None),
        };
        let start: IpAddr = start.parse().map_err(|_| BadNetwork)?;
        let start = start.to_canonical();
        let most = if start.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most)
            .then_some(Self { start, bits })
            .ok_or(BadNetwork)
    }
}

impl Network {
    /// Whether an address is one of it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (network, address) = match (self.start, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let wide = |address| u128::from(u32::from(address)) << 96;
                (wide(network), wide(address))
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => (network.into(), address.into()),
            _ => return false,
        };
        let rest = 128_u32.saturating_sub(self.bits.into());
        (network ^ address).checked_shr(rest).unwrap_or_default() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_addresses_that_begin_as_it_does() {
        for (range, address, is_inside) in [
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("0.0.0.0/0", "192.0.2.7", true),
            ("192.0.2.0/24", "192.0.2.7", true),
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
        for bad in [
            "",
            "x/8",
            "192.0.2.0/33",
            "::/129",
            "192.0.2.0/",
            "192.0.2.0/-1",
            "1.2.3/8",
        ] {
            assert_eq!(bad.parse::<Network>(), Err(BadNetwork), "{bad}");
        }
    }
}
