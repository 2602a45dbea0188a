//! `handfast user`: accounts.

use clap::{Args, Subcommand};
use handfast_api::{Account, AccountChange, AccountState, Holdings, NewAccount};
use serde_json::json;

use crate::commands::access::holdings_for_people;
use crate::commands::inspect_view::Shown as Safe;
use crate::commands::user_sessions::{EndSessionsCommand, SessionsCommand};
use crate::commands::user_sign_in::{AuditCommand, InviteCommand, PasswordCommand, SignInCommand};
use crate::exit::Answer;
use crate::remote::client::{Client, encode};
use crate::terminal::output::Output;

/// Accounts, to which roles can be granted
#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// Create an account, for which tokens can be made
    Create {
        /// Its name: letters, digits and . _ @ -
        name: String,
        /// Who that is, for people
        #[arg(long, default_value = "")]
        title: String,
        /// The e-mail address of its owner
        #[arg(long, default_value = "")]
        email: String,
        /// Let it do everything, over the web too
        #[arg(long)]
        administrator: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List accounts, with the time when each was last seen
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show an account
    Show(AccountTarget),
    /// Change an account
    Set {
        /// Who that is, for people
        #[arg(long)]
        title: Option<String>,
        /// The e-mail address of its owner; an empty one removes it
        #[arg(long)]
        email: Option<String>,
        /// Whether it may do everything: true or false
        #[arg(long, value_name = "BOOL")]
        administrator: Option<bool>,
        #[command(flatten)]
        on: AccountTarget,
    },
    /// Suspend an account: its tokens count no more
    Suspend(AccountTarget),
    /// Let a suspended account act again
    Restore(AccountTarget),
    /// Print a link by which an account signs in to the console, once
    SignIn(SignInCommand),
    /// Set the password of an account: asked for twice, or a line of standard input
    Password(PasswordCommand),
    /// Create an account with a role, and print a link for the person
    Invite(InviteCommand),
    /// List where an account is signed in to the console
    Sessions(SessionsCommand),
    /// Sign an account out of the console: everywhere, or in one browser
    EndSessions(EndSessionsCommand),
    /// List who signed in when, how and from where; kept for a year
    Audit(AuditCommand),
    /// Show what an account has: roles, groups, tokens, names; for the day when its owner leaves
    Holdings(AccountTarget),
}

/// Which account.
#[derive(Args)]
pub(crate) struct AccountTarget {
    /// Its name
    name: String,
    #[command(flatten)]
    output: Output,
}

impl UserCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                name,
                title,
                email,
                administrator,
                output,
            } => {
                let new = NewAccount {
                    account: name.clone(),
                    administrator: *administrator,
                    email: email.clone(),
                    title: title.clone(),
                };
                let _: Account = client.send("POST", "/accounts", &new)?;
                output.print(&json!({ "account": name }), |out| {
                    writeln!(out, "created account {name}")
                })
            }
            Self::List { output } => {
                let accounts: Vec<Account> = client.pages("/accounts", "", "accounts")?;
                output.print(&accounts, |out| {
                    accounts.iter().try_for_each(|account| {
                        let (name, title) = (&account.account, Safe(&account.title));
                        let suspended = match account.state {
                            AccountState::Suspended => "  (suspended)",
                            AccountState::Active => "",
                        };
                        let seen = match &account.last_seen {
                            Some(time) => format!("seen {time}"),
                            None => "never seen".to_string(),
                        };
                        writeln!(out, "{name:<20}  {seen:<25}  {title}{suspended}")
                    })
                })
            }
            Self::Show(on) => {
                let account: Account = client.get(&on.path())?;
                on.output.print(&account, |out| {
                    writeln!(out, "{}", account.account)?;
                    writeln!(out, "  {:<13}  {}", "title", Safe(&account.title))?;
                    if !account.email.is_empty() {
                        writeln!(out, "  {:<13}  {}", "email", Safe(&account.email))?;
                    }
                    writeln!(out, "  {:<13}  {}", "state", account.state)?;
                    writeln!(out, "  {:<13}  {}", "created", account.created)?;
                    let seen = account.last_seen.as_deref().unwrap_or("never");
                    writeln!(out, "  {:<13}  {seen}", "last seen")?;
                    writeln!(out, "  {:<13}  {}", "administrator", account.administrator)
                })
            }
            Self::Set {
                on,
                title,
                email,
                administrator,
            } => {
                let change = AccountChange {
                    title: title.clone(),
                    email: email.clone(),
                    administrator: *administrator,
                    state: None,
                };
                on.change(client, &change, "changed")
            }
            Self::Suspend(on) => on.set(client, AccountState::Suspended, "suspended"),
            Self::Restore(on) => on.set(client, AccountState::Active, "restored"),
            Self::SignIn(command) => command.run(client),
            Self::Password(command) => command.run(client),
            Self::Invite(command) => command.run(client),
            Self::Sessions(command) => command.run(client),
            Self::EndSessions(command) => command.run(client),
            Self::Audit(command) => command.run(client),
            Self::Holdings(on) => {
                let holdings: Holdings = client.get(&format!("{}/holdings", on.path()))?;
                on.output
                    .print(&holdings, |out| holdings_for_people(&holdings, out))
            }
        }
    }
}

impl AccountTarget {
    fn path(&self) -> String {
        format!("/accounts/{}", encode(&self.name))
    }

    fn set(&self, client: &Client, state: AccountState, done: &str) -> anyhow::Result<Answer> {
        let change = AccountChange {
            state: Some(state),
            ..AccountChange::default()
        };
        self.change(client, &change, done)
    }

    fn change(
        &self,
        client: &Client,
        change: &AccountChange,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let account: Account = client.send("PATCH", &self.path(), change)?;
        self.output.print(&account, |out| {
            writeln!(out, "{done} account {}", account.account)
        })
    }
}
