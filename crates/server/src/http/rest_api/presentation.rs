//! The form of JSON responses: compact, indented, or as a call of a function
//! (`http-interfaces.md` A.16).

use super::parameters::Parameters;

/// The type of what is shown as it is.
pub(crate) const JSON: &str = "application/json;charset=UTF-8";

/// How the client wants it.
#[derive(Debug, Default)]
pub(crate) struct Presentation {
    callback: Option<String>,
    is_pretty: bool,
}

impl Presentation {
    pub(crate) fn of(parameters: &Parameters) -> Self {
        Self {
            callback: parameters.first("callback").map(function),
            is_pretty: parameters.is_true("pretty"),
        }
    }

    /// Whether it becomes a script, which every page may load, with what the browser knows of the
    /// user.
    pub(crate) fn is_script(&self) -> bool {
        self.callback.is_some()
    }

    /// The text, and its type.
    pub(crate) fn present(&self, json: Vec<u8>) -> (Vec<u8>, &'static str) {
        let json = if self.is_pretty {
            indented(&json)
        } else {
            json
        };
        let Some(callback) = &self.callback else {
            return (json, JSON);
        };
        let script = [callback.as_bytes(), b"(", &json, b");"].concat();
        (script, "application/javascript;charset=UTF-8")
    }
}

/// "Every character outside `A–Z a–z _ $`, digits after the first, and U+00A0 upward becomes `_`."
fn function(name: &str) -> String {
    let is_allowed = |at: usize, c: char| {
        c.is_ascii_alphabetic()
            || matches!(c, '_' | '$' | '\u{A0}'..)
            || c.is_ascii_digit() && at > 0
    };
    let characters = name.chars().take(MAX_CALLBACK_NAME).enumerate();
    characters
        .map(|(at, c)| if is_allowed(at, c) { c } else { '_' })
        .collect()
}

/// No function has a longer name.
const MAX_CALLBACK_NAME: usize = 256;

/// The same JSON with a line for each member, two spaces deep for each level. The order of members
/// stays, which it would not in a tree.
fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut rest = json.iter().copied().peekable();
    let new_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', depth * 2));
    };
    while let Some(byte) = rest.next() {
        if is_text {
            out.push(byte);
            is_text = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                if let Some(end) = rest.next_if(|next| matches!(next, b'}' | b']')) {
                    out.push(end);
                    continue;
                }
                depth += 1;
                new_line(&mut out, depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b'"' => {
                is_text = true;
                out.push(byte);
            }
            byte => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_json_is_the_same_json() {
        let tree = serde_json::json!({"a": [1, {"b": "x\\\"{,:"}], "c": {}, "d": [], "e": ["\\"]});
        let pretty = indented(tree.to_string().as_bytes());
        assert_eq!(
            String::from_utf8(pretty).unwrap(),
            serde_json::to_string_pretty(&tree).unwrap()
        );
    }

    #[test]
    fn a_callback_is_a_name_and_nothing_else() {
        for (given, name) in [
            ("a.b-c", "a_b_c"),
            ("1a2", "_a2"),
            ("alert(1)//", "alert_1___"),
            ("ü$_", "ü$_"),
            ("</script>", "__script_"),
        ] {
            assert_eq!(function(given), name);
        }
    }
}
