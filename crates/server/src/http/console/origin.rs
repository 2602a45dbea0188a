//! Where a form was sent from: a page of another site must not send forms in a person's name.

use hyper::header::{HeaderMap, HeaderName, HeaderValue, ORIGIN};

/// Checks that a form was sent by a page of this server.
///
/// Browsers say so in `Sec-Fetch-Site`. If that is missing, `Origin` must be the URL of this
/// server. If both are missing, the request is refused: a cookie is involved, and no browser that
/// people use sends neither.
pub(super) fn check(headers: &HeaderMap, base: &str) -> Result<(), &'static str> {
    if let Some(site) = headers.get(FETCH_SITE) {
        return match site.as_bytes() {
            b"same-origin" => Ok(()),
            _ => Err("Sec-Fetch-Site is not same-origin"),
        };
    }
    match headers.get(ORIGIN).map(HeaderValue::as_bytes) {
        Some(origin) if origin.eq_ignore_ascii_case(base.as_bytes()) => Ok(()),
        Some(_) => Err("Origin is another server"),
        None => Err("neither Sec-Fetch-Site nor Origin"),
    }
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_server_send_forms() {
        let base = "https://pid.example";
        for (site, origin, is_allowed) in [
            (Some("same-origin"), None, true),
            (Some("same-origin"), Some("https://evil.example"), true),
            (Some("same-site"), Some(base), false),
            (Some("cross-site"), Some(base), false),
            (Some("none"), Some(base), false),
            (Some(""), Some(base), false),
            (None, Some(base), true),
            (None, Some("HTTPS://PID.example"), true),
            (None, Some("http://pid.example"), false),
            (None, Some("https://pid.example.evil.example"), false),
            (None, Some("null"), false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(site) = site {
                headers.insert(FETCH_SITE, site.parse().unwrap());
            }
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().unwrap());
            }
            let outcome = check(&headers, base);
            assert_eq!(outcome.is_ok(), is_allowed, "{site:?} {origin:?}");
        }
    }
}
