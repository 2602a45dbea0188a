//! Profiles: the rules of a URN namespace for its names.

use alloc::borrow::Cow;

use crate::chars::{ALPHANUMERIC, CharSet, PATH};
use crate::error::{ErrorKind, ParseError, Part};
use crate::pattern::Pattern;
use crate::percent::{self, NonAscii};
use crate::urn::check_nid;

/// The profile of a URN namespace: grammar, case rule and registration (`URN-10`).
///
/// A NID without a profile follows RFC 8141 alone. Harvard's profile, for `urn-3`, ships with the
/// crate; others are made from data.
///
/// ```
/// use handfast_id::{NssGrammar, RuleBook, Urn, UrnProfile};
///
/// // Another university takes Harvard's rules for its own namespace.
/// let profile = UrnProfile::new("urn-42", NssGrammar::harvard())?.ignoring_case(true);
/// let rules = RuleBook::standard().with_urn_profile(profile);
/// let urn = Urn::parse_with("urn:urn-42:LIB.Maps:Atlas-7", &rules)?;
/// assert_eq!(urn.resource_name(), Some("Atlas-7"));
/// assert_eq!(urn.to_string(), "urn:urn-42:lib.maps:atlas-7");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct UrnProfile {
    nid: Cow<'static, str>,
    grammar: NssGrammar,
    ignores_case: bool,
    registration: UrnRegistration,
}

impl UrnProfile {
    /// A profile for a NID, case-sensitive and without registration data.
    pub fn new(nid: &str, grammar: NssGrammar) -> Result<Self, ParseError> {
        check_nid(nid)?;
        Ok(Self {
            nid: Cow::Owned(nid.to_ascii_lowercase()),
            grammar,
            ignores_case: false,
            registration: UrnRegistration::default(),
        })
    }

    /// The profile of Harvard's namespace `urn-3` (`URN-2`, `URN-3`).
    #[must_use]
    pub fn harvard() -> &'static Self {
        &HARVARD
    }

    /// The same profile with another case rule. Names that ignore case are canonical in lowercase.
    #[must_use]
    pub fn ignoring_case(mut self, ignores_case: bool) -> Self {
        self.ignores_case = ignores_case;
        self
    }

    /// The same profile with registration data.
    #[must_use]
    pub fn with_registration(mut self, registration: UrnRegistration) -> Self {
        self.registration = registration;
        self
    }

    /// The NID it is for, in lowercase.
    #[must_use]
    pub fn nid(&self) -> &str {
        &self.nid
    }

    /// The grammar of its names.
    #[must_use]
    pub fn grammar(&self) -> &NssGrammar {
        &self.grammar
    }

    /// Whether the whole URN ignores ASCII case.
    #[must_use]
    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// Whether its names are given by a tree of delegated authorities.
    #[must_use]
    pub fn is_delegated(&self) -> bool {
        matches!(self.grammar, NssGrammar::Delegated(_))
    }

    /// Who registered the namespace.
    #[must_use]
    pub fn registration(&self) -> &UrnRegistration {
        &self.registration
    }

    /// Checks a NSS; returns where its authority path ends, if it has one.
    pub(crate) fn read(
        &self,
        nss: &str,
        base: usize,
        non_ascii: NonAscii,
    ) -> Result<Option<usize>, ParseError> {
        match &self.grammar {
            NssGrammar::Any => Ok(None),
            NssGrammar::Delegated(grammar) => grammar.read(nss, base, non_ascii).map(Some),
            NssGrammar::Matching(pattern) if pattern.matches(nss) => Ok(None),
            NssGrammar::Matching(_) => Err(ErrorKind::PatternMismatch.at(Part::Nss, base)),
        }
    }
}

/// The registration data of a URN namespace, shown in the register.
///
/// ```
/// use handfast_id::UrnProfile;
///
/// assert_eq!(UrnProfile::harvard().registration().date, "2001-02-27");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrnRegistration {
    /// Who declared the namespace.
    pub registrant: Cow<'static, str>,
    /// For whom they did.
    pub affiliation: Cow<'static, str>,
    /// Their postal address.
    pub address: Cow<'static, str>,
    /// How to reach them.
    pub contact: Cow<'static, str>,
    /// The version of the registration.
    pub version: Cow<'static, str>,
    /// Its date, `YYYY-MM-DD`.
    pub date: Cow<'static, str>,
}

/// The grammar of the names of a URN namespace.
///
/// ```
/// use handfast_id::{NssGrammar, Pattern, RuleBook, Urn, UrnProfile};
///
/// let digits = NssGrammar::Matching(Pattern::new("[0-9]{13}")?);
/// let rules = RuleBook::standard().with_urn_profile(UrnProfile::new("isbn", digits)?);
/// assert!(Urn::parse_with("urn:isbn:9780451450524", &rules).is_ok());
/// assert!(Urn::parse_with("urn:isbn:0451450523", &rules).is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NssGrammar {
    /// RFC 8141 and no more.
    Any,
    /// An authority path, `:`, and a resource name.
    Delegated(DelegatedGrammar),
    /// The text as written, triplets included, matches a pattern.
    Matching(Pattern),
}

impl NssGrammar {
    /// The grammar of Harvard's `urn-3`.
    #[must_use]
    pub fn harvard() -> Self {
        Self::Delegated(DelegatedGrammar::HARVARD)
    }
}

/// Names given by delegated authorities, as in the registration of `urn-3`:
///
/// ```text
/// nss           = authoritypath ":" resourcename   ; the first ":" divides them
/// authoritypath = authority *( "." authority )
/// authority     = 1*authoritychar
/// resourcename  = 1*( authoritychar / "." / ":" )
/// authoritychar = letter / digit / <extra> / triplet
/// ```
///
/// ```
/// use handfast_id::{DelegatedGrammar, NssGrammar, UrnProfile};
///
/// // Letters, digits and hyphens only.
/// let grammar = DelegatedGrammar::new("-")?;
/// let profile = UrnProfile::new("urn-42", NssGrammar::Delegated(grammar))?;
/// assert!(profile.is_delegated());
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelegatedGrammar {
    authority: CharSet,
    resource: CharSet,
}

impl DelegatedGrammar {
    /// Harvard's: `( ) + , - = @ ; $ _ ! * '` beside letters and digits.
    pub const HARVARD: Self = Self::with_extra("()+,-=@;$_!*'");

    const fn with_extra(extra: &str) -> Self {
        let authority = ALPHANUMERIC.and(extra);
        Self {
            authority,
            resource: authority.and(".:"),
        }
    }

    /// A grammar whose authority names may hold, beside letters, digits and triplets, the
    /// characters `extra`, which must be allowed in a URN and neither `.`, `:` nor `/`.
    pub fn new(extra: &str) -> Result<Self, ParseError> {
        let allowed =
            |c: char| u8::try_from(c).is_ok_and(|b| PATH.has(b)) && !matches!(c, '.' | ':' | '/');
        if let Some((at, c)) = extra.char_indices().find(|(_, c)| !allowed(*c)) {
            return Err(ParseError::character(Part::AuthorityPath, at, Some(c)));
        }
        Ok(Self::with_extra(extra))
    }

    /// The characters that authority names may have beside letters, digits and triplets.
    ///
    /// ```
    /// use handfast_id::DelegatedGrammar;
    ///
    /// assert!(DelegatedGrammar::new("-_")?.extra().eq("-_".chars()));
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn extra(&self) -> impl Iterator<Item = char> {
        let authority = self.authority;
        let extra = move |b: &u8| authority.has(*b) && !b.is_ascii_alphanumeric();
        (0..128_u8).filter(extra).map(char::from)
    }

    fn read(self, nss: &str, base: usize, non_ascii: NonAscii) -> Result<usize, ParseError> {
        let end = nss.find(':').unwrap_or(nss.len());
        let (path, rest) = nss.split_at_checked(end).unwrap_or((nss, ""));
        let mut at = base;
        for authority in path.split('.') {
            percent::check(
                authority,
                at,
                &self.authority,
                non_ascii,
                Part::AuthorityPath,
            )?;
            if authority.is_empty() {
                let kind = if rest.is_empty() && at == base + nss.len() {
                    ErrorKind::MissingResourceName
                } else {
                    ErrorKind::EmptyAuthority
                };
                return Err(kind.at(Part::AuthorityPath, at));
            }
            at += authority.len() + 1;
        }
        let Some(name) = rest.strip_prefix(':') else {
            let at = base + nss.len();
            return Err(ErrorKind::MissingResourceName.at(Part::Nss, at));
        };
        if name.is_empty() {
            return Err(ErrorKind::EmptyResourceName.at(Part::ResourceName, at));
        }
        percent::check(name, at, &self.resource, non_ascii, Part::ResourceName)?;
        Ok(end)
    }
}

static HARVARD: UrnProfile = UrnProfile {
    nid: Cow::Borrowed("urn-3"),
    grammar: NssGrammar::Delegated(DelegatedGrammar::HARVARD),
    ignores_case: true,
    registration: UrnRegistration {
        registrant: Cow::Borrowed("Stephen Abrams"),
        affiliation: Cow::Borrowed("Harvard University Library"),
        address: Cow::Borrowed(
            "Office for Information Systems, 1280 Massachusetts Avenue, Suite 404, Cambridge, MA \
             02138",
        ),
        contact: Cow::Borrowed("nrsadm@hulmail.harvard.edu"),
        version: Cow::Borrowed("1"),
        date: Cow::Borrowed("2001-02-27"),
    },
};
