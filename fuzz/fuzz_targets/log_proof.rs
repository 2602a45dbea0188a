#![no_main]

use handfast_log::{Tree, verify_consistency, verify_inclusion};
use libfuzzer_sys::fuzz_target;

// A tree that can be read is written back byte for byte. Proofs with any sizes and hashes are
// checked without a panic.
fuzz_target!(|data: &[u8]| {
    if let Ok(tree) = Tree::from_bytes(data) {
        assert_eq!(tree.to_bytes(), data);
        let _ = tree.root();
    }
    let Some((index, rest)) = data.split_first_chunk() else {
        return;
    };
    let index = u64::from_be_bytes(*index);
    let (hashes, _) = rest.as_chunks::<32>();
    for size in [
        index,
        index.saturating_add(1),
        index.saturating_mul(2),
        u64::MAX,
    ] {
        let _ = verify_inclusion(&[0; 32], index, size, hashes, &[0; 32]);
        let _ = verify_consistency(index, &[0; 32], size, &[0; 32], hashes);
    }
});
