//! A log, its operator and an auditor: entries are appended, checkpoints signed, and both kinds of
//! proof checked with nothing but the public key.
//!
//! ```sh
//! cargo run -p handfast-log --example audit
//! ```

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use handfast_log::{
    Checkpoint, Hash, Hashes, SigningKey, Tree, consistency, inclusion, leaf_hash,
    verify_consistency, verify_inclusion,
};

/// Leaf hashes in memory; enough for a log of fewer than 256 entries.
#[derive(Default)]
struct Leaves(Vec<Hash>);

impl Hashes for Leaves {
    type Error = std::io::Error;

    fn hash(&self, _level: u8, index: u64) -> Result<Hash, Self::Error> {
        let leaf = usize::try_from(index)
            .ok()
            .and_then(|index| self.0.get(index));
        leaf.copied()
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The operator appends entries and signs the head of the log.
    let key = SigningKey::new("example.org/log", &[7; 32])?;
    let (mut tree, mut leaves) = (Tree::default(), Leaves::default());
    let mut append = |entry: &str, tree: &mut Tree| {
        leaves.0.push(leaf_hash(entry.as_bytes()));
        tree.append(leaf_hash(entry.as_bytes()), &mut |_| ());
    };
    append("20.1000/a is created", &mut tree);
    append("20.1000/b is created", &mut tree);
    let monday = Checkpoint::new("example.org/log", tree.size(), tree.root()).sign(&key)?;
    append("20.1000/a is withdrawn", &mut tree);
    let friday = Checkpoint::new("example.org/log", tree.size(), tree.root()).sign(&key)?;
    println!("{friday}");

    // The auditor has the public key and both checkpoints, and asks for proofs.
    let public = key.verifying_key();
    let monday = Checkpoint::open(&monday.to_string(), public)?;
    let friday = Checkpoint::open(&friday.to_string(), public)?;
    let grown = consistency(&leaves, monday.size, friday.size)?;
    verify_consistency(monday.size, &monday.root, friday.size, &friday.root, &grown)?;
    println!(
        "the log of {} entries continues that of {}",
        friday.size, monday.size
    );

    let entry = leaf_hash(b"20.1000/b is created");
    let proof = inclusion(&leaves, 1, friday.size)?;
    verify_inclusion(&entry, 1, friday.size, &proof, &friday.root)?;
    println!("entry 1 is in the log, shown by {} hashes", proof.len());
    Ok(())
}
