//! Parsing and canonicalising identifiers, and the two URI parsers that Rust programs use, on the
//! same strings.

use std::fmt::Write;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use fluent_uri::UriRef;
use handfast_id::{
    Ark, CordraId, Doi, Handle, HdlUri, InfoUri, RuleBook, Standard, Urn, recognise,
};
use url::Url;

/// One of ours: parses, and then prints the canonical form into a buffer that is reused.
macro_rules! ours {
    ($group:expr, $text:expr, $parse:expr) => {{
        $group.bench_function("handfast parse", |b| {
            b.iter(|| $parse(black_box($text)).unwrap())
        });
        let mut canonical = String::with_capacity(256);
        $group.bench_function("handfast parse and canonicalise", |b| {
            b.iter(|| {
                canonical.clear();
                write!(canonical, "{}", $parse(black_box($text)).unwrap()).unwrap();
                canonical.len()
            });
        });
    }};
}

fn peers(group: &mut BenchmarkGroup<'_, WallTime>, text: &str) {
    // A bare handle is no URL; as a relative reference it is one.
    if Url::parse(text).is_ok() {
        group.bench_function("url parse", |b| {
            b.iter(|| Url::parse(black_box(text)).unwrap())
        });
    }
    group.bench_function("fluent-uri parse", |b| {
        b.iter(|| UriRef::parse(black_box(text)).unwrap());
    });
    group.bench_function("fluent-uri parse and normalise", |b| {
        b.iter(|| UriRef::parse(black_box(text)).unwrap().normalize());
    });
}

fn identifiers(c: &mut Criterion) {
    macro_rules! scheme {
        ($name:expr, $text:expr, $parse:expr) => {{
            let mut group = c.benchmark_group($name);
            ours!(group, $text, $parse);
            peers(&mut group, $text);
            group.finish();
        }};
    }
    scheme!("handle", "10.1045/april2006-paskin", Handle::parse);
    scheme!(
        "hdl path form",
        "hdl:100.102/F58FB49EB1F848f0A606E84CEF294BE5",
        HdlUri::parse
    );
    scheme!(
        "hdl host form",
        "hdl://100.102/F58FB49EB1F848f0A606E84CEF294BE5",
        HdlUri::parse
    );
    scheme!(
        "hdl with triplets",
        "hdl:20.1000/na%C3%AFve%20caf%C3%A9?lang=en#top",
        HdlUri::parse
    );
    scheme!(
        "cordra",
        "100.102/F58FB49EB1F848F0A606E84CEF294BE5",
        CordraId::parse
    );
    scheme!("info", "info:oai/arXiv.org:hep-th/9901001", InfoUri::parse);
    scheme!(
        "info with triplets",
        "info:oai/arXiv.org%3Ahep-th%2F9901001",
        InfoUri::parse
    );
    scheme!("urn", "urn:isbn:0451450523", Urn::parse);
    scheme!("urn-3", "urn:urn-3:HUL.Eresource:holliswb", Urn::parse);
    scheme!("doi", "doi:10.1045/april2006-paskin", Doi::parse);
    scheme!(
        "doi as URL",
        "https://doi.org/10.1045/april2006-paskin",
        Doi::parse
    );
    scheme!("ark", "ark:/12025/654xz321", Ark::parse);
}

/// What needs the registry, and what a person pastes.
fn with_rules(c: &mut Criterion) {
    let mut group = c.benchmark_group("with rules");
    let lccn = InfoUri::parse("info:lccn/n78-89035").unwrap();
    group.bench_function("info canonical, three steps", |b| {
        b.iter(|| black_box(&lccn).canonical(&Standard).unwrap());
    });
    let oclcnum = InfoUri::parse("info:oclcnum/(OCoLC)814782").unwrap();
    group.bench_function("info canonical, a rewrite", |b| {
        b.iter(|| black_box(&oclcnum).canonical(&Standard).unwrap());
    });
    let bare = RuleBook::standard().without_registry();
    group.bench_function("info canonical, no registry", |b| {
        b.iter(|| black_box(&lccn).canonical(&bare).unwrap());
    });
    group.bench_function("recognise a URL", |b| {
        b.iter(|| recognise(black_box(" https://doi.org/10.1000/182 "), &Standard).unwrap());
    });
    let handle = Handle::parse("20.500.12345/Report-7").unwrap();
    group.bench_function("key of a handle", |b| {
        b.iter(|| black_box(&handle).key(handfast_id::CaseRule::AsciiInsensitive));
    });
    group.finish();
}

criterion_group!(benches, identifiers, with_rules);
criterion_main!(benches);
