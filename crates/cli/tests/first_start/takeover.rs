//! The identity of a handle server, taken over from its folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use handfast_testing::{Folder, Login, done, native};
use handfast_wire::body::{HandleRequest, ValuesRequest};
use handfast_wire::crypto::{PrivateKey, Protection, read_private_key, write_private_key};
use handfast_wire::{Codec, Opcode, ResponseCode, Site, SiteInterface, SiteServer, Value, json};
use serde_json::Value as Json;

use crate::PROGRAM;

/// The folder of a handle server.
struct HandleServer {
    folder: Folder,
    key: PrivateKey,
}

const CONFIG: &str = r#"{
"hdl_http_config" = { "bind_address" = "127.0.0.1" "bind_port" = "18001" "log_accesses" = "yes" }
"hdl_tcp_config" = { "bind_address" = "127.0.0.1" "num_threads" = "15" "bind_port" = "26411" }
"hdl_udp_config" = { "bind_address" = "127.0.0.1" "num_threads" = "15" "bind_port" = "26411" }
"server_type" = "server"
"interfaces" = ( "hdl_udp" "hdl_tcp" "hdl_http" )
"no_udp_resolution" = "yes"
"server_config" = {
  "server_admins" = ( "300:0.NA/20.1000" "301:0.NA/20.9" )
  "replication_admins" = ( "300:0.NA/20.1000" )
  "server_admin_full_access" = "yes"
  "case_sensitive" = "yes"
  "auto_homed_prefixes" = ( "0.NA/20.1000" "0.NA/10.5072" )
  "max_session_time" = "86400000"
  "sql_settings" = { "sql_passwd" = "hush-hush" }
}
}
"#;

impl HandleServer {
    /// One whose keys have a passphrase, or none.
    fn new(passphrase: Option<&str>) -> Self {
        let server = Self {
            folder: Folder::empty(PROGRAM),
            key: PrivateKey::generate().unwrap(),
        };
        fs::create_dir(server.path()).unwrap();
        server.put("config.dct", CONFIG.as_bytes());
        server.put("privkey.bin", &file(&server.key, passphrase));
        server.put("pubkey.bin", &public(&server.key));
        let administrator = PrivateKey::generate().unwrap();
        server.put("admpriv.bin", &file(&administrator, passphrase));
        server.put("admpub.bin", &public(&administrator));
        let text = json::write_site(&server.site());
        server.put("siteinfo.json", text.as_bytes());
        server
    }

    fn site(&self) -> Site {
        let interface = |protocol, port| SiteInterface {
            kind: 3,
            protocol,
            port,
        };
        Site {
            version: 1,
            protocol: (2, 10),
            serial: 7,
            is_primary: true,
            hash_option: 2,
            servers: vec![SiteServer {
                id: 1,
                address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 9],
                public_key: public(&self.key),
                interfaces: vec![interface(0, 26_411), interface(1, 26_411)],
            }],
            ..Site::default()
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("svr_1")
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    /// Why it is not taken over; nothing is made then.
    fn refused(&self) -> String {
        let path = self.path();
        let refused = self
            .folder
            .error(&["init", "--from-handle-server", path.to_str().unwrap()]);
        assert_eq!(refused["code"], "not-taken-over");
        let left = fs::read_dir(self.folder.path()).unwrap().count();
        assert_eq!(left, 1, "something was made");
        refused["message"].as_str().unwrap().to_string()
    }

    fn taken(&self, passphrase: Option<&str>) -> (String, Json) {
        let path = self.path();
        let arguments = ["init", "--from-handle-server", path.to_str().unwrap()];
        let with = |more: &[&str]| {
            let mut command = self.folder.command(&[&arguments, more].concat());
            command.envs(passphrase.map(|said| ("HANDFAST_PASSPHRASE", said)));
            done(&mut command)
        };
        let told = with(&[]);
        fs::remove_dir_all(self.folder.data()).unwrap();
        (told, serde_json::from_str(&with(&["--json"])).unwrap())
    }
}

fn public(key: &PrivateKey) -> Vec<u8> {
    key.public_key().unwrap().to_bytes()
}

fn file(key: &PrivateKey, passphrase: Option<&str>) -> Vec<u8> {
    let protection = passphrase.map(|passphrase| Protection {
        passphrase: passphrase.as_bytes(),
        salt: [1; 16],
        iv: [2; 16],
    });
    write_private_key(key, protection.as_ref())
        .unwrap()
        .to_vec()
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_server_goes_on_under_its_identity() {
    let old = HandleServer::new(None);
    let (told, said) = old.taken(None);
    let half = old.folder.path().join("data.making");
    assert!(!half.exists());
    let (from, data) = (old.path(), old.folder.data());
    for name in ["privkey.bin", "pubkey.bin", "admpriv.bin", "admpub.bin"] {
        assert_eq!(read(&from, name), read(&data, name), "{name}");
    }
    assert_eq!(said["serial"], 7);
    assert_eq!(said["address"], "192.0.2.9");
    for line in [
        "prefix 20.1000",
        "prefix 10.5072",
        "300:0.NA/20.1000 may do everything, with the administrator's key",
        "301:0.NA/20.9 may do everything, when its key is in a record here",
        "300:0.NA/20.1000 may copy everything",
        "hdl_tcp_config.num_threads",
        "server_config.max_session_time",
        "server_config.sql_settings",
        "no_udp_resolution",
        "handfast import",
    ] {
        assert!(told.contains(line), "{line} is not in {told}");
    }
    assert!(!told.contains("hush-hush"));

    let config = old.folder.done(&["serve", "--print-config"]);
    for line in [
        "listen = \"127.0.0.1:26411\"",
        "listen = \"127.0.0.1:18001\"",
        "full-access = true",
        "replication = [\"300:0.NA/20.1000\"]",
    ] {
        assert!(config.contains(line), "{line} is not in {config}");
    }
    // Case counts as it did, but never in a DOI.
    for (prefix, counts) in [("20.1000", true), ("10.5072", false)] {
        let shown = old.folder.done(&["authority", "show", prefix, "--json"]);
        let shown: Json = serde_json::from_str(&shown).unwrap();
        let is_sensitive = shown["policy"]["case"] == "sensitive";
        assert_eq!(is_sensitive, counts, "{shown}");
    }

    let server = old.folder.serve(&[]);
    let reply = native::ask(
        server.native,
        Opcode::GetSiteInfo,
        &HandleRequest::default(),
        None,
    );
    let mut site = old.site();
    for interface in &mut site.servers[0].interfaces {
        interface.port = server.native.port().into();
    }
    assert_eq!(Site::from_bytes(&reply.body).unwrap(), site);
    // By the name that the registrar gave, and by the server's own.
    for (who, handle) in [
        ("300:0.NA/20.1000", "20.1000/a"),
        ("300:0.SITE/ADMIN", "20.1000/A"),
    ] {
        let login = Login::with_file(who, &data.join("admpriv.bin"));
        let create = ValuesRequest {
            handle: handle.into(),
            values: vec![Value::new(1, "URL", b"https://example.org/")],
        };
        let created = native::ask(server.native, Opcode::CreateHandle, &create, Some(&login));
        assert_eq!(created.outcome(), ResponseCode::Success, "{who}");
    }
}

#[test]
fn a_key_with_a_passphrase_is_opened_once() {
    let old = HandleServer::new(Some("open sesame"));
    assert!(old.refused().contains("HANDFAST_PASSPHRASE"));
    let (told, _) = old.taken(Some("open sesame"));
    assert!(told.contains("without its passphrase"), "{told}");
    let data = old.folder.data();
    let stored = read(&data, "privkey.bin");
    let key = read_private_key(&stored, None).unwrap();
    assert_eq!(public(&key), public(&old.key));
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("privkey.bin"), mode("admpriv.bin")), (0o600, 0o600));
    // The server has no need of this one.
    assert_eq!(read(&data, "admpriv.bin"), read(&old.path(), "admpriv.bin"));
    drop(old.folder.serve(&[]));

    fs::remove_dir_all(&data).unwrap();
    let path = old.path();
    let mut command = old
        .folder
        .command(&["init", "--from-handle-server", path.to_str().unwrap()]);
    let output = command
        .env("HANDFAST_PASSPHRASE", "guess")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("passphrase of the key file is wrong"),
        "{said}"
    );
    assert!(!data.exists());
}

#[test]
fn inconsistent_files_are_not_taken_over() {
    let old = HandleServer::new(None);
    let other = PrivateKey::generate().unwrap();
    let site = |change: fn(&mut Site)| {
        let mut site = old.site();
        change(&mut site);
        site.to_bytes()
    };
    for (name, bytes, said) in [
        ("config.dct", b"{ a = ".to_vec(), "the text ends too soon"),
        (
            "privkey.bin",
            file(&other, None),
            "is not the public key of",
        ),
        (
            "privkey.bin",
            b"\0\0\0\x01x".to_vec(),
            "no private key file",
        ),
        ("admpub.bin", public(&other), "is not the public key of"),
        ("admpriv.bin", b"?".to_vec(), "no private key file"),
        ("siteinfo.json", b"{}".to_vec(), "as a site record"),
        (
            // Before siteinfo.json, as deployed servers read them.
            "siteinfo.bin",
            site(|site| site.servers[0].public_key = vec![1]),
            "names another public key",
        ),
        (
            "siteinfo.bin",
            site(|site| site.servers.push(site.servers[0].clone())),
            "2 servers",
        ),
        (
            "siteinfo.bin",
            site(|site| site.is_primary = false),
            "is a mirror",
        ),
    ] {
        let path = old.path().join(name);
        let before = fs::read(&path).ok();
        fs::write(&path, bytes).unwrap();
        let refused = old.refused();
        assert!(refused.contains(said), "{name}: {refused}");
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
    for name in ["config.dct", "privkey.bin", "siteinfo.json"] {
        let path = old.path().join(name);
        let before = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let refused = old.refused();
        assert!(refused.contains(name), "{refused}");
        fs::write(&path, before).unwrap();
    }
    // A prefix that cannot be one here is found out when the folder is half made, which then goes.
    let config = CONFIG.replace("0.NA/10.5072", "0.NA/console");
    old.put("config.dct", config.as_bytes());
    let path = old.path();
    let arguments = ["init", "--from-handle-server", path.to_str().unwrap()];
    assert_eq!(old.folder.error(&arguments)["code"], "reserved-prefix");
    let left = fs::read_dir(old.folder.path()).unwrap().count();
    assert_eq!(left, 1);
}

#[test]
fn a_folder_that_is_there_is_left_alone() {
    let old = HandleServer::new(None);
    old.folder.done(&["init"]);
    let before = read(&old.folder.data(), "privkey.bin");
    let path = old.path();
    let arguments = ["init", "--from-handle-server", path.to_str().unwrap()];
    assert_eq!(old.folder.error(&arguments)["code"], "store");
    assert_eq!(read(&old.folder.data(), "privkey.bin"), before);
}
