//! Response headers that a record asks for: `10320/headers` (`http-interfaces.md` B.5).
//!
//! An author of a record must not speak for the server: the server sends only headers that
//! describe the thing itself, and none that browsers, caches or proxies obey. Lines that begin
//! with `<` are meant for a page, and are left out.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use crate::http::resolver::links::is_obeyed;
use crate::http::resolver::locations::{expanded, own_and_shared};
use crate::http::resolver::name_lookup::Name;

/// The headers that a record may set, beside those that begin with one of [`FAMILIES`].
const ALLOWED: [&str; 6] = [
    "content-language",
    "deprecation",
    "link",
    "memento-datetime",
    "sunset",
    "x-robots-tag",
];
const FAMILIES: [&str; 3] = ["x-doi-", "x-handle-", "x-pid-"];

/// How many are sent.
const MAX_RECORD_HEADERS: usize = 32;
/// The longest.
const MAX_RECORD_HEADER: usize = 2 << 10;

/// Adds what the record of a name, those it includes and its namespace wish for. Of one name the
/// first counts, but for links.
pub(crate) fn put(headers: &mut HeaderMap, name: &Name) {
    let values = own_and_shared(name, "10320/headers");
    let lines = values
        .filter_map(|value| value.text())
        .flat_map(|text| text.split(['\r', '\n']));
    let said = lines
        .filter_map(|line| read(line, &name.text))
        .take(MAX_RECORD_HEADERS);
    for (header, value) in said {
        if header == hyper::header::LINK {
            headers.append(header, value);
        } else if !headers.contains_key(&header) {
            headers.insert(header, value);
        }
    }
}

/// One line, if it is one of a header that may be sent.
fn read(line: &str, handle: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim().to_ascii_lowercase();
    let is_allowed =
        ALLOWED.contains(&name.as_str()) || FAMILIES.iter().any(|family| name.starts_with(family));
    if !is_allowed || value.len() > MAX_RECORD_HEADER {
        return None;
    }
    if name == "link" && is_obeyed(value) {
        return None;
    }
    let value = expanded(value.trim(), handle);
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let is_short = is_plain && !value.is_empty() && value.len() <= 2 * MAX_RECORD_HEADER;
    let name = HeaderName::from_bytes(name.as_bytes()).ok();
    name.filter(|_| is_short)
        .zip(HeaderValue::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::resolver::locations::tests::name;

    #[test]
    fn only_what_is_about_the_thing_is_sent() {
        let wished = "X-Robots-Tag: noindex\nLink: <https://a.example/{hdl:path}>; \
        rel=\"author\"\r\n\
            link:<b>;rel=c\nLink: <https://evil.example/>; rel=stylesheet\nSet-Cookie: \
            a=b\nContent-Length: 7\nTransfer-Encoding: chunked\n\
            Content-Security-Policy: none\nLocation: \
            https://evil.example/\nStrict-Transport-Security: x\n\
            Access-Control-Allow-Origin: *\nX-Frame-Options: x\nX-Accel-Redirect: /etc\nRefresh: \
            0\n\
            <script>alert(1)</script>\n: x\nno colon\nX-Handle-A B: c\nX-Handle-Note: caf\u{e9}\n\
            X-PID-Note: a\tb\nX-Handle-Id: {hdl}\nx-robots-tag: all\nSunset:";
        let mut headers = HeaderMap::new();
        put(&mut headers, &name(&[("10320/HEADERS", wished)]));
        let mut all: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        all.sort();
        assert_eq!(
            all,
            [
                "link: <b>;rel=c",
                "link: <https://a.example/20.1/a%20b/c>; rel=\"author\"",
                "x-handle-id: 20.1%2Fa%20b%2Fc",
                "x-robots-tag: noindex",
            ]
        );
    }
}
