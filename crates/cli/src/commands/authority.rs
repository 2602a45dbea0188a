//! `handfast authority`: who may name what.

use std::io::{self, Write};

use clap::{Args, Subcommand, ValueEnum};
use handfast_api as api;
use handfast_registry::{Principal, Role};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::text;
use crate::exit::Answer;
use crate::remote::client::{Client, Problem, encode, unreadable};
use crate::terminal::output::Output;

/// Prefixes and naming authorities
///
/// AUTHORITY is a prefix (20.500), 0.NA/PREFIX, urn:NID (the root of a namespace), urn:NID:PATH,
/// info:NAMESPACE or ark:NAAN. WHO is an account or INDEX:HANDLE.
#[derive(Subcommand)]
pub(crate) enum AuthorityCommand {
    /// Create an authority
    Create {
        #[command(flatten)]
        on: AuthorityTarget,
        #[command(flatten)]
        about: About,
        #[command(flatten)]
        policy: PolicyOptions,
    },
    /// List all authorities
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show an authority: policy and grants
    Show {
        #[command(flatten)]
        on: AuthorityTarget,
    },
    /// Ask for an authority, which a lead of its parent approves
    Request {
        #[command(flatten)]
        on: AuthorityTarget,
        #[command(flatten)]
        about: About,
        #[command(flatten)]
        policy: PolicyOptions,
        /// Create the account of --as if there is none; it cannot log in before it has a token
        #[arg(long, requires = "who")]
        create: bool,
    },
    /// Approve a request: the account that asked becomes its admin
    Approve {
        #[command(flatten)]
        on: AuthorityTarget,
    },
    /// Decline a request, or take your own back
    Decline {
        #[command(flatten)]
        on: AuthorityTarget,
    },
    /// Grant a role on an authority and everything below it
    Grant {
        #[command(flatten)]
        on: AuthorityTarget,
        /// To whom: an account, or INDEX:HANDLE
        #[arg(long, value_name = "WHO", value_parser = Principal::parse)]
        to: Principal,
        /// read, write, lead or admin
        #[arg(long)]
        role: Role,
        /// Create the account if there is none; it cannot log in before it has a token
        #[arg(long)]
        create: bool,
    },
    /// Take a role away
    Revoke {
        #[command(flatten)]
        on: AuthorityTarget,
        /// From whom
        #[arg(long = "from", alias = "to", value_name = "WHO", value_parser = Principal::parse)]
        from: Principal,
        /// The role, if only that one is to go
        #[arg(long)]
        role: Option<Role>,
    },
    /// Change title, contact or policy
    Policy {
        #[command(flatten)]
        on: AuthorityTarget,
        #[command(flatten)]
        about: About,
        #[command(flatten)]
        policy: PolicyOptions,
    },
    /// Hand an authority to someone, who becomes its only admin
    Transfer {
        #[command(flatten)]
        on: AuthorityTarget,
        /// To whom: an account, or INDEX:HANDLE
        #[arg(long, value_name = "WHO", value_parser = Principal::parse)]
        to: Principal,
        /// Create the account if there is none; it cannot log in before it has a token
        #[arg(long)]
        create: bool,
    },
    /// Retire an authority and those below it: their names keep resolving, nothing new is named
    Retire {
        #[command(flatten)]
        on: AuthorityTarget,
        /// Let the authorities below it go on naming
        #[arg(long)]
        keep_children: bool,
    },
}

/// Which authority, and who asks.
#[derive(Args)]
pub(crate) struct AuthorityTarget {
    /// The authority
    authority: String,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

/// What people read of an authority.
#[derive(Args)]
pub(crate) struct About {
    /// A title for the public register
    #[arg(long)]
    title: Option<String>,
    /// What its names mean
    #[arg(long)]
    meaning: Option<String>,
    /// How to reach the people who run it
    #[arg(long)]
    contact: Option<String>,
}

/// How names are given.
#[derive(Args)]
pub(crate) struct PolicyOptions {
    /// Whether a name may ever be given again
    #[arg(long)]
    persistence: Option<PersistenceOption>,
    /// What form its names have
    #[arg(long)]
    profile: Option<ProfileOption>,
    /// Whether case counts in its names
    #[arg(long)]
    case: Option<CaseOption>,
    /// What local names must match as a whole; an empty one lifts the demand
    #[arg(long, value_name = "RE")]
    pattern: Option<String>,
    /// Whether new names wait until a lead activates them
    #[arg(long)]
    approval: Option<bool>,
    /// The TTL of new values, in seconds
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum PersistenceOption {
    Permanent,
    Erasable,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProfileOption {
    Handle,
    Cordra,
}

#[derive(Clone, Copy, ValueEnum)]
enum CaseOption {
    Insensitive,
    Sensitive,
}

impl AuthorityCommand {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::List { output } => list(&client, *output),
            Self::Create { on, about, policy } => {
                let body = described(about, policy, Some((&on.authority, false)));
                let client = on.client(client);
                let said = client.ask("POST", "/authorities", Some(&body));
                let declined = said.as_ref().ok();
                let declined = declined.and_then(|said| said.get("declined-request-of")?.as_str());
                if let Some(by) = declined {
                    on.output.note(&format!(
                        "the request of {by} for it is declined: \
                         grant them a role if they are to have one"
                    ));
                }
                on.tell(said.map(without_declined_request), "created")
            }
            Self::Request {
                on,
                about,
                policy,
                create,
            } => {
                if *create && let Err(problem) = on.create_missing_account(&client) {
                    return problem.tell(on.output);
                }
                let body = described(about, policy, Some((&on.authority, true)));
                let said = on.client(client).ask("POST", "/authorities", Some(&body));
                on.tell(said, "requested")
            }
            Self::Show { on } => {
                let said = on.ask(client, "GET", "", None).and_then(|said| {
                    let authority = api::Authority::deserialize(&said);
                    Ok((authority.map_err(|_| unreadable())?, said))
                });
                on.output.show_as(
                    said,
                    |(_, said)| said.clone(),
                    |(authority, _), out| for_people(authority, out),
                )
            }
            Self::Approve { on } => on.act(client, "POST", "/approve", None, "approved"),
            Self::Decline { on } => {
                // Once it is declined nothing says how it is written.
                let client = on.client(client);
                let path = format!("/authorities/{}", encode(&on.authority));
                let shown = client.ask("GET", &path, None).ok();
                let written = shown
                    .as_ref()
                    .and_then(|shown| shown.get("authority")?.as_str());
                let gone = json!({
                    "authority": written.unwrap_or(&on.authority),
                    "status": "declined",
                });
                let said = client.ask("POST", &format!("{path}/decline"), None);
                on.tell(said.map(|_| gone), "declined")
            }
            Self::Retire { on, keep_children } => {
                let rest = if *keep_children {
                    "/retire?keep-children=true"
                } else {
                    "/retire"
                };
                on.act(client, "POST", rest, None, "retired")
            }
            Self::Policy { on, about, policy } => {
                let body = described(about, policy, None);
                on.act(client, "PATCH", "", Some(&body), "changed")
            }
            Self::Transfer { on, to, create } => {
                let body = json!({"to": to.to_string(), "create": create});
                on.act(client, "POST", "/transfer", Some(&body), "transferred")
            }
            Self::Grant {
                on,
                to,
                role,
                create,
            } => {
                let rest = format!("/grants/{}", encode(&to.to_string()));
                let body = json!({"role": role.as_str(), "create": create});
                on.act(client, "PUT", &rest, Some(&body), "granted")
            }
            Self::Revoke { on, from, role } => {
                let only = role.map(|role| format!("?role={}", role.as_str()));
                let only = only.unwrap_or_default();
                let rest = format!("/grants/{}{only}", encode(&from.to_string()));
                on.act(client, "DELETE", &rest, None, "revoked")
            }
        }
    }
}

impl AuthorityTarget {
    fn client(&self, client: Client) -> Client {
        client.acting_as(self.who.as_ref())
    }

    /// Creates the account that asks, as the operator, who runs this command.
    fn create_missing_account(&self, client: &Client) -> Result<(), Problem> {
        let Some(Principal::Account(name)) = self.who.as_ref().filter(|_| !client.is_remote())
        else {
            return Ok(());
        };
        match client.ask("POST", "/accounts", Some(&json!({ "account": name }))) {
            Err(problem) if !problem.has_code("account-exists") => Err(problem),
            _ => Ok(()),
        }
    }

    fn ask(
        &self,
        client: Client,
        method: &str,
        rest: &str,
        body: Option<&Json>,
    ) -> Result<Json, Problem> {
        let path = format!("/authorities/{}{rest}", encode(&self.authority));
        self.client(client).ask(method, &path, body)
    }

    /// Changes an authority and says what was done, with how it is now in JSON.
    fn act(
        &self,
        client: Client,
        method: &str,
        rest: &str,
        body: Option<&Json>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        self.tell(self.ask(client, method, rest, body), done)
    }

    fn tell(&self, said: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
        self.output.show(said, |said, out| {
            writeln!(out, "{done} {}", text(said, "authority"))
        })
    }
}

fn list(client: &Client, output: Output) -> anyhow::Result<Answer> {
    let all = client.pages("/authorities", "authorities");
    output.show_as(
        all,
        |all| Json::Array(all.clone()),
        |all, out| {
            all.iter().try_for_each(|authority| {
                let (path, status) = (text(authority, "authority"), text(authority, "status"));
                let title = text(authority, "title");
                writeln!(out, "{path:<32}  {status:<9}  {}", Safe(title))
            })
        },
    )
}

/// An authority that was created is printed as any other; the request that made way for it is a
/// note.
fn without_declined_request(mut said: Json) -> Json {
    if let Json::Object(said) = &mut said {
        said.remove("declined-request-of");
    }
    said
}

impl PolicyOptions {
    /// What is said of it, as in JSON.
    fn as_json(&self) -> Map<String, Json> {
        let word = |is_first: bool, words: [&'static str; 2]| {
            let [first, second] = words;
            Json::from(if is_first { first } else { second })
        };
        let case = self.case.map(|case| {
            word(
                matches!(case, CaseOption::Sensitive),
                ["sensitive", "insensitive"],
            )
        });
        let persistence = self.persistence.map(|persistence| {
            let is_erasable = matches!(persistence, PersistenceOption::Erasable);
            word(is_erasable, ["erasable", "permanent"])
        });
        let profile = self.profile.map(|profile| {
            word(
                matches!(profile, ProfileOption::Cordra),
                ["cordra", "handle"],
            )
        });
        let said = [
            ("case", case),
            ("persistence", persistence),
            ("profile", profile),
            ("pattern", self.pattern.clone().map(Json::from)),
            ("approval", self.approval.map(Json::from)),
            ("ttl", self.ttl.map(Json::from)),
        ];
        let said = said.into_iter();
        said.filter_map(|(name, said)| Some((name.to_string(), said?)))
            .collect()
    }
}

/// What is said of an authority, as the API takes it.
fn described(about: &About, policy: &PolicyOptions, new: Option<(&str, bool)>) -> Json {
    let mut body = Map::new();
    let texts = [
        ("title", &about.title),
        ("meaning", &about.meaning),
        ("contact", &about.contact),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            body.insert(name.into(), text.as_str().into());
        }
    }
    let policy = policy.as_json();
    if !policy.is_empty() {
        body.insert("policy".into(), policy.into());
    }
    if let Some((authority, is_request)) = new {
        body.insert("authority".into(), authority.into());
        body.insert("request".into(), is_request.into());
    }
    Json::Object(body)
}

fn for_people(authority: &api::Authority, out: &mut dyn Write) -> io::Result<()> {
    let policy = &authority.policy;
    writeln!(out, "{}", authority.authority)?;
    for (label, text) in [
        ("title", &authority.title),
        ("meaning", &authority.meaning),
        ("contact", &authority.contact),
    ] {
        if !text.is_empty() {
            writeln!(out, "  {label:<12}  {}", Safe(text))?;
        }
    }
    writeln!(out, "  {:<12}  {}", "status", authority.status)?;
    if let Some(parent) = &authority.parent {
        writeln!(out, "  {:<12}  {parent}", "parent")?;
    }
    writeln!(out, "  {:<12}  {}", "persistence", policy.persistence)?;
    writeln!(
        out,
        "  {:<12}  {}",
        "case",
        if policy.case == api::CaseRule::Sensitive {
            "counts"
        } else {
            "does not count"
        }
    )?;
    if policy.profile == api::ShownProfile::Cordra {
        writeln!(out, "  {:<12}  CORDRA identifiers", "names")?;
    }
    if let Some(pattern) = &policy.pattern {
        writeln!(out, "  {:<12}  {pattern}", "pattern")?;
    }
    if policy.approval {
        writeln!(out, "  {:<12}  new names wait for a lead", "approval")?;
    }
    for grant in &authority.grants {
        writeln!(out, "  {:<12}  {} is {}", "grant", grant.to, grant.role)?;
    }
    Ok(())
}
