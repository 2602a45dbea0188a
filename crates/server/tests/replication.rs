//! Mirrors of a server: what a restore means to them, and how many are served at once. What is in
//! the streams is looked at from outside, in `tests/native`.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads the clock"
)]

mod world;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use handfast_registry::{NewAuthority, NewName, NewValue, Principal, Registry};
use handfast_server::{Identity, Listener, RunningServer, ServerContext};
use handfast_wire::body::{
    Body, Challenge, ChallengeAnswer, DumpRequest, Receiver, ReplicationPoint, RetrieveRequest,
};
use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret};
use handfast_wire::{
    Codec, Envelope, Header, Message, Opcode, Reader, Reference, ResponseCode, Version,
};
use world::world;

const OPERATOR: Principal = Principal::Operator;
const ALL: Receiver = Receiver {
    hash_option: 2,
    server_count: 1,
    server_number: 0,
};

fn registry(folder: &Path) -> Registry {
    let registry = Registry::create(folder, world()).unwrap();
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

/// A server, and where it is.
struct Server {
    _served: RunningServer,
    registry: Arc<Registry>,
    address: SocketAddr,
}

fn serve(registry: Registry) -> Server {
    let registry = Arc::new(registry);
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::bind(any, any).unwrap();
    let address = listener.addresses().native;
    let identity = Identity::open_or_make(registry.folder(), listener.addresses()).unwrap();
    let mirror = Principal::parse("300:20.1000/mirror").unwrap();
    let context = ServerContext::new(Arc::clone(&registry), identity, world(), Vec::new())
        .with_replicators(vec![mirror]);
    Server {
        _served: listener
            .open(context, handfast_server::WebSettings::default())
            .unwrap(),
        registry,
        address,
    }
}

impl Server {
    /// Says one message, and reads the first of the reply.
    fn say(&self, message: &Message<'_>) -> (TcpStream, Message<'static>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).unwrap();
        stream.write_all(&message.to_bytes()).unwrap();
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
        let header = Header::request(opcode, u32::MAX / 2);
        let request = Message::new(Envelope::new(Version::CURRENT), header, body);
        let (_, reply) = self.say(&request);
        assert_eq!(reply.outcome(), ResponseCode::AuthenticationNeeded);
        let challenge: Challenge<'_> = reply.read().unwrap();
        let digest = challenge.digest.as_bytes();
        let algorithm = SecretAlgorithm::for_version(Version::CURRENT);
        let response =
            answer_with_secret(b"secret", algorithm, &challenge.nonce, digest, &[1; 16]).unwrap();
        let answer = ChallengeAnswer {
            authentication_type: "HS_SECKEY".into(),
            key: Reference::new("20.1000/mirror", 300),
            response: response.into(),
        };
        let envelope = Envelope {
            session_id: reply.envelope.session_id,
            ..Envelope::new(Version::CURRENT)
        };
        let header = Header::request(Opcode::ChallengeResponse, u32::MAX / 2);
        let (stream, reply) = self.say(&Message::new(envelope, header, &answer));
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
    server.registry.backup(&backup).unwrap();
    let of_the_backup = server.copy();
    let lost = NewName::urls(&["https://example.org/lost"]);
    server
        .registry
        .create_name(&OPERATOR, "20.1000/lost", lost)
        .unwrap();
    let of_what_is_lost = server.copy();
    assert_eq!(server.status_since(&of_the_backup), SENDING);
    assert_eq!(server.status_since(&of_what_is_lost), SENDING);
    std::thread::sleep(Duration::from_millis(5));

    let restored = Registry::restore(&backup, &folder.path().join("second"), world()).unwrap();
    let server = serve(restored);
    let name = NewName::urls(&["https://example.org/new"]);
    server
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
