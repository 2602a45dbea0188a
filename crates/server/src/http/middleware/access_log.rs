//! The access log: one line for each request, in the combined format of web servers or as JSON.
//!
//! A thread of its own writes the lines. When lines come faster than it writes, the server
//! counts them and leaves them out: no client waits for a disk.

// Not `tracing-appender`: lines of the log have two fixed forms, and would pass through the
// formatting and the levels of `tracing`. Its lossy writer is the thread below.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use handfast_registry::rfc3339;
use hyper::body::Body as _;
use hyper::header::{HeaderName, HeaderValue, REFERER, USER_AGENT};
use hyper::{Request, Response, Version};
use serde_json::json;

use crate::http::connection::request_body::Incoming;
use crate::http::resolver::target::date;
use crate::http::response::Body;

/// The header by which a request is known in several logs.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// How requests are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    /// Whether as JSON; otherwise in the common form.
    pub is_json: bool,
    /// The file to which lines are added; standard output if `None`.
    pub file: Option<PathBuf>,
}

/// Takes lines.
pub(crate) struct Log {
    is_json: bool,
    lines: SyncSender<String>,
}

/// How many lines wait to be written.
const MAX_WAITING_LINES: usize = 8_192;

impl Log {
    /// Begins to write.
    pub(crate) fn open(kind: &AccessLog) -> io::Result<Self> {
        let out: Box<dyn Write + Send> = match &kind.file {
            Some(path) => {
                let named = |error: io::Error| {
                    let problem = format!("cannot write {}: {error}", path.display());
                    io::Error::new(error.kind(), problem)
                };
                let mut options = OpenOptions::new();
                // Addresses of people are in it.
                let options = options.append(true).create(true).mode(0o640);
                Box::new(options.open(path).map_err(named)?)
            }
            None => Box::new(io::stdout()),
        };
        let (lines, waiting) = sync_channel(MAX_WAITING_LINES);
        let writer = thread::Builder::new().name("handfast-log".into());
        writer.spawn(move || write(out, &waiting))?;
        Ok(Self {
            is_json: kind.is_json,
            lines,
        })
    }

    /// Queues the line of an answered request; `false` if the queue is full.
    pub(crate) fn add(&self, logged: &LoggedRequest, response: &Response<Body>, now: u64) -> bool {
        let line = if self.is_json {
            logged.as_json(response, now)
        } else {
            logged.as_common(response, now)
        };
        self.lines.try_send(line).is_ok()
    }
}

fn write(out: Box<dyn Write + Send>, waiting: &Receiver<String>) {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    while let Ok(first) = waiting.recv() {
        let mut written = out.write_all(first.as_bytes());
        while let Ok(next) = waiting.try_recv() {
            written = written.and_then(|()| out.write_all(next.as_bytes()));
        }
        if let Err(error) = written.and_then(|()| out.flush()) {
            tracing::error!(%error, "the access log cannot be written");
            return;
        }
    }
}

/// The parts of a request that its log line needs.
pub(crate) struct LoggedRequest {
    address: IpAddr,
    is_secure: bool,
    method: String,
    target: String,
    version: Version,
    referer: Option<HeaderValue>,
    agent: Option<HeaderValue>,
    id: HeaderValue,
    began: u64,
}

impl LoggedRequest {
    pub(crate) fn of(
        request: &Request<Incoming>,
        address: IpAddr,
        is_secure: bool,
        id: HeaderValue,
        began: u64,
    ) -> Self {
        let header = |name: HeaderName| request.headers().get(name).cloned();
        Self {
            address,
            is_secure,
            method: request.method().to_string(),
            target: without_code(
                &request
                    .uri()
                    .path_and_query()
                    .map_or_else(|| request.uri().to_string(), ToString::to_string),
            ),
            version: request.version(),
            referer: header(REFERER).map(|referer| without_code_in(&referer)),
            agent: header(USER_AGENT),
            id,
            began,
        }
    }

    /// The combined form: the common one, with where from, with what and which request behind it.
    fn as_common(&self, response: &Response<Body>, now: u64) -> String {
        let length = length(response).map_or_else(|| "-".to_string(), |length| length.to_string());
        let header = |header: &Option<HeaderValue>| {
            let quote = |header: &HeaderValue| quoted(header.as_bytes());
            header.as_ref().map_or_else(|| "-".to_string(), quote)
        };
        format!(
            "{} - - [{}] \"{} {} {:?}\" {} {length} \"{}\" \"{}\" {}\n",
            self.address,
            common_time(now),
            quoted(self.method.as_bytes()),
            quoted(self.target.as_bytes()),
            self.version,
            response.status().as_u16(),
            header(&self.referer),
            header(&self.agent),
            quoted(self.id.as_bytes())
        )
    }

    fn as_json(&self, response: &Response<Body>, now: u64) -> String {
        let text = |header: &HeaderValue| String::from_utf8_lossy(header.as_bytes()).into_owned();
        let mut line = json!({
            "time": rfc3339(now),
            "address": self.address,
            "secure": self.is_secure,
            "method": self.method,
            "target": self.target,
            "version": format!("{:?}", self.version),
            "status": response.status().as_u16(),
            "length": length(response),
            "milliseconds": now.saturating_sub(self.began),
            "referer": self.referer.as_ref().map(text),
            "agent": self.agent.as_ref().map(text),
            "request": text(&self.id),
        })
        .to_string();
        line.push('\n');
        line
    }
}

/// The address of a one-time link without its code: somebody who reads the log could use it before
/// the person who got it.
fn without_code(target: &str) -> String {
    let Some((before, code)) = target.split_once(ENTER) else {
        return target.to_string();
    };
    let rest = code.find(['/', '?', '#']).and_then(|end| code.get(end..));
    [before, ENTER, "CODE", rest.unwrap_or_default()].concat()
}

/// The same of a header: the page of a link is where its button leads from.
fn without_code_in(header: &HeaderValue) -> HeaderValue {
    let text = String::from_utf8_lossy(header.as_bytes());
    if !text.contains(ENTER) {
        return header.clone();
    }
    let text = without_code(&text);
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("-"))
}

/// What the addresses of one-time links begin with.
const ENTER: &str = "/console/enter/";

fn length(response: &Response<Body>) -> Option<u64> {
    response.body().size_hint().exact()
}

/// Escapes control characters and quotes, so that a request cannot forge log lines.
fn quoted(bytes: &[u8]) -> String {
    let mut line = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'"' | b'\\' | 0..=0x1F | 0x7F.. => line.extend(["\\x", &format!("{byte:02x}")]),
            plain => line.push(char::from(*plain)),
        }
    }
    line
}

/// `15/Nov/2026:12:00:00 +0000`, from `Sun, 15 Nov 2026 12:00:00 GMT`.
fn common_time(now: u64) -> String {
    let time = date(now / 1_000);
    let part = |range| time.get(range).unwrap_or_default();
    let (day, month, year, clock) = (part(5..7), part(8..11), part(12..16), part(17..25));
    format!("{day}/{month}/{year}:{clock} +0000")
}

/// The id that a client or a proxy has given a request, if it can stand in a log as it is.
pub(crate) fn given_id(request: &Request<Incoming>) -> Option<HeaderValue> {
    let given = request.headers().get(&REQUEST_ID)?;
    let is_sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    let bytes = given.as_bytes();
    let fits = (1..=64).contains(&bytes.len()) && bytes.iter().all(is_sane);
    fits.then(|| given.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_other_servers_write_them() {
        assert_eq!(common_time(1_794_723_436_500), "15/Nov/2026:06:17:16 +0000");
    }

    #[test]
    fn the_code_of_a_one_time_link_is_not_logged() {
        for (target, logged) in [
            ("/console/enter/s3cret", "/console/enter/CODE"),
            ("//console/enter/s3cret?a=b", "//console/enter/CODE?a=b"),
            ("/console/enter/", "/console/enter/CODE"),
            ("/20.1000/a?b", "/20.1000/a?b"),
        ] {
            assert_eq!(without_code(target), logged);
        }
        let referer = HeaderValue::from_static("https://pid.example.org/console/enter/s3cret");
        let logged = without_code_in(&referer);
        assert_eq!(logged, "https://pid.example.org/console/enter/CODE");
    }

    #[test]
    fn nobody_writes_lines_of_their_own() {
        let line = quoted(b"/a\"\r\nb\\\xFF");
        assert_eq!(line, "/a\\x22\\x0d\\x0ab\\x5c\\xff");
    }
}
