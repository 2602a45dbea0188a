//! Inspecting a text: the object that `handfast inspect --json` prints.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{ErrorKind, ParseError, Part};
use crate::handle::{MAX_HANDLE, utf8};
use crate::hdl_uri::MAX_TEXT;
use crate::identifier::{Identifier, Scheme, cordra_form, parse_as};
use crate::recognise::{RecognisedBy, recognise};
use crate::rules::{HandleProfile, Rules};
use crate::spellings::Spellings;

/// Reads bytes as a scheme and says all there is to say about them.
///
/// ```
/// use handfast_id::{Scheme, Standard, inspect};
///
/// let inspection = inspect(b"hdl:20.1000/5555", Scheme::Hdl, &Standard);
/// let found = inspection.outcome.unwrap();
/// assert_eq!(found.canonical, "hdl:20.1000/5555");
///
/// let inspection = inspect(b"hdl:100.102", Scheme::Hdl, &Standard);
/// assert_eq!(inspection.outcome.unwrap_err().code(), "missing-suffix");
/// ```
#[must_use]
pub fn inspect<'a>(bytes: &'a [u8], scheme: Scheme, rules: &dyn Rules) -> Inspection<'a> {
    let outcome = utf8(bytes).and_then(|text| {
        let (identifier, by) = match scheme {
            Scheme::Any => {
                let found = recognise(text, rules)?;
                (found.identifier, Some(found.by))
            }
            _ => (parse_as(text, scheme, rules)?, None),
        };
        Ok(Inspected {
            canonical: identifier.canonical(rules),
            spellings: identifier.spellings(rules),
            recognised_by: by,
            note: note(&identifier, rules),
            registered: match &identifier {
                Identifier::Info(uri) => rules.namespace(uri.namespace()).is_registered(),
                _ => None,
            },
            identifier,
        })
    });
    Inspection {
        input: String::from_utf8_lossy(bytes),
        outcome,
    }
}

/// `CID-12`: what has the form of a CORDRA identifier is one only if its authority says so.
fn note(identifier: &Identifier<'_>, rules: &dyn Rules) -> Option<&'static str> {
    let Identifier::Handle(handle) = identifier else {
        return None;
    };
    let is_ordinary = rules.handle_profile(&handle.prefix()) == HandleProfile::Handle;
    (is_ordinary && cordra_form(identifier).is_some()).then_some(
        "it has the form of a CORDRA identifier, and is one only if its authority has that profile",
    )
}

/// The result of [`inspect()`]. With the feature `serde` it serialises as one JSON object: `input`,
/// `ok`, and either `scheme`, `canonical`, `components`, `spellings` and sometimes `note`, or
/// `error`.
///
/// ```
/// use handfast_id::{Scheme, Standard, inspect};
///
/// let inspection = inspect(b"20.1000/\xED\xA0\x80", Scheme::Any, &Standard);
/// assert_eq!(inspection.input, "20.1000/\u{FFFD}\u{FFFD}\u{FFFD}");
/// assert_eq!(inspection.outcome.unwrap_err().code(), "not-utf8");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspection<'a> {
    /// The text, with U+FFFD where it was not UTF-8.
    pub input: Cow<'a, str>,
    /// The identifier, or the error.
    pub outcome: Result<Inspected<'a>, ParseError>,
}

impl<'a> Inspection<'a> {
    /// The result for a text that is too long to be stored whole; `bytes` is its beginning.
    ///
    /// ```
    /// use handfast_id::{Inspection, Scheme};
    ///
    /// let error = Inspection::too_long(b"20.1000/aaaaaa", Scheme::Handle).outcome.unwrap_err();
    /// assert_eq!((error.code(), error.at()), ("too-long", 2_048));
    /// ```
    #[must_use]
    pub fn too_long(bytes: &'a [u8], scheme: Scheme) -> Self {
        let limit = match scheme {
            Scheme::Cordra | Scheme::Handle => MAX_HANDLE,
            _ => MAX_TEXT,
        };
        let too_long = ErrorKind::TooLong(limit).at(Part::Text, limit);
        let error = match core::str::from_utf8(bytes) {
            // A character that is cut off at the end was whole in the text.
            Err(error) if error.error_len().is_some() => {
                ErrorKind::NotUtf8.at(Part::Text, error.valid_up_to())
            }
            _ => too_long,
        };
        Self {
            input: String::from_utf8_lossy(bytes),
            outcome: Err(error),
        }
    }
}

/// An identifier with all there is to say about it.
///
/// ```
/// use handfast_id::{Component, Scheme, Standard, inspect};
///
/// let found = inspect(b"urn:urn-3:HUL.OIS:Home", Scheme::Urn, &Standard).outcome.unwrap();
/// let components = found.components();
/// assert_eq!(components[0], ("nid", Component::Text("urn-3".into())));
/// assert_eq!(components[2], ("r", Component::Absent));
/// assert_eq!(components[5], ("authority_path", Component::List(vec!["HUL", "OIS"])));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspected<'a> {
    /// The identifier.
    pub identifier: Identifier<'a>,
    /// Its canonical form under the rules.
    pub canonical: String,
    /// All its spellings.
    pub spellings: Spellings,
    /// The rule that recognised it, if no scheme was asked for.
    pub recognised_by: Option<RecognisedBy>,
    /// A remark for people.
    pub note: Option<&'static str>,
    /// Of an `info` URI: whether its namespace is registered, if the registry was consulted.
    pub registered: Option<bool>,
}

/// A component of an identifier.
///
/// ```
/// use handfast_id::{Component, Scheme, Standard, inspect};
///
/// let found = inspect(b"hdl:20.1000/x?", Scheme::Hdl, &Standard).outcome.unwrap();
/// assert_eq!(found.components()[2], ("query", Component::Text("".into())));
/// assert_eq!(found.components()[3], ("fragment", Component::Absent));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Component<'a> {
    /// It could be there and is not.
    Absent,
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    List(Vec<&'a str>),
    /// A text, which may be empty.
    Text(Cow<'a, str>),
}

impl Inspected<'_> {
    /// Its components by name, as written; `prefix`, `suffix` and `identifier` are percent-decoded,
    /// and `nid`, `namespace` and `guid` in canonical case.
    #[must_use]
    pub fn components(&self) -> Vec<(&'static str, Component<'_>)> {
        let mut components = Vec::with_capacity(8);
        let mut put = |name, component| components.push((name, component));
        match &self.identifier {
            Identifier::Ark(ark) => {
                put("naan", ark.naan().into());
                put("name", ark.name().into());
            }
            Identifier::Cordra(id) => {
                let (naming_authority, guid) = id.record().split();
                put("naming_authority", naming_authority.into());
                put("guid", guid.into());
                put("query", id.query().into());
                put("fragment", id.fragment().into());
            }
            Identifier::Doi(doi) => {
                let (prefix, suffix) = doi.handle().split();
                put("prefix", prefix.into());
                put("suffix", suffix.into());
            }
            Identifier::Handle(handle) => {
                let (prefix, suffix) = handle.split();
                put("prefix", prefix.into());
                put("suffix", suffix.into());
            }
            Identifier::Hdl(uri) => {
                let (prefix, suffix) = uri.handle().split();
                put("prefix", prefix.into());
                put("suffix", suffix.into());
                put("query", uri.query().into());
                put("fragment", uri.fragment().into());
                put("form", uri.form().as_str().into());
            }
            Identifier::Info(uri) => {
                put("namespace", uri.namespace().into());
                put(
                    "identifier",
                    uri.decoded().map_or(Component::Absent, Component::Text),
                );
                put("fragment", uri.fragment().into());
                put(
                    "registered",
                    self.registered.map_or(Component::Absent, Component::Flag),
                );
            }
            Identifier::Urn(urn) => {
                put("nid", urn.nid().into());
                put("nss", urn.nss().into());
                put("r", urn.r().into());
                put("q", urn.q().into());
                put("f", urn.f().into());
                if let Some(path) = urn.authority_path() {
                    put("authority_path", Component::List(path.collect()));
                    put("resource_name", urn.resource_name().into());
                }
            }
        }
        components
    }
}

impl<'a> From<&'a str> for Component<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<Option<&'a str>> for Component<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::from)
    }
}

#[cfg(feature = "serde")]
mod json {
    use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

    use super::{Inspected, Inspection};
    use crate::error::ParseError;

    impl Serialize for Inspection<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut object = serializer.serialize_map(None)?;
            object.serialize_entry("input", &self.input)?;
            object.serialize_entry("ok", &self.outcome.is_ok())?;
            match &self.outcome {
                Ok(found) => {
                    object.serialize_entry("scheme", found.identifier.scheme().as_str())?;
                    object.serialize_entry("canonical", &found.canonical)?;
                    object.serialize_entry("components", &ComponentsJson(found))?;
                    object.serialize_entry("spellings", &found.spellings)?;
                    if let Some(note) = found.note {
                        object.serialize_entry("note", note)?;
                    }
                }
                Err(error) => object.serialize_entry("error", error)?,
            }
            object.end()
        }
    }

    struct ComponentsJson<'a>(&'a Inspected<'a>);

    impl Serialize for ComponentsJson<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.components())
        }
    }

    impl Serialize for ParseError {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut object = serializer.serialize_struct("ParseError", 4)?;
            object.serialize_field("code", self.code())?;
            object.serialize_field("at", &self.at())?;
            object.serialize_field("message", &alloc::string::ToString::to_string(self))?;
            object.serialize_field("hint", self.remedy())?;
            object.end()
        }
    }
}
