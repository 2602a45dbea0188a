//! Checking URLs: they must be complete, with their scheme.
//!
//! Deployed handle servers accept any bytes as a value of type `URL`. The protocol and its REST API
//! accept and count them here, too. Commands, imports and `/api/v1` reject URLs that no browser
//! could follow, with advice.

use std::net::Ipv6Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_wire::type_matches;

use crate::authority::path::begins_with_scheme;
use crate::error::RegistryError;
use crate::handle_protocol::operations::Operation;
use crate::name::create::NewName;
use crate::name::edit::Edit;
use crate::name::values::NewValue;
use crate::registry::Registry;

/// Schemes whose URLs have a host.
const WITH_HOST: [&str; 5] = ["ftp", "ftps", "http", "https", "sftp"];

/// Characters that no host contains: a browser drops them, or ends the host there.
const NOT_IN_HOST: [char; 11] = ['\\', '<', '>', '"', '{', '}', '|', '^', '`', '[', ']'];

/// What is wrong with a URL, and how to write it; `None` if nothing is.
///
/// ```
/// use handfast_registry::url_problem;
///
/// assert_eq!(url_problem("https://example.org/1"), None);
/// assert_eq!(url_problem("mailto:a@example.org"), None);
/// assert!(url_problem("example.org/1").unwrap().contains("https://example.org/1"));
/// assert!(url_problem("http:/example.org").is_some());
/// assert!(url_problem("https://example.org/a b").unwrap().contains("/a%20b"));
/// ```
#[must_use]
pub fn url_problem(url: &str) -> Option<String> {
    if is_plain(url.as_bytes()) {
        return None;
    }
    if url.trim().is_empty() {
        return Some("a URL is empty".to_string());
    }
    if url.trim() != url {
        let trimmed = url.trim();
        return Some(format!(
            "{url:?} begins or ends with white space: write {trimmed}"
        ));
    }
    if url.chars().any(char::is_control) {
        let problem =
            "is no URL: it holds a control character; leave it out, or write it as a triplet";
        return Some(format!("{url:?} {problem}"));
    }
    if let Some(whole) = without_scheme(url) {
        // A path says nothing of its host.
        let write = if url.starts_with("//") || !url.starts_with('/') {
            "write"
        } else {
            "write a whole URL, as in"
        };
        return Some(format!("{url} has no scheme: {write} {whole}"));
    }
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    if rest.is_empty() {
        return Some(format!("{url} is no URL: nothing stands behind its scheme"));
    }
    if is_with_host(scheme)
        && let Some(problem) = host_problem(url, scheme, rest)
    {
        return Some(problem);
    }
    if url.contains(char::is_whitespace) {
        let written = escaped(url);
        return Some(format!(
            "{url} is no URL: it holds white space; write {written}"
        ));
    }
    None
}

/// Whether a URL is right at first sight, as almost all are: imports check millions of them.
pub(crate) fn is_plain(url: &[u8]) -> bool {
    let after = |scheme: &[u8]| url.strip_prefix(scheme);
    let Some(rest) = after(b"https://").or_else(|| after(b"http://")) else {
        return false;
    };
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let mut before = b'.';
    for (at, byte) in rest.iter().copied().enumerate() {
        match byte {
            b'/' if before != b'.' => {
                return rest.iter().skip(at).all(u8::is_ascii_graphic);
            }
            b'.' if before != b'.' => {}
            _ if is_label(byte) => {}
            _ => return false,
        }
        before = byte;
    }
    before != b'.'
}

/// The URL that somebody has meant who left out its scheme, or the colon behind it.
fn without_scheme(url: &str) -> Option<String> {
    if let Some((scheme, rest)) = url.split_once("//")
        && is_with_host(scheme)
    {
        return Some(format!("{scheme}://{rest}"));
    }
    let whole = match url.trim_start_matches('/') {
        rest if url.starts_with("//") => format!("https://{rest}"),
        rest if url.starts_with('/') => format!("https://example.org/{rest}"),
        rest => format!("https://{rest}"),
    };
    let Some((_, rest)) = url.split_once(':') else {
        return Some(whole);
    };
    // `localhost:8080/a` looks like a URL of the scheme `localhost`.
    let port = rest.split('/').next().unwrap_or_default();
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    (!begins_with_scheme(url) || is_port).then_some(whole)
}

fn is_with_host(scheme: &str) -> bool {
    WITH_HOST
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// What is wrong with the host of a URL, or with its port. IPv6 addresses, triplets and letters of
/// every script are right.
fn host_problem(url: &str, scheme: &str, rest: &str) -> Option<String> {
    let is_no_host = |rest: &str| rest.is_empty() || rest.starts_with([':', '?', '#']);
    let host = match rest.strip_prefix("//") {
        Some(after) => {
            let end = after.find(['/', '?', '#']).unwrap_or(after.len());
            let authority = after.get(..end).unwrap_or_default();
            authority.rsplit('@').next().unwrap_or_default()
        }
        None => "",
    };
    if is_no_host(host) {
        let meant = rest.trim_start_matches('/');
        let way_out = if is_no_host(meant) || !host.is_empty() {
            format!("write it behind {scheme}://, as in {scheme}://example.org/")
        } else {
            format!("write {scheme}://{meant}")
        };
        return Some(format!("{url} is no URL: it has no host; {way_out}"));
    }
    let problem = |what: &str| Some(format!("{url} is no URL: {what}"));
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    if !port.is_empty()
        && (port.parse::<u16>().is_err() || !port.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return problem(&format!(
            "its port is {port}; write a number up to 65535, or leave it out"
        ));
    }
    let inside = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    if let Some(address) = inside {
        let (address, _) = address.split_once("%25").unwrap_or((address, ""));
        let is_future = address.starts_with(['v', 'V']);
        if !is_future && address.parse::<Ipv6Addr>().is_err() {
            return problem(&format!(
                "{name} is no IPv6 address; write it as in [2001:db8::1]"
            ));
        }
        return None;
    }
    let is_wrong = |c: char| c.is_whitespace() || c == ':' || NOT_IN_HOST.contains(&c);
    if let Some(wrong) = name.chars().find(|c| is_wrong(*c)) {
        return problem(&format!(
            "{wrong:?} stands in its host {name}; write a host such as example.org"
        ));
    }
    // A dot at the end stands for the root of the domain names.
    let labels = name.strip_suffix('.').unwrap_or(name);
    if labels.split('.').any(str::is_empty) {
        return problem(&format!(
            "a label of its host {name} is empty; write a host such as example.org"
        ));
    }
    None
}

/// A URL with triplets in place of white space.
fn escaped(url: &str) -> String {
    let mut written = String::new();
    for c in url.chars() {
        if c.is_whitespace() {
            let bytes = c.to_string();
            written.extend(bytes.bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            written.push(c);
        }
    }
    written
}

/// Whether values of a type are URLs: those of `URL`, and of the types below it such as `URL.x`.
pub(crate) fn is_url_type(value_type: &str) -> bool {
    type_matches(value_type, "URL")
}

/// Rejects malformed URLs, with advice.
pub fn check_urls<'u>(
    urls: impl IntoIterator<Item = &'u str>,
    values: &'u [NewValue],
) -> Result<(), RegistryError> {
    let given = values
        .iter()
        .filter(|value| is_url_type(&value.value_type))
        .map(|value| str::from_utf8(&value.data).ok());
    match first_problem(urls.into_iter().map(Some).chain(given)) {
        Some(problem) => Err(RegistryError::policy("bad-url", problem)),
        None => Ok(()),
    }
}

/// The problem of the first malformed URL; `None` stands for one that is no text.
pub(crate) fn first_problem<'u>(mut urls: impl Iterator<Item = Option<&'u str>>) -> Option<String> {
    urls.find_map(|url| match url {
        Some(url) => url_problem(url),
        None => Some("a URL is no text in UTF-8".to_string()),
    })
}

impl NewName {
    /// Rejects malformed URLs.
    pub fn check_urls(&self) -> Result<(), RegistryError> {
        check_urls(self.urls.iter().map(String::as_str), &self.values)
    }
}

impl Edit {
    /// Rejects malformed URLs.
    pub fn check_urls(&self) -> Result<(), RegistryError> {
        let urls = self.urls.iter().flatten();
        check_urls(urls.map(String::as_str), &self.put)
    }
}

/// Counts malformed URLs that the protocol and its REST API accepted.
#[derive(Default)]
pub(crate) struct MalformedUrls(AtomicU64);

impl MalformedUrls {
    pub(crate) fn count(&self, operation: &Operation) {
        let (Operation::Add { values, .. }
        | Operation::Create { values, .. }
        | Operation::Modify { values, .. }) = operation
        else {
            return;
        };
        let found = values.iter().filter(|value| is_malformed(value)).count();
        if found > 0 {
            let found = u64::try_from(found).unwrap_or(u64::MAX);
            self.0.fetch_add(found, Ordering::Relaxed);
        }
    }
}

fn is_malformed(value: &NewValue) -> bool {
    is_url_type(&value.value_type)
        && str::from_utf8(&value.data).map_or(true, |url| url_problem(url).is_some())
}

impl Registry {
    /// How many malformed URLs the protocol and its REST API have accepted since the start.
    #[must_use]
    pub fn malformed_urls(&self) -> u64 {
        self.malformed_urls.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `example.org/1` was accepted, and led to a redirect to `/example.org/1`.
    #[test]
    fn urls_are_whole() {
        for url in [
            "https://example.org",
            "HTTP://example.org:8080/a?b#c",
            "ftp://u@h/x",
            "mailto:a@b.example",
            "urn:isbn:1",
            "hdl:20.1/x",
            "https://müller.example/ä",
            "http://[::1]/x",
            "http://[fe80::1%25eth0]:8080/x",
            "https://a.example./",
            "https://a.example:/",
            "https://a.example:65535/x",
            "https://b%C3%BCcher.example/x",
            "https://a_b.example/c%20d?e+f",
        ] {
            assert_eq!(url_problem(url), None, "{url}");
        }
        for url in [
            "",
            "example.org/1",
            "www.example.org",
            "/path",
            "localhost:8080/a",
            "http:",
            "http:/a",
            "https://",
            "https:///a",
            "http://:80/",
            "1http://a",
            "https://a\n",
            "https//a.example",
            "https://ex ample.org/a",
            "https://a.example/b c",
            "https://a.example/b\u{a0}c",
            "https://a.example/b c#d",
            "mailto:a b@example.org",
            "https://a..b/",
            "https://.a/",
            "https://a.org:99999/",
            "https://a.org:x/",
            "https://a.org:+8/",
            "https://a:b:1/",
            "https://a.org\\x",
            "https://<a.org>/",
            "https://[::1/",
            "https://[::x]/",
            "https://u@/",
            " https://a.org",
            "https://a.org ",
        ] {
            assert!(url_problem(url).is_some(), "{url}");
        }
    }

    /// Some remedies were no URLs themselves, or what had been refused.
    #[test]
    fn remedies_are_right() {
        for (url, remedy) in [
            ("http:/a.example/x", "write http://a.example/x"),
            ("https:///a.example/x", "write https://a.example/x"),
            ("http//a.org/x", "write http://a.org/x"),
            ("ftp//x", "write ftp://x"),
            ("//e.org/x", "write https://e.org/x"),
            ("/x", "as in https://example.org/x"),
            ("https://", "as in https://example.org/"),
            ("http://:80/", "as in http://example.org/"),
            ("https://?x", "as in https://example.org/"),
            ("https://a.org/b c", "write https://a.org/b%20c"),
            (" https://a.org", "write https://a.org"),
            ("https://a.org:99999/", "up to 65535"),
        ] {
            let problem = url_problem(url).unwrap();
            assert!(problem.contains(remedy), "{problem}");
        }
    }

    /// Types below `URL` were not looked at.
    #[test]
    fn types_below_url_are_checked() {
        for value_type in ["URL", "url.x", "URL.a.b"] {
            let value = NewValue::new(1, value_type, b"example.org");
            assert!(check_urls([], &[value]).is_err(), "{value_type}");
        }
        let value = NewValue::new(1, "URLS", b"example.org");
        assert!(check_urls([], &[value]).is_ok());
        let value = NewValue::new(1, "URL", b"https://a.org/\xff");
        assert!(check_urls([], &[value]).is_err());
    }
}
