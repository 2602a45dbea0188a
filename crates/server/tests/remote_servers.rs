//! Two servers: what one does not keep, it asks the other for.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use handfast_client::{ClientError, Login, Query, Roots};
use handfast_registry::{Edit, NewValue, Principal, Role};
use handfast_testing::{OPERATOR, Server, Setup, native};
use handfast_wire::body::{ResolutionReply, ResolutionRequest};
use handfast_wire::{
    Codec, Header, LocalInfo, LocalSite, Message, OpFlags, Opcode, Permissions, ResponseCode, Site,
    Version,
};

/// A server that stores a prefix, and knows where others are.
fn start(prefix: &str, roots: Option<Roots>) -> Server {
    let setup = Setup::new().context(|context| match roots {
        Some(roots) => context.with_roots(roots).unwrap(),
        None => context,
    });
    setup.start_for(&[prefix])
}

/// Someone with a secret and a key, which is the server's own.
fn add_someone(server: &Server, handle: &str) {
    let key = std::fs::read(server.folder().join("pubkey.bin")).unwrap();
    let secret = NewValue {
        permissions: Some(Permissions::from_bits(0x04)),
        ..NewValue::new(300, "HS_SECKEY", b"secret")
    };
    server.put(handle, vec![secret, NewValue::new(301, "HS_PUBKEY", &key)]);
}

/// Where a prefix is.
fn local(prefix: &'static str, site: &Site) -> Roots {
    let entry = LocalSite {
        prefixes: vec![prefix.into()],
        site: site.clone(),
    };
    Roots::read(&LocalInfo(vec![entry]).to_bytes()).unwrap()
}

#[test]
fn keys_that_another_server_keeps_are_good_for_a_login_here() {
    let there = start("20.2000", None);
    add_someone(&there, "20.2000/someone");
    let here = start("20.1000", Some(local("0.NA/20.2000", &there.site)));
    for index in [300, 301] {
        let who = Principal::parse(&format!("{index}:20.2000/someone")).unwrap();
        here.registry
            .grant(&OPERATOR, "20.1000", &who, Role::Write)
            .unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let create = |login: Login, handle: &str| {
        let client = here.client().with_login(login);
        runtime.block_on(client.create(handle, &[], handfast_client::Creation::default()))
    };
    let by_secret = Login::with_secret("300:20.2000/someone", b"secret").unwrap();
    create(by_secret, "20.1000/by-secret").unwrap();
    let by_key = Login::with_key("301:20.2000/someone", there.key()).unwrap();
    create(by_key, "20.1000/by-key").unwrap();

    let wrong = [
        Login::with_secret("300:20.2000/someone", b"wrong").unwrap(),
        Login::with_key("301:20.2000/someone", here.key()).unwrap(),
    ];
    for login in wrong {
        let error = create(login, "20.1000/wrong").err().unwrap();
        assert_eq!(
            error.code(),
            Some(ResponseCode::AuthenticationFailed),
            "{error}"
        );
    }
    // Nobody keeps this one, and nobody says who would.
    let unknown = Login::with_secret("300:20.3000/someone", b"secret").unwrap();
    let error = create(unknown, "20.1000/unknown").err().unwrap();
    let code = Some(ResponseCode::AuthenticationFailed);
    assert_eq!(error.code(), code, "{error}");
}

#[test]
fn old_clients_are_told_what_a_delegate_says_and_new_ones_are_sent_there() {
    let there = start("20.1000.1", None);
    let here = start("20.1000", Some(local("0.NA/20.2000", &there.site)));
    let site = NewValue::new(5, "HS_SITE.PREFIX", &there.site.to_bytes());
    here.registry
        .edit_name(&OPERATOR, "0.NA/20.1000", Edit::put(vec![site]))
        .unwrap();
    let note = NewValue::new(9, "NOTE", b"kept there");
    there
        .registry
        .edit_name(&OPERATOR, "0.NA/20.1000.1", Edit::put(vec![note]))
        .unwrap();

    let old = ask(&here, "0.NA/20.1000.1", Version::new(2, 9), 0);
    assert_eq!(old.outcome(), ResponseCode::Success);
    let reply: ResolutionReply<'_> = old.read().unwrap();
    assert!(
        reply
            .values
            .iter()
            .any(|value| *value.data == *b"kept there")
    );
    let missing = ask(&here, "0.NA/20.1000.1.7", Version::new(2, 9), 0);
    assert_eq!(missing.outcome(), ResponseCode::HandleNotFound);
    let far = ask(&here, "0.NA/20.1000.1", Version::new(2, 9), 10);
    assert_eq!(far.outcome(), ResponseCode::RecursionCountTooHigh);
    let new = ask(&here, "0.NA/20.1000.1", Version::CURRENT, 0);
    assert_eq!(new.outcome(), ResponseCode::PrefixReferral);

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let found = runtime.block_on(
        here.client()
            .following_referrals()
            .resolve("0.NA/20.1000.1", &Query::all()),
    );
    assert!(found.unwrap().values.iter().any(|value| value.index == 9));
    let refused = runtime.block_on(here.client().resolve("0.NA/20.1000.1", &Query::all()));
    assert!(matches!(refused, Err(ClientError::Refused { .. })));
}

/// The reply of a server to a client of a version, over TCP.
fn ask(server: &Server, handle: &str, version: Version, hops: u8) -> Message<'static> {
    let mut header = Header::request(Opcode::Resolution, u32::MAX >> 1);
    header.flags = header.flags | OpFlags::PO;
    header.recursion_count = hops;
    let body = ResolutionRequest::all(handle);
    let request = native::request_with(header, &body, 0, version);
    native::message(&native::over_tcp(server.native, &request))
}
