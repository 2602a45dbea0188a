//! A contact: one text, which may be an e-mail address or a URL.

use crate::http::resolver::path::strip;

/// The kind of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactLink<'t> {
    Email(&'t str),
    Web(&'t str),
    Words(&'t str),
}

impl<'t> ContactLink<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let text = text.trim();
        let bare = text.strip_prefix("mailto:").unwrap_or(text);
        if is_email(bare) {
            Self::Email(bare)
        } else if is_http(text) {
            Self::Web(text)
        } else {
            Self::Words(text)
        }
    }
}

/// Whether a link may lead there: only to the web.
pub(crate) fn is_http(url: &str) -> bool {
    let starts = |scheme: &str| strip(url, scheme).is_some_and(|rest| !rest.is_empty());
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace();
    (starts("http://") || starts("https://")) && url.chars().all(is_plain)
}

/// As the schema of OAI-PMH has it: `\S+@(\S+\.)+\S+`; and nothing that a link could take for
/// something else.
pub(crate) fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else {
        return false;
    };
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-[]:".contains(&byte);
    let is_of_local = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$*+-/=^_{|}~.".contains(&byte);
    !local.is_empty()
        && local.bytes().all(is_of_local)
        && host.bytes().all(is_of_host)
        && host
            .rsplit_once('.')
            .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
}

#[cfg(test)]
mod tests {
    use super::ContactLink::{Email, Web, Words};
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        for (text, kind) in [
            ("desk@library.example", Email("desk@library.example")),
            ("mailto:a.b@c.d", Email("a.b@c.d")),
            ("a@localhost", Words("a@localhost")),
            ("a b@c.d", Words("a b@c.d")),
            ("a@b.c?cc=d@e.f", Words("a@b.c?cc=d@e.f")),
            ("https://a.example/ask", Web("https://a.example/ask")),
            ("javascript:alert(1)", Words("javascript:alert(1)")),
            ("https://a.example/\nx", Words("https://a.example/\nx")),
            ("", Words("")),
        ] {
            assert_eq!(ContactLink::of(text), kind, "{text}");
        }
    }
}
