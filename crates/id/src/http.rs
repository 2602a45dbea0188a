//! HTTP resolvers: names in web addresses.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::ark::Ark;
use crate::chars::{CharSet, PATH, PCHAR, REG_NAME, strip_scheme};
use crate::doi::Doi;
use crate::error::{ErrorKind, ParseError, Part};
use crate::handle::Handle;
use crate::hdl_uri::{self, HdlUri, check_dot_segment, read_handle};
use crate::identifier::Identifier;
use crate::percent::{self, NonAscii};
use crate::rules::Rules;
use crate::tail::Tail;
use crate::urn::Urn;

/// A web server that resolves names: what its addresses look like, and which names it serves.
///
/// ```text
/// http-form = ( "http" / "https" ) "://" authority "/" [ first "/" ] prefix "/" suffix
///             [ "?" query ] [ "#" fragment ]                                        ; (URI-9)
/// ```
///
/// The authority and, if the resolver asks for one, the first segment are configuration. Hosts are
/// compared ignoring case and the default port of the scheme.
///
/// ```
/// use handfast_id::{Handle, HttpResolver, RuleBook, Scheme, parse_as};
///
/// let resolver = HttpResolver::parse("http://arrow.resolver.au.gov:2641/hdl")?;
/// let url = resolver.url(&Handle::parse("20.1000/a/b")?)?;
/// assert_eq!(url, "http://arrow.resolver.au.gov:2641/hdl/20.1000/a%2Fb");
///
/// let rules = RuleBook::standard().with_resolver(resolver);
/// assert_eq!(parse_as(&url, Scheme::Http, &rules)?.to_string(), "hdl:20.1000/a%2Fb");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResolver {
    secure: bool,
    authority: Cow<'static, str>,
    first: Option<Cow<'static, str>>,
    serves: Serves,
    /// Whether its addresses are only read, never printed.
    is_only_read: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serves {
    /// Handles, `urn:` and `urn-<digits>:` names, `ark:` names.
    All,
    Arks,
    /// Handles, whose names are decoded as a whole where that gives a DOI (`DOI-1`).
    Dois,
    Handles,
    HarvardUrns,
}

/// The resolvers that everybody knows (§7).
static KNOWN: [HttpResolver; 5] = [
    HttpResolver::known("hdl.handle.net", Serves::Handles),
    HttpResolver::known("doi.org", Serves::Dois),
    HttpResolver::known("dx.doi.org", Serves::Dois),
    HttpResolver::known("nrs.harvard.edu", Serves::HarvardUrns),
    HttpResolver::known("n2t.net", Serves::Arks),
];

impl HttpResolver {
    /// Reads the base address of a resolver: `http[s]://authority[/first]`.
    ///
    /// ```
    /// # use handfast_id::HttpResolver;
    /// let resolver = HttpResolver::parse("https://hdl.example.org/")?;
    /// assert_eq!(resolver.to_string(), "https://hdl.example.org");
    /// assert!(HttpResolver::parse("https://example.org/two/segments").is_err());
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        hdl_uri::check_length(text)?;
        let url = HttpUrl::parse(text).ok_or_else(|| hdl_uri::wrong_scheme(text))?;
        let authority_at = text.len() - url.rest.len() - url.authority.len();
        check_authority(url.authority).map_err(|error| error.shifted(authority_at))?;
        let path_at = text.len() - url.rest.len() + 1;
        let path = url.rest.strip_prefix('/').unwrap_or(url.rest);
        let first = path.strip_suffix('/').unwrap_or(path);
        percent::check(first, path_at, &PCHAR, NonAscii::Refused, Part::Text)?;
        check_dot_segment(first, path_at)?;
        Ok(Self {
            secure: url.scheme == Some(true),
            authority: Cow::Owned(url.authority.to_string()),
            first: (!first.is_empty()).then(|| Cow::Owned(first.to_string())),
            serves: Serves::All,
            is_only_read: false,
        })
    }

    /// The addresses of a server's own names (`URI-13`), by one of its base URLs: directly behind
    /// the host, and behind `hdl/`. They are read, and only those that were configured are printed.
    ///
    /// ```
    /// use handfast_id::{HttpResolver, RuleBook, recognise};
    ///
    /// let mut rules = RuleBook::standard();
    /// for resolver in HttpResolver::own("http://127.0.0.1:8000")? {
    ///     rules = rules.with_resolver(resolver);
    /// }
    /// for path in ["20.1000/5555", "hdl/20.1000/5555", "hdl:20.1000/5555"] {
    ///     let url = format!("http://127.0.0.1:8000/{path}");
    ///     let found = recognise(&url, &rules)?.identifier;
    ///     assert_eq!(found.to_string(), "hdl:20.1000/5555");
    ///     let spelling = found.spellings(&rules).http.unwrap();
    ///     assert_eq!(spelling, "https://hdl.handle.net/20.1000/5555");
    /// }
    /// # Ok::<_, handfast_id::ParseError>(())
    /// ```
    pub fn own(base: &str) -> Result<[Self; 3], ParseError> {
        let plain = Self {
            is_only_read: true,
            ..Self::parse(base.trim_end_matches('/'))?
        };
        let behind = |first| Self {
            first: Some(Cow::Borrowed(first)),
            ..plain.clone()
        };
        Ok([behind("hdl"), behind("hdl:"), plain])
    }

    /// Whether its addresses are only read, never printed.
    #[must_use]
    pub fn is_only_read(&self) -> bool {
        self.is_only_read
    }

    /// The resolvers that everybody knows: `hdl.handle.net`, `doi.org`, `dx.doi.org`,
    /// `nrs.harvard.edu` (only `urn-3` names) and `n2t.net` (only ARKs).
    #[must_use]
    pub fn known_everywhere() -> &'static [HttpResolver] {
        &KNOWN
    }

    const fn known(host: &'static str, serves: Serves) -> Self {
        Self {
            secure: true,
            authority: Cow::Borrowed(host),
            first: None,
            serves,
            is_only_read: false,
        }
    }

    /// Host and port as configured, such as `hdl.example.org:8080`.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The first segment it asks for, if it does.
    #[must_use]
    pub fn first_segment(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// The address of a handle. A suffix of `.` or `..` has none (`URI-11`), nor has a stored name
    /// that is irregular (`HDL-8`).
    pub fn url(&self, handle: &Handle<'_>) -> Result<String, ParseError> {
        hdl_uri::check_has_uri(handle)?;
        let mut url = self.to_string();
        url.push('/');
        // Writing to a string cannot fail.
        let _ = hdl_uri::write_names(&mut url, handle);
        Ok(url)
    }

    /// The address of a URN: Harvard's stand without `urn:` (`URN-4`).
    pub(crate) fn urn_url(&self, urn: &Urn<'_>) -> String {
        let canonical = urn.to_string();
        let name = canonical
            .strip_prefix("urn:")
            .filter(|_| urn.nid() == "urn-3");
        self.name_url(name.unwrap_or(&canonical))
    }

    /// The address of a URN or ARK, which stands directly behind the host and can stand there as it
    /// is.
    pub(crate) fn name_url(&self, name: &str) -> String {
        let mut url = self.base();
        url.push('/');
        url.push_str(name);
        url
    }

    /// Scheme and authority, without the first segment.
    fn base(&self) -> String {
        let scheme = if self.secure { "https://" } else { "http://" };
        String::from(scheme) + &self.authority
    }

    /// Whether its addresses are DOIs whatever is configured (`DOI-1`).
    pub(crate) fn serves_dois(&self) -> bool {
        self.serves == Serves::Dois
    }

    pub(crate) fn serves_urns(&self) -> bool {
        matches!(self.serves, Serves::All | Serves::HarvardUrns)
    }

    pub(crate) fn serves_arks(&self) -> bool {
        matches!(self.serves, Serves::All | Serves::Arks)
    }

    pub(crate) fn serves_handles(&self) -> bool {
        matches!(self.serves, Serves::All | Serves::Dois | Serves::Handles)
    }
}

impl fmt::Display for HttpResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base())?;
        if let Some(first) = &self.first {
            f.write_str("/")?;
            f.write_str(first)?;
        }
        Ok(())
    }
}

impl FromStr for HttpResolver {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

/// `host [ ":" port ]`, where the host is a registered name or an IP literal in brackets.
fn check_authority(text: &str) -> Result<(), ParseError> {
    static ADDRESS: CharSet = CharSet::of("0123456789abcdefABCDEF:.");
    let (host, host_at, after, allowed) =
        match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((host, after)) => (host, 1, after, &ADDRESS),
            None => match text
                .find(':')
                .and_then(|colon| text.split_at_checked(colon))
            {
                Some((host, after)) => (host, 0, after, &REG_NAME),
                None => (text, 0, "", &REG_NAME),
            },
        };
    if host.is_empty() {
        return Err(ErrorKind::Empty.at(Part::Text, host_at));
    }
    percent::check(host, host_at, allowed, NonAscii::Refused, Part::Text)?;
    let port_at = text.len() - after.len();
    match after.strip_prefix(':') {
        None if after.is_empty() => Ok(()),
        Some(port) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(()),
        _ => Err(ParseError::character(
            Part::Text,
            port_at,
            after.chars().next(),
        )),
    }
}

/// Whether a text begins with `urn-<digits>:`.
pub(crate) fn is_bare_urn(text: &str) -> bool {
    let Some((nid, _)) = text.split_once(':') else {
        return false;
    };
    nid.split_at_checked(4).is_some_and(|(urn, digits)| {
        urn.eq_ignore_ascii_case("urn-")
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// A web address in its outer parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpUrl<'a> {
    text: &'a str,
    /// Whether the scheme is `https`; `None` if there is no scheme.
    scheme: Option<bool>,
    authority: &'a str,
    /// Path, query and fragment.
    rest: &'a str,
}

impl<'a> HttpUrl<'a> {
    /// Splits a text that begins with `http://` or `https://`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let strip = |scheme| strip_scheme(text, scheme)?.strip_prefix("//");
        let (secure, after) = match strip("https") {
            Some(after) => (true, after),
            None => (false, strip("http")?),
        };
        Some(Self::split(text, Some(secure), after))
    }

    /// Splits a text that may be an address without its scheme.
    pub(crate) fn without_scheme(text: &'a str) -> Self {
        Self::split(text, None, text)
    }

    fn split(text: &'a str, scheme: Option<bool>, after: &'a str) -> Self {
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(end).unwrap_or((after, ""));
        Self {
            text,
            scheme,
            authority,
            rest,
        }
    }

    /// `URI-9`: "Hosts are compared ignoring case and the scheme's default port."
    pub(crate) fn is_of(&self, resolver: &HttpResolver) -> bool {
        let own = without_default_port(&resolver.authority, resolver.secure);
        let asked = without_default_port(self.authority, self.scheme.unwrap_or(resolver.secure));
        asked.eq_ignore_ascii_case(own)
    }

    /// The path without its leading slash, and its offset.
    pub(crate) fn path(&self) -> Result<(&'a str, usize), ParseError> {
        let (body, _) = Tail::split(self.rest);
        let at = self.text.len() - self.rest.len();
        match body.strip_prefix('/') {
            Some(path) => Ok((path, at + 1)),
            None => Err(ErrorKind::MissingSuffix.at(Part::Text, at)),
        }
    }

    /// The error for an address of an unknown resolver.
    pub(crate) fn unknown_resolver(&self) -> ParseError {
        let at = self.text.len() - self.rest.len() - self.authority.len();
        ErrorKind::UnknownResolver.at(Part::Text, at)
    }

    pub(crate) fn tail(&self) -> Tail<'a> {
        Tail::split(self.rest).1
    }

    /// The identifier in an address, if it is one of a resolver that `rules` know; otherwise
    /// `None`.
    pub(crate) fn read(
        &self,
        non_ascii: NonAscii,
        rules: &dyn Rules,
    ) -> Option<Result<Identifier<'a>, ParseError>> {
        let of = |resolver: &&HttpResolver| self.is_of(resolver);
        let known = rules
            .resolvers()
            .iter()
            .chain(HttpResolver::known_everywhere());
        let mut known = known.filter(of).peekable();
        known.peek()?;
        for resolver in known {
            match self.read_under(resolver, non_ascii, rules) {
                Err(error) if error.kind() == ErrorKind::NotServed => {}
                outcome => return Some(outcome),
            }
        }
        let at = self.path().map_or_else(|error| error.at(), |(_, at)| at);
        Some(Err(ErrorKind::NotServed.at(Part::Text, at)))
    }

    fn read_under(
        &self,
        resolver: &HttpResolver,
        non_ascii: NonAscii,
        rules: &dyn Rules,
    ) -> Result<Identifier<'a>, ParseError> {
        let (path, path_at) = self.path().map_err(|error| {
            if resolver.serves_handles() {
                error
            } else {
                ErrorKind::NotServed.at(Part::Text, error.at())
            }
        })?;
        let not_served = ErrorKind::NotServed.at(Part::Text, path_at);
        // URN-4: URNs and ARKs stand directly behind the host, whatever segment handles need.
        if let Some(named) = self.read_direct_name(path_at, resolver, non_ascii, rules) {
            return named;
        }
        let names = match resolver.first_segment() {
            None => Some(path),
            Some("hdl:") => strip_scheme(path, "hdl").map(|rest| rest.trim_start_matches('/')),
            Some(first) => path
                .strip_prefix(first)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        let names = names.ok_or(not_served)?;
        let at = path_at + path.len() - names.len();
        let is_direct = |scheme| strip_scheme(names, scheme).is_some();
        let is_misplaced = is_direct("urn") || is_direct("ark") || is_bare_urn(names);
        if !resolver.serves_handles() || (resolver.serves == Serves::All && is_misplaced) {
            return Err(not_served);
        }
        self.read_names(names, at, resolver.serves_dois(), non_ascii)
    }

    /// A URN or an ARK, if the path is one that the resolver serves.
    fn read_direct_name(
        &self,
        at: usize,
        resolver: &HttpResolver,
        non_ascii: NonAscii,
        rules: &dyn Rules,
    ) -> Option<Result<Identifier<'a>, ParseError>> {
        // After a URN or an ARK its own scheme defines `?` and `#`.
        let name = self.text.get(at..).unwrap_or_default();
        if resolver.serves_urns() {
            let after = strip_scheme(name, "urn")
                .map(|after| (after, at + 4))
                .or_else(|| is_bare_urn(name).then_some((name, at)));
            let harvard = |(after, _): &(&str, usize)| strip_scheme(after, "urn-3").is_some();
            let served = after.filter(|found| resolver.serves == Serves::All || harvard(found));
            if let Some((after, at)) = served {
                let urn = Urn::parse_after_scheme(after, at, non_ascii, rules);
                return Some(urn.map(Identifier::Urn));
            }
        }
        let after = strip_scheme(name, "ark").filter(|_| resolver.serves_arks())?;
        let ark = Ark::parse_after_scheme(after, at + 4, non_ascii);
        Some(ark.map(Identifier::Ark))
    }

    fn read_names(
        &self,
        names: &'a str,
        at: usize,
        decode_whole: bool,
        non_ascii: NonAscii,
    ) -> Result<Identifier<'a>, ParseError> {
        let tail = self.tail();
        let tail_at = at + names.len();
        if decode_whole {
            let legal = percent::check(names, at, &PATH, non_ascii, Part::Suffix);
            if let Some(doi) = legal.ok().and_then(|_| Doi::encoded(names, at).ok()) {
                tail.check(tail_at, non_ascii)?;
                return Ok(Identifier::Doi(doi));
            }
        }
        // URI-10: people do write raw slashes inside the suffix.
        let handle = read_handle(names, at, &PCHAR, &PATH, non_ascii)?;
        tail.check(tail_at, non_ascii)?;
        if handle.prefix().is_doi() {
            return Doi::of_regular(handle).map(Identifier::Doi);
        }
        HdlUri::from_http(handle, tail).map(Identifier::Hdl)
    }
}

fn without_default_port(authority: &str, secure: bool) -> &str {
    let port = if secure { ":443" } else { ":80" };
    authority.strip_suffix(port).unwrap_or(authority)
}
