//! Handles that are not stored: a template computes their values (`handle-protocol.md` §6.9), or
//! another server has them (§8.6).

use handfast_id::{CaseRule, Handle, Identifier, Rules};
use handfast_wire::namespace::{Namespace, Outcome, delimiter, evaluate, namespace_value, split};
use handfast_wire::{Reference, Value};

use crate::authority::create::prefix_key;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::{prefix_of, with_slash};
use crate::name::record::State;
use crate::registry::Registry;

/// The value types that delegate derived prefixes.
const DELEGATIONS: [&str; 3] = ["HS_SITE.PREFIX", "HS_NA_DELEGATE", "HS_SERV.PREFIX"];

impl Registry {
    /// The values that a template computes for a handle that is not stored; `None` if no template
    /// does.
    pub fn made_by_template(
        &self,
        handle: &str,
    ) -> Result<Option<Vec<Value<'static>>>, RegistryError> {
        self.read(|view| view.made_by_template(handle))
    }

    /// The server of a derived prefix, if the nearest prefix above it that delegates is registered
    /// here. A prefix that is, or ever was, registered here itself is not delegated.
    pub fn delegation(&self, handle: &str) -> Result<Option<Vec<Value<'static>>>, RegistryError> {
        let whole = with_slash(handle);
        let Some(mut prefix) = prefix_of(&whole) else {
            return Ok(None);
        };
        self.read(|view| {
            if view.record(&view.key_of(&whole))?.is_some() {
                return Ok(None);
            }
            while let Some((above, _)) = prefix.rsplit_once('.') {
                let said: Vec<_> = view
                    .values_of(&format!("0.NA/{above}"))?
                    .into_iter()
                    .filter(|value| DELEGATIONS.contains(&&*value.value_type))
                    .filter(|value| value.permissions.public_read())
                    .collect();
                if !said.is_empty() {
                    return Ok(Some(said));
                }
                prefix = above;
            }
            Ok(None)
        })
    }
}

impl View<'_> {
    fn made_by_template(&self, text: &str) -> Result<Option<Vec<Value<'static>>>, RegistryError> {
        let Ok(handle) = Handle::from_stored(text) else {
            return Ok(None);
        };
        let prefix = handle.prefix();
        let of_prefix = self.values_at(&prefix_key(&prefix))?;
        // Every lookup of a missing handle asks this one question.
        if namespace_value(&of_prefix).is_none() {
            return Ok(None);
        }
        if self.record(&self.key_of(text))?.is_some() {
            return Ok(None);
        }
        let of_root = self.values_of("0.NA/0.NA")?;
        let mut chain: Vec<_> = [&of_prefix, &of_root]
            .into_iter()
            .filter_map(|values| namespace(values))
            .collect();
        let Some(parts) = delimiter(&chain).and_then(|delimiter| split(text, delimiter)) else {
            return Ok(None);
        };
        // The author of a template may not be allowed to read every value that it is applied to.
        let mut base = self.values_of(parts.base)?;
        base.retain(|value| value.permissions.public_read());
        if let Some(own) = namespace(&base) {
            chain.insert(0, own);
        }
        let is_case_sensitive = self.case_rule(&prefix) == CaseRule::Sensitive;
        let mut fetch = |reference: &Reference<'_>| self.template_at(reference);
        // A template that is malformed or exceeds its limits computes nothing.
        let made = evaluate(&chain, &parts, &base, is_case_sensitive, &mut fetch);
        Ok(match made {
            Ok(Outcome::Values(values)) => Some(values),
            Ok(Outcome::NotFound) | Err(_) => None,
        })
    }

    /// The text of a value that everybody may read.
    fn template_at(&self, reference: &Reference<'_>) -> Option<String> {
        let values = self.values_of(&reference.handle).ok()?;
        let value = values
            .iter()
            .find(|value| value.index == reference.index && value.permissions.public_read())?;
        value.text().map(str::to_string)
    }

    /// The values of an active handle; none for any other.
    fn values_of(&self, handle: &str) -> Result<Vec<Value<'static>>, RegistryError> {
        self.values_at(&self.key_of(handle))
    }

    fn values_at(&self, key: &str) -> Result<Vec<Value<'static>>, RegistryError> {
        let record = self.record(key)?;
        let record = record.filter(|record| record.state == State::Active);
        Ok(record.map(|record| record.values).unwrap_or_default())
    }

    /// The key of a handle. A text that is not a handle gets a key that no name has.
    fn key_of(&self, handle: &str) -> String {
        Handle::from_stored(handle).map_or_else(
            |_| String::new(),
            |handle| Identifier::Handle(handle).key(self).to_string(),
        )
    }
}

/// The namespace value of a record, if it can be parsed.
fn namespace<'v>(values: &'v [Value<'_>]) -> Option<Namespace<'v>> {
    Namespace::parse(namespace_value(values)?.text()?).ok()
}
