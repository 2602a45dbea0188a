//! What a typed text is, in words: which kind of identifier, whether it is registered here, or what
//! is wrong with it and where.

use std::sync::Arc;

use handfast_id::{
    ErrorKind, HttpResolver, Identifier, ParseError, RecognisedBy, Rules, recognise,
};

use crate::http::Web;
use crate::http::pages::authority::AuthorityWords;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::front;
use crate::http::resolver::name_lookup::{NameLookup, find};
use crate::http::resolver::path::{NameKind, RequestedName};
use crate::http::resolver::title::title_of;

/// What a typed text is.
#[derive(Debug)]
pub(crate) struct Recognition {
    pub(crate) outcome: RecognisedAs,
    /// `A handle`.
    pub(crate) what: &'static str,
    /// `, written as an hdl URI`.
    pub(crate) written: &'static str,
    /// As it is registered, or in its canonical form.
    pub(crate) canonical: String,
    pub(crate) title: Option<String>,
    /// The title of its authority.
    pub(crate) authority: Option<String>,
    /// What is wrong at the marked place, and what to do.
    pub(crate) words: String,
    /// How identifiers look, for a text that is none.
    pub(crate) advice: String,
    pub(crate) mark: Option<MarkedText>,
}

/// Whether a text is registered, unknown or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecognisedAs {
    Active,
    /// A name of a prefix that is registered on another server.
    Foreign,
    /// A name of an authority that is registered here, and has no such name.
    Missing,
    /// An identifier that is not of this registry.
    Other,
    Withdrawn,
    Wrong,
}

/// A text with the place where it is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MarkedText {
    pub(crate) before: String,
    pub(crate) at: String,
    pub(crate) after: String,
}

/// The longest text that is looked at while somebody types.
const MAX_TYPED: usize = 4 << 10;

impl Recognition {
    /// Reads a typed text; `None` if there is none.
    pub(crate) fn of(web: &Arc<Web>, typed: &str, own: &[HttpResolver]) -> Option<Self> {
        let rules = web.registry().rules();
        if typed.trim().is_empty() || typed.len() > MAX_TYPED {
            return None;
        }
        let found = match front::path_of_typed(typed, own, &rules) {
            Ok(found) => found,
            Err(failure) => return Some(Self::wrong(&failure, None)),
        };
        let path = found.path.split('?').next().unwrap_or_default();
        let Ok(asked) = RequestedName::read(path, None).map(RequestedName::into_owned) else {
            return Some(Self::wrong(&front::no_identifier(), None));
        };
        let looked_up = find(web.registry(), &asked);
        let read = recognise(typed, &rules);
        let (what, written) = match &read {
            Ok(read) => kind(&read.identifier, read.by, &rules),
            Err(_) if asked.kind == NameKind::Prefix => ("A prefix", ""),
            Err(_) => ("An identifier", ", written as an address of this server"),
        };
        if let Err(error) = &read
            && !found.is_identifier
            && !is_known(&looked_up)
            && !front::is_numeric_prefix(&asked)
        {
            return Some(Self::wrong(&front::no_identifier(), Some((typed, error))));
        }
        let canonical = match &read {
            Ok(read) => best_spelling(&read.identifier, &rules),
            Err(_) => asked.written.to_string(),
        };
        let mut shown = Self {
            outcome: RecognisedAs::Other,
            what,
            written,
            authority: AuthorityWords::of_name(web, &asked.text).map(|found| found.title),
            canonical,
            title: None,
            words: String::new(),
            advice: String::new(),
            mark: None,
        };
        match looked_up {
            Ok(NameLookup::Name(name)) => {
                shown.outcome = RecognisedAs::Active;
                shown.title = title_of(&name.values);
                if asked.kind != NameKind::Prefix {
                    shown.canonical = name.text;
                }
            }
            Ok(NameLookup::Withdrawn(name)) => {
                shown.outcome = RecognisedAs::Withdrawn;
                shown.title.clone_from(&name.title);
                shown.canonical = name.text;
            }
            Ok(NameLookup::Foreign) => shown.outcome = RecognisedAs::Foreign,
            _ if shown.authority.is_some() => shown.outcome = RecognisedAs::Missing,
            _ => {}
        }
        Some(shown)
    }

    /// A text that is no identifier, with the place where it stops being one.
    pub(crate) fn wrong(failure: &Failure, place: Option<(&str, &ParseError)>) -> Self {
        let specific = place.filter(|(_, error)| is_specific(error.kind()));
        Self {
            outcome: RecognisedAs::Wrong,
            what: "",
            written: "",
            canonical: String::new(),
            title: None,
            authority: None,
            words: specific
                .map(|(_, error)| words_of(error))
                .unwrap_or_default(),
            // What is exactly wrong in the parts of an identifier has its own remedy. A text
            // without parts may be none at all.
            advice: match specific {
                Some((typed, _)) if typed.contains(['/', ':']) => String::new(),
                _ => failure.detail.clone(),
            },
            mark: specific.map(|(typed, error)| MarkedText::new(typed, error.at())),
        }
    }

    pub(crate) fn is_wrong(&self) -> bool {
        self.outcome == RecognisedAs::Wrong
    }

    /// The state of the name, as a badge shows it.
    pub(crate) fn state(&self) -> &'static str {
        match self.outcome {
            RecognisedAs::Active => "active",
            RecognisedAs::Withdrawn => "withdrawn",
            _ => "",
        }
    }

    /// The prefix of a handle.
    pub(crate) fn prefix(&self) -> &str {
        self.canonical.split('/').next().unwrap_or_default()
    }
}

fn is_known(found: &Result<NameLookup, handfast_registry::RegistryError>) -> bool {
    let known =
        |found: &NameLookup| matches!(found, NameLookup::Name(_) | NameLookup::Withdrawn(_));
    found.as_ref().is_ok_and(known)
}

/// A text without a prefix is a word: the general advice is enough.
fn is_specific(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::Empty | ErrorKind::MissingSuffix | ErrorKind::EmptyPrefix
    )
}

/// The error in a sentence, and the remedy in another.
fn words_of(error: &ParseError) -> String {
    if error.kind() == ErrorKind::WhiteSpace {
        return format!("A blank stands in {}. Remove it.", error.part());
    }
    let sentence = |text: String| {
        let mut characters = text.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        let whole: String = first.chain(characters).collect();
        whole + "."
    };
    let (wrong, remedy) = (error.to_string(), error.remedy().to_string());
    format!("{} {}", sentence(wrong), sentence(remedy)).replace('`', "")
}

/// What an identifier is, and how it is written.
fn kind(
    identifier: &Identifier<'_>,
    by: RecognisedBy,
    rules: &dyn Rules,
) -> (&'static str, &'static str) {
    let named = identifier.named(rules);
    let what = match named.as_ref().unwrap_or(identifier) {
        Identifier::Ark(_) => "An ARK",
        Identifier::Cordra(_) => "A CORDRA identifier",
        Identifier::Doi(_) => "A DOI",
        Identifier::Handle(_) | Identifier::Hdl(_) => "A handle",
        Identifier::Info(_) => "An info URI",
        Identifier::Urn(_) => "A URN",
    };
    let written = match (by, identifier) {
        (RecognisedBy::Resolver, _) => ", written as a web address",
        (RecognisedBy::Scheme, Identifier::Doi(_)) => ", written as a doi URI",
        (RecognisedBy::Scheme, Identifier::Hdl(_) | Identifier::Handle(_)) => {
            ", written as an hdl URI"
        }
        (RecognisedBy::Scheme, Identifier::Info(_)) if named.is_some() => {
            ", written as an info URI"
        }
        (RecognisedBy::BareUrn, _) => ", written without urn:",
        _ => "",
    };
    (what, written)
}

/// The spelling that people know an identifier by.
fn best_spelling(identifier: &Identifier<'_>, rules: &dyn Rules) -> String {
    let all = identifier.spellings(rules);
    let best = all.handle.or(all.urn).or(all.ark);
    best.unwrap_or_else(|| identifier.canonical(rules))
}

impl MarkedText {
    /// Marks the character at a byte, or the end of the text if something is missing there.
    fn new(text: &str, at: usize) -> Self {
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let mut characters = rest.chars();
        let at = characters.next().filter(|c| !c.is_whitespace());
        Self {
            before: before.to_string(),
            at: at.map_or_else(|| "\u{A0}".to_string(), |c| c.to_string()),
            after: characters.as_str().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use handfast_id::Standard;

    use super::*;

    #[test]
    fn the_place_of_an_error_is_marked() {
        let marked = |text: &str| {
            let error = recognise(text, &Standard).unwrap_err();
            let mark = MarkedText::new(text, error.at());
            (mark.before, mark.at, mark.after, words_of(&error))
        };
        let (before, at, after, words) = marked("10.1045 /april2006-paskin");
        assert_eq!((before.as_str(), at.as_str()), ("10.1045", "\u{A0}"));
        assert_eq!(after, "/april2006-paskin");
        assert_eq!(words, "A blank stands in the prefix. Remove it.");
        let (before, at, after, words) = marked("20.1000/");
        assert_eq!(
            (before.as_str(), at.as_str(), after.as_str()),
            ("20.1000/", "\u{A0}", "")
        );
        assert!(
            words.starts_with("There is no suffix after the /. Write"),
            "{words}"
        );
        assert_eq!(MarkedText::new("ü", 1).before, "ü");
    }

    #[test]
    fn identifiers_are_named_as_people_call_them() {
        for (text, words) in [
            ("20.1000/5555", "A handle"),
            ("HDL:20.1000/5555", "A handle, written as an hdl URI"),
            (
                "https://doi.org/10.1000/182",
                "A DOI, written as a web address",
            ),
            ("doi:10.1000/182", "A DOI, written as a doi URI"),
            ("info:hdl/20.1000/5555", "A handle, written as an info URI"),
            ("info:lccn/2002022641", "An info URI"),
            ("ark:12025/654xz321", "An ARK"),
            ("urn:isbn:0451450523", "A URN"),
            ("urn-3:HUL.OIS:Home", "A URN, written without urn:"),
        ] {
            let read = recognise(text, &Standard).unwrap();
            let (what, written) = kind(&read.identifier, read.by, &Standard);
            assert_eq!(format!("{what}{written}"), words, "{text}");
        }
    }
}
