//! `/console/mint`: many names at once, which the server chooses.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use askama::Template;
use handfast_registry::{MintOptions, Minted, RegistryError, Style, url_problem};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::authority_choice::AuthorityChoices;
use super::one_name::{options, quoted};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

/// How many names are minted at once: the registry makes them in one change, so their events
/// follow each other, and the list can be found again by them.
const MAX_COUNT: u64 = 500;
/// How many examples are shown.
const EXAMPLES: u64 = 3;
/// How many forms that were sent are remembered.
const MAX_SENT: usize = 1_000;

#[derive(Template)]
#[template(path = "console/mint.html")]
struct MintPage<'a> {
    frame: ConsoleFrame<'a>,
    authorities: AuthorityChoices,
    form: MintForm,
    examples: Examples,
}

#[derive(Template)]
#[template(path = "console/mint_example.html")]
struct MintExamplePage<'a> {
    frame: ConsoleFrame<'a>,
    examples: Examples,
}

/// Names as they would be made, or why not.
#[derive(Default)]
struct Examples {
    names: Vec<Minted>,
    problem: String,
    is_sequence: bool,
}

/// What was typed.
struct MintForm {
    authority: String,
    count: String,
    style: String,
    length: String,
    start: String,
    width: String,
    /// One URL a line.
    urls: String,
    is_reserved: bool,
    /// Tells a form that is sent twice from another one.
    once: String,
}

impl MintForm {
    /// From a form or from a query, by a function that reads a field.
    fn read<'v>(visit: &Visit<'_>, field: impl Fn(&str) -> &'v str) -> Self {
        let or = |name: &str, usual: &str| match field(name) {
            "" => usual.to_string(),
            text => text.to_string(),
        };
        Self {
            authority: or("authority", ""),
            count: or("count", "10"),
            style: or("style", "usual"),
            length: or("length", "9"),
            start: or("start", ""),
            width: or("width", "4"),
            urls: or("urls", ""),
            is_reserved: field("state") == "reserved",
            once: or("once", &visit.nonce),
        }
    }

    fn urls(&self) -> Vec<String> {
        let lines = self.urls.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_string)
            .collect()
    }

    /// What the registry gets: how many names, and which.
    fn options(&self) -> Result<(u64, MintOptions), Vec<FieldError>> {
        let mut errors = Vec::new();
        let count = self.count.parse::<u64>().unwrap_or_default();
        if !(1..=MAX_COUNT).contains(&count) {
            let text = format!("Write how many names to make: 1 to {MAX_COUNT}.");
            errors.push(FieldError::new("count", text));
        }
        let written = match self.style.as_str() {
            "random" => Some(format!("random:{}", self.length)),
            "sequence" => Some(format!("sequence:{}:{}", self.start, self.width)),
            "usual" => None,
            other => Some(other.to_string()),
        };
        let style = written.map(|style| style.parse::<Style>()).transpose();
        if style.is_err() {
            let (field, text) = match self.style.as_str() {
                "random" => ("length", "Write a length of 4 to 64."),
                "sequence" => ("width", "Write a number of digits from 1 to 20."),
                _ => ("style", "Choose how the names look."),
            };
            errors.push(FieldError::new(field, text));
        }
        let urls = self.urls();
        for (line, url) in (1..).zip(&urls) {
            if let Some(problem) = url_problem(&url.replace("{name}", "name")) {
                errors.push(FieldError::new("urls", format!("Line {line}: {problem}.")));
            }
        }
        match style {
            Ok(style) if errors.is_empty() => Ok((
                count,
                MintOptions {
                    style,
                    urls,
                    reserve: self.is_reserved,
                },
            )),
            _ => Err(errors),
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let form = MintForm::read(visit, |name| visit.query(name).unwrap_or_default());
    page(visit, StatusCode::OK, form, Vec::new())
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    form: MintForm,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let authorities = AuthorityChoices::read(visit, &form.authority)?;
    let examples = examples(visit, &authorities.chosen, &form)?;
    let crumbs = [
        Crumb::new("Names", "/console/names"),
        Crumb::new("Mint", ""),
    ];
    let page = MintPage {
        frame: ConsoleFrame::new(visit, "Mint names", MenuItem::Names)
            .crumbs(crumbs)
            .errors(errors)
            .same(same(visit, &authorities.chosen, &form)),
        authorities,
        form,
        examples,
    };
    Ok(page.frame.respond(status, &page))
}

/// The part of the page with examples, for what is being typed.
pub(super) fn example(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let form = MintForm::read(visit, |name| visit.query(name).unwrap_or_default());
    let page = MintExamplePage {
        examples: examples(visit, &form.authority, &form)?,
        frame: ConsoleFrame::new(visit, "Names as they would be minted", MenuItem::Names),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

fn examples(
    visit: &Visit<'_>,
    authority: &str,
    form: &MintForm,
) -> Result<Examples, RegistryError> {
    if authority.is_empty() {
        return Ok(Examples::default());
    }
    let problem = |problem: String| Examples {
        problem,
        ..Examples::default()
    };
    let options = match form.options() {
        Ok((_, options)) => options,
        Err(mut errors) => {
            errors.truncate(1);
            let text = errors.pop().map(|error| error.text);
            return Ok(problem(text.unwrap_or_default()));
        }
    };
    let is_sequence = matches!(options.style, Some(Style::Sequence { .. }));
    let names = visit
        .registry()
        .mint_examples(&visit.who(), authority, &options, EXAMPLES);
    match names {
        Ok(names) => Ok(Examples {
            names,
            is_sequence,
            ..Examples::default()
        }),
        Err(error) if error.is_failure() => Err(error),
        Err(error) => Ok(problem(message(&error))),
    }
}

pub(super) fn mint(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let form = MintForm::read(visit, |name| visit.field(name));
    if visit.field("do") == "example" {
        return page(visit, StatusCode::OK, form, Vec::new());
    }
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let (count, options) = match form.options() {
        Ok(read) => read,
        Err(errors) => return page(visit, invalid, form, errors),
    };
    let key = format!("{} {}", visit.person()?.session.account, form.once);
    // One at a time, so that a form that is sent twice finds what it has done.
    let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, place)) = sent.iter().find(|(found, _)| *found == key) {
        return Ok(see(place));
    }
    let mut events: Option<(u64, u64)> = None;
    let made = |minted: Minted| {
        let first = events.map_or(minted.event, |(first, _)| first);
        events = Some((first, minted.event));
        Ok(())
    };
    let minted = visit
        .registry()
        .mint(&visit.who(), &form.authority, &options, count, made);
    match (minted, events) {
        (Ok(()), Some((first, last))) => {
            let done = if form.is_reserved {
                "reserved"
            } else {
                "minted"
            };
            let authority = encode(&form.authority, COMPONENT);
            let place = format!(
                "/console/mint/names?authority={authority}&first={first}&last={last}&done={done}"
            );
            if sent.len() == MAX_SENT {
                sent.pop_front();
            }
            sent.push_back((key, place.clone()));
            Ok(see(&place))
        }
        (Err(error), _) if error.is_failure() => Err(error.into()),
        (Err(error), _) => {
            drop(sent);
            let field = match &error {
                RegistryError::Denied { .. }
                | RegistryError::NoAuthority(_)
                | RegistryError::Retired(_) => "authority",
                RegistryError::Quota { .. } => "count",
                RegistryError::Value { .. } => "urls",
                _ => "style",
            };
            let errors = vec![FieldError::new(field, message(&error))];
            page(visit, invalid, form, errors)
        }
        (Ok(()), None) => Err(PageError::not_found("No name was made.")),
    }
}

/// Forms that were sent, and where they have led.
static SENT: Mutex<VecDeque<(String, String)>> = Mutex::new(VecDeque::new());

fn same(visit: &Visit<'_>, authority: &str, form: &MintForm) -> Vec<String> {
    let authority = if authority.is_empty() {
        "PREFIX"
    } else {
        authority
    };
    let style = match form.style.as_str() {
        "random" => format!("random:{}", form.length),
        "sequence" => format!("sequence:{}:{}", form.start, form.width),
        "usual" => String::new(),
        other => other.to_string(),
    };
    let urls = form.urls();
    let options = options(urls.iter().map(|url| ("url", url.as_str())));
    let reserve = if form.is_reserved { " --reserve" } else { "" };
    let count = &form.count;
    let number = count.parse::<u64>().unwrap_or(1);
    let mut body = json!({ "authority": authority, "count": number });
    if let Some(body) = body.as_object_mut() {
        if !style.is_empty() {
            body.insert("style".to_string(), json!(style));
        }
        if !urls.is_empty() {
            body.insert("urls".to_string(), json!(urls));
        }
        if form.is_reserved {
            body.insert("reserve".to_string(), json!(true));
        }
    }
    let style = match style.as_str() {
        "" => String::new(),
        style => format!(" --style {}", quoted(style)),
    };
    vec![
        format!(
            "handfast mint --authority {} --count {}{style}{options}{reserve}",
            quoted(authority),
            quoted(count)
        ),
        format!(
            "curl -H \"Authorization: Bearer $HANDFAST_TOKEN\" --json {} {}/api/v1/mint",
            quoted(&body.to_string()),
            visit.base
        ),
    ]
}
