//! The handle protocol through HTTP (`handle-protocol.md` §1.6).
//!
//! No HTTP client is used: the protocol forbids chunks, and the length of a reply is that in its
//! envelope, whatever the header says. So this library depends on no HTTP crate.

use std::io;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{Endpoint, MESSAGE_TIMEOUT, Packed, in_time};
use crate::target::write_host_port;

/// Sends a request and reads the reply.
pub(super) async fn exchange(
    mut stream: TcpStream,
    endpoint: &Endpoint,
    handle: &str,
    request: &Packed,
) -> io::Result<Packed> {
    let message = request.to_bytes();
    let mut bytes = head(endpoint, handle, message.len()).into_bytes();
    bytes.extend_from_slice(&message);
    in_time(MESSAGE_TIMEOUT, stream.write_all(&bytes)).await?;
    in_time(MESSAGE_TIMEOUT, receive(stream)).await
}

fn head(endpoint: &Endpoint, handle: &str, length: usize) -> String {
    let mut host = String::new();
    // Writing to text does not fail.
    let _ = write_host_port(&mut host, &endpoint.host, endpoint.port);
    let host = host.strip_suffix(":80").unwrap_or(&host);
    let mut path = String::new();
    if !endpoint.path.is_empty() {
        path.push('/');
        path.push_str(endpoint.path.trim_matches('/'));
    }
    // "For requests without a handle the handle is `/` (sent as `/%2F`)."
    let handle = if handle.is_empty() { "/" } else { handle };
    path.push('/');
    path.extend(utf8_percent_encode(handle, ESCAPED));
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {MESSAGE}\r\nUser-Agent: handfast\r\n\
         Content-Type: {MESSAGE}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

/// Reads up to the blank line, and then as much as the envelope says.
async fn receive(stream: TcpStream) -> io::Result<Packed> {
    let mut reader = BufReader::new(stream);
    let mut limited = (&mut reader).take(MAX_HEAD);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head).await? == 0 {
            return Err(match limited.limit() {
                0 => wrong("the HTTP head is too long"),
                _ => io::ErrorKind::UnexpectedEof.into(),
            });
        }
    }
    check(&String::from_utf8_lossy(&head))?;
    let received = Packed::receive(&mut reader).await;
    received.map_err(|error| match error.kind() {
        kind @ io::ErrorKind::UnexpectedEof => kind.into(),
        _ => error,
    })
}

/// "All outcomes, including errors, are HTTP 200", and nothing is chunked.
fn check(head: &str) -> io::Result<()> {
    let status = head.split_ascii_whitespace().nth(1).unwrap_or_default();
    if status != "200" {
        let shown: String = status
            .chars()
            .filter(char::is_ascii_digit)
            .take(3)
            .collect();
        return Err(wrong(&format!(
            "HTTP status {shown}: no handle server is there"
        )));
    }
    let is_chunked = head.lines().any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("transfer-encoding:") && line.contains("chunked")
    });
    if is_chunked {
        return Err(wrong(
            "the reply comes in chunks, which the protocol forbids",
        ));
    }
    Ok(())
}

fn wrong(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

const MESSAGE: &str = "application/x-hdl-message";
const MAX_HEAD: u64 = 16_384;
/// Everything but letters, digits and `- . _ ~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Transport;

    #[test]
    fn the_handle_is_encoded_with_its_slash() {
        let endpoint = Endpoint {
            transport: Transport::Http,
            host: "::1".into(),
            port: 8000,
            path: "/hdl/".into(),
        };
        let head = head(&endpoint, "20.1000/a b", 7);
        assert!(head.starts_with("POST /hdl/20.1000%2Fa%20b HTTP/1.1\r\nHost: [::1]:8000\r\n"));
        assert!(head.ends_with("Content-Length: 7\r\nConnection: close\r\n\r\n"));
    }

    #[test]
    fn only_a_plain_success_is_read() {
        assert!(check("HTTP/1.1 200 OK\r\nContent-Type: x").is_ok());
        assert!(check("HTTP/1.1 404 Not Found").is_err());
        assert!(check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked").is_err());
        assert!(check("nonsense").is_err());
    }
}
