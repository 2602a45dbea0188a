#![no_main]

use handfast_wire::namespace::{Namespace, Outcome, delimiter, evaluate, split};
use handfast_wire::{Reference, Value};
use libfuzzer_sys::fuzz_target;

// A template makes no more than a message holds, and no two values with one index.
fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(namespace) = Namespace::parse(text) else {
        return;
    };
    let chain = [namespace];
    let handle = split("20.500.12345/abc@10-20", delimiter(&chain).unwrap_or("@"))
        .or_else(|| split("20.500.12345/abc@10-20", "@"))
        .expect("a template handle");
    let values = [
        Value::new(1, "URL", b"https://example.org/abc"),
        Value::new(2, "EMAIL", b"a@example.org"),
    ];
    let mut fetch = |_: &Reference<'_>| Some(text.to_owned());
    if let Ok(Outcome::Values(values)) = evaluate(&chain, &handle, &values, false, &mut fetch) {
        let mut indexes: Vec<u32> = values.iter().map(|value| value.index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert_eq!(indexes.len(), values.len());
        let octets: usize = values.iter().map(Value::encoded_length).sum();
        assert!(octets <= 262_144);
    }
});
