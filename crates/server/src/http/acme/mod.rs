//! Certificates from a certificate authority, obtained automatically by ACME (RFC 8555).
//!
//! The authority checks that the domains lead to this server: it sends a request that only this
//! server can answer ([`challenges`]). Until the first certificate has arrived, the server uses its
//! self-signed one. Certificates are stored in the data folder, and renewed when a third of their
//! lifetime is left. Errors are logged; the pause before the next try grows with each error.

pub(crate) mod challenges;
mod client;
mod order;
pub(crate) mod stored;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::challenges::Challenges;
use self::client::AcmeClient;
use crate::http::acme::stored::{AcmeCertificate, AcmeFiles};
use crate::http::connection::tls::Current;
use crate::native::Native;

/// Which certificate the server requests, and from which authority.
#[derive(Clone, Debug)]
pub struct Acme {
    /// The domains of the certificate.
    pub domains: Vec<String>,
    /// How the authority reaches the operator of the server: `mailto:` URIs.
    pub contact: Vec<String>,
    /// The URL of the authority's ACME directory.
    pub directory: String,
    /// How the authority checks that the domains lead here.
    pub challenge: AcmeChallenge,
    /// The authorities to trust for the directory, in PEM; by default, those of the system.
    pub root_certificate: Option<PathBuf>,
    /// The folder in which account and certificate are stored.
    pub folder: PathBuf,
}

/// How the authority checks that a domain leads here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcmeChallenge {
    /// The authority requests a path over HTTP, at port 80 (RFC 8555 §8.3).
    #[default]
    Http01,
    /// The authority requests a special certificate over TLS, at port 443 (RFC 8737).
    TlsAlpn01,
}

/// How long an order may take.
const ORDER_TIMEOUT: Duration = Duration::from_mins(5);
/// The pause after the first failure, and by how much it grows with each further one.
const FIRST_PAUSE: Duration = Duration::from_mins(1);
const PAUSE_FACTOR: u32 = 4;
const MAX_PAUSE: Duration = Duration::from_hours(12);
/// How often the age of the certificate is checked: clocks are set, and machines sleep.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// Obtains and renews the certificate while the server runs.
pub(crate) struct CertificateRenewal {
    settings: Acme,
    files: AcmeFiles,
    current: Arc<Current>,
    /// Whose clock it is.
    native: Arc<Native>,
    certificate: Option<AcmeCertificate>,
}

impl CertificateRenewal {
    /// Uses the stored certificate, if there is one.
    pub(crate) fn new(
        settings: Acme,
        current: Arc<Current>,
        native: Arc<Native>,
    ) -> io::Result<Self> {
        let files = AcmeFiles::open(&settings)?;
        let certificate = match files.certificate() {
            Ok(certificate) => certificate,
            Err(error) => {
                tracing::warn!(%error, "the stored certificate cannot be used");
                None
            }
        };
        if let Some(certificate) = &certificate {
            current.set(Arc::clone(&certificate.key));
        }
        Ok(Self {
            settings,
            files,
            current,
            native,
            certificate,
        })
    }

    /// Obtains and renews it, in a thread of its own.
    pub(crate) fn begin(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let builder = std::thread::Builder::new().name("handfast-acme".into());
        let run = move || runtime.block_on(self.run());
        builder.spawn(run).map(|_| ())
    }

    async fn run(mut self) {
        let mut failures = 0;
        loop {
            let left = self.left();
            if !left.is_zero() {
                tokio::time::sleep(left.min(CHECK_INTERVAL)).await;
                continue;
            }
            match self.renew().await {
                Ok(()) => failures = 0,
                Err(error) => {
                    let pause = self.pause(failures);
                    failures += 1;
                    tracing::error!(
                        domains = self.settings.domains.join(" "),
                        directory = self.settings.directory,
                        again_in_seconds = pause.as_secs(),
                        "no certificate was got: {error}"
                    );
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// How long it is until the next renewal.
    fn left(&self) -> Duration {
        let fits = |certificate: &&AcmeCertificate| certificate.is_for(&self.settings);
        let due = self
            .certificate
            .as_ref()
            .filter(fits)
            .map(AcmeCertificate::due);
        Duration::from_millis(due.unwrap_or(0).saturating_sub(self.native.now()))
    }

    /// The pause after a failure. It is random, so that servers do not all try at the same time.
    fn pause(&self, failures: u32) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(PAUSE_FACTOR.saturating_pow(failures));
        let [chance] = self.native.world().random();
        let pause = pause.min(MAX_PAUSE);
        pause + pause.mul_f32(f32::from(chance) / 1_024.0)
    }

    async fn renew(&mut self) -> Result<(), AcmeError> {
        let client = AcmeClient::new(self.settings.root_certificate.as_deref())?;
        let ordered = order::order(
            &self.settings,
            client,
            &self.files,
            &self.current.challenges,
        );
        let ordered = tokio::time::timeout(ORDER_TIMEOUT, ordered).await;
        self.current.challenges.clear();
        let pem = ordered.map_err(|_| AcmeError::Slow)??;
        let certificate = AcmeCertificate::read(&pem)?;
        if !certificate.is_for(&self.settings) {
            return Err(AcmeError::Other("the certificate is for other names"));
        }
        if certificate.due() <= self.native.now() {
            let text = "the certificate is old already: is the clock right?";
            return Err(AcmeError::Other(text));
        }
        self.files.store_certificate(&pem)?;
        self.current.set(Arc::clone(&certificate.key));
        tracing::info!(
            domains = self.settings.domains.join(" "),
            until = certificate.until(),
            "a certificate was got"
        );
        self.certificate = Some(certificate);
        Ok(())
    }
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcmeError {
    #[error(transparent)]
    Acme(#[from] instant_acme::Error),
    #[error("{domain}: {problem}")]
    Denied { domain: String, problem: String },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Other(&'static str),
    #[error("the authority takes too long")]
    Slow,
}

impl fmt::Display for Acme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let domains = self.domains.join(" ");
        write!(f, "by ACME for {domains}, from {}", self.directory)
    }
}
