//! The fast path of HTTP/1.1: the server answers the most frequent requests before it reads
//! HTTP in full.
//!
//! Most requests are a GET of a stored name with headers that change nothing. The fast path
//! recognises them in the received bytes and answers with bytes, from buffers that all
//! connections of a core share: an idle connection costs next to nothing, and a request takes
//! one read and one write. The fast path hands the first other request (another method, a
//! query, credentials, another version of HTTP, TLS) over to hyper as it came, with the rest of
//! the connection. The slow path would have given the same answers; a property test compares
//! the two.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use httparse::{Header, Request, Status};
use hyper::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, sleep, timeout};

use crate::admission::connections::Activity;
use crate::admission::network_of;
use crate::http::connection::pending_responses::LONG_RESPONSE;
use crate::http::resolver::fast_redirect;
use crate::http::resolver::target::{date, put_number};
use crate::http::{Part, Web, closed, rest_api};
use crate::runtime::snapshot_reuse;

/// How many bytes are read at once.
const READ_BUFFER: usize = 16 << 10;
/// How many bytes are answered before they are sent: a client that asks for more at once takes
/// the slow path.
const MAX_UNSENT: usize = 64 << 10;
/// The shortest body that may be compressed.
const MIN_COMPRESSED: usize = 1 << 10;
/// How many bytes of an incomplete head are buffered until the rest arrives.
const MAX_PARTIAL_HEAD: usize = 4 << 10;
/// A request with more headers takes the slow path.
const MAX_HEADERS: usize = 32;

/// How the fast path ended.
pub(crate) enum HandOff {
    /// The connection is closed.
    Nothing,
    /// The bytes that have been read and not been answered; whether the fast path answered nothing.
    Bytes { start: Vec<u8>, is_first: bool },
}

/// Answers requests as long as the fast path can.
pub(crate) async fn serve_connection<S>(
    web: &Web,
    stream: &mut S,
    client: (IpAddr, &Activity),
) -> io::Result<HandOff>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut closing = pin!(closed(web.closing.clone()));
    let mut timer = pin!(sleep(web.client_timeout));
    let mut state = ReadState {
        last: Instant::now(),
        times: 0,
        is_first: true,
        activity: client.1,
        head: Vec::new(),
        head_began: None,
    };
    let mut is_new = true;
    loop {
        let unfinished = poll_fn(|context| {
            let before = state.times;
            let unfinished = read_and_answer(web, stream, &mut state, context);
            // A task that is woken without new data is woken by one of these two futures. They know
            // the task to wake since they were polled for the first time. The timer may also have
            // fired together with new data: it wakes the task only once.
            let may_be_other = is_new || state.times == before || timer.is_elapsed();
            if unfinished.is_ready() || !may_be_other {
                return unfinished;
            }
            is_new = false;
            if closing.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(Unfinished::default()));
            }
            while timer.as_mut().poll(context).is_ready() {
                let since = state.head_began.unwrap_or(state.last);
                if since.elapsed() >= web.client_timeout {
                    return Poll::Ready(Ok(Unfinished::default()));
                }
                timer.as_mut().reset(since + web.client_timeout);
            }
            Poll::Pending
        });
        let unfinished = unfinished.await?;
        if let Some(unsent) = unfinished.unsent {
            // What waits for its client is counted; when its network has too much waiting, the
            // connection ends.
            let memory = &web.context.admission.response_memory;
            let counted = match unsent.len() {
                length if length < LONG_RESPONSE => None,
                length => match memory.try_take(network_of(client.0), length) {
                    None => return Ok(HandOff::Nothing),
                    counted => counted,
                },
            };
            let sending = async {
                stream.write_all(&unsent).await?;
                stream.flush().await
            };
            timeout(web.client_timeout, sending).await??;
            drop(counted);
            if unfinished.left.is_empty() {
                continue;
            }
        }
        return Ok(match unfinished.left {
            left if left.is_empty() => HandOff::Nothing,
            start => HandOff::Bytes {
                start,
                is_first: state.is_first,
            },
        });
    }
}

/// The requests that have been read from a connection.
struct ReadState<'c> {
    last: Instant,
    times: u32,
    /// Whether nothing has been answered yet.
    is_first: bool,
    activity: &'c Activity,
    /// The start of a request whose head has not arrived in full, and since when it is waited for.
    head: Vec<u8>,
    head_began: Option<Instant>,
}

/// Work that the fast path could not finish at once.
#[derive(Default)]
struct Unfinished {
    /// Answers that the connection did not take; empty if it has only to be flushed.
    unsent: Option<Vec<u8>>,
    /// Requests for the slow path.
    left: Vec<u8>,
}

struct Buffers {
    read: Vec<u8>,
    written: Vec<u8>,
    dates: CachedDates,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        read: vec![0; READ_BUFFER],
        written: Vec::with_capacity(READ_BUFFER),
        dates: CachedDates::default(),
    });
}

/// Reads and answers until there is nothing to read, or something to do that takes longer.
fn read_and_answer<S>(
    web: &Web,
    stream: &mut S,
    state: &mut ReadState<'_>,
    context: &mut Context<'_>,
) -> Poll<io::Result<Unfinished>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    BUFFERS.with_borrow_mut(|buffers| {
        loop {
            let mut read = ReadBuf::new(&mut buffers.read);
            match Pin::new(&mut *stream).poll_read(context, &mut read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(result) => result?,
            }
            let mut left = read.filled();
            if left.is_empty() {
                return Poll::Ready(Ok(Unfinished::default()));
            }
            let time = snapshot_reuse::time(&web.context);
            state.last = time.instant;
            state.activity.touch(time.instant);
            state.times = state.times.wrapping_add(1);
            let mut begun = std::mem::take(&mut state.head);
            if !begun.is_empty() {
                begun.extend_from_slice(left);
                left = &begun;
            }
            buffers.written.clear();
            while !left.is_empty() && buffers.written.len() < MAX_UNSENT {
                let (out, dates) = (&mut buffers.written, &mut buffers.dates);
                let answered = answer(web, time.now, left, out, dates);
                let Some(rest) = answered.and_then(|length| left.get(length..)) else {
                    break;
                };
                left = rest;
                state.is_first = false;
            }
            if is_part_of_head(left) {
                state.head = left.to_vec();
                state.head_began.get_or_insert(time.instant);
                left = &[];
            } else {
                state.head_began = None;
            }
            let unsent = send(stream, &buffers.written, context)?;
            if unsent.is_some() || !left.is_empty() {
                let left = left.to_vec();
                return Poll::Ready(Ok(Unfinished { unsent, left }));
            }
        }
    })
}

/// Whether bytes are the start of a head of HTTP/1.1 that goes on: who takes its time to send one
/// costs no more than that. The starts of TLS and HTTP/2 are left to those who speak these.
fn is_part_of_head(bytes: &[u8]) -> bool {
    let is_http1 = bytes.first().is_some_and(u8::is_ascii_uppercase);
    let is_http2 = bytes.starts_with(b"PRI") || b"PRI".starts_with(bytes);
    if !is_http1 || is_http2 || bytes.len() > MAX_PARTIAL_HEAD {
        return false;
    }
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = Request::new(&mut []);
    let parsed = request.parse_with_uninit_headers(bytes, &mut headers);
    matches!(parsed, Ok(Status::Partial))
}

/// Sends what can be sent at once; gives what cannot.
fn send<S>(stream: &mut S, bytes: &[u8], context: &mut Context<'_>) -> io::Result<Option<Vec<u8>>>
where
    S: AsyncWrite + Unpin,
{
    if bytes.is_empty() {
        return Ok(None);
    }
    let sent = match Pin::new(&mut *stream).poll_write(context, bytes) {
        Poll::Ready(sent) => sent?,
        Poll::Pending => 0,
    };
    if sent < bytes.len() {
        return Ok(Some(bytes.get(sent..).unwrap_or_default().to_vec()));
    }
    match Pin::new(stream).poll_flush(context) {
        Poll::Ready(flushed) => flushed.map(|()| None),
        Poll::Pending => Ok(Some(Vec::new())),
    }
}

/// Answers the first request of some bytes, and says how long it is; `None` if it is not one of the
/// usual, or not whole.
fn answer(
    web: &Web,
    now: u64,
    bytes: &[u8],
    out: &mut Vec<u8>,
    dates: &mut CachedDates,
) -> Option<usize> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = Request::new(&mut []);
    let Ok(Status::Complete(length)) = request.parse_with_uninit_headers(bytes, &mut headers)
    else {
        return None;
    };
    if request.method != Some("GET") || request.version != Some(1) {
        return None;
    }
    // The access log is written behind hyper.
    if web.log.is_some() {
        return None;
    }
    let path = request.path?;
    let hints = RequestHints::of(request.headers)?;
    let part = Part::of_path(path);
    let (status, body) = match part {
        Part::Resolve if !hints.may_be_json => {
            fast_redirect::find(web, path, hints.wants_page, now, |redirect| {
                redirect.put_http1(out, |out, second| dates.expires.put(out, second));
            })?;
            (StatusCode::FOUND, Vec::new())
        }
        Part::Rest => {
            let body = rest_api::stored(web, path)?;
            if hints.is_encoded && body.len() >= MIN_COMPRESSED || body.len() > MAX_UNSENT {
                return None;
            }
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-type: ");
            out.extend_from_slice(rest_api::JSON.as_bytes());
            out.extend_from_slice(b"\r\nx-content-type-options: nosniff");
            if body.len() >= MIN_COMPRESSED {
                out.extend_from_slice(b"\r\nvary: Accept-Encoding");
            }
            (StatusCode::OK, body)
        }
        _ => return None,
    };
    out.extend_from_slice(b"\r\ncontent-length: ");
    put_number(out, body.len());
    out.extend_from_slice(b"\r\ndate: ");
    dates.now.put(out, now / 1_000);
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(&body);
    web.meters.count(part, status);
    Some(length)
}

/// The headers that matter to the fast path.
struct RequestHints {
    may_be_json: bool,
    /// Whether a page is asked for, without a doubt.
    wants_page: bool,
    /// Whether an answer might be sent compressed.
    is_encoded: bool,
}

impl RequestHints {
    /// `None` if there is anything in them that changes an answer, or that HTTP itself has to look
    /// at.
    fn of(headers: &[Header<'_>]) -> Option<Self> {
        let mut hints = Self {
            may_be_json: false,
            wants_page: true,
            is_encoded: false,
        };
        let mut hosts = 0;
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            match header.name.len() {
                4 if is("host") => hosts += 1,
                6 if is("accept") => {
                    hints.may_be_json |= fast_redirect::may_be_json(header.value);
                    hints.wants_page &= fast_redirect::is_page(header.value);
                }
                10 if is("connection") && header.value.eq_ignore_ascii_case(b"keep-alive") => {}
                15 if is("accept-encoding") => hints.is_encoded = true,
                _ if SLOW_PATH_HEADERS.iter().any(|name| is(name)) => return None,
                _ => {}
            }
        }
        // HTTP asks for one, and has an answer to others.
        (hosts == 1).then_some(hints)
    }
}

/// Headers that the slow path has to look at.
const SLOW_PATH_HEADERS: [&str; 10] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "http2-settings",
    "origin",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];

/// The times that answers say, written once a second.
#[derive(Default)]
struct CachedDates {
    now: CachedDate,
    expires: CachedDate,
}

#[derive(Default)]
struct CachedDate {
    second: u64,
    text: String,
}

impl CachedDate {
    fn put(&mut self, out: &mut Vec<u8>, second: u64) {
        if self.second != second || self.text.is_empty() {
            self.second = second;
            self.text = date(second);
        }
        out.extend_from_slice(self.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use handfast_registry::{Environment, NewAuthority, NewName, Principal, Registry};
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::context::ServerContext;
    use crate::http::WebSettings;
    use crate::http::native_tunnel::NativeTunnel;
    use crate::listen::Addresses;
    use crate::setup::identity::Identity;

    fn web(folder: &std::path::Path) -> Web {
        let counter = AtomicU64::new(1);
        let world = || {
            let counter = AtomicU64::new(counter.fetch_add(1, Ordering::Relaxed));
            let random = move |bytes: &mut [u8]| {
                for byte in bytes {
                    let next = counter.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
                    *byte = next.to_be_bytes()[0];
                }
            };
            Environment::new(|| 1_794_723_436_000, random)
        };
        let registry = Registry::create(folder, world()).unwrap();
        let operator = Principal::Operator;
        let authority = NewAuthority::default();
        registry
            .create_authority(&operator, "20.1000", authority)
            .unwrap();
        let name = NewName::urls(&["https://example.org/5555"]);
        registry
            .create_name(&operator, "20.1000/5555", name)
            .unwrap();
        let any = "127.0.0.1:8000".parse().unwrap();
        let addresses = Addresses {
            native: any,
            web: any,
        };
        let identity = Identity::open_or_make(folder, addresses).unwrap();
        let context = ServerContext::new(Arc::new(registry), identity, world(), Vec::new());
        let context = Arc::new(context);
        let tunnel = NativeTunnel::of(&context);
        let settings = WebSettings {
            client_timeout: Some(Duration::from_millis(200)),
            ..WebSettings::default()
        };
        let (_, closing) = tokio::sync::watch::channel(false);
        Web::new((context, tunnel), settings, any, closing).unwrap()
    }

    /// The timer fires while a byte of the head is waiting to be read: the task is woken once for
    /// both, and must not forget the timer.
    #[tokio::test]
    async fn a_slow_head_ends_when_its_timeout_and_a_byte_come_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let web = web(folder.path());
        let (mut ours, mut theirs) = tokio::io::duplex(4_000);
        let activity = Activity::new(Instant::now(), Instant::now());
        let client = ([192, 0, 2, 1].into(), &activity);
        let mut serving = pin!(serve_connection(&web, &mut ours, client));
        theirs.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
        assert!(poll_once(serving.as_mut()).await.is_none());
        sleep(web.client_timeout * 2).await;
        theirs.write_all(b"s").await.unwrap();
        let ended = poll_once(serving.as_mut()).await;
        assert!(matches!(ended, Some(Ok(HandOff::Nothing))));
    }

    async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
        poll_fn(|context| {
            Poll::Ready(match future.as_mut().poll(context) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// When the first answer could not be sent at once, and more requests had come meanwhile,
    /// silence had no end.
    #[tokio::test]
    async fn silence_has_an_end_after_a_first_answer_that_was_read_late() {
        let folder = tempfile::tempdir().unwrap();
        let web = Arc::new(web(folder.path()));
        let request = b"GET /20.1000/5555 HTTP/1.1\r\nHost: x\r\n\r\n";
        // In a task of its own, which is woken for its own sake alone.
        let begin = |mut ours: tokio::io::DuplexStream| {
            let web = Arc::clone(&web);
            tokio::spawn(async move {
                let activity = Activity::new(Instant::now(), Instant::now());
                let client = ([192, 0, 2, 1].into(), &activity);
                let ended = serve_connection(&web, &mut ours, client).await;
                assert!(matches!(ended, Ok(HandOff::Nothing)));
            })
        };
        // How long an answer is.
        let (ours, mut theirs) = tokio::io::duplex(4_000);
        theirs.write_all(request).await.unwrap();
        begin(ours).await.unwrap();
        let length = theirs.read(&mut [0; 4_000]).await.unwrap();
        // Two do not fit; another one does when the first two have been read.
        let (ours, mut theirs) = tokio::io::duplex(length * 7 / 4);
        theirs.write_all(&request.repeat(2)).await.unwrap();
        let conversing = begin(ours);
        tokio::task::yield_now().await;
        theirs.write_all(request).await.unwrap();
        let mut answers = vec![0; length * 3];
        theirs.read_exact(&mut answers).await.unwrap();
        let ended = timeout(Duration::from_secs(10), conversing).await;
        ended.expect("it is waited for").unwrap();
    }
}
