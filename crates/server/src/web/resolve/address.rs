//! Where this resolver is (`URI-13`).

use handfast_id::{HttpResolver, Rules};
use handfast_registry::DOORS;
use hyper::header::HOST;
use hyper::{HeaderMap, Uri};
use serde_json::{Value as Json, json};

use crate::web::{Caller, Web};

/// The base URL: the first resolver in the configuration, or what the client has called this one.
pub(crate) fn base(web: &Web, caller: &Caller, uri: &Uri, headers: &HeaderMap) -> String {
    let rules = web.registry().rules();
    let mut configured = rules.resolvers().iter();
    if let Some(configured) = configured.find(|resolver| !resolver.is_only_read()) {
        return configured.to_string();
    }
    let scheme = if caller.is_secure { "https" } else { "http" };
    let said = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = said.or_else(|| uri.authority().map(hyper::http::uri::Authority::as_str));
    // What a client says may be anything.
    let own = host.and_then(|host| HttpResolver::parse(&format!("{scheme}://{host}")).ok());
    own.filter(|own| own.first_segment().is_none())
        .map_or_else(|| format!("{scheme}://localhost"), |own| own.to_string())
}

/// What the resolver says of itself: its base URL, that it needs no first segment and takes `hdl` as one, and the words
/// that it uses as first segments itself, so that no prefix can have their names.
pub(crate) fn statement(base: &str) -> Json {
    json!({
        "base": base,
        "first-segments": ["", "hdl"],
        "taken-segments": DOORS,
    })
}
