//! `/console/names`: the list of names.
//!
//! The filters stand in the URL. A search that is an identifier in any spelling leads straight to
//! its name. The work for one page is bounded: a page that the registry could not complete says how
//! many names it has looked through, and where to go on.

use askama::Template;
use handfast_registry::{NameFacets, NameFilter, NameListPage, RegistryError, State};
use hyper::header::HeaderName;
use hyper::{Response, StatusCode};

use super::filters_in_url::{Chip, SearchBy, UrlFilters};
use super::rows::{NameRow, name_path};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words::{count, number};
use crate::http::percent::{COMPONENT, decode, encode};
use crate::http::response::Body;

/// How many names a page shows.
const PAGE_SIZE: usize = 50;
/// How many authorities can be chosen on the page.
const MAX_AUTHORITIES: usize = 12;

#[derive(Template)]
#[template(path = "console/names.html")]
struct NamesPage<'a> {
    frame: ConsoleFrame<'a>,
    url: UrlFilters,
    /// The name that the search names.
    hit: Option<NameRow>,
    /// Names that are spelled almost like the search.
    near: Vec<NearRow>,
    rows: Vec<NameRow>,
    chips: Vec<Chip>,
    states: Vec<StateFacet>,
    authorities: Vec<AuthorityRow>,
    has_more_authorities: bool,
    /// How many there are, in words.
    summary: String,
    /// What was counted up to, if events were added since.
    as_of_event: Option<u64>,
    next: Option<String>,
    first: Option<String>,
    looked_at: u64,
    is_complete: bool,
    csv: String,
    /// A page on which the reserved names of this list are activated.
    activate: Option<String>,
    may_create: bool,
    /// How many authorities the person may list.
    all_authorities: u64,
}

struct StateFacet {
    value: &'static str,
    word: &'static str,
    is_chosen: bool,
    count: Option<u64>,
}

struct AuthorityRow {
    value: String,
    title: String,
    is_chosen: bool,
    count: Option<u64>,
}

struct NearRow {
    id: String,
    path: String,
    title: Option<String>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let url = UrlFilters::read(visit);
    let after = visit.query("after");
    let (who, registry) = (visit.who(), visit.registry());
    let named = named(visit, &url);
    if let Some(hit) = named
        .as_ref()
        .filter(|_| url.by.is_none() && !is_live(visit))
    {
        return Ok(see(&hit.path));
    }
    let mut errors = Vec::new();
    let filter = url.filter(&mut errors);
    let (found, by, facets) = if url.q.is_empty() {
        let facets = registry.name_facets(&who, &filter, MAX_AUTHORITIES)?;
        let found = if is_known_empty(&facets, url.state) {
            nothing()
        } else {
            registry.list_names(&who, &filter, after, PAGE_SIZE)?
        };
        (found, None, facets)
    } else {
        let (found, by) = found(visit, &url, &filter, after, &mut errors)?;
        let searched = by.and_then(|by| url.search(&filter, by).ok());
        let searched = searched.as_ref().unwrap_or(&filter);
        (
            found,
            by,
            registry.name_facets(&who, searched, MAX_AUTHORITIES)?,
        )
    };
    let chosen = chosen_authority(visit, &url)?;
    let is_empty = found.names.is_empty() && after.is_none() && found.next.is_none();
    let near = match (&named, by) {
        (None, Some(_)) if is_empty => near(visit, &url.q),
        _ => Vec::new(),
    };
    let next = found.next.as_deref().map(|next| {
        let by = UrlFilters { by, ..url.clone() };
        format!("/console/names{}", by.query(&[("after", next)]))
    });
    let summary = summary(&url, &facets, &found, after.is_some());
    let may_create = !registry.writable_authorities(&who, 1)?.is_empty();
    let reserved = url.state == Some(State::Reserved) && !found.names.is_empty() && may_create;
    let own = UrlFilters { by, ..url.clone() };
    let mut frame = ConsoleFrame::new(visit, "Names", MenuItem::Names)
        .errors(errors)
        .same(same(visit, &url));
    frame.find.clone_from(&url.q);
    let page = NamesPage {
        hit: named,
        near,
        chips: url.chips(&chosen),
        states: states(&url, &facets),
        has_more_authorities: facets.all_authorities > count_of(&facets.authorities),
        all_authorities: facets.all_authorities,
        authorities: authorities(&url, &facets, &chosen),
        summary,
        as_of_event: facets
            .states
            .filter(|_| !facets.is_current)
            .map(|_| facets.as_of_event),
        next,
        first: after.map(|_| url.path()),
        looked_at: found.looked_at,
        is_complete: found.is_complete,
        csv: format!("/console/names.csv{}", own.query(&[])),
        activate: reserved.then(|| format!("/console/activate{}", own.query(&[("list", "1")]))),
        may_create,
        rows: found.names.into_iter().map(NameRow::from).collect(),
        url,
        frame,
    };
    let status = if page.frame.errors.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    Ok(page.frame.respond(status, &page))
}

/// Lists names by the first reading of the search that finds any.
fn found(
    visit: &Visit<'_>,
    url: &UrlFilters,
    filter: &NameFilter,
    after: Option<&str>,
    errors: &mut Vec<FieldError>,
) -> Result<(NameListPage, Option<SearchBy>), PageError> {
    let (who, registry) = (visit.who(), visit.registry());
    let list = |filter: &NameFilter| registry.list_names(&who, filter, after, PAGE_SIZE);
    let mut best = None;
    for by in url.ways() {
        match url.search(filter, by) {
            Ok(searched) => {
                let page = list(&searched)?;
                let is_found = !page.names.is_empty() || page.next.is_some();
                best = Some((page, Some(by)));
                if is_found {
                    break;
                }
            }
            Err(error) if best.is_none() => errors.push(error),
            Err(_) => {}
        }
    }
    Ok(best.unwrap_or_else(|| (nothing(), None)))
}

/// Whether the counts tell that there is nothing to look for.
fn is_known_empty(facets: &NameFacets, state: Option<State>) -> bool {
    let counts = facets.states.filter(|_| facets.is_current);
    counts.is_some_and(|counts| state.map_or(counts.total(), |state| counts.of(state)) == 0)
}

fn nothing() -> NameListPage {
    NameListPage {
        is_complete: true,
        ..NameListPage::default()
    }
}

/// The name that the search names, in any spelling, if the person may see it.
fn named(visit: &Visit<'_>, url: &UrlFilters) -> Option<NameRow> {
    if url.q.is_empty() {
        return None;
    }
    let show = |id: &str| visit.registry().show(&visit.who(), id).ok();
    let behind_host = || {
        let path = url.q.strip_prefix(&visit.base)?.strip_prefix('/')?;
        let path = path.split(['?', '#']).next()?;
        show(&decode(path)?)
    };
    let shown = behind_host().or_else(|| show(&url.q))?;
    Some(NameRow {
        path: name_path(&shown.record.text),
        id: shown.record.text,
        title: None,
        leads_to: String::new(),
        state: shown.record.state.as_str(),
        changed: String::new(),
        changed_day: String::new(),
    })
}

/// Whether the script of a page asks, while a person types: then nothing may lead away.
fn is_live(visit: &Visit<'_>) -> bool {
    let headers = &visit.request.head.headers;
    headers
        .get(FETCH_DESTINATION)
        .is_some_and(|destination| destination == "empty")
}

fn near(visit: &Visit<'_>, id: &str) -> Vec<NearRow> {
    let near = visit.registry().near_names(id).unwrap_or_default();
    let row = |near: handfast_registry::NearName| NearRow {
        path: name_path(&near.id),
        id: near.id,
        title: near.title,
    };
    near.into_iter().map(row).collect()
}

/// The title of the chosen authority.
fn chosen_authority(visit: &Visit<'_>, url: &UrlFilters) -> Result<String, RegistryError> {
    if url.authority.is_empty() {
        return Ok(String::new());
    }
    let authority = visit.registry().authority(&visit.who(), &url.authority)?;
    Ok(if authority.title.is_empty() {
        authority.path.to_string()
    } else {
        authority.title
    })
}

fn states(url: &UrlFilters, facets: &NameFacets) -> Vec<StateFacet> {
    let counts = facets.states;
    let mut all = vec![StateFacet {
        value: "",
        word: "Any state",
        is_chosen: url.state.is_none(),
        count: counts.map(|counts| counts.total()),
    }];
    let words = [
        (State::Active, "Active"),
        (State::Reserved, "Reserved"),
        (State::Withdrawn, "Withdrawn"),
    ];
    all.extend(words.map(|(state, word)| StateFacet {
        value: state.as_str(),
        word,
        is_chosen: url.state == Some(state),
        count: counts.map(|counts| counts.of(state)),
    }));
    all
}

fn authorities(url: &UrlFilters, facets: &NameFacets, chosen: &str) -> Vec<AuthorityRow> {
    let row = |facet: &handfast_registry::AuthorityFacet| AuthorityRow {
        is_chosen: facet.path.to_string().eq_ignore_ascii_case(&url.authority),
        title: if facet.title.is_empty() {
            facet.path.to_string()
        } else {
            facet.title.clone()
        },
        value: facet.path.to_string(),
        count: facet.count,
    };
    let mut rows: Vec<_> = facets.authorities.iter().map(row).collect();
    if !url.authority.is_empty() && !rows.iter().any(|row| row.is_chosen) {
        rows.push(AuthorityRow {
            value: url.authority.clone(),
            title: chosen.to_string(),
            is_chosen: true,
            count: None,
        });
    }
    rows
}

/// How many names the list has. Only a number that is exact is given as one.
fn summary(
    url: &UrlFilters,
    facets: &NameFacets,
    found: &NameListPage,
    is_continued: bool,
) -> String {
    let shown = count_of(&found.names);
    let exact = match facets.states {
        Some(states) => Some(url.state.map_or(states.total(), |state| states.of(state))),
        None if found.next.is_none() && !is_continued => Some(shown),
        None => None,
    };
    match exact {
        Some(exact) => count(exact, "name", "names"),
        None if found.next.is_some() => format!("{} here, and more may follow", number(shown)),
        None => format!("{} here, on the last page", number(shown)),
    }
}

fn count_of<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// Commands that come closest to this list.
fn same(visit: &Visit<'_>, url: &UrlFilters) -> Vec<String> {
    let curl = |path: String| curl(visit, "GET", &format!("/{path}"));
    let value = |text: &str| encode(text, COMPONENT);
    let mut lines = Vec::new();
    if !url.authority.is_empty() {
        let (command, query) = with_filters(url);
        lines.push(format!(
            "handfast name list --authority {}{command}",
            url.authority
        ));
        lines.push(curl(format!(
            "names?authority={}{query}",
            value(&url.authority)
        )));
    }
    let by = url.ways().first().copied();
    match by.filter(|by| lines.is_empty() || *by != SearchBy::Words) {
        Some(SearchBy::Prefix) => lines.push(curl(format!("search?prefix={}", value(&url.q)))),
        Some(SearchBy::Url) => lines.push(curl(format!("search?url={}", value(&url.q)))),
        Some(SearchBy::Words) => lines.push(curl(format!("search?q={}", value(&url.q)))),
        None => {}
    }
    if lines.is_empty() {
        lines.push("handfast export --format csv".to_string());
        lines.push(curl("export?format=csv".to_string()));
    }
    lines
}

/// The filters of a list as options of the command, and as parameters of the API.
fn with_filters(url: &UrlFilters) -> (String, String) {
    let (mut command, mut query) = (String::new(), String::new());
    if url.with_children {
        command.push_str(" --children");
        query.push_str("&children=true");
    }
    let since = format!("{}T00:00:00Z", url.since);
    let words = url.q.replace('\'', " ");
    let is_words = url.ways().first() == Some(&SearchBy::Words);
    let options = [
        ("state", "state", url.state.map_or("", State::as_str)),
        (
            "changed-since",
            "changed-since",
            if url.since.is_empty() { "" } else { &since },
        ),
        ("words", "q", if is_words { &words } else { "" }),
    ];
    for (option, parameter, text) in options.into_iter().filter(|(_, _, text)| !text.is_empty()) {
        command.extend([" --", option, " '", text, "'"]);
        query.extend(["&", parameter, "=", &encode(text, COMPONENT)]);
    }
    (command, query)
}

const FETCH_DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
