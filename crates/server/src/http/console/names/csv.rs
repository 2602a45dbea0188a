//! A list of names as a file: `/console/names.csv` has exactly the names of the list with the same
//! filters.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use handfast_registry::{CitableLinks, NameFilter, NameTable, RegistryError};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either};
use hyper::Response;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::filters_in_url::UrlFilters;
use crate::http::Web;
use crate::http::console::error_page::PageError;
use crate::http::console::visit::Visit;
use crate::http::response::{Body, WithHeader};

/// How many names are read at a time.
const BATCH_SIZE: usize = 1_000;
/// How many files are made at once.
const MAX_DOWNLOADS: usize = 4;
/// How long a client may take to receive the next part.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

static DOWNLOADS: AtomicUsize = AtomicUsize::new(0);

pub(super) fn download(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let url = UrlFilters::read(visit);
    let mut errors = Vec::new();
    let mut filter = url.filter(&mut errors);
    if let Some(by) = url.ways().first() {
        match url.search(&filter, *by) {
            Ok(searched) => filter = searched,
            Err(error) => errors.push(error),
        }
    }
    if let Some(error) = errors.pop() {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Err(PageError::new(status, "bad-filter", error.text));
    }
    table(visit, filter, "names.csv")
}

/// All names that fit a filter, as a file.
pub(super) fn table(
    visit: &Visit<'_>,
    filter: NameFilter,
    file: &'static str,
) -> Result<Response<Body>, PageError> {
    // An error must be a page, so the first names are read before the answer begins.
    let who = visit.who();
    visit.registry().list_names(&who, &filter, None, 1)?;
    let permit = DownloadPermit::new()?;
    let (sender, body) = Channel::new(4);
    let mut rows = Rows {
        web: Arc::clone(visit.web),
        links: visit.links(),
        who,
        filter,
        sender,
        runtime: Handle::current(),
    };
    let work = move || {
        if let Err(error) = rows.send() {
            tracing::info!(%error, "a table of names was broken off");
            rows.sender.abort(io::Error::other(error));
        }
        drop(permit);
    };
    let thread = std::thread::Builder::new().name("handfast-table".into());
    thread.spawn(work).map_err(|_| busy())?;
    Ok(Response::new(Either::Right(body.boxed()))
        .with(CONTENT_TYPE, "text/csv; charset=utf-8")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file}\""),
        ))
}

struct Rows {
    web: Arc<Web>,
    links: CitableLinks,
    who: handfast_registry::Principal,
    filter: NameFilter,
    sender: Sender<Bytes, io::Error>,
    runtime: Handle,
}

impl Rows {
    fn send(&mut self) -> Result<(), RegistryError> {
        let mut table = NameTable::new();
        let mut after = None;
        // A search may take a while until it finds the first name.
        self.give(table.take()?)?;
        loop {
            let registry = self.web.registry();
            let page =
                registry.list_names(&self.who, &self.filter, after.as_deref(), BATCH_SIZE)?;
            for name in &page.names {
                table.add(name, &self.links.link(&name.id))?;
            }
            // Without new rows, too: that tells whether the client is still there.
            self.give(table.take()?)?;
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn give(&mut self, bytes: Vec<u8>) -> Result<(), RegistryError> {
        let sender = &mut self.sender;
        // The timer of `timeout` needs the runtime already when it is made.
        let sending = async { timeout(CLIENT_TIMEOUT, sender.send_data(bytes.into())).await };
        if matches!(self.runtime.block_on(sending), Ok(Ok(()))) {
            return Ok(());
        }
        let source = io::ErrorKind::BrokenPipe.into();
        Err(RegistryError::Output { source })
    }
}

/// Counts a download for as long as it lasts.
struct DownloadPermit;

impl DownloadPermit {
    fn new() -> Result<Self, PageError> {
        let permit = Self;
        if DOWNLOADS.fetch_add(1, Ordering::Relaxed) >= MAX_DOWNLOADS {
            return Err(busy());
        }
        Ok(permit)
    }
}

impl Drop for DownloadPermit {
    fn drop(&mut self) {
        DOWNLOADS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn busy() -> PageError {
    let text = "Too many lists are being downloaded. Try again in a minute.";
    PageError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", text)
}
