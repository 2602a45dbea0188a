//! The title of a thing, as its record states it.

use handfast_wire::Value;

/// Types of values that say what a thing is, the best first.
const TITLES: [&str; 4] = ["erc.what", "what", "dc.title", "title"];
/// The longest title that a page shows, in characters.
const MAX_TITLE: usize = 500;

/// The title of a record: its first public value that is a title, or its description.
pub(crate) fn title_of(values: &[Value<'_>]) -> Option<String> {
    own_title(values).or_else(|| text_of(values, "desc"))
}

/// The same without descriptions, which may say more than what the thing is called.
pub(crate) fn own_title(values: &[Value<'_>]) -> Option<String> {
    TITLES.iter().find_map(|one| text_of(values, one))
}

fn text_of(values: &[Value<'_>], one: &str) -> Option<String> {
    let mut public = values.iter().filter(|value| value.is_public());
    let found = public.find(|value| value.value_type.eq_ignore_ascii_case(one))?;
    let text = found.text()?.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TITLE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_goes_before_a_description() {
        let values = [
            Value::new(1, "DESC", b"61 x 88 cm"),
            Value::new(2, "Title", b" Plan of the harbour "),
        ];
        assert_eq!(title_of(&values).as_deref(), Some("Plan of the harbour"));
        let [description, _] = &values;
        let only = std::slice::from_ref(description);
        assert_eq!(title_of(only).as_deref(), Some("61 x 88 cm"));
        assert_eq!(own_title(only), None);
        assert_eq!(title_of(&[Value::new(1, "TITLE", b" \xFF")]), None);
    }
}
