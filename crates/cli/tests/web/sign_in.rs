//! Links, passwords and invitations, by command: on a folder, beside a server and over the network.

use std::io::Write;
use std::process::{Output, Stdio};

use handfast_testing::Folder;

use crate::server::{PROGRAM, ann_leads, token};

const PASSWORD: &str = "a blue horse swims at dawn";

/// Runs a command that reads standard input.
fn with_input(folder: &Folder, arguments: &[&str], input: &str) -> Output {
    let mut child = folder
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn code_at<'l>(link: &'l str, base: &str) -> &'l str {
    let code = link.trim().strip_prefix(&format!("{base}/console/enter/"));
    let code = code.unwrap_or_else(|| panic!("{link}"));
    assert_eq!(code.len(), 43);
    code
}

#[test]
fn a_link_leads_to_the_public_url_or_to_where_the_server_listens() {
    let folder = ann_leads();
    let alone = folder.done(&["user", "sign-in", "ann"]);
    code_at(&alone, "http://127.0.0.1:8000");
    {
        let server = folder.serve(&[]);
        let beside = folder.done(&["user", "sign-in", "ann"]);
        code_at(&beside, &server.url());
        let said = folder.json(&["user", "sign-in", "ann"]);
        assert_eq!(said["account"], "ann");
    }
    folder.configure("[web]\npublic-url = \"https://pid.example.org\"");
    for _beside in [None, Some(folder.serve(&[]))] {
        let link = folder.done(&["user", "sign-in", "ann"]);
        code_at(&link, "https://pid.example.org");
    }
    let unknown = folder.error(&["user", "sign-in", "eve"]);
    assert_eq!(unknown["code"], "no-account");
}

#[test]
fn the_server_prints_a_first_link_until_an_account_has_a_password() {
    let folder = ann_leads();
    let first = {
        let server = folder.serve(&[]);
        let link = server.said["signIn"].as_str().unwrap();
        code_at(link, &server.url());
        // Another one, beside the server.
        let link = folder.done(&["user", "sign-in"]);
        code_at(&link, &server.url());
        server.said["signIn"].clone()
    };
    // No account and no event before the link is used.
    assert!(!folder.done(&["user", "list"]).contains("admin"));
    let again = folder.serve(&[]).said["signIn"].clone();
    assert!(again.is_string() && again != first);
    let set = with_input(&folder, &["user", "password", "ann"], PASSWORD);
    assert!(set.status.success(), "{set:?}");
    assert!(folder.serve(&[]).said["signIn"].is_null());
    let none = folder.error(&["user", "sign-in"]);
    assert_eq!(none["code"], "not-first");
}

#[test]
fn a_password_is_a_line_of_standard_input() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    for (input, status, said) in [
        (format!("{PASSWORD}\nmore"), 0, "set the password of ann"),
        (format!("{PASSWORD}\r\n"), 0, "set the password of ann"),
        ("short\n".to_string(), 1, "at least 15 characters"),
        ("passwordpassword\n".to_string(), 1, "common words"),
        ("\n".to_string(), 2, "there is no password"),
        (String::new(), 2, "there is no password"),
        ("x".repeat(2_000), 1, "at most 1024 bytes"),
    ] {
        let output = with_input(&folder, &["user", "password", "ann"], &input);
        assert_eq!(output.status.code(), Some(status), "{input}: {output:?}");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(said), "{input}: {text}");
        assert!(!text.contains(PASSWORD));
    }
    drop(server);
    let audit = folder.json(&["user", "audit", "ann"]);
    let audit = audit.as_array().unwrap();
    assert_eq!(audit.len(), 2);
    assert_eq!(audit[0]["outcome"], "password-set");
    let lines = folder.done(&["user", "audit"]);
    assert!(lines.contains("by the operator"), "{lines}");
}

#[test]
fn an_invitation_is_made_on_the_folder_and_over_the_network() {
    let folder = ann_leads();
    let token = token(&folder, &[]);
    folder.write("token", format!("{token}\n"));
    let role = ["--authority", "20.1000", "--role", "write"];
    let invite = |name: &'static str| [&["user", "invite", name][..], &role].concat();
    let link = folder.done(&invite("eve"));
    code_at(&link, "http://127.0.0.1:8000");
    let server = folder.serve(&[]);
    let url = server.url();
    let start = ["--api", &url, "--token-file", "token"];
    let link = folder.done(&[&start[..], &invite("bob")].concat());
    code_at(&link, &url);
    let again = folder.done(&[&start[..], &invite("bob")].concat());
    assert!(again.contains("account bob existed before"), "{again}");
    for refused in [&["user", "invite", "dan"][..], &["user", "sign-in", "ann"]] {
        let output = folder.run(&[&start[..], refused].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
    let grants = folder.done(&["authority", "show", "20.1000"]);
    assert!(grants.contains("eve") && grants.contains("bob"), "{grants}");
}

/// The private key never leaves the command.
#[test]
fn a_handle_identity_signs_in_by_its_key() {
    let folder = Folder::empty(PROGRAM);
    drop(folder.serve(&[]));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).unwrap();
    let certificate = folder.write("data/certificate.pem", made.cert.pem());
    folder.write("data/key.pem", made.signing_key.serialize_pem());
    folder.configure("[web]\ncertificate = \"certificate.pem\"\nkey = \"key.pem\"");
    let server = folder.serve(&[]);
    let port = server.said["web"].as_str().unwrap().rsplit(':').next();
    let url = format!("https://localhost:{}", port.unwrap());
    let start = ["--api", &url, "--certificate", &certificate];
    let sign_in = ["user", "sign-in", "--as", "300:0.SITE/ADMIN", "--key"];
    let key = folder.data().join("admpriv.bin").display().to_string();
    let run = |key: &str| folder.run(&[&start[..], &sign_in, &[key]].concat());
    let output = run(&key);
    assert!(output.status.success(), "{output:?}");
    code_at(&String::from_utf8(output.stdout).unwrap(), &url);
    // The key of the server itself is another one.
    let wrong = run(&folder.data().join("privkey.bin").display().to_string());
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        text.contains("300:0.SITE/ADMIN was not signed in"),
        "{text}"
    );
    // Over plain HTTP, or without a server, nothing is sent.
    let plain = server.url();
    let plain = folder.run(&[&["--api", &plain][..], &sign_in, &[&key]].concat());
    assert_eq!(plain.status.code(), Some(1), "{plain:?}");
    let nowhere = folder.run(&[&sign_in[..], &[&key]].concat());
    assert_eq!(nowhere.status.code(), Some(2), "{nowhere:?}");
}
