//! Root information: the start of a lookup (`handle-protocol.md` §6.13).

use std::collections::{BTreeMap, BTreeSet};

use handfast_wire::json::{ParsedValue, read_site};
use handfast_wire::{Codec, LocalInfo, RootInfo, Site, Value};
use serde_json::Value as Json;

use crate::administration::prefix_handle;
use crate::service::{Kind, Service, sites_of};

/// The root information: the sites of the root, known service handles, and sites of prefixes that
/// need no request to the root.
///
/// ```
/// use handfast_client::Roots;
/// use handfast_wire::{Codec, Site};
///
/// let site = Site { version: 1, ..Site::default() };
/// assert_eq!(Roots::read(&site.to_bytes())?, Roots::of_site(site));
/// # Ok::<_, handfast_client::RootsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    sites: Vec<Site>,
    /// By handle in uppercase.
    known: BTreeMap<String, Vec<Value<'static>>>,
    /// By prefix handle in uppercase.
    local: BTreeMap<String, Vec<Site>>,
}

impl Roots {
    /// Reads a file of any kind: `root_info`, `bootstrap_handles`, `local_info` in either form, or
    /// the record of a site (`siteinfo.bin`, `siteinfo.json`), which is then used as the root.
    pub fn read(file: &[u8]) -> Result<Self, RootsError> {
        let start = file.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(start, Some(b'{' | b'[')) {
            return from_json(file);
        }
        // "`root_info` length excludes itself, `local_info` length includes itself."
        if let Ok(RootInfo(values)) = RootInfo::from_bytes(file) {
            let values = values.into_iter().map(Value::into_owned).collect();
            return Ok(Self::of_handles([(ROOT.to_string(), values)].into()));
        }
        if let Ok(site) = Site::from_bytes(file) {
            return Ok(Self::of_site(site));
        }
        let local = LocalInfo::from_bytes(file).map_err(|_| RootsError::Unknown)?;
        let mut roots = Self::default();
        for entry in local.0 {
            roots.add_local(entry.prefixes.iter().map(|prefix| &**prefix), &entry.site);
        }
        Ok(roots)
    }

    /// Uses one site as the root.
    #[must_use]
    pub fn of_site(site: Site) -> Self {
        Self {
            sites: vec![site],
            ..Self::default()
        }
    }

    /// Reads the values of `0.NA/0.NA` and of the handles that it names.
    pub(crate) fn of_handles(known: BTreeMap<String, Vec<Value<'static>>>) -> Self {
        let known: BTreeMap<_, _> = known
            .into_iter()
            .map(|(handle, values)| (handle.to_ascii_uppercase(), values))
            .collect();
        let mut sites = Vec::new();
        let (mut next, mut seen) = (vec![ROOT.to_string()], BTreeSet::new());
        while let Some(handle) = next.pop() {
            if let Some(values) = known.get(&handle).filter(|_| seen.insert(handle.clone())) {
                let Service {
                    direct,
                    service_handles,
                } = sites_of(values, Kind::Handles);
                sites.extend(direct);
                next.extend(
                    service_handles
                        .iter()
                        .map(|handle| handle.to_ascii_uppercase()),
                );
            }
        }
        Self {
            sites,
            known,
            local: BTreeMap::new(),
        }
    }

    /// Adds other root information.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sites.extend(other.sites);
        self.known.extend(other.known);
        self.local.extend(other.local);
        self
    }

    /// The sites of the root.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Whether the root information names a site.
    pub(crate) fn name(&self, site: &Site) -> bool {
        let local = self.local.values().flatten();
        let mut all = self.sites.iter().chain(local);
        all.any(|named| named == site)
    }

    /// The values of a handle, if they are in the root information.
    pub(crate) fn known(&self, handle: &str) -> Option<&[Value<'static>]> {
        let values = self.known.get(&handle.to_ascii_uppercase())?;
        Some(values)
    }

    /// The sites of a prefix that need no request to the root.
    pub(crate) fn local(&self, prefix: &str) -> Option<&[Site]> {
        let key = format!("0.NA/{}", prefix.to_ascii_uppercase());
        self.local.get(&key).map(Vec::as_slice)
    }

    fn add_local<'p>(&mut self, prefixes: impl Iterator<Item = &'p str>, site: &Site) {
        for prefix in prefixes {
            let key = prefix_handle(prefix).to_ascii_uppercase();
            self.local.entry(key).or_default().push(site.clone());
        }
    }
}

/// Why root information cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The JSON file does not have the expected form.
    #[error("the root information is not as it should be: {0}")]
    Json(#[from] serde_json::Error),
    /// The file is none of the known kinds.
    #[error("this is no root_info, bootstrap_handles, local_info, siteinfo.bin or siteinfo.json")]
    Unknown,
}

fn from_json(file: &[u8]) -> Result<Roots, RootsError> {
    let json: Json = serde_json::from_slice(file)?;
    if let Some(handles) = json.get("handles").and_then(Json::as_object) {
        let mut known = BTreeMap::new();
        for (handle, record) in handles {
            let values = record.get("values").unwrap_or(&Json::Null).to_string();
            let given: Vec<ParsedValue<'_>> = serde_json::from_str(&values)?;
            let values = given
                .into_iter()
                .map(|value| value.into_value().into_owned());
            known.insert(handle.clone(), values.collect());
        }
        return Ok(Roots::of_handles(known));
    }
    let site_in = |json: &Json| read_site(json.to_string().as_bytes()).ok_or(RootsError::Unknown);
    let Some(entries) = json.as_array() else {
        return site_in(&json).map(Roots::of_site);
    };
    let mut roots = Roots::default();
    for entry in entries {
        let prefixes = entry.get("nas").and_then(Json::as_array);
        let prefixes = prefixes.ok_or(RootsError::Unknown)?.iter();
        let site = site_in(entry.get("site").unwrap_or(&Json::Null))?;
        roots.add_local(prefixes.filter_map(Json::as_str), &site);
    }
    Ok(roots)
}

/// The handle of the root.
pub(crate) const ROOT: &str = "0.NA/0.NA";

#[cfg(test)]
mod tests {
    use handfast_wire::LocalSite;

    use super::*;

    fn site(serial: u16) -> Site {
        Site {
            version: 1,
            serial,
            ..Site::default()
        }
    }

    #[test]
    fn root_info_is_read() {
        let bytes = site(3).to_bytes();
        let file = RootInfo(vec![Value::new(1, "HS_SITE", &bytes)]).to_bytes();
        assert_eq!(Roots::read(&file).unwrap().sites(), [site(3)]);
    }

    #[test]
    fn bootstrap_handles_are_followed_through_services() {
        let site = r#"{"version":1,"protocolVersion":"2.11","serialNumber":7,"servers":[]}"#;
        let file = format!(
            r#"{{"lastUpdate":1,"handles":{{
                "0.NA/0.NA":{{"handle":"0.NA/0.NA","values":[
                    {{"index":1,"type":"HS_SERV","data":"0.ghr/20"}}]}},
                "0.GHR/20":{{"handle":"0.GHR/20","values":[
                    {{"index":1,"type":"HS_SERV","data":"0.NA/0.NA"}},
                    {{"index":2,"type":"HS_SITE",
                      "data":{{"format":"site","value":{site}}}}}]}}}}}}"#
        );
        let roots = Roots::read(file.as_bytes()).unwrap();
        assert_eq!(roots.sites().len(), 1);
        assert_eq!(roots.sites()[0].serial, 7);
        assert!(roots.known("0.ghr/20").is_some());
    }

    #[test]
    fn local_info_is_read_in_both_forms() {
        let entry = LocalSite {
            prefixes: vec!["0.NA/20.Ab".into()],
            site: site(3),
        };
        let binary = Roots::read(&LocalInfo(vec![entry]).to_bytes()).unwrap();
        assert_eq!(binary.local("20.aB"), Some(&[site(3)][..]));
        let json = r#"[{"nas":["0.NA/20.AB"],"site":{"version":1,"protocolVersion":"0.0",
            "hashOption":0,"serialNumber":3,"servers":[]}}]"#;
        assert_eq!(Roots::read(json.as_bytes()).unwrap(), binary);
    }

    #[test]
    fn other_files_are_refused() {
        for file in [&b""[..], b"{}", b"[{}]", b"hello", &[0; 9]] {
            assert!(Roots::read(file).is_err());
        }
    }

    #[test]
    fn files_that_were_damaged_are_read_or_refused() {
        let bytes = site(3).to_bytes();
        let entry = LocalSite {
            prefixes: vec!["0.NA/20".into()],
            site: site(3),
        };
        for file in [
            RootInfo(vec![Value::new(1, "HS_SITE", &bytes)]).to_bytes(),
            LocalInfo(vec![entry]).to_bytes(),
            bytes.clone(),
        ] {
            for at in 0..file.len() {
                for octet in [0, 1, 0x7F, 0xFF] {
                    let mut damaged = file.clone();
                    damaged[at] = octet;
                    drop(Roots::read(&damaged));
                }
                drop(Roots::read(&file[..at]));
            }
        }
    }
}
