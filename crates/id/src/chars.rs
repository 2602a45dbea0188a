//! Character classes: those of RFC 3986, and the printable characters of a handle.

use alloc::borrow::Cow;
use core::fmt;

/// A set of ASCII characters: one bit for each byte, in words that a parser can look up fast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CharSet([u64; 4]);

impl CharSet {
    /// The ASCII characters of `chars`; others are left out.
    pub(crate) const fn of(chars: &str) -> Self {
        Self([0; 4]).and(chars)
    }

    /// The same set with the ASCII characters of `chars` in it.
    pub(crate) const fn and(self, chars: &str) -> Self {
        let [mut low, mut high, ..] = self.0;
        let mut rest = chars.as_bytes();
        while let [byte, tail @ ..] = rest {
            match *byte {
                0..64 => low |= 1 << *byte,
                64..128 => high |= 1 << (*byte - 64),
                _ => {}
            }
            rest = tail;
        }
        Self([low, high, 0, 0])
    }

    #[inline]
    pub(crate) fn has(&self, byte: u8) -> bool {
        let word = self
            .0
            .get(usize::from(byte >> 6))
            .copied()
            .unwrap_or_default();
        word >> (byte & 63) & 1 == 1
    }
}

impl fmt::Debug for CharSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = (0..=u8::MAX).filter(|byte| self.has(*byte));
        f.debug_set().entries(bytes.map(char::from)).finish()
    }
}

pub(crate) static DIGIT: CharSet = CharSet::of("0123456789");
pub(crate) static ALPHANUMERIC: CharSet =
    DIGIT.and("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

/// RFC 3986 §2.3: `unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"`.
pub(crate) static UNRESERVED: CharSet = ALPHANUMERIC.and("-._~");

/// RFC 3986 §3.2.2: the characters of a `reg-name` that need no triplet, which are `unreserved` and
/// (§2.2) `sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="`.
pub(crate) static REG_NAME: CharSet = UNRESERVED.and("!$&'()*+,;=");

/// RFC 3986 §3.3: the characters of `pchar` that need no triplet.
pub(crate) static PCHAR: CharSet = REG_NAME.and(":@");

/// A path of several segments.
pub(crate) static PATH: CharSet = PCHAR.and("/");

/// RFC 3986 §3.4 and §3.5: query and fragment are `*( pchar / "/" / "?" )`.
pub(crate) static URIC: CharSet = PATH.and("?");

/// Whether a handle may hold `c` (`HDL-3`): a character of the UCS-2 repertoire that can be seen
/// or, like the joiners of Indic and Arabic script, changes what is seen.
#[rustfmt::skip]
pub(crate) fn is_printable(c: char) -> bool {
    matches!(c, '\u{20}'..='\u{FFFF}')
        && !matches!(c,
            '\u{7F}'..='\u{9F}'       // controls
            | '\u{AD}'                // soft hyphen
            // Bidirectional controls and other invisible format characters, up to …
            | '\u{61C}'
            | '\u{200B}' | '\u{200E}' | '\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' // … here
            | '\u{E000}'..='\u{F8FF}' // private use
            | '\u{FDD0}'..='\u{FDEF}' // not characters
            | '\u{FEFF}'              // byte order mark
            | '\u{FFF9}'..='\u{FFFB}' // interlinear annotation
            | '\u{FFFE}' | '\u{FFFF}' // not characters
        )
}

/// Whether `text` begins like a URI, `ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) ":"` (RFC 3986
/// §3.1): the length of that scheme.
pub(crate) fn scheme_length(text: &str) -> Option<usize> {
    static LATER: CharSet = ALPHANUMERIC.and("+-.");
    let end = text.bytes().position(|b| !LATER.has(b))?;
    let first = text.bytes().next()?;
    (first.is_ascii_alphabetic() && text.as_bytes().get(end) == Some(&b':')).then_some(end)
}

/// The text after `scheme` and a colon, whatever the case of the scheme.
pub(crate) fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(scheme.len())?;
    head.eq_ignore_ascii_case(scheme)
        .then_some(rest)?
        .strip_prefix(':')
}

/// In ASCII lowercase; copied only if it is not.
pub(crate) fn lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hdl_3_printable_table() {
        for (from, to) in [
            (0x0, 0x1F),
            (0x7F, 0x9F),
            (0xAD, 0xAD),
            (0x61C, 0x61C),
            (0x200B, 0x200B),
            (0x200E, 0x200F),
            (0x2028, 0x202E),
            (0x2060, 0x206F),
            (0xE000, 0xF8FF),
            (0xFDD0, 0xFDEF),
            (0xFEFF, 0xFEFF),
            (0xFFF9, 0xFFFB),
            (0xFFFE, 0xFFFF),
            (0x10000, 0x1_0FFFF),
        ] {
            assert!(
                (from..=to)
                    .filter_map(char::from_u32)
                    .all(|c| !is_printable(c)),
                "{from:X}"
            );
        }
        let printable = (0..=0x0010_FFFF)
            .filter_map(char::from_u32)
            .filter(|c| is_printable(*c))
            .count();
        let refused = 0x20 + 0x21 + 1 + 1 + 1 + 2 + 7 + 16 + 0x1900 + 0x20 + 1 + 3 + 2;
        assert_eq!(printable, 0x1_0000 - 0x800 - refused);
    }

    #[test]
    fn schemes() {
        assert_eq!(scheme_length("hdl:x"), Some(3));
        assert_eq!(scheme_length("a+b-c.1:"), Some(7));
        for text in ["", ":", "1a:x", "10.1/x:y", "a/b:c", "abc"] {
            assert_eq!(scheme_length(text), None, "{text}");
        }
        assert_eq!(strip_scheme("HdL:x", "hdl"), Some("x"));
        assert_eq!(strip_scheme("é:x", "hdl"), None);
    }
}
