//! Values that other names add to the locations of a name (`http-interfaces.md` B.5): names
//! that its `10320/loc` values include, and the namespace of its prefix.
//!
//! An author of a record may include other records, in circles and without end. So the server
//! reads each of them once, and only a limited number.

use handfast_registry::{Registry, RegistryError};
use handfast_wire::Value;
use handfast_wire::namespace::{Namespace, namespace_value};

use crate::http::resolver::locations::{is_set, of_type, read};

/// Values of types `10320/…` that others hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    /// The values of included names, which count like its own.
    pub(crate) included: Vec<Value<'static>>,
    /// The values of the namespace.
    pub(crate) shared: Vec<Value<'static>>,
    /// Whether links and headers of the namespace do not hold.
    pub(crate) hides_headers: bool,
}

/// "Depth ≤ 20."
const DEEPEST: usize = 20;
/// How many names are asked.
const MAX_INCLUDED_NAMES: usize = 64;
/// How many octets their values have.
const MAX_INCLUDED_BYTES: usize = 1 << 20;

impl Merged {
    /// The values that other names add to a handle.
    pub(crate) fn of(
        registry: &Registry,
        handle: &str,
        values: &[Value<'static>],
    ) -> Result<Self, RegistryError> {
        let prefix = handle.split('/').next().unwrap_or_default();
        let mut merging = Merging {
            registry,
            seen: vec![handle.to_lowercase()],
            octets: 0,
        };
        let mut merged = Self::default();
        let said = LocationReferences::of(values);
        merging.include(&said.includes, 0, &mut merged.included)?;
        let of_included = LocationReferences::of(&merged.included);
        let said = said.or(of_included);
        if !said.is_alone {
            let own = namespace_value(values).filter(|_| said.prefix.is_none());
            let prefix = said.prefix.as_deref().unwrap_or(prefix);
            let handles = match said.namespace {
                Some(handle) => vec![handle],
                None => merging.shared_by(own, prefix)?,
            };
            merging.include(&handles, 0, &mut merged.shared)?;
        }
        for prefix in &said.namespaces {
            let handles = merging.shared_by(None, prefix)?;
            merging.include(&handles, 0, &mut merged.shared)?;
        }
        let has_headers = ["10320/headers", "10320/links"]
            .iter()
            .any(|name| of_type(values, name).next().is_some());
        merged.hides_headers = said.hides_headers || said.hides_headers_if_own && has_headers;
        Ok(merged)
    }
}

/// The values of a handle that everybody may read.
pub(crate) fn public(
    registry: &Registry,
    handle: &str,
) -> Result<Vec<Value<'static>>, RegistryError> {
    let record = registry.handle(handle)?;
    let mut values = record.map(|record| record.values).unwrap_or_default();
    values.retain(Value::is_public);
    Ok(values)
}

/// The references of `10320/loc` values to other names; the first of each kind counts.
#[derive(Default)]
struct LocationReferences {
    /// `include`: handles, with commas or blanks between them.
    includes: Vec<String>,
    /// `includeNamespace`: prefixes whose namespaces hold as well.
    namespaces: Vec<String>,
    /// `nshdl`: the handle that is asked in place of those that the namespace names.
    namespace: Option<String>,
    /// `overridePrefix`: the prefix whose namespace holds in place of its own.
    prefix: Option<String>,
    /// `no_nslocs`
    is_alone: bool,
    /// `suppressNsHeaders`
    hides_headers: bool,
    /// `suppressNsHeadersIfLocalHeaders`
    hides_headers_if_own: bool,
}

impl LocationReferences {
    fn of(values: &[Value<'static>]) -> Self {
        let mut said = Self::default();
        for value in of_type(values, "10320/loc") {
            read(value, |root| {
                let list = |name: &str| {
                    let text = root.attribute(name).unwrap_or_default();
                    let parts = text.split([',', ' ', '\t', '\n']).map(str::trim);
                    let parts = parts
                        .filter(|part| !part.is_empty())
                        .take(MAX_INCLUDED_NAMES);
                    parts.map(str::to_string).collect::<Vec<_>>()
                };
                let one = |name: &str| list(name).into_iter().next();
                said = std::mem::take(&mut said).or(Self {
                    includes: Vec::new(),
                    namespaces: list("includeNamespace"),
                    namespace: one("nshdl"),
                    prefix: one("overridePrefix"),
                    is_alone: is_set(root, "no_nslocs"),
                    hides_headers: is_set(root, "suppressNsHeaders"),
                    hides_headers_if_own: is_set(root, "suppressNsHeadersIfLocalHeaders"),
                });
                said.includes.extend(list("include"));
            });
        }
        said
    }

    fn or(self, other: Self) -> Self {
        let first = |own: Vec<String>, other| if own.is_empty() { other } else { own };
        Self {
            includes: self.includes,
            namespaces: first(self.namespaces, other.namespaces),
            namespace: self.namespace.or(other.namespace),
            prefix: self.prefix.or(other.prefix),
            is_alone: self.is_alone || other.is_alone,
            hides_headers: self.hides_headers || other.hides_headers,
            hides_headers_if_own: self.hides_headers_if_own || other.hides_headers_if_own,
        }
    }
}

struct Merging<'r> {
    registry: &'r Registry,
    /// The names that were asked, in lowercase.
    seen: Vec<String>,
    octets: usize,
}

impl Merging<'_> {
    /// Adds what handles say, and those that they include.
    fn include(
        &mut self,
        handles: &[String],
        depth: usize,
        into: &mut Vec<Value<'static>>,
    ) -> Result<(), RegistryError> {
        for handle in handles {
            let seen = handle.to_lowercase();
            if depth >= DEEPEST
                || self.seen.len() >= MAX_INCLUDED_NAMES
                || self.seen.contains(&seen)
            {
                continue;
            }
            self.seen.push(seen);
            let mut values = public(self.registry, handle)?;
            values.retain(|value| {
                let is_wanted = value.value_type.starts_with("10320/");
                let octets = self.octets.saturating_add(value.data.len());
                let fits = is_wanted && octets <= MAX_INCLUDED_BYTES;
                if fits {
                    self.octets = octets;
                }
                fits
            });
            let said = LocationReferences::of(&values);
            into.extend(values);
            self.include(&said.includes, depth + 1, into)?;
        }
        Ok(())
    }

    /// The handles that namespaces name, from the inside out: that of the record itself, of its
    /// prefix, of the root.
    fn shared_by(
        &self,
        own: Option<&Value<'static>>,
        prefix: &str,
    ) -> Result<Vec<String>, RegistryError> {
        let mut handles = Vec::new();
        let own = own.cloned().map(|own| vec![own]).unwrap_or_default();
        let of_prefix = public(self.registry, &format!("0.NA/{prefix}"))?;
        let of_root = public(self.registry, "0.NA/0.NA")?;
        for values in [own, of_prefix, of_root] {
            let text = namespace_value(&values).and_then(Value::text);
            let Some(namespace) = text.and_then(|text| Namespace::parse(text).ok()) else {
                continue;
            };
            handles.extend(namespace.locations().map(str::to_string));
            if namespace.has_all_locations() {
                break;
            }
        }
        Ok(handles)
    }
}
