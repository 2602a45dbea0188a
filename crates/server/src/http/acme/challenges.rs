//! Challenges: the answers by which an authority knows that a domain leads to this server.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::sign::CertifiedKey;

use crate::runtime::lock::Lock;

/// The path in front of a token (RFC 8555 §8.3).
const PATH: &str = "/.well-known/acme-challenge/";
/// The ALPN protocol of a handshake that requests the certificate of a challenge (RFC 8737 §6.2).
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";

/// The answers for the authority; there are none unless an order is in progress.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    answers: Lock<ChallengeAnswers>,
}

#[derive(Debug, Default)]
struct ChallengeAnswers {
    /// Texts by token.
    texts: HashMap<String, String>,
    /// Certificates by name.
    certificates: HashMap<String, Arc<CertifiedKey>>,
}

impl Challenges {
    pub(crate) fn add_text(&self, token: String, text: String) {
        self.answers.lock().texts.insert(token, text);
    }

    pub(crate) fn add_certificate(&self, name: &str, certificate: Arc<CertifiedKey>) {
        let name = name.to_ascii_lowercase();
        self.answers.lock().certificates.insert(name, certificate);
    }

    pub(crate) fn clear(&self) {
        *self.answers.lock() = ChallengeAnswers::default();
    }

    /// The answer at a path.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let token = path.strip_prefix(PATH)?;
        self.answers.lock().texts.get(token).cloned()
    }

    /// The certificate for a domain.
    pub(crate) fn certificate(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let name = name?.to_ascii_lowercase();
        self.answers.lock().certificates.get(&name).cloned()
    }
}
