#![no_main]

use handfast_id::{Guid, Handle, Prefix};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(prefix) = Prefix::parse(text) {
        assert!(Handle::new(&prefix, "x").is_ok());
        if let Some(parent) = prefix.parent() {
            assert!(prefix.derives_from(&parent));
            assert!(Prefix::parse(parent.as_str()).is_ok());
        }
    }
    if let Ok(guid) = text.parse::<Guid>() {
        assert_eq!(guid.to_string(), text.to_ascii_uppercase());
    }
    // HDL-8: any text with a slash and a byte before it.
    let stored = Handle::from_stored(text);
    assert_eq!(stored.is_ok(), text.find('/').is_some_and(|slash| slash > 0));
    if let Ok(handle) = stored {
        assert_eq!(handle.irregularity().is_none(), Handle::parse(text).is_ok());
    }
});
