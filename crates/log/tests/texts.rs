//! Properties of the parsers on generated texts: none panics, and a parsed text is written back
//! unchanged.

#![expect(
    clippy::unwrap_used,
    reason = "what is made here to be read back must be there"
)]

use std::fmt::Display;
use std::str::FromStr;

use handfast_log::{Bundle, Checkpoint, SignedNote, SigningKey, Tile, Tree, VerifyingKey};
use proptest::collection::vec;
use proptest::prelude::*;

fn is_written_back<T: FromStr + Display>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(read) = text.parse::<T>() {
        prop_assert_eq!(read.to_string(), text);
    }
    Ok(())
}

fn all_write_back(text: &str) -> Result<(), TestCaseError> {
    is_written_back::<Bundle>(text)?;
    is_written_back::<Checkpoint>(text)?;
    is_written_back::<SignedNote>(text)?;
    is_written_back::<Tile>(text)?;
    is_written_back::<VerifyingKey>(text)?;
    if let Ok(key) = text.parse::<SigningKey>() {
        prop_assert_eq!(key.secret_text(), text);
    }
    Ok(())
}

fn key() -> SigningKey {
    SigningKey::new("example.org/log", &[7; 32]).unwrap()
}

prop_compose! {
    fn any_checkpoint()(
        size: u64,
        root: [u8; 32],
        extensions in vec("[^\\x00-\\x1f]{1,20}", 0..3),
    ) -> Checkpoint {
        let mut checkpoint = Checkpoint::new("example.org/log", size, root);
        checkpoint.extensions = extensions;
        checkpoint
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_or_written_back(text in ".{0,200}") {
        all_write_back(&text)?;
    }

    #[test]
    fn any_lines_are_refused_or_written_back(
        text in "(— a )?([0-9A+/]{0,8}=?=?\n{0,2}){0,6}(— a AAAAAAA=\n)?"
    ) {
        all_write_back(&text)?;
    }

    #[test]
    fn any_path_is_refused_or_written_back(
        text in "tile/(entries|[0-9]{1,2})(/x?[0-9]{3}){1,8}(.p/[0-9]{1,3})?"
    ) {
        all_write_back(&text)?;
    }

    #[test]
    fn any_bytes_are_refused_or_written_back_as_a_tree(bytes in vec(any::<u8>(), 0..200)) {
        if let Ok(tree) = Tree::from_bytes(&bytes) {
            prop_assert_eq!(tree.to_bytes(), bytes);
        }
    }

    #[test]
    fn checkpoints_are_read_back(checkpoint in any_checkpoint()) {
        let read = checkpoint.to_string().parse();
        prop_assert_eq!(read.as_ref(), Ok(&checkpoint));
        let note = checkpoint.sign(&key()).unwrap().to_string();
        all_write_back(&note)?;
        let opened = Checkpoint::open(&note, key().verifying_key());
        prop_assert_eq!(opened, Ok(checkpoint));
    }

    #[test]
    fn notes_are_read_back(text in "[^\\x00-\\x09\\x0b-\\x1f]{0,60}") {
        let text = format!("{text}\n");
        let note = SignedNote::sign(&text, &key()).unwrap();
        let read: SignedNote = note.to_string().parse().unwrap();
        prop_assert_eq!(read.verify(&[key().verifying_key().clone()]), Ok(text.as_str()));
        prop_assert_eq!(read, note);
    }

    #[test]
    fn tiles_are_read_back(level in 0_u8..8, index: u32, size: u64) {
        if let Some(tile) = Tile::of(level, u64::from(index), size) {
            prop_assert_eq!(tile.path().parse(), Ok(tile));
        }
        if let Some(bundle) = Bundle::of(u64::from(index), size) {
            prop_assert_eq!(bundle.path().parse(), Ok(bundle));
        }
    }
}
