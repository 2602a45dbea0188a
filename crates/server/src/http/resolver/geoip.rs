//! Countries of addresses, from a file in the format of `MaxMind` DB.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use maxminddb::{Reader, path};

use crate::runtime::reloaded_file::ReloadedFile;

/// The country database, which is read again when its file has changed.
#[derive(Debug)]
pub(crate) struct Countries(ReloadedFile<PathBuf, Database>);

type Database = Reader<Vec<u8>>;

const MAX_FILE_SIZE: u64 = 512 << 20;

impl Countries {
    pub(crate) fn open(file: &Path, now: u64) -> io::Result<Self> {
        let file = file.to_path_buf();
        ReloadedFile::open(file.clone(), file, |file| read(file), now).map(Self)
    }

    /// In which country an address is (ISO 3166), if that is known.
    pub(crate) fn of(&self, address: IpAddr, now: u64) -> Option<String> {
        country(&self.0.current(now), address).map(str::to_string)
    }
}

fn read(file: &Path) -> io::Result<Database> {
    let named = |problem: String| {
        let file = file.display();
        io::Error::other(format!("{file} cannot be used for countries: {problem}"))
    };
    let length = std::fs::metadata(file)
        .map_err(|error| named(error.to_string()))?
        .len();
    if length > MAX_FILE_SIZE {
        return Err(named(format!("it is larger than {MAX_FILE_SIZE} octets")));
    }
    let bytes = std::fs::read(file).map_err(|error| named(error.to_string()))?;
    Reader::from_source(bytes).map_err(|_| named("it is no MaxMind DB file".to_string()))
}

/// The country in which an address is used, or else the one in which it is registered.
fn country(database: &Database, address: IpAddr) -> Option<&str> {
    let entry = database.lookup(address.to_canonical()).ok()?;
    ["country", "registered_country", "country_code"]
        .into_iter()
        .find_map(|name| {
            let text = |path: &[_]| entry.decode_path::<&str>(path).ok().flatten();
            let code = text(&path![name]).or_else(|| text(&path![name, "iso_code"]))?;
            let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_code.then_some(code)
        })
}

#[cfg(test)]
#[path = "../../../tests/web/mmdb.rs"]
mod mmdb;

#[cfg(test)]
mod tests {
    use super::mmdb::made;
    use super::*;
    use crate::runtime::reloaded_file::CHECK_INTERVAL;
    use std::time::SystemTime;

    const NETWORKS: [([u8; 4], u32, &str); 3] = [
        ([192, 0, 2, 0], 24, "DE"),
        ([198, 51, 100, 0], 25, "GB"),
        ([203, 0, 113, 7], 32, "FR"),
    ];

    #[test]
    fn addresses_are_in_the_country_of_their_network() {
        for record in [24, 28, 32] {
            let database = Reader::from_source(made(record, &NETWORKS)).unwrap();
            for (address, expected) in [
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
                assert_eq!(country(&database, address), expected, "{record} {address}");
            }
        }
    }

    /// A file that is truncated or has any one octet changed is rejected, or gives some country or
    /// none: the reader neither panics nor runs for ever.
    #[test]
    fn no_file_breaks_the_reader() {
        let whole = made(28, &NETWORKS);
        let addresses =
            ["192.0.2.200", "203.0.113.7", "2001:db8::1"].map(|one| one.parse().unwrap());
        let ask = |bytes: Vec<u8>| {
            let database = Reader::from_source(bytes).ok()?;
            Some(addresses.map(|address| country(&database, address).is_some()))
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
        assert_eq!(
            countries.of(address, CHECK_INTERVAL - 1).as_deref(),
            Some("DE")
        );
        assert_eq!(countries.of(address, CHECK_INTERVAL).as_deref(), Some("AT"));
        write(b"half of it".to_vec(), 2_000);
        assert_eq!(
            countries.of(address, 2 * CHECK_INTERVAL).as_deref(),
            Some("AT")
        );
        assert!(Countries::open(&file, 0).is_err());
    }
}
