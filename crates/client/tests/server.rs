//! The client against the server, by all transports.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use common::{KEY_ADMIN, OPERATOR, SECRET_ADMIN, Server, block_on, client, values_of};
use handfast_client::{
    Client, ClientError, Creation, Login, Query, ReplyFault, Roots, ServerAddress, Transport,
};
use handfast_registry::{Edit, NewValue, Operation};
use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret};
use handfast_wire::{
    Admin, AdminPermissions, Codec, Permissions, Reference, ResponseCode, RootInfo, Site, Ttl,
    Value,
};

/// The client by each transport.
fn transports(server: &Server) -> [(ServerAddress, Transport); 3] {
    [
        (server.native(), Transport::Udp),
        (server.native(), Transport::Tcp),
        (server.web(), Transport::Http),
    ]
}

fn code<T>(outcome: Result<T, ClientError>) -> ResponseCode {
    let error = outcome.err().unwrap();
    error.code().unwrap_or_else(|| panic!("{error}"))
}

async fn url(client: &Client, handle: &str) -> String {
    let query = Query {
        types: vec!["URL".into()],
        ..Query::all()
    };
    let found = client.resolve(handle, &query).await.unwrap();
    found.values[0].text().unwrap().to_string()
}

#[test]
fn names_are_resolved_by_all_ways() {
    let server = Server::start();
    block_on(async {
        for (address, transport) in transports(&server) {
            for client in [
                client().at(address.clone()),
                client().at(address).by(transport),
            ] {
                assert_eq!(
                    url(&client, "20.1000/5555").await,
                    "https://example.org/5555"
                );
                let missing = client.resolve("20.1000/missing", &Query::all()).await;
                assert_eq!(code(missing), ResponseCode::HandleNotFound);
                let none = client.resolve("20.1000/5555", &Query::index(77)).await;
                assert_eq!(code(none), ResponseCode::ValuesNotFound);
                let foreign = client.resolve("99.9/x", &Query::all()).await;
                assert_eq!(code(foreign), ResponseCode::ServerNotResponsible);
            }
        }
    });
}

#[test]
fn large_records_come_whole_and_certified_ones_verify() {
    let server = Server::start();
    block_on(async {
        for (address, transport) in transports(&server) {
            let plain = client().at(address.clone()).by(transport);
            for client in [
                plain.clone(),
                plain.certified(),
                plain.at(server.site.clone()).certified(),
            ] {
                let found = client
                    .resolve("20.1000/large", &Query::all())
                    .await
                    .unwrap();
                assert_eq!(found.values[0].data.len(), 20_000);
                assert_eq!(
                    url(&client, "20.1000/5555").await,
                    "https://example.org/5555"
                );
            }
        }
        // An error is signed, too.
        let client = client().at(server.native()).certified();
        let missing = client.resolve("20.1000/missing", &Query::all()).await;
        assert_eq!(code(missing), ResponseCode::HandleNotFound);
    });
}

#[test]
fn requests_that_are_longer_than_a_packet_are_cut() {
    let server = Server::start();
    block_on(async {
        let mut types: Vec<_> = (0..100).map(|n| format!("TYPE.NUMBER.{n}")).collect();
        types.push("URL".into());
        let query = Query {
            types,
            ..Query::all()
        };
        let client = client().at(server.native()).by(Transport::Udp);
        let found = client.resolve("20.1000/5555", &query).await.unwrap();
        assert_eq!(found.values.len(), 1);
    });
}

#[test]
fn what_another_key_signed_is_refused() {
    let (server, other) = (Server::start(), Server::start());
    block_on(async {
        let mut site = server.site.clone();
        site.servers[0].public_key = other.public_key().to_bytes();
        let error = client()
            .at(site.clone())
            .certified()
            .resolve("20.1000/5555", &Query::all())
            .await;
        assert!(
            matches!(
                error,
                Err(ClientError::Reply {
                    fault: ReplyFault::Signature(_),
                    ..
                })
            ),
            "{error:?}"
        );
        site.servers[0].public_key.clear();
        let error = client()
            .at(site)
            .certified()
            .resolve("20.1000/5555", &Query::all())
            .await;
        assert!(matches!(
            error,
            Err(ClientError::Reply {
                fault: ReplyFault::NoKey,
                ..
            })
        ));
    });
}

#[test]
fn handles_are_administered_with_secret_and_key_with_sessions_and_without() {
    let server = Server::start();
    block_on(async {
        let http = client().at(server.web());
        let logins = [
            server.with_secret(),
            server.with_key(),
            server.with_secret().without_session(),
            server.with_key().without_session(),
            server.with_key().certified().without_session(),
            server.with_secret().certified(),
            http.with_login(Login::with_secret(SECRET_ADMIN, b"secret").unwrap()),
        ];
        for (number, admin) in logins.iter().enumerate() {
            let handle = format!("20.1000/new-{number}");
            let secret = Value {
                permissions: Permissions::SECRET,
                ..Value::new(2, "NOTE", b"a secret")
            };
            let values = [Value::new(1, "URL", b"https://example.org/1"), secret];
            let created = admin
                .create(&handle, &values, Creation::default())
                .await
                .unwrap();
            assert_eq!(created.handle, handle);
            let again = admin.create(&handle, &values, Creation::default()).await;
            assert_eq!(code(again), ResponseCode::HandleAlreadyExists);
            let added = [Value::new(3, "EMAIL", b"a@example.org")];
            admin.add(&handle, &added, false).await.unwrap();
            assert_eq!(
                code(admin.add(&handle, &added, false).await),
                ResponseCode::ValueAlreadyExists
            );
            let changed = [Value::new(1, "URL", b"https://example.org/2")];
            admin.modify(&handle, &changed).await.unwrap();
            admin.remove(&handle, &[3]).await.unwrap();
            let query = Query {
                includes_restricted: true,
                ..Query::all()
            };
            let found = admin.resolve(&handle, &query).await.unwrap();
            let data: Vec<_> = found
                .values
                .iter()
                .map(|value| value.text().unwrap())
                .collect();
            assert_eq!(data, ["https://example.org/2", "a secret"]);
            let overwrite = Creation {
                overwrites: true,
                ..Creation::default()
            };
            let created = admin.create(&handle, &added, overwrite).await.unwrap();
            assert!(created.was_overwritten);
            admin.delete(&handle).await.unwrap();
            let gone = admin.resolve(&handle, &Query::all()).await;
            assert_eq!(code(gone), ResponseCode::HandleNotFound);
            admin.end_sessions().await;
        }
    });
}

#[test]
fn a_suffix_is_minted() {
    let server = Server::start();
    block_on(async {
        let mint = Creation {
            mints: true,
            ..Creation::default()
        };
        let values = [Value::new(1, "URL", b"https://example.org/")];
        let created = server
            .with_key()
            .create("20.1000/", &values, mint)
            .await
            .unwrap();
        assert_eq!(created.handle.len(), "20.1000/".len() + 36);
    });
}

#[test]
fn who_is_not_known_or_wrong_is_told_so() {
    let server = Server::start();
    block_on(async {
        let query = Query {
            includes_restricted: true,
            ..Query::all()
        };
        let anonymous = client()
            .at(server.native())
            .resolve("20.1000/hidden", &query)
            .await;
        assert!(matches!(anonymous, Err(ClientError::LoginNeeded { .. })));
        for client in [
            client().at(server.native()),
            client().at(server.native()).without_session(),
        ] {
            let wrong = Login::with_secret(SECRET_ADMIN, b"guess").unwrap();
            let error = client.with_login(wrong).delete("20.1000/5555").await;
            assert_eq!(code(error), ResponseCode::AuthenticationFailed);
            let other = Login::with_secret("300:20.1000/5555", b"secret").unwrap();
            let error = client.with_login(other).delete("20.1000/5555").await;
            // Before a login the server does not tell a missing key from missing rights.
            assert_eq!(code(error), ResponseCode::AuthenticationFailed);
        }
        let found = server
            .with_secret()
            .resolve("20.1000/hidden", &query)
            .await
            .unwrap();
        assert!(
            found
                .values
                .iter()
                .any(|value| *value.data == *b"for administrators")
        );
    });
}

#[test]
fn a_session_serves_many_requests_at_once_and_is_set_up_anew_when_it_is_lost() {
    let server = Server::start();
    block_on(async {
        let admin = server.with_secret();
        let create = |number: u32| {
            let admin = admin.clone();
            async move {
                let values = [Value::new(1, "URL", b"https://example.org/")];
                let handle = format!("20.1000/many-{number}");
                admin.create(&handle, &values, Creation::default()).await
            }
        };
        let tasks: Vec<_> = (0..20).map(|number| tokio::spawn(create(number))).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        // Two days later the server has forgotten it.
        server.ahead.store(2 * 86_400_000, Ordering::Relaxed);
        create(100).await.unwrap();
        admin.end_sessions().await;
        create(101).await.unwrap();
    });
}

/// A session stayed open with a key that had been removed.
#[test]
fn a_session_ends_with_the_key_that_opened_it() {
    let server = Server::start();
    block_on(async {
        let values = [Value::new(1, "URL", b"https://example.org/")];
        for (number, (admin, who)) in [
            (server.with_secret(), SECRET_ADMIN),
            (server.with_key(), KEY_ADMIN),
        ]
        .into_iter()
        .enumerate()
        {
            let create = async |part: u32| {
                let handle = format!("20.1000/{number}-{part}");
                admin.create(&handle, &values, Creation::default()).await
            };
            create(1).await.unwrap();
            let (index, handle) = who.split_once(':').unwrap();
            let edit = |edit: Edit| server.registry.edit_name(&OPERATOR, handle, edit);
            // Other changes of the record do not matter.
            edit(Edit::put(vec![NewValue::new(77, "NOTE", b"x")])).unwrap();
            create(2).await.unwrap();
            edit(Edit::remove(&[index.parse().unwrap()])).unwrap();
            let refused = create(3).await;
            assert_eq!(code(refused), ResponseCode::AuthenticationFailed, "{who}");
        }
    });
}

#[test]
fn names_and_prefixes_are_listed_whole() {
    let server = Server::start();
    block_on(async {
        for number in 0..120 {
            let values = vec![NewValue::new(1, "URL", b"https://example.org/")];
            server.put(&format!("20.1000/n{number}"), values_of(values));
        }
        let admin = server.with_key();
        let mut handles = Vec::new();
        admin
            .list("20.1000", &mut |handle| {
                handles.push(handle.to_string());
                ControlFlow::Continue(())
            })
            .await
            .unwrap();
        assert_eq!(
            handles
                .iter()
                .filter(|handle| handle.contains("/N"))
                .count(),
            120
        );
        let mut count = 0;
        let mut first = |_: &str| {
            count += 1;
            ControlFlow::Break(())
        };
        admin
            .at(server.site.clone())
            .list("20.1000", &mut first)
            .await
            .unwrap();
        assert_eq!(count, 1);
        // An HTTP response contains the first message only.
        let mut ignore = |_: &str| ControlFlow::Continue(());
        let cut = admin.at(server.web()).list("20.1000", &mut ignore).await;
        assert!(matches!(cut, Err(ClientError::Incomplete { .. })));

        admin.home("20.2000").await.unwrap();
        let mut prefixes = Vec::new();
        let mut each = |prefix: &str| {
            prefixes.push(prefix.to_string());
            ControlFlow::Continue(())
        };
        admin.list_homed(&mut each).await.unwrap();
        assert_eq!(prefixes, ["0.NA/20.1000", "0.NA/20.2000"]);
        admin.unhome("20.2000").await.unwrap();
    });
}

#[test]
fn secrets_are_verified_where_they_are_stored() {
    let server = Server::start();
    block_on(async {
        let (nonce, digest) = ([7; 16], [9; 32]);
        let answer = |secret: &[u8]| {
            answer_with_secret(
                secret,
                SecretAlgorithm::Pbkdf2HmacSha1,
                &nonce,
                &digest,
                &[1; 16],
            )
            .unwrap()
        };
        let key = Reference::new("20.1000/admin", 300);
        let client = client().at(server.native());
        let right = client
            .verify(&key, &nonce, &digest, &answer(b"secret"))
            .await;
        assert!(right.unwrap());
        let wrong = client
            .verify(&key, &nonce, &digest, &answer(b"guess"))
            .await;
        assert!(!wrong.unwrap());
    });
}

/// A server that is its own root: it has the record of its prefix.
fn rooted() -> (Server, Roots) {
    let server = Server::start();
    let site = server.site.to_bytes();
    let values = vec![NewValue {
        ttl: Some(Ttl::Relative(60)),
        ..NewValue::new(1, "HS_SITE", &site)
    }];
    let operation = Operation::Create {
        handle: "0.NA/20.1000".into(),
        values,
        overwrite: true,
        mint: false,
    };
    server.registry.perform(&OPERATOR, operation).unwrap();
    let file = RootInfo(vec![Value::new(1, "HS_SITE", &site)]).to_bytes();
    (server, Roots::read(&file).unwrap())
}

#[test]
fn servers_are_found_from_the_root() {
    let (_server, roots) = rooted();
    block_on(async {
        let client = client();
        let unknown = client.resolve("20.1000/5555", &Query::all()).await;
        assert!(matches!(unknown, Err(ClientError::NoRoots { .. })));
        client.set_roots(roots);
        assert_eq!(
            url(&client, "20.1000/5555").await,
            "https://example.org/5555"
        );
        assert_eq!(
            url(&client.certified(), "20.1000/5555").await,
            "https://example.org/5555"
        );
        assert_eq!(
            url(&client.authoritative(), "20.1000/5555").await,
            "https://example.org/5555"
        );
        let nowhere = client.resolve("30.1/x", &Query::all()).await;
        assert!(nowhere.is_err());
        // Administration, too.
        let login = Login::with_secret(SECRET_ADMIN, b"secret").unwrap();
        let admin = client.with_login(login);
        admin.delete("20.1000/5555").await.unwrap();
        let mut count = 0;
        let mut each = |_: &str| {
            count += 1;
            ControlFlow::Continue(())
        };
        admin.list("20.1000", &mut each).await.unwrap();
        assert!(count > 0);
    });
}

#[test]
fn roots_are_learnt_from_the_network() {
    let (server, _) = rooted();
    block_on(async {
        let client = client();
        let roots = client.roots_from(&server.native()).await.unwrap();
        assert_eq!(roots.sites(), std::slice::from_ref(&server.site));
        client.set_roots(roots);
        assert_eq!(
            url(&client, "20.1000/5555").await,
            "https://example.org/5555"
        );
    });
}

#[test]
fn found_values_are_cached() {
    let (server, roots) = rooted();
    block_on(async {
        let client = client();
        client.set_roots(roots);
        let found = client.resolve("20.1000/5555", &Query::all()).await.unwrap();
        assert!(!found.is_cached && found.is_authoritative);
        let again = client
            .resolve("20.1000/5555", &Query::index(1))
            .await
            .unwrap();
        assert!(again.is_cached);
        server
            .registry
            .withdraw_name(&OPERATOR, "20.1000/5555", "gone", None)
            .unwrap();
        assert!(client.resolve("20.1000/5555", &Query::all()).await.is_ok());
        let fresh = client
            .authoritative()
            .resolve("20.1000/5555", &Query::all())
            .await;
        assert_eq!(code(fresh), ResponseCode::HandleNotFound);
    });
}

#[test]
fn aliases_are_followed_if_asked_and_circles_found() {
    let server = Server::start();
    block_on(async {
        let alias = |to: &str| values_of(vec![NewValue::new(1, "HS_ALIAS", to.as_bytes())]);
        server.put("20.1000/a", alias("20.1000/b"));
        server.put("20.1000/b", alias("20.1000/5555"));
        server.put("20.1000/circle", alias("20.1000/CIRCLE"));
        let client = client().at(server.native());
        let follow = Query {
            follows_aliases: true,
            types: vec!["URL".into()],
            ..Query::all()
        };
        let found = client.resolve("20.1000/a", &follow).await.unwrap();
        assert_eq!(found.handle, "20.1000/5555");
        assert_eq!(found.aliases, ["20.1000/a", "20.1000/b"]);
        let found = client.resolve("20.1000/a", &Query::all()).await.unwrap();
        assert_eq!(found.values[0].value_type, "HS_ALIAS");
        let circle = client.resolve("20.1000/circle", &follow).await;
        assert!(matches!(circle, Err(ClientError::Aliases(_))));
    });
}

#[test]
fn a_site_with_several_servers_is_asked_by_hash() {
    let (server, other) = (Server::start(), Server::start());
    block_on(async {
        other
            .registry
            .withdraw_name(&OPERATOR, "20.1000/5555", "not here", None)
            .unwrap();
        let mut servers = vec![
            server.site.servers[0].clone(),
            other.site.servers[0].clone(),
        ];
        let site = |servers: Vec<_>| Site {
            servers,
            ..server.site.clone()
        };
        let number = site(servers.clone())
            .server_number_for("20.1000/5555")
            .unwrap();
        if number == 1 {
            servers.reverse();
        }
        let right = client().at(site(servers.clone())).certified();
        assert_eq!(
            url(&right, "20.1000/5555").await,
            "https://example.org/5555"
        );
        servers.reverse();
        let wrong = client().at(site(servers)).certified();
        let missing = wrong.resolve("20.1000/5555", &Query::all()).await;
        assert_eq!(code(missing), ResponseCode::HandleNotFound);
    });
}

#[test]
fn futures_may_go_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    let client = client();
    is_send(&client.resolve("a/b", &Query::all()));
    is_send(&client.create("a/b", &[], Creation::default()));
    is_send(&client.end_sessions());
    is_send(&client.verify(&Reference::new("a/b", 1), &[], &[], &[]));
}

/// A client that homes a prefix creates its record next, as on deployed servers: that was answered
/// "already exists".
#[test]
fn the_record_of_a_homed_prefix_is_created_by_its_client() {
    let server = Server::start();
    let admin = Admin {
        permissions: AdminPermissions::ALL,
        administrator: Reference::new("20.1000/admin", 300),
    };
    let admin = admin.to_bytes();
    let values = [
        Value::new(1, "DESC", b"a new prefix"),
        Value::new(100, "HS_ADMIN", &admin),
    ];
    block_on(async {
        let client = server.with_secret();
        client.home("0.NA/77.1").await.unwrap();
        let create = |client: &Client, handle: &'static str| {
            let (client, values) = (client.clone(), values.clone());
            async move { client.create(handle, &values, Creation::default()).await }
        };
        create(&client, "0.NA/77.1").await.unwrap();
        let twice = create(&client, "0.NA/77.1").await;
        assert_eq!(code(twice), ResponseCode::HandleAlreadyExists);
        // The administrator in the record creates names under the prefix.
        create(&client, "77.1/a").await.unwrap();
        let found = client.resolve("0.NA/77.1", &Query::all()).await.unwrap();
        assert_eq!(found.values[0].text(), Some("a new prefix"));

        // Administrators of the server have no rights on a prefix that is in use, or on which
        // others have roles.
        let operator = &OPERATOR;
        for prefix in ["77.2", "77.3"] {
            let new = handfast_registry::NewAuthority::default();
            server
                .registry
                .create_authority(operator, prefix, new)
                .unwrap();
        }
        server.put("77.2/a", values_of(Vec::new()));
        let ann = handfast_registry::Principal::account("ann").unwrap();
        let lead = handfast_registry::Role::Lead;
        server.registry.grant(operator, "77.3", &ann, lead).unwrap();
        for handle in ["0.NA/77.2", "0.NA/77.3"] {
            let refused = create(&client, handle).await;
            let refused = code(refused);
            assert_eq!(refused, ResponseCode::InvalidAdmin, "{handle}");
        }
        // Nor has a principal without rights any on a new one.
        client.home("0.NA/77.4").await.unwrap();
        server.put(
            "20.1000/eve",
            values_of(vec![NewValue::new(300, "HS_SECKEY", b"eve")]),
        );
        let eve = Login::with_secret("300:20.1000/eve", b"eve").unwrap();
        let eve = common::client().at(server.native()).with_login(eve);
        let refused = create(&eve, "0.NA/77.4").await;
        assert_eq!(code(refused), ResponseCode::InvalidAdmin);
    });
}

/// Monitoring reads the status of deployed servers by this handle: it was not found.
#[test]
fn the_status_is_for_administrators_of_the_server() {
    let server = Server::start();
    block_on(async {
        let all = Query {
            includes_restricted: true,
            ..Query::all()
        };
        let found = server.with_secret().resolve("0.site/STATUS", &all).await;
        let found = found.unwrap();
        assert_eq!(found.values[0].value_type, "CNRI.SERVER_STATUS");
        assert_eq!(found.values[0].permissions, Permissions::SECRET);
        let text = found.values[0].text().unwrap();
        let numbers: Vec<(&str, u64)> = text
            .split("; ")
            .map(|part| part.split_once('=').unwrap())
            .map(|(name, number)| (name, number.parse().unwrap()))
            .collect();
        let names: Vec<_> = numbers.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["freemem", "totalmem", "maxmem", "runtime", "numreqs"]
        );
        assert!(numbers[0].1 > 0 && numbers[0].1 <= numbers[1].1, "{text}");
        assert!(numbers[4].1 > 0, "{text}");
        let public = client().at(server.native());
        let nothing = public.resolve("0.SITE/status", &Query::all()).await;
        assert_eq!(code(nothing), ResponseCode::ValuesNotFound);
        let index = Query {
            includes_restricted: true,
            ..Query::index(7)
        };
        let nothing = server.with_secret().resolve("0.SITE/status", &index).await;
        assert_eq!(code(nothing), ResponseCode::ValuesNotFound);
        server.put(
            "20.1000/eve",
            values_of(vec![NewValue::new(300, "HS_SECKEY", b"eve")]),
        );
        let eve = Login::with_secret("300:20.1000/eve", b"eve").unwrap();
        let refused = public.with_login(eve).resolve("0.SITE/status", &all).await;
        assert_eq!(code(refused), ResponseCode::InvalidAdmin);
    });
}
