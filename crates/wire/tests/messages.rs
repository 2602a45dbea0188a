//! The messages of `handle-protocol.md` Appendix B, byte for byte in both directions.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;

use handfast_wire::body::{
    Body, Challenge, ChallengeAnswer, CreateReply, DhOffer, DumpRequest, ErrorReply, HandleRequest,
    KeyExchange, ListReply, Receiver, Referral, ReplicationPoint, Reply, Request, ResolutionReply,
    ResolutionRequest, RetrieveRequest, SessionSetup, SessionSetupReply, ValuesRequest,
    VerifyReply, VerifyRequest,
};
use handfast_wire::{
    Admin, AdminPermissions, Codec, DecodeError, Envelope, Header, Message, OpFlags, Opcode,
    PublicKey, Reader, Reference, RequestDigest, Responder, ResponseCode, RootInfo, Value, Version,
};

const EXPIRATION: u32 = 1_700_043_200;
const HANDLE: &str = "20.500.12345/abc";
const PREFIX_HANDLE: &str = "0.NA/20.500.12345";
const PRIMARY: Responder = Responder {
    maximum: Version::CURRENT,
    site_serial: 1,
    is_primary: true,
    expiration: EXPIRATION,
};
const MIRROR: Responder = Responder {
    is_primary: false,
    ..PRIMARY
};

macro_rules! vector {
    ($name:literal) => {
        hex(include_str!(concat!("../testdata/", $name, ".hex")))
    };
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

fn envelope(version: Version, session_id: u32, request_id: u32) -> Envelope {
    Envelope {
        session_id,
        request_id,
        ..Envelope::new(version)
    }
}

/// The message that asks for this, from a client that knows a site of serial number 1.
fn ask(request: &Request<'_>, envelope: Envelope) -> Message<'static> {
    let mut message = request.to_message(envelope, EXPIRATION);
    message.header.site_serial = 1;
    message
}

/// Encodes to these bytes, and they decode to it.
fn both_ways(message: &Message<'_>, bytes: &[u8]) {
    assert_eq!(message.to_bytes(), bytes);
    assert_eq!(&Message::from_bytes(bytes).unwrap(), message);
}

/// The body alone.
fn asks(message: &Message<'_>, request: &Request<'_>) {
    assert_eq!(&Request::of(message).unwrap(), request);
    assert_eq!(Reply::of(message).unwrap(), Reply::Request);
}

fn admin_data() -> Vec<u8> {
    let admin = Admin {
        permissions: AdminPermissions::ALL,
        administrator: Reference::new(PREFIX_HANDLE, 200),
    };
    admin.to_bytes()
}

fn values() -> Vec<Value<'static>> {
    let timestamp = 0x6553_F100;
    let data = admin_data();
    let admin = Value {
        timestamp,
        ..Value::new(100, "HS_ADMIN", &data)
    };
    let url = Value {
        timestamp,
        ..Value::new(1, "URL", b"https://example.org/abc")
    };
    vec![admin.into_owned(), url]
}

fn resolution_reply() -> ResolutionReply<'static> {
    ResolutionReply {
        handle: HANDLE.into(),
        values: values(),
    }
}

fn sha256(text: &str) -> RequestDigest {
    RequestDigest::Sha256(hex(text).try_into().unwrap())
}

#[test]
fn b_1_resolution_request() {
    let request = Request::Resolution(ResolutionRequest::all(HANDLE));
    let message = ask(&request, envelope(Version::BLIND, 0, 0x0102_0304));
    both_ways(&message, &vector!("b01-resolution-request"));
    asks(&message, &request);
}

#[test]
fn b_2_resolution_reply() {
    let request = vector!("b01-resolution-request");
    let request = Message::from_bytes(&request).unwrap();
    let reply = PRIMARY.reply(&request, ResponseCode::Success, None, &resolution_reply());
    both_ways(&reply, &vector!("b02-resolution-reply"));
    assert_eq!(reply.digest(), Ok(None));
    assert_eq!(
        Reply::of(&reply).unwrap(),
        Reply::Resolution(resolution_reply())
    );
}

#[test]
fn b_6_certified_resolution_request() {
    let request = Request::Resolution(ResolutionRequest {
        handle: HANDLE.into(),
        indexes: vec![100],
        types: vec!["URL".into(), "EMAIL".into()],
    });
    let mut message = ask(&request, envelope(Version::CURRENT, 0, 0x0102_0305));
    message.header.flags = OpFlags::CT | OpFlags::REC | OpFlags::CA | OpFlags::RD;
    let bytes = vector!("b06-certified-resolution-request");
    both_ways(&message, &bytes);
    asks(&message, &request);
    // The input of its digest.
    assert_eq!(message.signed_part(), bytes[0x14..=0x5B]);
}

#[test]
fn b_7_certified_resolution_reply() {
    let request = vector!("b06-certified-resolution-request");
    let request = Message::from_bytes(&request).unwrap();
    let digest = sha256("13c0632c1882206772862d11990d869adefc11e2f119189f7f65b3039a9a7e61");
    let bytes = vector!("b07-certified-resolution-reply");
    let code = ResponseCode::Success;
    let reply = PRIMARY
        .reply(&request, code, Some(digest), &resolution_reply())
        .with_credential(&bytes[0xDA..]);
    both_ways(&reply, &bytes);
    assert_eq!(reply.digest(), Ok(Some(digest)));
    assert_eq!(reply.payload(), bytes[0x14..]);
    assert_eq!(
        Reply::of(&reply).unwrap(),
        Reply::Resolution(resolution_reply())
    );
}

#[test]
fn b_8_handle_not_found() {
    let request = vector!("b01-resolution-request");
    let request = Message::from_bytes(&request).unwrap();
    let (code, error) = (ResponseCode::HandleNotFound, ErrorReply::default());
    let reply = PRIMARY.reply(&request, code, None, &error);
    both_ways(&reply, &vector!("b08-handle-not-found"));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Error(code, error));
}

#[test]
fn b_9_unread_request() {
    let code = ResponseCode::ProtocolError;
    let reply = PRIMARY.error(Envelope::UNREAD_REQUEST, code, "Invalid message length");
    both_ways(&reply, &vector!("b09-unread-request"));
    let error = ErrorReply::new("Invalid message length");
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Error(code, error));
}

#[test]
fn b_10_create_request() {
    let request = Request::CreateHandle(ValuesRequest {
        handle: HANDLE.into(),
        values: values(),
    });
    let message = ask(&request, envelope(Version::CURRENT, 0, 0x0A0B_0C0D));
    both_ways(&message, &vector!("b10-create-request"));
    asks(&message, &request);
}

#[test]
fn b_11_challenge() {
    let request = vector!("b10-create-request");
    let request = Message::from_bytes(&request).unwrap();
    let nonce: Vec<u8> = (0xA0..=0xAF).collect();
    let challenge = Challenge {
        digest: sha256("420549a747848e6fd6ad7b6ab51cc3d3fe99cebd95ef7775ed9b2a272a5a1632"),
        nonce: nonce.into(),
    };
    let code = ResponseCode::AuthenticationNeeded;
    let mut reply = PRIMARY.reply(&request, code, None, &challenge);
    reply.envelope.session_id = 5;
    both_ways(&reply, &vector!("b11-challenge"));
    assert_eq!(reply.digest(), Ok(Some(challenge.digest)));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Challenge(challenge));
}

#[test]
fn b_12_public_key_answer() {
    let bytes = vector!("b12-public-key-answer");
    let request = Request::ChallengeResponse(ChallengeAnswer {
        authentication_type: "HS_PUBKEY".into(),
        key: Reference::new(PREFIX_HANDLE, 300),
        response: bytes[0x56..0xE5].into(),
    });
    let message = ask(&request, envelope(Version::CURRENT, 5, 0x0A0B_0C0E));
    both_ways(&message, &bytes);
    asks(&message, &request);
}

#[test]
fn b_13_create_reply_after_the_challenge() {
    let request = vector!("b10-create-request");
    let request = Message::from_bytes(&request).unwrap();
    let answer = vector!("b12-public-key-answer");
    let answer = Message::from_bytes(&answer).unwrap();
    let created = CreateReply {
        handle: Some(HANDLE.into()),
    };
    let mut reply = PRIMARY.reply(&request, ResponseCode::Success, None, &created);
    reply.envelope.request_id = answer.envelope.request_id;
    both_ways(&reply, &vector!("b13-create-reply"));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Created(created));
}

#[test]
fn b_15_verify_request() {
    let bytes = vector!("b15-verify-request");
    let nonce: Vec<u8> = (0xA0..=0xAF).collect();
    let digest = hex("420549a747848e6fd6ad7b6ab51cc3d3fe99cebd95ef7775ed9b2a272a5a1632");
    let response = hex("02dc713fcca60d31cbb8b3907391f7b5969e987704");
    let request = Request::VerifyChallenge(VerifyRequest {
        key: Reference::new(PREFIX_HANDLE, 300),
        nonce: nonce.into(),
        digest: digest.into(),
        response: response.into(),
    });
    let mut message = ask(&request, envelope(Version::CURRENT, 0, 7));
    message.header.flags = message.header.flags | OpFlags::CT | OpFlags::RD;
    both_ways(&message, &bytes);
    asks(&message, &request);
}

#[test]
fn b_16_verify_reply() {
    let request = vector!("b15-verify-request");
    let request = Message::from_bytes(&request).unwrap();
    let digest = sha256("b22bde0331b2a4f2e3965fd8c1f2f84e36274638e5ac7b31b58f0073f8a86b11");
    let verified = VerifyReply { is_match: true };
    let code = ResponseCode::Success;
    let reply = MIRROR.reply(&request, code, Some(digest), &verified);
    both_ways(&reply, &vector!("b16-verify-reply"));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Verification(verified));
}

#[test]
fn b_17_delete_in_a_session() {
    let bytes = vector!("b17-delete-in-session");
    let request = Request::DeleteHandle(HandleRequest::new(HANDLE));
    let message =
        ask(&request, envelope(Version::CURRENT, 9, 0x1122_3344)).with_credential(&bytes[0x44..]);
    both_ways(&message, &bytes);
    asks(&message, &request);
}

#[test]
fn b_18_an_encrypted_message_is_opened_by_its_session() {
    let bytes = vector!("b18-delete-encrypted");
    assert_eq!(Message::from_bytes(&bytes), Err(DecodeError::Encrypted));
    let sealed = Envelope::decode(&mut Reader::new(&bytes)).unwrap();
    assert!(sealed.flags.is_encrypted);
    assert_eq!(sealed.length, 0x90);
    assert_eq!(sealed.to_bytes(), bytes[..Envelope::LENGTH]);
    let clear = vector!("b17-delete-in-session");
    let message = Message::open(sealed, &clear[Envelope::LENGTH..]).unwrap();
    assert_eq!(message.header.opcode, Opcode::DeleteHandle);
}

#[test]
fn b_19_site_info_request() {
    let request = Request::GetSiteInfo(HandleRequest::default());
    let message = request.to_message(envelope(Version::BLIND, 0, 1), EXPIRATION);
    both_ways(&message, &vector!("b19-site-info-request"));
    asks(&message, &request);
}

#[test]
fn b_22_session_setup() {
    let bytes = vector!("b22-session-setup");
    let public_key: Cow<'_, [u8]> = bytes[0x4F..0x16E].into();
    assert!(matches!(
        PublicKey::from_bytes(&public_key),
        Ok(PublicKey::Dh { .. })
    ));
    let request = Request::SessionSetup(SessionSetup {
        key_exchange: KeyExchange::DiffieHellman {
            public_key: public_key.clone(),
        },
        timeout: SessionSetup::TIMEOUT,
        identity: Reference::new(PREFIX_HANDLE, 300),
    });
    let mut message = request.to_message(envelope(Version::CURRENT, 0, 3), EXPIRATION);
    message.header.flags = message.header.flags | OpFlags::CT | OpFlags::RD;
    both_ways(&message, &bytes);
    asks(&message, &request);
}

#[test]
fn b_23_session_setup_reply() {
    let request = vector!("b22-session-setup");
    let request = Message::from_bytes(&request).unwrap();
    let bytes = vector!("b23-session-setup-reply");
    let offer = DhOffer {
        algorithm: 3,
        public_key: bytes[0x57..0x175].into(),
    };
    let mut data = Vec::new();
    offer.write(Version::CURRENT, &mut data);
    let mut reader = Reader::new(&data);
    assert_eq!(DhOffer::read(Version::CURRENT, &mut reader), Ok(offer));
    let setup = SessionSetupReply {
        mode: 4,
        data: data.into(),
    };
    let digest = RequestDigest::Sha256(bytes[0x2D..0x4D].try_into().unwrap());
    let code = ResponseCode::Success;
    let mut reply = PRIMARY.reply(&request, code, Some(digest), &setup);
    reply.envelope.session_id = 6;
    both_ways(&reply, &bytes);
    assert_eq!(Reply::of(&reply).unwrap(), Reply::SessionSetup(setup));
}

const RECEIVER: Receiver = Receiver {
    hash_option: 2,
    server_count: 1,
    server_number: 0,
};

#[test]
fn b_24_retrieve_transactions() {
    let request = Request::RetrieveTransactions(RetrieveRequest {
        since: ReplicationPoint::Last {
            transaction: 41,
            date: 1_700_000_000_000,
        },
        receiver: RECEIVER,
    });
    let mut message = ask(&request, envelope(Version::CURRENT, 0, 4));
    message.header.flags = message.header.flags | OpFlags::CT;
    both_ways(&message, &vector!("b24-retrieve-transactions"));
    asks(&message, &request);
}

#[test]
fn b_25_dump_handles() {
    let request = Request::DumpHandles(DumpRequest {
        receiver: RECEIVER,
        resume: None,
    });
    let mut message = ask(&request, envelope(Version::CURRENT, 0, 5));
    message.header.flags = message.header.flags | OpFlags::CT;
    both_ways(&message, &vector!("b25-dump-handles"));
    asks(&message, &request);
}

#[test]
fn b_26_list_reply() {
    let list = ListReply {
        handles: vec!["20.500.12345/ABC".into(), "20.500.12345/DEF".into()],
    };
    let request = Request::ListHandles(HandleRequest::new(PREFIX_HANDLE));
    let request = request.to_message(envelope(Version::CURRENT, 0, 6), EXPIRATION);
    let mut reply = MIRROR.reply(&request, ResponseCode::Success, None, &list);
    reply.header.flags = reply.header.flags | OpFlags::CN;
    both_ways(&reply, &vector!("b26-list-reply"));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::List(list));
}

#[test]
fn b_27_prefix_referral() {
    let request = vector!("b01-resolution-request");
    let request = Message::from_bytes(&request).unwrap();
    let referral = Referral {
        handle: "".into(),
        values: vec![Value::new(3, "HS_SERV.PREFIX", b"0.SERV/20.500")],
    };
    let code = ResponseCode::PrefixReferral;
    let reply = MIRROR.reply(&request, code, None, &referral);
    both_ways(&reply, &vector!("b27-prefix-referral"));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Referral(code, referral));
}

#[test]
fn b_28_root_info() {
    let bytes = vector!("b28-root-info");
    let info = RootInfo(values().split_off(1));
    assert_eq!(info.to_bytes(), bytes);
    assert_eq!(RootInfo::from_bytes(&bytes), Ok(info));
}

#[test]
fn below_2_5_a_prefix_referral_is_an_error() {
    let old = Version::new(2, 4);
    let mut request = Request::DeleteHandle(HandleRequest::new(HANDLE))
        .to_message(Envelope::new(old), EXPIRATION);
    request.envelope.suggested = old;
    let error = ErrorReply::new("no changes for now");
    let reply = PRIMARY.reply(&request, ResponseCode::ServerBackup, None, &error);
    assert_eq!(reply.header.response_code.number(), 303);
    let read = Reply::of(&reply).unwrap();
    assert_eq!(read, Reply::Error(ResponseCode::ServerBackup, error));
}

#[test]
fn a_request_digest_is_left_out_where_it_cannot_be_announced() {
    let ancient = Version::new(5, 0);
    let header = Header::request(Opcode::CreateHandle, EXPIRATION);
    let request = ValuesRequest {
        handle: HANDLE.into(),
        values: values(),
    };
    let mut request = Message::new(Envelope::new(ancient), header, &request);
    request.envelope.suggested = Version::NONE;
    let digest = RequestDigest::Md5([7; 16]);
    let created = CreateReply::default();
    let reply = PRIMARY.reply(&request, ResponseCode::Success, Some(digest), &created);
    assert_eq!(reply.envelope.version, ancient);
    assert!(reply.body.is_empty());
    assert!(!reply.header.flags.contains(OpFlags::RD));

    let challenge = Challenge {
        digest,
        nonce: vec![1; 16].into(),
    };
    let code = ResponseCode::AuthenticationNeeded;
    let reply = PRIMARY.reply(&request, code, Some(digest), &challenge);
    assert!(!reply.header.flags.contains(OpFlags::RD));
    assert_eq!(Reply::of(&reply).unwrap(), Reply::Challenge(challenge));
}

#[test]
fn what_follows_a_body_is_ignored_but_after_a_site() {
    let mut message = ask(
        &Request::Resolution(ResolutionRequest::all(HANDLE)),
        envelope(Version::CURRENT, 0, 1),
    );
    message.body.to_mut().extend([1, 2, 3]);
    assert!(Request::of(&message).is_ok());

    let site = handfast_wire::body::SiteInfoReply::default();
    let request = Request::GetSiteInfo(HandleRequest::default());
    let request = request.to_message(envelope(Version::CURRENT, 0, 1), EXPIRATION);
    let mut reply = PRIMARY.reply(&request, ResponseCode::Success, None, &site);
    assert_eq!(Reply::of(&reply).unwrap(), Reply::SiteInfo(site));
    reply.body.to_mut().push(0);
    assert!(matches!(
        Reply::of(&reply),
        Err(DecodeError::Trailing { .. })
    ));
}
