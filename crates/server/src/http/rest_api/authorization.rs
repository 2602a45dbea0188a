//! Credentials of a client: the header `Authorization`, and the same fields in the JSON of
//! sessions (`http-interfaces.md` A.13).

use super::parameters::text_of;
use crate::http::percent::decode;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use handfast_id::MAX_HANDLE;
use handfast_wire::crypto::SecretAlgorithm;
use handfast_wire::{DigestAlgorithm, Reference, put_bytes};
use serde_json::Value as Json;
use zeroize::Zeroizing;

/// The header `Authorization`.
pub(crate) enum Authorization {
    Basic(Vec<Basic>),
    Handle(Fields),
    /// Another scheme.
    Other,
}

/// An identity and its password, in one of several possible readings.
pub(crate) struct Basic {
    pub(crate) id: String,
    pub(crate) key: Reference<'static>,
    pub(crate) password: Zeroizing<Vec<u8>>,
}

impl Authorization {
    pub(crate) fn read(header: &[u8]) -> Self {
        let Ok(header) = std::str::from_utf8(header) else {
            return Self::Other;
        };
        let header = header.trim();
        let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
        let read = match scheme {
            _ if scheme.eq_ignore_ascii_case("Basic") => Basic::read(rest.trim()).map(Self::Basic),
            _ if scheme.eq_ignore_ascii_case("Handle") => Fields::read(rest).map(Self::Handle),
            _ => None,
        };
        read.unwrap_or(Self::Other)
    }
}

impl Basic {
    /// "Split at the first raw colon; the password may hold colons. Percent-decode the user name."
    /// Clients that do not encode it are understood as well: "digits, colon, handle containing a
    /// slash, colon, password".
    fn read(text: &str) -> Option<Vec<Self>> {
        let bytes = Zeroizing::new(from_base64(text)?);
        let text = std::str::from_utf8(&bytes).ok()?;
        let (user, password) = text.split_once(':')?;
        let mut readings = Vec::with_capacity(2);
        let mut add = |user: &str, password: &str| {
            let id = decode(user).unwrap_or_else(|| user.to_string());
            if let Some(key) = reference(&id) {
                readings.push(Self {
                    id,
                    key,
                    password: Zeroizing::new(password.as_bytes().to_vec()),
                });
            }
        };
        let is_index = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_digit());
        if is_index
            && let Some((handle, password)) = password.split_once(':')
            && handle.contains('/')
        {
            // First, because a client that logs in like this does so all the time, and its other
            // readings must not count as failed logins.
            add(&format!("{user}:{handle}"), password);
        }
        add(user, password);
        Some(readings)
    }
}

/// "Split it at its first colon if what precedes is all digits; without an index it means index 0."
/// A handle that is too long names no identity.
pub(crate) fn reference(id: &str) -> Option<Reference<'static>> {
    let (index, handle) = match id.split_once(':') {
        Some((index, handle)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
            (index.parse().ok()?, handle)
        }
        _ => (0, id),
    };
    let is_handle = !handle.is_empty() && handle.len() <= MAX_HANDLE;
    is_handle.then(|| Reference::new(handle.to_string(), index))
}

/// The fields of the scheme `Handle`.
#[derive(Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// `key="value", key=value`: keys in any case, values as tokens or quoted with backslashes.
    fn read(text: &str) -> Option<Self> {
        let mut fields = Vec::new();
        let mut rest = text.trim_start_matches([' ', '\t', ',']);
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=')?;
            let key = key.trim().to_ascii_lowercase();
            if key.is_empty() {
                return None;
            }
            let after = after.trim_start();
            let (value, after) = if let Some(quoted) = after.strip_prefix('"') {
                unquoted(quoted)?
            } else {
                let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
                let (value, after) = after.split_at_checked(end)?;
                (value.to_string(), after)
            };
            // "percent-encoded in the header (decoded there), plain in a JSON body"
            let value = if key == "id" { decode(&value)? } else { value };
            fields.push((key, value));
            rest = after.trim_start_matches([' ', '\t', ',']);
        }
        Some(Self(fields))
    }

    /// The same with the members of a JSON object behind them.
    pub(crate) fn with_json(mut self, body: &[u8]) -> Option<Self> {
        let members: serde_json::Map<String, Json> = serde_json::from_slice(body).ok()?;
        for (name, member) in members {
            let text = text_of(&member);
            self.0
                .extend(text.map(|text| (name.to_ascii_lowercase(), text)));
        }
        Some(self)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(given, _)| given == key);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.get("sessionid")
    }

    /// "absent or `0`; anything else is refused"
    pub(crate) fn is_version_known(&self) -> bool {
        self.get("version").is_none_or(|version| version == "0")
    }

    /// "*authenticating* if any of `id`, `type`, `alg`, `signature` is there"
    pub(crate) fn is_authenticating(&self) -> bool {
        ["id", "type", "alg", "signature"]
            .iter()
            .any(|key| self.get(key).is_some())
    }

    /// Whether it costs much to look at them: all but what a short MAC shows.
    pub(crate) fn is_expensive(&self) -> bool {
        if !self.is_authenticating() {
            return self.client_nonce().is_some();
        }
        let algorithm = self.get("alg").and_then(secret_named);
        let is_derived = algorithm == Some(SecretAlgorithm::Pbkdf2HmacSha1);
        is_derived || self.get("type") == Some("HS_PUBKEY")
    }

    pub(crate) fn asks_for_certificate(&self) -> bool {
        self.get("clientcert")
            .is_some_and(|asks| asks.eq_ignore_ascii_case("true"))
    }

    pub(crate) fn client_nonce(&self) -> Option<Vec<u8>> {
        from_base64(self.get("cnonce")?)
    }

    /// The answer of the key to the nonces, in the format of the native protocol.
    pub(crate) fn response(&self) -> Option<Vec<u8>> {
        let signature = from_base64(self.get("signature")?)?;
        let algorithm = self.get("alg")?;
        if self.get("type")? == "HS_PUBKEY" {
            let mut response = Vec::new();
            put_bytes(&mut response, digest_named(algorithm)?.name().as_bytes());
            put_bytes(&mut response, &signature);
            return Some(response);
        }
        secret_response(algorithm, &signature, |name| self.get(name))
    }
}

/// What a secret key has made, as the native protocol writes it: the code of the algorithm, its
/// parameters, the MAC.
pub(crate) fn secret_response<'f>(
    algorithm: &str,
    mac: &[u8],
    field: impl Fn(&str) -> Option<&'f str>,
) -> Option<Vec<u8>> {
    let algorithm = secret_named(algorithm)?;
    let mut response = vec![algorithm.code()];
    if algorithm == SecretAlgorithm::Pbkdf2HmacSha1 {
        put_bytes(&mut response, &from_base64(field("salt")?)?);
        for name in ["iterations", "length"] {
            response.extend_from_slice(&field(name)?.parse::<u32>().ok()?.to_be_bytes());
        }
        put_bytes(&mut response, mac);
    } else {
        response.extend_from_slice(mac);
    }
    Some(response)
}

/// "case and, for the last four, punctuation ignored"
fn plainly(name: &str) -> String {
    let unescaped = name.chars().filter(char::is_ascii_alphanumeric);
    unescaped.map(|c| c.to_ascii_uppercase()).collect()
}

fn digest_named(name: &str) -> Option<DigestAlgorithm> {
    match plainly(name).as_str() {
        "MD5" => Some(DigestAlgorithm::Md5),
        "SHA" | "SHA1" => Some(DigestAlgorithm::Sha1),
        "SHA2" | "SHA256" => Some(DigestAlgorithm::Sha256),
        _ => None,
    }
}

fn secret_named(name: &str) -> Option<SecretAlgorithm> {
    match plainly(name).as_str() {
        "MD5" => Some(SecretAlgorithm::Md5),
        "SHA" | "SHA1" => Some(SecretAlgorithm::Sha1),
        "SHA2" | "SHA256" => Some(SecretAlgorithm::Sha256),
        "HMACSHA1" => Some(SecretAlgorithm::HmacSha1),
        "HMACSHA256" => Some(SecretAlgorithm::HmacSha256),
        "PBKDF2HMACSHA1" | "PBKDF2WITHHMACSHA1" => Some(SecretAlgorithm::Pbkdf2HmacSha1),
        _ => None,
    }
}

/// With or without padding. In a query, a plus that was not escaped has become a space.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&STANDARD, config);
    engine.decode(text.trim_end().replace(' ', "+")).ok()
}

/// Text up to a quote, with backslashes taken away, and what follows.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    loop {
        let (at, c) = characters.next()?;
        match c {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(characters.next()?.1),
            c => value.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::BASE64_STANDARD;

    #[test]
    fn basic_is_read_as_sent_and_as_meant() {
        for (text, readings) in [
            ("300%3A20.1/A:pass:word", vec![(300, "20.1/A", "pass:word")]),
            ("20.1/A:x", vec![(0, "20.1/A", "x")]),
            // Not encoded: the user could be called 300.
            (
                "300:20.1/A:pass:word",
                vec![(300, "20.1/A", "pass:word"), (0, "300", "20.1/A:pass:word")],
            ),
            ("300:noslash:x", vec![(0, "300", "noslash:x")]),
            ("0%3A20.1%2F%C3%BC:", vec![(0, "20.1/ü", "")]),
            ("99999999999%3A20.1/A:x", vec![]),
        ] {
            let Some(read) = Basic::read(&BASE64_STANDARD.encode(text)) else {
                panic!("{text}");
            };
            let read: Vec<_> = read
                .iter()
                .map(|basic| (basic.key.index, &*basic.key.handle, &**basic.password))
                .collect();
            let readings: Vec<_> = readings
                .iter()
                .map(|(index, handle, password)| (*index, *handle, password.as_bytes()))
                .collect();
            assert_eq!(read, readings, "{text}");
        }
        for text in ["", "bm8gY29sb24=", "!!", "//8="] {
            assert!(Basic::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn fields_are_tokens_or_quoted() {
        let fields = Fields::read(r#"SessionId="a\"b" , id=300%3A20.1/A,type="x", cnonce=AA=="#);
        let fields = fields.unwrap();
        assert_eq!(fields.get("sessionid"), Some("a\"b"));
        assert_eq!(fields.get("id"), Some("300:20.1/A"));
        assert_eq!(fields.client_nonce(), Some(vec![0]));
        assert!(Fields::read("").unwrap().get("id").is_none());
        for text in ["a", "a=\"", "a=\"\\", "id=%"] {
            assert!(Fields::read(text).is_none(), "{text}");
        }
    }
}
