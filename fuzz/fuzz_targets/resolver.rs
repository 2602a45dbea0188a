#![no_main]

use handfast_id::{Handle, HttpResolver, RuleBook, Scheme, parse_as};
use libfuzzer_sys::fuzz_target;

// A resolver that could be configured reads the addresses that it prints.
fuzz_target!(|text: &str| {
    let Ok(resolver) = HttpResolver::parse(text) else { return };
    assert_eq!(HttpResolver::parse(&resolver.to_string()), Ok(resolver.clone()));
    let handle = Handle::parse("20.1000/a/é?").expect("a handle");
    let url = resolver.url(&handle).expect("no dot segment");
    let rules = RuleBook::standard().with_resolver(resolver);
    if let Ok(read) = parse_as(&url, Scheme::Http, &rules) {
        assert_eq!(read.to_string(), "hdl:20.1000/a%2F%C3%A9%3F");
    } else {
        assert!(url.len() > 8_192);
    }
});
