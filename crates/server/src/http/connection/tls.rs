//! TLS: with the key of the site, so that clients of the handle protocol can verify the server,
//! or with a certificate that browsers trust, from files or from a certificate authority.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use handfast_wire::crypto::SigningKey;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName as Issuer, Error, SignatureScheme};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::http::acme::Acme;
use crate::http::acme::challenges::{ACME_TLS, Challenges};
use crate::http::connection::self_signed::self_signed;
use crate::runtime::lock::Lock;
use crate::runtime::reloaded_file::ReloadedFile;

/// The source of the certificate.
#[derive(Clone, Debug, Default)]
pub enum Tls {
    /// An authority is asked for it, and asked again before it ends.
    Acme(Acme),
    /// Files that another program renews.
    Files(TlsFiles),
    /// It is made at each start, for the key of the site.
    #[default]
    Site,
}

impl Tls {
    /// One word for it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Acme(_) => "acme",
            Self::Files(_) => "files",
            Self::Site => "self-signed",
        }
    }

    /// A name that the certificate vouches for, as far as that is known without reading it.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Acme(acme) => acme.domains.first().map(String::as_str),
            Self::Files(_) | Self::Site => None,
        }
    }
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acme(acme) => write!(f, "{acme}; self-signed until it is there"),
            Self::Files(files) => {
                let (certificate, key) = (files.certificate.display(), files.key.display());
                write!(f, "certificate {certificate}, with the key {key}")
            }
            Self::Site => f.write_str("self-signed, with the key of the site"),
        }
    }
}

/// Files of a certificate that others know, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, and those that vouch for it.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// The TLS acceptor and its certificate.
pub(crate) struct Acceptor {
    pub(crate) tls: TlsAcceptor,
    pub(crate) certificate: Arc<dyn CurrentCertificate>,
    /// The current certificate, if it is renewed while the server runs.
    pub(crate) current: Option<Arc<ReplaceableCertificate>>,
}

/// Accepts connections with a certificate from files or from an authority, or with one for the key
/// of the site and the names under which the server is reached; clients of the handle protocol
/// compare keys.
pub(crate) fn acceptor(
    site: &SigningKey,
    names: &[String],
    tls: &Tls,
    asks_for_certificates: bool,
) -> io::Result<Acceptor> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = if asks_for_certificates {
        builder.with_client_cert_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        builder.with_no_client_auth()
    };
    let mut protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut current = None;
    let resolver: Arc<dyn CurrentCertificate> = match tls {
        Tls::Acme(_) => {
            let resolver = Arc::new(ReplaceableCertificate::new(self_signed(site, names)?));
            current = Some(Arc::clone(&resolver));
            protocols.push(ACME_TLS.to_vec());
            resolver
        }
        Tls::Files(files) => Arc::new(Renewed::new(files)?),
        Tls::Site => Arc::new(ReplaceableCertificate::new(self_signed(site, names)?)),
    };
    let certificate = Arc::clone(&resolver);
    let mut config = builder.with_cert_resolver(resolver);
    config.alpn_protocols = protocols;
    let tls = TlsAcceptor::from(Arc::new(config));
    Ok(Acceptor {
        tls,
        certificate,
        current,
    })
}

/// A certificate that may be replaced while the server runs.
pub(crate) trait CurrentCertificate: ResolvesServerCert {
    /// The one that is used now.
    fn current(&self) -> Arc<CertifiedKey>;
}

impl CurrentCertificate for ReplaceableCertificate {
    fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.key.lock())
    }
}

impl CurrentCertificate for Renewed {
    fn current(&self) -> Arc<CertifiedKey> {
        self.files.loaded()
    }
}

/// A certificate that is replaced while the server runs, and those that are shown to an authority.
#[derive(Debug)]
pub(crate) struct ReplaceableCertificate {
    key: Lock<Arc<CertifiedKey>>,
    pub(crate) challenges: Arc<Challenges>,
}

impl ReplaceableCertificate {
    fn new(first: CertifiedKey) -> Self {
        Self {
            key: Lock::new(Arc::new(first)),
            challenges: Arc::default(),
        }
    }

    pub(crate) fn set(&self, key: Arc<CertifiedKey>) {
        *self.key.lock() = key;
    }
}

impl ResolvesServerCert for ReplaceableCertificate {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // "The client MUST send an ALPN extension with the single protocol name" (RFC 8737 §3).
        let is_challenge = hello
            .alpn()
            .is_some_and(|mut names| names.next() == Some(ACME_TLS) && names.next().is_none());
        if is_challenge {
            return self.challenges.certificate(hello.server_name());
        }
        Some(self.current())
    }
}

/// A certificate from files, which may be replaced while the server runs.
#[derive(Debug)]
struct Renewed {
    files: ReloadedFile<TlsFiles, CertifiedKey>,
    opened: Instant,
}

impl Renewed {
    fn new(files: &TlsFiles) -> io::Result<Self> {
        let certificate = files.certificate.clone();
        Ok(Self {
            files: ReloadedFile::open(files.clone(), certificate, from_files, 0)?,
            opened: Instant::now(),
        })
    }
}

impl ResolvesServerCert for Renewed {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let now = self.opened.elapsed().as_millis();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        Some(self.files.current(now))
    }
}

fn from_files(files: &TlsFiles) -> io::Result<CertifiedKey> {
    let named = |path: &PathBuf, problem: String| {
        io::Error::other(format!(
            "{} cannot be used for TLS: {problem}",
            path.display()
        ))
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| named(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        let problem = "there is no certificate in it".to_string();
        return Err(named(&files.certificate, problem));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| named(&files.key, error.to_string()))?;
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
        .map_err(|error| named(&files.key, error.to_string()))
}

/// Takes any certificate, and none: who has its key is found by comparing it with the one that a
/// handle has.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[Issuer] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
