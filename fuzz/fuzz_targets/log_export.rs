#![no_main]

use handfast_registry::{Growth, Proof, Verify, verify_export, verify_growth, verify_proof};
use libfuzzer_sys::fuzz_target;

// Reading an untrusted log, or an untrusted proof, does no harm.
fuzz_target!(|data: &[u8]| {
    let mut input = data;
    drop(verify_export(&mut input, &Verify::default(), &mut |_, _| ()));
    if let Ok(proof) = serde_json::from_slice::<Proof>(data)
        && let Ok(key) = proof.log.parse()
    {
        drop(verify_proof(&proof, Some("20.1000/5555"), &key));
    }
    if let Ok(growth) = serde_json::from_slice::<Growth>(data) {
        drop(verify_growth(&growth, &[]));
    }
});
