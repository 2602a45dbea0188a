//! Mirrors of a server: what a restore means to them, and how many are served at once. What is in
//! the streams is looked at from outside, in `tests/native`.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads the clock"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use handfast_registry::{NewAuthority, NewName, NewValue, Principal, Registry};
use handfast_testing::{Login, OPERATOR, Server, Setup, clock, native};
use handfast_wire::body::{Body, DumpRequest, Receiver, ReplicationPoint, RetrieveRequest};
use handfast_wire::crypto::SecretAlgorithm;
use handfast_wire::{Codec, Envelope, Message, Opcode, Reader, ResponseCode, Version};

const ALL: Receiver = Receiver {
    hash_option: 2,
    server_count: 1,
    server_number: 0,
};

fn registry(folder: &Path) -> Registry {
    let registry = Registry::create(folder, clock::system()).unwrap();
    registry
        .create_authority(&OPERATOR, "20.1000", NewAuthority::default())
        .unwrap();
    let name = NewName {
        values: vec![NewValue::new(300, "HS_SECKEY", b"secret")],
        ..NewName::default()
    };
    registry
        .create_name(&OPERATOR, "20.1000/mirror", name)
        .unwrap();
    registry
}

fn serve(registry: Registry) -> Source {
    let mirror = Principal::parse("300:20.1000/mirror").unwrap();
    let setup = Setup::new().context(|context| context.with_replicators(vec![mirror]));
    Source(setup.serve(registry))
}

/// The server that is mirrored.
struct Source(Server);

impl Source {
    /// Says one message, and reads the first of the reply.
    fn say(&self, message: &[u8]) -> (TcpStream, Message<'static>) {
        let mut stream = TcpStream::connect(self.0.native).unwrap();
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).unwrap();
        stream.write_all(message).unwrap();
        let mut bytes = vec![0; Envelope::LENGTH];
        stream.read_exact(&mut bytes).unwrap();
        let envelope = Envelope::decode(&mut Reader::new(&bytes)).unwrap();
        bytes.resize(Envelope::LENGTH + envelope.length as usize, 0);
        stream.read_exact(&mut bytes[Envelope::LENGTH..]).unwrap();
        let reply = Message::from_bytes(&bytes).unwrap().into_owned();
        (stream, reply)
    }

    /// Asks for something as the mirror: the reply, and the connection that its stream comes by.
    fn ask<'b>(&self, opcode: Opcode, body: &impl Body<'b>) -> (TcpStream, ResponseCode) {
        let request = native::request(opcode, body, 0, Version::CURRENT);
        let (_, reply) = self.say(&request);
        assert_eq!(reply.outcome(), ResponseCode::AuthenticationNeeded);
        let algorithm = SecretAlgorithm::for_version(Version::CURRENT);
        let mirror = Login::with_algorithm("300:20.1000/mirror", b"secret", algorithm);
        let (stream, reply) = self.say(&mirror.response(&reply));
        (stream, reply.outcome())
    }

    fn dump(&self) -> (TcpStream, ResponseCode) {
        let request = DumpRequest {
            receiver: ALL,
            resume: None,
        };
        self.ask(Opcode::DumpHandles, &request)
    }

    /// The point from which a mirror that copies everything now will follow.
    fn copy(&self) -> ReplicationPoint<'static> {
        let (stream, outcome) = self.dump();
        assert_eq!(outcome, ResponseCode::Success);
        let blocks = read_all(stream);
        assert_eq!(blocks.last(), Some(&0xFF));
        let mut reader = Reader::new(&blocks);
        assert_eq!(block(&mut reader, 4), [0, 0, 0, 2]);
        let record = block(&mut reader, 17);
        assert_eq!(record[0], 0);
        ReplicationPoint::Last {
            transaction: i64::from_be_bytes(record[9..17].try_into().unwrap()),
            date: i64::from_be_bytes(record[1..9].try_into().unwrap()),
        }
    }

    /// What the stream of transactions since a point begins with.
    fn status_since(&self, since: &ReplicationPoint<'static>) -> Vec<u8> {
        let request = RetrieveRequest {
            since: since.clone(),
            receiver: ALL,
        };
        let (stream, outcome) = self.ask(Opcode::RetrieveTransactions, &request);
        assert_eq!(outcome, ResponseCode::Success);
        block(&mut Reader::new(&read_all(stream)), 8)
    }
}

/// The stream behind a reply, without what it begins with.
fn read_all(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.u32().unwrap(), 0);
    assert_eq!(reader.text().unwrap(), "SHA-256");
    reader.rest().to_vec()
}

fn block(reader: &mut Reader<'_>, length: usize) -> Vec<u8> {
    let block = reader.take(length).unwrap().to_vec();
    assert_eq!(reader.bytes().unwrap().len(), 256);
    block
}

const SENDING: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 2];
const COPY_ANEW: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];

/// A mirror that has seen what was lost would keep it for ever.
#[test]
fn mirrors_of_a_restored_registry_copy_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(registry(&folder.path().join("first")));
    let backup = folder.path().join("backup");
    server.0.registry.backup(&backup).unwrap();
    let of_the_backup = server.copy();
    let lost = NewName::urls(&["https://example.org/lost"]);
    server
        .0
        .registry
        .create_name(&OPERATOR, "20.1000/lost", lost)
        .unwrap();
    let of_what_is_lost = server.copy();
    assert_eq!(server.status_since(&of_the_backup), SENDING);
    assert_eq!(server.status_since(&of_what_is_lost), SENDING);
    std::thread::sleep(Duration::from_millis(5));

    let restored =
        Registry::restore(&backup, &folder.path().join("second"), clock::system()).unwrap();
    let server = serve(restored);
    let name = NewName::urls(&["https://example.org/new"]);
    server
        .0
        .registry
        .create_name(&OPERATOR, "20.1000/new", name)
        .unwrap();
    assert_eq!(server.status_since(&of_what_is_lost), COPY_ANEW);
    assert_eq!(server.status_since(&of_the_backup), COPY_ANEW);
    let anew = server.copy();
    assert_eq!(server.status_since(&anew), SENDING);
}

#[test]
fn mirrors_that_do_not_read_keep_others_waiting_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(&folder.path().join("data"));
    let large = vec![b'x'; 60_000];
    // More than the buffers of a connection hold.
    for number in 0..300 {
        let name = NewName {
            values: vec![NewValue::new(1, "DESC", &large)],
            ..NewName::default()
        };
        let id = format!("20.1000/{number}");
        registry.create_name(&OPERATOR, &id, name).unwrap();
    }
    let server = serve(registry);
    let mut idle: Vec<_> = (0..4)
        .map(|_| {
            let (stream, outcome) = server.dump();
            assert_eq!(outcome, ResponseCode::Success);
            stream
        })
        .collect();
    assert_eq!(server.dump().1, ResponseCode::ServerTooBusy);
    // Changes go on.
    let name = NewName::urls(&["https://example.org/"]);
    server
        .0
        .registry
        .create_name(&OPERATOR, "20.1000/meanwhile", name)
        .unwrap();
    idle.pop();
    let since = Instant::now();
    while server.dump().1 == ResponseCode::ServerTooBusy {
        assert!(since.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    // One that reads after all gets everything.
    let blocks = read_all(idle.pop().unwrap());
    assert_eq!(blocks.last(), Some(&0xFF));
    assert!(blocks.len() > 300 * large.len());
}
