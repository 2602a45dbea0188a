//! A data folder with an account that may do things.

use handfast_testing::Folder;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// A data folder with `20.1000` and `20.2000`, on which `ann` has the role `lead`.
pub(crate) fn ann_leads() -> Folder {
    let authorities = ["20.1000", "20.2000"];
    let folder = Folder::with(PROGRAM, &authorities);
    folder.done(&["user", "create", "ann"]);
    for authority in authorities {
        let grant = ["authority", "grant", authority];
        folder.done(&[&grant[..], &["--to", "ann", "--role", "lead"]].concat());
    }
    folder
}

/// A token of ann's.
pub(crate) fn token(folder: &Folder, arguments: &[&str]) -> String {
    let made = folder.done(&[&["token", "create", "ann"], arguments].concat());
    made.trim().to_string()
}
