//! Where results and remarks go: results to standard output, everything else to standard error.
//!
//! Nothing else in the program prints. What people read passes `shown_lines` here, so that no name from the data can act on
//! their terminal; files and pipes of CSV get exact text.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quadcast_core::{Progress, Run};
use quadcast_report::{shown, shown_json, shown_lines};
use serde::Serialize;

use crate::process;

/// How a command can fail: with the error of the run library, which knows its exit code.
pub use quadcast_run::RunError as Failure;

/// Phases shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a command speaks.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub json: bool,
    pub quiet: bool,
    pub verbose: bool,
}

impl Output {
    /// The result: one JSON document, or text for people.
    pub fn result(&self, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        print(|out| {
            if self.json {
                let document = serde_json::to_string_pretty(document)?;
                return writeln!(out, "{}", shown_json(&document));
            }
            out.write_all(shown_lines(&text()).as_bytes())
        })
    }

    /// A remark that all but `--quiet` shows.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// A remark that only `--verbose` shows.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            say(text);
        }
    }

    /// What surrounds a computation: progress bars on a terminal, remarks everywhere but with `--quiet`, and Ctrl-C.
    pub fn run(&self) -> Run {
        Run { cancellation: process::cancellation(), ..Run::new(1, Arc::new(self.progress())) }
    }

    /// The progress alone, of what Ctrl-C may end at any moment.
    pub fn progress(&self) -> impl Progress + use<> {
        Watching { output: *self, current: Mutex::default() }
    }
}

/// Writes a line or more to standard error.
pub fn say(text: &str) {
    eprintln!("{}", shown_lines(text));
}

/// Writes to standard output: exact bytes to a file or a pipe, on a terminal with control characters shown. A reader that has
/// seen enough (`| head`) is not an error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = if out.get_ref().is_terminal() {
        let mut bytes = Vec::new();
        let written = write(&mut bytes);
        written.and_then(|()| out.write_all(shown_lines(&String::from_utf8_lossy(&bytes)).as_bytes()))
    } else {
        write(&mut out)
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Shows progress on a terminal, one bar per phase with the time that is left, and passes on remarks.
struct Watching {
    output: Output,
    current: Mutex<Option<(ProgressBar, Instant)>>,
}

impl Watching {
    fn with(&self, f: impl FnOnce(&mut Option<(ProgressBar, Instant)>)) {
        // A panic elsewhere does not make a progress bar unusable.
        f(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Watching {
    fn begin(&self, phase: &str, total: u64) {
        if self.output.quiet || !io::stderr().is_terminal() {
            return;
        }
        let style = ProgressStyle::with_template("{msg:>8} {wide_bar} {percent:>3} %  {eta} left  {prefix}")
            .expect("the template is valid");
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
            .with_style(style)
            .with_message(shown(phase).to_string());
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
                bar.set_prefix(shown(text).to_string());
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
