#![no_main]

use handfast_registry::Record;
use libfuzzer_sys::fuzz_target;

// Bytes with a right sum at their end, so that what stands before it is looked at.
fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    bytes.extend(crc32fast::hash(data).to_be_bytes());
    if let Ok(record) = Record::from_bytes(&bytes) {
        assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
    }
});
