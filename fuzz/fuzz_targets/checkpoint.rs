#![no_main]

use handfast_log::{Bundle, Checkpoint, SigningKey, Tile};
use libfuzzer_sys::fuzz_target;

// What can be read is written back byte for byte, and what is signed is what is opened.
fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(checkpoint) = text.parse::<Checkpoint>() {
        assert_eq!(checkpoint.to_string(), text);
        if let Ok(key) = SigningKey::new(&checkpoint.origin, &[7; 32])
            && let Ok(note) = checkpoint.sign(&key)
        {
            let opened = Checkpoint::open(&note.to_string(), key.verifying_key());
            assert_eq!(opened, Ok(checkpoint));
        }
    }
    if let Ok(tile) = text.parse::<Tile>() {
        assert_eq!(tile.path(), text);
    }
    if let Ok(bundle) = text.parse::<Bundle>() {
        assert_eq!(bundle.path(), text);
    }
});
