//! What `inspect` shows to people.

use std::fmt;
use std::io::{self, Write};

use handfast_id::{
    Component, ErrorKind, Explanation, HdlForm, Identifier, InfoUri, InfoValidity, Inspected,
    NamespaceLookup, ParseError, Rules,
};
use unicode_width::UnicodeWidthChar;

/// Shows an identifier that could be read.
pub(crate) fn found(
    out: &mut impl Write,
    input: &str,
    found: &Inspected<'_>,
    steps: Option<&[Explanation]>,
    rules: &dyn Rules,
) -> io::Result<()> {
    writeln!(out, "{}", Shown(input))?;
    row(out, "what", &what(&found.identifier))?;
    row(out, "canonical", &found.canonical)?;
    for (name, component) in found.components() {
        let label = name.replace('_', " ");
        match component {
            // A component that could be there and is not, is not worth a line.
            Component::Absent => {}
            Component::Flag(flag) => row(out, &label, if flag { "yes" } else { "no" })?,
            Component::List(list) => row(out, &label, &list.join(" > "))?,
            Component::Text(text) if text.is_empty() => row(out, &label, "(empty)")?,
            Component::Text(text) => row(out, &label, &text)?,
        }
    }
    if let Identifier::Info(uri) = &found.identifier {
        registry(out, uri, rules)?;
    }
    if let Some(note) = found.note {
        row(out, "note", note)?;
    }
    row(out, "looked up as", found.identifier.key(rules).as_str())?;
    writeln!(out, "  spellings")?;
    for (name, spelling) in found.spellings.iter() {
        writeln!(out, "    {name:<10}  {}", Shown(spelling))?;
    }
    if let Some(steps) = steps {
        explanation(out, input, steps)?;
    }
    writeln!(out)
}

/// Shows what is wrong with a text, and where.
pub(crate) fn refused(out: &mut impl Write, bytes: &[u8], error: &ParseError) -> io::Result<()> {
    // The offset is one of bytes: what precedes it is converted apart from what follows.
    let (before, after) = bytes.split_at_checked(error.at()).unwrap_or((bytes, &[]));
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let (before, after) = (last(&before, 60), first(&after, 40));
    // In one piece: standard error is not buffered.
    let text = format!(
        "error: {error} [{code}]\n  | {}{}\n  | {:width$}^\n  hint: {hint}\n\n",
        Shown(&before),
        Shown(&after),
        "",
        code = error.code(),
        width = Shown(&before).width(),
        hint = hint(error),
    );
    out.write_all(text.as_bytes())
}

/// What would be right, and how the command line can make it right.
fn hint(error: &ParseError) -> String {
    match error.kind() {
        ErrorKind::UnknownResolver | ErrorKind::UnknownScheme => {
            format!("{} (--resolver adds one)", error.remedy())
        }
        _ => error.remedy().to_string(),
    }
}

fn row(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {label:<16}  {}", Shown(text))
}

fn what(identifier: &Identifier<'_>) -> String {
    let what = match identifier {
        Identifier::Ark(_) => "an ARK (Archival Resource Key)",
        Identifier::Cordra(_) => "a CORDRA identifier, which is a handle",
        Identifier::Doi(_) => "a DOI, which is a handle",
        Identifier::Handle(_) => "a handle",
        Identifier::Hdl(uri) => match uri.form() {
            HdlForm::Host => "a handle, written as an hdl URI in host form",
            HdlForm::Http => "a handle, written as the URL of a resolver",
            HdlForm::Path => "a handle, written as an hdl URI",
        },
        Identifier::Info(_) => "an info URI",
        Identifier::Urn(urn) => {
            return format!("a URN of the namespace {}", urn.nid());
        }
    };
    what.to_string()
}

fn registry(out: &mut impl Write, uri: &InfoUri<'_>, rules: &dyn Rules) -> io::Result<()> {
    let NamespaceLookup::Registered(entry) = rules.namespace(uri.namespace()) else {
        return row(
            out,
            "registry",
            "nothing is known of this namespace, so nothing is assumed",
        );
    };
    let record = entry.record();
    if !record.title.is_empty() {
        row(
            out,
            "registry",
            &format!("{} ({})", record.title, record.organisation),
        )?;
    }
    match uri.validate(rules) {
        InfoValidity::Fits => row(out, "syntax", "fits that of the namespace"),
        InfoValidity::DoesNotFit => row(
            out,
            "syntax",
            &format!("does not fit that of the namespace: {}", record.syntax),
        ),
        _ => Ok(()),
    }
}

fn explanation(out: &mut impl Write, input: &str, steps: &[Explanation]) -> io::Result<()> {
    writeln!(out, "  how it came about")?;
    let mut previous = input;
    for step in steps {
        let changed = previous != step.text;
        writeln!(out, "    {:<10}  {}", step.rule, Shown(&step.what))?;
        if changed {
            writeln!(out, "    {:<10}    {}", "", Shown(&step.text))?;
        } else {
            writeln!(out, "    {:<10}    (no change)", "")?;
        }
        previous = &step.text;
    }
    Ok(())
}

/// Outside text for a terminal: what is invisible, or would move the cursor or turn the line round,
/// is shown by its number.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl Shown<'_> {
    /// How many columns it takes.
    fn width(&self) -> usize {
        let shown = self.to_string();
        shown.chars().filter_map(UnicodeWidthChar::width).sum()
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_visible(c) {
                write!(f, "{c}")?;
            } else {
                write!(f, "<U+{:04X}>", u32::from(c))?;
            }
        }
        Ok(())
    }
}

fn is_visible(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{AD}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The first characters of a text, with a mark where it is cut.
fn first(text: &str, count: usize) -> String {
    match text.char_indices().nth(count) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// The last characters of a text, with a mark where it is cut.
fn last(text: &str, count: usize) -> String {
    match text.char_indices().rev().nth(count) {
        Some((before, c)) => {
            format!("…{}", text.get(before + c.len_utf8()..).unwrap_or_default())
        }
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use handfast_id::{Scheme, Standard, inspect};

    use super::*;

    fn error_view(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let error = inspect(bytes, Scheme::Any, &Standard).outcome.unwrap_err();
        refused(&mut out, bytes, &error).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let view = error_view("hdl:20.1000/中文".as_bytes());
        let lines: Vec<_> = view.lines().collect();
        assert_eq!(lines[1], "  | hdl:20.1000/中文");
        assert_eq!(lines[2], "  |             ^");
        let view = error_view("20.1000/中\t文".as_bytes());
        assert!(!view.contains('\t'), "{view}");
    }

    #[test]
    fn the_caret_counts_columns_not_bytes() {
        let view = error_view("20.1000/中文\u{202E}x".as_bytes());
        let lines: Vec<_> = view.lines().collect();
        assert_eq!(lines[1], "  | 20.1000/中文<U+202E>x");
        assert_eq!(lines[2], "  |             ^");
    }

    #[test]
    fn a_long_text_is_cut_around_the_place() {
        let text = format!("20.1000/{}\u{7}{}", "a".repeat(500), "b".repeat(500));
        let view = error_view(text.as_bytes());
        assert!(
            view.lines().all(|line| line.chars().count() < 130),
            "{view}"
        );
        assert!(view.contains("a<U+0007>b"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_shown() {
        let view = error_view(b"20.1000/caf\xE9");
        assert!(view.contains("20.1000/caf\u{FFFD}"), "{view}");
        assert!(view.contains("[not-utf8]"));
    }
}
