//! The front page: one box that takes any identifier (`URI-13`).

use std::sync::Arc;

use askama::Template;
use handfast_id::{ErrorKind, HttpResolver, Identifier, Rules, recognise};
use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Response, StatusCode, Uri};

use crate::http::pages::authority::AuthorityCrumb;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::failure::Failure;
use crate::http::resolver::path::{NameKind, RequestedName, strip};
use crate::http::resolver::query_and_fragment;
use crate::http::resolver::recognition::{RecognisedAs, Recognition};
use crate::http::resolver::target::path_of;
use crate::http::response::Body;
use crate::http::{Caller, Web};

/// Browsers apply `form-action` to every redirect that follows a submission, and the box leads
/// wherever names lead: so pages with the box allow the schemes that a redirect may have, at any
/// host. Such a page has one form, and nothing of what others wrote becomes markup in it, so there
/// is no other form that this could allow.
pub(crate) const BOX_FORM_ACTION: &str = "'self' http: https: ftp:";

/// How many authorities the front page lists.
const MAX_LISTED: usize = 6;
/// How many authorities are looked at to find those with most names.
const MAX_LOOKED_AT: usize = 200;

#[derive(Template)]
#[template(path = "resolver/front.html")]
struct FrontPage<'a> {
    frame: Frame<'a>,
    typed: &'a str,
    found: Option<Recognition>,
    /// Whether the page is the answer to a text that leads nowhere.
    is_refused: bool,
    authorities: Vec<ListedAuthority>,
    /// How many authorities there are.
    total: u64,
}

/// An authority with its number of names.
struct ListedAuthority {
    crumb: AuthorityCrumb,
    has_title: bool,
    names: u64,
}

/// The page with the box.
pub(crate) fn page(web: &Arc<Web>) -> Response<Body> {
    answer(
        web,
        StatusCode::OK,
        "Resolve an identifier",
        "",
        None,
        false,
    )
}

/// The same after a text that cannot be resolved, with that text and the reason.
pub(crate) fn refused_page(
    web: &Arc<Web>,
    typed: &str,
    failure: &Failure,
    own: &[HttpResolver],
) -> Response<Body> {
    let found = Recognition::of(web, typed, own).filter(Recognition::is_wrong);
    let found = found.unwrap_or_else(|| Recognition::wrong(failure, None));
    answer(
        web,
        failure.status,
        "No identifier",
        typed,
        Some(found),
        true,
    )
}

/// The same with what a text is, which the box asks for while a person types.
pub(crate) fn recognition_page(
    web: &Arc<Web>,
    typed: &str,
    own: &[HttpResolver],
) -> Response<Body> {
    let found = Recognition::of(web, typed, own);
    answer(
        web,
        StatusCode::OK,
        "What is this identifier?",
        typed,
        found,
        false,
    )
}

fn answer(
    web: &Arc<Web>,
    status: StatusCode,
    title: &str,
    typed: &str,
    found: Option<Recognition>,
    is_refused: bool,
) -> Response<Body> {
    let (authorities, total) = if web.site.lists_authorities && typed.is_empty() {
        named_here(web)
    } else {
        (Vec::new(), 0)
    };
    let page = FrontPage {
        frame: Frame::new(web, title, MenuPlace::Resolve),
        typed,
        found,
        is_refused,
        authorities,
        total,
    };
    let frame = &page.frame;
    frame.respond_with_forms(status, &page, BOX_FORM_ACTION)
}

/// The authorities with most names, each with those below it, and how many authorities there are.
fn named_here(web: &Web) -> (Vec<ListedAuthority>, u64) {
    let registry = web.registry();
    let listed = registry.authorities_page(None, None, MAX_LOOKED_AT);
    let mut all: Vec<_> = listed
        .map(|page| page.authorities)
        .unwrap_or_default()
        .iter()
        .filter(|authority| authority.parent.is_none())
        .map(|authority| {
            let path = authority.path.to_string();
            let counts = registry.counts(&path).unwrap_or_default();
            ListedAuthority {
                crumb: AuthorityCrumb::new(authority),
                has_title: !authority.title.trim().is_empty(),
                names: counts.with_children.active,
            }
        })
        .filter(|listed| listed.names > 0)
        .collect();
    all.sort_by_key(|listed| (std::cmp::Reverse(listed.names), !listed.has_title));
    all.truncate(MAX_LISTED);
    let total = registry.statistics().map_or(0, |found| found.authorities);
    let requested = registry.requested_authorities().unwrap_or_default();
    (all, total.saturating_sub(requested))
}

/// Whether a name that was asked for looks like a prefix, about which there is a page.
pub(crate) fn is_numeric_prefix(asked: &RequestedName<'_>) -> bool {
    let prefix = &asked.written;
    let is_number = prefix.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    asked.kind == NameKind::Prefix && is_number && prefix.contains('.')
}

/// The path, on this server, that a typed text leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedPath {
    pub(crate) path: String,
    /// Whether the text is an identifier. A prefix alone has a record too, and stored names that
    /// were imported as they were need not be regular: other texts lead somewhere only if they are
    /// stored here.
    pub(crate) is_identifier: bool,
}

impl TypedPath {
    fn new(path: &str, is_identifier: bool) -> Self {
        Self {
            path: one_slash(path),
            is_identifier,
        }
    }
}

/// Finds the path, on this server, that a typed text leads to.
pub(crate) fn path_of_typed(
    typed: &str,
    own: &[HttpResolver],
    rules: &dyn Rules,
) -> Result<TypedPath, Failure> {
    let trimmed = typed.trim();
    if let Some(path) = own.iter().find_map(|own| path_behind(trimmed, own)) {
        return Ok(TypedPath::new(path, true));
    }
    let path = match recognise(typed, rules).map(|found| found.identifier) {
        Ok(Identifier::Urn(urn)) => urn.to_string(),
        Ok(Identifier::Ark(ark)) => ark.to_string(),
        Ok(id @ Identifier::Info(_)) if id.named(rules).is_none() => id.canonical(rules),
        Ok(id) => {
            // CID-13: with query and fragment, in the path, where no parameter of the resolver is
            // in their way.
            let whole = query_and_fragment::cordra_of(&id, rules).map(|id| id.to_string());
            let handle = whole.or_else(|| id.spellings(rules).handle);
            path_of(handle.as_deref().unwrap_or(trimmed))
        }
        Err(error) => match error.kind() {
            ErrorKind::Empty => return Err(refused("Type an identifier, or paste one.")),
            ErrorKind::NotServed => {
                let text = "We know this resolver, but not this form of its addresses. Try the \
                    identifier alone.";
                return Err(refused(text));
            }
            ErrorKind::UnknownResolver | ErrorKind::UnknownScheme => {
                let text = "We do not recognise this as an identifier. Try a handle, DOI, URN, \
                    ARK or info URI.";
                return Err(refused(text));
            }
            _ => return Ok(TypedPath::new(&path_of(trimmed), false)),
        },
    };
    Ok(TypedPath::new(&path, true))
}

/// A text that is no identifier, and not stored here as it is.
pub(crate) fn no_identifier() -> Failure {
    refused(
        "This is not a complete identifier. An identifier has a prefix, a slash and a name, such \
        as \
         10.1045/april2006-paskin; a URN looks like urn:isbn:0451450523.",
    )
}

fn refused(detail: &str) -> Failure {
    Failure::malformed(detail.to_string())
}

/// A path of this server: two slashes would begin another host.
fn one_slash(path: &str) -> String {
    format!("/{}", path.trim_start_matches(['/', '\\']))
}

/// The addresses of this server: the one that the client has asked, and `public-url`. The answer to
/// a typed text never holds the host, only the path behind it, so a false one misleads nobody but
/// the client that sends it.
pub(crate) fn own_resolvers(
    web: &Web,
    caller: &Caller,
    uri: &Uri,
    headers: &HeaderMap,
) -> Vec<HttpResolver> {
    let header = || headers.get(HOST)?.to_str().ok();
    let host = uri.authority().map(Authority::as_str).or_else(header);
    let scheme = if caller.is_secure { "https" } else { "http" };
    let asked = host.map(|host| format!("{scheme}://{host}"));
    let bases = asked
        .into_iter()
        .chain([web.hosts.base(caller, uri, headers)]);
    let own = bases.filter_map(|base| HttpResolver::parse(&base).ok());
    own.filter(|own| own.first_segment().is_none()).collect()
}

/// What follows the host in a URL of a server of ours, with its query, as it is written there:
/// every path that the server answers is read by the same rules as if it had been asked for
/// directly.
fn path_behind<'t>(text: &'t str, own: &HttpResolver) -> Option<&'t str> {
    let rest = strip(text, "https://").or_else(|| strip(text, "http://"));
    let after = rest.unwrap_or(text);
    let (host, path) = after.split_at_checked(after.find('/')?)?;
    // `20.1.2.3/x` without a scheme is a handle, whatever the address of the server is.
    let is_handle = rest.is_none() && host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_same =
        without_default_port(host).eq_ignore_ascii_case(without_default_port(own.authority()));
    (is_same && !is_handle).then_some(path)
}

/// A browser leaves the default port out, a person may have pasted it.
fn without_default_port(authority: &str) -> &str {
    let stripped = authority.strip_suffix(":443");
    let stripped = stripped.or_else(|| authority.strip_suffix(":80"));
    stripped.unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use handfast_id::RuleBook;

    use super::*;

    /// The box refused the addresses that the same server prints.
    #[test]
    fn an_address_of_this_server_leads_to_its_path() {
        let own = [HttpResolver::parse("http://pid.example:8000").unwrap()];
        let rules = RuleBook::standard();
        for (typed, path) in [
            ("http://pid.example:8000/20.1/a", "/20.1/a"),
            (" HTTPS://PID.example:8000/hdl/20.1/a ", "/hdl/20.1/a"),
            ("pid.example:8000/20.1/a%2Fb?x=1", "/20.1/a%2Fb?x=1"),
            ("http://pid.example:8000//evil.example/", "/evil.example/"),
            ("http://pid.example:8000/\\evil.example/", "/evil.example/"),
            ("http://pid.example:8000/urn:isbn:1", "/urn:isbn:1"),
            ("20.1/a", "/20.1/a"),
        ] {
            let found = path_of_typed(typed, &own, &rules).unwrap();
            assert_eq!(found, TypedPath::new(path, true), "{typed}");
        }
        for typed in [
            "http://pid.example:8000.evil.example/20.1/a",
            "http://pid.example:8001/20.1/a",
            "http://pid.example:8000@evil.example/20.1/a",
        ] {
            assert!(path_of_typed(typed, &own, &rules).is_err(), "{typed}");
        }
        let numeric = [HttpResolver::parse("http://20.1.2.3").unwrap()];
        let found = path_of_typed("20.1.2.3/x", &numeric, &rules).unwrap();
        assert_eq!(found.path, "/20.1.2.3/x");
        let found = path_of_typed("http://20.1.2.3:80/20.1/x", &numeric, &rules).unwrap();
        assert_eq!(found.path, "/20.1/x");
        let found = path_of_typed(" hello ", &own, &rules).unwrap();
        assert_eq!(found, TypedPath::new("/hello", false));
    }
}
