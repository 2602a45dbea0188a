//! The first start of a server: what it makes, what it says, and that its administrator can log in.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod takeover;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use handfast_testing::{Folder, Login, native};
use handfast_wire::body::{HandleRequest, ResolutionReply, ResolutionRequest, ValuesRequest};
use handfast_wire::crypto::PrivateKey;
use handfast_wire::{Codec, Opcode, ResponseCode, Site, Value};

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

const ADMINISTRATOR: &str = "300:0.SITE/ADMIN";

fn create(handle: &str) -> ValuesRequest<'_> {
    let values = vec![Value::new(1, "URL", b"https://example.org/")];
    ValuesRequest {
        handle: handle.into(),
        values,
    }
}

#[test]
fn a_new_server_can_be_administered_at_once() {
    let folder = Folder::empty(PROGRAM);
    let server = folder.serve(&[]);
    assert_eq!(server.said["administrator"], ADMINISTRATOR);
    let key_file = folder.data().join("admpriv.bin");
    assert_eq!(server.said["key"], key_file.display().to_string());
    let mode = fs::metadata(&key_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Everybody can see who it is, whatever the case of the letters.
    let asked = ResolutionRequest::all("0.site/admin");
    let reply = native::ask(server.native, Opcode::Resolution, &asked, None);
    assert_eq!(reply.outcome(), ResponseCode::Success);
    let resolved: ResolutionReply<'_> = reply.read().unwrap();
    let published = fs::read(folder.data().join("admpub.bin")).unwrap();
    assert_eq!(resolved.values.len(), 1);
    assert_eq!(resolved.values[0].index, 300);
    assert_eq!(resolved.values[0].value_type, "HS_PUBKEY");
    assert_eq!(*resolved.values[0].data, *published);

    let key = Login::with_file(ADMINISTRATOR, &key_file);
    let wrong = Login::with_file(ADMINISTRATOR, &folder.data().join("privkey.bin"));
    let home = HandleRequest::new("0.NA/20.1000");
    let code = |opcode, who: &Login| native::ask(server.native, opcode, &home, Some(who)).outcome();
    assert_eq!(
        native::ask(server.native, Opcode::HomePrefix, &home, None).outcome(),
        ResponseCode::AuthenticationNeeded
    );
    assert_eq!(
        code(Opcode::HomePrefix, &wrong),
        ResponseCode::AuthenticationFailed
    );
    assert_eq!(code(Opcode::HomePrefix, &key), ResponseCode::Success);
    assert_eq!(code(Opcode::ListHomedPrefixes, &key), ResponseCode::Success);
    for handle in ["20.1000/a", "0.NA/20.1000.5", "20.1000.5/b"] {
        let reply = native::ask(
            server.native,
            Opcode::CreateHandle,
            &create(handle),
            Some(&key),
        );
        assert_eq!(reply.outcome(), ResponseCode::Success, "{handle}");
    }
    let delete = HandleRequest::new("20.1000.5/b");
    let deleted = native::ask(server.native, Opcode::DeleteHandle, &delete, Some(&key));
    assert_eq!(deleted.outcome(), ResponseCode::Success);
    // It is the server's own: nobody writes there.
    let own = create("0.SITE/ADMIN");
    let refused = native::ask(server.native, Opcode::CreateHandle, &own, Some(&key));
    assert_eq!(refused.outcome(), ResponseCode::ServerNotResponsible);
    let first = server.said.clone();
    drop(server);

    // What they did is theirs.
    let history = folder.done(&["name", "history", "20.1000/a"]);
    assert!(history.contains(ADMINISTRATOR), "{history}");
    let second = folder.serve(&[]);
    for said in ["administrator", "key", "data"] {
        assert_eq!(second.said[said], first[said]);
    }
    let again = native::ask(second.native, Opcode::UnhomePrefix, &home, Some(&key));
    assert_eq!(again.outcome(), ResponseCode::Success);
}

#[test]
fn it_says_where_it_is_and_how_to_log_in() {
    let folder = Folder::empty(PROGRAM);
    let said = |arguments: &[&str]| {
        let any = "127.0.0.1:0";
        let fixed = ["serve", "--native", any, "--web", any];
        let mut command = folder.command(&[&fixed, arguments].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines: Vec<_> = output.lines().take(6).map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        lines
    };
    let data = folder.data().display().to_string();
    let first = said(&["--demo"]);
    let port = |line: &str| {
        line.split(':')
            .nth(1)
            .unwrap()
            .split([',', '/'])
            .next()
            .unwrap()
            .to_string()
    };
    let native = port(&first[0]);
    assert_eq!(
        first[0],
        format!("native  127.0.0.1:{native}, over UDP and TCP")
    );
    let web = port(first[1].strip_prefix("web     http:").unwrap());
    let urls = format!("web     http://127.0.0.1:{web}/ and https://localhost:{web}/");
    assert_eq!(first[1], urls);
    assert_eq!(first[2], "tls     self-signed, with the key of the site");
    assert_eq!(first[3], format!("data    {data}"));
    let login = format!("log in  as 300:0.SITE/ADMIN, with {data}/admpriv.bin");
    assert_eq!(first[4], login);
    let command = "try     handfast resolve 10.1045/april2006-paskin --server 127.0.0.1:";
    assert_eq!(first[5], format!("{command}{native}"));
    let second = said(&[]);
    assert_eq!(second[2..5], first[2..5]);
    assert!(second[5].starts_with(command));
}

#[test]
fn nobody_becomes_administrator_by_registering_a_handle() {
    let folder = Folder::empty(PROGRAM);
    folder.done(&["init"]);
    folder.done(&["authority", "create", "0.SITE"]);
    folder.done(&["authority", "create", "20.1000"]);
    let secret = "300:HS_SECKEY:guess";
    folder.done(&["name", "create", "0.SITE/ADMIN", "--value", secret]);
    folder.done(&["name", "create", "20.1000/x", "--value", secret]);
    let server = folder.serve(&[]);
    let home = HandleRequest::new("0.NA/20.2000");
    for (who, code) in [
        (ADMINISTRATOR, ResponseCode::AuthenticationFailed),
        ("301:0.SITE/ADMIN", ResponseCode::AuthenticationFailed),
        ("300:20.1000/x", ResponseCode::InvalidAdmin),
    ] {
        let login = Login::with_secret(who, "guess");
        let reply = native::ask(server.native, Opcode::HomePrefix, &home, Some(&login));
        assert_eq!(reply.outcome(), code, "{who}");
    }
}

#[test]
fn configured_administrators_home_prefixes_or_do_everything() {
    let folder = Folder::empty(PROGRAM);
    folder.done(&["init"]);
    folder.done(&["authority", "create", "20.1000"]);
    folder.done(&[
        "name",
        "create",
        "20.1000/admin",
        "--value",
        "300:HS_SECKEY:secret",
    ]);
    let login = Login::with_secret("300:20.1000/admin", "secret");
    // An administrator with index 0 is anyone with a key of the handle.
    for (access, code) in [
        ("", ResponseCode::InvalidAdmin),
        ("full-access = true\n", ResponseCode::Success),
    ] {
        let config = format!("[native]\nadministrators = [\"0:20.1000/admin\"]\n{access}");
        folder.configure(&config);
        let server = folder.serve(&[]);
        let home = HandleRequest::new("0.NA/20.2000");
        let homed = native::ask(server.native, Opcode::HomePrefix, &home, Some(&login));
        assert_eq!(homed.outcome(), ResponseCode::Success);
        let created = native::ask(
            server.native,
            Opcode::CreateHandle,
            &create("20.2000/b"),
            Some(&login),
        );
        assert_eq!(created.outcome(), code, "{access}");
    }
}

#[test]
fn init_makes_what_serve_uses_and_a_registrar_needs() {
    let folder = Folder::empty(PROGRAM);
    let told = folder.done(&[
        "init",
        "--public-address",
        "192.0.2.7",
        "--native",
        "127.0.0.1:26410",
        "--web",
        "127.0.0.1:18000",
        "--description",
        "a \"site\"",
        "--organisation",
        "A Library",
        "--contact-email",
        "names@library.example",
    ]);
    let data = folder.data();
    let bundle = data.join("registration");
    let zip = bundle.join("sitebndl.zip");
    assert!(told.contains(&zip.display().to_string()), "{told}");
    assert!(told.contains(ADMINISTRATOR), "{told}");
    let site = Site::from_bytes(&fs::read(bundle.join("siteinfo.bin")).unwrap()).unwrap();
    assert_eq!(site.servers[0].ip().to_string(), "192.0.2.7");
    assert_eq!(site.servers[0].interfaces[1].port, 26_410);
    assert_eq!(site.serial, 1);
    let public = fs::read(data.join("pubkey.bin")).unwrap();
    assert_eq!(site.servers[0].public_key, public);
    let contact = fs::read_to_string(bundle.join("contactdata.dct")).unwrap();
    assert!(contact.contains("A Library"), "{contact}");
    let sent = fs::read(&zip).unwrap();
    for file in ["siteinfo.bin", "admpub.bin", "contactdata.dct"] {
        let bytes = fs::read(bundle.join(file)).unwrap();
        assert!(
            holds(&sent, file.as_bytes()) && holds(&sent, &bytes),
            "{file}"
        );
    }
    for secret in ["privkey.bin", "admpriv.bin"] {
        assert!(!bundle.join(secret).exists());
        assert!(!holds(
            &sent,
            &fs::read(data.join(secret)).unwrap()[200..300]
        ));
    }

    // The site is as it was said; ports that the system chose are where the server is.
    let server = folder.serve(&[]);
    let reply = native::ask(
        server.native,
        Opcode::GetSiteInfo,
        &HandleRequest::default(),
        None,
    );
    let site = Site::from_bytes(&reply.body).unwrap();
    assert_eq!(site.servers[0].ip().to_string(), "192.0.2.7");
    assert_eq!(
        site.servers[0].interfaces[1].port,
        u32::from(server.native.port())
    );
    drop(server);
    let config = folder.done(&["serve", "--print-config", "--web", "127.0.0.1:1"]);
    assert!(config.contains("listen = \"127.0.0.1:26410\""), "{config}");
    assert!(config.contains("listen = \"127.0.0.1:1\""), "{config}");
    assert!(config.contains("minimum-version = \"2.0\""), "{config}");
    let said = ["serve", "--print-config", "--public-url"];
    let config = folder.done(&[&said[..], &["https://PID.example/"]].concat());
    let url = "public-url = \"https://pid.example\"";
    assert!(config.contains(url), "{config}");
    let wrong = folder.run(&[&said[..], &["pid.example/path"]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    let told = String::from_utf8_lossy(&wrong.stderr);
    assert!(told.contains("https://pid.example.org"), "{told}");

    // A folder is made once; its bundle can be written anew, and keeps what is not said again.
    assert_eq!(folder.error(&["init"])["code"], "store");
    folder.done(&["init", "--bundle", "--public-address", "192.0.2.8"]);
    let site = Site::from_bytes(&fs::read(bundle.join("siteinfo.bin")).unwrap()).unwrap();
    assert_eq!(site.servers[0].ip().to_string(), "192.0.2.8");
    assert_eq!(site.servers[0].interfaces[1].port, 26_410);
    assert_eq!(site.serial, 2);
    assert_eq!(
        site.attributes,
        [("desc".to_string(), "a \"site\"".to_string())]
    );
    assert_eq!(
        fs::read_to_string(bundle.join("contactdata.dct")).unwrap(),
        contact
    );
    assert_eq!(fs::read(data.join("pubkey.bin")).unwrap(), public);
}

#[test]
fn keys_are_never_replaced() {
    let folder = Folder::empty(PROGRAM);
    folder.done(&["init"]);
    let private = folder.data().join("privkey.bin");
    fs::rename(&private, folder.data().join("moved")).unwrap();
    let output = folder.run(&["serve", "--native", "127.0.0.1:0", "--web", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("privkey.bin is not: put it back"), "{said}");
    assert!(!private.exists());
    let other = PrivateKey::generate().unwrap();
    let bytes = handfast_wire::crypto::write_private_key(&other, None).unwrap();
    fs::write(&private, bytes).unwrap();
    let output = folder.run(&["init", "--bundle"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("is not the public key of"), "{said}");
}

#[test]
fn a_server_that_others_find_has_a_port() {
    let folder = Folder::empty(PROGRAM);
    let output = folder.run(&["init", "--native", "127.0.0.1:0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.data().exists());
    let output = folder.run(&["init", "--bundle"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.data().exists());
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
