//! `/console/names/{id}/edit`: the values of a name in a form.

use askama::Template;
use handfast_registry::{Edit, HistoryPoint, NameAction, Record};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::changes::{ChangeLine, lines, removed};
use super::edit_form::EditForm;
use super::form_fields::need_bounded;
use super::head::{NameHead, NameTab, options, quoted};
use super::merge;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/edit.html")]
struct EditPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    form: &'a EditForm,
    panel: ChangePanel,
}

/// What will change: the panel beside a form.
pub(super) struct ChangePanel {
    pub(super) lines: Vec<ChangeLine>,
    pub(super) removed: usize,
    /// Why it cannot be stored.
    pub(super) problem: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, record) = editable(visit)?;
    let form = EditForm::of(&record);
    page(visit, StatusCode::OK, &head, &record, &form, Vec::new())
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = editable(visit)?;
    let Some(base) = base(visit)? else {
        return Ok(see(&format!("{}/edit", head.path)));
    };
    let mut form = EditForm::read(visit, &base);
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    match visit.field("do") {
        "save" => {}
        "preview" | "" => {
            return page(visit, StatusCode::OK, &head, &base, &form, Vec::new());
        }
        button => {
            let error = form.step(button, &base);
            let status = error.as_ref().map_or(StatusCode::OK, |_| invalid);
            let errors = error.into_iter().collect();
            return page(visit, status, &head, &base, &form, errors);
        }
    }
    let edit = match form.edit(&base) {
        Ok(edit) => edit,
        Err(errors) => return page(visit, invalid, &head, &base, &form, errors),
    };
    match merge::store(visit, &head, &base, &edit)? {
        Ok(response) => Ok(response),
        Err((status, error)) => page(visit, status, &head, &base, &form, vec![error]),
    }
}

/// The name of a request and its stored values, if the person may change them.
pub(super) fn editable(visit: &Visit<'_>) -> Result<(NameHead, Record), PageError> {
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let (head, _) = NameHead::load(visit, NameTab::Values)?;
    if !head.may_edit() {
        let nothing = NameAction::Edit(Edit::default());
        registry.preview_name_change(&who, id, None, nothing)?;
    }
    // Not as it is shown: the record of a prefix is shown with values that are computed.
    let last = HistoryPoint::Event(u64::MAX);
    Ok((head, registry.show_at(&who, id, last)?.record))
}

/// The version of a name that a form was made from, if the form names one.
pub(super) fn base(visit: &Visit<'_>) -> Result<Option<Record>, PageError> {
    need_bounded(visit)?;
    let number = |name: &str| visit.field(name).parse::<u64>().ok();
    let (Some(version), Some(event)) = (number("version"), number("event")) else {
        return Ok(None);
    };
    let point = HistoryPoint::Event(event);
    let found = visit.registry().show_at(&visit.who(), visit.id(), point)?;
    Ok(Some(found.record).filter(|record| record.version == version))
}

/// The page with a form, what it would change, and what is wrong with it.
pub(super) fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    head: &NameHead,
    base: &Record,
    form: &EditForm,
    mut errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let panel = match form.edit(base) {
        Ok(edit) => panel(visit, base, edit)?,
        Err(found) => {
            let text = found.first().map(|error| error.text.clone());
            if status != StatusCode::OK && errors.is_empty() {
                errors = found;
            }
            ChangePanel {
                lines: Vec::new(),
                removed: 0,
                problem: text.unwrap_or_default(),
            }
        }
    };
    let page = EditPage {
        frame: head
            .frame(visit, "Edit")
            .errors(errors)
            .same(same(visit, head, base, form)),
        name: head,
        form,
        panel,
    };
    Ok(page.frame.respond(status, &page))
}

/// The same by command, with the values of the form: copied as it is, it changes nothing else.
fn same(visit: &Visit<'_>, head: &NameHead, base: &Record, form: &EditForm) -> Vec<String> {
    let argument = head.argument();
    let urls = form.addresses.iter().map(|row| row.url.as_str());
    let mut urls: Vec<_> = urls.filter(|url| !url.is_empty()).collect();
    if urls.is_empty() {
        urls.push("https://example.org/");
    }
    let options = options(urls.iter().map(|url| ("url", *url)));
    let text = form.texts.first().map_or_else(
        || format!("{}:TITLE:A title", form.free(10, base)),
        |row| format!("{}:{}:{}", row.index, row.value_type, row.text),
    );
    vec![
        format!("handfast name set {argument}{options}"),
        format!("handfast name set {argument} --value {}", quoted(&text)),
        format!(
            "curl -X PATCH -H \"Authorization: Bearer $HANDFAST_TOKEN\" -H 'Content-Type: \
             application/json' -d {} {}",
            quoted(&json!({ "urls": urls }).to_string()),
            head.api(visit)
        ),
    ]
}

/// What an edit would change.
pub(super) fn panel(
    visit: &Visit<'_>,
    base: &Record,
    edit: Edit,
) -> Result<ChangePanel, PageError> {
    let mut panel = ChangePanel {
        lines: Vec::new(),
        removed: 0,
        problem: String::new(),
    };
    if is_empty(&edit) {
        return Ok(panel);
    }
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let action = NameAction::Edit(edit);
    match registry.preview_name_change(&who, id, Some(base.version), action) {
        Ok(preview) => {
            panel.removed = removed(&preview.changes);
            panel.lines = lines(&preview.changes);
        }
        Err(error) if error.is_failure() => return Err(error.into()),
        Err(error) if error.code() == "other-version" => {
            panel.problem = "Somebody else has saved this name since you opened it. Nothing is \
                lost: when you save, both changes are shown side by side."
                .to_string();
        }
        Err(error) => panel.problem = format!("This cannot be saved: {error}."),
    }
    Ok(panel)
}

/// Whether an edit changes nothing.
pub(super) fn is_empty(edit: &Edit) -> bool {
    edit.remove.is_empty() && edit.put.is_empty() && edit.urls.is_none()
}
