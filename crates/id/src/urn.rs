//! Uniform Resource Names.
//!
//! RFC 8141 defines the form of every URN; a namespace may add rules. These are data, a
//! [`UrnProfile`]: Harvard's `urn-3` is one of them (`URN-10`).

use alloc::borrow::Cow;
use core::fmt;

use crate::chars::{PATH, URIC, lowercase, strip_scheme};
use crate::error::{ErrorKind, ParseError, Part};
use crate::hdl_uri::{check_canonical_length, check_length, wrong_scheme};
use crate::percent::{self, NonAscii, Piece};
use crate::rules::{Rules, Standard};
use crate::tail::{check_fragment, owned};
use crate::urn_profile::UrnProfile;

/// A URN such as `urn:isbn:0451450523` or `urn:urn-3:HUL.OIS:Home`.
///
/// RFC 8141 §2:
///
/// ```text
/// namestring  = "urn:" NID ":" NSS [ "?+" r-component ] [ "?=" q-component ] [ "#" f-component ]
/// NID         = (alphanum) 0*30(ldh) (alphanum)      ; case-insensitive, not "urn"
/// NSS         = pchar *( pchar / "/" )
/// r-component = pchar *( pchar / "/" / "?" )         ; q-component likewise
/// f-component = *( pchar / "/" / "?" )
/// ```
///
/// `Display` prints the canonical form: scheme and NID in lowercase, the NSS as its namespace wants
/// it with triplets in uppercase, and no components. `==` compares it: r, q and f take no part in
/// equivalence, and a triplet is not equal to the character it stands for (`URN-1`, `URN-3`).
///
/// ```
/// use handfast_id::Urn;
///
/// let urn = Urn::parse("URN:URN-3:HUL.OIS:Home?+x#y")?;
/// assert_eq!(urn.nid(), "urn-3");
/// assert_eq!(urn.nss(), "HUL.OIS:Home");
/// assert_eq!((urn.r(), urn.q(), urn.f()), (Some("x"), None, Some("y")));
/// assert_eq!(urn.authority_path().unwrap().collect::<Vec<_>>(), ["HUL", "OIS"]);
/// assert_eq!(urn.resource_name(), Some("Home"));
/// assert_eq!(urn.to_string(), "urn:urn-3:hul.ois:home");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Urn<'a> {
    /// In lowercase.
    nid: Cow<'a, str>,
    /// As written.
    nss: Cow<'a, str>,
    r: Option<Cow<'a, str>>,
    q: Option<Cow<'a, str>>,
    f: Option<Cow<'a, str>>,
    ignores_case: bool,
    /// Where in the NSS the `:` stands that ends the authority path, under a profile that has one.
    authority_end: Option<usize>,
}

impl<'a> Urn<'a> {
    /// Reads a URN to the letter, with the profiles of [`Standard`]. Nothing is copied where the
    /// NID is in lowercase.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        Self::parse_with(text, &Standard)
    }

    /// Reads a URN with the profiles that `rules` know.
    pub fn parse_with(text: &'a str, rules: &dyn Rules) -> Result<Self, ParseError> {
        check_length(text)?;
        let rest = strip_scheme(text, "urn").ok_or_else(|| wrong_scheme(text))?;
        Self::parse_after_scheme(rest, text.len() - rest.len(), NonAscii::Refused, rules)
    }

    /// Reads what follows `urn:`, which begins `base` bytes into the input.
    pub(crate) fn parse_after_scheme(
        text: &'a str,
        base: usize,
        non_ascii: NonAscii,
        rules: &dyn Rules,
    ) -> Result<Self, ParseError> {
        let (assigned, f) = match text.split_once('#') {
            Some((assigned, f)) => (assigned, Some(f)),
            None => (text, None),
        };
        let nid = assigned.split(':').next().unwrap_or_default();
        check_nid(nid).map_err(|error| error.shifted(base))?;
        let nss_at = base + nid.len() + 1;
        let Some(rest) = assigned.get(nid.len() + 1..) else {
            let at = base + assigned.len();
            return Err(ErrorKind::MissingNss.at(Part::Text, at));
        };
        let (nss, components) = match rest.find('?').and_then(|at| rest.split_at_checked(at)) {
            Some((nss, components)) => (nss, components),
            None => (rest, ""),
        };
        let nid = lowercase(nid);
        let profile = rules.urn_profile(&nid);
        // Both look at every character: whichever finds the first that cannot be right is heard.
        let by_profile = profile.map_or(Ok(None), |profile| profile.read(nss, nss_at, non_ascii));
        let authority_end = match (check_nss(nss, nss_at, non_ascii), by_profile) {
            (Err(general), Err(special)) if special.at() < general.at() => return Err(special),
            (general, special) => general.and(special)?,
        };
        let components_at = nss_at + nss.len();
        let (r, q) = split_components(components, components_at)?;
        // r begins behind `?+`; q ends where the f-component, or the text, begins.
        check_component(r, components_at + 2, non_ascii, Part::RComponent)?;
        let q_at = components_at + components.len() - q.map_or(0, str::len);
        check_component(q, q_at, non_ascii, Part::QComponent)?;
        if let Some(f) = f {
            let at = base + assigned.len() + 1;
            check_fragment(f, at, non_ascii, Part::FComponent)?;
        }

        check_canonical_length("urn::".len() + nid.len() + percent::upper_triplets_len(nss))?;
        Ok(Self {
            nid,
            nss: Cow::Borrowed(nss),
            r: r.map(Cow::Borrowed),
            q: q.map(Cow::Borrowed),
            f: f.map(Cow::Borrowed),
            ignores_case: profile.is_some_and(UrnProfile::ignores_case),
            authority_end,
        })
    }

    /// The namespace identifier, in lowercase.
    #[must_use]
    pub fn nid(&self) -> &str {
        &self.nid
    }

    /// The namespace-specific string as written.
    #[must_use]
    pub fn nss(&self) -> &str {
        &self.nss
    }

    /// The r-component: parameters for a resolver.
    #[must_use]
    pub fn r(&self) -> Option<&str> {
        self.r.as_deref()
    }

    /// The q-component: parameters for the resource.
    #[must_use]
    pub fn q(&self) -> Option<&str> {
        self.q.as_deref()
    }

    /// The f-component: a place in the resource.
    #[must_use]
    pub fn f(&self) -> Option<&str> {
        self.f.as_deref()
    }

    /// The naming authorities from the root down, under a profile that has them (`URN-2`).
    #[must_use]
    pub fn authority_path(&self) -> Option<impl Iterator<Item = &str>> {
        Some(self.nss.get(..self.authority_end?)?.split('.'))
    }

    /// The name that the last authority gave, under a profile that has authorities.
    #[must_use]
    pub fn resource_name(&self) -> Option<&str> {
        self.nss.get(self.authority_end? + 1..)
    }

    /// Whether its namespace ignores ASCII case.
    #[must_use]
    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// The same URN, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Urn<'static> {
        Urn {
            nid: Cow::Owned(self.nid.into_owned()),
            nss: Cow::Owned(self.nss.into_owned()),
            r: owned(self.r),
            q: owned(self.q),
            f: owned(self.f),
            ..self
        }
    }
}

/// `URN-1`: 2–32 ASCII letters, digits, hyphens, starting and ending with a letter or digit, not
/// `urn`.
pub(crate) fn check_nid(text: &str) -> Result<(), ParseError> {
    let length = |at| Err(ErrorKind::NidLength.at(Part::Nid, at));
    let allowed = |at: usize, c: char| {
        c.is_ascii_alphanumeric() || c == '-' && at != 0 && at + 1 != text.len()
    };
    if let Some((at, c)) = text
        .char_indices()
        .take(32)
        .find(|(at, c)| !allowed(*at, *c))
    {
        return Err(ParseError::character(Part::Nid, at, Some(c)));
    }
    match text.len() {
        0 | 1 => length(text.len()),
        2..=32 if text.eq_ignore_ascii_case("urn") => Err(ErrorKind::NidReserved.at(Part::Nid, 0)),
        2..=32 => Ok(()),
        _ => length(32),
    }
}

fn check_nss(text: &str, at: usize, non_ascii: NonAscii) -> Result<(), ParseError> {
    if text.is_empty() {
        return Err(ErrorKind::EmptyNss.at(Part::Nss, at));
    }
    if text.starts_with('/') {
        return Err(ParseError::character(Part::Nss, at, Some('/')));
    }
    percent::check(text, at, &PATH, non_ascii, Part::Nss).map(|_| ())
}

type Components<'a> = (Option<&'a str>, Option<&'a str>);

/// Divides `["?+" r] ["?=" q]`: r ends at the next `?=`.
fn split_components(text: &str, at: usize) -> Result<Components<'_>, ParseError> {
    if text.is_empty() {
        return Ok((None, None));
    }
    if let Some(q) = text.strip_prefix("?=") {
        return Ok((None, Some(q)));
    }
    let Some(r) = text.strip_prefix("?+") else {
        return Err(ErrorKind::BadComponent.at(Part::Text, at));
    };
    Ok(match r.split_once("?=") {
        Some((r, q)) => (Some(r), Some(q)),
        None => (Some(r), None),
    })
}

fn check_component(
    text: Option<&str>,
    at: usize,
    non_ascii: NonAscii,
    part: Part,
) -> Result<(), ParseError> {
    let Some(text) = text else { return Ok(()) };
    match text.chars().next() {
        None => Err(ErrorKind::EmptyComponent.at(part, at)),
        Some(first @ ('/' | '?')) => Err(ParseError::character(part, at, Some(first))),
        Some(_) => percent::check(text, at, &URIC, non_ascii, part).map(|_| ()),
    }
}

impl fmt::Display for Urn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("urn:")?;
        f.write_str(&self.nid)?;
        f.write_str(":")?;
        if !self.ignores_case {
            return percent::write_upper_triplets(f, &self.nss);
        }
        for piece in percent::pieces(&self.nss) {
            match piece {
                Piece::Triplet(byte) => percent::write_triplet(f, byte)?,
                Piece::Bare(bare) => percent::write_upper_triplets(f, &bare.to_ascii_lowercase())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    fn refused(text: &str) -> (&'static str, usize) {
        let error = Urn::parse(text).unwrap_err();
        (error.code(), error.at())
    }

    fn canonical(text: &str) -> String {
        Urn::parse(text).unwrap().to_string()
    }

    #[test]
    fn urn_1_nid() {
        assert_eq!(canonical("URN:ISBN:0451450523X"), "urn:isbn:0451450523X");
        assert_eq!(refused("urn:x:y"), ("nid-length", 5));
        assert_eq!(refused("urn::y"), ("nid-length", 4));
        assert_eq!(refused("urn:-x:y"), ("bad-character", 4));
        assert_eq!(refused("urn:x-:y"), ("bad-character", 5));
        assert_eq!(refused("urn:é1:y"), ("bad-character", 4));
        assert_eq!(refused("urn:URN:y"), ("nid-reserved", 4));
        assert_eq!(
            refused(&("urn:".to_string() + &"a".repeat(33) + ":x")),
            ("nid-length", 36)
        );
        assert!(Urn::parse(&("urn:".to_string() + &"a".repeat(32) + ":x")).is_ok());
        assert_eq!(refused("urn:isbn"), ("missing-nss", 8));
        assert_eq!(refused("isbn:1"), ("wrong-scheme", 0));
    }

    #[test]
    fn urn_1_nss() {
        assert_eq!(refused("urn:example:"), ("empty-nss", 12));
        assert_eq!(refused("urn:example:/x"), ("bad-character", 12));
        assert_eq!(refused("urn:example:a<"), ("bad-character", 13));
        assert_eq!(canonical("urn:example:a%2cb/C"), "urn:example:a%2Cb/C");
        assert_ne!(
            Urn::parse("urn:example:a%2Cb"),
            Urn::parse("urn:example:a,b")
        );
    }

    #[test]
    fn urn_1_components() {
        let parts = |text| {
            let urn = Urn::parse(text).unwrap();
            [urn.r(), urn.q(), urn.f()].map(|part| part.map(ToString::to_string))
        };
        let some = |text: &str| Some(text.to_string());
        assert_eq!(
            parts("urn:example:a?+r?+s?=q?=t?+u#f?+g"),
            [some("r?+s"), some("q?=t?+u"), some("f?+g")]
        );
        assert_eq!(parts("urn:example:a#"), [None, None, some("")]);
        assert_eq!(refused("urn:example:a?b"), ("bad-component", 13));
        assert_eq!(refused("urn:example:a?"), ("bad-component", 13));
        assert_eq!(refused("urn:example:a?+"), ("empty-component", 15));
        assert_eq!(refused("urn:example:a?+?=q"), ("empty-component", 15));
        assert_eq!(refused("urn:example:a?+r?="), ("empty-component", 18));
        assert_eq!(refused("urn:example:a?=/q"), ("bad-character", 15));
        assert_eq!(refused("urn:example:a?+r?=q%"), ("bad-triplet", 19));
        assert_eq!(refused("urn:example:a#b#c"), ("second-fragment", 15));
        assert_eq!(canonical("urn:example:a?+r?=q#f"), "urn:example:a");
    }

    /// Every ASCII character in each part of a name, by the grammar of the registration.
    #[test]
    fn urn_2_characters() {
        for c in (0_u8..128).map(char::from) {
            let with = |before: &str, after: &str| [before, &c.to_string(), after].concat();
            let is_read = |text: &str| Urn::parse(text).is_ok();
            let is_authority = c.is_ascii_alphanumeric() || "()+,-=@;$_!*'".contains(c);
            // A point divides authorities, the first colon ends their path.
            let path = with("urn:urn-3:A", "B:x");
            assert_eq!(is_read(&path), is_authority || ".:".contains(c), "{path:?}");
            let alone = with("urn:urn-3:", ":x");
            assert_eq!(is_read(&alone), is_authority, "{alone:?}");
            let name = with("urn:urn-3:A:", "");
            assert_eq!(is_read(&name), is_authority || ".:".contains(c), "{name:?}");
        }
        for (text, is_read) in [
            ("urn:urn-3:%41%c3%a9:%2F%3f", true),
            ("urn:urn-3:%4:x", false),
            ("urn:urn-3:A:%4", false),
            ("urn:urn-3:A:%", false),
            ("urn:urn-3:A:%zz", false),
            ("urn:urn-3:A:é", false),
        ] {
            assert_eq!(Urn::parse(text).is_ok(), is_read, "{text}");
        }
    }

    #[test]
    fn urn_2_authority_path_and_resource_name() {
        let urn = Urn::parse("urn:urn-3:HBS.Baker.TC:a:b.c").unwrap();
        assert!(urn.authority_path().unwrap().eq(["HBS", "Baker", "TC"]));
        assert_eq!(urn.resource_name(), Some("a:b.c"));
        assert_eq!(refused("urn:urn-3:HUL.OIS"), ("missing-resource-name", 17));
        assert_eq!(refused("urn:urn-3:HUL.OIS:"), ("empty-resource-name", 18));
        assert_eq!(refused("urn:urn-3::x"), ("empty-authority", 10));
        assert_eq!(refused("urn:urn-3:HUL..OIS:x"), ("empty-authority", 14));
        assert_eq!(refused("urn:urn-3:HUL.:x"), ("empty-authority", 14));
        assert_eq!(refused("urn:urn-3:HUL.OIS:a/b"), ("bad-character", 19));
        assert_eq!(refused("urn:urn-3:H&L:a"), ("bad-character", 11));
    }

    #[test]
    fn x_5_the_first_byte_that_cannot_be_right_is_named() {
        assert_eq!(refused("urn:urn-3:H&L:a?x"), ("bad-character", 11));
        assert_eq!(refused("urn:urn-3:H&L:a#b#c"), ("bad-character", 11));
        assert_eq!(refused("urn:urn-3:H&L:a<"), ("bad-character", 11));
        assert_eq!(refused("urn:urn-3:H<L&:a"), ("bad-character", 11));
    }

    #[test]
    fn urn_3_the_whole_urn_ignores_case_but_not_triplets() {
        assert_eq!(
            canonical("urn:urn-3:HUL.OIS:A%2fB"),
            "urn:urn-3:hul.ois:a%2Fb"
        );
        assert_ne!(Urn::parse("urn:urn-3:a:%41"), Urn::parse("urn:urn-3:a:A"));
    }

    #[test]
    fn urn_10_other_namespaces_follow_urn_1() {
        let urn = Urn::parse("urn:urn-5:Jt:4").unwrap();
        assert!(urn.authority_path().is_none());
        assert_eq!(urn.to_string(), "urn:urn-5:Jt:4");
    }
}
