//! The native protocol over TCP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use handfast_wire::{Codec, Envelope, OpFlags, Reader, ResponseCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::native::feed::Feed;
use crate::native::{Native, Outgoing, Way, header, is_quick};

/// How long a connection may be silent before a request, and between the octets of one.
const PATIENCE: Duration = Duration::from_mins(1);

/// One request after the other, as long as the client asks for that.
pub(crate) async fn converse(native: Arc<Native>, mut stream: TcpStream) -> io::Result<()> {
    let native = &native;
    stream.set_nodelay(true)?;
    loop {
        let mut start = [0; Envelope::LENGTH];
        timeout(PATIENCE, stream.read_exact(&mut start)).await??;
        // One that says it is longer than any may be is not waited for.
        let Ok(envelope) = Envelope::decode(&mut Reader::new(&start)) else {
            let request_id = Envelope::request_id_in(&start).unwrap_or(Envelope::UNREAD_REQUEST);
            return refuse(native, &mut stream, request_id, "Invalid message length").await;
        };
        let length = usize::try_from(envelope.length).unwrap_or(0);
        let mut payload = Vec::new();
        let mut rest = (&mut stream).take(u64::from(envelope.length));
        timeout(PATIENCE, rest.read_to_end(&mut payload)).await??;
        if payload.len() < length {
            let text = format!("Expecting {length} bytes, only received {}", payload.len());
            return refuse(native, &mut stream, envelope.request_id, &text).await;
        }
        let keeps = keeps_connection(&payload);
        let mut replies = answer(native, envelope, payload).await;
        let mut bytes = Vec::new();
        for reply in &replies {
            reply.write(&mut bytes);
        }
        timeout(PATIENCE, stream.write_all(&bytes)).await??;
        if let Some(feed) = replies.iter_mut().find_map(|reply| reply.feed.take()) {
            return pour(native, &mut stream, feed).await;
        }
        if !keeps {
            // Some clients wait for the end.
            return stream.shutdown().await;
        }
    }
}

/// Reading takes no time; changes wait for the disk, and signatures for the processor.
async fn answer(native: &Arc<Native>, envelope: Envelope, payload: Vec<u8>) -> Vec<Outgoing> {
    if is_quick(&payload) {
        return native.answer(envelope, &payload, Way::Tcp);
    }
    let native = Arc::clone(native);
    let answered = tokio::task::spawn_blocking(move || native.answer(envelope, &payload, Way::Tcp));
    answered.await.unwrap_or_default()
}

/// A stream, piece by piece, to the end. If it breaks off the mirror does not see an end, and asks again.
async fn pour(native: &Arc<Native>, stream: &mut TcpStream, feed: Feed) -> io::Result<()> {
    let mut feed = Some(feed);
    while let Some(mut left) = feed.take() {
        let native = Arc::clone(native);
        let made = tokio::task::spawn_blocking(move || {
            let made = left.next(&native.registry, native.identity.key());
            made.map(|made| (left, made))
        });
        let (left, piece) = made.await?.map_err(|error| {
            tracing::error!(%error, "a mirror could not be served");
            io::Error::other(error)
        })?;
        if let Some(piece) = piece {
            timeout(PATIENCE, stream.write_all(&piece)).await??;
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
    timeout(PATIENCE, stream.write_all(&refusal.to_bytes())).await??;
    stream.shutdown().await
}
