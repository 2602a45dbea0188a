//! Inbox, jobs, events, namespaces and the server: rights, decisions and wrong input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{
    AccessRequestStatus, AuthorityRequestStatus, NewAuthority, NewName, NewToken, NewValue,
    Principal, Role, State,
};
use handfast_server::{ShownSetting, WebSettings};
use handfast_testing::{OPERATOR, Server, Setup, clock};

use crate::browser::Browser;

/// A browser with the pages of the console.
fn signed_in<'s>(server: &'s Server, account: &str) -> Browser<'s> {
    Browser::of(server, account).below("/console")
}

/// The number beside "Inbox" in the menu of a page.
fn count(browser: &Browser<'_>, path: &str) -> u64 {
    let page = browser.get(path).body;
    match page.split_once("<span class=\"count\">") {
        Some((_, rest)) => rest.split('<').next().unwrap().parse().unwrap(),
        None => 0,
    }
}

/// Lea leads 20.1, wim writes there; eve leads 20.2; boss is an administrator; ann has no role.
fn library() -> Server {
    library_with(WebSettings::default())
}

fn library_with(settings: WebSettings) -> Server {
    let setup = Setup::new().shared_keys().settings(settings);
    let server = setup.start(|registry| {
        for (path, title) in [("20.1", "Maps"), ("20.2", "Plans")] {
            let new = NewAuthority {
                title: title.to_string(),
                ..NewAuthority::default()
            };
            registry.create_authority(&OPERATOR, path, new).unwrap();
        }
        for local in ["a", "b"] {
            let new = NewName::urls(&[&format!("https://old.example/{local}")]);
            let id = format!("20.1/{local}");
            registry.create_name(&OPERATOR, &id, new).unwrap();
        }
    });
    server.account("lea", &[("20.1", Role::Lead)]);
    server.account("wim", &[("20.1", Role::Write)]);
    server.account("eve", &[("20.2", Role::Lead)]);
    server.account("ann", &[]);
    server.administrator("boss");
    server
}

fn who(account: &str) -> Principal {
    Principal::account(account).unwrap()
}

fn ask(server: &Server, reason: &str) -> String {
    let registry = &server.registry;
    let asked = registry.request_access(&who("ann"), "20.1", Role::Write, reason);
    asked.unwrap().id
}

#[test]
fn every_page_has_one_heading_and_the_same_count() {
    let server = library();
    ask(&server, "I describe the <b>sheets</b>");
    let (lea, boss) = (signed_in(&server, "lea"), signed_in(&server, "boss"));
    let pages = ["/", "/jobs", "/jobs/new", "/events", "/namespaces", "/me"];
    for path in pages
        .into_iter()
        .chain(["/namespaces/new", "/namespaces/lccn"])
    {
        let page = lea.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        assert_eq!(count(&lea, path), 1, "{path}");
        assert!(!page.body.contains("<b>sheets"), "{path}");
    }
    for path in ["/server", "/server/sign-ins", "/"] {
        let page = boss.get(path);
        assert_eq!((page.status, page.body.matches("<h1").count()), (200, 1));
        assert_eq!(count(&boss, path), 1, "{path}");
    }
    assert_eq!(count(&signed_in(&server, "eve"), "/"), 0);
}

#[test]
fn access_is_granted_with_one_click() {
    let server = library();
    let id = ask(&server, "For the maps");
    let lea = signed_in(&server, "lea");
    let page = lea.get("/").body;
    assert!(page.contains("For the maps") && page.contains("Grant write"));
    // Others neither see it nor decide it.
    let eve = signed_in(&server, "eve");
    assert!(!eve.get("/").body.contains("For the maps"));
    let path = format!("/inbox/access/{id}/grant");
    let denied = eve.send(&path, &[]);
    let missing = eve.send("/inbox/access/000000000000/grant", &[]);
    assert_eq!((denied.status, missing.status), (404, 404));
    let granted = lea.send(&path, &[]);
    assert_eq!(granted.header("location"), Some("/console/?done=granted"));
    assert_eq!(count(&lea, "/"), 0);
    // Sent twice, it is done once.
    let again = lea.send(&path, &[]);
    assert_eq!(again.header("location"), Some("/console/?done=decided"));
}

#[test]
fn declining_takes_a_reason() {
    let server = library();
    let id = ask(&server, "For the maps");
    let lea = signed_in(&server, "lea");
    let path = format!("/inbox/access/{id}/decline");
    let wrong = lea.send(&path, &[("reason", " ")]);
    assert_eq!(wrong.status, 422);
    assert!(
        wrong
            .body
            .contains("Say why. The person who asked reads it.")
    );
    assert!(wrong.body.contains("aria-invalid=\"true\""));
    let done = lea.send(&path, &[("reason", "Ask for read")]);
    assert_eq!(done.status, 303);
    let own = server.registry.access_requests(&who("ann")).unwrap();
    let status = own.first().map(|request| &request.status);
    assert!(matches!(
        status,
        Some(AccessRequestStatus::Declined { reason, .. }) if reason == "Ask for read"
    ));
}

#[test]
fn a_requested_authority_is_decided_by_the_one_above() {
    let server = library();
    let registry = &server.registry;
    for path in ["20.1.5", "20.1.6"] {
        let new = NewAuthority {
            reason: "Theses from January".to_string(),
            ..NewAuthority::default()
        };
        registry.request_authority(&who("ann"), path, new).unwrap();
    }
    let lea = signed_in(&server, "lea");
    assert_eq!(count(&lea, "/"), 2);
    assert!(lea.get("/").body.contains("Theses from January"));
    let eve = signed_in(&server, "eve");
    assert!(!eve.get("/").body.contains("20.1.5"));
    assert_eq!(
        eve.send("/inbox/authorities/20.1.5/approve", &[]).status,
        404
    );
    assert_eq!(
        lea.send("/inbox/authorities/20.1.5/approve", &[]).status,
        303
    );
    let reason = [("reason", "Use 20.1.5")];
    let declined = lea.send("/inbox/authorities/20.1.6/decline", &reason);
    assert_eq!(declined.status, 303);
    assert_eq!(count(&lea, "/"), 0);
    let asked = registry.authority_requests(&who("ann")).unwrap();
    let statuses: Vec<_> = asked.iter().map(|request| &request.status).collect();
    assert!(matches!(
        statuses.as_slice(),
        [
            AuthorityRequestStatus::Approved { .. },
            AuthorityRequestStatus::Declined { reason, .. }
        ] if reason == "Use 20.1.5"
    ));
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells when the counts have followed"
)]
#[test]
fn reserved_names_wait_for_those_who_may_activate_them() {
    let server = library();
    let reserved = NewName {
        reserve: true,
        ..NewName::default()
    };
    let created = server
        .registry
        .create_name(&OPERATOR, "20.1/hidden", reserved);
    created.unwrap();
    let wim = signed_in(&server, "wim");
    for _ in 0..200 {
        if count(&wim, "/") == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(wim.get("/").body.contains("1 reserved name waits"));
    assert_eq!(count(&signed_in(&server, "eve"), "/"), 0);
}

fn host_change(from: &str) -> Vec<(&str, &str)> {
    vec![
        ("kind", "host"),
        ("authority", "20.1"),
        ("from", from),
        ("to", "new.example"),
        ("changed", "2"),
        ("confirmed", "yes"),
    ]
}

/// The last job, when it has ended.
#[expect(
    clippy::disallowed_methods,
    reason = "a job in the background tells nobody when it ends"
)]
fn ended(server: &Server) -> u64 {
    for _ in 0..500 {
        let page = server.registry.latest_jobs(&OPERATOR, None, 1).unwrap();
        if let Some(job) = page.jobs.first().filter(|job| job.ended.is_some()) {
            return job.number;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the job does not end");
}

fn url_of(server: &Server, id: &str) -> String {
    let shown = server.registry.show(&OPERATOR, id).unwrap();
    let value = shown.record.values.first().unwrap();
    String::from_utf8_lossy(&value.data).into_owned()
}

#[test]
fn a_job_is_previewed_confirmed_run_and_undone() {
    let server = library();
    let wim = signed_in(&server, "wim");
    let query = "kind=host&authority=20.1&from=old.example&to=new.example";
    let preview = wim.get(&format!("/jobs/new?preview=1&{query}")).body;
    assert!(preview.contains("Apply to 2 names"), "{preview}");
    assert!(preview.contains("new.<wbr>example/<wbr>a"), "{preview}");
    assert_eq!(url_of(&server, "20.1/a"), "https://old.example/a");

    let unconfirmed: Vec<_> = host_change("old.example")
        .into_iter()
        .filter(|(name, _)| *name != "confirmed")
        .collect();
    assert_eq!(wim.send("/jobs/new", &unconfirmed).status, 422);
    // Another number of names than was shown.
    let mut other = host_change("old.example");
    other.retain(|(name, _)| *name != "changed");
    other.push(("changed", "3"));
    assert_eq!(wim.send("/jobs/new", &other).status, 409);
    let wrong = wim.get("/jobs/new?preview=1&kind=host&authority=20.1&from=a%20b&to=c");
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("value=\"a b\""), "what was typed stays");
    assert_eq!(url_of(&server, "20.1/a"), "https://old.example/a");

    let started = wim.send("/jobs/new", &host_change("old.example"));
    assert_eq!(started.status, 303, "{}", started.body);
    let job = ended(&server);
    assert_eq!(url_of(&server, "20.1/a"), "https://new.example/a");
    let page = wim.get(&format!("/jobs/{job}"));
    assert!(page.body.contains("Undo…") && page.body.contains("Done"));
    let table = wim.get(&format!("/jobs/{job}/report.csv")).body;
    assert!(table.contains("change,20.1/a,"), "{table}");

    // A job of another account is as if it did not exist.
    let eve = signed_in(&server, "eve");
    for path in ["", "/report", "/report.csv", "/undo"] {
        let found = eve.get(&format!("/jobs/{job}{path}"));
        assert_eq!(found.status, 404, "{path}");
    }
    for path in ["stop", "resume", "undo"] {
        assert_eq!(eve.send(&format!("/jobs/{job}/{path}"), &[]).status, 404);
    }
    assert!(!eve.get("/jobs").body.contains("old.example"));
    assert_eq!(wim.get("/jobs/99").status, 404);

    let undo = wim.get(&format!("/jobs/{job}/undo")).body;
    assert!(
        undo.contains("https:<wbr>//<wbr>old.<wbr>example") || undo.contains("old.<wbr>example")
    );
    assert_eq!(wim.send(&format!("/jobs/{job}/undo"), &[]).status, 303);
    assert!(ended(&server) > job);
    assert_eq!(url_of(&server, "20.1/a"), "https://old.example/a");
    // Sent twice.
    let again = wim.send(&format!("/jobs/{job}/undo"), &[]);
    assert_eq!(again.header("location"), Some("/console/jobs"));
}

/// Starting and undoing a job of many names asked for the password again, resuming it did not.
#[test]
fn a_job_of_many_names_is_resumed_only_after_a_fresh_sign_in() {
    let clock = Arc::new(AtomicU64::new(clock::NOW));
    let server = Server::start_as(&clock, WebSettings::default());
    server.administrator("boss");
    let boss = signed_in(&server, "boss");
    let interrupted = |reason: &str, count: u32| {
        let names: Vec<_> = (0..count).map(|n| format!("20.1000/none-{n}")).collect();
        let started = server
            .registry
            .start_withdrawal(&who("boss"), &names, reason);
        started.unwrap().job().number
    };
    let (few, many) = (interrupted("few", 10_000), interrupted("many", 10_001));
    clock.fetch_add(11 * 60 * 1_000, Ordering::Relaxed);
    let resumed = boss.send(&format!("/jobs/{few}/resume"), &[]);
    let done = format!("/console/jobs/{few}?done=resumed");
    assert_eq!(resumed.header("location"), Some(done.as_str()));
    let asked = boss.send(&format!("/jobs/{many}/resume"), &[]);
    assert!(asked.location().starts_with("/console/again?to="));
    let job = server.registry.job(many).unwrap();
    assert_eq!((job.ended, job.counts.total()), (None, 0));
}

#[test]
fn many_names_are_changed_only_with_a_role() {
    let server = library();
    let eve = signed_in(&server, "eve");
    let query = "preview=1&kind=host&authority=20.1&from=old.example&to=new.example";
    let denied = eve.get(&format!("/jobs/new?{query}"));
    assert_eq!(denied.status, 403);
    // The page that asks for a role is no name.
    let shown = denied.body.replace("20.1/ask", "");
    assert!(!shown.contains("20.1/a"));
    assert!(!denied.body.contains("Apply to"));
    assert_eq!(
        eve.send("/jobs/new", &host_change("old.example")).status,
        403
    );
    assert_eq!(url_of(&server, "20.1/a"), "https://old.example/a");
}

#[test]
fn events_are_those_of_ones_own_authorities() {
    let server = library();
    let (wim, eve, boss) = (
        signed_in(&server, "wim"),
        signed_in(&server, "eve"),
        signed_in(&server, "boss"),
    );
    assert!(wim.get("/events").body.contains("20.<wbr>1/<wbr>a"));
    for path in ["/events", "/events.csv", "/events.atom"] {
        let page = eve.get(path);
        assert_eq!(page.status, 200);
        assert!(!page.body.contains("20.1/a") && !page.body.contains("20.<wbr>1/<wbr>a"));
    }
    assert!(
        boss.get("/events?action=account")
            .body
            .contains("<th scope=\"row\">Account created")
    );
    assert!(
        !wim.get("/events?action=account")
            .body
            .contains("<th scope=\"row\">Account created")
    );
    let wrong = wim.get("/events?since=yesterday");
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("value=\"yesterday\""));
    assert_eq!(wim.get("/events?authority=20.2").status, 422);
    assert_eq!(wim.get("/events?authority=20.404").status, 422);
    let table = wim.get("/events.csv?id=20.1%2Fa").body;
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains(",create,20.1/a,20.1,"), "{table}");
}

#[test]
fn a_feed_reader_reads_events_with_a_token() {
    let server = library();
    let id = "20.1/=1+1";
    server.name(id, &[(1, "URL", b"https://a.example/")]);
    let path = "/api/v1/events.atom?authority=20.1";
    assert_eq!(server.get(path).status, 401);
    let browser = signed_in(&server, "wim");
    let with_cookie = server.get_with(path, &[browser.cookie()]);
    assert_eq!(
        with_cookie.status, 401,
        "a session counts in the console only"
    );
    let token = server.token("wim", NewToken::default());
    let feed = server.get_with(path, &[&token]);
    assert_eq!(
        feed.header("content-type"),
        Some("application/atom+xml; charset=utf-8")
    );
    assert!(
        feed.body.contains("<title>create 20.1/a</title>"),
        "{}",
        feed.body
    );
    let listed = server.get_with("/api/v1/events?action=create&limit=1", &[&token]);
    let listed = listed.json();
    assert_eq!(listed["events"][0]["name"], id);
    assert!(listed["next"].is_string());
    let wrong = server.get_with("/api/v1/events?action=fly", &[&token]);
    assert_eq!(wrong.status, 400);
}

#[test]
fn cells_that_begin_like_formulas_are_text() {
    let server = library();
    server.account("@sum", &[("20.1", Role::Write)]);
    let registry = &server.registry;
    let created = registry.create_name(&who("@sum"), "20.1/c", NewName::default());
    created.unwrap();
    let table = signed_in(&server, "boss").get("/events.csv").body;
    assert!(table.contains(",create,20.1/c,20.1,'@sum"), "{table}");
    let begins_badly = |field: &str| field.starts_with(['=', '+', '-', '@']);
    assert!(table.lines().all(|line| !line.split(',').any(begins_badly)));
}

#[test]
fn a_namespace_is_proposed_commented_and_registered() {
    let server = library();
    let registry = &server.registry;
    registry
        .create_authority(&OPERATOR, "info:", NewAuthority::default())
        .ok();
    let (ann, boss) = (signed_in(&server, "ann"), signed_in(&server, "boss"));
    let mut form = vec![
        ("namespace", "est-survey"),
        ("title", "Survey <i>sheets</i>"),
        ("organisation", "Survey Office"),
        ("contact", "survey@example.org"),
        ("syntax", "Digits."),
        ("case", "lower"),
        ("in-use", "yes"),
        ("without-uri", "yes"),
    ];
    let wrong = ann.send("/namespaces/new", &form);
    assert_eq!(wrong.status, 422, "it is not declared public");
    assert!(wrong.body.contains("value=\"est-survey\""));
    form.push(("public", "yes"));
    let proposed = ann.send("/namespaces/new", &form);
    assert_eq!(
        proposed.header("location"),
        Some("/console/namespaces/est-survey?done=propose")
    );
    assert_eq!(count(&boss, "/"), 1);
    assert_eq!(count(&ann, "/"), 0);

    let path = "/namespaces/est-survey";
    assert_eq!(
        ann.send(&format!("{path}/comments"), &[("text", "")])
            .status,
        422
    );
    let said = ann.send(
        &format!("{path}/comments"),
        &[("text", "<b>Since 1891</b>")],
    );
    assert_eq!(said.status, 303);
    let page = boss.get(path).body;
    assert!(page.contains("Since 1891") && !page.contains("<b>Since"));
    assert!(page.contains("Register…") && page.contains("Decline the proposal…"));
    assert!(!ann.get(path).body.contains("Register…"));

    let approve = format!("{path}/acts/approve");
    assert_eq!(ann.send(&approve, &[("why", "mine")]).status, 403);
    let unreasoned = boss.send(&approve, &[("why", "")]);
    assert_eq!(unreasoned.status, 422);
    let stale = boss.send(&approve, &[("why", "letterhead"), ("version", "7")]);
    assert_eq!(stale.status, 422);
    assert!(stale.body.contains("letterhead"), "what was typed stays");
    let done = boss.send(&approve, &[("why", "letterhead"), ("version", "1")]);
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(count(&boss, "/"), 0);
    assert_eq!(boss.send(&format!("{path}/acts/fly"), &[]).status, 404);
    assert_eq!(boss.get("/namespaces/nobody").status, 404);

    let claim = ann.send("/namespaces/lccn/acts/claim", &[("why", "our letter")]);
    assert_eq!(claim.status, 303);
    assert_eq!(count(&boss, "/"), 1);
    let refused = boss.send("/namespaces/lccn/acts/refuse", &[("why", "no answer")]);
    assert_eq!(refused.status, 303);
    assert_eq!(count(&boss, "/"), 0);
}

#[test]
fn only_administrators_see_the_server() {
    let setting = ShownSetting {
        key: "web.name".to_string(),
        value: "Library <&>".to_string(),
        origin: "handfast.toml",
    };
    let server = library_with(WebSettings {
        configuration: vec![setting],
        ..WebSettings::default()
    });
    let boss = signed_in(&server, "boss").get("/server").body;
    assert!(boss.contains("Library &lt;&amp;&gt;") || boss.contains("Library &#60;&#38;&#62;"));
    assert!(boss.contains("No backup of this folder is known"));
    for account in ["lea", "ann"] {
        let browser = signed_in(&server, account);
        for path in ["/server", "/server/sign-ins"] {
            let page = browser.get(path);
            assert_eq!(page.status, 403, "{account} {path}");
            assert!(page.body.contains("administrators"));
        }
        let inbox = browser.get("/").body;
        assert!(!inbox.contains("/console/server") && !inbox.contains("First steps"));
    }
    let sign_ins = signed_in(&server, "boss").get("/server/sign-ins?account=lea");
    assert!(sign_ins.body.contains("signed in"));
}

#[test]
fn a_new_server_has_first_steps() {
    let server = Setup::new().shared_keys().start(|_| ());
    server.administrator("boss");
    let boss = signed_in(&server, "boss");
    let page = boss.get("/").body;
    for step in ["Public address", "Certificate", "First prefix", "Backup"] {
        assert!(page.contains(step), "{step}");
    }
    assert!(!page.contains(">Done<"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    server.registry.backup(&folder.path().join("copy")).unwrap();
    assert!(boss.get("/").body.contains("Done"));
}

#[test]
fn a_withdrawn_name_is_previewed_with_its_state() {
    let server = library();
    let values = vec![NewValue::new(1, "URL", b"https://old.example/c")];
    server.put("20.1/c", values);
    let ids = ["20.1/c".to_string()];
    let registry = &server.registry;
    let done = registry.withdraw_all(&who("wim"), &ids, "gone", false, &mut |_| ());
    let job = done.unwrap().job.unwrap().number;
    let wim = signed_in(&server, "wim");
    let undo = wim.get(&format!("/jobs/{job}/undo")).body;
    assert!(
        undo.contains("Withdrawn") && undo.contains("becomes"),
        "{undo}"
    );
    let shown = registry.show(&OPERATOR, "20.1/c").unwrap();
    assert_eq!(shown.record.state, State::Withdrawn);
}
