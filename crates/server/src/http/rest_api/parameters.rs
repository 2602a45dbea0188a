//! Parameters of a request: from the query, or from the body of a POST (`http-interfaces.md`
//! A.4).

use std::collections::{BTreeSet, HashSet};

use handfast_wire::body::ResolutionRequest;
use serde_json::Value as Json;

use crate::error::{Fault, wrong};
use crate::http::percent::decode_form;

/// Names and what they are set to, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Of a query, or of a form.
    pub(crate) fn read(query: &str) -> Result<Self, Fault> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let read = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode_form(name)?, decode_form(value)?))
        };
        let all = pairs.map(|pair| read(pair).ok_or_else(|| wrong("a parameter is not UTF-8")));
        Ok(Self(all.collect::<Result<_, _>>()?))
    }

    /// The same with the members of a JSON object, or of a form, behind them.
    pub(crate) fn with_body(mut self, body: &[u8], is_form: bool) -> Result<Self, Fault> {
        if is_form {
            let text = std::str::from_utf8(body).map_err(|_| wrong("the form is not UTF-8"))?;
            self.0.extend(Self::read(text)?.0);
            return Ok(self);
        }
        let members: serde_json::Map<String, Json> =
            serde_json::from_slice(body).map_err(|_| wrong("the body is no JSON object"))?;
        for (name, member) in members {
            match member {
                Json::Array(members) => {
                    let texts = members.iter().filter_map(text_of);
                    self.0.extend(texts.map(|text| (name.clone(), text)));
                }
                member => self.0.extend(text_of(&member).map(|text| (name, text))),
            }
        }
        Ok(self)
    }

    pub(crate) fn all<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        let named = self.0.iter().filter(move |(given, _)| given == name);
        named.map(|(_, value)| value.as_str())
    }

    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// "absent = false; present and empty, `true` or `yes` in any case = true; everything else =
    /// false."
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.first(name).is_some_and(|value| {
            value.is_empty()
                || value.eq_ignore_ascii_case("true")
                || value.eq_ignore_ascii_case("yes")
        })
    }

    /// "only the word `true` (any case) is true."
    pub(crate) fn strictly(&self, name: &str) -> Option<bool> {
        self.first(name)
            .map(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The types, each once, whatever its case.
    pub(crate) fn types(&self) -> Result<Vec<&str>, Fault> {
        let mut seen = HashSet::new();
        let mut types: Vec<_> = self.all("type").collect();
        types.retain(|kind| seen.insert(kind.to_ascii_uppercase()));
        check_count("type", types.len())?;
        Ok(types)
    }

    /// The indexes, each once; those below 0 are numbers, and no value has them.
    pub(crate) fn indexes(&self) -> Result<Vec<u32>, Fault> {
        let read = |text: &str| text.parse().map(i32::cast_unsigned);
        let all = self.all("index").map(|text| {
            read(text).map_err(|_| wrong("the parameter `index` should be a whole number"))
        });
        let all = all.collect::<Result<BTreeSet<_>, _>>()?;
        check_count("index", all.len())?;
        Ok(all.into_iter().collect())
    }

    /// A number that may be below 0.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Fault> {
        let read = |text: &str| {
            text.parse()
                .map_err(|_| wrong(format!("the parameter `{name}` should be a whole number")))
        };
        self.first(name).map(read).transpose()
    }
}

/// Each is compared with each value: more than a record can have are a mistake, or malice.
fn check_count(name: &str, count: usize) -> Result<(), Fault> {
    let max = ResolutionRequest::MAX_SELECTED;
    if count <= max {
        return Ok(());
    }
    Err(wrong(format!(
        "the parameter `{name}` has more than {max} values"
    )))
}

/// The text of a string, a number or a boolean.
pub(crate) fn text_of(member: &Json) -> Option<String> {
    match member {
        Json::String(text) => Some(text.clone()),
        Json::Bool(_) | Json::Number(_) => Some(member.to_string()),
        Json::Array(_) | Json::Null | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_has_two_readings() {
        let given = Parameters::read("a&b=YES&c=0&d=true").unwrap();
        let read = |name| (given.is_true(name), given.strictly(name));
        assert_eq!(read("a"), (true, Some(false)));
        assert_eq!(read("b"), (true, Some(false)));
        assert_eq!(read("c"), (false, Some(false)));
        assert_eq!(read("d"), (true, Some(true)));
        assert_eq!(read("e"), (false, None));
    }

    #[test]
    fn what_is_said_twice_counts_once_and_too_much_is_refused() {
        let given = Parameters::read("type=URL&index=7&type=url&index=07&type=EMAIL").unwrap();
        assert_eq!(given.types().unwrap(), ["URL", "EMAIL"]);
        assert_eq!(given.indexes().unwrap(), [7]);
        for name in ["type", "index"] {
            let many = |count: usize| {
                let all: Vec<_> = (0..count)
                    .map(|number| format!("{name}={number}"))
                    .collect();
                let given = Parameters::read(&all.join("&")).unwrap();
                given.types().is_ok() && given.indexes().is_ok()
            };
            assert!(many(2_048), "{name}");
            assert!(!many(2_049), "{name}");
        }
    }
}
