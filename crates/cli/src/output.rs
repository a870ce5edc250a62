//! Where results and remarks go: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use quadcast_core::{Progress, Silent};
use serde::Serialize;

use crate::failure::Failure;
use crate::progress::Bars;

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

    /// Progress bars on a terminal, silence elsewhere.
    pub fn progress(&self) -> Arc<dyn Progress> {
        if self.quiet || !io::stderr().is_terminal() { Arc::new(Silent) } else { Arc::new(Bars::default()) }
    }
}

/// Columns that text for people may take.
pub const WIDTH: usize = 100;

/// A paragraph of lines that begin with `first`; further ones with blanks of the same width and `hanging`. A word that
/// is longer than a line stands alone in it.
pub fn wrapped(text: &str, first: &str, hanging: &str) -> String {
    let further = " ".repeat(first.chars().count()) + hanging;
    let (mut paragraph, mut line) = (String::new(), first.to_owned());
    let mut empty = true;
    for word in text.split(' ') {
        let width = line.chars().count() + word.chars().count() + usize::from(!empty);
        if !empty && width > WIDTH {
            paragraph.push_str(line.trim_end());
            paragraph.push('\n');
            line.clone_from(&further);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    paragraph.push_str(line.trim_end());
    paragraph.push('\n');
    paragraph
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_fit() {
        let text = wrapped(&"word ".repeat(50), "  - ", "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("  - word word") && text.contains("\n      word"), "{text}");
        assert_eq!(text.matches("word").count(), 50);
        assert_eq!(wrapped("short", "> ", ""), "> short\n");
        let long = "x".repeat(120);
        assert_eq!(wrapped(&format!("a {long} b"), "", " "), format!("a\n {long}\n b\n"));
    }
}
