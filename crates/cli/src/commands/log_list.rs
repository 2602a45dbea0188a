//! `handfast log list`: what has happened, newest first, page by page.

use std::io::{self, Write};

use clap::Args;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use handfast_api::{ListedEvent, ListedEventPage};
use handfast_registry::Action;

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::client::{Caller, Client, query};

/// The largest page that the API has.
const MAX_PAGE: u64 = 1_000;

/// Which events.
#[derive(Args)]
pub(crate) struct ListEventsCommand {
    /// Events of this authority, of its names, and of the authorities below it
    #[arg(long)]
    authority: Option<String>,
    /// Events of this account, or INDEX:HANDLE
    #[arg(long, value_name = "WHO")]
    account: Option<String>,
    /// Events with this action, such as withdraw or "create authority"
    #[arg(long, value_parser = actions(), hide_possible_values = true)]
    action: Option<String>,
    /// Events of this name, in any spelling
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Events of this day or time, or later: 2026-11-15 or 2026-11-15T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Events of this day or time, or earlier
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// How many events at most, the newest ones
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one())]
    limit: u64,
    #[command(flatten)]
    caller: Caller,
}

fn at_least_one() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..)
}

fn actions() -> PossibleValuesParser {
    PossibleValuesParser::new(Action::ALL.iter().map(|action| action.as_str()))
}

impl ListEventsCommand {
    /// Prints each page before the next is asked for. In JSON all of them are one list.
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        let filters = query([
            ("authority", self.authority.clone()),
            ("account", self.account.clone()),
            ("action", self.action.clone()),
            ("id", self.id.clone()),
            ("since", self.since.clone()),
            ("until", self.until.clone()),
        ]);
        let is_json = self.caller.output.is_json();
        let (mut out, mut is_first) = (io::stdout(), true);
        let (mut left, mut after) = (self.limit, None);
        loop {
            let place = query([("after", after.clone())]);
            let limit = left.min(MAX_PAGE);
            let page: ListedEventPage =
                client.get(&format!("/events?limit={limit}{filters}{place}"))?;
            for event in &page.events {
                left = left.saturating_sub(1);
                if is_json {
                    let mark = if is_first { '[' } else { ',' };
                    write!(out, "{mark}{}", serde_json::to_value(event)?)?;
                } else {
                    for_people(event, &mut out)?;
                }
                is_first = false;
            }
            // A server that does not go on would be asked for ever.
            let is_last = page.next.is_none() || page.next == after;
            if left > 0 && !is_last {
                after = page.next;
                continue;
            }
            if is_json {
                writeln!(out, "{}", if is_first { "[]" } else { "]" })?;
            }
            out.flush()?;
            if !is_last {
                let note = "there may be older events: --limit N lists more";
                self.caller.output.note(note);
            }
            return Ok(Answer::Done);
        }
    }
}

fn for_people(event: &ListedEvent, out: &mut dyn Write) -> io::Result<()> {
    let (number, time, action) = (event.event, &event.time, &event.action);
    let subject = event.name.as_deref().unwrap_or(&event.authority);
    let who = Safe(event.who.as_deref().unwrap_or("someone"));
    if subject.is_empty() {
        return writeln!(out, "event {number}  {time}  {action}  by {who}");
    }
    let subject = Safe(subject);
    writeln!(out, "event {number}  {time}  {action} {subject}  by {who}")
}
