//! The front page: one box that takes any identifier (`URI-13`).

use handfast_id::{ErrorKind, HttpResolver, Identifier, Rules, recognise};
use handfast_registry::RESERVED_SEGMENTS;
use hyper::header::{CONTENT_SECURITY_POLICY, HOST};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Response, StatusCode, Uri};

use crate::http::resolver::page::{self, Failure, escape};
use crate::http::resolver::path::strip;
use crate::http::resolver::query_and_fragment;
use crate::http::resolver::target::path_of;
use crate::http::response::{Body, WithHeader};
use crate::http::{Caller, Web};

/// Browsers apply `form-action` to every redirect that follows a submission, and the box leads
/// wherever names lead: so it allows the schemes that a redirect may have, at any host. The page
/// has one form, and nothing of what others wrote becomes markup in it, so there is no other form
/// that this could allow.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
    form-action 'self' http: https: ftp:; base-uri 'none'; frame-ancestors 'none'";

/// The page with the box, and where this resolver is; after a text that cannot be resolved, with
/// that text and the reason.
pub(crate) fn page(base: &str, failed: Option<(&str, &Failure)>) -> Response<Body> {
    let interfaces = RESERVED_SEGMENTS
        .map(|interface| format!("<code>{interface}</code>"))
        .join(", ");
    let base = escape(base);
    let (status, title, message, typed) = match failed {
        None => (StatusCode::OK, "Resolve an identifier", String::new(), ""),
        Some((typed, failure)) => {
            let detail = escape(&failure.detail);
            let message = format!("<p id=\"message\" role=\"alert\">{detail}</p>\n");
            (failure.status, failure.title, message, typed)
        }
    };
    let described = if message.is_empty() {
        ""
    } else {
        " aria-describedby=\"message\" aria-invalid=\"true\""
    };
    let typed = escape(typed);
    let body = format!(
        "<form action=\"/\" method=\"get\"><label for=\"id\">A handle, DOI, URN, ARK or \
        <code>info</code> \
         URI, in any spelling</label>\n<input type=\"text\" id=\"id\" name=\"id\" \
         value=\"{typed}\" required autofocus \
         autocapitalize=\"none\" autocomplete=\"off\" spellcheck=\"false\"{described} \
         placeholder=\"10.1045/april2006-paskin\">\n{message}\
         <label><input type=\"checkbox\" name=\"noredirect\" value=\"1\"> show the record, do not \
         go there</label><br>\n\
         <button>Resolve</button></form>\n\
         <p>Or put an identifier behind the address of this resolver, <code>{base}/</code>, with \
         or without \
         <code>hdl/</code> between: <code>{base}/10.1045/april2006-paskin</code>.</p>\n\
         <p>These words begin the addresses of other pages here, and no prefix is called so: \
         {interfaces}.</p>"
    );
    page::page(status, title, &body).with(CONTENT_SECURITY_POLICY, POLICY)
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
