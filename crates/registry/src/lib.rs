//! The domain: authorities, rights, names, minting, history, proof, import and export.
//!
//! A [`Registry`] stores names. It loses no acknowledged change and never assigns a name twice.
//! Every change names the principal who asks ([`Principal`]); the one writer of the store decides
//! it against the current state and records it as an [`Event`]. A change that fails returns a
//! [`RegistryError`], which says why and what would help, and writes nothing.
//!
//! ```
//! use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let environment = || Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
//! let registry = Registry::create(folder.path(), environment())?;
//! let operator = Principal::Operator;
//! registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
//! registry.create_name(&operator, "20.1000/5555", NewName::urls(&["https://example.org/"]))?;
//!
//! let shown = registry.show(&operator, "https://hdl.handle.net/20.1000/5555")?;
//! assert_eq!(shown.record.values[0].data.as_ref(), b"https://example.org/");
//! // Never twice.
//! let again = registry.create_name(&operator, "hdl:20.1000/5555", NewName::default());
//! assert_eq!(again.unwrap_err().code(), "exists");
//! # Ok::<_, handfast_registry::RegistryError>(())
//! ```

mod access;
mod authority;
mod change;
mod clock;
mod error;
mod export;
mod handle_protocol;
mod import;
mod jobs;
mod log;
mod lookup;
mod name;
mod namespace;
mod observed;
mod registry;

pub use access::access_request::{AccessDecision, AccessRequest, AccessRequestStatus};
pub use access::account::{Account, AccountChange};
pub use access::group::Group;
pub use access::holdings::{AccountRole, Holdings};
pub use access::hs_admin::is_public_write;
pub use access::inbox::{OwnAuthority, Waiting};
pub use access::principal::{Limit, Principal, PrincipalError};
pub use access::quota::Limits;
pub use access::sign_in::SignInClient;
pub use access::sign_in::audit::{SignIn, SignInMeans, SignInOutcome, SignInPage};
pub use access::sign_in::invitation::{Invitation, NewInvitation};
pub use access::sign_in::link::{LinkInfo, SignInLink};
pub use access::sign_in::session::{NewSession, Session};
pub use access::token::{NewToken, Token};
pub use access::why::{PersonHere, Reason};
pub use authority::change::{AuthorityAction, AuthorityChange};
pub use authority::create::{NewAuthority, RESERVED_SEGMENTS};
pub use authority::list::AuthorityPage;
pub use authority::path::{AuthorityPath, PathError};
pub use authority::policy::{
    Authority, AuthorityStatus, Grant, Persistence, Policy, Role, RoleError,
};
pub use authority::request_list::{AuthorityRequest, AuthorityRequestStatus};
pub use authority::tree::{AuthorityNode, RightsOn};
pub use clock::{Environment, parse_rfc3339, rfc3339};
pub use error::{RegistryError, ValueProblem};
pub use export::name_table::NameTable;
pub use export::spreadsheet::escape as escape_cell;
pub use export::{Export, Exported};
pub use handfast_api::{Growth, Opening, Proof, ProvenEvent};
pub use handfast_store::{
    StoreError, release_snapshot, reuse_snapshots, reuses_snapshots, sync_name,
};
pub use handle_protocol::dump::HandlePage;
pub use handle_protocol::operations::{Operation, Performed};
pub use handle_protocol::prefix_record::{prefix_of, with_slash};
pub use handle_protocol::transactions::{LogStart, Transaction, TransactionAction, Transactions};
pub use import::{
    Changes, Counts, Done, Format, Import, Imported, Outcome, Report, StartedImport, ValueChange,
    ValueCounts,
};
pub use jobs::access::JobPage;
pub use jobs::bulk::{BulkChanged, StartedJob};
pub use jobs::job::{Job, JobKind};
pub use jobs::preview::{JobPreview, PreviewedChange};
pub use jobs::running::Progress;
pub use log::audit::{Audited, BrokenOrigin, BrokenRule, Finding, Note};
pub use log::check::{Check, Problem};
pub use log::event::{Action, Commitments, Event, EventError, Subject, salt};
pub use log::export::{Verify, verify_export};
pub use log::proof::{ProofProblem, Proven, verify_growth, verify_proof};
pub use lookup::derived::counts::{NameCounts, NameTotals, StateCounts, SubtreeCounts};
pub use lookup::derived::follow::EventFollower;
pub use lookup::event_list::{EventFilter, EventListPage, ListedEvent};
pub use lookup::fast_path::RecordRef;
pub use lookup::name_facets::{AuthorityFacet, NameFacets};
pub use lookup::name_list::{ListedName, NameFilter, NameListPage};
pub use lookup::near_names::NearName;
pub use lookup::statistics::Statistics;
pub use lookup::text_search::{SearchPage, Words, WordsError};
pub use lookup::usage::{DiskSpace, Usage};
pub use lookup::wildcard::{Matching, Wildcard};
pub use name::change::NameAction;
pub use name::create::NewName;
pub use name::edit::Edit;
pub use name::history::{HistoryEntry, HistoryPage, HistoryPoint};
pub use name::link::{CitableLinks, handle_path};
pub use name::mint::{MintOptions, Minted, Style, StyleError};
pub use name::preview::{NamePreview, NameRight};
pub use name::record::{Record, RecordError, State, Tombstone};
pub use name::show::{Reading, Shown};
pub use name::undo::Difference;
pub use name::url::{check_urls, url_problem};
pub use name::values::NewValue;
pub use namespace::live_rules::LiveRules;
pub use namespace::{
    Capacity, ExampleChange, NamespaceAct, NamespaceAside, NamespaceAuthority, NamespaceCase,
    NamespaceChange, NamespaceComment, NamespaceDeclaration, NamespaceEntry, NamespaceForm,
    NamespaceImport, NamespaceImported, NamespaceOrder, NamespacePage, NamespacePolicy,
    NamespaceQuery, NamespaceRemark, NamespaceSample, NamespaceStatus, NamespaceVersion,
    NamespacesChanged, NormalisationForm, ResolutionForm, SyntaxForm, bare_namespace,
};
pub use registry::Registry;
