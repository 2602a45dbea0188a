//! The native protocol over TCP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use handfast_wire::{Codec, Envelope, OpFlags, Opcode, Reader, ResponseCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::native::feed::Feed;
use crate::native::meters::Meters;
use crate::native::{LONG, LONG_PATIENCE, Native, Outgoing, Way, header};

/// How long a connection may be silent before a request, and how long a request and a reply may take to pass.
const PATIENCE: Duration = Duration::from_mins(1);

/// One request after the other, as long as the client asks for that. Requests that have come together are answered
/// together.
pub(crate) async fn converse(native: Arc<Native>, mut stream: TcpStream) -> io::Result<()> {
    let _counted = Meters::connected(&native);
    let mut incoming = Vec::with_capacity(TYPICAL);
    let mut outgoing = Vec::with_capacity(TYPICAL);
    loop {
        let mut deadline = Instant::now() + PATIENCE;
        let envelope = loop {
            if let Some(start) = incoming.first_chunk::<{ Envelope::LENGTH }>() {
                break Envelope::decode(&mut Reader::new(start));
            }
            let is_begun = !incoming.is_empty();
            // Who says nothing, or not even an envelope, is not answered.
            if receive(&mut stream, &mut incoming, deadline).await? == 0 {
                return Ok(());
            }
            if !is_begun {
                deadline = Instant::now() + PATIENCE;
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
        let mut rooms = Vec::new();
        while incoming.len() < end {
            if incoming.len() >= (rooms.len() + 1) * LONG {
                if rooms.is_empty() {
                    deadline = deadline.min(Instant::now() + LONG_PATIENCE);
                }
                rooms.push(timeout_at(deadline, native.room(LONG)).await?);
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
        if !native.answer_quickly(&envelope, payload, &mut outgoing, Way::Tcp) {
            for mut reply in answer(&native, envelope, payload.to_vec()).await {
                reply.write(&mut outgoing);
                feed = feed.or(reply.feed.take());
            }
        }
        native.meters.received(Way::Tcp, end);
        incoming.drain(..end);
        incoming.shrink_to(TYPICAL);
        drop(rooms);
        if keeps && feed.is_none() && is_whole(&incoming) && outgoing.len() < TYPICAL * 16 {
            continue;
        }
        timeout(PATIENCE, stream.write_all(&outgoing)).await??;
        native.meters.sent(Way::Tcp, outgoing.len());
        outgoing.clear();
        outgoing.shrink_to(TYPICAL);
        if let Some(feed) = feed {
            return pour(&native, &mut stream, feed).await;
        }
        if !keeps {
            // Some clients wait for the end.
            return stream.shutdown().await;
        }
        stream.set_nodelay(true)?;
    }
}

/// What most requests, and most replies, have room in.
const TYPICAL: usize = 1_024;

/// Takes what has come; how much that is, 0 if nothing will come any more.
async fn receive(
    stream: &mut TcpStream,
    into: &mut Vec<u8>,
    deadline: Instant,
) -> io::Result<usize> {
    // Room is made for what has come, not for what a client says will come.
    if into.len() == into.capacity() {
        into.reserve(into.len().max(TYPICAL));
    }
    timeout_at(deadline, stream.read_buf(into)).await?
}

/// Whether a whole message has come already.
fn is_whole(incoming: &[u8]) -> bool {
    Envelope::decode(&mut Reader::new(incoming)).is_ok_and(|envelope| {
        let length = usize::try_from(envelope.length).unwrap_or(usize::MAX);
        incoming.len() - Envelope::LENGTH >= length
    })
}

/// Reading takes no time; changes wait for the disk, and signatures for the processor.
async fn answer(native: &Arc<Native>, envelope: Envelope, payload: Vec<u8>) -> Vec<Outgoing> {
    if native.is_quick(&envelope, &payload) {
        return native.answer(envelope, &payload, Way::Tcp);
    }
    let native = Arc::clone(native);
    let answered =
        crate::blocking::spawn_blocking(move || native.answer(envelope, &payload, Way::Tcp));
    answered.await.unwrap_or_default()
}

/// A stream, piece by piece, to the end. If it breaks off the mirror does not see an end, and asks again.
async fn pour(native: &Arc<Native>, stream: &mut TcpStream, feed: Feed) -> io::Result<()> {
    let mut feed = Some(feed);
    while let Some(mut left) = feed.take() {
        let (sending, native) = (native, Arc::clone(native));
        let made = crate::blocking::spawn_blocking(move || {
            let made = left.next(&native.registry, native.identity.key());
            made.map(|made| (left, made))
        });
        let (left, piece) = made.await?.map_err(|error| {
            tracing::error!(%error, "a mirror could not be served");
            io::Error::other(error)
        })?;
        if let Some(piece) = piece {
            timeout(PATIENCE, stream.write_all(&piece)).await??;
            sending.meters.sent(Way::Tcp, piece.len());
            feed = Some(left);
        }
    }
    stream.shutdown().await
}

fn keeps_connection(payload: &[u8]) -> bool {
    header(payload).is_some_and(|header| header.flags.contains(OpFlags::KC))
}

async fn refuse(
    native: &Arc<Native>,
    stream: &mut TcpStream,
    request_id: u32,
    text: &str,
) -> io::Result<()> {
    let code = ResponseCode::ProtocolError;
    let refusal = native.responder().refusal(request_id, code, text);
    native.meters.count(Way::Tcp, Opcode::Reserved, code);
    timeout(PATIENCE, stream.write_all(&refusal.to_bytes())).await??;
    stream.shutdown().await
}
