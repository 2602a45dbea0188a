//! The registry of `info` namespaces, by commands and beside a server.

use handfast_testing::Folder;
use serde_json::json;

use crate::server::ann_leads;

const OAI: &[&str] = &[
    "namespace",
    "propose",
    "oai",
    "--title",
    "OAI identifiers",
    "--organisation",
    "Open Archives Initiative",
    "--contact",
    "https://www.openarchives.org/",
    "--case",
    "lower",
    "--syntax",
    "A repository, a colon, and its local name.",
    "--declare",
    "in-use",
];

/// The code of a command that must fail.
fn code(folder: &Folder, arguments: &[&str]) -> String {
    folder.error(arguments)["code"]
        .as_str()
        .unwrap()
        .to_string()
}

/// Document 003 §6, over HTTP: N4 before `oai` is registered and N0 after; the server runs all the
/// time.
#[test]
fn info_6_a_server_takes_up_new_rules_at_once() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    let inspect = || {
        let reply = server.get("/api/v1/inspect?id=info:OAI/arXiv.org%253AHEP-TH%252F9901001");
        let said = reply.json();
        (
            said["canonical"].clone(),
            said["components"]["registered"].clone(),
        )
    };
    let n4 = json!("info:oai/arXiv.org:HEP-TH%2F9901001");
    assert_eq!(inspect(), (n4.clone(), json!(false)));
    folder.done(&[OAI, &["--as", "ann"]].concat());
    assert_eq!(inspect(), (n4, json!(false)));
    folder.done(&["namespace", "approve", "oai", "--why", "asked them"]);
    let n0 = json!("info:oai/arxiv.org:hep-th%2F9901001");
    assert_eq!(inspect(), (n0, json!(true)));
    let said = folder.json(&["inspect", "--live", "info:OAI/ABC"]);
    assert_eq!(said["canonical"], "info:oai/abc");
    // Without the folder, nothing is known of it.
    let said = folder.json(&["inspect", "info:OAI/ABC"]);
    assert_eq!(said["canonical"], "info:oai/ABC");
}

#[test]
fn a_life_by_commands() {
    let folder = ann_leads();
    folder.done(&["user", "create", "bob"]);
    assert_eq!(code(&folder, OAI), "account-only");
    assert_eq!(
        code(&folder, &[OAI, &["--as", "nobody"]].concat()),
        "no-account"
    );
    let rehearsed = folder.json(&[OAI, &["--as", "ann", "--dry-run"]].concat());
    assert_eq!(
        (&rehearsed["status"], &rehearsed["dry_run"]),
        (&json!("candidate"), &json!(true))
    );
    assert_eq!(code(&folder, &["namespace", "show", "oai"]), "no-namespace");
    folder.done(&[OAI, &["--as", "ann"]].concat());
    folder.done(&["namespace", "comment", "oai", "Fine by us.", "--as", "bob"]);
    let comments = folder.json(&["namespace", "comment", "oai"]);
    assert_eq!(
        (&comments[0]["author"], &comments[0]["text"]),
        (&json!("bob"), &json!("Fine by us."))
    );
    let approve = ["namespace", "approve", "oai", "--why", "asked them"];
    assert_eq!(
        code(&folder, &[&approve[..], &["--as", "bob"]].concat()),
        "denied"
    );
    folder.done(&["authority", "create", "info:"]);
    folder.done(&[
        "authority",
        "grant",
        "info:",
        "--to",
        "bob",
        "--role",
        "lead",
        "--create",
    ]);
    folder.done(&[&approve[..], &["--as", "bob"]].concat());

    // Without the account of the namespace nobody changes anything, whatever they say.
    let change = ["namespace", "change", "oai", "--title", "Mine"];
    assert_eq!(
        code(&folder, &[&change[..], &["--as", "bob"]].concat()),
        "denied"
    );
    // What is shown can be changed and given back.
    let mut entry = folder.json(&["namespace", "show", "oai"]);
    entry["title"] = json!("OAI names");
    folder.write("oai.json", entry.to_string());
    let changed = folder.json(&[
        "namespace",
        "change",
        "oai",
        "--file",
        "oai.json",
        "--as",
        "ann",
    ]);
    assert_eq!(
        (&changed["title"], &changed["version"]),
        (&json!("OAI names"), &json!(3))
    );
    let history = folder.json(&["namespace", "history", "oai", "--as", "bob"]);
    let said: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|v| (&v["by"], &v["who"]))
        .collect();
    let (ann, bob) = (json!("ann"), json!("bob"));
    let (authority, operator) = (json!("authority"), json!("operator"));
    assert_eq!(
        said,
        [(&authority, &ann), (&operator, &bob), (&authority, &ann)]
    );

    folder.done(&[
        "namespace",
        "withdraw",
        "oai",
        "--as",
        "ann",
        "--why",
        "out of use",
    ]);
    assert_eq!(code(&folder, &[OAI, &["--as", "ann"]].concat()), "state");
    assert_eq!(
        folder.json(&["namespace", "list", "--status", "withdrawn"])["total"],
        1
    );
    folder.done(&["check"]);
    folder.done(&["log", "verify"]);
}

#[test]
fn old_records_are_taken_from_xml() {
    let folder = ann_leads();
    let xml = "<info-registry-entry xmlns='http://info-uri.info/registry'>\
        <info-namespace>lccn</info-namespace><namespace-title>LC Control Numbers</namespace-title>\
        <identifier-examples><identifier-example><native>n 78-89035</native>\
        <info-uri>info:lccn/n78\n-89036</info-uri></identifier-example></identifier-examples>\
        </info-registry-entry>";
    folder.write("lccn.xml", xml);
    let said = folder.json(&["namespace", "import", "lccn.xml", "--dry-run"]);
    assert_eq!(said[0], json!({"namespace": "lccn", "changed": true}));
    folder.done(&["namespace", "import", "lccn.xml"]);
    let entry = folder.json(&["namespace", "show", "lccn"]);
    assert_eq!(entry["title"], "LC Control Numbers");
    assert_eq!(entry["normalisation"]["steps"][0], json!(["strip", " "]));
    assert_eq!(
        entry["examples"].as_array().unwrap().last().unwrap()["native"],
        "n 78-89035"
    );
    let again = folder.json(&["namespace", "import", "lccn.xml"]);
    assert_eq!(again[0]["changed"], false);
    let output = folder.run(&["namespace", "import", "lccn.xml", "--as", "ann"]);
    assert_eq!(output.status.code(), Some(1));
}
