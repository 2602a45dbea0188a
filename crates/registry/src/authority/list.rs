//! Listing authorities, page by page.

use handfast_store::{Table, TableKey};

use crate::authority::policy::Authority;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// A page of authorities, by key.
#[derive(Clone, Debug, Default)]
pub struct AuthorityPage {
    /// The authorities, without their grants and without open requests.
    pub authorities: Vec<Authority>,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

impl Registry {
    /// Authorities by key: all of them, or one and those that derive from it. It reads no more
    /// entries than the page needs.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// for prefix in ["20.1", "20.1.5", "20.1-5", "20.2"] {
    ///     registry.create_authority(&Principal::Operator, prefix, NewAuthority::default())?;
    /// }
    /// let page = registry.authorities_page(Some("20.1"), None, 10)?;
    /// let keys: Vec<_> = page.authorities.iter().map(|found| found.path.key()).collect();
    /// assert_eq!(keys, ["hdl:20.1", "hdl:20.1.5"]);
    /// let page = registry.authorities_page(None, Some("hdl:20.1"), 2)?;
    /// assert_eq!(page.next.as_deref(), Some("hdl:20.1.5"));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn authorities_page(
        &self,
        under: Option<&str>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<AuthorityPage, RegistryError> {
        self.read(|view| {
            let starts = match under {
                None => vec![String::new()],
                Some(under) => {
                    let path = view.path(under)?;
                    view.existing_authority(&path)?;
                    let key = path.key();
                    // Derived authorities stand in two ranges of the table: parts of prefixes and
                    // paths begin with a dot, those below the root of a URN namespace with a colon.
                    vec![key.to_string(), format!("{key}."), format!("{key}:")]
                }
            };
            let mut keys = Vec::new();
            for (at, start) in starts.iter().enumerate() {
                let is_one = under.is_some() && at == 0;
                view.keys_from(start, is_one, after, limit + 1, &mut keys)?;
            }
            let is_more = keys.len() > limit;
            keys.truncate(limit);
            let next = keys.last().cloned().filter(|_| is_more);
            let mut authorities = Vec::with_capacity(keys.len());
            for key in &keys {
                let found = view.authority_by_key(key)?;
                if let Some(mut found) = found.filter(|found| found.status.is_in_force()) {
                    found.grants.clear();
                    authorities.push(found);
                }
            }
            Ok(AuthorityPage { authorities, next })
        })
    }
}

impl View<'_> {
    /// Keys of authorities that start with a text, after a key, up to a total number.
    fn keys_from(
        &self,
        start: &str,
        is_one: bool,
        after: Option<&str>,
        limit: usize,
        keys: &mut Vec<String>,
    ) -> Result<(), RegistryError> {
        let first = after.filter(|after| *after > start).unwrap_or(start);
        if keys.len() >= limit {
            return Ok(());
        }
        let from = TableKey::named(Table::Authorities, first.as_bytes());
        self.scan_while(&from, |table_key, _| {
            let name = table_key.name();
            let fits = if is_one {
                name == start.as_bytes()
            } else {
                name.starts_with(start.as_bytes())
            };
            if !fits || keys.len() >= limit {
                return Ok(false);
            }
            let key = String::from_utf8_lossy(name).into_owned();
            if after.is_none_or(|after| key.as_str() > after) {
                keys.push(key);
            }
            Ok(true)
        })
    }
}
