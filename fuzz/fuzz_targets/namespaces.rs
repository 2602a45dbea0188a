#![no_main]

use handfast_id::{InfoUri, Namespaces, RuleBook};
use libfuzzer_sys::fuzz_target;

// Any registry that can be read can be consulted.
fuzz_target!(|json: &str| {
    let Ok(namespaces) = Namespaces::from_json(json) else { return };
    let names: Vec<_> = namespaces.iter().map(|entry| entry.name().to_string()).collect();
    let rules = RuleBook::standard().with_registry(namespaces);
    for name in names {
        for identifier in ["", "n78-89035", "(a)%20B%2Fc/%FF%E4%B8%AD", "--../"] {
            let text = format!("info:{name}/{identifier}");
            if let Ok(uri) = InfoUri::parse(&text) {
                let canonical = uri.canonical(&rules);
                if let Ok(canonical) = canonical {
                    assert!(canonical.as_str().len() <= 8_192);
                    assert!(InfoUri::parse(canonical.as_str()).is_ok(), "{}", canonical.as_str());
                }
                let _ = uri.validate(&rules);
            }
        }
    }
});
