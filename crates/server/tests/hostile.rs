//! Hostile input: random bytes, halves, lies. The server answers what it can, keeps nothing,
//! and goes on serving everybody else.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads the clock"
)]

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use handfast_testing::{Server, Setup, native};
use handfast_wire::body::ResolutionReply;
use handfast_wire::{Codec, Message, OpFlags, ResponseCode};

fn server() -> Server {
    let server = Setup::new().start_for(&["20.1000"]);
    server.name("20.1000/5555", &[(1, "URL", b"https://example.org/5555")]);
    server
}

fn request(flags: OpFlags) -> Vec<u8> {
    native::resolution("20.1000/5555", OpFlags::REQUEST | flags)
}

fn is_right(reply: &[u8]) {
    let reply = Message::from_bytes(reply).unwrap();
    assert_eq!(reply.outcome(), ResponseCode::Success);
    let values: ResolutionReply<'_> = reply.read().unwrap();
    assert_eq!(*values.values[0].data, *b"https://example.org/5555");
}

fn udp(server: &Server) -> UdpSocket {
    native::udp(server.native, Duration::from_secs(5))
}

fn asks_over_udp(socket: &UdpSocket) {
    socket.send(&request(OpFlags::NONE)).unwrap();
    let mut buffer = [0; 2_048];
    // Answers to what was sent before may still be on their way.
    loop {
        let length = socket.recv(&mut buffer).unwrap();
        if buffer[8..12] == 77_u32.to_be_bytes() {
            return is_right(&buffer[..length]);
        }
    }
}

fn asks_over_tcp(server: &Server) {
    is_right(&native::over_tcp(server.native, &request(OpFlags::NONE)));
}

/// Bytes that are never the same.
struct Noise(u64);

impl Noise {
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| {
                self.0 ^= self.0 << 13;
                self.0 ^= self.0 >> 7;
                self.0 ^= self.0 << 17;
                self.0 as u8
            })
            .collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        let [a, b] = self.bytes(2)[..] else { return 0 };
        usize::from(u16::from_be_bytes([a, b])) % limit
    }
}

#[test]
fn random_datagrams_are_survived_and_others_are_served() {
    let server = server();
    let (anonymous, client) = (udp(&server), udp(&server));
    let mut noise = Noise(0x1234_5678_9ABC_DEF1);
    let good = request(OpFlags::NONE);
    for round in 0..20_000 {
        let length = noise.below(600);
        let mut packet = noise.bytes(length);
        // Half of them are nearly right.
        if round % 2 == 0 {
            let at = noise.below(good.len());
            packet = good.clone();
            packet[at] ^= noise.bytes(1)[0];
            packet.truncate(packet.len() - noise.below(20));
        }
        drop(anonymous.send(&packet));
        if round % 500 == 0 {
            asks_over_udp(&client);
        }
    }
    asks_over_udp(&client);
    asks_over_tcp(&server);
}

#[test]
fn a_reply_is_never_answered() {
    let server = server();
    let socket = udp(&server);
    let mut reply = request(OpFlags::NONE);
    // The response code.
    reply[27] = 1;
    socket.send(&reply).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    assert!(socket.recv(&mut [0; 512]).is_err());
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    asks_over_udp(&socket);
}

#[test]
fn connections_that_say_nothing_or_nonsense_hold_nobody_up() {
    let server = server();
    let mut noise = Noise(7);
    let mut silent: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(server.native).unwrap())
        .collect();
    for (at, stream) in silent.iter_mut().enumerate() {
        let start = match at % 3 {
            0 => Vec::new(),
            1 => request(OpFlags::NONE)[..30].to_vec(),
            _ => noise.bytes(200),
        };
        drop(stream.write_all(&start));
    }
    let began = Instant::now();
    asks_over_tcp(&server);
    assert!(began.elapsed() < Duration::from_secs(2));
    // A length that lies is refused, and not waited for.
    let mut lie = request(OpFlags::NONE);
    lie[16..20].copy_from_slice(&0x7FFF_FFFF_u32.to_be_bytes());
    let reply = native::message(&native::over_tcp(server.native, &lie));
    assert_eq!(reply.outcome(), ResponseCode::ProtocolError);
}

#[test]
fn requests_on_one_connection_are_answered_in_their_order() {
    let server = server();
    let mut stream = TcpStream::connect(server.native).unwrap();
    let mut requests = Vec::new();
    for number in 0..50_u32 {
        let mut one = request(OpFlags::KC);
        one[8..12].copy_from_slice(&number.to_be_bytes());
        requests.extend(one);
    }
    stream.write_all(&requests).unwrap();
    for number in 0..50_u32 {
        let mut envelope = [0; 20];
        stream.read_exact(&mut envelope).unwrap();
        assert_eq!(envelope[8..12], number.to_be_bytes());
        let length = u32::from_be_bytes(envelope[16..20].try_into().unwrap());
        let mut rest = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut rest).unwrap();
        is_right(&[&envelope[..], &rest].concat());
    }
}

#[test]
fn http_that_is_no_tunnel_is_answered_as_what_it_is() {
    let server = server();
    for (text, status) in [
        (
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            200,
        ),
        ("nonsense\r\n\r\n", 400),
    ] {
        let reply = server.raw(text.as_bytes());
        assert_eq!(reply.status, status, "{}", reply.head);
    }
}
