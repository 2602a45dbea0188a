#![no_main]

use handfast_wire::json::{ParsedValue, value, write_value};
use handfast_wire::{Codec, Value};
use libfuzzer_sys::fuzz_target;

// What can be read, and any value at all, is written so that it reads back the same.
fuzz_target!(|data: &[u8]| {
    let given = serde_json::from_slice::<ParsedValue>(data);
    let decoded = Value::from_bytes(data).ok();
    let decoded = decoded.filter(|value| (1..=0x7FFF_FFFF).contains(&value.index));
    for original in given.map(ParsedValue::into_value).into_iter().chain(decoded) {
        let mut text = Vec::new();
        write_value(&mut text, &original);
        assert_eq!(
            text,
            serde_json::to_vec(&value(&original)).expect("a tree has a text")
        );
        let again: ParsedValue =
            serde_json::from_slice(&text).expect("what is written can be read");
        assert_eq!(again.into_value(), original);
    }
});
