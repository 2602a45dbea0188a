//! Which jobs were undone.
//!
//! A job can be undone once. An undo counts only if it completed without errors and has not itself
//! been undone.

use std::collections::HashMap;

use crate::jobs::job::{Job, JobKind};

/// The undone jobs, each with the job that undid it. The input is all jobs, oldest first.
pub(crate) fn undone(jobs: &[Job]) -> HashMap<u64, u64> {
    let mut undos: HashMap<u64, Vec<&Job>> = HashMap::new();
    for job in jobs {
        if let JobKind::Undo { job: of } = job.kind {
            undos.entry(of).or_default().push(job);
        }
    }
    let undos_of = |job: &Job| undos.get(&job.number).into_iter().flatten().copied();
    let mut undone = HashMap::new();
    // The job that undoes another comes after it, so it is known by then.
    for job in jobs.iter().rev() {
        let again = undos_of(job)
            .flat_map(undos_of)
            .filter(|again| again.counts.changed > 0 && !undone.contains_key(&again.number));
        let done_again = again.map(|again| again.number).max();
        let whole = undos_of(job).filter(|undo| {
            let is_whole = undo.ended.is_some() && !undo.is_cancelled && undo.counts.refused == 0;
            is_whole && Some(undo.number) > done_again
        });
        if let Some(by) = whole.map(|undo| undo.number).max() {
            undone.insert(job.number, by);
        }
    }
    undone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::principal::Principal;
    use crate::import::Counts;

    /// An undo: of which job, whether it was cancelled, how many names it changed and rejected.
    type Undo = (u64, bool, u64, u64);

    fn job(number: u64, (of, is_cancelled, changed, refused): Undo) -> Job {
        Job {
            number,
            ended: Some(1),
            is_cancelled,
            counts: Counts {
                changed,
                refused,
                ..Counts::default()
            },
            ..Job::planned(&Principal::Operator, JobKind::Undo { job: of })
        }
    }

    /// The first job undoes a job that does not exist.
    #[test]
    fn a_job_is_undone_if_all_of_it_is_and_stays_so() {
        let cases: [(&[Undo], Option<u64>); 10] = [
            (&[], None),
            (&[(1, false, 9, 0)], Some(2)),
            (&[(1, true, 5, 0)], None),
            (&[(1, false, 8, 1)], None),
            (&[(1, true, 5, 0), (1, false, 4, 0)], Some(3)),
            // The undo is undone, and that is undone again.
            (&[(1, false, 9, 0), (2, false, 9, 0)], None),
            (&[(1, false, 9, 0), (2, true, 3, 0)], None),
            (
                &[(1, false, 9, 0), (2, false, 9, 0), (3, false, 9, 0)],
                Some(2),
            ),
            // The first part is done again after the second was undone, and is undone at last.
            (&[(1, true, 5, 0), (1, false, 4, 0), (2, false, 5, 0)], None),
            (
                &[
                    (1, true, 5, 0),
                    (1, false, 4, 0),
                    (2, false, 5, 0),
                    (1, false, 5, 0),
                ],
                Some(5),
            ),
        ];
        for (undos, by) in cases {
            let first = job(1, (0, false, 9, 0));
            let later = (2..).zip(undos).map(|(number, undo)| job(number, *undo));
            let jobs: Vec<_> = [first].into_iter().chain(later).collect();
            assert_eq!(undone(&jobs).get(&1).copied(), by, "{undos:?}");
        }
    }
}
