//! Where clients are, and whom to believe it.

use handfast_server::WebSettings;

use crate::mmdb::made;
use handfast_testing::Server;

const LOCATIONS: &[u8] = br#"<locations>
    <location href="https://de.example/" country="de" weight="0"/>
    <location href="https://gb.example/" country="gb" weight="0"/>
    <location href="https://near.example/" addresses="198.51.100.0/24, 2001:db8::/32" weight="0"/>
    <location href="https://www.example/"/></locations>"#;

fn settings(trusted: &str) -> (tempfile::TempDir, WebSettings) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countries.mmdb");
    let networks = [([192, 0, 2, 0], 24, "DE"), ([203, 0, 113, 0], 24, "GB")];
    std::fs::write(&file, made(24, &networks)).unwrap();
    let settings = WebSettings {
        country_header: Some("x-country".parse().unwrap()),
        geoip: Some(file),
        client_header: Some("x-forwarded-for".parse().unwrap()),
        trusted_proxies: vec![trusted.parse().unwrap(), "10.0.0.0/8".parse().unwrap()],
        ..WebSettings::default()
    };
    (folder, settings)
}

#[test]
fn a_client_is_where_a_trusted_proxy_its_address_or_itself_says() {
    let (_folder, settings) = settings("127.0.0.0/8");
    let server = Server::start_with(settings);
    server.name("20.1000/loc", &[(1, "10320/loc", LOCATIONS)]);
    for (query, headers, location) in [
        ("", "", "https://www.example/"),
        ("", "X-Forwarded-For: 192.0.2.7\r\n", "https://de.example/"),
        (
            "",
            "X-Forwarded-For: 192.0.2.7, 203.0.113.7\r\n",
            "https://gb.example/",
        ),
        (
            "",
            "X-Forwarded-For: 192.0.2.7, 10.9.9.9\r\n",
            "https://de.example/",
        ),
        (
            "",
            "X-Forwarded-For: 192.0.2.7, nonsense\r\n",
            "https://www.example/",
        ),
        (
            "",
            "X-Forwarded-For: 198.51.100.9\r\n",
            "https://near.example/",
        ),
        (
            "",
            "X-Forwarded-For: 192.0.2.7\r\nX-Country: GB\r\n",
            "https://gb.example/",
        ),
        (
            "?ip=203.0.113.9",
            "X-Forwarded-For: 192.0.2.7\r\n",
            "https://gb.example/",
        ),
        (
            "?ip=nonsense",
            "X-Forwarded-For: 192.0.2.7\r\n",
            "https://de.example/",
        ),
        ("?country=gb&ip=192.0.2.7", "", "https://gb.example/"),
    ] {
        let answer = server.get_with(&format!("/20.1000/loc{query}"), &[headers]);
        assert_eq!(answer.location(), location, "{query} {headers}");
    }
    let listed = server.get_with(
        "/uri-res/N2L?20.1000/loc",
        &["X-Forwarded-For: 192.0.2.7\r\n"],
    );
    assert_eq!(listed.location(), "https://de.example/");
}

#[test]
fn nobody_else_is_believed() {
    let (_folder, settings) = settings("192.0.2.1");
    let server = Server::start_with(settings);
    server.name("20.1000/loc", &[(1, "10320/loc", LOCATIONS)]);
    for headers in ["X-Forwarded-For: 192.0.2.7\r\n", "X-Country: GB\r\n"] {
        let answer = server.get_with("/20.1000/loc", &[headers]);
        assert_eq!(answer.location(), "https://www.example/", "{headers}");
    }
}
