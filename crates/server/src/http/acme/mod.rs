//! A certificate from an authority that gives them by itself: ACME (RFC 8555).
//!
//! The authority is shown that the names lead here, by what it finds at this very door ([`challenges`]). Until there is a
//! certificate the self-signed one is used; one that was got is kept in the data folder, and renewed when a
//! third of its life is left. Whatever goes wrong is logged, and tried again later and later.

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
use self::client::Client;
use crate::context::ServerContext;
use crate::http::acme::stored::{Kept, Shelf};
use crate::http::connection::tls::ReplaceableCertificate;

/// What is asked for, and of whom.
#[derive(Clone, Debug)]
pub struct Acme {
    /// The names that the certificate is for.
    pub domains: Vec<String>,
    /// How the authority reaches whoever runs the server: `mailto:` URIs.
    pub contact: Vec<String>,
    /// Where the authority says what it can do.
    pub directory: String,
    /// How it is shown that names lead here.
    pub challenge: AcmeChallenge,
    /// Whom to trust for the directory, in PEM; without it, those whom the system trusts.
    pub root_certificate: Option<PathBuf>,
    /// The folder in which account and certificate are kept.
    pub folder: PathBuf,
}

/// How it is shown that a name leads here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcmeChallenge {
    /// A path over HTTP, which the authority asks for at port 80 (RFC 8555 §8.3).
    #[default]
    Http01,
    /// A certificate of its own over TLS, which the authority asks for at port 443 (RFC 8737).
    TlsAlpn01,
}

/// How long an order may take.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long after a failure it is tried again, and how much longer after each further one.
const FIRST_PAUSE: Duration = Duration::from_mins(1);
const LONGER: u32 = 4;
const LONGEST_PAUSE: Duration = Duration::from_hours(12);
/// How often it is looked at whether a certificate is old: clocks are set, and machines sleep.
const LOOK: Duration = Duration::from_hours(1);

/// Keeps a certificate, for as long as the server runs.
pub(crate) struct Keeper {
    settings: Acme,
    shelf: Shelf,
    current: Arc<ReplaceableCertificate>,
    /// Whose clock it is.
    context: Arc<ServerContext>,
    kept: Option<Kept>,
}

impl Keeper {
    /// Takes what was kept into use.
    pub(crate) fn new(
        settings: Acme,
        current: Arc<ReplaceableCertificate>,
        context: Arc<ServerContext>,
    ) -> io::Result<Self> {
        let shelf = Shelf::open(&settings)?;
        let kept = match shelf.certificate() {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "the certificate that was kept cannot be used");
                None
            }
        };
        if let Some(kept) = &kept {
            current.set(Arc::clone(&kept.key));
        }
        Ok(Self {
            settings,
            shelf,
            current,
            context,
            kept,
        })
    }

    /// Gets and renews it, in a thread of its own.
    pub(crate) fn begin(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let builder = std::thread::Builder::new().name("handfast-acme".into());
        let run = move || runtime.block_on(self.keep());
        builder.spawn(run).map(|_| ())
    }

    async fn keep(mut self) {
        let mut failures = 0;
        loop {
            let left = self.left();
            if !left.is_zero() {
                tokio::time::sleep(left.min(LOOK)).await;
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

    /// How long nothing is to be done.
    fn left(&self) -> Duration {
        let fits = |kept: &&Kept| kept.is_for(&self.settings);
        let due = self.kept.as_ref().filter(fits).map(Kept::due);
        Duration::from_millis(due.unwrap_or(0).saturating_sub(self.context.now()))
    }

    /// Longer after each failure, and not for all servers at the same moment.
    fn pause(&self, failures: u32) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(LONGER.saturating_pow(failures));
        let [chance] = self.context.world.random();
        let pause = pause.min(LONGEST_PAUSE);
        pause + pause.mul_f32(f32::from(chance) / 1_024.0)
    }

    async fn renew(&mut self) -> Result<(), AcmeError> {
        let client = Client::new(self.settings.root_certificate.as_deref())?;
        let ordered = order::order(
            &self.settings,
            client,
            &self.shelf,
            &self.current.challenges,
        );
        let ordered = tokio::time::timeout(PATIENCE, ordered).await;
        self.current.challenges.clear();
        let pem = ordered.map_err(|_| AcmeError::Slow)??;
        let kept = Kept::read(&pem)?;
        if !kept.is_for(&self.settings) {
            return Err(AcmeError::Other("the certificate is for other names"));
        }
        if kept.due() <= self.context.now() {
            let text = "the certificate is old already: is the clock right?";
            return Err(AcmeError::Other(text));
        }
        self.shelf.keep_certificate(&pem)?;
        self.current.set(Arc::clone(&kept.key));
        tracing::info!(
            domains = self.settings.domains.join(" "),
            until = kept.until(),
            "a certificate was got"
        );
        self.kept = Some(kept);
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
