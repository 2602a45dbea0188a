//! Traits that all identifiers have: read from text, and strings in serde formats, which are
//! written in canonical form and read to the letter.

use alloc::string::ToString;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

use crate::{Ark, CordraId, Doi, Handle, HdlUri, InfoUri, ParseError, Prefix, Urn};

macro_rules! read_from_text {
    ($($type:ident),*) => {$(
        impl FromStr for $type<'static> {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                $type::parse(text).map($type::into_owned)
            }
        }

        impl Eq for $type<'_> {}
    )*};
}

read_from_text!(Ark, CordraId, Doi, Handle, HdlUri, InfoUri, Prefix, Urn);

macro_rules! compared_in_canonical_form {
    ($($type:ident),*) => {$(
        impl PartialEq<$type<'_>> for $type<'_> {
            fn eq(&self, other: &$type<'_>) -> bool {
                self.to_string() == other.to_string()
            }
        }

        impl Hash for $type<'_> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.to_string().hash(state);
            }
        }
    )*};
}

compared_in_canonical_form!(Ark, InfoUri, Urn);

#[cfg(feature = "serde")]
mod json {
    use alloc::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, Serializer};

    use super::{Ark, CordraId, Doi, Handle, HdlUri, InfoUri, Prefix, Urn};
    use crate::{Guid, HttpResolver};

    macro_rules! as_string {
        ($($type:ty, $owned:ty;)*) => {$(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl<'de> Deserialize<'de> for $owned {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let text = Cow::<'de, str>::deserialize(deserializer)?;
                    text.parse().map_err(D::Error::custom)
                }
            }
        )*};
    }

    as_string! {
        Ark<'_>, Ark<'static>;
        CordraId<'_>, CordraId<'static>;
        Doi<'_>, Doi<'static>;
        Guid, Guid;
        Handle<'_>, Handle<'static>;
        HdlUri<'_>, HdlUri<'static>;
        HttpResolver, HttpResolver;
        InfoUri<'_>, InfoUri<'static>;
        Prefix<'_>, Prefix<'static>;
        Urn<'_>, Urn<'static>;
    }
}

#[cfg(all(test, feature = "serde", feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_strings_and_bad_ones_are_refused() {
        let handle: Handle<'static> = serde_json::from_str(r#""20.1000/caf\u00e9""#).unwrap();
        assert_eq!(serde_json::to_string(&handle).unwrap(), r#""20.1000/café""#);
        let urn: Urn<'static> = serde_json::from_str(r#""URN:URN-3:A:b?+r""#).unwrap();
        assert_eq!(serde_json::to_string(&urn).unwrap(), r#""urn:urn-3:a:b""#);
        let error = serde_json::from_str::<Prefix<'static>>(r#""20..1""#).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the prefix has an empty segment"),
            "{error}"
        );
    }
}
