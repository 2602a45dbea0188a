//! Percent triplets: checking, decoding, writing.
//!
//! A triplet is `%` and two hex digits (`X-1`). Decoding happens once, never twice; triplets are
//! written with uppercase hex digits (`X-2`).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use percent_encoding::{AsciiSet, percent_decode_str, percent_encode_byte, utf8_percent_encode};

use crate::chars::CharSet;
use crate::error::{ErrorKind, ParseError, Part};

/// Whether a raw non-ASCII character may stand for itself, as it may in an HTTP URL that a person
/// pasted (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonAscii {
    Refused,
    Stands,
}

/// Checks that `text` consists of characters in `allowed` and triplets, none of them `%00`. Returns
/// whether it contains a triplet. Offsets in errors count from `base` bytes before it.
pub(crate) fn check(
    text: &str,
    base: usize,
    allowed: &CharSet,
    non_ascii: NonAscii,
    part: Part,
) -> Result<bool, ParseError> {
    let mut has_triplet = false;
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [] => return Ok(has_triplet),
            [byte, tail @ ..] if allowed.has(*byte) => rest = tail,
            [b'%', tail @ ..] => {
                let at = base + text.len() - rest.len();
                let (value, tail) = hex_pair(tail).ok_or(ErrorKind::BadTriplet.at(part, at))?;
                if value == 0 {
                    return Err(ErrorKind::NulTriplet.at(part, at));
                }
                has_triplet = true;
                rest = tail;
            }
            [byte, tail @ ..] if !byte.is_ascii() && non_ascii == NonAscii::Stands => rest = tail,
            _ => {
                let index = text.len() - rest.len();
                let found = text.get(index..).and_then(|rest| rest.chars().next());
                return Err(ParseError::character(part, base + index, found));
            }
        }
    }
}

/// The value of the two hex digits at the start, and what follows them.
fn hex_pair(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = bytes else {
        return None;
    };
    Some((hex_value(*high)? << 4 | hex_value(*low)?, rest))
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// A piece of percent-encoded text: a character as it stands, or a triplet and the byte it stands
/// for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Bare(&'a str),
    Triplet(u8),
}

/// The pieces of `text`, with runs of bare characters together. A `%` that begins no triplet is
/// bare; checked text has none.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    core::iter::from_fn(move || {
        if let Some((value, _)) = rest
            .strip_prefix('%')
            .and_then(|tail| hex_pair(tail.as_bytes()))
        {
            rest = rest.get(3..).unwrap_or_default();
            return Some(Piece::Triplet(value));
        }
        if rest.is_empty() {
            return None;
        }
        let skip = usize::from(rest.starts_with('%'));
        let end = rest
            .get(skip..)
            .and_then(|tail| tail.find('%'))
            .map_or(rest.len(), |i| i + skip);
        let (bare, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(Piece::Bare(bare))
    })
}

/// Decodes all triplets of checked text; `None` if the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    decode_or_offset(text).ok().map(Cow::Owned)
}

/// Decodes all triplets of checked text. `Err` is the offset in `text` of the first triplet that is
/// not part of valid UTF-8.
pub(crate) fn decode_or_offset(text: &str) -> Result<String, usize> {
    decode_behind(&[], text)
}

/// The error that `check` finds in the decoded form of `head`, the part of a text before a place
/// that is known to be wrong: the first byte that cannot be right may stand in it (`X-5`). A
/// character is added first, so that nothing is called missing, or last, that only was not read.
pub(crate) fn earlier_error(
    head: &str,
    base: usize,
    part: Part,
    check: impl FnOnce(&str) -> Result<(), ParseError>,
) -> Option<ParseError> {
    let mut bytes = Vec::with_capacity(head.len() + 1);
    bytes.extend(percent_decode_str(head));
    let valid = match core::str::from_utf8(&bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    // A character that is cut off at the end could still have been completed.
    let broken = core::str::from_utf8(&bytes).is_err_and(|error| error.error_len().is_some());
    bytes.truncate(valid);
    let mut text = String::from_utf8(bytes).unwrap_or_default();
    text.push('x');
    let in_text = check(&text).err().filter(|error| error.at() < valid);
    in_text
        .map(|error| error.moved_to(base + encoded_offset(head, error.at())))
        .or_else(|| {
            let at = base + encoded_offset(head, valid);
            broken.then(|| ErrorKind::NotUtf8Triplets.at(part, at))
        })
}

/// The texts of `head`, and behind them `text` with its triplets decoded; errors as above.
pub(crate) fn decode_behind(head: &[&str], text: &str) -> Result<String, usize> {
    let head_len = head.iter().map(|text| text.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(head_len + text.len());
    for text in head {
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend(percent_decode_str(text));
    String::from_utf8(bytes).map_err(|error| {
        let decoded = error.utf8_error().valid_up_to().saturating_sub(head_len);
        encoded_offset(text, decoded)
    })
}

/// Where in `text` the byte stands that comes `decoded` bytes into its decoded form.
pub(crate) fn encoded_offset(text: &str, decoded: usize) -> usize {
    let (mut from, mut to) = (0, 0);
    for piece in pieces(text) {
        let (raw, plain) = match piece {
            Piece::Bare(bare) => (bare.len(), bare.len()),
            Piece::Triplet(_) => (3, 1),
        };
        if to + plain > decoded {
            return from + (decoded - to);
        }
        from += raw;
        to += plain;
    }
    text.len()
}

/// Writes literal `text`, percent-encoding all that is not in `allowed`.
pub(crate) fn write_encoded(
    out: &mut dyn fmt::Write,
    text: &str,
    allowed: &CharSet,
) -> fmt::Result {
    let mut rest = text;
    loop {
        let end = rest
            .bytes()
            .position(|b| !allowed.has(b))
            .unwrap_or(rest.len());
        let (plain, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        out.write_str(plain)?;
        let Some(c) = tail.chars().next() else {
            return Ok(());
        };
        write_triplets(out, c)?;
        rest = tail.get(c.len_utf8()..).unwrap_or_default();
    }
}

/// How many bytes [`write_encoded`] writes.
pub(crate) fn encoded_len(text: &str, allowed: &CharSet) -> usize {
    text.bytes()
        .map(|b| if allowed.has(b) { 1 } else { 3 })
        .sum()
}

/// Writes percent-encoded `text` as it stands, triplets in uppercase, and pasted non-ASCII
/// characters as triplets.
pub(crate) fn write_upper_triplets(out: &mut dyn fmt::Write, text: &str) -> fmt::Result {
    for piece in pieces(text) {
        match piece {
            Piece::Triplet(byte) => write_triplet(out, byte)?,
            Piece::Bare(bare) if bare.is_ascii() => out.write_str(bare)?,
            Piece::Bare(bare) => {
                // All that is not ASCII is encoded, whatever the set.
                write!(out, "{}", utf8_percent_encode(bare, &AsciiSet::EMPTY))?;
            }
        }
    }
    Ok(())
}

/// The output of [`write_upper_triplets`].
pub(crate) fn with_upper_triplets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = write_upper_triplets(&mut out, text);
    out
}

/// How many bytes [`write_upper_triplets`] writes.
pub(crate) fn upper_triplets_len(text: &str) -> usize {
    text.bytes().map(|b| if b.is_ascii() { 1 } else { 3 }).sum()
}

fn write_triplets(out: &mut dyn fmt::Write, c: char) -> fmt::Result {
    c.encode_utf8(&mut [0; 4])
        .bytes()
        .try_for_each(|byte| write_triplet(out, byte))
}

pub(crate) fn write_triplet(out: &mut dyn fmt::Write, byte: u8) -> fmt::Result {
    out.write_str(percent_encode_byte(byte))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::chars::{PCHAR, UNRESERVED};

    fn encoded(text: &str) -> String {
        let mut out = String::new();
        write_encoded(&mut out, text, &UNRESERVED).unwrap();
        assert_eq!(out.len(), encoded_len(text, &UNRESERVED));
        out
    }

    #[test]
    fn x_1_a_percent_sign_without_two_digits_is_an_error() {
        for (text, at) in [("%", 0), ("a%4", 1), ("%4g", 0), ("%%41", 0), ("%41%é1", 3)] {
            let error = check(text, 0, &PCHAR, NonAscii::Refused, Part::Query).unwrap_err();
            assert_eq!(
                (error.kind(), error.at()),
                (ErrorKind::BadTriplet, at),
                "{text}"
            );
        }
        assert_eq!(
            check("%41b%c3%A9", 0, &PCHAR, NonAscii::Refused, Part::Query),
            Ok(true)
        );
    }

    #[test]
    fn x_2_triplets_are_written_in_uppercase() {
        let mut out = String::new();
        write_upper_triplets(&mut out, "a%c3%a9b%2fé").unwrap();
        assert_eq!(out, "a%C3%A9b%2F%C3%A9");
        assert_eq!(out.len(), upper_triplets_len("a%c3%a9b%2fé"));
    }

    #[test]
    fn x_8_nul_is_refused() {
        let error = check("ab%00", 4, &PCHAR, NonAscii::Refused, Part::Query).unwrap_err();
        assert_eq!((error.kind(), error.at()), (ErrorKind::NulTriplet, 6));
        let guid = "F58FB49EB1F848F0A606E84CEF294BE5";
        for text in [
            "hdl:20.1/a%00",
            "hdl:20%00/a",
            "hdl://20.1/a?%00",
            "info:x/%00",
            "info:x/a#%00",
            "urn:urn-3:A:%00",
            "urn:example:%00",
            "ark:12025/a%00",
        ] {
            let error = crate::recognise(text, &crate::Standard).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NulTriplet, "{text}");
        }
        for tail in ["?%00", "#%00"] {
            let text = ["1/", guid, tail].concat();
            let error = crate::CordraId::parse(&text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NulTriplet, "{text}");
        }
    }

    #[test]
    fn decodes_once_and_encodes_back() {
        for text in ["", "a b", "100%", "中/é?", "%41"] {
            assert_eq!(decode(&encoded(text)).unwrap(), text);
        }
        assert_eq!(decode("%2541").unwrap(), "%41");
        assert_eq!(decode("%ff"), None);
        assert_eq!(encoded("a/é"), "a%2F%C3%A9".to_string());
    }

    #[test]
    fn offsets_lead_back_to_the_encoded_text() {
        assert_eq!(decode_or_offset("a%C3%A9%ffb"), Err(7));
        assert_eq!(encoded_offset("a%20b%20c", 3), 5);
        assert_eq!(encoded_offset("abc", 9), 3);
    }
}
