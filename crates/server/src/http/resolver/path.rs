//! From the path of a request to a name (`http-interfaces.md` B.1, `URI-9`, `URI-10`, `URN-4`).

use crate::http::percent::has_whole_triplets;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

use handfast_registry::with_slash;

/// A name as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedName<'p> {
    /// As the registry reads it.
    pub(crate) text: Cow<'p, str>,
    /// As it stands in the path, without first segment and scheme.
    pub(crate) written: Cow<'p, str>,
    pub(crate) kind: NameKind,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Handle,
    /// A prefix alone, whose record is meant.
    Prefix,
    Urn,
    /// An ARK or another `info` URI.
    Other,
}

/// A path that names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPath {
    /// A `%` without two hex digits behind it.
    Triplet,
    /// Triplets that are no text.
    Utf8,
}

impl BadPath {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Triplet => "a % in the path has no two hexadecimal digits behind it",
            Self::Utf8 => "the path is not UTF-8",
        }
    }
}

/// Schemes of handles.
const OF_HANDLES: [&str; 5] = ["hdl/", "hdl:", "doi:", "info:hdl/", "info:doi/"];
/// Handles that were written as URNs: a colon may stand for the slash.
const AS_URNS: [&str; 3] = ["urn:hdl:", "urn:doi:", "urn:eidr:"];

impl<'p> RequestedName<'p> {
    /// Reads a path; of a URN, with the components that the query holds. The query itself is not
    /// part of the name.
    pub(crate) fn read(path: &'p str, query: Option<&str>) -> Result<Self, BadPath> {
        let path = path.trim_start_matches('/');
        // No scheme begins with a digit, and most prefixes do.
        if path.starts_with(|first: char| first.is_ascii_digit()) {
            return Self::handle(path);
        }
        if let Some(colons) = with_colons(path) {
            return RequestedName::read(&colons, query).map(RequestedName::into_owned);
        }
        if let Some(rest) = OF_HANDLES.iter().find_map(|scheme| strip(path, scheme)) {
            return Self::handle(rest.trim_start_matches('/'));
        }
        if let Some(rest) = AS_URNS.iter().find_map(|scheme| strip(path, scheme)) {
            let Some((prefix, suffix)) = rest.split_once([':', '/']) else {
                return Self::handle(rest);
            };
            let handle = format!("{prefix}/{suffix}");
            return RequestedName::handle(&handle).map(RequestedName::into_owned);
        }
        let kind = kind_of(path);
        if kind == NameKind::Handle {
            return Self::handle(path);
        }
        // RFC 8141: `?+` and `?=` begin components of a URN.
        let components =
            query.filter(|query| kind == NameKind::Urn && query.starts_with(['+', '=']));
        let text = match components {
            Some(components) => Cow::Owned(format!("{path}?{components}")),
            None => Cow::Borrowed(path),
        };
        Ok(Self {
            text,
            written: Cow::Borrowed(path),
            kind,
        })
    }

    /// A name that a person typed, or that stands in a query.
    pub(crate) fn typed(text: &str) -> RequestedName<'static> {
        let text = text.trim();
        RequestedName {
            text: Cow::Owned(text.to_string()),
            written: Cow::Owned(text.to_string()),
            kind: kind_of(text),
        }
    }

    fn handle(written: &'p str) -> Result<Self, BadPath> {
        let text = if written.contains('%') {
            Cow::Owned(text_of(written)?)
        } else {
            Cow::Borrowed(written)
        };
        let (kind, text) = if text.contains('/') {
            (NameKind::Handle, text)
        } else {
            (NameKind::Prefix, Cow::Owned(with_slash(&text)))
        };
        Ok(Self {
            text,
            written: Cow::Borrowed(written),
            kind,
        })
    }

    /// The name without the components of a URN.
    pub(crate) fn without_components(&self) -> &str {
        match self.kind {
            NameKind::Urn => &self.written,
            _ => &self.text,
        }
    }

    pub(crate) fn into_owned(self) -> RequestedName<'static> {
        RequestedName {
            text: Cow::Owned(self.text.into_owned()),
            written: Cow::Owned(self.written.into_owned()),
            kind: self.kind,
        }
    }
}

/// A path whose scheme is written with `%3A`, as `encodeURIComponent` does, with colons: behind the
/// scheme, behind the NID, and the first one in the name of a URN.
fn with_colons(path: &str) -> Option<String> {
    let end = path.find('%')?;
    let scheme = path.get(..end)?;
    let is_urn = scheme.eq_ignore_ascii_case("urn") || is_bare_urn(&format!("{scheme}:"));
    let is_in_nss = strip(path, "urn").is_some() && path.get(..end)?.contains(':');
    let is_other = ["ark", "doi", "hdl", "info"]
        .iter()
        .any(|other| scheme.eq_ignore_ascii_case(other));
    if !(is_urn || is_other || is_in_nss) {
        return None;
    }
    // Those of `urn:`, of the NID and of the authority path; of other schemes, that of the scheme.
    let mut left = match (
        is_other,
        strip(path, "urn:").is_some() || scheme.eq_ignore_ascii_case("urn"),
    ) {
        (true, _) => 1,
        (_, true) => 3,
        (_, false) => 2,
    };
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    let mut is_changed = false;
    while left > 0
        && let Some(at) = rest.find([':', '%'])
    {
        let (before, behind) = rest.split_at_checked(at)?;
        out.push_str(before);
        if let Some(after) = strip(behind, "%3A") {
            is_changed = true;
            out.push(':');
            rest = after;
        } else if let Some(after) = behind.strip_prefix(':') {
            out.push(':');
            rest = after;
        } else {
            break;
        }
        left -= 1;
    }
    if rest.is_empty() || !is_changed {
        return None;
    }
    out.push_str(rest);
    Some(out)
}

/// Decodes triplets once; `+` stays.
fn text_of(written: &str) -> Result<String, BadPath> {
    if !has_whole_triplets(written) {
        return Err(BadPath::Triplet);
    }
    let text = percent_decode_str(written).decode_utf8();
    text.map(Cow::into_owned).map_err(|_| BadPath::Utf8)
}

/// The rest of a text behind a scheme, which may be in any case.
pub(crate) fn strip<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(scheme.len())?;
    head.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// The kind of a name, by its scheme.
fn kind_of(text: &str) -> NameKind {
    let is_scheme = |scheme: &str| strip(text, scheme).is_some();
    if is_scheme("urn:") || is_bare_urn(text) {
        NameKind::Urn
    } else if is_scheme("ark:") || is_scheme("info:") {
        NameKind::Other
    } else {
        NameKind::Handle
    }
}

/// `urn-<digits>:…`
fn is_bare_urn(text: &str) -> bool {
    let number = strip(text, "urn-").and_then(|rest| rest.split_once(':'));
    number.is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_handle_gives_it() {
        for path in [
            "/20.1/a/b",
            "//20.1/a/b",
            "/20.1/a%2Fb",
            "/20.1%2fa/b",
            "/hdl/20.1/a/b",
            "/hdl:20.1/a%2Fb",
            "/HDL://20.1/a%2Fb",
            "/info:hdl/20.1/a/b",
            "/urn:hdl:20.1:a/b",
            "/urn:hdl:20.1/a/b",
        ] {
            let asked = RequestedName::read(path, Some("x=1")).unwrap();
            assert_eq!(
                (asked.text.as_ref(), asked.kind),
                ("20.1/a/b", NameKind::Handle),
                "{path}"
            );
        }
    }

    #[test]
    fn components_of_a_urn_belong_to_it_and_other_queries_do_not() {
        for (path, query, text) in [
            ("/urn:a:b", Some("=q"), "urn:a:b?=q"),
            ("/urn:a:b", Some("+r?=q"), "urn:a:b?+r?=q"),
            ("/urn:a:b", Some("q"), "urn:a:b"),
            ("/URN-3:hul.ois:home", None, "URN-3:hul.ois:home"),
        ] {
            let asked = RequestedName::read(path, query).unwrap();
            assert_eq!((asked.text.as_ref(), asked.kind), (text, NameKind::Urn));
        }
    }

    /// `/urn%3Aurn-3%3ATMP%3Amulti`, as `encodeURIComponent` writes it, was not found.
    #[test]
    fn urn_4_colons_may_be_triplets() {
        for (path, text) in [
            ("/urn%3Aurn-3%3ATMP%3Amulti", "urn:urn-3:TMP:multi"),
            ("/urn-3%3ATMP%3amulti", "urn-3:TMP:multi"),
            ("/urn-3:TMP%3Amulti", "urn-3:TMP:multi"),
            ("/urn:isbn%3A045", "urn:isbn:045"),
            // Behind them a triplet is not the character that it stands for (URN-3).
            ("/urn-3:TMP:a%3Ab", "urn-3:TMP:a%3Ab"),
            ("/info%3Alccn/a%3Ab", "info:lccn/a%3Ab"),
            ("/hdl%3A20.1/a%3Ab", "20.1/a:b"),
            ("/20.1/a%3Ab", "20.1/a:b"),
        ] {
            assert_eq!(
                RequestedName::read(path, None).unwrap().text,
                text,
                "{path}"
            );
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (path, bad) in [
            ("/20.1/%zz", BadPath::Triplet),
            ("/20.1/%2", BadPath::Triplet),
            ("/20.1/%", BadPath::Triplet),
            ("/20.1/%ff", BadPath::Utf8),
        ] {
            assert_eq!(RequestedName::read(path, None), Err(bad), "{path}");
        }
        assert_eq!(
            RequestedName::read("/20.1", None).unwrap().text,
            "0.NA/20.1"
        );
        assert_eq!(
            RequestedName::read("/20.1/%00", None).unwrap().text,
            "20.1/\0"
        );
    }
}
