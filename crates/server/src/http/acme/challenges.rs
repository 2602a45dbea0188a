//! What an authority must find here to believe that a name leads here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::sign::CertifiedKey;

/// The path in front of a token (RFC 8555 §8.3).
const PATH: &str = "/.well-known/acme-challenge/";
/// The protocol that a handshake names that wants to be shown a certificate of its own (RFC 8737 §6.2).
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";

/// Answers that are waited for; none, but while a certificate is being got.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Texts by token.
    texts: HashMap<String, String>,
    /// Certificates by name.
    certificates: HashMap<String, Arc<CertifiedKey>>,
}

impl Challenges {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_text(&self, token: String, text: String) {
        self.waiting().texts.insert(token, text);
    }

    pub(crate) fn add_certificate(&self, name: &str, certificate: Arc<CertifiedKey>) {
        let name = name.to_ascii_lowercase();
        self.waiting().certificates.insert(name, certificate);
    }

    pub(crate) fn clear(&self) {
        *self.waiting() = Waiting::default();
    }

    /// What is to be found at a path.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let token = path.strip_prefix(PATH)?;
        self.waiting().texts.get(token).cloned()
    }

    /// What is to be shown to who asks for a name.
    pub(crate) fn certificate(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let name = name?.to_ascii_lowercase();
        self.waiting().certificates.get(&name).cloned()
    }
}
