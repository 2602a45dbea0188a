//! `handfast namespace`: the registry of `info` namespaces.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use handfast_api::{
    ListedNamespace, Namespace, NamespaceApproval, NamespaceChange, NamespaceComment,
    NamespaceDone, NamespacePage, NamespacePolicy, NamespaceProposal, NamespaceReason,
    NamespaceRenewal, NamespaceVersion, NewComment, NewNamespacePolicy,
};
use handfast_registry::{NamespaceForm, NamespaceStatus, Principal, parse_rfc3339, rfc3339};
use hyper::header::IF_MATCH;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::namespace_form::FormOptions;
use crate::commands::namespace_view as view;
use crate::exit::{Answer, misused};
use crate::files::read_input;
use crate::remote::client::{ApiRequest, Client, encode, query, unreadable};
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
    Refuse(Reasoned),
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
    Deprecate(Reasoned),
    /// Withdraw an entry, leaving a tombstone, or take back a candidate
    Withdraw(Reasoned),
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
    History(NamespaceTarget),
    /// Show the policy of the registry, or set it from a file
    Policy {
        /// The new policy; - for standard input
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        /// Act as this account instead of the local operator
        #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse_actor)]
        who: Option<Principal>,
        #[command(flatten)]
        output: Output,
    },
    /// Take records of the original registry: its XML, or JSON like info-namespaces.json
    Import {
        /// The file; - for standard input
        file: PathBuf,
        #[command(flatten)]
        acting: Acting,
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
    #[command(flatten)]
    acting: Acting,
}

/// Who asks, and how it is done.
#[derive(Args)]
pub(crate) struct Acting {
    /// Act as this account instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse_actor)]
    who: Option<Principal>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: Output,
}

/// Which entry, and a reason.
#[derive(Args)]
pub(crate) struct Reasoned {
    #[command(flatten)]
    on: NamespaceTarget,
    /// Why
    #[arg(long)]
    why: String,
}

impl NamespaceCommand {
    pub(crate) fn run(self, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::List {
                text,
                status,
                historical,
                output,
            } => {
                let query = query([
                    ("q", text),
                    ("status", status.map(|status| status.to_string())),
                    ("historical", historical.map(|is| is.to_string())),
                ]);
                let namespaces: Vec<ListedNamespace> =
                    client.pages("/namespaces", &query, "namespaces")?;
                let page = NamespacePage {
                    total: namespaces.len(),
                    namespaces,
                    next: None,
                };
                output.print(&page, |out| view::list(&page.namespaces, out))
            }
            Self::Show { namespace, output } => {
                let entry: Namespace = client.get(&path(&namespace, ""))?;
                output.print(&entry, |out| view::entry(&entry, out))
            }
            Self::Propose { on, form, why } => {
                let empty = NamespaceForm {
                    namespace: on.namespace.clone(),
                    ..NamespaceForm::default()
                };
                let form = form.over(empty)?;
                let proposal = NamespaceProposal { form, why };
                on.send(client, "/namespaces", &proposal, "proposed")
            }
            Self::Change {
                on,
                form,
                why,
                expects,
            } => on.change(client, &form, why, expects),
            Self::Comment { on, text } => on.comment(client, text),
            Self::History(on) => {
                let client = on.acting.client(client);
                let versions: Vec<NamespaceVersion> =
                    client.pages(&path(&on.namespace, "/history"), "", "versions")?;
                let output = on.acting.output;
                output.print(&versions, |out| view::history(&versions, out))
            }
            Self::Policy { file, who, output } => {
                let client = client.acting_as(who.as_ref());
                let policy: NamespacePolicy = match &file {
                    Some(file) => {
                        let text = read_input(file)?;
                        client.send("PUT", "/namespace-policy", &NewNamespacePolicy { text })?
                    }
                    None => client.get("/namespace-policy")?,
                };
                output.print(&policy, |out| view::policy(&policy, file.is_some(), out))
            }
            Self::Import { file, acting } => import(client, &file, &acting),
            Self::Approve {
                on,
                why,
                until,
                despite,
            } => {
                let approval = NamespaceApproval {
                    despite,
                    until: until.map(rfc3339),
                    why,
                };
                on.send(client, &on.path("/approve"), &approval, "registered")
            }
            Self::Renew { on, until, why } => {
                let until = rfc3339(until);
                let renewal = NamespaceRenewal { until, why };
                on.send(client, &on.path("/renew"), &renewal, "renewed")
            }
            Self::Claim { on, why: None, .. } => {
                let path = on.acting.rehearsed(&on.path("/claim"));
                let done = on.acting.client(client).act("DELETE", &path)?;
                on.tell(&done, "no longer claimed")
            }
            Self::Claim {
                on, why: Some(why), ..
            } => on.act(client, "/claim", why, "claimed"),
            Self::Verify { on, why } => on.act(client, "/verify", why, "verified"),
            Self::Refuse(given) => given.act(client, "/refuse", "refused"),
            Self::Deprecate(given) => given.act(client, "/deprecate", "deprecated"),
            Self::Withdraw(given) => given.act(client, "/withdraw", "withdrawn"),
        }
    }
}

impl Acting {
    fn client(&self, client: Client) -> Client {
        client.acting_as(self.who.as_ref())
    }

    fn rehearsed(&self, path: &str) -> String {
        let query = if self.dry_run { "?dry-run=true" } else { "" };
        format!("{path}{query}")
    }
}

impl Reasoned {
    fn act(self, client: Client, act: &str, done: &str) -> anyhow::Result<Answer> {
        self.on.act(client, act, self.why, done)
    }
}

impl NamespaceTarget {
    fn path(&self, rest: &str) -> String {
        path(&self.namespace, rest)
    }

    fn tell(&self, said: &NamespaceDone, done: &str) -> anyhow::Result<Answer> {
        let output = self.acting.output;
        output.print(said, |out| view::done(said, done, out))
    }

    fn send(
        &self,
        client: Client,
        path: &str,
        body: &impl Serialize,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let path = self.acting.rehearsed(path);
        let said = self.acting.client(client).send("POST", &path, body)?;
        self.tell(&said, done)
    }

    /// What takes a reason.
    fn act(&self, client: Client, act: &str, why: String, done: &str) -> anyhow::Result<Answer> {
        self.send(client, &self.path(act), &NamespaceReason { why }, done)
    }

    fn comment(&self, client: Client, text: Option<String>) -> anyhow::Result<Answer> {
        let (asked, output) = (self.path("/comments"), self.acting.output);
        let client = self.acting.client(client);
        let Some(text) = text else {
            let comments: Vec<NamespaceComment> = client.get(&asked)?;
            return output.print(&comments, |out| view::comments(&comments, out));
        };
        if self.acting.dry_run {
            return Err(misused("a comment cannot be rehearsed"));
        }
        let made: NamespaceComment = client.send("POST", &asked, &NewComment { text })?;
        output.print(&made, |out| {
            let (number, namespace) = (made.comment, &self.namespace);
            writeln!(out, "comment {number} on info:{namespace}/")
        })
    }

    /// What was looked at is what is changed.
    fn change(
        &self,
        client: Client,
        form: &FormOptions,
        why: String,
        expects: Option<u64>,
    ) -> anyhow::Result<Answer> {
        let client = self.acting.client(client);
        let entry: Json = client.get(&self.path(""))?;
        let old = NamespaceForm::from_json(&entry.to_string()).map_err(|_| unreadable())?;
        let new = form.over(old.clone())?;
        let change = NamespaceChange {
            members: patch(&as_object(&old), as_object(&new)),
            why,
        };
        let version = entry.get("version").and_then(Json::as_u64);
        let version = expects.or(version).unwrap_or_default();
        let asked = self.acting.rehearsed(&self.path(""));
        let request = ApiRequest::new("PATCH", &asked).json(Some(&change));
        let said = client.ask(request.header(IF_MATCH, format!("\"{version}\"")))?;
        self.tell(&said, "changed")
    }
}

fn path(namespace: &str, rest: &str) -> String {
    // Without any, the list would be meant.
    let namespace = if namespace.is_empty() { " " } else { namespace };
    format!("/namespaces/{}{rest}", encode(namespace))
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

fn import(client: Client, file: &Path, acting: &Acting) -> anyhow::Result<Answer> {
    let client = acting.client(client);
    client.only_local(
        "records of another registry are taken where the data folder is: leave out --api there",
    )?;
    let path = acting.rehearsed("/operator/namespaces");
    let taken: Vec<Json> = client.send_text(&path, read_input(file)?)?;
    acting.output.print(&taken, |out| {
        taken.iter().try_for_each(|record| {
            let text = |pointer: &str| record.pointer(pointer).and_then(Json::as_str);
            let namespace = text("/namespace").unwrap_or_default();
            match (text("/error/message"), record.get("changed")) {
                (Some(why), _) => writeln!(out, "{namespace:<20}  refused: {}", Safe(why)),
                (None, Some(Json::Bool(true))) => writeln!(out, "{namespace:<20}  changed"),
                (None, _) => writeln!(out, "{namespace:<20}  as it was"),
            }
        })
    })?;
    let is_all = taken.iter().all(|record| record.get("error").is_none());
    Ok(Answer::all(is_all))
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
    use serde_json::json;

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
