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
            (ErrorKind::BadCharacter, part) => {
                let [_, alphabet] = part.texts();
                alphabet
            }
            (ErrorKind::HasQuery, Part::Query) => {
                "register the name without it: the query is for the service that resolves the name"
            }
            (ErrorKind::HasFragment, Part::Fragment) => {
                "register the name without it: the fragment is for the program that shows the \
                 result"
            }
            (kind, _) => {
                let [_, _, remedy] = kind.texts();
                remedy
            }
        }
    }

    pub(crate) fn character(part: Part, at: usize, found: Option<char>) -> Self {
        ErrorKind::BadCharacter.at(part, at).with_found(found)
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
        let part = self.part;
        let [_, complaint, _] = self.kind.texts();
        match (self.kind, self.found) {
            (ErrorKind::BadCharacter, Some(found)) if found.is_ascii_graphic() => {
                write!(f, "`{found}` is not allowed in {part}")
            }
            (ErrorKind::BadCharacter, Some(found)) => {
                write!(f, "U+{:04X} is not allowed in {part}", u32::from(found))
            }
            (ErrorKind::BadCharacter, None) => write!(f, "a character is not allowed in {part}"),
            (ErrorKind::HasQuery, _) if part == Part::Query => {
                f.write_str("a query is no part of a registered name")
            }
            (ErrorKind::HasFragment, _) if part == Part::Fragment => {
                f.write_str("a fragment is no part of a registered name")
            }
            (ErrorKind::TooLong(limit), _) => write!(f, "{part} is longer than {limit} bytes"),
            (
                ErrorKind::BadTriplet
                | ErrorKind::EmptySegment
                | ErrorKind::NotUtf8Triplets
                | ErrorKind::NulTriplet
                | ErrorKind::SecondFragment
                | ErrorKind::WhiteSpace
                | ErrorKind::EmptyComponent,
                _,
            ) => write!(f, "{part} {complaint}"),
            _ => f.write_str(complaint),
        }
    }
}

impl core::error::Error for ParseError {}

/// An enum of which each variant has the given number of texts, in one table.
macro_rules! with_texts {
    (
        $(#[$meta:meta])*
        $name:ident [$count:literal] {
            $($(#[$doc:meta])* $variant:ident $(($inner:ty))?: $($text:literal),+;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant $(($inner))?,)*
        }

        impl $name {
            fn texts(self) -> [&'static str; $count] {
                match self {
                    $(Self::$variant { .. } => [$($text),+],)*
                }
            }
        }
    };
}

// Code, what is wrong, what would be right.
with_texts! {
    /// The kinds of error, each with a stable code.
    ///
    /// ```
    /// assert_eq!(handfast_id::ErrorKind::EmptySuffix.code(), "empty-suffix");
    /// ```
    ErrorKind [3] {
        /// A character that the grammar does not allow in its place.
        BadCharacter: "bad-character", "holds a character that is not allowed",
            "percent-encode it or leave it out";
        /// A `?` in a URN that begins neither `?+` nor `?=`.
        BadComponent: "bad-component", "`?` begins neither `?+` nor `?=`",
            "begin an r-component with `?+` and a q-component with `?=`, or write the `?` as %3F";
        /// A `%` that is not followed by two hex digits (`X-1`).
        BadTriplet: "bad-triplet", "holds a `%` without two hex digits",
            "write a literal percent sign as %25";
        /// A suffix that is `.` or `..` in a URI (`URI-11`).
        DotSegment: "dot-segment", "a suffix of `.` or `..` cannot travel in a URI",
            "use the bare handle instead";
        /// No text at all.
        Empty: "empty", "there is no text",
            "give an identifier, for example 10.1045/april2006-paskin";
        /// A URN authority path with nothing between its dots.
        EmptyAuthority: "empty-authority", "an authority in the path is empty",
            "join non-empty authorities with single dots, for example HUL.OIS";
        /// `?+` or `?=` with nothing after it.
        EmptyComponent: "empty-component", "is empty", "leave out its `?+` or `?=` as well";
        /// An ARK whose name is empty, or is once it is normalised.
        EmptyName: "empty-name", "the name is empty",
            "write ark:NAAN/name; hyphens, and `/` and `.` at the end, do not count";
        /// No namespace between `info:` and `/`.
        EmptyNamespace: "empty-namespace", "there is no namespace",
            "write info:namespace/identifier, for example info:lccn/2002022641";
        /// No name after `urn:NID:`.
        EmptyNss: "empty-nss", "there is no name after the namespace identifier",
            "write urn:NID:name, for example urn:isbn:0451450523";
        /// Nothing before the first `/`.
        EmptyPrefix: "empty-prefix", "there is no prefix",
            "write the prefix before the `/`, for example 20.1000/5555";
        /// No resource name after the `:` of a URN authority path.
        EmptyResourceName: "empty-resource-name", "there is no resource name",
            "write authoritypath:resourcename, for example HUL.OIS:Home";
        /// A prefix or naming authority with nothing between its dots.
        EmptySegment: "empty-segment", "has an empty segment",
            "join non-empty segments with single dots, for example 20.500.12345";
        /// Nothing after the first `/`.
        EmptySuffix: "empty-suffix", "there is no suffix after the `/`",
            "write the suffix after the `/`, for example 20.1000/5555";
        /// A CORDRA path that has not 32 hex digits.
        GuidLength: "guid-length", "the path has not exactly 32 hex digits",
            "write the 32 hex digits without hyphens";
        /// A fragment where the grammar has none, or in a name that is to be registered (`CID-14`).
        HasFragment: "has-fragment", "there is no fragment in this grammar",
            "write the `#` as %23, or use the rfc4452 grammar";
        /// A query where the grammar has none, or in a name that is to be registered (`CID-14`).
        HasQuery: "has-query", "an info URI has no query", "write the `?` as %3F";
        /// An `info` URI without a `/`.
        MissingIdentifier: "missing-identifier", "there is no `/` after the namespace",
            "write info:namespace/identifier, for example info:lccn/2002022641";
        /// An ARK without a `/` after its authority number.
        MissingName: "missing-name", "there is no `/` after the authority number",
            "write ark:NAAN/name, for example ark:12025/654xz321";
        /// A URN without a second `:`.
        MissingNss: "missing-nss", "there is no `:` after the namespace identifier",
            "write urn:NID:name, for example urn:isbn:0451450523";
        /// A URN under an authority profile without the `:` before the resource name.
        MissingResourceName: "missing-resource-name", "there is no `:` after the authority path",
            "write authoritypath:resourcename, for example HUL.OIS:Home";
        /// A handle without a `/`.
        MissingSuffix: "missing-suffix", "there is no `/` and no suffix",
            "write the prefix, a `/` and the suffix, for example 20.1000/5555";
        /// An ARK authority number of none or more than 16 characters.
        NaanLength: "naan-length", "the authority number has not 1 to 16 characters",
            "use the number as it was given out, for example 12025";
        /// A URN namespace identifier that has not 2 to 32 characters.
        NidLength: "nid-length", "the namespace identifier has not 2 to 32 characters",
            "use a registered namespace identifier such as isbn";
        /// The namespace identifier `urn`, which is reserved.
        NidReserved: "nid-reserved", "the namespace identifier `urn` is reserved",
            "use a registered namespace identifier such as isbn";
        /// A text without a scheme where one is needed (`URI-8`).
        NoScheme: "no-scheme", "there is no scheme", "put the scheme in front, for example hdl:";
        /// A handle whose prefix is neither `10` nor under `10.`.
        NotADoi: "not-a-doi", "the prefix of a DOI is 10 or begins with `10.`",
            "write a DOI such as 10.1000/182, or read it as a handle";
        /// A path that the resolver does not serve.
        NotServed: "not-served", "the resolver has no names of this form",
            "check the path; some resolvers need a first segment such as /hdl/, some serve only \
             urn-3: or ark: names";
        /// Bytes that are not UTF-8.
        NotUtf8: "not-utf8", "the bytes are not UTF-8", "convert the text to UTF-8";
        /// Triplets that decode to bytes that are not UTF-8 (`URI-6`).
        NotUtf8Triplets: "not-utf8-triplets", "decodes to bytes that are not UTF-8",
            "percent-encode the UTF-8 form of each character";
        /// The triplet `%00` (`X-8`).
        NulTriplet: "nul-triplet", "holds %00", "leave it out: no identifier holds a NUL";
        /// A name that does not fit the pattern of its namespace.
        PatternMismatch: "pattern-mismatch", "the name does not fit the pattern of its namespace",
            "see the namespace's rules for its names";
        /// A second `#`.
        SecondFragment: "second-fragment", "holds a second `#`", "write it as %23";
        /// A `/` in the part that carries the prefix, once decoded (`URI-6`).
        SlashInPrefix: "slash-in-prefix", "a `/` stands in the part of the prefix",
            "divide prefix and suffix with a bare `/`";
        /// A bare `/` in the part that carries the suffix of an `hdl` URI.
        SlashInSuffix: "slash-in-suffix", "a bare `/` stands in the suffix of an hdl URI",
            "write it as %2F";
        /// Longer than the limit, which it contains (`X-4`).
        TooLong(usize): "too-long", "the text is too long",
            "a handle has at most 2048 bytes, any other text and its canonical form 8192";
        /// An HTTP URL of an unknown resolver.
        UnknownResolver: "unknown-resolver", "this is not the URL of a resolver that is known here",
            "give the identifier itself, or the URL of a known resolver";
        /// A text that begins like a URI of a scheme that is not ours.
        UnknownScheme: "unknown-scheme",
            "this begins neither with a known scheme nor with the URL of a known resolver",
            "use a handle, a DOI, a urn:, ark: or info: name, or the URL of a known resolver";
        /// White space in a prefix, or at an end of a suffix (`HDL-3`).
        WhiteSpace: "white-space", "has white space where none may stand", "remove it";
        /// Another scheme than the one that was asked for.
        WrongScheme: "wrong-scheme", "this is another scheme than the one asked for",
            "read it as its own scheme, or let it be recognised";
    }
}

impl ErrorKind {
    /// The stable kebab-case code.
    #[must_use]
    pub fn code(self) -> &'static str {
        let [code, _, _] = self.texts();
        code
    }

    /// The error of this kind in a component, at an offset.
    pub(crate) fn at(self, part: Part, at: usize) -> ParseError {
        ParseError {
            kind: self,
            part,
            at,
            found: None,
        }
    }
}

/// `X-4`: an error if a text or its canonical form is longer than its limit.
#[inline]
pub(crate) fn check_limit(length: usize, limit: usize, part: Part) -> Result<(), ParseError> {
    if length > limit {
        return Err(ErrorKind::TooLong(limit).at(part, limit));
    }
    Ok(())
}

// Its name, and the characters that are allowed in it.
with_texts! {
    /// The component in which an error was found.
    ///
    /// ```
    /// use handfast_id::{Handle, Part};
    ///
    /// assert_eq!(Handle::parse("20.1000/a\u{7}b").unwrap_err().part(), Part::Suffix);
    /// ```
    Part [2] {
        /// The name of an ARK, with its qualifiers.
        ArkName: "the name", "use letters, digits, = ~ * + @ _ $ . / - and percent triplets";
        /// The authority path of a URN.
        AuthorityPath: "the authority path",
            "use letters, digits, ( ) + , - = @ ; $ _ ! * ' and percent triplets (a resource name \
             also . and :)";
        /// The canonical form, which has a limit of its own.
        Canonical: "the canonical form",
            "use printable characters of the Basic Multilingual Plane, none of them invisible";
        /// The f-component of a URN.
        FComponent: "the f-component", "percent-encode it";
        /// The fragment of a URI or CORDRA identifier.
        Fragment: "the fragment", "percent-encode it";
        /// The path of a CORDRA identifier.
        Guid: "the path", "use the hex digits 0-9 A-F";
        /// A handle as a whole.
        Handle: "the handle",
            "use printable characters of the Basic Multilingual Plane, none of them invisible";
        /// The identifier of an `info` URI.
        Identifier: "the identifier", "percent-encode it";
        /// The authority number of an ARK.
        Naan: "the authority number",
            "use digits and the letters b c d f g h j k m n p q r s t v w x z";
        /// The namespace of an `info` URI.
        Namespace: "the namespace", "begin with a letter; go on with letters, digits, + - and .";
        /// The naming authority of a CORDRA identifier.
        NamingAuthority: "the naming authority", "use digits, with single dots between them";
        /// The namespace identifier of a URN.
        Nid: "the namespace identifier",
            "use letters, digits and hyphens, with a letter or digit at both ends";
        /// The namespace-specific string of a URN.
        Nss: "the name", "percent-encode it";
        /// The prefix of a handle.
        Prefix: "the prefix", "percent-encode it";
        /// The q-component of a URN.
        QComponent: "the q-component", "percent-encode it";
        /// The query of a URI or CORDRA identifier.
        Query: "the query", "percent-encode it";
        /// The r-component of a URN.
        RComponent: "the r-component", "percent-encode it";
        /// The resource name of a URN.
        ResourceName: "the resource name",
            "use letters, digits, ( ) + , - = @ ; $ _ ! * ' and percent triplets (a resource name \
             also . and :)";
        /// The scheme.
        Scheme: "the scheme", "use letters, digits, + - and .";
        /// The suffix of a handle.
        Suffix: "the suffix", "percent-encode it";
        /// The text as a whole.
        Text: "the text",
            "use printable characters of the Basic Multilingual Plane, none of them invisible";
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [name, _] = self.texts();
        f.write_str(name)
    }
}
