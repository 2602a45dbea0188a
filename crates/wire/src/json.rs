//! Values in JSON, as the handle REST API writes them (`http-interfaces.md` A.15).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value as Json, json};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::{
    Admin, Codec, Permissions, PublicKey, Site, SiteInterface, SiteServer, Ttl, Value, ValueList,
};

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
    let structured = match &*value.data {
        data if value.is_type("HS_ADMIN") => admin(data).map(|value| ("admin", value)),
        data if value.is_type("HS_VLIST") => vlist(data).map(|value| ("vlist", value)),
        data if value.is_type("HS_PUBKEY") => key(data).map(|value| ("key", value)),
        data if value.is_type("HS_SITE") || value.is_type("HS_NA_DELEGATE") => {
            site(data).map(|value| ("site", value))
        }
        _ => None,
    };
    match structured {
        Some((format, value)) => json!({"format": format, "value": value}),
        None => plain(&value.data),
    }
}

fn plain(data: &[u8]) -> Json {
    match std::str::from_utf8(data) {
        Ok(text) if !text.bytes().any(is_binary) => json!({"format": "string", "value": text}),
        _ => json!({"format": "base64", "value": STANDARD.encode(data)}),
    }
}

fn admin(data: &[u8]) -> Option<Json> {
    let admin = Admin::from_bytes(data).ok()?;
    let mut value = Map::new();
    value.insert("handle".into(), admin.administrator.handle.as_ref().into());
    value.insert("index".into(), admin.administrator.index.into());
    value.insert("permissions".into(), admin.permissions.to_string().into());
    if data != admin.to_bytes() {
        value.insert("legacyByteLength".into(), true.into());
    }
    Some(value.into())
}

fn vlist(data: &[u8]) -> Option<Json> {
    let list = ValueList::from_bytes(data).ok()?;
    Some(list.0.iter().map(reference).collect())
}

/// A JSON Web Key; `None` for a key that has no such form.
fn key(data: &[u8]) -> Option<Json> {
    let number = |bytes: &[u8]| {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        URL_SAFE_NO_PAD.encode(bytes.get(zeros..).unwrap_or_default())
    };
    match PublicKey::from_bytes(data).ok()? {
        PublicKey::Dsa { q, p, g, y } => Some(json!({
            "kty": "DSA", "y": number(&y), "p": number(&p), "q": number(&q), "g": number(&g),
        })),
        PublicKey::Rsa { e, n } => Some(json!({"kty": "RSA", "n": number(&n), "e": number(&e)})),
        PublicKey::Dh { .. } | PublicKey::Unknown { .. } => None,
    }
}

fn site(data: &[u8]) -> Option<Json> {
    let site = Site::from_bytes(data).ok()?;
    let mut value = Map::new();
    value.insert("version".into(), site.version.into());
    let (major, minor) = site.protocol;
    value.insert("protocolVersion".into(), format!("{major}.{minor}").into());
    value.insert("serialNumber".into(), site.serial.into());
    value.insert("primarySite".into(), site.is_primary.into());
    value.insert("multiPrimary".into(), site.is_multi_primary.into());
    if site.hash_option != 2 {
        value.insert("hashOption".into(), site.hash_option.into());
    }
    if !site.hash_filter.is_empty() {
        value.insert("hashFilter".into(), site.hash_filter.as_str().into());
    }
    let attributes = site
        .attributes
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}));
    value.insert("attributes".into(), attributes.collect());
    value.insert("servers".into(), site.servers.iter().map(server).collect());
    Some(value.into())
}

fn server(server: &SiteServer) -> Json {
    let mut value = Map::new();
    value.insert("serverId".into(), server.id.into());
    value.insert("address".into(), server.ip().to_string().into());
    if !server.public_key.is_empty() {
        let public_key = match key(&server.public_key) {
            Some(key) => json!({"format": "key", "value": key}),
            None => json!({"format": "base64", "value": STANDARD.encode(&server.public_key)}),
        };
        value.insert("publicKey".into(), public_key);
    }
    let interface = |interface: &SiteInterface| {
        let protocol = match interface.protocol {
            0 => Json::from("UDP"),
            1 => Json::from("TCP"),
            2 => Json::from("HTTP"),
            3 => Json::from("HTTPS"),
            other => Json::from(other),
        };
        json!({
            "query": interface.query(), "admin": interface.admin(), "protocol": protocol,
            "port": interface.port,
        })
    };
    value.insert(
        "interfaces".into(),
        server.interfaces.iter().map(interface).collect(),
    );
    value.into()
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

    #[test]
    fn keys_are_json_web_keys() {
        let rsa = PublicKey::Rsa {
            e: vec![1, 0, 1].into(),
            n: vec![0, 0xC5, 0x01].into(),
        }
        .to_bytes();
        let expected = json!({"format": "key", "value": {"kty": "RSA", "n": "xQE", "e": "AQAB"}});
        assert_eq!(data(&Value::new(300, "HS_PUBKEY", &rsa)), expected);
        assert_eq!(
            data(&Value::new(300, "HS_PUBKEY", b"text"))["format"],
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
            data(&Value::new(100, "HS_ADMIN", &bytes))["value"]["legacyByteLength"],
            true
        );
    }
}
