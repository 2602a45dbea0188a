//! Account and certificate in the data folder, readable by their owner alone.
//!
//! Certificate and key are in one file, so that they always belong together. Its first line is the
//! directory of the authority: "explanatory text" (RFC 7468 §5.2) that readers of PEM skip.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;

use instant_acme::AccountCredentials;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use crate::http::acme::Acme;
use crate::setup::key_files::{keep, read};

/// The folder of account and certificate.
pub(crate) struct AcmeFiles {
    folder: PathBuf,
    directory: String,
}

#[derive(Deserialize, Serialize)]
struct AccountFile<D, A> {
    directory: D,
    account: A,
}

impl AcmeFiles {
    pub(crate) fn open(settings: &Acme) -> io::Result<Self> {
        let folder = settings.folder.clone();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|error| {
                let text = format!("{} cannot be made: {error}", folder.display());
                io::Error::new(error.kind(), text)
            })?;
        Ok(Self {
            folder,
            directory: settings.directory.clone(),
        })
    }

    /// The account with the authority, if there is one.
    pub(crate) fn account(&self) -> io::Result<Option<AccountCredentials>> {
        let path = self.folder.join(ACCOUNT);
        let Some(bytes) = read(&path).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let file: AccountFile<String, AccountCredentials> = serde_json::from_slice(&bytes)
            // The file is secret: the error must not quote it.
            .map_err(|_| io::Error::other(format!("{} cannot be read", path.display())))?;
        Ok((file.directory == self.directory).then_some(file.account))
    }

    pub(crate) fn store_account(&self, account: &AccountCredentials) -> io::Result<()> {
        let directory = &self.directory;
        let bytes = serde_json::to_vec(&AccountFile { directory, account })?;
        keep(&self.folder.join(ACCOUNT), &bytes, 0o600).map_err(io::Error::other)
    }

    /// The stored certificate, if there is one.
    pub(crate) fn certificate(&self) -> io::Result<Option<AcmeCertificate>> {
        let path = self.folder.join(CERTIFICATE);
        let Some(bytes) = read(&path).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        AcmeCertificate::read(&String::from_utf8_lossy(&bytes))
            .map(Some)
            .map_err(named)
    }

    pub(crate) fn store_certificate(&self, pem: &str) -> io::Result<()> {
        keep(&self.folder.join(CERTIFICATE), pem.as_bytes(), 0o600).map_err(io::Error::other)
    }
}

const ACCOUNT: &str = "account.json";
const CERTIFICATE: &str = "certificate.pem";

/// A certificate from an authority.
pub(crate) struct AcmeCertificate {
    pub(crate) key: Arc<CertifiedKey>,
    directory: String,
    domains: Vec<String>,
    /// From when until when it is valid, in seconds since 1970.
    from: i64,
    until: i64,
}

impl AcmeCertificate {
    /// Reads the authority's directory, the chain of certificates, and the key.
    pub(crate) fn read(pem: &str) -> io::Result<Self> {
        let bad = |what: &str| io::Error::other(format!("there is no {what} in it"));
        let chain: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| bad("certificate"))?;
        let leaf = chain.first().ok_or_else(|| bad("certificate"))?.clone();
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| bad("key"))?;
        let key = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
            .map_err(io::Error::other)?;
        let (_, certificate) =
            X509Certificate::from_der(&leaf).map_err(|_| bad("certificate that can be read"))?;
        let names = certificate.subject_alternative_name().ok().flatten();
        let names = names.map_or(&[][..], |names| &names.value.general_names);
        let domains = names.iter().filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
            _ => None,
        });
        let validity = certificate.validity();
        Ok(Self {
            key: Arc::new(key),
            directory: pem.lines().next().unwrap_or_default().to_string(),
            domains: domains.collect(),
            from: validity.not_before.timestamp(),
            until: validity.not_after.timestamp(),
        })
    }

    /// Whether it fits the configuration.
    pub(crate) fn is_for(&self, settings: &Acme) -> bool {
        let mut wanted = settings.domains.iter();
        self.directory == settings.directory
            && wanted.all(|name| self.domains.contains(&name.to_ascii_lowercase()))
    }

    /// When a third of its lifetime is left, in milliseconds since 1970.
    pub(crate) fn due(&self) -> u64 {
        let life = self.until.saturating_sub(self.from).max(0);
        let due = self.until.saturating_sub(life / 3);
        u64::try_from(due).unwrap_or(0).saturating_mul(1_000)
    }

    /// Until when it is valid, for people.
    pub(crate) fn until(&self) -> String {
        let until = u64::try_from(self.until).unwrap_or(0);
        handfast_registry::rfc3339(until.saturating_mul(1_000))
    }
}
