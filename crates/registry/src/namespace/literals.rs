//! The literal texts in a pattern.
//!
//! In `(?:ocm)?([0-9]+)-old` these are `ocm`, `0` (for the class) and `-old`. The list need not be
//! complete, nor in order: tests of rules use it to try characters that the rules mention.

/// The texts between syntax; optional parts count both with and without.
pub(super) fn literals(pattern: &str) -> Vec<String> {
    let mut found = read(pattern, true);
    found.extend(read(pattern, false));
    found.sort();
    found.dedup();
    found
}

fn read(pattern: &str, keeps_optional: bool) -> Vec<String> {
    let (mut found, mut piece) = (Vec::new(), String::new());
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let is_literal = match c {
            '\\' => match rest.next() {
                Some(escaped) if !escaped.is_ascii_alphanumeric() => {
                    piece.push(escaped);
                    true
                }
                _ => false,
            },
            '[' => {
                let first = of_class(&mut rest);
                found.extend(first.map(String::from));
                false
            }
            '(' => {
                if rest.next_if_eq(&'?').is_some() {
                    // Flags and names of groups.
                    while rest.next_if(|c| !matches!(c, ':' | '>' | ')')).is_some() {}
                    rest.next();
                }
                false
            }
            '{' => {
                while rest.next_if(|c| *c != '}').is_some() {}
                rest.next();
                false
            }
            // A reference in a replacement.
            '$' => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                false
            }
            ')' | '|' | '.' | '*' | '+' | '?' | '^' => false,
            plain => {
                piece.push(plain);
                true
            }
        };
        if is_literal {
            let is_optional = rest.next_if(|c| matches!(c, '?' | '*')).is_some();
            if is_optional && !keeps_optional {
                piece.pop();
            }
            rest.next_if_eq(&'+');
        } else {
            found.push(std::mem::take(&mut piece));
        }
    }
    found.push(piece);
    found.retain(|piece| !piece.is_empty());
    found
}

/// One character of a class; skips the rest of the class.
fn of_class(rest: &mut impl Iterator<Item = char>) -> Option<char> {
    let mut first = None;
    let mut is_escaped = false;
    for c in rest {
        match c {
            ']' if !is_escaped => break,
            '\\' if !is_escaped => is_escaped = true,
            '^' if first.is_none() => {}
            c => {
                first = first.or(Some(c));
                is_escaped = false;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_pattern_is_found() {
        for (pattern, expected) in [
            ("ocm(.*)", &["ocm"][..]),
            ("(.*)-old", &["-old"]),
            ("isbn:?(.*)", &["isbn", "isbn:"]),
            (
                r"^(?:\([^()]*\) *)?(?:ocm)?([0-9]+)$",
                &["(", ")", ") ", "0", "ocm"],
            ),
            (r"(?P<a>x+y){2,3}\d\.", &[".", "xy"]),
            ("a$1b", &["a", "b"]),
            ("([\\]", &["]"]),
            ("(?", &[]),
        ] {
            assert_eq!(literals(pattern), expected, "{pattern}");
        }
    }
}
