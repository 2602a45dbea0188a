//! Sites: which servers serve a handle, and which of them to ask.

use handfast_wire::{Codec, Opcode, Site, SiteInterface, SiteServer, Value, Version};

use crate::public_address::is_public_host;
use crate::roots::Roots;
use crate::target::{ServerAddress, Transport};
use crate::transport::Endpoint;

/// What a site serves: handles under a prefix, or prefix handles derived from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Handles,
    DerivedPrefixes,
}

impl Kind {
    /// The types of its values.
    pub(crate) fn types(self) -> &'static [&'static str] {
        match self {
            Self::Handles => &["HS_SITE", "HS_SITE.6", "HS_SERV", "HS_NAMESPACE"],
            Self::DerivedPrefixes => &["HS_SITE.PREFIX", "HS_NA_DELEGATE", "HS_SERV.PREFIX"],
        }
    }
}

/// The servers of a handle: sites, and service handles that name more.
#[derive(Debug, Default)]
pub(crate) struct Service {
    pub(crate) direct: Vec<Site>,
    pub(crate) service_handles: Vec<String>,
}

impl Service {
    /// The service that a handle describes.
    pub(crate) fn named(handle: String) -> Self {
        Self {
            direct: Vec::new(),
            service_handles: vec![handle],
        }
    }
}

/// Reads the service from values. Types are "matched case-sensitively" (`handle-protocol.md` §13).
pub(crate) fn sites_of(values: &[Value<'_>], kind: Kind) -> Service {
    let mut service = Service::default();
    for value in values {
        match (kind, &*value.value_type) {
            (Kind::Handles, "HS_SITE" | "HS_SITE.6")
            | (Kind::DerivedPrefixes, "HS_SITE.PREFIX" | "HS_NA_DELEGATE") => {
                // An unreadable site does not affect the others.
                service.direct.extend(Site::from_bytes(&value.data));
            }
            (Kind::Handles, "HS_SERV") | (Kind::DerivedPrefixes, "HS_SERV.PREFIX") => {
                let handle = String::from_utf8(value.data.to_vec());
                service.service_handles.extend(handle);
            }
            _ => {}
        }
    }
    service
}

/// A server, and its known properties.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    /// The protocol version to use.
    pub(crate) version: Version,
    /// The serial number of its site record.
    pub(crate) serial: Option<u16>,
    /// Its public keys, one of which verifies its signatures.
    pub(crate) keys: Vec<Vec<u8>>,
}

/// The requirements on a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need<'a> {
    pub(crate) opcode: Opcode,
    pub(crate) handle: &'a str,
    /// Primary sites only.
    pub(crate) is_authoritative: bool,
    /// Public addresses only, unless the roots name the site.
    pub(crate) is_careful: bool,
    /// This server of each site, instead of the one of the handle.
    pub(crate) server: Option<usize>,
    pub(crate) transports: &'a [Transport],
}

/// The servers in the order of attempts: "for each protocol in the order UDP, TCP, HTTP (…), for
/// each site" (`handle-protocol.md` §8.1).
pub(crate) fn servers(sites: &[Site], roots: &Roots, need: Need<'_>) -> Vec<Server> {
    let is_primary_only = need.is_authoritative || need.opcode.needs_admin_interface();
    let sites: Vec<(bool, Site)> = sites
        .iter()
        .filter(|site| site.is_primary || !is_primary_only)
        .flat_map(|site| {
            let is_any = !need.is_careful || roots.name(site);
            let all = with_other_addresses(site).into_iter();
            all.map(move |site| (is_any, site))
        })
        .take(MAX_TRIED_SITES)
        .collect();
    let servers = need.transports.iter().flat_map(|transport| {
        let server = |(is_any, site): &(bool, Site)| {
            let server = server_of(site, need, *transport)?;
            (*is_any || is_public_host(&server.endpoint.host)).then_some(server)
        };
        sites.iter().filter_map(server)
    });
    servers.collect()
}

fn server_of(site: &Site, need: Need<'_>, transport: Transport) -> Option<Server> {
    let number = match need.server {
        Some(number) => number,
        None => site.server_number_for(need.handle)?,
    };
    let server = site.servers.get(number)?;
    let interface = server.interfaces.iter().find(|interface| {
        interface.protocol == transport.protocol() && suits(**interface, need.opcode)
    })?;
    Some(Server {
        endpoint: Endpoint {
            transport,
            host: host(site, number, server)?,
            port: u16::try_from(interface.port).ok()?,
            path: path(site, number)?,
        },
        version: version_of(site),
        serial: Some(site.serial),
        keys: vec![server.public_key.clone()],
    })
}

fn version_of(site: &Site) -> Version {
    let (major, minor) = site.protocol;
    Version::new(major, minor).negotiate(Version::CURRENT)
}

/// Whether an interface accepts an operation. Lists go to either kind, as deployed clients do.
fn suits(interface: SiteInterface, opcode: Opcode) -> bool {
    match opcode {
        Opcode::Resolution => interface.query(),
        Opcode::ListHandles | Opcode::ListDerivedPrefixes => interface.kind != 0,
        opcode if opcode.needs_admin_interface() => interface.admin(),
        _ => interface.admin() || interface.query(),
    }
}

/// The path before handles; `None` if it could be more than a path.
fn path(site: &Site, number: usize) -> Option<String> {
    let path = attribute(site, "path", number).unwrap_or_default();
    let is_path = path.bytes().all(|byte| byte.is_ascii_graphic());
    is_path.then(|| path.to_string())
}

/// The address; "an all-zero address plus a `domain` attribute means 'look up the name'".
fn host(site: &Site, number: usize, server: &SiteServer) -> Option<String> {
    if server.address == [0; 16] {
        let domain = attribute(site, "domain", number)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        return domain.bytes().all(is_name).then(|| domain.to_string());
    }
    Some(server.ip().to_string())
}

/// An attribute of a server, by its index, or of the whole site.
fn attribute<'s>(site: &'s Site, name: &str, number: usize) -> Option<&'s str> {
    let find = |wanted: &str| {
        let mut attributes = site.attributes.iter();
        attributes.find(|(name, _)| name == wanted)
    };
    let found = find(&format!("{name}.{number}")).or_else(|| find(name))?;
    Some(&found.1)
}

/// The site, and again with the other addresses of its servers.
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

/// The maximum number of sites that are tried: a record may name any number that never answer.
const MAX_TRIED_SITES: usize = 32;

/// A server with a known address, and perhaps its site.
pub(crate) fn servers_at(
    address: &ServerAddress,
    transports: &[Transport],
    site: Option<&Site>,
) -> Vec<Server> {
    let version = site.map_or(Version::BLIND, version_of);
    let servers = site.iter().flat_map(|site| &site.servers);
    let keys: Vec<_> = servers.map(|server| server.public_key.clone()).collect();
    // HTTP has a port of its own.
    let is_http = |transport: &Transport| *transport == Transport::Http;
    let is_http_only = transports.iter().all(is_http);
    let transports = transports.iter();
    let transports = transports.filter(|transport| is_http(transport) == is_http_only);
    let server = |transport: &Transport| Server {
        endpoint: Endpoint {
            transport: *transport,
            host: address.host.clone(),
            port: address.port,
            path: address.path.clone(),
        },
        version,
        serial: site.map(|site| site.serial),
        keys: keys.clone(),
    };
    transports.map(server).collect()
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
            is_careful: false,
            server: None,
            transports: Transport::ALL,
        }
    }

    fn hosts(sites: &[Site], need: Need<'_>) -> Vec<String> {
        let servers = servers(sites, &Roots::default(), need);
        servers
            .iter()
            .map(|server| server.endpoint.to_string())
            .collect()
    }

    #[test]
    fn a_server_is_chosen_by_hash() {
        // 1894531649 mod 3 = 2, 720506085 mod 3 = 0.
        for (handle, id) in [("20.500.12345/ABC", 3), ("10.1045/may99-payette", 1)] {
            let expected = ["UDP", "TCP", "HTTP"]
                .map(|transport| format!("192.0.2.{id}:2641 over {transport}"));
            assert_eq!(hosts(&[site()], need(Opcode::Resolution, handle)), expected);
        }
        let found = servers(
            &[site()],
            &Roots::default(),
            need(Opcode::Resolution, "20.500.12345/abc"),
        );
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
        let transports = Need {
            transports: &[Transport::Tcp],
            ..need(Opcode::Resolution, "a/b")
        };
        let expected = ["192.0.2.1:2641 over TCP", "[2001:db8::1]:2641 over TCP"];
        assert_eq!(hosts(&[one.clone()], transports), expected);
        one.servers[0].address = [0; 16];
        one.attributes = vec![("domain.0".into(), "hdl.example.org".into())];
        assert_eq!(hosts(&[one], transports), ["hdl.example.org:2641 over TCP"]);
    }

    #[test]
    fn who_is_careful_asks_public_addresses_alone() {
        let here = site();
        let careful = Need {
            is_careful: true,
            ..need(Opcode::Resolution, "20.500.12345/abc")
        };
        for (text, is_asked) in [
            ("192.1.2.7", true),
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.1", false),
            ("2001:db9::1", true),
            ("64:ff9b::10.0.0.1", false),
            ("2002:7f00:1::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("::1", false),
        ] {
            let mut there = here.clone();
            for server in &mut there.servers {
                server.address = SiteServer::address_of(text.parse().unwrap());
            }
            let found = servers(std::slice::from_ref(&there), &Roots::default(), careful);
            assert_eq!(!found.is_empty(), is_asked, "{text}");
            // The operator has chosen the servers in the roots.
            let named = servers(
                std::slice::from_ref(&there),
                &Roots::of_site(there.clone()),
                careful,
            );
            assert!(!named.is_empty(), "{text}");
        }
    }

    #[test]
    fn an_attribute_cannot_be_more_than_it_is() {
        for (name, value) in [("path", "/x HTTP/1.1\r\n\r\nGET /"), ("domain", "a\r\nb")] {
            let mut there = site();
            there.attributes.push((name.into(), value.into()));
            for server in &mut there.servers {
                server.address = if name == "domain" {
                    [0; 16]
                } else {
                    server.address
                };
            }
            let need = need(Opcode::Resolution, "20.500.12345/abc");
            assert!(
                servers(&[there], &Roots::default(), need).is_empty(),
                "{name}"
            );
        }
    }
}
