//! Finding names and events: the fast path of resolution, templates, the index of values, text
//! search, lists with filters, and the data that is derived from the events.

pub(crate) mod actor_filter;
pub(crate) mod derived;
pub(crate) mod event_detail;
pub(crate) mod event_list;
pub(crate) mod fast_path;
pub(crate) mod hidden_names;
pub(crate) mod known_roles;
pub(crate) mod listable;
pub(crate) mod name_facets;
pub(crate) mod name_list;
pub(crate) mod near_names;
pub(crate) mod statistics;
pub(crate) mod templates;
pub(crate) mod text_search;
pub(crate) mod usage;
pub(crate) mod value_index;
pub(crate) mod wildcard;
