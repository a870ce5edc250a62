//! Where results and remarks go: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use quadcast_core::Run;
use serde::Serialize;

use crate::failure::Failure;
use crate::interruption;
use crate::progress::Watching;

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
        let mut out = io::stdout().lock();
        let written = if self.json {
            serde_json::to_writer_pretty(&mut out, document)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
        } else {
            write!(out, "{}", text())
        };
        match written {
            // A reader that has seen enough (`| head`) is not an error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => {
                other.map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
            }
        }
    }

    /// A remark that all but `--quiet` shows.
    pub fn remark(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// A remark that only `--verbose` shows.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            eprintln!("{text}");
        }
    }

    /// What surrounds a computation: progress bars on a terminal, remarks everywhere but with `--quiet`, and Ctrl-C.
    pub fn run(&self) -> Run {
        Run { cancellation: interruption::cancellation(), ..Run::new(1, Arc::new(Watching::new(*self))) }
    }

    /// Whether progress is shown.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }
}
