//! The 29 entries of the original registry, before any change.

use std::sync::{Arc, LazyLock};

use handfast_id::Namespaces;

use super::entry::NamespaceEntry;
use super::import::{NamespaceImport, read_json};
use crate::clock::parse_rfc3339;

/// All of them, by name, read at first use; the test `all_29_are_read` below shows that they can be
/// read.
pub(super) fn seeds() -> &'static [Arc<NamespaceEntry>] {
    static READ: LazyLock<Vec<Arc<NamespaceEntry>>> = LazyLock::new(|| {
        let all = read_json(Namespaces::historical_json()).unwrap_or_default();
        let mut all: Vec<_> = all.into_iter().map(original).map(Arc::new).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    });
    &READ
}

/// Whether a namespace was in the original registry.
pub(crate) fn is_historical(name: &str) -> bool {
    seed(name).is_some()
}

/// One of them.
pub(super) fn seed(name: &str) -> Option<&'static Arc<NamespaceEntry>> {
    let all = seeds();
    let at = all.binary_search_by(|entry| entry.name().cmp(name)).ok()?;
    all.get(at)
}

fn original(record: NamespaceImport) -> NamespaceEntry {
    let day = match record.form.namespace.as_str() {
        // `info-registry.md` §4: two full records lack a date, and their short ones have it.
        "bnf" => "2008-05-13",
        "nyu" => "2010-05-12",
        _ => CLOSED,
    };
    let day = record.registered.as_deref().unwrap_or(day);
    NamespaceEntry {
        changed: parse_rfc3339(&format!("{day}T00:00:00Z")).unwrap_or_default(),
        registered: record.registered,
        version: 1,
        ..NamespaceEntry::original(record.form)
    }
}

/// The day on which the original registry closed.
const CLOSED: &str = "2010-05-22";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_29_are_read() {
        assert_eq!(seeds().len(), 29);
        assert!(seeds().iter().all(|entry| entry.is_live(0)));
        assert_eq!(seed("bnf").unwrap().registered, None);
        assert!(seed("bnf").unwrap().changed < seed("nyu").unwrap().changed);
    }

    /// Unchanged entries are read from the program, not from the folder. If these rules changed,
    /// names stored under them would be lost. If this test fails, the data is wrong.
    #[test]
    fn their_rules_are_frozen() {
        let rules: Vec<_> = seeds()
            .iter()
            .map(|entry| {
                let said = &entry.form.normalisation;
                serde_json::json!([entry.name(), said.case, said.strip, said.steps])
            })
            .collect();
        let digest =
            crate::log::event::digest(&[serde_json::to_string(&rules).unwrap().as_bytes()]);
        let expected = "a3d469aaa4c0382e";
        let digest: [u8; 8] = digest[..8].try_into().unwrap();
        assert_eq!(format!("{:016x}", u64::from_be_bytes(digest)), expected);
    }
}
