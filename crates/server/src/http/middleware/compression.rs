//! Compression: brotli and gzip, by `Accept-Encoding` (RFC 9110 §12.5.3).
//!
//! The server compresses complete responses that are text and long enough. Compressing a secret
//! together with text that an attacker chose reveals the secret through the length (BREACH). So
//! the server does not compress responses with a new secret, nor any response to credentials
//! that a browser sends on its own: a cookie, a password or a certificate.
//!
//! The entity tag of a compressed response names the coding, `"7-gzip"`, because it stands for
//! other bytes than `"7"`. When a client sends it back, the server reads it as the tag without
//! the coding.

// Not `tower-http`: it needs its service types around everything, compresses by type alone, and
// knows neither the rule against BREACH nor tags with the coding.

use std::io::Write;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body as _, Bytes};
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, ETAG,
    HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, VARY,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::http::connection::request_body::Incoming;
use crate::http::resolver::accept::weighted;
use crate::http::{Body, Caller, Part};

/// The shortest body that is made smaller, in octets: others fit into a packet or two anyway.
const MIN_COMPRESSED_LENGTH: u64 = 1_024;
/// The longest that is made smaller where it is: others would keep the connections of this core
/// waiting.
const MAX_INLINE_LENGTH: u64 = 32 << 10;
/// How hard it is tried: about as much as web servers do for what they make anew each time.
const GZIP_LEVEL: u32 = 5;
const BROTLI_QUALITY: i32 = 4;
/// Octets that are looked back at, as a power of two: what is longer is rare.
const BROTLI_WINDOW: i32 = 19;

/// How an answer may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    fn as_str(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The best of what a client takes. What is liked as much as the text itself goes before it;
    /// what is liked less does not, unless the text itself is not named.
    fn chosen(accepted: &HeaderMap) -> Option<Self> {
        let items = weighted(accepted, &ACCEPT_ENCODING);
        let named = |name: &str| {
            let found = items.iter().find(|(item, _)| item == name);
            found.map(|(_, weight)| *weight)
        };
        let any = named("*").unwrap_or(0);
        let own = named("identity").unwrap_or(0);
        let weight = |coding: &Self| {
            // "Equivalent to gzip" (RFC 9110 §8.4.1.3).
            let alias = (*coding == Self::Gzip).then(|| named("x-gzip")).flatten();
            named(coding.as_str()).or(alias).unwrap_or(any)
        };
        // Of several that are liked as much, `max_by_key` gives the last.
        let best = Self::ALL.into_iter().rev().max_by_key(weight);
        best.filter(|best| weight(best) > 0 && weight(best) >= own)
    }

    fn write(self, plain: &[u8]) -> std::io::Result<Vec<u8>> {
        let out = Vec::with_capacity(plain.len() / 3);
        match self {
            Self::Brotli => {
                let params = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    lgwin: BROTLI_WINDOW,
                    size_hint: plain.len(),
                    ..Default::default()
                };
                let mut writer = brotli::CompressorWriter::with_params(out, 4_096, &params);
                writer.write_all(plain)?;
                Ok(writer.into_inner())
            }
            Self::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let mut writer = flate2::write::GzEncoder::new(out, level);
                writer.write_all(plain)?;
                writer.finish()
            }
        }
    }
}

/// The content coding that a request negotiates.
pub(crate) struct Negotiation {
    is_head: bool,
    /// `Accept-Encoding`, if what is answered may be made smaller.
    accepted: HeaderMap,
    /// `If-None-Match` as it came, if it names a coding.
    known: Option<HeaderValue>,
}

impl Negotiation {
    /// Takes codings out of the tags of a request, and notes them.
    pub(crate) fn take(request: &mut Request<Incoming>, caller: &Caller, part: Part) -> Self {
        let mut negotiation = Self {
            is_head: request.method() == Method::HEAD,
            accepted: HeaderMap::new(),
            known: None,
        };
        if part == Part::Tunnel {
            return negotiation;
        }
        let is_asked = request.headers().contains_key(ACCEPT_ENCODING);
        // Names are looked up far more often than anything else is asked, by many with not a word
        // of codings.
        if is_asked || part != Part::Resolve {
            untag(request.headers_mut(), &IF_MATCH);
            negotiation.known = untag(request.headers_mut(), &IF_NONE_MATCH);
        }
        if is_asked && is_harmless(request, caller) {
            for line in request.headers().get_all(ACCEPT_ENCODING) {
                negotiation.accepted.append(ACCEPT_ENCODING, line.clone());
            }
        }
        negotiation
    }

    /// The answer as it is sent: smaller if that is wished for and can be, and without a body if
    /// only its head is.
    pub(crate) async fn grant(self, mut response: Response<Body>) -> Response<Body> {
        if response.status() == StatusCode::NOT_MODIFIED {
            self.retag_known(&mut response);
        }
        if is_worth_it(&response) {
            // Also where it is sent as it is: a cache must not keep it for those who would have it
            // otherwise.
            let name = HeaderValue::from_static("Accept-Encoding");
            response.headers_mut().append(VARY, name);
            if let Some(coding) = self.coding() {
                response = smaller(response, coding).await;
            }
        }
        if self.is_head {
            behead(&mut response);
        }
        response
    }

    fn coding(&self) -> Option<Coding> {
        if self.accepted.is_empty() {
            return None;
        }
        Coding::chosen(&self.accepted)
    }

    /// "Nothing has changed" is said with the tag that the client has.
    fn retag_known(&self, response: &mut Response<Body>) {
        let Some(known) = self.known.as_ref().and_then(|known| known.to_str().ok()) else {
            return;
        };
        if let Some(coding) = self.coding()
            && let Some(tag) = response.headers().get(ETAG)
            && let Some(tag) = tagged(tag, coding)
            && tag.to_str().is_ok_and(|tag| known.contains(tag))
        {
            response.headers_mut().insert(ETAG, tag);
        }
    }
}

/// Whether an answer tells nothing by its length: nothing is made, and nobody was let in without
/// saying so.
fn is_harmless(request: &Request<Incoming>, caller: &Caller) -> bool {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.uri().path().trim_start_matches('/');
    let headers = request.headers();
    // A browser sends passwords that it knows by itself; a token it does not.
    let is_open = headers.get(AUTHORIZATION).is_none_or(|who| {
        let scheme = who.as_bytes().get(..7);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "))
    });
    is_read
        && is_open
        && caller.certificate.is_none()
        && !headers.contains_key(COOKIE)
        && !path.starts_with("api/sessions")
}

/// Whether an answer could become much smaller.
fn is_worth_it(response: &Response<Body>) -> bool {
    let Either::Left(body) = response.body() else {
        return false;
    };
    let headers = response.headers();
    body.size_hint().lower() >= MIN_COMPRESSED_LENGTH
        && !response.status().is_redirection()
        && !headers.contains_key(CONTENT_ENCODING)
        && headers.get(CONTENT_TYPE).is_some_and(is_text)
}

fn is_text(content_type: &HeaderValue) -> bool {
    let text = content_type.to_str().unwrap_or_default();
    let kind = text.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || ["json", "xml", "/javascript"]
            .iter()
            .any(|end| kind.ends_with(end))
}

async fn smaller(response: Response<Body>, coding: Coding) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let length = body.size_hint().lower();
    let Ok(plain) = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
    else {
        // A body that is there does not break off.
        return Response::from_parts(parts, Either::Left(Full::default()));
    };
    let written = if length > MAX_INLINE_LENGTH {
        let plain = plain.clone();
        let working = crate::runtime::blocking::spawn_blocking(move || coding.write(&plain));
        working.await.map_err(std::io::Error::other).flatten()
    } else {
        coding.write(&plain)
    };
    let sent = match written {
        Ok(written) if written.len() < plain.len() => {
            let headers = &mut parts.headers;
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
            headers.remove(CONTENT_LENGTH);
            let tag = headers.get(ETAG).and_then(|tag| tagged(tag, coding));
            if let Some(tag) = tag {
                headers.insert(ETAG, tag);
            }
            Bytes::from(written)
        }
        _ => plain,
    };
    Response::from_parts(parts, Either::Left(Full::new(sent)))
}

/// The same head, without what it is the head of.
fn behead(response: &mut Response<Body>) {
    if matches!(
        response.status(),
        StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT
    ) {
        return;
    }
    if let Either::Left(body) = response.body()
        && let Some(length) = body.size_hint().exact()
    {
        let headers = response.headers_mut();
        headers.entry(CONTENT_LENGTH).or_insert(length.into());
        *response.body_mut() = Either::Left(Full::default());
    }
}

/// `"7"` as `"7-gzip"`. One that is weak stands for both.
fn tagged(tag: &HeaderValue, coding: Coding) -> Option<HeaderValue> {
    let text = tag.to_str().ok()?;
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    HeaderValue::from_str(&format!("\"{inner}-{}\"", coding.as_str())).ok()
}

/// Tags without codings; what stood there before, if any had one.
fn untag(headers: &mut HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let before = headers.get(name)?;
    let text = before.to_str().ok()?;
    let mut plain = text.to_string();
    for coding in Coding::ALL {
        plain = plain.replace(&format!("-{}\"", coding.as_str()), "\"");
    }
    if plain == text {
        return None;
    }
    let plain = HeaderValue::from_str(&plain).ok()?;
    headers.insert(name, plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_that_a_client_takes_is_chosen() {
        for (accepted, chosen) in [
            ("gzip", Some(Coding::Gzip)),
            ("X-GZip", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Brotli)),
            ("gzip, br;q=0.5", Some(Coding::Gzip)),
            ("br;q=0, gzip;q=0.001", Some(Coding::Gzip)),
            ("*", Some(Coding::Brotli)),
            ("*, br;q=0", Some(Coding::Gzip)),
            ("*;q=0", None),
            ("*;q=0, gzip", Some(Coding::Gzip)),
            ("identity;q=0, gzip;q=0.1", Some(Coding::Gzip)),
            ("identity;q=0", None),
            ("identity;q=0, *", Some(Coding::Brotli)),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip;q=0.5", Some(Coding::Gzip)),
            ("identity", None),
            ("deflate, zstd", None),
            ("gzip;q=0", None),
            ("", None),
            (";,gzip;q", Some(Coding::Gzip)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
            assert_eq!(Coding::chosen(&headers), chosen, "{accepted}");
        }
    }

    #[test]
    fn tags_come_back_as_they_were() {
        let plain = HeaderValue::from_static("\"7\"");
        let small = tagged(&plain, Coding::Brotli).unwrap();
        assert_eq!(small, "\"7-br\"");
        assert_eq!(
            tagged(&HeaderValue::from_static("W/\"7\""), Coding::Gzip),
            None
        );
        let mut headers = HeaderMap::new();
        let both = HeaderValue::from_static("\"7-br\", W/\"8-gzip\", \"9\"");
        headers.insert(IF_NONE_MATCH, both.clone());
        assert_eq!(untag(&mut headers, &IF_NONE_MATCH), Some(both));
        assert_eq!(headers[IF_NONE_MATCH], "\"7\", W/\"8\", \"9\"");
        assert_eq!(untag(&mut headers, &IF_NONE_MATCH), None);
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        for (kind, is_one) in [
            ("text/html; charset=utf-8", true),
            ("application/json", true),
            ("application/problem+json", true),
            ("image/svg+xml", true),
            ("application/javascript", true),
            ("image/png", false),
            ("application/x-hdl-message", false),
            ("application/octet-stream", false),
        ] {
            assert_eq!(is_text(&HeaderValue::from_static(kind)), is_one, "{kind}");
        }
    }
}
