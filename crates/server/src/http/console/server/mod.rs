//! The server itself, for administrators: health, store, log, certificate, backup, settings, and
//! the audit of sign-ins.

mod checks;
mod sign_ins;

use askama::Template;
use hyper::{Response, StatusCode};

use self::checks::{ShownCheck, checks};
use super::error_page::PageError;
use super::frame::{ConsoleFrame, MenuItem};
use super::page_table::{PageRoute, page};
use super::visit::Visit;
use crate::http::pages::{filters, words};
use crate::http::response::Body;
use crate::http::{Part, ShownSetting};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/server", show),
    page("/server/sign-ins", sign_ins::show),
];

#[derive(Template)]
#[template(path = "console/server.html")]
struct ServerPage<'a> {
    frame: ConsoleFrame<'a>,
    running_for: String,
    troubles: u64,
    figures: Vec<(String, &'static str)>,
    checks: Vec<ShownCheck>,
    settings: &'a [ShownSetting],
    version: &'static str,
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    need_administrator(visit)?;
    let mut checks = checks(visit);
    // The troubled ones first.
    checks.sort_by_key(|check| !check.is_trouble);
    let troubles = checks.iter().filter(|check| check.is_trouble).count();
    let same = [
        "handfast check".to_string(),
        "handfast serve --print-config".to_string(),
        format!("curl {}/readyz", visit.base),
    ];
    let page = ServerPage {
        frame: ConsoleFrame::new(visit, "Server", MenuItem::Server).same(same),
        running_for: running_for(visit.now.saturating_sub(visit.web.started)),
        troubles: u64::try_from(troubles).unwrap_or(0),
        figures: figures(visit)?,
        checks,
        settings: &visit.web.configuration,
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// Only administrators see what the server is made of.
fn need_administrator(visit: &Visit<'_>) -> Result<(), PageError> {
    if visit.registry().is_administrator(&visit.who())? {
        return Ok(());
    }
    let text = "You may not see this page: it is for administrators of this server. Ask one of \
                them.";
    Err(PageError::new(StatusCode::FORBIDDEN, "operator-only", text))
}

fn figures(visit: &Visit<'_>) -> Result<Vec<(String, &'static str)>, PageError> {
    let statistics = visit.registry().statistics()?;
    let meters = &visit.web.meters;
    let requests = Part::ALL.into_iter().map(|part| meters.requests(part));
    let (mut all, mut failed) = (0_u64, 0_u64);
    for counts in requests {
        all = counts
            .iter()
            .fold(all, |sum, count| sum.saturating_add(*count));
        failed = failed.saturating_add(counts.last().copied().unwrap_or(0));
    }
    Ok(vec![
        (words::number(statistics.names), "names"),
        (words::number(statistics.events), "events"),
        (words::number(all), "web requests since the start"),
        (words::number(failed), "of them failed in the server"),
    ])
}

fn running_for(milliseconds: u64) -> String {
    match milliseconds / 3_600_000 {
        0 if milliseconds < 60_000 => "less than a minute".to_string(),
        0 => words::count(milliseconds / 60_000, "minute", "minutes"),
        hours if hours < 48 => words::count(hours, "hour", "hours"),
        hours => words::count(hours / 24, "day", "days"),
    }
}
