//! A small client of HTTP/1.1, which sends what it is told to, and reads to the end of the
//! connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;

/// Longer than any answer takes on a machine that does something else, too.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Sends requests to one server, each on a connection of its own.
#[derive(Clone, Debug)]
pub struct HttpClient {
    /// The address of the server.
    pub web: SocketAddr,
    /// The host that requests are for.
    pub host: String,
}

impl HttpClient {
    /// A client that calls the server `localhost`.
    pub fn new(web: SocketAddr) -> Self {
        let host = "localhost".to_string();
        Self { web, host }
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.web)
    }

    /// A connection, for tests that write and read by themselves.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.web).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads what comes until the server closes.
    pub fn raw(&self, request: &[u8]) -> Response {
        exchange(self.connect(), request)
    }

    /// Sends a request. A body is JSON unless a header says something else. Text with several
    /// lines is several headers.
    pub fn ask(&self, method: &str, path: &str, headers: &[&str], body: Option<&str>) -> Response {
        self.raw(&request(&self.host, method, path, headers, body))
    }

    /// A GET.
    pub fn get(&self, path: &str) -> Response {
        self.get_with(path, &[])
    }

    /// A GET with headers.
    pub fn get_with(&self, path: &str, headers: &[&str]) -> Response {
        self.ask("GET", path, headers, None)
    }

    /// A GET of one media type.
    pub fn accepting(&self, path: &str, media: &str) -> Response {
        self.get_with(path, &[&format!("Accept: {media}")])
    }

    /// Asks for a job of `/api/v1` until it is in another state than `running`.
    pub fn ended(&self, job: &str, who: &str) -> Json {
        for _ in 0..1_000_000 {
            let shown = self.get_with(job, &[who]).json();
            if shown["state"] != "running" {
                return shown;
            }
            assert!(shown["progress"].is_object(), "{shown}");
        }
        panic!("{job} does not end");
    }
}

/// The header of a token.
pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {}", token.trim())
}

/// The bytes of a request, after which the connection is closed.
pub(crate) fn request(
    host: &str,
    method: &str,
    path: &str,
    headers: &[&str],
    body: Option<&str>,
) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for header in headers.iter().filter(|header| !header.is_empty()) {
        head.extend([header.trim_end_matches("\r\n"), "\r\n"]);
    }
    if let Some(body) = body {
        head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        if !head.contains("Content-Type") {
            head.push_str("Content-Type: application/json\r\n");
        }
    }
    format!("{head}\r\n{}", body.unwrap_or_default()).into_bytes()
}

/// Sends a request on a connection, and reads what comes until the server closes.
pub fn exchange(mut stream: impl Read + Write, request: &[u8]) -> Response {
    // A server that has read enough may answer and close before all is sent.
    drop(stream.write_all(request));
    read(stream)
}

/// Reads a response to the end of the connection.
pub fn read(mut stream: impl Read) -> Response {
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes));
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no response: {}", String::from_utf8_lossy(&bytes)));
    let mut bytes_of_body = bytes.split_off(end + 4);
    bytes.truncate(end);
    let head = String::from_utf8(bytes).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut response = Response {
        status,
        head,
        body: String::new(),
        bytes: Vec::new(),
    };
    if response.header("transfer-encoding") == Some("chunked") {
        bytes_of_body = unchunked(&bytes_of_body);
    }
    response.body = String::from_utf8_lossy(&bytes_of_body).into_owned();
    response.bytes = bytes_of_body;
    response
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let (length, rest) = body.split_at(end);
        let length = usize::from_str_radix(str::from_utf8(length).unwrap(), 16).unwrap();
        let (chunk, rest) = rest.split_at(2).1.split_at(length);
        whole.extend(chunk);
        body = rest.get(2..).unwrap_or_default();
    }
    whole
}

/// What a server answered.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body, as text.
    pub body: String,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

/// A page, or a whole answer, without the number that each page has of its own.
pub fn without_nonce(text: &str) -> String {
    const LENGTH: usize = 24;
    let mut parts = text.split("nonce");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        // `nonce-…'` in a header, `nonce="…"` in a tag.
        let number = part.strip_prefix('-').or_else(|| part.strip_prefix("=\""));
        out.push_str("nonce");
        out.push_str(number.and_then(|rest| rest.get(LENGTH..)).unwrap_or(part));
    }
    out
}

impl Response {
    /// The first header of a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers(name).first().copied()
    }

    /// All headers of a name.
    pub fn headers(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().skip(1);
        let pairs = lines.filter_map(|line| line.split_once(": "));
        let named = pairs.filter(|(own, _)| own.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value).collect()
    }

    /// The target of a redirect.
    pub fn location(&self) -> &str {
        self.header("location").unwrap_or_default()
    }

    /// The path of a job of `/api/v1` that goes on in the background.
    pub fn accepted(&self) -> String {
        assert_eq!(self.status, 202, "{self:?}");
        assert_eq!(self.header("preference-applied"), Some("respond-async"));
        self.location().to_string()
    }

    /// Status and headers in some order, but for those that hyper leaves out of an answer to HEAD,
    /// or that change.
    pub fn sorted_head(&self) -> Vec<&str> {
        let is_steady =
            |line: &&str| !line.starts_with("content-length") && !line.starts_with("date");
        let mut lines: Vec<_> = self.head.lines().filter(is_steady).collect();
        lines.sort_unstable();
        lines
    }

    /// Whether a page has a script beside the one that all pages load.
    pub fn has_foreign_script(&self) -> bool {
        let own = "<script type=\"module\" nonce=";
        self.body.replacen(own, "", 1).contains("<script")
    }

    /// The body, read as JSON.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The body, read as lines of JSON.
    pub fn lines(&self) -> Vec<Json> {
        assert_eq!(self.status, 200, "{self:?}");
        crate::lines(&self.body)
    }
}
