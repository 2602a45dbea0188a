//! The data of a value in its JSON formats.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::site;
use super::tree::{Tree, Wrong};
use crate::batch::parse::hex;
use crate::permissions::binary;
use crate::public_key::{canonical, trim};
use crate::{Admin, AdminPermissions, Codec, PublicKey, Reference, Value, ValueList};

/// The format and the form of data that has a structure, if the form says all of the data.
pub(super) fn structured(value: &Value<'_>) -> Option<(&'static str, Json)> {
    let data = &*value.data;
    let (format, form) = if value.is_type("HS_ADMIN") {
        ("admin", write_admin(data)?)
    } else if value.is_type("HS_VLIST") {
        ("vlist", write_list(data)?)
    } else if value.is_type("HS_PUBKEY") {
        ("key", write_key(data)?)
    } else if value.is_type("HS_SITE") || value.is_type("HS_NA_DELEGATE") {
        ("site", site::write(data)?)
    } else {
        return None;
    };
    says_all(format, &form, data).then_some((format, form))
}

/// Whether reading the form gives the same data. The forms leave out what deployed servers do not
/// look at, such as bits that have no meaning; data that uses them is not written in them.
fn says_all(format: &str, form: &Json, data: &[u8]) -> bool {
    Tree::deserialize(form).is_ok_and(|tree| read(format, tree).is_ok_and(|read| *read == *data))
}

/// The bytes that `value` stands for in a format; the names of formats ignore case.
pub(super) fn read<'a>(format: &str, value: Tree<'a>) -> Result<Cow<'a, [u8]>, Wrong> {
    let wrong = |expected| Wrong::member("data.value", expected);
    let is = |name: &str| format.eq_ignore_ascii_case(name);
    if is("string") {
        let expected = "text, a whole number, true or false; another number goes into quotes";
        return value.text().map(into_bytes).ok_or_else(|| wrong(expected));
    }
    let bytes = if is("base64") {
        let decoded = value.text().and_then(|text| BASE64.decode(&*text).ok());
        decoded.ok_or_else(|| wrong("base64 in the standard alphabet"))?
    } else if is("hex") {
        let decoded = value.text().and_then(|text| hex(&text));
        decoded.ok_or_else(|| wrong("an even number of hexadecimal digits"))?
    } else if is("admin") {
        admin(value)?
    } else if is("vlist") {
        ValueList(references("data.value", value)?).to_bytes()
    } else if is("site") {
        site::read(value)?.to_bytes()
    } else if is("key") {
        key(value)?.to_bytes()
    } else {
        return Err(Wrong::member(
            "data.format",
            "`string`, `base64`, `hex`, `admin`, `vlist`, `site` or `key`",
        ));
    };
    Ok(bytes.into())
}

/// The bytes of text, borrowed if it is.
pub(super) fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn write_admin(data: &[u8]) -> Option<Json> {
    let admin = Admin::from_bytes(data).ok()?;
    let mut value = Map::new();
    value.insert("handle".into(), admin.administrator.handle.as_ref().into());
    value.insert("index".into(), admin.administrator.index.into());
    if data != admin.to_bytes() {
        value.insert("legacyByteLength".into(), true.into());
    }
    value.insert("permissions".into(), admin.permissions.to_string().into());
    Some(value.into())
}

fn admin(tree: Tree<'_>) -> Result<Vec<u8>, Wrong> {
    const OF: &str = "data.value";
    const KNOWN: &[&str; 4] = &["handle", "index", "legacyByteLength", "permissions"];
    let [handle, index, legacy, permissions] = tree.members(OF, KNOWN, str::eq)?;
    let admin = Admin {
        permissions: admin_permissions(permissions)?,
        administrator: reference(OF, handle, index)?,
    };
    let mut bytes = admin.to_bytes();
    let is_legacy = legacy.map_or(Some(false), |tree| tree.truth());
    if is_legacy.ok_or(Wrong::member(
        "data.value.legacyByteLength",
        "true or false",
    ))? {
        bytes.extend([0, 0]);
    }
    Ok(bytes)
}

fn admin_permissions(tree: Option<Tree<'_>>) -> Result<AdminPermissions, Wrong> {
    let bits = match tree {
        None | Some(Tree::Null) => Some(0),
        Some(Tree::Bool(is_all)) => Some(if is_all { ALL } else { 0 }),
        Some(Tree::Integer(number)) => u16::try_from(number).ok(),
        Some(Tree::Text(text)) if text == "*" => Some(ALL),
        Some(Tree::Text(text)) => binary(&text),
        Some(Tree::List(list)) if list.len() <= 12 => Some(
            list.iter()
                .rev()
                .fold(0, |bits, tree| bits << 1 | u16::from(tree.is_truthy())),
        ),
        Some(Tree::Fraction | Tree::List(_) | Tree::Object(_)) => None,
    };
    bits.filter(|bits| *bits <= ALL)
        .map(AdminPermissions::from_bits)
        .ok_or(Wrong::member(
            "data.value.permissions",
            "up to twelve digits 0 or 1, `*`, true or false, a number up to 4095, or a \
                list of up to twelve",
        ))
}

const ALL: u16 = 0x0FFF;

/// A list of references.
pub(super) fn references<'a>(
    of: &'static str,
    tree: Tree<'a>,
) -> Result<Vec<Reference<'a>>, Wrong> {
    const KNOWN: &[&str; 2] = &["handle", "index"];
    let Tree::List(list) = tree else {
        return Err(Wrong::member(
            of,
            "a list of objects with `handle` and `index`",
        ));
    };
    list.into_iter()
        .map(|tree| {
            let [handle, index] = tree.members(of, KNOWN, str::eq)?;
            reference(of, handle, index)
        })
        .collect()
}

fn reference<'a>(
    of: &'static str,
    handle: Option<Tree<'a>>,
    index: Option<Tree<'a>>,
) -> Result<Reference<'a>, Wrong> {
    let missing = |member| Wrong::Missing { of, member };
    let wrong = |expected| Wrong::member(of, expected);
    let Tree::Text(handle) = handle.ok_or_else(|| missing("handle"))? else {
        return Err(wrong("with text as `handle`"));
    };
    let index = index.ok_or_else(|| missing("index"))?.number();
    let index = index.ok_or_else(|| wrong("with a number from 0 to 4294967295 as `index`"))?;
    Ok(Reference { handle, index })
}

fn write_list(data: &[u8]) -> Option<Json> {
    let list = ValueList::from_bytes(data).ok()?;
    Some(list.0.iter().map(write_reference).collect())
}

pub(super) fn write_reference(reference: &Reference<'_>) -> Json {
    json!({"handle": reference.handle, "index": reference.index})
}

/// A JSON Web Key; `None` for a key that has no such form or of which the form would not say all.
pub(super) fn write_key(data: &[u8]) -> Option<Json> {
    let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(trim(bytes));
    let form = match PublicKey::from_bytes(data).ok()? {
        PublicKey::Dsa { q, p, g, y } => json!({
            "kty": "DSA", "y": number(&y), "p": number(&p), "q": number(&q), "g": number(&g),
        }),
        PublicKey::Rsa { e, n } => json!({"kty": "RSA", "n": number(&n), "e": number(&e)}),
        PublicKey::Dh { .. } | PublicKey::Unknown { .. } => return None,
    };
    says_all("key", &form, data).then_some(form)
}

/// Reads a JSON Web Key. Members about the use of a key are ignored (RFC 7517 §4), but a key with
/// its private part must not be taken for a public one.
fn key(tree: Tree<'_>) -> Result<PublicKey<'static>, Wrong> {
    let wrong = Wrong::member;
    let Tree::Object(members) = tree else {
        return Err(wrong("data.value", "a JSON Web Key, an object"));
    };
    let find = |wanted: &str| {
        let mut members = members.iter();
        members.find_map(|(name, tree)| (name == wanted).then_some(tree))
    };
    let number = |name: &'static str| {
        let of = "data.value";
        match find(name) {
            None => Err(Wrong::Missing { of, member: name }),
            Some(Tree::Text(text)) => BASE64_URL
                .decode(&**text)
                .map(|bytes| canonical(&bytes))
                .map_err(|_| wrong(of, "a key whose numbers are base64url")),
            Some(_) => Err(wrong(of, "a key whose numbers are text")),
        }
    };
    let private = || wrong("data.value", "a public key; this is a private one");
    match find("kty") {
        Some(Tree::Text(kty)) if kty == "RSA" => match find("d") {
            Some(_) => Err(private()),
            None => Ok(PublicKey::Rsa {
                e: number("e")?,
                n: number("n")?,
            }),
        },
        Some(Tree::Text(kty)) if kty == "DSA" => match find("x") {
            Some(_) => Err(private()),
            None => Ok(PublicKey::Dsa {
                q: number("q")?,
                p: number("p")?,
                g: number("g")?,
                y: number("y")?,
            }),
        },
        _ => Err(wrong("data.value.kty", "`RSA` or `DSA`")),
    }
}

// Padding is written, but not asked for.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
