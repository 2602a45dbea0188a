//! A server elsewhere, asked over its API.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};
use handfast_registry::Refusal;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Map, Value as Json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use crate::connection::wait;
use crate::exit::Answer;
use crate::output::Output;

/// A server elsewhere, and who asks it.
#[derive(Args)]
#[command(next_help_heading = "At a server elsewhere")]
pub(crate) struct Elsewhere {
    /// Ask this server over its API instead of working on a folder: `https://HOST[:PORT]`. Say it before the command
    #[arg(long = "url", value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) server: Option<Uri>,
    /// A file with a token; without it, `HANDFAST_TOKEN`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "server")]
    token_file: Option<PathBuf>,
    /// Trust this certificate (PEM), beside those that the system trusts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "server")]
    certificate: Option<PathBuf>,
}

/// What was not done there.
pub(crate) enum Problem {
    /// The server said no, or that it cannot.
    Refused(Map<String, Json>),
    /// It could not be asked.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// How long a server may take to say something.
const PATIENCE: Duration = Duration::from_mins(5);
/// The longest answer.
const LONGEST: usize = 64 << 20;

impl Elsewhere {
    /// Asks for something below `/api/v1`.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Json, Problem> {
        let (status, bytes) = wait(async {
            let asked = self.exchange(method, path, body);
            timeout(PATIENCE, asked)
                .await
                .context("nothing was answered")?
        })
        .and_then(|answered| answered)
        .with_context(|| format!("cannot ask {}", self.base()))?;
        if status == 204 {
            return Ok(Json::Null);
        }
        let said: Option<Json> = serde_json::from_slice(&bytes).ok();
        match said {
            Some(said) if (200..300).contains(&status) => Ok(said),
            Some(Json::Object(mut problem)) if problem.contains_key("code") => {
                let message = problem.remove("detail").unwrap_or_default();
                problem.insert("message".into(), message);
                problem.remove("title");
                Err(Problem::Refused(problem))
            }
            _ => Err(anyhow!("{} answered {status}, and is no Handfast", self.base()).into()),
        }
    }

    fn base(&self) -> String {
        self.server
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    async fn exchange(
        &self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> anyhow::Result<(u16, Bytes)> {
        let server = self.server.as_ref().context("no server is named")?;
        let host = server.host().context("the URL names no host")?;
        let is_secure = match server.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => bail!("a URL is https://HOST[:PORT]"),
        };
        let port = server
            .port_u16()
            .unwrap_or(if is_secure { 443 } else { 80 });
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let token = self.token()?;
        let stream = TcpStream::connect((bare, port)).await?;
        let is_local = stream.peer_addr()?.ip().to_canonical().is_loopback();
        if token.is_some() && !is_secure && !is_local {
            bail!("a token is sent over https alone");
        }
        let start = server.path().trim_end_matches('/');
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{start}/api/v1{path}"))
            .header(
                HOST,
                server
                    .authority()
                    .map_or(host, |authority| authority.as_str()),
            );
        if let Some(token) = &token {
            request = request.header(AUTHORIZATION, format!("Bearer {}", token.as_str()));
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body)))?;
        if is_secure {
            let name = ServerName::try_from(bare.to_string())?;
            let stream = self.tls()?.connect(name, stream).await?;
            send(stream, request).await
        } else {
            send(stream, request).await
        }
    }

    fn token(&self) -> anyhow::Result<Option<Zeroizing<String>>> {
        let text = match &self.token_file {
            Some(file) => {
                let text = fs::read_to_string(file);
                Some(text.with_context(|| format!("cannot read {}", file.display()))?)
            }
            None => env::var("HANDFAST_TOKEN").ok(),
        };
        let text = text.map(Zeroizing::new);
        Ok(text.map(|text| Zeroizing::new(text.trim().to_string())))
    }

    fn tls(&self) -> anyhow::Result<TlsConnector> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = &self.certificate {
            let certificates = CertificateDer::pem_file_iter(file)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .with_context(|| format!("cannot use {}", file.display()))?;
            roots.add_parsable_certificates(certificates);
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

async fn send<S>(stream: S, request: Request<Full<Bytes>>) -> anyhow::Result<(u16, Bytes)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let answered = async {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), LONGEST).collect().await;
        let body = body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?;
        anyhow::Ok((status, body.to_bytes()))
    };
    let mut answered = std::pin::pin!(answered);
    tokio::select! {
        done = &mut answered => done,
        ended = connection => {
            ended?;
            answered.await
        }
    }
}

impl Problem {
    /// Says it as a command says what was not done.
    pub(crate) fn tell(self, output: Output) -> anyhow::Result<Answer> {
        let mut about = match self {
            Self::Failed(error) => return Err(error),
            Self::Refused(about) => about,
        };
        let status = about.remove("status").and_then(|status| status.as_u64());
        output.complain_with(&about);
        Ok(if status.is_some_and(|status| status >= 500) {
            Answer::Failed
        } else {
            Answer::No
        })
    }
}

/// What a server says is not what it should.
pub(crate) fn unreadable() -> Refusal {
    Refusal::Policy {
        code: "unreadable",
        problem: "the server said something that cannot be read: is it of another version?".into(),
    }
}

/// A text as one segment of a path, or as a part of a query.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.extend(['%']);
            for digit in [byte >> 4, byte & 15] {
                let digit = char::from_digit(digit.into(), 16).unwrap_or('0');
                out.push(digit.to_ascii_uppercase());
            }
        }
    }
    out
}
