//! The rules for the values of a record.

use handfast_wire::{Permissions, Reference, Ttl, Value, type_matches};

use crate::error::{RegistryError, ValueProblem};

/// The maximum number of bytes of the values of a record: they must fit a message of the protocol.
const MAX_RECORD_BYTES: usize = 260_000;
/// The most values that clients of the protocol take.
const MAX_VALUES: usize = handfast_api::limits::VALUES;

/// Schemes that can run code or embed any content: no redirect may go there.
const FORBIDDEN_SCHEMES: [&str; 3] = ["javascript:", "data:", "vbscript:"];

/// Checks the values of a new version and sorts them. Unchanged values keep their time. Other
/// values keep the time that they come with, or get the current time.
pub(crate) fn settle<'v>(
    old: &[Value<'_>],
    mut new: Vec<Value<'v>>,
    timestamp: u32,
) -> Result<Vec<Value<'v>>, RegistryError> {
    new.sort_by_key(|value| value.index);
    let mut bytes = 0;
    let mut last = None;
    for value in &mut new {
        check(value)?;
        if last.replace(value.index) == Some(value.index) {
            return Err(RegistryError::value(value.index, ValueProblem::Twice));
        }
        let unchanged = old.iter().find(|before| value.is_unchanged_from(before));
        value.timestamp = match unchanged {
            Some(before) => before.timestamp,
            None if value.timestamp == 0 => timestamp,
            None => value.timestamp,
        };
        bytes += value.encoded_length();
    }
    if new.len() > MAX_VALUES {
        return Err(RegistryError::policy(
            "too-many-values",
            format!("a name has at most {MAX_VALUES} values"),
        ));
    }
    if bytes > MAX_RECORD_BYTES {
        return Err(RegistryError::policy(
            "too-large",
            format!("values take at most {MAX_RECORD_BYTES} bytes"),
        ));
    }
    Ok(new)
}

/// Whether any of some sorted values is added, removed or changed.
pub(crate) fn are_changed(old: &[Value<'_>], new: &[Value<'_>]) -> bool {
    let mut pairs = new.iter().zip(old);
    old.len() != new.len() || pairs.any(|(new, old)| !new.is_unchanged_from(old))
}

fn check(value: &Value<'_>) -> Result<(), RegistryError> {
    let refuse = |problem| Err(RegistryError::value(value.index, problem));
    if value.index == 0 || value.index > 0x7FFF_FFFF {
        return refuse(ValueProblem::Index);
    }
    if value.value_type.eq_ignore_ascii_case("URL") && value.data.is_empty() {
        return refuse(ValueProblem::EmptyUrl);
    }
    if value.value_type.eq_ignore_ascii_case("URL") && is_dangerous(&value.data) {
        return refuse(ValueProblem::DangerousUrl);
    }
    Ok(())
}

/// Browsers skip white space and control characters in front of, and inside, a scheme.
fn is_dangerous(url: &[u8]) -> bool {
    // Almost all URLs begin so, and imports check millions of them.
    if url.starts_with(b"http") {
        return false;
    }
    let start: String = url
        .iter()
        .filter(|byte| **byte > b' ' && **byte != 0x7F)
        .take(16)
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    FORBIDDEN_SCHEMES
        .iter()
        .any(|scheme| start.starts_with(scheme))
}

/// Gives `URL` values the indexes 1, 2, … in order, and skips indexes that other values have.
pub(crate) fn urls<'v>(
    urls: impl IntoIterator<Item = &'v str>,
    mut values: Vec<Value<'v>>,
    ttl: u32,
) -> Vec<Value<'v>> {
    let mut index = 0;
    for url in urls {
        index += 1;
        while values.iter().any(|value| value.index == index) {
            index += 1;
        }
        values.push(Value {
            ttl: Ttl::Relative(ttl),
            ..Value::new(index, "URL", url.as_bytes())
        });
    }
    values
}

/// A value from a caller.
///
/// ```
/// use handfast_registry::NewValue;
///
/// let secret = NewValue::new(300, "HS_SECKEY", b"secret");
/// assert_eq!(secret.permissions, None); // which makes it 1100: not for the public
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewValue {
    /// The index, unique in its record.
    pub index: u32,
    /// The type.
    pub value_type: String,
    /// Any bytes.
    pub data: Vec<u8>,
    /// Who may read and write it. By default everybody may read it; secrets only administrators.
    pub permissions: Option<Permissions>,
    /// How long it may be cached. Default: the TTL of the authority.
    pub ttl: Option<Ttl>,
    /// References to other values.
    pub references: Vec<Reference<'static>>,
}

impl NewValue {
    /// A value with the defaults of its type.
    #[must_use]
    pub fn new(index: u32, value_type: &str, data: &[u8]) -> Self {
        Self {
            index,
            value_type: value_type.to_string(),
            data: data.to_vec(),
            permissions: None,
            ttl: None,
            references: Vec::new(),
        }
    }

    /// Replaces an existing value; unset properties stay as they were.
    pub(crate) fn settle_over(&self, old: Option<&Value<'_>>, default_ttl: u32) -> Value<'static> {
        let unsaid = Self {
            permissions: self.permissions.or(old.map(|old| old.permissions)),
            ttl: self.ttl.or(old.map(|old| old.ttl)),
            ..self.clone()
        };
        unsaid.settle(default_ttl)
    }

    pub(crate) fn settle(&self, default_ttl: u32) -> Value<'static> {
        let usual = || usual_permissions(&self.value_type);
        let value = Value {
            permissions: self.permissions.unwrap_or_else(usual),
            ttl: self.ttl.unwrap_or(Ttl::Relative(default_ttl)),
            references: self.references.clone(),
            ..Value::new(self.index, &self.value_type, &self.data)
        };
        value.into_owned()
    }
}

/// The permissions of a value that says none: secrets are not for the public.
pub(crate) fn usual_permissions(value_type: &str) -> Permissions {
    if type_matches(value_type, "HS_SECKEY") {
        Permissions::SECRET
    } else {
        Permissions::DEFAULT
    }
}

impl From<(u32, String, Vec<u8>)> for NewValue {
    fn from((index, value_type, data): (u32, String, Vec<u8>)) -> Self {
        Self::new(index, &value_type, &data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangerous_urls_are_refused_however_they_are_written() {
        for url in [
            "javascript:x",
            " JavaScript:x",
            "java\tscript:x",
            "\u{1}data:x",
            "VBSCRIPT:x",
        ] {
            assert!(is_dangerous(url.as_bytes()), "{url}");
        }
        for url in ["https://x/javascript:", "dat:x", "", "mailto:a@b"] {
            assert!(!is_dangerous(url.as_bytes()), "{url}");
        }
    }

    #[test]
    fn urls_take_the_first_free_indexes() {
        let others = vec![Value::new(2, "EMAIL", b"a@b").into_owned()];
        let values = urls(["u", "v"], others, 60);
        let indexes: Vec<_> = values.iter().map(|value| value.index).collect();
        assert_eq!(indexes, [2, 1, 3]);
    }
}
