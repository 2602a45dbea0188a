//! Damaged data folders: every command ends with a status and says "damaged", and no answer is
//! wrong.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_testing::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");
const NAMES: u32 = 40;
/// How many damaged folders commands are run on in the short round.
const FOLDERS: u64 = 80;
/// How many damaged folders are served.
const SERVED: u64 = 16;
const PAGE: usize = 4_096;

/// `DAMAGE_ROUNDS=3` damages every page and three times as many folders; the short round damages a
/// third.
fn rounds() -> u64 {
    let said = std::env::var("DAMAGE_ROUNDS").ok();
    said.and_then(|said| said.parse().ok())
        .map_or(1, |rounds: u64| rounds.clamp(1, 3))
}

/// Whether a page is damaged in this round.
fn is_due(page: u64) -> bool {
    page >= 2 && page % 3 < rounds()
}

/// A folder with names, earlier versions, a withdrawn name and an account, and what `name show`
/// says of the names.
struct Sound {
    folder: Folder,
    shown: Vec<String>,
}

fn name(number: u32) -> String {
    format!("20.9/n{number}")
}

impl Sound {
    fn make() -> Self {
        let folder = Folder::with(PROGRAM, &["20.9"]);
        let mut lines = "id,url\n".to_string();
        for number in 0..NAMES {
            let padding = "x".repeat(number as usize * 37);
            let line = format!("{},https://example.org/{number}/{padding}\n", name(number));
            lines.push_str(&line);
        }
        folder.done(&["import", &folder.write("names.csv", lines)]);
        folder.done(&["name", "withdraw", &name(3), "--reason", "test"]);
        folder.done(&["user", "create", "alice"]);
        let shown = (0..NAMES).map(|number| folder.done(&["name", "show", &name(number)]));
        Self {
            shown: shown.collect(),
            folder,
        }
    }

    /// A damaged copy, and what was done to it.
    fn damaged(&self, seed: u64) -> (Folder, String) {
        let copy = with_data();
        let mut what = String::new();
        for entry in fs::read_dir(self.folder.data()).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            if name == "data.mdb" {
                let mut bytes = fs::read(entry.path()).unwrap();
                what = damage(&mut bytes, seed);
                fs::write(copy.data().join(name), bytes).unwrap();
            } else if name != "lock.mdb" && entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), copy.data().join(name)).unwrap();
            }
        }
        (copy, what)
    }
}

/// A data folder with nothing in it.
fn with_data() -> Folder {
    let folder = Folder::empty(PROGRAM);
    fs::create_dir(folder.data()).unwrap();
    folder
}

/// `SplitMix64`: the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Damages the bytes of a store, by one of several ways.
fn damage(bytes: &mut Vec<u8>, seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let pages = bytes.len() / PAGE;
    match seed % 8 {
        0 | 1 => {
            let at = numbers.below(bytes.len());
            bytes[at] ^= 1 << numbers.below(8);
            format!("seed {seed}: a bit at {at}")
        }
        2 | 3 => {
            for _ in 0..10 {
                let at = numbers.below(bytes.len());
                bytes[at] = numbers.next() as u8;
            }
            format!("seed {seed}: ten octets")
        }
        4 | 5 => {
            // Where LMDB keeps what it follows: the header of a page, and where its entries are.
            let page = numbers.below(pages);
            for _ in 0..4 {
                let at = page * PAGE + numbers.below(64);
                bytes[at] = numbers.next() as u8;
            }
            format!("seed {seed}: the beginning of page {page}")
        }
        6 => {
            let page = 2 + numbers.below(pages - 2);
            let fill = [0, 0xff, 0x7f][numbers.below(3)];
            bytes[page * PAGE..(page + 1) * PAGE].fill(fill);
            format!("seed {seed}: page {page} is all {fill}")
        }
        _ => {
            let length = numbers.below(bytes.len());
            bytes.truncate(length);
            format!("seed {seed}: cut to {length} octets")
        }
    }
}

/// In two threads, as test machines have two cores or more.
fn for_each_seed(seeds: u64, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    work(seed);
                }
            });
        }
    });
}

/// Guards against commands that die by SIGBUS, SIGSEGV or SIGABRT on damaged pages, or answer
/// wrongly.
#[test]
fn commands_on_damaged_folders_say_so_and_end_with_a_status() {
    let sound = Sound::make();
    let found = AtomicU64::new(0);
    for_each_seed(FOLDERS * rounds(), |seed| {
        let (copy, what) = sound.damaged(seed);
        let told = |output: &Output| {
            let words = [&output.stdout[..], &output.stderr[..]].concat();
            String::from_utf8_lossy(&words).into_owned()
        };
        // What only reads comes first: it must leave the folder as it is.
        for command in [&["check"][..], &["log", "verify"]] {
            if command == ["log", "verify"] && seed % 3 != 0 {
                continue;
            }
            let output = copy.run(command);
            let (status, told) = (output.status.code(), told(&output));
            assert!(
                matches!(status, Some(0 | 1 | 3)),
                "{what}: {command:?}: {:?}: {told}",
                output.status
            );
            if command == ["check"] && status != Some(0) {
                found.fetch_add(1, Ordering::Relaxed);
                let is_said = told.contains("damaged") || told.contains("holds no store");
                assert!(is_said, "{what}: {told}");
            }
            assert!(
                status != Some(3) || told.contains("damaged"),
                "{what}: {told}"
            );
        }
        let mut numbers = Numbers(seed);
        for _ in 0..=seed % 2 {
            let number = numbers.below(NAMES as usize);
            let output = copy.run(&["name", "show", &name(number as u32)]);
            let (status, told) = (output.status.code(), told(&output));
            match status {
                Some(0) => assert_eq!(told, sound.shown[number], "{what}"),
                Some(1) => {}
                Some(3) => assert!(told.contains("damaged"), "{what}: {told}"),
                _ => panic!("{what}: {:?}: {told}", output.status),
            }
        }
        // A copy is made by a thread of LMDB's own, and died by a signal there.
        let file = copy.path().join("copy.backup");
        let output = copy.run(&["backup", file.to_str().unwrap()]);
        assert!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "{what}: backup: {:?}: {}",
            output.status,
            told(&output)
        );
        // Half a backup under its name would be taken for one.
        let is_there = file.exists() || copy.path().join("copy.backup.part").exists();
        assert_eq!(is_there, output.status.success(), "{what}");
    });
    // Damage that nothing finds would show nothing.
    let found = found.into_inner();
    assert!(
        found > FOLDERS * rounds() / 4,
        "check found damage in {found} folders"
    );
}

/// Guards against exports and lists that end early on a damaged page, with status 0.
#[test]
fn exports_and_lists_of_damaged_folders_are_whole_or_errors() {
    let sound = Sound::make();
    let log = |folder: &Folder| folder.file("log.export");
    let commands = |folder: &Folder| {
        let log = log(folder);
        [
            "export",
            "export --authority 20.9",
            "name list --authority 20.9",
            "authority list",
            "job list",
            "user list",
            &format!("log export {log}"),
            "name history 20.9/n3",
        ]
        .map(|command| command.split(' ').map(String::from).collect::<Vec<_>>())
    };
    let given = |folder: &Folder, arguments: &[String]| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let mut output = folder.run(&arguments);
        if let Ok(exported) = fs::read(log(folder)) {
            output.stdout = exported;
        }
        drop(fs::remove_file(log(folder)));
        output
    };
    let wanted = commands(&sound.folder).map(|command| {
        let output = given(&sound.folder, &command);
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        output.stdout
    });
    let bytes = fs::read(sound.folder.data().join("data.mdb")).unwrap();
    let found = AtomicU64::new(0);
    for_each_seed((bytes.len() / PAGE) as u64, |page| {
        if !is_due(page) {
            return;
        }
        let copy = with_data();
        let mut damaged = bytes.clone();
        let place = page as usize * PAGE..(page as usize + 1) * PAGE;
        let fill = [0, 0xff, 0x7f][page as usize / 3 % 3];
        damaged[place].fill(fill);
        for (command, wanted) in commands(&copy).iter().zip(&wanted) {
            // A command may write, and so repair or damage more.
            fs::write(copy.data().join("data.mdb"), &damaged).unwrap();
            drop(fs::remove_file(copy.data().join("lock.mdb")));
            fs::copy(
                sound.folder.data().join("log.key"),
                copy.data().join("log.key"),
            )
            .unwrap();
            let output = given(&copy, command);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let what = format!("page {page} is all {fill}: {command:?}: {told}");
            match output.status.code() {
                Some(0) => assert!(output.stdout == *wanted, "{what}"),
                Some(3) => {
                    found.fetch_add(1, Ordering::Relaxed);
                    assert!(told.contains("damaged"), "{what}");
                }
                _ => panic!("{what}: {:?}", output.status),
            }
        }
    });
    assert!(found.into_inner() > 5);
}

/// Guards against a status that depends on how far a check comes, and against advice to run what
/// was run.
#[test]
fn check_tells_damaged_pages_from_damaged_content() {
    let sound = Sound::make();
    let bytes = fs::read(sound.folder.data().join("data.mdb")).unwrap();
    let copy = with_data();
    let check = |bytes: &[u8]| {
        fs::write(copy.data().join("data.mdb"), bytes).unwrap();
        drop(fs::remove_file(copy.data().join("lock.mdb")));
        let output = copy.run(&["check"]);
        let told = [&output.stdout[..], &output.stderr[..]].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&told).into_owned(),
        )
    };
    assert_eq!(check(&bytes).0, Some(0));
    // The end of a URL that is too long for the index, so that it stands in the record alone.
    let url = "x".repeat((NAMES as usize - 1) * 37);
    let mut damaged = bytes.clone();
    let mut count = 0;
    for at in 0..bytes.len() - url.len() {
        if bytes[at..].starts_with(url.as_bytes()) {
            damaged[at + url.len() - 1] = b'y';
            count += 1;
        }
    }
    assert!(count > 0);
    let (status, told) = check(&damaged);
    assert_eq!(status, Some(1), "{told}");
    let last = name(NAMES - 1);
    assert!(
        told.contains(&format!("problem: the record of {last}")),
        "{told}"
    );
    assert!(told.contains("restore FILE`"), "{told}");
    let mut found = 0;
    let pages = 2..bytes.len() / PAGE;
    for page in pages.filter(|page| is_due(*page as u64)) {
        for fill in [0, 0xff] {
            let mut damaged = bytes.clone();
            damaged[page * PAGE..(page + 1) * PAGE].fill(fill);
            let (status, told) = check(&damaged);
            if status == Some(0) {
                continue;
            }
            found += 1;
            assert_eq!(status, Some(3), "page {page} is all {fill}: {told}");
            assert!(told.contains("the store is damaged"), "{told}");
            assert!(told.contains("`handfast restore FILE`"), "{told}");
            assert!(!told.contains("handfast check"), "{told}");
        }
    }
    assert!(found > 3);
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Guards against a server that dies by a signal on damaged pages, or redirects wrongly.
#[test]
fn a_server_on_a_damaged_folder_answers_rightly_or_ends_with_a_status() {
    let sound = Sound::make();
    for_each_seed(SERVED, |seed| {
        // Not cut, which is found before anything is served.
        let (copy, what) = sound.damaged(seed * 8 + [2, 4][(seed % 2) as usize]);
        let (mut server, web) = serve(&copy);
        for number in (0..NAMES).filter(|_| web.is_some()) {
            let web = web.as_deref().unwrap_or_default();
            // A server that has ended answers nothing.
            let Some(answer) = get(web, &format!("/{}", name(number))) else {
                break;
            };
            let status = &answer[9..12];
            let location = answer.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("location: ")
                    .map(String::from)
            });
            match (status, location) {
                ("302" | "301" | "303" | "307", Some(location)) => {
                    let start = format!("https://example.org/{number}/");
                    let padding = "x".repeat(number as usize * 37);
                    assert_eq!(location.trim(), format!("{start}{padding}"), "{what}");
                }
                ("410", _) => assert_eq!(number, 3, "{what}"),
                ("404" | "500" | "503", _) => {}
                _ => panic!("{what}: {answer}"),
            }
            drop(get(web, &format!("/api/v1/names/20.9%2Fn{number}/history")));
        }
        if let Some(status) = server.0.try_wait().unwrap() {
            let mut told = String::new();
            let errors = server.0.stderr.as_mut().unwrap();
            errors.read_to_string(&mut told).unwrap();
            assert!(
                matches!(status.code(), Some(1 | 3)) && told.contains("damaged"),
                "{what}: {status:?}: {told}"
            );
        }
    });
}

/// Starts a server. It has no address if it has ended at once.
fn serve(folder: &Folder) -> (Server, Option<String>) {
    let any = "127.0.0.1:0";
    let mut command = folder.command(&["serve", "--native", any, "--web", any, "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Server(command.spawn().unwrap());
    let mut first = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();
    let told = serde_json::from_str::<serde_json::Value>(&first).ok();
    let web = told.and_then(|told| Some(told["web"].as_str()?.to_string()));
    (server, web)
}

fn get(web: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(web).ok()?;
    let timeout = Some(Duration::from_secs(20));
    stream.set_read_timeout(timeout).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.starts_with("HTTP/1.1 ").then_some(answer)
}

/// Guards against a check that stops the server it runs beside, or that is refused because a server
/// uses the folder.
#[test]
fn check_runs_beside_a_server() {
    let sound = Sound::make();
    let mut server = sound.folder.serve(&[]);
    let check = || {
        let told = sound.folder.done(&["check"]);
        assert!(told.ends_with("all is as it was written\n"), "{told}");
        let records = told.strip_prefix("read ").unwrap().split(' ').next();
        records.unwrap().parse::<u32>().unwrap()
    };
    let before = check();
    let url = "https://example.org/";
    sound
        .folder
        .done(&["name", "create", "20.9/beside", "--url", url]);
    // What the server has just written is seen.
    assert_eq!(check(), before + 1);
    sound.folder.done(&["log", "verify"]);
    assert!(server.child.try_wait().unwrap().is_none());
}

/// Guards against a server that a damaged page ends at every start, though the damaged data could
/// be rebuilt.
#[test]
fn damaged_counts_end_a_server_only_once_and_are_rebuilt() {
    let folder = Folder::with(PROGRAM, &["20.9"]);
    folder.done(&["name", "create", "20.9/a"]);
    let is_counted = || {
        let (_server, web) = serve(&folder);
        let statistics = || {
            let answer = get(web.as_deref()?, "/api/v1/statistics")?;
            let body = answer.split("\r\n\r\n").nth(1)?.to_string();
            serde_json::from_str::<serde_json::Value>(&body).ok()
        };
        // A server that has ended answers nothing.
        while let Some(said) = statistics() {
            if said["as-of-event"] == said["events"] {
                return said["names-by-state"]["active"] == said["names"];
            }
        }
        false
    };
    assert!(is_counted());
    let derived = folder.data().join("derived/data.mdb");
    let mut bytes = fs::read(&derived).unwrap();
    bytes[2 * PAGE..].fill(0xFF);
    fs::write(&derived, bytes).unwrap();
    assert!(is_counted() || is_counted());
}
