//! Writing values as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::data;
use super::time::{digits, timestamp};
use crate::{Permissions, Ttl, Value};

/// A value as JSON. `permissions` are left out when they are `1110`, `references` when there are
/// none, and the timestamp when there is none.
///
/// ```
/// use handfast_wire::{Value, json};
///
/// let value = json::value(&Value::new(1, "URL", b"https://example.org/"));
/// assert_eq!(value["data"]["format"], "string");
/// assert_eq!(value["ttl"], 86_400);
/// ```
#[must_use]
pub fn value(value: &Value<'_>) -> Json {
    // In the order of the alphabet, so that it is the order whether or not `serde_json` sorts
    // members.
    let mut object = Map::new();
    object.insert("data".into(), write_data(value));
    object.insert("index".into(), value.index.into());
    if value.permissions != Permissions::DEFAULT {
        object.insert("permissions".into(), value.permissions.to_string().into());
    }
    if !value.references.is_empty() {
        let references = value.references.iter().map(data::write_reference);
        object.insert("references".into(), references.collect());
    }
    if value.timestamp != 0 {
        object.insert("timestamp".into(), timestamp(value.timestamp).into());
    }
    let ttl = match value.ttl {
        Ttl::Absolute(time) => timestamp(time).into(),
        Ttl::Relative(seconds) => Json::from(seconds),
    };
    object.insert("ttl".into(), ttl);
    object.insert("type".into(), value.value_type.as_ref().into());
    Json::Object(object)
}

/// Appends the text of [`value`], without a tree of JSON for data that has no structure.
///
/// ```
/// use handfast_wire::{Value, json};
///
/// let url = Value::new(1, "URL", b"https://example.org/");
/// let mut text = Vec::new();
/// json::write_value(&mut text, &url);
/// assert_eq!(text, serde_json::to_vec(&json::value(&url))?);
/// # Ok::<_, serde_json::Error>(())
/// ```
pub fn write_value(out: &mut Vec<u8>, value: &Value<'_>) {
    out.extend_from_slice(b"{\"data\":{\"format\":");
    if let Some((format, form)) = data::structured(value) {
        put(out, format);
        out.extend_from_slice(b",\"value\":");
        put(out, &form);
    } else if let Some(text) = value.text() {
        out.extend_from_slice(b"\"string\",\"value\":");
        put(out, text);
    } else {
        out.extend_from_slice(b"\"base64\",\"value\":\"");
        out.extend_from_slice(STANDARD.encode(&value.data).as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"},\"index\":");
    put(out, &value.index);
    if value.permissions != Permissions::DEFAULT {
        out.extend_from_slice(b",\"permissions\":");
        put(out, &value.permissions.to_string());
    }
    if !value.references.is_empty() {
        let separators = std::iter::once("[").chain(std::iter::repeat(","));
        out.extend_from_slice(b",\"references\":");
        for (separator, reference) in separators.zip(&value.references) {
            out.extend_from_slice(separator.as_bytes());
            out.extend_from_slice(b"{\"handle\":");
            put(out, &reference.handle);
            out.extend_from_slice(b",\"index\":");
            put(out, &reference.index);
            out.push(b'}');
        }
        out.push(b']');
    }
    if value.timestamp != 0 {
        out.extend_from_slice(b",\"timestamp\":");
        put_time(out, value.timestamp);
    }
    out.extend_from_slice(b",\"ttl\":");
    match value.ttl {
        Ttl::Absolute(time) => put_time(out, time),
        Ttl::Relative(seconds) => put(out, &seconds),
    }
    out.extend_from_slice(b",\"type\":");
    put(out, &*value.value_type);
    out.push(b'}');
}

fn put_time(out: &mut Vec<u8>, seconds: u32) {
    out.push(b'"');
    out.extend_from_slice(&digits(seconds));
    out.push(b'"');
}

/// Appends text, a number or a tree. Neither has a form that JSON lacks, and a vector takes any
/// bytes: it cannot fail.
fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, part: &T) {
    serde_json::to_writer(out, part).unwrap_or_default();
}

fn write_data(value: &Value<'_>) -> Json {
    let (format, form) = value_data(value);
    json!({"format": format, "value": form})
}

/// The data of a value: the name of its format, and the data in that format.
///
/// ```
/// use handfast_wire::{Value, json};
///
/// let (format, data) = json::value_data(&Value::new(1, "URL", b"https://example.org/"));
/// assert_eq!((format, data), ("string", "https://example.org/".into()));
/// ```
#[must_use]
pub fn value_data(value: &Value<'_>) -> (&'static str, Json) {
    match (data::structured(value), value.text()) {
        (Some(structured), _) => structured,
        (None, Some(text)) => ("string", text.into()),
        (None, None) => ("base64", STANDARD.encode(&value.data).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Admin, AdminPermissions, Codec, PublicKey, Reference, ValueList};

    #[test]
    fn values_are_written_as_deployed_servers_do() {
        let url = Value {
            timestamp: 1_794_723_436,
            references: vec![Reference::new("a/b", 3)],
            ..Value::new(1, "URL", b"http://x")
        };
        let expected = json!({
            "index": 1, "type": "URL", "data": {"format": "string", "value": "http://x"},
            "ttl": 86_400,
            "timestamp": "2026-11-15T06:17:16Z", "references": [{"handle": "a/b", "index": 3}],
        });
        assert_eq!(value(&url), expected);
    }

    #[test]
    fn data_has_the_format_of_its_type() {
        let admin = Admin {
            permissions: AdminPermissions::from_bits(0b0111_1111_0011),
            administrator: Reference::new("0.NA/1", 200),
        };
        let bytes = admin.to_bytes();
        let expected = json!({
            "format": "admin",
            "value": {"handle": "0.NA/1", "index": 200, "permissions": "011111110011"},
        });
        assert_eq!(write_data(&Value::new(100, "HS_ADMIN", &bytes)), expected);
        assert_eq!(
            write_data(&Value::new(100, "HS_ADMIN", b"text"))["format"],
            "string"
        );
        assert_eq!(
            write_data(&Value::new(1, "X", b"\xFF\x00"))["value"],
            "/wA="
        );
        assert_eq!(
            write_data(&Value::new(1, "X", b"a\x07"))["format"],
            "base64"
        );
        assert_eq!(
            write_data(&Value::new(1, "X", b"a\tb\n"))["format"],
            "string"
        );
        assert_eq!(write_data(&Value::new(1, "X", b""))["value"], "");
        let list = ValueList(vec![Reference::new("a/b", 300)]).to_bytes();
        assert_eq!(
            write_data(&Value::new(1, "HS_VLIST", &list))["value"][0]["index"],
            300
        );
    }

    #[test]
    fn keys_are_json_web_keys() {
        let rsa = PublicKey::Rsa {
            e: vec![1, 0, 1].into(),
            n: vec![0, 0xC5, 0x01].into(),
        }
        .to_bytes();
        let expected = json!({"format": "key", "value": {"kty": "RSA", "n": "xQE", "e": "AQAB"}});
        assert_eq!(write_data(&Value::new(300, "HS_PUBKEY", &rsa)), expected);
        assert_eq!(
            write_data(&Value::new(300, "HS_PUBKEY", b"text"))["format"],
            "string"
        );
    }

    #[test]
    fn a_legacy_administrator_is_marked() {
        let administrator = Reference::new("a/b", 1);
        let mut bytes = Admin {
            permissions: AdminPermissions::ALL,
            administrator,
        }
        .to_bytes();
        bytes.extend([0, 0]);
        assert_eq!(
            write_data(&Value::new(100, "HS_ADMIN", &bytes))["value"]["legacyByteLength"],
            true
        );
    }
}
