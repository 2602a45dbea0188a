//! Logins over the native protocol: what they cost, what they tell, and that they count in the
//! table of REST.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::{NewName, NewValue};
use handfast_testing::{Login, OPERATOR, Response, native};
use handfast_wire::body::{
    Body, ErrorReply, HandleRequest, KeyExchange, RemoveRequest, ResolutionRequest, SessionSetup,
    ValuesRequest, VerifyReply, VerifyRequest,
};
use handfast_wire::crypto::{DhKeyPair, MODP_2048, SecretAlgorithm, answer_with_secret};
use handfast_wire::{
    Codec, Message, OpFlags, Opcode, Reference, ResponseCode, Value, Version, put_bytes,
};
use socket2::{Domain, Socket, Type};

use crate::server::{ADMIN, RestServer, Who};

const HERE: [u8; 4] = [127, 0, 0, 1];
const OTHER_NETWORK: [u8; 4] = [127, 0, 0, 2];

/// A connection from one of the addresses of this machine.
fn connect(to: SocketAddr, from: [u8; 4]) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::new(IpAddr::from(from), 0).into())
        .unwrap();
    socket.connect(&to.into()).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_mins(1)))
        .unwrap();
    socket.into()
}

fn send(server: &RestServer, from: [u8; 4], message: &[u8]) -> Message<'static> {
    let mut stream = connect(server.native, from);
    stream.write_all(message).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    native::message(&reply)
}

fn ask<'b>(server: &RestServer, opcode: Opcode, body: &impl Body<'b>) -> Message<'static> {
    send(
        server,
        HERE,
        &native::request(opcode, body, 0, Version::CURRENT),
    )
}

/// Asks, and answers the challenge.
fn ask_as<'b>(
    server: &RestServer,
    opcode: Opcode,
    body: &impl Body<'b>,
    who: &str,
    secret: &[u8],
) -> Message<'static> {
    let challenge = ask(server, opcode, body);
    assert_eq!(challenge.outcome(), ResponseCode::AuthenticationNeeded);
    let login = Login::with_algorithm(who, secret, SecretAlgorithm::Sha256);
    send(server, HERE, &login.response(&challenge))
}

fn verification(key: &str, secret: &[u8]) -> VerifyRequest<'static> {
    let algorithm = SecretAlgorithm::HmacSha256;
    let response = answer_with_secret(secret, algorithm, &[1; 16], &[2; 32], &[9; 16]).unwrap();
    let (index, handle) = key.split_once(':').unwrap();
    VerifyRequest {
        key: Reference::new(handle.to_string(), index.parse().unwrap()),
        nonce: vec![1; 16].into(),
        digest: vec![2; 32].into(),
        response: response.into(),
    }
}

/// One that costs much, and is wrong.
fn expensive(key: &str, iterations: u32) -> VerifyRequest<'static> {
    let mut response = vec![0x22];
    put_bytes(&mut response, &[3; 16]);
    response.extend(iterations.to_be_bytes());
    response.extend(160_u32.to_be_bytes());
    put_bytes(&mut response, &[4; 20]);
    VerifyRequest {
        response: response.into(),
        ..verification(key, b"x")
    }
}

fn verify(server: &RestServer, from: [u8; 4], secret: &[u8]) -> Result<bool, ResponseCode> {
    let body = verification("300:20.1000/ADMIN", secret);
    let request = native::request(Opcode::VerifyChallenge, &body, 0, Version::CURRENT);
    let reply = send(server, from, &request);
    match reply.outcome() {
        ResponseCode::Success => Ok(reply.read::<VerifyReply>().unwrap().is_match),
        code => Err(code),
    }
}

fn login_over_rest(server: &RestServer, who: Who) -> Response {
    server.ask(who, "GET /api/handles/20.1000/p1?index=1", &[], "")
}

/// 29,000 secrets a second were tried natively, and the limit was that of REST alone.
#[test]
fn failed_logins_over_the_native_protocol_count_for_rest() {
    let server = RestServer::start();
    let told: Vec<_> = (0..25).map(|_| verify(&server, HERE, b"wrong")).collect();
    assert_eq!(told[..20], [Ok(false); 20]);
    assert_eq!(told[20..], [Err(ResponseCode::ServerTooBusy); 5]);
    // The right one is not told either, however it is sent.
    assert_eq!(
        verify(&server, HERE, b"secret"),
        Err(ResponseCode::ServerTooBusy)
    );
    assert_eq!(login_over_rest(&server, ADMIN).status, 503);
    let delete = HandleRequest::new("20.1000/p1");
    let deleted = ask_as(
        &server,
        Opcode::DeleteHandle,
        &delete,
        "300:20.1000/ADMIN",
        b"secret",
    );
    assert_eq!(deleted.outcome(), ResponseCode::ServerTooBusy);
    let body = verification("300:20.1000/ADMIN", b"secret");
    let tunnelled = native::request(Opcode::VerifyChallenge, &body, 0, Version::CURRENT);
    let kind = "application/x-hdl-message";
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: \
         {kind}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        tunnelled.len()
    );
    let reply = server.raw(&[head.as_bytes(), &tunnelled].concat());
    let reply = Message::from_bytes(&reply.bytes).unwrap();
    assert_eq!(reply.outcome(), ResponseCode::ServerTooBusy);
    // Nobody else waits.
    assert_eq!(verify(&server, OTHER_NETWORK, b"secret"), Ok(true));
}

#[test]
fn failed_logins_over_rest_count_for_the_native_protocol() {
    let server = RestServer::start();
    let wrong = Who::Basic("300%3A20.1000/ADMIN:wrong");
    for _ in 0..10 {
        assert_eq!(login_over_rest(&server, wrong).status, 401);
    }
    let delete = HandleRequest::new("20.1000/p1");
    for _ in 0..10 {
        let who = "300:20.1000/admin";
        let deleted = ask_as(&server, Opcode::DeleteHandle, &delete, who, b"wrong");
        assert_eq!(deleted.outcome(), ResponseCode::AuthenticationFailed);
    }
    let base64 = |bytes: &[u8]| BASE64_STANDARD.encode(bytes).replace('+', "%2B");
    let verification = format!(
        "GET /api/verifications/300:20.1000/ADMIN?nonce={0}&cnonce={0}&signature={1}&alg=SHA256",
        base64(&[1; 16]),
        base64(&[2; 32])
    );
    let reply = server.ask(Who::Nobody, &verification, &[], "");
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert_eq!(
        verify(&server, HERE, b"secret"),
        Err(ResponseCode::ServerTooBusy)
    );
    assert_eq!(login_over_rest(&server, ADMIN).status, 503);
}

/// Anybody can forge the addresses of others over UDP, and would have locked them out.
#[test]
fn failed_logins_over_udp_do_not_lock_clients_out_of_tcp() {
    let server = RestServer::start();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.native).unwrap();
    let ask = |secret: &[u8]| {
        let body = verification("300:20.1000/ADMIN", secret);
        let request = native::request(Opcode::VerifyChallenge, &body, 0, Version::CURRENT);
        socket.send(&request).unwrap();
        let mut reply = [0; 2_048];
        let length = socket.recv(&mut reply).ok()?;
        let reply = Message::from_bytes(&reply[..length]).unwrap();
        Some(reply.read::<VerifyReply>().unwrap().is_match)
    };
    let wait = |millis| socket.set_read_timeout(Some(Duration::from_millis(millis)));
    wait(10_000).unwrap();
    let told: Vec<_> = (0..20).map(|_| ask(b"wrong")).collect();
    assert_eq!(told, [Some(false); 20]);
    // Who hears nothing asks over TCP.
    wait(500).unwrap();
    assert_eq!(ask(b"secret"), None);
    assert_eq!(verify(&server, HERE, b"secret"), Ok(true));
}

/// One packet cost 38 seconds for a name with 2,000 secrets, and 64 of them kept the API waiting
/// for minutes, though their senders had gone.
#[test]
fn a_name_with_many_secrets_costs_little_and_keeps_nobody_waiting() {
    let server = RestServer::start();
    let values = (1..=2_000).map(|index| NewValue::new(index, "HS_SECKEY", b"secret"));
    let name = NewName {
        values: values.collect(),
        ..NewName::default()
    };
    let created = server.registry.create_name(&OPERATOR, "20.1000/many", name);
    created.unwrap();
    let native = server.native;
    let attack = expensive("0:20.1000/many", 100_000);
    let attack = native::request(Opcode::VerifyChallenge, &attack, 0, Version::CURRENT);
    let began = Instant::now();
    assert_eq!(
        send(&server, OTHER_NETWORK, &attack).outcome(),
        ResponseCode::Success
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    // They wait for an answer: those beyond what a network may have waiting are told that the
    // server is busy.
    let mut open: Vec<_> = (0..300)
        .map(|number| {
            let from = [127, 0, 0, u8::try_from(2 + number % 5).unwrap()];
            let mut stream = connect(native, from);
            stream.write_all(&attack).unwrap();
            stream
        })
        .collect();
    for number in 0..20 {
        let began = Instant::now();
        let path = format!("/api/handles/20.1000/new-{number}");
        let value = r#"[{"index":1,"type":"URL","data":"http://x/"}]"#;
        assert_eq!(server.put(ADMIN, &path, value).status, 201);
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "{:?}",
            began.elapsed()
        );
    }
    // Those who have gone are not worked for: another network is answered, and what is left is soon
    // over.
    open.truncate(5);
    let began = Instant::now();
    let own = expensive("300:20.1000/ADMIN", 10_000);
    let own = native::request(Opcode::VerifyChallenge, &own, 0, Version::CURRENT);
    assert_eq!(send(&server, HERE, &own).outcome(), ResponseCode::Success);
    let last = send(&server, OTHER_NETWORK, &attack).outcome();
    assert_eq!(last, ResponseCode::Success);
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

/// Who claimed to be an administrator, and showed nothing, was told which names are reserved and
/// who has rights.
#[test]
fn who_has_not_shown_who_they_are_hears_nothing() {
    let server = RestServer::start();
    let reserved = NewName {
        reserve: true,
        ..NewName::default()
    };
    let created = server
        .registry
        .create_name(&OPERATOR, "20.1000/reserved", reserved);
    created.unwrap();
    let create = |handle: &'static str| ValuesRequest {
        handle: handle.into(),
        values: vec![Value::new(1, "URL", b"http://x/")],
    };
    let told = |who: &str, handle: &'static str| {
        let reply = ask_as(
            &server,
            Opcode::CreateHandle,
            &create(handle),
            who,
            b"rubbish",
        );
        let text = reply
            .read::<ErrorReply<'_>>()
            .map(|reply| reply.message.into_owned());
        (reply.outcome(), text.unwrap())
    };
    let expected = (ResponseCode::AuthenticationFailed, String::new());
    for who in [
        "300:0.SITE/ADMIN",
        // Who may, who may not, whose key is of another type, who has none, who does not exist, who
        // is nobody's.
        "300:20.1000/ADMIN",
        "300:20.1000/LIMITED",
        "301:20.1000/ADMIN",
        "7:20.1000/ADMIN",
        "0:20.1000/ADMIN",
        "300:20.1000/nobody",
        "300:20.1000/reserved",
        "300:99.9/nobody",
    ] {
        for handle in ["20.1000/reserved", "20.1000/free"] {
            assert_eq!(told(who, handle), expected, "{who} {handle}");
        }
    }
    // Of a record, only that of a value which everybody may read: 1 is public, 3 is hidden, 9 is
    // free.
    let values = |index| ValuesRequest {
        handle: "20.1000/p1".into(),
        values: vec![Value::new(index, "NOTE", b"x")],
    };
    let code = |opcode, index| ask(&server, opcode, &values(index)).outcome();
    let conflict = ResponseCode::ValueAlreadyExists;
    let unknown = ResponseCode::AuthenticationNeeded;
    assert_eq!(code(Opcode::AddValue, 1), conflict);
    assert_eq!(code(Opcode::AddValue, 3), unknown);
    assert_eq!(code(Opcode::AddValue, 9), unknown);
    assert_eq!(code(Opcode::ModifyValue, 3), unknown);
    assert_eq!(code(Opcode::ModifyValue, 9), unknown);
    for index in [3, 9] {
        let remove = RemoveRequest {
            handle: "20.1000/p1".into(),
            indexes: vec![index],
        };
        assert_eq!(
            ask(&server, Opcode::RemoveValue, &remove).outcome(),
            unknown
        );
    }
    // Who has logged in without rights hears no more, and who has rights, all.
    let code = |opcode, index, (who, secret): (&str, &[u8])| {
        ask_as(&server, opcode, &values(index), who, secret).outcome()
    };
    let limited: (&str, &[u8]) = ("300:20.1000/LIMITED", b"guest");
    let admin: (&str, &[u8]) = ("300:20.1000/ADMIN", b"secret");
    for opcode in [Opcode::AddValue, Opcode::ModifyValue] {
        for index in [3, 9] {
            let denied = ResponseCode::InvalidAdmin;
            assert_eq!(code(opcode, index, limited), denied, "{opcode} {index}");
        }
    }
    assert_eq!(code(Opcode::AddValue, 3, admin), conflict);
    let missing = ResponseCode::ValuesNotFound;
    assert_eq!(code(Opcode::ModifyValue, 9, admin), missing);
}

/// There was no way to refuse DES, MD5, and sessions whose messages can be replayed.
#[test]
fn a_minimum_version_is_asked_for_where_keys_are_used() {
    let minimum = Version::new(2, 7);
    let server = RestServer::start_with(move |context| context.with_minimum_version(Some(minimum)));
    let resolve = ResolutionRequest::all("20.1000/p1");
    let hidden = ResolutionRequest {
        indexes: vec![3],
        ..ResolutionRequest::all("20.1000/p1")
    };
    let mut random = |bytes: &mut [u8]| bytes.fill(7);
    let pair = DhKeyPair::generate(&MODP_2048, &[2], &mut random).unwrap();
    let set_up = SessionSetup {
        key_exchange: KeyExchange::DiffieHellman {
            public_key: pair.public_key().to_bytes().into(),
        },
        timeout: 60,
        identity: SessionSetup::ANONYMOUS,
    };
    let delete = HandleRequest::new("20.1000/p1");
    let verification = verification("300:20.1000/ADMIN", b"secret");
    for version in [(2, 1), (2, 3), (2, 6), (2, 7), (2, 11)] {
        let version = Version::new(version.0, version.1);
        let code = |request: Vec<u8>| send(&server, HERE, &request).outcome();
        let is_old = version < minimum;
        let or = |otherwise| {
            if is_old {
                ResponseCode::ProtocolError
            } else {
                otherwise
            }
        };
        let public = code(native::request(Opcode::Resolution, &resolve, 0, version));
        assert_eq!(public, ResponseCode::Success, "{version}");
        let session = code(native::request(Opcode::SessionSetup, &set_up, 0, version));
        assert_eq!(session, or(ResponseCode::Success), "{version}");
        let verified = code(native::request(
            Opcode::VerifyChallenge,
            &verification,
            0,
            version,
        ));
        assert_eq!(verified, or(ResponseCode::Success), "{version}");
        let deleted = code(native::request(Opcode::DeleteHandle, &delete, 0, version));
        assert_eq!(deleted, or(ResponseCode::AuthenticationNeeded), "{version}");
        let mut hidden =
            Message::from_bytes(&native::request(Opcode::Resolution, &hidden, 0, version))
                .unwrap()
                .into_owned();
        hidden.header.flags = hidden.header.flags.without(OpFlags::PO);
        let hidden = code(hidden.to_bytes());
        assert_eq!(hidden, or(ResponseCode::AuthenticationNeeded), "{version}");
    }
    for (algorithm, code) in [
        (SecretAlgorithm::Md5, ResponseCode::AuthenticationError),
        (SecretAlgorithm::Sha1, ResponseCode::AuthenticationError),
        (SecretAlgorithm::Pbkdf2HmacSha1, ResponseCode::Success),
    ] {
        let challenge = ask(&server, Opcode::DeleteHandle, &delete);
        let login = Login::with_algorithm("300:20.1000/ADMIN", b"secret", algorithm);
        let answered = send(&server, HERE, &login.response(&challenge));
        assert_eq!(answered.outcome(), code);
    }
}

/// 16 MB of requests that nobody answered pushed out the challenges of everybody else.
#[test]
fn long_requests_of_others_do_not_push_out_a_challenge() {
    let server = RestServer::start();
    let delete = HandleRequest::new("20.1000/p1");
    let challenge = ask(&server, Opcode::DeleteHandle, &delete);
    let long = ValuesRequest {
        handle: "20.1000/p1".into(),
        values: vec![Value::new(77, "NOTE", &[0; 250_000])],
    };
    let long = native::request(Opcode::AddValue, &long, 0, Version::CURRENT);
    for number in 0..100 {
        let from = [127, 0, 0, 2 + number % 4];
        let code = send(&server, from, &long).outcome();
        assert_eq!(code, ResponseCode::AuthenticationNeeded);
    }
    let algorithm = SecretAlgorithm::Pbkdf2HmacSha1;
    let login = Login::with_algorithm("300:20.1000/ADMIN", b"secret", algorithm);
    let code = send(&server, HERE, &login.response(&challenge)).outcome();
    assert_eq!(code, ResponseCode::Success);
}
