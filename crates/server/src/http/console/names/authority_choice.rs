//! The authorities under which a person may create names.

use handfast_registry::{Authority, RegistryError};

use crate::http::console::visit::Visit;

/// How many authorities a list offers. With more of them the person writes the authority.
const MAX_CHOICES: usize = 200;

/// An authority to choose.
pub(super) struct AuthorityChoice {
    pub(super) value: String,
    /// Its title and path.
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// The authorities to choose from.
pub(super) struct AuthorityChoices {
    pub(super) choices: Vec<AuthorityChoice>,
    /// Whether there are too many for a list.
    pub(super) are_many: bool,
    /// The chosen one.
    pub(super) chosen: String,
    /// What its names must look like, in words.
    pub(super) rule: String,
    /// Whether the person may make the first authority.
    pub(super) may_make_first: bool,
}

impl AuthorityChoices {
    /// With what the person has chosen; otherwise with the first one.
    pub(super) fn read(visit: &Visit<'_>, chosen: &str) -> Result<Self, RegistryError> {
        let all = visit
            .registry()
            .writable_authorities(&visit.who(), MAX_CHOICES + 1)?;
        let are_many = all.len() > MAX_CHOICES;
        let is_chosen = |authority: &Authority| is_same(authority, chosen);
        let picked = all.iter().find(|authority| is_chosen(authority));
        let picked = picked.or_else(|| all.first().filter(|_| chosen.is_empty() && !are_many));
        let path = picked.map(|authority| authority.path.to_string());
        let rule = picked.map(rule_of).unwrap_or_default();
        let choices = all.iter().take(if are_many { 0 } else { MAX_CHOICES });
        let choices = choices.map(|authority| {
            let value = authority.path.to_string();
            AuthorityChoice {
                text: if authority.title.is_empty() {
                    value.clone()
                } else {
                    format!("{} ({value})", authority.title)
                },
                is_chosen: Some(&value) == path.as_ref(),
                value,
            }
        });
        Ok(Self {
            choices: choices.collect(),
            are_many,
            chosen: path.unwrap_or_else(|| chosen.to_string()),
            rule,
            may_make_first: visit.registry().is_administrator(&visit.who())?,
        })
    }

    /// Whether the person may create names anywhere.
    pub(super) fn is_none(&self) -> bool {
        self.choices.is_empty() && !self.are_many
    }
}

fn is_same(authority: &Authority, text: &str) -> bool {
    authority.path.to_string().eq_ignore_ascii_case(text)
}

/// What the policy of an authority says about the names under it.
fn rule_of(authority: &Authority) -> String {
    let policy = &authority.policy;
    let mut rule = Vec::new();
    if policy.cordra {
        rule.push("32 hexadecimal digits (CORDRA).".to_string());
    }
    if let Some(pattern) = &policy.pattern {
        rule.push(format!("It must match {pattern}."));
    }
    if policy.approval {
        rule.push("A lead activates new names here.".to_string());
    }
    rule.join(" ")
}
