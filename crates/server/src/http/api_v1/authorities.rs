//! `/api/v1/authorities`.

use std::ops::ControlFlow;

use handfast_registry::Principal;
use handfast_registry::{
    Authority, AuthorityAction, AuthorityChange, NewAuthority, Persistence, RegistryError, Role,
    json,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::call::{Answer, Call};
use super::names::principal;
use super::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    authority: String,
    title: Option<String>,
    meaning: Option<String>,
    contact: Option<String>,
    #[serde(default)]
    policy: GivenPolicy,
    /// Whether it is asked for, and someone else decides.
    #[serde(default)]
    request: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenChange {
    title: Option<String>,
    meaning: Option<String>,
    contact: Option<String>,
    #[serde(default)]
    policy: GivenPolicy,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenPolicy {
    case: Option<Case>,
    persistence: Option<GivenPersistence>,
    profile: Option<Profile>,
    /// An empty one lifts the demand.
    pattern: Option<String>,
    approval: Option<bool>,
    ttl: Option<u32>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Case {
    Insensitive,
    Sensitive,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum GivenPersistence {
    Erasable,
    Permanent,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Profile {
    Cordra,
    Handle,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenRole {
    role: String,
    /// Create the account if there is none.
    #[serde(default)]
    create: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    to: String,
    /// Create the account if there is none.
    #[serde(default)]
    create: bool,
}

impl GivenPolicy {
    fn change(self) -> AuthorityChange {
        AuthorityChange {
            case_sensitive: self.case.map(|case| case == Case::Sensitive),
            persistence: self.persistence.map(|persistence| match persistence {
                GivenPersistence::Erasable => Persistence::Erasable,
                GivenPersistence::Permanent => Persistence::Permanent,
            }),
            cordra: self.profile.map(|profile| profile == Profile::Cordra),
            pattern: self
                .pattern
                .map(|pattern| Some(pattern).filter(|text| !text.is_empty())),
            approval: self.approval,
            default_ttl: self.ttl,
            ..AuthorityChange::default()
        }
    }
}

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let limit = call.limit()?;
    let (mut page, mut bytes, mut next) = (Vec::new(), 0, None);
    let registry = call.registry();
    registry.visit_authorities(call.query("after"), &mut |authority| {
        bytes += size(&authority);
        if !page.is_empty() && (page.len() == limit || bytes > MAX_PAGE_BYTES) {
            next = page
                .last()
                .map(|last: &Authority| last.path.key().to_string());
            return ControlFlow::Break(());
        }
        page.push(authority);
        ControlFlow::Continue(())
    })?;
    let rules = registry.rules();
    let mut shown = Vec::with_capacity(page.len());
    for mut authority in page {
        // Each as whoever asks may see it.
        match registry.authority(&call.who, authority.path.key()) {
            Ok(seen) => authority = seen,
            Err(_) => authority.grants.clear(),
        }
        shown.push(json::authority(&authority, &rules));
    }
    Ok(Answer::json(json!({"authorities": shown, "next": next})))
}

/// How many bytes of text the authorities of one page have, unless one alone has more.
const MAX_PAGE_BYTES: usize = 512 << 10;

fn size(authority: &Authority) -> usize {
    let texts = [&authority.title, &authority.meaning, &authority.contact];
    let texts: usize = texts.iter().map(|text| text.len()).sum();
    texts + 100 * (1 + authority.grants.len())
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: Given = call.read()?;
    let new = NewAuthority {
        title: given.title.unwrap_or_default(),
        meaning: given.meaning.unwrap_or_default(),
        contact: given.contact.unwrap_or_default(),
        change: given.policy.change(),
    };
    let registry = call.registry();
    let mut declined = None;
    let path = if given.request {
        // A token that is for something else is not for this.
        if matches!(call.who, Principal::Limited { .. }) {
            let problem = "a token that is limited asks for no authorities".to_string();
            let code = "not-yours";
            return Err(RegistryError::Policy { code, problem }.into());
        }
        registry.request_authority(&call.who, &given.authority, new)?
    } else {
        let (path, requested_by) =
            registry.create_authority_over(&call.who, &given.authority, new)?;
        declined = requested_by;
        path
    };
    let authority = registry.authority(&call.who, &path.to_string())?;
    let mut body = json::authority(&authority, &registry.rules());
    if let (Some(by), Json::Object(body)) = (declined, &mut body) {
        // Somebody had asked for it.
        body.insert("declined-request-of".into(), by.to_string().into());
    }
    let answer = Answer::json(body).version(authority.version);
    Ok(answer.created("authorities", &path.to_string()))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let authority = call.registry().authority(&call.who, call.id())?;
    Ok(call.versioned(
        authority.version,
        json::authority(&authority, &call.registry().rules()),
    ))
}

pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let given: GivenChange = call.read()?;
    let change = AuthorityChange {
        title: given.title,
        meaning: given.meaning,
        contact: given.contact,
        expects: call.expected()?,
        ..given.policy.change()
    };
    call.registry()
        .change_authority(&call.who, call.id(), change)?;
    shown(call, call.id())
}

pub(super) fn approve(call: &Call) -> Result<Answer, Problem> {
    act(call, AuthorityAction::Approve)
}

pub(super) fn decline(call: &Call) -> Result<Answer, Problem> {
    let expected = call.expected()?;
    let action = AuthorityAction::Decline;
    call.registry()
        .act_on_authority(&call.who, call.id(), expected, action)?;
    Ok(Answer::done())
}

pub(super) fn retire(call: &Call) -> Result<Answer, Problem> {
    let keep_children = call.flag("keep-children")?;
    act(call, AuthorityAction::Retire { keep_children })
}

pub(super) fn transfer(call: &Call) -> Result<Answer, Problem> {
    let given: To = call.read()?;
    let transfer = AuthorityAction::Transfer {
        to: principal(&given.to)?,
        creates_account: given.create,
    };
    act(call, transfer)
}

pub(super) fn grant(call: &Call) -> Result<Answer, Problem> {
    let given: GivenRole = call.read()?;
    let role = given.role.parse::<Role>();
    let role = role.map_err(|error| Problem::usage(error.to_string()))?;
    let to = principal(call.path.get(1).map_or("", String::as_str))?;
    let grant = AuthorityAction::Grant {
        to,
        role,
        creates_account: given.create,
    };
    act(call, grant)
}

pub(super) fn revoke(call: &Call) -> Result<Answer, Problem> {
    let from = principal(call.path.get(1).map_or("", String::as_str))?;
    act(call, AuthorityAction::Revoke { from, role: None })
}

fn act(call: &Call, action: AuthorityAction) -> Result<Answer, Problem> {
    let expected = call.expected()?;
    call.registry()
        .act_on_authority(&call.who, call.id(), expected, action)?;
    shown(call, call.id())
}

/// Who has which role, by a grant there or above.
pub(super) fn grants(call: &Call) -> Result<Answer, Problem> {
    let mut listed = Vec::new();
    let mut next = Some(call.id().to_string());
    while let Some(path) = next {
        let authority = match call.registry().authority(&call.who, &path) {
            // What is above need not be kept here.
            Err(_) if !listed.is_empty() => break,
            found => found?,
        };
        let on = authority.path.to_string();
        let grants = authority.grants.iter();
        listed.extend(grants.map(|grant| {
            json!({"to": grant.to.to_string(), "role": grant.role.as_str(), "authority": on})
        }));
        next = authority.parent.map(|parent| parent.to_string());
    }
    Ok(Answer::json(Json::Array(listed)))
}

/// An authority as it is now.
fn shown(call: &Call, path: &str) -> Result<Answer, Problem> {
    let authority = call.registry().authority(&call.who, path)?;
    let body: Json = json::authority(&authority, &call.registry().rules());
    Ok(Answer::json(body).version(authority.version))
}
