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
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use handfast_registry::{Principal, RegistryError};
use handfast_server::{AS_HEADER, LocalApi, SOCKET};
use http_body_util::BodyExt;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, IF_MATCH, TE};
use hyper::http::uri::Authority;
use hyper::{Request, Response, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value as Json};
use zeroize::Zeroizing;

use crate::exit::{Answer, UnreadableInput};
use crate::folder::Data;
use crate::remote::handle_server::wait;
use crate::remote::http_client::{self, Received, RequestBody, whole};
use crate::terminal::output::Output;

/// A server on the network, and who asks it.
#[derive(Args, Clone)]
pub(crate) struct ServerOptions {
    /// Ask this server over its API instead of working on a folder: `https://HOST[:PORT]`. Say it
    /// before the command
    #[arg(
        help_heading = HEADING,
        long = "api",
        alias = "url",
        value_name = "URL",
        env = "HANDFAST_URL",
        value_hint = ValueHint::Url,
        value_parser = server_url
    )]
    pub(crate) server: Option<Uri>,
    /// A file with a token; without it, `HANDFAST_TOKEN`
    #[arg(
        help_heading = HEADING,
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        requires = "server"
    )]
    token_file: Option<PathBuf>,
    /// Trust this certificate (PEM), beside those that the system trusts
    #[arg(
        help_heading = HEADING,
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        requires = "server"
    )]
    certificate: Option<PathBuf>,
}

/// Above the options that name a server.
const HEADING: &str = "At a server on the network";

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

/// Why something was not done.
pub(crate) enum Problem {
    /// The API could not be asked.
    Failed(anyhow::Error),
    /// The data folder could not be opened, or the answer cannot be used.
    Local(RegistryError),
    /// It cannot be asked in this way.
    Misused(&'static str),
    /// The API said no, or that it cannot.
    Refused(Map<String, Json>),
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// A request below `/api/v1`.
struct Asked<'a> {
    method: &'a str,
    path: &'a str,
    content_type: Option<&'a str>,
    /// One header more.
    header: Option<(HeaderName, &'a str)>,
    body: RequestBody,
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
    pub(crate) fn only_local(&self, why: &'static str) -> Result<(), Problem> {
        match (self.is_remote(), &self.who) {
            (true, Some(_)) => Err(Problem::Misused(NO_AS)),
            (true, None) => Err(Problem::Misused(why)),
            (false, _) => Ok(()),
        }
    }

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
            header,
            ..sending(method, path, body)
        };
        let (status, bytes) = self.exchange(asked)?;
        self.read(status, &bytes)
    }

    /// Sends a text.
    pub(crate) fn send_text(&self, path: &str, text: &str) -> Result<Json, Problem> {
        let asked = Asked {
            content_type: Some("text/plain"),
            body: whole(text.to_string()),
            ..sending("POST", path, None)
        };
        let (status, bytes) = self.exchange(asked)?;
        self.read(status, &bytes)
    }

    /// Asks for bytes.
    pub(crate) fn fetch(&self, path: &str) -> Result<Bytes, Problem> {
        let (status, bytes) = self.exchange(sending("GET", path, None))?;
        if status == 200 {
            return Ok(bytes);
        }
        self.read(status, &bytes)?;
        Err(self.is_no_handfast(status))
    }

    /// Sends what is read, and hands on each line of the answer as it comes; gives the last one.
    pub(crate) fn upload(
        &self,
        path: &str,
        body: RequestBody,
        each: &mut dyn FnMut(Json),
    ) -> Result<Json, Problem> {
        if self.is_remote() {
            // Much is not sent for nothing.
            self.ask("GET", "/accounts/this", None)?;
        }
        let asked = Asked {
            content_type: Some("application/octet-stream"),
            body,
            ..sending("POST", path, None)
        };
        self.lines(asked, each)
    }

    /// Has a job done, and hands on each line of the answer as it comes; gives the last one.
    pub(crate) fn run_job(
        &self,
        path: &str,
        body: Option<&Json>,
        each: &mut dyn FnMut(Json),
    ) -> Result<Json, Problem> {
        self.lines(sending("POST", path, body), each)
    }

    fn lines(&self, asked: Asked<'_>, each: &mut dyn FnMut(Json)) -> Result<Json, Problem> {
        let answered = self.wait(async {
            // How long the beginning takes depends on how much is sent.
            let response = self.send(asked).await?;
            let status = response.status().as_u16();
            if status != 200 {
                return Ok(Err((status, self.collect(response).await?)));
            }
            let mut last = None;
            let mut is_readable = true;
            let mut line = |text: &[u8]| match serde_json::from_slice(text) {
                Ok(said) => {
                    if let Some(before) = last.replace(said) {
                        each(before);
                    }
                }
                Err(_) => is_readable = false,
            };
            http_client::each_line(response, self.timeout(), &mut line).await?;
            Ok(Ok(last.filter(|_| is_readable)))
        })?;
        match answered {
            Ok(Some(Json::Object(mut last))) => match last.remove("problem") {
                Some(Json::Object(problem)) => Err(self.refused(problem)),
                _ => Ok(last.into()),
            },
            Ok(_) => Err(self.is_no_handfast(200)),
            Err((status, bytes)) => {
                self.read(status, &bytes)?;
                Err(self.is_no_handfast(status))
            }
        }
    }

    /// Writes what is answered as it comes, and gives what is said of it at its end.
    pub(crate) fn download(
        &self,
        path: &str,
        out: &mut (dyn Write + Send),
        tell: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Result<Option<Json>, io::Error>, Problem> {
        let answered = self.wait(async {
            let sending = self.send(sending("GET", path, None));
            let response = http_client::in_time(self.timeout(), sending).await?;
            let status = response.status().as_u16();
            if status != 200 {
                return Ok(Err((status, self.collect(response).await?)));
            }
            let time = self.timeout();
            let taken = http_client::take(response, &SUMMARY, time, out, tell).await?;
            Ok(Ok(taken))
        })?;
        match answered {
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

    fn exchange(&self, asked: Asked<'_>) -> Result<(u16, Bytes), Problem> {
        self.wait(async {
            let response = http_client::in_time(self.timeout(), self.send(asked)).await?;
            let status = response.status().as_u16();
            Ok((status, self.collect(response).await?))
        })
    }

    /// How long an answer may take: over the network, a server that does not answer is given up.
    fn timeout(&self) -> std::time::Duration {
        if self.is_remote() {
            http_client::ANSWER_TIMEOUT
        } else {
            std::time::Duration::MAX
        }
    }

    async fn collect(&self, response: Response<Received>) -> anyhow::Result<Bytes> {
        let limit = if self.is_remote() {
            http_client::MAX_ANSWER
        } else {
            usize::MAX
        };
        http_client::collect(response, limit, self.timeout()).await
    }

    /// Sends a request, and gives the beginning of the answer.
    async fn send(&self, asked: Asked<'_>) -> anyhow::Result<Response<Received>> {
        let mut request = Request::builder()
            .method(asked.method)
            .header(TE, "trailers");
        if let Some(who) = &self.who {
            request = request.header(AS_HEADER, encode(&who.to_string()));
        }
        if let Some(content_type) = asked.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        if let Some((name, value)) = asked.header {
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
    fn wait<T>(&self, answer: impl Future<Output = anyhow::Result<T>>) -> Result<T, Problem> {
        if self.is_remote() && self.who.is_some() {
            return Err(Problem::Misused(NO_AS));
        }
        if let Transport::Network { options, .. } = &self.transport {
            // A file that cannot be read is wrong usage, and no failure of the network.
            options.token()?;
        }
        if let Transport::Folder {
            data,
            makes,
            opened,
        } = &self.transport
            && opened.get().is_none()
        {
            let registry = data.config().and_then(|config| match makes {
                Some(output) => data.open_or_make(&config, *output, false),
                None => data.open(&config),
            });
            let registry = registry.map_err(Problem::Local)?;
            opened.get_or_init(|| LocalApi::new(registry.into()));
        }
        let answered = wait(answer).and_then(|answered| answered);
        answered.map_err(|error| self.explain(&error).into())
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

    fn read(&self, status: u16, bytes: &[u8]) -> Result<Json, Problem> {
        if status == 204 {
            return Ok(Json::Null);
        }
        match serde_json::from_slice(bytes).ok() {
            Some(said) if (200..300).contains(&status) => Ok(said),
            Some(Json::Object(problem)) if problem.contains_key("code") => {
                Err(self.refused(problem))
            }
            _ => Err(self.is_no_handfast(status)),
        }
    }

    fn refused(&self, mut problem: Map<String, Json>) -> Problem {
        let message = problem.remove("detail").unwrap_or_default();
        let is_unknown_here = message
            .as_str()
            .is_some_and(|text| text.starts_with("there is no parameter"))
            || problem
                .get("code")
                .is_some_and(|code| code == "no-such-path");
        problem.insert("message".into(), message);
        problem.remove("title");
        let hint = match &self.transport {
            Transport::Network { .. } if problem.get("status").is_some_and(|s| s == 401) => {
                "name a file with a token by --token-file, or set HANDFAST_TOKEN"
            }
            Transport::Socket(_) if is_unknown_here => {
                "the server that uses this folder is another version of handfast and does not \
                 know this command: restart it with the version of this program"
            }
            _ => return Problem::Refused(problem),
        };
        problem.insert("hint".into(), hint.into());
        Problem::Refused(problem)
    }

    fn is_no_handfast(&self, status: u16) -> Problem {
        anyhow!("{} answered {status}, and is no Handfast", self.base()).into()
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
                let text = fs::read_to_string(file);
                Some(text.with_context(|| UnreadableInput::new(file))?)
            }
            None => env::var("HANDFAST_TOKEN").ok(),
        };
        let text = text.map(Zeroizing::new);
        Ok(text.map(|text| Zeroizing::new(text.trim().to_string())))
    }
}

/// A request with a body of JSON, or none.
fn sending<'a>(method: &'a str, path: &'a str, body: Option<&Json>) -> Asked<'a> {
    Asked {
        method,
        path,
        content_type: body.map(|_| "application/json"),
        header: None,
        body: whole(body.map(ToString::to_string).unwrap_or_default()),
    }
}

impl Problem {
    /// Whether the API refused for a reason of this code.
    pub(crate) fn has_code(&self, code: &str) -> bool {
        matches!(self, Self::Refused(about) if about.get("code").is_some_and(|of| of == code))
    }

    /// Says it as a command says what was not done.
    pub(crate) fn tell(self, output: Output) -> anyhow::Result<Answer> {
        let mut about = match self {
            Self::Failed(error) => return Err(error),
            Self::Local(error) => return Ok(output.refuse(&error)),
            Self::Misused(problem) => return Ok(output.misused(problem)),
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

impl Output {
    /// Prints what the API answered, or why it did not.
    pub(crate) fn show(
        self,
        said: Result<Json, Problem>,
        for_people: impl FnOnce(&Json, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<Answer> {
        self.show_as(said, Json::clone, for_people)
    }

    /// The same of something that is not printed as it was answered.
    pub(crate) fn show_as<T>(
        self,
        said: Result<T, Problem>,
        as_json: impl FnOnce(&T) -> Json,
        for_people: impl FnOnce(&T, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<Answer> {
        match said {
            Ok(said) => self.print(Ok(said), as_json, for_people),
            Err(problem) => problem.tell(self),
        }
    }
}

/// What a server says is not what it should.
pub(crate) fn unreadable() -> Problem {
    Problem::Local(RegistryError::Policy {
        code: "unreadable",
        problem: "the server said something that cannot be read: is it of another version?".into(),
    })
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
