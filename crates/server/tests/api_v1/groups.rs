//! Groups, who has which role and why, and requests for access.

use handfast_registry::{NewToken, Role};
use handfast_testing::Server;
use serde_json::{Value as Json, json};

use crate::{create, limited_token, start, token};

/// The header of a token of an administrator's.
fn administrator(server: &Server) -> String {
    server.administrator("boss");
    server.token("boss", NewToken::default())
}

fn ask(server: &Server, who: &str, request: &str, body: &Json) -> (u16, Json) {
    let (method, path) = request.split_once(' ').unwrap();
    let body = Some(body.to_string()).filter(|body| body != "null");
    let path = format!("/api/v1{path}");
    let reply = server.ask(method, &path, &[who], body.as_deref());
    let json = serde_json::from_str(&reply.body).unwrap_or_default();
    (reply.status, json)
}

#[test]
fn a_member_has_the_roles_of_the_group() {
    let server = start();
    let boss = administrator(&server);
    server.account("bob", &[]);
    let bob = server.token("bob", NewToken::default());
    let ann = token(&server);
    let group = json!({"group": "editors", "title": "The editors"});
    for who in [&ann, &bob] {
        assert_eq!(ask(&server, who, "POST /groups", &group).0, 403);
    }
    assert_eq!(ask(&server, "X: y", "POST /groups", &group).0, 401);
    assert_eq!(ask(&server, &boss, "POST /groups", &group).0, 201);
    assert_eq!(ask(&server, &boss, "POST /groups", &group).0, 409);
    let add = "PUT /groups/editors/members/bob";
    assert_eq!(ask(&server, &ann, add, &Json::Null).0, 403);
    let (status, made) = ask(&server, &boss, add, &Json::Null);
    assert_eq!((status, &made["members"]), (200, &json!(["bob"])));

    assert_eq!(create(&server, &bob, "20.1000/a", &[]), 403);
    let grant = "PUT /authorities/20.1000/grants/group%3Aeditors";
    let role = json!({"role": "write"});
    let (status, granted) = ask(&server, &ann, grant, &role);
    assert_eq!(status, 200, "{granted}");
    assert_eq!(create(&server, &bob, "20.1000/a", &[]), 201);
    assert_eq!(create(&server, &bob, "20.2000/a", &[]), 403);
    let none = "PUT /authorities/20.1000/grants/group%3Anone";
    let (status, problem) = ask(&server, &ann, none, &role);
    assert_eq!((status, &problem["code"]), (404, &json!("no-group")));

    let (_, this) = ask(&server, &bob, "GET /accounts/this", &Json::Null);
    assert_eq!(this["groups"], json!(["editors"]));
    let role = json!({"authority": "20.1000", "role": "write", "through": "editors"});
    assert_eq!(this["roles"], json!([role]));

    // Members see their groups, and no others.
    let (_, groups) = ask(&server, &bob, "GET /groups", &Json::Null);
    assert_eq!(groups["groups"].as_array().unwrap().len(), 1);
    let (_, groups) = ask(&server, &ann, "GET /groups", &Json::Null);
    assert_eq!(groups["groups"], json!([]));
    for (path, status) in [("editors", 403), ("none", 403)] {
        let request = format!("GET /groups/{path}");
        assert_eq!(ask(&server, &ann, &request, &Json::Null).0, status);
    }
    assert_eq!(
        ask(&server, &bob, "GET /groups/editors", &Json::Null).0,
        200
    );
    let remove = "DELETE /groups/editors/members/bob";
    assert_eq!(ask(&server, &bob, remove, &Json::Null).0, 403);
    assert_eq!(ask(&server, &boss, remove, &Json::Null).0, 200);
    assert_eq!(ask(&server, &boss, remove, &Json::Null).0, 404);
    assert_eq!(create(&server, &bob, "20.1000/b", &[]), 403);
}

#[test]
fn why_and_people_are_for_those_whom_they_concern() {
    let server = start();
    let boss = administrator(&server);
    server.account("bob", &[("20.1000", Role::Read)]);
    server.account("eve", &[]);
    let [bob, eve] = ["bob", "eve"].map(|name| server.token(name, NewToken::default()));
    let why = |who: &str, about: &str| {
        let request = format!("GET /authorities/20.1000/why{about}");
        ask(&server, who, &request, &Json::Null)
    };
    let (status, own) = why(&bob, "");
    assert_eq!((status, &own[0]["role"]), (200, &json!("read")));
    assert_eq!(own[0]["granted-by"], "the operator");
    assert_eq!(why(&eve, "").1, json!([]));
    assert_eq!(why(&bob, "?who=ann").0, 403);
    assert_eq!(why(&token(&server), "?who=bob").1, own);
    assert_eq!(why(&boss, "?who=boss").1[0]["administrator"], true);
    assert_eq!(why("X: y", "?who=bob").0, 401);
    assert_eq!(why(&boss, "?who=a%20b").0, 422);

    let people = |who: &str| ask(&server, who, "GET /authorities/20.1000/people", &Json::Null);
    let (status, listed) = people(&bob);
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["who"].as_str().unwrap())
        .collect();
    assert_eq!((status, names), (200, vec!["boss", "ann", "bob"]));
    assert_eq!(people(&eve).0, 403);
    assert_eq!(people("X: y").0, 401);

    let holdings = |who: &str| ask(&server, who, "GET /accounts/bob/holdings", &Json::Null);
    let (status, found) = holdings(&bob);
    assert_eq!((status, &found["roles"][0]["role"]), (200, &json!("read")));
    assert!(!found.to_string().contains("secret"));
    assert_eq!(holdings(&boss).1, found);
    assert_eq!(holdings(&token(&server)).0, 403);
}

#[test]
fn access_is_asked_for_and_granted() {
    let server = start();
    server.account("bob", &[]);
    let bob = server.token("bob", NewToken::default());
    let limited = limited_token(&server, "bob", None, Some(Role::Admin));
    let ann = token(&server);
    let new = json!({"authority": "20.1000", "role": "write", "reason": "I keep the maps"});
    assert_eq!(ask(&server, "X: y", "POST /access-requests", &new).0, 401);
    assert_eq!(ask(&server, &limited, "POST /access-requests", &new).0, 403);
    let (status, made) = ask(&server, &bob, "POST /access-requests", &new);
    assert_eq!((status, &made["status"]), (201, &json!("open")));
    assert_eq!(
        ask(&server, &ann, "GET /access-requests", &Json::Null).1,
        json!([made])
    );
    let id = made["request"].as_str().unwrap();
    let grant = format!("POST /access-requests/{id}/grant");
    assert_eq!(ask(&server, &bob, &grant, &Json::Null).0, 403);
    assert_eq!(ask(&server, &ann, &grant, &Json::Null).0, 204);
    assert_eq!(ask(&server, &ann, &grant, &Json::Null).0, 409);
    assert_eq!(create(&server, &bob, "20.1000/a", &[]), 201);
    assert_eq!(ask(&server, &bob, "POST /access-requests", &new).0, 409);

    let admin = json!({"authority": "20.2000", "role": "admin"});
    let (_, made) = ask(&server, &bob, "POST /access-requests", &admin);
    let decline = format!(
        "POST /access-requests/{}/decline",
        made["request"].as_str().unwrap()
    );
    // Ann has the role lead: what is asked for is not hers to decide.
    assert_eq!(ask(&server, &ann, &decline, &Json::Null).0, 404);
    let reason = json!({"reason": "changed my mind"});
    assert_eq!(ask(&server, &bob, &decline, &reason).0, 204);
    let (_, own) = ask(&server, &bob, "GET /access-requests", &Json::Null);
    assert_eq!(own[1]["decline-reason"], "changed my mind");
    assert_eq!(own[1]["decided-by"], "bob");
}
