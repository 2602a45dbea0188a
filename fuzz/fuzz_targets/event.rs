#![no_main]

use handfast_registry::Event;
use libfuzzer_sys::fuzz_target;

// The format is frozen: what can be read is written back byte for byte.
fuzz_target!(|data: &[u8]| {
    if let Ok(event) = Event::from_bytes(data) {
        assert_eq!(event.to_bytes(), data);
    }
});
