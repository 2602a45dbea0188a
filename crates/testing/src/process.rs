//! The program as a server.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;

use crate::HttpClient;

/// A server in a process of its own, which ends with its test, and is asked over HTTP as by its
/// [`HttpClient`].
pub struct Process {
    /// The process.
    pub child: Child,
    /// What it printed when it was ready.
    pub said: Json,
    /// The address of the handle protocol.
    pub native: SocketAddr,
    http: HttpClient,
}

impl Process {
    /// Starts a command that serves, and waits until it is ready.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said: Json = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        let address = |name| said.get(name).and_then(Json::as_str).unwrap().parse();
        Self {
            native: address("native").unwrap(),
            http: HttpClient::new(address("web").unwrap()),
            child,
            said,
        }
    }

    /// Tells the server to end, as an operator does.
    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(status.unwrap().success());
    }
}

impl Deref for Process {
    type Target = HttpClient;

    fn deref(&self) -> &HttpClient {
        &self.http
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
