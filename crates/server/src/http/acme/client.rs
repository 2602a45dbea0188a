//! HTTPS to a certificate authority.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use handfast_client::https::{HttpClient as Https, TrustAnchors};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};

/// How long one response may take.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest response: a chain of certificates.
const MAX_RESPONSE: usize = 1 << 20;

type AcmeRequest = Request<BodyWrapper<Bytes>>;
type AcmeResponse = Result<BytesResponse, Error>;

pub(crate) struct AcmeClient(Https);

impl AcmeClient {
    /// Trusts the authorities that the system trusts, or only those of a file.
    pub(crate) fn new(root: Option<&Path>) -> io::Result<Self> {
        let trusted = root.map_or(TrustAnchors::System, TrustAnchors::Only);
        Https::new(trusted).map(Self)
    }
}

impl HttpClient for AcmeClient {
    fn request(&self, request: AcmeRequest) -> Pin<Box<dyn Future<Output = AcmeResponse> + Send>> {
        let https = self.0.clone();
        Box::pin(async move {
            let uri = request.uri().clone();
            // "Communications MUST use HTTPS" (RFC 8555 §6.1).
            let fetched = if uri.scheme_str() == Some("https") {
                https.fetch(request, RESPONSE_TIMEOUT, MAX_RESPONSE).await
            } else {
                Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is no https URL",
                ))
            };
            let response = fetched.map_err(|error| {
                let text = format!("{uri} cannot be asked: {error}");
                Error::Other(Box::new(io::Error::new(error.kind(), text)))
            })?;
            Ok(BytesResponse::from(response.map(Full::new)))
        })
    }
}
