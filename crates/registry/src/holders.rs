//! Which names hold a value.

use std::ops::ControlFlow;

use handfast_wire::Value;

use crate::record::State;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::reverse::reverse_value;

impl Registry {
    /// The active names that hold a value which everybody may read, in the order of their keys; at most so many. Names
    /// whose keys are longer than the store's are left out.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, World};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), World::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/5555", NewName::urls(&["https://example.org/"]))?;
    /// assert_eq!(registry.holders("url", b"https://example.org/", 10)?, ["20.1000/5555"]);
    /// # Ok::<_, handfast_registry::Refusal>(())
    /// ```
    pub fn holders(
        &self,
        value_type: &str,
        data: &[u8],
        most: usize,
    ) -> Result<Vec<String>, Refusal> {
        let wanted = reverse_value(&Value::new(1, value_type, data));
        self.read(|view| {
            let mut keys = Vec::new();
            view.now.holders(&wanted, &mut |key| {
                let is_whole = key.len() < SHORTENED;
                keys.extend(
                    std::str::from_utf8(key)
                        .ok()
                        .filter(|_| is_whole)
                        .map(str::to_string),
                );
                if keys.len() < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            let mut names = Vec::with_capacity(keys.len());
            for key in keys {
                // Long values are found by a digest: what is kept has the last word.
                let record = view.record(&key)?.filter(|record| {
                    let mut values = record.values.iter();
                    record.state == State::Active
                        && values.any(|held| held.is_public() && reverse_value(held) == wanted)
                });
                names.extend(record.map(|record| record.text));
            }
            Ok(names)
        })
    }
}

/// How long a key is that the store has shortened: a digest stands at its end.
const SHORTENED: usize = 480;
