//! The vectors of `handle-protocol.md` Appendix B, and keys and signatures that other software
//! made.
#![cfg(feature = "crypto")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use handfast_wire::crypto::{
    CryptoError, DhKeyPair, KeyFileError, Protection, SecretAlgorithm, SessionAlgorithm,
    SessionKey, SigningKey, answer_with_key, answer_with_secret, is_encrypted, read_private_key,
    sign_message, verify_key_answer, verify_message, verify_secret_answer, verify_signature,
    write_private_key,
};
use handfast_wire::{
    Codec, Credential, DigestAlgorithm, Envelope, Framing, PublicKey, Reader, RequestDigest,
    RootInfo, Version,
};
use proptest::prelude::*;

fn vector(name: &str) -> Vec<u8> {
    let lines = include_str!("vectors/crypto.txt").lines();
    let mut found = lines.filter_map(|line| line.split_once(' ').filter(|(n, _)| *n == name));
    let (_, hex) = found.next().unwrap_or_else(|| panic!("no vector {name}"));
    hex_bytes(hex)
}

fn hex_bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(octet).collect()
}

/// Envelope, header with body, and credential section of a message.
fn split(message: &[u8]) -> (Framing, &[u8], &[u8]) {
    let envelope = Envelope::decode(&mut Reader::new(message)).unwrap();
    let body = u32::from_be_bytes(message[40..44].try_into().unwrap());
    let end = 44 + usize::try_from(body).unwrap();
    (Framing::of(&envelope), &message[20..end], &message[end..])
}

fn credential(section: &[u8]) -> Credential<'_> {
    let mut reader = Reader::new(section);
    let bytes = reader.bytes().unwrap();
    reader.finish().unwrap();
    let credential = Credential::from_bytes(bytes).unwrap();
    assert_eq!(credential.to_bytes(), bytes);
    credential
}

fn test_key() -> SigningKey {
    SigningKey::new(read_private_key(&vector("private-key"), None).unwrap()).unwrap()
}

/// B.6, B.7
#[test]
fn a_certified_reply_is_signed_and_verified() {
    let (request, reply) = (vector("certified-request"), vector("certified-reply"));
    let (_, asked, _) = split(&request);
    let (framing, message, section) = split(&reply);
    let digest = RequestDigest::of(asked, framing.version);
    let mut bytes = Vec::new();
    digest.write(framing.version, &mut bytes);
    assert_eq!(message[24..57], bytes);

    let found = credential(section);
    let key = test_key();
    assert_eq!(sign_message(&key, &framing, message).unwrap(), found);
    let public = key.public_key().unwrap();
    verify_message(&found, public, &framing, message).unwrap();

    let verified = verify_message(&found, public, &framing, asked);
    assert_eq!(verified, Err(CryptoError::Mismatch));
    let other = Framing {
        request_id: 1,
        ..framing
    };
    let verified = verify_message(&found, public, &other, message);
    assert_eq!(verified, Err(CryptoError::Mismatch));
    let other_key = read_private_key(&vector("rsa-2048-private"), None).unwrap();
    let verified = verify_message(&found, &other_key.public_key().unwrap(), &framing, message);
    assert_eq!(verified, Err(CryptoError::Mismatch));
}

/// Nonce and request digest of B.11.
fn challenge() -> (Vec<u8>, Vec<u8>) {
    let challenge = vector("challenge");
    let (_, message, _) = split(&challenge);
    let mut reader = Reader::new(&message[24..]);
    let digest = RequestDigest::read(&mut reader).unwrap();
    let request = vector("create-request");
    assert!(digest.is_of(split(&request).1));
    (reader.bytes().unwrap().to_vec(), digest.as_bytes().to_vec())
}

/// B.12
#[test]
fn a_private_key_answers_a_challenge() {
    let (nonce, digest) = challenge();
    let answer = vector("key-answer");
    let (framing, message, _) = split(&answer);
    let mut reader = Reader::new(&message[24..]);
    assert_eq!(reader.text(), Ok("HS_PUBKEY"));
    assert_eq!(reader.text(), Ok("0.NA/20.500.12345"));
    assert_eq!(reader.u32(), Ok(300));
    let response = reader.bytes().unwrap();

    let key = test_key();
    let made = answer_with_key(&key, framing.version, &nonce, &digest).unwrap();
    assert_eq!(made, response);
    let public = key.public_key().unwrap();
    verify_key_answer(public, &nonce, &digest, response).unwrap();
    let verified = verify_key_answer(public, &[0; 16], &digest, response);
    assert_eq!(verified, Err(CryptoError::Mismatch));
}

/// B.14, B.15
#[test]
fn a_secret_key_answers_a_challenge_in_every_way() {
    let (nonce, digest) = challenge();
    let salt: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).unwrap());
    for code in ["01", "02", "03", "12", "13", "22"] {
        let response = vector(&format!("secret-answer-{code}"));
        let algorithm = SecretAlgorithm::from_code(response[0]).unwrap();
        let made = answer_with_secret(b"secret", algorithm, &nonce, &digest, &salt);
        assert_eq!(made.unwrap(), response, "{code}");
        assert_eq!(algorithm.code(), response[0]);
        let verify = |secret: &[u8], nonce: &[u8], response: &[u8]| {
            verify_secret_answer(secret, nonce, &digest, response)
        };
        assert_eq!(verify(b"secret", &nonce, &response), Ok(()), "{code}");
        assert_eq!(
            verify(b"Secret", &nonce, &response),
            Err(CryptoError::Mismatch)
        );
        assert_eq!(verify(b"", &nonce, &response), Err(CryptoError::Key));
        assert!(verify(b"secret", &[1; 16], &response).is_err());
        for length in 0..response.len() {
            assert!(
                verify(b"secret", &nonce, &response[..length]).is_err(),
                "{code} {length}"
            );
        }
    }
    let bare = &vector("secret-answer-01")[1..];
    assert_eq!(
        verify_secret_answer(b"secret", &nonce, &digest, bare),
        Ok(())
    );
    let verified = verify_secret_answer(b"secret", &nonce, &digest, &[0x11; 17]);
    assert_eq!(verified, Err(CryptoError::Algorithm));

    let request = vector("verify-request");
    let (_, message, _) = split(&request);
    assert!(message.ends_with(&vector("secret-answer-02")));
}

/// B.15, B.16
#[test]
fn the_reply_to_a_verify_request_repeats_its_digest() {
    let (request, reply) = (vector("verify-request"), vector("verify-reply"));
    let digest = RequestDigest::read(&mut Reader::new(&split(&reply).1[24..57])).unwrap();
    assert!(digest.is_of(split(&request).1));
}

/// B.17, B.18
#[test]
fn a_message_in_a_session_has_a_mac_and_is_encrypted() {
    let plain = vector("mac-request");
    let (framing, message, section) = split(&plain);
    let octets: Vec<u8> = (1..=32).collect();
    let key = SessionKey::new(SessionAlgorithm::Aes, &octets).unwrap();
    let found = credential(section);
    assert_eq!(found.counter(), 3);
    assert_eq!(key.mac(&framing, 3, message).unwrap(), found);
    key.verify_mac(&found, &framing, message).unwrap();
    let mut other = found.clone();
    other.signer.index = 4;
    assert_eq!(
        key.verify_mac(&other, &framing, message),
        Err(CryptoError::Mismatch)
    );
    let other_key = SessionKey::new(SessionAlgorithm::Aes, &[1; 32]).unwrap();
    assert_eq!(
        other_key.verify_mac(&found, &framing, message),
        Err(CryptoError::Mismatch)
    );

    let sealed = vector("encrypted-request");
    let iv = std::array::from_fn(|i| u8::try_from(i + 16).unwrap());
    let made = key.encrypt(Version::CURRENT, &plain[20..], &iv).unwrap();
    assert_eq!(made, sealed[20..]);
    assert_eq!(
        *key.decrypt(Version::CURRENT, &sealed[20..]).unwrap(),
        plain[20..]
    );
    assert!(key.decrypt(Version::CURRENT, &sealed[20..100]).is_err());
    assert!(key.decrypt(Version::CURRENT, &[]).is_err());
}

#[test]
fn macs_of_all_versions_and_names_are_verified() {
    let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).unwrap();
    for minor in 1..=11 {
        let framing = Framing {
            version: Version::new(2, minor),
            suggested: Version::CURRENT,
            session_id: 5,
            request_id: 6,
        };
        let made = key.mac(&framing, 1, b"message").unwrap();
        key.verify_mac(&made, &framing, b"message").unwrap();
        assert!(key.verify_mac(&made, &framing, b"massage").is_err());
        let name: &[u8] = match minor {
            7.. => b"HMAC-SHA256",
            6 => b"SHA1",
            _ => &[2],
        };
        assert_eq!(made.algorithm, name);
    }
    let framing = Framing {
        version: Version::new(2, 4),
        suggested: Version::NONE,
        session_id: 5,
        request_id: 6,
    };
    let made = key.mac(&framing, 1, b"M").unwrap();
    let around = DigestAlgorithm::Sha1.digest(&[&[7; 32], b"M", &[7; 32]]);
    assert_eq!(made.signature, around);
    let made = key
        .mac(
            &Framing {
                version: Version::new(2, 5),
                ..framing
            },
            1,
            b"M",
        )
        .unwrap();
    let quirk = DigestAlgorithm::Sha1.digest(&[&[7; 4], b"M", &[7; 32], &[0; 42]]);
    assert_eq!(made.signature, quirk);
    // Other names than those that are sent.
    let framing = Framing {
        version: Version::CURRENT,
        ..framing
    };
    let hash = DigestAlgorithm::Sha256.digest(&[&[7; 32], &framing.covered(1, b"M"), &[7; 32]]);
    for name in ["SHA-256", "SHA256", "\u{3}"] {
        let made = Credential::new("HS_MAC", 1, name, hash.clone());
        assert_eq!(key.verify_mac(&made, &framing, b"M"), Ok(()));
    }
    let made = key.mac(&framing, 1, b"M").unwrap();
    for name in ["hmac_sha256", "HmacSHA256", "\u{13}"] {
        let made = Credential::new("HS_MAC", 1, name, made.signature.clone());
        assert_eq!(key.verify_mac(&made, &framing, b"M"), Ok(()));
    }
    let unknown = Credential::new("HS_MAC", 1, "HMAC-SHA3", made.signature);
    assert_eq!(
        key.verify_mac(&unknown, &framing, b"M"),
        Err(CryptoError::Algorithm)
    );
}

/// B.22, B.23
#[test]
fn both_sides_of_a_session_find_the_same_key() {
    let (request, reply) = (vector("session-request"), vector("session-reply"));
    let mut asked = Reader::new(&split(&request).1[24..]);
    assert_eq!(asked.u16(), Ok(4));
    asked.u32().unwrap();
    asked.text().unwrap();
    asked.u32().unwrap();
    let client = PublicKey::from_bytes(asked.bytes().unwrap()).unwrap();

    let mut answered = Reader::new(&split(&reply).1[24..]);
    let digest = RequestDigest::read(&mut answered).unwrap();
    assert!(digest.is_of(split(&request).1));
    assert_eq!(answered.u16(), Ok(4));
    let mut data = Reader::new(answered.bytes().unwrap());
    assert_eq!(data.u32(), Ok(SessionAlgorithm::Aes.code()));
    let server = PublicKey::from_bytes(data.rest()).unwrap();

    let PublicKey::Dh { p, g, .. } = &client else {
        panic!("not a key for Diffie-Hellman");
    };
    let x = hex_bytes("123456789abcdef0123456789abcdef0123456789abcdef0");
    let ours = DhKeyPair::from_exponent(p, g, x.into()).unwrap();
    assert_eq!(ours.public_key().to_bytes(), client.to_bytes());
    let x = hex_bytes("fedcba9876543210fedcba9876543210fedcba98");
    let theirs = DhKeyPair::from_exponent(p, g, x.into()).unwrap();
    assert_eq!(theirs.public_key().to_bytes(), server.to_bytes());

    for secret in [ours.agree(&server).unwrap(), theirs.agree(&client).unwrap()] {
        for (algorithm, key) in [
            (
                SessionAlgorithm::Aes,
                "71f2c57243a041622891f3a9003817fbfa211a2226cd515699b9c66df2fb4714",
            ),
            (
                SessionAlgorithm::DesEde,
                "70f2c47343a140622991f2a8013816fbfb201a2326cd5157",
            ),
            (SessionAlgorithm::Des, "70f2c47343a14062"),
        ] {
            let made = secret.session_key(algorithm).unwrap();
            assert_eq!(made.as_bytes(), hex_bytes(key));
        }
    }
}

#[test]
fn diffie_hellman_keys_that_give_the_secret_away_are_refused() {
    let p = handfast_wire::crypto::MODP_2048;
    let ours = DhKeyPair::generate(&p, &[2], &mut |bytes| bytes.fill(3)).unwrap();
    let mut below = p;
    below[255] -= 1;
    for y in [&[][..], &[0], &[0, 1], &below, &p, &[0xFF; 300]] {
        let peer = PublicKey::Dh {
            y: y.into(),
            p: p.as_slice().into(),
            g: vec![2].into(),
        };
        assert_eq!(ours.agree(&peer).err(), Some(CryptoError::Key));
    }
    let mut random = |bytes: &mut [u8]| bytes.fill(3);
    for (p, g) in [
        (&below[..], &[2][..]),
        (&p[..100], &[2]),
        (&[0xFF; 600], &[2]),
        (&p, &[1]),
        (&p, &[]),
        (&[], &[2]),
    ] {
        assert!(DhKeyPair::generate(p, g, &mut random).is_err());
    }
}

#[test]
fn sessions_of_old_clients_use_des() {
    let octets = hex_bytes("70f2c47343a140622991f2a8013816fbfb201a2326cd5157");
    let iv = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let triple = SessionKey::new(SessionAlgorithm::DesEde, &octets).unwrap();
    let single = SessionKey::new(SessionAlgorithm::Des, &octets[..8]).unwrap();
    for (key, version, name) in [
        (&triple, Version::new(2, 4), "session-desede"),
        (&single, Version::BLIND, "session-des-ecb"),
    ] {
        let sealed = vector(name);
        assert_eq!(
            key.encrypt(version, b"header and body", &iv).unwrap(),
            sealed
        );
        assert_eq!(*key.decrypt(version, &sealed).unwrap(), b"header and body");
        assert_eq!(
            key.decrypt(version, &sealed[..sealed.len() - 1]).err(),
            Some(CryptoError::Decrypt)
        );
    }
}

/// B.31
#[test]
fn private_key_files_of_all_schemes_are_read() {
    let plain = vector("private-key");
    assert_eq!(plain.len(), 4 + 633);
    let key = read_private_key(&plain, None).unwrap();
    assert_eq!(*write_private_key(&key, None).unwrap(), plain);
    assert!(!is_encrypted(&plain));
    for scheme in [0, 2, 3, 4] {
        let file = vector(&format!("key-file-{scheme}"));
        assert!(is_encrypted(&file));
        let key = read_private_key(&file, Some("Käse".as_bytes())).unwrap();
        assert_eq!(key.to_plain()[..], plain[4..], "{scheme}");
        let error = |passphrase| read_private_key(&file, passphrase).err();
        assert_eq!(error(None), Some(KeyFileError::NoPassphrase));
        assert_eq!(
            error(Some(&b"K\xE4se"[..])),
            Some(KeyFileError::WrongPassphrase)
        );
    }
    let protection = Protection {
        passphrase: "Käse".as_bytes(),
        salt: std::array::from_fn(|i| u8::try_from(i).unwrap()),
        iv: std::array::from_fn(|i| u8::try_from(i + 16).unwrap()),
    };
    let file = write_private_key(&key, Some(&protection)).unwrap();
    assert_eq!(*file, vector("key-file-4"));
    let error = read_private_key(&[0, 0, 0, 9], None).err();
    assert_eq!(error, Some(KeyFileError::Scheme(9)));
}

#[test]
fn key_files_that_would_cost_much_work_are_refused() {
    let mut file = vector("key-file-4");
    file[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
    let error = read_private_key(&file, Some(b"x")).err();
    assert_eq!(error, Some(KeyFileError::Parameter));
}

#[test]
fn rsa_signatures_are_those_of_other_software() {
    let private = read_private_key(&vector("rsa-2048-private"), None).unwrap();
    let public = private.public_key().unwrap();
    let key = SigningKey::new(private).unwrap();
    for (algorithm, name) in [
        (DigestAlgorithm::Md5, "rsa-2048-md5"),
        (DigestAlgorithm::Sha1, "rsa-2048-sha1"),
        (DigestAlgorithm::Sha256, "rsa-2048-sha256"),
    ] {
        let signature = vector(name);
        assert_eq!(key.sign(algorithm, b"message").unwrap(), signature);
        let verify =
            |message, signature: &[u8]| verify_signature(&public, algorithm, message, signature);
        assert_eq!(verify(b"message", &signature), Ok(()));
        assert_eq!(verify(b"massage", &signature), Err(CryptoError::Mismatch));
        assert!(verify(b"message", &signature[1..]).is_err());
        assert!(verify(b"message", &[0xFF; 256]).is_err());
        assert!(verify(b"message", &[]).is_err());
    }
}

#[test]
fn a_key_whose_numbers_do_not_fit_does_not_sign() {
    let mut file = vector("rsa-2048-private");
    let last = file.len() - 1;
    file[last] ^= 1;
    let key = read_private_key(&file, None).unwrap();
    assert_eq!(SigningKey::new(key).err(), Some(CryptoError::Key));
}

#[test]
fn dsa_signatures_are_verified_and_not_made() {
    for bits in [1024, 2048] {
        let public = vector(&format!("dsa-{bits}-public"));
        let public = PublicKey::from_bytes(&public).unwrap();
        for (algorithm, name) in [
            (DigestAlgorithm::Sha1, "sha1"),
            (DigestAlgorithm::Sha256, "sha256"),
        ] {
            let signature = vector(&format!("dsa-{bits}-{name}"));
            let verify = |message, signature: &[u8]| {
                verify_signature(&public, algorithm, message, signature)
            };
            assert_eq!(verify(b"message", &signature), Ok(()), "{bits} {name}");
            assert_eq!(verify(b"massage", &signature), Err(CryptoError::Mismatch));
            assert!(verify(b"message", &signature[1..]).is_err());
        }
        let private = read_private_key(&vector(&format!("dsa-{bits}-private")), None).unwrap();
        assert_eq!(private.public_key(), Some(public));
        assert_eq!(
            SigningKey::new(private).err(),
            Some(CryptoError::VerifyOnly)
        );
    }
}

/// B.28, B.30
#[test]
fn the_digest_of_a_value_leaves_out_index_and_timestamp() {
    let root = vector("root-info");
    let root = RootInfo::from_bytes(&root).unwrap();
    let digest = DigestAlgorithm::Sha256.value_digest(&root.0[0]);
    let expected = "36d7b06a594e7baaac415799b78461fea7aae82a30e9addd0a23400212bc0cd7";
    assert_eq!(digest, hex_bytes(expected));
}

#[test]
fn secrets_are_not_in_debug_texts() {
    let key = read_private_key(&vector("private-key"), None).unwrap();
    assert_eq!(format!("{key:?}"), "PrivateKey(RSA, 1024 bits)");
    let key = SigningKey::new(key).unwrap();
    assert_eq!(format!("{key:?}"), "SigningKey(RSA, 1024 bits)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Credential::from_bytes(&bytes);
        let _ = RequestDigest::read(&mut Reader::new(&bytes));
        let _ = read_private_key(&bytes, Some(b"x"));
        let _ = verify_secret_answer(b"secret", b"N", b"D", &bytes);
        for scheme in 0..5 {
            let _ = read_private_key(&[&[0, 0, 0, scheme], &bytes[..]].concat(), Some(b"x"));
        }
        for (algorithm, length) in [(SessionAlgorithm::Des, 8), (SessionAlgorithm::Aes, 32)] {
            let key = SessionKey::new(algorithm, &vec![7; length]).unwrap();
            let _ = key.decrypt(Version::BLIND, &bytes);
            let _ = key.decrypt(Version::CURRENT, &bytes);
        }
    }

    #[test]
    fn arbitrary_keys_never_panic(
        p in prop::collection::vec(any::<u8>(), 128),
        q in prop::collection::vec(any::<u8>(), 20),
        y in prop::collection::vec(any::<u8>(), 0..140),
        signature in prop::collection::vec(any::<u8>(), 0..130),
    ) {
        let (mut p, mut q) = (p, q);
        p[0] |= 0x80;
        q[0] |= 0x80;
        p[127] |= 1;
        q[19] |= 1;
        let dsa = PublicKey::Dsa {
            q: q.as_slice().into(),
            p: p.as_slice().into(),
            g: y.as_slice().into(),
            y: y.as_slice().into(),
        };
        let rsa = PublicKey::Rsa { e: vec![1, 0, 1].into(), n: p.as_slice().into() };
        let dh = PublicKey::Dh {
            y: y.as_slice().into(),
            p: p.as_slice().into(),
            g: vec![2].into(),
        };
        let known = vector("dsa-1024-sha1");
        for algorithm in [DigestAlgorithm::Md5, DigestAlgorithm::Sha1, DigestAlgorithm::Sha256] {
            let _ = verify_signature(&dsa, algorithm, b"message", &signature);
            let _ = verify_signature(&dsa, algorithm, b"message", &known);
            let _ = verify_signature(&rsa, algorithm, b"message", &signature);
        }
        let pair = DhKeyPair::generate_for(&dh, &mut |bytes| bytes.fill(3)).unwrap();
        let _ = pair.agree(&dh);
    }
}
