//! `handfast user sessions` and `end-sessions`: where people are signed in to the console.

use clap::Args;
use handfast_api::{EndedSessions, Session};
use serde::de::IgnoredAny;

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::client::{Client, encode};
use crate::terminal::output::Output;

/// The sessions of an account.
#[derive(Args)]
pub(crate) struct SessionsCommand {
    /// The account
    name: String,
    #[command(flatten)]
    output: Output,
}

impl SessionsCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let sessions: Vec<Session> = client.get(&path_of(&self.name))?;
        self.output.print(&sessions, |out| {
            sessions.iter().try_for_each(|session| {
                let Session {
                    id,
                    created,
                    last_seen,
                    means,
                    ..
                } = session;
                let (network, agent) = (Safe(&session.network), Safe(&session.agent));
                writeln!(
                    out,
                    "{id}  since {created} by {means}, seen {last_seen}  from {network}  {agent}"
                )
            })
        })
    }
}

/// Which sessions to end.
#[derive(Args)]
pub(crate) struct EndSessionsCommand {
    /// The account
    name: String,
    /// Only this session; `user sessions` lists them
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl EndSessionsCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let (name, path) = (&self.name, path_of(&self.name));
        let done = match &self.session {
            Some(id) => {
                let path = format!("{path}/{}", encode(id));
                client.act::<IgnoredAny>("DELETE", &path)?;
                EndedSessions { ended: 1 }
            }
            None => client.act("DELETE", &path)?,
        };
        let ended = done.ended;
        self.output.print(&done, |out| {
            let word = if ended == 1 { "session" } else { "sessions" };
            writeln!(out, "ended {ended} {word} of {name}")
        })
    }
}

fn path_of(account: &str) -> String {
    format!("/accounts/{}/sessions", encode(account))
}
