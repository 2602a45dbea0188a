//! Batch files (`handle-protocol.md` §12.1): the example of that section, every way a line can be
//! wrong, and round trips.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use handfast_wire::batch::{
    BatchCredential, BatchData, BatchEntry, BatchReader, BatchReason, BatchSessionSetup,
    BatchValue, BatchWriteError, ExchangeKey, Operation, Secret, SessionOptions, inline_files,
    write_create,
};
use handfast_wire::{
    Admin, AdminPermissions, Codec, Permissions, Reference, Ttl, Value, ValueList,
};
use proptest::prelude::*;

fn entries(file: &[u8]) -> Vec<BatchEntry> {
    BatchReader::new(file).collect::<Result<_, _>>().unwrap()
}

fn only(file: &str) -> Operation {
    let mut entries = entries(file.as_bytes());
    assert_eq!(entries.len(), 1, "{file}");
    entries.pop().unwrap().operation.unwrap()
}

/// Each operation's line, and the line and reason of its error.
fn outcomes(file: &str) -> Vec<(u64, Option<(u64, BatchReason)>)> {
    let outcome = |entry: BatchEntry| {
        let error = entry.operation.err();
        (entry.line, error.map(|error| (error.line, error.reason)))
    };
    entries(file.as_bytes()).into_iter().map(outcome).collect()
}

fn text(index: u32, value_type: &str, text: &str) -> BatchValue {
    BatchValue {
        index,
        value_type: value_type.into(),
        ttl: 86_400,
        permissions: Permissions::DEFAULT,
        data: BatchData::Text(text.into()),
    }
}

const EXAMPLE: &str = "\
AUTHENTICATE PUBKEY:300:0.NA/20.500.12345
/path/admpriv.bin|passphrase

CREATE 20.500.12345/abc
100 HS_ADMIN 86400 1110 ADMIN 200:111111111111:0.NA/20.500.12345
1 URL 86400 1110 UTF8 https://example.org/abc

MODIFY 20.500.12345/abc
1 URL 86400 1110 UTF8 https://example.org/new

REMOVE 2,3:20.500.12345/abc

DELETE 20.500.12345/abc
";

fn check_example(file: &str) {
    let entries = entries(file.as_bytes());
    let lines: Vec<_> = entries.iter().map(|entry| entry.line).collect();
    assert_eq!(lines, [1, 4, 8, 11, 13]);
    let operations: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.operation.unwrap())
        .collect();
    let handle = || "20.500.12345/abc".to_string();
    let admin = Admin {
        permissions: AdminPermissions::ALL,
        administrator: Reference::new("0.NA/20.500.12345", 200),
    };
    let admin = BatchValue {
        data: BatchData::Admin(admin),
        ..text(100, "HS_ADMIN", "")
    };
    let expected = [
        Operation::Authenticate {
            administrator: Reference::new("0.NA/20.500.12345", 300),
            credential: BatchCredential::PrivateKey {
                path: "/path/admpriv.bin".into(),
                passphrase: Some(Secret::new("passphrase")),
            },
        },
        Operation::Create {
            handle: handle(),
            values: vec![admin, text(1, "URL", "https://example.org/abc")],
        },
        Operation::Modify {
            handle: handle(),
            values: vec![text(1, "URL", "https://example.org/new")],
        },
        Operation::Remove {
            indexes: vec![2, 3],
            handle: handle(),
        },
        Operation::Delete { handle: handle() },
    ];
    assert_eq!(operations, expected);
}

#[test]
fn the_example_of_the_specification_is_read() {
    check_example(EXAMPLE);
}

#[test]
fn lines_may_end_as_on_windows_and_a_mark_may_stand_in_front() {
    check_example(&EXAMPLE.replace('\n', "\r\n"));
    check_example(&format!("\u{FEFF}{EXAMPLE}"));
    check_example(EXAMPLE.trim_end());
}

#[test]
fn commands_and_kinds_ignore_case() {
    let mut lower = EXAMPLE.to_string();
    for word in [
        "AUTHENTICATE",
        "PUBKEY",
        "CREATE",
        "MODIFY",
        "REMOVE",
        "DELETE",
        " ADMIN ",
        "UTF8",
    ] {
        lower = lower.replace(word, &word.to_lowercase());
    }
    check_example(&lower);
}

#[test]
fn fields_are_separated_by_spaces_and_the_rest_is_trimmed() {
    let file = "CREATE   a/b c \t\n 1  A\tB   60 11100 UTF8   two  words \t\n";
    let value = BatchValue {
        ttl: 60,
        ..text(1, "A\tB", "two  words")
    };
    let expected = Operation::Create {
        handle: "a/b c".into(),
        values: vec![value],
    };
    assert_eq!(only(file), expected);
}

#[test]
fn permissions_of_administrators_begin_with_the_lowest_bit() {
    let file = "ADD a/b\n100 HS_ADMIN 60 1110 ADMIN 0:100000000010:x/y:z\n";
    let Operation::Add { values, .. } = only(file) else {
        panic!()
    };
    let BatchData::Admin(admin) = &values[0].data else {
        panic!()
    };
    let expected = AdminPermissions::ADD_HANDLE | AdminPermissions::READ_VALUE;
    assert_eq!(admin.permissions, expected);
    assert_eq!(admin.administrator, Reference::new("x/y:z", 0));
}

#[test]
fn groups_and_files_are_read() {
    let file = "ADD a/b\n200 HS_VLIST 60 1110 LIST 300:a/b; 301:c:d;\n3 HS_SITE 60 1110 FILE my \
        site.json\n";
    let Operation::Add { values, .. } = only(file) else {
        panic!()
    };
    let list = ValueList(vec![Reference::new("a/b", 300), Reference::new("c:d", 301)]);
    assert_eq!(values[0].data, BatchData::List(list));
    assert_eq!(values[1].data, BatchData::File("my site.json".into()));
}

#[test]
fn authentication_is_by_key_or_by_secret() {
    let Operation::Authenticate { credential, .. } = only("AUTHENTICATE SECKEY:300:a/b\nopen|me")
    else {
        panic!()
    };
    assert_eq!(
        credential,
        BatchCredential::SecretKey(Secret::new("open|me"))
    );
    let Operation::Authenticate { credential, .. } = only("AUTHENTICATE pubkey:300:a/b\nkey.bin\n")
    else {
        panic!()
    };
    let path = "key.bin".into();
    assert_eq!(
        credential,
        BatchCredential::PrivateKey {
            path,
            passphrase: None
        }
    );
}

#[test]
fn secrets_are_not_shown() {
    for file in [
        "AUTHENTICATE SECKEY:300:a/b\nsesame\n",
        "AUTHENTICATE PUBKEY:300:a/b\nkey.bin|sesame\n",
        "AUTHENTICATE SECKY:300:a/b\nsesame\n",
        "SESSIONSETUP\nPASSPHRASE:sesame\n",
        "CREATE a/b\n300 HS_SECKEY 86400 1100 UTF8 sesame\n",
        "sesame\n",
    ] {
        for entry in BatchReader::new(file.as_bytes()) {
            let entry = entry.unwrap();
            assert!(!format!("{entry:?}").contains("sesame"), "{entry:?}");
            if let Err(error) = entry.operation {
                assert!(!error.to_string().contains("sesame"), "{error}");
            }
        }
    }
}

#[test]
fn homing_names_a_server_and_prefixes() {
    let file = "HOME 192.0.2.1:2641:TCP\n 0.NA/20.1 \n0.na/20.2\n \nUNHOME \
        [2001:db8::1]:80:http\n0.NA/20.3";
    let entries = entries(file.as_bytes());
    let Ok(Operation::Home { server, prefixes }) = &entries[0].operation else {
        panic!()
    };
    assert_eq!(server.address.to_string(), "192.0.2.1");
    assert_eq!(*prefixes, ["0.NA/20.1", "0.na/20.2"]);
    let Ok(Operation::Unhome { server, prefixes }) = &entries[1].operation else {
        panic!()
    };
    assert_eq!(
        (server.address.to_string().as_str(), server.port),
        ("2001:db8::1", 80)
    );
    assert_eq!(prefixes.len(), 1);
}

#[test]
fn a_session_is_set_up_by_lines_in_any_order() {
    let file = "SESSIONSETUP\nTIMEOUT:24\nOPTIONS:101\nusesession:1\nPUBEXNGKEYREF:300:a/b\n\
                PRIVEXNGKEYFILE: c:\\key.bin\nPASSPHRASE:x:y\n\n";
    let expected = BatchSessionSetup {
        is_used: Some(true),
        public_key: Some(ExchangeKey::Value(Reference::new("a/b", 300))),
        private_key_path: Some("c:\\key.bin".into()),
        passphrase: Some(Secret::new("x:y")),
        options: Some(SessionOptions {
            is_encrypted: true,
            is_authenticated: false,
        }),
        hours: Some(24),
    };
    assert_eq!(only(file), Operation::SessionSetup(expected));
    assert_eq!(
        only("SESSIONSETUP\n"),
        Operation::SessionSetup(BatchSessionSetup::default())
    );
}

#[test]
fn empty_lines_separate_and_blank_lines_do_not() {
    use BatchReason as R;
    // Between operations a line of blanks is reported and harmless.
    assert_eq!(
        outcomes("\n \nDELETE a/b\n"),
        [(2, Some((2, R::Blank))), (3, None)]
    );
    // Among values it spoils the operation.
    let file = "CREATE a/b\n1 U 1 1110 UTF8 x\n  \n2 U 1 1110 UTF8 x\n\nDELETE a/b\n";
    assert_eq!(outcomes(file), [(1, Some((3, R::Fields))), (6, None)]);
    // In the other blocks it ends them.
    let file = "HOME 192.0.2.1:1:TCP\n0.NA/1\n \nDELETE a/b\nDELETE a/c";
    assert_eq!(outcomes(file), [(1, None), (4, None), (5, None)]);
}

#[test]
fn every_wrong_value_line_is_named() {
    use BatchReason as R;
    for (line, reason) in [
        ("1", R::Fields),
        ("1 URL 86400 1110", R::Fields),
        ("0 URL 86400 1110 UTF8 x", R::Index),
        ("-1 URL 86400 1110 UTF8 x", R::Index),
        ("+1 URL 86400 1110 UTF8 x", R::Index),
        ("x URL 86400 1110 UTF8 x", R::Index),
        ("2147483648 URL 86400 1110 UTF8 x", R::Index),
        ("1 URL soon 1110 UTF8 x", R::Ttl),
        ("1 URL 2147483648 1110 UTF8 x", R::Ttl),
        ("1 URL 86400 111 UTF8 x", R::Permissions),
        ("1 URL 86400 rwr- UTF8 x", R::Permissions),
        ("1 URL 86400 111ü UTF8 x", R::Permissions),
        ("1 URL 86400 1110 UTF-8 x", R::Kind),
        ("1\tURL\t86400\t1110\tUTF8\tx", R::Fields),
        ("1 X 86400 1110 ADMIN", R::Admin),
        ("1 X 86400 1110 ADMIN 200:0.NA/1", R::Admin),
        ("1 X 86400 1110 ADMIN 200:11111111111:0.NA/1", R::Admin),
        ("1 X 86400 1110 ADMIN 200:1111111111112:0.NA/1", R::Admin),
        ("1 X 86400 1110 ADMIN 200:11111111111!:0.NA/1", R::Admin),
        ("1 X 86400 1110 ADMIN x:111111111111:0.NA/1", R::Admin),
        ("1 X 86400 1110 ADMIN 200:111111111111:", R::Admin),
        ("1 X 86400 1110 LIST", R::List),
        ("1 X 86400 1110 LIST a/b", R::List),
        ("1 X 86400 1110 LIST 1:a;;2:b", R::List),
        ("1 X 86400 1110 LIST x:a", R::List),
        ("1 X 86400 1110 FILE ", R::File),
        ("DELETE a/b", R::Fields),
    ] {
        for command in ["CREATE", "ADD", "MODIFY"] {
            let file = format!("\n{command} a/b\n2 U 1 1110 UTF8 x\n{line}\n3 U x\n\nDELETE a/b\n");
            assert_eq!(
                outcomes(&file),
                [(2, Some((4, reason))), (7, None)],
                "{line}"
            );
        }
    }
}

#[test]
fn every_other_wrong_line_is_named() {
    use BatchReason as R;
    for (block, line, reason) in [
        ("CREATE\n1 U 1 1110 UTF8 x", 1, R::Handle),
        ("ADD  ", 1, R::Handle),
        ("DELETE", 1, R::Handle),
        ("REMOVE 1,2", 1, R::Remove),
        ("REMOVE 1,x:a/b", 1, R::Index),
        ("REMOVE :a/b", 1, R::Index),
        ("REMOVE 1:", 1, R::Handle),
        ("AUTHENTICATE\nx", 1, R::Credential),
        ("AUTHENTICATE KEY:300:a/b\nx", 1, R::Credential),
        ("AUTHENTICATE SECKEY:a/b\nx", 1, R::Credential),
        ("AUTHENTICATE SECKEY:300:a:b\nx", 1, R::Credential),
        ("AUTHENTICATE SECKEY:300:a/b\n", 2, R::CredentialLine),
        ("HOME\n0.NA/1", 1, R::Server),
        ("HOME host:1:TCP\n0.NA/1", 1, R::Server),
        ("HOME 192.0.2.1:65536:TCP\n0.NA/1", 1, R::Server),
        ("HOME ::1:1:TCP\n0.NA/1", 1, R::Server),
        ("HOME 192.0.2.1:1:SCTP\n0.NA/1", 1, R::Server),
        ("UNHOME 192.0.2.1:1:UDP\n0.NA/1\n20.1\nx", 3, R::Prefix),
        ("HOME 192.0.2.1:1:UDP\n0.NA/", 2, R::Prefix),
        ("SESSIONSETUP\nUSESESSION:yes\nTIMEOUT:x", 2, R::Session),
        ("SESSIONSETUP\nCOLOUR:1", 2, R::Session),
        ("SESSIONSETUP\nTIMEOUT", 2, R::Session),
        ("SESSIONSETUP\nTIMEOUT:1\nTIMEOUT:2", 3, R::Session),
        ("SESSIONSETUP\nOPTIONS:1", 2, R::Session),
        ("SESSIONSETUP\nPUBEXNGKEYFILE:", 2, R::Session),
        ("CREATED a/b\n1 U 1 1110 UTF8 x", 1, R::Command),
        (" CREATE a/b\n1 U 1 1110 UTF8 x", 1, R::Command),
        ("CREATE\ta/b\n1 U 1 1110 UTF8 x", 1, R::Command),
    ] {
        let file = format!("{block}\n\nDELETE a/b\n");
        let next = u64::try_from(file.lines().count()).unwrap();
        assert_eq!(
            outcomes(&file),
            [(1, Some((line, reason))), (next, None)],
            "{block}"
        );
    }
    assert_eq!(
        outcomes("AUTHENTICATE SECKEY:1:a/b"),
        [(1, Some((1, R::CredentialLine)))]
    );
}

#[test]
fn one_wrong_command_in_a_run_hides_no_other() {
    let file = "DELETE a/1\nDELET a/2\nDELETE a/3\n";
    let wrong = Some((2, BatchReason::Command));
    assert_eq!(outcomes(file), [(1, None), (2, wrong), (3, None)]);
}

#[test]
fn a_line_that_is_not_utf_8_spoils_its_operation_only() {
    let file = b"CREATE a/b\n1 U 1 1110 UTF8 \xFF\n\nDELETE \xFF\nDELETE a/b\n";
    let entries = entries(file);
    let line = |entry: &BatchEntry| {
        (
            entry.line,
            entry.operation.as_ref().err().map(|error| error.line),
        )
    };
    let lines: Vec<_> = entries.iter().map(line).collect();
    assert_eq!(lines, [(1, Some(2)), (4, Some(4)), (5, None)]);
}

#[test]
fn a_line_that_is_too_long_spoils_its_operation_only() {
    let long = "x".repeat(1_048_577);
    for (file, wrong) in [
        (
            format!("CREATE a/b\n1 U 1 1110 UTF8 {long}\nx\n\nDELETE a/b\n"),
            2,
        ),
        (format!("CREATE {long}\nx\nx\n\nDELETE a/b\n"), 1),
        (
            format!("AUTHENTICATE SECKEY:1:a/b\n{long}\nx\n\nDELETE a/b\n"),
            2,
        ),
        (
            format!("HOME 192.0.2.1:1:TCP\n{long}\nx\n\nDELETE a/b\n"),
            2,
        ),
    ] {
        let too_long = Some((wrong, BatchReason::TooLong));
        assert_eq!(outcomes(&file), [(1, too_long), (5, None)]);
    }
}

#[test]
fn an_error_of_the_input_ends_the_batch() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }
    let mut reader = BatchReader::new(std::io::BufReader::new(Broken));
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

#[test]
fn what_a_batch_cannot_say_is_returned() {
    let admin = |bits| {
        let permissions = AdminPermissions::from_bits(bits);
        let administrator = Reference::new("a/b", 1);
        Admin {
            permissions,
            administrator,
        }
        .to_bytes()
    };
    let (known, unknown) = (admin(0x0801), admin(0x1801));
    let legacy = [&known[..], &[0, 0]].concat();
    let list = ValueList(vec![Reference::new("a/b", 1), Reference::new("c/d", 2)]).to_bytes();
    let odd_list = ValueList(vec![Reference::new("a;b", 1)]).to_bytes();
    let values = [
        Value::new(1, "URL", b"x"),
        Value::new(2, "URL", b""),
        Value::new(3, "URL", b"a\nb"),
        Value::new(4, "URL", b"a\rb"),
        Value::new(5, "URL", b" a"),
        Value::new(6, "URL", b"a\t"),
        Value::new(7, "URL", b"\xFF"),
        Value::new(8, "A TYPE", b"x"),
        Value::new(9, "", b"x"),
        Value {
            ttl: Ttl::Absolute(1),
            ..Value::new(10, "URL", b"x")
        },
        Value {
            ttl: Ttl::Relative(u32::MAX),
            ..Value::new(11, "URL", b"x")
        },
        Value {
            references: vec![Reference::new("a/b", 1)],
            ..Value::new(12, "URL", b"x")
        },
        Value::new(100, "HS_ADMIN", &known),
        Value::new(101, "HS_ADMIN", &unknown),
        Value::new(102, "HS_ADMIN", &legacy),
        Value::new(103, "OTHER", &known),
        Value::new(200, "HS_VLIST", &list),
        Value::new(201, "HS_VLIST", &odd_list),
        Value::new(202, "HS_VLIST", &[0; 4]),
        Value::new(0, "URL", b"x"),
    ];
    let mut out = Vec::new();
    let unsaid = write_create(&mut out, "a/b", &values).unwrap();
    assert_eq!(
        unsaid,
        [
            2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 101, 102, 103, 201, 202, 0
        ]
    );
    let expected = "CREATE a/b\n1 URL 86400 1110 UTF8 x\n\
        100 HS_ADMIN 86400 1110 ADMIN 1:100000000001:a/b\n\
        200 HS_VLIST 86400 1110 LIST 1:a/b;2:c/d\n\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn some_handles_cannot_be_written() {
    let long = "x".repeat(1_048_576);
    for handle in ["", " a/b", "a/b\t", "a\nb", "a\rb", &long] {
        let mut out = Vec::new();
        let written = write_create(&mut out, handle, &[]);
        assert!(
            matches!(written, Err(BatchWriteError::Handle)),
            "{handle:?}"
        );
        assert!(out.is_empty());
    }
}

fn handle() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9.]{1,5}/[ -~]{0,6}[!-~]", any::<String>()]
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let reference =
        || (handle(), any::<u32>()).prop_map(|(handle, index)| Reference::new(handle, index));
    let admin = (0..0x2000_u16, reference()).prop_map(|(bits, administrator)| {
        let permissions = AdminPermissions::from_bits(bits);
        (
            "HS_ADMIN".to_string(),
            Admin {
                permissions,
                administrator,
            }
            .to_bytes(),
        )
    });
    let list = prop::collection::vec(reference(), 0..3);
    let list = list.prop_map(|list| ("HS_VLIST".to_string(), ValueList(list).to_bytes()));
    let text =
        (any::<String>(), any::<String>()).prop_map(|(name, text)| (name, text.into_bytes()));
    let url = "[ -~]{0,9}".prop_map(|text| ("URL".to_string(), text.into_bytes()));
    let bytes =
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| ("HS_ADMIN".to_string(), bytes));
    let data = prop_oneof![admin, list, text, url, bytes];
    (any::<u32>(), any::<u32>(), any::<u8>(), data).prop_map(
        |(index, ttl, bits, (value_type, data))| Value {
            ttl: Ttl::Relative(ttl),
            permissions: Permissions::from_bits(bits),
            value_type: value_type.into(),
            data: data.into(),
            ..Value::new(index, "", b"")
        },
    )
}

fn read_back(value: &BatchValue) -> Value<'static> {
    Value {
        ttl: Ttl::Relative(value.ttl),
        permissions: value.permissions,
        value_type: value.value_type.clone().into(),
        data: value.data.to_bytes().unwrap().into(),
        ..Value::new(value.index, "", b"")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_000,
        ..Default::default() })]

    #[test]
    fn what_is_written_reads_back_the_same(handle in handle(),
        values in prop::collection::vec(value(), 0..5)) {
        let mut out = Vec::new();
        let Ok(unsaid) = write_create(&mut out, &handle, &values) else {
            return Ok(());
        };
        let entries = entries(&out);
        prop_assert_eq!(entries.len(), 1);
        let Ok(Operation::Create { handle: read, values: said }) = &entries[0].operation else {
            panic!("{entries:?}");
        };
        prop_assert_eq!(read, &handle);
        prop_assert_eq!(said.len() + unsaid.len(), values.len());
        let mut expected = values.iter();
        for value in said.iter().map(read_back) {
            prop_assert!(expected.any(|expected| *expected == value), "{:?}", value);
        }
    }

    #[test]
    fn no_bytes_panic_and_every_entry_has_its_line(bytes in prop::collection::vec(any::<u8>(),
        0..200)) {
        let lines: Vec<_> = entries(&bytes).iter().map(|entry| entry.line).collect();
        prop_assert!(lines.is_sorted());
    }

    #[test]
    fn no_text_panics(lines in prop::collection::vec(
        "(CREATE|ADD|REMOVE|HOME|SESSIONSETUP|[0-9]|UTF8|LIST|ADMIN|:|;| |\\PC){0,9}",
        0..9,
    )) {
        for entry in entries(lines.join("\n").as_bytes()) {
            if let Err(error) = entry.operation {
                prop_assert!(error.line >= entry.line);
            }
        }
    }
}

/// Guards the way binary data travels to a server that opens no files: what is inlined reads as the
/// same operations.
#[test]
fn a_batch_whose_files_are_inlined_says_the_same() {
    let batch = "\u{FEFF}CREATE a/b\r\n1 X 60 1101 file  my photo.jpg \r\n2 U 60 1110 UTF8 FILE \
        x\n\nAUTHENTICATE SECKEY:300:a/b\n1 X 60 1110 FILE secret\nCREAT a/c\n1 X 60 1110 FILE \
        skipped\n\nADD a/d\n1 X 60 1110 FILE first\nwrong\n1 X 60 1110 FILE behind a mistake\n\n \
        \nMODIFY a/e\n7 HS_SITE 60 1110 FILE site.json";
    let mut asked = Vec::new();
    let mut out = Vec::new();
    inline_files(batch.as_bytes(), &mut out, &mut |file| {
        asked.push((
            file.line,
            file.value_type.to_string(),
            file.path.to_string(),
        ));
        Ok(Some(vec![0, 0xFF, b'\n']))
    })
    .unwrap();
    let expected = [
        (2, "X", "my photo.jpg"),
        (11, "X", "first"),
        (17, "HS_SITE", "site.json"),
    ];
    assert_eq!(
        asked,
        expected.map(|(line, of, path)| (line, of.into(), path.into()))
    );
    let read =
        |text: &[u8]| -> Vec<_> { BatchReader::new(text).collect::<Result<_, _>>().unwrap() };
    let mut wanted = read(batch.as_bytes());
    for entry in &mut wanted {
        if let Ok(Operation::Create { values, .. } | Operation::Modify { values, .. }) =
            &mut entry.operation
        {
            for value in values.iter_mut() {
                if matches!(value.data, BatchData::File(_)) {
                    value.data = BatchData::Bytes(vec![0, 0xFF, b'\n']);
                }
            }
        }
    }
    assert_eq!(read(&out), wanted);
    // One that is given nothing for its files stays as it is.
    let mut same = Vec::new();
    inline_files(batch.as_bytes(), &mut same, &mut |_| Ok(None)).unwrap();
    assert_eq!(same, format!("{batch}\n").as_bytes());
}

/// Guards the memory of a server: one operation of any number of lines was collected before it was
/// checked.
#[test]
fn an_operation_is_bounded() {
    let line = format!("1 X 60 1110 UTF8 {}\n", "x".repeat(100_000));
    let prefixes = "0.NA/20.1\n".repeat(500_000);
    let file = format!(
        "CREATE a/b\n{}\nHOME 192.0.2.1:1:TCP\n{prefixes}\nDELETE a/b\n",
        line.repeat(50)
    );
    let found = outcomes(&file);
    assert_eq!(found.len(), 3);
    assert!(
        matches!(found[0], (1, Some((_, BatchReason::Large)))),
        "{found:?}"
    );
    assert!(
        matches!(found[1], (53, Some((_, BatchReason::Large)))),
        "{found:?}"
    );
    assert!(matches!(found[2], (_, None)));
}

#[test]
fn bytes_are_pairs_of_digits() {
    let read = |data: &str| {
        let text = format!("CREATE a/b\n1 X 60 1110 HEX {data}\n");
        BatchReader::new(text.as_bytes())
            .next()
            .unwrap()
            .unwrap()
            .operation
    };
    let Ok(Operation::Create { values, .. }) = read("00fF") else {
        panic!("an operation");
    };
    assert_eq!(values[0].data.to_bytes().unwrap(), [0, 0xFF]);
    for wrong in ["0", "0g", "00 11", "+1"] {
        assert_eq!(read(wrong).unwrap_err().reason, BatchReason::Hex, "{wrong}");
    }
}
