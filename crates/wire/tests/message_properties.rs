//! Generated messages, bodies and packets.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Debug;

use handfast_wire::body::{
    Body, Challenge, ChallengeAnswer, CreateReply, DhOffer, DumpRequest, EncryptedSessionKey,
    ErrorReply, HandleRequest, KeyExchange, ListReply, NextTransaction, Receiver, Referral,
    RemoveRequest, ReplicationPoint, Reply, Request, ResolutionReply, ResolutionRequest,
    ResumePoint, RetrieveReply, RetrieveRequest, SessionSetup, SessionSetupReply, SiteInfoReply,
    ValuesRequest, VerifyReply, VerifyRequest,
};
use handfast_wire::{
    Codec, Envelope, EnvelopeFlags, Header, Message, OpFlags, Opcode, Permissions, Reader,
    Reassembly, Reference, RequestDigest, Responder, ResponseCode, RootInfo, Site, Ttl, Value,
    Version, packets,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn reference() -> impl Strategy<Value = Reference<'static>> {
    (".{0,8}", any::<u32>()).prop_map(|(handle, index)| Reference::new(handle, index))
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let ttl = prop_oneof![
        any::<u32>().prop_map(Ttl::Absolute),
        any::<u32>().prop_map(Ttl::Relative)
    ];
    let numbers = (any::<u32>(), any::<u32>(), ttl, any::<u8>());
    (numbers, ".{0,8}", bytes(), vec(reference(), 0..3)).prop_map(
        |((index, timestamp, ttl, bits), value_type, data, references)| Value {
            index,
            timestamp,
            ttl,
            permissions: Permissions::from_bits(bits),
            value_type: value_type.into(),
            data: data.into(),
            references,
        },
    )
}

fn values() -> impl Strategy<Value = Vec<Value<'static>>> {
    vec(value(), 0..4)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

/// Old and new ones, and any.
fn version() -> impl Strategy<Value = Version> {
    prop_oneof![
        (0_u8..13).prop_map(|minor| Version::new(2, minor)),
        any::<(u8, u8)>().prop_map(|(major, minor)| Version::new(major, minor)),
        Just(Version::new(5, 0)),
    ]
}

fn digest() -> impl Strategy<Value = RequestDigest> {
    prop_oneof![
        any::<[u8; 16]>().prop_map(RequestDigest::Md5),
        any::<[u8; 20]>().prop_map(RequestDigest::Sha1),
        any::<[u8; 32]>().prop_map(RequestDigest::Sha256),
    ]
}

fn envelope() -> impl Strategy<Value = Envelope> {
    let suggested = (0_u8..32, any::<u8>()).prop_map(|(major, minor)| Version::new(major, minor));
    let numbers = any::<(u32, u32, u32)>();
    (version(), suggested, any::<[bool; 3]>(), numbers).prop_map(
        |(version, suggested, flags, (session_id, request_id, sequence))| Envelope {
            version,
            suggested,
            flags: EnvelopeFlags {
                is_compressed: flags[0],
                is_encrypted: flags[1],
                is_truncated: flags[2],
            },
            session_id,
            request_id,
            sequence,
            length: 0,
        },
    )
}

fn header() -> impl Strategy<Value = Header> {
    let number = || prop_oneof![0_u32..600, any::<u32>()];
    let rest = any::<(u32, u16, u8, u8, u32)>();
    (number(), number(), rest).prop_map(
        |(opcode, code, (flags, site_serial, recursion_count, reserved, expiration))| Header {
            opcode: Opcode::from_number(opcode),
            response_code: ResponseCode::from_number(code),
            flags: OpFlags::from_bits(flags),
            site_serial,
            recursion_count,
            reserved,
            expiration,
            body_length: 0,
        },
    )
}

/// A message with the lengths that are.
fn message() -> impl Strategy<Value = Message<'static>> {
    (envelope(), header(), bytes(), bytes()).prop_map(|(envelope, header, body, credential)| {
        let mut message = Message::new(envelope, header, &handfast_wire::body::Empty);
        message.envelope.flags.is_encrypted = false;
        message.header.body_length = body.len().try_into().unwrap();
        message.body = body.into();
        message.with_credential(credential)
    })
}

fn receiver() -> impl Strategy<Value = Receiver> {
    any::<(u8, u32, u32)>().prop_map(|(hash_option, server_count, server_number)| Receiver {
        hash_option,
        server_count,
        server_number,
    })
}

fn session_setup() -> impl Strategy<Value = SessionSetup<'static>> {
    let exchange = (any::<u16>(), bytes(), reference()).prop_map(|(mode, bytes, key)| {
        let public_key = bytes.into();
        match mode % 5 {
            1 => KeyExchange::ClientKey { public_key },
            2 => KeyExchange::ServerKey,
            3 => KeyExchange::HandleKey { key },
            4 => KeyExchange::DiffieHellman { public_key },
            _ => KeyExchange::Unknown {
                mode: mode | 8,
                rest: public_key,
            },
        }
    });
    (exchange, any::<u32>(), reference()).prop_map(|(key_exchange, timeout, identity)| {
        SessionSetup {
            key_exchange,
            timeout,
            identity,
        }
    })
}

fn request() -> impl Strategy<Value = Request<'static>> {
    let handle = ".{0,12}";
    let named = (0_u8..10, handle).prop_map(|(which, handle)| {
        let request = HandleRequest::new(handle);
        match which {
            0 => Request::GetSiteInfo(request),
            1 => Request::DeleteHandle(request),
            2 => Request::ListHandles(request),
            3 => Request::ListDerivedPrefixes(request),
            4 => Request::HomePrefix(request),
            5 => Request::UnhomePrefix(request),
            6 => Request::ListHomedPrefixes(request),
            7 => Request::SessionTerminate(request),
            8 => Request::GetNextTransactionId(request),
            _ => Request::BackupServer(request),
        }
    });
    let resolution = (handle, vec(any::<u32>(), 0..4), vec(".{0,6}", 0..4)).prop_map(
        |(handle, indexes, types)| {
            Request::Resolution(ResolutionRequest {
                handle: handle.into(),
                indexes,
                types: types.into_iter().map(Into::into).collect(),
            })
        },
    );
    let valued = (0_u8..3, handle, values()).prop_map(|(which, handle, values)| {
        let handle = handle.into();
        let request = ValuesRequest { handle, values };
        match which {
            0 => Request::CreateHandle(request),
            1 => Request::AddValue(request),
            _ => Request::ModifyValue(request),
        }
    });
    let remove = (handle, vec(any::<u32>(), 0..4)).prop_map(|(handle, indexes)| {
        let handle = handle.into();
        Request::RemoveValue(RemoveRequest { handle, indexes })
    });
    let answer = (".{0,9}", reference(), bytes()).prop_map(|(kind, key, response)| {
        Request::ChallengeResponse(ChallengeAnswer {
            authentication_type: kind.into(),
            key,
            response: response.into(),
        })
    });
    let verify =
        (reference(), bytes(), bytes(), bytes()).prop_map(|(key, nonce, digest, response)| {
            Request::VerifyChallenge(VerifyRequest {
                key,
                nonce: nonce.into(),
                digest: digest.into(),
                response: response.into(),
            })
        });
    let key = bytes().prop_map(|bytes| {
        let encrypted = bytes.into();
        Request::SessionExchangeKey(EncryptedSessionKey { encrypted })
    });
    let retrieve = (any::<(i64, i64)>(), receiver()).prop_map(|((transaction, date), receiver)| {
        Request::RetrieveTransactions(RetrieveRequest {
            since: ReplicationPoint::Last { transaction, date },
            receiver,
        })
    });
    let resume = (bytes(), any::<u32>()).prop_map(|(key, kind)| {
        let key = key.into();
        ResumePoint { key, kind }
    });
    let dump = (receiver(), option::of(resume))
        .prop_map(|(receiver, resume)| Request::DumpHandles(DumpRequest { receiver, resume }));
    prop_oneof![
        named,
        resolution,
        valued,
        remove,
        answer,
        verify,
        session_setup().prop_map(Request::SessionSetup),
        key,
        retrieve,
        dump,
    ]
}

fn is_same_again<'a, T: Codec<'a> + PartialEq + Debug>(bytes: &'a [u8], value: &T) {
    assert_eq!(&T::from_bytes(bytes).unwrap(), value);
}

/// A reply to something, in a version that the client suggests.
fn reply<'b>(
    suggested: Version,
    opcode: Opcode,
    code: ResponseCode,
    digest: Option<RequestDigest>,
    body: &impl Body<'b>,
) -> Message<'static> {
    let envelope = Envelope {
        suggested,
        ..Envelope::new(suggested)
    };
    let request = Message::new(
        envelope,
        Header::request(opcode, 1),
        &HandleRequest::default(),
    );
    let server = Responder {
        maximum: Version::CURRENT,
        site_serial: 1,
        is_primary: true,
        expiration: 1,
    };
    server.reply(&request, code, digest, body)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn messages_are_the_same_again(message in message()) {
        let bytes = message.to_bytes();
        is_same_again(&bytes, &message);
        prop_assert_eq!(bytes.len(), Envelope::LENGTH + message.length());
        let _ = (Request::of(&message), Reply::of(&message), message.digest());
    }

    #[test]
    fn what_decodes_as_a_frame_encodes_to_the_same_bytes(bytes in vec(any::<u8>(), 24..=24)) {
        let header = Header::from_bytes(&bytes).unwrap();
        prop_assert_eq!(header.to_bytes(), bytes.clone());
        let mut bytes = bytes[..Envelope::LENGTH].to_vec();
        bytes[16] = 0;
        bytes[17] &= 3;
        let envelope = Envelope::from_bytes(&bytes).unwrap();
        prop_assert_eq!(envelope.to_bytes(), bytes);
    }

    #[test]
    fn requests_are_the_same_again(request in request(), envelope in envelope()) {
        let envelope = Envelope {
            flags: EnvelopeFlags::default(),
            ..envelope
        };
        let message = request.to_message(envelope, 1);
        let bytes = message.to_bytes();
        let received = Message::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&received, &message);
        prop_assert_eq!(&Request::of(&received).unwrap(), &request);
        // And what was read is written as the same bytes.
        let again = Request::of(&received).unwrap().to_message(envelope, 1);
        prop_assert_eq!(again.to_bytes(), bytes);
    }

    #[test]
    fn replies_of_text_are_the_same_again(
        handle in ".{0,12}",
        handles in vec(".{0,12}", 0..5),
        indexes in vec(any::<u32>(), 0..4),
        is_told in any::<bool>(),
    ) {
        let created = CreateReply { handle: is_told.then(|| handle.clone().into()) };
        is_same_again(&created.to_bytes(), &created);
        let list = ListReply { handles: handles.into_iter().map(Into::into).collect() };
        is_same_again(&list.to_bytes(), &list);
        let error = ErrorReply { message: handle.into(), indexes };
        is_same_again(&error.to_bytes(), &error);
    }

    #[test]
    fn replies_of_values_are_the_same_again(handle in ".{0,12}", values in values()) {
        let resolution = ResolutionReply { handle: handle.clone().into(), values: values.clone() };
        is_same_again(&resolution.to_bytes(), &resolution);
        let referral = Referral { handle: handle.into(), values: values.clone() };
        is_same_again(&referral.to_bytes(), &referral);
        let root = RootInfo(values);
        is_same_again(&root.to_bytes(), &root);
    }

    #[test]
    fn other_replies_are_the_same_again(
        mode in any::<u16>(), data in bytes(), is_set in any::<bool>(), number in any::<i64>(),
        site in (any::<(u16, u8, u8, u16, bool, bool, u8)>(), ".{0,8}"),
    ) {
        let setup = SessionSetupReply { mode, data: data.into() };
        is_same_again(&setup.to_bytes(), &setup);
        let verified = VerifyReply { is_match: is_set };
        is_same_again(&verified.to_bytes(), &verified);
        let retrieve = RetrieveReply { keeps_alive: is_set };
        is_same_again(&retrieve.to_bytes(), &retrieve);
        let next = NextTransaction(number);
        is_same_again(&next.to_bytes(), &next);
        let ((version, major, minor, serial, is_primary, is_multi_primary, hash), text) = site;
        let site = Site {
            version,
            protocol: (major, minor),
            serial,
            is_primary,
            is_multi_primary,
            hash_option: hash,
            hash_filter: text.clone(),
            attributes: vec![(text.clone(), text)],
            servers: vec![],
        };
        let site = SiteInfoReply { site };
        is_same_again(&site.to_bytes(), &site);
    }

    #[test]
    fn bodies_that_follow_the_version_are_the_same_again(
        version in version(), digest in digest(), nonce in bytes(), algorithm in any::<u32>(),
        state in ".{0,20}", receiver in receiver(),
    ) {
        let challenge = Challenge { digest, nonce: nonce.clone().into() };
        let mut out = Vec::new();
        challenge.write(version, &mut out);
        prop_assert_eq!(Challenge::read(version, &mut Reader::new(&out)), Ok(challenge));

        let is_old = version < Version::new(2, 4);
        let offer = DhOffer { algorithm: if is_old { 1 } else { algorithm },
            public_key: nonce.into() };
        let mut out = Vec::new();
        offer.write(version, &mut out);
        prop_assert_eq!(DhOffer::read(version, &mut Reader::new(&out)), Ok(offer));

        let since = ReplicationPoint::State(state.into());
        let retrieve = RetrieveRequest { since, receiver };
        let mut out = Vec::new();
        retrieve.write(version, &mut out);
        let read = RetrieveRequest::read(version, &mut Reader::new(&out)).unwrap();
        prop_assert_eq!(read == retrieve, version >= Version::new(2, 9));
    }

    #[test]
    fn a_reply_shows_its_digest_and_its_body(
        version in version(), digest in option::of(digest()), handle in ".{0,12}",
            values in values(),
    ) {
        prop_assume!(version.major < 32 && version.major > 0);
        let body = ResolutionReply { handle: handle.into(), values };
        let reply = reply(version, Opcode::Resolution, ResponseCode::Success, digest, &body);
        let is_old = reply.envelope.version.is_ancient();
        prop_assert_eq!(reply.digest().unwrap(), digest.filter(|_| !is_old));
        prop_assert_eq!(Reply::of(&reply).unwrap(), Reply::Resolution(body));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in vec(any::<u8>(), 0..120), header in header(), version in version(),
    ) {
        let _ = Message::from_bytes(&bytes);
        let _ = Message::open(Envelope::new(version), &bytes);
        let mut message = Message::new(Envelope::new(version), header, &handfast_wire::body::Empty);
        message.body = bytes.into();
        let _ = (Request::of(&message), Reply::of(&message));
    }

    #[test]
    fn packets_come_in_any_order_and_twice(
        envelope in envelope(),
        message in vec(any::<u8>(), 0..4_000),
        order in vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let sent: Vec<_> = packets(&envelope, &message).collect();
        let first = order.first().map_or(0, |index| index.index(sent.len()));
        let mut reassembly = Reassembly::begin(&sent[first]).unwrap();
        for index in order {
            reassembly.add(&sent[index.index(sent.len())]).unwrap();
        }
        for packet in sent.iter().rev() {
            reassembly.add(packet).unwrap();
        }
        let (received, payload) = reassembly.finish().unwrap();
        prop_assert_eq!(payload.len(), usize::try_from(received.length).unwrap());
        prop_assert_eq!(payload, message);
        prop_assert_eq!(received.request_id, envelope.request_id);
    }
}
