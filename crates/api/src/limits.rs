//! How long requests may be. The registry rejects more, and the schemas say so.
//!
//! Limits of texts are in bytes of UTF-8. JSON Schema counts characters, of which a text has no
//! more than bytes: a text that is longer than its `maxLength` is always rejected.

/// The reason of a request for access, or of declining one.
pub const ACCESS_REASON: usize = 1_000;
/// The e-mail address of an account.
pub const ACCOUNT_EMAIL: usize = 254;
/// The name of an account.
pub const ACCOUNT_NAME: usize = 64;
/// The title of an account.
pub const ACCOUNT_TITLE: usize = 1_000;
/// The title, meaning or contact of an authority.
pub const AUTHORITY_TEXT: usize = 10_000;
/// The text of an identifier that `/inspect` looks at.
pub const INSPECTED: usize = 32 << 10;
/// The highest index of a value.
pub const VALUE_INDEX: u32 = 0x7FFF_FFFF;
/// All texts of a job.
pub const JOB_TEXT: usize = 10_000;
/// Names that one request mints.
pub const MINTED: u64 = 10_000;
/// The comment on a namespace.
pub const NAMESPACE_COMMENT: usize = 4_000;
/// An example of a namespace.
pub const NAMESPACE_EXAMPLE: usize = 500;
/// The examples of a namespace.
pub const NAMESPACE_EXAMPLES: usize = 100;
/// The title, organisation or contact of a namespace.
pub const NAMESPACE_LINE: usize = 500;
/// The string of a namespace.
pub const NAMESPACE_NAME: usize = 64;
/// The policy of the registry of namespaces.
pub const NAMESPACE_POLICY: usize = 100_000;
/// A longer text about a namespace.
pub const NAMESPACE_TEXT: usize = 10_000;
/// A URI, or the postal address, in the entry of a namespace.
pub const NAMESPACE_URI: usize = 2_000;
/// The URIs of one list in the entry of a namespace.
pub const NAMESPACE_URIS: usize = 20;
/// Items on one page.
pub const PAGE: u64 = 1_000;
/// A password, in bytes.
pub const PASSWORD: usize = 1_024;
/// The fewest characters of a password.
pub const PASSWORD_MINIMUM: usize = 15;
/// The pattern of the local names of an authority, or of the identifiers of a namespace.
pub const PATTERN: usize = 1_024;
/// Outcomes in one response.
pub const OUTCOMES: usize = 10_000;
/// Changed values that the outcome of one line lists.
pub const OUTCOME_CHANGES: usize = 100;
/// The beginning that a search asks for.
pub const SEARCH_PREFIX: usize = 2_000;
/// The words that a search asks for.
pub const SEARCH_WORDS: usize = 200;
/// How many days a token is valid.
pub const TOKEN_DAYS: u64 = 3_660;
/// The title of a token.
pub const TOKEN_TITLE: usize = 1_000;
/// The values of a name.
pub const VALUES: usize = 2_048;
/// The reason of a withdrawal.
pub const WITHDRAWAL_REASON: usize = 10_000;
