//! Taking and giving many names: bodies that are never whole in memory.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use handfast_api::{ImportSummary, LogExportSummary, limits};
use handfast_registry::{Done, Export, Format, Import, Imported, RegistryError, Report};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either};
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TRAILER};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::background::is_preferred;
use super::call::Call;
use super::problem::Problem;
use super::route::Route;
use super::{convert, once, spool};
use crate::http::connection::request_body::Incoming;
use crate::http::response::{Body, WithHeader, reply};

/// By what an export says what was given.
const SUMMARY: HeaderName = HeaderName::from_static("handfast-summary");
/// How many bytes of outcomes are answered: they are held in memory.
const MAX_OUTCOMES: usize = 16 << 20;
/// How much is given at a time.
const PIECE: usize = 64 << 10;

/// Receives names into a file, takes them, and answers when all are taken: an outcome a line, and a
/// last line for all of them. If the client does not wait, they are taken later.
pub(super) fn import(
    call: &Call,
    route: &Route,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let options = options(call)?;
    let spooled = spool::receive(call, body)?;
    let options = Import {
        size: Some(spooled.size),
        ..options
    };
    if options.dry_run || !is_preferred(&call.headers) {
        return import_now(call, &options, spooled.open()?);
    }
    once(call, route, &spooled.digest, |call| {
        spool::begin(call, &spooled, &options)
    })
}

pub(super) fn options(call: &Call) -> Result<Import, Problem> {
    let dry_run = call.flag("dry-run")?;
    let source = call.query("source").unwrap_or("web");
    let (update, replace) = (call.flag("update")?, call.flag("replace")?);
    if replace && !update {
        return Err(Problem::usage("`replace` needs `update`"));
    }
    Ok(Import {
        source: source.chars().take(200).collect(),
        format: format(call)?,
        authority: call.query("authority").map(str::to_string),
        update,
        replace,
        migrate: call.flag("migrate")?,
        restart: call.flag("restart")?,
        dry_run,
        tells_all: dry_run || call.flag("all")?,
        size: None,
    })
}

fn import_now(call: &Call, options: &Import, input: File) -> Result<Response<Body>, Problem> {
    let mut told = Vec::new();
    let (mut lines, mut untold) = (0, 0);
    let imported = call
        .registry()
        .import(&call.who, options, input, &mut |report| {
            let Report::Line(outcome) = report else {
                return;
            };
            if !options.tells_all && !matches!(outcome.done, Done::Refused { .. }) {
                return;
            }
            if lines == limits::OUTCOMES || told.len() >= MAX_OUTCOMES {
                untold += 1;
                return;
            }
            lines += 1;
            put_line(&mut told, &convert::outcome(outcome));
        })?;
    put_line(&mut told, &summary(options, &imported, untold));
    Ok(reply(hyper::StatusCode::OK, "application/x-ndjson", told))
}

/// What came of all lines.
pub(super) fn summary(options: &Import, imported: &Imported, untold: u64) -> ImportSummary {
    let counts = &imported.counts;
    ImportSummary {
        changed: counts.changed,
        created: counts.created,
        dry_run: options.dry_run,
        format: imported.format.as_str().to_string(),
        job: imported.job,
        refused: counts.refused,
        resumed: imported.is_resumed,
        unchanged: counts.unchanged,
        untold,
        values: convert::value_counts(imported.values),
    }
}

fn put_line(out: &mut Vec<u8>, line: &impl Serialize) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}

/// Gives names as they are read. What goes wrong in the middle breaks the answer off: what is whole
/// ends as it should.
pub(super) fn export(call: &Call, begun: &mut dyn FnMut(Response<Body>)) -> Result<(), Problem> {
    let options = Export {
        format: format(call)?,
        authority: call.query("authority").map(str::to_string),
        since: call.number("since")?,
        with_secrets: call.flag("with-secrets")?,
        links: call.api.links(),
    };
    let content_type = match options.format {
        Some(Format::Csv) => "text/csv; charset=utf-8",
        Some(Format::Dump) => "application/json",
        Some(Format::Batch) => "text/plain; charset=utf-8",
        Some(Format::Ndjson) | None => "application/x-ndjson",
    };
    send(call, begun, content_type, |out| {
        call.registry()
            .export(&call.who, &options, out, &mut |_| ())
            .map(|exported| convert::exported(options.format.unwrap_or(Format::Ndjson), &exported))
    })
}

/// Gives the whole log, for those who verify it.
pub(super) fn export_log(
    call: &Call,
    begun: &mut dyn FnMut(Response<Body>),
) -> Result<(), Problem> {
    send(call, begun, "application/x-ndjson", |out| {
        let events = call.registry().export_log(out, &mut |_| ())?;
        Ok(LogExportSummary { events })
    })
}

fn send<S: Serialize>(
    call: &Call,
    begun: &mut dyn FnMut(Response<Body>),
    content_type: &'static str,
    give: impl FnOnce(&mut Sending<'_>) -> Result<S, RegistryError>,
) -> Result<(), Problem> {
    let mut out = Sending::new(call, begun, content_type);
    let given = give(&mut out).and_then(|summary| {
        let sent = out.flush().and_then(|()| out.end(&summary));
        sent.map_err(|source| RegistryError::Output { source })
    });
    let is_begun = out.is_begun();
    match given {
        Ok(()) => Ok(()),
        Err(error) if is_begun => {
            tracing::warn!(%error, "an export was broken off");
            // The connection ends; a command in this process hears the reason.
            out.sender.abort(io::Error::other(error));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn format(call: &Call) -> Result<Option<Format>, Problem> {
    let find = |text: &str| {
        let found = Format::ALL
            .into_iter()
            .find(|format| format.as_str() == text);
        found.ok_or_else(|| Problem::usage("`format` is ndjson, csv, batch or json"))
    };
    call.query("format").map(find).transpose()
}

type Begin<'b> = (
    &'b mut dyn FnMut(Response<Body>),
    Channel<Bytes, io::Error>,
    &'static str,
);

/// A body, written by a thread that may wait. Nothing is answered before there is something to
/// give, so that an error can still be one.
pub(super) struct Sending<'b> {
    begin: Option<Begin<'b>>,
    sender: Sender<Bytes, io::Error>,
    gathered: Vec<u8>,
    runtime: Handle,
    /// How long the client may take to read the next piece.
    time: Duration,
}

impl<'b> Sending<'b> {
    pub(super) fn new(
        call: &Call,
        begun: &'b mut dyn FnMut(Response<Body>),
        content_type: &'static str,
    ) -> Self {
        let (sender, body) = Channel::new(4);
        Self {
            begin: Some((begun, body, content_type)),
            sender,
            gathered: Vec::with_capacity(PIECE),
            runtime: Handle::current(),
            // The local operator may look at one page after the other.
            time: if call.is_local {
                Duration::MAX
            } else {
                call.api.settings.client_timeout
            },
        }
    }

    /// Whether the response has begun, so that a problem can no longer be the whole of it.
    pub(super) fn is_begun(&self) -> bool {
        self.begin.is_none()
    }

    fn begin(&mut self) {
        if let Some((begun, body, content_type)) = self.begin.take() {
            let response = Response::new(Either::Right(body.boxed()));
            let response = response.with(CONTENT_TYPE, content_type);
            begun(response.with(TRAILER, "handfast-summary"));
        }
    }

    /// What was given, for those who take trailers.
    fn end(&mut self, summary: &impl Serialize) -> io::Result<()> {
        let mut trailers = HeaderMap::new();
        let value = HeaderValue::from_str(&serde_json::to_string(summary)?);
        trailers.insert(SUMMARY, value.map_err(io::Error::other)?);
        let sending = timed(self.time, self.sender.send_trailers(trailers));
        self.runtime.block_on(sending)
    }

    fn send(&mut self) -> io::Result<()> {
        self.begin();
        if self.gathered.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.gathered));
        // A client that does not read keeps a snapshot of the store alive: not for long.
        let sending = timed(self.time, self.sender.send_data(piece));
        self.runtime.block_on(sending)
    }
}

/// Sends something, if the client takes it in time.
async fn timed<E>(time: Duration, sent: impl Future<Output = Result<(), E>>) -> io::Result<()> {
    match timeout(time, sent).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

impl Write for Sending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}
