//! Errors.

use handfast_id::ParseError;
use handfast_store::StoreError;

use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;

/// Why the registry did not do something. A change that fails writes nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The authority exists.
    #[error("authority {0} exists already")]
    AuthorityExists(AuthorityPath),
    /// The configuration cannot be used.
    #[error("{problem}")]
    Configuration {
        /// What is wrong with it.
        problem: String,
    },
    /// Stored data is damaged.
    #[error("{what} is damaged")]
    Corrupt {
        /// Which record, version, event or authority.
        what: String,
    },
    /// The principal may not do this.
    #[error("this needs the role {needs} on {authority}, or on an authority above it")]
    Denied {
        /// The role that the principal needs.
        needs: Role,
        /// The authority on which it needs the role.
        authority: AuthorityPath,
    },
    /// The name exists and differs from the imported one.
    #[error("{id} exists and is different, since event {event}")]
    Differs {
        /// The name, or the authority.
        id: String,
        /// The event that made its current version.
        event: u64,
    },
    /// The name was assigned before, so it can never be assigned again.
    #[error("{id} was assigned before{}: it can never be assigned again", by_event(*.event))]
    Exists {
        /// The name.
        id: String,
        /// The event that first assigned it, if the principal may see it.
        event: Option<u64>,
    },
    /// The input cannot be read.
    #[error("{what} cannot be read: {source}")]
    Input {
        /// The input.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not an identifier.
    #[error("{text}: {source}")]
    Identifier {
        /// The text.
        text: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// The value is not valid.
    #[error("value {index}: {problem}")]
    Value {
        /// Its index.
        index: u32,
        /// What is wrong with it.
        problem: ValueProblem,
    },
    /// The output cannot be written.
    #[error("the output cannot be written: {source}")]
    Output {
        /// Why.
        source: std::io::Error,
    },
    /// A name that was assigned and never erased has no record.
    #[error("the store is damaged: event {event} is the last of {key}, but its record is lost")]
    LostRecord {
        /// The name, by its key.
        key: String,
        /// Its last event.
        event: u64,
    },
    /// The authority is not registered here.
    #[error("authority {0} is not registered here")]
    NoAuthority(AuthorityPath),
    /// Another authority owns the entry of the `info` registry.
    #[error(
        "only the authority that owns namespace {namespace} may do this; in a dispute the \
         maintainer does"
    )]
    NotTheirs {
        /// The namespace.
        namespace: String,
    },
    /// The name is not registered here.
    #[error("{0} is not registered here")]
    NotFound(String),
    /// The request breaks the policy of the authority, or another rule.
    #[error("{problem}")]
    Policy {
        /// A stable code.
        code: &'static str,
        /// Which rule it breaks, and how.
        problem: String,
    },
    /// The account has reached a limit.
    #[error("{problem}")]
    Quota {
        /// The limit, and what to do.
        problem: String,
        /// After how many seconds to try again, if waiting helps.
        retry_after: Option<u64>,
    },
    /// The authority is retired.
    #[error("authority {0} is retired: its names keep resolving, but nothing new is named")]
    Retired(AuthorityPath),
    /// The state of the name does not allow this.
    #[error("{id} is {state}: {way_out}")]
    State {
        /// The name.
        id: String,
        /// Its state.
        state: &'static str,
        /// What to do instead.
        way_out: &'static str,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RegistryError {
    /// Returns a stable kebab-case code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AuthorityExists(_) => "authority-exists",
            Self::Configuration { .. } => "configuration",
            Self::Corrupt { .. } => "corrupt",
            Self::Denied { .. } | Self::NotTheirs { .. } => "denied",
            Self::Differs { .. } => "differs",
            Self::Exists { .. } => "exists",
            Self::Identifier { source, .. } => source.code(),
            Self::Input { .. } => "input",
            Self::LostRecord { .. } => "lost-record",
            Self::NoAuthority(_) => "no-authority",
            Self::NotFound(_) => "not-found",
            Self::Output { .. } => "output",
            Self::Policy { code, .. } => code,
            Self::Quota { .. } => "quota",
            Self::Retired(_) => "retired",
            Self::State { .. } => "state",
            Self::Store(error) if error.is_damage() => "damaged",
            Self::Store(_) => "store",
            Self::Value { .. } => "invalid-value",
        }
    }

    /// Returns advice on what to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Denied {
                needs: Role::Admin,
                authority,
            } => Some(format!(
                "someone with role admin can run `handfast authority grant {authority} --to WHO \
                 --role admin`"
            )),
            Self::Denied { needs, authority } => Some(format!(
                "someone with role lead or admin can run `handfast authority grant {authority} \
                 --to WHO --role {needs}`"
            )),
            Self::Differs { .. } => Some("with --update it is changed".into()),
            Self::Exists { .. } => {
                Some("choose another name, or restore this one if it was withdrawn".into())
            }
            Self::Identifier { source, .. } => Some(source.remedy().to_string()),
            Self::NoAuthority(path) => Some(format!("run `handfast authority create {path}`")),
            Self::Retired(path) if path.prefix().is_some() => Some(format!(
                "HOME of 0.NA/{path}, in a batch file or by the handle protocol, makes it active \
                 again"
            )),
            Self::NotTheirs { namespace } => Some(format!(
                "if it is yours, run `handfast namespace claim {namespace} --as ACCOUNT --why TEXT`"
            )),
            Self::NotFound(_) => Some(
                "check the spelling; `handfast name show` also finds names that are reserved or \
                     withdrawn; create a new one with `handfast name create`"
                    .into(),
            ),
            Self::Corrupt { .. } | Self::LostRecord { .. } => Some(format!(
                "`handfast check` says what else is damaged; then {RESTORE}"
            )),
            Self::Store(error) if error.is_damage() => Some(RESTORE.into()),
            Self::Store(StoreError::NoStore { folder }) => Some(format!(
                "run `handfast --data {} init`, or name the folder with --data",
                folder.display()
            )),
            Self::Store(StoreError::Locked { .. }) => Some("stop the other process first".into()),
            Self::Store(StoreError::AlreadyExists { .. }) => {
                Some("name another folder with --data".into())
            }
            Self::Store(StoreError::OtherFormat { .. }) => {
                Some("use the program that made it, or a newer one".into())
            }
            Self::Store(StoreError::ReadOnlyFileSystem) => {
                Some("mount it so that it can be written, and see why it was not".into())
            }
            Self::Store(StoreError::Full) => Some("make room on the disk and try again".into()),
            _ => None,
        }
    }

    /// Whether the system failed. Otherwise the registry rejected the request.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        use StoreError::{AlreadyExists, NoStore, OtherFormat};
        match self {
            Self::Store(AlreadyExists { .. } | NoStore { .. } | OtherFormat { .. }) => false,
            Self::Store(_)
            | Self::Corrupt { .. }
            | Self::Configuration { .. }
            | Self::LostRecord { .. }
            | Self::Output { .. } => true,
            Self::Input { source, .. } => source.kind() != std::io::ErrorKind::InvalidData,
            _ => false,
        }
    }

    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }

    pub(crate) fn denied(needs: Role, authority: &AuthorityPath) -> Self {
        Self::Denied {
            needs,
            authority: authority.clone(),
        }
    }

    pub(crate) fn identifier(text: &str, source: ParseError) -> Self {
        Self::Identifier {
            text: text.to_string(),
            source,
        }
    }

    pub(crate) fn value(index: u32, problem: ValueProblem) -> Self {
        Self::Value { index, problem }
    }

    pub(crate) fn quota(problem: impl Into<String>, retry_after: Option<u64>) -> Self {
        Self::Quota {
            problem: problem.into(),
            retry_after,
        }
    }

    pub(crate) fn policy(code: &'static str, problem: impl Into<String>) -> Self {
        Self::Policy {
            code,
            problem: problem.into(),
        }
    }
}

/// The remedy for a damaged store. `check` prints it, too.
const RESTORE: &str = "stop the server, move the data folder away, and restore from a backup with \
    `handfast restore FILE`; copy the key files and handfast.toml from the old folder";

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// A `URL` with a scheme that can run code or embed any content.
    #[error("a URL may not begin with javascript:, data: or vbscript:")]
    DangerousUrl,
    /// An empty `URL`.
    #[error("a URL is empty")]
    EmptyUrl,
    /// A value with this index exists already.
    #[error("exists already")]
    Exists,
    /// The index is out of range.
    #[error("an index is 1 to 2147483647")]
    Index,
    /// No value has this index.
    #[error("is not there")]
    Missing,
    /// Administrators may not write this value.
    #[error("is read-only")]
    ReadOnly,
    /// Two values have the same index.
    #[error("stands twice")]
    Twice,
}

fn by_event(event: Option<u64>) -> String {
    event
        .map(|number| format!(", by event {number}"))
        .unwrap_or_default()
}
