//! Escaping of untrusted text in pages.

use std::fmt::{self, Write};

use askama::filters::Escaper;

/// Escapes the characters of markup, and makes those visible that could deceive a reader: no
/// control character and no character that changes the direction of text reaches a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageEscaper;

impl Escaper for PageEscaper {
    fn write_escaped_str<W: Write>(&self, mut dest: W, string: &str) -> fmt::Result {
        let mut rest = string;
        while let Some(at) = rest.find(is_special) {
            let (plain, from) = rest.split_at(at);
            dest.write_str(plain)?;
            let mut characters = from.chars();
            if let Some(special) = characters.next() {
                write_special(&mut dest, special)?;
            }
            rest = characters.as_str();
        }
        dest.write_str(rest)
    }
}

/// Escapes a text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = PageEscaper.write_escaped_str(&mut out, text);
    out
}

/// Whether a page shows a text as it is, so that a field of a form gives it back unchanged.
pub(crate) fn is_shown_exactly(text: &str) -> bool {
    !text.contains(is_hidden)
}

fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\'') || is_hidden(c)
}

/// Whether a character is invisible and changes what a reader sees: controls, and the marks that
/// change the direction of text (Unicode Standard Annex 9).
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}')
}

fn write_special(dest: &mut impl Write, c: char) -> fmt::Result {
    match c {
        '&' => dest.write_str("&amp;"),
        '<' => dest.write_str("&lt;"),
        '>' => dest.write_str("&gt;"),
        '"' => dest.write_str("&quot;"),
        '\'' => dest.write_str("&#39;"),
        _ => dest.write_char('\u{FFFD}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_hidden_characters_do_not_reach_a_page() {
        let text = "<a href=\"x\">'&\u{0}\u{1b}\u{202e}txt\u{2066}\n\tü";
        let shown =
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{FFFD}\u{FFFD}\u{FFFD}txt\u{FFFD}\n\tü";
        assert_eq!(escaped(text), shown);
        assert!(!is_shown_exactly(text));
        assert!(is_shown_exactly("<ü>\n\t"));
    }
}
