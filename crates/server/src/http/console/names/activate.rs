//! `/console/activate`: activates a list of reserved names, all of them or none.
//!
//! The list comes from a person, who writes or pastes it, from names that were minted, or from the
//! list of names. The page shows each name before anything is done, and the form has exactly the
//! names that were shown.

use askama::Template;
use handfast_registry::{NameListPage, RegistryError, State};
use hyper::{Response, StatusCode};

use super::filters_in_url::UrlFilters;
use super::minted::MintedList;
use super::rows::NameRow;
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, Flash, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words::count;
use crate::http::response::Body;

/// How many names are activated at once.
const MAX_NAMES: usize = 500;

#[derive(Template)]
#[template(path = "console/activate.html")]
struct ActivatePage<'a> {
    frame: ConsoleFrame<'a>,
    /// What was typed: a name a line.
    typed: String,
    rows: Vec<NameRow>,
    problems: Vec<ActivationProblem>,
    /// How many names it is about, in words.
    number: String,
    is_preview: bool,
    /// The list of minted names to go back to.
    back: String,
    has_more: bool,
}

/// A name that cannot be activated.
struct ActivationProblem {
    id: String,
    text: String,
}

/// The names of a list, and what stands in the way of others.
#[derive(Default)]
struct Preview {
    typed: String,
    rows: Vec<NameRow>,
    problems: Vec<ActivationProblem>,
    back: String,
    has_more: bool,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let list = if let Some(minted) = MintedList::read(visit) {
        let mut filter = minted.filter();
        filter.state = Some(State::Reserved);
        Some((filter, format!("/console/mint/names{}", minted.query())))
    } else if visit.query("list").is_some() {
        let url = UrlFilters::read(visit);
        let mut filter = url.filter(&mut Vec::new());
        if let Some(by) = url.ways().first() {
            filter = url.search(&filter, *by).unwrap_or(filter);
        }
        filter.state = Some(State::Reserved);
        Some((filter, String::new()))
    } else {
        None
    };
    let Some((filter, back)) = list else {
        let done = visit.query("done").filter(|done| *done == "activated");
        let flash = done.map(|_| Flash {
            kind: "good",
            head: "Activated.".to_string(),
            text: "The names lead to their addresses from now on.".to_string(),
            undo: None,
        });
        return Ok(page(
            visit,
            StatusCode::OK,
            Preview::default(),
            Vec::new(),
            flash,
        ));
    };
    let NameListPage { names, next, .. } =
        visit
            .registry()
            .list_names(&visit.who(), &filter, None, MAX_NAMES)?;
    let ids: Vec<String> = names.into_iter().map(|name| name.id).collect();
    let mut preview = preview(visit, &ids)?;
    preview.back = back;
    preview.has_more = next.is_some();
    Ok(page(visit, StatusCode::OK, preview, Vec::new(), None))
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    if visit.field("do") != "activate" {
        let typed = visit.exact_field("names");
        let ids = ids_in(typed);
        let problem = match ids.len() {
            0 => "Write at least one name.".to_string(),
            number if number > MAX_NAMES => {
                format!("These are {number} names. Activate at most {MAX_NAMES} at once.")
            }
            _ => {
                let mut preview = preview(visit, &ids)?;
                preview.typed = typed.to_string();
                return Ok(page(visit, StatusCode::OK, preview, Vec::new(), None));
            }
        };
        let preview = Preview {
            typed: typed.to_string(),
            ..Preview::default()
        };
        let errors = vec![FieldError::new("names", problem)];
        return Ok(page(visit, invalid, preview, errors, None));
    }
    let ids: Vec<String> = visit.fields("name").map(str::to_string).collect();
    if ids.len() > MAX_NAMES {
        let text = format!("Activate at most {MAX_NAMES} names at once.");
        return Err(PageError::new(invalid, "too-many", text));
    }
    match visit.registry().activate_names(&visit.who(), &ids) {
        Ok(_) => {
            let back = visit.field("back");
            let place = if back.starts_with("/console/mint/names?") {
                format!("{back}&done=activated")
            } else {
                "/console/activate?done=activated".to_string()
            };
            Ok(see(&place))
        }
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) => {
            let text = format!("Nothing was activated: {error}.");
            let mut preview = preview(visit, &ids)?;
            preview.typed = ids.join("\n");
            let errors = vec![FieldError::new("", text)];
            Ok(page(visit, invalid, preview, errors, None))
        }
    }
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    preview: Preview,
    errors: Vec<FieldError>,
    flash: Option<Flash>,
) -> Response<Body> {
    let crumbs = [
        Crumb::new("Names", "/console/names"),
        Crumb::new("Activate", ""),
    ];
    let example = preview.rows.first().map_or("ID", |row| row.id.as_str());
    let encoded = preview.rows.first().map_or("ID", |row| {
        row.path.strip_prefix("/console/names/").unwrap_or("ID")
    });
    let same = [
        format!("handfast name activate {example}"),
        curl(visit, "POST", &format!("/names/{encoded}/activate")),
    ];
    let number = u64::try_from(preview.rows.len()).unwrap_or_default();
    let page = ActivatePage {
        frame: ConsoleFrame::new(visit, "Activate names", MenuItem::Names)
            .crumbs(crumbs)
            .errors(errors)
            .flash(flash)
            .same(same),
        number: count(number, "name", "names"),
        is_preview: !preview.rows.is_empty() || !preview.problems.is_empty(),
        typed: preview.typed,
        rows: preview.rows,
        problems: preview.problems,
        back: preview.back,
        has_more: preview.has_more,
    };
    page.frame.respond(status, &page)
}

fn preview(visit: &Visit<'_>, ids: &[String]) -> Result<Preview, RegistryError> {
    let mut preview = Preview::default();
    let checked = visit.registry().check_activation(&visit.who(), ids)?;
    for (id, checked) in ids.iter().zip(checked) {
        match checked {
            Ok(name) if preview.rows.iter().any(|row| row.id == name.id) => {}
            Ok(name) => preview.rows.push(name.into()),
            Err(error) if error.is_failure() => return Err(error),
            Err(error) => preview.problems.push(ActivationProblem {
                id: id.clone(),
                text: error.to_string(),
            }),
        }
    }
    Ok(preview)
}

/// The names in a text: the first field of each line, without the header of a table.
fn ids_in(text: &str) -> Vec<String> {
    let first = |line: &str| {
        let line = line.trim();
        let quoted = line
            .strip_prefix('"')
            .and_then(|rest| rest.split('"').next());
        let field = quoted.or_else(|| line.split([',', ';', '\t']).next());
        field.unwrap_or_default().trim().to_string()
    };
    let ids = text.lines().map(first);
    ids.filter(|id| !id.is_empty() && id != "id").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_table_is_a_list_of_its_first_column() {
        let rows = "20.1/a,https://id.example/20.1/a,\"A, b\"\r\n\n \"20.1/b, c\",x\n20.1/d\n";
        let text = &format!("id,link,title\n{rows}");
        assert_eq!(ids_in(text), ["20.1/a", "20.1/b, c", "20.1/d"]);
        assert!(ids_in(" \n").is_empty());
    }
}
