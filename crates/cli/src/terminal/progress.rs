//! How far long work has come: on standard error, and only on a terminal.

use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

/// A line that says how far something has come, how fast, and how long it will take.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Of something whose end is known, or not.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let (bar, template) = match total {
            Some(total) => {
                let template = "{wide_bar} {percent}%  {msg}  {eta} left";
                (ProgressBar::new(total), template)
            }
            None => (ProgressBar::no_length(), "{spinner} {msg}  {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// At a position, after a number of things.
    pub(crate) fn at(&self, position: u64, what: &str, count: u64) {
        self.0.set_position(position);
        let milliseconds = self.0.elapsed().as_millis().max(1);
        let rate = u128::from(count) * 1_000 / milliseconds;
        let rate = HumanCount(u64::try_from(rate).unwrap_or(u64::MAX));
        self.0
            .set_message(format!("{} {what}, {rate}/s", HumanCount(count)));
    }

    /// Prints a line without getting in its way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
