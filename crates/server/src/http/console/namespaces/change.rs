//! `/console/namespaces/{namespace}/edit`: changing what an entry says, or proposing a declined one
//! again.

use std::sync::Arc;

use askama::Template;
use handfast_registry::{
    ExampleChange, NamespaceAct, NamespaceEntry, NamespaceForm, NamespaceOrder, NamespaceStatus,
};
use hyper::{Response, StatusCode};

use super::fields::{EntryFields, field_of, has_steps, missing, read};
use super::{entry_of, path_of};
use crate::http::console::authorities::curl_with;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::names::one_name::quoted;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/namespace_edit.html")]
struct EntryEditPage<'a> {
    frame: ConsoleFrame<'a>,
    fields: EntryFields,
    uri: String,
    path: String,
    version: String,
    is_again: bool,
    is_registered: bool,
    /// What would change for examples, once it was asked for.
    changes: Option<Vec<ExampleChange>>,
}

/// An entry that this person may change.
struct Changeable {
    entry: Arc<NamespaceEntry>,
    /// Whether it was declined, and is proposed again.
    is_again: bool,
}

impl Changeable {
    fn load(visit: &Visit<'_>) -> Result<Self, PageError> {
        let entry = entry_of(visit)?;
        let is_again = entry.status == NamespaceStatus::Refused;
        let needed = if is_again { "propose" } else { "change" };
        let registry = visit.registry();
        if !registry
            .namespace_acts(&visit.who(), entry.name())?
            .contains(&needed)
        {
            // The registry says why not.
            let order = NamespaceOrder::new(act(is_again, entry.form.clone()), "");
            drop(registry.consider_namespace(&visit.who(), entry.name(), order)?);
        }
        Ok(Self { entry, is_again })
    }

    fn respond(
        &self,
        visit: &Visit<'_>,
        status: StatusCode,
        fields: EntryFields,
        changes: Option<Vec<ExampleChange>>,
        errors: Vec<FieldError>,
    ) -> Response<Body> {
        let (uri, name) = (self.entry.uri(), self.entry.name());
        let title = if self.is_again {
            format!("Propose {uri} again")
        } else {
            format!("Change {uri}")
        };
        let (command, method, below) = if self.is_again {
            ("propose", "POST", String::new())
        } else {
            ("change", "PATCH", format!("/{name}"))
        };
        let same = [
            format!(
                "handfast namespace {command} {name} --title {}",
                quoted(&self.entry.form.title)
            ),
            curl_with(
                visit,
                method,
                &format!("/namespaces{below}"),
                "@namespace.json",
            ),
        ];
        // After a conflict the person has been told, and sends it again.
        let was = Some(visit.field("version")).filter(|_| status != StatusCode::CONFLICT);
        let was = was.filter(|version| !version.is_empty());
        let page = EntryEditPage {
            frame: ConsoleFrame::new(visit, title.clone(), MenuItem::Namespaces)
                .crumbs([
                    Crumb::new("Namespaces", "/console/namespaces"),
                    Crumb::new(uri.clone(), path_of(name)),
                    Crumb::new(
                        if self.is_again {
                            "Propose again"
                        } else {
                            "Change"
                        },
                        "",
                    ),
                ])
                .errors(errors)
                .same(same),
            fields: fields.without(&["namespace"]),
            path: path_of(name),
            version: was.map_or_else(|| self.entry.version.to_string(), str::to_string),
            is_again: self.is_again,
            is_registered: self.entry.was_registered(),
            uri,
            changes,
        };
        page.frame.respond(status, &page)
    }
}

fn act(is_again: bool, form: NamespaceForm) -> NamespaceAct {
    let form = Box::new(form);
    if is_again {
        NamespaceAct::Propose(form)
    } else {
        NamespaceAct::Change(form)
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let found = Changeable::load(visit)?;
    let fields = EntryFields::of(&found.entry.form);
    Ok(found.respond(visit, StatusCode::OK, fields, None, Vec::new()))
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let found = Changeable::load(visit)?;
    let typed = || EntryFields::typed(visit, has_steps(&found.entry.form));
    let invalid = |errors| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Ok(found.respond(visit, status, typed(), None, errors))
    };
    let errors = missing(visit, false);
    if !errors.is_empty() {
        return invalid(errors);
    }
    let form = match read(visit, found.entry.form.clone()) {
        Ok(form) => form,
        Err(error) => return invalid(vec![error]),
    };
    let (registry, name) = (visit.registry(), found.entry.name());
    let order = NamespaceOrder {
        expects: visit.field("version").parse().ok(),
        ..NamespaceOrder::new(act(found.is_again, form.clone()), visit.field("why"))
    };
    let is_preview = visit.field("do") == "preview";
    let done = if is_preview {
        let considered = registry.consider_namespace(&visit.who(), name, order);
        considered.map(Arc::new)
    } else {
        registry.act_on_namespace(&visit.who(), name, order)
    };
    match done {
        Ok(_) if is_preview => {
            let changes = registry.preview_namespace(&form)?;
            Ok(found.respond(visit, StatusCode::OK, typed(), Some(changes), Vec::new()))
        }
        Ok(entry) => {
            let done = if found.is_again { "propose" } else { "change" };
            Ok(see(&format!("{}?done={done}", path_of(entry.name()))))
        }
        Err(error) if error.is_failure() || error.code() == "account-only" => Err(error.into()),
        Err(error) if error.code() == "other-version" => {
            let text = "Somebody else has changed the entry. What you typed is still here: look at \
                        the entry in another window, and send this again.";
            let fields = typed();
            let errors = vec![FieldError::new("title", text)];
            Ok(found.respond(visit, StatusCode::CONFLICT, fields, None, errors))
        }
        Err(error) => invalid(vec![FieldError::new(field_of(&error), message(&error))]),
    }
}
