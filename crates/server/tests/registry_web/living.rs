//! An entry through its life, over HTTP: who may do what, and what others see of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{NewAuthority, NewToken, Principal, Role};
use handfast_server::WebSettings;
use handfast_testing::clock::NOW;
use handfast_testing::{Response, Server};
use serde_json::{Value as Json, json};

const SECOND: u64 = 1_000;
const DAY: u64 = 86_400 * SECOND;
/// N0 and N4 of the draft (§5.3).
const N0: &str = "info:oai/arxiv.org:hep-th%2F9901001";
const N4: &str = "info:oai/arXiv.org:HEP-TH%2F9901001";

struct Living {
    server: Server,
    clock: Arc<AtomicU64>,
    tokens: Vec<(&'static str, String)>,
}

impl Living {
    /// `ann` and `bob` have accounts, `olga` is operator of the registry, `mia` its maintainer.
    fn start() -> Self {
        let clock = Arc::new(AtomicU64::new(NOW));
        let server = Server::start_by(&clock, WebSettings::default());
        let (registry, operator) = (&server.registry, &Principal::Operator);
        let root = registry.create_authority(operator, "info:", NewAuthority::default());
        root.unwrap();
        let mut tokens = Vec::new();
        for (name, role) in [
            ("ann", None),
            ("bob", None),
            ("olga", Some(Role::Lead)),
            ("mia", Some(Role::Admin)),
        ] {
            let roles = role.map(|role| ("info:", role));
            server.account(name, roles.as_slice());
            tokens.push((name, server.token(name, NewToken::default())));
        }
        Self {
            server,
            clock,
            tokens,
        }
    }

    fn pass(&self, milliseconds: u64) {
        self.clock.fetch_add(milliseconds, Ordering::SeqCst);
    }

    fn call(&self, who: &str, method: &str, path: &str, body: &Json, headers: &str) -> Response {
        let token = self.tokens.iter().find(|(name, _)| *name == who);
        let token = token.map_or("", |(_, token)| token);
        let path = format!("/api/v1{path}");
        let body = body.to_string();
        self.server
            .ask(method, &path, &[token, headers], Some(&body))
    }

    /// Something that is to come out with a status.
    fn does(&self, who: &str, method: &str, path: &str, body: &Json, status: u16) -> Json {
        let answer = self.call(who, method, path, body, "");
        assert_eq!(
            answer.status, status,
            "{who} {method} {path}: {}",
            answer.body
        );
        answer.json()
    }

    fn get(&self, path: &str) -> Json {
        let answer = self.server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    fn inspected(&self) -> (String, bool) {
        let said = self.get("/api/v1/inspect?id=info:OAI/arXiv.org%253AHEP-TH%252F9901001");
        let canonical = said["canonical"].as_str().unwrap().to_string();
        (canonical, said["components"]["registered"] == true)
    }
}

fn form() -> Json {
    json!({
        "namespace": "OAI",
        "title": "OAI <script>alert(1)</script> identifiers",
        "authority": {
            "organisation": "Open Archives \"Initiative\" & others",
            "url": "https://www.openarchives.example/",
            "contact": "oai@openarchives.example"
        },
        "description": "]]></dc:description><script>alert(2)</script>",
        "syntax": {"summary": "<img src=x onerror=alert(3)>", "pattern": "[^:]+:.+"},
        "normalisation": {"case": "lower"},
        "resolution": {
            "mechanism": "https://oai.example/get?id={id}",
            "security": "Do not <b>trust</b> it."
        },
        "examples": [{"native": "oai:arXiv.org:hep-th/9901001",
            "input": "info:oai/arXiv.org:hep-th%2F9901001", "canonical": N0}],
        "declaration": {"public": true, "in_use": true, "without_uri_form": true}
    })
}

fn harmless(answer: &Response) {
    assert!(!answer.has_foreign_script(), "{}", answer.body);
    for hostile in ["<img", "<b>trust"] {
        assert!(!answer.body.contains(hostile), "{}", answer.body);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a life is long")]
fn an_entry_lives_from_proposal_to_tombstone() {
    let living = Living::start();
    let server = &living.server;
    assert_eq!(living.inspected(), (N4.to_string(), false));
    assert_eq!(server.get("/info:oai/x").status, 404);

    // Someone must be known to propose.
    living.does("nobody", "POST", "/namespaces", &form(), 401);
    let rehearsed = living.call("ann", "POST", "/namespaces?dry-run=true", &form(), "");
    assert_eq!(rehearsed.status, 200, "{}", rehearsed.body);
    assert_eq!(server.get("/registry/info/oai").status, 404);
    let proposed = living.does("ann", "POST", "/namespaces", &form(), 201);
    let tried = living.get("/registry/info/oai.json?id=A&other=a");
    for tried in [&tried["trial"], &tried["trial"]["other"]] {
        assert_eq!(
            (&tried["canonical"], &tried["registered"]),
            (&json!("info:oai/a"), &json!(false))
        );
    }
    assert_eq!(
        (&proposed["status"], &proposed["live"]),
        (&json!("candidate"), &json!(false))
    );
    assert_eq!(living.inspected(), (N4.to_string(), false));
    living.does("bob", "POST", "/namespaces", &form(), 409);

    // Its page does no harm, tries by its own rules, and shows what is said of it.
    let comment = json!({"text": "Why not <script>alert(4)</script>?"});
    living.does("nobody", "POST", "/namespaces/oai/comments", &comment, 401);
    living.does("bob", "POST", "/namespaces/oai/comments", &comment, 201);
    // Who it was is not for the public.
    let said = &living.get("/api/v1/namespaces/oai/comments")[0];
    assert_eq!(
        (&said["by"], &said["author"]),
        (&json!("account"), &Json::Null)
    );
    assert!(!server.get("/registry/info/oai").body.contains("bob"));
    let said = living.call("olga", "GET", "/namespaces/oai/comments", &Json::Null, "");
    assert!(said.body.contains("\"author\":\"bob\""), "{}", said.body);
    for path in [
        "/registry/info/oai?id=A:B",
        "/registry/",
        "/registry/?status=candidate",
    ] {
        let page = server.get(path);
        assert_eq!(page.status, 200);
        harmless(&page);
    }
    let page = server.get("/registry/info/oai?id=A:B").body;
    assert!(page.contains("Why not &lt;script&gt;"), "{page}");
    assert!(page.contains("<code>info:oai/a:b</code>"), "{page}");
    let feed = server.get("/registry/changes.atom");
    harmless(&feed);
    assert!(feed.body.contains("<title>info:oai/ candidate</title>"));
    roxmltree::Document::parse(&feed.body).unwrap();
    // Proposals are not harvested.
    let record = "/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=info:oai/";
    assert!(server.get(record).body.contains("idDoesNotExist"));

    // The proposer does not decide.
    let why = json!({"why": "asked the address on their own site"});
    living.does("ann", "POST", "/namespaces/oai/approve", &why, 403);
    living.does("bob", "POST", "/namespaces/oai/approve", &why, 403);
    living.does("olga", "POST", "/namespaces/oai/approve", &json!({}), 400);
    living.pass(DAY);
    living.does("olga", "POST", "/namespaces/oai/approve", &why, 200);
    assert_eq!(living.inspected(), (N0.to_string(), true));
    let redirect = server.get("/info:OAI/arXiv.org%3AHEP-TH%2F9901001");
    assert_eq!(
        (redirect.status, redirect.location()),
        (302, "https://oai.example/get?id=arxiv.org%3Ahep-th/9901001")
    );
    for format in ["oai_dc", "reg"] {
        let record = server.get(&format!(
            "/oai?verb=GetRecord&metadataPrefix={format}&identifier=info:oai/"
        ));
        harmless(&record);
        roxmltree::Document::parse(&record.body).unwrap();
        assert!(
            record
                .body
                .contains("<datestamp>2026-11-16T06:17:16Z</datestamp>"),
            "{}",
            record.body
        );
        assert!(record.body.contains("<setSpec>later</setSpec>"));
    }

    // A second harvest gets only what is new.
    let since = |from: &str| {
        let list = format!("/oai?verb=ListIdentifiers&metadataPrefix=reg&from={from}");
        let body = server.get(&list).body;
        let count = body.matches("<header").count();
        (count, body)
    };
    assert_eq!(since("2026-11-16T06:17:16Z").0, 1);
    assert_eq!(since("2026-11-16").0, 1);
    assert!(since("2026-11-16T06:17:17Z").1.contains("noRecordsMatch"));

    // Only whose it is changes it, and only the version that they have seen.
    let change = json!({"resolution": {"page_first": true}, "why": "people should know"});
    living.does("bob", "PATCH", "/namespaces/oai", &change, 403);
    let stale = living.call(
        "ann",
        "PATCH",
        "/namespaces/oai",
        &change,
        "If-Match: \"1\"\r\n",
    );
    assert_eq!(stale.status, 412, "{}", stale.body);
    let cased = json!({"normalisation": {"case": "upper"}});
    let rehearsed = living.call("ann", "PATCH", "/namespaces/oai?dry-run=true", &cased, "");
    assert_eq!(rehearsed.status, 422, "{}", rehearsed.body);
    living.does("ann", "PATCH", "/namespaces/oai", &change, 200);
    let page = server.get("/info:oai/x:y");
    assert_eq!(page.status, 200);
    harmless(&page);
    assert!(
        page.body
            .contains("<a href=\"https://oai.example/get?id=x%3Ay\""),
        "{}",
        page.body
    );
    assert!(
        page.header("link")
            .unwrap()
            .contains("/registry/info/oai#security")
    );
    let program = server.accepting("/info:oai/x:y", "application/json");
    let said = program.json();
    assert_eq!(said["location"], "https://oai.example/get?id=x%3Ay");
    // A program that asks for the location gets it, with the link.
    let located = server.get("/uri-res/I2L?info:oai/x:y");
    assert_eq!(
        (located.status, located.location()),
        (303, "https://oai.example/get?id=x%3Ay")
    );
    let link = located.header("link").unwrap();
    assert!(link.contains("/registry/info/oai#security"), "{link}");

    // It goes, and its string with it.
    living.pass(DAY);
    living.does("ann", "POST", "/namespaces/oai/deprecate", &why, 200);
    assert!(server.get("/info:oai/x:y").body.contains("deprecated"));
    living.does("olga", "POST", "/namespaces/oai/withdraw", &why, 403);
    living.does("ann", "POST", "/namespaces/oai/withdraw", &why, 200);
    let gone = living.does("ann", "POST", "/namespaces", &form(), 409);
    assert_eq!(gone["code"], "state", "{gone}");
    assert_eq!(living.inspected(), (N0.to_string(), false));
    let page = server.get("/info:oai/x:y");
    assert_eq!(page.status, 410);
    assert!(page.body.contains("was withdrawn"));
    let deleted = server.get(record).body;
    assert!(deleted.contains("<header status=\"deleted\">"), "{deleted}");
    assert!(!deleted.contains("<metadata>"));
    assert!(
        since("2026-11-17")
            .1
            .contains("<header status=\"deleted\">")
    );
    let formats = server
        .get("/oai?verb=ListMetadataFormats&identifier=info:oai/")
        .body;
    assert!(formats.contains("noMetadataFormats"), "{formats}");
    assert!(
        server
            .get("/registry/info/oai")
            .body
            .contains("This namespace was withdrawn")
    );

    // In pages, as all lists of the API.
    let mut acts = Vec::new();
    let mut query = String::from("limit=2");
    loop {
        let page = living.get(&format!("/api/v1/namespaces/oai/history?{query}"));
        for version in page["versions"].as_array().unwrap() {
            assert!(version["who"].is_null());
            acts.push(version["action"].clone());
        }
        let Some(next) = page["next"].as_str() else {
            break;
        };
        query = format!("limit=2&after={next}");
    }
    assert_eq!(acts.len(), 5, "{acts:?}");
    assert_eq!(acts[4], "withdraw namespace");
}

#[test]
fn an_authority_claims_its_own() {
    let living = Living::start();
    let why = json!({"why": "we are the library"});
    living.does(
        "ann",
        "PATCH",
        "/namespaces/lccn",
        &json!({"title": "Mine"}),
        403,
    );
    let stamp = |living: &Living| living.get("/api/v1/namespaces/lccn")["changed"].clone();
    let before = (
        stamp(&living),
        living.server.get("/registry/changes.atom").body,
    );
    living.does(
        "bob",
        "POST",
        "/namespaces/lccn/claim",
        &json!({"why": "see evil.example"}),
        200,
    );
    let page = living.server.get("/registry/info/lccn.json").body;
    assert!(!page.contains("evil"), "{page}");
    assert_eq!(
        (
            stamp(&living),
            living.server.get("/registry/changes.atom").body
        ),
        before
    );
    living.does("ann", "DELETE", "/namespaces/lccn/claim", &Json::Null, 403);
    living.does("bob", "DELETE", "/namespaces/lccn/claim", &Json::Null, 200);
    living.does("ann", "POST", "/namespaces/lccn/claim", &why, 200);
    assert!(
        living
            .server
            .get("/registry/info/lccn")
            .body
            .contains("being verified")
    );
    living.does("ann", "POST", "/namespaces/lccn/verify", &why, 403);
    living.does("olga", "POST", "/namespaces/lccn/verify", &why, 200);
    living.pass(SECOND);
    let changed = living.does(
        "ann",
        "PATCH",
        "/namespaces/lccn",
        &json!({"title": "Control numbers", "authority": {"contact": "lccn@library.example"}}),
        200,
    );
    assert_eq!(
        (&changed["title"], &changed["claimed"]),
        (&json!("Control numbers"), &json!(true))
    );
    assert_eq!(changed["authority"]["organisation"], "Library of Congress");
    // What was harvested while it changed comes once more, at the end.
    let body = living
        .server
        .get("/oai?verb=ListIdentifiers&resumptionToken=1~reg~~~~20~1191888000000~rfa")
        .body;
    assert!(body.contains("info:lccn/"), "{body}");
    let lccn = body.rfind("info:lccn/").unwrap();
    assert!(lccn > body.rfind("info:nyu/").unwrap());
}

#[test]
fn what_is_provisional_lapses() {
    let living = Living::start();
    living.does("ann", "POST", "/namespaces", &form(), 201);
    let approval = json!({"why": "planned", "until": "2026-12-01"});
    living.does("olga", "POST", "/namespaces/oai/approve", &approval, 200);
    assert_eq!(living.inspected(), (N0.to_string(), true));
    living.pass(30 * DAY);
    assert_eq!(living.inspected(), (N0.to_string(), false));
    assert_eq!(living.get("/api/v1/namespaces/oai")["status"], "lapsed");
    let page = living.server.get("/info:oai/x:y");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("has lapsed"));
    let record = "/oai?verb=GetRecord&metadataPrefix=reg&identifier=info:oai/";
    assert!(
        living
            .server
            .get(record)
            .body
            .contains("status=\"deleted\"")
    );
    let renewal = json!({"why": "soon", "until": "2027-01-31T12:00:00Z"});
    living.does("olga", "POST", "/namespaces/oai/renew", &renewal, 200);
    assert!(
        !living
            .server
            .get(record)
            .body
            .contains("status=\"deleted\"")
    );
}

#[test]
fn the_maintainer_sets_the_policy() {
    let living = Living::start();
    assert_eq!(living.get("/api/v1/namespace-policy")["version"], 0);
    // The policy that the program comes with says how entries are reviewed and what they claim.
    let first = living.get("/registry/policy.json")["text"].to_string();
    let first = first.replace("\\n", " ");
    for words in [
        "Only the organisation that owns or manages a namespace; never a third party.",
        "has no URI form of its own",
        "A proposal is open to comments until the operator approves or refuses it",
        "records how the authority was verified",
        "Identification only: no persistence, no resolution, no meaning.",
        "read its security considerations",
    ] {
        assert!(first.contains(words), "{words}: {first}");
    }
    let text = json!({"text": "Ask <b>first</b>.\nThen wait."});
    living.does("olga", "PUT", "/namespace-policy", &text, 403);
    living.does("mia", "PUT", "/namespace-policy", &text, 200);
    assert_eq!(living.get("/registry/policy.json")["version"], 1);
    let page = living.server.get("/registry/policy").body;
    assert!(
        page.contains("Ask &lt;b&gt;first&lt;/b&gt;.<br>\nThen wait."),
        "{page}"
    );
}

/// Security considerations were not linked, and no page shown first, of names that are stored here.
#[test]
fn info_11_security_considerations_are_linked_for_names_that_are_stored() {
    let living = Living::start();
    living.does("ann", "POST", "/namespaces", &form(), 201);
    let why = json!({"why": "letterhead"});
    living.does("olga", "POST", "/namespaces/oai/approve", &why, 200);
    let operator = &Principal::Operator;
    let registry = &living.server.registry;
    registry
        .create_authority(operator, "info:oai", NewAuthority::default())
        .unwrap();
    let urls = handfast_registry::NewName::urls(&["https://local.example/1"]);
    registry.create_name(operator, "info:oai/1", urls).unwrap();
    let link_headers = |answer: &Response| {
        let all = answer.head.lines();
        let found = all.filter(|line| line.to_ascii_lowercase().starts_with("link:"));
        found.collect::<Vec<_>>().join("\n")
    };
    for path in [
        "/info:oai/1",
        "/uri-res/I2L?info:oai/1",
        "/info:oai/1?noredirect",
    ] {
        let answer = living.server.get(path);
        let links = link_headers(&answer);
        assert!(
            links.contains("</registry/info/oai#security>"),
            "{path} {links}"
        );
    }
    assert_eq!(
        living.server.get("/info:oai/1").location(),
        "https://local.example/1"
    );
    let first = json!({"resolution": {"page_first": true}, "why": ""});
    living.does("ann", "PATCH", "/namespaces/oai", &first, 200);
    let shown = living.server.get("/info:oai/1");
    assert_eq!((shown.status, shown.location()), (200, ""));
    // The page says what to consider, and leads to the target instead of to itself.
    let security = "Do not &lt;b&gt;trust&lt;/b&gt; it.</p>";
    assert!(shown.body.contains(security), "{}", shown.body);
    let link = "<a class=\"button primary\" href=\"https://local.example/1\"";
    assert!(shown.body.contains(link), "{}", shown.body);
    let located = living.server.get("/uri-res/I2L?info:oai/1");
    assert_eq!(
        (located.status, located.location()),
        (303, "https://local.example/1")
    );
    assert!(link_headers(&located).contains("</registry/info/oai#security>"));
}

/// XML and OAI-PMH left rules out that the JSON has, and 29 entries had no contact.
#[test]
fn info_9_machine_forms_say_what_the_rules_are() {
    let living = Living::start();
    let mut form = form();
    form["syntax"] = json!({"summary": "Repository, colon, name."});
    living.does("ann", "POST", "/namespaces", &form, 201);
    let why = json!({"why": "letterhead"});
    living.does("olga", "POST", "/namespaces/oai/approve", &why, 200);
    for path in [
        "/registry/info/oai.xml",
        "/oai?verb=GetRecord&metadataPrefix=reg&identifier=info:oai/",
    ] {
        let body = living.server.get(path).body;
        assert!(body.contains("lowercase is canonical"), "{path} {body}");
        assert!(body.contains("Repository, colon, name."), "{path} {body}");
    }
    let lccn = living.server.get("/registry/info/lccn.xml").body;
    assert!(
        lccn.contains("<contact-uri>") || lccn.contains("<contact-email>"),
        "{lccn}"
    );
    let entries = living.get("/registry/info.json?limit=1000");
    for entry in entries["namespaces"].as_array().unwrap() {
        let name = entry["namespace"].as_str().unwrap();
        let entry = living.get(&format!("/registry/info/{name}.json"));
        let contact = entry["authority"]["contact"].as_str().unwrap_or_default();
        assert!(!contact.is_empty(), "{entry}");
        let organisation = entry["authority"]["organisation"].as_str();
        assert!(organisation.is_some_and(|text| !text.is_empty()), "{entry}");
        let page = living.server.get(&format!("/registry/info/{name}")).body;
        assert!(page.contains(&format!("info:{name}/")), "{page}");
        for heading in ["Contact", "Syntax", "Normalisation", "Resolution"] {
            assert!(page.contains(heading), "{name} {heading}: {page}");
        }
    }
}

/// The API took URLs without scheme, cut names, and knew neither the draft grammar nor the rules of
/// authorities.
#[test]
fn the_api_takes_whole_names_and_urls() {
    let living = Living::start();
    let (registry, operator) = (&living.server.registry, &Principal::Operator);
    let ann = Principal::account("ann").unwrap();
    registry
        .grant(operator, "20.1000", &ann, Role::Write)
        .unwrap();
    let refused = |body: Json| {
        let answer = living.call("ann", "POST", "/names", &body, "");
        assert!((400..500).contains(&answer.status), "{}", answer.body);
        let said = answer.json();
        said["code"].as_str().unwrap().to_string()
    };
    assert_eq!(
        refused(json!({"id": "20.1000/a", "urls": ["example.org/1"]})),
        "bad-url"
    );
    let value =
        json!({"index": 1, "type": "URL", "data": {"format": "string", "value": "http:/x"}});
    assert_eq!(
        refused(json!({"id": "20.1000/a", "values": [value]})),
        "bad-url"
    );
    assert_eq!(refused(json!({"id": "hdl:20.1000/a?x=1"})), "has-query");
    assert_eq!(refused(json!({"id": "hdl:20.1000/a#x"})), "has-fragment");
    let upper = living.get("/api/v1/inspect?id=hdl:100.102/f58fb49eb1f848f0a606e84cef294be5");
    assert_eq!(
        upper["canonical"],
        "hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5"
    );
    let id = "info:lccn/a/b";
    assert_eq!(living.get(&format!("/api/v1/inspect?id={id}"))["ok"], true);
    assert_eq!(
        living.get(&format!("/api/v1/inspect?id={id}&grammar=draft"))["ok"],
        false
    );
    let unknown = living
        .server
        .get(&format!("/api/v1/inspect?id={id}&grammar=x"));
    assert_eq!(unknown.status, 400);
}
