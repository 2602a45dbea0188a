//! Client certificates: the identity that they name, and their key (`http-interfaces.md` A.13).

use handfast_wire::{Codec, PublicKey, Reference, Site, Value};
use x509_parser::oid_registry::{OID_X509_COMMON_NAME, Oid};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey as CertifiedKey;
use x509_parser::x509::X509Name;

use super::authorization::reference;

/// The identity that a certificate names, and the key of its holder.
#[derive(Debug)]
pub(crate) struct ClientCertificate {
    pub(crate) id: String,
    pub(crate) key: Reference<'static>,
    public: PublicKey<'static>,
}

impl ClientCertificate {
    /// "Self-signed is fine, issuer ignored. Identity = the subject's UID attribute, else CN."
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let id =
            attribute(subject, &UID.ok()?).or_else(|| attribute(subject, &OID_X509_COMMON_NAME))?;
        let CertifiedKey::RSA(rsa) = certificate.public_key().parsed().ok()? else {
            // Handles have keys of RSA and DSA, and TLS none of DSA.
            return None;
        };
        let number = |bytes: &[u8]| trim(bytes).to_vec().into();
        let public = PublicKey::Rsa {
            e: number(rsa.exponent),
            n: number(rsa.modulus),
        };
        let key = reference(&id)?;
        Some(Self { id, key, public })
    }

    /// Whether one of the values where its identity is has the key. "an `HS_SITE` server key …
    /// there also counts"
    pub(crate) fn is_in(&self, values: &[Value<'_>]) -> Option<u32> {
        let there = values
            .iter()
            .filter(|value| self.key.index == 0 || value.index == self.key.index);
        there
            .into_iter()
            .find(|value| match &*value.value_type {
                "HS_PUBKEY" => self.is(&value.data),
                "HS_SITE" => Site::from_bytes(&value.data).is_ok_and(|site| {
                    site.servers
                        .iter()
                        .any(|server| self.is(&server.public_key))
                }),
                _ => false,
            })
            .map(|value| value.index)
    }

    fn is(&self, bytes: &[u8]) -> bool {
        match (PublicKey::from_bytes(bytes), &self.public) {
            (Ok(PublicKey::Rsa { e, n }), PublicKey::Rsa { e: own_e, n: own_n }) => {
                trim(&e) == &**own_e && trim(&n) == &**own_n
            }
            _ => false,
        }
    }
}

/// `userId` of RFC 4519 §2.39.
const UID: Result<Oid<'static>, ()> = Ok(x509_parser::der_parser::oid!(0.9.2342.19200300.100.1.1));

fn attribute(name: &X509Name<'_>, oid: &Oid<'_>) -> Option<String> {
    let mut found = name.iter_by_oid(oid);
    found.next()?.as_str().ok().map(str::to_string)
}

/// A number without leading zeros.
fn trim(mut number: &[u8]) -> &[u8] {
    while let [0, rest @ ..] = number {
        number = rest;
    }
    number
}
