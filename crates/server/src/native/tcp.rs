//! The native protocol over TCP.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use handfast_wire::{Codec, Envelope, Header, OpFlags, Reader};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::admission::body_memory::Sender;
use crate::admission::connections::ClientConnection;
use crate::admission::expensive_work::Busy;
use crate::admission::network_of;
use crate::admission::peer::Peer;
use crate::error::wrong;
use crate::native::feed::Feed;
use crate::native::{LONG_MESSAGE, LONG_MESSAGE_TIMEOUT, MessageWork, Native, Outgoing, Transport};
use crate::runtime::counters::Counted;

/// How long a connection may be silent before a request, and how long a request and a reply may
/// take to pass.
const TCP_TIMEOUT: Duration = Duration::from_mins(1);

/// One request after the other, as long as the client asks for that. Requests that have come
/// together are answered together.
pub(crate) async fn serve_connection(
    native: Arc<Native>,
    mut stream: TcpStream,
    client: ClientConnection,
) -> io::Result<()> {
    let ip = client.address.ip();
    let _counted = Counted::new(Arc::clone(&native.context.metrics.open));
    let peer = Peer::connected(ip);
    let mut incoming = Vec::with_capacity(TYPICAL_MESSAGE);
    let mut outgoing = Vec::with_capacity(TYPICAL_MESSAGE);
    loop {
        let now = Instant::now();
        client.activity.touch(now);
        let mut deadline = now + TCP_TIMEOUT;
        let envelope = loop {
            if let Some(start) = incoming.first_chunk::<{ Envelope::LENGTH }>() {
                break Envelope::decode(&mut Reader::new(start));
            }
            let is_begun = !incoming.is_empty();
            // A client that sends less than an envelope gets no answer.
            if receive(&mut stream, &mut incoming, deadline).await? == 0 {
                return Ok(());
            }
            if !is_begun {
                deadline = Instant::now() + TCP_TIMEOUT;
            }
        };
        // One that says it is longer than any may be is not waited for.
        let Ok(envelope) = envelope else {
            let request_id = Envelope::request_id_in(&incoming).unwrap_or(Envelope::UNREAD_REQUEST);
            let text = "Invalid message length";
            return refuse(&native, &mut stream, request_id, text).await;
        };
        let length = usize::try_from(envelope.length).unwrap_or(0);
        let end = Envelope::LENGTH + length;
        let mut memory = None;
        while incoming.len() < end {
            if incoming.len() >= LONG_MESSAGE {
                let memory = memory.get_or_insert_with(|| {
                    deadline = deadline.min(Instant::now() + LONG_MESSAGE_TIMEOUT);
                    let bodies = &native.context.admission.body_memory;
                    bodies.permit(Sender::Anonymous, ip)
                });
                let more = incoming.capacity().saturating_sub(memory.count());
                if more > 0 && !memory.grow(more, deadline).await {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            if receive(&mut stream, &mut incoming, deadline).await? == 0 {
                let received = incoming.len() - Envelope::LENGTH;
                let text = format!("Expecting {length} bytes, only received {received}");
                return refuse(&native, &mut stream, envelope.request_id, &text).await;
            }
        }
        let payload = incoming.get(Envelope::LENGTH..end).unwrap_or_default();
        let keeps = keeps_connection(payload);
        let mut feed = None;
        if !native.answer_fast(&envelope, payload, &mut outgoing, Transport::Tcp) {
            let _working = client.activity.work();
            let replies = answer(&native, &stream, peer, envelope, payload.to_vec()).await;
            // Its client has gone.
            let Some(replies) = replies else {
                return Ok(());
            };
            for mut reply in replies {
                reply.write(&mut outgoing);
                feed = feed.or(reply.feed.take());
            }
        }
        native.context.metrics.received(Transport::Tcp, end);
        incoming.drain(..end);
        incoming.shrink_to(TYPICAL_MESSAGE);
        drop(memory);
        if keeps && feed.is_none() && is_whole(&incoming) && outgoing.len() < TYPICAL_MESSAGE * 16 {
            continue;
        }
        send(&native, &mut stream, &outgoing, ip).await?;
        native.context.metrics.sent(Transport::Tcp, outgoing.len());
        outgoing.clear();
        outgoing.shrink_to(TYPICAL_MESSAGE);
        if let Some(feed) = feed {
            let _working = client.activity.work();
            return pour(&native, &mut stream, feed).await;
        }
        if !keeps {
            // The connection closes when the stream is dropped: some clients wait for that.
            return Ok(());
        }
        stream.set_nodelay(true)?;
    }
}

/// The size of most requests and replies, in bytes.
const TYPICAL_MESSAGE: usize = 1_024;

/// Takes what has come; how much that is, 0 if nothing will come any more.
async fn receive(
    stream: &mut TcpStream,
    into: &mut Vec<u8>,
    deadline: Instant,
) -> io::Result<usize> {
    // Room is made for what has come, not for what a client says will come.
    if into.len() == into.capacity() {
        into.reserve(into.len().max(TYPICAL_MESSAGE));
    }
    timeout_at(deadline, stream.read_buf(into)).await?
}

/// Sends answers. Those that the client does not read count: when its network has too many, the
/// connection ends.
async fn send(
    native: &Native,
    stream: &mut TcpStream,
    mut bytes: &[u8],
    client: IpAddr,
) -> io::Result<()> {
    // Bytes that the system accepts at once take no memory here, and no timer.
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let memory = &native.context.admission.response_memory;
                let waiting = memory.try_take(network_of(client), bytes.len());
                let _waiting = waiting.ok_or(io::ErrorKind::TimedOut)?;
                return timeout(TCP_TIMEOUT, stream.write_all(bytes)).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a whole message has come already.
fn is_whole(incoming: &[u8]) -> bool {
    Envelope::decode(&mut Reader::new(incoming)).is_ok_and(|envelope| {
        let length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        incoming.len() - Envelope::LENGTH >= length
    })
}

/// Answers a message. Reading takes no time; changes wait for the disk, and signatures and logins
/// for the processor: they wait for a permit without a thread. `None` if the client disconnects
/// before it gets one.
async fn answer(
    native: &Arc<Native>,
    stream: &TcpStream,
    peer: Peer,
    envelope: Envelope,
    payload: Vec<u8>,
) -> Option<Vec<Outgoing>> {
    let work = native.work_of(&envelope, &payload);
    let from = (Transport::Tcp, peer);
    if work == MessageWork::None {
        return Some(native.answer(envelope, &payload, from, None));
    }
    let permit = match native.queue_of(work) {
        None => None,
        Some(queue) => {
            let permit = tokio::select! {
                biased;
                permit = queue.enter(peer) => permit,
                () = closed(stream) => return None,
            };
            match permit {
                Ok(permit) => Some(permit),
                Err(Busy) => return Some(vec![native.busy(&envelope, Transport::Tcp)]),
            }
        }
    };
    let native = Arc::clone(native);
    let answered = crate::runtime::blocking::spawn_blocking(move || {
        let (login, _signature) = match work {
            MessageWork::Login => (permit, None),
            _ => (None, permit),
        };
        native.answer(envelope, &payload, from, login)
    });
    Some(answered.await.unwrap_or_default())
}

/// Waits until the client has closed the connection, or its half of it.
async fn closed(stream: &TcpStream) {
    loop {
        match stream.ready(Interest::READABLE).await {
            Ok(ready) if !ready.is_read_closed() => {}
            _ => return,
        }
        // Its next request is there already: nothing says when the connection is closed behind
        // that.
        tokio::time::sleep(CLOSED_INTERVAL).await;
    }
}

/// How often it is looked whether a client that has sent more than one request is still there.
const CLOSED_INTERVAL: Duration = Duration::from_millis(100);

/// A stream, piece by piece, to the end. If it breaks off the mirror does not see an end, and asks
/// again.
async fn pour(native: &Arc<Native>, stream: &mut TcpStream, feed: Feed) -> io::Result<()> {
    let mut feed = Some(feed);
    while let Some(mut left) = feed.take() {
        let (sending, native) = (native, Arc::clone(native));
        let made = crate::runtime::blocking::spawn_blocking(move || {
            let made = left.next(&native.context.registry, native.context.identity.key());
            made.map(|made| (left, made))
        });
        let (left, piece) = made.await?.map_err(|error| {
            tracing::error!(%error, "a mirror could not be served");
            io::Error::other(error)
        })?;
        if let Some(piece) = piece {
            timeout(TCP_TIMEOUT, stream.write_all(&piece)).await??;
            sending.context.metrics.sent(Transport::Tcp, piece.len());
            feed = Some(left);
        }
    }
    stream.shutdown().await
}

fn keeps_connection(payload: &[u8]) -> bool {
    let header = Header::decode(&mut Reader::new(payload));
    header.is_ok_and(|header| header.flags.contains(OpFlags::KC))
}

async fn refuse(
    native: &Arc<Native>,
    stream: &mut TcpStream,
    request_id: u32,
    text: &str,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let error = native.unread(request_id, wrong(text), Transport::Tcp);
    error.write(&mut bytes);
    timeout(TCP_TIMEOUT, stream.write_all(&bytes)).await??;
    stream.shutdown().await
}
