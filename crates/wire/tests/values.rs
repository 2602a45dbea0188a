//! The values of `handle-protocol.md` Appendix B, byte for byte in both directions, and round
//! trips.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use handfast_wire::{
    Admin, AdminPermissions, Codec, Permissions, PublicKey, Reference, Site, Ttl, Value, ValueList,
};
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

fn both_ways(value: &Value<'_>, bytes: &[u8]) {
    assert_eq!(value.to_bytes(), bytes);
    assert_eq!(&Value::from_bytes(bytes).unwrap(), value);
}

#[test]
fn b_3_a_url() {
    let value = Value {
        timestamp: 0x6553_F100,
        ..Value::new(1, "URL", b"https://example.org/abc")
    };
    both_ways(
        &value,
        &hex("00 00 00 01 65 53 f1 00  00 00 01 51 80 0e 00 00
              00 03 55 52 4c 00 00 00  17 68 74 74 70 73 3a 2f
              2f 65 78 61 6d 70 6c 65  2e 6f 72 67 2f 61 62 63
              00 00 00 00"),
    );
}

#[test]
fn b_4_an_administrator() {
    let admin = Admin {
        permissions: AdminPermissions::ALL,
        administrator: Reference::new("0.NA/20.500.12345", 200),
    };
    let data = admin.to_bytes();
    let value = Value {
        timestamp: 0x6553_F100,
        ..Value::new(100, "HS_ADMIN", &data)
    };
    both_ways(
        &value,
        &hex("00 00 00 64 65 53 f1 00  00 00 01 51 80 0e 00 00
              00 08 48 53 5f 41 44 4d  49 4e 00 00 00 1b 0f ff
              00 00 00 11 30 2e 4e 41  2f 32 30 2e 35 30 30 2e
              31 32 33 34 35 00 00 00  c8 00 00 00 00"),
    );
    assert_eq!(Admin::from_bytes(&value.data).unwrap(), admin);
}

#[test]
fn b_5_absolute_ttl_and_a_reference() {
    let value = Value {
        timestamp: 0x6553_F100,
        ttl: Ttl::Absolute(1_800_000_000),
        permissions: Permissions::SECRET,
        references: vec![Reference::new("20.500.12345/sig", 7)],
        ..Value::new(300, "HS_SECKEY", b"secret")
    };
    both_ways(
        &value,
        &hex("00 00 01 2c 65 53 f1 00  01 6b 49 d2 00 0c 00 00
              00 09 48 53 5f 53 45 43  4b 45 59 00 00 00 06 73
              65 63 72 65 74 00 00 00  01 00 00 00 10 32 30 2e
              35 30 30 2e 31 32 33 34  35 2f 73 69 67 00 00 00
              07"),
    );
}

#[test]
fn b_20_a_site() {
    let bytes = hex("00 01 02 0b 00 01 80 02  00 00 00 00 00 00 00 01
              00 00 00 04 64 65 73 63  00 00 00 07 45 78 61 6d
              70 6c 65 00 00 00 01 00  00 00 01 00 00 00 00 00
              00 00 00 00 00 00 00 c0  00 02 0a 00 00 00 a1 00
              00 00 0b 52 53 41 5f 50  55 42 5f 4b 45 59 00 00
              00 00 00 03 01 00 01 00  00 00 81 00 80 48 72 42
              ca 6a bb bd 6e 1b fc 5b  58 f7 71 e6 bc f6 05 8d
              0f c4 0f 6b b3 f5 ae 24  03 4c 2f b2 57 36 c7 c3
              38 fc c3 21 92 95 06 00  05 ca 5c ac e3 56 6f be
              d0 02 8c 4d 57 c0 f9 bb  c3 24 da c4 c0 62 2a 70
              e5 d2 4d c4 e5 67 74 d8  5c ea bd 44 44 1c 9f 97
              68 fb 25 19 c8 af ac bc  dd 7f b2 0e 23 dd 09 91
              8a 40 7f 00 46 c5 27 e2  86 76 ca 75 10 a8 e7 10
              a7 b4 6b 5f cc 36 99 46  4b e2 3b 47 00 00 00 00
              00 00 00 03 03 01 00 00  0a 51 02 00 00 00 0a 51
              03 02 00 00 1f 40");
    let site = Site::from_bytes(&bytes).unwrap();
    assert_eq!(site.to_bytes(), bytes);
    assert!(site.is_primary);
    for server in &site.servers {
        let key = PublicKey::from_bytes(&server.public_key).unwrap();
        assert!(matches!(key, PublicKey::Rsa { .. }));
        assert_eq!(key.to_bytes(), server.public_key);
    }
}

#[test]
fn b_21_a_group() {
    let bytes = hex("00 00 00 02 00 00 00 11  30 2e 4e 41 2f 32 30 2e
              35 30 30 2e 31 32 33 34  35 00 00 01 2c 00 00 00
              12 32 30 2e 35 30 30 2e  31 32 33 34 35 2f 75 73
              65 72 31 00 00 01 2d");
    let list = ValueList::from_bytes(&bytes).unwrap();
    let members: Vec<_> = list.0.iter().map(ToString::to_string).collect();
    assert_eq!(members, ["300:0.NA/20.500.12345", "301:20.500.12345/user1"]);
    assert_eq!(list.to_bytes(), bytes);
}

fn reference() -> impl Strategy<Value = Reference<'static>> {
    (".{0,8}", any::<u32>()).prop_map(|(handle, index)| Reference::new(handle, index))
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let ttl = prop_oneof![
        any::<u32>().prop_map(Ttl::Absolute),
        any::<u32>().prop_map(Ttl::Relative)
    ];
    let numbers = (any::<u32>(), any::<u32>(), ttl, any::<u8>());
    let data = prop::collection::vec(any::<u8>(), 0..40);
    let references = prop::collection::vec(reference(), 0..3);
    (numbers, ".{0,8}", data, references).prop_map(
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
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_encoded_decodes_to_the_same(value in value()) {
        let bytes = value.to_bytes();
        prop_assert_eq!(Value::from_bytes(&bytes).unwrap(), value);
    }

    #[test]
    fn what_decodes_encodes_and_decodes_again(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(value) = Value::from_bytes(&bytes) {
            let encoded = value.to_bytes();
            prop_assert_eq!(Value::from_bytes(&encoded).unwrap(), value);
        }
        if let Ok(list) = ValueList::from_bytes(&bytes) {
            prop_assert_eq!(list.to_bytes(), bytes.clone());
        }
        let _ = Admin::from_bytes(&bytes);
        if let Ok(site) = Site::from_bytes(&bytes) {
            let encoded = site.to_bytes();
            prop_assert_eq!(Site::from_bytes(&encoded).unwrap(), site);
        }
        let _ = PublicKey::from_bytes(&bytes);
    }

    #[test]
    fn a_cut_value_is_refused(value in value(), cut in 1_usize..20) {
        let bytes = value.to_bytes();
        let shorter = &bytes[..bytes.len() - cut.min(bytes.len())];
        prop_assert!(Value::from_bytes(shorter).is_err());
    }
}
