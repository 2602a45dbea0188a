//! A handle server on the network: where it is, who asks, and what its answers mean to a command.

use std::env;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use handfast_client::{Client, ClientError, Environment, Login, ServerAddress, Transport};
use handfast_id::{Identifier, Rules, recognise};
use handfast_registry::Principal;
use handfast_wire::ResponseCode;
use handfast_wire::crypto::{SigningKey, read_private_key};
use zeroize::Zeroizing;

use crate::exit::{Answer, Problem, UnreadableInput};

/// A handle server, and how to log in there.
///
/// Each option names its heading: `next_help_heading` would go on over the options of the command
/// that follow.
#[derive(Args)]
pub(crate) struct Connection {
    /// Ask this handle server: HOST:PORT, or `http://HOST:PORT` for the protocol through HTTP
    #[arg(long, help_heading = HEADING, value_name = "HOST:PORT")]
    pub(crate) server: Option<ServerAddress>,
    /// Ask it by this way alone: udp, tcp or http
    #[arg(long, help_heading = HEADING, value_parser = way)]
    pub(crate) way: Option<Transport>,
    /// Log in with this private key; `HANDFAST_PASSPHRASE` opens one that is encrypted
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "secret_file"
    )]
    key: Option<PathBuf>,
    /// Log in with the secret in this file; without it, with `HANDFAST_SECRET`
    #[arg(long, help_heading = HEADING, value_name = "FILE", value_hint = ValueHint::FilePath)]
    secret_file: Option<PathBuf>,
}

/// Above the options of a connection.
const HEADING: &str = "At a handle server";

impl Connection {
    /// Whether something is said of a server, although none is named.
    pub(crate) fn is_loose(&self) -> bool {
        let says = self.way.is_some() || self.key.is_some() || self.secret_file.is_some();
        self.server.is_none() && says
    }

    /// Whether a proof of who asks is given without saying who.
    pub(crate) fn has_proof(&self) -> bool {
        self.key.is_some() || self.secret_file.is_some()
    }

    /// A client that asks the server, as someone.
    pub(crate) fn client(&self, who: Option<&Principal>) -> anyhow::Result<Client> {
        let mut client = Client::new(Environment::system());
        if let Some(server) = &self.server {
            client = client.at(server.clone());
        }
        if let Some(way) = self.way {
            client = client.by(way);
        }
        match who {
            Some(who) => Ok(client.with_login(self.login(who)?)),
            None if self.has_proof() => bail!("say who you are: --as INDEX:HANDLE"),
            None => Ok(client),
        }
    }

    fn login(&self, who: &Principal) -> anyhow::Result<Login> {
        let Principal::Identity { .. } = who else {
            bail!("a handle server knows people by a key: --as INDEX:HANDLE");
        };
        let identity = who.to_string();
        if let Some(path) = &self.key {
            return Ok(Login::with_key(&identity, signing_key(path)?)?);
        }
        let secret = match &self.secret_file {
            Some(path) => Zeroizing::new(read(path)?),
            None => variable("HANDFAST_SECRET").context(
                "say what shows who you are: --key FILE, --secret-file FILE or HANDFAST_SECRET",
            )?,
        };
        // A line in a file ends, and is none of the secret.
        let line = secret.strip_suffix(b"\n").unwrap_or(&secret);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Login::with_secret(&identity, line)?)
    }
}

/// Reads a private key; `HANDFAST_PASSPHRASE` opens one that is encrypted.
pub(crate) fn signing_key(path: &Path) -> anyhow::Result<SigningKey> {
    let file = Zeroizing::new(read(path)?);
    let passphrase = variable("HANDFAST_PASSPHRASE");
    let passphrase = passphrase.as_ref().map(|text| text.as_slice());
    let key = read_private_key(&file, passphrase)
        .with_context(|| format!("cannot use {}", path.display()))?;
    SigningKey::new(key).with_context(|| format!("cannot use {}", path.display()))
}

/// Runs what waits for the network.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(work))
}

/// The handle that an identifier is, or names.
pub(crate) fn handle_of(id: &str, rules: &dyn Rules) -> anyhow::Result<String> {
    let found = recognise(id, rules)?.identifier;
    let named = found.named(rules).unwrap_or(found);
    let handle = match &named {
        Identifier::Handle(handle) => handle,
        Identifier::Hdl(uri) => uri.handle(),
        Identifier::Doi(doi) => doi.handle(),
        Identifier::Cordra(id) => id.record(),
        _ => bail!("{id} is no handle, and handle servers know nothing else"),
    };
    Ok(handle.as_str().to_string())
}

/// A handle server did not do something.
pub(crate) fn failed(error: ClientError) -> anyhow::Error {
    Problem::from(error).into()
}

/// The answer is no, the network failed, or something has to be given.
impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        let (code, answer, hint) = match &error {
            ClientError::Refused { code, .. } => {
                let (answer, hint) = advice(*code);
                let name = code.to_string().to_ascii_lowercase().replace('_', "-");
                return Self::new(answer, &name, error.to_string(), hint);
            }
            ClientError::LoginNeeded { .. } => (
                "login-needed",
                Answer::No,
                "log in with --as INDEX:HANDLE and --key FILE or --secret-file FILE",
            ),
            ClientError::NoRoots { .. } => (
                "no-roots",
                Answer::Misused,
                "give --server HOST:PORT, or --root with a file of root information",
            ),
            ClientError::NoService { .. } => (
                "no-service",
                Answer::No,
                "is the prefix right, and can that server be asked this, and by this way?",
            ),
            ClientError::Network { .. } => (
                "network",
                Answer::Failed,
                "is the address right, and can it be reached from here?",
            ),
            ClientError::Reply { .. } => (
                "bad-reply",
                Answer::Failed,
                "someone in between may have changed it; ask another server, or by another way",
            ),
            ClientError::Aliases(_) => ("alias-loop", Answer::No, "leave out --follow-aliases"),
            ClientError::Referrals { .. } => (
                "referral-loop",
                Answer::Failed,
                "ask the server that should have it, with --server",
            ),
            ClientError::Incomplete { .. } => ("incomplete", Answer::Failed, "ask with --way tcp"),
            _ => ("usage", Answer::Misused, "see --help"),
        };
        Self::new(answer, code, error.to_string(), Some(hint))
    }
}

/// What an error of a server means, and perhaps what to do about it.
fn advice(code: ResponseCode) -> (Answer, Option<&'static str>) {
    match code {
        ResponseCode::Error | ResponseCode::ProtocolError | ResponseCode::RecursionCountTooHigh => {
            (Answer::Failed, None)
        }
        ResponseCode::ServerTooBusy | ResponseCode::ServerBackup => {
            (Answer::Failed, Some("try again later"))
        }
        ResponseCode::ServerNotResponsible => (Answer::No, Some("another server has this prefix")),
        ResponseCode::ServiceReferral | ResponseCode::PrefixReferral => (
            Answer::No,
            Some("it says that another server has it: ask without --server, with --root"),
        ),
        ResponseCode::InvalidAdmin | ResponseCode::InsufficientPermissions => {
            (Answer::No, Some("log in as someone who may"))
        }
        ResponseCode::AuthenticationFailed => {
            (Answer::No, Some("the key or secret is not that of --as"))
        }
        _ => (Answer::No, None),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| UnreadableInput::new(path))
}

/// What the environment says, which command lines must not: other users see those.
fn variable(name: &str) -> Option<Zeroizing<Vec<u8>>> {
    let text = env::var(name).ok()?;
    Some(Zeroizing::new(text.into_bytes()))
}

fn way(text: &str) -> Result<Transport, String> {
    match text {
        "udp" => Ok(Transport::Udp),
        "tcp" => Ok(Transport::Tcp),
        "http" => Ok(Transport::Http),
        _ => Err("it is udp, tcp or http".to_string()),
    }
}
