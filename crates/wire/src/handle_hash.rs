//! The hash that assigns each handle to one server of a site.

use crate::digest::DigestAlgorithm;

/// The hash of a handle, by a site's hash option: 0 prefix, 1 suffix, 2 whole handle
/// (`handle-protocol.md` §8.2). With n servers, the handle belongs to the server at the place
/// `handle_hash(handle, option) % n`, counted from 0 in the order of the site's record.
///
/// Options that are not known hash the whole handle, as 2 does.
///
/// ```
/// use handfast_wire::handle_hash;
///
/// assert_eq!(handle_hash("20.500.12345/abc", 2) % 3, 1_894_531_649 % 3);
/// assert_eq!(handle_hash("20.500.12345/ABC", 2), handle_hash("20.500.12345/abc", 2));
/// ```
#[must_use]
pub fn handle_hash(handle: &str, option: u8) -> u32 {
    // "For a handle without slash: prefix = `0.NA`, suffix = the handle."
    let (prefix, suffix) = handle.split_once('/').unwrap_or(("0.NA", handle));
    let part = match option {
        0 => prefix,
        1 => suffix,
        _ => handle,
    };
    let digest = DigestAlgorithm::Md5.digest(&[part.to_ascii_uppercase().as_bytes()]);
    let last = digest.last_chunk().copied().unwrap_or_default();
    // "|−2³¹| stays −2³¹ in the reference …; treat as 2³¹."
    i32::from_be_bytes(last).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_section_8_2() {
        let report = [1_502_227_973, 891_676_978, 1_894_531_649];
        let prefix = [36_223_079, 1_502_227_973, 888_771_916];
        let article = [618_843_948, 915_922_301, 720_506_085];
        let examples = [
            ("20.500.12345/abc", report),
            ("20.500.12345/ABC", report),
            ("0.NA/20.500.12345", prefix),
            ("0.na/20.500.12345", prefix),
            ("10.1045/may99-payette", article),
        ];
        for (handle, expected) in examples {
            assert_eq!(
                [0, 1, 2].map(|option| handle_hash(handle, option)),
                expected,
                "{handle}"
            );
        }
    }

    #[test]
    fn a_handle_without_a_slash_is_a_suffix_of_0_na() {
        assert_eq!(handle_hash("20.500.12345", 0), 36_223_079);
        assert_eq!(handle_hash("20.500.12345", 1), 1_502_227_973);
    }

    #[test]
    fn only_ascii_letters_fold() {
        assert_ne!(
            handle_hash("20.500.12345/ä", 2),
            handle_hash("20.500.12345/Ä", 2)
        );
    }
}
