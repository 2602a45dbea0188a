//! `/console/mint/names`: the names that were minted, found again by their events.

use askama::Template;
use handfast_registry::NameFilter;
use hyper::{Response, StatusCode};

use super::csv;
use super::rows::NameRow;
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, Flash, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words::count;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

/// How many names a page shows: as many as are minted at once.
const PAGE_SIZE: usize = 500;

#[derive(Template)]
#[template(path = "console/minted.html")]
struct MintedPage<'a> {
    frame: ConsoleFrame<'a>,
    rows: Vec<NameRow>,
    authority: String,
    csv: String,
    activate: Option<String>,
    next: Option<String>,
    looked_at: u64,
    is_complete: bool,
}

/// The names that were minted under an authority by the events between two numbers.
pub(super) struct MintedList {
    pub(super) authority: String,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl MintedList {
    pub(super) fn read(visit: &Visit<'_>) -> Option<Self> {
        let number = |name| visit.query(name)?.parse::<u64>().ok();
        Some(Self {
            authority: visit.query("authority")?.to_string(),
            first: number("first")?,
            last: number("last")?,
        })
    }

    pub(super) fn filter(&self) -> NameFilter {
        NameFilter {
            authority: Some(self.authority.clone()),
            created_by: Some((self.first, self.last)),
            ..NameFilter::default()
        }
    }

    pub(super) fn query(&self) -> String {
        let authority = encode(&self.authority, COMPONENT);
        let Self { first, last, .. } = self;
        format!("?authority={authority}&first={first}&last={last}")
    }
}

fn read(visit: &Visit<'_>) -> Result<MintedList, PageError> {
    let none = || PageError::not_found("This list of minted names is not known.");
    MintedList::read(visit).ok_or_else(none)
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let list = read(visit)?;
    let after = visit.query("after");
    let found = visit
        .registry()
        .list_names(&visit.who(), &list.filter(), after, PAGE_SIZE)?;
    let query = list.query();
    let rows: Vec<_> = found.names.into_iter().map(NameRow::from).collect();
    let is_reserved = rows.iter().any(|row| row.state == "reserved");
    let made = count(
        u64::try_from(rows.len()).unwrap_or_default(),
        "name",
        "names",
    );
    let (head, text) = match visit.query("done") {
        Some("reserved") => (
            "Reserved.",
            "Nobody else can have them. Hand the list over as CSV, and activate the names when \
             they are published.",
        ),
        Some("minted") if is_reserved => (
            "Minted.",
            "They are reserved until a lead of the authority activates them.",
        ),
        Some("minted") => ("Minted.", "They are active from now on."),
        Some("activated") => (
            "Activated.",
            "The names lead to their addresses from now on.",
        ),
        _ => ("", ""),
    };
    let flash = Some(text)
        .filter(|text| !text.is_empty())
        .map(|text| Flash {
            kind: "good",
            head: head.to_string(),
            text: format!("{made}. {text}"),
            undo: None,
        });
    let crumbs = [
        Crumb::new("Names", "/console/names"),
        Crumb::new("Mint", "/console/mint"),
        Crumb::new("Minted names", ""),
    ];
    let authority = encode(&list.authority, COMPONENT);
    let same = [
        format!("handfast name list --authority {}", list.authority),
        curl(visit, "GET", &format!("/names?authority={authority}")),
    ];
    let page = MintedPage {
        frame: ConsoleFrame::new(visit, "Minted names", MenuItem::Names)
            .crumbs(crumbs)
            .flash(flash)
            .same(same),
        csv: format!("/console/mint/names.csv{query}"),
        activate: is_reserved.then(|| format!("/console/activate{query}")),
        next: found.next.map(|next| {
            let next = encode(&next, COMPONENT);
            format!("/console/mint/names{query}&after={next}")
        }),
        looked_at: found.looked_at,
        is_complete: found.is_complete,
        authority: list.authority,
        rows,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

pub(super) fn download(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    csv::table(visit, read(visit)?.filter(), "minted-names.csv")
}
