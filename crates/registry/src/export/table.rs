//! CSV with a header.

use std::collections::BTreeSet;
use std::io::{self, Write};

use handfast_wire::Value;

use crate::error::RegistryError;
use crate::export::spreadsheet::escape;
use crate::export::{ExportItem, Given, Walk, Writer};
use crate::name::link::CitableLinks;
use crate::name::record::State;

/// Writes rows. The columns are known only after all names were seen, so an export visits them
/// twice.
pub(super) struct Columns<'e> {
    urls: usize,
    values: Vec<(String, u32)>,
    has_states: bool,
    links: Option<&'e CitableLinks>,
    is_begun: bool,
}

impl<'e> Columns<'e> {
    pub(super) fn of(walk: &Walk<'e>) -> Result<Self, RegistryError> {
        let (mut urls, mut has_states) = (1, false);
        let mut values = BTreeSet::new();
        walk.visit(&mut 0, &mut |item| {
            if let ExportItem::Name(name) = item {
                let count = name.values.iter().filter(|value| is_url(value)).count();
                urls = urls.max(count);
                has_states |= name.record.state != State::Active;
                let others = name.values.iter().filter(|value| !is_url(value));
                let others = others.filter(|value| value.text().is_some());
                values.extend(others.map(|value| (value.index, value.value_type.to_string())));
            }
            Ok(())
        })?;
        Ok(Self {
            urls,
            values: values
                .into_iter()
                .map(|(index, name)| (name, index))
                .collect(),
            has_states,
            links: walk.export.links.as_ref(),
            is_begun: false,
        })
    }

    fn header(&self) -> Vec<String> {
        let mut titles = vec!["id".to_string(), "url".to_string()];
        titles.extend((2..=self.urls).map(|number| format!("url{number}")));
        let values = self.values.iter();
        titles.extend(values.map(|(value_type, index)| format!("{value_type}:{index}")));
        if self.has_states {
            titles.extend(["state", "reason", "successor"].map(str::to_string));
        }
        titles.extend(self.links.map(|_| "link".to_string()));
        titles
    }

    fn row<'n>(&self, name: &'n Given<'_>) -> (Vec<&'n str>, usize) {
        let mut row = vec![name.record.text.as_str()];
        let urls = name.values.iter().filter(|value| is_url(value));
        row.extend(urls.filter_map(Value::text));
        row.resize(1 + self.urls, "");
        for (value_type, index) in &self.values {
            let mut values = name.values.iter();
            let found =
                values.find(|value| value.index == *index && value.value_type == *value_type);
            row.push(found.and_then(Value::text).unwrap_or_default());
        }
        // An empty field means that the name has no such value.
        let said = row.iter().skip(1).filter(|field| !field.is_empty()).count();
        if self.has_states {
            let tombstone = name.record.tombstone.as_ref();
            row.push(name.record.state.as_str());
            row.push(tombstone.map_or("", |tombstone| &tombstone.reason));
            let successor = tombstone.and_then(|tombstone| tombstone.successor.as_deref());
            row.push(successor.unwrap_or_default());
        }
        (row, said)
    }
}

impl Writer for Columns<'_> {
    fn name(&mut self, out: &mut dyn Write, name: &Given<'_>) -> io::Result<Option<u64>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        if !self.is_begun {
            for title in self.header() {
                writer.write_field(&*escape(&title))?;
            }
            writer.write_record(None::<&[u8]>)?;
            self.is_begun = true;
        }
        let (row, said) = self.row(name);
        for field in row {
            writer.write_field(&*escape(field))?;
        }
        if let Some(links) = self.links {
            writer.write_field(&*escape(&links.link(&name.record.text)))?;
        }
        writer.write_record(None::<&[u8]>)?;
        let bytes = writer.into_inner().map_err(io::Error::other)?;
        out.write_all(&bytes)?;
        Ok(u64::try_from(name.values.len().saturating_sub(said)).ok())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_begun {
            return Ok(());
        }
        writeln!(out, "{}", self.header().join(","))
    }
}

fn is_url(value: &Value<'_>) -> bool {
    value.value_type.eq_ignore_ascii_case("URL")
}
