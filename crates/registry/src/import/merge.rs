//! Merging: an update changes only the values that its line names.
//!
//! A line names a value by its index, and URL values by their order: the first of `urls`, or the
//! column `url`, is the first URL value of the name, `url2` the second. A changed value also keeps
//! the properties that the line does not give: its TTL, its permissions, its references.

use std::collections::HashSet;

use handfast_wire::Value;
use serde::{Deserialize, Serialize};

use crate::error::RegistryError;

/// How a line names one value of its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedValue {
    /// The index in the record.
    pub(crate) index: u32,
    /// The position of the URL value in the name, from 0; `None` if the line gives the index.
    pub(crate) url: Option<u32>,
    pub(crate) says_ttl: bool,
    pub(crate) says_permissions: bool,
}

/// The values of a name after an update; `wanted` has the values of the line.
pub(crate) fn merged(
    old: &[Value<'static>],
    wanted: Vec<Value<'static>>,
    named: &[NamedValue],
) -> Result<Vec<Value<'static>>, RegistryError> {
    let mut values = old.to_vec();
    let says = |index: u32| named.iter().find(|named| named.index == index);
    let (urls, others): (Vec<_>, Vec<_>) = wanted
        .into_iter()
        .map(|value| (says(value.index), value))
        .partition(|(named, _)| named.is_some_and(|named| named.url.is_some()));
    for (named, value) in &others {
        let found = values.iter_mut().find(|found| found.index == value.index);
        match found {
            Some(found) if found.value_type.eq_ignore_ascii_case(&value.value_type) => {
                update(found, value, *named);
            }
            Some(found) => return Err(other_type(found, value)),
            None => values.push(value.clone()),
        }
    }
    let is_named = |value: &Value<'_>| others.iter().any(|(_, other)| other.index == value.index);
    let is_url = |value: &Value<'_>| value.value_type.eq_ignore_ascii_case("URL");
    let unnamed = old.iter().filter(|value| is_url(value) && !is_named(value));
    let positions: Vec<u32> = unnamed.map(|value| value.index).collect();
    let mut urls: Vec<_> = urls
        .into_iter()
        .map(|(named, value)| (named.and_then(|named| named.url), named, value))
        .collect();
    urls.sort_by_key(|(position, ..)| *position);
    let mut applied: HashSet<u32> = values.iter().map(|value| value.index).collect();
    let mut free = 1;
    for (position, named, value) in urls {
        let position = position.and_then(|position| usize::try_from(position).ok());
        let index = position.and_then(|position| positions.get(position));
        let found = values.iter_mut().find(|found| Some(&found.index) == index);
        if let Some(found) = found {
            update(found, &value, named);
            continue;
        }
        while applied.contains(&free) {
            free += 1;
        }
        applied.insert(free);
        values.push(Value {
            index: free,
            ..value
        });
    }
    values.sort_by_key(|value| value.index);
    Ok(values)
}

fn update(found: &mut Value<'static>, said: &Value<'static>, named: Option<&NamedValue>) {
    found.data.clone_from(&said.data);
    found.timestamp = said.timestamp;
    if named.is_some_and(|named| named.says_ttl) {
        found.ttl = said.ttl;
    }
    if named.is_some_and(|named| named.says_permissions) {
        found.permissions = said.permissions;
    }
    if !said.references.is_empty() {
        found.references.clone_from(&said.references);
    }
}

/// A column for titles must not overwrite a value of another type.
fn other_type(found: &Value<'_>, said: &Value<'_>) -> RegistryError {
    let (index, is, not) = (found.index, &found.value_type, &said.value_type);
    let problem = format!(
        "value {index} is of type {is}, not {not}: name another index, or change the type with \
         `handfast name set`"
    );
    RegistryError::policy("other-type", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(index: u32, value_type: &'static str, data: &'static str) -> Value<'static> {
        Value::new(index, value_type, data.as_bytes()).into_owned()
    }

    fn named(index: u32, url: Option<u32>) -> NamedValue {
        NamedValue {
            index,
            url,
            says_ttl: false,
            says_permissions: false,
        }
    }

    fn shown(values: &[Value<'_>]) -> Vec<String> {
        let show = |value: &Value<'_>| {
            format!(
                "{} {} {}",
                value.index,
                value.value_type,
                value.text().unwrap()
            )
        };
        values.iter().map(show).collect()
    }

    /// A table with one column of URLs deleted all other values.
    #[test]
    fn urls_are_named_by_their_order_and_the_rest_stays() {
        let old = [
            value(2, "URL", "a"),
            value(3, "TITLE", "t"),
            value(7, "URL", "b"),
            value(9, "URL", "c"),
        ];
        let first = merged(&old, vec![value(1, "URL", "x")], &[named(1, Some(0))]).unwrap();
        assert_eq!(
            shown(&first),
            ["2 URL x", "3 TITLE t", "7 URL b", "9 URL c"]
        );
        let second = merged(&old, vec![value(1, "URL", "x")], &[named(1, Some(1))]).unwrap();
        assert_eq!(
            shown(&second),
            ["2 URL a", "3 TITLE t", "7 URL x", "9 URL c"]
        );
        let fourth = merged(&old, vec![value(1, "URL", "x")], &[named(1, Some(3))]).unwrap();
        let all = ["1 URL x", "2 URL a", "3 TITLE t", "7 URL b", "9 URL c"];
        assert_eq!(shown(&fourth), all);
        // A value that the line names by its index is not counted in the order.
        let wanted = vec![value(1, "URL", "x"), value(2, "URL", "y")];
        let both = merged(&old, wanted, &[named(1, Some(0)), named(2, None)]).unwrap();
        assert_eq!(shown(&both), ["2 URL y", "3 TITLE t", "7 URL x", "9 URL c"]);
        assert_eq!(merged(&old, Vec::new(), &[]).unwrap(), old);
    }

    /// A column `TITLE:2` would have overwritten an administrator at index 2.
    #[test]
    fn a_value_of_another_type_is_not_overwritten() {
        let old = [value(2, "URL", "a")];
        let refused = merged(&old, vec![value(2, "TITLE", "t")], &[named(2, None)]);
        assert_eq!(refused.unwrap_err().code(), "other-type");
    }

    #[test]
    fn what_is_not_said_of_a_value_stays() {
        let mut old = value(1, "URL", "a");
        old.ttl = handfast_wire::Ttl::Relative(60);
        let new = merged(&[old], vec![value(1, "url", "b")], &[named(1, None)]).unwrap();
        assert_eq!(new[0].ttl, handfast_wire::Ttl::Relative(60));
        assert_eq!(shown(&new), ["1 URL b"]);
    }
}
