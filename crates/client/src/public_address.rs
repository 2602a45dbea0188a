//! Which addresses a server may connect to when the address comes from data of others.
//!
//! Anybody can publish a site record that names any address. A server that looks up keys for its
//! clients would otherwise be a way into the network that it stands in (server-side request
//! forgery). So only addresses that are reachable from everywhere count: neither those of the IANA
//! special-purpose registries (RFC 6890), nor those that carry an IPv4 address inside an IPv6
//! address, because a gateway may lead them to a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Whether a host is an address that everybody can reach. A host name is not: its address may
/// change between the check and the connection.
pub(crate) fn is_public_host(host: &str) -> bool {
    host.parse().is_ok_and(is_public)
}

/// Whether everybody can reach an address. An IPv4-mapped address counts as the IPv4 address that
/// it contains.
fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    !SPECIAL.iter().any(|network| network.contains(&address))
}

const fn v4(a: u8, b: u8, c: u8, length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), length))
}

const fn v6(a: u16, b: u16, c: u16, length: u8) -> IpNet {
    let start = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0);
    IpNet::V6(Ipv6Net::new_assert(start, length))
}

/// Networks that are not public, with the lengths of their prefixes.
const SPECIAL: [IpNet; 28] = [
    // "This network", RFC 791.
    v4(0, 0, 0, 8),
    // Private, RFC 1918; so are 172.16.0.0/12 and 192.168.0.0/16.
    v4(10, 0, 0, 8),
    // Shared by the customers of a provider, RFC 6598.
    v4(100, 64, 0, 10),
    // Loopback.
    v4(127, 0, 0, 8),
    // Link-local: clouds describe their machines at 169.254.169.254.
    v4(169, 254, 0, 16),
    v4(172, 16, 0, 12),
    // IETF protocol assignments, RFC 6890.
    v4(192, 0, 0, 24),
    // Documentation, RFC 5737; so are 198.51.100.0/24 and 203.0.113.0/24.
    v4(192, 0, 2, 24),
    // Relays from 6to4, RFC 7526.
    v4(192, 88, 99, 24),
    v4(192, 168, 0, 16),
    // Benchmarks, RFC 2544.
    v4(198, 18, 0, 15),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    // Multicast.
    v4(224, 0, 0, 4),
    // Reserved, with the broadcast address.
    v4(240, 0, 0, 4),
    // Unspecified, loopback, and IPv4-compatible: `::a.b.c.d`.
    v6(0, 0, 0, 96),
    // NAT64, RFC 6052 and RFC 8215: an IPv4 address is inside.
    v6(0x64, 0xFF9B, 0, 96),
    v6(0x64, 0xFF9B, 1, 48),
    // Discarded, RFC 6666.
    v6(0x100, 0, 0, 64),
    // IETF protocol assignments, RFC 2928: Teredo (2001::/32), benchmarks, ORCHID.
    v6(0x2001, 0, 0, 23),
    // Documentation, RFC 3849; so is 3fff::/20, RFC 9637.
    v6(0x2001, 0xDB8, 0, 32),
    // 6to4, RFC 3056: an IPv4 address is inside.
    v6(0x2002, 0, 0, 16),
    v6(0x3FFF, 0, 0, 20),
    // Segment routing, RFC 9602.
    v6(0x5F00, 0, 0, 16),
    // Unique local, RFC 4193.
    v6(0xFC00, 0, 0, 7),
    // Link-local.
    v6(0xFE80, 0, 0, 10),
    // Site-local, RFC 3879.
    v6(0xFEC0, 0, 0, 10),
    // Multicast.
    v6(0xFF00, 0, 0, 8),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards: a record that named `64:ff9b::a00:1`, `2002:7f00:1::` or `240.0.0.1` made the server
    /// connect to it.
    #[test]
    #[rustfmt::skip] // A row is a network: its first and last addresses.
    fn addresses_of_special_networks_are_not_public() {
        for row in [
            ["0.0.0.0", "0.255.255.255"],
            ["10.0.0.0", "10.255.255.255"],
            ["100.64.0.0", "100.127.255.255"],
            ["127.0.0.0", "127.255.255.255"],
            ["169.254.0.0", "169.254.169.254"],
            ["172.16.0.0", "172.31.255.255"],
            ["192.0.0.0", "192.0.0.255"],
            ["192.0.2.0", "192.0.2.255"],
            ["192.88.99.0", "192.88.99.255"],
            ["192.168.0.0", "192.168.255.255"],
            ["198.18.0.0", "198.19.255.255"],
            ["198.51.100.0", "198.51.100.255"],
            ["203.0.113.0", "203.0.113.255"],
            ["224.0.0.0", "239.255.255.255"],
            ["240.0.0.0", "255.255.255.255"],
            ["::", "::1"],
            // IPv4-compatible and IPv4-mapped, also with a public address in the first.
            ["::10.0.0.1", "::8.8.8.8"],
            ["::ffff:127.0.0.1", "::ffff:169.254.169.254"],
            ["64:ff9b::10.0.0.1", "64:ff9b::255.255.255.255"],
            ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
            ["100::", "100::ffff:ffff:ffff:ffff"],
            ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:2::1", "2001:20::1"],
            ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2002::", "2002:7f00:1::"],
            ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            // The address of a name can change, and other spellings of addresses are names.
            ["localhost", "example.org"],
            ["0177.0.0.1", "2130706433"],
        ] {
            for host in row {
                assert!(!is_public_host(host), "{host}");
            }
        }
    }

    #[test]
    fn the_neighbours_of_special_networks_are_public() {
        for host in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2a00:1450::1",
        ] {
            assert!(is_public_host(host), "{host}");
        }
    }
}
