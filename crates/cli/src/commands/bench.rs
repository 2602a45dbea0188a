//! `handfast bench`: the load generator.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use handfast_wire::body::ResolutionRequest;
use handfast_wire::{Codec, Envelope, Header, Message, OpFlags, Opcode, Version};
use serde_json::json;

use crate::exit::{Answer, misused};
use crate::terminal::output::Output;

/// Ask a handle server for many names, and say how fast it answers
///
/// Numbers in names begin with 0 and have leading zeros: with --names 100 --digits 3, 000 to 099.
#[derive(Args)]
pub(crate) struct Bench {
    /// The server; without it, the usual address of a server on this machine: 127.0.0.1:8000 for
    /// the web, else 127.0.0.1:2641
    #[arg(long, value_name = "ADDRESS:PORT")]
    server: Option<SocketAddr>,
    /// How it is asked
    #[arg(long, value_enum, default_value_t = Way::Udp)]
    way: Way,
    /// Names, in which {} stands for a number
    #[arg(long, value_name = "NAME")]
    name: String,
    /// How many different names
    #[arg(long, default_value_t = 100_000)]
    names: u64,
    /// How many digits a number has
    #[arg(long, default_value_t = 7)]
    digits: usize,
    /// How many clients
    #[arg(long, default_value_t = 64)]
    clients: u64,
    /// How long, in seconds
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How many requests a second at most, of all clients together; without it, as many as are
    /// answered
    #[arg(long, value_name = "REQUESTS")]
    rate: Option<NonZeroU32>,
    /// Ask for signed answers
    #[arg(long)]
    certified: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Redirects over HTTP, one connection for each client
    Redirect,
    /// Reads by the handle REST API, one connection for each client
    Rest,
    /// A new connection for each request
    Tcp,
    /// One connection for all requests of a client
    #[value(name = "tcp-kept")]
    TcpPersistent,
    /// Datagrams
    Udp,
}

impl Way {
    fn usual_address(self) -> SocketAddr {
        let port = match self {
            Self::Redirect | Self::Rest => 8_000,
            Self::Tcp | Self::TcpPersistent | Self::Udp => 2_641,
        };
        SocketAddr::from(([127, 0, 0, 1], port))
    }
}

impl Bench {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.clients == 0 || self.names == 0 || !self.name.contains("{}") {
            let problem = "give at least one client and one name, with {} in it for a number";
            return Err(misused(problem));
        }
        let digits = u32::try_from(self.digits).ok();
        let numbers = digits.and_then(|digits| 10_u64.checked_pow(digits));
        if numbers.is_some_and(|count| count < self.names) {
            let problem = "so many names need more --digits";
            return Err(misused(problem));
        }
        let shared = &Shared::default();
        #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
        let began = Instant::now();
        // Clients share threads: waking one for each answer would cost more than answering.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = u64::try_from(cores).unwrap_or(1).min(self.clients);
        let (answers, elapsed, mut latencies) = thread::scope(|scope| {
            let start = |number| {
                let group = self.group(number, self.clients.div_ceil(threads), threads);
                scope.spawn(move || group.run(shared))
            };
            let clients: Vec<_> = (0..threads).map(start).collect();
            #[expect(clippy::disallowed_methods, reason = "a benchmark takes its time")]
            thread::sleep(Duration::from_secs(self.seconds));
            shared.is_over.store(true, Ordering::Relaxed);
            let (answers, elapsed) = (shared.answers.load(Ordering::Relaxed), began.elapsed());
            let mut latencies = Vec::new();
            for client in clients {
                let taken = client.join().map_err(|_| anyhow!("a client failed"))?;
                latencies.extend(taken?);
            }
            anyhow::Ok((answers, elapsed, latencies))
        })?;
        let wrong = shared.wrong.load(Ordering::Relaxed);
        let lost = shared.lost.load(Ordering::Relaxed);
        let milliseconds = elapsed.as_millis().max(1);
        let rate = u128::from(answers) * 1_000 / milliseconds;
        latencies.sort_unstable();
        let p = |percent: usize| {
            let taken = latencies.get(latencies.len() * percent / 100);
            taken.or(latencies.last()).copied().unwrap_or_default()
        };
        let (p50, p99) = (p(50), p(99));
        let said = json!({
            "answers": answers, "wrong": wrong, "lost": lost,
            "per-second": u64::try_from(rate).unwrap_or(u64::MAX),
            "p50-us": p50, "p99-us": p99,
        });
        self.output.print(&said, |out| {
            writeln!(
                out,
                "{answers} answers, {rate} a second; half within {p50} µs, \
                 99 % within {p99} µs; {wrong} wrong, {lost} lost"
            )
        })?;
        Ok(Answer::all(wrong == 0 && answers > 0))
    }

    fn group(&self, number: u64, clients: u64, threads: u64) -> Group<'_> {
        let all_clients = u32::try_from(clients * threads).unwrap_or(u32::MAX);
        let seconds = |rate: NonZeroU32| f64::from(all_clients) / f64::from(rate.get());
        Group {
            bench: self,
            pace: self.rate.map(|rate| Duration::from_secs_f64(seconds(rate))),
            server: self.server.unwrap_or_else(|| self.way.usual_address()),
            clients,
            // Where each begins, so that they do not ask for the same.
            random: number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }
}

/// What all clients count together.
#[derive(Default)]
struct Shared {
    answers: AtomicU64,
    wrong: AtomicU64,
    lost: AtomicU64,
    is_over: AtomicBool,
}

impl Shared {
    fn count(&self, answered: &io::Result<bool>, began: Instant, latencies: &mut Vec<u64>) {
        let count = match answered {
            Ok(true) => {
                latencies.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
                &self.answers
            }
            Ok(false) => &self.wrong,
            Err(_) => &self.lost,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Some of the clients, in one thread: all of them ask, then all wait.
struct Group<'b> {
    bench: &'b Bench,
    server: SocketAddr,
    clients: u64,
    /// How long it takes, at least, until all have asked once.
    pace: Option<Duration>,
    random: u64,
}

/// How a client is connected.
enum BenchConnection {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// How long an answer is waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

impl Group<'_> {
    /// Asks until it is over; how long each answer took, in microseconds.
    fn run(mut self, shared: &Shared) -> anyhow::Result<Vec<u64>> {
        let mut lines: Vec<Option<BenchConnection>> = (0..self.clients).map(|_| None).collect();
        // A server that is not there is said at once.
        if let Some(first) = lines.first_mut() {
            *first = Some(self.connect().context("cannot connect")?);
        }
        let mut request = self.request(0);
        let mut latencies = Vec::new();
        let mut id = 0;
        #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
        let mut due = Instant::now();
        while !shared.is_over.load(Ordering::Relaxed) {
            id += 1;
            if !self.wait_until(due, shared) {
                break;
            }
            let mut asked = Vec::with_capacity(lines.len());
            for line in &mut lines {
                request.set(id, self.number(), self.bench.digits);
                #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
                let now = Instant::now();
                // Who could not ask in time because others took too long has waited since.
                let began = self.pace.map_or(now, |_| now.min(due));
                let asking = line.take().map_or_else(|| self.connect(), Ok);
                let line = asking.and_then(|mut line| line.ask(&request.bytes).map(|()| line));
                asked.push((began, line));
            }
            for (line, (began, asked)) in lines.iter_mut().zip(asked) {
                let answered = asked.and_then(|mut asked| {
                    let answer = match self.bench.way {
                        Way::Redirect => asked.answer_of_http(b"30")?,
                        Way::Rest => asked.answer_of_http(b"200")?,
                        Way::Tcp | Way::TcpPersistent | Way::Udp => asked.answer(id)?,
                    };
                    *line = Some(asked).filter(|_| self.bench.way != Way::Tcp);
                    Ok(answer)
                });
                shared.count(&answered, began, &mut latencies);
            }
            due += self.pace.unwrap_or_default();
        }
        Ok(latencies)
    }

    /// Waits until it is time to ask again; whether that comes before the end.
    #[expect(clippy::disallowed_methods, reason = "a benchmark takes its time")]
    fn wait_until(&self, due: Instant, shared: &Shared) -> bool {
        while self.pace.is_some() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if shared.is_over.load(Ordering::Relaxed) {
                return false;
            }
            thread::sleep(left.min(Duration::from_millis(100)));
        }
        true
    }

    fn connect(&self) -> io::Result<BenchConnection> {
        if self.bench.way != Way::Udp {
            let stream = TcpStream::connect(self.server)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            return Ok(BenchConnection::Tcp(stream));
        }
        let any = if self.server.is_ipv4() {
            "0.0.0.0:0"
        } else {
            "[::]:0"
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(self.server)?;
        socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(BenchConnection::Udp(socket))
    }

    /// The next number.
    fn number(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % self.bench.names
    }

    fn request(&self, number: u64) -> Request {
        let digits = format!("{number:0width$}", width = self.bench.digits);
        let handle = self.bench.name.replace("{}", &digits);
        let folder = match self.bench.way {
            Way::Redirect => Some("/"),
            Way::Rest => Some("/api/handles/"),
            Way::Tcp | Way::TcpPersistent | Way::Udp => None,
        };
        if let Some(folder) = folder {
            let start = format!("GET {folder}");
            let bytes = format!("{start}{handle} HTTP/1.1\r\nHost: {}\r\n\r\n", self.server);
            return Request {
                bytes: bytes.into_bytes(),
                id: None,
                digits: self.bench.name.find("{}").map(|at| start.len() + at),
            };
        }
        let mut header = Header::request(Opcode::Resolution, u32::MAX >> 1);
        if self.bench.certified {
            header.flags = header.flags | OpFlags::CT;
        }
        if self.bench.way == Way::TcpPersistent {
            header.flags = header.flags | OpFlags::KC;
        }
        let asked = ResolutionRequest::all(handle);
        let message = Message::new(Envelope::new(Version::CURRENT), header, &asked);
        Request {
            bytes: message.to_bytes(),
            id: Some(8),
            digits: self.bench.name.find("{}").map(|at| NAME_AT + at),
        }
    }
}

/// Where the name stands in a request: behind envelope, header and its length.
const NAME_AT: usize = Envelope::LENGTH + Header::LENGTH + 4;

/// A request, of which number and name are changed in place: what a generator costs, the server
/// does not get.
struct Request {
    bytes: Vec<u8>,
    /// Where the number of the request stands, if it has one.
    id: Option<usize>,
    /// Where the digits begin.
    digits: Option<usize>,
}

impl Request {
    fn set(&mut self, id: u32, mut number: u64, digits: usize) {
        let place = self.id.and_then(|at| self.bytes.get_mut(at..at + 4));
        if let Some(place) = place {
            place.copy_from_slice(&id.to_be_bytes());
        }
        let place = self
            .digits
            .and_then(|at| self.bytes.get_mut(at..at + digits));
        for digit in place.into_iter().flatten().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
        }
    }
}

/// Whether the answer is that the name is there.
fn is_success(message: &[u8]) -> bool {
    message.get(24..28) == Some(&[0, 0, 0, 1])
}

impl BenchConnection {
    fn ask(&mut self, request: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(request),
            Self::Udp(socket) => socket.send(request).map(|_| ()),
        }
    }

    /// Whether the answer has a status that begins so.
    fn answer_of_http(&mut self, status: &[u8]) -> io::Result<bool> {
        let Self::Tcp(stream) = self else {
            return Ok(false);
        };
        let mut buffer = [0; 8_192];
        let mut length = 0;
        loop {
            let read = stream.read(buffer.get_mut(length..).unwrap_or_default())?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            length += read;
            let came = buffer.get(..length).unwrap_or_default();
            if let Some(end) = end_of_response(came)
                && end <= length
            {
                let said = came.get(9..).unwrap_or_default();
                return Ok(said.starts_with(status));
            }
        }
    }

    /// Whether the answer to a request is that the name is there.
    fn answer(&mut self, id: u32) -> io::Result<bool> {
        match self {
            Self::Tcp(stream) => over_tcp(stream),
            Self::Udp(socket) => over_udp(socket, id),
        }
    }
}

/// Where a response ends, once its start has come.
fn end_of_response(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let lines = bytes.get(..head)?.split(|byte| *byte == b'\n');
    let mut length = lines.filter_map(|line| {
        let (name, value) = line.split_at_checked(15)?;
        let is_length = name.eq_ignore_ascii_case(b"content-length:");
        let text = std::str::from_utf8(value).ok().filter(|_| is_length)?;
        text.trim().parse::<usize>().ok()
    });
    Some(head + 4 + length.next_back().unwrap_or(0))
}

fn over_udp(socket: &UdpSocket, id: u32) -> io::Result<bool> {
    let mut buffer = [0; 1_024];
    loop {
        let length = socket.recv(&mut buffer)?;
        let packet = buffer.get(..length).unwrap_or_default();
        let is_ours = packet.get(8..12) == Some(&id.to_be_bytes()[..]);
        // Of an answer in several packets the first one says how it went.
        if is_ours && packet.get(12..16) == Some(&[0, 0, 0, 0]) {
            return Ok(is_success(packet));
        }
    }
}

fn over_tcp(stream: &mut TcpStream) -> io::Result<bool> {
    let mut reader = BufReader::with_capacity(1_024, stream);
    let mut message = vec![0; Envelope::LENGTH];
    reader.read_exact(&mut message)?;
    let length = message.last_chunk().copied().map(u32::from_be_bytes);
    let length = u64::from(length.unwrap_or_default().min(262_144));
    // At the end of the stream the whole of it has not come.
    if reader.take(length).read_to_end(&mut message)? < usize::try_from(length).unwrap_or(0) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(is_success(&message))
}
