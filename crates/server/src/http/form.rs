//! Names and values of an HTML form.

use crate::http::resolver::query::decoded;

/// The most pairs that are read: nobody has a form of so many.
const MAX_FIELDS: usize = 64;

/// The pairs of a query or of a form (`application/x-www-form-urlencoded`), in their order; `None`
/// if they are no text, or too many.
pub(crate) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let mut all = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        if all.len() == MAX_FIELDS {
            return None;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        all.push((plain(name)?, plain(value)?));
    }
    Some(all)
}

fn plain(text: &str) -> Option<String> {
    String::from_utf8(decoded(&text.replace('+', " "))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_once_and_stay_in_order() {
        let read = pairs("b=1+2%2B%25&a&=x&&a=%C3%BC").unwrap();
        let read: Vec<_> = read.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(read, [("b", "1 2+%"), ("a", ""), ("", "x"), ("a", "ü")]);
        assert_eq!(pairs("a=%FF"), None);
        assert_eq!(pairs(&"a&".repeat(65)), None);
    }
}
