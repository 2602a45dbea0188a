//! A data folder, a server on it, and a client that logs in.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use handfast_wire::body::{Body, Challenge, ChallengeAnswer};
use handfast_wire::crypto::{
    SecretAlgorithm, SigningKey, answer_with_key, answer_with_secret, read_private_key,
};
use handfast_wire::{
    Codec, Envelope, Header, Message, OpFlags, Opcode, Reference, ResponseCode, Version,
};
use serde_json::Value as Json;

/// A folder in which a data folder may be.
pub(crate) struct Folder {
    pub(crate) temporary: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.temporary.path().join("data")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
        for name in ["DATA", "NATIVE", "WEB", "PASSPHRASE"] {
            command.env_remove(format!("HANDFAST_{name}"));
        }
        command.arg("--data").arg(self.data()).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and gives what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        done(&mut self.command(arguments))
    }

    /// Runs a command that must be refused, and gives the error.
    pub(crate) fn refused(&self, arguments: &[&str]) -> Json {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error: Json = serde_json::from_slice(&output.stderr).unwrap();
        error["error"].clone()
    }

    /// Starts a server at ports that are free.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let any = "127.0.0.1:0";
        let fixed = ["serve", "--json", "--native", any, "--web", any];
        let mut command = self.command(&[&fixed, arguments].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said: Json = serde_json::from_str(&line).unwrap();
        let native = said["native"].as_str().unwrap().parse().unwrap();
        Server {
            child,
            said,
            native,
        }
    }
}

/// Runs a command that must succeed, and gives what it prints.
pub(crate) fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A server that ends with its test.
pub(crate) struct Server {
    child: Child,
    /// What it printed.
    pub(crate) said: Json,
    pub(crate) native: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Someone who can answer a challenge.
pub(crate) struct Login {
    handle: String,
    index: u32,
    how: How,
}

enum How {
    Key(Box<SigningKey>),
    Secret(String),
}

impl Login {
    pub(crate) fn with_file(identity: &str, file: &Path) -> Self {
        let key = read_private_key(&fs::read(file).unwrap(), None).unwrap();
        Self::new(identity, How::Key(Box::new(SigningKey::new(key).unwrap())))
    }

    pub(crate) fn with_secret(identity: &str, secret: &str) -> Self {
        Self::new(identity, How::Secret(secret.to_string()))
    }

    fn new(identity: &str, how: How) -> Self {
        let (index, handle) = identity.split_once(':').unwrap();
        Self {
            handle: handle.to_string(),
            index: index.parse().unwrap(),
            how,
        }
    }

    fn answer(&self, challenge: &Message<'_>) -> ChallengeAnswer<'_> {
        let asked: Challenge<'_> = challenge.read().unwrap();
        let (nonce, digest) = (&*asked.nonce, asked.digest.as_bytes());
        let (kind, response) = match &self.how {
            How::Key(key) => {
                let version = challenge.envelope.version;
                let answer = answer_with_key(key, version, nonce, digest);
                ("HS_PUBKEY", answer.unwrap())
            }
            How::Secret(secret) => {
                let (salt, secret) = ([7; 16], secret.as_bytes());
                let how = SecretAlgorithm::Sha1;
                let answer = answer_with_secret(secret, how, nonce, digest, &salt);
                ("HS_SECKEY", answer.unwrap())
            }
        };
        ChallengeAnswer {
            authentication_type: kind.into(),
            key: Reference::new(self.handle.as_str(), self.index),
            response: response.into(),
        }
    }
}

impl Server {
    /// What the server says to a request; a challenge is answered by the one who can.
    pub(crate) fn ask<'b>(
        &self,
        opcode: Opcode,
        body: &impl Body<'b>,
        who: Option<&Login>,
    ) -> Message<'static> {
        let reply = self.exchange(opcode, body, 0);
        let is_challenge = reply.outcome() == ResponseCode::AuthenticationNeeded;
        match who.filter(|_| is_challenge) {
            Some(who) => {
                let answer = who.answer(&reply);
                let number = reply.envelope.session_id;
                self.exchange(Opcode::ChallengeResponse, &answer, number)
            }
            None => reply,
        }
    }

    fn exchange<'b>(
        &self,
        opcode: Opcode,
        body: &impl Body<'b>,
        session_id: u32,
    ) -> Message<'static> {
        let envelope = Envelope {
            request_id: 77,
            session_id,
            ..Envelope::new(Version::CURRENT)
        };
        let mut header = Header::request(opcode, u32::MAX / 2);
        if opcode == Opcode::Resolution {
            header.flags = header.flags | OpFlags::PO;
        }
        let request = Message::new(envelope, header, body);
        let mut stream = TcpStream::connect(self.native).unwrap();
        stream.write_all(&request.to_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        Message::from_bytes(&reply).unwrap().into_owned()
    }
}
