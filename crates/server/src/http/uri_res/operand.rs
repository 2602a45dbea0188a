//! The URI that a service is asked about.

use percent_encoding::percent_decode_str;
use std::sync::Arc;

use handfast_id::{Identifier, recognise};
use handfast_registry::{Principal, Registry, RegistryError};

use crate::context::ServerContext;
use crate::http::Web;
use crate::http::resolver::failure;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::name_lookup::{Name, NameLookup, find, follow};
use crate::http::resolver::path::RequestedName;
use crate::http::resolver::source::Source;
use crate::http::resolver::target::is_web;
use crate::http::uri_res::service::ServiceInput;

/// An operand, as recognised.
pub(crate) enum Operand {
    /// A location, and the names that hold it.
    Location {
        names: Vec<Name>,
    },
    Name(Name),
}

/// How many names of one location are looked at.
const MAX_NAMES_OF_URL: usize = 1_000;

impl Operand {
    pub(crate) fn read(
        web: &Arc<Web>,
        from: ServiceInput,
        text: &str,
        source: Option<&Source>,
    ) -> Result<Self, Failure> {
        let registry = web.registry();
        if text.is_empty() {
            let detail = "No URI stands behind the question mark.".to_string();
            return Err(Failure::malformed(detail));
        }
        let is_location = is_web(text.as_bytes());
        if from == ServiceInput::Location && !is_location {
            let detail = format!("\"{text}\" is no URL of http, https or ftp.");
            return Err(Failure::malformed(detail));
        }
        // The address of a name at some resolver is a location too, and one that means the name.
        let is_name = recognise(text, &registry.rules()).is_ok();
        if from == ServiceInput::Name && is_location && !is_name {
            let detail =
                format!("\"{text}\" is a URL, and the service takes names: ask I2… or L2….");
            return Err(Failure::malformed(detail));
        }
        if is_location && (from == ServiceInput::Location || !is_name) {
            let names = holders(registry, text).map_err(|error| failure(&error))?;
            if !names.is_empty() {
                return Ok(Self::Location { names });
            }
            if !is_name {
                return Err(Failure::missing(text));
            }
        }
        let name = self::name(&web.context, text, source)?;
        Ok(match from {
            ServiceInput::Location => Self::Location { names: vec![name] },
            ServiceInput::Any | ServiceInput::Name => Self::Name(name),
        })
    }
}

/// A name that is there, behind its aliases.
fn name(context: &ServerContext, text: &str, source: Option<&Source>) -> Result<Name, Failure> {
    let found =
        find(&context.registry, &RequestedName::typed(text)).map_err(|error| failure(&error))?;
    let found = match Source::or(source, text, found)? {
        NameLookup::Name(name) => follow(context, name).map_err(|error| failure(&error))?,
        found => found,
    };
    match found {
        NameLookup::Name(name) => Ok(name),
        found => Err(found.failure(text)),
    }
}

/// The names that have a URL.
pub(crate) fn holders(registry: &Arc<Registry>, url: &str) -> Result<Vec<Name>, RegistryError> {
    let mut names = Vec::new();
    let holding =
        |url: &[u8]| registry.holding(&Principal::nobody(), "URL", url, None, MAX_NAMES_OF_URL);
    let mut shown = holding(url.as_bytes())?;
    // Listed URLs are escaped; the stored URL may not be.
    if shown.is_empty() && url.contains('%') {
        shown = holding(&percent_decode_str(url).collect::<Vec<_>>())?;
    }
    for one in shown {
        if let NameLookup::Name(name) = find(registry, &RequestedName::typed(&one.record.text))? {
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether two URIs are one: names by the rules of their scheme and authority, with query and
/// fragment where these count (`CID-13`).
pub(crate) fn are_same(web: &Arc<Web>, one: &str, other: &str) -> Result<bool, Failure> {
    let registry = web.registry();
    let rules = registry.rules();
    match (compared(registry, one)?, compared(registry, other)?) {
        (Compared::Name(one), Compared::Name(other)) => Ok(one.is_same_as(&other, &rules)),
        (Compared::Text(one), Compared::Text(other)) => Ok(one == other),
        _ => Ok(false),
    }
}

enum Compared<'t> {
    Name(Identifier<'t>),
    /// The key of a name that is stored, and could not be registered here; or a URL.
    Text(String),
}

fn compared<'t>(registry: &Registry, text: &'t str) -> Result<Compared<'t>, Failure> {
    match recognise(text, &registry.rules()) {
        Ok(read) => Ok(Compared::Name(read.identifier)),
        Err(error) => {
            if let Ok(shown) = registry.show(&Principal::Operator, text) {
                return Ok(Compared::Text(shown.key));
            }
            // URLs are one if they are written the same.
            if is_web(text.as_bytes()) {
                return Ok(Compared::Text(text.to_string()));
            }
            Err(Failure::malformed(format!(
                "\"{text}\" is no identifier: {error}: {}",
                error.remedy()
            )))
        }
    }
}

/// A name as a URI.
pub(crate) fn uri(registry: &Registry, name: &Name) -> String {
    let rules = &registry.rules();
    let read = recognise(&name.text, rules).map(|read| read.identifier);
    match read {
        Ok(Identifier::Urn(urn)) => urn.to_string(),
        Ok(Identifier::Ark(ark)) => ark.to_string(),
        Ok(identifier @ Identifier::Info(_)) => identifier.canonical(rules),
        Ok(identifier) => {
            let spellings = identifier.spellings(rules);
            let uri = spellings.doi.or(spellings.hdl);
            uri.unwrap_or_else(|| format!("hdl:{}", name.path().trim_start_matches('/')))
        }
        Err(_) => format!("hdl:{}", name.path().trim_start_matches('/')),
    }
}
