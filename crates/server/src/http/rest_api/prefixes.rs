//! The prefixes that are homed on this server (`http-interfaces.md` A.9).

use handfast_registry::{Operation, prefix_of, with_slash};
use handfast_wire::ResponseCode;
use hyper::{Method, StatusCode};

use super::answer::{RestAnswer, RestProblem, RestResult, start};
use super::credentials::{Login, login};
use super::listing::{Listed, ListingPage};
use super::request::RestRequest;
use crate::auth::login::Authenticated;
use crate::error::{Fault, wrong};
use crate::http::Web;

pub(crate) fn list(web: &Web, request: &RestRequest) -> RestResult {
    let login = login(web, request)?;
    let page = ListingPage::read(&request.parameters)?;
    administrator(web, &login)?;
    let mut listed = Listed::new(page);
    for handle in web.context.prefix_handles()? {
        listed.add(|| handle);
    }
    let mut out = start(ResponseCode::Success);
    listed.put(&mut out, "prefixes");
    Ok(RestAnswer::new(StatusCode::OK, out))
}

/// Becomes responsible for a prefix, or is no longer.
pub(crate) fn change(web: &Web, request: &RestRequest, name: &str) -> RestResult {
    let login = login(web, request)?;
    let named = request.parameters.first("prefix").unwrap_or_default();
    let name = if name.is_empty() { named } else { name };
    if name.is_empty() {
        return Err(wrong("no prefix is named").into());
    }
    // A bare prefix stands for its record.
    let handle = with_slash(name);
    let about = |problem: RestProblem| problem.of(&handle);
    let Some(prefix) = prefix_of(&handle) else {
        return Err(about(RestProblem::code(ResponseCode::InvalidHandle)));
    };
    let who = administrator(web, &login).map_err(|fault| about(fault.into()))?;
    let prefix = prefix.to_string();
    let operation = if request.method == Method::DELETE {
        Operation::Unhome { prefix }
    } else {
        Operation::Home { prefix }
    };
    let actor = web.context.acting(&who.who)?;
    let performed = web.registry().perform(&actor, operation);
    performed.map_err(|error| about(error.into()))?;
    Ok(RestAnswer::done(StatusCode::OK, &handle))
}

fn administrator<'l>(web: &Web, login: &'l Login) -> Result<&'l Authenticated, Fault> {
    let who = login.need()?;
    web.context.need_administrator(who)?;
    Ok(who)
}
