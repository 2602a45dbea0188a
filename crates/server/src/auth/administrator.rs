//! Server administrators. One of them is built in: `0.SITE/ADMIN`, whose key is a file in the
//! data folder, so that a server without a prefix can be administered.

use handfast_registry::Principal;
use handfast_wire::{ResponseCode, Value};

use crate::auth::login::Authenticated;
use crate::context::ServerContext;
use crate::error::Fault;
use crate::setup::identity::Identity;

/// Whether a handle is the administrator's.
pub(crate) fn is_administrator(handle: &str) -> bool {
    handle.eq_ignore_ascii_case(Identity::ADMINISTRATOR)
}

impl ServerContext {
    /// The values with which an identity may log in. Values that are registered under the name of
    /// the administrator do not count: nobody becomes administrator by creating a handle.
    pub(crate) fn values_of(&self, handle: &str) -> Result<Vec<Value<'static>>, Fault> {
        if is_administrator(handle) {
            let value = self.identity.administrator_value();
            return Ok(vec![value.into_owned()]);
        }
        let record = self.registry.handle(handle)?;
        Ok(record.map(|record| record.values).unwrap_or_default())
    }

    /// §7.6: homing is for those whom the configuration names.
    pub(crate) fn need_administrator(&self, who: &Authenticated) -> Result<(), Fault> {
        let is_one = self.registry.is_administrator(&who.who)?
            || self.registry.is_one_of(&who.who, &self.administrators)?;
        if is_one {
            return Ok(());
        }
        Err(Fault::plain(ResponseCode::InvalidAdmin))
    }

    /// In whose name the registry does what a server administrator asks for: their own, if they may
    /// do everything there; else the operator's, whose configuration names them for this alone.
    pub(crate) fn acting(&self, who: &Principal) -> Result<Principal, Fault> {
        if self.registry.is_administrator(who)? {
            return Ok(who.clone());
        }
        Ok(Principal::Operator)
    }
}
