//! What must hold for any bytes, whatever parser they meet.

use handfast_id::{Scheme, Standard, explain, inspect, parse_as};

/// Reads bytes as a scheme and checks the laws of `identifiers.md` §0.
///
/// # Panics
///
/// When a law is broken.
pub fn laws(data: &[u8], scheme: Scheme) {
    let inspection = inspect(data, scheme, &Standard);
    let found = match inspection.outcome {
        Ok(found) => found,
        Err(error) => {
            assert!(error.at() <= data.len().max(8_192), "X-5: {error:?}");
            return;
        }
    };
    let canonical = found.canonical.as_str();
    assert!(canonical.len() <= 8_192, "X-4");
    let again = parse_as(canonical, found.identifier.scheme(), &Standard).expect("X-6");
    assert_eq!(again.canonical(&Standard), canonical, "X-6");
    assert!(again.is_same_as(&found.identifier, &Standard), "X-6");
    assert_eq!(again.key(&Standard), found.identifier.key(&Standard), "EQ-1");
    assert!(!found.components().is_empty());
    let text = std::str::from_utf8(data).expect("only text is accepted");
    let steps = explain(text, scheme, &Standard).expect("what can be read can be explained");
    assert_eq!(steps.last().expect("a step").text, canonical);
}
