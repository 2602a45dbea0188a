//! Query and fragment, which follow a name and are not part of it.

use alloc::borrow::Cow;
use core::fmt;

use crate::chars::URIC;
use crate::error::{ErrorKind, ParseError, Part};
use crate::percent::{self, NonAscii};

/// `["?" query] ["#" fragment]`, preserved as written. Absent and empty differ (`URI-4`, `CID-5`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail<'a> {
    pub(crate) query: Option<Cow<'a, str>>,
    pub(crate) fragment: Option<Cow<'a, str>>,
}

impl<'a> Tail<'a> {
    /// Cuts `text` in front of its query and fragment: the fragment begins at the first `#`, the
    /// query at the first `?` before it.
    pub(crate) fn split(text: &'a str) -> (&'a str, Self) {
        let Some(end) = text.bytes().position(|b| b == b'?' || b == b'#') else {
            return (text, Self::default());
        };
        let (body, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let (before, fragment) = match rest.split_once('#') {
            Some((before, fragment)) => (before, Some(fragment)),
            None => (rest, None),
        };
        let query = before.strip_prefix('?');
        (
            body,
            Self {
                query: query.map(Cow::Borrowed),
                fragment: fragment.map(Cow::Borrowed),
            },
        )
    }

    /// Checks that both are `uric`; `at` is the offset of what follows the body.
    pub(crate) fn check(&self, at: usize, non_ascii: NonAscii) -> Result<(), ParseError> {
        let mut at = at;
        if let Some(query) = &self.query {
            percent::check(query, at + 1, &URIC, non_ascii, Part::Query)?;
            at += 1 + query.len();
        }
        if let Some(fragment) = &self.fragment {
            check_fragment(fragment, at + 1, non_ascii, Part::Fragment)?;
        }
        Ok(())
    }

    pub(crate) fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for (mark, text) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(text) = text {
                out.write_char(mark)?;
                percent::write_upper_triplets(out, text)?;
            }
        }
        Ok(())
    }

    /// How many bytes [`write`](Self::write) writes.
    pub(crate) fn written_len(&self) -> usize {
        let part = |text: &Option<Cow<'_, str>>| {
            text.as_ref()
                .map_or(0, |t| 1 + percent::upper_triplets_len(t))
        };
        part(&self.query) + part(&self.fragment)
    }

    /// How many bytes were read.
    pub(crate) fn len(&self) -> usize {
        let part = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| 1 + text.len());
        part(&self.query) + part(&self.fragment)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_none() && self.fragment.is_none()
    }

    pub(crate) fn into_owned(self) -> Tail<'static> {
        Tail {
            query: owned(self.query),
            fragment: owned(self.fragment),
        }
    }
}

/// Two tails are one when they are written the same, triplets in uppercase.
impl PartialEq<Tail<'_>> for Tail<'_> {
    fn eq(&self, other: &Tail<'_>) -> bool {
        let same = |a: &Option<Cow<'_, str>>, b: &Option<Cow<'_, str>>| match (a, b) {
            (Some(a), Some(b)) => {
                a == b || percent::with_upper_triplets(a) == percent::with_upper_triplets(b)
            }
            (None, None) => true,
            _ => false,
        };
        same(&self.query, &other.query) && same(&self.fragment, &other.fragment)
    }
}

/// Checks a fragment that began at the first `#`.
pub(crate) fn check_fragment(
    text: &str,
    at: usize,
    non_ascii: NonAscii,
    part: Part,
) -> Result<(), ParseError> {
    match percent::check(text, at, &URIC, non_ascii, part) {
        Err(error) if error.found() == Some('#') => {
            Err(ErrorKind::SecondFragment.at(part, error.at()))
        }
        outcome => outcome.map(|_| ()),
    }
}

pub(crate) fn owned(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
    text.map(|text| Cow::Owned(text.into_owned()))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn split(text: &str) -> (String, Option<String>, Option<String>) {
        let (body, tail) = Tail::split(text);
        let owned = |part: Option<Cow<'_, str>>| part.map(Cow::into_owned);
        (body.into(), owned(tail.query), owned(tail.fragment))
    }

    fn parts(
        body: &str,
        query: Option<&str>,
        fragment: Option<&str>,
    ) -> (String, Option<String>, Option<String>) {
        (body.into(), query.map(Into::into), fragment.map(Into::into))
    }

    #[test]
    fn uri_4_first_hash_then_first_question_mark() {
        assert_eq!(split("x"), parts("x", None, None));
        assert_eq!(split("x?a=b#f"), parts("x", Some("a=b"), Some("f")));
        assert_eq!(split("x#f?g"), parts("x", None, Some("f?g")));
        assert_eq!(split("x?a?b#c"), parts("x", Some("a?b"), Some("c")));
        assert_eq!(split("x?"), parts("x", Some(""), None));
        assert_eq!(split("x?#"), parts("x", Some(""), Some("")));
    }

    #[test]
    fn uri_4_a_second_hash_is_an_error() {
        let (_, tail) = Tail::split("x?q#a#b");
        let error = tail.check(1, NonAscii::Refused).unwrap_err();
        assert_eq!((error.code(), error.at()), ("second-fragment", 5));
    }
}
