#![no_main]

use handfast_wire::batch::{BatchReader, Operation, write_create};
use handfast_wire::{Ttl, Value};
use libfuzzer_sys::fuzz_target;

// Lines count up, and what is read is written so that it reads back the same.
fuzz_target!(|data: &[u8]| {
    let mut last = 0;
    for entry in BatchReader::new(data) {
        let entry = entry.expect("a slice can be read");
        assert!(entry.line > last);
        last = entry.line;
        let Ok(Operation::Create { handle, values }) = entry.operation else {
            continue;
        };
        let given: Vec<_> = values
            .iter()
            .filter_map(|value| {
                Some(Value {
                    ttl: Ttl::Relative(value.ttl),
                    permissions: value.permissions,
                    value_type: value.value_type.as_str().into(),
                    data: value.data.to_bytes()?.into(),
                    ..Value::new(value.index, "", b"")
                })
            })
            .collect();
        let mut out = Vec::new();
        let Ok(unsaid) = write_create(&mut out, &handle, &given) else {
            // A carriage return inside a line can be read, but not every reader takes it.
            assert!(handle.contains('\r'));
            continue;
        };
        let again = BatchReader::new(&out[..])
            .next()
            .expect("an operation")
            .expect("a slice");
        let Ok(Operation::Create {
            handle: read,
            values: said,
        }) = again.operation
        else {
            panic!("what is written can be read");
        };
        assert_eq!(read, handle);
        assert_eq!(said.len() + unsaid.len(), given.len());
        let mut values = values.iter();
        assert!(
            said.iter()
                .all(|said| values.any(|value| value.data.to_bytes() == said.data.to_bytes()))
        );
    }
});
