//! Numbers and hashes in the texts of a log. Each has one spelling.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Hash;

/// An ASCII decimal without sign or leading zeros.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// RFC 4648 §4, padded; bits that do not count must be zero.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

pub(crate) fn to_base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// A hash in base64: 32 bytes, no more and no less.
pub(crate) fn hash(text: &str) -> Option<Hash> {
    from_base64(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling() {
        assert_eq!(decimal("0"), Some(0));
        assert_eq!(decimal("18446744073709551615"), Some(u64::MAX));
        for wrong in [
            "",
            "00",
            "01",
            "+1",
            "-1",
            " 1",
            "1 ",
            "18446744073709551616",
        ] {
            assert_eq!(decimal(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn hashes_have_one_spelling() {
        let text = to_base64([0; 32]);
        assert_eq!(hash(&text), Some([0; 32]));
        for wrong in [
            to_base64([0; 31]),
            to_base64([0; 33]),
            text.replace('=', ""),
            text.replace("A=", "B="),
            format!("{text}\n"),
        ] {
            assert_eq!(hash(&wrong), None, "{wrong:?}");
        }
    }
}
