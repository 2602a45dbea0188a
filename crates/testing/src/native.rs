//! Messages of the handle protocol, written and read by themselves.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::time::Duration;

use handfast_wire::body::{Body, Challenge, ChallengeAnswer, ResolutionRequest};
use handfast_wire::crypto::{
    SecretAlgorithm, SigningKey, answer_with_key, answer_with_secret, read_private_key,
};
use handfast_wire::{
    Codec, Envelope, Header, Message, OpFlags, Opcode, Reference, ResponseCode, Version,
};

/// The number of every request.
pub const REQUEST_ID: u32 = 77;

/// A request in a session, in a version of the protocol.
pub fn request<'b>(
    opcode: Opcode,
    body: &impl Body<'b>,
    session_id: u32,
    version: Version,
) -> Vec<u8> {
    let header = Header::request(opcode, u32::MAX / 2);
    request_with(header, body, session_id, version)
}

/// The same with another header.
pub fn request_with<'b>(
    header: Header,
    body: &impl Body<'b>,
    session_id: u32,
    version: Version,
) -> Vec<u8> {
    let envelope = Envelope {
        request_id: REQUEST_ID,
        session_id,
        suggested: version,
        ..Envelope::new(version)
    };
    Message::new(envelope, header, body).to_bytes()
}

/// A request for all values of a handle, with these flags and no others.
pub fn resolution(handle: &str, flags: OpFlags) -> Vec<u8> {
    let header = Header {
        flags,
        ..Header::request(Opcode::Resolution, u32::MAX / 2)
    };
    request_with(header, &ResolutionRequest::all(handle), 0, Version::CURRENT)
}

/// A socket for datagrams to one address.
pub fn udp(to: SocketAddr, timeout: Duration) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(to).unwrap();
    socket.set_read_timeout(Some(timeout)).unwrap();
    socket
}

/// Sends a datagram: the reply, if there is one in this time.
pub fn over_udp(to: SocketAddr, bytes: &[u8], timeout: Duration) -> Option<Vec<u8>> {
    let socket = udp(to, timeout);
    socket.send(bytes).unwrap();
    let mut reply = vec![0; 2_048];
    let length = socket.recv(&mut reply).ok()?;
    reply.truncate(length);
    Some(reply)
}

/// Sends bytes over TCP: everything that comes until the server closes.
pub fn over_tcp(to: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).unwrap();
    let timeout = Some(Duration::from_mins(1));
    stream.set_read_timeout(timeout).unwrap();
    stream.write_all(bytes).unwrap();
    let mut reply = Vec::new();
    drop(stream.read_to_end(&mut reply));
    reply
}

/// Reads a message.
pub fn message(bytes: &[u8]) -> Message<'static> {
    Message::from_bytes(bytes).unwrap().into_owned()
}

/// What a server answers to a request over TCP. A challenge is answered, if there is a login.
pub fn ask<'b>(
    to: SocketAddr,
    opcode: Opcode,
    body: &impl Body<'b>,
    login: Option<&Login>,
) -> Message<'static> {
    let request = request(opcode, body, 0, Version::CURRENT);
    let reply = message(&over_tcp(to, &request));
    let is_challenge = reply.outcome() == ResponseCode::AuthenticationNeeded;
    match login.filter(|_| is_challenge) {
        Some(login) => message(&over_tcp(to, &login.response(&reply))),
        None => reply,
    }
}

/// Somebody who can answer a challenge.
pub struct Login {
    handle: String,
    index: u32,
    proof: Proof,
}

enum Proof {
    Key(Box<SigningKey>),
    Secret(Vec<u8>, SecretAlgorithm),
}

impl Login {
    /// With a private key in a file.
    pub fn with_file(identity: &str, file: &Path) -> Self {
        let key = read_private_key(&fs::read(file).unwrap(), None).unwrap();
        let key = Box::new(SigningKey::new(key).unwrap());
        Self::new(identity, Proof::Key(key))
    }

    /// With a secret, by the algorithm that all versions know.
    pub fn with_secret(identity: &str, secret: &str) -> Self {
        Self::with_algorithm(identity, secret.as_bytes(), SecretAlgorithm::Sha1)
    }

    /// With a secret, by an algorithm.
    pub fn with_algorithm(identity: &str, secret: &[u8], algorithm: SecretAlgorithm) -> Self {
        Self::new(identity, Proof::Secret(secret.to_vec(), algorithm))
    }

    fn new(identity: &str, proof: Proof) -> Self {
        let (index, handle) = identity.split_once(':').unwrap();
        Self {
            handle: handle.to_string(),
            index: index.parse().unwrap(),
            proof,
        }
    }

    /// The answer to a challenge.
    pub fn answer(&self, challenge: &Message<'_>) -> ChallengeAnswer<'static> {
        let asked: Challenge<'_> = challenge.read().unwrap();
        let (nonce, digest) = (&*asked.nonce, asked.digest.as_bytes());
        let (kind, response) = match &self.proof {
            Proof::Key(key) => {
                let version = challenge.envelope.version;
                let answer = answer_with_key(key, version, nonce, digest);
                ("HS_PUBKEY", answer.unwrap())
            }
            Proof::Secret(secret, algorithm) => {
                let answer = answer_with_secret(secret, *algorithm, nonce, digest, &[7; 16]);
                ("HS_SECKEY", answer.unwrap())
            }
        };
        ChallengeAnswer {
            authentication_type: kind.into(),
            key: Reference::new(self.handle.clone(), self.index),
            response: response.into(),
        }
    }

    /// The message with that answer.
    pub fn response(&self, challenge: &Message<'_>) -> Vec<u8> {
        let session_id = challenge.envelope.session_id;
        let version = challenge.envelope.version;
        let opcode = Opcode::ChallengeResponse;
        request(opcode, &self.answer(challenge), session_id, version)
    }
}
