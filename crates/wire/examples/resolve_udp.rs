//! Resolves a handle over UDP with nothing but this crate and a socket.
//!
//! ```sh
//! handfast serve --demo &
//! cargo run -p handfast-wire --example resolve_udp -- 127.0.0.1:2641 0.SITE/ADMIN
//! ```

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::net::UdpSocket;
use std::time::Duration;

use handfast_wire::body::{ResolutionReply, ResolutionRequest};
use handfast_wire::{Envelope, Header, Message, Opcode, Reassembly, Version, packets};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(server), Some(handle)) = (arguments.next(), arguments.next()) else {
        return Err("usage: resolve_udp HOST:PORT HANDLE".into());
    };
    let request = Message::new(
        Envelope {
            request_id: 7,
            ..Envelope::new(Version::BLIND)
        },
        Header::request(Opcode::Resolution, u32::MAX),
        &ResolutionRequest::all(handle),
    );

    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(Duration::from_secs(3)))?;
    for packet in packets(&request.envelope, &request.payload()) {
        socket.send(&packet)?;
    }

    // A long reply comes in several datagrams, in any order.
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer)?;
    let mut parts = Reassembly::begin(buffer.get(..length).unwrap_or_default())?;
    while !parts.is_complete() {
        let length = socket.recv(&mut buffer)?;
        parts.add(buffer.get(..length).unwrap_or_default())?;
    }
    let (envelope, payload) = parts.finish().ok_or("the reply is incomplete")?;
    let reply = Message::open(envelope, &payload)?;

    println!("{:?}", reply.outcome());
    if let Ok(found) = reply.read::<ResolutionReply>() {
        for value in &found.values {
            let data = value
                .text()
                .map_or_else(|| format!("{} bytes", value.data.len()), String::from);
            println!("{:5}  {:12}  {data}", value.index, value.value_type);
        }
    }
    Ok(())
}
