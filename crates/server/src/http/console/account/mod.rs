//! The account that is signed in: `/console/me`, its sessions and tokens.

mod overview;
mod sessions;
mod tokens;

use super::page_table::{PageRoute, form, page};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/me", overview::show),
    form("/me", overview::change),
    page("/me/sessions", sessions::show),
    form("/me/sessions/{id}/end", sessions::end),
    form("/me/sessions/end-others", sessions::end_others),
    page("/me/tokens", tokens::show),
    form("/me/tokens", tokens::create),
    form("/me/tokens/{id}/revoke", tokens::revoke),
];
