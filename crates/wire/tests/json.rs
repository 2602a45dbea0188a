//! Values in JSON: written values read back byte for byte, and input is read with the leniency of
//! `http-interfaces.md` A.15.

#![cfg(feature = "json")]
#![expect(clippy::indexing_slicing, reason = "a test may panic")]

use std::borrow::Cow;

use handfast_wire::json::{self, ParsedValue};
use handfast_wire::{
    Admin, AdminPermissions, Codec, Permissions, PublicKey, Reference, Site, SiteInterface,
    SiteServer, Ttl, Value, ValueList,
};
use proptest::prelude::*;
use serde::Deserialize;

fn read(text: &str) -> ParsedValue<'_> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    match serde_json::from_str::<ParsedValue>(text) {
        Ok(given) => panic!("{text} is read as {given:?}"),
        Err(error) => error.to_string(),
    }
}

/// A value with these members besides `index` and `type`.
fn with(members: &str) -> String {
    format!(r#"{{"index":1,"type":"T",{members}}}"#)
}

fn data(text: &str) -> Vec<u8> {
    read(&with(&format!("\"data\":{text}"))).data.into_owned()
}

#[test]
fn text_without_escapes_is_borrowed() {
    let given = read(r#"{"index":1,"type":"URL","data":{"format":"string","value":"http://x"}}"#);
    assert!(matches!(given.value_type, Cow::Borrowed("URL")));
    assert!(matches!(given.data, Cow::Borrowed(b"http://x")));
    let given = read(r#"{"index":1,"type":"URL","data":"http://x"}"#);
    assert!(matches!(given.data, Cow::Borrowed(b"http://x")));
    let escaped = read(r#"{"index":1,"type":"URL","data":"a\nb"}"#);
    assert!(matches!(escaped.data, Cow::Owned(_)));
    assert_eq!(*escaped.data, *b"a\nb");
}

#[test]
fn what_is_not_said_is_none_and_null_says_nothing() {
    for text in [
        with(r#""data":"x""#),
        with(r#""data":"x","permissions":null,"ttl":null,"timestamp":null,"references":null"#),
    ] {
        let given = read(&text);
        assert_eq!((given.permissions, given.ttl), (None, None));
        assert_eq!((given.timestamp, given.references.len()), (None, 0));
        assert_eq!(given.into_value(), Value::new(1, "T", b"x"));
    }
}

#[test]
fn members_come_in_any_order() {
    let given = read(
        r#"{"references":[{"index":"3","handle":"a/b"}],"timestamp":"2026-11-15T06:17:16Z","ttl":60,
            "data":{"value":"6869","format":"HEX"},"permissions":"1100","type":"T","index":"7"}"#,
    );
    let expected = Value {
        timestamp: 1_794_723_436,
        ttl: Ttl::Relative(60),
        permissions: Permissions::SECRET,
        references: vec![Reference::new("a/b", 3)],
        ..Value::new(7, "T", b"hi")
    };
    assert_eq!(given.into_value(), expected);
}

#[test]
fn unknown_and_repeated_members_are_named() {
    let unknown = error(&with(r#""data":"x","colour":"red""#));
    assert!(
        unknown.contains("`colour`") && unknown.contains("`permissions`"),
        "{unknown}"
    );
    let unknown = error(&with(r#""data":{"format":"string","valeu":"red"}"#));
    assert!(
        unknown.contains("`valeu`") && unknown.contains("`value`"),
        "{unknown}"
    );
    let unknown = error(&with(r#""data":"x","references":[{"handle":"a","idx":1}]"#));
    assert!(
        unknown.contains("`idx`") && unknown.contains("`index`"),
        "{unknown}"
    );
    for twice in [
        r#""data":"x","index":2"#,
        r#""data":"x","data":"y""#,
        r#""data":{"format":"string","format":"string","value":""}"#,
        r#""data":"x","ttl":null,"ttl":1"#,
        r#""data":"x","references":[{"handle":"a","handle":"b","index":1}]"#,
        r#""data":{"format":"admin","value":{"handle":"a","index":1,"index":2}}"#,
    ] {
        assert!(error(&with(twice)).contains("duplicate field"), "{twice}");
    }
    let twice = r#""data":{"format":"site","value":{"version":1,"Version":1}}"#;
    assert!(error(&with(twice)).contains("`version` twice"));
}

#[test]
fn required_members_are_missed_by_name() {
    for (text, missing) in [
        (r#"{"type":"T","data":""}"#, "`index`"),
        (r#"{"index":1,"data":""}"#, "`type`"),
        (r#"{"index":1,"type":"T"}"#, "`data`"),
        (
            r#"{"index":1,"type":"T","data":{"value":""}}"#,
            "`data.format`",
        ),
        (
            r#"{"index":1,"type":"T","data":{"format":"string"}}"#,
            "`data.value`",
        ),
    ] {
        assert!(error(text).contains(missing), "{text}");
    }
}

#[test]
fn an_index_is_from_1_to_the_largest_with_a_sign() {
    for (text, index) in [("1", 1), ("\"12\"", 12), ("2147483647", 0x7FFF_FFFF)] {
        let text = format!(r#"{{"index":{text},"type":"T","data":""}}"#);
        assert_eq!(read(&text).index, index);
    }
    for text in [
        "0",
        "-1",
        "2147483648",
        "1.5",
        "\"\"",
        "\"+1\"",
        "\"x\"",
        "null",
        "true",
        "[1]",
    ] {
        let text = format!(r#"{{"index":{text},"type":"T","data":""}}"#);
        assert!(
            error(&text).contains("`index` should be a number"),
            "{text}"
        );
    }
}

#[test]
fn bare_data_is_its_text() {
    assert_eq!(data("\"a b\""), b"a b");
    assert_eq!(data("17"), b"17");
    assert_eq!(data("-17"), b"-17");
    assert_eq!(data("18446744073709551615"), b"18446744073709551615");
    assert_eq!(data("true"), b"true");
    assert_eq!(data("false"), b"false");
    for text in ["[1]", "null", "1.10", "18446744073709551616", "{}"] {
        assert!(
            error(&with(&format!("\"data\":{text}"))).contains("`data"),
            "{text}"
        );
    }
}

#[test]
fn plain_formats_are_read() {
    let in_format =
        |format: &str, value: &str| data(&format!(r#"{{"format":"{format}","value":{value}}}"#));
    assert_eq!(in_format("string", r#""ü\u0000""#), "ü\0".as_bytes());
    assert_eq!(in_format("String", "5"), b"5");
    assert_eq!(in_format("base64", r#""/wA=""#), [0xFF, 0]);
    assert_eq!(in_format("BASE64", r#""/wA""#), [0xFF, 0]);
    assert_eq!(in_format("hex", r#""fFa0""#), [0xFF, 0xA0]);
    for (format, value) in [
        ("base64", r#""?secret""#),
        ("hex", r#""abc""#),
        ("hex", r#""secret""#),
        ("string", "[\"secret\"]"),
        ("strnig", r#""secret""#),
        ("admin", r#""secret""#),
        ("vlist", r#""secret""#),
        ("site", r#""secret""#),
        ("key", r#""secret""#),
    ] {
        let text = with(&format!(
            r#""data":{{"format":"{format}","value":{value}}}"#
        ));
        let error = error(&text);
        assert!(
            error.contains("`data") || error.contains("`site"),
            "{error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn no_message_repeats_the_data() {
    for text in [
        r#""secret""#,
        r#"{"index":1,"type":"T","data":["secret"]}"#,
        r#"{"index":1,"type":"T","data":{"format":"secret","value":1}}"#,
        r#"{"index":"secret","type":"T","data":1}"#,
        r#"{"index":1,"type":["secret"],"data":1}"#,
        r#"{"index":1,"type":"T","data":1,"permissions":"secret"}"#,
        r#"{"index":1,"type":"T","data":1,"ttl":"secret"}"#,
        r#"{"index":1,"type":"T","data":1,"timestamp":"secret"}"#,
        r#"{"index":1,"type":"T","data":1,"references":"secret"}"#,
        r#"{"index":1,"type":"T","data":{"format":"admin","value":{"handle":1,"index":"secret"}}}"#,
    ] {
        assert!(!error(text).contains("secret"), "{text}");
    }
}

#[test]
fn permissions_are_read_from_the_right() {
    let permissions = |text: &str| {
        let text = with(&format!(r#""data":"","permissions":"{text}""#));
        read(&text).permissions.unwrap().to_string()
    };
    assert_eq!(permissions("*"), "1111");
    assert_eq!(permissions("0110"), "0110");
    assert_eq!(permissions("1000"), "1000");
    assert_eq!(permissions("10"), "0010");
    assert_eq!(permissions("10110"), "0110");
    for text in ["\"\"", "\"rwr-\"", "\"1120\"", "1110", "true"] {
        let text = with(&format!(r#""data":"","permissions":{text}"#));
        assert!(error(&text).contains("`permissions` should be"), "{text}");
    }
}

#[test]
fn a_ttl_is_seconds_or_a_time() {
    let ttl = |text: &str| {
        read(&with(&format!(r#""data":"","ttl":{text}"#)))
            .ttl
            .unwrap()
    };
    assert_eq!(ttl("0"), Ttl::Relative(0));
    assert_eq!(ttl("\"86400\""), Ttl::Relative(86_400));
    assert_eq!(ttl("4294967295"), Ttl::Relative(u32::MAX));
    assert_eq!(ttl("\"1970-01-02T00:00:00Z\""), Ttl::Absolute(86_400));
    for text in ["-1", "1.5", "4294967296", "\"\"", "\"soon\"", "true", "[]"] {
        let text = with(&format!(r#""data":"","ttl":{text}"#));
        assert!(error(&text).contains("`ttl` should be"), "{text}");
    }
}

#[test]
fn a_timestamp_is_a_time() {
    for text in ["5", "\"\"", "\"now\"", "\"1969-12-31\"", "{}"] {
        let text = with(&format!(r#""data":"","timestamp":{text}"#));
        assert!(error(&text).contains("`timestamp` should be"), "{text}");
    }
}

#[test]
fn the_permissions_of_an_administrator_have_many_forms() {
    let bits = |permissions: &str| {
        let value = format!(r#"{{"handle":"a/b","index":"200"{permissions}}}"#);
        let bytes = data(&format!(r#"{{"format":"admin","value":{value}}}"#));
        let admin = Admin::from_bytes(&bytes).unwrap();
        assert_eq!(admin.administrator, Reference::new("a/b", 200));
        admin.permissions.bits()
    };
    assert_eq!(bits(""), 0);
    assert_eq!(bits(r#","permissions":"011111110011""#), 0x7F3);
    assert_eq!(bits(r#","permissions":"11""#), 3);
    assert_eq!(bits(r#","permissions":"*""#), 0xFFF);
    assert_eq!(bits(r#","permissions":true"#), 0xFFF);
    assert_eq!(bits(r#","permissions":false"#), 0);
    assert_eq!(bits(r#","permissions":2035"#), 0x7F3);
    assert_eq!(bits(r#","permissions":[1,0,true,"",null,"x"]"#), 0b10_0101);
    for wrong in [
        "\"2\"",
        "4096",
        "-1",
        "\"1000000000000\"",
        "[0,0,0,0,0,0,0,0,0,0,0,0,0]",
        "{}",
        "\"\"",
    ] {
        let value = format!(r#"{{"handle":"a/b","index":1,"permissions":{wrong}}}"#);
        let text = with(&format!(r#""data":{{"format":"admin","value":{value}}}"#));
        assert!(error(&text).contains("`data.value.permissions`"), "{wrong}");
    }
}

#[test]
fn a_legacy_administrator_ends_in_two_zeros() {
    let value = r#"{"handle":"a/b","index":1,"legacyByteLength":true}"#;
    let bytes = data(&format!(r#"{{"format":"admin","value":{value}}}"#));
    assert_eq!(bytes, b"\0\0\0\0\0\x03a/b\0\0\0\x01\0\0");
}

#[test]
fn any_format_may_be_sent_for_any_type() {
    let bytes = data(r#"{"format":"vlist","value":[{"handle":"a/b","index":300}]}"#);
    assert_eq!(
        bytes,
        ValueList(vec![Reference::new("a/b", 300)]).to_bytes()
    );
}

#[test]
fn keys_are_encoded_as_deployed_servers_do() {
    let bytes = data(r#"{"format":"key","value":{"kty":"RSA","n":"xQE","e":"AQAB","use":"sig"}}"#);
    let key = PublicKey::Rsa {
        e: vec![1, 0, 1].into(),
        n: vec![0, 0xC5, 1].into(),
    };
    assert_eq!(bytes, key.to_bytes());
    for wrong in [
        r#"{"kty":"EC"}"#,
        r#"{"kty":"RSA","n":"xQE"}"#,
        r#"{"kty":"RSA","n":"???","e":"AQAB"}"#,
        r#"{"kty":"RSA","n":"xQE","e":"AQAB","d":"c2VjcmV0"}"#,
    ] {
        let error = error(&with(&format!(
            r#""data":{{"format":"key","value":{wrong}}}"#
        )));
        assert!(
            error.contains("`data.value") && !error.contains("c2Vj"),
            "{error}"
        );
    }
}

#[test]
fn a_site_is_read_in_its_older_spelling() {
    let newer = data(
        r#"{"format":"site","value":{"version":1,"protocolVersion":"2.11","serialNumber":1,
        "primarySite":true,"multiPrimary":false,
        "attributes":[{"name":"desc","value":"x"},{"name":"alt","value":"1"},
        {"name":"alt","value":"2"}],"servers":[{"serverId":1,"address":"192.0.2.7",
        "publicKey":{"format":"hex","value":"00ff"},
        "interfaces":[{"query":true,"admin":false,"protocol":"TCP","port":2641}]}]}}"#,
    );
    let older = data(
        r#"{"format":"site","value":{"Version":1,"ProtocolVersion":"2.11","SerialNumber":1,
        "PrimarySite":true,"HashOption":2,"HashFilter":"","Attributes":{"desc":"x","alt":["1","2"]},
        "ServerList":[{"ServerId":1,"Address":"192.0.2.7","PublicKey":"00FF","InterfaceList":
        [{"Query":true,"Protocol":1,"Port":"2641"}]}]}}"#,
    );
    assert_eq!(newer, older);
    let site = Site::from_bytes(&newer).unwrap();
    assert_eq!(site.hash_option, 2);
    assert_eq!(site.servers[0].ip().to_string(), "192.0.2.7");
    assert_eq!(site.attributes.len(), 3);
}

#[test]
fn what_is_wrong_in_a_site_is_named() {
    let site = |servers: &str| {
        let site = r#""version":1,"protocolVersion":"2.11","serialNumber":1"#;
        with(&format!(
            r#""data":{{"format":"site","value":{{{site},"servers":{servers}}}}}"#
        ))
    };
    for (servers, member) in [
        ("5", "`site.servers`"),
        ("[{}]", "`serverId`"),
        (
            r#"[{"serverId":1,"address":"here"}]"#,
            "`site.servers.address`",
        ),
        (r#"[{"address":"::1","interfaces":[]}]"#, "`serverId`"),
        (
            r#"[{"serverId":1,"address":"::1"}]"#,
            "`site.servers.interfaces`",
        ),
        (
            r#"[{"serverId":1,"address":"::1","interfaces":[{}]}]"#,
            "`site.servers.interfaces.protocol`",
        ),
        (r#"[{"serverId":1,"adress":"::1"}]"#, "`adress`"),
    ] {
        let error = error(&site(servers));
        assert!(error.contains(member), "{servers}: {error}");
    }
}

#[test]
fn a_form_that_would_lose_something_is_not_written() {
    let format = |value_type: &str, bytes: &[u8]| {
        json::value(&Value::new(1, value_type, bytes))["data"]["format"].clone()
    };
    let admin = |bits| {
        let permissions = AdminPermissions::from_bits(bits);
        let administrator = Reference::new("a/b", 1);
        Admin {
            permissions,
            administrator,
        }
        .to_bytes()
    };
    assert_eq!(format("HS_ADMIN", &admin(0x0FFF)), "admin");
    assert_eq!(format("HS_ADMIN", &admin(0x1FFF)), "base64");
    let key = |n: &[u8]| {
        PublicKey::Rsa {
            e: vec![3].into(),
            n: n.into(),
        }
        .to_bytes()
    };
    assert_eq!(format("HS_PUBKEY", &key(&[0, 0xC5])), "key");
    assert_eq!(format("HS_PUBKEY", &key(&[0xC5])), "base64");
    assert_eq!(
        format("HS_PUBKEY", &[key(&[5]), vec![0]].concat()),
        "base64"
    );
    let mut site = Site {
        version: 1,
        hash_option: 2,
        ..Site::default()
    }
    .to_bytes();
    assert_eq!(format("hs_site.6", &site), "site");
    site[6] |= 1;
    assert_eq!(format("HS_SITE", &site), "base64");
}

#[test]
fn an_unusual_key_does_not_spoil_its_site() {
    let key = PublicKey::Rsa {
        e: vec![3].into(),
        n: vec![0xC5].into(),
    }
    .to_bytes();
    let server = SiteServer {
        id: 1,
        address: [1; 16],
        public_key: key,
        interfaces: vec![],
    };
    let bytes = Site {
        servers: vec![server],
        ..Site::default()
    }
    .to_bytes();
    let data = &json::value(&Value::new(1, "HS_SITE", &bytes))["data"];
    assert_eq!(data["format"], "site");
    assert_eq!(data["value"]["servers"][0]["publicKey"]["format"], "base64");
}

fn reference() -> impl Strategy<Value = Reference<'static>> {
    (".{0,8}", any::<u32>()).prop_map(|(handle, index)| Reference::new(handle, index))
}

fn number() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..5),
        prop::collection::vec(1..=0x7F_u8, 1..5),
    ]
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let rsa = (number(), number()).prop_map(|(e, n)| {
        PublicKey::Rsa {
            e: e.into(),
            n: n.into(),
        }
        .to_bytes()
    });
    let dsa = (number(), number(), number(), number()).prop_map(|(q, p, g, y)| {
        PublicKey::Dsa {
            q: q.into(),
            p: p.into(),
            g: g.into(),
            y: y.into(),
        }
        .to_bytes()
    });
    let dh = (number(), number(), number()).prop_map(|(y, p, g)| {
        PublicKey::Dh {
            y: y.into(),
            p: p.into(),
            g: g.into(),
        }
        .to_bytes()
    });
    prop_oneof![rsa, dsa, dh]
}

fn server() -> impl Strategy<Value = SiteServer> {
    let interface = (0..5_u8, 0..6_u8, any::<u32>());
    let interface = interface.prop_map(|(kind, protocol, port)| SiteInterface {
        kind,
        protocol,
        port,
    });
    let address = prop_oneof![
        any::<[u8; 16]>(),
        any::<u32>().prop_map(|address| u128::from(address).to_be_bytes()),
        any::<u32>().prop_map(|address| (0xFFFF_0000_0000 | u128::from(address)).to_be_bytes()),
    ];
    let key = prop_oneof![
        Just(vec![]),
        key(),
        prop::collection::vec(any::<u8>(), 0..9)
    ];
    (
        any::<u32>(),
        address,
        key,
        prop::collection::vec(interface, 0..3),
    )
        .prop_map(|(id, address, public_key, interfaces)| SiteServer {
            id,
            address,
            public_key,
            interfaces,
        })
}

fn site() -> impl Strategy<Value = Vec<u8>> {
    let numbers = (
        any::<u16>(),
        any::<(u8, u8)>(),
        any::<u16>(),
        any::<(bool, bool)>(),
        0..4_u8,
    );
    let attributes = prop::collection::vec((".{0,4}", ".{0,4}"), 0..3);
    (
        numbers,
        ".{0,3}",
        attributes,
        prop::collection::vec(server(), 0..3),
    )
        .prop_map(
            |(
                (version, protocol, serial, (is_primary, is_multi_primary), hash_option),
                hash_filter,
                attributes,
                servers,
            )| {
                Site {
                    version,
                    protocol,
                    serial,
                    is_primary,
                    is_multi_primary,
                    hash_option,
                    hash_filter,
                    attributes,
                    servers,
                }
                .to_bytes()
            },
        )
}

/// The data of a structured type, sometimes with a byte changed, missing or added.
fn structured() -> impl Strategy<Value = Vec<u8>> {
    let admin = (any::<u16>(), any::<bool>(), reference(), any::<bool>()).prop_map(
        |(bits, is_known, administrator, is_legacy)| {
            let permissions =
                AdminPermissions::from_bits(if is_known { bits & 0xFFF } else { bits });
            let mut bytes = Admin {
                permissions,
                administrator,
            }
            .to_bytes();
            bytes.extend_from_slice(if is_legacy { &[0, 0] } else { &[] });
            bytes
        },
    );
    let list = prop::collection::vec(reference(), 0..3).prop_map(|list| ValueList(list).to_bytes());
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..6_u8);
    (prop_oneof![admin, list, key(), site()], change).prop_map(|(mut bytes, (at, byte, kind))| {
        match kind {
            0 if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            1 => drop(bytes.pop()),
            2 => bytes.push(byte),
            3 => bytes.push(0),
            _ => {}
        }
        bytes
    })
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let ttl = prop_oneof![
        any::<u32>().prop_map(Ttl::Absolute),
        any::<u32>().prop_map(Ttl::Relative)
    ];
    let numbers = (1..=0x7FFF_FFFF_u32, any::<u32>(), ttl, any::<u8>());
    let known = prop::sample::select(vec![
        "HS_ADMIN",
        "hs_admin.x",
        "HS_VLIST",
        "HS_PUBKEY",
        "HS_SITE",
        "HS_SITE.6",
        "HS_NA_DELEGATE",
    ]);
    let value_type = prop_oneof![known.prop_map(String::from), any::<String>()];
    let data = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        any::<String>().prop_map(String::into_bytes),
        structured(),
    ];
    let references = prop::collection::vec(reference(), 0..3);
    (numbers, value_type, data, references).prop_map(
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000,
        ..Default::default() })]

    #[test]
    fn what_is_written_reads_back_byte_for_byte(value in value()) {
        let tree = json::value(&value);
        let mut text = Vec::new();
        json::write_value(&mut text, &value);
        prop_assert_eq!(std::str::from_utf8(&text).unwrap(), serde_json::to_string(&tree).unwrap());
        let given: ParsedValue = serde_json::from_slice(&text).unwrap();
        prop_assert_eq!(given.into_value(), value.clone());
        let given: ParsedValue = ParsedValue::deserialize(&tree).unwrap();
        prop_assert_eq!(given.into_value(), value);
    }

    #[test]
    fn data_with_a_structure_is_written_in_its_form(bits in 0..0x1000_u16,
        administrator in reference()) {
        let permissions = AdminPermissions::from_bits(bits);
        let bytes = Admin { permissions, administrator }.to_bytes();
        let value = Value::new(1, "HS_ADMIN", &bytes);
        prop_assert_eq!(&json::value(&value)["data"]["format"], "admin");
    }

    #[test]
    fn nothing_that_is_given_panics(text in any::<String>(),
        bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = serde_json::from_slice::<ParsedValue>(&bytes);
        let _ = serde_json::from_str::<ParsedValue>(&with(&text));
        for member in ["data", "ttl", "timestamp", "permissions", "references"] {
            let text = serde_json::to_string(&text).unwrap();
            let _ = serde_json::from_str::<ParsedValue>(&with(&format!("\"{member}\":{text}")));
        }
    }
}
