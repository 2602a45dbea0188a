//! `/console/namespaces/new`: proposing a namespace.

use askama::Template;
use handfast_registry::{NamespaceAct, NamespaceDeclaration, NamespaceForm, NamespaceOrder};
use hyper::{Response, StatusCode};

use super::fields::{EntryFields, field_of, missing, read};
use super::path_of;
use crate::http::console::authorities::curl_with;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/namespace_new.html")]
struct ProposePage<'a> {
    frame: ConsoleFrame<'a>,
    fields: EntryFields,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    visit.person()?;
    Ok(respond(visit, StatusCode::OK, Vec::new()))
}

fn respond(visit: &Visit<'_>, status: StatusCode, errors: Vec<FieldError>) -> Response<Body> {
    let same = [
        "handfast namespace propose --help".to_string(),
        curl_with(visit, "POST", "/namespaces", "@namespace.json"),
    ];
    let page = ProposePage {
        fields: EntryFields::typed(visit, false),
        frame: ConsoleFrame::new(visit, "Propose a namespace", MenuItem::Namespaces)
            .crumbs([
                Crumb::new("Namespaces", "/console/namespaces"),
                Crumb::new("Propose a namespace", ""),
            ])
            .errors(errors)
            .same(same),
    };
    page.frame.respond(status, &page)
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let invalid = |errors| Ok(respond(visit, StatusCode::UNPROCESSABLE_ENTITY, errors));
    let errors = missing(visit, true);
    if !errors.is_empty() {
        return invalid(errors);
    }
    let named = NamespaceForm {
        namespace: handfast_registry::bare_namespace(visit.field("namespace")),
        // A proposal says what it declares, also if that is nothing.
        declaration: Some(NamespaceDeclaration {
            public: false,
            in_use: false,
            without_uri_form: false,
        }),
        ..NamespaceForm::default()
    };
    let form = match read(visit, named) {
        Ok(form) => form,
        Err(error) => return invalid(vec![error]),
    };
    let name = form.namespace.clone();
    let order = NamespaceOrder::new(NamespaceAct::Propose(Box::new(form)), visit.field("why"));
    match visit
        .registry()
        .act_on_namespace(&visit.who(), &name, order)
    {
        Ok(entry) => Ok(see(&format!("{}?done=propose", path_of(entry.name())))),
        Err(error) if error.is_failure() || error.code() == "account-only" => Err(error.into()),
        Err(error) => {
            let field = match field_of(&error) {
                "title" => "namespace",
                field => field,
            };
            invalid(vec![FieldError::new(field, message(&error))])
        }
    }
}
