//! `handfast name … --server`: the same over the handle protocol.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use handfast_client::{Client, ClientError, Creation, Query};
use handfast_id::{Standard, recognise};
use handfast_registry::{NewValue, Principal};
use handfast_wire::{Admin, AdminPermissions, Codec, Permissions, Reference, ResponseCode, Value};
use serde_json::json;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{NameCommand, NameTarget, Values};
use crate::commands::resolve::{as_json, for_people};
use crate::exit::Answer;
use crate::remote::handle_server::{Connection, fail, handle_of, wait};
use crate::terminal::output::Output;

/// Runs a command at the server that it names; `None` if it names none, or can name none.
pub(crate) fn run(command: &NameCommand) -> Option<anyhow::Result<Answer>> {
    let connection = command.connection()?;
    if connection.is_loose() {
        let problem = "--way, --key and --secret-file are for a server: give --server HOST:PORT";
        return Some(Ok(command.output().misused(problem)));
    }
    connection.server.as_ref()?;
    at_server(command, connection)
}

fn at_server(command: &NameCommand, connection: &Connection) -> Option<anyhow::Result<Answer>> {
    let no = |on: &NameTarget, what: &str| {
        let problem =
            format!("{what} cannot be said in the handle protocol: do it where the name is stored");
        Ok(on.output.misused(&problem))
    };
    Some(match command {
        NameCommand::Create {
            on, reserve: true, ..
        } => no(on, "--reserve"),
        NameCommand::Create { on, values, .. } => create(&At { on, connection }, values),
        NameCommand::Show {
            on, at: Some(_), ..
        } => no(on, "--at"),
        NameCommand::Show { on, at: None, .. } => show(&At { on, connection }),
        NameCommand::List {
            authority,
            who,
            output,
            ..
        } => list(authority, who.as_ref(), connection, *output),
        NameCommand::Set {
            on, values, remove, ..
        } => set(&At { on, connection }, values, remove),
        NameCommand::Withdraw {
            on,
            reason,
            successor,
            ..
        } => match (reason.is_empty(), successor) {
            (false, _) => no(on, "--reason"),
            (true, Some(_)) => no(on, "--successor"),
            (true, None) => withdraw(&At { on, connection }),
        },
        // The handle protocol has no words for these, and they offer no --server.
        NameCommand::Activate { .. }
        | NameCommand::Restore { .. }
        | NameCommand::Transfer { .. }
        | NameCommand::Erase { .. }
        | NameCommand::History { .. }
        | NameCommand::Undo { .. } => return None,
    })
}

/// A name at a server.
struct At<'c> {
    on: &'c NameTarget,
    connection: &'c Connection,
}

/// The creator of a handle may change it later only if a value of it says so: such a value is
/// added unless there is one.
fn create(at: &At<'_>, values: &Values) -> anyhow::Result<Answer> {
    // CID-14: what would be cut off is refused before anybody is asked.
    if let Ok(found) = recognise(&at.on.id, &Standard)
        && let Err(error) = found.check_whole(&Standard)
    {
        let problem = format!("{}: {error}: {}", at.on.id, error.remedy());
        return Ok(at.on.output.misused(&problem));
    }
    change(at, "created", async |client, handle| {
        let mut all = with_urls(given(values)?, &values.urls, &[]);
        let has_admin = all.iter().any(|value| value.is_type("HS_ADMIN"));
        if let (Some(Principal::Identity { index, handle }), false) = (&at.on.who, has_admin) {
            let admin = Admin {
                permissions: AdminPermissions::ALL,
                administrator: Reference::new(handle, *index),
            };
            let is_taken = |index: &u32| all.iter().any(|value| value.index == *index);
            let index = (100..10_000).find(|index| !is_taken(index)).unwrap_or(100);
            all.push(Value::new(index, "HS_ADMIN", &admin.to_bytes()).into_owned());
        }
        let created = client.create(handle, &all, Creation::default()).await?;
        Ok(created.handle)
    })
}

/// What is given is read first, because it may leave out what is to stay. Values are put in one
/// request and removed in another: the protocol has none that does both.
fn set(at: &At<'_>, values: &Values, remove: &[u32]) -> anyhow::Result<Answer> {
    if remove.is_empty() && values.urls.is_empty() && values.is_empty() {
        let problem = "nothing to set: give --url, --value or --remove";
        return Ok(at.on.output.misused(problem));
    }
    change(at, "changed", async |client, handle| {
        let given = values.read_whole().map_err(ChangeProblem::Usage)?;
        let query = Query {
            includes_restricted: true,
            ..Query::all()
        };
        let old = match client.resolve(handle, &query).await {
            Ok(found) => found.values,
            // A handle may have none.
            Err(error) if error.code() == Some(ResponseCode::ValuesNotFound) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let old_at = |index: u32| old.iter().find(|value| value.index == index);
        // Half of a change is worse than none. What nobody may read may be there all the same.
        let missing = remove.iter().find(|index| old_at(**index).is_none());
        if let (Some(index), false) = (missing, old.is_empty()) {
            let problem = anyhow::anyhow!("{handle} has no value {index} to remove");
            return Err(ChangeProblem::Usage(problem));
        }
        let put = given
            .iter()
            .map(|new| settle(new, old_at(new.index)))
            .collect();
        let is_replaced = |value: &Value<'_>| {
            !values.urls.is_empty() && value.value_type.eq_ignore_ascii_case("URL")
        };
        let stays: Vec<u32> = old
            .iter()
            .filter(|value| !is_replaced(value) && !remove.contains(&value.index))
            .map(|value| value.index)
            .collect();
        let put = with_urls(put, &values.urls, &stays);
        let is_put = |index: &u32| put.iter().any(|value| value.index == *index);
        let replaced = old.iter().filter(|value| is_replaced(value));
        let mut gone: Vec<u32> = replaced.map(|value| value.index).collect();
        gone.extend_from_slice(remove);
        gone.sort_unstable();
        gone.dedup();
        gone.retain(|index| !is_put(index));
        if !put.is_empty() {
            client.add(handle, &put, true).await?;
        }
        if !gone.is_empty() {
            client.remove(handle, &gone).await?;
        }
        Ok(handle.to_string())
    })
}

fn withdraw(at: &At<'_>) -> anyhow::Result<Answer> {
    change(at, "withdrew", async |client, handle| {
        client.delete(handle).await?;
        Ok(handle.to_string())
    })
}

fn show(at: &At<'_>) -> anyhow::Result<Answer> {
    let (client, handle) = match prepare(at) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(at.on.output.misused(&format!("{error:#}"))),
    };
    let query = Query {
        includes_restricted: at.on.who.is_some(),
        ..Query::all()
    };
    let found = wait(async {
        let found = client.resolve(&handle, &query).await;
        client.end_sessions().await;
        found
    })?;
    match found {
        Ok(found) => at.on.output.print(Ok(found), as_json, for_people),
        Err(error) => Ok(fail(at.on.output, &error)),
    }
}

fn list(
    prefix: &str,
    who: Option<&Principal>,
    connection: &Connection,
    output: Output,
) -> anyhow::Result<Answer> {
    let client = match connection.client(who) {
        Ok(client) => client,
        Err(error) => return Ok(output.misused(&format!("{error:#}"))),
    };
    let mut out = BufWriter::new(io::stdout());
    let mut failed = None;
    let mut each = |handle: &str| {
        let line = if output.is_json() {
            json!({ "id": handle }).to_string()
        } else {
            Safe(handle).to_string()
        };
        match writeln!(out, "{line}") {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let listed = wait(client.list(prefix, &mut each))?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    out.flush()?;
    match listed {
        Ok(()) => Ok(Answer::Done),
        Err(error) => Ok(fail(output, &error)),
    }
}

/// Why a change was not made.
enum ChangeProblem {
    Client(ClientError),
    Usage(anyhow::Error),
}

impl From<ClientError> for ChangeProblem {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// Logs in, makes a change and says what was done.
fn change(
    at: &At<'_>,
    done: &str,
    change: impl AsyncFnOnce(&Client, &str) -> Result<String, ChangeProblem>,
) -> anyhow::Result<Answer> {
    let output = at.on.output;
    if at.on.who.is_none() {
        let problem = "a server wants to know who changes something: \
                       --as INDEX:HANDLE with --key FILE or --secret-file FILE";
        return Ok(output.misused(problem));
    }
    let (client, handle) = match prepare(at) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(output.misused(&format!("{error:#}"))),
    };
    let changed = wait(async {
        let changed = change(&client, &handle).await;
        client.end_sessions().await;
        changed
    })?;
    let server = at.connection.server.as_ref().map(ToString::to_string);
    match changed {
        Ok(handle) => output.print(
            Ok(handle),
            |handle| json!({"id": handle, "server": server}),
            |handle, out| {
                let server = server.as_deref().unwrap_or_default();
                writeln!(out, "{done} {} at {server}", Safe(handle))
            },
        ),
        Err(ChangeProblem::Client(error)) => Ok(fail(output, &error)),
        Err(ChangeProblem::Usage(error)) => Ok(output.misused(&format!("{error:#}"))),
    }
}

fn prepare(at: &At<'_>) -> anyhow::Result<(Client, String)> {
    let handle = handle_of(&at.on.id, &Standard)?;
    Ok((at.connection.client(at.on.who.as_ref())?, handle))
}

fn given(values: &Values) -> Result<Vec<Value<'static>>, ChangeProblem> {
    let given = values.read_whole().map_err(ChangeProblem::Usage)?;
    Ok(given.iter().map(|new| settle(new, None)).collect())
}

/// A value with what is usual, or what it had before, where nothing is said.
fn settle(new: &NewValue, old: Option<&Value<'_>>) -> Value<'static> {
    let value = Value::new(new.index, &new.value_type, &new.data);
    let usual = if value.is_type("HS_SECKEY") {
        Permissions::SECRET
    } else {
        old.map_or(Permissions::DEFAULT, |old| old.permissions)
    };
    let references = new.references.iter().cloned();
    Value {
        permissions: new.permissions.unwrap_or(usual),
        ttl: new.ttl.or(old.map(|old| old.ttl)).unwrap_or_default(),
        references: references.map(Reference::into_owned).collect(),
        ..value.into_owned()
    }
}

/// URLs at indexes 1, 2, … in order; where another value has an index, the next free one.
fn with_urls(
    mut values: Vec<Value<'static>>,
    urls: &[String],
    taken: &[u32],
) -> Vec<Value<'static>> {
    let mut index = 0;
    for url in urls {
        index += 1;
        while taken.contains(&index) || values.iter().any(|value| value.index == index) {
            index += 1;
        }
        values.push(Value::new(index, "URL", url.as_bytes()).into_owned());
    }
    values
}

impl NameCommand {
    /// Whether it is asked of a handle server.
    pub(crate) fn names_handle_server(&self) -> bool {
        let connection = self.connection();
        connection.is_some_and(|given| given.is_loose() || given.server.is_some())
    }

    /// As whom it is asked, if not as the operator.
    pub(crate) fn who(&self) -> Option<&Principal> {
        self.said().0
    }

    /// How it prints.
    pub(crate) fn output(&self) -> Output {
        self.said().1
    }

    /// Of which server it is asked, if it can be asked of one.
    fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Create { connection, .. }
            | Self::List { connection, .. }
            | Self::Set { connection, .. }
            | Self::Show { connection, .. }
            | Self::Withdraw { connection, .. } => Some(connection),
            Self::Activate { .. }
            | Self::Erase { .. }
            | Self::History { .. }
            | Self::Restore { .. }
            | Self::Transfer { .. }
            | Self::Undo { .. } => None,
        }
    }

    /// What every command says: who asks, and how it prints.
    fn said(&self) -> (Option<&Principal>, Output) {
        match self {
            Self::List { who, output, .. } => (who.as_ref(), *output),
            Self::Create { on, .. }
            | Self::Show { on, .. }
            | Self::Set { on, .. }
            | Self::Activate { on }
            | Self::Withdraw { on, .. }
            | Self::Restore { on }
            | Self::Transfer { on, .. }
            | Self::Erase { on }
            | Self::History { on, .. }
            | Self::Undo { on, .. } => (on.who.as_ref(), on.output),
        }
    }
}
