//! The benchmark kit: see `README.md` beside this crate.
