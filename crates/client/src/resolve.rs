//! Resolution: the values of a handle.

use std::borrow::Cow;
use std::collections::BTreeSet;

use handfast_wire::body::{ResolutionReply, ResolutionRequest};
use handfast_wire::{OpFlags, Opcode, Value};

use crate::client::Client;
use crate::error::{ClientError, ReplyFault};
use crate::exchange::Ask;
use crate::locate::Trail;
use crate::target::Target;

/// Which values of a handle to ask for.
///
/// Values with one of these indexes or types; all values if both are empty. A type that ends in a
/// dot also stands for all types below it.
///
/// ```
/// use handfast_client::Query;
///
/// let query = Query { types: vec!["URL".into()], ..Query::all() };
/// assert!(query.indexes.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Indexes of values.
    pub indexes: Vec<u32>,
    /// Types of values.
    pub types: Vec<String>,
    /// Also ask for values that only administrators may read. That needs a login, and the cache is
    /// not used.
    pub includes_restricted: bool,
    /// Follow `HS_ALIAS` values.
    pub follows_aliases: bool,
}

impl Query {
    /// All public values.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// The value at an index.
    #[must_use]
    pub fn index(index: u32) -> Self {
        Self {
            indexes: vec![index],
            ..Self::default()
        }
    }
}

/// The values of a handle, and their source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolution {
    /// The handle with the values: the last one, if aliases were followed.
    pub handle: String,
    /// The values, in no particular order.
    pub values: Vec<Value<'static>>,
    /// Handles whose aliases led here, in order.
    pub aliases: Vec<String>,
    /// Whether the answer had a valid signature.
    pub is_certified: bool,
    /// Whether it came from a server of a primary site.
    pub is_authoritative: bool,
    /// Whether it came from the cache.
    pub is_cached: bool,
    /// The server and the transport, unless it came from the cache.
    pub server: Option<String>,
}

impl Client {
    /// Resolves a handle.
    ///
    /// The server of a prefix evaluates template handles; this client does not do it for servers
    /// that are too old.
    pub async fn resolve(&self, handle: &str, query: &Query) -> Result<Resolution, ClientError> {
        let (mut handle, mut aliases) = (handle.to_string(), Vec::new());
        let mut seen = BTreeSet::from([handle.to_ascii_uppercase()]);
        loop {
            let mut request = ResolutionRequest {
                handle: Cow::Owned(handle.clone()),
                indexes: query.indexes.clone(),
                types: query
                    .types
                    .iter()
                    .map(|kind| kind.as_str().into())
                    .collect(),
            };
            let is_selective = !query.indexes.is_empty() || !query.types.is_empty();
            if query.follows_aliases && is_selective {
                request.types.push(ALIAS.into());
            }
            let trail = Trail::default();
            let mut found = self
                .values(&request, query.includes_restricted, &trail)
                .await?;
            let alias = found.values.iter().find(|value| value.value_type == ALIAS);
            let Some(alias) = alias.filter(|_| query.follows_aliases) else {
                found.aliases = aliases;
                return Ok(found);
            };
            let too_far = || ClientError::Aliases(aliases.first().unwrap_or(&handle).clone());
            let next = alias.text().ok_or_else(too_far)?.to_string();
            if !seen.insert(next.to_ascii_uppercase()) || aliases.len() >= MAX_ALIASES {
                return Err(too_far());
            }
            aliases.push(std::mem::replace(&mut handle, next));
        }
    }

    /// The values for a request, from the cache or from a server.
    pub(crate) async fn values(
        &self,
        request: &ResolutionRequest<'_>,
        includes_restricted: bool,
        trail: &Trail,
    ) -> Result<Resolution, ClientError> {
        let options = &self.options;
        let is_located = options.target == Target::Located;
        let is_cacheable = is_located && !options.is_authoritative() && !includes_restricted;
        let now = self.shared.environment.seconds();
        let cache = &self.shared.cache;
        let known = is_cacheable.then(|| cache.get(request, options.is_certified(), now));
        if let Some((values, is_certified)) = known.flatten() {
            return Ok(Resolution {
                handle: request.handle.to_string(),
                values,
                is_certified,
                is_cached: true,
                ..Resolution::default()
            });
        }
        let mut ask = Ask {
            flags: self.flags(),
            ..Ask::new(Opcode::Resolution, &request.handle, request)
        };
        if includes_restricted {
            ask.flags = ask.flags.without(OpFlags::PO);
        }
        // Public values need no login and no session.
        let asked = if includes_restricted {
            self.clone()
        } else {
            self.as_nobody()
        };
        let answer = asked.ask(ask, trail).await?;
        let reply: ResolutionReply<'_> = answer.read()?;
        if !reply.handle.eq_ignore_ascii_case(&request.handle) {
            return Err(answer.server().fault(ReplyFault::Handle));
        }
        let values: Vec<_> = reply.values.into_iter().map(Value::into_owned).collect();
        if is_cacheable {
            cache.put(request, &values, options.is_certified(), now);
        }
        Ok(Resolution {
            handle: request.handle.to_string(),
            values,
            is_certified: options.is_certified(),
            is_authoritative: answer.message.header.flags.contains(OpFlags::AT),
            server: Some(answer.server().endpoint.to_string()),
            ..Resolution::default()
        })
    }
}

const ALIAS: &str = "HS_ALIAS";
/// The maximum number of aliases that are followed.
const MAX_ALIASES: usize = 16;
