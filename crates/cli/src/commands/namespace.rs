//! `handfast namespace`: the registry of `info` namespaces.

use std::io::Read;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, Subcommand};
use handfast_registry::{
    NamespaceAct, NamespaceEntry, NamespaceForm, NamespaceImport, NamespaceOrder, NamespaceQuery,
    NamespaceStatus, Principal, Registry, RegistryError, json, parse_rfc3339,
};
use serde_json::{Value as Json, json};

use crate::commands::namespace_form::FormOptions;
use crate::commands::namespace_view as view;
use crate::exit::{Answer, UnreadableInput};
use crate::folder::Data;
use crate::terminal::console;
use crate::terminal::output::Output;

/// The registry of info namespaces: propose, review, claim, change, withdraw
///
/// NAMESPACE is the string between `info:` and the slash. Proposals, claims and comments are by accounts
/// (--as); the operator of the registry has the role lead on the authority `info:`, its maintainer admin.
/// Whoever may write the data folder is both.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
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
        on: On,
        #[command(flatten)]
        form: Box<FormOptions>,
        /// What else the operator should know
        #[arg(long, default_value = "")]
        why: String,
    },
    /// Say something of a candidate, or, without TEXT, read what was said
    Comment {
        #[command(flatten)]
        on: On,
        /// What to say
        text: Option<String>,
    },
    /// Register a candidate; make a provisional entry permanent; reinstate a deprecated one
    Approve {
        #[command(flatten)]
        on: On,
        /// How it was verified whose the namespace is
        #[arg(long)]
        why: String,
        /// Register it provisionally, until this day (YYYY-MM-DD) or time
        #[arg(long, value_name = "DATE", value_parser = date)]
        until: Option<u64>,
        /// Why it is registered although its string is used elsewhere, or one like it
        #[arg(long, value_name = "REASON")]
        despite: Option<String>,
    },
    /// Turn down a candidate, or a claim
    Refuse {
        #[command(flatten)]
        on: On,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Say that an entry is yours
    Claim {
        #[command(flatten)]
        on: On,
        /// How that can be verified
        #[arg(long, required_unless_present = "take_back")]
        why: Option<String>,
        /// Take a claim of your own back
        #[arg(long, conflicts_with = "why")]
        take_back: bool,
    },
    /// Find that a claim is right: whoever made it owns the entry
    Verify {
        #[command(flatten)]
        on: On,
        /// How that was verified
        #[arg(long)]
        why: String,
    },
    /// Change what an entry says; unset fields stay
    Change {
        #[command(flatten)]
        on: On,
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
        on: On,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Withdraw an entry, leaving a tombstone, or take back a candidate
    Withdraw {
        #[command(flatten)]
        on: On,
        /// Why
        #[arg(long)]
        why: String,
    },
    /// Let a provisional entry go on for a while
    Renew {
        #[command(flatten)]
        on: On,
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
        on: On,
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
pub(crate) struct On {
    /// The namespace
    pub(crate) namespace: String,
    /// Act as this account instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    pub(crate) who: Option<Principal>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::List {
                text,
                status,
                historical,
                output,
            } => {
                let query = NamespaceQuery {
                    text: text.clone(),
                    status: *status,
                    historical: *historical,
                    after: None,
                    limit: usize::MAX,
                };
                let found = data
                    .open()
                    .map(|registry| (registry.namespaces(&query), registry.time()));
                let said = found.map(|(page, now)| json::namespaces(&page, now));
                output.print(said, Json::clone, view::list)
            }
            Self::Show { namespace, output } => {
                let found = data
                    .open()
                    .and_then(|registry| Ok((registry.namespace(namespace)?, registry.time())));
                let said = found.map(|(entry, now)| json::namespace(&entry, now));
                output.print(said, Json::clone, view::entry)
            }
            Self::Propose { on, form, why } => {
                let form = match form.over(on.empty_form())? {
                    Ok(form) => form,
                    Err(problem) => return Ok(on.output.misused(&problem)),
                };
                on.act(data, "proposed", NamespaceAct::Propose(Box::new(form)), why)
            }
            Self::Comment { on, text } => on.comment(data, text.as_deref()),
            Self::Approve {
                on,
                why,
                until,
                despite,
            } => {
                let order = NamespaceOrder {
                    despite: despite.clone(),
                    ..NamespaceOrder::new(NamespaceAct::Approve { until: *until }, why)
                };
                on.order(data, "registered", order)
            }
            Self::Refuse { on, why } => on.act(data, "refused", NamespaceAct::Refuse, why),
            Self::Claim { on, why, take_back } => {
                let why = why.as_deref().unwrap_or_default();
                if *take_back {
                    on.act(data, "no longer claimed", NamespaceAct::TakeBack, why)
                } else {
                    on.act(data, "claimed", NamespaceAct::Claim, why)
                }
            }
            Self::Verify { on, why } => on.act(data, "verified", NamespaceAct::Verify, why),
            Self::Change {
                on,
                form,
                why,
                expects,
            } => on.change(data, form, why, *expects),
            Self::Deprecate { on, why } => on.act(data, "deprecated", NamespaceAct::Deprecate, why),
            Self::Withdraw { on, why } => on.act(data, "withdrawn", NamespaceAct::Withdraw, why),
            Self::Renew { on, until, why } => {
                on.act(data, "renewed", NamespaceAct::Renew { until: *until }, why)
            }
            Self::History { on } => {
                let versions = data.open().and_then(|registry| {
                    registry.namespace_history(&on.who(), &on.namespace, 0, usize::MAX)
                });
                let said = versions.map(|all| all.iter().map(json::namespace_version).collect());
                on.output.print(said, Json::clone, view::history)
            }
            Self::Policy { file, who, output } => {
                policy(data, file.as_deref(), who.as_ref(), *output)
            }
            Self::Import {
                file,
                who,
                dry_run,
                output,
            } => import(data, file, who.as_ref(), *dry_run, *output),
        }
    }
}

impl On {
    fn who(&self) -> Principal {
        self.who.clone().unwrap_or(Principal::Operator)
    }

    fn act(&self, data: &Data, done: &str, act: NamespaceAct, why: &str) -> anyhow::Result<Answer> {
        self.order(data, done, NamespaceOrder::new(act, why))
    }

    fn change(
        &self,
        data: &Data,
        form: &FormOptions,
        why: &str,
        expects: Option<u64>,
    ) -> anyhow::Result<Answer> {
        let entry = match data
            .open()
            .and_then(|registry| registry.namespace(&self.namespace))
        {
            Ok(entry) => entry,
            Err(refusal) => return Ok(self.output.refuse(&refusal)),
        };
        let form = match form.over(entry.form.clone())? {
            Ok(form) => form,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        let order = NamespaceOrder {
            // What was looked at is what is changed.
            expects: expects.or(Some(entry.version)),
            ..NamespaceOrder::new(NamespaceAct::Change(Box::new(form)), why)
        };
        self.order(data, "changed", order)
    }

    /// Does something with an entry, or says what would be done, with the examples that come out differently.
    fn order(&self, data: &Data, done: &str, order: NamespaceOrder) -> anyhow::Result<Answer> {
        let who = self.who();
        let outcome = data.open().and_then(|registry| {
            let previewed = match &order.act {
                NamespaceAct::Propose(form) | NamespaceAct::Change(form) => {
                    registry.preview_namespace(form)?
                }
                NamespaceAct::Approve { .. } => match registry.namespace(&self.namespace) {
                    Ok(entry) => registry.preview_namespace(&entry.form)?,
                    Err(_) => Vec::new(),
                },
                _ => Vec::new(),
            };
            let entry = self.carry_out(&registry, &who, order)?;
            Ok((entry, previewed, registry.time()))
        });
        let said = outcome.map(|(entry, previewed, now)| {
            json::namespace_acted_on(&entry, now, &previewed, self.dry_run)
        });
        self.output
            .print(said, Json::clone, |said, out| view::done(said, done, out))
    }

    fn carry_out(
        &self,
        registry: &Registry,
        who: &Principal,
        order: NamespaceOrder,
    ) -> Result<Arc<NamespaceEntry>, RegistryError> {
        if self.dry_run {
            let entry = registry.consider_namespace(who, &self.namespace, order);
            return entry.map(Arc::new);
        }
        registry.act_on_namespace(who, &self.namespace, order)
    }

    fn comment(&self, data: &Data, text: Option<&str>) -> anyhow::Result<Answer> {
        let Some(text) = text else {
            let found = data
                .open()
                .and_then(|registry| registry.namespace_comments(&self.who(), &self.namespace));
            let said = found.map(|all| all.iter().map(json::namespace_comment).collect());
            return self.output.print(said, Json::clone, view::comments);
        };
        if self.dry_run {
            return Ok(self.output.misused(NO_REHEARSAL));
        }
        let said = data
            .open()
            .and_then(|registry| registry.comment_on_namespace(&self.who(), &self.namespace, text));
        let said = said.map(|said| json::namespace_comment(&said));
        self.output.print(said, Json::clone, |said, out| {
            view::commented(said, &self.namespace, out)
        })
    }

    /// What is proposed if nothing is said.
    pub(crate) fn empty_form(&self) -> NamespaceForm {
        NamespaceForm {
            namespace: self.namespace.clone(),
            ..NamespaceForm::default()
        }
    }
}

/// Why a comment is not tried first.
pub(crate) const NO_REHEARSAL: &str = "a comment cannot be rehearsed";

fn policy(
    data: &Data,
    file: Option<&str>,
    who: Option<&Principal>,
    output: Output,
) -> anyhow::Result<Answer> {
    let text = file.map(read).transpose()?;
    let who = who.cloned().unwrap_or(Principal::Operator);
    let outcome = data.open().and_then(|registry| match &text {
        Some(text) => registry.set_namespace_policy(&who, text),
        None => registry.namespace_policy(),
    });
    let said = outcome.map(|policy| json::namespace_policy(&policy));
    output.print(said, Json::clone, |said, out| {
        view::policy(said, text.is_some(), out)
    })
}

fn import(
    data: &Data,
    file: &str,
    who: Option<&Principal>,
    dry_run: bool,
    output: Output,
) -> anyhow::Result<Answer> {
    let text = read(file)?;
    let who = who.cloned().unwrap_or(Principal::Operator);
    let outcome = data.open().and_then(|registry| {
        let records = NamespaceImport::read(&text)?;
        if dry_run {
            registry.consider_namespaces(&who, records)
        } else {
            registry.import_namespaces(&who, records)
        }
    });
    let all_taken = outcome
        .as_ref()
        .is_ok_and(|done| done.iter().all(|record| record.outcome.is_ok()));
    let answer = output.print(
        outcome,
        |done| {
            let said = done.iter().map(|record| match &record.outcome {
                Ok(changed) => json!({"namespace": record.namespace, "changed": changed}),
                Err(refusal) => {
                    json!({"namespace": record.namespace, "error": json::refusal(refusal)})
                }
            });
            said.collect::<Json>()
        },
        |done, out| {
            done.iter().try_for_each(|record| match &record.outcome {
                Ok(true) => writeln!(out, "{:<20}  changed", record.namespace),
                Ok(false) => writeln!(out, "{:<20}  as it was", record.namespace),
                Err(refusal) => writeln!(out, "{:<20}  refused: {refusal}", record.namespace),
            })
        },
    )?;
    Ok(if answer == Answer::Done && !all_taken {
        Answer::No
    } else {
        answer
    })
}

impl Command {
    /// The file that it names.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Self::Change { form, .. } | Self::Propose { form, .. } => form.file(),
            Self::Policy { file, .. } => file.as_deref(),
            Self::Import { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// The most that is read of a file.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a file, or standard input.
pub(crate) fn read(file: &str) -> anyhow::Result<String> {
    let input: Box<dyn Read> = if file == "-" {
        console::stdin()
    } else {
        Box::new(console::open(file).with_context(|| UnreadableInput::new(file))?)
    };
    let mut text = String::new();
    input
        .take(MOST_BYTES)
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
