//! Single lines of a batch.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{
    BatchCredential, BatchData, BatchReason, BatchServer, BatchSessionSetup, BatchValue,
    ExchangeKey, Secret, SessionOptions,
};
use crate::permissions::binary;
use crate::{Admin, AdminPermissions, Permissions, Reference, ValueList};

/// Text without the blanks and control characters around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Trims like deployed software: not the other blanks of Unicode.
pub(super) fn is_blank(character: char) -> bool {
    character <= ' '
}

/// `<index> <type> <ttl seconds> <permissions> <kind> <data>`
pub(super) fn value(line: &str) -> Result<BatchValue, BatchReason> {
    let mut rest = line;
    let mut field = || {
        let (field, tail) = word(rest);
        rest = tail;
        (!field.is_empty())
            .then_some(field)
            .ok_or(BatchReason::Fields)
    };
    let [index, value_type, ttl, permissions, kind] =
        [field()?, field()?, field()?, field()?, field()?];
    Ok(BatchValue {
        index: value_index(index)?,
        value_type: value_type.to_string(),
        ttl: number(ttl).ok_or(BatchReason::Ttl)?,
        permissions: permissions
            .get(..4)
            .and_then(|digits| digits.parse::<Permissions>().ok())
            .ok_or(BatchReason::Permissions)?,
        data: data(kind, trim(rest))?,
    })
}

fn data(kind: &str, text: &str) -> Result<BatchData, BatchReason> {
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    if is("UTF8") {
        Ok(BatchData::Text(text.to_string()))
    } else if is("ADMIN") {
        admin(text).map(BatchData::Admin).ok_or(BatchReason::Admin)
    } else if is("LIST") {
        list(text).map(BatchData::List).ok_or(BatchReason::List)
    } else if is("FILE") {
        let path = Some(text).filter(|text| !text.is_empty());
        path.map(|path| BatchData::File(path.to_string()))
            .ok_or(BatchReason::File)
    } else if is("HEX") {
        hex(text).map(BatchData::Bytes).ok_or(BatchReason::Hex)
    } else {
        Err(BatchReason::Kind)
    }
}

/// Bytes from pairs of hexadecimal digits, of either case.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

/// `<index>:<12 permission characters>:<handle>`, the least significant bit first.
pub(super) fn admin(text: &str) -> Option<Admin<'static>> {
    let (index, rest) = text.split_once(':')?;
    let (digits, handle) = rest.split_once(':')?;
    let digits = Some(digits).filter(|digits| digits.len() == 12)?;
    let bits = binary(&digits.chars().rev().collect::<String>())?;
    Some(Admin {
        permissions: AdminPermissions::from_bits(bits),
        administrator: reference_to(index, handle)?,
    })
}

/// `<index>:<handle>;<index>:<handle>;…`
pub(super) fn list(text: &str) -> Option<ValueList<'static>> {
    let text = text.strip_suffix(';').unwrap_or(text);
    let items = text.split(';').map(reference);
    items.collect::<Option<_>>().map(ValueList)
}

/// `<index>:<handle>`
fn reference(text: &str) -> Option<Reference<'static>> {
    let (index, handle) = text.split_once(':')?;
    reference_to(trim(index), handle)
}

fn reference_to(index: &str, handle: &str) -> Option<Reference<'static>> {
    let handle = Some(trim(handle)).filter(|handle| !handle.is_empty())?;
    Some(Reference::new(handle.to_string(), number(index)?))
}

/// The operand of `REMOVE`.
pub(super) fn remove(text: &str) -> Result<(Vec<u32>, String), BatchReason> {
    let (indexes, handle) = text.split_once(':').ok_or(BatchReason::Remove)?;
    let indexes = indexes.split(',').map(|index| value_index(trim(index)));
    Ok((indexes.collect::<Result<_, _>>()?, self::handle(handle)?))
}

/// The operand of a command on one handle.
pub(super) fn handle(text: &str) -> Result<String, BatchReason> {
    let handle = trim(text);
    if handle.is_empty() {
        return Err(BatchReason::Handle);
    }
    Ok(handle.to_string())
}

/// The operand of `AUTHENTICATE`: the identity, and whether it has a private key.
pub(super) fn identity(text: &str) -> Result<(Reference<'static>, bool), BatchReason> {
    let parts = text.split_once(':').and_then(|(method, rest)| {
        let is = |name: &str| method.eq_ignore_ascii_case(name);
        let is_private_key = is("PUBKEY");
        let reference = reference(rest).filter(|_| is_private_key || is("SECKEY"));
        // "`AUTHENTICATE` handles cannot contain `:`"
        reference
            .filter(|reference| !reference.handle.contains(':'))
            .map(|reference| (reference, is_private_key))
    });
    parts.ok_or(BatchReason::Credential)
}

/// The line after `AUTHENTICATE`.
pub(super) fn credential(line: &str, is_private_key: bool) -> Result<BatchCredential, BatchReason> {
    let line = trim(line);
    if line.is_empty() {
        return Err(BatchReason::CredentialLine);
    }
    if !is_private_key {
        return Ok(BatchCredential::SecretKey(Secret::new(line)));
    }
    let (path, passphrase) = match line.split_once('|') {
        Some((path, passphrase)) => (path, Some(Secret::new(passphrase))),
        None => (line, None),
    };
    let path = path.to_string();
    Ok(BatchCredential::PrivateKey { path, passphrase })
}

/// `<ip>:<port>:<TCP|UDP|HTTP>`, with an IPv6 address in brackets.
pub(super) fn server(text: &str) -> Result<BatchServer, BatchReason> {
    let mut parts = text.rsplitn(3, ':');
    let mut next = || parts.next().ok_or(BatchReason::Server);
    let (protocol, port, address) = (next()?, next()?, next()?);
    let bracketed = address
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address: Option<IpAddr> = match bracketed {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(Into::into),
        None => address.parse::<Ipv4Addr>().ok().map(Into::into),
    };
    let port = number(port).and_then(|port| u16::try_from(port).ok());
    Ok(BatchServer {
        address: address.ok_or(BatchReason::Server)?,
        port: port.ok_or(BatchReason::Server)?,
        protocol: protocol.parse()?,
    })
}

/// A line after `HOME` or `UNHOME`.
pub(super) fn prefix(line: &str) -> Result<String, BatchReason> {
    let line = trim(line);
    match line.split_at_checked(5) {
        Some((head, tail)) if head.eq_ignore_ascii_case("0.NA/") && !tail.is_empty() => {
            Ok(line.to_string())
        }
        _ => Err(BatchReason::Prefix),
    }
}

/// A line after `SESSIONSETUP`.
pub(super) fn session(setup: &mut BatchSessionSetup, line: &str) -> Result<(), BatchReason> {
    let (name, text) = trim(line).split_once(':').ok_or(BatchReason::Session)?;
    let text = trim(text);
    let path = || Some(text.to_string()).filter(|path| !path.is_empty());
    match name.to_ascii_uppercase().as_str() {
        "USESESSION" => set(&mut setup.is_used, flag(text)),
        "PUBEXNGKEYFILE" => set(&mut setup.public_key, path().map(ExchangeKey::File)),
        "PUBEXNGKEYREF" => set(
            &mut setup.public_key,
            reference(text).map(ExchangeKey::Value),
        ),
        "PRIVEXNGKEYFILE" => set(&mut setup.private_key_path, path()),
        "PASSPHRASE" => set(&mut setup.passphrase, Some(Secret::new(text))),
        "OPTIONS" => set(&mut setup.options, options(text)),
        "TIMEOUT" => set(&mut setup.hours, number(text)),
        _ => Err(BatchReason::Session),
    }
}

fn set<T>(slot: &mut Option<T>, given: Option<T>) -> Result<(), BatchReason> {
    let given = given.ok_or(BatchReason::Session)?;
    match slot.replace(given) {
        None => Ok(()),
        Some(_) => Err(BatchReason::Session),
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Encrypt, authenticate, and more that is ignored.
fn options(text: &str) -> Option<SessionOptions> {
    Some(SessionOptions {
        is_encrypted: flag(text.get(..1)?)?,
        is_authenticated: flag(text.get(1..2)?)?,
    })
}

/// The first word of a line, and what follows it. Only spaces separate.
pub(super) fn word(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(' ');
    line.split_once(' ').unwrap_or((line, ""))
}

fn value_index(text: &str) -> Result<u32, BatchReason> {
    number(text)
        .filter(|index| *index > 0)
        .ok_or(BatchReason::Index)
}

/// Digits, as far as deployed software can count.
fn number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number);
    number.filter(|number| *number <= MAX_NUMBER)
}

/// Four bytes with a sign.
pub(super) const MAX_NUMBER: u32 = 0x7FFF_FFFF;
