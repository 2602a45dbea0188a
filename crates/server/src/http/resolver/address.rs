//! The base URL of this resolver (`URI-13`).

use handfast_api::Resolver;
use handfast_id::Rules;
use handfast_registry::RESERVED_SEGMENTS;
use hyper::{HeaderMap, Uri};

use crate::http::{Caller, Web};

/// The base URL: the first resolver in the configuration, or the one of this server. What a client
/// says counts only if it is a host of ours.
pub(crate) fn base(web: &Web, caller: &Caller, uri: &Uri, headers: &HeaderMap) -> String {
    let rules = web.registry().rules();
    let mut configured = rules.resolvers().iter();
    match configured.find(|resolver| !resolver.is_only_read()) {
        Some(configured) => configured.to_string(),
        None => web.hosts.base(caller, uri, headers),
    }
}

/// The description of the resolver: its base URL, that it needs no first segment and takes `hdl` as
/// one, and the words that it uses as first segments itself, which no prefix can have.
pub(crate) fn statement(base: &str) -> Resolver {
    Resolver {
        base: base.to_string(),
        first_segments: ["", "hdl"].map(str::to_string).into(),
        taken_segments: RESERVED_SEGMENTS.map(str::to_string).into(),
    }
}
