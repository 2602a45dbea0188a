//! `handfast user sign-in`, `password`, `invite` and `audit`: how people sign in to the console.

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, ValueHint};
use handfast_api::{self as api, Invitation, NewInvitation, NewPassword, SignIn, limits};
use handfast_client::Environment;
use handfast_registry::{Principal, Role};
use handfast_wire::DigestAlgorithm;
use hyper::StatusCode;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use zeroize::Zeroizing;

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::{Answer, Problem, misused};
use crate::remote::client::{Client, encode, unreadable};
use crate::remote::handle_server::signing_key;
use crate::terminal::output::Output;

/// A link for an account.
#[derive(Args)]
pub(crate) struct SignInCommand {
    /// The account; without it the first administrator, as long as no account can sign in
    name: Option<String>,
    /// Sign in as this handle identity, INDEX:HANDLE, at the server of --api
    #[arg(
        long = "as",
        value_name = "WHO",
        value_parser = Principal::parse,
        requires = "key",
        conflicts_with = "name"
    )]
    who: Option<Principal>,
    /// Its private key, which stays here; `HANDFAST_PASSPHRASE` opens one that is encrypted
    #[arg(long, value_name = "FILE", requires = "who", value_hint = ValueHint::FilePath)]
    key: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl SignInCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let made: api::SignInLink = match (&self.name, &self.who, &self.key) {
            (_, Some(who), Some(key)) => link_of_identity(client, who, key)?,
            (Some(name), ..) => {
                let path = format!("/accounts/{}/sign-in-link", encode(name));
                client.act("POST", &path)?
            }
            (None, ..) if client.is_remote() => return Err(misused("name the account")),
            (None, ..) => client.act("POST", "/operator/sign-in-link")?,
        };
        self.output.print(&made, |out| {
            writeln!(out, "{}", made.link)?;
            self.output.note(&format!(
                "signs {} in, once, until {}; earlier links no longer work",
                made.account, made.expires
            ));
            Ok(())
        })
    }
}

/// A link for a handle identity: opens a session of the REST API, and answers its challenge with
/// the key.
fn link_of_identity(
    client: &Client,
    who: &Principal,
    key: &Path,
) -> anyhow::Result<api::SignInLink> {
    if !matches!(who, Principal::Identity { .. }) {
        return Err(misused(
            "a key belongs to a handle identity: --as INDEX:HANDLE",
        ));
    }
    let key = signing_key(key)?;
    let refused = |status: StatusCode, said: &Json| {
        let text = said.get("error").or_else(|| said.get("message"));
        let text = text.and_then(Json::as_str).unwrap_or_default();
        let hint = match status {
            StatusCode::FORBIDDEN => Some(
                "a server takes keys over https only: write --api https://…, with the same host \
                 and port; on the machine of the server `handfast user sign-in INDEX:HANDLE` needs \
                 neither --api nor a key",
            ),
            StatusCode::NOT_FOUND => Some("the server is another version, or no Handfast"),
            _ => Some("the record of the handle has the public key at this index"),
        };
        let problem = format!("{who} was not signed in: {status} {text}");
        anyhow::Error::from(Problem::new(Answer::No, "not-signed-in", problem, hint))
    };
    let (status, opened) = client.ask_rest("POST", "/api/sessions", None, &json!({}))?;
    let text = |name| opened.get(name).and_then(Json::as_str);
    let nonce = text("nonce").and_then(|nonce| BASE64_STANDARD.decode(nonce).ok());
    let (Some(session), Some(nonce)) = (text("sessionId"), nonce) else {
        return Err(refused(status, &opened));
    };
    let mut client_nonce = [0; 16];
    Environment::system().fill(&mut client_nonce);
    let signed = [&nonce[..], &client_nonce[..]].concat();
    let answer = json!({
        "sessionId": session,
        "id": who.to_string(),
        "type": "HS_PUBKEY",
        "alg": "SHA256",
        "cnonce": BASE64_STANDARD.encode(client_nonce),
        "signature": BASE64_STANDARD.encode(key.sign(DigestAlgorithm::Sha256, &signed)?),
    });
    let (status, said) = client.ask_rest("PUT", "/api/sessions/this", None, &answer)?;
    if said.get("authenticated") != Some(&Json::Bool(true)) {
        return Err(refused(status, &said));
    }
    let path = "/api/sessions/this/sign-in-link";
    let named = format!("Handle sessionId=\"{session}\"");
    let (status, said) = client.ask_rest("POST", path, Some(&named), &json!({}))?;
    if !status.is_success() {
        return Err(refused(status, &said));
    }
    serde_json::from_value(said).map_err(|_| unreadable())
}

/// The password of an account.
#[derive(Args)]
pub(crate) struct PasswordCommand {
    /// The account
    name: String,
    #[command(flatten)]
    output: Output,
}

impl PasswordCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let password = ask(&self.name)?;
        let path = format!("/accounts/{}/password", encode(&self.name));
        let new = NewPassword {
            password: password.to_string(),
        };
        client.send::<IgnoredAny>("PUT", &path, &new)?;
        let name = &self.name;
        self.output.print(&json!({ "account": name }), |out| {
            writeln!(out, "set the password of {name}; its sessions have ended")
        })
    }
}

/// Asks twice at a terminal; otherwise reads the first line of standard input.
fn ask(name: &str) -> anyhow::Result<Zeroizing<String>> {
    if io::stdin().is_terminal() {
        let ask = |text: String| rpassword::prompt_password(text).map(Zeroizing::new);
        let password = ask(format!("new password of {name}: "))?;
        if ask("the same again: ".to_string())? != password {
            return Err(misused("the two passwords differ: nothing was changed"));
        }
        return Ok(password);
    }
    let mut line = Zeroizing::new(Vec::new());
    let max_bytes = u64::try_from(limits::PASSWORD + 2).unwrap_or(u64::MAX);
    let stdin = io::stdin().lock();
    stdin.take(max_bytes).read_until(b'\n', &mut line)?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok("") => Err(misused(
            "there is no password: type it at a terminal, or send it as a line of standard input",
        )),
        Ok(text) => Ok(Zeroizing::new(text.to_string())),
        Err(_) => Err(misused("the password is not UTF-8")),
    }
}

/// An invitation.
#[derive(Args)]
pub(crate) struct InviteCommand {
    /// The account: letters, digits and . _ @ -
    name: String,
    /// Who that is, for people
    #[arg(long, default_value = "")]
    title: String,
    /// The e-mail address of the person; nothing is sent there
    #[arg(long, default_value = "")]
    email: String,
    /// Grant a role on this authority
    #[arg(long, requires = "role")]
    authority: Option<String>,
    /// The role: read, write, lead or admin
    #[arg(long, requires = "authority")]
    role: Option<Role>,
    #[command(flatten)]
    output: Output,
}

impl InviteCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let new = NewInvitation {
            account: self.name.clone(),
            authority: self.authority.clone(),
            email: self.email.clone(),
            role: self.role.map(|role| role.to_string()),
            title: self.title.clone(),
        };
        let made: Invitation = client.send("POST", "/invitations", &new)?;
        self.output.print(&made, |out| {
            let account = &made.account;
            if let (Some(authority), Some(role)) = (&made.authority, made.role) {
                self.output
                    .note(&format!("granted {role} on {authority} to {account}"));
            }
            match (&made.link, &made.expires) {
                (Some(link), Some(expires)) => {
                    writeln!(out, "{link}")?;
                    self.output
                        .note(&format!("signs {account} in, once, until {expires}"));
                    Ok(())
                }
                _ => writeln!(
                    out,
                    "account {account} existed before, and gets no link; an administrator makes \
                     one with `handfast user sign-in {account}`"
                ),
            }
        })
    }
}

/// The audit of sign-ins.
#[derive(Args)]
pub(crate) struct AuditCommand {
    /// Only this account
    name: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl AuditCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let account = self.name.as_deref().map(encode);
        let query = account.map(|name| format!("&account={name}"));
        let mut entries: Vec<SignIn> = Vec::new();
        client.each_page(
            "/sign-ins",
            &query.unwrap_or_default(),
            "sign-ins",
            |page| {
                entries.extend(page);
                Ok(())
            },
        )?;
        self.output.print(&entries, |out| {
            for entry in &entries {
                let account = entry.account.as_deref().unwrap_or("(no such account)");
                let SignIn {
                    time,
                    means,
                    outcome,
                    ..
                } = entry;
                write!(out, "{time:<24}  {account:<20}  {means:<10}  {outcome:<12}")?;
                let texts = [("from", &entry.network), ("by", &entry.by)];
                for (word, text) in texts {
                    if let Some(text) = text {
                        write!(out, "  {word} {}", Safe(text))?;
                    }
                }
                match entry.unrecorded {
                    0 => writeln!(out)?,
                    count => writeln!(out, "  after {count} failures that were not recorded")?,
                }
            }
            Ok(())
        })
    }
}
