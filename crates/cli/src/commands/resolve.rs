//! `handfast resolve`: the values of a handle, from here or from anywhere.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use handfast_client::{Query, Resolution, Roots, ServerAddress};
use handfast_id::{HdlUri, Standard};
use handfast_registry::{
    CitableLinks, Principal, Reading, Registry, RegistryError, State, StoreError,
};
use handfast_server::convert;
use handfast_wire::body::ResolutionRequest;
use handfast_wire::{ResponseCode, Value, json as wire_json};
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::line;
use crate::config::Config;
use crate::exit::{Answer, UnreadableInput, misuse, misused, refused};
use crate::folder::Data;
use crate::remote::handle_server::{Connection, failed, handle_of, wait};
use crate::terminal::output::{Output, rows};

const EXAMPLES: &str = "\
Examples:
  handfast resolve 20.1000/5555
  handfast resolve hdl:20.1000/5555 --server 127.0.0.1:2641 --certified
  handfast resolve 20.1000/5555 --server http://127.0.0.1:8000 --type URL
  handfast resolve doi:10.1045/april2006-paskin --root bootstrap_handles

Exit status: 0 found, 1 not found or denied, 2 wrong usage, 3 the network or the disk failed.";

/// Resolve a handle, here or at any handle server
///
/// Asks the server that is named, or with --root the server of the handle; without either, the
/// data folder. Over UDP first, then TCP, then HTTP.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Resolve {
    /// The handle, in any spelling
    id: String,
    #[command(flatten)]
    connection: Connection,
    /// Find the server from this root information: a file `root_info`, `bootstrap_handles`,
    /// `local_info` or `siteinfo.json`, or the HOST:PORT of a server of the root
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    root: Option<String>,
    /// Values of this type only; a dot at the end includes all types below it. May be repeated
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// The value at this index; may be repeated
    #[arg(long = "index", value_name = "INDEX")]
    indexes: Vec<u32>,
    /// Take an answer only if it is signed, and the signature right
    #[arg(long)]
    certified: bool,
    /// Ask a primary site
    #[arg(long)]
    authoritative: bool,
    /// Where the handle is an alias, resolve what it stands for
    #[arg(long)]
    follow_aliases: bool,
    /// Read what only administrators may, as INDEX:HANDLE
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse_actor)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

impl Resolve {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        if self.connection.server.is_none() && self.root.is_none() {
            return self.run_here(data);
        }
        let (exact, handle) = misuse(self.handles())?;
        let client = self.connection.client(self.who.as_ref());
        let mut client = misuse(client)?;
        let root = misuse(self.root())?;
        if self.certified {
            client = client.certified();
        }
        if self.authoritative {
            client = client.authoritative();
        }
        let outcome = wait(async {
            match root {
                None => {}
                Some(Root::Known(roots)) => client.set_roots(roots),
                Some(Root::At(address)) => client.set_roots(client.roots_from(&address).await?),
            }
            let mut found = None;
            if let Some(exact) = &exact {
                found = match client.resolve(exact, &self.query()).await {
                    Err(error) if error.code() == Some(ResponseCode::HandleNotFound) => None,
                    said => Some(said),
                };
            }
            let found = match found {
                Some(found) => found,
                None => client.resolve(&handle, &self.query()).await,
            };
            client.end_sessions().await;
            found
        })?;
        print(&outcome.map_err(failed)?, self.output)
    }

    /// What a server is asked for: the handle and, before it, the exact text if that goes on behind
    /// the handle with white space. A name that was taken from another server may end with it
    /// (`HDL-8`).
    fn handles(&self) -> anyhow::Result<(Option<String>, String)> {
        let handle = match (
            handle_of(&self.id, &Standard),
            HdlUri::stored_handle(&self.id),
        ) {
            (Ok(handle), _) => handle,
            (Err(_), Some(stored)) => stored.as_str().to_string(),
            (Err(error), None) => return Err(error),
        };
        let is_longer = self.id.len() > handle.len() && self.id.starts_with(&handle);
        Ok((is_longer.then(|| self.id.clone()), handle))
    }

    fn query(&self) -> Query {
        Query {
            indexes: self.indexes.clone(),
            types: self.types.clone(),
            includes_restricted: self.who.is_some(),
            follows_aliases: self.follow_aliases,
        }
    }

    /// The root information: a file that is there, or else an address.
    fn root(&self) -> anyhow::Result<Option<Root>> {
        let Some(root) = &self.root else {
            return Ok(None);
        };
        if Path::new(root).exists() {
            let file = fs::read(root).with_context(|| UnreadableInput::new(root))?;
            let roots = Roots::read(&file).with_context(|| format!("cannot use {root}"))?;
            return Ok(Some(Root::Known(roots)));
        }
        let address = root.parse::<ServerAddress>();
        let neither = || format!("--root {root} is neither a file that exists nor HOST:PORT");
        let address = address.with_context(neither);
        let address = address.with_context(|| UnreadableInput::new(root))?;
        Ok(Some(Root::At(address)))
    }

    /// From the data folder.
    fn run_here(&self, data: &Data) -> anyhow::Result<Answer> {
        let ask_server = |answer: &str| {
            misused(format!(
                "{answer}: give --server HOST:PORT, or --root with a file of root information"
            ))
        };
        if self.connection.is_loose() || self.certified {
            return Err(ask_server("this is asked of a server"));
        }
        let registry = data.open_to_read().map_err(|error| match error {
            RegistryError::Store(StoreError::NoStore { .. }) => {
                ask_server("there is no data folder here")
            }
            error => refused(error),
        })?;
        let config = Config::read(registry.folder())?;
        let rules = config.rules()?;
        if let Ok(handle) = handle_of(&self.id, &rules)
            && registry.is_responsible(&handle).is_ok_and(|is| !is)
        {
            return Err(ask_server(&format!("{handle} is not registered here")));
        }
        let found = self.find(&registry).map_err(refused)?;
        let public_url = config.public_url().map(|url| url.to_string());
        let links = CitableLinks::configured(&rules, public_url.as_deref());
        let link = links.map(|links| links.link(&found.handle));
        print_with_link(&found, link, self.output)
    }

    /// What somebody who asks a server would get, with aliases followed if that is asked for.
    fn find(&self, registry: &Registry) -> Result<Resolution, RegistryError> {
        let (mut id, mut aliases) = (self.id.clone(), Vec::new());
        loop {
            let (handle, values) = stored_or_made(registry, &id)?;
            let alias = values.iter().find(|value| {
                let is_alias = value.value_type == "HS_ALIAS" && value.permissions.public_read();
                is_alias && self.follow_aliases
            });
            let Some(alias) = alias.and_then(Value::text) else {
                return self.select(registry, handle, &values, aliases);
            };
            if aliases.contains(&handle) {
                return Err(RegistryError::Policy {
                    code: "alias-loop",
                    problem: format!("the aliases of {} lead in a circle", self.id),
                });
            }
            aliases.push(handle);
            id = alias.to_string();
        }
    }

    /// The values that are asked for, and may be read.
    fn select(
        &self,
        registry: &Registry,
        handle: String,
        values: &[Value<'static>],
        aliases: Vec<String>,
    ) -> Result<Resolution, RegistryError> {
        let reading = match &self.who {
            Some(who) => registry.reading(who, &handle, values)?,
            None => Reading::Public,
        };
        let request = ResolutionRequest {
            handle: (&handle).into(),
            indexes: self.indexes.clone(),
            types: self.types.iter().map(Into::into).collect(),
        };
        let is_given = |value: &&Value<'_>| reading.shows(value) && request.selects(value);
        let values = values.iter().filter(is_given);
        let values: Vec<_> = values.cloned().map(Value::into_owned).collect();
        if values.is_empty() {
            return Err(RegistryError::NotFound(handle));
        }
        let mut found = Resolution::default();
        (found.handle, found.values, found.aliases) = (handle, values, aliases);
        found.is_authoritative = true;
        Ok(found)
    }
}

/// The values of a handle that is active, or that a template makes.
fn stored_or_made(
    registry: &Registry,
    id: &str,
) -> Result<(String, Vec<Value<'static>>), RegistryError> {
    let not_found = || RegistryError::NotFound(id.to_string());
    match registry.show(&Principal::Operator, id) {
        Ok(shown) if shown.record.state == State::Active => {
            Ok((shown.record.text, shown.record.values))
        }
        Ok(_) => Err(not_found()),
        Err(error) => {
            let handle = handle_of(id, &registry.rules()).map_err(|_| error)?;
            let made = registry.made_by_template(&handle)?;
            Ok((handle, made.ok_or_else(not_found)?))
        }
    }
}

/// Where looking for a server begins.
enum Root {
    At(ServerAddress),
    Known(Roots),
}

/// Prints an answer.
pub(crate) fn print(found: &Resolution, output: Output) -> anyhow::Result<Answer> {
    print_with_link(found, None, output)
}

/// The same with the citable link. Another server does not tell under which URL it is cited.
fn print_with_link(
    found: &Resolution,
    link: Option<String>,
    output: Output,
) -> anyhow::Result<Answer> {
    let mut said = json!({
        "handle": found.handle,
        "values": found.values.iter().map(wire_json::value).collect::<Json>(),
        "aliases": found.aliases,
        "server": found.server,
        "certified": found.is_certified,
        "authoritative": found.is_authoritative,
    });
    if let (Some(link), Some(members)) = (&link, said.as_object_mut()) {
        members.insert("link".into(), link.as_str().into());
    }
    output.print(&said, |out| {
        writeln!(out, "{}", Safe(&found.handle))?;
        let signed = if found.is_certified { ", signed" } else { "" };
        let server = found
            .server
            .as_ref()
            .map(|server| format!("{server}{signed}"));
        let aliases = found
            .aliases
            .iter()
            .map(|alias| ("instead of", Some(alias.clone())));
        let ends = [("answered by", server), ("cite as", link)];
        rows(out, 12, aliases.chain(ends))?;
        let mut values = found.values.iter();
        values.try_for_each(|value| writeln!(out, "  {}", line(&convert::value(value))))
    })
}
