//! A condition on who did something.

use handfast_store::Table;

use crate::access::principal::Principal;
use crate::change::view::View;
use crate::error::RegistryError;

/// Whose events are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActorFilter {
    /// Those of everybody.
    All,
    /// None: the principal never changed anything.
    None,
    /// Those of the principal with this opaque id.
    One([u8; 16]),
}

impl ActorFilter {
    /// Whether an event of a principal, given by its opaque id, is meant.
    pub(crate) fn fits(self, actor: &[u8; 16]) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::One(wanted) => wanted == *actor,
        }
    }
}

impl View<'_> {
    /// Reads an account, `INDEX:HANDLE` or `operator`.
    pub(crate) fn actor_filter(&self, text: Option<&str>) -> Result<ActorFilter, RegistryError> {
        let who = match text {
            None => return Ok(ActorFilter::All),
            Some("operator") => Principal::Operator,
            Some(text) => {
                let read = Principal::parse(text);
                read.map_err(|error| RegistryError::policy("bad-account", error.to_string()))?
            }
        };
        let key = [b"who:", who.key().as_bytes()].concat();
        let id = self.decode_stored(Table::Actors, &key)?;
        Ok(id.map_or(ActorFilter::None, ActorFilter::One))
    }
}
