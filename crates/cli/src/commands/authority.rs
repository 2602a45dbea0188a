//! `handfast authority`: who may name what.

use std::io::{self, Write};

use clap::{Args, Subcommand, ValueEnum};
use handfast_id::CaseRule;
use handfast_registry::{
    Authority, AuthorityAction, AuthorityChange, AuthorityPath, NewAuthority, Persistence,
    Principal, Registry, RegistryError, Role, json,
};
use serde_json::{Map, Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::folder::Data;
use crate::terminal::output::Output;

/// Prefixes and naming authorities
///
/// AUTHORITY is a prefix (20.500), 0.NA/PREFIX, urn:NID (the root of a namespace), urn:NID:PATH,
/// info:NAMESPACE or ark:NAAN. WHO is an account or INDEX:HANDLE.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create an authority
    Create {
        #[command(flatten)]
        on: On,
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
        on: On,
    },
    /// Ask for an authority, which a lead of its parent approves
    Request {
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        about: About,
        #[command(flatten)]
        policy: PolicyOptions,
        /// Create the account of --as if there is none; it cannot log in before it has a token
        #[arg(long, requires = "who")]
        create: bool,
    },
    /// Approve a request: whoever asked becomes its admin
    Approve {
        #[command(flatten)]
        on: On,
    },
    /// Decline a request, or take your own back
    Decline {
        #[command(flatten)]
        on: On,
    },
    /// Grant a role on an authority and everything below it
    Grant {
        #[command(flatten)]
        on: On,
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
        on: On,
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
        on: On,
        #[command(flatten)]
        about: About,
        #[command(flatten)]
        policy: PolicyOptions,
    },
    /// Hand an authority to someone, who becomes its only admin
    Transfer {
        #[command(flatten)]
        on: On,
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
        on: On,
        /// Let the authorities below it go on naming
        #[arg(long)]
        keep_children: bool,
    },
}

/// Which authority, and who asks.
#[derive(Args)]
pub(crate) struct On {
    /// The authority
    pub(crate) authority: String,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// What people read of an authority.
#[derive(Args)]
pub(crate) struct About {
    /// A title for the public register
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// What its names mean
    #[arg(long)]
    pub(crate) meaning: Option<String>,
    /// How to reach whoever runs it
    #[arg(long)]
    pub(crate) contact: Option<String>,
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

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::Create { on, about, policy } => on.change(data, "created", |registry, who| {
                let new = new_authority(about, policy);
                let (_, declined) = registry.create_authority_over(who, &on.authority, new)?;
                if let Some(by) = declined {
                    on.output.note(&declined_request(&by.to_string()));
                }
                Ok(())
            }),
            Self::List { output } => output.print(
                data.open().and_then(|registry| {
                    let authorities = registry.authorities_and_requests()?;
                    Ok((registry, authorities))
                }),
                |(registry, authorities)| {
                    let rules = registry.rules();
                    let all = authorities.iter();
                    all.map(|authority| json::authority(authority, &rules))
                        .collect::<Json>()
                },
                |(_, authorities), out| {
                    authorities.iter().try_for_each(|authority| {
                        let status = authority.status.as_str();
                        writeln!(
                            out,
                            "{:<32}  {status:<9}  {}",
                            authority.path,
                            Safe(&authority.title)
                        )
                    })
                },
            ),
            Self::Show { on } => on.output.print(
                data.open().and_then(|registry| {
                    let authority = registry.authority(&on.who(), &on.authority)?;
                    Ok((registry, authority))
                }),
                |(registry, authority)| json::authority(authority, &registry.rules()),
                |(registry, authority), out| {
                    let case = authority.case_rule(&registry.rules());
                    for_people(authority, case, out)
                },
            ),
            Self::Request {
                on,
                about,
                policy,
                create,
            } => on.change(data, "requested", |registry, who| {
                if *create {
                    create_missing_account(registry, who)?;
                }
                let new = new_authority(about, policy);
                registry
                    .request_authority(who, &on.authority, new)
                    .map(|_| ())
            }),
            Self::Approve { on } => on.change(data, "approved", |registry, who| {
                registry.approve_authority(who, &on.authority)
            }),
            Self::Decline { on } => on.change(data, "declined", |registry, who| {
                registry.decline_authority(who, &on.authority)
            }),
            Self::Grant {
                on,
                to,
                role,
                create,
            } => on.change(data, "granted", |registry, who| {
                let grant = AuthorityAction::Grant {
                    to: to.clone(),
                    role: *role,
                    creates_account: *create,
                };
                registry.act_on_authority(who, &on.authority, None, grant)
            }),
            Self::Revoke { on, from, role } => on.change(data, "revoked", |registry, who| {
                registry.revoke(who, &on.authority, from, *role)
            }),
            Self::Policy { on, about, policy } => on.change(data, "changed", |registry, who| {
                registry.change_authority(who, &on.authority, change(about, policy))
            }),
            Self::Transfer { on, to, create } => on.change(data, "transferred", |registry, who| {
                let transfer = AuthorityAction::Transfer {
                    to: to.clone(),
                    creates_account: *create,
                };
                registry.act_on_authority(who, &on.authority, None, transfer)
            }),
            Self::Retire { on, keep_children } => on.change(data, "retired", |registry, who| {
                let keep_children = *keep_children;
                let action = AuthorityAction::Retire { keep_children };
                registry.act_on_authority(who, &on.authority, None, action)
            }),
        }
    }
}

impl PolicyOptions {
    /// What is said of it, as in JSON.
    pub(crate) fn as_json(&self) -> Map<String, Json> {
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

impl On {
    /// Whether it is said who asks.
    pub(crate) fn is_someone(&self) -> bool {
        self.who.is_some()
    }

    fn who(&self) -> Principal {
        self.who.clone().unwrap_or(Principal::Operator)
    }

    /// Changes an authority and says what was done, with how it is now in JSON.
    fn change(
        &self,
        data: &Data,
        done: &str,
        change: impl FnOnce(&Registry, &Principal) -> Result<(), RegistryError>,
    ) -> anyhow::Result<Answer> {
        let who = self.who();
        let outcome = data.open().and_then(|registry| {
            // The authority that is acted on may be written otherwise than it is named.
            let path = AuthorityPath::parse(&self.authority, &registry.rules())
                .map_or_else(|_| self.authority.clone(), |path| path.to_string());
            change(&registry, &who)?;
            // One that was declined is not there any more.
            let authority = registry.authority(&who, &self.authority).ok();
            let path = authority
                .as_ref()
                .map_or(path, |authority| authority.path.to_string());
            let said = authority.map(|authority| json::authority(&authority, &registry.rules()));
            Ok((path, said))
        });
        self.output.print(
            outcome,
            |(path, said)| {
                let gone = || json!({"authority": path, "status": "declined"});
                said.clone().unwrap_or_else(gone)
            },
            |(path, _), out| writeln!(out, "{done} {path}"),
        )
    }
}

/// Creates the account that asks, as the operator, who runs this command.
fn create_missing_account(registry: &Registry, who: &Principal) -> Result<(), RegistryError> {
    let Principal::Account(name) = who else {
        return Ok(());
    };
    match registry.create_account(&Principal::Operator, name, "") {
        Err(RegistryError::Policy {
            code: "account-exists",
            ..
        }) => Ok(()),
        created => created,
    }
}

/// What is said when an authority was created for which somebody had asked.
pub(crate) fn declined_request(by: &str) -> String {
    format!("the request of {by} for it is declined: grant them a role if they are to have one")
}

fn new_authority(about: &About, policy: &PolicyOptions) -> NewAuthority {
    NewAuthority {
        title: about.title.clone().unwrap_or_default(),
        meaning: about.meaning.clone().unwrap_or_default(),
        contact: about.contact.clone().unwrap_or_default(),
        change: AuthorityChange {
            title: None,
            meaning: None,
            contact: None,
            ..change(about, policy)
        },
    }
}

fn change(about: &About, policy: &PolicyOptions) -> AuthorityChange {
    AuthorityChange {
        title: about.title.clone(),
        meaning: about.meaning.clone(),
        contact: about.contact.clone(),
        case_sensitive: policy
            .case
            .map(|case| matches!(case, CaseOption::Sensitive)),
        persistence: policy.persistence.map(|persistence| match persistence {
            PersistenceOption::Erasable => Persistence::Erasable,
            PersistenceOption::Permanent => Persistence::Permanent,
        }),
        cordra: policy
            .profile
            .map(|profile| matches!(profile, ProfileOption::Cordra)),
        pattern: policy
            .pattern
            .clone()
            .map(|pattern| Some(pattern).filter(|text| !text.is_empty())),
        approval: policy.approval,
        default_ttl: policy.ttl,
        expects: None,
    }
}

pub(crate) fn for_people(
    authority: &Authority,
    case: CaseRule,
    out: &mut dyn Write,
) -> io::Result<()> {
    let policy = &authority.policy;
    writeln!(out, "{}", authority.path)?;
    for (label, text) in [
        ("title", &authority.title),
        ("meaning", &authority.meaning),
        ("contact", &authority.contact),
    ] {
        if !text.is_empty() {
            writeln!(out, "  {label:<12}  {}", Safe(text))?;
        }
    }
    writeln!(out, "  {:<12}  {}", "status", authority.status.as_str())?;
    if let Some(parent) = &authority.parent {
        writeln!(out, "  {:<12}  {parent}", "parent")?;
    }
    writeln!(
        out,
        "  {:<12}  {}",
        "persistence",
        policy.persistence.as_str()
    )?;
    writeln!(
        out,
        "  {:<12}  {}",
        "case",
        if case == CaseRule::Sensitive {
            "counts"
        } else {
            "does not count"
        }
    )?;
    if policy.cordra {
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
