//! Variables of templates, and their use in types and data.

use std::borrow::Cow;

/// The value of a variable: a text, and the groups of a match.
#[derive(Clone, Debug)]
pub(super) struct Variable<'v> {
    pub(super) name: &'v str,
    pub(super) text: Cow<'v, str>,
    /// The whole match first.
    pub(super) groups: Vec<String>,
}

/// The variables that are known at a place of the template; later ones hide earlier ones.
#[derive(Debug, Default)]
pub(super) struct Variables<'v>(pub(super) Vec<Variable<'v>>);

impl<'v> Variables<'v> {
    pub(super) fn set(
        &mut self,
        name: &'v str,
        text: impl Into<Cow<'v, str>>,
        groups: Vec<String>,
    ) {
        let text = text.into();
        self.0.push(Variable { name, text, groups });
    }

    /// `name`, `name[n]`, or `n` for group n of `extension`; "unknown → empty string".
    pub(super) fn lookup(&self, expression: &str) -> &str {
        if let Ok(group) = expression.parse() {
            return self.group("extension", group);
        }
        let indexed = expression.strip_suffix(']').and_then(|e| e.split_once('['));
        if let Some((name, group)) = indexed {
            return group.parse().map_or("", |group| self.group(name, group));
        }
        self.find(expression).map_or("", |variable| &variable.text)
    }

    /// "`${name}` variable; `${name[n]}` regex group n; `$n` or `${n}` group n of `extension`;
    /// unknown → empty string; `\c` → literal c; lone `$` literal."
    ///
    /// Nothing, if more than `limit` octets come out: a short text can name a long variable many
    /// times.
    pub(super) fn substitute(&self, text: &str, limit: usize) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '\\']) {
            let (before, found) = rest.split_at(at);
            out.push_str(before);
            rest = self.sign(found, &mut out);
            if out.len() > limit {
                return None;
            }
        }
        out.push_str(rest);
        (out.len() <= limit).then_some(out)
    }

    /// A text that begins with `$` or `\`; returns the rest.
    fn sign<'t>(&self, found: &'t str, out: &mut String) -> &'t str {
        if let Some(escaped) = found.strip_prefix('\\') {
            let mut chars = escaped.chars();
            out.extend(chars.next());
            return chars.as_str();
        }
        let behind = found.strip_prefix('$').unwrap_or(found);
        if let Some((expression, rest)) = behind.strip_prefix('{').and_then(|b| b.split_once('}')) {
            out.push_str(self.lookup(expression));
            return rest;
        }
        let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
        match behind.strip_suffix(rest) {
            Some("") | None => out.push('$'),
            Some(digits) => out.push_str(self.lookup(digits)),
        }
        rest
    }

    fn group(&self, name: &str, group: usize) -> &str {
        let groups = self.find(name).map(|variable| &variable.groups);
        groups
            .and_then(|groups| groups.get(group))
            .map_or("", String::as_str)
    }

    fn find(&self, name: &str) -> Option<&Variable<'v>> {
        self.0.iter().rev().find(|variable| variable.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_substituted() {
        let mut variables = Variables::default();
        let groups = ["10-20", "10", "20"].map(str::to_owned).to_vec();
        variables.set("extension", "10-20", groups.clone());
        variables.set("x", "10-20", groups);
        variables.set("data", "d", vec![]);
        for (text, expected) in [
            ("", ""),
            ("a$", "a$"),
            ("$$1", "$10"),
            ("${data}-${x[1]}-${x[2]}-${x}", "d-10-20-10-20"),
            ("$1,${2},$0,$9", "10,20,10-20,"),
            ("${none}${x[7]}${data[1]}${x[a]}|", "|"),
            (r"\$1 \\ \", r"$1 \ "),
            ("${open", "${open"),
            ("$é", "$é"),
            ("$99999999999999999999999", ""),
        ] {
            let substituted = variables.substitute(text, 100);
            assert_eq!(substituted.as_deref(), Some(expected), "{text}");
        }
        assert_eq!(variables.substitute("${x}${x}", 9), None);
    }
}
