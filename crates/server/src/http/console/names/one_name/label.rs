//! `/console/names/{id}/label`: a label to print.

use askama::Template;
use hyper::{Response, StatusCode};

use super::head::{NameHead, NameTab, quoted};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::ConsoleFrame;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::resolver::qr_code::QrSymbol;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/label.html")]
struct NameLabel<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    /// The symbol of the citable link, unless the link is too long for one.
    qr: Option<String>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::Label)?;
    let page = NameLabel {
        frame: head.frame(visit, "Label").same([
            format!("handfast name show {}", quoted(&head.id)),
            format!("curl -o label.svg '{}?action=qr.svg'", head.citable),
        ]),
        qr: QrSymbol::new(&head.citable).map(|symbol| symbol.svg()),
        name: &head,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}
