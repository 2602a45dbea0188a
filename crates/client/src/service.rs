//! Sites: what values say of who serves, and which server of them to ask.

use handfast_wire::{Codec, Opcode, Site, SiteInterface, SiteServer, Value, Version};

use crate::target::{ServerAddress, Way};
use crate::transport::Endpoint;

/// What is served: handles under a prefix, or prefix handles derived from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Handles,
    DerivedPrefixes,
}

impl Kind {
    /// The types of values that say so.
    pub(crate) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Handles => &["HS_SITE", "HS_SITE.6", "HS_SERV", "HS_NAMESPACE"],
            Self::DerivedPrefixes => &["HS_SITE.PREFIX", "HS_NA_DELEGATE", "HS_SERV.PREFIX"],
        }
    }
}

/// Who serves something: sites, and handles that say more.
#[derive(Debug, Default)]
pub(crate) struct Service {
    pub(crate) direct: Vec<Site>,
    pub(crate) elsewhere: Vec<String>,
}

/// What values say of who serves. Types are "matched case-sensitively" (`handle-protocol.md` §13).
pub(crate) fn sites_of(values: &[Value<'_>], kind: Kind) -> Service {
    let mut service = Service::default();
    for value in values {
        let (is_site, is_service) = match (kind, &*value.value_type) {
            (Kind::Handles, "HS_SITE" | "HS_SITE.6")
            | (Kind::DerivedPrefixes, "HS_SITE.PREFIX" | "HS_NA_DELEGATE") => (true, false),
            (Kind::Handles, "HS_SERV") | (Kind::DerivedPrefixes, "HS_SERV.PREFIX") => (false, true),
            _ => (false, false),
        };
        if is_site {
            // A site that cannot be read does not hide the others.
            let site = Site::from_bytes(&value.data).ok();
            service.direct.extend(site);
        }
        if is_service {
            let handle = std::str::from_utf8(&value.data).ok();
            service.elsewhere.extend(handle.map(ToString::to_string));
        }
    }
    service
}

/// A server, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    /// The version to speak to it in.
    pub(crate) version: Version,
    /// The serial number of its site record.
    pub(crate) serial: Option<u16>,
    /// Its public keys, of which one verifies what it signs.
    pub(crate) keys: Vec<Vec<u8>>,
}

/// What a server has to be good for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need<'a> {
    pub(crate) opcode: Opcode,
    pub(crate) handle: &'a str,
    /// Only primary sites will do.
    pub(crate) is_authoritative: bool,
    /// This server of each site, instead of the one that has the handle.
    pub(crate) server: Option<usize>,
    pub(crate) ways: &'a [Way],
}

/// The servers to ask, in the order to ask them in: "for each protocol in the order UDP, TCP, HTTP (…), for each site"
/// (`handle-protocol.md` §8.1).
pub(crate) fn servers(sites: &[Site], need: Need<'_>) -> Vec<Server> {
    let is_primary_only = need.is_authoritative || need.opcode.needs_admin_interface();
    let sites: Vec<Site> = sites
        .iter()
        .filter(|site| site.is_primary || !is_primary_only)
        .flat_map(with_other_addresses)
        .take(MOST_SITES)
        .collect();
    let servers = need.ways.iter().flat_map(|way| {
        let server = |site| server_of(site, need, *way);
        sites.iter().filter_map(server)
    });
    servers.collect()
}

fn server_of(site: &Site, need: Need<'_>, way: Way) -> Option<Server> {
    let number = match need.server {
        Some(number) => number,
        None => site.server_number_for(need.handle)?,
    };
    let server = site.servers.get(number)?;
    let interface = server.interfaces.iter().find(|interface| {
        interface.protocol == way.protocol() && suits(**interface, need.opcode)
    })?;
    let (major, minor) = site.protocol;
    Some(Server {
        endpoint: Endpoint {
            way,
            host: host(site, number, server)?,
            port: u16::try_from(interface.port).ok()?,
            path: attribute(site, "path", number).unwrap_or_default().into(),
        },
        version: Version::new(major, minor).negotiate(Version::CURRENT),
        serial: Some(site.serial),
        keys: vec![server.public_key.clone()],
    })
}

/// Whether an interface takes an operation. Lists are asked of either kind, as deployed clients do.
fn suits(interface: SiteInterface, opcode: Opcode) -> bool {
    match opcode {
        Opcode::Resolution => interface.query(),
        Opcode::ListHandles | Opcode::ListDerivedPrefixes => interface.kind != 0,
        opcode if opcode.needs_admin_interface() => interface.admin(),
        _ => interface.admin() || interface.query(),
    }
}

/// The address; "an all-zero address plus a `domain` attribute means 'look up the name'".
fn host(site: &Site, number: usize, server: &SiteServer) -> Option<String> {
    if server.address == [0; 16] {
        return attribute(site, "domain", number).map(ToString::to_string);
    }
    Some(server.ip().to_string())
}

/// An attribute of a server, by its place, or of the whole site.
fn attribute<'s>(site: &'s Site, name: &str, number: usize) -> Option<&'s str> {
    let find = |wanted: &str| {
        let mut attributes = site.attributes.iter();
        attributes.find(|(name, _)| name == wanted)
    };
    let found = find(&format!("{name}.{number}")).or_else(|| find(name))?;
    Some(&found.1)
}

/// The site, and again with the other addresses that it says its servers have.
fn with_other_addresses(site: &Site) -> Vec<Site> {
    let mut other = site.clone();
    let mut is_other = false;
    let is_alone = site.servers.len() == 1;
    for server in &mut other.servers {
        let named = format!("alt_addr.{}", server.id);
        let address = site.attributes.iter().find_map(|(name, value)| {
            let is_its = *name == named || is_alone && name == "alt_addr";
            value.trim().parse().ok().filter(|_| is_its)
        });
        if let Some(address) = address {
            server.address = SiteServer::address_of(address);
            is_other = true;
        }
    }
    let mut sites = vec![site.clone()];
    sites.extend(is_other.then_some(other));
    sites
}

/// How many sites are tried: a record may name any number that never answer.
const MOST_SITES: usize = 32;

/// A server of which the address is known, and perhaps the site that it says it belongs to.
pub(crate) fn servers_at(
    address: &ServerAddress,
    ways: &[Way],
    site: Option<&Site>,
) -> Vec<Server> {
    let version = site.map_or(Version::BLIND, |site| {
        let (major, minor) = site.protocol;
        Version::new(major, minor).negotiate(Version::CURRENT)
    });
    let keys = site.map_or_else(Vec::new, |site| {
        let servers = site.servers.iter();
        servers.map(|server| server.public_key.clone()).collect()
    });
    let ways = ways.iter().filter(|way| match way {
        Way::Http => address.is_http,
        Way::Udp | Way::Tcp => !address.is_http,
    });
    let server = |way: &Way| Server {
        endpoint: Endpoint {
            way: *way,
            host: address.host.clone(),
            port: address.port,
            path: address.path.clone(),
        },
        version,
        serial: site.map(|site| site.serial),
        keys: keys.clone(),
    };
    ways.map(server).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let server = |id: u8| SiteServer {
            id: id.into(),
            address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, id],
            public_key: vec![id],
            interfaces: [(2, 0), (3, 1), (3, 2)]
                .map(|(kind, protocol)| SiteInterface {
                    kind,
                    protocol,
                    port: 2641,
                })
                .to_vec(),
        };
        Site {
            version: 1,
            protocol: (2, 10),
            serial: 4,
            is_primary: true,
            hash_option: 2,
            servers: (1..=3).map(server).collect(),
            ..Site::default()
        }
    }

    fn need(opcode: Opcode, handle: &str) -> Need<'_> {
        Need {
            opcode,
            handle,
            is_authoritative: false,
            server: None,
            ways: Way::ALL,
        }
    }

    fn hosts(sites: &[Site], need: Need<'_>) -> Vec<String> {
        let servers = servers(sites, need);
        servers
            .iter()
            .map(|server| server.endpoint.to_string())
            .collect()
    }

    #[test]
    fn a_server_is_chosen_by_hash() {
        // 1894531649 mod 3 = 2, 720506085 mod 3 = 0.
        for (handle, id) in [("20.500.12345/ABC", 3), ("10.1045/may99-payette", 1)] {
            let expected =
                ["UDP", "TCP", "HTTP"].map(|way| format!("192.0.2.{id}:2641 over {way}"));
            assert_eq!(hosts(&[site()], need(Opcode::Resolution, handle)), expected);
        }
        let found = servers(&[site()], need(Opcode::Resolution, "20.500.12345/abc"));
        assert_eq!(found[0].keys, [vec![3]]);
        assert_eq!(found[0].version, Version::new(2, 10));
    }

    #[test]
    fn administration_goes_to_interfaces_of_primary_sites_that_take_it() {
        let mirror = Site {
            is_primary: false,
            ..site()
        };
        let create = need(Opcode::CreateHandle, "10.1045/may99-payette");
        let expected = ["192.0.2.1:2641 over TCP", "192.0.2.1:2641 over HTTP"];
        assert_eq!(hosts(&[mirror.clone(), site()], create), expected);
        let authoritative = Need {
            is_authoritative: true,
            ..need(Opcode::Resolution, "a/b")
        };
        assert_eq!(hosts(&[mirror], authoritative), [""; 0]);
    }

    #[test]
    fn other_addresses_and_names_of_servers_are_attributes() {
        let mut one = site();
        one.servers.truncate(1);
        one.attributes = vec![("alt_addr".into(), "2001:db8::1".into())];
        let ways = Need {
            ways: &[Way::Tcp],
            ..need(Opcode::Resolution, "a/b")
        };
        let expected = ["192.0.2.1:2641 over TCP", "[2001:db8::1]:2641 over TCP"];
        assert_eq!(hosts(&[one.clone()], ways), expected);
        one.servers[0].address = [0; 16];
        one.attributes = vec![("domain.0".into(), "hdl.example.org".into())];
        assert_eq!(hosts(&[one], ways), ["hdl.example.org:2641 over TCP"]);
    }
}
