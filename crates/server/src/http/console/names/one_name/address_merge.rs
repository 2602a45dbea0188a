//! Merging two changes of the addresses of a name, where one of them has moved some.
//!
//! Values are merged one by one. That would lose an address if somebody moved it to a place that
//! somebody else has changed: then the order of all addresses is one thing to choose.

use handfast_registry::{NewValue, Record};
use handfast_wire::Value;

use super::form_fields::free_index;
use super::merge::{WantedValue, at, edited};

/// Two lists of addresses, of which one is to be chosen, or both.
pub(super) struct AddressMerge {
    before: Vec<Value<'static>>,
    theirs: Vec<Value<'static>>,
    yours: Vec<Value<'static>>,
    /// What the edit says of addresses.
    wanted: Vec<WantedValue>,
}

impl AddressMerge {
    /// Takes what an edit says of addresses out of it, if both have changed addresses, one of them
    /// has moved some, and the results differ.
    pub(super) fn split(
        base: &Record,
        theirs: &Record,
        wanted: &[WantedValue],
    ) -> (Option<Self>, Vec<WantedValue>) {
        let is_of_address = |(index, put): &WantedValue| match put {
            Some(put) => put.value_type.eq_ignore_ascii_case("URL"),
            None => at(base, *index).is_some_and(is_address),
        };
        let (own, rest): (Vec<_>, Vec<_>) = wanted.iter().cloned().partition(is_of_address);
        let merge = Self {
            before: addresses(&base.values),
            theirs: addresses(&theirs.values),
            yours: addresses(&edited(base, &own)),
            wanted: own,
        };
        let have_both = !is_same(&merge.before, &merge.theirs) && !merge.wanted.is_empty();
        let is_moved =
            has_moved(&merge.before, &merge.theirs) || has_moved(&merge.before, &merge.yours);
        if have_both && is_moved && !is_same(&merge.theirs, &merge.yours) {
            (Some(merge), rest)
        } else {
            (None, wanted.to_vec())
        }
    }

    /// The lists before, theirs and yours, a line for each address.
    pub(super) fn words(&self) -> [String; 3] {
        [&self.before, &self.theirs, &self.yours].map(|list| {
            let lines = (1..)
                .zip(list)
                .map(|(place, it)| format!("{place}. {}", text(it)));
            let lines: Vec<String> = lines.collect();
            lines.join("\n")
        })
    }

    /// Whether a value is one of the addresses.
    pub(super) fn covers(&self, index: u32) -> bool {
        let mut all = self.before.iter().chain(&self.theirs).chain(&self.yours);
        all.any(|value| value.index == index)
    }

    /// What has to be done to the other person's version so that it has your addresses, and, if
    /// wished for, those behind them that the other person has added.
    pub(super) fn wanted(&self, theirs: &Record, with_theirs: bool) -> Vec<WantedValue> {
        let mut all = self.yours.clone();
        let is_in = |list: &[Value<'_>], value: &Value<'_>| {
            list.iter().any(|other| other.data == value.data)
        };
        let new = self.theirs.iter().filter(|value| {
            with_theirs && !is_in(&self.before, value) && !is_in(&self.yours, value)
        });
        all.extend(new.cloned());
        let is_taken = |index: u32| at(theirs, index).is_some_and(|value| !is_address(value));
        let mut last = 0_u32;
        let mut wanted = Vec::new();
        for value in all {
            let index = free_index(value.index.max(last.saturating_add(1)), is_taken);
            last = index;
            let put = self.wanted.iter().filter_map(|(_, put)| put.as_ref());
            let mut put = put.filter(|put| put.index == value.index && put.ttl.is_none());
            let put = match put.next().filter(|put| put.data == *value.data) {
                Some(put) => NewValue {
                    index,
                    ..put.clone()
                },
                None => NewValue {
                    permissions: Some(value.permissions),
                    ttl: Some(value.ttl),
                    references: value.references.clone(),
                    ..NewValue::new(index, &value.value_type, &value.data)
                },
            };
            wanted.push((index, Some(put)));
        }
        let is_left = |index: u32| wanted.iter().all(|(own, _)| *own != index);
        let gone: Vec<_> = self.theirs.iter().map(|value| value.index).collect();
        let gone: Vec<_> = gone.into_iter().filter(|index| is_left(*index)).collect();
        wanted.retain(|(index, put)| {
            let now = at(theirs, *index);
            let is_there = now.is_some_and(|now| {
                put.as_ref().is_some_and(|put| put.data == *now.data) && is_address(now)
            });
            !is_there
        });
        wanted.extend(gone.into_iter().map(|index| (index, None)));
        wanted
    }
}

fn is_address(value: &Value<'_>) -> bool {
    value.value_type.eq_ignore_ascii_case("URL")
}

fn addresses(values: &[Value<'static>]) -> Vec<Value<'static>> {
    let mut found: Vec<_> = values.iter().filter(|it| is_address(it)).cloned().collect();
    found.sort_by_key(|value| value.index);
    found
}

fn text(value: &Value<'_>) -> String {
    String::from_utf8_lossy(&value.data).into_owned()
}

fn is_same(one: &[Value<'_>], other: &[Value<'_>]) -> bool {
    let data = |list: &[Value<'_>]| -> Vec<_> { list.iter().map(text).collect() };
    data(one) == data(other)
}

/// Whether an address of one list stands at another index in the other list.
fn has_moved(before: &[Value<'_>], after: &[Value<'_>]) -> bool {
    after.iter().any(|value| {
        let mut same = before
            .iter()
            .filter(|old| old.data == value.data)
            .peekable();
        same.peek().is_some() && same.all(|old| old.index != value.index)
    })
}

#[cfg(test)]
mod tests {
    use handfast_registry::{Principal, Record, State};

    use super::*;

    fn record(urls: &[&str]) -> Record {
        let url =
            |(index, url): (u32, &&str)| Value::new(index, "URL", url.as_bytes()).into_owned();
        Record {
            text: "20.1/a".to_string(),
            authority: "hdl:20.1".to_string(),
            state: State::Active,
            version: 1,
            created: 0,
            modified: 0,
            first_event: 1,
            last_event: 1,
            seed: [0; 32],
            salt: None,
            holder: None::<Principal>,
            tombstone: None,
            values: (1..).zip(urls).map(url).collect(),
        }
    }

    fn put(index: u32, url: &str) -> WantedValue {
        (index, Some(NewValue::new(index, "URL", url.as_bytes())))
    }

    fn merged(theirs: &Record, wanted: &[WantedValue]) -> Vec<String> {
        addresses(&edited(theirs, wanted))
            .iter()
            .map(text)
            .collect()
    }

    #[test]
    fn an_address_that_was_moved_is_not_lost() {
        let base = record(&["a", "b"]);
        let theirs = record(&["c", "b"]);
        // Yours has moved `b` first.
        let wanted = vec![put(1, "b"), put(2, "a")];
        let (merge, rest) = AddressMerge::split(&base, &theirs, &wanted);
        let merge = merge.unwrap();
        assert!(rest.is_empty());
        assert_eq!(merge.words(), ["1. a\n2. b", "1. c\n2. b", "1. b\n2. a"]);
        assert_eq!(merged(&theirs, &merge.wanted(&theirs, false)), ["b", "a"]);
        assert_eq!(
            merged(&theirs, &merge.wanted(&theirs, true)),
            ["b", "a", "c"]
        );
    }

    #[test]
    fn addresses_that_were_not_moved_are_merged_one_by_one() {
        let base = record(&["a", "b"]);
        let theirs = record(&["c", "b"]);
        let (merge, rest) = AddressMerge::split(&base, &theirs, &[put(2, "d")]);
        assert!(merge.is_none());
        assert_eq!(rest.len(), 1);
    }

    #[test]
    fn a_value_that_took_the_index_of_an_address_stays() {
        let base = record(&["a", "b"]);
        let mut theirs = record(&["b", "a"]);
        theirs
            .values
            .push(Value::new(3, "TITLE", b"t").into_owned());
        let (merge, _) = AddressMerge::split(&base, &theirs, &[put(3, "c")]);
        let wanted = merge.unwrap().wanted(&theirs, false);
        assert!(wanted.iter().all(|(index, _)| *index != 3));
        assert_eq!(merged(&theirs, &wanted), ["a", "b", "c"]);
    }
}
