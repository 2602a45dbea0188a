//! The site record: the addresses of a server, as its clients see them.
//!
//! By default these are the addresses that the server listens at. Public addresses may differ;
//! they are then stored in `siteinfo.json`, as deployed handle servers do (`handle-protocol.md`
//! §6.12).

use std::net::IpAddr;
use std::path::Path;

use handfast_wire::{Site, SiteInterface, SiteServer, json};

use crate::listen::Addresses;
use crate::setup::identity::IdentityError;
use crate::setup::key_files::{keep, read};

/// The file of the site record, in the data folder.
pub(crate) const FILE: &str = "siteinfo.json";

/// The description of a site, beside its addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteNote {
    /// The address by which others reach it.
    pub address: Option<IpAddr>,
    /// A description for people.
    pub description: Option<String>,
}

const UDP: u8 = 0;
const TCP: u8 = 1;
const HTTP: u8 = 2;

/// The site of one server whose addresses are somewhere.
pub(crate) fn at(addresses: Addresses, public_key: Vec<u8>) -> Site {
    let (query, both) = (2, 3);
    let interface = |kind: u8, protocol: u8, port: u16| SiteInterface {
        kind,
        protocol,
        port: u32::from(port),
    };
    let (native, web) = (addresses.native.port(), addresses.web.port());
    Site {
        version: 1,
        protocol: (2, 11),
        serial: 1,
        is_primary: true,
        is_multi_primary: false,
        hash_option: 2,
        hash_filter: String::new(),
        attributes: Vec::new(),
        servers: vec![SiteServer {
            id: 1,
            address: octets(addresses.native.ip()),
            public_key,
            interfaces: vec![
                interface(query, UDP, native),
                interface(both, TCP, native),
                interface(both, HTTP, web),
            ],
        }],
    }
}

/// The site with what is to be said about it.
pub(crate) fn noted(mut site: Site, note: &SiteNote) -> Site {
    if let (Some(address), Some(server)) = (note.address, site.servers.first_mut()) {
        server.address = octets(address);
    }
    if let Some(description) = &note.description {
        site.attributes.retain(|(name, _)| name != "desc");
        let attribute = ("desc".to_string(), description.clone());
        site.attributes.push(attribute);
    }
    site
}

/// Puts the ports of the addresses in place of those that a site names.
pub(crate) fn move_ports(site: &mut Site, addresses: Addresses) {
    let servers = site.servers.iter_mut();
    for interface in servers.flat_map(|server| &mut server.interfaces) {
        if let Some(port) = port_of(interface.protocol, addresses) {
            interface.port = port;
        }
    }
}

/// Whether a site names the ports of the addresses, and no others of their kind.
pub(crate) fn names_ports(site: &Site, addresses: Addresses) -> bool {
    let mut interfaces = site.servers.iter().flat_map(|server| &server.interfaces);
    interfaces.all(|interface| {
        port_of(interface.protocol, addresses).is_none_or(|port| port == interface.port)
    })
}

fn port_of(protocol: u8, addresses: Addresses) -> Option<u32> {
    match protocol {
        UDP | TCP => Some(addresses.native.port().into()),
        HTTP => Some(addresses.web.port().into()),
        _ => None,
    }
}

/// The site that is stored in a folder.
pub(crate) fn stored(folder: &Path) -> Result<Option<Site>, IdentityError> {
    let path = folder.join(FILE);
    let Some(text) = read(&path)? else {
        return Ok(None);
    };
    let what = "a site record";
    let site = json::read_site(&text).ok_or(IdentityError::Unreadable { path, what })?;
    Ok(Some(site))
}

/// Keeps a site in a folder.
pub(crate) fn keep_in(folder: &Path, site: &Site) -> Result<(), IdentityError> {
    keep(&folder.join(FILE), json::write_site(site).as_bytes(), 0o644)
}

/// An address in the sixteen bytes that a site record has for it.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => {
            let mut octets = [0; 16];
            if let Some(end) = octets.last_chunk_mut::<4>() {
                *end = address.octets();
            }
            octets
        }
        IpAddr::V6(address) => address.octets(),
    }
}
