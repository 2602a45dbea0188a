//! The API, asked by every command through one client.
//!
//! ```text
//! the data folder is free     this process opens it and calls the API as a function
//! a server uses the folder    HTTP over the socket in the folder
//! --api URL                   HTTP or HTTPS over the network, with a token
//! ```
//!
//! In the first two cases the command acts as the local operator, or as whom `--as` names; in the
//! third as the account of the token. No command knows which of the three it is, except where the
//! network has a limit that the folder has not.

use std::cell::OnceCell;
use std::env;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use handfast_api as api;
use handfast_registry::{Principal, RegistryError};
use handfast_server::{AS_HEADER, LocalApi, SOCKET};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, TE};
use hyper::http::uri::Authority;
use hyper::{Request, Response, StatusCode, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value as Json;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::exit::{Answer, Problem, UnreadableInput, misused, refused};
use crate::folder::Data;
use crate::new_file::NewFile;
use crate::remote::handle_server::wait;
use crate::remote::http_client::{self, Received, RequestBody, whole};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// A server on the network, and who asks it.
#[derive(Args, Clone)]
pub(crate) struct ServerOptions {
    /// Ask this server over its API instead of working on a folder: `https://HOST[:PORT]`. Say it
    /// before the command
    #[arg(
        help_heading = GROUP,
        long = "api",
        alias = "url",
        value_name = "URL",
        env = "HANDFAST_URL",
        value_hint = ValueHint::Url,
        value_parser = server_url
    )]
    pub(crate) server: Option<Uri>,
    /// A file with a token; without it, `HANDFAST_TOKEN`
    #[arg(long, help_heading = GROUP, value_name = "FILE", requires = "server", value_hint = FILE)]
    token_file: Option<PathBuf>,
    /// Trust this certificate (PEM), beside those that the system trusts
    #[arg(long, help_heading = GROUP, value_name = "FILE", requires = "server", value_hint = FILE)]
    certificate: Option<PathBuf>,
}

const FILE: ValueHint = ValueHint::FilePath;
/// Above the options that name a server.
const GROUP: &str = "At a server on the network";

/// A URL at which a server can be asked.
fn server_url(text: &str) -> Result<Uri, String> {
    let is_usable = |url: &Uri| {
        let has_host = url.host().is_some_and(|host| !host.is_empty());
        // A port that is too large is read as none.
        let authority = url.authority().map(Authority::as_str);
        let port = authority.and_then(|text| text.rsplit_once(':'));
        let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let names_port = port.is_some_and(|(_, port)| is_number(port));
        let is_web = matches!(url.scheme_str(), Some("https" | "http"));
        is_web && has_host && (!names_port || url.port_u16().is_some())
    };
    let url = text.parse::<Uri>().ok().filter(is_usable);
    url.ok_or_else(|| {
        "a URL is https://HOST or https://HOST:PORT, such as https://pid.example.org".to_string()
    })
}

/// Who asks, and how the answer is printed.
#[derive(Args)]
pub(crate) struct Caller {
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse_actor)]
    pub(crate) who: Option<Principal>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Caller {
    /// A client that acts so.
    pub(crate) fn client(&self, client: Client) -> Client {
        client.acting_as(self.who.as_ref())
    }
}

/// How the API is reached, and who asks.
pub(crate) struct Client {
    transport: Transport,
    who: Option<Principal>,
}

enum Transport {
    /// The data folder, which this process opens when it first asks.
    Folder {
        data: Data,
        /// Whether a folder that is not there is made, and how that is reported.
        makes: Option<Output>,
        opened: OnceCell<LocalApi>,
    },
    Network {
        server: Uri,
        options: ServerOptions,
    },
    Socket(PathBuf),
}

/// A request below `/api/v1`.
pub(crate) struct ApiRequest<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(HeaderName, String)>,
    body: RequestBody,
}

/// No body.
pub(crate) const NOTHING: Option<&()> = None;

impl<'a> ApiRequest<'a> {
    pub(crate) fn new(method: &'a str, path: &'a str) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body: whole(""),
        }
    }

    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a body of JSON, if there is one.
    pub(crate) fn json(self, body: Option<&impl Serialize>) -> Self {
        match body.map(serde_json::to_vec) {
            Some(body) => self.body("application/json", whole(body.unwrap_or_default())),
            None => self,
        }
    }

    fn body(self, content_type: &str, body: RequestBody) -> Self {
        let request = self.header(CONTENT_TYPE, content_type);
        Self { body, ..request }
    }
}

/// The trailer in which an export says what was given.
const SUMMARY: HeaderName = HeaderName::from_static("handfast-summary");

/// Why `--as` is refused over the network.
const NO_AS: &str = "--api knows who asks by a token: leave out --as";

impl Client {
    /// For a server on the network, or else for a data folder.
    pub(crate) fn new(data: &Data, options: ServerOptions) -> Self {
        let socket = data.folder.join(SOCKET);
        let transport = match &options.server {
            Some(server) => Transport::Network {
                server: server.clone(),
                options,
            },
            None if UnixStream::connect(&socket).is_ok() => Transport::Socket(socket),
            None => Transport::Folder {
                data: data.clone(),
                makes: None,
                opened: OnceCell::new(),
            },
        };
        let who = None;
        Self { transport, who }
    }

    /// The same for somebody else than the operator.
    pub(crate) fn acting_as(self, who: Option<&Principal>) -> Self {
        let who = who.cloned();
        Self { who, ..self }
    }

    /// The same, which makes a data folder that is not there.
    pub(crate) fn making_folder(mut self, output: Output) -> Self {
        if let Transport::Folder { makes, .. } = &mut self.transport {
            *makes = Some(output);
        }
        self
    }

    /// Whether the command asks over the network, where answers have limits.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.transport, Transport::Network { .. })
    }

    /// Refuses the network, where something is not to be had, for a reason.
    pub(crate) fn only_local(&self, why: &str) -> anyhow::Result<()> {
        match (self.is_remote(), &self.who) {
            (true, Some(_)) => Err(misused(NO_AS)),
            (true, None) => Err(misused(why)),
            (false, _) => Ok(()),
        }
    }

    /// Asks for something below `/api/v1`.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.ask(ApiRequest::new("GET", path))
    }

    /// Has something done.
    pub(crate) fn act<T: DeserializeOwned>(&self, method: &str, path: &str) -> anyhow::Result<T> {
        self.ask(ApiRequest::new(method, path))
    }

    /// Has something done that has to be said in a body.
    pub(crate) fn send<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.ask(ApiRequest::new(method, path).json(Some(body)))
    }

    /// Sends a text.
    pub(crate) fn send_text<T: DeserializeOwned>(
        &self,
        path: &str,
        text: String,
    ) -> anyhow::Result<T> {
        self.ask(ApiRequest::new("POST", path).body("text/plain", whole(text)))
    }

    pub(crate) fn ask<T: DeserializeOwned>(&self, request: ApiRequest<'_>) -> anyhow::Result<T> {
        let said = serde_json::from_slice::<Json>(&self.exchange(request)?);
        read_as(said.map_err(|_| self.is_no_handfast(200))?)
    }

    /// Asks for bytes.
    pub(crate) fn fetch(&self, path: &str) -> anyhow::Result<Bytes> {
        self.exchange(ApiRequest::new("GET", path))
    }

    fn exchange(&self, request: ApiRequest<'_>) -> anyhow::Result<Bytes> {
        self.wait(async {
            let response = self.open(request, self.timeout()).await?;
            if response.status() == StatusCode::NO_CONTENT {
                return Ok(Bytes::from_static(b"null"));
            }
            self.collect(response).await
        })
    }

    /// Sends what is read, and hands on each line of the answer as it comes; gives the last one.
    pub(crate) fn upload<T: DeserializeOwned>(
        &self,
        path: &str,
        body: RequestBody,
        each: &mut dyn FnMut(Json),
    ) -> anyhow::Result<T> {
        if self.is_remote() {
            // Much is not sent for nothing.
            self.get::<IgnoredAny>("/accounts/this")?;
        }
        let request = ApiRequest::new("POST", path).body("application/octet-stream", body);
        self.lines(request, each)
    }

    /// Hands on each line of an answer as it comes; gives the last one.
    pub(crate) fn lines<T: DeserializeOwned>(
        &self,
        request: ApiRequest<'_>,
        each: &mut dyn FnMut(Json),
    ) -> anyhow::Result<T> {
        let last = self.wait(async {
            // How long the beginning takes depends on how much is sent.
            let response = self.open(request, Duration::MAX).await?;
            let (mut last, mut is_readable) = (None, true);
            let mut line = |text: &[u8]| match serde_json::from_slice(text) {
                Ok(said) => {
                    if let Some(before) = last.replace(said) {
                        each(before);
                    }
                }
                Err(_) => is_readable = false,
            };
            let read = http_client::each_line(response, self.timeout(), &mut line).await;
            read.map_err(|error| self.explain(&error))?;
            Ok(last.filter(|_| is_readable))
        })?;
        match last {
            Some(Json::Object(mut last)) => match last.remove("problem") {
                Some(problem) => Err(self.refused(read_as(problem)?)),
                None => read_as(last.into()),
            },
            _ => Err(self.is_no_handfast(200)),
        }
    }

    /// Writes what is answered as it comes, and gives what is said of it at its end.
    pub(crate) fn download<T: DeserializeOwned>(
        &self,
        path: &str,
        out: &mut (dyn Write + Send),
        tell: &mut (dyn FnMut(u64) + Send),
    ) -> anyhow::Result<Option<T>> {
        let time = self.timeout();
        let written = self.wait(async {
            let response = self.open(ApiRequest::new("GET", path), time).await?;
            let taken = http_client::take(response, &SUMMARY, time, out, tell).await;
            taken.map_err(|error| self.explain(&error))
        })?;
        match written {
            Ok(said) => Ok(said.and_then(|said| serde_json::from_str(&said).ok())),
            // The reader has seen enough, as `head` does.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(error.into()),
            Err(source) => Err(refused(RegistryError::Output { source })),
        }
    }

    /// The same to a file, or to standard output.
    pub(crate) fn save<T: DeserializeOwned>(
        &self,
        path: &str,
        file: Option<&Path>,
        mode: u32,
    ) -> anyhow::Result<Option<T>> {
        let progress = Progress::new(None);
        let mut tell = |bytes: u64| progress.at(bytes, "bytes", bytes);
        let Some(file) = file else {
            return self.download(path, &mut io::stdout(), &mut tell);
        };
        let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(file, mode)?);
        let summary = self.download(path, &mut file, &mut tell)?;
        file.into_inner()?.finish()?;
        Ok(summary)
    }

    /// Asks the REST API of handle servers, over the network and without a token. Gives the status
    /// and the JSON of the answer.
    pub(crate) fn ask_rest(
        &self,
        method: &str,
        path: &str,
        authorization: Option<&str>,
        body: &Json,
    ) -> anyhow::Result<(StatusCode, Json)> {
        let Transport::Network { server, options } = &self.transport else {
            return Err(misused("this asks a server: say which with --api URL"));
        };
        let start = server.path().trim_end_matches('/');
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{start}{path}"))
            .header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(whole(body.to_string()))?;
        let certificate = options.certificate.as_deref();
        let (status, said) = wait(async {
            let sent = http_client::send_to_server(server, certificate, request);
            let sent = timeout(self.timeout(), sent).await;
            let sent = sent.context("nothing was answered").flatten();
            let response = sent.map_err(|error| self.explain(&error))?;
            let status = response.status();
            anyhow::Ok((status, self.collect(response).await?))
        })??;
        Ok((status, serde_json::from_slice(&said).unwrap_or_default()))
    }

    /// All things of a list that comes in pages.
    pub(crate) fn pages<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &str,
        list: &str,
    ) -> anyhow::Result<Vec<T>> {
        let mut all = Vec::new();
        self.each_page(path, query, list, |page| {
            all.extend(page);
            Ok(())
        })?;
        Ok(all)
    }

    /// Each page of a list; a query begins with `&` if there is one.
    pub(crate) fn each_page<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &str,
        list: &str,
        mut each: impl FnMut(Vec<T>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut after = String::new();
        loop {
            let asked = format!("{path}?limit=1000{query}{after}");
            let mut page: Json = self.get(&asked)?;
            let things = page.get_mut(list).map(Json::take);
            each(read_as(things.ok_or_else(|| self.is_no_handfast(200))?)?)?;
            let Some(next) = page.get("next").and_then(Json::as_str) else {
                return Ok(());
            };
            let next = format!("&after={}", encode(next));
            // A server that does not go on would be asked for ever.
            if next == after {
                return Ok(());
            }
            after = next;
        }
    }

    /// How long an answer may take: over the network, a server that does not answer is given up.
    fn timeout(&self) -> Duration {
        if self.is_remote() {
            http_client::ANSWER_TIMEOUT
        } else {
            Duration::MAX
        }
    }

    async fn collect(&self, response: Response<Received>) -> anyhow::Result<Bytes> {
        let limit = if self.is_remote() {
            http_client::MAX_ANSWER
        } else {
            usize::MAX
        };
        let collected = http_client::collect(response, limit, self.timeout()).await;
        collected.map_err(|error| self.explain(&error))
    }

    /// Sends a request, and gives the beginning of an answer that is a success.
    async fn open(
        &self,
        request: ApiRequest<'_>,
        time: Duration,
    ) -> anyhow::Result<Response<Received>> {
        let begun = timeout(time, self.begin(request)).await;
        let begun = begun.context("nothing was answered").flatten();
        let response = begun.map_err(|error| self.explain(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let problem = problem(&self.collect(response).await?);
        let problem = problem.ok_or_else(|| self.is_no_handfast(status))?;
        Err(self.refused(api::Problem { status, ..problem }))
    }

    async fn begin(&self, asked: ApiRequest<'_>) -> anyhow::Result<Response<Received>> {
        let mut request = Request::builder()
            .method(asked.method)
            .header(TE, "trailers");
        if let Some(who) = &self.who {
            request = request.header(AS_HEADER, encode(&who.to_string()));
        }
        for (name, value) in asked.headers {
            request = request.header(name, value);
        }
        let path = format!("/api/v1{}", asked.path);
        match &self.transport {
            Transport::Folder { opened, .. } => {
                let api = opened.get().context("the data folder is not open")?;
                let request = request.uri(path).body(asked.body)?;
                let response = api.answer(request).await;
                Ok(response.map(BodyExt::boxed_unsync))
            }
            Transport::Socket(socket) => {
                let request = request.uri(path).body(asked.body)?;
                http_client::send_to_socket(socket, request).await
            }
            Transport::Network { server, options } => {
                let token = options.token()?;
                if let Some(token) = &token {
                    let bearer = Zeroizing::new(format!("Bearer {}", token.as_str()));
                    request = request.header(AUTHORIZATION, bearer.as_str());
                }
                let start = server.path().trim_end_matches('/');
                let request = request.uri(format!("{start}{path}")).body(asked.body)?;
                let certificate = options.certificate.as_deref();
                http_client::send_to_server(server, certificate, request).await
            }
        }
    }

    /// Opens the data folder if that is needed, and waits for an answer.
    fn wait<T>(&self, answer: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        match &self.transport {
            Transport::Network { .. } if self.who.is_some() => return Err(misused(NO_AS)),
            Transport::Network { options, .. } => {
                // A file that cannot be read is wrong usage, and no failure of the network.
                options.token()?;
            }
            Transport::Folder {
                data,
                makes,
                opened,
            } if opened.get().is_none() => {
                let config = data.config().map_err(refused)?;
                let registry = match makes {
                    Some(output) => data.open_or_make(&config, *output, false),
                    None => data.open(&config),
                };
                let registry = registry.map_err(refused)?;
                let (public_url, listen) = (config.public_url(), config.listen().web);
                opened.get_or_init(|| LocalApi::new(registry.into(), public_url, listen));
            }
            Transport::Folder { .. } | Transport::Socket(_) => {}
        }
        wait(answer).unwrap_or_else(|error| Err(self.explain(&error)))
    }

    /// As a text: a connection that breaks is nobody who has read enough of our output.
    fn explain(&self, error: &anyhow::Error) -> anyhow::Error {
        let text = format!("{error:#}");
        match &self.transport {
            Transport::Folder { .. } => anyhow!("{text}"),
            Transport::Socket(_) => anyhow!(
                "the server that uses the data folder was asked to do this: {text}; \
                 if the program was updated after the server started, restart the server"
            ),
            Transport::Network { .. } => {
                let hint = if text.contains("UnknownIssuer") {
                    "\nhint: if the server has made its certificate itself, \
                     name that with --certificate FILE"
                } else {
                    ""
                };
                anyhow!("cannot ask {}: {text}{hint}", self.base())
            }
        }
    }

    fn refused(&self, mut problem: api::Problem) -> anyhow::Error {
        let is_unknown_here =
            problem.detail.starts_with("there is no parameter") || problem.code == "no-such-path";
        let hint = match &self.transport {
            Transport::Network { .. } if problem.status == 401 => {
                Some("name a file with a token by --token-file, or set HANDFAST_TOKEN")
            }
            Transport::Socket(_) if is_unknown_here => Some(
                "the server that uses this folder is another version of handfast and does not \
                 know this command: restart it with the version of this program",
            ),
            _ => None,
        };
        problem.hint = hint.map(str::to_string).or(problem.hint);
        Problem::of(Answer::no(problem.status >= 500), problem).into()
    }

    fn is_no_handfast(&self, status: u16) -> anyhow::Error {
        anyhow!("{} answered {status}, and is no Handfast", self.base())
    }

    fn base(&self) -> String {
        match &self.transport {
            Transport::Folder { data, .. } => data.folder.display().to_string(),
            Transport::Socket(socket) => socket.display().to_string(),
            Transport::Network { server, .. } => server.to_string(),
        }
    }
}

impl ServerOptions {
    fn token(&self) -> anyhow::Result<Option<Zeroizing<String>>> {
        let text = match &self.token_file {
            Some(file) => {
                Some(fs::read_to_string(file).with_context(|| UnreadableInput::new(file))?)
            }
            None => env::var("HANDFAST_TOKEN").ok(),
        };
        let text = text.map(Zeroizing::new);
        Ok(text.map(|text| Zeroizing::new(text.trim().to_string())))
    }
}

/// What a server said, if it is what it should be.
fn read_as<T: DeserializeOwned>(said: Json) -> anyhow::Result<T> {
    serde_json::from_value(said).map_err(|_| unreadable())
}

/// Why a server says no. One of another version may leave out all but the code.
fn problem(said: &[u8]) -> Option<api::Problem> {
    let said: Json = serde_json::from_slice(said).ok()?;
    said.get("code")?;
    let mut problem = serde_json::to_value(api::Problem::default()).ok()?;
    problem.as_object_mut()?.extend(said.as_object()?.clone());
    serde_json::from_value(problem).ok()
}

/// What a server says is not what it should.
pub(crate) fn unreadable() -> anyhow::Error {
    let problem = "the server said something that cannot be read: is it of another version?";
    Problem::new(Answer::No, "unreadable", problem.into(), None).into()
}

/// What is said of a query, each part behind `&`.
pub(crate) fn query<const N: usize>(parts: [(&str, Option<String>); N]) -> String {
    let parts = parts.map(|(name, part)| {
        let part = part.map(|part| format!("&{name}={}", encode(&part)));
        part.unwrap_or_default()
    });
    parts.concat()
}

/// A text as one segment of a path, or as a part of a query.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Everything but letters, digits and `- . _ ~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
