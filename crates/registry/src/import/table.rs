//! CSV with a header: `id`, `url`, `url2` …, `state`, and `TYPE:INDEX` for other values.

use std::borrow::Cow;
use std::io::{self, Read};

use csv::{Reader, StringRecord};
use handfast_wire::json::ParsedValue;

use crate::export::spreadsheet::unescape;
use crate::import::counted_lines::CountedLines;
use crate::import::outcome::Outcome;
use crate::import::parsed::{ParsedName, ParsedTombstone, Text};
use crate::import::source::{
    BLOCK_BYTES, Block, BoundedItems, Item, ItemBudget, MAX_NAMES_PER_BLOCK, Source,
};
use crate::name::record::State;

/// The content of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Id,
    /// The citable link, which an export adds. It is ignored.
    Link,
    Reason,
    State,
    Successor,
    /// The position among the URL values, from 0.
    Url(u32),
    Value {
        value_type: String,
        index: u32,
    },
}

impl Column {
    pub(crate) fn parse(title: &str) -> Result<Self, String> {
        let title = unescape(title.trim());
        let lower = title.to_ascii_lowercase();
        match lower.as_str() {
            "id" => return Ok(Self::Id),
            "link" => return Ok(Self::Link),
            "state" => return Ok(Self::State),
            "reason" => return Ok(Self::Reason),
            "successor" => return Ok(Self::Successor),
            _ => {}
        }
        if let Some(number) = lower.strip_prefix("url")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            let number = number.parse().unwrap_or(1_u32);
            return Ok(Self::Url(number.saturating_sub(1)));
        }
        let value = title.rsplit_once(':').and_then(|(value_type, index)| {
            let index = index.parse().ok().filter(|index| *index > 0)?;
            let value_type = Some(value_type)
                .filter(|text| !text.is_empty())?
                .to_string();
            Some(Self::Value { value_type, index })
        });
        value.ok_or_else(|| {
            format!(
                "column `{title}` is none of id, url, url2 …, state, reason, successor, link, \
                 TYPE:INDEX (such as EMAIL:5)"
            )
        })
    }
}

/// Checks that a file begins with a header.
pub(crate) fn check_header(beginning: &[u8]) -> Result<(), String> {
    TableInput::new(beginning).map(|_| ())
}

/// Names from a table.
pub(crate) struct TableInput<R> {
    reader: Reader<CountedLines<BoundedItems<R>>>,
    budget: ItemBudget,
    /// Why the input ends after the rows that were returned.
    failed: Option<io::Error>,
    columns: Vec<Column>,
}

impl<R: Read> TableInput<R> {
    /// Reads the header.
    pub(crate) fn new(input: R) -> Result<Self, String> {
        let (input, budget) = BoundedItems::new(input, 0);
        let input = CountedLines::new(input);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let header = reader.headers().map_err(|error| error.to_string())?;
        // Spreadsheets put a byte order mark in front of the first title.
        let titles = header
            .iter()
            .map(|title| title.trim_start_matches('\u{FEFF}'));
        let titles: Vec<_> = titles.collect();
        if let [title] = titles.as_slice()
            && title.contains(';')
        {
            return Err("found `;` between the columns: write the columns with commas".into());
        }
        let mut columns = Vec::new();
        for title in titles {
            let column = Column::parse(title)?;
            if columns.contains(&column) {
                return Err(format!(
                    "column `{title}` stands twice: give each column once (further URLs are url2, \
                     url3 …)"
                ));
            }
            columns.push(column);
        }
        if columns
            .iter()
            .filter(|column| **column == Column::Id)
            .count()
            != 1
        {
            return Err("the first line must name the columns, one of them `id`".into());
        }
        Ok(Self {
            reader,
            budget,
            failed: None,
            columns,
        })
    }

    fn id<'r>(&self, row: &'r StringRecord) -> Option<&'r str> {
        let at = self.columns.iter().position(|column| *column == Column::Id);
        row.get(at?).map(unescape)
    }

    fn read(&self, row: &StringRecord) -> Result<ParsedName<'static>, String> {
        if row.len() > self.columns.len() {
            let (found, known) = (row.len(), self.columns.len());
            return Err(format!(
                "{found} fields, but the header names {known} columns"
            ));
        }
        let mut parsed = ParsedName::new("");
        let mut urls = Vec::new();
        let mut tombstone = ParsedTombstone {
            reason: Text(Cow::Borrowed("")),
            date: None,
            successor: None,
        };
        let owned = |text: &str| Text(Cow::Owned(text.to_string()));
        for (column, field) in self.columns.iter().zip(row.iter().map(unescape)) {
            match column {
                Column::Id => parsed.id = owned(field),
                // An empty field sets nothing.
                _ if field.is_empty() => {}
                Column::Link => {}
                Column::Url(position) => urls.push((*position, owned(field))),
                Column::State => {
                    let state = State::parse(field);
                    let state = state.ok_or("`state` is active, reserved or withdrawn")?;
                    parsed.state = Some(state);
                }
                Column::Reason => tombstone.reason = owned(field),
                Column::Successor => tombstone.successor = Some(owned(field)),
                Column::Value { value_type, index } => parsed.values.push(ParsedValue {
                    index: *index,
                    value_type: Cow::Owned(value_type.clone()),
                    data: Cow::Owned(field.as_bytes().to_vec()),
                    permissions: None,
                    ttl: None,
                    timestamp: None,
                    references: Vec::new(),
                }),
            }
        }
        urls.sort_by_key(|(position, _)| *position);
        (parsed.url_positions, parsed.urls) = urls.into_iter().unzip();
        if parsed.state == Some(State::Withdrawn) {
            parsed.withdrawn = Some(tombstone);
        }
        Ok(parsed)
    }
}

impl<R: Read> Source for TableInput<R> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        let mut items = Vec::new();
        let mut row = StringRecord::new();
        let mut size = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while items.len() < MAX_NAMES_PER_BLOCK && size < BLOCK_BYTES {
            self.budget.renew();
            let start = self.reader.position().byte();
            let read = self.reader.read_record(&mut row);
            size += row.as_slice().len();
            let line = self.reader.get_mut().line_at(start);
            let parsed = match read {
                Ok(false) => break,
                Ok(true) => self
                    .read(&row)
                    .map_err(|reason| Outcome::bad(line, self.id(&row), "bad-row", reason)),
                Err(error) => match error.into_kind() {
                    // Rows before an error are good.
                    csv::ErrorKind::Io(error) if !items.is_empty() => {
                        self.failed = Some(error);
                        break;
                    }
                    csv::ErrorKind::Io(error) => return Err(error),
                    csv::ErrorKind::Utf8 { .. } => {
                        let reason = "the line is not UTF-8".to_string();
                        Err(Outcome::bad(line, None, "not-utf8", reason))
                    }
                    _ => Err(Outcome::bad(line, None, "bad-row", "no row".into())),
                },
            };
            items.push(Item { line, parsed });
        }
        Ok(Some(items)
            .filter(|items| !items.is_empty())
            .map(Block::Names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_by_their_titles() {
        assert_eq!(Column::parse("ID"), Ok(Column::Id));
        assert_eq!(Column::parse("url2"), Ok(Column::Url(1)));
        let email = Column::Value {
            value_type: "EMAIL".into(),
            index: 5,
        };
        assert_eq!(Column::parse("EMAIL:5"), Ok(email));
        assert!(Column::parse("EMAIL").is_err());
        assert!(Column::parse("EMAIL:0").is_err());
    }

    #[test]
    fn rows_keep_the_number_of_their_line() {
        let text = "id,url,EMAIL:5\n20.1/a,https://x,\"a\nb\"\n20.1/b,,\n20.1/c,1,2,3\n";
        let mut table = TableInput::new(text.as_bytes()).unwrap();
        let Some(Block::Names(items)) = table.next().unwrap() else {
            panic!("a block");
        };
        let lines: Vec<_> = items.iter().map(|item| item.line).collect();
        assert_eq!(lines, [2, 4, 5]);
        assert_eq!(
            items[0].parsed.as_ref().unwrap().values[0].data.as_ref(),
            b"a\nb"
        );
        assert!(items[1].parsed.as_ref().unwrap().values.is_empty());
        assert!(items[2].parsed.is_err());
        assert!(TableInput::new(&b"name,url\n"[..]).is_err());
    }

    /// In Windows files every line number was one too small, so that people looked at the wrong
    /// row.
    #[test]
    fn rows_of_windows_and_rows_after_empty_lines_have_the_number_of_their_line() {
        for (text, expected) in [
            ("id,url\r\n20.1/a,x\r\n20.1/b,y\r\n", &[2, 3][..]),
            ("\u{FEFF}id,url\r\n20.1/a,x\r\n20.1/b,y", &[2, 3]),
            ("id,url\r\n20.1/a,\"1\r\n2\"\r\n\r\n20.1/b,y\r\n", &[2, 5]),
            ("id,url\n\n20.1/a,x\n\n\n20.1/b,y\n", &[3, 6]),
            ("\n\nid,url\n20.1/a,x\n", &[4]),
        ] {
            let mut table = TableInput::new(text.as_bytes()).unwrap();
            let Some(Block::Names(items)) = table.next().unwrap() else {
                panic!("a block");
            };
            let lines: Vec<_> = items.iter().map(|item| item.line).collect();
            assert_eq!(lines, expected, "{text:?}");
        }
        // A line that is not UTF-8 has a number, too, and so have later lines, far behind the first
        // buffer.
        let mut text = b"id,url\r\n20.1/\xFF,x\r\n".to_vec();
        for row in 0..5_000 {
            text.extend_from_slice(format!("20.1/{row},https://example.org/{row}\r\n").as_bytes());
        }
        let mut table = TableInput::new(&text[..]).unwrap();
        let mut line = 1;
        while let Some(Block::Names(items)) = table.next().unwrap() {
            for item in items {
                line += 1;
                assert_eq!(item.line, line);
            }
        }
        assert_eq!(line, 5_002);
    }
}
