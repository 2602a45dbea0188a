//! Jobs in words.

use handfast_registry::{Job, JobKind, Progress};

use crate::http::pages::words;

/// How far a job is, as pages show it.
pub(in crate::http::console) struct ShownProgress {
    /// 0 to 100, if the total is known.
    pub(in crate::http::console) percent: Option<u64>,
    pub(in crate::http::console) words: String,
}

impl ShownProgress {
    pub(in crate::http::console) fn new(progress: &Progress, started: u64, now: u64) -> Self {
        let (done, total) = (progress.done, progress.total.filter(|total| *total > 0));
        let percent = total.map(|total| (done.saturating_mul(100) / total).min(100));
        let mut said = match total {
            Some(total) if progress.unit == "bytes" => {
                format!("{} of {}", words::bytes(done), words::bytes(total))
            }
            Some(total) => format!("{} of {} names", words::number(done), words::number(total)),
            None if progress.unit == "bytes" => words::bytes(done),
            None => words::count(done, "name", "names"),
        };
        if progress.counts.refused > 0 {
            let refused = words::number(progress.counts.refused);
            said.extend([" · ", &refused, " refused"]);
        }
        if let Some(total) = total.filter(|_| done > 0) {
            let spent = now.saturating_sub(started);
            let left = spent.saturating_mul(total.saturating_sub(done)) / done;
            said.extend([" · ", &duration(left), " left"]);
        }
        Self {
            percent,
            words: said,
        }
    }
}

/// A length of time, roughly.
fn duration(milliseconds: u64) -> String {
    match milliseconds / 60_000 {
        0 => "less than a minute".to_string(),
        minutes if minutes < 120 => {
            format!("about {}", words::count(minutes, "minute", "minutes"))
        }
        minutes => format!("about {}", words::count(minutes / 60, "hour", "hours")),
    }
}

/// What a job does, as a heading.
pub(in crate::http::console) fn title(kind: &JobKind) -> &'static str {
    match kind {
        JobKind::Import { .. } => "Import",
        JobKind::ReplaceUrl { is_host: true, .. } => "Replace a host",
        JobKind::ReplaceUrl { .. } => "Replace the beginning of addresses",
        JobKind::SetTtl { .. } => "Set how long values are cached",
        JobKind::Undo { .. } => "Undo",
        JobKind::Withdraw { .. } => "Withdraw names",
    }
}

/// Where a job is in its life, as pages show it.
pub(super) struct ShownJobState {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    pub(super) icon: &'static str,
}

impl ShownJobState {
    pub(super) fn of(job: &Job, is_running: bool) -> Self {
        let (word, class, icon) = match job.ended {
            None if is_running => ("Running", "new", "clock"),
            None => ("Interrupted", "look", "warning"),
            Some(_) if job.is_cancelled => ("Stopped", "withdrawn", "withdrawn"),
            Some(_) if job.counts.refused > 0 => ("Done, some refused", "look", "warning"),
            Some(_) => ("Done", "good", "check"),
        };
        Self { word, class, icon }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_said_in_words() {
        let progress = Progress {
            done: 29_904,
            total: Some(48_210),
            unit: "names",
            counts: handfast_registry::Counts {
                refused: 3,
                ..handfast_registry::Counts::default()
            },
        };
        let shown = ShownProgress::new(&progress, 0, 120_000);
        assert_eq!(shown.percent, Some(62));
        assert_eq!(
            shown.words,
            "29,904 of 48,210 names · 3 refused · about 1 minute left"
        );
    }
}
