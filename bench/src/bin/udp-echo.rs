//! A baseline for the native protocol over UDP: a server that looks nothing up. It sends back the
//! request, as long as the answer of a small record, many packets by one call, from one thread for
//! each core.
//!
//!     udp-echo ADDRESS:PORT

use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::thread;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use socket2::{Domain, Socket, Type};

const BATCH_SIZE: usize = 32;
/// How long an answer is.
const LENGTH: usize = 140;

fn main() {
    let address = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(address) = address else {
        eprintln!("usage: udp-echo ADDRESS:PORT");
        std::process::exit(2);
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<_> = (0..cores)
        .map(|_| thread::spawn(move || echo(address)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn echo(address: SocketAddr) {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&address.into()).unwrap();
    let mut buffers = vec![[0_u8; 2_048]; BATCH_SIZE];
    let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH_SIZE, None);
    let mut outgoing = MultiHeaders::<SockaddrStorage>::preallocate(BATCH_SIZE, None);
    loop {
        let addresses: Vec<_> = {
            let mut slices: Vec<_> = buffers
                .iter_mut()
                .map(|buffer| [IoSliceMut::new(buffer)])
                .collect();
            let flags = MsgFlags::MSG_WAITFORONE;
            let received = recvmmsg(
                socket.as_raw_fd(),
                &mut headers,
                slices.iter_mut(),
                flags,
                None,
            );
            received.unwrap().map(|packet| packet.address).collect()
        };
        let slices: Vec<_> = buffers
            .iter_mut()
            .take(addresses.len())
            .map(|buffer| {
                // The response code of success.
                buffer[24..28].copy_from_slice(&[0, 0, 0, 1]);
                [IoSlice::new(&buffer[..LENGTH])]
            })
            .collect();
        let none = MsgFlags::empty();
        drop(sendmmsg(
            socket.as_raw_fd(),
            &mut outgoing,
            &slices,
            &addresses,
            [],
            none,
        ));
    }
}
