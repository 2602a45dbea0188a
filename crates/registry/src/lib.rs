//! The domain: authorities, rights, names, minting, history, proof, import and export.
//!
//! A [`Registry`] keeps names so that nothing acknowledged is lost and no name is ever given twice.
//! Everything that changes something says who asks ([`Principal`]), is looked at against the current
//! state by the store's one writer, and leaves an [`Event`]. What is refused says why and what would
//! help ([`Refusal`]), and leaves no trace.
//!
//! ```
//! use handfast_registry::{NewAuthority, NewName, Principal, Registry, World};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let world = || World::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
//! let registry = Registry::create(folder.path(), world())?;
//! let operator = Principal::Operator;
//! registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
//! registry.create_name(&operator, "20.1000/5555", NewName::urls(&["https://example.org/"]))?;
//!
//! let shown = registry.show(&operator, "https://hdl.handle.net/20.1000/5555")?;
//! assert_eq!(shown.record.values[0].data.as_ref(), b"https://example.org/");
//! // Never twice.
//! let again = registry.create_name(&operator, "hdl:20.1000/5555", NewName::default());
//! assert_eq!(again.unwrap_err().code(), "exists");
//! # Ok::<_, handfast_registry::Refusal>(())
//! ```

mod account;
mod act;
mod admin;
mod audit;
mod authorities;
mod authority;
mod barren;
mod bulk;
mod check;
mod draft;
mod dump;
mod erased;
mod event;
mod export;
mod grants;
mod history;
mod import;
mod job;
mod job_access;
pub mod json;
mod live_rules;
mod log;
mod log_export;
mod matching;
mod mint;
mod name;
mod names;
mod namespace;
mod path;
mod pattern_cache;
mod principal;
mod proof;
mod protocol;
mod quota;
mod record;
mod refusal;
mod refused;
mod register;
mod registry;
mod resolve;
mod reverse;
mod rewrite;
mod rights;
mod search;
mod spreadsheet;
mod tally;
mod time;
mod token;
mod transactions;
mod tree;
mod underway;
mod undo;
mod undo_job;
mod undone;
mod unstored;
mod url;
mod usage;
mod values;
mod view;
mod withdrawal;
mod words;

pub use account::{Account, AccountChange};
pub use act::NameAction;
pub use admin::is_public_write;
pub use audit::{Audited, BrokenOrigin, BrokenRule, Finding, Note};
pub use authorities::{AuthorityAction, AuthorityChange, DOORS, NewAuthority};
pub use authority::{Authority, AuthorityStatus, Grant, Persistence, Policy, Role, RoleError};
pub use bulk::{BulkChanged, StartedJob};
pub use check::{Check, Problem};
pub use dump::HandlePage;
pub use event::{Action, Commitments, Event, EventError, Subject, salt};
pub use export::{Export, Exported};
pub use handfast_store::{StoreError, end_turn, take_turns, takes_turns};
pub use history::{Entry, HistoryPage, Moment};
pub use import::{
    Changes, Counts, Done, Format, Import, Imported, Outcome, Report, StartedImport, ValueChange,
    ValueCounts,
};
pub use job::{Job, JobKind};
pub use job_access::JobPage;
pub use live_rules::LiveRules;
pub use log_export::{Verify, verify_export};
pub use matching::{Matching, Wildcard};
pub use mint::{Minted, Style, StyleError};
pub use names::{Edit, NewName, Reading, Shown};
pub use namespace::{
    Capacity, ExampleChange, GivenNamespace, NamespaceAct, NamespaceAside, NamespaceAuthority,
    NamespaceCase, NamespaceChange, NamespaceComment, NamespaceDeclaration, NamespaceEntry,
    NamespaceForm, NamespaceImported, NamespaceOrder, NamespacePage, NamespacePolicy,
    NamespaceQuery, NamespaceRemark, NamespaceSample, NamespaceStatus, NamespaceVersion,
    NamespacesChanged, NormalisationForm, ResolutionForm, SyntaxForm, bare_namespace,
};
pub use path::{AuthorityPath, PathError};
pub use principal::{Limit, Principal, PrincipalError};
pub use proof::{Growth, Opening, Proof, ProofProblem, Proven, ProvenEvent};
pub use protocol::{Operation, Performed, prefix_of, with_slash};
pub use quota::Limits;
pub use record::{Record, RecordError, State, Tombstone};
pub use refusal::{Refusal, ValueProblem};
pub use register::AuthorityPage;
pub use registry::{Registry, World};
pub use resolve::Lent;
pub use search::Statistics;
pub use tally::Tally;
pub use time::{parse_rfc3339, rfc3339};
pub use token::{NewToken, Token};
pub use transactions::{LogStart, Transaction, TransactionAction, Transactions};
pub use underway::Progress;
pub use undo::Difference;
pub use url::{check_urls, url_problem};
pub use usage::{DiskSpace, Usage};
pub use values::NewValue;
pub use words::{Found, Words, WordsError};
