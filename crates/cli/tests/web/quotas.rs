//! What an account may have, and answers that stay short, over the API.

use handfast_testing::bearer;
use serde_json::{Value as Json, json};

use crate::server::{ann_leads, token};

/// Guards: an account without a role stored lists and asked for any number of authorities.
#[test]
fn accounts_have_quotas_and_are_told_so() {
    let folder = ann_leads();
    folder.configure("[limits]\njobs-per-day = 2\nrequested-authorities = 1");
    let ann = bearer(&token(&folder, &[]));
    folder.done(&["user", "create", "carol"]);
    let carol = bearer(folder.done(&["token", "create", "carol"]).trim());
    let server = folder.serve(&[]);
    let post = |who: &str, path: &str, body: &Json| {
        let path = format!("/api/v1{path}");
        server.ask("POST", &path, &[who], Some(&body.to_string()))
    };
    let withdrawal =
        json!({"kind": "withdraw", "names": ["20.1000/a", "20.1000/b"], "reason": "x"});
    let refused = post(&carol, "/jobs", &withdrawal);
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (404, &json!("not-found"))
    );
    assert_eq!(
        server.get_with("/api/v1/jobs", &[&carol]).json(),
        json!({"jobs": [], "next": null})
    );

    let ttl = |seconds: u32| json!({"kind": "set-ttl", "authority": "20.1000", "seconds": seconds});
    for seconds in [60, 61] {
        assert_eq!(post(&ann, "/jobs", &ttl(seconds)).status, 200);
    }
    let refused = post(&ann, "/jobs", &ttl(62));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (429, &json!("quota"))
    );
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((80_000..=86_401).contains(&wait), "{wait}");
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("`jobs-per-day` in `[limits]`"), "{detail}");

    let ask = |path: &str| {
        post(
            &carol,
            "/authorities",
            &json!({"authority": path, "request": true}),
        )
    };
    assert_eq!(ask("21.999").status, 201);
    let refused = ask("21.998");
    assert_eq!(refused.status, 429);
    let detail = refused.json()["detail"].to_string();
    assert!(
        detail.contains("`requested-authorities` in `[limits]`"),
        "{detail}"
    );
    // This server does not answer for what is only asked for.
    assert_eq!(
        server.get("/21.999/x").status,
        server.get("/21.997/x").status
    );
    let created = folder.run(&["authority", "create", "21.999"]);
    let said = String::from_utf8_lossy(&created.stderr);
    assert!(
        created.status.success() && said.contains("request of carol"),
        "{said}"
    );
    assert_eq!(server.get("/21.999/x").status, 404);
}

/// Guards: all of a history was one answer.
#[test]
fn a_history_comes_page_by_page_over_the_api_and_whole_by_the_command() {
    let folder = ann_leads();
    let ann = bearer(&token(&folder, &[]));
    let server = folder.serve(&[]);
    let place = "/api/v1/names/20.1000%2Fx";
    let create = json!({"id": "20.1000/x"}).to_string();
    assert_eq!(
        server
            .ask("POST", "/api/v1/names", &[&ann], Some(&create))
            .status,
        201
    );
    for number in 0..5 {
        let data = format!("{number}{}", "x".repeat(200_000));
        let value =
            json!({"index": 1, "type": "DESC", "data": {"format": "string", "value": data}});
        let body = json!({"values": [value]}).to_string();
        assert_eq!(server.ask("PATCH", place, &[&ann], Some(&body)).status, 200);
    }
    let (mut after, mut events, mut pages) = (String::new(), Vec::new(), 0);
    loop {
        let page = server.get(&format!("{place}/history?limit=1000{after}"));
        assert_eq!(page.status, 200);
        assert!(page.body.len() < 700_000, "{}", page.body.len());
        let mut page = page.json();
        events.append(page["events"].as_array_mut().unwrap());
        pages += 1;
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert!(pages >= 4, "{pages}");
    assert_eq!(events.len(), 6);
    assert_eq!(server.get(&format!("{place}/history?after=x")).status, 400);
    // The command follows the pages, and says the same in one list: it sees who did it.
    let whole = folder.json(&["name", "history", "20.1000/x"]);
    let number = |event: &Json| event["event"].as_u64().unwrap();
    let numbers: Vec<_> = events.iter().map(number).collect();
    let told: Vec<_> = whole.as_array().unwrap().iter().map(number).collect();
    assert_eq!(told, numbers);
    assert_eq!(whole[5]["changes"], events[5]["changes"]);
    let at = numbers[2].to_string();
    let some = folder.done(&["name", "history", "20.1000/x", "--at", &at]);
    assert_eq!(some.matches("event ").count(), 3);
}
