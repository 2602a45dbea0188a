//! The store and raw LMDB, in one run: durable creates by concurrent writers, and random
//! reads.
//!
//!     cargo run --release -p handfast-bench --bin store [SECONDS] [RECORDS]

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reads the clock, prints, and stops when something fails"
)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use handfast_registry::{Environment, NewAuthority, NewName, Principal, Registry};
use handfast_store::{Store, StoreError, TableKey, Write};
use heed::types::Bytes;
use heed::{Database, DatabaseFlags, Env, EnvOpenOptions, WithoutTls};

const WRITERS: usize = 10;
/// The sizes of what one create writes: record, event and leaf hash, that the name has the event,
/// and the entry of the reverse index.
const WRITTEN: [usize; 3] = [260, 210, 0];

fn main() {
    let mut arguments = env::args().skip(1);
    let seconds = arguments.next().map_or(3, |text| text.parse().unwrap());
    let records = arguments
        .next()
        .map_or(1_000_000, |text| text.parse().unwrap());
    // Beside the build, so that it is on a disk and not in memory.
    let folder = tempfile::tempdir_in("target").unwrap();
    for round in 1..=3 {
        let path = |name: &str| folder.path().join(format!("{name}-{round}"));
        let raw = raw_writes(&path("raw"), Duration::from_secs(seconds));
        let ours = our_creates(&path("ours"), Duration::from_secs(seconds));
        println!(
            "durable creates, {WRITERS} writers: raw {raw:.0}/s, registry {ours:.0}/s, {:.0} %",
            100.0 * ours / raw
        );
    }
    reads(&folder.path().join("reads"), records);
}

/// The ceiling: one thread, as many changes in a transaction as there are writers, synced.
fn raw_writes(folder: &Path, time: Duration) -> f64 {
    let (env, tables) = raw_env(folder);
    let began = Instant::now();
    let mut number: u64 = 0;
    while began.elapsed() < time {
        let mut txn = env.write_txn().unwrap();
        for _ in 0..WRITERS {
            number += 1;
            let key = name(number);
            let mut numbered = key.clone().into_bytes();
            numbered.extend(number.to_be_bytes());
            let keys: [&[u8]; 3] = [key.as_bytes(), &number.to_be_bytes(), &numbered];
            for ((table, key), size) in tables.iter().zip(keys).zip(WRITTEN) {
                table.put(&mut txn, key, &vec![7; size]).unwrap();
            }
            let url = format!("URL\0https://example.org/{number}");
            tables
                .last()
                .unwrap()
                .put(&mut txn, url.as_bytes(), key.as_bytes())
                .unwrap();
        }
        txn.commit().unwrap();
    }
    rate(number, began)
}

fn our_creates(folder: &Path, time: Duration) -> f64 {
    let registry = Arc::new(Registry::create(folder, world()).unwrap());
    let operator = Principal::Operator;
    registry
        .create_authority(&operator, "20.1000", NewAuthority::default())
        .unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (registry, count) = (Arc::clone(&registry), Arc::clone(&count));
            thread::spawn(move || {
                while began.elapsed() < time {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    let new = NewName::urls(&[&format!("https://example.org/{number}")]);
                    let id = format!("20.1000/{number:012}");
                    registry
                        .create_name(&Principal::Operator, &id, new)
                        .unwrap();
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    rate(count.load(Ordering::Relaxed), began)
}

fn reads(folder: &Path, records: u64) {
    let store = Store::create(folder).unwrap();
    for start in (0..records).step_by(5_000) {
        let numbers = start..(start + 5_000).min(records);
        let writes: Vec<_> = numbers
            .map(|n| Write::put(TableKey::record(name(n).as_bytes()), &[7; 260]))
            .collect();
        store
            .change(move |_| Ok::<_, StoreError>((writes, ())))
            .unwrap();
    }
    let keys: Vec<String> = (0..1_000_000_u64).map(|n| name(mix(n) % records)).collect();
    for _ in 0..3 {
        let began = Instant::now();
        let mut bytes = 0;
        for key in &keys {
            let place = TableKey::record(key.as_bytes());
            bytes += store
                .read(|now| now.get(&place, <[u8]>::len))
                .unwrap()
                .unwrap();
        }
        let ours = rate(1_000_000, began);
        assert_eq!(bytes, 260_000_000);
        let batched = {
            let began = Instant::now();
            store
                .read(|now| {
                    keys.iter().try_for_each(|key| {
                        now.get(&TableKey::record(key.as_bytes()), <[u8]>::len)
                            .map(|found| assert!(found.is_some()))
                    })
                })
                .unwrap();
            rate(1_000_000, began)
        };
        let (raw, raw_batched) = {
            // One environment a process: the raw reads use the same file through their own.
            let copy = folder.with_extension("raw");
            if !copy.exists() {
                std::fs::create_dir(&copy).unwrap();
                store.backup(&copy.join("data.mdb")).unwrap();
            }
            raw_reads(&copy, &keys)
        };
        println!(
            "reads of {records}: a snapshot each: raw {raw:.0}/s, store {ours:.0}/s, {:.0} %; \
             one snapshot: raw {raw_batched:.0}/s, store {batched:.0}/s, {:.0} %",
            100.0 * ours / raw,
            100.0 * batched / raw_batched
        );
    }
}

fn raw_reads(folder: &Path, keys: &[String]) -> (f64, f64) {
    let env = open(folder);
    let txn = env.read_txn().unwrap();
    let table: Database<Bytes, Bytes> = env.open_database(&txn, Some("records")).unwrap().unwrap();
    txn.commit().unwrap();
    let began = Instant::now();
    for key in keys {
        let txn = env.read_txn().unwrap();
        assert!(table.get(&txn, key.as_bytes()).unwrap().is_some());
    }
    let each = rate(1_000_000, began);
    let began = Instant::now();
    let txn = env.read_txn().unwrap();
    for key in keys {
        assert!(table.get(&txn, key.as_bytes()).unwrap().is_some());
    }
    (each, rate(1_000_000, began))
}

fn raw_env(folder: &Path) -> (Env<WithoutTls>, [Database<Bytes, Bytes>; 4]) {
    std::fs::create_dir_all(folder).unwrap();
    let env = open(folder);
    let mut txn = env.write_txn().unwrap();
    let tables = ["records", "events", "events-by-key", "reverse"].map(|name| {
        let flags = if name == "reverse" {
            DatabaseFlags::DUP_SORT
        } else {
            DatabaseFlags::empty()
        };
        let mut options = env.database_options().types::<Bytes, Bytes>();
        options.name(name).flags(flags).create(&mut txn).unwrap()
    });
    txn.commit().unwrap();
    (env, tables)
}

#[expect(
    unsafe_code,
    reason = "LMDB maps a file; the folder is this program's own"
)]
fn open(folder: &Path) -> Env<WithoutTls> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(1 << 38).max_dbs(16);
    // Safety: nobody else has the folder, which was made for this run.
    unsafe { options.open(folder) }.unwrap()
}

fn world() -> Environment {
    let count = AtomicU64::new(1);
    Environment::new(
        || 1_800_000_000_000,
        move |bytes| {
            let draw = count.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            bytes
                .iter_mut()
                .zip(draw.iter().cycle())
                .for_each(|(byte, d)| *byte = *d);
        },
    )
}

fn name(number: u64) -> String {
    format!("hdl:20.1000/{number:012}")
}

/// Numbers in no order.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a rate needs no 53 bits"
)]
fn rate(count: u64, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64()
}
