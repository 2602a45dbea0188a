//! Patterns: the syntax that an authority states for its names.

use alloc::string::{String, ToString};

use regex::{Captures, Regex, RegexBuilder};

/// A regular expression that a whole text must match, in time linear in the text.
///
/// The syntax is that of the `regex` crate; `^` and `$` may be written and change nothing. At most
/// 1,024 bytes long.
///
/// ```
/// use handfast_id::Pattern;
///
/// let pattern = Pattern::new("[A-Z]{2}[0-9]{6}")?;
/// assert!(pattern.matches("AB000001"));
/// assert!(!pattern.matches("AB000001 and more"));
/// assert!(Pattern::new("(").is_err());
/// # Ok::<_, handfast_id::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    whole: Regex,
}

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_024;

/// The most memory a compiled pattern may take. Repetitions of repetitions would take any amount.
const MAX_COMPILED: usize = 1 << 20;

/// The most memory that matching may take beside that, for each thread that matches: compiled
/// patterns are cached.
const MAX_MATCHING: usize = 512 << 10;

impl Pattern {
    /// Compiles a pattern.
    pub fn new(source: &str) -> Result<Self, PatternError> {
        Self::within(source, MAX_COMPILED)
    }

    /// Compiles a pattern with a memory limit, in bytes, up to the general limit. The cost of
    /// matching each byte of a text grows with it: use a smaller limit for untrusted patterns.
    ///
    /// ```
    /// use handfast_id::Pattern;
    ///
    /// assert!(Pattern::within("[a-z]{2}[0-9]{6}", 1 << 17).is_ok());
    /// assert!(Pattern::within("((a?){90}){90}", 1 << 17).is_err());
    /// ```
    pub fn within(source: &str, bytes: usize) -> Result<Self, PatternError> {
        let bytes = bytes.min(MAX_COMPILED);
        if source.len() > MAX_PATTERN {
            return Err(PatternError::TooLong {
                length: source.len(),
            });
        }
        // Compiled alone first: `a)(b` must not become a pattern by being put in parentheses.
        compile(source, bytes)?;
        let mut whole = String::with_capacity(source.len() + 10);
        whole.push_str(r"\A(?:");
        whole.push_str(source);
        whole.push_str(r")\z");
        Ok(Self {
            source: source.to_string(),
            whole: compile(&whole, bytes)?,
        })
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the whole of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.whole.captures(text)
    }
}

fn compile(source: &str, bytes: usize) -> Result<Regex, PatternError> {
    RegexBuilder::new(source)
        .size_limit(bytes)
        .dfa_size_limit(MAX_MATCHING)
        .build()
        .map_err(|error| PatternError::Syntax {
            message: error.to_string(),
        })
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

/// Why a pattern cannot be taken.
///
/// ```
/// use handfast_id::{Pattern, PatternError};
///
/// let error = Pattern::new(&"a".repeat(2_000)).unwrap_err();
/// assert!(matches!(error, PatternError::TooLong { length: 2_000 }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is no regular expression, or one that takes too much memory.
    #[error("{message}")]
    Syntax {
        /// The error of the pattern compiler.
        message: String,
    },
    /// It is longer than 1,024 bytes.
    #[error("a pattern has at most {MAX_PATTERN} bytes, this one has {length}")]
    TooLong {
        /// Its length.
        length: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_8_the_whole_text_must_match() {
        let pattern = Pattern::new("^a|ab$").unwrap();
        assert!(pattern.matches("a") && pattern.matches("ab"));
        assert!(!pattern.matches("abc") && !pattern.matches("ab\n"));
    }

    #[test]
    fn parentheses_cannot_be_closed_from_inside() {
        assert!(Pattern::new("a)|(b").is_err());
        assert!(Pattern::new("(?x)a # comment").is_err() || Pattern::new("a").is_ok());
    }

    #[test]
    fn a_pattern_that_explodes_is_refused() {
        assert!(Pattern::new("(((a{100}){100}){100}){100}").is_err());
    }
}
