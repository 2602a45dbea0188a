//! Countries of addresses, from a file in the format of `MaxMind` DB, version 2.
//!
//! Of such a file one field is wanted, and the file comes from elsewhere: it is read here, with a limit to everything.
//! Nothing in it leads outside it, round in circles, or deeper than a few steps. What does not fit says nothing.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// A file of countries, read again when it has changed.
#[derive(Debug)]
pub(crate) struct Countries {
    file: PathBuf,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    database: Arc<Database>,
    written: Option<SystemTime>,
    /// When the file was last looked at, in milliseconds since 1970.
    looked: u64,
}

/// How often the file is looked at, in milliseconds.
const LOOK: u64 = 60_000;
/// The largest file.
const LARGEST: u64 = 512 << 20;

impl Countries {
    pub(crate) fn open(file: &Path, now: u64) -> io::Result<Self> {
        let current = Current {
            written: written(file),
            database: Arc::new(from_file(file)?),
            looked: now,
        };
        Ok(Self {
            file: file.to_path_buf(),
            current: Mutex::new(current),
        })
    }

    /// In which country an address is (ISO 3166), if that is known.
    pub(crate) fn of(&self, address: IpAddr, now: u64) -> Option<String> {
        let database = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            if now.saturating_sub(current.looked) >= LOOK {
                current.looked = now;
                self.look(&mut current);
            }
            Arc::clone(&current.database)
        };
        database.country(address).map(str::to_string)
    }

    /// Reads the file again if it was written since.
    fn look(&self, current: &mut Current) {
        let now = written(&self.file);
        if now == current.written {
            return;
        }
        // It may be half written: the old one is good until it is whole.
        match from_file(&self.file) {
            Ok(new) => (current.database, current.written) = (Arc::new(new), now),
            Err(error) => tracing::warn!(%error, "the new file of countries cannot be used"),
        }
    }
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

fn from_file(file: &Path) -> io::Result<Database> {
    let named = |problem: String| {
        io::Error::other(format!(
            "{} cannot be used for countries: {problem}",
            file.display()
        ))
    };
    let length = std::fs::metadata(file)
        .map_err(|error| named(error.to_string()))?
        .len();
    if length > LARGEST {
        return Err(named(format!("it is larger than {LARGEST} octets")));
    }
    let bytes = std::fs::read(file).map_err(|error| named(error.to_string()))?;
    Database::read(bytes).ok_or_else(|| named("it is no MaxMind DB file".to_string()))
}

/// The file: a tree of the bits of addresses, and data at its leaves.
#[derive(Debug)]
pub(crate) struct Database {
    bytes: Vec<u8>,
    /// How many nodes the tree has, of two records each.
    nodes: u64,
    /// How many bits a record has.
    record: u64,
    is_v6: bool,
    /// Where the data begins.
    data: usize,
}

/// What stands before the description of the file, near its end.
const MARK: &[u8] = b"\xAB\xCD\xEFMaxMind.com";
/// "The maximum allowable size for the metadata section … is 128KiB."
const LAST_PART: usize = 128 << 10;
/// How many values are passed over in search of one.
const MOST_VALUES: u64 = 4_096;
/// How often a pointer may point to a pointer, which none should.
const MOST_POINTERS: usize = 4;

impl Database {
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let last = bytes.get(bytes.len().saturating_sub(LAST_PART)..)?;
        let at = last
            .windows(MARK.len())
            .rposition(|window| window == MARK)?;
        let about = Data(last.get(at + MARK.len()..)?);
        let number = |name: &str| about.number(about.member(0, name)?);
        let (nodes, record) = (number("node_count")?, number("record_size")?);
        let is_v6 = match number("ip_version")? {
            4 => false,
            6 => true,
            _ => return None,
        };
        let is_known = number("binary_format_major_version")? == 2
            && matches!(record, 24 | 28 | 32)
            && u32::try_from(nodes).is_ok();
        // "16 bytes of zeroes" are between tree and data.
        let tree = nodes.checked_mul(record)? / 4;
        let data = usize::try_from(tree.checked_add(16)?).ok()?;
        (is_known && data <= bytes.len()).then_some(Self {
            bytes,
            nodes,
            record,
            is_v6,
            data,
        })
    }

    /// In which country an address is: in that of its use, or else that of its registration.
    pub(crate) fn country(&self, address: IpAddr) -> Option<&str> {
        let data = Data(self.bytes.get(self.data..)?);
        let at = self.leaf(address)?;
        let code = ["country", "registered_country", "country_code"];
        code.iter().find_map(|name| {
            let said = data.member(at, name)?;
            let code = data.text(said);
            let code = code.or_else(|| data.text(data.member(said, "iso_code")?))?;
            let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_code.then_some(code)
        })
    }

    /// Where the data of an address is.
    fn leaf(&self, address: IpAddr) -> Option<usize> {
        let (bits, count) = match (address.to_canonical(), self.is_v6) {
            (IpAddr::V4(address), true) => (u128::from(u32::from(address)), 128),
            (IpAddr::V4(address), false) => (u128::from(u32::from(address)) << 96, 32),
            (IpAddr::V6(address), true) => (u128::from(address), 128),
            (IpAddr::V6(_), false) => return None,
        };
        let mut node = 0;
        for at in 0..count {
            node = self.record(node, (bits >> (127 - at)) & 1 == 1)?;
            if node >= self.nodes {
                // The number of nodes itself says that there is nothing.
                let offset = (node - self.nodes).checked_sub(16)?;
                return usize::try_from(offset).ok();
            }
        }
        None
    }

    /// One of the two records of a node.
    fn record(&self, node: u64, is_right: bool) -> Option<u64> {
        let size = usize::try_from(self.record / 4).ok()?;
        let start = usize::try_from(node).ok()?.checked_mul(size)?;
        let node = self.bytes.get(start..start.checked_add(size)?)?;
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |all, byte| all << 8 | u64::from(*byte))
        };
        Some(match *node {
            // The middle octet has the highest bits of both.
            [a, b, c, middle, ..] if self.record == 28 && !is_right => {
                number(&[middle >> 4, a, b, c])
            }
            [_, _, _, middle, a, b, c] => number(&[middle & 0xF, a, b, c]),
            _ => {
                let (left, right) = node.split_at_checked(size / 2)?;
                number(if is_right { right } else { left })
            }
        })
    }
}

/// A section of data.
#[derive(Clone, Copy)]
struct Data<'d>(&'d [u8]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Map,
    Number,
    Pointer,
    Text,
    /// Something else, of so many octets.
    Other,
}

/// The start of a value.
struct Head {
    kind: Kind,
    /// Octets, entries, or where a pointer points.
    size: usize,
    /// Where what follows begins.
    next: usize,
}

impl<'d> Data<'d> {
    fn head(self, at: usize) -> Option<Head> {
        let byte = |at: usize| self.0.get(at).copied().map(usize::from);
        let first = byte(at)?;
        let mut next = at + 1;
        let mut number = |count: usize| {
            let bytes = self.0.get(next..next.checked_add(count)?)?;
            next += count;
            Some(
                bytes
                    .iter()
                    .fold(0_usize, |all, byte| all << 8 | usize::from(*byte)),
            )
        };
        let (code, low) = (first >> 5, first & 0x1F);
        if code == 1 {
            let high = low & 7;
            let size = match low >> 3 {
                0 => high << 8 | number(1)?,
                1 => (high << 16 | number(2)?) + 2_048,
                2 => (high << 24 | number(3)?) + 526_336,
                _ => number(4)?,
            };
            let kind = Kind::Pointer;
            return Some(Head { kind, size, next });
        }
        let code = if code == 0 { number(1)? + 7 } else { code };
        let size = match low {
            29 => 29 + number(1)?,
            30 => 285 + number(2)?,
            31 => 65_821 + number(3)?,
            size => size,
        };
        let kind = match code {
            2 => Kind::Text,
            5 | 6 | 9 => Kind::Number,
            7 => Kind::Map,
            11 => Kind::Array,
            // A boolean has its value for a size.
            14 => {
                return Some(Head {
                    kind: Kind::Other,
                    size: 0,
                    next,
                });
            }
            _ => Kind::Other,
        };
        Some(Head { kind, size, next })
    }

    /// What a value is, behind its pointers.
    fn meant(self, at: usize) -> Option<Head> {
        let mut head = self.head(at)?;
        for _ in 0..MOST_POINTERS {
            if head.kind != Kind::Pointer {
                return Some(head);
            }
            head = self.head(head.size)?;
        }
        None
    }

    /// Where the value of a key of a map is.
    fn member(self, at: usize, name: &str) -> Option<usize> {
        let map = self.meant(at).filter(|head| head.kind == Kind::Map)?;
        let mut at = map.next;
        for _ in 0..map.size {
            let value = self.end(at)?;
            if self.text(at) == Some(name) {
                return Some(value);
            }
            at = self.end(value)?;
        }
        None
    }

    /// Where a value ends. Values in values are counted, and not gone into.
    fn end(self, mut at: usize) -> Option<usize> {
        let mut left = 1_usize;
        for _ in 0..MOST_VALUES {
            let head = self.head(at)?;
            at = head.next;
            match head.kind {
                Kind::Pointer => {}
                Kind::Array => left = left.checked_add(head.size)?,
                Kind::Map => left = left.checked_add(head.size.checked_mul(2)?)?,
                Kind::Number | Kind::Other | Kind::Text => at = at.checked_add(head.size)?,
            }
            left -= 1;
            if left == 0 {
                return Some(at);
            }
        }
        None
    }

    fn text(self, at: usize) -> Option<&'d str> {
        let head = self.meant(at).filter(|head| head.kind == Kind::Text)?;
        std::str::from_utf8(self.0.get(head.next..head.next.checked_add(head.size)?)?).ok()
    }

    fn number(self, at: usize) -> Option<u64> {
        let head = self
            .meant(at)
            .filter(|head| head.kind == Kind::Number && head.size <= 8)?;
        let bytes = self.0.get(head.next..head.next.checked_add(head.size)?)?;
        Some(
            bytes
                .iter()
                .fold(0, |all, byte| all << 8 | u64::from(*byte)),
        )
    }
}

#[cfg(test)]
#[path = "../../../tests/web/mmdb.rs"]
mod mmdb;

#[cfg(test)]
mod tests {
    use super::mmdb::made;
    use super::*;

    const NETWORKS: [([u8; 4], u32, &str); 3] = [
        ([192, 0, 2, 0], 24, "DE"),
        ([198, 51, 100, 0], 25, "GB"),
        ([203, 0, 113, 7], 32, "FR"),
    ];

    #[test]
    fn addresses_are_in_the_country_of_their_network() {
        for record in [24, 28, 32] {
            let database = Database::read(made(record, &NETWORKS)).unwrap();
            for (address, country) in [
                ("192.0.2.200", Some("DE")),
                ("::ffff:192.0.2.200", Some("DE")),
                ("198.51.100.127", Some("GB")),
                ("198.51.100.128", None),
                ("203.0.113.7", Some("FR")),
                ("203.0.113.8", None),
                ("127.0.0.1", None),
                ("2001:db8::1", None),
            ] {
                let address = address.parse().unwrap();
                assert_eq!(database.country(address), country, "{record} {address}");
            }
        }
    }

    /// A file that is cut or has any one octet changed is refused, or says something or nothing.
    #[test]
    fn no_file_breaks_the_reader() {
        let whole = made(28, &NETWORKS);
        let addresses =
            ["192.0.2.200", "203.0.113.7", "2001:db8::1"].map(|one| one.parse().unwrap());
        let ask = |bytes: Vec<u8>| {
            let database = Database::read(bytes);
            database.map(|database| addresses.map(|address| database.country(address).is_some()))
        };
        assert_eq!(ask(whole.clone()), Some([true, true, false]));
        for length in 0..whole.len() {
            assert_eq!(ask(whole[..length].to_vec()), None);
        }
        for at in 0..whole.len() {
            for bits in [0x01, 0x20, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[at] ^= bits;
                ask(bytes);
            }
        }
        // A number of nodes that cannot be, in eight octets.
        let mut bytes = whole.clone();
        let at = bytes
            .windows(10)
            .rposition(|window| window == b"node_count")
            .unwrap()
            + 10;
        bytes.splice(
            at..at + 5,
            [8, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        );
        assert_eq!(ask(bytes), None);
        // A pointer to itself, and a map that says it has millions of entries.
        for data in [&[0x20, 0x00][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0xE1, 0x41]] {
            let mut bytes = whole.clone();
            let start = Database::read(whole.clone()).unwrap().data;
            bytes[start..start + data.len()].copy_from_slice(data);
            ask(bytes);
        }
    }

    #[test]
    fn a_file_that_has_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("countries.mmdb");
        std::fs::write(&file, made(24, &NETWORKS)).unwrap();
        let countries = Countries::open(&file, 0).unwrap();
        let address = "192.0.2.1".parse().unwrap();
        assert_eq!(countries.of(address, 1).as_deref(), Some("DE"));
        let write = |bytes: Vec<u8>, second: u64| {
            std::fs::write(&file, bytes).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
            let written = std::fs::File::options().write(true).open(&file).unwrap();
            written.set_modified(time).unwrap();
        };
        write(made(24, &[([192, 0, 2, 0], 24, "AT")]), 1_000);
        assert_eq!(countries.of(address, LOOK - 1).as_deref(), Some("DE"));
        assert_eq!(countries.of(address, LOOK).as_deref(), Some("AT"));
        write(b"half of it".to_vec(), 2_000);
        assert_eq!(countries.of(address, 2 * LOOK).as_deref(), Some("AT"));
        assert!(Countries::open(&file, 0).is_err());
    }
}
