//! Updates by import: the state after an interruption, and what an undo covers.

use std::fmt::Write as _;
use std::io::Read;

use handfast_registry::{Import, Imported, JobKind, RegistryError, ValueCounts};

use super::*;

/// More than one chunk is read, unsorted, so that names are sorted first.
const NAMES: u64 = 3_000;

fn table(host: &str) -> String {
    let mut table = "id,url\n".to_string();
    for number in 0..NAMES {
        let number = (number * 7) % NAMES;
        writeln!(table, "20.1/{number},https://{host}/{number}").unwrap();
    }
    table
}

fn import(scene: &Scene, input: impl Read + Send) -> Result<Imported, RegistryError> {
    let import = Import {
        source: "names.csv".into(),
        update: true,
        ..Import::default()
    };
    scene.import(&OPERATOR, &import, input, &mut |_| ())
}

/// Without events stored with the names, only the part after an interruption would have been
/// undone.
#[test]
fn an_interrupted_update_is_resumed_and_undone_as_a_whole() {
    let scene = scene();
    authority(&scene, "20.1");
    let old = table("old.example");
    let created = import(&scene, old.as_bytes()).unwrap();
    assert_eq!(
        (created.counts.created, created.values),
        (NAMES, ValueCounts::default())
    );
    let url = |scene: &Scene, number: u64| {
        let shown = scene.show(&OPERATOR, &format!("20.1/{number}")).unwrap();
        String::from_utf8_lossy(&shown.record.values[0].data).into_owned()
    };

    // The input is longer than the part for detection, and breaks off behind it.
    let new = format!("{}{}", table("new.example"), "\n".repeat(2 << 20));
    let failed = import(&scene, InterruptedReader(&new.as_bytes()[..1_500_000]));
    assert!(failed.is_err());
    assert_eq!(url(&scene, 7), "https://new.example/7");
    let events = scene.jobs().unwrap().pop().unwrap().events;
    let count = |events: &[(u64, u64)]| events.iter().map(|(from, to)| to - from + 1).sum::<u64>();
    assert_eq!(
        count(&events),
        NAMES,
        "the events are stored before the end"
    );

    // Another change is made in between.
    scene
        .withdraw_all(&OPERATOR, &["20.1/5".into()], "wrong", false, &mut |_| ())
        .unwrap();
    let resumed = import(&scene, new.as_bytes()).unwrap();
    assert_eq!(resumed.counts.refused, 0);
    let job = scene.job(resumed.job.unwrap()).unwrap();
    assert!(resumed.is_resumed);
    assert_eq!(count(&job.events), NAMES);
    let undo = JobKind::Undo { job: job.number };
    let undone = scene.run_job(&OPERATOR, undo, false, &mut |_| ()).unwrap();
    assert_eq!(undone.counts.changed, NAMES - 1);
    assert_eq!(undone.counts.refused, 1);
    assert_eq!(url(&scene, 7), "https://old.example/7");
}
