//! Authorities: the tree, one authority, its people, policy, children and requests.

mod ask;
mod children;
mod here;
pub(super) mod invite;
mod new;
mod overview;
mod people;
mod policy;
mod requests;
mod retire;
mod transfer;
mod tree;
mod why;

use super::error_page::PageError;
use super::page_table::{PageRoute, form, page};
use super::visit::Visit;
use crate::http::percent::{COMPONENT, encode};

pub(super) use here::{Answered, because, curl, curl_with, flash, is_wrong_input, titled};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/authorities", tree::show),
    page("/authorities/new", new::show),
    form("/authorities/new", new::create),
    page("/authorities/{authority}", overview::show),
    page("/authorities/{authority}/ask", ask::show),
    form("/authorities/{authority}/ask", ask::send),
    page("/authorities/{authority}/children", children::show),
    form("/authorities/{authority}/children", children::create),
    page("/authorities/{authority}/invite", invite::show),
    form("/authorities/{authority}/invite", invite::send),
    page("/authorities/{authority}/people", people::show),
    form("/authorities/{authority}/people", people::grant),
    form("/authorities/{authority}/people/revoke", people::revoke),
    page("/authorities/{authority}/policy", policy::show),
    form("/authorities/{authority}/policy", policy::change),
    page("/authorities/{authority}/requests", requests::show),
    form("/authorities/{authority}/requests", requests::decide),
    page("/authorities/{authority}/retire", retire::show),
    form("/authorities/{authority}/retire", retire::retire),
    page("/authorities/{authority}/transfer", transfer::show),
    form("/authorities/{authority}/transfer", transfer::transfer),
    page("/authorities/{authority}/why", why::show),
];

/// The page of an authority. The prefix `new` would be the page that makes one.
pub(super) fn path_of(authority: &str) -> String {
    let scheme = if authority == "new" { "hdl:" } else { "" };
    let authority = format!("{scheme}{authority}");
    format!("/console/authorities/{}", encode(&authority, COMPONENT))
}

/// Who can grant a role on an authority, as far as the person may know.
pub(super) fn who_can_grant(visit: &Visit<'_>, authority: &str) -> Option<String> {
    let here = here::Here::of(visit, authority).ok()?;
    overview::can_grant(visit, &here).ok()
}
