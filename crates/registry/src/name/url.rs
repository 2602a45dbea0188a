//! Checking URLs: they must be complete, with their scheme.
//!
//! Deployed handle servers accept any bytes as a value of type `URL`. The protocol and its REST API
//! accept and count them here, too. Commands, imports and `/api/v1` reject URLs that no browser
//! could follow, with advice.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::RegistryError;
use crate::handle_protocol::operations::Operation;
use crate::name::create::NewName;
use crate::name::edit::Edit;
use crate::name::values::NewValue;
use crate::registry::Registry;

/// Schemes whose URLs have a host.
const WITH_HOST: [&str; 5] = ["ftp", "ftps", "http", "https", "sftp"];

/// What is wrong with a URL, and how to write it; `None` if nothing is.
///
/// ```
/// use handfast_registry::url_problem;
///
/// assert_eq!(url_problem("https://example.org/1"), None);
/// assert_eq!(url_problem("mailto:a@example.org"), None);
/// assert!(url_problem("example.org/1").unwrap().contains("https://example.org/1"));
/// assert!(url_problem("http:/example.org").is_some());
/// ```
#[must_use]
pub fn url_problem(url: &str) -> Option<String> {
    if url.is_empty() {
        return Some("a URL is empty".to_string());
    }
    // A space inside is escaped in the redirect.
    if url.chars().any(char::is_control) {
        let problem =
            "is no URL: it holds a control character; leave it out, or write it as a triplet";
        return Some(format!("{url:?} {problem}"));
    }
    let url = url.trim();
    let whole = || format!("{url} is no whole URL: write it with its scheme, as in https://{url}");
    let Some((scheme, rest)) = url.split_once(':') else {
        return Some(whole());
    };
    // `localhost:8080/a` looks like a URL of the scheme `localhost`.
    let port = rest.split('/').next().unwrap_or_default();
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme || is_port {
        return Some(whole());
    }
    if rest.is_empty() {
        return Some(format!("{url} is no URL: nothing stands behind its scheme"));
    }
    let needs_host = WITH_HOST
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let host = rest.strip_prefix("//").map(|after| {
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let authority = after.get(..end).unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    });
    if needs_host && host.is_none_or(|host| host.is_empty() || host.starts_with(':')) {
        let rest = rest.trim_start_matches('/');
        return Some(format!(
            "{url} is no URL: it has no host; write {scheme}://{rest}"
        ));
    }
    None
}

/// Rejects malformed URLs, with advice.
pub fn check_urls<'u>(
    urls: impl IntoIterator<Item = &'u str>,
    values: &'u [NewValue],
) -> Result<(), RegistryError> {
    let given = values
        .iter()
        .filter(|value| value.value_type.eq_ignore_ascii_case("URL"))
        .filter_map(|value| str::from_utf8(&value.data).ok());
    match urls.into_iter().chain(given).find_map(url_problem) {
        Some(problem) => Err(RegistryError::policy("bad-url", problem)),
        None => Ok(()),
    }
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
    value.value_type.eq_ignore_ascii_case("URL")
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
            "https://a.example/b c",
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
        ] {
            assert!(url_problem(url).is_some(), "{url}");
        }
        let problem = url_problem("http:/a.example/x").unwrap();
        assert!(problem.contains("http://a.example/x"), "{problem}");
    }
}
