//! Names and values of queries and forms.

use percent_encoding::percent_decode_str;

/// How many pairs are read: no query of ours has so many.
const MAX_PAIRS: usize = 64;
/// How many pairs a form of the console has.
const MAX_FORM_PAIRS: usize = 20_000;

/// The pairs of a query or of a form (`application/x-www-form-urlencoded`), in their order; `None`
/// if they are not UTF-8, or too many.
pub(crate) fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    limited_pairs(MAX_PAIRS, text)
}

/// The same of a form of the console, which may have all values of a record. Browsers send a line
/// end as CR LF, whatever it was in the page; here it is LF again.
pub(crate) fn all_pairs(text: &str) -> Option<Vec<(String, String)>> {
    let mut pairs = limited_pairs(MAX_FORM_PAIRS, text)?;
    for (_, value) in &mut pairs {
        if value.contains('\r') {
            *value = value.replace("\r\n", "\n");
        }
    }
    Some(pairs)
}

fn limited_pairs(max: usize, text: &str) -> Option<Vec<(String, String)>> {
    let mut all = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        if all.len() == max {
            return None;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        all.push((plain(name)?, plain(value)?));
    }
    Some(all)
}

fn plain(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    Some(percent_decode_str(&text).decode_utf8().ok()?.into_owned())
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

    /// A page shows CR as a character that cannot be read, and the next form would store that.
    #[test]
    fn the_lines_of_a_form_end_as_they_did_in_the_page() {
        let read = all_pairs("text=one%0D%0Atwo%0A%0Dthree").unwrap();
        assert_eq!(read[0].1, "one\ntwo\n\rthree");
    }
}
