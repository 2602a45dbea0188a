//! Test servers that lose messages, lie, refer and stay silent.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{any, client, seconds};
use handfast_client::{
    Client, ClientError, Login, Query, ReplyFault, Resolution, Roots, ServerAddress, Transport,
};
use handfast_wire::body::{
    Body, Challenge, ErrorReply, Referral, ResolutionReply, ResolutionRequest,
};
use handfast_wire::crypto::{PrivateKey, SigningKey, sign_message};
use handfast_wire::{
    Codec, Framing, Header, Message, OpFlags, Opcode, Reference, RequestDigest, Responder,
    ResponseCode, Site, SiteInterface, SiteServer, Value, Version, packets,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::Instant;

/// The address of a test server, and the number of messages it has seen.
struct StandIn {
    address: SocketAddr,
    seen: Arc<AtomicU32>,
}

impl StandIn {
    /// Answers datagrams.
    async fn udp(
        answer: impl FnMut(&Message<'_>, u32) -> Vec<Message<'static>> + Send + 'static,
    ) -> Self {
        let socket = UdpSocket::bind(any()).await.unwrap();
        Self::at(socket, answer)
    }

    fn at(
        socket: UdpSocket,
        mut answer: impl FnMut(&Message<'_>, u32) -> Vec<Message<'static>> + Send + 'static,
    ) -> Self {
        let (address, seen) = (socket.local_addr().unwrap(), Arc::new(AtomicU32::new(0)));
        let count = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut buffer = [0; 2_048];
            loop {
                let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                let number = count.fetch_add(1, Ordering::Relaxed);
                let request = Message::from_bytes(&buffer[..length]).unwrap();
                for reply in answer(&request, number) {
                    for packet in packets(&reply.envelope, &reply.payload()) {
                        socket.send_to(&packet, from).await.unwrap();
                    }
                }
            }
        });
        Self { address, seen }
    }

    /// Answers connections with bytes.
    async fn tcp(answer: impl FnMut(&Message<'_>) -> Vec<u8> + Send + 'static) -> Self {
        Self::listening(TcpListener::bind(any()).await.unwrap(), answer)
    }

    fn listening(
        listener: TcpListener,
        mut answer: impl FnMut(&Message<'_>) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(AtomicU32::new(0)));
        let count = Arc::clone(&seen);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                let mut envelope = [0; 20];
                stream.read_exact(&mut envelope).await.unwrap();
                let length = u32::from_be_bytes(envelope[16..].try_into().unwrap());
                let mut payload = vec![0; usize::try_from(length).unwrap()];
                stream.read_exact(&mut payload).await.unwrap();
                let bytes = [&envelope[..], &payload].concat();
                let request = Message::from_bytes(&bytes).unwrap();
                stream.write_all(&answer(&request)).await.unwrap();
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> u32 {
        self.seen.load(Ordering::Relaxed)
    }

    fn client(&self) -> Client {
        client().at(ServerAddress::from(self.address))
    }
}

fn responder() -> Responder {
    Responder {
        maximum: Version::CURRENT,
        site_serial: 1,
        is_primary: true,
        expiration: seconds() + Header::VALID_FOR,
    }
}

fn reply<'b>(request: &Message<'_>, code: ResponseCode, body: &impl Body<'b>) -> Message<'static> {
    let wants = request.header.flags.contains(OpFlags::RD);
    let digest = wants.then(|| RequestDigest::of(&request.signed_part(), Version::CURRENT));
    responder().reply(request, code, digest, body)
}

/// The right answer: a URL.
fn right(request: &Message<'_>) -> Message<'static> {
    let asked: ResolutionRequest<'_> = request.read().unwrap();
    let values = vec![Value::new(1, "URL", b"https://example.org/")];
    let body = ResolutionReply {
        handle: asked.handle,
        values,
    };
    reply(request, ResponseCode::Success, &body)
}

fn no(request: &Message<'_>, code: ResponseCode) -> Message<'static> {
    reply(request, code, &ErrorReply::new("no"))
}

async fn ask(client: &Client) -> Result<Resolution, ClientError> {
    client.resolve("20.1000/x", &Query::all()).await
}

fn fault(outcome: Result<Resolution, ClientError>) -> ReplyFault {
    match outcome {
        Err(ClientError::Reply { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_is_sent_again() {
    let server = StandIn::udp(|request, number| match number {
        0 | 1 => vec![],
        _ => vec![right(request)],
    })
    .await;
    let began = Instant::now();
    assert_eq!(ask(&server.client()).await.unwrap().values.len(), 1);
    assert_eq!(server.seen(), 3);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1_500) && took < Duration::from_millis(1_600));
}

#[tokio::test(start_paused = true)]
async fn when_datagrams_stay_unanswered_a_connection_is_made() {
    let silent = StandIn::udp(|_, _| vec![]).await;
    let listener = TcpListener::bind(silent.address).await.unwrap();
    let answering = StandIn::listening(listener, |request| right(request).to_bytes());
    let began = Instant::now();
    assert!(ask(&silent.client()).await.is_ok());
    assert_eq!((silent.seen(), answering.seen()), (3, 1));
    assert!(began.elapsed() >= Duration::from_secs(3));
    // By UDP alone there is no answer.
    let error = ask(&silent.client().by(Transport::Udp)).await;
    assert!(
        matches!(error, Err(ClientError::Network { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn where_nobody_is_it_is_said_at_once() {
    let free = UdpSocket::bind(any()).await.unwrap().local_addr().unwrap();
    let error = ask(&client().at(ServerAddress::from(free))).await;
    assert!(
        matches!(
            error,
            Err(ClientError::Network {
                was_sent: false,
                ..
            })
        ),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn replies_to_other_requests_are_ignored_in_datagrams_and_refused_on_connections() {
    let other = |request: &Message<'_>| {
        let mut reply = no(request, ResponseCode::HandleNotFound);
        reply.envelope.request_id ^= 1;
        reply
    };
    let server = StandIn::udp(move |request, _| vec![other(request), right(request)]).await;
    assert!(ask(&server.client()).await.is_ok());
    let server = StandIn::tcp(move |request| other(request).to_bytes()).await;
    let outcome = ask(&server.client().by(Transport::Tcp)).await;
    assert_eq!(fault(outcome), ReplyFault::RequestId);
    // An unreadable message has no number.
    let server = StandIn::tcp(|_| {
        let text = "Invalid message length";
        let error = responder().error(u32::MAX, ResponseCode::ProtocolError, text);
        error.to_bytes()
    })
    .await;
    let error = ask(&server.client().by(Transport::Tcp)).await.unwrap_err();
    assert_eq!(error.code(), Some(ResponseCode::ProtocolError));
}

#[tokio::test]
async fn replies_that_have_expired_are_refused() {
    for expiration in [0, seconds() - 1, u32::MAX] {
        let server = StandIn::tcp(move |request| {
            let mut reply = right(request);
            reply.header.expiration = expiration;
            reply.to_bytes()
        })
        .await;
        let outcome = ask(&server.client().by(Transport::Tcp)).await;
        assert_eq!(fault(outcome), ReplyFault::Expired);
    }
}

#[tokio::test]
async fn replies_that_are_about_something_else_are_refused() {
    let server = StandIn::tcp(|request| {
        let body = ResolutionReply {
            handle: "20.1000/other".into(),
            values: vec![],
        };
        reply(request, ResponseCode::Success, &body).to_bytes()
    })
    .await;
    let outcome = ask(&server.client().by(Transport::Tcp)).await;
    assert_eq!(fault(outcome), ReplyFault::Handle);
    let server = StandIn::tcp(|request| {
        let mut reply = right(request);
        reply.header.opcode = Opcode::DeleteHandle;
        reply.to_bytes()
    })
    .await;
    let outcome = ask(&server.client().by(Transport::Tcp)).await;
    assert_eq!(fault(outcome), ReplyFault::Opcode);
}

#[tokio::test]
async fn lengths_that_lie_are_not_believed() {
    for bytes in [
        [[0; 16].to_vec(), vec![0x7F, 0xFF, 0xFF, 0xFF]].concat(),
        vec![2, 11, 2],
    ] {
        let server = StandIn::tcp(move |_| bytes.clone()).await;
        let error = ask(&server.client().by(Transport::Tcp)).await;
        assert!(
            matches!(error, Err(ClientError::Network { .. })),
            "{error:?}"
        );
    }
}

/// A site with one server that speaks TCP.
fn site_at(address: SocketAddr, public_key: Vec<u8>) -> Site {
    Site {
        version: 1,
        protocol: (2, 11),
        serial: 1,
        is_primary: true,
        hash_option: 2,
        servers: vec![SiteServer {
            id: 1,
            address: SiteServer::address_of(address.ip()),
            public_key,
            interfaces: vec![SiteInterface {
                kind: 3,
                protocol: 1,
                port: address.port().into(),
            }],
        }],
        ..Site::default()
    }
}

#[tokio::test]
async fn certified_replies_that_were_changed_are_refused() {
    let key = Arc::new(SigningKey::new(PrivateKey::generate().unwrap()).unwrap());
    let public = key.public_key().unwrap().to_bytes();
    let signed = move |request: &Message<'_>| {
        let reply = right(request);
        let framing = Framing::of(&reply.envelope);
        let credential = sign_message(&key, &framing, &reply.signed_part()).unwrap();
        reply.with_credential(credential.to_bytes())
    };
    let certified = |address| client().at(site_at(address, public.clone())).certified();
    let sign = signed.clone();
    let server = StandIn::tcp(move |request| sign(request).to_bytes()).await;
    assert!(ask(&certified(server.address)).await.unwrap().is_certified);
    // One bit of the URL; one of the signature; one of the request digest.
    for at in [-320, -1, 24 + 20 + 5_i32] {
        let sign = signed.clone();
        let server = StandIn::tcp(move |request| {
            let mut bytes = sign(request).to_bytes();
            let length = i32::try_from(bytes.len()).unwrap();
            let at = if at < 0 { length + at } else { at };
            bytes[usize::try_from(at).unwrap()] ^= 1;
            bytes
        })
        .await;
        let outcome = ask(&certified(server.address)).await;
        assert!(matches!(fault(outcome), ReplyFault::Signature(_)));
    }
    let server = StandIn::tcp(|request| right(request).to_bytes()).await;
    let outcome = ask(&certified(server.address)).await;
    assert_eq!(fault(outcome), ReplyFault::NotCertified);
    // Signed, but to another request.
    let sign = signed.clone();
    let server = StandIn::tcp(move |request| {
        let mut other = request.clone();
        other.header.site_serial ^= 1;
        sign(&other).to_bytes()
    })
    .await;
    let outcome = ask(&certified(server.address)).await;
    assert_eq!(fault(outcome), ReplyFault::Digest);
}

#[tokio::test]
async fn who_verifies_secrets_is_not_taken_from_an_answer_that_nobody_signed() {
    // A root whose answers an attacker replaces, without its signature.
    let root = StandIn::tcp(|request| {
        let evil = site_at("192.0.2.66:2641".parse().unwrap(), Vec::new());
        let value = Value::new(1, "HS_SITE", &evil.to_bytes()).into_owned();
        let body = ResolutionReply {
            handle: "0.NA/20.1000".into(),
            values: vec![value],
        };
        reply(request, ResponseCode::Success, &body).to_bytes()
    })
    .await;
    let key = SigningKey::new(PrivateKey::generate().unwrap()).unwrap();
    let public = key.public_key().unwrap().to_bytes();
    let client = client();
    client.set_roots(Roots::of_site(site_at(root.address, public)));
    let reference = Reference::new("20.1000/admin", 300);
    let outcome = client
        .verify(&reference, &[1; 16], &[2; 32], &[3; 33])
        .await;
    assert!(
        matches!(
            outcome,
            Err(ClientError::Reply {
                fault: ReplyFault::NotCertified,
                ..
            })
        ),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_challenge_to_another_request_is_not_answered() {
    let server = StandIn::tcp(|request| {
        let body = Challenge {
            digest: RequestDigest::of(b"delete everything", Version::CURRENT),
            nonce: vec![7; 16].into(),
        };
        let code = ResponseCode::AuthenticationNeeded;
        let mut reply = responder().reply(request, code, None, &body);
        reply.envelope.session_id = 5;
        reply.to_bytes()
    })
    .await;
    let login = Login::with_secret("300:20.1000/admin", b"secret").unwrap();
    let admin = server.client().with_login(login).without_session();
    let error = admin.delete("20.1000/x").await;
    assert!(matches!(
        error,
        Err(ClientError::Reply {
            fault: ReplyFault::Digest,
            ..
        })
    ));
    assert_eq!(server.seen(), 1);
}

#[tokio::test]
async fn an_error_leads_to_the_next_site_and_a_rejection_does_not() {
    let broken = StandIn::tcp(|request| no(request, ResponseCode::Error).to_bytes()).await;
    let answering = StandIn::tcp(|request| right(request).to_bytes()).await;
    let refusing =
        StandIn::tcp(|request| no(request, ResponseCode::ServerNotResponsible).to_bytes()).await;
    let roots = |stand_ins: &[&StandIn]| {
        let sites = stand_ins
            .iter()
            .map(|at| Roots::of_site(site_at(at.address, vec![])));
        sites.fold(Roots::default(), Roots::and)
    };
    let asked = client();
    let ask = async || asked.resolve("0.NA/20.1000", &Query::all()).await;
    asked.set_roots(roots(&[&broken, &answering]));
    assert!(ask().await.is_ok());
    assert_eq!((broken.seen(), answering.seen()), (1, 1));
    let asked = client();
    asked.set_roots(roots(&[&refusing, &answering]));
    let error = asked
        .resolve("0.NA/20.1000", &Query::all())
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(ResponseCode::ServerNotResponsible));
    assert_eq!((refusing.seen(), answering.seen()), (1, 1));
}

/// Refers to the sites given.
fn refer(request: &Message<'_>, value_type: &str, sites: &[Site]) -> Message<'static> {
    let data: Vec<_> = sites.iter().map(Codec::to_bytes).collect();
    let values = data.iter().zip(1..);
    let values = values.map(|(data, index)| Value::new(index, value_type, data));
    let body = Referral {
        handle: "".into(),
        values: values.collect(),
    };
    reply(request, ResponseCode::PrefixReferral, &body)
}

#[tokio::test]
async fn referrals_are_followed_but_not_from_a_server_that_was_chosen() {
    for value_type in ["HS_SITE.PREFIX", "HS_NA_DELEGATE", "HS_SITE"] {
        let hops = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&hops);
        let second = StandIn::tcp(move |request| {
            count.store(request.header.recursion_count.into(), Ordering::Relaxed);
            right(request).to_bytes()
        })
        .await;
        let site = site_at(second.address, vec![]);
        let first = StandIn::tcp(move |request| {
            refer(request, value_type, std::slice::from_ref(&site)).to_bytes()
        })
        .await;
        let asked = client();
        asked.set_roots(Roots::of_site(site_at(first.address, vec![])));
        let query = Query::all();
        let found = asked.resolve("0.NA/20.1000.1", &query).await.unwrap();
        assert_eq!(found.values.len(), 1);
        assert_eq!(hops.load(Ordering::Relaxed), 1);
        let chosen = asked.at(site_at(first.address, vec![]));
        let error = chosen.resolve("0.NA/20.1000.1", &query).await.unwrap_err();
        assert_eq!(error.code(), Some(ResponseCode::PrefixReferral));
        let followed = chosen.following_referrals();
        assert!(followed.resolve("0.NA/20.1000.1", &query).await.is_ok());
    }
}

#[tokio::test]
async fn servers_that_refer_without_end_are_left() {
    let listener = TcpListener::bind(any()).await.unwrap();
    let site = site_at(listener.local_addr().unwrap(), vec![]);
    let itself = site.clone();
    let server = StandIn::listening(listener, move |request| {
        refer(request, "HS_SITE.PREFIX", std::slice::from_ref(&itself)).to_bytes()
    });
    let asked = client();
    asked.set_roots(Roots::of_site(site));
    let error = asked.resolve("0.NA/20.1000.1", &Query::all()).await;
    assert!(
        matches!(error, Err(ClientError::Referrals { .. })),
        "{error:?}"
    );
    assert_eq!(server.seen(), 41);
}

#[tokio::test]
async fn services_lead_to_sites_and_circles_of_them_nowhere() {
    let listener = TcpListener::bind(any()).await.unwrap();
    let site = site_at(listener.local_addr().unwrap(), vec![]);
    let data = site.to_bytes();
    let server = StandIn::listening(listener, move |request| {
        let asked: ResolutionRequest<'_> = request.read().unwrap();
        let values = match &*asked.handle {
            "0.NA/20.1000" => vec![Value::new(1, "HS_SERV", b"0.SERV/a")],
            "0.SERV/a" => vec![
                Value::new(1, "HS_SERV", b"0.SERV/b"),
                Value::new(2, "HS_SERV", b"0.SERV/a"),
            ],
            "0.SERV/b" => vec![Value::new(1, "HS_SITE", &data)],
            "0.NA/30" => vec![Value::new(1, "HS_SERV", b"30/service")],
            "0.NA/40" => return no(request, ResponseCode::HandleNotFound).to_bytes(),
            _ => return right(request).to_bytes(),
        };
        let handle = asked.handle;
        let body = ResolutionReply { handle, values };
        reply(request, ResponseCode::Success, &body).to_bytes()
    });
    let asked = client();
    asked.set_roots(Roots::of_site(site));
    let query = Query::all();
    assert!(asked.resolve("20.1000/x", &query).await.is_ok());
    let asked_before = server.seen();
    assert_eq!(asked_before, 4);
    // The result is cached.
    assert!(asked.resolve("20.1000/y", &query).await.is_ok());
    assert_eq!(server.seen(), asked_before + 1);
    let error = asked.resolve("30/x", &query).await;
    assert!(
        matches!(error, Err(ClientError::Referrals { .. })),
        "{error:?}"
    );
    let error = asked.resolve("40/x", &query).await;
    assert!(
        matches!(error, Err(ClientError::NoService { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_request_says_what_deployed_clients_say() {
    let server = StandIn::tcp(|request| {
        // A server with only a known address is asked in 2.3, and offered 2.11.
        assert_eq!(request.envelope.version, Version::BLIND);
        assert_eq!(request.envelope.suggested, Version::CURRENT);
        assert_eq!(request.envelope.session_id, 0);
        assert!(request.envelope.request_id < 1 << 31);
        let header = &request.header;
        assert_eq!(header.flags.bits(), 0x1900_0000);
        assert_eq!((header.site_serial, header.recursion_count), (0xFFFF, 0));
        assert!(header.expiration.abs_diff(seconds() + 43_200) < 5);
        assert!(request.credential.is_empty());
        right(request).to_bytes()
    })
    .await;
    ask(&server.client().by(Transport::Tcp)).await.unwrap();
    // The version of a site is known.
    let server = StandIn::tcp(|request| {
        assert_eq!(request.envelope.version, Version::new(2, 10));
        assert_eq!(request.header.site_serial, 1);
        assert_eq!(request.header.flags.bits(), 0x8900_0000);
        assert_eq!(request.header.recursion_count, 3);
        right(request).to_bytes()
    })
    .await;
    let site = Site {
        protocol: (2, 10),
        ..site_at(server.address, vec![])
    };
    let asked = client().at(site).authoritative().passing_on(3);
    ask(&asked).await.unwrap();
}

#[tokio::test]
async fn site_information_that_is_out_of_date_is_asked_for_again() {
    let listener = TcpListener::bind(any()).await.unwrap();
    let site = site_at(listener.local_addr().unwrap(), vec![]);
    let (data, mut is_first) = (site.to_bytes(), true);
    let server = StandIn::listening(listener, move |request| {
        let asked: ResolutionRequest<'_> = request.read().unwrap();
        if asked.handle == "0.NA/20.1000" {
            let values = vec![Value::new(1, "HS_SITE", &data)];
            let handle = asked.handle;
            let body = ResolutionReply { handle, values };
            return reply(request, ResponseCode::Success, &body).to_bytes();
        }
        if std::mem::take(&mut is_first) {
            return no(request, ResponseCode::OutOfDateSiteInfo).to_bytes();
        }
        right(request).to_bytes()
    });
    let asked = client();
    asked.set_roots(Roots::of_site(site));
    assert!(ask(&asked).await.is_ok());
    assert_eq!(server.seen(), 4);
}

#[tokio::test]
async fn replies_that_were_damaged_are_taken_or_refused() {
    let mut noise = 0x1234_5678_9ABC_DEF1_u64;
    let mut next = move |limit: usize| {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        usize::try_from(noise % u64::try_from(limit).unwrap()).unwrap()
    };
    let server = StandIn::tcp(move |request| {
        let mut bytes = right(request).to_bytes();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            bytes[at] = u8::try_from(next(256)).unwrap();
        }
        bytes.truncate(bytes.len() - next(2) * next(bytes.len()));
        bytes
    })
    .await;
    let client = server.client().by(Transport::Tcp);
    for _ in 0..300 {
        let asking = tokio::time::timeout(Duration::from_millis(500), ask(&client));
        drop(asking.await);
    }
    assert_eq!(server.seen(), 300);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_future_stops_its_work() {
    let silent = StandIn::udp(|_, _| vec![]).await;
    let asking = tokio::time::timeout(Duration::from_millis(100), async {
        ask(&silent.client()).await
    });
    assert!(asking.await.is_err());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(silent.seen(), 1);
}

#[tokio::test]
async fn what_is_no_handle_server_is_told_by_its_http() {
    let listener = TcpListener::bind(any()).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for text in [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 1_000]).await.unwrap() > 0);
            stream.write_all(text.as_bytes()).await.unwrap();
        }
    });
    let at: ServerAddress = format!("http://{address}").parse().unwrap();
    for problem in ["HTTP status 404", "chunks", "end of file"] {
        let error = ask(&client().at(at.clone())).await.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
