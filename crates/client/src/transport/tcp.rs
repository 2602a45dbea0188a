//! TCP: "one request per connection. Do not pipeline." (`handle-protocol.md` §13)

use std::io;

use handfast_wire::{Codec, Envelope};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{MESSAGE_TIMEOUT, Packed, envelope, in_time};

pub(super) async fn send(stream: &mut TcpStream, request: &Packed) -> io::Result<()> {
    let mut bytes = request.envelope.to_bytes();
    bytes.extend_from_slice(&request.payload);
    in_time(MESSAGE_TIMEOUT, stream.write_all(&bytes)).await
}

pub(super) async fn receive(stream: &mut TcpStream) -> io::Result<Packed> {
    in_time(MESSAGE_TIMEOUT, async {
        let mut start = [0; Envelope::LENGTH];
        stream.read_exact(&mut start).await?;
        let envelope = envelope(&start)?;
        let mut payload = Vec::new();
        // Memory is allocated only for bytes that have arrived.
        let mut rest = stream.take(u64::from(envelope.length));
        rest.read_to_end(&mut payload).await?;
        if u32::try_from(payload.len()) != Ok(envelope.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Packed { envelope, payload })
    })
    .await
}
