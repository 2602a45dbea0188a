//! Errors as response codes of the handle protocol. The REST API derives its statuses from
//! them.

use handfast_registry::{RegistryError, StoreError, ValueProblem};
use handfast_wire::ResponseCode;

/// Why a request is not done, as the protocol says it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: ResponseCode,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: ResponseCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A value is there already.
    pub(crate) fn index_conflict(index: u32) -> Self {
        let text = format!("Index conflict for {index}");
        Self::new(ResponseCode::ValueAlreadyExists, text)
    }

    /// A code that says it all.
    pub(crate) fn plain(code: ResponseCode) -> Self {
        Self::new(code, "")
    }
}

/// A request that is malformed.
pub(crate) fn wrong(text: impl Into<String>) -> Fault {
    Fault::new(ResponseCode::ProtocolError, text)
}

impl From<RegistryError> for Fault {
    /// §2.3. What fails here is nobody's business outside: it is logged, and the code is said.
    fn from(error: RegistryError) -> Self {
        let code = code(&error);
        if let RegistryError::Value {
            index,
            problem: ValueProblem::Exists,
        } = error
        {
            return Self::index_conflict(index);
        }
        if code == ResponseCode::Error {
            tracing::error!(%error, "a request failed");
            return Self::new(code, "the server failed");
        }
        Self::new(code, error.to_string())
    }
}

fn code(error: &RegistryError) -> ResponseCode {
    match error {
        RegistryError::NotFound(_) | RegistryError::State { .. } => ResponseCode::HandleNotFound,
        RegistryError::AuthorityExists(_)
        | RegistryError::Differs { .. }
        | RegistryError::Exists { .. } => ResponseCode::HandleAlreadyExists,
        RegistryError::Identifier { .. } => ResponseCode::InvalidHandle,
        RegistryError::NoAuthority(_) | RegistryError::Retired(_) => {
            ResponseCode::ServerNotResponsible
        }
        RegistryError::Denied { .. } => ResponseCode::InvalidAdmin,
        RegistryError::Value { problem, .. } => match problem {
            ValueProblem::Missing => ResponseCode::ValuesNotFound,
            ValueProblem::Exists | ValueProblem::Twice => ResponseCode::ValueAlreadyExists,
            ValueProblem::ReadOnly => ResponseCode::InsufficientPermissions,
            _ => ResponseCode::InvalidValue,
        },
        RegistryError::Policy { code, .. } => match *code {
            "not-cordra" | "pattern" | "root" | "prefix-record" | "not-a-handle" => {
                ResponseCode::InvalidHandle
            }
            "operator-only" => ResponseCode::InvalidAdmin,
            "too-large" | "too-many-values" => ResponseCode::InvalidValue,
            _ => ResponseCode::OperationNotSupported,
        },
        RegistryError::Store(StoreError::Full) => ResponseCode::ServerBackup,
        _ => ResponseCode::Error,
    }
}
