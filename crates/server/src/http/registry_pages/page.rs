//! The frame of all pages of the register. Pages have no script and no inline style, so that
//! their policy allows none.

use hyper::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use hyper::{Response, StatusCode};

use crate::http::registry_pages::contact::{ContactLink, is_http};
pub(super) use crate::http::resolver::page::escape;
use crate::http::resolver::page::fresh;
use crate::http::resolver::target::escaped_text;
use crate::http::response::{Body, WithHeader};

/// `/registry/style.css`
pub(super) const STYLE: &str = include_str!("style.css");

/// A page. The title is text, the body is HTML.
pub(super) fn page(status: StatusCode, title: &str, body: &str) -> Response<Body> {
    fresh_page(status, html(title, body))
}

/// The text of a page.
pub(super) fn html(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><title>{title}</title>\
         <link rel=\"stylesheet\" href=\"/registry/style.css\">\
         <link rel=\"alternate\" type=\"application/atom+xml\" title=\"Changes\" \
         href=\"/registry/changes.atom\">\
         </head>\n<body><header><nav aria-label=\"Register\"><a href=\"/registry/\">Namespaces</a> \
         <a href=\"/registry/urn\">URNs</a> \
         <a href=\"/registry/authorities\">Authorities</a> <a href=\"/registry/policy\">Policy</a> \
         <a href=\"/registry/changes.atom\">Changes</a> <a href=\"/\">Resolve</a></nav></header>\n\
         <main><h1>{title}</h1>\n{body}\n</main></body></html>\n"
    )
}

/// The response with it.
pub(super) fn fresh_page(status: StatusCode, html: String) -> Response<Body> {
    let policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'";
    fresh(status, "text/html; charset=utf-8", html)
        .with(CONTENT_SECURITY_POLICY, policy)
        .with(REFERRER_POLICY, "same-origin")
}

/// A contact address: a link if it is a web address, else plain text.
pub(super) fn link(url: &str) -> String {
    let shown = escape(url);
    if !is_http(url) {
        return shown;
    }
    let href = escape(&escaped_text(url.as_bytes()));
    format!("<a href=\"{href}\" rel=\"nofollow noopener noreferrer\">{shown}</a>")
}

/// A contact, as HTML.
pub(super) fn contact(text: &str) -> String {
    match ContactLink::of(text) {
        ContactLink::Email(email) => {
            let shown = escape(email);
            let href = escape(&escaped_text(email.as_bytes()));
            format!("<a href=\"mailto:{href}\">{shown}</a>")
        }
        ContactLink::Web(url) => link(url),
        ContactLink::Words(words) => paragraphs(words),
    }
}

/// A text with its lines.
pub(super) fn paragraphs(text: &str) -> String {
    escape(text.trim()).replace('\n', "<br>\n")
}

/// A link to the next page of a list, if there is one.
pub(super) fn more(out: &mut String, next: Option<&str>) {
    if let Some(next) = next.map(escape) {
        out.extend(["<p><a rel=\"next\" href=\"", &next, "\">More</a></p>\n"]);
    }
}

/// A row of a table of fields, unless there is nothing to say. What is said is HTML.
pub(super) fn row(out: &mut String, name: &str, said: &str) {
    if !said.is_empty() {
        out.extend(["<tr><th scope=\"row\">", name, "<td>", said, "</tr>\n"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_web_only() {
        assert_eq!(
            link("javascript:alert('x')"),
            "javascript:alert(&#39;x&#39;)"
        );
        assert_eq!(link("N/A"), "N/A");
        let hostile = link("https://a/\"><script>alert(1)</script>");
        assert!(!hostile.contains("<script"), "{hostile}");
        assert!(
            hostile.starts_with("<a href=\"https://a/%22%3E%3Cscript"),
            "{hostile}"
        );
        assert_eq!(contact("<b>x</b>\ny"), "&lt;b&gt;x&lt;/b&gt;<br>\ny");
        assert!(contact("a@b.example").starts_with("<a href=\"mailto:a@b.example\">"));
    }
}
