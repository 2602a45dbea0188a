//! `handfast group`: groups of accounts.

use clap::{Args, Subcommand};
use handfast_api::{Group, NewGroup};

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::client::{Client, encode};
use crate::terminal::output::Output;

/// Groups of accounts, to which roles can be granted as group:NAME
#[derive(Subcommand)]
pub(crate) enum GroupCommand {
    /// Create a group, without members
    Create {
        /// Its name: letters, digits and . _ @ -
        name: String,
        /// What it is, for people
        #[arg(long, default_value = "")]
        title: String,
        #[command(flatten)]
        output: Output,
    },
    /// Add an account to a group: it has the roles of the group from then on
    Add(Membership),
    /// Remove an account from a group
    Remove(Membership),
    /// List groups
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a group and its members
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        output: Output,
    },
}

/// A group and an account.
#[derive(Args)]
pub(crate) struct Membership {
    /// The name of the group
    group: String,
    /// The name of the account
    account: String,
    #[command(flatten)]
    output: Output,
}

impl GroupCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                name,
                title,
                output,
            } => {
                let new = NewGroup {
                    group: bare(name).to_string(),
                    title: title.clone(),
                };
                let made: Group = client.send("POST", "/groups", &new)?;
                output.print(&made, |out| writeln!(out, "created group {}", made.group))
            }
            Self::Add(on) => on.change(client, "PUT", "added", "to"),
            Self::Remove(on) => on.change(client, "DELETE", "removed", "from"),
            Self::List { output } => {
                let groups: Vec<Group> = client.pages("/groups", "", "groups")?;
                output.print(&groups, |out| {
                    groups.iter().try_for_each(|group| {
                        let (name, title) = (&group.group, Safe(&group.title));
                        let members = group.members.len();
                        writeln!(out, "{name:<20}  {members:>5} members  {title}")
                    })
                })
            }
            Self::Show { name, output } => {
                let group: Group = client.get(&format!("/groups/{}", encode(bare(name))))?;
                output.print(&group, |out| {
                    writeln!(out, "{}", group.group)?;
                    writeln!(out, "  {:<13}  {}", "title", Safe(&group.title))?;
                    writeln!(out, "  {:<13}  {}", "created", group.created)?;
                    let mut members = group.members.iter();
                    members.try_for_each(|name| writeln!(out, "  {:<13}  {name}", "member"))
                })
            }
        }
    }
}

impl Membership {
    fn change(
        &self,
        client: &Client,
        method: &str,
        done: &str,
        whither: &str,
    ) -> anyhow::Result<Answer> {
        let (group, account) = (encode(bare(&self.group)), encode(&self.account));
        let path = format!("/groups/{group}/members/{account}");
        let group: Group = client.act(method, &path)?;
        self.output.print(&group, |out| {
            let account = &self.account;
            writeln!(out, "{done} {account} {whither} group {}", group.group)
        })
    }
}

/// The name of a group that may be written as grants write it.
fn bare(name: &str) -> &str {
    name.strip_prefix("group:").unwrap_or(name)
}
