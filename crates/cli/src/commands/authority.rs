//! `handfast authority`: who may name what.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use handfast_api::{
    self as api, Authority, AuthorityChange, AuthorityRequest, NewAuthority, NewDecline, NewGrant,
    Person, PolicyChange, RoleReason, Transfer,
};
use handfast_registry::{Principal, Role};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::commands::access::{print_people, print_reasons, request_line};
use crate::commands::inspect_view::Shown as Safe;
use crate::exit::{Answer, Problem};
use crate::remote::client::{ApiRequest, Caller, Client, NOTHING, encode};
use crate::terminal::output::{Output, rows};
use crate::terminal::words::one_of;

/// Prefixes and naming authorities
///
/// AUTHORITY is a prefix (20.500), 0.NA/PREFIX, urn:NID (the root of a namespace), urn:NID:PATH,
/// info:NAMESPACE or ark:NAAN. WHO is an account, group:NAME or INDEX:HANDLE.
#[derive(Subcommand)]
pub(crate) enum AuthorityCommand {
    /// Create an authority
    Create(Description),
    /// List all authorities
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show an authority: policy and grants
    Show(AuthorityTarget),
    /// Ask for an authority, which a lead of its parent approves
    Request {
        #[command(flatten)]
        described: Description,
        /// Why, for the one who decides
        #[arg(long)]
        reason: Option<String>,
        /// Create the account of --as if there is none; it cannot log in before it has a token
        #[arg(long, requires = "who")]
        create: bool,
    },
    /// List the open requests for authorities that you may decide, and your own
    Requests {
        #[command(flatten)]
        caller: Caller,
    },
    /// Approve a request: the account that asked becomes its admin
    Approve(AuthorityTarget),
    /// Decline a request, or take your own back
    Decline {
        #[command(flatten)]
        on: AuthorityTarget,
        /// Why, for the one who asked
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Grant a role on an authority and everything below it
    Grant {
        #[command(flatten)]
        on: AuthorityTarget,
        /// To whom: an account, group:NAME, or INDEX:HANDLE
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
    /// Show everybody who has a role on an authority, and by which grant
    People(AuthorityTarget),
    /// Show why you, or somebody else, have a role: which grant, by whom, inherited from where
    Why {
        #[command(flatten)]
        on: AuthorityTarget,
        /// Of whom: an account, group:NAME, or INDEX:HANDLE
        #[arg(long = "who", value_name = "WHO", value_parser = Principal::parse)]
        about: Option<Principal>,
    },
    /// Change title, contact or policy
    Policy(Description),
    /// Hand an authority to someone, who becomes its only admin
    Transfer {
        #[command(flatten)]
        on: AuthorityTarget,
        /// To whom: an account, group:NAME, or INDEX:HANDLE
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
    #[command(flatten)]
    caller: Caller,
}

/// An authority, what people read of it, and how names are given.
#[derive(Args)]
pub(crate) struct Description {
    #[command(flatten)]
    on: AuthorityTarget,
    /// A title for the public register
    #[arg(long)]
    title: Option<String>,
    /// What its names mean
    #[arg(long)]
    meaning: Option<String>,
    /// How to reach the people who run it
    #[arg(long)]
    contact: Option<String>,
    /// Whether a name may ever be given again
    #[arg(long, value_parser = one_of::<api::Persistence>(&["permanent", "erasable"]))]
    persistence: Option<api::Persistence>,
    /// What form its names have
    #[arg(long, value_parser = one_of::<api::Profile>(&["handle", "cordra"]))]
    profile: Option<api::Profile>,
    /// Whether case counts in its names
    #[arg(long, value_parser = one_of::<api::CaseRule>(&["insensitive", "sensitive"]))]
    case: Option<api::CaseRule>,
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

impl AuthorityCommand {
    pub(crate) fn run(self, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::List { output } => list(&client, output),
            Self::Create(described) => {
                let (on, new) = described.new_authority(false);
                let client = on.caller.client(client);
                let mut made: Authority = client.send("POST", "/authorities", &new)?;
                // An authority that was created is printed as any other.
                if let Some(by) = made.declined_request_of.take() {
                    on.caller.output.note(&format!(
                        "the request of {by} for it is declined: \
                         grant them a role if they are to have one"
                    ));
                }
                on.tell(&made, "created")
            }
            Self::Request {
                described,
                reason,
                create,
            } => {
                let (on, new) = described.new_authority(true);
                let new = NewAuthority { reason, ..new };
                if create {
                    on.create_missing_account(&client)?;
                }
                let client = on.caller.client(client);
                on.tell(&client.send("POST", "/authorities", &new)?, "requested")
            }
            Self::Show(on) => {
                let authority: Authority = on.caller.client(client).get(&on.path(""))?;
                on.caller
                    .output
                    .print(&authority, |out| for_people(&authority, out))
            }
            Self::Approve(on) => on.act(client, "POST", "/approve", NOTHING, "approved"),
            Self::Requests { caller } => {
                let client = caller.client(client);
                let all: Vec<AuthorityRequest> = client.get("/authority-requests")?;
                caller.output.print(&all, |out| {
                    all.iter()
                        .try_for_each(|request| request_line(request, out))
                })
            }
            Self::Decline { on, reason } => on.decline(client, reason),
            Self::Retire { on, keep_children } => {
                let query = keep_children.then_some("?keep-children=true");
                let rest = format!("/retire{}", query.unwrap_or_default());
                on.act(client, "POST", &rest, NOTHING, "retired")
            }
            Self::Policy(described) => {
                let (on, new) = described.new_authority(false);
                let change = AuthorityChange {
                    contact: new.contact,
                    meaning: new.meaning,
                    policy: new.policy,
                    title: new.title,
                };
                on.act(client, "PATCH", "", Some(&change), "changed")
            }
            Self::Transfer { on, to, create } => {
                let to = to.to_string();
                let transfer = Transfer { create, to };
                on.act(client, "POST", "/transfer", Some(&transfer), "transferred")
            }
            Self::Grant {
                on,
                to,
                role,
                create,
            } => {
                let rest = format!("/grants/{}", encode(&to.to_string()));
                let role = role.to_string();
                let grant = NewGrant { create, role };
                on.act(client, "PUT", &rest, Some(&grant), "granted")
            }
            Self::People(on) => {
                let people: Vec<Person> = on.caller.client(client).get(&on.path("/people"))?;
                print_people(&people, &on.caller)
            }
            Self::Why { on, about } => {
                let about = about.as_ref().map(ToString::to_string);
                let about = about.map(|who| format!("?who={}", encode(&who)));
                let path = on.path(&format!("/why{}", about.unwrap_or_default()));
                let reasons: Vec<RoleReason> = on.caller.client(client).get(&path)?;
                print_reasons(&reasons, &on.caller)
            }
            Self::Revoke { on, from, role } => {
                let only = role.map(|role| format!("?role={role}"));
                let from = encode(&from.to_string());
                let rest = format!("/grants/{from}{}", only.unwrap_or_default());
                on.act(client, "DELETE", &rest, NOTHING, "revoked")
            }
        }
    }
}

impl AuthorityTarget {
    fn decline(self, client: Client, reason: String) -> anyhow::Result<Answer> {
        // Once it is declined nothing says how it is written.
        let client = self.caller.client(client);
        let shown = client.get::<Authority>(&self.path(""));
        let path = self.path("/decline");
        if reason.is_empty() {
            client.act::<IgnoredAny>("POST", &path)?;
        } else {
            client.send::<IgnoredAny>("POST", &path, &NewDecline { reason })?;
        }
        let written = shown.map_or(self.authority, |it| it.authority);
        let gone = json!({"authority": written, "status": "declined"});
        let output = self.caller.output;
        output.print(&gone, |out| writeln!(out, "declined {written}"))
    }

    /// Creates the account that asks, as the operator, who runs this command.
    fn create_missing_account(&self, client: &Client) -> anyhow::Result<()> {
        let Some(Principal::Account(name)) =
            self.caller.who.as_ref().filter(|_| !client.is_remote())
        else {
            return Ok(());
        };
        let made = client.send::<IgnoredAny>("POST", "/accounts", &json!({ "account": name }));
        let is_there = |error: &Problem| error.has_code("account-exists");
        match made {
            Err(error) if !error.downcast_ref().is_some_and(is_there) => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("/authorities/{}{rest}", encode(&self.authority))
    }

    fn act(
        &self,
        client: Client,
        method: &str,
        rest: &str,
        body: Option<&impl Serialize>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let path = self.path(rest);
        let request = ApiRequest::new(method, &path).json(body);
        self.tell(&self.caller.client(client).ask(request)?, done)
    }

    /// Says what was done, with how the authority is now in JSON.
    fn tell(&self, authority: &Authority, done: &str) -> anyhow::Result<Answer> {
        self.caller.output.print(authority, |out| {
            writeln!(out, "{done} {}", authority.authority)
        })
    }
}

fn list(client: &Client, output: Output) -> anyhow::Result<Answer> {
    let all: Vec<Authority> = client.pages("/authorities", "", "authorities")?;
    output.print(&all, |out| {
        all.iter().try_for_each(|one| {
            let (path, status, title) = (&one.authority, one.status, Safe(&one.title));
            writeln!(out, "{path:<32}  {status:<9}  {title}")
        })
    })
}

impl Description {
    fn new_authority(self, request: bool) -> (AuthorityTarget, NewAuthority) {
        let new = NewAuthority {
            authority: self.on.authority.clone(),
            contact: self.contact,
            meaning: self.meaning,
            policy: PolicyChange {
                approval: self.approval,
                case: self.case,
                pattern: self.pattern,
                persistence: self.persistence,
                profile: self.profile,
                ttl: self.ttl,
            },
            reason: None,
            request,
            title: self.title,
        };
        (self.on, new)
    }
}

fn for_people(authority: &Authority, out: &mut dyn Write) -> io::Result<()> {
    let policy = &authority.policy;
    let is_cordra = policy.profile == api::ShownProfile::Cordra;
    let case = match policy.case {
        api::CaseRule::Sensitive => "counts",
        api::CaseRule::Insensitive => "does not count",
    };
    let waiting = || "new names wait for a lead".to_string();
    writeln!(out, "{}", authority.authority)?;
    let about = [
        ("title", Some(authority.title.clone())),
        ("meaning", Some(authority.meaning.clone())),
        ("contact", Some(authority.contact.clone())),
        ("status", Some(authority.status.to_string())),
        ("parent", authority.parent.clone()),
        ("persistence", Some(policy.persistence.to_string())),
        ("case", Some(case.into())),
        ("names", is_cordra.then(|| "CORDRA identifiers".into())),
        ("pattern", policy.pattern.clone()),
        ("approval", policy.approval.then(waiting)),
    ];
    let grants = authority.grants.iter();
    let grants = grants.map(|grant| ("grant", Some(format!("{} is {}", grant.to, grant.role))));
    rows(out, 12, about.into_iter().chain(grants))
}
