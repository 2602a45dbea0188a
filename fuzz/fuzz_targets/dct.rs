#![no_main]

use handfast_wire::Dct;
use libfuzzer_sys::fuzz_target;

// What is read is written so that it reads back the same.
fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(dct) = Dct::parse(text) {
        assert_eq!(Dct::parse(&dct.to_string()), Ok(dct));
    }
});
