//! A list of names as a table (CSV), for people who open it in a spreadsheet.

use crate::clock::rfc3339;
use crate::error::RegistryError;
use crate::export::spreadsheet::escape;
use crate::lookup::name_list::ListedName;

/// Writes rows of names, with a header before the first one.
///
/// ```
/// use handfast_registry::NameTable;
///
/// let mut table = NameTable::new();
/// assert_eq!(table.take()?, b"id,link,title,url,state,changed\n");
/// assert_eq!(table.take()?, b"");
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
pub struct NameTable {
    writer: csv::Writer<Vec<u8>>,
}

const HEADER: [&str; 6] = ["id", "link", "title", "url", "state", "changed"];

impl Default for NameTable {
    fn default() -> Self {
        Self::new()
    }
}

impl NameTable {
    /// A table with its header.
    #[must_use]
    pub fn new() -> Self {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail; `take` reports it if it does.
        drop(writer.write_record(HEADER));
        Self { writer }
    }

    /// Adds a name with the link that people cite.
    pub fn add(&mut self, name: &ListedName, link: &str) -> Result<(), RegistryError> {
        let changed = rfc3339(name.modified);
        let fields = [
            name.id.as_str(),
            link,
            name.title.as_deref().unwrap_or_default(),
            name.url.as_deref().unwrap_or_default(),
            name.state.as_str(),
            &changed,
        ];
        let escaped = fields.map(|field| escape(field).into_owned());
        let written = self.writer.write_record(escaped);
        written.map_err(|error| failed(error.into()))
    }

    /// The bytes that were written since the last call.
    pub fn take(&mut self) -> Result<Vec<u8>, RegistryError> {
        let fresh = csv::Writer::from_writer(Vec::new());
        let full = std::mem::replace(&mut self.writer, fresh);
        full.into_inner()
            .map_err(|error| failed(error.into_error()))
    }
}

fn failed(source: std::io::Error) -> RegistryError {
    RegistryError::Output { source }
}
