//! The cookie of a session. It counts at the console only.

use hyper::header::{COOKIE, HeaderMap};

/// Over TLS: browsers send such a cookie to this host alone, and only over TLS.
const SECURE: &str = "__Host-handfast";
/// Over plain HTTP, on the machine itself.
const LOCAL: &str = "handfast-local";
/// How long a browser stores the cookie, in seconds; the server decides how long a session lasts.
const MAX_AGE: u64 = 14 * 24 * 60 * 60;

/// The secret of the session that a browser has.
pub(super) fn secret(headers: &HeaderMap, is_secure: bool) -> Option<&str> {
    let name = name(is_secure);
    let lines = headers.get_all(COOKIE).iter();
    let pairs = lines.filter_map(|line| line.to_str().ok());
    let mut pairs = pairs.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| {
        let (found, value) = pair.trim().split_once('=')?;
        (found == name).then_some(value)
    })
}

/// The header that stores a secret in a browser.
pub(super) fn stored(secret: &str, is_secure: bool) -> String {
    format!("{}; Max-Age={MAX_AGE}", written(secret, is_secure))
}

/// The header that removes it.
pub(super) fn removed(is_secure: bool) -> String {
    format!("{}; Max-Age=0", written("", is_secure))
}

fn written(secret: &str, is_secure: bool) -> String {
    let name = name(is_secure);
    let place = if is_secure {
        "Path=/; Secure"
    } else {
        "Path=/console"
    };
    format!("{name}={secret}; {place}; HttpOnly; SameSite=Lax")
}

fn name(is_secure: bool) -> &'static str {
    if is_secure { SECURE } else { LOCAL }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_of_the_other_kind_does_not_count() {
        let mut headers = HeaderMap::new();
        let line = "a=b; handfast-local=one; __Host-handfast=two";
        headers.insert(COOKIE, line.parse().unwrap());
        assert_eq!(secret(&headers, false), Some("one"));
        assert_eq!(secret(&headers, true), Some("two"));
    }
}
