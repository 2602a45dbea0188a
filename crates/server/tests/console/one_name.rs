//! The pages of one name: rights, wrong input, conflicts.

use handfast_registry::{
    AuthorityChange, Edit, NameAction, NewAuthority, NewName, NewValue, Persistence, Principal,
    Registry, Role, State,
};
use handfast_testing::{OPERATOR, Response, Server, Setup};
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, Value};

use crate::browser::Browser;

const A: &str = "https://a.example/1";
const B: &str = "https://b.example/1";
const C: &str = "https://c.example/1";

/// A server with two authorities: `write` may write under the first, `read` read there, `other`
/// write under the second.
fn server() -> Server {
    let server = Setup::new().shared_keys().start_for(&["20.1", "20.2"]);
    server.account("write", &[("20.1", Role::Write)]);
    server.account("read", &[("20.1", Role::Read)]);
    server.account("boss", &[("20.1", Role::Admin)]);
    server.account("other", &[("20.2", Role::Write)]);
    let values = vec![
        NewValue::new(10, "TITLE", b"Plan of the harbour"),
        NewValue::new(11, "DATE", b"1783"),
    ];
    let urls = vec![A.to_string(), B.to_string()];
    let new = NewName {
        urls,
        values,
        ..NewName::default()
    };
    server
        .registry
        .create_name(&OPERATOR, "20.1/map", new)
        .unwrap();
    let hidden = NewName {
        reserve: true,
        ..NewName::urls(&[A])
    };
    server
        .registry
        .create_name(&OPERATOR, "20.1/plan", hidden)
        .unwrap();
    server
}

/// A browser with the pages of names.
fn signed_in<'s>(server: &'s Server, account: &str) -> Browser<'s> {
    Browser::of(server, account).below("/console/names/")
}

impl Browser<'_> {
    /// Sends the form of a page, with other values in some of its fields.
    fn send_form(&self, path: &str, page: &Response, change: &[(&str, &str)]) -> Response {
        let mut form = fields(&page.body);
        for (name, value) in change {
            match form.iter_mut().find(|(found, _)| found == name) {
                Some((_, found)) => *found = (*value).to_string(),
                None => form.push(((*name).to_string(), (*value).to_string())),
            }
        }
        let form: Vec<_> = form.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        self.send(path, &form)
    }
}

/// The fields of the form of a page, as a browser without script would send them.
fn fields(body: &str) -> Vec<(String, String)> {
    let main = body.split_once("<main").map_or(body, |(_, main)| main);
    let mut found = Vec::new();
    let mut select = String::new();
    for tag in main.split('<') {
        let attribute = |name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            Some(rest.split_once('"')?.0.to_string())
        };
        if tag.starts_with("select ") {
            select = attribute("name").unwrap();
        }
        if tag.starts_with("option ") && tag.contains(" selected") {
            found.push((select.clone(), attribute("value").unwrap()));
        }
        if !tag.starts_with("input ") && !tag.starts_with("textarea ") {
            continue;
        }
        let is_box = tag.contains("type=\"checkbox\"") || tag.contains("type=\"radio\"");
        let Some(name) = attribute("name") else {
            continue;
        };
        if is_box && !tag.contains(" checked") {
            continue;
        }
        let value = match tag
            .split_once(">\n")
            .filter(|_| tag.starts_with("textarea"))
        {
            Some((_, text)) => text.to_string(),
            None => attribute("value").unwrap_or_default(),
        };
        let value = value
            .replace("&lt;", "<")
            .replace("&quot;", "\"")
            .replace("&amp;", "&");
        found.push((name, value));
    }
    found
}

fn text_of(registry: &Registry, id: &str, index: u32) -> Option<String> {
    let shown = registry.show(&OPERATOR, id).unwrap();
    let mut values = shown.record.values.iter();
    let found = values.find(|value| value.index == index)?;
    found.text().map(str::to_string)
}

const MAP: &str = "20.1%2Fmap";

#[test]
fn pages_show_and_offer_what_the_role_allows() {
    let server = server();
    let pages = [
        "",
        "/edit",
        "/raw",
        "/history",
        "/withdraw",
        "/transfer",
        "/label",
    ];
    let table = [
        ("boss", [200, 200, 200, 200, 200, 200, 200]),
        ("write", [200, 200, 200, 200, 200, 403, 200]),
        ("read", [200, 403, 403, 200, 403, 403, 200]),
        ("other", [200, 403, 403, 200, 403, 403, 200]),
    ];
    for (account, expected) in table {
        let browser = signed_in(&server, account);
        for (page, expected) in pages.iter().zip(expected) {
            let response = browser.get(&format!("{MAP}{page}"));
            assert_eq!(
                response.status, expected,
                "{account} {page}: {}",
                response.body
            );
            assert_eq!(response.body.matches("<h1").count(), 1, "{account} {page}");
            if expected == 403 {
                assert!(response.body.contains("20.1"), "{account} {page}");
            }
        }
        let shown = browser.get(MAP).body;
        let may_edit = shown.contains("/edit\"");
        assert_eq!(may_edit, ["boss", "write"].contains(&account), "{account}");
        let knows_actor = browser.get(&format!("{MAP}/history")).body;
        let knows_actor = knows_actor.contains("The operator of this server");
        assert_eq!(knows_actor, account != "other", "{account}");
    }
}

#[test]
fn a_reserved_name_of_another_authority_is_as_if_it_did_not_exist() {
    let server = server();
    let browser = signed_in(&server, "other");
    let pages = [
        "",
        "/edit",
        "/raw",
        "/history",
        "/history/5",
        "/history/5/undo",
        "/proof",
        "/withdraw",
        "/activate",
        "/restore",
        "/transfer",
        "/label",
    ];
    for page in pages {
        let there = browser.get(&format!("20.1%2Fplan{page}"));
        let missing = browser.get(&format!("20.1%2Fplon{page}"));
        assert_eq!((there.status, missing.status), (404, 404), "{page}");
        let without = |response: Response, id: &str| {
            let body = response.body.replace(id, "");
            let nonce = body.split_once("nonce=\"").unwrap().1;
            let nonce = nonce.split_once('"').unwrap().0.to_string();
            body.replace(&nonce, "")
        };
        assert_eq!(
            without(there, "20.1/plan"),
            without(missing, "20.1/plon"),
            "{page}"
        );
    }
    for page in [
        "/edit",
        "/raw",
        "/merge",
        "/withdraw",
        "/activate",
        "/restore",
        "/transfer",
    ] {
        let sent = browser.send(&format!("20.1%2Fplan{page}"), &[("version", "1")]);
        assert_eq!(sent.status, 404, "{page}");
    }
    // A successor says no more than a look at the name itself.
    let writer = signed_in(&server, "write");
    let new = NewName {
        reserve: true,
        values: vec![NewValue::new(10, "TITLE", b"Secret of 20.2")],
        ..NewName::default()
    };
    server
        .registry
        .create_name(&OPERATOR, "20.2/secret", new)
        .unwrap();
    let form = [("reason", "r"), ("successor", "20.2/secret")];
    let preview = writer.send(&format!("{MAP}/withdraw"), &form).body;
    assert!(preview.contains("20.2/secret is not registered here"));
    assert!(!preview.contains("Secret of 20.2"));
}

#[test]
fn a_form_changes_what_was_changed_in_it_and_says_so_before() {
    let server = server();
    let browser = signed_in(&server, "write");
    let edit = format!("{MAP}/edit");
    let page = browser.get(&edit);
    assert!(page.body.contains("Nothing yet."));
    let preview = browser.send_form(&edit, &page, &[("text-10", "Plan of the port")]);
    assert_eq!(preview.status, 200);
    assert!(preview.body.contains("<b>port</b>"), "{}", preview.body);
    assert!(preview.body.contains("Nothing else changes."));
    assert!(preview.body.contains(">before: <"));
    assert!(!preview.body.contains("is removed") && !preview.body.contains(">removed: <"));
    assert_eq!(
        text_of(&server.registry, "20.1/map", 10).unwrap(),
        "Plan of the harbour"
    );
    let saved = browser.send_form(&edit, &preview, &[("do", "save")]);
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(
        text_of(&server.registry, "20.1/map", 10).unwrap(),
        "Plan of the port"
    );
    assert_eq!(text_of(&server.registry, "20.1/map", 1).unwrap(), A);
    // The page that it leads to offers to undo it.
    let path = saved
        .location()
        .strip_prefix("/console/names/")
        .unwrap()
        .to_string();
    let done = browser.get(&path);
    assert!(done.body.contains("Saved."));
    let (_, undo) = done.body.split_once("action=\"/console/names/").unwrap();
    let undone = browser.send(undo.split_once('"').unwrap().0, &[]);
    assert!(undone.location().contains("done=undone"), "{}", undone.body);
    assert_eq!(
        text_of(&server.registry, "20.1/map", 10).unwrap(),
        "Plan of the harbour"
    );
    // The same form again changes nothing and loses nothing.
    let same = browser.send_form(&edit, &browser.get(&edit), &[("do", "save")]);
    assert!(same.location().ends_with("done=nothing"));
}

#[test]
fn addresses_are_moved_and_removed_by_buttons() {
    let server = server();
    let browser = signed_in(&server, "write");
    let edit = format!("{MAP}/edit");
    let mut page = browser.get(&edit);
    for button in ["down-0", "add-url"] {
        page = browser.send_form(&edit, &page, &[("do", button)]);
        assert_eq!(page.status, 200);
    }
    let mut form = fields(&page.body);
    let urls: Vec<_> = form.iter_mut().filter(|(name, _)| name == "url").collect();
    let shown: Vec<_> = urls.iter().map(|(_, url)| url.as_str()).collect();
    assert_eq!(shown, [B, A, ""]);
    urls.into_iter().last().unwrap().1 = C.to_string();
    form.push(("do".to_string(), "save".to_string()));
    let form: Vec<_> = form.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(browser.send(&edit, &form).status, 303);
    let urls = [1, 2, 3].map(|index| text_of(&server.registry, "20.1/map", index).unwrap());
    assert_eq!(urls, [B, A, C]);
    let page = browser.get(&edit);
    let page = browser.send_form(&edit, &page, &[("do", "remove-0")]);
    browser.send_form(&edit, &page, &[("do", "save")]);
    assert_eq!(text_of(&server.registry, "20.1/map", 1), None);
    assert_eq!(text_of(&server.registry, "20.1/map", 2).unwrap(), A);
}

#[test]
fn wrong_input_is_named_and_stays_in_the_form() {
    let server = server();
    let browser = signed_in(&server, "write");
    let edit = format!("{MAP}/edit");
    let page = browser.get(&edit);
    let change = [("url", "maps.example/<b>"), ("do", "save")];
    let wrong = browser.send_form(&edit, &page, &change);
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("href=\"#url-1\""), "{}", wrong.body);
    assert!(wrong.body.contains("aria-describedby=\"url-1-error\""));
    assert!(wrong.body.contains("value=\"maps.example/&lt;b&gt;\""));
    let wrong = browser.send_form(
        &edit,
        &page,
        &[("url", "javascript:alert(1)"), ("do", "save")],
    );
    assert_eq!(wrong.status, 422);
    assert_eq!(text_of(&server.registry, "20.1/map", 1).unwrap(), A);
    // A form without its version changes nothing.
    let lost = browser.send(&edit, &[("url", C), ("do", "save")]);
    assert_eq!(
        (lost.status, lost.location()),
        (303, "/console/names/20.1%2Fmap/edit")
    );
    // A form that arrives in part removes nothing.
    let part = [
        ("version", "1"),
        ("event", &event_of(&page)[..]),
        ("do", "save"),
    ];
    assert!(
        browser
            .send(&edit, &part)
            .location()
            .ends_with("done=nothing")
    );
}

fn event_of(page: &Response) -> String {
    let found = fields(&page.body)
        .into_iter()
        .find(|(name, _)| name == "event");
    found.unwrap().1
}

#[test]
fn values_are_added_and_removed_by_the_form() {
    let server = server();
    let browser = signed_in(&server, "boss");
    let edit = format!("{MAP}/edit");
    let mut page = browser.get(&edit);
    let wrong = browser.send_form(&edit, &page, &[("new-kind", "other"), ("do", "add-value")]);
    assert_eq!(wrong.status, 422);
    for kind in ["email", "administrator", "locations"] {
        page = browser.send_form(&edit, &page, &[("new-kind", kind), ("do", "add-value")]);
        assert_eq!(page.status, 200, "{kind}");
    }
    page = browser.send_form(&edit, &page, &[("do", "remove-value-11")]);
    assert!(page.body.contains("One value is removed") || page.body.contains("Write the handle"));
    let change = [
        ("text-12", "maps@library.example"),
        ("admin-handle-100", "0.NA/20.1"),
        ("loc-href-13", "https://de.example/?a=1&b=2"),
        ("loc-country-13", "de"),
        ("do", "save"),
    ];
    let saved = browser.send_form(&edit, &page, &change);
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(text_of(&server.registry, "20.1/map", 11), None);
    assert_eq!(
        text_of(&server.registry, "20.1/map", 12).unwrap(),
        "maps@library.example"
    );
    let loc = text_of(&server.registry, "20.1/map", 13).unwrap();
    assert!(loc.contains("href=\"https://de.example/?a=1&amp;b=2\" weight=\"1\" country=\"de\""));
    let shown = server.registry.show(&OPERATOR, "20.1/map").unwrap();
    let admin = shown
        .record
        .values
        .iter()
        .find(|value| value.index == 100)
        .unwrap();
    let admin = Admin::from_bytes(&admin.data).unwrap();
    assert_eq!(admin.administrator, Reference::new("0.NA/20.1", 300));
    assert!(admin.permissions.contains(AdminPermissions::MODIFY_VALUE));
    // All of it is in the form again, and unchanged.
    let same = browser.send_form(&edit, &browser.get(&edit), &[("do", "save")]);
    assert!(same.location().ends_with("done=nothing"), "{}", same.body);
    // A writer may not change administrators, and nothing typed is lost.
    let writer = signed_in(&server, "write");
    let page = writer.get(&edit);
    let denied = writer.send_form(
        &edit,
        &page,
        &[("admin-handle-100", "0.NA/20.9"), ("do", "save")],
    );
    assert_eq!(denied.status, 403);
    assert!(denied.body.contains("0.NA/20.9"));
}

#[test]
fn two_changes_at_once_are_shown_side_by_side_and_merged() {
    let server = server();
    let browser = signed_in(&server, "write");
    let edit = format!("{MAP}/edit");
    let mine = browser.get(&edit);
    // Somebody else changes an address and adds a maker.
    let theirs = Edit {
        put: vec![
            NewValue::new(1, "URL", C.as_bytes()),
            NewValue::new(12, "MAKER", b"Royal Engineers"),
        ],
        ..Edit::default()
    };
    let boss = Principal::account("boss").unwrap();
    server
        .registry
        .change_name(&boss, "20.1/map", None, NameAction::Edit(theirs))
        .unwrap();
    let change = [
        ("url", "https://mine.example/"),
        ("text-11", "about 1783"),
        ("do", "save"),
    ];
    let conflict = browser.send_form(&edit, &mine, &change);
    assert_eq!(conflict.status, 409, "{}", conflict.body);
    for text in [
        "boss",
        A,
        C,
        "https://mine.example/",
        "Royal Engineers",
        "about 1783",
    ] {
        let body = conflict.body.replace("<wbr>", "");
        let is_there = body.replace("<b>", "").replace("</b>", "").contains(text);
        assert!(is_there, "{text}: {}", conflict.body);
    }
    assert_eq!(text_of(&server.registry, "20.1/map", 11).unwrap(), "1783");
    let merge = format!("{MAP}/merge");
    let unchosen = browser.send_form(&merge, &conflict, &[("do", "save")]);
    assert_eq!(unchosen.status, 422);
    assert!(unchosen.body.contains("href=\"#choice-1-theirs\""));
    let back = browser.send_form(&merge, &conflict, &[("do", "back")]);
    assert!(back.body.contains("value=\"https://mine.example/\""));
    assert!(back.body.contains("about 1783"));
    let chosen = browser.send_form(&merge, &conflict, &[("choice-1", "yours"), ("do", "save")]);
    assert!(chosen.location().contains("done=merged"), "{}", chosen.body);
    let values = [1, 11, 12].map(|index| text_of(&server.registry, "20.1/map", index).unwrap());
    assert_eq!(
        values,
        ["https://mine.example/", "about 1783", "Royal Engineers"]
    );
    // The first form, sent once more, does not do it twice.
    let again = browser.send_form(&edit, &mine, &change);
    assert!(again.location().contains("done=saved"), "{}", again.body);
}

#[test]
fn an_address_that_was_moved_beside_another_change_is_not_lost() {
    let server = server();
    let browser = signed_in(&server, "write");
    let edit = format!("{MAP}/edit");
    let page = browser.get(&edit);
    let moved = browser.send_form(&edit, &page, &[("do", "down-0")]);
    let theirs = Edit::put(vec![NewValue::new(1, "URL", C.as_bytes())]);
    server
        .registry
        .edit_name(&OPERATOR, "20.1/map", theirs)
        .unwrap();
    let conflict = browser.send_form(&edit, &moved, &[("do", "save")]);
    assert_eq!(conflict.status, 409);
    let merge = format!("{MAP}/merge");
    let unchosen = browser.send_form(&merge, &conflict, &[("do", "save")]);
    assert_eq!(unchosen.status, 422);
    let change = [("choice-addresses", "both"), ("do", "save")];
    assert_eq!(browser.send_form(&merge, &conflict, &change).status, 303);
    let urls = [1, 2, 3].map(|index| text_of(&server.registry, "20.1/map", index).unwrap());
    assert_eq!(urls, [B, A, C]);
}

#[test]
fn raw_values_are_changed_with_ttl_and_permissions() {
    let server = server();
    let browser = signed_in(&server, "write");
    let raw = format!("{MAP}/raw");
    let page = browser.get(&raw);
    let wrong = browser.send_form(&raw, &page, &[("raw-ttl", "a day"), ("do", "save")]);
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("href=\"#raw-ttl-1\""));
    let saved = browser.send_form(
        &raw,
        &page,
        &[
            ("raw-ttl", "60"),
            ("raw-permissions", "1100"),
            ("do", "save"),
        ],
    );
    assert_eq!(saved.status, 303, "{}", saved.body);
    let shown = server.registry.show(&OPERATOR, "20.1/map").unwrap();
    let first: &Value<'_> = &shown.record.values[0];
    assert_eq!(first.ttl, handfast_wire::Ttl::Relative(60));
    assert_eq!(first.permissions.to_string(), "1100");
    assert_eq!(shown.record.values.len(), 4);
}

#[test]
fn a_secret_is_not_shown_and_stays() {
    let server = server();
    let secret = NewValue::new(300, "HS_SECKEY", b"hunter2");
    let edit = Edit::put(vec![secret]);
    server
        .registry
        .edit_name(&OPERATOR, "20.1/map", edit)
        .unwrap();
    let browser = signed_in(&server, "boss");
    for page in ["", "/edit", "/raw", "/history"] {
        let body = browser.get(&format!("{MAP}{page}")).body;
        assert!(
            !body.contains("hunter2") && !body.contains("68756E74"),
            "{page}"
        );
    }
    let raw = format!("{MAP}/raw");
    let form = browser.get(&raw);
    let saved = browser.send_form(&raw, &form, &[("raw-ttl", "60"), ("do", "save")]);
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(
        text_of(&server.registry, "20.1/map", 300).unwrap(),
        "hunter2"
    );
}

#[test]
fn a_name_is_withdrawn_with_a_reason_restored_and_the_change_is_undone() {
    let server = server();
    let browser = signed_in(&server, "write");
    let withdraw = format!("{MAP}/withdraw");
    let page = browser.get(&withdraw);
    let without = browser.send_form(&withdraw, &page, &[("do", "withdraw")]);
    assert_eq!(without.status, 422);
    assert!(without.body.contains("href=\"#reason\""));
    let own = [
        ("reason", "twice"),
        ("successor", "20.1/map"),
        ("do", "withdraw"),
    ];
    let own = browser.send_form(&withdraw, &page, &own);
    assert_eq!(own.status, 422);
    assert!(own.body.contains("href=\"#successor\""));
    let preview = browser.send_form(
        &withdraw,
        &page,
        &[("reason", "<i>twice"), ("do", "preview")],
    );
    assert!(preview.body.contains("&lt;i&gt;twice"));
    let done = browser.send_form(&withdraw, &page, &[("reason", "twice"), ("do", "withdraw")]);
    assert!(done.location().contains("done=withdrawn"), "{}", done.body);
    let state = || {
        server
            .registry
            .show(&OPERATOR, "20.1/map")
            .unwrap()
            .record
            .state
    };
    assert_eq!(state(), State::Withdrawn);
    // Sending it again does not do it twice.
    let again = browser.send_form(&withdraw, &page, &[("reason", "twice"), ("do", "withdraw")]);
    assert_eq!(again.status, 409);
    assert_eq!(browser.get(&format!("{MAP}/edit")).status, 409);
    let restore = format!("{MAP}/restore");
    let restored = browser.send_form(&restore, &browser.get(&restore), &[]);
    assert!(restored.location().contains("done=restored"));
    assert_eq!(state(), State::Active);
    let history = browser.get(&format!("{MAP}/history"));
    assert!(history.body.contains("Proved"), "{}", history.body);
    assert!(history.body.contains("Withdrawn") && history.body.contains("twice"));
    let proof = browser.get(&format!("{MAP}/proof"));
    assert_eq!(proof.status, 200);
    assert!(
        proof
            .header("content-disposition")
            .unwrap()
            .contains("name.proof")
    );
}

#[test]
fn an_undo_is_shown_before_it_is_done_and_a_later_change_prevents_it() {
    let server = server();
    let browser = signed_in(&server, "write");
    let put = |text: &str| {
        let edit = Edit::put(vec![NewValue::new(11, "DATE", text.as_bytes())]);
        let shown = server.registry.edit_name(&OPERATOR, "20.1/map", edit);
        shown.unwrap().record.last_event
    };
    let (first, second) = (put("1784"), put("1785"));
    let undo = |event: u64| format!("{MAP}/history/{event}/undo");
    let late = browser.get(&undo(first));
    assert!(late.body.contains("cannot be undone"), "{}", late.body);
    assert_eq!(browser.send(&undo(first), &[]).status, 409);
    let page = browser.get(&undo(second));
    assert!(page.body.contains("<b>1784</b>"), "{}", page.body);
    let done = browser.send_form(&undo(second), &page, &[]);
    assert!(done.location().contains("done=undone"));
    assert_eq!(text_of(&server.registry, "20.1/map", 11).unwrap(), "1784");
    // An event of another name, and one that does not exist.
    assert_eq!(browser.get(&undo(1)).status, 404);
    assert_eq!(browser.get(&undo(9_999)).status, 404);
    assert_eq!(browser.get(&format!("{MAP}/history/x")).status, 404);
    let reader = signed_in(&server, "read");
    assert_eq!(reader.get(&undo(second)).status, 403);
    assert_eq!(reader.send(&undo(second), &[]).status, 403);
}

#[test]
fn a_name_is_shown_as_it_was_on_a_day() {
    let server = server();
    let browser = signed_in(&server, "read");
    let past = browser.get(&format!("{MAP}/history?on=2999-01-01"));
    assert!(past.body.contains("As it was on"));
    let early = browser.get(&format!("{MAP}/history?on=1999-01-01"));
    assert_eq!(early.status, 422);
    assert!(early.body.contains("was not registered on that day"));
    assert_eq!(browser.get(&format!("{MAP}/history?on=soon")).status, 422);
}

#[test]
fn a_name_is_given_to_a_person_who_may_then_change_it() {
    let server = server();
    let boss = signed_in(&server, "boss");
    let transfer = format!("{MAP}/transfer");
    let page = boss.get(&transfer);
    for to in ["", "nobody-here", "group:none", "operator"] {
        let wrong = boss.send_form(&transfer, &page, &[("to", to)]);
        assert_eq!(wrong.status, 422, "{to}");
        assert!(wrong.body.contains("href=\"#to\""), "{to}");
    }
    assert_eq!(
        boss.send_form(&transfer, &page, &[("to", "other")]).status,
        303
    );
    let other = signed_in(&server, "other");
    assert_eq!(other.get(&format!("{MAP}/edit")).status, 200);
    assert_eq!(other.get(&format!("{MAP}/transfer")).status, 403);
}

#[test]
fn a_reserved_name_is_activated_once() {
    let server = server();
    let browser = signed_in(&server, "write");
    let activate = "20.1%2Fplan/activate";
    let page = browser.get(activate);
    assert!(page.body.contains("What everybody will see"));
    let done = browser.send_form(activate, &page, &[]);
    assert!(done.location().contains("done=activated"));
    assert_eq!(browser.send_form(activate, &page, &[]).status, 409);
}

#[test]
fn text_of_people_never_becomes_markup() {
    let server = server();
    let hostile = "\"><script>alert(1)</script>\u{202e}'&";
    let browser = signed_in(&server, "write");
    let edit = Edit::put(vec![
        NewValue::new(10, "TITLE", hostile.as_bytes()),
        NewValue::new(13, "<b>type", hostile.as_bytes()),
        NewValue::new(14, "10320/loc", hostile.as_bytes()),
    ]);
    server
        .registry
        .edit_name(&OPERATOR, "20.1/map", edit)
        .unwrap();
    for page in [
        "",
        "/edit",
        "/raw",
        "/history",
        "/withdraw",
        "/transfer",
        "/label",
    ] {
        let body = signed_in(&server, "boss").get(&format!("{MAP}{page}")).body;
        assert!(
            !body.contains("<script>alert") && !body.contains("<b>type"),
            "{page}"
        );
        assert!(!body.contains('\u{202e}'), "{page}");
    }
    // What a field cannot show exactly is not changed by the form.
    let edit = format!("{MAP}/edit");
    let same = browser.send_form(&edit, &browser.get(&edit), &[("do", "save")]);
    assert!(same.location().ends_with("done=nothing"), "{}", same.body);
    assert_eq!(text_of(&server.registry, "20.1/map", 10).unwrap(), hostile);
}

#[test]
fn the_proof_of_a_name_that_may_be_erased_is_for_people_with_a_role() {
    let server = server();
    let new = NewAuthority {
        change: AuthorityChange {
            persistence: Some(Persistence::Erasable),
            ..AuthorityChange::default()
        },
        ..NewAuthority::default()
    };
    server
        .registry
        .create_authority(&OPERATOR, "20.3", new)
        .unwrap();
    let made = server
        .registry
        .create_name(&OPERATOR, "20.3/x", NewName::urls(&[A]));
    made.unwrap();
    let browser = signed_in(&server, "other");
    let history = browser.get("20.3%2Fx/history");
    assert_eq!(history.status, 200);
    assert!(!history.body.contains("Download the proof"));
    assert_eq!(browser.get("20.3%2Fx/proof").status, 403);
}

/// Such a location was stored, and the name led nobody anywhere any more.
#[test]
fn a_location_that_no_browser_follows_is_refused() {
    let server = server();
    let browser = signed_in(&server, "write");
    let path = format!("{MAP}/edit");
    let page = browser.get(&path);
    let add = [("new-kind", "locations"), ("do", "add-value")];
    let page = browser.send_form(&path, &page, &add);
    assert_eq!(page.status, 200, "{}", page.body);
    for wrong in ["nourl", "javascript:alert(1)"] {
        let wrong = [("loc-href-12", wrong), ("do", "save")];
        let refused = browser.send_form(&path, &page, &wrong);
        assert_eq!(refused.status, 422, "{}", refused.body);
        let error = "id=\"loc-href-12-1-error\"";
        assert!(refused.body.contains(error), "{}", refused.body);
    }
    let right = [("loc-href-12", "https://loc.example/"), ("do", "save")];
    let saved = browser.send_form(&path, &page, &right);
    assert_eq!(saved.status, 303, "{}", saved.body);
    // What it says about the first address would not hold for all readers.
    let place = saved.location().replace("/console/names/", "");
    let shown = browser.get(&place).body;
    assert!(!shown.contains("leads to a.example"), "{shown}");
}

#[test]
fn a_successor_is_registered_and_the_history_names_it() {
    let server = server();
    let new = NewName::urls(&[A]);
    let made = server.registry.create_name(&OPERATOR, "20.1/New-Map", new);
    made.unwrap();
    let browser = signed_in(&server, "boss");
    let path = format!("{MAP}/withdraw");
    let page = browser.get(&path);
    for (wrong, remedy) in [
        ("nonsense", "Write the prefix"),
        (
            "20.1/nothing",
            "20.1/nothing is not registered here. Check the spelling",
        ),
    ] {
        let form = [("reason", "lost"), ("successor", wrong), ("do", "withdraw")];
        let refused = browser.send_form(&path, &page, &form);
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains(remedy), "{}", refused.body);
    }
    let form = [
        ("reason", "lost"),
        ("successor", "hdl:20.1/new-map"),
        ("do", "withdraw"),
    ];
    let done = browser.send_form(&path, &page, &form);
    assert_eq!(done.status, 303, "{}", done.body);
    let history = browser.get(&format!("{MAP}/history")).body;
    let link = "Use instead: <a class=\"mono\" href=\"/console/names/20.1%2FNew-Map\">";
    assert!(history.contains(link), "{history}");
}
