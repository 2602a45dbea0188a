//! Names of every kind.

use handfast_registry::{AuthorityChange, NewAuthority, NewName, Registry};

use crate::OPERATOR;

pub(crate) fn fill(registry: &Registry) {
    for (path, is_cordra) in [
        ("20.1000", false),
        ("10.1045", false),
        ("100.102", true),
        ("urn:urn-3", false),
        ("urn:urn-3:HUL", false),
        ("urn:urn-3:HUL.OIS", false),
        ("urn:isbn", false),
        ("ark:12025", false),
        ("info:lccn", false),
    ] {
        let new = NewAuthority {
            contact: "desk@library.example".into(),
            change: AuthorityChange {
                cordra: is_cordra.then_some(true),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        registry.create_authority(&OPERATOR, path, new).unwrap();
    }
    let make = |id: &str, urls: &[&str]| {
        registry
            .create_name(&OPERATOR, id, NewName::urls(urls))
            .unwrap();
    };
    make("20.1000/5555", &["https://example.org/5555"]);
    make("20.1000/a b/ü%", &["https://example.org/odd"]);
    make("20.1000/gone", &["https://example.org/gone"]);
    make("10.1045/april2006-paskin", &["https://dlib.example/paskin"]);
    make(
        "100.102/F58FB49EB1F848f0A606E84CEF294BE5",
        &["https://cordra.example/o"],
    );
    make(
        "100.102/A58FB49EB1F848f0A606E84CEF294BE5",
        &["https://cordra.example/o?a=b#f"],
    );
    make(
        "urn:urn-3:HUL.OIS:Home",
        &[
            "https://first.example/h",
            "https://second.example/h",
            "ftp://third.example/h",
        ],
    );
    make("urn:isbn:0451450523", &["https://first.example/h"]);
    make("ark:12025/654xz321", &["https://ark.example/1"]);
    make("info:lccn/2002022641", &["https://lccn.example/2002022641"]);
    let reason = "a <b>mistake</b>";
    registry
        .withdraw_name(&OPERATOR, "20.1000/gone", reason, Some("20.1000/5555"))
        .unwrap();
    let reserved = NewName {
        reserve: true,
        ..NewName::urls(&["https://example.org/soon"])
    };
    registry
        .create_name(&OPERATOR, "20.1000/soon", reserved)
        .unwrap();
}

/// Lines for an import that a debug build needs some seconds for, not in the order of their keys.
pub fn many_names() -> String {
    let ids = (0..60_000_u32).map(|number| number.wrapping_mul(2_654_435_761));
    let line =
        |id| format!(r#"{{"id":"20.1000/{id}","urls":["https://example.org/{id}"]}}"#) + "\n";
    ids.map(line).collect()
}
