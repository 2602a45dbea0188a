//! Filters of templates: a module with templates imports this one under the name `filters`.

#![expect(
    clippy::inline_always,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    unreachable_pub,
    reason = "the macro of askama makes a method of each filter, and wants it so"
)]

use std::fmt::Display;

use askama::filters::Safe;
use askama::{Result, Values};

use crate::http::pages::escaper::escaped;
use crate::http::pages::words;
use crate::http::percent::{COMPONENT, encode};
use crate::http::registry_pages::contact::ContactLink;
use crate::http::resolver::target::escaped_text;

/// A long identifier or URL, which a browser may break after `/`, `.` and `:`.
#[askama::filter_fn]
pub(crate) fn breaks(text: impl Display, _: &dyn Values) -> Result<Safe<String>> {
    let text = escaped(&text.to_string());
    let mut out = String::with_capacity(text.len() + 32);
    for part in text.split_inclusive(['/', '.', ':']) {
        if !out.is_empty() {
            out.push_str("<wbr>");
        }
        out.push_str(part);
    }
    Ok(Safe(out))
}

/// A part of a URL, percent-encoded.
#[askama::filter_fn]
pub(crate) fn component(text: impl Display, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(encode(&text.to_string(), COMPONENT)))
}

/// A contact: a link if it is an address for mail or the web, else words with their lines.
#[askama::filter_fn]
pub(crate) fn contact_link(text: impl Display, _: &dyn Values) -> Result<Safe<String>> {
    let text = text.to_string();
    let link = |scheme: &str, href: &str, shown: &str| {
        let href = escaped(&escaped_text(href.as_bytes()));
        let shown = escaped(shown);
        format!("<a href=\"{scheme}{href}\" rel=\"nofollow noopener noreferrer\">{shown}</a>")
    };
    Ok(Safe(match ContactLink::of(&text) {
        ContactLink::Email(email) => link("mailto:", email, email),
        ContactLink::Web(url) => link("", url, url),
        ContactLink::Words(words) => lines_of(words),
    }))
}

/// A text with its lines.
#[askama::filter_fn]
pub(crate) fn lines(text: impl Display, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(lines_of(&text.to_string())))
}

/// A text of several paragraphs, with blank lines between them. Lines are as long as the page is
/// wide, wherever their author broke them.
#[askama::filter_fn]
pub(crate) fn paragraphs(text: impl Display, _: &dyn Values) -> Result<Safe<String>> {
    let text = text.to_string().replace("\r\n", "\n");
    let mut out = String::new();
    for part in text
        .split("\n\n")
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        out.extend(["<p>", &escaped(part), "</p>\n"]);
    }
    Ok(Safe(out))
}

fn lines_of(text: &str) -> String {
    escaped(text.trim()).replace('\n', "<br>\n")
}

/// A day for people, `14 November 2026`, from milliseconds since 1970.
#[askama::filter_fn]
pub(crate) fn day(time: &u64, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(words::day(*time)))
}

/// A time for people, `14 November 2026, 09:30 UTC`, from milliseconds since 1970.
#[askama::filter_fn]
pub(crate) fn time(time: &u64, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(words::time(*time)))
}

/// A number with commas between its thousands.
#[askama::filter_fn]
pub(crate) fn grouped(number: &u64, _: &dyn Values) -> Result<Safe<String>> {
    Ok(Safe(words::number(*number)))
}
