#![no_main]

use handfast_log::{SignedNote, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;

// There is one spelling: a note that can be read is written back byte for byte, and is trusted
// only if a known key has signed it.
fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(note) = text.parse::<SignedNote>() {
        assert_eq!(note.to_string(), text);
        assert!(note.verify(&[]).is_err());
    }
    if let Ok(key) = text.parse::<VerifyingKey>() {
        assert_eq!(key.to_string(), text);
    }
    if let Ok(key) = text.parse::<SigningKey>() {
        assert_eq!(key.secret_text(), text);
    }
});
