//! `.dct` files: `config.dct` and `txnstat.dct` of deployed servers (`handle-protocol.md` §6.14).
//!
//! Text of tables, lists and words. It is read in one pass; nesting and length are limited.
//!
//! ```
//! use handfast_wire::Dct;
//!
//! let text = r#"{ "hdl_tcp_config" = { "bind_port" = "2641" "log_accesses" = "yes" } }"#;
//! let config = Dct::parse(text)?;
//! let tcp = config.get("hdl_tcp_config").unwrap();
//! assert_eq!(tcp.get("bind_port").and_then(Dct::text), Some("2641"));
//! assert_eq!(tcp.get("log_accesses").and_then(Dct::flag), Some(true));
//! # Ok::<_, handfast_wire::DctError>(())
//! ```

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

/// The content of a `.dct` text.
///
/// ```
/// use handfast_wire::Dct;
///
/// let list = Dct::parse("( 300:0.NA/20.1000, \"a \\\"b\\\"\" )")?;
/// assert_eq!(list.items().len(), 2);
/// assert_eq!(list.to_string(), "(\n  \"300:0.NA/20.1000\"\n  \"a \\\"b\\\"\"\n)");
/// # Ok::<_, handfast_wire::DctError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dct {
    /// `( value … )`
    List(Vec<Dct>),
    /// `{ key = value … }`, in the order of the text.
    Table(Vec<(String, Dct)>),
    /// A word, quoted or not.
    Text(String),
}

impl Dct {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<Self, DctError> {
        if text.len() > MAX_LENGTH {
            return Err(DctError::TooLong);
        }
        let mut parser = Parser {
            chars: text.char_indices().peekable(),
            length: text.len(),
        };
        let value = parser.value(0)?;
        match parser.next_sign() {
            None => Ok(value),
            Some((at, _)) => Err(DctError::Unexpected { at }),
        }
    }

    /// The value of a key of a table; the last, if there are several.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Table(entries) = self else {
            return None;
        };
        let found = entries.iter().rev().find(|(found, _)| found == key);
        found.map(|(_, value)| value)
    }

    /// The items of a list; empty if it is not a list.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The word, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// "Booleans are `yes`/`no` (first letter y/t or n/f)."
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        match self.text()?.chars().next()?.to_ascii_lowercase() {
            'y' | 't' => Some(true),
            'n' | 'f' => Some(false),
            _ => None,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let inner = depth + 1;
        match self {
            Self::Text(text) => write_quoted(f, text),
            Self::List(items) => {
                f.write_str("(\n")?;
                for item in items {
                    write!(f, "{:1$}", "", inner * 2)?;
                    item.write(f, inner)?;
                    f.write_str("\n")?;
                }
                write!(f, "{:1$})", "", depth * 2)
            }
            Self::Table(entries) => {
                f.write_str("{\n")?;
                for (key, value) in entries {
                    write!(f, "{:1$}", "", inner * 2)?;
                    write_quoted(f, key)?;
                    f.write_str(" = ")?;
                    value.write(f, inner)?;
                    f.write_str("\n")?;
                }
                write!(f, "{:1$}}}", "", depth * 2)
            }
        }
    }
}

/// As text that reads back the same.
impl fmt::Display for Dct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// "output escapes only `"` and `\`"
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    write!(f, "\"{escaped}\"")
}

struct Parser<'a> {
    chars: Peekable<CharIndices<'a>>,
    length: usize,
}

impl Parser<'_> {
    /// The next character that separates nothing, which stays.
    fn next_sign(&mut self) -> Option<(usize, char)> {
        while self.chars.next_if(|(_, c)| is_separator(*c)).is_some() {}
        self.chars.peek().copied()
    }

    fn value(&mut self, depth: usize) -> Result<Dct, DctError> {
        let (at, sign) = self.next_sign().ok_or(self.end())?;
        if depth > MAX_DEPTH {
            return Err(DctError::TooDeep { at });
        }
        match sign {
            '{' => self.until('}', |it| it.entry(depth + 1)).map(Dct::Table),
            '(' => self.until(')', |it| it.value(depth + 1)).map(Dct::List),
            _ => self.word().map(Dct::Text),
        }
    }

    /// The items between an opening sign and the sign that closes it.
    fn until<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, DctError>,
    ) -> Result<Vec<T>, DctError> {
        self.chars.next();
        let mut items = Vec::new();
        while self.next_sign().ok_or(self.end())?.1 != close {
            items.push(item(self)?);
        }
        self.chars.next();
        Ok(items)
    }

    fn entry(&mut self, depth: usize) -> Result<(String, Dct), DctError> {
        let key = self.word()?;
        match self.next_sign().ok_or(self.end())? {
            (_, '=') => self.chars.next(),
            (at, _) => return Err(DctError::Unexpected { at }),
        };
        Ok((key, self.value(depth)?))
    }

    fn word(&mut self) -> Result<String, DctError> {
        let (at, sign) = self.next_sign().ok_or(self.end())?;
        if sign == '"' {
            return self.quoted();
        }
        let mut word = String::new();
        while let Some((_, c)) = self.chars.next_if(|(_, c)| is_of_word(*c)) {
            word.push(c);
        }
        if word.is_empty() {
            Err(DctError::Unexpected { at })
        } else {
            Ok(word)
        }
    }

    fn quoted(&mut self) -> Result<String, DctError> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next().ok_or(self.end())?.1 {
                '"' => return Ok(text),
                '\\' => match self.chars.next().ok_or(self.end())?.1 {
                    'n' => text.push('\n'),
                    c => text.push(c),
                },
                c => text.push(c),
            }
        }
    }

    fn end(&self) -> DctError {
        DctError::Truncated { at: self.length }
    }
}

/// "Whitespace, commas and semicolons separate."
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';')
}

fn is_of_word(c: char) -> bool {
    !is_separator(c) && !matches!(c, '{' | '}' | '(' | ')' | '=' | '"')
}

/// Why a text is no `.dct`.
///
/// ```
/// use handfast_wire::{Dct, DctError};
///
/// assert_eq!(Dct::parse("{ a = b"), Err(DctError::Truncated { at: 7 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DctError {
    /// Tables and lists in one another, more than anyone needs.
    #[error("too many tables in one another at byte {at}")]
    TooDeep {
        /// Where.
        at: usize,
    },
    /// The text is longer than any such file.
    #[error("the text is longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// The end came too soon.
    #[error("the text ends too soon, at byte {at}")]
    Truncated {
        /// Where it is.
        at: usize,
    },
    /// A sign that cannot stand there.
    #[error("the sign at byte {at} cannot stand there")]
    Unexpected {
        /// Where.
        at: usize,
    },
}

const MAX_DEPTH: usize = 32;
const MAX_LENGTH: usize = 1_048_576;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_and_words_need_no_quotes() {
        let read = Dct::parse("{a=b;c=(d,e),f={},\"g\"=\"h\\n\\\"\\\\\"}").unwrap();
        assert_eq!(read.get("a").and_then(Dct::text), Some("b"));
        assert_eq!(read.get("c").unwrap().items().len(), 2);
        assert_eq!(read.get("f"), Some(&Dct::Table(vec![])));
        assert_eq!(read.get("g").and_then(Dct::text), Some("h\n\"\\"));
        assert_eq!(read.get("x"), None);
    }

    #[test]
    fn what_is_no_dct_is_refused_where_it_ends() {
        for (text, error) in [
            ("", DctError::Truncated { at: 0 }),
            ("{a b}", DctError::Unexpected { at: 3 }),
            ("{a = }", DctError::Unexpected { at: 5 }),
            ("(a))", DctError::Unexpected { at: 3 }),
            ("\"a", DctError::Truncated { at: 2 }),
            ("\"a\\", DctError::Truncated { at: 3 }),
        ] {
            assert_eq!(Dct::parse(text), Err(error), "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(Dct::parse(&deep), Err(DctError::TooDeep { at: 33 }));
        let long = " ".repeat(MAX_LENGTH + 1);
        assert_eq!(Dct::parse(&long), Err(DctError::TooLong));
    }

    fn any_dct() -> impl Strategy<Value = Dct> {
        let leaf = any::<String>().prop_map(Dct::Text);
        leaf.prop_recursive(4, 32, 4, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Dct::List);
            let table = prop::collection::vec((any::<String>(), inner), 0..4).prop_map(Dct::Table);
            prop_oneof![list, table]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(dct in any_dct()) {
            prop_assert_eq!(Dct::parse(&dct.to_string()), Ok(dct));
        }

        #[test]
        fn no_text_panics(text in "[{}()=\"\\\\ ,;an]{0,40}") {
            if let Ok(dct) = Dct::parse(&text) {
                prop_assert_eq!(Dct::parse(&dct.to_string()), Ok(dct));
            }
        }
    }
}
