//! Comparison with independent programs: proofs, tile paths and checkpoints with the `tlog_tiles`
//! crate, keys and notes with `signed_note`. They read our output, and we read theirs.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a log that is not there fails the test"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use handfast_log::{
    Checkpoint, Hash, Hashes, SignedNote, SigningKey, Tile, Tree, VerifyingKey, consistency,
    inclusion, leaf_hash, root_at, verify_consistency, verify_inclusion,
};
use signed_note::{Note, Signer, StandardSigner, StandardVerifier, Verifier, VerifierList};
use tlog_tiles::HashReader;

/// One log, stored by us and by them.
#[derive(Default)]
struct Both {
    tree: Tree,
    ours: BTreeMap<(u8, u64), Hash>,
    theirs: RefCell<Vec<tlog_tiles::Hash>>,
}

impl Both {
    fn of(size: u64) -> Self {
        let mut both = Self::default();
        for number in 0..size {
            let entry = number.to_be_bytes();
            let stored = tlog_tiles::stored_hashes(number, &entry, &both).unwrap();
            both.theirs.borrow_mut().extend(stored);
            let Self { tree, ours, .. } = &mut both;
            ours.insert((0, number), leaf_hash(&entry));
            tree.append(leaf_hash(&entry), &mut |tile| {
                ours.insert((tile.level, tile.index), tile.hash);
            });
        }
        both
    }
}

impl Hashes for Both {
    type Error = Infallible;

    fn hash(&self, level: u8, index: u64) -> Result<Hash, Infallible> {
        Ok(self.ours[&(level, index)])
    }
}

impl HashReader for Both {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, tlog_tiles::Error> {
        let stored = self.theirs.borrow();
        let read = |index: &u64| stored[usize::try_from(*index).unwrap()];
        Ok(indexes.iter().map(read).collect())
    }
}

fn plain(hashes: Vec<tlog_tiles::Hash>) -> Vec<Hash> {
    hashes.into_iter().map(|hash| hash.0).collect()
}

fn theirs(hashes: &[Hash]) -> Vec<tlog_tiles::Hash> {
    hashes.iter().copied().map(tlog_tiles::Hash).collect()
}

#[test]
fn proofs_are_those_of_tlog_tiles() {
    let both = Both::of(700);
    for size in [1, 2, 3, 7, 8, 100, 255, 256, 257, 511, 512, 513, 699, 700] {
        let root = tlog_tiles::tree_hash(size, &both).unwrap();
        assert_eq!(root_at(&both, size), Ok(root.0));
        for number in (0..size).step_by(17).chain([size - 1]) {
            let leaf = leaf_hash(&number.to_be_bytes());
            let proof = inclusion(&both, number, size).unwrap();
            let their_proof = tlog_tiles::prove_record(size, number, &both).unwrap();
            assert_eq!(proof, plain(their_proof.clone()), "{number} {size}");
            let their_leaf = tlog_tiles::Hash(leaf);
            tlog_tiles::check_record(&theirs(&proof), size, root, number, their_leaf).unwrap();
            verify_inclusion(&leaf, number, size, &plain(their_proof), &root.0).unwrap();

            let old = number + 1;
            let old_root = tlog_tiles::tree_hash(old, &both).unwrap();
            let proof = consistency(&both, old, size).unwrap();
            let their_proof = tlog_tiles::prove_tree(size, old, &both).unwrap();
            assert_eq!(proof, plain(their_proof.clone()), "{old} {size}");
            tlog_tiles::check_tree(&theirs(&proof), size, root, old, old_root).unwrap();
            verify_consistency(old, &old_root.0, size, &root.0, &plain(their_proof)).unwrap();
        }
    }
}

#[test]
fn tiles_and_their_paths_are_those_of_tlog_tiles() {
    for size in [1, 255, 256, 257, 70_000, 1_234_067 * 256 + 8] {
        // The tiles of a tree that grew from nothing are all of its tiles; the last ones suffice.
        let tiles = tlog_tiles::Tile::new_tiles(8, size - size.min(300), size);
        for tile in tiles {
            let ours = Tile::of(tile.level(), tile.level_index(), size).unwrap();
            assert_eq!(u32::from(ours.width()), tile.width(), "{tile:?} {size}");
            // They write the height of the tiles, which C2SP leaves out.
            let path = tile.path().replacen("tile/8/", "tile/", 1);
            assert_eq!(ours.path(), path);
            assert_eq!(path.parse(), Ok(ours));
        }
    }
}

#[test]
fn full_tiles_have_the_roots_that_tlog_tiles_computes() {
    let both = Both::of(600);
    for (index, hash) in [(0, both.ours[&(1, 0)]), (1, both.ours[&(1, 1)])] {
        let tile = tlog_tiles::Tile::new(8, 0, index, 256, false);
        let data = tile.read_data(&both).unwrap();
        assert_eq!(tlog_tiles::Tile::subtree_hash(&data).0, hash);
    }
}

#[test]
fn checkpoints_are_those_of_tlog_tiles() {
    for (extensions, text) in [(vec![], ""), (vec!["one", "two"], "one\ntwo\n")] {
        let mut ours = Checkpoint::new("example.org/log", 41, [3; 32]);
        ours.extensions = extensions.into_iter().map(str::to_owned).collect();
        let hash = tlog_tiles::Hash([3; 32]);
        let theirs = tlog_tiles::Checkpoint::new("example.org/log", 41, hash, text).unwrap();
        assert_eq!(ours.to_string().into_bytes(), theirs.to_bytes());
        let read = tlog_tiles::Checkpoint::from_bytes(ours.to_string().as_bytes()).unwrap();
        assert_eq!(read, theirs);
    }
}

#[test]
fn keys_are_those_of_signed_note() {
    for number in 0..20 {
        let ours = SigningKey::new("example.org/log", &[number; 32]).unwrap();
        let public = ours.verifying_key();
        let signer = StandardSigner::new(&ours.secret_text()).unwrap();
        let verifier = StandardVerifier::new(&public.to_string()).unwrap();
        assert_eq!(signer.key_id(), public.id());
        assert_eq!(verifier.key_id(), public.id());
        assert_eq!(verifier.name(), public.name());
        let signature = signer.sign(b"text\n").unwrap();
        assert!(public.verifies(b"text\n", &signature));
    }
}

#[test]
fn notes_of_ours_verify_with_signed_note() {
    let key = SigningKey::new("example.org/log", &[7; 32]).unwrap();
    let second = SigningKey::new("example.org/witness", &[8; 32]).unwrap();
    let mut note = SignedNote::sign("some\n\ntext – è\n", &key).unwrap();
    note.add_signature(&second).unwrap();
    let read = Note::from_bytes(note.to_string().as_bytes()).unwrap();
    for key in [&key, &second] {
        let verifier = StandardVerifier::new(&key.verifying_key().to_string()).unwrap();
        let known = VerifierList::new(vec![Box::new(verifier)]);
        let (genuine, others) = read.verify(&known).unwrap();
        assert_eq!((genuine.len(), others.len()), (1, 1));
    }
    assert_eq!(read.text(), note.unverified_text().as_bytes());
    assert_eq!(read.to_bytes(), note.to_string().into_bytes());
}

#[test]
fn notes_of_signed_note_verify_with_ours() {
    let key = SigningKey::new("example.org/log", &[7; 32]).unwrap();
    let signer = StandardSigner::new(&key.secret_text()).unwrap();
    let checkpoint = Checkpoint::new("example.org/log", 41, [3; 32]);
    let mut note = Note::new(checkpoint.to_string().as_bytes(), &[]).unwrap();
    note.add_sigs(&[&signer]).unwrap();
    let text = String::from_utf8(note.to_bytes()).unwrap();
    let public: VerifyingKey = key.verifying_key().to_string().parse().unwrap();
    assert_eq!(Checkpoint::open(&text, &public).as_ref(), Ok(&checkpoint));
    // Ed25519 leaves nothing to chance: both sign alike.
    assert_eq!(checkpoint.sign(&key).unwrap().to_string(), text);
}
