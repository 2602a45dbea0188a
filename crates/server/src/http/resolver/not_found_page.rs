//! The page for a name that is not registered: which authority was asked, names that look like it,
//! and whom to ask.

use askama::Template;
use handfast_registry::NearName;
use hyper::Response;

use crate::http::Web;
use crate::http::pages::authority::{AuthorityWords, local_part};
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::percent::{COMPONENT, encode};
use crate::http::registry_pages::contact::ContactLink;
use crate::http::resolver::ark;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::front::BOX_FORM_ACTION;
use crate::http::resolver::target::{escaped_text, path_of};
use crate::http::response::Body;

/// A name that looks like the one that was asked for, with the difference marked.
struct NearLink {
    title: Option<String>,
    path: String,
    before: String,
    differs: String,
    after: String,
    words: &'static str,
}

#[derive(Template)]
#[template(path = "resolver/not_found.html")]
struct NotFoundPage<'a> {
    frame: Frame<'a>,
    detail: &'a str,
    text: &'a str,
    local: &'a str,
    authority: Option<AuthorityWords>,
    near: Vec<NearLink>,
    /// The same name without the slash at its end.
    shorter: Option<(String, &'a str)>,
    /// Another resolver that may know it.
    remote: Option<String>,
    contact: Option<String>,
    /// A message to the contact with the identifier filled in.
    mail: Option<String>,
}

pub(crate) fn answer(web: &Web, failure: &Failure, text: &str) -> Response<Body> {
    let authority = AuthorityWords::of_name(web, text);
    let near = match &authority {
        Some(_) => web.registry().near_names(text).unwrap_or_default(),
        None => Vec::new(),
    };
    let of_authority = authority.as_ref().and_then(|found| found.contact.clone());
    let contact = of_authority.or_else(|| web.site.contact.clone());
    let is_handle = authority
        .as_ref()
        .is_some_and(|found| !found.path.contains(':'));
    let shorter = text.strip_suffix('/').filter(|_| is_handle);
    let page = NotFoundPage {
        frame: Frame::new(web, format!("Not found: {text}"), MenuPlace::Nowhere),
        detail: &failure.detail,
        text,
        local: match &authority {
            Some(authority) => local_part(text, &authority.path),
            None => text,
        },
        near: near
            .into_iter()
            .map(|near| NearLink::new(text, near))
            .collect(),
        shorter: shorter.map(|name| (path_of(name.trim_start_matches('/')), name)),
        remote: ark::is_ark(text)
            .then(|| format!("https://n2t.net/{}", escaped_text(text.as_bytes()))),
        mail: contact.as_deref().and_then(|contact| mail(contact, text)),
        contact,
        authority,
    };
    let frame = &page.frame;
    frame.respond_with_forms(failure.status, &page, BOX_FORM_ACTION)
}

/// A link that begins a message about the identifier.
fn mail(contact: &str, text: &str) -> Option<String> {
    let ContactLink::Email(email) = ContactLink::of(contact) else {
        return None;
    };
    let subject = encode(&format!("Identifier not found: {text}"), COMPONENT);
    let email = escaped_text(email.as_bytes());
    Some(format!("mailto:{email}?subject={subject}"))
}

impl NearLink {
    fn new(asked: &str, near: NearName) -> Self {
        let (asked, found): (Vec<_>, Vec<_>) = (asked.chars().collect(), near.id.chars().collect());
        let is_same = |pair: &(&char, &char)| pair.0.eq_ignore_ascii_case(pair.1);
        let start = asked.iter().zip(&found).take_while(is_same).count();
        let shortest = asked.len().min(found.len()).saturating_sub(start);
        let ends = asked.iter().rev().zip(found.iter().rev());
        let end = ends.take_while(is_same).take(shortest).count();
        let differing = found.len().saturating_sub(start + end);
        let text = |from: usize, count: usize| found.iter().skip(from).take(count).collect();
        Self {
            path: format!("/{}", path_of(near.id.trim_start_matches('/'))),
            before: text(0, start),
            differs: text(start, differing),
            after: text(start + differing, end),
            words: match (asked.len().saturating_sub(start + end), differing) {
                (_, 0) => "one character less",
                (0, _) => "one character more",
                (1, _) => "one character differs",
                _ => "two characters exchanged",
            },
            title: near.title,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_a_near_name_is_marked() {
        for (asked, id, marked, words) in [
            (
                "20.1/map-0421a",
                "20.1/map-0421",
                "20.1/map-0421[]",
                "one character less",
            ),
            (
                "20.1/map-0421a",
                "20.1/MAP-0121a",
                "20.1/MAP-0[1]21a",
                "one character differs",
            ),
            ("20.1/a", "20.1/aa", "20.1/a[a]", "one character more"),
            (
                "20.1/ab",
                "20.1/ba",
                "20.1/[ba]",
                "two characters exchanged",
            ),
        ] {
            let near = NearName {
                id: id.to_string(),
                title: None,
            };
            let link = NearLink::new(asked, near);
            let shown = format!("{}[{}]{}", link.before, link.differs, link.after);
            assert_eq!((shown.as_str(), link.words), (marked, words), "{asked}");
        }
    }
}
