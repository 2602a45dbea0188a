//! A repository that knows handles, and a server that asks it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use handfast_client::Query;
use handfast_server::{Dspace, DspaceSource};
use handfast_testing::{OPERATOR, Response, Server, Setup};
use handfast_wire::{Permissions, ResponseCode, Ttl};

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

fn assert_answer(reply: &Response, asked: &str, status: u16, said: &str) {
    // Long names may be broken.
    let body = reply.body.replace("<wbr>", "");
    let whole = format!("{}\r\n\r\n{body}", reply.head);
    assert_eq!(reply.status, status, "{asked} {whole}");
    assert!(whole.contains(said), "{asked} {whole}");
}

/// The resolver and the services of URIs say the same.
fn redirects(server: &Server) {
    for (path, status, said) in [
        (
            "/123456789/1",
            302,
            "location: https://repo.example/items/1\r\n",
        ),
        ("/123456789/1", 302, "cache-control: max-age=100\r\n"),
        (
            "/hdl:123456789/1?urlappend=/x",
            302,
            "location: https://repo.example/items/1/x\r\n",
        ),
        (
            "/123456789/1?noredirect",
            200,
            "<td data-label=\"Index\">100</td><td data-label=\"Type\">URL</td>",
        ),
        ("/123456789/1?action=api", 200, "\"index\":100"),
        (
            "/123456789/a%3Fb",
            302,
            "location: https://repo.example/items/a\r\n",
        ),
        ("/123456789/own", 302, "location: https://here.example/\r\n"),
        ("/123456789/gone", 410, "withdrawn"),
        ("/123456789/2", 404, "cannot be found"),
        ("/123456789/script", 404, "cannot be found"),
        ("/123456789/broken", 503, "does not answer"),
        ("/123456789/alias", 301, "location: /123456789/1\r\n"),
        ("/21.9999/1", 400, "not served here"),
        (
            "/uri-res/N2L?hdl:123456789/1",
            303,
            "location: https://repo.example/items/1\r\n",
        ),
        (
            "/uri-res/N2Ls?123456789/1",
            200,
            "\r\nhttps://repo.example/items/1\r\n",
        ),
        ("/uri-res/N2L?hdl:123456789/2", 404, "cannot be found"),
        ("/uri-res/N2L?hdl:123456789/broken", 503, "does not answer"),
    ] {
        assert_answer(&server.get(path), path, status, said);
    }
}

#[test]
fn handles_of_a_repository_resolve_here() {
    let sources = ["/server", "/nothing"].map(|path| DspaceSource {
        endpoint: format!("http://{}{path}", repository()),
        prefixes: Vec::new(),
    });
    let (dspace, silent) = Dspace::connect(sources.to_vec()).unwrap();
    assert_eq!(silent.len(), 1);
    let setup = Setup::new().context(|context| context.with_dspace(dspace));
    // The prefix may be stored here as well: what is stored goes before what the repository says.
    let server = setup.start_for(&["123456789"]);
    let own: &[(u32, &str, &[u8])] = &[(1, "URL", b"https://here.example/")];
    server.name("123456789/own", own);
    server.name("123456789/gone", own);
    server.name("123456789/alias", &[(1, "HS_ALIAS", b"123456789/1")]);
    let withdrawn = server
        .registry
        .withdraw_name(&OPERATOR, "123456789/gone", "old", None);
    withdrawn.unwrap();

    for (handle, status, said) in [
        ("123456789/1", 200, "https://repo.example/items/1"),
        ("123456789/a%3Fb", 200, "https://repo.example/items/a"),
        ("123456789/own", 200, "https://here.example/"),
        ("123456789/gone", 404, "\"responseCode\":100"),
        ("123456789/2", 404, "\"responseCode\":100"),
        ("123456789/script", 404, "\"responseCode\":100"),
        (
            "123456789/../../../manager/html",
            404,
            "\"responseCode\":100",
        ),
        ("123456789/%2E%2E/x", 404, "\"responseCode\":100"),
        ("123456789/%252e%252e/x", 404, "\"responseCode\":100"),
        ("123456789/1;x", 404, "\"responseCode\":100"),
        ("123456789/broken", 503, "\"responseCode\":3"),
        ("21.9999/1", 400, "\"responseCode\":301"),
    ] {
        let reply = server.get(&format!("/api/handles/{handle}"));
        assert_answer(&reply, handle, status, said);
    }
    redirects(&server);
    let client = server.client();
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
