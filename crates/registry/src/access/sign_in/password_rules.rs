//! Which passwords are accepted: long ones that are not made of common pieces.
//!
//! There are no rules about kinds of characters. A password is read as a row of pieces: common
//! words, rows of keys, years, repeated characters, and single characters for everything else. It
//! is rejected if it has fewer than [`MIN_PIECES`] different pieces, such as `Password123456!`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::access::sign_in::hashing::MAX_PASSWORD_BYTES;
use crate::error::RegistryError;

/// How many characters a password has.
const MIN_CHARACTERS: usize = handfast_api::limits::PASSWORD_MINIMUM;
/// How many different pieces a password has.
const MIN_PIECES: usize = 6;
/// The shortest row of keys, or of one character, that counts as one piece.
const MIN_ROW: usize = 3;

/// The commonest words of leaked passwords, in lowercase.
static COMMON: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("common_passwords.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
});

/// Neighbours on keyboards and in alphabets. Rows count in both directions.
const ROWS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "!@#$%^&*()",
];

/// Checks a new password. `others` are words that are easily guessed for this account.
pub(crate) fn check(password: &str, others: &[&str]) -> Result<(), RegistryError> {
    let characters = password.chars().count();
    if characters < MIN_CHARACTERS {
        let problem = format!(
            "a password has at least {MIN_CHARACTERS} characters, and this has {characters}: \
             several words that belong to no sentence are easy to remember"
        );
        return Err(RegistryError::policy("short-password", problem));
    }
    if password.len() > MAX_PASSWORD_BYTES {
        let problem = format!("a password has at most {MAX_PASSWORD_BYTES} bytes");
        return Err(RegistryError::policy("too-large", problem));
    }
    if pieces(password, others) < MIN_PIECES {
        let problem = "this password is made of common words, rows of keys or repetitions, which \
                       are tried first: choose several words that belong to no sentence";
        return Err(RegistryError::policy("common-password", problem));
    }
    Ok(())
}

/// How many different pieces a password has.
fn pieces(password: &str, others: &[&str]) -> usize {
    let text: Vec<char> = password.to_lowercase().chars().collect();
    let others: Vec<String> = others.iter().map(|word| word.to_lowercase()).collect();
    let mut found = BTreeSet::new();
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let length = word(rest, &others)
            .max(row(rest))
            .max(repeated(rest))
            .max(year(rest))
            .max(1);
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        found.insert(piece);
        rest = after;
    }
    found.len()
}

/// The length of the longest common word at the beginning. Digits and signs in place of letters
/// count as those letters.
fn word(text: &[char], others: &[String]) -> usize {
    let max_length = text.len().min(MAX_WORD);
    let as_letter = |c: &char| match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        c => *c,
    };
    for length in (MIN_ROW..=max_length).rev() {
        let start = text.iter().take(length);
        let plain: String = start.clone().collect();
        let letters: String = start.map(as_letter).collect();
        let is_common = |word: &String| COMMON.contains(word.as_str()) || others.contains(word);
        if is_common(&plain) || is_common(&letters) {
            return length;
        }
    }
    0
}

/// The longest word that is looked up, in characters.
const MAX_WORD: usize = 64;

/// The length of a row of keys, forwards or backwards, at the beginning.
fn row(text: &[char]) -> usize {
    let of_row = |row: &str| {
        let forwards: Vec<char> = row.chars().collect();
        let backwards: Vec<char> = row.chars().rev().collect();
        along(text, &forwards).max(along(text, &backwards))
    };
    let length = ROWS.iter().map(|row| of_row(row)).max().unwrap_or(0);
    if length >= MIN_ROW { length } else { 0 }
}

fn along(text: &[char], row: &[char]) -> usize {
    let starts = (0..row.len()).filter_map(|start| row.get(start..));
    let lengths = starts.map(|row| row.iter().zip(text).take_while(|(a, b)| a == b).count());
    lengths.max().unwrap_or(0)
}

/// The length of a repeated character at the beginning.
fn repeated(text: &[char]) -> usize {
    let same = text.iter().take_while(|c| Some(*c) == text.first());
    let length = same.count();
    if length >= MIN_ROW { length } else { 0 }
}

/// A year from 1900 to 2099.
fn year(text: &[char]) -> usize {
    match text {
        ['1', '9', a, b, ..] | ['2', '0', a, b, ..] if a.is_ascii_digit() && b.is_ascii_digit() => {
            4
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(password: &str) -> Option<&'static str> {
        check(password, &["ann.example"])
            .err()
            .map(|error| error.code())
    }

    #[test]
    fn common_passwords_are_rejected_however_long_they_are() {
        for password in [
            "passwordpassword",
            "Password123456!",
            "P@ssw0rd12345678",
            "123456789012345",
            "qwertyuiopasdfghjkl",
            "qwertzuiop12345678",
            "aaaaaaaaaaaaaaaaaaaa",
            "abcabcabcabcabc",
            "iloveyouiloveyou!!",
            "administrator2026",
            "ann.example12345!",
            "letmeinletmein123",
            "ababababababababab",
            "987654321987654321",
            "1qaz2wsx3edc4rfv",
        ] {
            assert_eq!(code(password), Some("common-password"), "{password}");
        }
    }

    #[test]
    fn passphrases_and_random_texts_are_accepted() {
        for password in [
            "correct horse battery staple",
            "a blue horse swims at dawn",
            "kJ8#vQz2!mWp4&x",
            "sieben Zwerge trinken Tee",
            "пятнадцать синих китов",
            "七匹の青い馬が夜明けに海を泳いで渡る",
        ] {
            assert_eq!(code(password), None, "{password}");
        }
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(code("fourteen chars"), Some("short-password"));
        assert_eq!(code("ÄöüßÄöüßÄöüßÄö"), Some("short-password"));
        assert_eq!(code("fifteen charact"), None);
        let long = "kJ8#vQz2!mWp4&x ".repeat(65);
        assert_eq!(code(&long), Some("too-large"));
    }

    #[test]
    fn the_list_has_one_word_in_lowercase_on_each_line() {
        for word in COMMON.iter() {
            assert!(word.len() >= MIN_ROW, "{word:?}");
            assert_eq!(*word, word.to_lowercase().trim());
        }
        assert!(COMMON.len() > 200);
    }
}
