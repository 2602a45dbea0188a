//! Percent-encoding (RFC 3986 §2.1): the sets of characters that are escaped, and strict decoding.
//!
//! Lenient decoding, which leaves a `%` without two digits as it is, is
//! [`percent_encoding::percent_decode_str`].

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but letters, digits and `- . _ ~` (RFC 3986 §2.3): for any part of a URL.
pub(crate) const COMPONENT: &AsciiSet = &all_but(b"-._~");
/// The same with `:` left bare: for one segment of a path.
pub(crate) const SEGMENT: &AsciiSet = &COMPONENT.remove(b':');
/// The same with `:` and `/` left bare: for a URI in a query.
pub(crate) const URI_IN_QUERY: &AsciiSet = &SEGMENT.remove(b'/');
/// RFC 3986 §2: everything but unreserved and reserved characters and `%`.
pub(crate) const NOT_IN_URIS: &AsciiSet = &all_but(b"-._~:/?#[]@!$&'()*+,;=%");

/// Everything but letters, digits and some other characters.
pub(crate) const fn all_but(mut bare: &[u8]) -> AsciiSet {
    let mut set = NON_ALPHANUMERIC.union(AsciiSet::EMPTY);
    while let [first, rest @ ..] = bare {
        set = set.remove(*first);
        bare = rest;
    }
    set
}

/// A text with the characters of a set, and all that are not ASCII, escaped.
pub(crate) fn encode(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

/// Decodes once. `None` if a `%` begins no triplet, or the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    has_whole_triplets(text).then(|| decoded.into_owned())
}

/// Decodes a part of a query or of a form, where `+` is a space.
pub(crate) fn decode_form(text: &str) -> Option<String> {
    decode(&text.replace('+', " "))
}

/// Whether each `%` begins a triplet.
pub(crate) fn has_whole_triplets(text: &str) -> bool {
    text.split('%').skip(1).all(|part| {
        let pair = part.get(..2);
        pair.is_some_and(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_decoded_once() {
        for (text, decoded) in [
            ("a%2Fb", Some("a/b")),
            ("a%252Fb", Some("a%2Fb")),
            ("a+b", Some("a+b")),
            ("%C3%BCml", Some("üml")),
            ("%", None),
            ("%2", None),
            ("%2x", None),
            ("%FF", None),
            ("%+1", None),
            ("%é", None),
        ] {
            assert_eq!(decode(text).as_deref(), decoded, "{text}");
        }
        assert_eq!(decode_form("a+b%2B").as_deref(), Some("a b+"));
    }

    #[test]
    fn names_stand_in_paths_as_one_segment() {
        let id = "20.1000/ä b+c%?#";
        assert_eq!(encode(id, SEGMENT), "20.1000%2F%C3%A4%20b%2Bc%25%3F%23");
        assert_eq!(decode(&encode(id, SEGMENT)).as_deref(), Some(id));
    }
}
