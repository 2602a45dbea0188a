//! Finding names: the fast path of resolution, templates, the index of values, text search, and
//! counts.

pub(crate) mod fast_path;
pub(crate) mod name_counts;
pub(crate) mod statistics;
pub(crate) mod templates;
pub(crate) mod text_search;
pub(crate) mod usage;
pub(crate) mod value_index;
pub(crate) mod wildcard;
