//! The self-signed certificate of a server, and the names in it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use handfast_wire::Site;
use handfast_wire::crypto::SigningKey;
use nix::ifaddrs::getifaddrs;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use crate::http::middleware::host::PublicUrl;

/// The most names in a certificate: a machine may have an address for each of its containers.
const MAX_NAMES: usize = 64;

/// A certificate for the key of the site, and for these hosts and addresses.
pub(crate) fn self_signed(site: &SigningKey, names: &[String]) -> io::Result<CertifiedKey> {
    let (chain, key) = made_for(site, names).map_err(io::Error::other)?;
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider()).map_err(io::Error::other)
}

type SelfSigned = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn made_for(site: &SigningKey, names: &[String]) -> Result<SelfSigned, rcgen::Error> {
    // A key that is too short for TLS has another one stand in for it.
    let key = match site.to_pkcs8() {
        Some(der) => KeyPair::from_pkcs8_der_and_sign_algo(
            &PrivatePkcs8KeyDer::from(der.as_slice()),
            &rcgen::PKCS_RSA_SHA256,
        )?,
        None => KeyPair::generate()?,
    };
    let mut params = CertificateParams::new(names)?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "anonymous");
    params.distinguished_name = name;
    // As deployed servers have it.
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(9999, 12, 31);
    let certificate = params.self_signed(&key)?;
    let der = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok((vec![certificate.der().clone()], der.into()))
}

/// The hosts and addresses under which a server is reached: this machine by itself, by its name,
/// where the server listens (everywhere: all addresses of the machine), and where the site record
/// says that it is.
pub(crate) fn names(listen: SocketAddr, site: &Site, public: Option<&PublicUrl>) -> Vec<String> {
    let mut names = vec!["localhost".to_string()];
    names.extend(public.map(PublicUrl::host_name));
    let machine = nix::unistd::gethostname().unwrap_or_default();
    let machine = machine.to_string_lossy().to_ascii_lowercase();
    names.extend(Some(machine).filter(|name| is_host(name)));
    let mut addresses = vec![
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST),
        listen.ip().to_canonical(),
    ];
    let servers = site.servers.iter();
    addresses.extend(servers.map(|server| server.ip().to_canonical()));
    if listen.ip().is_unspecified() {
        addresses.extend(own_addresses());
    }
    for address in addresses.iter().filter(|ip| !ip.is_unspecified()) {
        let address = address.to_string();
        if names.len() < MAX_NAMES && !names.contains(&address) {
            names.push(address);
        }
    }
    names
}

/// The addresses of this machine, but for those of one link alone: a certificate cannot say which
/// link.
fn own_addresses() -> Vec<IpAddr> {
    let address = |found: nix::ifaddrs::InterfaceAddress| {
        let address = found.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        v4.or_else(|| {
            let v6 = address.as_sockaddr_in6()?.ip();
            (!v6.is_unicast_link_local()).then_some(IpAddr::V6(v6))
        })
    };
    let found = getifaddrs().into_iter().flatten();
    found.filter_map(address).collect()
}

fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(fits)
    };
    name.len() <= 253 && name != "localhost" && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use x509_parser::extensions::GeneralName;
    use x509_parser::prelude::{FromDer, X509Certificate};

    use super::*;
    use crate::listen::Addresses;
    use crate::setup::identity::Identity;

    fn identity(native: &str) -> Identity {
        let folder = tempfile::tempdir().unwrap();
        let addresses = Addresses {
            native: native.parse().unwrap(),
            web: "0.0.0.0:8000".parse().unwrap(),
        };
        Identity::open_or_make(folder.path(), addresses).unwrap()
    }

    /// The certificate was for `localhost` alone, so that `--certificate` was of no use from any
    /// other machine.
    #[test]
    fn it_has_the_names_under_which_the_server_is_reached() {
        let identity = identity("192.0.2.7:2641");
        let listen = "[2001:db8::5]:8000".parse().unwrap();
        let public = "https://pid.example.org:8443".parse().unwrap();
        let names = names(listen, identity.site(), Some(&public));
        let key = self_signed(identity.key(), &names).unwrap();
        let (_, certificate) = X509Certificate::from_der(&key.cert[0]).unwrap();
        let found = certificate.subject_alternative_name().unwrap().unwrap();
        let found: Vec<_> = found.value.general_names.iter().collect();
        let has_address = |ip: &str| {
            let octets = match ip.parse().unwrap() {
                IpAddr::V4(v4) => v4.octets().to_vec(),
                IpAddr::V6(v6) => v6.octets().to_vec(),
            };
            found
                .iter()
                .any(|name| matches!(name, GeneralName::IPAddress(own) if *own == octets))
        };
        for ip in ["127.0.0.1", "::1", "2001:db8::5", "192.0.2.7"] {
            assert!(has_address(ip), "{ip}: {found:?}");
        }
        assert!(!has_address("0.0.0.0"));
        for name in ["localhost", "pid.example.org"] {
            assert!(found.contains(&&GeneralName::DNSName(name)), "{name}");
        }
    }

    #[test]
    fn a_server_that_listens_everywhere_has_all_addresses_of_its_machine() {
        let identity = identity("127.0.0.1:2641");
        let names = names("[::]:8000".parse().unwrap(), identity.site(), None);
        for address in own_addresses().iter().take(20) {
            assert!(names.contains(&address.to_string()), "{address} {names:?}");
        }
        assert!(!names.contains(&"::".to_string()));
    }

    #[test]
    fn names_that_no_certificate_can_hold_are_left_out() {
        assert!(is_host("pid.example.org") && is_host("a-1"));
        for name in ["", "a..b", "m\u{fc}ller", "a b", "a_b.example", "localhost"] {
            assert!(!is_host(name), "{name}");
        }
    }
}
