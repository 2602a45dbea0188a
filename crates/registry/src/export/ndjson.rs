//! A line of JSON for each name.

use std::io::{self, Write};

use handfast_wire::Value;
use handfast_wire::json::{self, write_value};

use crate::authority::policy::Authority;
use crate::clock::rfc3339;
use crate::export::{Given, Writer};
use crate::import::ParsedAuthority;
use crate::name::link::CitableLinks;
use crate::name::record::State;

/// Writes lines.
pub(super) struct Lines<'e> {
    line: Vec<u8>,
    links: Option<&'e CitableLinks>,
}

impl<'e> Lines<'e> {
    pub(super) fn new(links: Option<&'e CitableLinks>) -> Self {
        let line = Vec::new();
        Self { line, links }
    }
}

impl Writer for Lines<'_> {
    fn authority(&mut self, out: &mut dyn Write, authority: &Authority) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &ParsedAuthority::of(authority))?;
        out.write_all(b"\n")
    }

    fn name(&mut self, out: &mut dyn Write, name: &Given<'_>) -> io::Result<Option<u64>> {
        let (line, record) = (&mut self.line, name.record);
        line.clear();
        line.extend_from_slice(br#"{"id":"#);
        text(line, &record.text)?;
        if let Some(links) = self.links {
            line.extend_from_slice(br#","link":"#);
            text(line, &links.link(&record.text))?;
        }
        let urls = name.values.iter();
        let urls = urls.filter(|value| value.value_type.eq_ignore_ascii_case("URL"));
        let mut urls = urls.filter_map(|value| value.text()).peekable();
        if urls.peek().is_some() {
            line.extend_from_slice(br#","urls":["#);
            list(line, urls, text)?;
        }
        line.extend_from_slice(br#","values":["#);
        list(line, name.values.iter(), |line, value| {
            put_value(line, value)
        })?;
        line.extend_from_slice(br#","state":"#);
        text(line, record.state.as_str())?;
        line.extend_from_slice(br#","created":"#);
        text(line, &rfc3339(record.created))?;
        if let (Some(tombstone), State::Withdrawn) = (&record.tombstone, record.state) {
            line.extend_from_slice(br#","withdrawn":{"reason":"#);
            text(line, &tombstone.reason)?;
            line.extend_from_slice(br#","date":"#);
            text(line, &rfc3339(tombstone.date))?;
            if let Some(successor) = &tombstone.successor {
                line.extend_from_slice(br#","successor":"#);
                text(line, successor)?;
            }
            line.push(b'}');
        }
        if let Some(holder) = &record.holder {
            line.extend_from_slice(br#","holder":"#);
            text(line, &holder.to_string())?;
        }
        line.extend_from_slice(b"}\n");
        out.write_all(line)?;
        Ok(Some(0))
    }
}

/// The permissions of a secret key are written even if other values have the same as default:
/// secret keys have another default.
fn put_value(line: &mut Vec<u8>, value: &Value<'_>) -> io::Result<()> {
    if !value.is_type("HS_SECKEY") {
        write_value(line, value);
        return Ok(());
    }
    let mut whole = json::value(value);
    if let Some(members) = whole.as_object_mut() {
        let permissions = value.permissions.to_string();
        members.insert("permissions".into(), permissions.into());
    }
    Ok(serde_json::to_writer(line, &whole)?)
}

fn text(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(line, text)?)
}

/// Items with commas between them, and the closing bracket.
pub(super) fn list<T>(
    line: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    mut item: impl FnMut(&mut Vec<u8>, T) -> io::Result<()>,
) -> io::Result<()> {
    for (at, one) in items.enumerate() {
        if at > 0 {
            line.push(b',');
        }
        item(line, one)?;
    }
    line.push(b']');
    Ok(())
}
