//! `handfast name … --server`: the same over the handle protocol.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use handfast_client::{Client, Creation, Query};
use handfast_id::{Standard, recognise};
use handfast_registry::{NewValue, Principal};
use handfast_wire::{Admin, AdminPermissions, Codec, Permissions, Reference, ResponseCode, Value};
use serde_json::json;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{NOTHING_TO_SET, NameCommand, NameTarget, Values};
use crate::commands::resolve::print;
use crate::exit::{Answer, misuse, misused};
use crate::remote::client::Caller;
use crate::remote::handle_server::{Connection, failed, handle_of, wait};

/// Runs a command at the server that it names; `None` if it names none, or can name none.
pub(crate) fn run(command: &NameCommand) -> Option<anyhow::Result<Answer>> {
    let connection = command.connection()?;
    if connection.is_loose() {
        let problem = "--way, --key and --secret-file are for a server: give --server HOST:PORT";
        return Some(Err(misused(problem)));
    }
    connection.server.as_ref()?;
    at_server(command, connection)
}

fn at_server(command: &NameCommand, connection: &Connection) -> Option<anyhow::Result<Answer>> {
    let no = |what: &str| {
        Err(misused(format!(
            "{what} cannot be said in the handle protocol: do it where the name is stored"
        )))
    };
    Some(match command {
        NameCommand::Create { reserve: true, .. } => no("--reserve"),
        NameCommand::Create { on, values, .. } => create(&At { on, connection }, values),
        NameCommand::Show { at: Some(_), .. } => no("--at"),
        NameCommand::Show { on, at: None, .. } => show(&At { on, connection }),
        NameCommand::List {
            authority, caller, ..
        } => list(authority, caller, connection),
        NameCommand::Set {
            on, values, remove, ..
        } => set(&At { on, connection }, values, remove),
        NameCommand::Withdraw {
            on,
            reason,
            successor,
            ..
        } => match (reason.is_empty(), successor) {
            (false, _) => no("--reason"),
            (true, Some(_)) => no("--successor"),
            (true, None) => withdraw(&At { on, connection }),
        },
        // The handle protocol has no words for these, and they offer no --server.
        _ => return None,
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
        let (id, remedy) = (&at.on.id, error.remedy());
        return Err(misused(format!("{id}: {error}: {remedy}")));
    }
    change(at, "created", async |client, handle| {
        let given = misuse(values.read_whole())?;
        let given = given.iter().map(|new| settle(new, None)).collect();
        let mut all = with_urls(given, &values.urls, &[]);
        let has_admin = all.iter().any(|value| value.is_type("HS_ADMIN"));
        if let (Some(Principal::Identity { index, handle }), false) = (&at.on.caller.who, has_admin)
        {
            let admin = Admin {
                permissions: AdminPermissions::ALL,
                administrator: Reference::new(handle, *index),
            };
            let is_taken = |index: &u32| all.iter().any(|value| value.index == *index);
            let index = (100..10_000).find(|index| !is_taken(index)).unwrap_or(100);
            all.push(Value::new(index, "HS_ADMIN", &admin.to_bytes()).into_owned());
        }
        let created = client.create(handle, &all, Creation::default()).await;
        created.map(|created| created.handle).map_err(failed)
    })
}

/// What is given is read first, because it may leave out what is to stay. Values are put in one
/// request and removed in another: the protocol has none that does both.
fn set(at: &At<'_>, values: &Values, remove: &[u32]) -> anyhow::Result<Answer> {
    if remove.is_empty() && values.urls.is_empty() && values.is_empty() {
        return Err(misused(NOTHING_TO_SET));
    }
    change(at, "changed", async |client, handle| {
        let given = misuse(values.read_whole())?;
        let query = Query {
            includes_restricted: true,
            ..Query::all()
        };
        let old = match client.resolve(handle, &query).await {
            Ok(found) => found.values,
            // A handle may have none.
            Err(error) if error.code() == Some(ResponseCode::ValuesNotFound) => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let old_at = |index: u32| old.iter().find(|value| value.index == index);
        // Half of a change is worse than none. What nobody may read may be there all the same.
        let missing = remove.iter().find(|index| old_at(**index).is_none());
        if let (Some(index), false) = (missing, old.is_empty()) {
            let problem = format!("{handle} has no value {index} to remove");
            return Err(misused(problem));
        }
        let put = given
            .iter()
            .map(|new| settle(new, old_at(new.index)))
            .collect();
        let is_replaced = |value: &&Value<'_>| {
            !values.urls.is_empty() && value.value_type.eq_ignore_ascii_case("URL")
        };
        let (replaced, stays): (Vec<_>, Vec<_>) = old.iter().partition(is_replaced);
        let stays = stays.iter().map(|value| value.index);
        let stays: Vec<u32> = stays.filter(|index| !remove.contains(index)).collect();
        let put = with_urls(put, &values.urls, &stays);
        let mut gone: BTreeSet<u32> = replaced.iter().map(|value| value.index).collect();
        gone.extend(remove);
        gone.retain(|index| !put.iter().any(|value| value.index == *index));
        if !put.is_empty() {
            client.add(handle, &put, true).await.map_err(failed)?;
        }
        if !gone.is_empty() {
            let gone: Vec<u32> = gone.into_iter().collect();
            client.remove(handle, &gone).await.map_err(failed)?;
        }
        Ok(handle.to_string())
    })
}

fn withdraw(at: &At<'_>) -> anyhow::Result<Answer> {
    change(at, "withdrew", async |client, handle| {
        client.delete(handle).await.map_err(failed)?;
        Ok(handle.to_string())
    })
}

fn show(at: &At<'_>) -> anyhow::Result<Answer> {
    let (client, handle) = misuse(prepare(at))?;
    let query = Query {
        includes_restricted: at.on.caller.who.is_some(),
        ..Query::all()
    };
    let found = wait(async {
        let found = client.resolve(&handle, &query).await;
        client.end_sessions().await;
        found
    })?;
    print(&found.map_err(failed)?, at.on.caller.output)
}

fn list(prefix: &str, caller: &Caller, connection: &Connection) -> anyhow::Result<Answer> {
    let client = misuse(connection.client(caller.who.as_ref()))?;
    let mut out = BufWriter::new(io::stdout());
    let mut unwritten = None;
    let mut each = |handle: &str| {
        let line = if caller.output.is_json() {
            json!({ "id": handle }).to_string()
        } else {
            Safe(handle).to_string()
        };
        match writeln!(out, "{line}") {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                unwritten = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let listed = wait(client.list(prefix, &mut each))?;
    if let Some(error) = unwritten {
        return Err(error.into());
    }
    out.flush()?;
    listed.map_err(failed)?;
    Ok(Answer::Done)
}

/// Logs in, makes a change and says what was done.
fn change(
    at: &At<'_>,
    done: &str,
    change: impl AsyncFnOnce(&Client, &str) -> anyhow::Result<String>,
) -> anyhow::Result<Answer> {
    if at.on.caller.who.is_none() {
        return Err(misused(
            "a server wants to know who changes something: \
             --as INDEX:HANDLE with --key FILE or --secret-file FILE",
        ));
    }
    let (client, handle) = misuse(prepare(at))?;
    let handle = wait(async {
        let changed = change(&client, &handle).await;
        client.end_sessions().await;
        changed
    })??;
    let server = at.connection.server.as_ref().map(ToString::to_string);
    let said = json!({"id": handle, "server": server});
    at.on.caller.output.print(&said, |out| {
        let server = server.as_deref().unwrap_or_default();
        writeln!(out, "{done} {} at {server}", Safe(&handle))
    })
}

fn prepare(at: &At<'_>) -> anyhow::Result<(Client, String)> {
    let handle = handle_of(&at.on.id, &Standard)?;
    Ok((at.connection.client(at.on.caller.who.as_ref())?, handle))
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

    /// Of which server it is asked, if it can be asked of one.
    fn connection(&self) -> Option<&Connection> {
        match self {
            Self::Create { connection, .. }
            | Self::List { connection, .. }
            | Self::Set { connection, .. }
            | Self::Show { connection, .. }
            | Self::Withdraw { connection, .. } => Some(connection),
            Self::Activate(_)
            | Self::Erase(_)
            | Self::History { .. }
            | Self::Restore(_)
            | Self::Transfer { .. }
            | Self::Undo { .. } => None,
        }
    }
}
