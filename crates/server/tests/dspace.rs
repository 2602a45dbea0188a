//! A repository that knows handles, and a server that asks it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod world;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use handfast_client::{Client, Query, ServerAddress};
use handfast_registry::{NewAuthority, NewName, NewValue, Principal, Registry};
use handfast_server::{Dspace, DspaceSource, Identity, Listener, ServerContext};
use handfast_wire::{Permissions, ResponseCode, Ttl};
use world::world;

/// A repository with one item, which says what it was asked for.
fn repository() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            // To the end of the head.
            let _head: Vec<_> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let (status, body) = match first.split(' ').nth(1).unwrap() {
                "/server/listprefixes" => (200, r#"["123456789"]"#),
                "/server/resolve/123456789/1" => (200, r#"["https://repo.example/items/1"]"#),
                "/server/resolve/123456789/script" => (200, r#"["javascript:alert(1)"]"#),
                "/server/resolve/123456789/a%3Fb" => (200, r#"["https://repo.example/items/a"]"#),
                "/server/resolve/123456789/broken" => (500, "oh"),
                // A request that leaves the path finds something.
                path if path.contains("..") || path.contains(';') || path.contains("%2e") => {
                    (200, r#"["https://repo.example/secrets"]"#)
                }
                _ => (200, "null"),
            };
            let length = body.len();
            let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}");
            drop(stream.write_all(reply.as_bytes()));
        }
    });
    address
}

fn get(web: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(web).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

/// The resolver and the services of URIs say the same.
fn redirects(web: SocketAddr) {
    for (path, status, said) in [
        (
            "/123456789/1",
            "302",
            "location: https://repo.example/items/1\r\n",
        ),
        ("/123456789/1", "302", "cache-control: max-age=100\r\n"),
        (
            "/hdl:123456789/1?urlappend=/x",
            "302",
            "location: https://repo.example/items/1/x\r\n",
        ),
        ("/123456789/1?noredirect", "200", "<td>100<td>URL<td>"),
        ("/123456789/1?action=api", "200", "\"index\":100"),
        (
            "/123456789/a%3Fb",
            "302",
            "location: https://repo.example/items/a\r\n",
        ),
        (
            "/123456789/own",
            "302",
            "location: https://here.example/\r\n",
        ),
        ("/123456789/gone", "410", "withdrawn"),
        ("/123456789/2", "404", "cannot be found"),
        ("/123456789/script", "404", "cannot be found"),
        ("/123456789/broken", "503", "does not answer"),
        ("/123456789/alias", "301", "location: /123456789/1\r\n"),
        ("/21.9999/1", "400", "not served here"),
        (
            "/uri-res/N2L?hdl:123456789/1",
            "303",
            "location: https://repo.example/items/1\r\n",
        ),
        (
            "/uri-res/N2Ls?123456789/1",
            "200",
            "\r\nhttps://repo.example/items/1\r\n",
        ),
        ("/uri-res/N2L?hdl:123456789/2", "404", "cannot be found"),
        (
            "/uri-res/N2L?hdl:123456789/broken",
            "503",
            "does not answer",
        ),
    ] {
        let reply = get(web, path);
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status}")),
            "{path} {reply}"
        );
        assert!(reply.contains(said), "{path} {reply}");
    }
}

#[test]
fn handles_of_a_repository_resolve_here() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(folder.path(), world()).unwrap();
    // The prefix may be kept here as well: what is stored goes before what the repository says.
    let operator = Principal::Operator;
    registry
        .create_authority(&operator, "123456789", NewAuthority::default())
        .unwrap();
    let own = NewName::urls(&["https://here.example/"]);
    registry
        .create_name(&operator, "123456789/own", own.clone())
        .unwrap();
    registry
        .create_name(&operator, "123456789/gone", own)
        .unwrap();
    let alias = NewName {
        values: vec![NewValue::new(1, "HS_ALIAS", b"123456789/1")],
        ..NewName::default()
    };
    registry
        .create_name(&operator, "123456789/alias", alias)
        .unwrap();
    registry
        .withdraw_name(&operator, "123456789/gone", "old", None)
        .unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::bind(any, any).unwrap();
    let identity = Identity::open_or_make(folder.path(), listener.addresses()).unwrap();
    let sources = ["/server", "/nothing"].map(|path| DspaceSource {
        endpoint: format!("http://{}{path}", repository()),
        prefixes: Vec::new(),
    });
    let (dspace, silent) = Dspace::connect(sources.to_vec()).unwrap();
    assert_eq!(silent.len(), 1);
    let context = ServerContext::new(Arc::new(registry), identity, world(), Vec::new());
    let served = listener
        .open(
            context.with_dspace(dspace),
            handfast_server::WebSettings::default(),
        )
        .unwrap();
    let addresses = served.addresses;

    for (handle, status, said) in [
        ("123456789/1", "200", "https://repo.example/items/1"),
        ("123456789/a%3Fb", "200", "https://repo.example/items/a"),
        ("123456789/own", "200", "https://here.example/"),
        ("123456789/gone", "404", "\"responseCode\":100"),
        ("123456789/2", "404", "\"responseCode\":100"),
        ("123456789/script", "404", "\"responseCode\":100"),
        (
            "123456789/../../../manager/html",
            "404",
            "\"responseCode\":100",
        ),
        ("123456789/%2E%2E/x", "404", "\"responseCode\":100"),
        ("123456789/%252e%252e/x", "404", "\"responseCode\":100"),
        ("123456789/1;x", "404", "\"responseCode\":100"),
        ("123456789/broken", "503", "\"responseCode\":3"),
        ("21.9999/1", "400", "\"responseCode\":301"),
    ] {
        let reply = get(addresses.web, &format!("/api/handles/{handle}"));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{reply}");
        assert!(reply.contains(said), "{reply}");
    }
    redirects(addresses.web);
    let address: ServerAddress = addresses.native.to_string().parse().unwrap();
    let client = Client::new(handfast_client::Environment::system()).at(address);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let resolve = |handle| runtime.block_on(client.resolve(handle, &Query::all()));
    let found = resolve("123456789/1").unwrap();
    let value = found.values.first().unwrap();
    assert_eq!((value.index, &*value.value_type), (100, "URL"));
    assert_eq!(value.ttl, Ttl::Relative(100));
    assert_eq!(value.permissions, Permissions::from_bits(0x0A));
    let missing = resolve("123456789/2").err().unwrap();
    assert_eq!(missing.code(), Some(ResponseCode::HandleNotFound));
}
