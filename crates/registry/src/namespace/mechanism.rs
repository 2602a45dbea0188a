//! Where the mechanism of a namespace leads (`INFO-11`).
//!
//! A proposal is tried with the code that resolution uses: a mechanism that leads nowhere is never
//! registered.

use percent_encoding::{AsciiSet, percent_decode_str, percent_encode};

use super::entry::NamespaceEntry;
use super::validate::is_web_address;
use crate::name::mint::URL_COMPONENT;

impl NamespaceEntry {
    /// Where an identifier leads, if there is a mechanism: `{id}` is the decoded identifier,
    /// percent-encoded again with `/` left bare. It never becomes part of the host.
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
    let identifier: Vec<u8> = percent_decode_str(identifier).collect();
    let url = format!("{before}{}{after}", percent_encode(&identifier, ESCAPED));
    is_web_address(&url).then_some(url)
}

/// Everything but letters, digits, `- . _ ~` and `/`.
const ESCAPED: &AsciiSet = &URL_COMPONENT.remove(b'/');

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
