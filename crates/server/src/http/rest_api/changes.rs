//! Creating, replacing and deleting handles and their values (`http-interfaces.md` A.6, A.7).

use std::collections::{BTreeSet, HashMap, HashSet};

use handfast_id::{CaseRule, Handle, MAX_HANDLE};
use handfast_registry::{
    NewValue, Operation, Performed, Principal, RegistryError, ValueProblem, with_slash,
};
use handfast_wire::json::ParsedValue;
use handfast_wire::{Permissions, ResponseCode, type_matches};
use hyper::StatusCode;
use serde_json::value::RawValue;

use super::answer::{RestAnswer, RestProblem, RestResult};
use super::credentials::login;
use super::handles::referral;
use super::request::RestRequest;
use crate::error::{Fault, wrong};
use crate::handles::new_value;
use crate::http::Web;

/// Creates a handle or replaces its record, or adds or replaces values.
pub(crate) fn put(web: &Web, request: &RestRequest, name: &str) -> RestResult {
    // Wrong credentials end everything; none are asked for where they matter.
    let login = login(web, request)?;
    let about = |fault: Fault| RestProblem::from(fault).of(name);
    if !request.is_body("application/json") {
        return Err(about(wrong(
            "Unsupported media type: the body should be application/json",
        )));
    }
    let given = PutBody::read(&request.body).map_err(about)?;
    if let Some(handle) = &given.handle
        && !is_same(web, handle, name)
    {
        return Err(about(wrong("Mismatched handle in PUT request")));
    }
    let scope = PutScope::read(request).map_err(about)?;
    if let PutScope::These(indexes) = &scope {
        let values = given.values.iter();
        if values.map(|value| value.index).collect::<BTreeSet<_>>() != *indexes {
            return Err(about(wrong("Mismatched indexes in PUT request")));
        }
    }
    check_handle(name).map_err(about)?;
    if let Some(answer) = referral(web, request, name)? {
        return Ok(answer);
    }
    web.context.need_responsible(name).map_err(about)?;
    let is_whole = matches!(scope, PutScope::All);
    check_values(&given.values, is_whole).map_err(about)?;
    let overwrite = request.parameters.strictly("overwrite").unwrap_or(true);
    let mint = request.parameters.strictly("mintNewSuffix") == Some(true);
    if is_whole && !mint && !overwrite && web.registry().is_known(name)? {
        return Err(RestProblem::code(ResponseCode::HandleAlreadyExists).of(name));
    }
    let who = login.need().map_err(about)?;
    let operation = if is_whole {
        Operation::Create {
            handle: if mint {
                name.to_string()
            } else {
                with_slash(name)
            },
            values: given.values,
            overwrite,
            mint,
        }
    } else {
        web.context.found(name).map_err(about)?;
        Operation::Add {
            handle: with_slash(name),
            values: given.values,
            overwrite,
        }
    };
    let creator = web.context.creator(&operation, Some(who));
    let creator = creator.map_err(about)?;
    let who = &creator.as_ref().unwrap_or(who).who;
    let performed = perform(web, who, operation).map_err(about)?;
    let status = if performed.overwrote {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let shown = if mint { &performed.handle } else { name };
    Ok(RestAnswer::done(status, shown))
}

/// Deletes a handle, or values of it.
pub(crate) fn delete(web: &Web, request: &RestRequest, name: &str) -> RestResult {
    let login = login(web, request)?;
    let about = |fault: Fault| RestProblem::from(fault).of(name);
    let indexes = request.parameters.indexes().map_err(about)?;
    check_handle(name).map_err(about)?;
    if let Some(answer) = referral(web, request, name)? {
        return Ok(answer);
    }
    let handle = with_slash(name);
    web.context.found(&handle).map_err(about)?;
    let who = login.need().map_err(about)?;
    let operation = if indexes.is_empty() {
        Operation::Delete { handle }
    } else {
        Operation::Remove { handle, indexes }
    };
    perform(web, &who.who, operation).map_err(about)?;
    Ok(RestAnswer::done(StatusCode::OK, name))
}

fn perform(web: &Web, who: &Principal, operation: Operation) -> Result<Performed, Fault> {
    // Which indexes a record has, the registry says to those who may know.
    match web.registry().perform(who, operation) {
        Err(RegistryError::Value {
            problem: ValueProblem::Missing,
            ..
        }) => Err(Fault::plain(ResponseCode::ValuesNotFound)),
        performed => Ok(performed?),
    }
}

fn check_handle(name: &str) -> Result<(), Fault> {
    let invalid = |text: &str| Err(Fault::new(ResponseCode::InvalidHandle, text));
    match name.len() {
        0 => invalid("Empty handle invalid"),
        length if length > MAX_HANDLE => invalid("the handle is too long"),
        _ => Ok(()),
    }
}

/// "indexes positive / unique in the body"; that they are positive is seen to when they are read.
fn check_values(values: &[NewValue], is_whole: bool) -> Result<(), Fault> {
    if values.is_empty() && !is_whole {
        let text = "Value list was empty";
        return Err(Fault::new(ResponseCode::InvalidValue, text));
    }
    let mut seen = HashSet::new();
    let twice = values.iter().find(|value| !seen.insert(value.index));
    twice.map_or(Ok(()), |value| Err(Fault::index_conflict(value.index)))
}

/// Which values a PUT is about.
enum PutScope {
    /// The whole record.
    All,
    /// The values of the body, which must have these indexes.
    These(BTreeSet<u32>),
    /// The values of the body.
    Various,
}

impl PutScope {
    fn read(request: &RestRequest) -> Result<Self, Fault> {
        let parameters = &request.parameters;
        if parameters.first("index").is_none() {
            return Ok(Self::All);
        }
        let is_various = |index: &str| index.eq_ignore_ascii_case("various");
        if parameters.all("index").any(is_various) {
            return Ok(Self::Various);
        }
        let indexes = parameters.indexes()?;
        Ok(Self::These(indexes.into_iter().collect()))
    }
}

/// The body of a PUT.
struct PutBody {
    /// The handle it names, if it does.
    handle: Option<String>,
    values: Vec<NewValue>,
}

impl PutBody {
    /// An array of values, an object with `values`, or one value.
    fn read(body: &[u8]) -> Result<Self, Fault> {
        let invalid = || wrong("Invalid JSON in PUT request");
        let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
        if start == Some(&b'[') {
            let values: Vec<&RawValue> = serde_json::from_slice(body).map_err(|_| invalid())?;
            return Ok(Self {
                handle: None,
                values: read_values(&values)?,
            });
        }
        let members: HashMap<String, &RawValue> =
            serde_json::from_slice(body).map_err(|_| invalid())?;
        if let Some(values) = members.get("values") {
            let values: Vec<&RawValue> =
                serde_json::from_str(values.get()).map_err(|_| invalid())?;
            let handle = members.get("handle").map(|handle| handle.get());
            let handle = handle.map(serde_json::from_str::<Option<String>>);
            return Ok(Self {
                handle: handle.transpose().map_err(|_| invalid())?.flatten(),
                values: read_values(&values)?,
            });
        }
        if ["index", "type", "data"]
            .iter()
            .all(|name| members.contains_key(*name))
        {
            let text = std::str::from_utf8(body).map_err(|_| invalid())?;
            return Ok(Self {
                handle: None,
                values: vec![read_value(text)?],
            });
        }
        Err(invalid())
    }
}

/// How many values are read from one body.
const MAX_VALUES_READ: usize = 10_000;

fn read_values(values: &[&RawValue]) -> Result<Vec<NewValue>, Fault> {
    if values.len() > MAX_VALUES_READ {
        return Err(wrong("there are too many values"));
    }
    values.iter().map(|value| read_value(value.get())).collect()
}

fn read_value(text: &str) -> Result<NewValue, Fault> {
    let given: ParsedValue<'_> = serde_json::from_str(text).map_err(|error| {
        if has_low_index(text) {
            let text = "Value indexes must be positive";
            return Fault::new(ResponseCode::InvalidValue, text);
        }
        wrong(error.to_string())
    })?;
    // A secret without permissions is not public.
    let is_secret = type_matches(&given.value_type, "HS_SECKEY");
    let usual = if is_secret {
        Permissions::SECRET
    } else {
        Permissions::DEFAULT
    };
    Ok(NewValue {
        permissions: Some(given.permissions.unwrap_or(usual)),
        ..new_value(given)
    })
}

/// Whether the index of a value is a number, and below 1.
fn has_low_index(text: &str) -> bool {
    let Ok(tree) = serde_json::from_str::<serde_json::Value>(text) else {
        return false;
    };
    let index = tree.get("index");
    let number = index.and_then(|index| {
        let text = index.as_str().map(str::parse);
        index.as_i64().or_else(|| text?.ok())
    });
    number.is_some_and(|number| number < 1)
}

/// Whether two spellings are of one handle, by the rule of its authority.
fn is_same(web: &Web, one: &str, other: &str) -> bool {
    let (one, other) = (with_slash(one), with_slash(other));
    let (Ok(one), Ok(other)) = (Handle::from_stored(&one), Handle::from_stored(&other)) else {
        return one == other;
    };
    let prefix = other.prefix();
    let authority = web
        .registry()
        .authority(&Principal::Operator, prefix.as_str());
    let case = authority.map_or(CaseRule::AsciiInsensitive, |authority| {
        authority.policy.case_rule()
    });
    one.key(case) == other.key(case)
}
