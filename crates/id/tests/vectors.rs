//! Every line of `vectors/identifiers.jsonl`, through the same function as `handfast inspect
//! --json`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use handfast_id::{
    Fold, HttpResolver, InfoGrammar, Namespace, RuleBook, Scheme, Standard, Steps, inspect,
    parse_as,
};
use serde_json::{Map, Value};

const VECTORS: &str = include_str!("vectors/identifiers.jsonl");

#[test]
fn all_vectors_pass() {
    let mut failures = Vec::new();
    let mut count = 0;
    for (number, line) in VECTORS.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).unwrap();
        count += 1;
        if let Err(problem) = check(&vector) {
            failures.push(format!("line {}: {problem}", number + 1));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(count, 241);
}

fn check(vector: &Value) -> Result<(), String> {
    let text = |name: &str| vector[name].as_str();
    let rules = rules(vector);
    let scheme: Scheme = text("as").unwrap().parse().unwrap();
    let input = text("input").unwrap();
    let inspection = inspect(input.as_bytes(), scheme, &rules);
    let got = serde_json::to_value(&inspection).unwrap();
    let shown = format!("{} {input:.80?}: {got:.300}", text("rule").unwrap());
    if got["input"] != input || got["ok"] != vector["ok"] {
        return Err(shown);
    }
    for name in ["scheme", "canonical"] {
        if text(name).is_some() && got[name] != vector[name] {
            return Err(format!("{name} of {shown}"));
        }
    }
    let empty = Map::new();
    for name in ["components", "spellings"] {
        for (key, value) in vector[name].as_object().unwrap_or(&empty) {
            if &got[name][key] != value {
                return Err(format!("{name}.{key} of {shown}"));
            }
        }
    }
    // the canonical form is its own canonical form.
    if let Some(canonical) = got["canonical"].as_str() {
        let again = inspect(canonical.as_bytes(), inspected_scheme(&got), &rules);
        let again = serde_json::to_value(&again).unwrap();
        if again["canonical"] != canonical {
            return Err(format!("canonical again of {shown}: {again}"));
        }
    }
    Ok(())
}

fn inspected_scheme(got: &Value) -> Scheme {
    got["scheme"].as_str().unwrap().parse().unwrap()
}

fn rules(vector: &Value) -> RuleBook {
    let mut rules = RuleBook::standard();
    if vector["grammar"] == "draft" {
        rules = rules.with_info_grammar(InfoGrammar::Draft);
    }
    for resolver in vector["resolvers"].as_array().into_iter().flatten() {
        rules = rules.with_resolver(HttpResolver::parse(resolver.as_str().unwrap()).unwrap());
    }
    for (name, entry) in vector["registry"].as_object().into_iter().flatten() {
        let fold = match entry["case"].as_str() {
            Some("lower") => Some(Fold::Lower),
            Some("upper") => Some(Fold::Upper),
            _ => None,
        };
        let steps = Steps::short(entry["strip"].as_str().unwrap_or_default(), fold).unwrap();
        rules = rules.with_namespace(Namespace::new(name).unwrap().with_steps(steps));
    }
    rules
}

/// Vectors that say of two lines that they are equal, or not.
#[test]
fn comparisons_named_in_the_vectors() {
    let same = |scheme, a, b| {
        let read = |text| parse_as(text, scheme, &Standard).unwrap();
        read(a).is_same_as(&read(b), &Standard)
    };
    assert!(!same(Scheme::Handle, "20.1000/\u{E9}", "20.1000/e\u{301}"));
    assert!(same(
        Scheme::Urn,
        "urn:urn-3:HUL.OIS:Home",
        "URN:URN-3:hul.ois:HOME"
    ));
    assert!(same(
        Scheme::Urn,
        "urn:urn-3:HUL.OIS:a%2fb",
        "urn:urn-3:HUL.OIS:a%2Fb"
    ));
    assert!(!same(
        Scheme::Urn,
        "urn:example:a123,z456",
        "urn:example:a123%2Cz456"
    ));
    assert!(same(
        Scheme::Urn,
        "urn:example:a123%2Cz456",
        "URN:EXAMPLE:a123%2cz456"
    ));
}
