//! A data folder, a server on it, and requests over HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value as Json;

/// A folder with a data folder in it: `20.1000`, on which `ann` has the role `lead`.
pub(crate) struct Folder {
    pub(crate) temporary: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self {
            temporary: tempfile::tempdir().unwrap(),
        };
        folder.done(&["init"]);
        folder.done(&["authority", "create", "20.1000"]);
        folder.done(&["authority", "create", "20.2000"]);
        folder.done(&["user", "create", "ann"]);
        for authority in ["20.1000", "20.2000"] {
            folder.done(&[
                "authority",
                "grant",
                authority,
                "--to",
                "ann",
                "--role",
                "lead",
            ]);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// A command, run in the folder in which the data folder is.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
        for name in ["DATA", "NATIVE", "URL", "WEB"] {
            command.env_remove(format!("HANDFAST_{name}"));
        }
        command.current_dir(self.path());
        command.args(["--data", "data"]).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and gives what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A token of ann's.
    pub(crate) fn token(&self, arguments: &[&str]) -> String {
        let made = self.done(&[&["token", "create", "ann"], arguments].concat());
        made.trim().to_string()
    }

    pub(crate) fn configure(&self, lines: &str) {
        let text = format!("version = \"v1\"\n{lines}\n");
        fs::write(self.data().join("handfast.toml"), text).unwrap();
    }

    /// Starts a server at ports that are free. Its folder is called otherwise than by commands.
    pub(crate) fn serve(&self) -> Server {
        self.serve_by(Command::new(env!("CARGO_BIN_EXE_handfast")))
    }

    /// The same by a command that runs the program with the arguments it is given.
    pub(crate) fn serve_by(&self, mut command: Command) -> Server {
        let any = "127.0.0.1:0";
        command.current_dir("/").arg("--data").arg(self.data());
        command.args(["serve", "--json", "--native", any, "--web", any]);
        command.args(["--public-url", "http://pid.example"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said: Json = serde_json::from_str(&line).unwrap();
        let web = said["web"].as_str().unwrap().parse().unwrap();
        Server { child, web }
    }
}

/// A server that ends with its test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) web: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Reply {
    /// A header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl Server {
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.web).unwrap()
    }

    /// Tells the server to end, as an operator does.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(told.unwrap().success());
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Reply {
        self.ask("GET", path, headers, None)
    }

    /// The head of an answer, and its body as it is.
    pub(crate) fn get_bytes(&self, path: &str) -> (String, Vec<u8>) {
        let mut stream = self.connect();
        let head = format!("GET {path} HTTP/1.1\r\nHost: pid.example\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let body = bytes.split_off(end.unwrap() + 4);
        (String::from_utf8(bytes).unwrap(), body)
    }

    /// Sends a request with a body of JSON, if there is one.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: Option<&str>,
    ) -> Reply {
        let mut stream = self.connect();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: pid.example\r\nConnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if let Some(body) = body {
            head.push_str(&["Content-Length: ", &body.len().to_string(), "\r\n"].concat());
            if !head.contains("Content-Type") {
                head.push_str("Content-Type: application/json\r\n");
            }
        }
        write!(stream, "{head}\r\n{}", body.unwrap_or_default()).unwrap();
        read(stream)
    }
}

/// Reads what is answered, to the end of the connection.
pub(crate) fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    let body = if head.contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        body.to_string()
    };
    Reply {
        status: status.parse().unwrap_or_else(|_| panic!("{text}")),
        head: head.to_string(),
        body,
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole.push_str(&rest[..length]);
        body = &rest[(length + 2).min(rest.len())..];
    }
    whole
}
