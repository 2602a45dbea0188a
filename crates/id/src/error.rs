//! Errors: what is wrong with a text, at which position, and how to correct it.
//!
//! Every parser of this crate returns [`ParseError`]. Its [code](ParseError::code) is stable and
//! meant for programs; the [message](core::fmt::Display) and the [remedy](ParseError::remedy) are
//! meant for people.

use core::fmt;

use crate::chars::is_printable;

/// Why a text is not an identifier.
///
/// ```
/// use handfast_id::{ErrorKind, HdlUri};
///
/// let error = HdlUri::parse("hdl:100.102").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::MissingSuffix);
/// assert_eq!(error.code(), "missing-suffix");
/// assert_eq!(error.at(), 11); // the length of the input: something is missing there
/// assert_eq!(error.to_string(), "there is no `/` and no suffix");
/// assert!(error.remedy().starts_with("write the prefix"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseError {
    kind: ErrorKind,
    part: Part,
    at: usize,
    found: Option<char>,
}

impl ParseError {
    /// What is wrong, as a program would ask.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The stable kebab-case code of [`kind`](Self::kind).
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The component in which it was found.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// The byte offset of the first byte that cannot be right; the `%` of a bad triplet; the length
    /// of the input if something is missing; the limit if the text is too long (`X-5`).
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The character that stands at [`at`](Self::at), where one is to blame.
    #[must_use]
    pub fn found(&self) -> Option<char> {
        self.found
    }

    /// How to correct it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match (self.kind, self.part) {
            (ErrorKind::BadCharacter, Part::Prefix | Part::Suffix)
                if self.found.is_some_and(|c| !is_printable(c)) =>
            {
                "use printable characters up to U+FFFF, none of them invisible"
            }
            (ErrorKind::BadCharacter, part) => part.alphabet(),
            (ErrorKind::HasQuery, Part::Query) => {
                "register the name without it: the query is for the service that resolves the name"
            }
            (ErrorKind::HasFragment, Part::Fragment) => {
                "register the name without it: the fragment is for the program that shows the \
                 result"
            }
            (kind, _) => kind.remedy(),
        }
    }

    pub(crate) fn new(kind: ErrorKind, part: Part, at: usize) -> Self {
        Self {
            kind,
            part,
            at,
            found: None,
        }
    }

    pub(crate) fn character(part: Part, at: usize, found: Option<char>) -> Self {
        Self {
            kind: ErrorKind::BadCharacter,
            part,
            at,
            found,
        }
    }

    pub(crate) fn with_found(self, found: Option<char>) -> Self {
        Self { found, ..self }
    }

    /// The same error seen from a text that begins `offset` bytes earlier.
    pub(crate) fn shifted(self, offset: usize) -> Self {
        Self {
            at: self.at.saturating_add(offset),
            ..self
        }
    }

    pub(crate) fn moved_to(self, at: usize) -> Self {
        Self { at, ..self }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.found) {
            (ErrorKind::BadCharacter, Some(found)) => {
                if found.is_ascii_graphic() {
                    write!(f, "`{found}` is not allowed in {}", self.part)
                } else {
                    write!(
                        f,
                        "U+{:04X} is not allowed in {}",
                        u32::from(found),
                        self.part
                    )
                }
            }
            (ErrorKind::BadCharacter, None) => {
                write!(f, "a character is not allowed in {}", self.part)
            }
            (ErrorKind::HasQuery, _) if self.part == Part::Query => {
                f.write_str("a query is no part of a registered name")
            }
            (ErrorKind::HasFragment, _) if self.part == Part::Fragment => {
                f.write_str("a fragment is no part of a registered name")
            }
            (ErrorKind::TooLong(limit), _) => {
                write!(f, "{} is longer than {limit} bytes", self.part)
            }
            (
                ErrorKind::BadTriplet
                | ErrorKind::EmptySegment
                | ErrorKind::NotUtf8Triplets
                | ErrorKind::NulTriplet
                | ErrorKind::SecondFragment
                | ErrorKind::WhiteSpace
                | ErrorKind::EmptyComponent,
                _,
            ) => write!(f, "{} {}", self.part, self.kind.complaint()),
            _ => f.write_str(self.kind.complaint()),
        }
    }
}

impl core::error::Error for ParseError {}

/// The kinds of error, each with a stable code.
///
/// ```
/// assert_eq!(handfast_id::ErrorKind::EmptySuffix.code(), "empty-suffix");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A character that the grammar does not allow in its place.
    BadCharacter,
    /// A `?` in a URN that begins neither `?+` nor `?=`.
    BadComponent,
    /// A `%` that is not followed by two hex digits (`X-1`).
    BadTriplet,
    /// A suffix that is `.` or `..` in a URI (`URI-11`).
    DotSegment,
    /// No text at all.
    Empty,
    /// A URN authority path with nothing between its dots.
    EmptyAuthority,
    /// `?+` or `?=` with nothing after it.
    EmptyComponent,
    /// An ARK whose name is empty, or is once it is normalised.
    EmptyName,
    /// No namespace between `info:` and `/`.
    EmptyNamespace,
    /// No name after `urn:NID:`.
    EmptyNss,
    /// Nothing before the first `/`.
    EmptyPrefix,
    /// No resource name after the `:` of a URN authority path.
    EmptyResourceName,
    /// A prefix or naming authority with nothing between its dots.
    EmptySegment,
    /// Nothing after the first `/`.
    EmptySuffix,
    /// A CORDRA path that has not 32 hex digits.
    GuidLength,
    /// A fragment where the grammar has none, or in a name that is to be registered (`CID-14`).
    HasFragment,
    /// A query where the grammar has none, or in a name that is to be registered (`CID-14`).
    HasQuery,
    /// An `info` URI without a `/`.
    MissingIdentifier,
    /// An ARK without a `/` after its authority number.
    MissingName,
    /// A URN without a second `:`.
    MissingNss,
    /// A URN under an authority profile without the `:` before the resource name.
    MissingResourceName,
    /// A handle without a `/`.
    MissingSuffix,
    /// An ARK authority number of none or more than 16 characters.
    NaanLength,
    /// A URN namespace identifier that has not 2 to 32 characters.
    NidLength,
    /// The namespace identifier `urn`, which is reserved.
    NidReserved,
    /// A text without a scheme where one is needed (`URI-8`).
    NoScheme,
    /// A handle whose prefix is neither `10` nor under `10.`.
    NotADoi,
    /// A path that the resolver does not serve.
    NotServed,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Triplets that decode to bytes that are not UTF-8 (`URI-6`).
    NotUtf8Triplets,
    /// The triplet `%00` (`X-8`).
    NulTriplet,
    /// A name that does not fit the pattern of its namespace.
    PatternMismatch,
    /// A second `#`.
    SecondFragment,
    /// A `/` in the part that carries the prefix, once decoded (`URI-6`).
    SlashInPrefix,
    /// A bare `/` in the part that carries the suffix of an `hdl` URI.
    SlashInSuffix,
    /// Longer than the limit, which it contains (`X-4`).
    TooLong(usize),
    /// An HTTP URL of an unknown resolver.
    UnknownResolver,
    /// A text that begins like a URI of a scheme that is not ours.
    UnknownScheme,
    /// White space in a prefix, or at an end of a suffix (`HDL-3`).
    WhiteSpace,
    /// Another scheme than the one that was asked for.
    WrongScheme,
}

impl ErrorKind {
    /// The stable kebab-case code.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.texts().0
    }

    fn complaint(self) -> &'static str {
        self.texts().1
    }

    fn remedy(self) -> &'static str {
        self.texts().2
    }

    /// Code, what is wrong, what would be right.
    #[rustfmt::skip]
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::BadCharacter => ("bad-character", "holds a character that is not allowed",
                "percent-encode it or leave it out"),
            Self::BadComponent => ("bad-component", "`?` begins neither `?+` nor `?=`",
                "begin an r-component with `?+` and a q-component with `?=`, or write the `?` \
                 as %3F"),
            Self::BadTriplet => ("bad-triplet", "holds a `%` without two hex digits",
                "write a literal percent sign as %25"),
            Self::DotSegment => ("dot-segment", "a suffix of `.` or `..` cannot travel in a URI",
                "use the bare handle instead"),
            Self::Empty => ("empty", "there is no text",
                "give an identifier, for example 10.1045/april2006-paskin"),
            Self::EmptyAuthority => ("empty-authority", "an authority in the path is empty",
                "join non-empty authorities with single dots, for example HUL.OIS"),
            Self::EmptyComponent => ("empty-component", "is empty",
                "leave out its `?+` or `?=` as well"),
            Self::EmptyName => ("empty-name", "the name is empty",
                "write ark:NAAN/name; hyphens, and `/` and `.` at the end, do not count"),
            Self::EmptyNamespace => ("empty-namespace", "there is no namespace",
                "write info:namespace/identifier, for example info:lccn/2002022641"),
            Self::EmptyNss => ("empty-nss", "there is no name after the namespace identifier",
                "write urn:NID:name, for example urn:isbn:0451450523"),
            Self::EmptyPrefix => ("empty-prefix", "there is no prefix",
                "write the prefix before the `/`, for example 20.1000/5555"),
            Self::EmptyResourceName => ("empty-resource-name", "there is no resource name",
                "write authoritypath:resourcename, for example HUL.OIS:Home"),
            Self::EmptySegment => ("empty-segment", "has an empty segment",
                "join non-empty segments with single dots, for example 20.500.12345"),
            Self::EmptySuffix => ("empty-suffix", "there is no suffix after the `/`",
                "write the suffix after the `/`, for example 20.1000/5555"),
            Self::GuidLength => ("guid-length", "the path has not exactly 32 hex digits",
                "write the 32 hex digits without hyphens"),
            Self::HasFragment => ("has-fragment", "there is no fragment in this grammar",
                "write the `#` as %23, or use the rfc4452 grammar"),
            Self::HasQuery => ("has-query", "an info URI has no query", "write the `?` as %3F"),
            Self::MissingIdentifier => ("missing-identifier", "there is no `/` after the namespace",
                "write info:namespace/identifier, for example info:lccn/2002022641"),
            Self::MissingName => ("missing-name", "there is no `/` after the authority number",
                "write ark:NAAN/name, for example ark:12025/654xz321"),
            Self::MissingNss => ("missing-nss", "there is no `:` after the namespace identifier",
                "write urn:NID:name, for example urn:isbn:0451450523"),
            Self::MissingResourceName => ("missing-resource-name",
                "there is no `:` after the authority path",
                "write authoritypath:resourcename, for example HUL.OIS:Home"),
            Self::MissingSuffix => ("missing-suffix", "there is no `/` and no suffix",
                "write the prefix, a `/` and the suffix, for example 20.1000/5555"),
            Self::NaanLength => ("naan-length", "the authority number has not 1 to 16 characters",
                "use the number as it was given out, for example 12025"),
            Self::NidLength => ("nid-length", "the namespace identifier has not 2 to 32 characters",
                "use a registered namespace identifier such as isbn"),
            Self::NidReserved => ("nid-reserved", "the namespace identifier `urn` is reserved",
                "use a registered namespace identifier such as isbn"),
            Self::NoScheme => ("no-scheme", "there is no scheme",
                "put the scheme in front, for example hdl:"),
            Self::NotADoi => ("not-a-doi", "the prefix of a DOI is 10 or begins with `10.`",
                "write a DOI such as 10.1000/182, or read it as a handle"),
            Self::NotServed => ("not-served", "the resolver has no names of this form",
                "check the path; some resolvers need a first segment such as /hdl/, some serve \
                 only urn-3: or ark: names"),
            Self::NotUtf8 => ("not-utf8", "the bytes are not UTF-8", "convert the text to UTF-8"),
            Self::NotUtf8Triplets => ("not-utf8-triplets", "decodes to bytes that are not UTF-8",
                "percent-encode the UTF-8 form of each character"),
            Self::NulTriplet => ("nul-triplet", "holds %00",
                "leave it out: no identifier holds a NUL"),
            Self::PatternMismatch => ("pattern-mismatch",
                "the name does not fit the pattern of its namespace",
                "see the namespace's rules for its names"),
            Self::SecondFragment => ("second-fragment", "holds a second `#`", "write it as %23"),
            Self::SlashInPrefix => ("slash-in-prefix", "a `/` stands in the part of the prefix",
                "divide prefix and suffix with a bare `/`"),
            Self::SlashInSuffix => ("slash-in-suffix",
                "a bare `/` stands in the suffix of an hdl URI",
                "write it as %2F"),
            Self::TooLong(_) => ("too-long", "the text is too long",
                "a handle has at most 2048 bytes, any other text and its canonical form 8192"),
            Self::UnknownResolver => ("unknown-resolver",
                "this is not the URL of a resolver that is known here",
                "give the identifier itself, or the URL of a known resolver"),
            Self::UnknownScheme => ("unknown-scheme",
                "this begins neither with a known scheme nor with the URL of a known resolver",
                "use a handle, a DOI, a urn:, ark: or info: name, or the URL of a known resolver"),
            Self::WhiteSpace => ("white-space", "has white space where none may stand",
                "remove it"),
            Self::WrongScheme => ("wrong-scheme", "this is another scheme than the one asked for",
                "read it as its own scheme, or let it be recognised"),
        }
    }
}

/// The component in which an error was found.
///
/// ```
/// use handfast_id::{Handle, Part};
///
/// assert_eq!(Handle::parse("20.1000/a\u{7}b").unwrap_err().part(), Part::Suffix);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The name of an ARK, with its qualifiers.
    ArkName,
    /// The authority path of a URN.
    AuthorityPath,
    /// The canonical form, which has a limit of its own.
    Canonical,
    /// The f-component of a URN.
    FComponent,
    /// The fragment of a URI or CORDRA identifier.
    Fragment,
    /// The path of a CORDRA identifier.
    Guid,
    /// A handle as a whole.
    Handle,
    /// The identifier of an `info` URI.
    Identifier,
    /// The authority number of an ARK.
    Naan,
    /// The namespace of an `info` URI.
    Namespace,
    /// The naming authority of a CORDRA identifier.
    NamingAuthority,
    /// The namespace identifier of a URN.
    Nid,
    /// The namespace-specific string of a URN.
    Nss,
    /// The prefix of a handle.
    Prefix,
    /// The q-component of a URN.
    QComponent,
    /// The query of a URI or CORDRA identifier.
    Query,
    /// The r-component of a URN.
    RComponent,
    /// The resource name of a URN.
    ResourceName,
    /// The scheme.
    Scheme,
    /// The suffix of a handle.
    Suffix,
    /// The text as a whole.
    Text,
}

impl Part {
    /// The characters that are allowed there.
    fn alphabet(self) -> &'static str {
        match self {
            Self::ArkName => "use letters, digits, = ~ * + @ _ $ . / - and percent triplets",
            Self::AuthorityPath | Self::ResourceName => {
                "use letters, digits, ( ) + , - = @ ; $ _ ! * ' and percent triplets (a resource \
                 name also . and :)"
            }
            Self::Guid => "use the hex digits 0-9 A-F",
            Self::Naan => "use digits and the letters b c d f g h j k m n p q r s t v w x z",
            Self::Namespace => "begin with a letter; go on with letters, digits, + - and .",
            Self::NamingAuthority => "use digits, with single dots between them",
            Self::Nid => "use letters, digits and hyphens, with a letter or digit at both ends",
            Self::Handle | Self::Canonical | Self::Text => {
                "use printable characters of the Basic Multilingual Plane, none of them invisible"
            }
            Self::Scheme => "use letters, digits, + - and .",
            Self::FComponent
            | Self::Fragment
            | Self::Identifier
            | Self::Nss
            | Self::Prefix
            | Self::QComponent
            | Self::Query
            | Self::RComponent
            | Self::Suffix => "percent-encode it",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ArkName | Self::Nss => "the name",
            Self::AuthorityPath => "the authority path",
            Self::Canonical => "the canonical form",
            Self::FComponent => "the f-component",
            Self::Fragment => "the fragment",
            Self::Guid => "the path",
            Self::Handle => "the handle",
            Self::Identifier => "the identifier",
            Self::Naan => "the authority number",
            Self::Namespace => "the namespace",
            Self::NamingAuthority => "the naming authority",
            Self::Nid => "the namespace identifier",
            Self::Prefix => "the prefix",
            Self::QComponent => "the q-component",
            Self::Query => "the query",
            Self::RComponent => "the r-component",
            Self::ResourceName => "the resource name",
            Self::Scheme => "the scheme",
            Self::Suffix => "the suffix",
            Self::Text => "the text",
        })
    }
}
