//! Query and fragment of CORDRA identifiers, which the server appends to the target of a
//! redirect (`CID-8`, `CID-13`).

use handfast_id::{CordraId, HandleProfile, Identifier, Rules, recognise};

use crate::http::percent::has_whole_triplets;
use crate::http::resolver::target::{with_fragment, with_query};

/// The CORDRA identifier that something is, with its query and fragment: only under a `cordra`
/// authority (`CID-12`).
pub(crate) fn cordra_of(
    identifier: &Identifier<'_>,
    rules: &dyn Rules,
) -> Option<CordraId<'static>> {
    let of_handle = |handle: &str| CordraId::parse(handle).ok().map(CordraId::into_owned);
    let id = match identifier {
        Identifier::Cordra(id) => Some(id.clone().into_owned()),
        Identifier::Hdl(uri) if uri.query().is_none() && uri.fragment().is_none() => {
            of_handle(uri.handle().as_str())
        }
        Identifier::Hdl(uri) => CordraId::from_hdl_uri(uri),
        Identifier::Handle(handle) => of_handle(handle.as_str()),
        Identifier::Info(_) => {
            let named = identifier.named(rules)?;
            return cordra_of(&named, rules);
        }
        Identifier::Ark(_) | Identifier::Doi(_) | Identifier::Urn(_) => None,
    }?;
    let profile = rules.handle_profile(&id.naming_authority());
    (profile == HandleProfile::Cordra).then_some(id)
}

/// A URL with the query and fragment of the identifier that leads there.
pub(crate) fn handed_on(url: &[u8], asked: &str, rules: &dyn Rules) -> Vec<u8> {
    let id = recognise(asked, rules).ok();
    let Some(id) = id.and_then(|found| cordra_of(&found.identifier, rules)) else {
        return url.to_vec();
    };
    let mut url = url.to_vec();
    if let Some(query) = id.query().filter(|query| !query.is_empty()) {
        url = with_query(&url, query.as_bytes());
    }
    if let Some(fragment) = id.fragment().filter(|fragment| !fragment.is_empty()) {
        url = with_fragment(&url, fragment.as_bytes());
    }
    url
}

/// Whether a text can be the query of a URI once the characters that browsers send bare, such as
/// `{`, are escaped: each `%` begins a triplet, and none is `%00` (`X-8`).
pub(crate) fn is_query(query: &str) -> bool {
    has_whole_triplets(query) && !query.contains("%00")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `?%zz` was sent on to the target.
    #[test]
    fn cid_13_a_query_is_uri_syntax() {
        for query in ["x=1", "", "a/b?c", "%20", "x=1&y;z", "{x}"] {
            assert!(is_query(query), "{query}");
        }
        for query in ["%zz", "%", "a%2", "%00", "%é"] {
            assert!(!is_query(query), "{query}");
        }
    }
}
