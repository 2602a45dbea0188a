#![no_main]

use handfast_wire::crypto::{SessionAlgorithm, SessionKey, verify_secret_answer};
use handfast_wire::{
    Codec, Credential, Framing, LocalInfo, Reader, RequestDigest, RootInfo, Version,
};
use libfuzzer_sys::fuzz_target;

// What decodes encodes to the same bytes, and nothing that was not made with the key verifies.
fuzz_target!(|data: &[u8]| {
    if let Ok(bytes) = Reader::new(data).bytes()
        && let Ok(credential) = Credential::from_bytes(bytes)
    {
        assert_eq!(credential.to_bytes(), bytes);
        let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).expect("a key");
        for minor in 0..12 {
            let framing = Framing {
                version: Version::new(2, minor),
                suggested: Version::CURRENT,
                session_id: 1,
                request_id: 2,
            };
            assert!(key.verify_mac(&credential, &framing, b"message").is_err());
        }
    }
    if let Ok(digest) = RequestDigest::read(&mut Reader::new(data)) {
        for version in [Version::new(2, 0), Version::CURRENT] {
            let mut again = Vec::new();
            digest.write(version, &mut again);
            assert_eq!(RequestDigest::read(&mut Reader::new(&again)), Ok(digest));
        }
    }
    if let Ok(root) = RootInfo::from_bytes(data) {
        assert_eq!(RootInfo::from_bytes(&root.to_bytes()), Ok(root.clone()));
    }
    if let Ok(local) = LocalInfo::from_bytes(data) {
        assert_eq!(LocalInfo::from_bytes(&local.to_bytes()), Ok(local.clone()));
    }
    // PBKDF2 is left out: it is slow on purpose.
    if data.first() != Some(&0x22) {
        assert!(verify_secret_answer(b"a secret", b"nonce", b"digest", data).is_err());
    }
});
