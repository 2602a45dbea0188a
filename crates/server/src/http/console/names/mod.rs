//! Names: list, create, mint, activate; then one name: show, edit, history, states.

mod activate;
mod authority_choice;
mod create;
mod create_form;
mod csv;
mod filters_in_url;
mod list;
mod mint;
mod minted;
pub(super) mod one_name;
mod rows;

use super::page_table::{PageRoute, form, page};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/names", list::show),
    page("/names.csv", csv::download),
    page("/names/new", create::show),
    page("/names/new/check", create::check),
    form("/names/new", create::create),
    page("/mint", mint::show),
    page("/mint/example", mint::example),
    form("/mint", mint::mint),
    page("/mint/names", minted::show),
    page("/mint/names.csv", minted::download),
    page("/activate", activate::show),
    form("/activate", activate::send),
];
