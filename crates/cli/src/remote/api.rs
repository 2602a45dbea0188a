//! A server elsewhere, asked over its API.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use handfast_registry::RegistryError;
use hyper::Uri;
use hyper::body::Bytes;
use hyper::header::{HeaderName, IF_MATCH};
use hyper::http::uri::Authority;
use serde_json::{Map, Value as Json};
use zeroize::Zeroizing;

use crate::exit::{Answer, UnreadableInput};
use crate::remote::handle_server::wait;
use crate::remote::http_client::{self, Asked, Sent, whole};
use crate::terminal::output::Output;

/// A server elsewhere, and who asks it.
#[derive(Args)]
pub(crate) struct Elsewhere {
    /// Ask this server over its API instead of working on a folder: `https://HOST[:PORT]`. Say it before the command
    #[arg(help_heading = HEADING, long = "url", value_name = "URL", value_hint = ValueHint::Url, value_parser = server_url)]
    pub(crate) server: Option<Uri>,
    /// A file with a token; without it, `HANDFAST_TOKEN`
    #[arg(help_heading = HEADING, long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "server")]
    token_file: Option<PathBuf>,
    /// Trust this certificate (PEM), beside those that the system trusts
    #[arg(help_heading = HEADING, long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "server")]
    certificate: Option<PathBuf>,
}

/// Above the options that name a server.
const HEADING: &str = "At a server elsewhere";

/// A URL at which a server can be asked.
fn server_url(text: &str) -> Result<Uri, String> {
    let is_usable = |url: &Uri| {
        let has_host = url.host().is_some_and(|host| !host.is_empty());
        // A port that is too large is read as none.
        let port = url.authority().map(Authority::as_str);
        let port = port
            .and_then(|text| text.rsplit_once(':'))
            .map(|(_, port)| port);
        let names_port = port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        let is_web = matches!(url.scheme_str(), Some("https" | "http"));
        is_web && has_host && (!names_port || url.port_u16().is_some())
    };
    let url = text.parse::<Uri>().ok().filter(is_usable);
    url.ok_or_else(|| {
        "a URL is https://HOST or https://HOST:PORT, such as https://pid.example.org".to_string()
    })
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

/// By what an export says what was given.
const SUMMARY: HeaderName = HeaderName::from_static("handfast-summary");

impl Elsewhere {
    /// Asks for something below `/api/v1`.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Json, Problem> {
        self.ask_with(method, path, body, None)
    }

    /// The same, for what takes long: the answer comes when a job has begun.
    pub(crate) fn begin(&self, path: &str, body: Option<&Json>) -> Result<Json, Problem> {
        let prefer = (HeaderName::from_static("prefer"), "respond-async");
        self.ask_with("POST", path, body, Some(prefer))
    }

    /// The same, if what it changes still has a version.
    pub(crate) fn ask_if(
        &self,
        method: &str,
        path: &str,
        body: &Json,
        version: u64,
    ) -> Result<Json, Problem> {
        let tag = format!("\"{version}\"");
        self.ask_with(method, path, Some(body), Some((IF_MATCH, &tag)))
    }

    fn ask_with(
        &self,
        method: &str,
        path: &str,
        body: Option<&Json>,
        header: Option<(HeaderName, &str)>,
    ) -> Result<Json, Problem> {
        let asked = Asked {
            method,
            path,
            content_type: body.map(|_| "application/json"),
            header,
            body: whole(body.map(ToString::to_string).unwrap_or_default()),
        };
        let (status, bytes) = self.exchange(asked)?;
        self.read(status, &bytes)
    }

    /// Sends a text.
    pub(crate) fn send_text(&self, path: &str, text: &str) -> Result<Json, Problem> {
        let asked = Asked {
            method: "POST",
            path,
            content_type: Some("text/plain"),
            header: None,
            body: whole(text.to_string()),
        };
        let (status, bytes) = self.exchange(asked)?;
        self.read(status, &bytes)
    }

    /// Asks for bytes.
    pub(crate) fn fetch(&self, path: &str) -> Result<Bytes, Problem> {
        let (status, bytes) = self.exchange(getting(path))?;
        if status == 200 {
            return Ok(bytes);
        }
        self.read(status, &bytes)?;
        Err(self.is_no_handfast(status))
    }

    /// Sends what is read, and gives the lines that are answered.
    pub(crate) fn upload(&self, path: &str, body: Sent) -> Result<Vec<Json>, Problem> {
        let asked = Asked {
            method: "POST",
            path,
            content_type: Some("application/octet-stream"),
            header: None,
            body,
        };
        // Much is not sent for nothing.
        self.ask("GET", "/accounts/this", None)?;
        let token = self.token()?;
        // How long that takes depends on how much is sent.
        let sent = wait(async {
            let server = self.server.as_ref().context("no server is named")?;
            let (token, certificate) = (token.as_ref(), self.certificate.as_deref());
            let token = token.map(|token| token.as_str());
            let response = http_client::send(server, token, certificate, asked).await?;
            let status = response.status().as_u16();
            anyhow::Ok((status, http_client::collect(response).await?))
        });
        let (status, bytes) = self.named(sent)?;
        if status != 200 {
            self.read(status, &bytes)?;
            return Err(self.is_no_handfast(status));
        }
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let lines: Result<_, _> = lines.map(serde_json::from_slice).collect();
        lines.map_err(|_| self.is_no_handfast(status))
    }

    /// Writes what is answered as it comes, and gives what is said of it at its end.
    pub(crate) fn download(
        &self,
        path: &str,
        out: &mut (dyn Write + Send),
        tell: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Result<Option<Json>, io::Error>, Problem> {
        let token = self.token()?;
        let answered = wait(async {
            let server = self.server.as_ref().context("no server is named")?;
            let (token, certificate) = (token.as_ref(), self.certificate.as_deref());
            let token = token.map(|token| token.as_str());
            let sending = http_client::send(server, token, certificate, getting(path));
            let response = http_client::in_time(sending).await?;
            let status = response.status().as_u16();
            if status != 200 {
                return Ok(Err((status, http_client::collect(response).await?)));
            }
            http_client::take(response, &SUMMARY, out, tell)
                .await
                .map(Ok)
        });
        match self.named(answered)? {
            Ok(Ok(said)) => {
                let said = said.and_then(|said| serde_json::from_str(&said).ok());
                Ok(Ok(said))
            }
            Ok(Err(error)) => Ok(Err(error)),
            Err((status, bytes)) => {
                self.read(status, &bytes)?;
                Err(self.is_no_handfast(status))
            }
        }
    }

    fn exchange(&self, asked: Asked<'_>) -> Result<(u16, Bytes), Problem> {
        let token = self.token()?;
        let answered = wait(async {
            let server = self.server.as_ref().context("no server is named")?;
            let (token, certificate) = (token.as_ref(), self.certificate.as_deref());
            let token = token.map(|token| token.as_str());
            let sending = http_client::send(server, token, certificate, asked);
            let response = http_client::in_time(sending).await?;
            let status = response.status().as_u16();
            anyhow::Ok((status, http_client::collect(response).await?))
        });
        self.named(answered)
    }

    fn named<T>(&self, asked: anyhow::Result<anyhow::Result<T>>) -> Result<T, Problem> {
        asked.and_then(|asked| asked).map_err(|error| {
            let text = format!("{error:#}");
            let hint = if text.contains("UnknownIssuer") {
                "\nhint: if the server has made its certificate itself, name that with --certificate FILE"
            } else {
                ""
            };
            // As a text: a connection that breaks is nobody who has read enough of our output.
            anyhow!("cannot ask {}: {text}{hint}", self.base()).into()
        })
    }

    fn read(&self, status: u16, bytes: &[u8]) -> Result<Json, Problem> {
        if status == 204 {
            return Ok(Json::Null);
        }
        match serde_json::from_slice(bytes).ok() {
            Some(said) if (200..300).contains(&status) => Ok(said),
            Some(Json::Object(mut problem)) if problem.contains_key("code") => {
                let message = problem.remove("detail").unwrap_or_default();
                problem.insert("message".into(), message);
                problem.remove("title");
                if status == 401 {
                    let hint = "name a file with a token by --token-file, or set HANDFAST_TOKEN";
                    problem.insert("hint".into(), hint.into());
                }
                Err(Problem::Refused(problem))
            }
            _ => Err(self.is_no_handfast(status)),
        }
    }

    fn is_no_handfast(&self, status: u16) -> Problem {
        anyhow!("{} answered {status}, and is no Handfast", self.base()).into()
    }

    fn base(&self) -> String {
        self.server
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    fn token(&self) -> anyhow::Result<Option<Zeroizing<String>>> {
        let text = match &self.token_file {
            Some(file) => {
                let text = fs::read_to_string(file);
                Some(text.with_context(|| UnreadableInput::new(file))?)
            }
            None => env::var("HANDFAST_TOKEN").ok(),
        };
        let text = text.map(Zeroizing::new);
        Ok(text.map(|text| Zeroizing::new(text.trim().to_string())))
    }

    /// All things of a list that comes in pages.
    pub(crate) fn pages(&self, path: &str, list: &str) -> Result<Vec<Json>, Problem> {
        self.pages_with(path, "", list)
    }

    /// The same of those that a query asks for, which begins with `&` if there is one.
    pub(crate) fn pages_with(
        &self,
        path: &str,
        query: &str,
        list: &str,
    ) -> Result<Vec<Json>, Problem> {
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let asked = format!("{path}?limit=1000{query}{after}");
            let mut page = self.ask("GET", &asked, None)?;
            let things = page.get_mut(list).map(Json::take);
            match things {
                Some(Json::Array(things)) => all.extend(things),
                _ => return Err(self.is_no_handfast(200)),
            }
            match page.get("next").and_then(Json::as_str) {
                Some(next) => after = format!("&after={}", encode(next)),
                None => return Ok(all),
            }
        }
    }
}

fn getting(path: &str) -> Asked<'_> {
    Asked {
        method: "GET",
        path,
        content_type: None,
        header: None,
        body: whole(Bytes::new()),
    }
}

/// Says why nobody acts for someone else over the API.
pub(crate) const NO_AS: &str = "--url knows who asks by a token: leave out --as";

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
pub(crate) fn unreadable() -> RegistryError {
    RegistryError::Policy {
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
