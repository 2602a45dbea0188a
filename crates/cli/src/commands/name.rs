//! `handfast name`: what is registered.

use std::io::{self, Write};
use std::str::FromStr;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use handfast_api::{
    self as api, ListedName, Name, NameChange, NewName, NewNameState, NewTombstone, NewUndo,
    Transfer,
};
use handfast_id::Handle;
use handfast_registry::{
    HistoryPoint, NewValue, Principal, check_urls, parse_rfc3339, rfc3339 as time,
};
use handfast_server::convert;
use handfast_wire::batch::{read_admin, read_list};
use handfast_wire::{Codec, Permissions, Ttl, Value, type_matches};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name_history;
use crate::exit::{Answer, misuse, misused};
use crate::files;
use crate::remote::client::{ApiRequest, Caller, Client, NOTHING, encode};
use crate::remote::handle_names;
use crate::remote::handle_server::Connection;
use crate::terminal::output::{Output, rows};

/// Names
///
/// ID is an identifier in any spelling. WHO is an account or INDEX:HANDLE.
#[derive(Subcommand)]
pub(crate) enum NameCommand {
    /// Create a name, or reserve it
    Create {
        #[command(flatten)]
        on: NameTarget,
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
        on: NameTarget,
        /// As it was after this event, or at this time (RFC 3339)
        #[arg(long, value_name = "EVENT|TIME", value_parser = parse_at)]
        at: Option<HistoryPoint>,
        #[command(flatten)]
        connection: Connection,
    },
    /// List the names under an authority
    List {
        /// The authority
        #[arg(long)]
        authority: String,
        #[command(flatten)]
        filter: ListFilter,
        #[command(flatten)]
        caller: Caller,
        #[command(flatten)]
        connection: Connection,
    },
    /// Change the values of a name; --url replaces all its URLs
    Set {
        #[command(flatten)]
        on: NameTarget,
        #[command(flatten)]
        values: Values,
        /// Remove the value at this index; may be repeated
        #[arg(long, value_name = "INDEX", help_heading = VALUES)]
        remove: Vec<u32>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Make a reserved name active
    Activate(NameTarget),
    /// Withdraw a name, leaving a tombstone
    Withdraw {
        #[command(flatten)]
        on: NameTarget,
        /// The reason, for the public tombstone. Required, except with --server, which cannot carry
        /// it
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
    Restore(NameTarget),
    /// Hand the administration of a name to someone; the name stays
    Transfer {
        #[command(flatten)]
        on: NameTarget,
        /// To whom: an account, group:NAME, or INDEX:HANDLE
        #[arg(long, value_name = "WHO", value_parser = Principal::parse)]
        to: Principal,
        /// Create the account if there is none; it cannot log in before it has a token
        #[arg(long)]
        create: bool,
    },
    /// Erase a name, under an authority where that is allowed
    Erase(NameTarget),
    /// Show who did what to a name, and when
    History {
        #[command(flatten)]
        on: NameTarget,
        /// Only up to this event, or this time (RFC 3339)
        #[arg(long, value_name = "EVENT|TIME", value_parser = parse_at)]
        at: Option<HistoryPoint>,
    },
    /// Undo a change of a name, as a new change
    Undo {
        #[command(flatten)]
        on: NameTarget,
        /// The event that made the change; by default the last one
        #[arg(long)]
        event: Option<u64>,
    },
}

/// Which name, and who asks.
#[derive(Args)]
pub(crate) struct NameTarget {
    /// The name, in any spelling
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) caller: Caller,
}

/// What a name holds.
#[derive(Args)]
pub(crate) struct Values {
    /// A URL; several keep their order
    #[arg(help_heading = VALUES, long = "url", value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Another value; @FILE in place of DATA reads it from a file. An administrator (`HS_ADMIN`) is
    /// INDEX:HANDLE, for all permissions, or INDEX:PERMISSIONS:HANDLE, a group (`HS_VLIST`)
    /// INDEX:HANDLE;INDEX:HANDLE
    #[arg(help_heading = VALUES, long = "value", value_name = "INDEX:TYPE:DATA")]
    given: Vec<GivenValue>,
    /// The permissions of a value given here, admin-read, admin-write, public-read, public-write:
    /// for example 300:1100, which secrets have anyway
    #[arg(help_heading = VALUES, long, value_name = "INDEX:PERMISSIONS")]
    permissions: Vec<ForIndex<Permissions>>,
    /// The TTL of a value given here, in seconds
    #[arg(help_heading = VALUES, long, value_name = "INDEX:SECONDS")]
    ttl: Vec<ForIndex<u32>>,
    /// Take URLs as they are, also those that no browser could follow
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

fn for_index<T: Copy>(given: &[ForIndex<T>], index: u32) -> Option<T> {
    let found = given.iter().find(|given| given.index == index);
    found.map(|found| found.item)
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
        let read = || {
            let (index, rest) = text.split_once(':')?;
            let (value_type, data) = rest.split_once(':')?;
            // The protocol knows values without a type; on a command line it is a slip.
            Some(Self {
                index: index.parse().ok()?,
                value_type: Some(value_type.to_string()).filter(|name| !name.is_empty())?,
                data: data.to_string(),
            })
        };
        read().context("a value is INDEX:TYPE:DATA, for example 5:EMAIL:someone@example.org")
    }
}

impl Values {
    /// Reads the values, and refuses URLs that are none, unless they are to be taken as they are.
    pub(crate) fn read_whole(&self) -> anyhow::Result<Vec<NewValue>> {
        let given = self.read()?;
        if !self.migrate {
            let urls = self.urls.iter().map(String::as_str);
            check_urls(urls, &given)
                .map_err(|e| anyhow!("{e}, or give --migrate to take it as it is"))?;
        }
        Ok(given)
    }

    /// Whether nothing but URLs is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The values with their data, read from files where they say so.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<NewValue>> {
        let is_given = |index: u32| self.given.iter().any(|value| value.index == index);
        let permissions = self.permissions.iter().map(|given| given.index);
        let ttls = self.ttl.iter().map(|given| given.index);
        if let Some(index) = permissions.chain(ttls).find(|index| !is_given(*index)) {
            bail!(
                "--permissions and --ttl are for values given with --value: \
                 there is none at {index}"
            );
        }
        let read = |value| self.read_one(value);
        self.given.iter().map(read).collect()
    }

    fn read_one(&self, value: &GivenValue) -> anyhow::Result<NewValue> {
        let data = match value.data.strip_prefix('@') {
            Some(file) => files::read_value(file).map_err(anyhow::Error::msg)?,
            None => written(&value.value_type, &value.data)?,
        };
        Ok(NewValue {
            permissions: for_index(&self.permissions, value.index),
            ttl: for_index(&self.ttl, value.index).map(Ttl::Relative),
            ..NewValue::new(value.index, &value.value_type, &data)
        })
    }
}

/// The data that somebody writes: of administrators and groups as batch files have them, of
/// everything else as it stands.
fn written(value_type: &str, text: &str) -> anyhow::Result<Vec<u8>> {
    if type_matches(value_type, "HS_ADMIN") {
        let admin = read_admin(text).with_context(|| {
            format!(
                "{text} is no administrator: write INDEX:HANDLE, \
                 or INDEX:PERMISSIONS:HANDLE with twelve 0 or 1, or @FILE"
            )
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

fn parse_at(text: &str) -> anyhow::Result<HistoryPoint> {
    if let Ok(number) = text.parse() {
        return Ok(HistoryPoint::Event(number));
    }
    parse_rfc3339(text).map(HistoryPoint::Time).ok_or_else(|| {
        anyhow!("give the number of an event, or a time such as 2026-11-15T12:00:00Z")
    })
}

/// An event or a time, as it is said.
pub(crate) fn at_text(at: HistoryPoint) -> String {
    match at {
        HistoryPoint::Event(number) => number.to_string(),
        HistoryPoint::Time(milliseconds) => time(milliseconds),
    }
}

impl NameCommand {
    pub(crate) fn run(self, client: Client) -> anyhow::Result<Answer> {
        if client.is_remote() && self.names_handle_server() {
            let problem =
                "--api knows who asks by a token: leave out --server, --key and --secret-file";
            return Err(misused(problem));
        }
        if let Some(outcome) = handle_names::run(&self) {
            return outcome;
        }
        match self {
            Self::Create {
                on,
                values,
                reserve,
                ..
            } => {
                let new = NewName {
                    id: on.id.clone(),
                    state: if reserve {
                        NewNameState::Reserved
                    } else {
                        NewNameState::Active
                    },
                    values: misuse(values.for_api())?,
                    urls: values.urls.clone(),
                };
                let path = values.migrating(&client, "/names");
                on.send(client, "POST", &path, Some(&new), "created")
            }
            Self::Show { on, at, .. } => {
                let query = at.map(|at| format!("?at={}", encode(&at_text(at))));
                let path = on.path(&query.unwrap_or_default());
                let name: Name = on.caller.client(client).get(&path)?;
                on.caller.output.print(&name, |out| for_people(&name, out))
            }
            Self::List {
                authority,
                filter,
                caller,
                ..
            } => list(&caller.client(client), &authority, &filter, caller.output),
            Self::Set {
                on, values, remove, ..
            } => {
                let change = NameChange {
                    remove,
                    urls: Some(values.urls.clone()).filter(|urls| !urls.is_empty()),
                    values: misuse(values.for_api())?,
                };
                if change == NameChange::default() {
                    return Err(misused(NOTHING_TO_SET));
                }
                let path = values.migrating(&client, &on.path(""));
                on.send(client, "PATCH", &path, Some(&change), "changed")
            }
            Self::Activate(on) => on.act(client, "/activate", NOTHING, "activated"),
            Self::Withdraw {
                on,
                reason,
                successor,
                ..
            } => {
                let tombstone = NewTombstone { reason, successor };
                on.act(client, "/withdraw", Some(&tombstone), "withdrew")
            }
            Self::Restore(on) => on.act(client, "/restore", NOTHING, "restored"),
            Self::Transfer { on, to, create } => {
                let to = to.to_string();
                let transfer = Transfer { create, to };
                on.act(client, "/transfer", Some(&transfer), "transferred")
            }
            Self::Undo { on, event } => {
                let undo = event.map(|_| NewUndo { event });
                on.act(client, "/undo", undo.as_ref(), "undid the change of")
            }
            Self::Erase(on) => {
                let client = on.caller.client(client);
                client.act::<IgnoredAny>("DELETE", &on.path(""))?;
                on.caller.output.print(&json!({"erased": on.id}), |out| {
                    writeln!(out, "erased {}", on.id)
                })
            }
            Self::History { on, at } => name_history::show(&on.caller.client(client), &on, at),
        }
    }
}

/// Why a change without any part is refused.
pub(crate) const NOTHING_TO_SET: &str = "nothing to set: give --url, --value or --remove";

impl Values {
    /// The path at which URLs are taken as they are, if that is wished for. A server on the network
    /// checks them always.
    fn migrating(&self, client: &Client, path: &str) -> String {
        let is_local = self.migrate && !client.is_remote();
        let query = if is_local { "?migrate=true" } else { "" };
        format!("{path}{query}")
    }

    /// Values as the API takes them.
    fn for_api(&self) -> anyhow::Result<Vec<api::NewValue>> {
        let for_api = |new: &NewValue| {
            let value = convert::value(&Value::new(new.index, &new.value_type, &new.data));
            api::NewValue {
                data: api::NewData::Data(value.data),
                index: new.index,
                permissions: new.permissions.map(|permissions| permissions.to_string()),
                ttl: match new.ttl {
                    Some(Ttl::Relative(seconds)) => Some(api::Ttl::Seconds(seconds)),
                    _ => None,
                },
                value_type: new.value_type.clone(),
                references: Vec::new(),
            }
        };
        Ok(self.read()?.iter().map(for_api).collect())
    }
}

impl NameTarget {
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/names/{}{rest}", encode(&self.id))
    }

    fn act(
        &self,
        client: Client,
        rest: &str,
        body: Option<&impl Serialize>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        self.send(client, "POST", &self.path(rest), body, done)
    }

    fn send(
        &self,
        client: Client,
        method: &str,
        path: &str,
        body: Option<&impl Serialize>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let request = ApiRequest::new(method, path).json(body);
        let name: Name = self.caller.client(client).ask(request)?;
        self.caller.output.print(&name, |out| {
            writeln!(out, "{done} {} ({})", Safe(&name.id), name.state)?;
            rows(out, 12, [("cite as", name.link.clone())])
        })
    }
}

/// Page after page.
/// Which names of an authority are listed.
#[derive(Args)]
pub(crate) struct ListFilter {
    /// List the names of the authorities below it, too
    #[arg(long, conflicts_with = "server")]
    children: bool,
    /// Only names in this state
    #[arg(
        long,
        value_name = "active|reserved|withdrawn",
        value_parser = ["active", "reserved", "withdrawn"],
        hide_possible_values = true,
        conflicts_with = "server"
    )]
    state: Option<String>,
    /// Only names that have these words, in the name or in a public value
    #[arg(long, value_name = "TEXT", conflicts_with = "server")]
    words: Option<String>,
    /// Only names that were changed at this time or later (RFC 3339)
    #[arg(long, value_name = "TIME", conflicts_with = "server")]
    changed_since: Option<String>,
}

impl ListFilter {
    fn query(&self) -> String {
        let children = self.children.then(|| "true".to_string());
        let parameters = [
            ("children", &children),
            ("state", &self.state),
            ("q", &self.words),
            ("changed-since", &self.changed_since),
        ];
        let given = parameters.into_iter().filter_map(|(name, value)| {
            let value = value.as_deref()?;
            Some(format!("&{name}={}", encode(value)))
        });
        given.collect()
    }
}

fn list(
    client: &Client,
    authority: &str,
    filter: &ListFilter,
    output: Output,
) -> anyhow::Result<Answer> {
    let mut out = io::BufWriter::new(io::stdout());
    let query = format!("&authority={}{}", encode(authority), filter.query());
    client.each_page("/names", &query, "names", |names: Vec<ListedName>| {
        for name in names {
            if output.is_json() {
                writeln!(out, "{}", serde_json::to_string(&name)?)?;
            } else {
                let link = after_id(name.link.as_ref());
                writeln!(out, "{:<9}  {}{link}", name.state, Safe(&name.id))?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(Answer::Done)
}

/// The citable link, if there is one, as it stands in a list behind a name.
pub(crate) fn after_id(link: Option<&String>) -> String {
    link.map(|link| format!("  {link}")).unwrap_or_default()
}

fn for_people(name: &Name, out: &mut dyn Write) -> io::Result<()> {
    let withdrawn = name.withdrawn.as_ref();
    let irregular = name.irregular.as_ref();
    let irregular = irregular.and_then(|_| Handle::parse(&name.id).err());
    writeln!(out, "{}", Safe(&name.id))?;
    let about = [
        ("cite as", name.link.clone()),
        ("state", Some(name.state.to_string())),
        (
            "withdrawn",
            withdrawn.map(|it| format!("{} ({})", it.reason, it.date)),
        ),
        ("use instead", withdrawn.and_then(|it| it.successor.clone())),
        ("created", Some(name.created.clone())),
        (
            "modified",
            Some(format!("{} (version {})", name.modified, name.version)),
        ),
        (
            "irregular",
            irregular.map(|error| format!("taken over as it was: {error}")),
        ),
        ("held by", name.holder.clone()),
    ];
    rows(out, 12, about)?;
    name.values
        .iter()
        .try_for_each(|value| writeln!(out, "  {}", line(value)))
}

/// A value on one line. Secrets are not shown on a terminal.
pub(crate) fn line(value: &api::Value) -> String {
    let is_secret = Value::new(value.index, &value.value_type, &[]).is_type("HS_SECKEY");
    let data = match &value.data.value {
        _ if is_secret => "(a secret)".to_string(),
        Json::String(text) => Safe(text).to_string(),
        data => data.to_string(),
    };
    format!(
        "{:<5} {:<10}  {data}",
        value.index,
        Safe(&value.value_type).to_string()
    )
}
