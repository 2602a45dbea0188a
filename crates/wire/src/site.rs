//! Sites: the data of `HS_SITE` and its relatives.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::codec::{Codec, DecodeError, Reader};
use crate::field::{Field, wire_form};
#[cfg(feature = "crypto")]
use crate::handle_hash::handle_hash;

/// A site of servers (`handle-protocol.md` §6.3).
///
/// ```
/// use handfast_wire::{Codec, Site};
///
/// let site = Site { protocol: (2, 11), serial: 1, is_primary: true, ..Site::default() };
/// assert_eq!(Site::from_bytes(&site.to_bytes())?, site);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The version of the data format.
    pub version: u16,
    /// The version of the protocol that the site claims to speak.
    pub protocol: (u8, u8),
    /// Counted up when the site changes.
    pub serial: u16,
    /// Whether this is a primary site.
    pub is_primary: bool,
    /// Whether the service has several primary sites.
    pub is_multi_primary: bool,
    /// By what a server is chosen: 0 prefix, 1 suffix, 2 whole handle.
    pub hash_option: u8,
    /// Unused.
    pub hash_filter: String,
    /// Attributes, by name.
    pub attributes: Vec<(String, String)>,
    /// The servers.
    pub servers: Vec<SiteServer>,
}

/// A server of a site.
///
/// ```
/// use handfast_wire::SiteServer;
///
/// let server = SiteServer { id: 1, address: [0; 16], public_key: vec![], interfaces: vec![] };
/// assert_eq!(server.ip().to_string(), "0.0.0.0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteServer {
    /// Its number.
    pub id: u32,
    /// IPv6, or twelve zeros and IPv4.
    pub address: [u8; 16],
    /// A public key, which may be empty.
    pub public_key: Vec<u8>,
    /// Where it listens.
    pub interfaces: Vec<SiteInterface>,
}

impl SiteServer {
    /// The address, which is IPv4 when its first twelve octets are zero.
    #[must_use]
    pub fn ip(&self) -> IpAddr {
        match self.address {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] => Ipv4Addr::new(a, b, c, d).into(),
            address => Ipv6Addr::from(address).into(),
        }
    }

    /// An address as a record has it.
    ///
    /// ```
    /// use handfast_wire::SiteServer;
    ///
    /// let octets = SiteServer::address_of("192.0.2.1".parse().unwrap());
    /// assert_eq!(octets, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1]);
    /// ```
    #[must_use]
    pub fn address_of(address: IpAddr) -> [u8; 16] {
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
            }
            IpAddr::V6(address) => address.octets(),
        }
    }
}

/// Where a server listens.
///
/// ```
/// use handfast_wire::SiteInterface;
///
/// let tcp = SiteInterface { kind: 3, protocol: 1, port: 2641 };
/// assert!(tcp.admin() && tcp.query());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteInterface {
    /// 0 out of service, 1 admin, 2 query, 3 both.
    pub kind: u8,
    /// 0 UDP, 1 TCP, 2 HTTP, 3 HTTPS.
    pub protocol: u8,
    /// The port.
    pub port: u32,
}

impl SiteInterface {
    /// Whether it takes administrative requests.
    #[must_use]
    pub fn admin(self) -> bool {
        self.kind & 1 != 0
    }

    /// Whether it takes resolution requests.
    #[must_use]
    pub fn query(self) -> bool {
        self.kind & 2 != 0
    }
}

/// Which server of a site has a handle, with the feature `crypto`.
#[cfg(feature = "crypto")]
impl Site {
    /// The place of the server of a handle in the record, from 0 (`handle-protocol.md` §8.2).
    /// `None` if the site has no servers.
    ///
    /// ```
    /// use handfast_wire::{Site, SiteServer};
    ///
    /// let (address, public_key) = ([0; 16], vec![]);
    /// let server = SiteServer { id: 1, address, public_key, interfaces: vec![] };
    /// let site = Site { hash_option: 2, servers: vec![server; 2], ..Site::default() };
    /// assert_eq!(site.server_number_for("20.500.12345/abc"), Some(1));
    /// assert_eq!(Site::default().server_number_for("20.500.12345/abc"), None);
    /// ```
    #[must_use]
    pub fn server_number_for(&self, handle: &str) -> Option<usize> {
        let hash = usize::try_from(handle_hash(handle, self.hash_option)).ok()?;
        hash.checked_rem(self.servers.len())
    }
}

const PRIMARY: u8 = 0x80;
const MULTI_PRIMARY: u8 = 0x40;

impl Codec<'_> for Site {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.version.to_be_bytes());
        out.extend_from_slice(&[self.protocol.0, self.protocol.1]);
        out.extend_from_slice(&self.serial.to_be_bytes());
        let mask = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        out.push(mask(PRIMARY, self.is_primary) | mask(MULTI_PRIMARY, self.is_multi_primary));
        out.push(self.hash_option);
        self.hash_filter.put(out);
        self.attributes.put(out);
        self.servers.put(out);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (version, protocol) = (reader.u16()?, (reader.u8()?, reader.u8()?));
        let (serial, mask) = (reader.u16()?, reader.u8()?);
        Ok(Self {
            version,
            protocol,
            serial,
            is_primary: mask & PRIMARY != 0,
            is_multi_primary: mask & MULTI_PRIMARY != 0,
            hash_option: reader.u8()?,
            hash_filter: Field::get(reader)?,
            attributes: Field::get(reader)?,
            servers: Field::get(reader)?,
        })
    }
}

wire_form!(field 28 SiteServer { id, address, public_key, interfaces });
wire_form!(field 6 SiteInterface { kind, protocol, port });
