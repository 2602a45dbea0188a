//! Values in JSON, as the handle REST API writes them (`http-interfaces.md` A.15).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::{Admin, Codec, Permissions, Ttl, Value, ValueList};

/// A value as JSON. `permissions` are left out when they are `1110`, `references` when there are none, and
/// the timestamp when there is none.
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
    let mut object = Map::new();
    object.insert("index".into(), value.index.into());
    object.insert("type".into(), value.value_type.as_ref().into());
    object.insert("data".into(), data(value));
    if value.permissions != Permissions::DEFAULT {
        object.insert("permissions".into(), value.permissions.to_string().into());
    }
    let ttl = match value.ttl {
        Ttl::Absolute(time) => timestamp(time).into(),
        Ttl::Relative(seconds) => Json::from(seconds),
    };
    object.insert("ttl".into(), ttl);
    if value.timestamp != 0 {
        object.insert("timestamp".into(), timestamp(value.timestamp).into());
    }
    if !value.references.is_empty() {
        object.insert(
            "references".into(),
            value.references.iter().map(reference).collect(),
        );
    }
    Json::Object(object)
}

fn data(value: &Value<'_>) -> Json {
    if value.is_type("HS_ADMIN")
        && let Ok(admin) = Admin::from_bytes(&value.data)
    {
        let mut inner = reference(&admin.administrator);
        if let Json::Object(object) = &mut inner {
            object.insert("permissions".into(), admin.permissions.to_string().into());
        }
        return json!({"format": "admin", "value": inner});
    }
    if value.is_type("HS_VLIST")
        && let Ok(list) = ValueList::from_bytes(&value.data)
    {
        let members: Json = list.0.iter().map(reference).collect();
        return json!({"format": "vlist", "value": members});
    }
    match std::str::from_utf8(&value.data) {
        Ok(text) if !text.bytes().any(is_binary) => json!({"format": "string", "value": text}),
        _ => json!({"format": "base64", "value": STANDARD.encode(&value.data)}),
    }
}

/// Bytes that make data binary though it is UTF-8.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x14..=0x1F | 0x7F)
}

fn reference(reference: &crate::Reference<'_>) -> Json {
    json!({"handle": reference.handle, "index": reference.index})
}

/// Seconds since 1970 as `YYYY-MM-DDThh:mm:ssZ`.
#[must_use]
pub fn timestamp(seconds: u32) -> String {
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    OffsetDateTime::from_unix_timestamp(i64::from(seconds))
        .ok()
        .and_then(|time| time.format(&format).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AdminPermissions, Reference};

    #[test]
    fn values_are_written_as_deployed_servers_do() {
        let url = Value {
            timestamp: 1_794_723_436,
            references: vec![Reference::new("a/b", 3)],
            ..Value::new(1, "URL", b"http://x")
        };
        let expected = json!({
            "index": 1, "type": "URL", "data": {"format": "string", "value": "http://x"}, "ttl": 86_400,
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
        assert_eq!(data(&Value::new(100, "HS_ADMIN", &bytes)), expected);
        assert_eq!(
            data(&Value::new(100, "HS_ADMIN", b"text"))["format"],
            "string"
        );
        assert_eq!(data(&Value::new(1, "X", b"\xFF\x00"))["value"], "/wA=");
        assert_eq!(data(&Value::new(1, "X", b"a\x07"))["format"], "base64");
        assert_eq!(data(&Value::new(1, "X", b"a\tb\n"))["format"], "string");
        assert_eq!(data(&Value::new(1, "X", b""))["value"], "");
        let list = ValueList(vec![Reference::new("a/b", 300)]).to_bytes();
        assert_eq!(
            data(&Value::new(1, "HS_VLIST", &list))["value"][0]["index"],
            300
        );
    }
}
