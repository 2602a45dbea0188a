#![no_main]

use handfast_log::{SigningKey, TlogProof, Tree, verify_consistency, verify_inclusion};
use libfuzzer_sys::fuzz_target;

// A proof that can be read is written back byte for byte. A proof of another log proves nothing,
// and any sizes and hashes in it are handled.
fuzz_target!(|data: &[u8]| {
    if let Ok(tree) = Tree::from_bytes(data) {
        assert_eq!(tree.to_bytes(), data);
        let _ = tree.root();
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(proof) = text.parse::<TlogProof>() {
        assert_eq!(proof.to_string(), text);
        let key = SigningKey::new("example.org/nobody", &[9; 32]).expect("a key");
        assert!(proof.verify(b"", key.verifying_key()).is_err());
        let (index, hashes) = (proof.index(), proof.hashes());
        for size in [
            index,
            index.saturating_add(1),
            index.saturating_mul(2),
            u64::MAX,
        ] {
            let _ = verify_inclusion(&[0; 32], index, size, hashes, &[0; 32]);
            let _ = verify_consistency(index, &[0; 32], size, &[0; 32], hashes);
        }
    }
});
