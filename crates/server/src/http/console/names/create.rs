//! `/console/names/new`: create a name, or reserve it.

use askama::Template;
use handfast_registry::{NewName, RegistryError, Shown, State};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::authority_choice::AuthorityChoices;
use super::create_form::{NewNameForm, field_of};
use super::one_name::{options, quoted};
use super::rows::name_path;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::{message, sentence};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/name_new.html")]
struct NewNamePage<'a> {
    frame: ConsoleFrame<'a>,
    authorities: AuthorityChoices,
    form: NewNameForm,
    /// The page of the name that is in the way.
    taken: Option<String>,
}

#[derive(Template)]
#[template(path = "console/name_check.html")]
struct NameCheckPage<'a> {
    frame: ConsoleFrame<'a>,
    check: Option<NameCheck>,
}

/// What is to be said about a name while it is typed.
struct NameCheck {
    /// The name as it would be registered.
    id: String,
    /// What is wrong; empty if it is free.
    problem: String,
    /// The page of the name that is in the way.
    taken: Option<String>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let text = |name| visit.query(name).unwrap_or_default().to_string();
    let form = NewNameForm {
        authority: text("authority"),
        name: text("name"),
        ..NewNameForm::default()
    };
    page(visit, StatusCode::OK, form, Vec::new(), None)
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    form: NewNameForm,
    errors: Vec<FieldError>,
    taken: Option<String>,
) -> Result<Response<Body>, PageError> {
    let authorities = AuthorityChoices::read(visit, &form.authority)?;
    let crumbs = [
        Crumb::new("Names", "/console/names"),
        Crumb::new("New name", ""),
    ];
    let page = NewNamePage {
        frame: ConsoleFrame::new(visit, "New name", MenuItem::Names)
            .crumbs(crumbs)
            .errors(errors)
            .same(same(visit, &authorities.chosen, &form)),
        authorities,
        form: form.with_rows(),
        taken,
    };
    Ok(page.frame.respond(status, &page))
}

/// What the form says about the name that is being typed.
pub(super) fn check(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let text = |name| visit.query(name).unwrap_or_default();
    let (authority, name) = (text("authority"), text("name"));
    let check = if name.is_empty() || authority.is_empty() {
        None
    } else {
        Some(match checked(visit, authority, name, &NewName::default()) {
            Ok(shown) => NameCheck {
                id: shown.record.text,
                problem: String::new(),
                taken: None,
            },
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(error) => {
                let (problem, taken) = words_of(visit, &error);
                let id = String::new();
                NameCheck { id, problem, taken }
            }
        })
    };
    let page = NameCheckPage {
        frame: ConsoleFrame::new(visit, "Check of a name", MenuItem::Names),
        check,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

pub(super) fn create(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let mut form = NewNameForm::read(visit);
    if form.arrange(visit.field("do")) {
        return page(visit, StatusCode::OK, form, Vec::new(), None);
    }
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let (new, mut errors) = form.new_name();
    if form.authority.is_empty() {
        errors.insert(0, FieldError::new("authority", "Choose an authority."));
    } else if form.name.is_empty() {
        errors.insert(0, FieldError::new("name", "Write the local name."));
    }
    let mut taken = None;
    if errors.is_empty() {
        let id = id_of(visit, &form.authority, &form.name);
        let created = id.and_then(|id| visit.registry().create_name(&visit.who(), &id, new));
        match created {
            Ok(shown) => {
                let done = match shown.record.state {
                    State::Reserved => "reserved",
                    _ => "created",
                };
                let (path, event) = (name_path(&shown.record.text), shown.record.first_event);
                return Ok(see(&format!("{path}?done={done}&event={event}")));
            }
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(error) => {
                let field = field_of(&error);
                let (problem, other) = words_of(visit, &error);
                errors.push(FieldError::new(field, problem));
                taken = other;
            }
        }
    } else if !form.name.is_empty() && !form.authority.is_empty() {
        // Everything that is wrong is said at once.
        if let Err(error) = checked(visit, &form.authority, &form.name, &NewName::default()) {
            let (problem, other) = words_of(visit, &error);
            errors.insert(0, FieldError::new(field_of(&error), problem));
            taken = other;
        }
    }
    page(visit, invalid, form, errors, taken)
}

/// The name that an authority and a local name make. A whole name under the authority is taken as
/// it is.
fn id_of(visit: &Visit<'_>, authority: &str, local: &str) -> Result<String, RegistryError> {
    let path = visit.registry().authority(&visit.who(), authority)?.path;
    let start = path.name("");
    let beginning = local.get(..start.len());
    let is_whole = beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(&start));
    Ok(if is_whole {
        local.to_string()
    } else {
        path.name(local)
    })
}

fn checked(
    visit: &Visit<'_>,
    authority: &str,
    local: &str,
    new: &NewName,
) -> Result<Shown, RegistryError> {
    let id = id_of(visit, authority, local)?;
    visit.registry().check_new_name(&visit.who(), &id, new)
}

/// An error in words for this page, and the page of the name that is in the way, if the person may
/// see it.
fn words_of(visit: &Visit<'_>, error: &RegistryError) -> (String, Option<String>) {
    match error {
        RegistryError::Exists { id, .. } => {
            if let Ok(shown) = visit.registry().show(&visit.who(), id) {
                let (id, state) = (shown.record.text, shown.record.state.as_str());
                let text = format!("{id} is taken: it is {state}. Choose another name.");
                return (text, Some(name_path(&id)));
            }
            let text = format!(
                "{id} was assigned before and can never be assigned again. Choose another name."
            );
            (text, None)
        }
        RegistryError::Identifier { source, .. } => (
            sentence(&format!("{source}. {}", sentence(source.remedy()))),
            None,
        ),
        RegistryError::Denied { needs, authority } => {
            let text = format!(
                "You may not create names under {authority}: the role {needs} is missing. Ask a \
                 lead of {authority}."
            );
            (text, None)
        }
        error => (message(error), None),
    }
}

/// The same by command.
fn same(visit: &Visit<'_>, authority: &str, form: &NewNameForm) -> Vec<String> {
    let authority = if authority.is_empty() {
        "PREFIX"
    } else {
        authority
    };
    let found = visit.registry().authority(&visit.who(), authority);
    let is_cordra = found.is_ok_and(|authority| authority.policy.cordra);
    let local = match form.name.as_str() {
        "" if is_cordra => "0123456789abcdef0123456789abcdef",
        "" => "NAME",
        name => name,
    };
    let id = id_of(visit, authority, local).unwrap_or_else(|_| format!("{authority}/{local}"));
    let urls = form.urls.iter().filter(|url| !url.is_empty());
    let mut urls: Vec<_> = urls.map(String::as_str).collect();
    if urls.is_empty() {
        urls.push("https://example.org/");
    }
    let options = options(urls.iter().map(|url| ("url", *url)));
    let reserve = if form.is_reserved { " --reserve" } else { "" };
    let mut body = json!({ "id": id, "urls": urls });
    if let Some(body) = body.as_object_mut().filter(|_| form.is_reserved) {
        body.insert("state".to_string(), json!("reserved"));
    }
    vec![
        format!("handfast name create {}{options}{reserve}", quoted(&id)),
        format!(
            "curl -H \"Authorization: Bearer $HANDFAST_TOKEN\" --json {} {}/api/v1/names",
            quoted(&body.to_string()),
            visit.base
        ),
    ]
}
