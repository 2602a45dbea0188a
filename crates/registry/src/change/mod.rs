//! Reading the state from a snapshot, and changing it: a change set is built inside the writer and
//! stored as a whole.

pub(crate) mod change_set;
pub(crate) mod view;
