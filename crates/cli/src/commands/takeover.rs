//! `handfast init --from-handle-server`: the identity of a deployed handle server.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::Context;
use handfast_registry::{Principal, StoreError};
use handfast_server::{Contact, HandleServer, Identity, IdentityError, TakeoverError};
use serde_json::{Value as Json, json};

use crate::commands::init::Ready;
use crate::commands::inspect_view::Shown;
use crate::config::ConfigFile;
use crate::exit::{Answer, Problem, refused};
use crate::folder::make;
use crate::new_file::{beside, move_folder};
use crate::terminal::output::Output;

/// Where a passphrase is said when nobody is at the terminal. It has no flag: others see command
/// lines.
const PASSPHRASE: &str = "HANDFAST_PASSPHRASE";

/// Makes a data folder of a handle server's. All of it is read before anything is written, and the
/// folder is made beside its place.
pub(crate) fn run(
    from: &Path,
    folder: &Path,
    contact: &Contact,
    output: Output,
) -> anyhow::Result<Answer> {
    let server = HandleServer::read(from, &mut passphrase).map_err(|error| match error {
        TakeoverError::Identity(error @ IdentityError::File { .. }) => error.into(),
        error => {
            let problem = error.to_string();
            anyhow::Error::from(Problem::new(Answer::No, "not-taken-over", problem, None))
        }
    })?;
    let is_there = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if is_there {
        let folder = folder.to_path_buf();
        return Err(refused(StoreError::AlreadyExists { folder }.into()));
    }
    let half = beside(folder, ".making");
    // What an earlier try left.
    drop(fs::remove_dir_all(&half));
    let made = fill(&server, &half).and_then(|known| {
        move_folder(&half, folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let identity = Identity::open_or_make(folder, server.addresses())?;
        Ok((known, Ready::new(folder, &identity, contact)?))
    });
    let (known, ready) = made.inspect_err(|_| drop(fs::remove_dir_all(&half)))?;
    output.print(&as_json(&server, &known, &ready, folder), |out| {
        writeln!(out, "made {} of {}", folder.display(), from.display())?;
        for line in taken(&server, &known) {
            writeln!(out, "  {line}")?;
        }
        ready.tell(folder, out)?;
        if !server.left().is_empty() {
            writeln!(out, "not taken over from {}:", from.display())?;
        }
        for line in server.left() {
            writeln!(out, "  {}", Shown(line))?;
        }
        writeln!(
            out,
            "next: handfast import DUMP, with the names of the server; handfast serve"
        )
    })
}

/// What the folder holds beside names: those who can log in by the name they had.
fn fill(server: &HandleServer, half: &Path) -> anyhow::Result<Vec<Principal>> {
    let known = make(half).and_then(|registry| server.keep_prefixes(&registry));
    let known = known.map_err(refused)?;
    server.keep_identity(half)?;
    let mut config = ConfigFile::default();
    config.native.listen = Some(server.addresses().native);
    config.native.administrators = texts(server.administrators());
    config.native.full_access = server.has_full_access();
    config.native.replication = texts(server.replication());
    config.web.listen = Some(server.addresses().web);
    config.write(half)?;
    // Makes the administrator's keys, if the server had none, and reads what was written.
    Identity::open_or_make(half, server.addresses())?;
    Ok(known)
}

fn texts(who: &[Principal]) -> Vec<String> {
    who.iter().map(ToString::to_string).collect()
}

fn as_json(server: &HandleServer, known: &[Principal], ready: &Ready, folder: &Path) -> Json {
    let more = json!({
        "serial": server.site().serial,
        "prefixes": server.prefixes(),
        "administrators": texts(server.administrators()),
        "replication": texts(server.replication()),
        "known": texts(known),
        "left": server.left(),
    });
    ready.as_json(folder, more)
}

/// What is taken over, a line each.
fn taken(server: &HandleServer, known: &[Principal]) -> Vec<String> {
    let addresses = server.addresses();
    let mut lines = vec![
        format!(
            "listens at {} and http://{}/",
            addresses.native, addresses.web
        ),
        format!("site record of serial number {}", server.site().serial),
    ];
    for prefix in server.prefixes() {
        lines.push(format!("prefix {}", Shown(prefix)));
    }
    let what = if server.has_full_access() {
        "may do everything"
    } else {
        "may home prefixes"
    };
    let both = [
        (server.administrators(), what),
        (server.replication(), "may copy everything"),
    ];
    for (list, what) in both {
        for who in list {
            let how = if known.contains(who) {
                "with the administrator's key"
            } else {
                "when its key is in a record here"
            };
            lines.push(format!("{} {what}, {how}", Shown(&who.to_string())));
        }
    }
    if server.was_encrypted() {
        lines.push(
            "privkey.bin is stored without its passphrase, so that the server can start alone; \
             only its owner may read it"
                .into(),
        );
    }
    if !server.has_administrator_key() {
        lines.push("a new key pair of its administrator, as it had none".into());
    }
    lines
}

fn passphrase(file: &Path) -> io::Result<String> {
    match env::var(PASSPHRASE) {
        Ok(said) => return Ok(said),
        Err(env::VarError::NotUnicode(_)) => {
            return Err(io::Error::other(format!("{PASSPHRASE} is not UTF-8")));
        }
        Err(env::VarError::NotPresent) => {}
    }
    let needed = || io::Error::other(format!("set {PASSPHRASE}, or run this at a terminal"));
    if !io::stdin().is_terminal() {
        return Err(needed());
    }
    let asked = rpassword::prompt_password(format!("passphrase of {}: ", file.display()));
    asked.map_err(|_| needed())
}
