//! `handfast name`: what is registered.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use handfast_registry::{
    Edit, HistoryPoint, NameAction, NewName, NewValue, Principal, Registry, RegistryError, Shown,
    json, parse_rfc3339, rfc3339 as time,
};
use handfast_registry::{check_urls, url_problem};
use handfast_wire::batch::{read_admin, read_list};
use handfast_wire::{Codec, Permissions, Ttl, Value, json as wire_json, type_matches};
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name_history;
use crate::exit::Answer;
use crate::folder::Data;
use crate::remote::handle_names;
use crate::remote::handle_server::Connection;
use crate::terminal::console;
use crate::terminal::output::Output;

/// Names
///
/// ID is an identifier in any spelling. WHO is an account or INDEX:HANDLE.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create a name, or reserve it
    Create {
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        values: Values,
        /// Reserve it: nobody sees it until it is activated, and nobody else can have it
        #[arg(long)]
        reserve: bool,
        #[command(flatten)]
        connection: Connection,
    },
    /// Show a name, now or as it was
    Show {
        #[command(flatten)]
        on: On,
        /// As it was after this event, or at this time (RFC 3339)
        #[arg(long, value_name = "EVENT|TIME", value_parser = moment)]
        at: Option<HistoryPoint>,
        #[command(flatten)]
        connection: Connection,
    },
    /// List the names under an authority
    List {
        /// The authority
        #[arg(long)]
        authority: String,
        /// Act as this account, or INDEX:HANDLE
        #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
        who: Option<Principal>,
        #[command(flatten)]
        connection: Connection,
        #[command(flatten)]
        output: Output,
    },
    /// Change the values of a name; --url replaces all its URLs
    Set {
        #[command(flatten)]
        on: On,
        #[command(flatten)]
        values: Values,
        /// Remove the value at this index; may be repeated
        #[arg(long, value_name = "INDEX", help_heading = VALUES)]
        remove: Vec<u32>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Make a reserved name active
    Activate {
        #[command(flatten)]
        on: On,
    },
    /// Withdraw a name, leaving a tombstone
    Withdraw {
        #[command(flatten)]
        on: On,
        /// The reason, for the public tombstone. Required, except with --server, which cannot carry it
        #[arg(
            long,
            required_unless_present = "server",
            default_value = "",
            hide_default_value = true
        )]
        reason: String,
        /// What to use instead
        #[arg(long, value_name = "ID")]
        successor: Option<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Make a withdrawn name active again
    Restore {
        #[command(flatten)]
        on: On,
    },
    /// Hand the administration of a name to someone; the name stays
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
    /// Erase a name, under an authority where that is allowed
    Erase {
        #[command(flatten)]
        on: On,
    },
    /// Show who did what to a name, and when
    History {
        #[command(flatten)]
        on: On,
        /// Only up to this event, or this time (RFC 3339)
        #[arg(long, value_name = "EVENT|TIME", value_parser = moment)]
        at: Option<HistoryPoint>,
    },
    /// Undo a change of a name, as a new change
    Undo {
        #[command(flatten)]
        on: On,
        /// The event that made the change; by default the last one
        #[arg(long)]
        event: Option<u64>,
    },
}

impl Command {
    /// The files in which the values are.
    pub(crate) fn value_files(&self) -> Vec<&str> {
        match self {
            Self::Create { values, .. } | Self::Set { values, .. } => values.files().collect(),
            _ => Vec::new(),
        }
    }
}

/// Which name, and who asks.
#[derive(Args)]
pub(crate) struct On {
    /// The name, in any spelling
    pub(crate) id: String,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    pub(crate) who: Option<Principal>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A URL that somebody typed. What has no scheme leads nowhere; whoever means it says `--value INDEX:URL:DATA` with
/// `--migrate`.
pub(crate) fn url(text: &str) -> Result<String, String> {
    match url_problem(text.trim()) {
        None => Ok(text.to_string()),
        Some(problem) => Err(problem),
    }
}

/// What a name holds.
#[derive(Args)]
pub(crate) struct Values {
    /// A URL; several keep their order
    #[arg(help_heading = VALUES, long = "url", value_name = "URL", value_parser = url)]
    pub(crate) urls: Vec<String>,
    /// Another value; @FILE in place of DATA reads it from a file. An administrator (`HS_ADMIN`) is INDEX:HANDLE, for all permissions, or
    /// INDEX:PERMISSIONS:HANDLE, a group (`HS_VLIST`) INDEX:HANDLE;INDEX:HANDLE
    #[arg(help_heading = VALUES, long = "value", value_name = "INDEX:TYPE:DATA")]
    given: Vec<GivenValue>,
    /// The permissions of a value given here, admin-read, admin-write, public-read, public-write: for
    /// example 300:1100, which secrets have anyway
    #[arg(help_heading = VALUES, long, value_name = "INDEX:PERMISSIONS")]
    permissions: Vec<ForIndex<Permissions>>,
    /// The TTL of a value given here, in seconds
    #[arg(help_heading = VALUES, long, value_name = "INDEX:SECONDS")]
    ttl: Vec<ForIndex<u32>>,
    /// Take values of type URL as they are, also those that no browser could follow
    #[arg(long)]
    pub(crate) migrate: bool,
}

/// Above the options that say what a name holds.
const VALUES: &str = "Values";

/// Something for the value at an index.
#[derive(Clone)]
struct ForIndex<T> {
    index: u32,
    item: T,
}

impl<T: FromStr> FromStr for ForIndex<T>
where
    T::Err: std::fmt::Display,
{
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (index, item) = text
            .split_once(':')
            .ok_or_else(|| anyhow!("begin with the INDEX and a colon"))?;
        let index = index
            .parse()
            .map_err(|_| anyhow!("`{index}` is no index"))?;
        let item = item.parse().map_err(|error| anyhow!("{error}"))?;
        Ok(Self { index, item })
    }
}

#[derive(Clone)]
struct GivenValue {
    index: u32,
    value_type: String,
    data: String,
}

impl FromStr for GivenValue {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut parts = text.splitn(3, ':');
        let form =
            || anyhow!("a value is INDEX:TYPE:DATA, for example 5:EMAIL:someone@example.org");
        let (Some(index), Some(value_type), Some(data)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(form());
        };
        let index = index.parse().map_err(|_| form())?;
        // The protocol knows values without a type; on a command line it is a slip.
        if value_type.is_empty() {
            return Err(form());
        }
        Ok(Self {
            index,
            value_type: value_type.to_string(),
            data: data.to_string(),
        })
    }
}

impl Values {
    /// Refuses URLs that are none, unless they are to be taken as they are.
    fn check(&self, urls: impl FnOnce() -> Result<(), RegistryError>) -> Result<(), RegistryError> {
        if self.migrate { Ok(()) } else { urls() }
    }

    /// Reads the values, and refuses URLs that are none.
    pub(crate) fn read_whole(&self) -> anyhow::Result<Vec<NewValue>> {
        let given = self.read()?;
        self.check(|| check_urls([], &given))?;
        Ok(given)
    }
}

impl Values {
    /// Whether nothing but URLs is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The files in which values are.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let given = self.given.iter();
        given.filter_map(|value| value.data.strip_prefix('@'))
    }

    /// The values with their data, read from files where they say so.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<NewValue>> {
        let is_given = |index: u32| self.given.iter().any(|value| value.index == index);
        let about = self
            .permissions
            .iter()
            .map(|p| p.index)
            .chain(self.ttl.iter().map(|t| t.index));
        if let Some(index) = about.into_iter().find(|index| !is_given(*index)) {
            bail!(
                "--permissions and --ttl are for values given with --value: there is none at {index}"
            );
        }
        self.given
            .iter()
            .map(|value| self.read_one(value))
            .collect()
    }

    fn read_one(&self, value: &GivenValue) -> anyhow::Result<NewValue> {
        let data = match value.data.strip_prefix('@') {
            Some(file) => console::read_value(file).map_err(anyhow::Error::msg)?,
            None => written(&value.value_type, &value.data)?,
        };
        let permissions = self
            .permissions
            .iter()
            .find(|given| given.index == value.index);
        let ttl = self.ttl.iter().find(|given| given.index == value.index);
        Ok(NewValue {
            permissions: permissions.map(|given| given.item),
            ttl: ttl.map(|given| Ttl::Relative(given.item)),
            ..NewValue::new(value.index, &value.value_type, &data)
        })
    }
}

/// The data that somebody writes: of administrators and groups as batch files have them, of everything else as it stands.
fn written(value_type: &str, text: &str) -> anyhow::Result<Vec<u8>> {
    if type_matches(value_type, "HS_ADMIN") {
        let admin = read_admin(text).with_context(|| {
            format!("{text} is no administrator: write INDEX:HANDLE, or INDEX:PERMISSIONS:HANDLE with twelve 0 or 1, or @FILE")
        })?;
        return Ok(admin.to_bytes());
    }
    if type_matches(value_type, "HS_VLIST") {
        let list = read_list(text).with_context(|| {
            format!("{text} is no group: write INDEX:HANDLE;INDEX:HANDLE, or @FILE")
        })?;
        return Ok(list.to_bytes());
    }
    Ok(text.as_bytes().to_vec())
}

fn moment(text: &str) -> anyhow::Result<HistoryPoint> {
    if let Ok(number) = text.parse() {
        return Ok(HistoryPoint::Event(number));
    }
    parse_rfc3339(text).map(HistoryPoint::Time).ok_or_else(|| {
        anyhow!("give the number of an event, or a time such as 2026-11-15T12:00:00Z")
    })
}

/// A moment as it is said.
pub(crate) fn moment_text(moment: HistoryPoint) -> String {
    match moment {
        HistoryPoint::Event(number) => number.to_string(),
        HistoryPoint::Time(milliseconds) => time(milliseconds),
    }
}

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        if let Some(outcome) = handle_names::run(self) {
            return outcome;
        }
        match self {
            Self::Create {
                on,
                values,
                reserve,
                ..
            } => {
                let given = match values.read() {
                    Ok(given) => given,
                    Err(error) => return Ok(on.output.misused(&format!("{error:#}"))),
                };
                let new = NewName {
                    urls: values.urls.clone(),
                    values: given,
                    reserve: *reserve,
                };
                on.run(data, "created", |registry, who| {
                    values.check(|| new.check_urls())?;
                    registry.create_name(who, &on.id, new)
                })
            }
            Self::Show { on, at, .. } => {
                let who = on.who();
                let show = |registry: Arc<Registry>| match at {
                    Some(moment) => registry.show_at(&who, &on.id, *moment),
                    None => registry.show(&who, &on.id),
                };
                let outcome = data.open().and_then(show);
                on.output.print(outcome, json::name, for_people)
            }
            Self::List {
                authority,
                who,
                output,
                ..
            } => {
                let who = who.as_ref().unwrap_or(&Principal::Operator);
                list(data, authority, who, *output)
            }
            Self::Set {
                on, values, remove, ..
            } => {
                let put = match values.read() {
                    Ok(put) => put,
                    Err(error) => return Ok(on.output.misused(&format!("{error:#}"))),
                };
                let edit = Edit {
                    remove: remove.clone(),
                    urls: Some(values.urls.clone()).filter(|urls| !urls.is_empty()),
                    put,
                };
                if edit.remove.is_empty() && edit.urls.is_none() && edit.put.is_empty() {
                    return Ok(on
                        .output
                        .misused("nothing to set: give --url, --value or --remove"));
                }
                on.run(data, "changed", |registry, who| {
                    values.check(|| edit.check_urls())?;
                    registry.edit_name(who, &on.id, edit)
                })
            }
            Self::Activate { on } => on.run(data, "activated", |registry, who| {
                registry.activate_name(who, &on.id)
            }),
            Self::Withdraw {
                on,
                reason,
                successor,
                ..
            } => on.run(data, "withdrew", |registry, who| {
                registry.withdraw_name(who, &on.id, reason, successor.as_deref())
            }),
            Self::Restore { on } => on.run(data, "restored", |registry, who| {
                registry.restore_name(who, &on.id)
            }),
            Self::Transfer { on, to, create } => on.run(data, "transferred", |registry, who| {
                let transfer = NameAction::Transfer {
                    to: to.clone(),
                    creates_account: *create,
                };
                let transferred = registry.change_name(who, &on.id, None, transfer)?;
                transferred.ok_or_else(|| RegistryError::NotFound(on.id.clone()))
            }),
            Self::Undo { on, event } => on.run(data, "undid the change of", |registry, who| {
                registry.undo(who, &on.id, *event)
            }),
            Self::Erase { on } => on.output.print(
                data.open()
                    .and_then(|registry| registry.erase_name(&on.who(), &on.id)),
                |()| json!({"erased": on.id}),
                |(), out| writeln!(out, "erased {}", on.id),
            ),
            Self::History { on, at } => name_history::of_folder(data, on, *at),
        }
    }
}

impl On {
    pub(crate) fn who(&self) -> Principal {
        self.who.clone().unwrap_or(Principal::Operator)
    }

    /// Changes a name and says what was done.
    fn run(
        &self,
        data: &Data,
        done: &str,
        change: impl FnOnce(&Registry, &Principal) -> Result<Shown, RegistryError>,
    ) -> anyhow::Result<Answer> {
        let outcome = data
            .open()
            .and_then(|registry| change(&registry, &self.who()));
        self.output.print(outcome, json::name, |shown, out| {
            writeln!(
                out,
                "{done} {} ({})",
                Safe(&shown.record.text),
                shown.record.state.as_str()
            )
        })
    }
}

fn list(data: &Data, authority: &str, who: &Principal, output: Output) -> anyhow::Result<Answer> {
    let mut out = io::BufWriter::new(console::stdout());
    let mut failed = None;
    let outcome = data.open().and_then(|registry| {
        registry.names(who, authority, None, &mut |shown| {
            let line = if output.is_json() {
                json::listed(&shown).to_string()
            } else {
                format!(
                    "{:<9}  {}",
                    shown.record.state.as_str(),
                    Safe(&shown.record.text)
                )
            };
            match writeln!(out, "{line}") {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match (failed, outcome) {
        (Some(error), _) => Err(error.into()),
        (None, Err(refusal)) => Ok(output.refuse(&refusal)),
        (None, Ok(())) => {
            out.flush()?;
            Ok(Answer::Done)
        }
    }
}

pub(crate) fn for_people(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let record = &shown.record;
    writeln!(out, "{}", Safe(&record.text))?;
    writeln!(out, "  {:<12}  {}", "state", record.state.as_str())?;
    if let Some(tombstone) = &record.tombstone {
        writeln!(
            out,
            "  {:<12}  {} ({})",
            "withdrawn",
            Safe(&tombstone.reason),
            time(tombstone.date)
        )?;
        if let Some(successor) = &tombstone.successor {
            writeln!(out, "  {:<12}  {}", "use instead", Safe(successor))?;
        }
    }
    writeln!(out, "  {:<12}  {}", "created", time(record.created))?;
    writeln!(
        out,
        "  {:<12}  {} (version {})",
        "modified",
        time(record.modified),
        record.version
    )?;
    if let Some(error) = record.irregularity() {
        writeln!(out, "  {:<12}  taken over as it was: {error}", "irregular")?;
    }
    if let Some(holder) = &record.holder {
        writeln!(out, "  {:<12}  {holder}", "held by")?;
    }
    record
        .values
        .iter()
        .try_for_each(|value| writeln!(out, "  {}", line(value)))
}

/// A value on one line. Secrets are not shown on a terminal.
pub(crate) fn line(value: &Value<'_>) -> String {
    let data = if value.is_type("HS_SECKEY") {
        "(a secret)".to_string()
    } else {
        let value = wire_json::value(value);
        match value.pointer("/data/value") {
            Some(Json::String(text)) => Safe(text).to_string(),
            data => data.map(ToString::to_string).unwrap_or_default(),
        }
    };
    format!(
        "{:<5} {:<10}  {data}",
        value.index,
        Safe(&value.value_type).to_string()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_scheme() {
        for text in [
            "https://example.org/",
            "ftp://a/b c",
            "mailto:desk@library.example",
            "a+b-c.1:x",
        ] {
            assert_eq!(url(text).as_deref(), Ok(text));
        }
        for text in [
            "notaurl",
            "",
            ":",
            "https:",
            "//example.org/",
            "1a:b",
            "a b:c",
            "www.example.org/a",
            "localhost:8080/a",
            "a.example:80",
        ] {
            assert!(url(text).is_err(), "{text}");
        }
    }
}
