//! Handles of a `DSpace` repository (`http-interfaces.md` C.4): the server asks the repository
//! before it answers the request, because that takes time.

use std::sync::Arc;

use handfast_id::recognise;
use handfast_wire::Value;
use hyper::StatusCode;

use crate::http::Web;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::name_lookup::{Name, NameLookup};

/// The answer of a repository for a handle.
#[derive(Debug)]
pub(crate) enum Source {
    /// It did not answer.
    Busy,
    /// It has none.
    Nothing,
    Value(Value<'static>),
}

impl Source {
    /// Asks the repository of a name, if there is one. A name that is, or was, kept here is nowhere
    /// else.
    pub(crate) async fn ask(web: &Arc<Web>, text: &str) -> Option<Self> {
        let handle = if web.context.has_source(text) {
            text.to_string()
        } else {
            let read = recognise(text, &web.registry().rules()).ok()?;
            let handle = read.identifier.spellings(&web.registry().rules()).handle?;
            Some(handle).filter(|handle| web.context.has_source(handle))?
        };
        let context = Arc::clone(&web.context);
        let asking = crate::runtime::blocking::spawn_blocking(move || context.ask_source(&handle));
        Some(match asking.await {
            Ok(Ok(Some(value))) => Self::Value(value),
            Ok(Ok(None)) => Self::Nothing,
            Ok(Err(_)) | Err(_) => Self::Busy,
        })
    }

    /// The answer of a repository, for a name that is not stored here.
    pub(crate) fn or(
        source: Option<&Self>,
        text: &str,
        found: NameLookup,
    ) -> Result<NameLookup, Failure> {
        if !matches!(found, NameLookup::Foreign | NameLookup::Missing) {
            return Ok(found);
        }
        match source {
            None => Ok(found),
            Some(Self::Nothing) => Ok(NameLookup::Missing),
            Some(Self::Value(value)) => Ok(NameLookup::Name(Name::made(text, vec![value.clone()]))),
            Some(Self::Busy) => {
                let detail = "The repository that has this name does not answer.".to_string();
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Err(Failure::new(status, "busy", "Try Again Later", detail))
            }
        }
    }
}
