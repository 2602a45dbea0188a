//! A command that the server of a folder does not know.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::cmsg_space;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Guards against a command of another version that ends with status 2 and no word.
#[test]
fn a_command_that_the_server_does_not_know_is_explained() {
    let temporary = tempfile::tempdir().unwrap();
    let data = temporary.path().join("data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
    command.arg("--data").arg(&data).arg("serve");
    command.args(["--native", "127.0.0.1:0", "--web", "127.0.0.1:0", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn().unwrap());
    let mut first = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();

    let errors = temporary.path().join("errors");
    for arguments in [
        &["handfast", "reticulate", "--splines"][..],
        &["handfast", "name", "show", "20.1/x", "--in-colour"],
        // Known, but never sent by a program of this version.
        &["handfast", "serve"],
    ] {
        // The folder, and how many files the command names.
        let said = [&[data.to_str().unwrap(), "0"], arguments]
            .concat()
            .join("\0");
        let mut stream = UnixStream::connect(data.join("handfast.sock")).unwrap();
        let (null, told) = (
            File::open("/dev/null").unwrap(),
            File::create(&errors).unwrap(),
        );
        let descriptors = [null.as_fd(), told.as_fd(), told.as_fd()];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let length = u32::try_from(said.len()).unwrap().to_be_bytes();
        let start = [IoSlice::new(&length)];
        sendmsg(&stream, &start, &mut control, SendFlags::empty()).unwrap();
        stream.write_all(said.as_bytes()).unwrap();
        let mut status = [0];
        stream.read_exact(&mut status).unwrap();
        let told = fs::read_to_string(&errors).unwrap();
        assert_eq!(status, [2], "{told}");
        assert!(told.starts_with("error: "), "{told}");
        let hint = "the server that uses this folder is another version of handfast";
        assert!(told.contains(hint) && told.contains("restart it"), "{told}");
    }
}
