//! `/console/authorities/{a}/policy`: what holds for its names, in words, and how to change it.

use askama::Template;
use handfast_id::Pattern;
use handfast_registry::{AuthorityChange, Persistence, RegistryError, Role};
use hyper::StatusCode;
use serde_json::json;

use super::here::{Answered, AuthorityHead, Here, curl, flash, is_wrong_input};
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::names::one_name::{options, quoted};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::pages::words;
use crate::http::percent::{COMPONENT, encode};

const DONE: &[(&str, &str, &str)] = &[(
    "changed",
    "Saved.",
    "It counts from now on. Names that exist stay as they are.",
)];

#[derive(Template)]
#[template(path = "console/authorities/policy.html")]
struct AuthorityPolicyPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    sentences: Vec<String>,
    typed: TypedPolicy,
    version: u64,
    /// `nothing`, `some` (texts, pattern and approval) or `all`.
    may_change: &'static str,
    /// `prefix`, `urn` or another scheme.
    scheme: &'static str,
    has_names: bool,
    /// What holds now, whatever was typed.
    stored: TypedPolicy,
}

/// The fields of the form.
struct TypedPolicy {
    title: String,
    meaning: String,
    contact: String,
    pattern: String,
    /// `yes` or `no`.
    approval: String,
    /// `permanent` or `erasable`.
    persistence: String,
    /// `handle` or `cordra`.
    profile: String,
    /// `sensitive` or `insensitive`.
    case: String,
    ttl: String,
}

impl TypedPolicy {
    fn stored(here: &Here) -> Self {
        let (authority, policy) = (&here.authority, &here.authority.policy);
        Self {
            title: authority.title.clone(),
            meaning: authority.meaning.clone(),
            contact: authority.contact.clone(),
            pattern: policy.pattern.clone().unwrap_or_default(),
            approval: either(policy.approval, "yes", "no"),
            persistence: policy.persistence.as_str().to_string(),
            profile: either(policy.cordra, "cordra", "handle"),
            case: either(policy.case_sensitive, "sensitive", "insensitive"),
            ttl: policy.default_ttl.to_string(),
        }
    }

    /// What was sent; the parts that the form did not have are as stored.
    fn sent(visit: &Visit<'_>, here: &Here, has_all: bool) -> Self {
        let field = |name| visit.field(name).to_string();
        let stored = Self::stored(here);
        let chosen = |name: &str, stored: String| match visit.field(name) {
            sent if has_all && !sent.is_empty() => sent.to_string(),
            _ => stored,
        };
        Self {
            title: field("title"),
            meaning: field("meaning"),
            contact: field("contact"),
            pattern: field("pattern"),
            approval: field("approval"),
            persistence: chosen("persistence", stored.persistence),
            profile: chosen("profile", stored.profile),
            case: chosen("case", stored.case),
            ttl: if has_all { field("ttl") } else { stored.ttl },
        }
    }

    /// The commands that do the same. Copied from a form that was not changed, they change nothing.
    fn same(&self, visit: &Visit<'_>, id: &str) -> [String; 2] {
        let is_set = |text: &str| !text.is_empty();
        let texts = [
            ("title", &self.title),
            ("meaning", &self.meaning),
            ("contact", &self.contact),
            ("pattern", &self.pattern),
        ];
        let texts = texts.map(|(name, text)| (name, text.as_str()));
        let set = |(name, text): &(&str, &str)| *name == "title" || is_set(text);
        let options = options(texts.into_iter().filter(set));
        let mut body = json!({ "title": self.title });
        if is_set(&self.pattern) {
            body = json!({ "title": self.title, "policy": { "pattern": self.pattern } });
        }
        let approval = self.approval == "yes";
        let path = format!("/authorities/{}", encode(id, COMPONENT));
        [
            format!(
                "handfast authority policy {}{options} --approval {approval}",
                quoted(id)
            ),
            format!(
                "{} -H 'Content-Type: application/json' -d {}",
                curl(visit, "PATCH", &path),
                quoted(&body.to_string())
            ),
        ]
    }

    /// Only what differs: a part that stays as it is needs no right.
    fn change(&self, here: &Here, ttl: u32) -> AuthorityChange {
        let (authority, policy) = (&here.authority, &here.authority.policy);
        let text = |new: &String, old: &String| (new != old).then(|| new.clone());
        let pattern = Some(self.pattern.clone()).filter(|pattern| !pattern.is_empty());
        let persistence = match self.persistence.as_str() {
            "erasable" => Persistence::Erasable,
            _ => Persistence::Permanent,
        };
        let differs = |new: bool, old: bool| (new != old).then_some(new);
        AuthorityChange {
            title: text(&self.title, &authority.title),
            meaning: text(&self.meaning, &authority.meaning),
            contact: text(&self.contact, &authority.contact),
            pattern: (pattern != policy.pattern).then_some(pattern),
            approval: differs(self.approval == "yes", policy.approval),
            persistence: (persistence != policy.persistence).then_some(persistence),
            cordra: differs(self.profile == "cordra", policy.cordra),
            case_sensitive: differs(self.case == "sensitive", policy.case_sensitive),
            default_ttl: (ttl != policy.default_ttl).then_some(ttl),
            expects: None,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let typed = TypedPolicy::stored(&here);
    policy_page(visit, &here, StatusCode::OK, typed, None)
}

fn policy_page(
    visit: &Visit<'_>,
    here: &Here,
    status: StatusCode,
    typed: TypedPolicy,
    error: Option<FieldError>,
) -> Answered {
    let (id, path) = (here.id(), &here.authority.path);
    let same = typed.same(visit, &id);
    let is_active = here.is_active();
    let own = visit.registry().counts(&id)?.own();
    let page = AuthorityPolicyPage {
        frame: here
            .frame(visit, "Policy")
            .flash(flash(visit, DONE))
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "Policy")?,
        sentences: in_words(visit, here),
        typed,
        version: here.authority.version,
        may_change: if is_active && may_change_all(here) {
            "all"
        } else if is_active && here.has(Role::Lead) {
            "some"
        } else {
            "nothing"
        },
        scheme: match path.prefix() {
            Some(_) => "prefix",
            None if path.is_urn() => "urn",
            None => "other",
        },
        has_names: here.has(Role::Read) && own.total() > 0,
        stored: TypedPolicy::stored(here),
    };
    Ok(page.frame.respond(status, &page))
}

fn either(is_first: bool, first: &str, second: &str) -> String {
    let chosen = if is_first { first } else { second };
    chosen.to_string()
}

fn may_change_all(here: &Here) -> bool {
    here.has(Role::Admin) || here.rights.is_over
}

/// What holds for names of the authority, and what follows from it.
fn in_words(visit: &Visit<'_>, here: &Here) -> Vec<String> {
    let policy = &here.authority.policy;
    let mut sentences = Vec::new();
    sentences.push(match policy.persistence {
        Persistence::Permanent => {
            "Names are permanent: a name that was given is never given to anything else."
        }
        Persistence::Erasable => {
            "Names may be erased, and given again. Readers cannot rely on them for ever."
        }
    });
    let rules = visit.registry().rules();
    sentences.push(match here.authority.case_rule(&rules) {
        handfast_id::CaseRule::AsciiInsensitive => {
            "Upper and lower case are the same: ABC and abc are one name."
        }
        handfast_id::CaseRule::Sensitive => {
            "Upper and lower case differ: ABC and abc are two names."
        }
    });
    if policy.cordra {
        sentences.push("Names are CORDRA identifiers, which are digits and dots before the slash.");
    }
    sentences.push(if policy.approval {
        "New names wait: somebody with the role lead activates them."
    } else {
        "New names are active at once."
    });
    let mut sentences: Vec<_> = sentences.into_iter().map(str::to_string).collect();
    if let Some(pattern) = &policy.pattern {
        sentences.push(format!(
            "The part after the prefix must match {pattern} as a whole."
        ));
        if policy.cordra && !matches_cordra(pattern) {
            sentences.push(
                "Hardly any name can be made here: CORDRA identifiers have 32 hexadecimal digits \
                 after the slash, and the pattern does not match them. Change the pattern, or \
                 leave it empty."
                    .to_string(),
            );
        }
    }
    let hours = u64::from(policy.default_ttl) / 3_600;
    sentences.push(match hours {
        0 => "Other servers remember the values of a name for less than an hour.".to_string(),
        hours => format!(
            "Other servers remember the values of a name for up to {}.",
            words::count(hours, "hour", "hours")
        ),
    });
    sentences
}

/// Whether a pattern matches CORDRA identifiers as they are: with digits and letters.
fn matches_cordra(pattern: &str) -> bool {
    const EXAMPLE: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    Pattern::new(pattern).is_ok_and(|pattern| {
        pattern.matches(EXAMPLE) || pattern.matches(&EXAMPLE.to_ascii_uppercase())
    })
}

pub(super) fn change(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let typed = TypedPolicy::sent(visit, &here, may_change_all(&here));
    let invalid = |typed, field: &str, text: String| {
        let error = FieldError::new(field, text);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        policy_page(visit, &here, status, typed, Some(error))
    };
    let Ok(ttl) = typed.ttl.parse::<u32>() else {
        let text = "Write a number of seconds, such as 86400 for a day.";
        return invalid(typed, "ttl", text.to_string());
    };
    let change = AuthorityChange {
        expects: visit.field("version").parse().ok(),
        ..typed.change(&here, ttl)
    };
    let changes_profile = change.cordra.is_some();
    let done = visit
        .registry()
        .change_authority(&visit.who(), &here.id(), change);
    match done {
        Ok(()) => Ok(see(&format!("{}/policy?done=changed", here.path()))),
        Err(error) if error.code() == "other-version" => {
            let text = "Somebody changed this authority meanwhile. Your text is still here: look \
                        at it and save again.";
            invalid(typed, "", text.to_string())
        }
        Err(error) if is_wrong_input(&error) => {
            invalid(typed, field_of(&error, changes_profile), message(&error))
        }
        Err(error) => Err(error.into()),
    }
}

/// The field that an error is about.
fn field_of(error: &RegistryError, changes_profile: bool) -> &'static str {
    match error.code() {
        "bad-pattern" => "pattern",
        "permanent" | "erased-names" => "persistence",
        "not-cordra" | "case-of-cordra" => "profile",
        "case-fixed" | "prefix-policy" if changes_profile => "profile",
        "case-fixed" | "always-insensitive" | "case-of-nid" | "prefix-policy" => "case",
        "too-large" => "meaning",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_no_cordra_name_matches_is_told() {
        for (pattern, is_right) in [
            ("[0-9]+", false),
            ("[0-9a-f]{32}", true),
            ("[0-9A-F]+", true),
            (".*", true),
            ("x.*", false),
        ] {
            assert_eq!(matches_cordra(pattern), is_right, "{pattern}");
        }
    }
}
