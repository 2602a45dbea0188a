//! The proof log: events, the tree over them, checkpoints, proofs, export, and the verifier.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod event;
pub(crate) mod event_note;
pub(crate) mod event_outline;
pub(crate) mod event_time;
pub(crate) mod export;
pub(crate) mod proof;
pub(crate) mod tree;
