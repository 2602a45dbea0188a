//! Writing records as operations.

use std::io::{self, Write};

use super::lines::MAX_LINE;
use super::parse::{MAX_NUMBER, is_blank};
use crate::{Admin, AdminPermissions, Codec, Reference, Ttl, Value, ValueList};

/// Writes a `CREATE` with the values that the format can say, and returns the indexes of those that
/// it cannot: binary data that is no administrator or group, text that is empty, has line ends or
/// blanks around it, types with spaces, absolute TTLs, references, numbers of 2³¹ and more, and
/// what is longer than a line may be. Timestamps are never part of a batch.
///
/// ```
/// use handfast_wire::{Value, batch};
///
/// let url = Value::new(1, "URL", b"https://example.org/");
/// let values = [url, Value::new(2, "PHOTO", b"\xFF\xD8")];
/// let mut out = Vec::new();
/// assert_eq!(batch::write_create(&mut out, "20.1000/x", &values)?, [2]);
/// assert_eq!(out, b"CREATE 20.1000/x\n1 URL 86400 1110 UTF8 https://example.org/\n\n");
/// # Ok::<_, batch::BatchWriteError>(())
/// ```
pub fn write_create(
    out: &mut impl Write,
    handle: &str,
    values: &[Value<'_>],
) -> Result<Vec<u32>, BatchWriteError> {
    let command = format!("CREATE {handle}");
    if !is_sayable(handle) || command.len() > MAX_LINE {
        return Err(BatchWriteError::Handle);
    }
    writeln!(out, "{command}")?;
    let mut unsaid = Vec::new();
    for value in values {
        match line(value).filter(|line| line.len() <= MAX_LINE) {
            Some(line) => writeln!(out, "{line}")?,
            None => unsaid.push(value.index),
        }
    }
    writeln!(out)?;
    Ok(unsaid)
}

/// The value line, if the format can say the value.
fn line(value: &Value<'_>) -> Option<String> {
    let Ttl::Relative(ttl) = value.ttl else {
        return None;
    };
    let is_sayable = (1..=MAX_NUMBER).contains(&value.index)
        && ttl <= MAX_NUMBER
        && is_sayable(&value.value_type)
        && !value.value_type.contains(' ')
        && value.references.is_empty();
    let (kind, data) = data(value).filter(|_| is_sayable)?;
    let (index, value_type, permissions) = (value.index, &value.value_type, value.permissions);
    Some(format!(
        "{index} {value_type} {ttl} {permissions} {kind} {data}"
    ))
}

/// The kind of the data, and how it is said.
fn data(value: &Value<'_>) -> Option<(&'static str, String)> {
    if let Some(text) = value.text() {
        return is_sayable(text).then(|| ("UTF8", text.to_string()));
    }
    if value.is_type("HS_ADMIN") {
        let admin = Admin::from_bytes(&value.data).ok()?;
        let is_all = AdminPermissions::ALL.contains(admin.permissions);
        let digits: String = admin.permissions.to_string().chars().rev().collect();
        let Reference { handle, index } = &admin.administrator;
        return (is_all && is_reference(&admin.administrator) && admin.to_bytes() == *value.data)
            .then(|| ("ADMIN", format!("{index}:{digits}:{handle}")));
    }
    if value.is_type("HS_VLIST") {
        let list = ValueList::from_bytes(&value.data).ok()?;
        let list = (list.to_bytes() == *value.data).then_some(list.0)?;
        let is_list = |reference| is_reference(reference) && !reference.handle.contains(';');
        let items: Vec<_> = list.iter().map(ToString::to_string).collect();
        return (!list.is_empty() && list.iter().all(is_list)).then(|| ("LIST", items.join(";")));
    }
    None
}

fn is_reference(reference: &Reference<'_>) -> bool {
    reference.index <= MAX_NUMBER && is_sayable(&reference.handle)
}

/// Whether text stays the same when it is the rest of a line.
fn is_sayable(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['\n', '\r'])
        && !text.starts_with(is_blank)
        && !text.ends_with(is_blank)
}

/// Why a record cannot be written.
///
/// ```
/// use handfast_wire::batch::{BatchWriteError, write_create};
///
/// assert!(matches!(write_create(&mut Vec::new(), " a/b", &[]), Err(BatchWriteError::Handle)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchWriteError {
    /// A handle that is empty or very long, or has line ends, or blanks around it.
    #[error(
        "a batch cannot hold a handle that is empty, very long, or has line ends or \
         blanks around it"
    )]
    Handle,
    /// The output does not take it.
    #[error("the batch cannot be written")]
    Io(#[from] io::Error),
}
