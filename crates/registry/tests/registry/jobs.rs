//! Jobs that were cancelled.

use std::fmt::Write as _;

use handfast_registry::{Counts, Done, Import, Job, JobKind, Outcome, Report};

use super::*;

/// More than two transactions of names.
const NAMES: u64 = 1_203;

fn lines(count: u64) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let url = format!("https://old.example/{number}");
        writeln!(lines, r#"{{"id":"20.1/{number}","urls":["{url}"]}}"#).unwrap();
    }
    lines
}

fn names(scene: &Scene) {
    authority(scene, "20.1");
    let lines = lines(NAMES);
    let import = Import::default();
    let imported = scene.import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ());
    assert_eq!(imported.unwrap().counts.created, NAMES);
}

fn run(scene: &Scene, kind: JobKind) -> Job {
    let done = scene.run_job(&OPERATOR, kind, false, &mut |_| ());
    done.unwrap().job.unwrap()
}

fn undo(scene: &Scene, job: u64) -> Job {
    run(scene, JobKind::Undo { job })
}

/// Undoes a job, and cancels the undo after its first batch.
fn undo_some(scene: &Scene, job: u64) -> Job {
    let started = scene.start_job(&OPERATOR, JobKind::Undo { job }).unwrap();
    let number = started.job().number;
    let done = scene.finish_job(&OPERATOR, started, &mut |_| {
        scene.cancel_job(&OPERATOR, number).map(|_| ()).unwrap();
    });
    let job = done.unwrap().job.unwrap();
    assert!(job.is_cancelled && job.ended.is_some());
    assert!(job.counts.changed > 0 && job.counts.changed < NAMES);
    job
}

fn replaced(scene: &Scene) -> Job {
    run(
        scene,
        JobKind::ReplaceUrl {
            authority: "20.1".into(),
            from: "https://old.".into(),
            to: "https://new.".into(),
            is_host: false,
        },
    )
}

fn withdrawn(scene: &Scene) -> Job {
    let ids: Vec<_> = (0..NAMES).map(|number| format!("20.1/{number}")).collect();
    let done = scene.withdraw_all(&OPERATOR, &ids, "wrong", false, &mut |_| ());
    done.unwrap().job.unwrap()
}

fn counts(changed: u64, unchanged: u64) -> Counts {
    Counts {
        changed,
        unchanged,
        ..Counts::default()
    }
}

#[test]
fn an_undo_that_was_cancelled_is_finished_by_another() {
    for begin in [replaced, withdrawn] {
        let scene = scene();
        names(&scene);
        let first = begin(&scene);
        let part = undo_some(&scene, first.number);
        let some = part.counts.changed;
        let left = undo(&scene, first.number);
        assert_eq!(left.counts, counts(NAMES - some, some));
        let again = JobKind::Undo { job: first.number };
        assert_eq!(code(scene.start_job(&OPERATOR, again)), "undone");

        // The undos are undone; then all of it can be undone again.
        assert_eq!(undo(&scene, part.number).counts, counts(some, 0));
        let again = undo(&scene, first.number);
        assert_eq!(again.counts, counts(some, NAMES - some));
        let record = scene.show(&OPERATOR, "20.1/7").unwrap().record;
        assert_eq!(&*record.values[0].data, b"https://old.example/7");
        assert!(record.tombstone.is_none());
    }
}

#[test]
fn an_undo_that_was_undone_can_be_done_again() {
    let scene = scene();
    names(&scene);
    let first = replaced(&scene).number;
    let whole = undo(&scene, first).number;
    assert_eq!(undo(&scene, whole).counts, counts(NAMES, 0));
    assert_eq!(undo(&scene, first).counts, counts(NAMES, 0));
}

#[test]
fn resuming_a_job_that_is_over_says_what_to_do_instead() {
    let scene = scene();
    names(&scene);
    let import = scene.jobs().unwrap().last().unwrap().number;
    let first = replaced(&scene).number;
    let part = undo_some(&scene, first).number;
    let resume = |job| scene.resume_job(&OPERATOR, job).map(|_| ()).unwrap_err();
    let cancel = |job| scene.cancel_job(&OPERATOR, job).map(|_| ()).unwrap_err();
    for (error, code, word) in [
        (resume(part), "cancelled", "undo job 2 again"),
        (resume(first), "done", "nothing is left"),
        (cancel(part), "done", "cancelled already"),
        (cancel(first), "done", "undo it instead"),
        (cancel(import), "done", "undo it instead"),
    ] {
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// The writer has the whole import when it is cancelled, and stops nevertheless.
#[test]
fn an_import_that_was_cancelled_stops_where_the_writer_is_and_is_taken_again() {
    const MANY: u64 = 20_000;
    let scene = scene();
    authority(&scene, "20.1");
    let (import, lines) = (Import::default(), lines(MANY));
    let outcome = scene.import(&OPERATOR, &import, lines.as_bytes(), &mut |report| {
        if let Report::Progress { bytes: 1.., .. } = report {
            let number = scene.jobs().unwrap().last().unwrap().number;
            scene.cancel_job(&OPERATOR, number).map(|_| ()).unwrap();
        }
    });
    assert_eq!(code(outcome), "cancelled");
    let job = scene.jobs().unwrap().pop().unwrap();
    assert!(job.is_cancelled && job.counts.created < MANY, "{job:?}");
    let error = scene.resume_job(&OPERATOR, job.number).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    assert!(error.to_string().contains("import the same again"));
    assert!(scene.check().unwrap().problems.is_empty());
    let rest = scene.import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ());
    let rest = rest.unwrap().counts;
    assert_eq!(rest.unchanged, job.counts.created);
    assert_eq!(rest.created, MANY - job.counts.created);
    assert!(scene.check().unwrap().problems.is_empty());
}

#[test]
fn what_would_be_done_is_done_by_no_event() {
    let scene = scene();
    names(&scene);
    let ids = ["20.1/7".to_string()];
    let mut told = Vec::new();
    let mut report = |outcome: &Outcome| told.push((outcome.line, outcome.done.clone()));
    let kind = JobKind::SetTtl {
        authority: "20.1".into(),
        value_type: None,
        seconds: 60,
    };
    let plan = scene.run_job(&OPERATOR, kind, true, &mut report);
    assert_eq!(plan.unwrap().counts, counts(NAMES, 0));
    let plan = scene.withdraw_all(&OPERATOR, &ids, "wrong", true, &mut report);
    assert_eq!(plan.unwrap().counts, counts(1, 0));
    // Only a list has line numbers.
    assert_eq!(told.pop(), Some((1, Done::Changed(None))));
    assert!(told.iter().all(|told| *told == (0, Done::Changed(None))));
    let import = Import {
        dry_run: true,
        tells_all: true,
        ..Import::default()
    };
    let new = br#"{"id":"20.1/new"}"#;
    let mut told = Vec::new();
    let planned = scene.import(&OPERATOR, &import, &new[..], &mut |report| {
        if let Report::Line(outcome) = report {
            told.push((outcome.line, outcome.done.clone()));
        }
    });
    assert_eq!(planned.unwrap().counts.created, 1);
    assert_eq!(told, [(1, Done::Created(None))]);
}
