//! Archival Resource Keys.

use alloc::borrow::Cow;
use alloc::string::ToString;
use core::fmt;

use crate::chars::{ALPHANUMERIC, CharSet, DIGIT, lowercase, strip_scheme};
use crate::error::{ErrorKind, ParseError, Part};
use crate::hdl_uri::{check_canonical_length, check_length, wrong_scheme};
use crate::percent::{self, NonAscii, Piece};

/// An ARK such as `ark:12025/654xz321`.
///
/// ```text
/// ark  = "ark:" [ "/" ] naan "/" name
/// naan = 1*16( DIGIT / betanumeric letter )      ; any case, canonical lowercase
/// name = 1*( ALPHA / DIGIT / "=" / "~" / "*" / "+" / "@" / "_" / "$" / "." / "/" / "-" / triplet )
/// ```
///
/// `Display` prints the canonical form, and `==` compares it: hyphens of the name are dropped,
/// triplets are in uppercase, and `/` and `.` at the end are dropped (`ARK-1`). The name ends at
/// the first `?` or `#`; what follows is the resolver's and is not examined.
///
/// ```
/// use handfast_id::Ark;
///
/// let ark = Ark::parse("ARK:/12025/65-4-xz32-1/?info")?;
/// assert_eq!(ark.naan(), "12025");
/// assert_eq!(ark.name(), "65-4-xz32-1/");
/// assert_eq!(ark.to_string(), "ark:12025/654xz321");
/// assert_eq!(ark, Ark::parse("ark:12025/654xz321")?);
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ark<'a> {
    naan: Cow<'a, str>,
    name: Cow<'a, str>,
}

/// The digits and letters of an authority number: no vowels and no `l`, so that no words come about
/// and nothing looks like something else.
static BETANUMERIC: CharSet = DIGIT.and("bcdfghjkmnpqrstvwxzBCDFGHJKMNPQRSTVWXZ");

static NAME: CharSet = ALPHANUMERIC.and("=~*+@_$./-");

impl<'a> Ark<'a> {
    /// Reads an ARK to the letter. Nothing is copied.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        check_length(text)?;
        let rest = strip_scheme(text, "ark").ok_or_else(|| wrong_scheme(text))?;
        Self::parse_after_scheme(rest, text.len() - rest.len(), NonAscii::Refused)
    }

    /// Reads what follows `ark:`, which begins `base` bytes into the input.
    pub(crate) fn parse_after_scheme(
        text: &'a str,
        base: usize,
        non_ascii: NonAscii,
    ) -> Result<Self, ParseError> {
        let names = text.split(['?', '#']).next().unwrap_or_default();
        let (names, base) = match names.strip_prefix('/') {
            Some(names) => (names, base + 1),
            None => (names, base),
        };
        let naan = names.split('/').next().unwrap_or_default();
        if let Some((at, c)) = naan
            .char_indices()
            .take(16)
            .find(|(_, c)| !is_betanumeric(*c))
        {
            return Err(ParseError::character(Part::Naan, base + at, Some(c)));
        }
        if naan.len() > 16 || naan.is_empty() && names.starts_with('/') {
            let at = base + naan.len().min(16);
            return Err(ErrorKind::NaanLength.at(Part::Naan, at));
        }
        let name_at = base + naan.len() + 1;
        let Some(name) = names.get(naan.len() + 1..) else {
            return Err(ErrorKind::MissingName.at(Part::Text, base + names.len()));
        };
        percent::check(name, name_at, &NAME, non_ascii, Part::ArkName)?;
        let ark = Self {
            naan: Cow::Borrowed(naan),
            name: Cow::Borrowed(name),
        };
        if ark.name_without_tail().is_empty() {
            return Err(ErrorKind::EmptyName.at(Part::ArkName, name_at + name.len()));
        }
        // Only a pasted name can grow, and its hyphens do not count: the sum is mostly enough.
        if check_canonical_length("ark:/".len() + naan.len() + percent::upper_triplets_len(name))
            .is_err()
        {
            check_canonical_length(ark.to_string().len())?;
        }
        Ok(ark)
    }

    /// The authority number as written.
    #[must_use]
    pub fn naan(&self) -> &str {
        &self.naan
    }

    /// The name as written, with its qualifiers.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same ARK, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Ark<'static> {
        Ark {
            naan: Cow::Owned(self.naan.into_owned()),
            name: Cow::Owned(self.name.into_owned()),
        }
    }

    /// The name without what does not count at its end.
    fn name_without_tail(&self) -> &str {
        // Hyphens are dropped first, so one between dots and slashes at the end goes with them.
        self.name.trim_end_matches(['/', '.', '-'])
    }

    /// `NAAN "/" name` in canonical form, which `ark:` precedes.
    pub(crate) fn write_names(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&lowercase(&self.naan))?;
        out.write_char('/')?;
        for piece in percent::pieces(self.name_without_tail()) {
            match piece {
                Piece::Triplet(byte) => percent::write_triplet(out, byte)?,
                Piece::Bare(bare) => {
                    bare.split('-')
                        .try_for_each(|text| percent::write_upper_triplets(out, text))?;
                }
            }
        }
        Ok(())
    }
}

fn is_betanumeric(c: char) -> bool {
    u8::try_from(c).is_ok_and(|b| BETANUMERIC.has(b))
}

impl fmt::Display for Ark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ark:")?;
        self.write_names(f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn refused(text: &str) -> (&'static str, usize) {
        let error = Ark::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    fn canonical(text: &str) -> String {
        Ark::parse(text).unwrap().to_string()
    }

    #[test]
    fn ark_1_syntax() {
        assert_eq!(refused("ark:12025"), ("missing-name", 9));
        assert_eq!(refused("ark:12025/"), ("empty-name", 10));
        assert_eq!(refused("ark:12025/-./-"), ("empty-name", 14));
        assert_eq!(refused("ark:12e25/x"), ("bad-character", 6));
        assert_eq!(refused("ark://12025/x"), ("naan-length", 5));
        assert_eq!(refused("ark:12345678901234567/x"), ("naan-length", 20));
        assert_eq!(refused("ark:12025?/x"), ("missing-name", 9));
        assert_eq!(refused("ark:12025/a b"), ("bad-character", 11));
        assert_eq!(refused("ark:12025/a%0"), ("bad-triplet", 11));
        assert_eq!(refused("ark:12025/a%00"), ("nul-triplet", 11));
        assert_eq!(refused("12025/x"), ("no-scheme", 0));
    }

    #[test]
    fn ark_1_normalisation() {
        assert_eq!(
            canonical("ARK:/12025/654XZ321/s3."),
            "ark:12025/654XZ321/s3"
        );
        assert_eq!(canonical("ark:B5072/a%2d%2f-.-/"), "ark:b5072/a%2D%2F");
        assert_eq!(canonical("ark:12025//x"), "ark:12025//x");
        assert_eq!(canonical("ark:12025/x?%zz é#"), "ark:12025/x");
    }
}
