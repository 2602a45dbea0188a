//! `handfast --url … namespace`: the same at a server elsewhere.

use std::io::{self, Write};

use handfast_registry::{NamespaceForm, rfc3339};
use serde_json::{Map, Value as Json, json};

use crate::commands::namespace::{Command, NO_REHEARSAL, On, read};
use crate::commands::namespace_form::FormOptions;
use crate::commands::namespace_view as view;
use crate::exit::Answer;
use crate::remote::api::{Elsewhere, NO_AS, Problem, encode, unreadable};
use crate::terminal::output::Output;

impl Command {
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        let (is_someone, output) = self.asked();
        if is_someone {
            return Ok(output.misused(NO_AS));
        }
        match self {
            Self::List {
                text,
                status,
                historical,
                output,
            } => {
                let wishes = [
                    ("q", text.clone()),
                    ("status", status.map(|status| status.to_string())),
                    ("historical", historical.map(|is| is.to_string())),
                ];
                show(list(server, wishes), *output, view::list)
            }
            Self::Show { namespace, output } => {
                let said = server.ask("GET", &path(namespace, ""), None);
                show(said, *output, view::entry)
            }
            Self::Propose { on, form, why } => {
                let form = match form.over(on.empty_form())? {
                    Ok(form) => form,
                    Err(problem) => return Ok(on.output.misused(&problem)),
                };
                let mut body = as_object(&form);
                body.insert("why".into(), why.as_str().into());
                let asked = on.rehearsed("/namespaces");
                on.tell(server.ask("POST", &asked, Some(&body.into())), "proposed")
            }
            Self::Change {
                on,
                form,
                why,
                expects,
            } => on.change_elsewhere(server, form, why, *expects),
            Self::Comment { on, text } => on.comment_elsewhere(server, text.as_deref()),
            Self::History { on } => {
                let versions = server.pages(&path(&on.namespace, "/history"), "versions");
                show(versions.map(Json::Array), on.output, view::history)
            }
            Self::Policy { file, output, .. } => {
                let text = file.as_deref().map(read).transpose()?;
                let body = text.as_ref().map(|text| json!({"text": text}));
                let method = if body.is_some() { "PUT" } else { "GET" };
                let said = server.ask(method, "/namespace-policy", body.as_ref());
                show(said, *output, |said, out| {
                    view::policy(said, text.is_some(), out)
                })
            }
            Self::Import { output, .. } => {
                let problem = "records of another registry are taken where the data folder is: \
                               leave out --url there";
                Ok(output.misused(problem))
            }
            Self::Approve {
                on,
                why,
                until,
                despite,
            } => {
                let until = until.map(rfc3339);
                let body = json!({"why": why, "until": until, "despite": despite});
                let asked = on.rehearsed(&path(&on.namespace, "/approve"));
                on.tell(server.ask("POST", &asked, Some(&body)), "registered")
            }
            Self::Renew { on, until, why } => {
                on.act_elsewhere(server, "renew", why, Some(*until), "renewed")
            }
            Self::Claim { on, why: None, .. } => {
                let asked = on.rehearsed(&path(&on.namespace, "/claim"));
                on.tell(server.ask("DELETE", &asked, None), "no longer claimed")
            }
            Self::Claim {
                on, why: Some(why), ..
            } => on.act_elsewhere(server, "claim", why, None, "claimed"),
            Self::Refuse { on, why } => on.act_elsewhere(server, "refuse", why, None, "refused"),
            Self::Verify { on, why } => on.act_elsewhere(server, "verify", why, None, "verified"),
            Self::Deprecate { on, why } => {
                on.act_elsewhere(server, "deprecate", why, None, "deprecated")
            }
            Self::Withdraw { on, why } => {
                on.act_elsewhere(server, "withdraw", why, None, "withdrawn")
            }
        }
    }

    /// Whether somebody is to act who is not said to a server so, and how to answer.
    fn asked(&self) -> (bool, Output) {
        match self {
            Self::List { output, .. } | Self::Show { output, .. } => (false, *output),
            Self::Policy { who, output, .. } | Self::Import { who, output, .. } => {
                (who.is_some(), *output)
            }
            Self::Propose { on, .. }
            | Self::Comment { on, .. }
            | Self::Approve { on, .. }
            | Self::Refuse { on, .. }
            | Self::Claim { on, .. }
            | Self::Verify { on, .. }
            | Self::Change { on, .. }
            | Self::Deprecate { on, .. }
            | Self::Withdraw { on, .. }
            | Self::Renew { on, .. }
            | Self::History { on } => (on.who.is_some(), on.output),
        }
    }
}

impl On {
    fn rehearsed(&self, path: &str) -> String {
        let query = if self.dry_run { "?dry-run=true" } else { "" };
        format!("{path}{query}")
    }

    fn tell(&self, said: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
        show(said, self.output, |said, out| view::done(said, done, out))
    }

    /// What takes a reason, and perhaps a time.
    fn act_elsewhere(
        &self,
        server: &Elsewhere,
        act: &str,
        why: &str,
        until: Option<u64>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let body = match until {
            Some(until) => json!({"why": why, "until": rfc3339(until)}),
            None => json!({"why": why}),
        };
        let asked = self.rehearsed(&path(&self.namespace, &format!("/{act}")));
        self.tell(server.ask("POST", &asked, Some(&body)), done)
    }

    fn comment_elsewhere(&self, server: &Elsewhere, text: Option<&str>) -> anyhow::Result<Answer> {
        let asked = path(&self.namespace, "/comments");
        let Some(text) = text else {
            return show(server.ask("GET", &asked, None), self.output, view::comments);
        };
        if self.dry_run {
            return Ok(self.output.misused(NO_REHEARSAL));
        }
        let said = server.ask("POST", &asked, Some(&json!({"text": text})));
        show(said, self.output, |said, out| {
            view::commented(said, &self.namespace, out)
        })
    }

    /// What was looked at is what is changed.
    fn change_elsewhere(
        &self,
        server: &Elsewhere,
        form: &FormOptions,
        why: &str,
        expects: Option<u64>,
    ) -> anyhow::Result<Answer> {
        let entry = match server.ask("GET", &path(&self.namespace, ""), None) {
            Ok(entry) => entry,
            Err(problem) => return problem.tell(self.output),
        };
        let Ok(old) = NamespaceForm::from_json(&entry.to_string()) else {
            return Ok(self.output.refuse(&unreadable()));
        };
        let new = match form.over(old.clone())? {
            Ok(new) => new,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        let mut body = patch(&as_object(&old), as_object(&new));
        body.insert("why".into(), why.into());
        let version = expects.unwrap_or_else(|| view::number(&entry, "version"));
        let asked = self.rehearsed(&path(&self.namespace, ""));
        let said = server.ask_if("PATCH", &asked, &body.into(), version);
        self.tell(said, "changed")
    }
}

fn path(namespace: &str, rest: &str) -> String {
    // Without any, the list would be meant.
    let namespace = if namespace.is_empty() { " " } else { namespace };
    format!("/namespaces/{}{rest}", encode(namespace))
}

/// Says what a server said, or why it did not.
fn show(
    said: Result<Json, Problem>,
    output: Output,
    for_people: impl FnOnce(&Json, &mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<Answer> {
    match said {
        Ok(said) => output.print(Ok(said), Json::clone, for_people),
        Err(problem) => problem.tell(output),
    }
}

/// All pages of a list as one.
fn list(server: &Elsewhere, wishes: [(&str, Option<String>); 3]) -> Result<Json, Problem> {
    let wishes = wishes.map(|(name, wish)| {
        let wish = wish.map(|wish| format!("&{name}={}", encode(&wish)));
        wish.unwrap_or_default()
    });
    let all = server.pages_with("/namespaces", &wishes.concat(), "namespaces")?;
    Ok(json!({"total": all.len(), "namespaces": all, "next": null}))
}

fn as_object(form: &NamespaceForm) -> Map<String, Json> {
    match serde_json::to_value(form) {
        Ok(Json::Object(object)) => object,
        _ => Map::new(),
    }
}

/// What makes the new object of the old one (RFC 7396): what is no longer there is said to be null.
fn patch(old: &Map<String, Json>, new: Map<String, Json>) -> Map<String, Json> {
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let mut patch: Map<_, _> = gone.map(|name| (name.clone(), Json::Null)).collect();
    for (name, value) in new {
        match (old.get(&name), value) {
            (Some(Json::Object(before)), Json::Object(after)) => {
                let inner = self::patch(before, after);
                if !inner.is_empty() {
                    patch.insert(name, inner.into());
                }
            }
            (Some(before), after) if *before == after => {}
            (_, after) => {
                patch.insert(name, after);
            }
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_what_is_other_and_what_is_gone() {
        for (old, new, made) in [
            (json!({"a": 1}), json!({"a": 1}), json!({})),
            (
                json!({"a": 1, "b": 2}),
                json!({"b": 3}),
                json!({"a": null, "b": 3}),
            ),
            (
                json!({"a": {"b": 1, "c": [1]}, "d": {"e": 1}}),
                json!({"a": {"c": [2]}, "d": {"e": 1}}),
                json!({"a": {"b": null, "c": [2]}}),
            ),
            (
                json!({"a": null}),
                json!({"a": {"b": 1}}),
                json!({"a": {"b": 1}}),
            ),
        ] {
            let (Json::Object(old), Json::Object(new)) = (old, new) else {
                panic!("objects are compared");
            };
            assert_eq!(Json::Object(patch(&old, new)), made);
        }
    }
}
