//! The pages of one name: `/console/names/{id}` and those below it.

mod address_merge;
mod administrators;
mod changes;
mod conflict;
mod edit;
mod edit_form;
mod form_fields;
mod head;
mod history;
mod label;
mod locations;
mod merge;
mod overview;
mod raw;
mod states;
mod transfer;
mod undo;
mod withdraw;

pub(in crate::http::console) use self::head::{options, quoted};
use crate::http::console::page_table::{PageRoute, form, page};

#[rustfmt::skip]
pub(in crate::http::console) const PAGES: &[PageRoute] = &[
    page("/names/{id}", overview::show),
    page("/names/{id}/edit", edit::show),
    form("/names/{id}/edit", edit::send),
    page("/names/{id}/raw", raw::show),
    form("/names/{id}/raw", raw::send),
    form("/names/{id}/merge", conflict::merge),
    page("/names/{id}/history", history::show),
    page("/names/{id}/history/{event}", history::show_event),
    page("/names/{id}/history/{event}/undo", undo::show),
    form("/names/{id}/history/{event}/undo", undo::send),
    page("/names/{id}/proof", history::proof),
    page("/names/{id}/withdraw", withdraw::show),
    form("/names/{id}/withdraw", withdraw::send),
    page("/names/{id}/activate", states::show_activate),
    form("/names/{id}/activate", states::activate),
    page("/names/{id}/restore", states::show_restore),
    form("/names/{id}/restore", states::restore),
    page("/names/{id}/transfer", transfer::show),
    form("/names/{id}/transfer", transfer::send),
    page("/names/{id}/label", label::show),
];
