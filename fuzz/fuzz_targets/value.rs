#![no_main]

use handfast_wire::{Admin, Codec, Value, ValueList, json};
use libfuzzer_sys::fuzz_target;

// What decodes encodes to something that decodes to the same.
fuzz_target!(|data: &[u8]| {
    if let Ok(value) = Value::from_bytes(data) {
        let bytes = value.to_bytes();
        assert_eq!(Value::from_bytes(&bytes).as_ref(), Ok(&value));
        assert!(json::value(&value).is_object());
    }
    if let Ok(list) = ValueList::from_bytes(data) {
        assert_eq!(list.to_bytes(), data);
    }
    if let Ok(admin) = Admin::from_bytes(data) {
        assert_eq!(Admin::from_bytes(&admin.to_bytes()), Ok(admin));
    }
});
