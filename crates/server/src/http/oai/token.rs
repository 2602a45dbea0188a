//! Resumption tokens: a position in a list, as a text that the client sends back.
//!
//! A token holds the whole position, and the server stores nothing. Records come in the order
//! of their changes: a record that changes during a harvest moves to the end, and the client
//! misses nothing. So tokens never expire. They hold nothing that their bearer could not ask
//! for, and the server validates them like any argument.

use crate::http::oai::request::{Format, Selection, Set};

/// The longest that any token is: with the longest namespace that is registered.
const MAX_TOKEN: usize = 512;

/// The token behind a record.
pub(crate) fn written(selection: &Selection, after: (u64, &str), cursor: usize) -> String {
    let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    [
        "1",
        selection.format.prefix(),
        selection.set.map_or("", Set::spec),
        &number(selection.from),
        &number(selection.until),
        &cursor.to_string(),
        &after.0.to_string(),
        // The one character of namespaces that forms mean something else by.
        &after.1.replace('+', "_"),
    ]
    .join("~")
}

/// Reads one, if it is one that this server could have given.
pub(crate) fn read(text: &str) -> Option<Selection> {
    if text.len() > MAX_TOKEN {
        return None;
    }
    let parts: Vec<_> = text.split('~').collect();
    let [version, format, set, from, until, cursor, time, name] = parts.as_slice() else {
        return None;
    };
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    if *version != "1" || name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let number = |text: &str| match text {
        "" => Some(None),
        text => plain(text).map(Some),
    };
    let set = match *set {
        "" => None,
        spec => Some(Set::named(spec)?),
    };
    let selection = Selection {
        format: Format::of(format)?,
        set,
        from: number(from)?,
        until: number(until)?,
        after: Some((plain(time)?, name.replace('_', "+"))),
        cursor: usize::try_from(plain(cursor)?).ok()?,
    };
    let is_in_order = match (selection.from, selection.until) {
        (Some(from), Some(until)) => from <= until,
        _ => true,
    };
    (is_in_order && selection.cursor > 0 && selection.cursor <= MAX_POSITION).then_some(selection)
}

/// More records than there will ever be.
const MAX_POSITION: usize = 1_000_000_000;

/// A number in its one spelling, and no later than times go.
fn plain(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text && number < 1 << 52).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_as_it_was_meant() {
        for (set, from, until) in [
            (None, None, None),
            (Some(Set::Historical), Some(0), None),
            (Some(Set::Later), Some(5), Some(7)),
        ] {
            let selection = Selection {
                format: Format::Reg,
                set,
                from,
                until,
                after: Some((1_065_657_600_000, "a+b-c.d".into())),
                cursor: 10,
            };
            let text = written(&selection, (1_065_657_600_000, "a+b-c.d"), 10);
            assert_eq!(read(&text), Some(selection), "{text}");
        }
    }

    #[test]
    fn what_was_not_given_is_not_taken() {
        let good = "1~reg~~~~10~1065657600000~lccn";
        assert!(read(good).is_some());
        for bad in [
            "",
            "2~reg~~~~10~1065657600000~lccn",
            "1~marc~~~~10~1065657600000~lccn",
            "1~reg~all~~~10~1065657600000~lccn",
            "1~reg~~x~~10~1065657600000~lccn",
            "1~reg~~5~4~10~1065657600000~lccn",
            "1~reg~~~~0~1065657600000~lccn",
            "1~reg~~~~010~1065657600000~lccn",
            "1~reg~~~~+10~1065657600000~lccn",
            "1~reg~~~~10~~lccn",
            "1~reg~~~~10~99999999999999999~lccn",
            "1~reg~~~~10~1065657600000~",
            "1~reg~~~~10~1065657600000~<x>",
            "1~reg~~~~10~1065657600000~LCCN",
            "1~reg~~~~10~1065657600000~lccn~",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&format!("{good}{}", "a".repeat(600))), None);
    }
}
