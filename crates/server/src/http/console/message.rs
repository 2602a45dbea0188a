//! Errors of the registry, in the words of pages.
//!
//! The registry writes for people at a terminal: it begins in lower case, puts commands between
//! backticks and names flags. A page says the same as a sentence, with a remedy of the console.

use handfast_registry::{Principal, RegistryError};

/// An error as sentences, with what to do where the console knows it.
pub(super) fn message(error: &RegistryError) -> String {
    if let RegistryError::Identifier { text, source } = error {
        let problem = without_commands(&source.to_string());
        let message = format!("“{text}”: {problem}. {}", sentence(source.remedy()));
        return message.trim_end().to_string();
    }
    let text = sentence(&error.to_string());
    match remedy(error.code()) {
        "" => text,
        remedy => format!("{text} {remedy}"),
    }
}

/// What a person does in the console about an error.
pub(super) fn remedy(code: &str) -> &'static str {
    match code {
        "no-account" => "Check the spelling, or invite the person first.",
        "no-authority" => "Check the spelling, or choose one in the list of authorities.",
        "no-group" => "Check the spelling, or make the group first.",
        _ => "",
    }
}

/// The answer to the name of an account or a group that is not there.
pub(super) fn nobody_called(who: &Principal) -> String {
    match who {
        Principal::Group(name) => {
            format!("There is no group {name}. {}", remedy("no-group"))
        }
        _ => format!("There is no account {who}. {}", remedy("no-account")),
    }
}

/// A message of the registry as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let text = without_commands(text);
    let mut letters = text.chars();
    let Some(first) = letters.next().filter(|_| !begins_with_name(&text)) else {
        return ended(text);
    };
    ended(first.to_uppercase().chain(letters).collect())
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// Words before a verb that stand for no name.
const OWN_WORDS: [&str; 12] = [
    "another", "it", "nobody", "nothing", "one", "somebody", "someone", "that", "there", "this",
    "title", "what",
];

/// Whether a message begins with a name or another text that was typed, which stays as it is:
/// `20.1000/a is …`, `ann has …`, `nonsense: …`.
fn begins_with_name(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let verbs = ["exists", "has", "is", "may", "was"];
    let is_subject = words.next().is_some_and(|second| verbs.contains(&second));
    !first
        .chars()
        .all(|c| c.is_ascii_alphabetic() || c == '-' || c == ',')
        || is_subject && !OWN_WORDS.contains(&first)
}

/// A message without its last clause, if that is about commands and flags, and without backticks.
fn without_commands(text: &str) -> String {
    let command = ["`handfast ", " --create", " --as ", " --despite "];
    let found = command.iter().filter_map(|start| text.find(start)).min();
    let before = found.and_then(|at| text.get(..at));
    let clause = before.map(|before| {
        let end = [": ", "; ", ". "]
            .iter()
            .filter_map(|mark| before.rfind(mark));
        end.max().and_then(|end| before.get(..end)).unwrap_or(text)
    });
    clause.unwrap_or(text).replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_names_keep_their_case_and_other_messages_are_sentences() {
        for (text, shown) in [
            (
                "a password has 15 characters",
                "A password has 15 characters.",
            ),
            ("bob has asked for 20.1", "bob has asked for 20.1."),
            (
                "20.1/a is withdrawn: restore it",
                "20.1/a is withdrawn: restore it.",
            ),
            ("nonsense: there is no `/`", "nonsense: there is no /."),
            ("this needs the role read", "This needs the role read."),
            (
                "there is no account x: give --create, or run `handfast user create x`",
                "There is no account x.",
            ),
            ("", ""),
        ] {
            assert_eq!(sentence(text), shown);
        }
    }
}
