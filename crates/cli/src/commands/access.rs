//! `handfast access`: requests for a role; and who has which role on an authority, and why.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use handfast_api::{
    AccessRequest, AccessRequestStatus, AuthorityRequest, Holdings, NewAccessRequest, NewDecline,
    Person, RoleReason,
};
use handfast_registry::Role;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::client::{Caller, Client, encode};

/// Requests for access: ask for a role, and decide what others ask for
#[derive(Subcommand)]
pub(crate) enum AccessCommand {
    /// Ask for a role on an authority, which a lead or admin there grants
    Request {
        /// The authority
        authority: String,
        /// read, write, lead or admin
        #[arg(long)]
        role: Role,
        /// Why, for the one who decides
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        caller: Caller,
    },
    /// List the open requests that you may decide, and your own
    List {
        #[command(flatten)]
        caller: Caller,
    },
    /// Grant what a request asks for
    Grant(RequestTarget),
    /// Decline a request, or take your own back
    Decline {
        #[command(flatten)]
        on: RequestTarget,
        /// Why, for the one who asked
        #[arg(long, default_value = "")]
        reason: String,
    },
}

/// Which request, and who decides.
#[derive(Args)]
pub(crate) struct RequestTarget {
    /// Which, as `access list` calls it
    request: String,
    #[command(flatten)]
    caller: Caller,
}

impl AccessCommand {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::Request {
                authority,
                role,
                reason,
                caller,
            } => {
                let new = NewAccessRequest {
                    authority: authority.clone(),
                    reason: reason.clone(),
                    role: role.to_string(),
                };
                let client = caller.client(client);
                let made: AccessRequest = client.send("POST", "/access-requests", &new)?;
                caller.output.print(&made, |out| {
                    let (id, role, authority) = (&made.request, made.role, &made.authority);
                    writeln!(out, "requested {role} on {authority}: request {id}")
                })
            }
            Self::List { caller } => {
                let all: Vec<AccessRequest> = caller.client(client).get("/access-requests")?;
                caller.output.print(&all, |out| {
                    all.iter().try_for_each(|request| line(request, out))
                })
            }
            Self::Grant(on) => on.decide(client, "grant", &NewDecline::default(), "granted"),
            Self::Decline { on, reason } => {
                let reason = reason.clone();
                let why = NewDecline { reason };
                on.decide(client, "decline", &why, "declined")
            }
        }
    }
}

impl RequestTarget {
    fn decide(
        &self,
        client: Client,
        action: &str,
        why: &NewDecline,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        let path = format!("/access-requests/{}/{action}", encode(&self.request));
        if why.reason.is_empty() {
            client.act::<IgnoredAny>("POST", &path)?;
        } else {
            client.send::<IgnoredAny>("POST", &path, why)?;
        }
        let id = &self.request;
        let decided = json!({"request": id, "status": done});
        self.caller
            .output
            .print(&decided, |out| writeln!(out, "{done} request {id}"))
    }
}

fn line(request: &AccessRequest, out: &mut dyn Write) -> io::Result<()> {
    let (id, status) = (&request.request, request.status);
    let (account, role, authority) = (&request.account, request.role, &request.authority);
    write!(
        out,
        "{id}  {status:<8}  {}  {account} asks for {role} on {authority}",
        request.created
    )?;
    if !request.reason.is_empty() {
        write!(out, ": {}", Safe(&request.reason))?;
    }
    let declined = request.decline_reason.as_deref().unwrap_or_default();
    if request.status == AccessRequestStatus::Declined && !declined.is_empty() {
        write!(out, " (declined: {})", Safe(declined))?;
    }
    writeln!(out)
}

/// Prints a request for an authority.
pub(crate) fn request_line(request: &AuthorityRequest, out: &mut dyn Write) -> io::Result<()> {
    let (account, authority, status) = (&request.account, &request.authority, request.status);
    write!(
        out,
        "{status:<8}  {}  {account} asks for {authority}",
        request.created
    )?;
    if !request.reason.is_empty() {
        write!(out, ": {}", Safe(&request.reason))?;
    }
    let declined = request.decline_reason.as_deref().unwrap_or_default();
    if !declined.is_empty() {
        write!(out, " (declined: {})", Safe(declined))?;
    }
    writeln!(out)
}

/// Prints why somebody has a role.
pub(crate) fn print_reasons(reasons: &[RoleReason], caller: &Caller) -> anyhow::Result<Answer> {
    caller.output.print(&reasons, |out| {
        if reasons.is_empty() {
            caller
                .output
                .note("no role: `handfast access request` asks for one");
        }
        reasons
            .iter()
            .try_for_each(|reason| writeln!(out, "{}", because(reason)))
    })
}

/// Prints everybody who has a role.
pub(crate) fn print_people(people: &[Person], caller: &Caller) -> anyhow::Result<Answer> {
    caller.output.print(&people, |out| {
        people.iter().try_for_each(|person| {
            let (who, title) = (&person.who, Safe(&person.title));
            let reason = because(&person.reason);
            writeln!(out, "{who:<20}  {reason}  {title}")
        })
    })
}

/// Prints what an account has.
pub(crate) fn holdings_for_people(holdings: &Holdings, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", holdings.account.account)?;
    for granted in &holdings.roles {
        let (role, authority) = (granted.role, &granted.authority);
        let through = granted.through.as_ref();
        let through = through.map(|group| format!(" by group {group}"));
        let through = through.unwrap_or_default();
        writeln!(out, "  {:<13}  {role} on {authority}{through}", "role")?;
    }
    for group in &holdings.groups {
        writeln!(out, "  {:<13}  {group}", "group")?;
    }
    for token in &holdings.tokens {
        let (id, until, title) = (&token.token, &token.expires, Safe(&token.title));
        writeln!(out, "  {:<13}  {id}  until {until}  {title}", "token")?;
    }
    let more = if holdings.all_names_counted {
        ""
    } else {
        " or more"
    };
    writeln!(out, "  {:<13}  {}{more}", "names", holdings.names)
}

/// A reason in words.
fn because(reason: &RoleReason) -> String {
    let role = reason.role;
    let Some(authority) = &reason.authority else {
        return format!("{role:<5}  administrator");
    };
    let part = |word: &str, part: Option<&String>| {
        let part = part.map(|part| format!("{word}{}", Safe(part)));
        part.unwrap_or_default()
    };
    format!(
        "{role:<5}  granted on {authority}{}{}{}{}",
        part(" to group:", reason.through.as_ref()),
        part(" by ", reason.granted_by.as_ref()),
        part(" at ", reason.granted.as_ref()),
        part(": ", reason.reason.as_ref()),
    )
}
