//! Resolution by the mechanism of a namespace (`INFO-11`).
//!
//! A proposal is tested with the function that resolution uses, so that a registered mechanism
//! always works.

use std::fmt::Write;

use super::entry::NamespaceEntry;
use super::validate::is_web_address;

impl NamespaceEntry {
    /// Where an identifier leads, if there is a mechanism: `{id}` is the decoded identifier, percent-encoded
    /// again with `/` left bare. It never becomes part of the host.
    #[must_use]
    pub fn location(&self, identifier: &str) -> Option<String> {
        filled(self.form.resolution.mechanism.as_deref()?, identifier)
    }
}

pub(super) fn filled(template: &str, identifier: &str) -> Option<String> {
    let (before, after) = template.split_once("{id}")?;
    let (_, behind_scheme) = before.split_once("://")?;
    let host_ends = behind_scheme.find(['/', '?', '#'])?;
    let is_ended = behind_scheme
        .get(host_ends..)
        .is_some_and(|rest| !rest.starts_with('#'));
    if !is_ended || before.contains(['{', '}']) || after.contains(['{', '}']) {
        return None;
    }
    let mut url = before.to_string();
    for byte in decoded(identifier) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                url.push(char::from(byte));
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(url, "%{other:02X}");
            }
        }
    }
    url.push_str(after);
    is_web_address(&url).then_some(url)
}

/// The bytes that a text with triplets stands for.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let triplet = behind.get(..2).filter(|_| *first == b'%');
        let hex = triplet.and_then(|hex| str::from_utf8(hex).ok());
        let hex = hex.filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_encoded_anew_and_stays_behind_the_host() {
        for (template, identifier, url) in [
            (
                "https://a.example/{id}",
                "x/y%2Fz",
                Some("https://a.example/x/y/z"),
            ),
            (
                "https://a.example/?q={id}&f=1",
                "a&b=c%20%25+",
                Some("https://a.example/?q=a%26b%3Dc%20%25%2B&f=1"),
            ),
            (
                "https://a.example?q={id}",
                "@b.example/",
                Some("https://a.example?q=%40b.example/"),
            ),
            (
                "https://a.example/{id}.html",
                "%FF%0D%0A",
                Some("https://a.example/%FF%0D%0A.html"),
            ),
            (
                "https://a.example:8443/#{id}",
                "x%2",
                Some("https://a.example:8443/#x%252"),
            ),
            ("https://a.example/", "x", None),
            ("https://a.example/{id}/{id}", "x", None),
            ("https://a.example#{id}", "x", None),
            ("https://{id}.example/", "x", None),
            ("https://a.example{id}", ".evil.example", None),
            ("https:///{id}", "evil.example", None),
            ("https://?{id}", "x", None),
            ("https://a..example/{id}", "x", None),
            ("https://-a.example/{id}", "x", None),
            ("https://a.example:/{id}", "x", None),
            ("https://a.example:99999/{id}", "x", None),
            ("https://a:b:1/{id}", "x", None),
            ("https://[::1/{id}", "x", None),
            ("https://[::1]:80/{id}", "x", Some("https://[::1]:80/x")),
            ("javascript:{id}", "alert(1)", None),
            ("{id}", "https://evil.example/", None),
        ] {
            assert_eq!(filled(template, identifier).as_deref(), url, "{template}");
        }
    }
}
