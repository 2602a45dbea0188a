//! The target of a redirect: escaping, schemes, queries, and how long it may be cached.

use crate::http::percent::NOT_IN_URIS;
use percent_encoding::percent_encode;
use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use handfast_registry::handle_path;
use handfast_wire::{Ttl, Value};
use itoa::{Buffer, Integer};

/// The longest time that clients may cache a redirect, in seconds: two days.
const MAX_LIFETIME: u64 = 172_800;
const DEFAULT_LIFETIME: u64 = 86_400;

/// Whether a browser is sent there, whatever is stored: `http`, `https` and `ftp`.
pub(crate) fn is_web(url: &[u8]) -> bool {
    let url = url.trim_ascii_start();
    ["http://", "https://", "ftp://"].iter().any(|scheme| {
        url.split_at_checked(scheme.len())
            .is_some_and(|(head, rest)| {
                head.eq_ignore_ascii_case(scheme.as_bytes()) && !rest.is_empty()
            })
    })
}

/// Joins a URL and what is appended to it, to the letter. Where the URL ends with its host, a slash
/// comes between: text from the client must not lead to another host.
pub(crate) fn appended(url: &[u8], append: &[u8]) -> Vec<u8> {
    let mut whole = url.trim_ascii().to_vec();
    let append = append.trim_ascii();
    let host = whole.windows(3).position(|three| three == b"://");
    let behind = host.and_then(|at| whole.get(at + 3..)).unwrap_or_default();
    let is_delimiter = |byte: &u8| matches!(byte, b'/' | b'?' | b'#');
    if append.first().is_some_and(|first| !is_delimiter(first)) && !behind.iter().any(is_delimiter)
    {
        whole.push(b'/');
    }
    whole.extend_from_slice(append);
    whole
}

/// `CID-8`: "appends the query to the target with `?`, or `&` if it has one"; before a fragment.
pub(crate) fn with_query(url: &[u8], query: &[u8]) -> Vec<u8> {
    let end = url.iter().position(|byte| *byte == b'#');
    let (before, fragment) = url
        .split_at_checked(end.unwrap_or(url.len()))
        .unwrap_or((url, b""));
    let mark = match before.iter().position(|byte| *byte == b'?') {
        None => &b"?"[..],
        Some(_) if before.ends_with(b"?") || before.ends_with(b"&") => b"",
        Some(_) => b"&",
    };
    [before, mark, query, fragment].concat()
}

/// The same URL with a fragment, in place of any.
pub(crate) fn with_fragment(url: &[u8], fragment: &[u8]) -> Vec<u8> {
    let before = url.split(|byte| *byte == b'#').next().unwrap_or(url);
    [before, b"#", fragment].concat()
}

/// A URL that can stand in a header: octets that no URI has are escaped, and `%` is left as it is.
pub(crate) fn escaped(url: &[u8]) -> Cow<'_, str> {
    let url = url.trim_ascii();
    match with_ascii_host(url) {
        Cow::Borrowed(url) => percent_encode(url, NOT_IN_URIS).into(),
        Cow::Owned(url) => percent_encode(&url, NOT_IN_URIS).to_string().into(),
    }
}

/// "An internationalised host becomes punycode."
fn with_ascii_host(url: &[u8]) -> Cow<'_, [u8]> {
    let replaced = || {
        let scheme = url.windows(3).position(|three| three == b"://")? + 3;
        let (scheme, rest) = url.split_at_checked(scheme)?;
        let end = rest.iter().position(|byte| b"/?#\\".contains(byte));
        let (authority, path) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        let user = authority.iter().rposition(|byte| *byte == b'@');
        let (user, host) = authority.split_at_checked(user.map_or(0, |at| at + 1))?;
        let port = host.iter().rposition(|byte| *byte == b':');
        let (host, port) = host.split_at_checked(port.unwrap_or(host.len()))?;
        if host.is_ascii() {
            return None;
        }
        let ascii = idna::domain_to_ascii_cow(host, idna::AsciiDenyList::URL).ok()?;
        Some([scheme, user, ascii.as_bytes(), port, path].concat())
    };
    if url.is_ascii() {
        return Cow::Borrowed(url);
    }
    replaced().map_or(Cow::Borrowed(url), Cow::Owned)
}

/// The same, as text.
pub(crate) fn escaped_text(url: &[u8]) -> String {
    escaped(url).into_owned()
}

/// The path of a handle at this resolver.
pub(crate) fn path_of(handle: &str) -> String {
    handle_path(handle)
}

/// For how many seconds an answer made of values is good: the smallest of their TTLs.
pub(crate) fn lifetime<'v, 'd: 'v>(values: impl Iterator<Item = &'v Value<'d>>, now: u64) -> u64 {
    let seconds = values.map(|value| match value.ttl {
        Ttl::Relative(seconds) => u64::from(seconds),
        Ttl::Absolute(time) => u64::from(time).saturating_sub(now / 1_000),
    });
    seconds.min().unwrap_or(DEFAULT_LIFETIME).min(MAX_LIFETIME)
}

/// Appends a number in decimal.
pub(crate) fn put_number(out: &mut Vec<u8>, number: impl Integer) {
    out.extend_from_slice(Buffer::new().format(number).as_bytes());
}

/// A second since 1970 as headers say it.
pub(crate) fn date(second: u64) -> String {
    let since = Duration::from_secs(second.min(LAST_SECOND));
    httpdate::fmt_http_date(UNIX_EPOCH + since)
}

/// The end of the year 9999, which dates in HTTP do not go beyond.
const LAST_SECOND: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_sent_to_the_web_only() {
        for url in ["http://a/", "HTTPS://a", " ftp://a/b"] {
            assert!(is_web(url.as_bytes()), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "mailto:a@b",
            "http:",
            "https://",
            "//a/b",
            "/a",
            "data:,x",
            "",
            "httpx://a",
        ] {
            assert!(!is_web(url.as_bytes()), "{url}");
        }
    }

    #[test]
    fn what_no_uri_has_is_escaped() {
        for (url, expected) in [
            ("http://a/x%20y?q=1#f", "http://a/x%20y?q=1#f"),
            (
                "http://a/x y\r\nSet-Cookie: a",
                "http://a/x%20y%0D%0ASet-Cookie:%20a",
            ),
            (
                " http://a/ü\"<>\\^`{|}\0 ",
                "http://a/%C3%BC%22%3C%3E%5C%5E%60%7B%7C%7D%00",
            ),
        ] {
            assert_eq!(escaped_text(url.as_bytes()), expected);
        }
        assert_eq!(escaped_text(b"\xFF\x7F"), "%FF%7F");
    }

    #[test]
    fn a_query_is_appended_before_the_fragment() {
        for (url, expected) in [
            ("http://a/b", "http://a/b?x=1"),
            ("http://a/b?c", "http://a/b?c&x=1"),
            ("http://a/b?", "http://a/b?x=1"),
            ("http://a/b#f?g", "http://a/b?x=1#f?g"),
        ] {
            assert_eq!(with_query(url.as_bytes(), b"x=1"), expected.as_bytes());
        }
    }

    #[test]
    fn what_is_appended_never_leads_to_another_host() {
        for (url, append, expected) in [
            ("http://a", ".evil.example", "http://a/.evil.example"),
            ("http://a", "@evil.example", "http://a/@evil.example"),
            ("http://a", "/b", "http://a/b"),
            ("http://a", "\\@evil.example", "http://a/\\@evil.example"),
            ("http://a/b", ".html", "http://a/b.html"),
            ("http://a?", "b", "http://a?b"),
            ("http://a", "", "http://a"),
        ] {
            assert_eq!(
                appended(url.as_bytes(), append.as_bytes()),
                expected.as_bytes()
            );
        }
    }

    #[test]
    fn the_smallest_ttl_counts_up_to_two_days() {
        let value = |ttl| Value {
            ttl,
            ..Value::new(1, "URL", b"")
        };
        let now = 1_000_000_000;
        for (ttls, expected) in [
            (&[][..], 86_400),
            (&[Ttl::Relative(60), Ttl::Relative(70)], 60),
            (&[Ttl::Relative(u32::MAX)], 172_800),
            (&[Ttl::Absolute(1_000_030)], 30),
            (&[Ttl::Absolute(5)], 0),
        ] {
            let values: Vec<_> = ttls.iter().map(|ttl| value(*ttl)).collect();
            assert_eq!(lifetime(values.iter(), now), expected);
        }
        assert_eq!(date(1_794_723_496), "Sun, 15 Nov 2026 06:18:16 GMT");
    }
}
