//! The addresses of a name: its `URL` values, in their order.

use handfast_registry::{Edit, Record, url_problem};
use handfast_wire::Value;

use super::{exact, field_text, over};
use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;

/// An address in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct AddressFields {
    pub(in super::super) url: String,
    /// The index of the value that it was.
    pub(in super::super) from: Option<u32>,
}

impl AddressFields {
    pub(super) fn of(value: &Value<'_>) -> Option<Self> {
        let is_url = value.value_type.eq_ignore_ascii_case("URL");
        let url = field_text(value).filter(|url| is_url && !url.contains('\n'))?;
        Some(Self {
            url,
            from: Some(value.index),
        })
    }

    /// The addresses of a form that was sent; `None` if it has none, not even empty ones.
    pub(super) fn read(visit: &Visit<'_>) -> Option<Vec<Self>> {
        let urls = exact(visit, "url");
        let mut from = exact(visit, "url-from").into_iter();
        let rows = urls.iter().map(|url| Self {
            url: url.trim().to_string(),
            from: from.next().and_then(|text| text.parse().ok()),
        });
        let rows: Vec<_> = rows.collect();
        (!rows.is_empty()).then_some(rows)
    }
}

/// The change that gives a name these addresses.
///
/// The order of addresses is that of their indexes. Addresses keep the indexes that they had among
/// them, in ascending order, and new ones take free indexes behind those: so taking one away
/// changes no other, and moving one changes only those between.
pub(super) fn edit(
    rows: &[AddressFields],
    base: &Record,
    is_taken: impl Fn(u32) -> bool,
) -> Result<Edit, Vec<FieldError>> {
    let stored: Vec<_> = base
        .values
        .iter()
        .filter(|value| AddressFields::of(value).is_some())
        .collect();
    let mut unclaimed = stored.clone();
    let filled = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.url.is_empty());
    // Each stored value is the origin of one row at most.
    let filled: Vec<_> = filled
        .map(|(at, row)| {
            let origin = unclaimed
                .iter()
                .position(|value| Some(value.index) == row.from);
            (at + 1, row, origin.map(|at| unclaimed.remove(at)))
        })
        .collect();
    let mut slots: Vec<_> = filled
        .iter()
        .filter_map(|(_, _, origin)| Some(origin.as_ref()?.index))
        .collect();
    slots.sort_unstable();
    while slots.len() < filled.len() {
        let last = slots.last().copied().unwrap_or_default();
        let next = last.saturating_add(1);
        slots.push(super::free_index(next, |index| {
            is_taken(index) || slots.contains(&index)
        }));
    }
    let mut edit = Edit::default();
    let mut errors = Vec::new();
    let gone = stored.iter().map(|value| value.index);
    edit.remove = gone.filter(|index| !slots.contains(index)).collect();
    for ((place, row, origin), slot) in filled.into_iter().zip(slots) {
        let is_typed = origin.is_none_or(|origin| origin.data.as_ref() != row.url.as_bytes());
        if let Some(problem) = url_problem(&row.url).filter(|_| is_typed) {
            let text = format!("Address {place}: {problem}.");
            errors.push(FieldError::new(format!("url-{place}"), text));
            continue;
        }
        let value_type = origin.map_or("URL", |origin| &origin.value_type);
        let put = over(origin, slot, value_type, row.url.as_bytes());
        let is_there = origin.is_some_and(|origin| origin.index == slot) && !is_typed;
        if !is_there {
            edit.put.push(put);
        }
    }
    if errors.is_empty() {
        Ok(edit)
    } else {
        Err(errors)
    }
}

#[cfg(test)]
mod tests {
    use handfast_registry::{Environment, NewAuthority, NewName, Principal, Registry};

    use super::*;

    fn record(urls: &[&str]) -> Record {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(|| 0, |bytes| bytes.fill(1));
        let registry = Registry::create(folder.path(), environment).unwrap();
        let operator = Principal::Operator;
        registry
            .create_authority(&operator, "20.1", NewAuthority::default())
            .unwrap();
        let made = registry.create_name(&operator, "20.1/a", NewName::urls(urls));
        made.unwrap().record
    }

    fn rows(rows: &[(&str, u32)]) -> Vec<AddressFields> {
        let row = |(url, from): &(&str, u32)| AddressFields {
            url: (*url).to_string(),
            from: Some(*from).filter(|from| *from > 0),
        };
        rows.iter().map(row).collect()
    }

    fn edited(base: &Record, form: &[(&str, u32)]) -> (Vec<u32>, Vec<(u32, String)>) {
        let taken = |index: u32| base.values.iter().any(|value| value.index == index);
        let Ok(edit) = edit(&rows(form), base, taken) else {
            panic!("{form:?}");
        };
        let put = edit.put.into_iter();
        let put = put.map(|put| (put.index, String::from_utf8(put.data).unwrap()));
        (edit.remove, put.collect())
    }

    const A: &str = "https://a.example/";
    const B: &str = "https://b.example/";
    const C: &str = "https://c.example/";

    #[test]
    fn an_address_that_stays_in_its_place_is_not_changed() {
        let base = record(&[A, B]);
        assert_eq!(edited(&base, &[(A, 1), (B, 2)]), (vec![], vec![]));
        assert_eq!(edited(&base, &[(B, 2)]), (vec![1], vec![]));
        let added = edited(&base, &[(A, 1), (B, 2), (C, 0), ("", 0)]);
        assert_eq!(added, (vec![], vec![(3, C.to_string())]));
    }

    #[test]
    fn moved_addresses_take_the_indexes_of_others() {
        let base = record(&[A, B, C]);
        let moved = edited(&base, &[(B, 2), (A, 1), (C, 3)]);
        assert_eq!(moved.0, Vec::<u32>::new());
        assert_eq!(moved.1, [(1, B.to_string()), (2, A.to_string())]);
        // Two rows cannot have come from one value.
        let twice = edited(&base, &[(A, 1), (A, 1)]);
        assert_eq!(twice, (vec![2, 3], vec![(4, A.to_string())]));
    }

    #[test]
    fn a_wrong_address_is_named_by_its_place() {
        let base = record(&[A]);
        let errors = edit(&rows(&[(A, 1), ("example.org", 0)]), &base, |_| false);
        assert_eq!(errors.unwrap_err()[0].field, "url-2");
    }
}
