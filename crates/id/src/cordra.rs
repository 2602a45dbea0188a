//! CORDRA identifiers: handles of one fixed form.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;
use core::hash::{Hash, Hasher};

use crate::error::{ErrorKind, ParseError, Part, check_limit};
use crate::guid::Guid;
use crate::handle::{Handle, MAX_HANDLE};
use crate::hdl_uri::HdlUri;
use crate::percent::NonAscii;
use crate::prefix::Prefix;
use crate::tail::Tail;

/// A CORDRA identifier such as `100.102/F58FB49EB1F848F0A606E84CEF294BE5`.
///
/// ```text
/// cordra-id        = naming-authority "/" path [ "?" query ] [ "#" fragment ]   ; (CID-1)
/// naming-authority = 1*DIGIT *( "." 1*DIGIT )                                   ; (CID-2)
/// path             = 32HEXDIG        ; case-insensitive, uppercase is canonical (CID-3)
/// ```
///
/// Every CORDRA identifier is a valid handle. Query and fragment have no defined meaning; they are
/// preserved, and count in comparison (`CID-5`, `CID-6`).
///
/// ```
/// use handfast_id::CordraId;
///
/// let id = CordraId::parse("100.102/F58FB49EB1F848f0A606E84CEF294BE5?lang=en")?;
/// assert_eq!(id.naming_authority().as_str(), "100.102");
/// assert_eq!(id.path(), "F58FB49EB1F848F0A606E84CEF294BE5");
/// assert_eq!(id.query(), Some("lang=en"));
/// assert_eq!(id.to_hdl_uri().to_string(), "hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5?lang=en");
/// // The record that is looked up has neither query nor fragment (CID-8).
/// assert_eq!(id.record().as_str(), "100.102/F58FB49EB1F848F0A606E84CEF294BE5");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CordraId<'a> {
    /// `naming-authority "/" path`, the path in uppercase.
    record: Handle<'a>,
    tail: Tail<'a>,
}

impl<'a> CordraId<'a> {
    /// Reads a CORDRA identifier to the letter. Nothing is copied where the path is in uppercase.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        check_limit(text.len(), MAX_HANDLE, Part::Handle)?;
        let (body, tail) = Tail::split(text);
        let slash = check_record(body)?;
        tail.check(body.len(), NonAscii::Refused)?;
        Ok(Self {
            record: uppercase_path(body, slash),
            tail,
        })
    }

    /// Makes an identifier from a naming authority and a path, for example a new one from
    /// [`Guid::v4`].
    ///
    /// ```
    /// use handfast_id::{CordraId, Guid, Prefix};
    ///
    /// let authority = Prefix::parse("2000.01")?;
    /// let random = [0xA5; 16]; // from a random number generator
    /// let id = CordraId::new(&authority, Guid::v4(random))?;
    /// assert_eq!(id.to_string(), "2000.01/A5A5A5A5A5A545A5A5A5A5A5A5A5A5A5");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn new(naming_authority: &Prefix<'_>, path: Guid) -> Result<CordraId<'static>, ParseError> {
        let mut text = String::from(naming_authority.as_str());
        text.push('/');
        text.push_str(&path.to_string());
        CordraId::parse(&text).map(CordraId::into_owned)
    }

    /// The identifier that a handle without query and fragment is, if its suffix is a path.
    #[must_use]
    pub fn from_handle(handle: &Handle<'a>) -> Option<CordraId<'static>> {
        let slash = check_record(handle.as_str()).ok()?;
        let record = uppercase_path(handle.as_str(), slash).into_owned();
        Some(CordraId {
            record,
            tail: Tail::default(),
        })
    }

    /// The identifier that an `hdl` or HTTP URI encodes: its query and fragment come back
    /// (`CID-7`). `None` if the handle is of another form, or the whole longer than a handle may
    /// be.
    #[must_use]
    pub fn from_hdl_uri(uri: &HdlUri<'a>) -> Option<CordraId<'static>> {
        let record = Self::from_handle(uri.handle())?.record;
        let id = CordraId {
            record,
            tail: uri.tail().clone().into_owned(),
        };
        (id.record.as_str().len() + id.tail.written_len() <= MAX_HANDLE).then_some(id)
    }

    /// The naming authority, compared as text: `2000.01` is not `2000.1`.
    #[must_use]
    pub fn naming_authority(&self) -> Prefix<'_> {
        self.record.prefix()
    }

    /// The 32 hex digits, in uppercase. They are opaque: nothing is read from their bits (`CID-4`).
    #[must_use]
    pub fn path(&self) -> &str {
        self.record.suffix()
    }

    /// The query as written.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.tail.query.as_deref()
    }

    /// The fragment as written.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.tail.fragment.as_deref()
    }

    /// The handle of the record that is looked up: naming authority and path (`CID-8`).
    #[must_use]
    pub fn record(&self) -> &Handle<'a> {
        &self.record
    }

    /// The identifier as a handle: the suffix is the rest, query and fragment included (`CID-7`).
    ///
    /// ```
    /// # use handfast_id::CordraId;
    /// let id = CordraId::parse("1/F58FB49EB1F848F0A606E84CEF294BE5?q#f")?;
    /// assert_eq!(id.to_handle().suffix(), "F58FB49EB1F848F0A606E84CEF294BE5?q#f");
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    #[must_use]
    pub fn to_handle(&self) -> Handle<'_> {
        if self.tail.is_empty() {
            return self.record.borrowed();
        }
        let slash = self.naming_authority().as_str().len();
        Handle::from_checked(Cow::Owned(self.to_string()), slash)
    }

    /// The identifier as an `hdl` URI, whose query and fragment are the identifier's (`CID-7`).
    #[must_use]
    pub fn to_hdl_uri(&self) -> HdlUri<'_> {
        HdlUri::from_cordra(self.record.borrowed(), self.tail.clone())
    }

    /// The same identifier, owning its text.
    #[must_use]
    pub fn into_owned(self) -> CordraId<'static> {
        CordraId {
            record: self.record.into_owned(),
            tail: self.tail.into_owned(),
        }
    }
}

/// Checks `naming-authority "/" path`; returns where the `/` stands.
fn check_record(text: &str) -> Result<usize, ParseError> {
    let mut segment_is_empty = true;
    let mut bytes = text.bytes().enumerate();
    let slash = loop {
        match bytes.next() {
            Some((_, b'0'..=b'9')) => segment_is_empty = false,
            Some((at, b'.' | b'/')) if segment_is_empty => {
                let kind = if at == 0 && text.starts_with('/') {
                    ErrorKind::EmptyPrefix
                } else {
                    ErrorKind::EmptySegment
                };
                return Err(kind.at(Part::NamingAuthority, at));
            }
            Some((_, b'.')) => segment_is_empty = true,
            Some((at, b'/')) => break at,
            Some((at, _)) => {
                let found = text.get(at..).and_then(|rest| rest.chars().next());
                return Err(ParseError::character(Part::NamingAuthority, at, found));
            }
            None => {
                let kind = if text.is_empty() {
                    ErrorKind::Empty
                } else {
                    ErrorKind::MissingSuffix
                };
                return Err(kind.at(Part::Text, text.len()));
            }
        }
    };
    let path = text.get(slash + 1..).unwrap_or_default();
    Guid::check(path).map_err(|error| error.shifted(slash + 1))?;
    Ok(slash)
}

/// `CID-3`: "The path component SHALL be normalized to all uppercase hexadecimal digits prior to
/// processing."
fn uppercase_path(record: &str, slash: usize) -> Handle<'_> {
    if record.bytes().any(|b| b.is_ascii_lowercase()) {
        Handle::from_checked(Cow::Owned(record.to_ascii_uppercase()), slash)
    } else {
        Handle::from_checked(Cow::Borrowed(record), slash)
    }
}

impl fmt::Display for CordraId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.record.as_str())?;
        self.tail.write(f)
    }
}

impl PartialEq<CordraId<'_>> for CordraId<'_> {
    fn eq(&self, other: &CordraId<'_>) -> bool {
        self.record.as_str() == other.record.as_str() && self.tail == other.tail
    }
}

impl Hash for CordraId<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.record.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUID: &str = "F58FB49EB1F848F0A606E84CEF294BE5";

    fn refused(text: &str) -> (&'static str, usize) {
        let error = CordraId::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    #[test]
    fn cid_1_is_a_handle_not_a_uri() {
        assert_eq!(
            refused(&("hdl:100/".to_string() + GUID)),
            ("bad-character", 0)
        );
        assert!(Handle::parse(&("100/".to_string() + GUID + "?q#f")).is_ok());
    }

    #[test]
    fn cid_2_naming_authority() {
        let with = |authority: &str| authority.to_string() + "/" + GUID;
        assert_eq!(refused(&with("100..1")), ("empty-segment", 4));
        assert_eq!(refused(&with(".1")), ("empty-segment", 0));
        assert_eq!(refused(&with("1.")), ("empty-segment", 2));
        assert_eq!(refused(&with("")), ("empty-prefix", 0));
        assert_eq!(refused(&with("10a")), ("bad-character", 2));
        assert_eq!(refused(&with("10-1")), ("bad-character", 2));
        assert_eq!(refused(&with("١")), ("bad-character", 0));
        assert_eq!(refused("100.1"), ("missing-suffix", 5));
        for authority in ["0", "100", "100.102", "2000.01.3.04"] {
            let text = with(authority);
            let id = CordraId::parse(&text).unwrap();
            assert_eq!(id.naming_authority().as_str(), authority);
        }
        assert_ne!(
            CordraId::parse(&with("2000.01")).unwrap(),
            CordraId::parse(&with("2000.1")).unwrap()
        );
    }

    #[test]
    fn cid_3_path() {
        assert_eq!(refused("1/F58F"), ("guid-length", 6));
        assert_eq!(
            refused(&("1/".to_string() + GUID + "0")),
            ("guid-length", 34)
        );
        assert_eq!(refused(&("1/G".to_string() + GUID)), ("bad-character", 2));
        assert_eq!(
            refused(&("1/".to_string() + GUID + "/x")),
            ("guid-length", 34)
        );
        let lower = "1/".to_string() + &GUID.to_ascii_lowercase();
        assert_eq!(CordraId::parse(&lower).unwrap().path(), GUID);
    }

    /// No bit of the path means anything: digits that no UUID has are as good.
    #[test]
    fn cid_4_the_path_is_opaque() {
        for digit in ["0", "7", "F"] {
            let text = "1/".to_string() + &digit.repeat(32);
            assert_eq!(CordraId::parse(&text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn cid_5_cid_6_query_and_fragment_count() {
        let id = |tail: &str| {
            ("1/".to_string() + GUID + tail)
                .parse::<CordraId<'_>>()
                .unwrap()
        };
        assert_eq!(id("?%e9"), id("?%E9"));
        assert_ne!(id("?"), id(""));
        assert_ne!(id("#a"), id("?a"));
        assert_eq!(id("#f?g").fragment(), Some("f?g"));
        assert_eq!(id("?%e9").to_string(), "1/".to_string() + GUID + "?%E9");
        assert_eq!(
            refused(&("1/".to_string() + GUID + "#a#b")),
            ("second-fragment", 36)
        );
        assert_eq!(
            refused(&("1/".to_string() + GUID + "?a b")),
            ("bad-character", 36)
        );
    }

    #[test]
    fn cid_7_comes_back_from_a_uri() {
        let id = ("1/".to_string() + GUID + "?q#f")
            .parse::<CordraId<'_>>()
            .unwrap();
        assert_eq!(CordraId::from_hdl_uri(&id.to_hdl_uri()).unwrap(), id);
        // Nothing of it needs a triplet.
        let plain = "1/".to_string() + GUID + "?q#f";
        assert_eq!(id.to_hdl_uri().to_string(), "hdl:".to_string() + &plain);
        assert_eq!(
            id.to_hdl_uri().to_host_form(),
            "hdl://".to_string() + &plain
        );
        assert!(CordraId::from_handle(&Handle::parse("1/x").unwrap()).is_none());
        assert!(
            CordraId::from_handle(&id.to_handle()).is_none(),
            "a query is no part of a path"
        );
    }

    #[test]
    fn x_4_limit_counts_query_and_fragment() {
        let long = |n: usize| "1/".to_string() + GUID + "?" + &"q".repeat(n);
        assert!(CordraId::parse(&long(2_048 - 35)).is_ok());
        assert_eq!(refused(&long(2_048 - 34)), ("too-long", 2_048));
    }

    #[test]
    fn parsing_borrows_where_the_path_is_in_uppercase() {
        let text = "1/".to_string() + GUID;
        assert!(CordraId::parse(&text).unwrap().record.is_borrowed());
    }
}
