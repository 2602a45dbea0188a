//! Storing an edit, and merging it with one that was stored since the form was made.

use handfast_registry::{Edit, NameAction, NewValue, Record, RegistryError};
use handfast_wire::{Codec, Ttl, Value};
use hyper::{Response, StatusCode};

use super::changes::hex;
use super::conflict;
use super::edit::is_empty;
use super::form_fields::free_index;
use super::head::NameHead;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::FieldError;
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

/// What one value becomes: `None` if it is removed.
pub(super) type WantedValue = (u32, Option<NewValue>);

/// An edit beside a change that somebody else has stored.
pub(super) struct Merge {
    /// Values that both changed, and not to the same.
    pub(super) both: Vec<WantedValue>,
    /// Values that only this edit changes.
    pub(super) mine: Vec<WantedValue>,
}

/// Stores an edit of the version that a form was made from. If the name has changed since, the
/// response is the page that shows both changes. The inner error is why it was not stored.
pub(super) fn store(
    visit: &Visit<'_>,
    head: &NameHead,
    base: &Record,
    edit: &Edit,
) -> Result<Result<Response<Body>, (StatusCode, FieldError)>, PageError> {
    if is_empty(edit) {
        return Ok(Ok(see(&format!("{}?done=nothing", head.path))));
    }
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let wanted = wanted(edit);
    let expected = Some(base.version);
    let stored = edit.check_urls().and_then(|()| {
        let action = || NameAction::Edit(edit.clone());
        // The preview refuses to replace what the person may not read.
        registry.preview_name_change(&who, id, expected, action())?;
        registry.change_name(&who, id, expected, action())
    });
    match stored {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            Ok(Ok(see(&format!("{}?done=saved&event={event}", head.path))))
        }
        Err(error) if error.code() == "other-version" => {
            conflict::show(visit, head, base, &wanted, Vec::new()).map(Ok)
        }
        Err(error) => refused(error).map(Err),
    }
}

/// Why the registry did not store a change, as an error of the form; a failure is a page of its
/// own.
pub(super) fn refused(error: RegistryError) -> Result<(StatusCode, FieldError), PageError> {
    if error.is_failure() {
        return Err(error.into());
    }
    let text = message(&error);
    let field = match &error {
        RegistryError::Value { index, .. } => format!("text-{index}"),
        _ => String::new(),
    };
    let status = match error {
        RegistryError::Denied { .. } => StatusCode::FORBIDDEN,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok((status, FieldError::new(field, text)))
}

/// What an edit does to each value that it names.
pub(super) fn wanted(edit: &Edit) -> Vec<WantedValue> {
    let removed = edit.remove.iter().map(|index| (*index, None));
    let put = edit.put.iter().map(|put| (put.index, Some(put.clone())));
    let mut wanted: Vec<_> = removed.chain(put).collect();
    wanted.sort_by_key(|(index, _)| *index);
    wanted
}

/// The same as an edit.
pub(super) fn edit_of(wanted: &[WantedValue]) -> Edit {
    let removed = wanted.iter().filter(|(_, put)| put.is_none());
    Edit {
        remove: removed.map(|(index, _)| *index).collect(),
        put: wanted.iter().filter_map(|(_, put)| put.clone()).collect(),
        urls: None,
    }
}

impl Merge {
    /// Compares an edit of one version with another version.
    pub(super) fn new(base: &Record, theirs: &Record, wanted: Vec<WantedValue>) -> Self {
        let mut merge = Self {
            both: Vec::new(),
            mine: Vec::new(),
        };
        for (index, put) in wanted {
            let (before, now) = (at(base, index), at(theirs, index));
            let mine = put.as_ref().map(|put| value_of(put, now.or(before)));
            let is_same = |one: Option<&Value<'_>>, other: Option<&Value<'_>>| match (one, other) {
                (Some(one), Some(other)) => one.is_unchanged_from(other),
                (None, None) => true,
                _ => false,
            };
            if is_same(mine.as_ref(), now) {
                continue;
            }
            if is_same(before, now) {
                merge.mine.push((index, put));
            } else {
                merge.both.push((index, put));
            }
        }
        merge
    }
}

/// The value at an index.
pub(super) fn at(record: &Record, index: u32) -> Option<&Value<'static>> {
    record.values.iter().find(|value| value.index == index)
}

/// A value as it would be stored, in place of another or as a new one.
pub(super) fn value_of(put: &NewValue, before: Option<&Value<'_>>) -> Value<'static> {
    let permissions = put.permissions.or(before.map(|before| before.permissions));
    let ttl = put.ttl.or(before.map(|before| before.ttl));
    let value = Value {
        permissions: permissions.unwrap_or_default(),
        ttl: ttl.unwrap_or_default(),
        references: put.references.clone(),
        ..Value::new(put.index, &put.value_type, &put.data)
    };
    value.into_owned()
}

/// The values of a record with an edit.
pub(super) fn edited(base: &Record, wanted: &[WantedValue]) -> Vec<Value<'static>> {
    let mut values = base.values.clone();
    values.retain(|value| wanted.iter().all(|(index, _)| *index != value.index));
    let put = wanted.iter().filter_map(|(_, put)| put.as_ref());
    values.extend(put.map(|put| value_of(put, at(base, put.index))));
    values.sort_by_key(|value| value.index);
    values
}

/// A value at an index that is free in a record and in an edit.
pub(super) fn moved(put: &NewValue, record: &Record, wanted: &[WantedValue]) -> NewValue {
    let is_taken =
        |index: u32| at(record, index).is_some() || wanted.iter().any(|(taken, _)| *taken == index);
    NewValue {
        index: free_index(put.index.saturating_add(1), is_taken),
        ..put.clone()
    }
}

/// A wanted value as a hidden field.
pub(super) fn written((index, put): &WantedValue) -> String {
    let Some(put) = put else {
        return format!("remove {index}");
    };
    let word = match (put.permissions, put.ttl) {
        (Some(_), Some(_)) => "put",
        _ => "new",
    };
    format!("{word} {}", hex(&value_of(put, None).to_bytes()))
}

/// Reads such a field.
pub(super) fn read(text: &str) -> Option<WantedValue> {
    let (word, rest) = text.split_once(' ')?;
    if word == "remove" {
        return Some((rest.parse().ok()?, None));
    }
    let bytes = bytes_of(rest)?;
    let value = Value::from_bytes(&bytes).ok()?.into_owned();
    let is_new = word == "new";
    let put = NewValue {
        permissions: Some(value.permissions).filter(|_| !is_new),
        ttl: Some(value.ttl).filter(|_| !is_new),
        references: value.references.clone(),
        ..NewValue::new(value.index, &value.value_type, &value.data)
    };
    Some((value.index, Some(put)))
}

/// The bytes of hexadecimal digits, between which blanks may stand.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<_> = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    });
    pairs.collect()
}

/// How long a value may be cached, as a person writes it: seconds, or `@` and a time.
pub(super) fn ttl_of(text: &str) -> Option<Ttl> {
    match text.strip_prefix('@') {
        Some(time) => time.parse().ok().map(Ttl::Absolute),
        None => text.parse().ok().map(Ttl::Relative),
    }
}

#[cfg(test)]
mod tests {
    use handfast_wire::Permissions;

    use super::*;

    #[test]
    fn a_wanted_value_goes_through_a_form() {
        let new = NewValue::new(10, "TITLE", "ü\0".as_bytes());
        let put = NewValue {
            permissions: Some(Permissions::SECRET),
            ttl: Some(Ttl::Relative(60)),
            ..NewValue::new(1, "URL", b"https://a.example/")
        };
        for wanted in [(10, Some(new)), (1, Some(put)), (7, None)] {
            assert_eq!(read(&written(&wanted)), Some(wanted));
        }
        for text in ["", "put", "put 0", "put zz", "remove x", "new FF"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_ttl_is_seconds_or_a_time() {
        assert_eq!(ttl_of("86400"), Some(Ttl::Relative(86_400)));
        assert_eq!(ttl_of("@7"), Some(Ttl::Absolute(7)));
        assert_eq!(ttl_of("a day"), None);
    }
}
