//! Authorities, and the accounts that act on them.

use crate::init;

#[test]
fn errors_say_which_role_would_be_needed() {
    let folder = init(&[]);
    for path in [
        "urn:urn-3",
        "urn:urn-3:HUL",
        "urn:urn-3:HUL2",
        "urn:urn-3:HUL.OIS",
    ] {
        folder.done(&["authority", "create", path]);
    }
    let grant = [
        "authority",
        "grant",
        "urn:urn-3:HUL",
        "--to",
        "ann",
        "--role",
        "lead",
    ];
    // A typing error in the name made an account with the role, which nobody could remove.
    let unknown = folder.error(&grant);
    assert_eq!(unknown["code"], "no-account");
    let message = unknown["message"].to_string();
    assert!(message.contains("`handfast user create ann`"), "{message}");
    assert!(
        folder
            .json(&["user", "list"])
            .as_array()
            .unwrap()
            .is_empty()
    );
    folder.done(&[&grant[..], &["--create"]].concat());
    folder.done(&["user", "create", "bob"]);
    folder.done(&["authority", "create", "urn:urn-3:HUL.OIS.X", "--as", "ann"]);
    folder.done(&["name", "create", "urn:urn-3:HUL.OIS.X:Home", "--as", "ann"]);
    folder.done(&[
        "authority",
        "grant",
        "urn:urn-3:HUL.OIS",
        "--to",
        "300:20.1/bob",
        "--role",
        "write",
        "--as",
        "ann",
    ]);
    folder.done(&[
        "name",
        "create",
        "urn:urn-3:HUL.OIS:b",
        "--as",
        "300:20.1/bob",
    ]);
    for path in ["HUL", "HUL2"] {
        let error = folder.error(&[
            "name",
            "create",
            &format!("urn:urn-3:{path}:b"),
            "--as",
            "300:20.1/bob",
        ]);
        assert_eq!(error["needs"]["role"], "write");
        assert_eq!(error["needs"]["authority"], format!("urn:urn-3:{path}"));
    }
    let error = folder.error(&[
        "authority",
        "grant",
        "urn:urn-3:HUL.OIS",
        "--to",
        "eve",
        "--role",
        "read",
        "--as",
        "300:20.1/bob",
    ]);
    assert_eq!(error["needs"]["role"], "lead");
    assert_eq!(
        folder.error(&["authority", "create", "urn:urn-3:HUL.NO.X"])["code"],
        "no-authority"
    );
    folder.done(&[
        "authority",
        "revoke",
        "urn:urn-3:HUL.OIS",
        "--to",
        "300:20.1/bob",
        "--role",
        "write",
    ]);
    assert_eq!(
        folder.error(&[
            "name",
            "create",
            "urn:urn-3:HUL.OIS:c",
            "--as",
            "300:20.1/bob"
        ])["code"],
        "denied"
    );
    let shown = folder.json(&["authority", "show", "urn:urn-3:hul"]);
    assert_eq!(shown["grants"][0]["role"], "lead");
}

/// A grant on `urn:urn-3:HBS.X:secret` was one on `HBS.X`, and `authority create hdl:20.79` made a
/// prefix of that name.
#[test]
fn authorities_are_named_as_they_are_acted_on() {
    let folder = init(&[]);
    let said = folder.done(&["authority", "create", "hdl:20.79"]);
    assert_eq!(said, "created 20.79\n");
    assert_eq!(
        folder.done(&["authority", "create", "doi:10.5"]),
        "created 10.5\n"
    );
    folder.done(&[
        "name",
        "create",
        "hdl:20.79/x",
        "--url",
        "https://e.example/",
    ]);
    folder.done(&["authority", "create", "urn:urn-3"]);
    folder.done(&["authority", "create", "urn:urn-3:HBS"]);
    for arguments in [
        &["create", "urn:urn-3:HBS.X:Y"][..],
        &[
            "grant",
            "urn:urn-3:HBS:secret",
            "--to",
            "tc",
            "--role",
            "admin",
        ],
        &["request", "urn:urn-3:A:B", "--as", "tc"],
    ] {
        let error = folder.error(&[&["authority"], arguments].concat());
        assert_eq!(error["code"], "bad-character", "{arguments:?}");
    }
    assert_eq!(
        folder.error(&["authority", "create", "foo:20.1"])["code"],
        "unknown-scheme"
    );
    let shown = folder.json(&["authority", "show", "urn:urn-3:HBS"]);
    assert_eq!(shown["grants"].as_array().unwrap().len(), 0);
    assert_eq!(
        folder.error(&["mint", "--authority", "urn:urn-3:HBS:Y"])["code"],
        "bad-character"
    );
}

/// `transfer` and `request` created an account from a typing error, as `grant` once did, and nobody
/// can remove an account.
#[test]
fn unknown_accounts_are_created_only_on_demand() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    folder.done(&["name", "create", "20.1/a", "--url", "https://a.example/"]);
    let accounts = || {
        let list = folder.json(&["user", "list"]);
        let names = list.as_array().unwrap().iter();
        names
            .map(|user| user["account"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    for (arguments, who) in [
        (&["authority", "transfer", "20.1", "--to", "ann"][..], "ann"),
        (&["name", "transfer", "20.1/a", "--to", "bob"], "bob"),
        (&["authority", "request", "20.1.5", "--as", "eve"], "eve"),
    ] {
        let before = accounts();
        let error = folder.error(arguments);
        assert_eq!(error["code"], "no-account", "{arguments:?}");
        let message = error["message"].as_str().unwrap();
        let remedy = format!("`handfast user create {who}`");
        assert!(message.contains(&remedy), "{message}");
        assert_eq!(accounts(), before, "{arguments:?}");
        folder.done(&[arguments, &["--create"]].concat());
        assert!(accounts().contains(&who.to_string()), "{arguments:?}");
    }
    // An identity of the handle protocol has no account and needs none.
    folder.done(&["name", "transfer", "20.1/a", "--to", "300:20.1/carol"]);
    // Only the operator and administrators create accounts.
    let error = folder.error(&[
        "authority",
        "transfer",
        "20.1",
        "--to",
        "zoe",
        "--create",
        "--as",
        "ann",
    ]);
    assert_eq!(error["code"], "operator-only");
}
