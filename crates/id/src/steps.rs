//! Normalisation steps of `info` namespaces.
//!
//! A namespace may state an ordered list of steps that run after `INFO-4` (d). Steps see the
//! identifier, never the fragment, as *tokens*: a token is a bare character, or the run of triplets
//! that encodes one Unicode character. It is compared by its character (`%20` is a blank, `%2F` a
//! slash) and keeps its spelling. A triplet that is not part of valid UTF-8 is a token that matches
//! nothing. A step that does not fit changes nothing.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::chars::PATH;
use crate::error::ParseError;
use crate::hdl_uri::{MAX_TEXT, check_canonical_length};
use crate::pattern::{Pattern, PatternError};
use crate::percent;
use crate::words::words;

/// An ordered list of normalisation steps, at most 16.
///
/// ```
/// use handfast_id::{Step, Steps};
///
/// // The rules of `lccn`: blanks out; cut at the first slash; zero-fill behind the hyphen.
/// let steps = Steps::new(vec![Step::strip(" ")?, Step::cut_at('/')?, Step::pad_after('-', 6)?])?;
/// assert_eq!(steps.apply("85-2%20".into())?, "85000002");
/// assert_eq!(steps.apply("75-425165%2F%2Fr75".into())?, "75425165");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<Step>);

impl Steps {
    /// The most steps an entry may have.
    pub const MAX: usize = 16;

    /// A list of steps.
    pub fn new(steps: Vec<Step>) -> Result<Self, StepError> {
        if steps.len() > Self::MAX {
            return Err(StepError::TooMany { count: steps.len() });
        }
        Ok(Self(steps))
    }

    /// The short form of most entries (`INFO-6`): strip a set of characters, then fold case.
    pub fn short(strip: &str, fold: Option<Fold>) -> Result<Self, StepError> {
        let mut steps = Vec::new();
        if !strip.is_empty() {
            steps.push(Step::strip(strip)?);
        }
        steps.extend(fold.map(Step::fold));
        Ok(Self(steps))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps in order.
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }

    /// Runs all steps on an identifier that has been normalised by `INFO-4`.
    pub fn apply(&self, identifier: String) -> Result<String, ParseError> {
        let mut text = identifier;
        for step in &self.0 {
            text = step.apply(&text).unwrap_or(text);
            // Steps can add characters: stop before they add any amount (`X-4`).
            check_canonical_length(text.len())?;
        }
        Ok(text)
    }
}

/// One normalisation step.
///
/// ```
/// use handfast_id::{Fold, Step};
///
/// let step = Step::fold_before(Fold::Lower, '/')?;
/// assert_eq!(step.apply("EXAMPLE:3/DS1").as_deref(), Some("example:3/DS1"));
/// assert_eq!(step.apply("example:3/DS1"), None); // nothing to change
/// assert_eq!(step.to_string(), "fold lower before \"/\"");
/// # Ok::<_, handfast_id::StepError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step(Action);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    CutAt(char),
    Fold(Fold),
    FoldBefore(Fold, char),
    PadAfter(char, usize),
    Rewrite(Pattern, String),
    Strip(String),
    Trim(String),
}

words! {
    /// Which way ASCII letters are folded.
    ///
    /// ```
    /// use handfast_id::{Fold, Step};
    ///
    /// assert_eq!(Step::fold(Fold::Upper).apply("a%c3b").as_deref(), Some("A%c3B"));
    /// ```
    Fold {
        /// `A-Z` to `a-z`.
        Lower = "lower",
        /// `a-z` to `A-Z`.
        Upper = "upper",
    }
}

impl Step {
    /// Drop every token whose character is in `chars`.
    pub fn strip(chars: &str) -> Result<Self, StepError> {
        check_chars(chars)?;
        Ok(Self(Action::Strip(chars.to_string())))
    }

    /// Drop such tokens from both ends.
    pub fn trim(chars: &str) -> Result<Self, StepError> {
        check_chars(chars)?;
        Ok(Self(Action::Trim(chars.to_string())))
    }

    /// Keep what precedes the first token `c`.
    pub fn cut_at(c: char) -> Result<Self, StepError> {
        check_char(c)?;
        Ok(Self(Action::CutAt(c)))
    }

    /// If `c` occurs once and 1 to `width` tokens follow it, all ASCII digits: drop `c` and
    /// left-fill what follows with `0` to `width`, which is at most 255.
    pub fn pad_after(c: char, width: usize) -> Result<Self, StepError> {
        check_char(c)?;
        if !(1..=255).contains(&width) {
            return Err(StepError::Width { width });
        }
        Ok(Self(Action::PadAfter(c, width)))
    }

    /// Fold bare ASCII letters; triplets never change.
    #[must_use]
    pub fn fold(fold: Fold) -> Self {
        Self(Action::Fold(fold))
    }

    /// Fold the tokens before the first `c`; all of them if there is none.
    pub fn fold_before(fold: Fold, c: char) -> Result<Self, StepError> {
        check_char(c)?;
        Ok(Self(Action::FoldBefore(fold, c)))
    }

    /// If `pattern` matches the whole decoded text, it becomes `replacement`, in which `$1` … stand
    /// for groups, encoded anew: `pchar` and `/` bare, the rest as triplets.
    pub fn rewrite(pattern: &str, replacement: &str) -> Result<Self, StepError> {
        let pattern = Pattern::new(pattern).map_err(StepError::Pattern)?;
        if replacement.len() > MAX_REPLACEMENT {
            return Err(StepError::Replacement {
                length: replacement.len(),
            });
        }
        if replacement.contains('\0') {
            return Err(StepError::Character { found: '\0' });
        }
        Ok(Self(Action::Rewrite(pattern, replacement.to_string())))
    }

    /// The result of the step for a normalised identifier; `None` if it changes nothing.
    #[must_use]
    pub fn apply(&self, text: &str) -> Option<String> {
        let tokens = || tokens(text);
        let changed = match &self.0 {
            Action::CutAt(c) => text.get(..position(text, *c)?)?.to_string(),
            Action::Fold(fold) => folded(text, text.len(), *fold),
            Action::FoldBefore(fold, c) => {
                folded(text, position(text, *c).unwrap_or(text.len()), *fold)
            }
            Action::PadAfter(c, width) => padded(text, *c, *width)?,
            Action::Rewrite(pattern, replacement) => rewritten(text, pattern, replacement)?,
            Action::Strip(chars) => tokens()
                .filter(|token| !token.is_in(chars))
                .map(|token| token.text)
                .collect(),
            Action::Trim(chars) => {
                let mut inner: Vec<_> = tokens().skip_while(|token| token.is_in(chars)).collect();
                while inner.pop_if(|token| token.is_in(chars)).is_some() {}
                inner.iter().map(|token| token.text).collect()
            }
        };
        (changed != text).then_some(changed)
    }
}

/// The longest replacement, in bytes.
const MAX_REPLACEMENT: usize = 1_024;

/// A bare character, or the run of triplets that encodes one.
struct Token<'a> {
    text: &'a str,
    /// The character it stands for; `None` for a triplet that is no part of valid UTF-8.
    character: Option<char>,
}

impl Token<'_> {
    fn is(&self, c: char) -> bool {
        self.character == Some(c)
    }

    fn is_in(&self, chars: &str) -> bool {
        self.character.is_some_and(|c| chars.contains(c))
    }
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let (length, character) = match rest.chars().next()? {
            '%' => match (2..=4)
                .rev()
                .chain([1])
                .find_map(|count| triplets(rest, count))
            {
                Some((length, c)) => (length, Some(c)),
                None => (3, None),
            },
            c => (c.len_utf8(), Some(c)),
        };
        let (token, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = tail;
        Some(Token {
            text: token,
            character,
        })
    })
}

/// The character that the first `count` triplets of `text` encode together, and their length.
fn triplets(text: &str, count: usize) -> Option<(usize, char)> {
    let encoded = text.get(..3 * count)?;
    let all_triplets = encoded.bytes().step_by(3).all(|b| b == b'%');
    let decoded = percent::decode(encoded).filter(|_| all_triplets)?;
    let mut chars = decoded.chars();
    let c = chars.next()?;
    chars.next().is_none().then_some((encoded.len(), c))
}

/// The offset of the first token that stands for `c`.
fn position(text: &str, c: char) -> Option<usize> {
    let mut at = 0;
    for token in tokens(text) {
        if token.is(c) {
            return Some(at);
        }
        at += token.text.len();
    }
    None
}

fn folded(text: &str, end: usize, fold: Fold) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for token in tokens(text) {
        match (token.text.as_bytes(), fold) {
            ([b'%', ..], _) => out.push_str(token.text),
            _ if at >= end => out.push_str(token.text),
            (_, Fold::Lower) => out.push_str(&token.text.to_ascii_lowercase()),
            (_, Fold::Upper) => out.push_str(&token.text.to_ascii_uppercase()),
        }
        at += token.text.len();
    }
    out
}

fn padded(text: &str, c: char, width: usize) -> Option<String> {
    let at = position(text, c)?;
    let (head, tail) = text.split_at_checked(at)?;
    let following: Vec<_> = tokens(tail).skip(1).collect();
    let fits = (1..=width).contains(&following.len())
        && following
            .iter()
            .all(|token| token.character.is_some_and(|c| c.is_ascii_digit()));
    if !fits {
        return None;
    }
    let mut out = String::from(head);
    out.extend(core::iter::repeat_n('0', width - following.len()));
    out.extend(following.iter().map(|token| token.text));
    Some(out)
}

fn rewritten(text: &str, pattern: &Pattern, replacement: &str) -> Option<String> {
    let decoded = percent::decode(text)?;
    let captures = pattern.captures(&decoded)?;
    let mut literal = String::new();
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('$') {
        // Too long already, and only getting longer: the caller refuses it.
        if literal.len() > MAX_TEXT {
            break;
        }
        literal.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = after.split_at_checked(digits)?;
        match number.parse::<usize>() {
            Ok(group) => literal.push_str(captures.get(group).map_or("", |group| group.as_str())),
            Err(_) => literal.push('$'),
        }
        rest = tail;
    }
    literal.push_str(rest);
    let mut out = String::with_capacity(literal.len());
    percent::write_encoded(&mut out, &literal, &PATH).ok()?;
    Some(out)
}

/// The characters that steps may name: ASCII punctuation, and the blank.
fn check_char(c: char) -> Result<(), StepError> {
    if c == ' ' || c.is_ascii_punctuation() {
        Ok(())
    } else {
        Err(StepError::Character { found: c })
    }
}

fn check_chars(chars: &str) -> Result<(), StepError> {
    if chars.is_empty() {
        return Err(StepError::NoCharacters);
    }
    chars.chars().try_for_each(check_char)
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Action::CutAt(c) => write!(f, "cut-at \"{c}\""),
            Action::Fold(fold) => write!(f, "fold {}", fold.as_str()),
            Action::FoldBefore(fold, c) => write!(f, "fold {} before \"{c}\"", fold.as_str()),
            Action::PadAfter(c, width) => write!(f, "pad-after \"{c}\" {width}"),
            Action::Rewrite(pattern, replacement) => {
                write!(f, "rewrite \"{}\" to \"{replacement}\"", pattern.as_str())
            }
            Action::Strip(chars) => write!(f, "strip \"{chars}\""),
            Action::Trim(chars) => write!(f, "trim \"{chars}\""),
        }
    }
}

/// Why a step cannot be taken.
///
/// ```
/// use handfast_id::{Step, StepError};
///
/// assert_eq!(Step::strip("-x"), Err(StepError::Character { found: 'x' }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A character that is neither ASCII punctuation nor a blank.
    #[error("{found:?} is neither ASCII punctuation nor a blank")]
    Character {
        /// The character.
        found: char,
    },
    /// No characters to look for.
    #[error("the step names no characters")]
    NoCharacters,
    /// A pattern that does not compile.
    #[error("the pattern is not valid: {0}")]
    Pattern(PatternError),
    /// A replacement longer than 1,024 bytes.
    #[error("a replacement has at most {MAX_REPLACEMENT} bytes, this one has {length}")]
    Replacement {
        /// Its length.
        length: usize,
    },
    /// More than 16 steps.
    #[error("an entry has at most {} steps, this one has {count}", Steps::MAX)]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Not the name and arguments of a step.
    #[error("{step} is not a step")]
    Unknown {
        /// The step as it was given.
        step: String,
    },
    /// A width that is not 1 to 255.
    #[error("a width is 1 to 255, not {width}")]
    Width {
        /// The width.
        width: usize,
    },
}

#[cfg(feature = "historical")]
mod json {
    use serde_json::Value;

    use super::{Fold, Step, StepError, Steps};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    impl Steps {
        /// Reads a list of steps in JSON, as `data/info-namespaces.json` has it.
        ///
        /// ```
        /// use handfast_id::Steps;
        ///
        /// let steps = Steps::from_json(r#"[["strip", "-"], ["fold", "lower", "before", "/"]]"#)?;
        /// assert_eq!(steps.apply("A-B/C".into())?, "ab/C");
        /// assert!(Steps::from_json(r#"[["shout"]]"#).is_err());
        /// # Ok::<_, Box<dyn std::error::Error>>(())
        /// ```
        pub fn from_json(json: &str) -> Result<Self, StepError> {
            let unknown = |_| StepError::Unknown {
                step: json.to_string(),
            };
            let steps: Vec<Value> = serde_json::from_str(json).map_err(unknown)?;
            let steps = steps.iter().map(Step::from_json);
            Self::new(steps.collect::<Result<_, _>>()?)
        }
    }

    impl Step {
        /// A step as `info-registry.md` §6 writes it in JSON.
        pub(crate) fn from_json(step: &Value) -> Result<Self, StepError> {
            let unknown = || StepError::Unknown {
                step: step.to_string(),
            };
            let one = |text: &str| {
                let mut chars = text.chars();
                chars
                    .next()
                    .filter(|_| chars.next().is_none())
                    .ok_or_else(unknown)
            };
            let fold = |text: &str| match text {
                "lower" => Ok(Fold::Lower),
                "upper" => Ok(Fold::Upper),
                _ => Err(unknown()),
            };
            let parts = step
                .as_array()
                .map(alloc::vec::Vec::as_slice)
                .unwrap_or_default();
            let Some((name, arguments)) = parts.split_first() else {
                return Err(unknown());
            };
            match (name.as_str().unwrap_or_default(), arguments) {
                ("strip", [Value::String(chars)]) => Self::strip(chars),
                ("trim", [Value::String(chars)]) => Self::trim(chars),
                ("cut-at", [Value::String(c)]) => Self::cut_at(one(c)?),
                ("pad-after", [Value::String(c), width]) => {
                    let width = width.as_u64().and_then(|width| usize::try_from(width).ok());
                    Self::pad_after(one(c)?, width.ok_or_else(unknown)?)
                }
                ("fold", [Value::String(case)]) => Ok(Self::fold(fold(case)?)),
                ("fold", [Value::String(case), Value::String(word), Value::String(c)])
                    if word == "before" =>
                {
                    Self::fold_before(fold(case)?, one(c)?)
                }
                ("rewrite", [Value::String(pattern), Value::String(replacement)]) => {
                    Self::rewrite(pattern, replacement)
                }
                _ => Err(unknown()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(step: Result<Step, StepError>, text: &str) -> String {
        step.unwrap()
            .apply(text)
            .unwrap_or_else(|| text.to_string())
    }

    #[test]
    fn info_6_tokens_are_compared_by_what_they_stand_for() {
        assert_eq!(applied(Step::strip(" /"), "a%20b/c%2Fd"), "abcd");
        assert_eq!(applied(Step::trim("./"), "/.a/b%2F."), "a/b");
        assert_eq!(applied(Step::trim("./"), "./."), "");
        assert_eq!(applied(Step::cut_at('/'), "ab%2Fcd/e"), "ab");
        assert_eq!(applied(Step::cut_at('/'), "abcd"), "abcd");
    }

    #[test]
    fn info_6_a_triplet_outside_utf8_matches_nothing_and_stays() {
        assert_eq!(applied(Step::strip("-"), "%FF-%E4%B8-%AD"), "%FF%E4%B8%AD");
        assert_eq!(applied(Step::rewrite(".*", "x"), "%FF"), "%FF");
        assert_eq!(
            applied(Step::rewrite("中(.)", "$1$$1"), "%E4%B8%AD/"),
            "/$/"
        );
    }

    #[test]
    fn info_6_pad_after_needs_one_mark_and_few_digits() {
        let pad = |text| applied(Step::pad_after('-', 6), text);
        assert_eq!(pad("n78-89035"), "n78089035");
        assert_eq!(pad("n78-1234567"), "n78-1234567");
        assert_eq!(pad("a-1-2"), "a-1-2");
        assert_eq!(pad("a-"), "a-");
        assert_eq!(pad("a-1x"), "a-1x");
        assert_eq!(pad("-1"), "000001");
    }

    #[test]
    fn info_6_folding_never_touches_a_triplet() {
        assert_eq!(
            applied(Ok(Step::fold(Fold::Lower)), "AB%2FC%C3%A9"),
            "ab%2Fc%C3%A9"
        );
        assert_eq!(
            applied(Step::fold_before(Fold::Lower, '/'), "AB%2FC/D"),
            "ab%2FC/D"
        );
        assert_eq!(applied(Step::fold_before(Fold::Upper, '/'), "ab"), "AB");
    }

    #[test]
    fn info_6_rewriting_encodes_anew() {
        assert_eq!(
            applied(Step::rewrite("(.) (.)", "$2 <$1>"), "a%20b"),
            "b%20%3Ca%3E"
        );
        assert_eq!(applied(Step::rewrite("(x)?a", "[$1$9]"), "a"), "%5B%5D");
        assert_eq!(applied(Step::rewrite("a|(b)", "$1b"), "b"), "bb");
    }

    #[test]
    fn x_4_steps_that_multiply_are_stopped() {
        let double = Step::rewrite("(.*)", &"$1".repeat(16)).unwrap();
        let steps = Steps::new(alloc::vec![double; 16]).unwrap();
        assert_eq!(
            steps.apply("abcdefgh".into()).unwrap_err().code(),
            "too-long"
        );
    }

    #[test]
    fn steps_are_checked_when_they_are_made() {
        assert!(Step::strip("").is_err());
        assert!(Step::cut_at('é').is_err());
        assert!(Step::pad_after('-', 0).is_err());
        assert!(Step::rewrite("(", "").is_err());
        assert!(Steps::new(alloc::vec![Step::fold(Fold::Lower); 17]).is_err());
    }
}
