//! `handfast namespace`: the registry of `info` namespaces.

use std::fs::File;
use std::io::{self, Read};

use anyhow::Context;
use clap::{Args, Subcommand};
use handfast_registry::{NamespaceForm, NamespaceStatus, Principal, parse_rfc3339, rfc3339};
use serde_json::{Map, Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::{field, text};
use crate::commands::namespace_form::FormOptions;
use crate::commands::namespace_view as view;
use crate::exit::{Answer, UnreadableInput};
use crate::remote::client::{Client, Problem, encode, unreadable};
use crate::terminal::output::Output;

/// The registry of info namespaces: propose, review, claim, change, withdraw
///
/// NAMESPACE is the string between `info:` and the slash. Proposals, claims and comments are by
/// accounts (--as); the operator of the registry has the role lead on the authority `info:`, its
/// maintainer admin. The local operator is both.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum NamespaceCommand {
    /// List entries
    List {
        /// Only those with this text in string, title, description or organisation
        #[arg(long)]
        text: Option<String>,
        /// Only those that are candidate, refused, registered, lapsed, deprecated or withdrawn
        #[arg(long)]
        status: Option<NamespaceStatus>,
        /// Only those of the original registry, or only the others
        #[arg(long)]
        historical: Option<bool>,
        #[command(flatten)]
        output: Output,
    },
    /// Show an entry: what its authority says, and where it is in its life
    Show {
        /// The namespace
        namespace: String,
        #[command(flatten)]
        output: Output,
    },
    /// Propose a namespace: it is open to comments until the operator decides
    Propose {
        #[command(flatten)]
        on: NamespaceTarget,
        #[command(flatten)]
        form: Box<FormOptions>,
        /// What else the operator should know
        #[arg(long, default_value = "")]
        why: String,
    },
    /// Say something of a candidate, or, without TEXT, read what was said
    Comment {
        #[command(flatten)]
        on: NamespaceTarget,
        /// What to say
        text: Option<String>,
    },
    /// Register a candidate; make a provisional entry permanent; reinstate a deprecated one
    Approve {
        #[command(flatten)]
        on: NamespaceTarget,
        /// How it was verified whose the namespace is
        #[arg(long)]
        why: String,
        /// Register it provisionally, until this day (YYYY-MM-DD) or time
        #[arg(long, value_name = "DATE", value_parser = date)]
        until: Option<u64>,
        /// Why it is registered although its string, or one like it, is used for something else
        #[arg(long, value_name = "REASON")]
        despite: Option<String>,
    },
    /// Turn down a candidate, or a claim
    Refuse {
        #[command(flatten)]
        on: NamespaceTarget,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Say that an entry is yours
    Claim {
        #[command(flatten)]
        on: NamespaceTarget,
        /// How that can be verified
        #[arg(long, required_unless_present = "take_back")]
        why: Option<String>,
        /// Take a claim of your own back
        #[arg(long, conflicts_with = "why")]
        take_back: bool,
    },
    /// Find that a claim is right: the account that made it owns the entry
    Verify {
        #[command(flatten)]
        on: NamespaceTarget,
        /// How that was verified
        #[arg(long)]
        why: String,
    },
    /// Change what an entry says; unset fields stay
    Change {
        #[command(flatten)]
        on: NamespaceTarget,
        #[command(flatten)]
        form: Box<FormOptions>,
        /// Why
        #[arg(long, default_value = "")]
        why: String,
        /// Only if the entry has this version
        #[arg(long, value_name = "VERSION")]
        expects: Option<u64>,
    },
    /// Say that a namespace should not be used for anything new
    Deprecate {
        #[command(flatten)]
        on: NamespaceTarget,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Withdraw an entry, leaving a tombstone, or take back a candidate
    Withdraw {
        #[command(flatten)]
        on: NamespaceTarget,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Let a provisional entry go on for a while
    Renew {
        #[command(flatten)]
        on: NamespaceTarget,
        /// Until this day (YYYY-MM-DD) or time
        #[arg(long, value_name = "DATE", value_parser = date)]
        until: u64,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Show how an entry came to be what it is
    History {
        #[command(flatten)]
        on: NamespaceTarget,
    },
    /// Show the policy of the registry, or set it from a file
    Policy {
        /// The new policy; - for standard input
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// Act as this account instead of the local operator
        #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
        who: Option<Principal>,
        #[command(flatten)]
        output: Output,
    },
    /// Take records of the original registry: its XML, or JSON like info-namespaces.json
    Import {
        /// The file; - for standard input
        file: String,
        /// Act as this account instead of the local operator
        #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
        who: Option<Principal>,
        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
    },
}

const EXAMPLES: &str = "\
Examples:
  handfast namespace show lccn
  handfast namespace propose oai --as ann --title 'OAI identifiers' \\
      --organisation 'Open Archives Initiative' --contact https://www.openarchives.org/ \\
      --case lower --declare in-use
  handfast namespace approve oai --why 'asked the address on their own site'
  handfast namespace change oai --as ann --pattern '[^:]+:.+' --dry-run";

/// Which entry, and who asks.
#[derive(Args)]
pub(crate) struct NamespaceTarget {
    /// The namespace
    namespace: String,
    /// Act as this account instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: Output,
}

impl NamespaceCommand {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = &client.acting_as(self.who());
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
                output.show(list(client, wishes), view::list)
            }
            Self::Show { namespace, output } => {
                let said = client.ask("GET", &path(namespace, ""), None);
                output.show(said, view::entry)
            }
            Self::Propose { on, form, why } => {
                let form = match form.over(on.empty_form())? {
                    Ok(form) => form,
                    Err(problem) => return Ok(on.output.misused(&problem)),
                };
                let mut body = as_object(&form);
                body.insert("why".into(), why.as_str().into());
                let asked = on.rehearsed("/namespaces");
                on.tell(client.ask("POST", &asked, Some(&body.into())), "proposed")
            }
            Self::Change {
                on,
                form,
                why,
                expects,
            } => on.change(client, form, why, *expects),
            Self::Comment { on, text } => on.comment(client, text.as_deref()),
            Self::History { on } => {
                let versions = client.pages(&path(&on.namespace, "/history"), "versions");
                on.output.show(versions.map(Json::Array), view::history)
            }
            Self::Policy { file, output, .. } => {
                let text = file.as_deref().map(read).transpose()?;
                let body = text.as_ref().map(|text| json!({"text": text}));
                let method = if body.is_some() { "PUT" } else { "GET" };
                let said = client.ask(method, "/namespace-policy", body.as_ref());
                output.show(said, |said, out| view::policy(said, text.is_some(), out))
            }
            Self::Import {
                file,
                dry_run,
                output,
                ..
            } => import(client, file, *dry_run, *output),
            Self::Approve {
                on,
                why,
                until,
                despite,
            } => {
                let until = until.map(rfc3339);
                let body = json!({"why": why, "until": until, "despite": despite});
                let asked = on.rehearsed(&path(&on.namespace, "/approve"));
                on.tell(client.ask("POST", &asked, Some(&body)), "registered")
            }
            Self::Renew { on, until, why } => on.act(client, "renew", why, Some(*until), "renewed"),
            Self::Claim { on, why: None, .. } => {
                let asked = on.rehearsed(&path(&on.namespace, "/claim"));
                on.tell(client.ask("DELETE", &asked, None), "no longer claimed")
            }
            Self::Claim {
                on, why: Some(why), ..
            } => on.act(client, "claim", why, None, "claimed"),
            Self::Refuse { on, why } => on.act(client, "refuse", why, None, "refused"),
            Self::Verify { on, why } => on.act(client, "verify", why, None, "verified"),
            Self::Deprecate { on, why } => on.act(client, "deprecate", why, None, "deprecated"),
            Self::Withdraw { on, why } => on.act(client, "withdraw", why, None, "withdrawn"),
        }
    }

    /// As whom it is asked, if not as the operator.
    fn who(&self) -> Option<&Principal> {
        match self {
            Self::List { .. } | Self::Show { .. } => None,
            Self::Policy { who, .. } | Self::Import { who, .. } => who.as_ref(),
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
            | Self::History { on } => on.who.as_ref(),
        }
    }
}

impl NamespaceTarget {
    /// What is proposed if nothing is said.
    fn empty_form(&self) -> NamespaceForm {
        NamespaceForm {
            namespace: self.namespace.clone(),
            ..NamespaceForm::default()
        }
    }

    fn rehearsed(&self, path: &str) -> String {
        let query = if self.dry_run { "?dry-run=true" } else { "" };
        format!("{path}{query}")
    }

    fn tell(&self, said: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
        self.output
            .show(said, |said, out| view::done(said, done, out))
    }

    /// What takes a reason, and perhaps a time.
    fn act(
        &self,
        client: &Client,
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
        self.tell(client.ask("POST", &asked, Some(&body)), done)
    }

    fn comment(&self, client: &Client, text: Option<&str>) -> anyhow::Result<Answer> {
        let asked = path(&self.namespace, "/comments");
        let Some(text) = text else {
            return self
                .output
                .show(client.ask("GET", &asked, None), view::comments);
        };
        if self.dry_run {
            return Ok(self.output.misused("a comment cannot be rehearsed"));
        }
        let said = client.ask("POST", &asked, Some(&json!({"text": text})));
        self.output.show(said, |said, out| {
            view::commented(said, &self.namespace, out)
        })
    }

    /// What was looked at is what is changed.
    fn change(
        &self,
        client: &Client,
        form: &FormOptions,
        why: &str,
        expects: Option<u64>,
    ) -> anyhow::Result<Answer> {
        let entry = match client.ask("GET", &path(&self.namespace, ""), None) {
            Ok(entry) => entry,
            Err(problem) => return problem.tell(self.output),
        };
        let Ok(old) = NamespaceForm::from_json(&entry.to_string()) else {
            return unreadable().tell(self.output);
        };
        let new = match form.over(old.clone())? {
            Ok(new) => new,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        let mut body = patch(&as_object(&old), as_object(&new));
        body.insert("why".into(), why.into());
        let version = expects.unwrap_or_else(|| view::number(&entry, "version"));
        let asked = self.rehearsed(&path(&self.namespace, ""));
        let said = client.ask_if("PATCH", &asked, &body.into(), version);
        self.tell(said, "changed")
    }
}

fn path(namespace: &str, rest: &str) -> String {
    // Without any, the list would be meant.
    let namespace = if namespace.is_empty() { " " } else { namespace };
    format!("/namespaces/{}{rest}", encode(namespace))
}

/// All pages of a list as one.
fn list(client: &Client, wishes: [(&str, Option<String>); 3]) -> Result<Json, Problem> {
    let wishes = wishes.map(|(name, wish)| {
        let wish = wish.map(|wish| format!("&{name}={}", encode(&wish)));
        wish.unwrap_or_default()
    });
    let all = client.pages_with("/namespaces", &wishes.concat(), "namespaces")?;
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

fn import(client: &Client, file: &str, dry_run: bool, output: Output) -> anyhow::Result<Answer> {
    let why =
        "records of another registry are taken where the data folder is: leave out --api there";
    if let Err(problem) = client.only_local(why) {
        return problem.tell(output);
    }
    let query = if dry_run { "?dry-run=true" } else { "" };
    let said = client.send_text(&format!("/operator/namespaces{query}"), &read(file)?);
    let said = said.map(|said| said.as_array().cloned().unwrap_or_default());
    let all_taken = said
        .as_ref()
        .is_ok_and(|taken| taken.iter().all(|record| record.get("error").is_none()));
    let answer = output.show_as(
        said,
        |taken| Json::Array(taken.clone()),
        |taken, out| {
            taken.iter().try_for_each(|record| {
                let namespace = text(record, "namespace");
                match (record.get("error"), field(record, "changed")) {
                    (Some(error), _) => {
                        let why = Safe(text(error, "message"));
                        writeln!(out, "{namespace:<20}  refused: {why}")
                    }
                    (None, Json::Bool(true)) => writeln!(out, "{namespace:<20}  changed"),
                    (None, _) => writeln!(out, "{namespace:<20}  as it was"),
                }
            })
        },
    )?;
    Ok(if answer == Answer::Done && !all_taken {
        Answer::No
    } else {
        answer
    })
}

/// The most that is read of a file.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file, or standard input.
pub(crate) fn read(file: &str) -> anyhow::Result<String> {
    let input: Box<dyn Read> = if file == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| UnreadableInput::new(file))?)
    };
    let mut text = String::new();
    input
        .take(MAX_BYTES)
        .read_to_string(&mut text)
        .with_context(|| UnreadableInput::new(file))?;
    Ok(text)
}

/// A day, or a time in RFC 3339.
fn date(text: &str) -> Result<u64, String> {
    parse_rfc3339(&format!("{text}T00:00:00Z"))
        .or_else(|| parse_rfc3339(text))
        .ok_or_else(|| {
            format!("`{text}` is neither a day (2027-01-31) nor a time (2027-01-31T12:00:00Z)")
        })
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
