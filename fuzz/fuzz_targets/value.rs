#![no_main]

use handfast_wire::{Admin, Codec, PublicKey, Site, Value, ValueList, json};
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
    if let Ok(site) = Site::from_bytes(data) {
        assert_eq!(Site::from_bytes(&site.to_bytes()), Ok(site));
    }
    if let Ok(key) = PublicKey::from_bytes(data) {
        assert_eq!(PublicKey::from_bytes(&key.to_bytes()).as_ref(), Ok(&key));
    }
    if let Ok(admin) = Admin::from_bytes(data) {
        assert_eq!(Admin::from_bytes(&admin.to_bytes()), Ok(admin));
    }
});
