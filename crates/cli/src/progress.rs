//! Progress bars with the time that is left, for phases that take longer than two seconds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quadcast_core::Progress;

use crate::output::Output;

/// Phases shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shows progress on a terminal, one bar per phase, and passes on remarks.
pub struct Watching {
    output: Output,
    current: Mutex<Option<(ProgressBar, Instant)>>,
}

impl Watching {
    pub fn new(output: Output) -> Self {
        Self { output, current: Mutex::default() }
    }

    fn with(&self, f: impl FnOnce(&mut Option<(ProgressBar, Instant)>)) {
        // A panic elsewhere does not make a progress bar unusable.
        f(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Watching {
    fn begin(&self, phase: &str, total: u64) {
        if !self.output.shows_progress() {
            return;
        }
        let style = ProgressStyle::with_template("{msg:>8} {wide_bar} {percent:>3} %  {eta} left  {prefix}")
            .expect("the template is valid");
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
            .with_style(style)
            .with_message(phase.to_owned());
        self.with(|current| *current = Some((bar, Instant::now())));
    }

    fn advance(&self, units: u64) {
        self.with(|current| {
            let Some((bar, start)) = current else { return };
            if bar.is_hidden() && start.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.inc(units);
        });
    }

    fn note(&self, text: &str) {
        self.with(|current| {
            if let Some((bar, _)) = current {
                bar.set_prefix(text.to_owned());
            }
        });
    }

    fn remark(&self, text: &str) {
        self.output.remark(text);
    }

    fn detail(&self, text: &str) {
        self.output.detail(text);
    }

    fn end(&self) {
        self.with(|current| {
            if let Some((bar, _)) = current.take() {
                bar.finish_and_clear();
            }
        });
    }
}
