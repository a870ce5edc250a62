//! One reader per layout, over shared parts: [`input`] (folders and compression), [`lines`] (lines, fields, numbers),
//! [`ids`] (names and id spaces), [`splits`] (which file is which split) and [`notes`] (what to tell people).
//!
//! A reader never guesses silently: what it assumes it says in a note, and what it cannot use is an error with a
//! place. Nothing that a file can hold makes it panic.

mod compiled;
mod contradictions;
mod detect;
mod division;
mod evolving;
mod evolving_step;
mod ids;
mod input;
mod intervals;
mod json;
mod labelled;
mod lines;
mod lists;
mod lkge;
mod moments;
mod named_operations;
mod notes;
mod openke;
mod operation_rows;
mod operations;
mod quads;
mod quoting;
mod read;
mod snapshots;
mod spaces;
mod splits;
mod temporal;
mod triples;
mod type_constraints;

use quadcast_core::Splits;

use crate::{Content, SourceFile};

pub use compiled::COMPILED;
pub use division::DIVISION;
pub use input::Compression;
pub(crate) use input::{failure, file_name, stream};
pub(crate) use lines::excerpt;
pub(crate) use moments::{date_of_day, days_since_1970, iso_day, iso_minute};
pub(crate) use named_operations::read_named;
pub(crate) use operations::read_text;
pub(crate) use quoting::looks_quoted;
pub use quoting::unquoted;
pub(crate) use read::read;

/// What a reader hands back.
pub(crate) struct Reading {
    /// The data.
    pub content: Content,
    /// Files of the splits, for temporal data.
    pub sources: Option<Splits<SourceFile>>,
}

impl Reading {
    /// Content whose files are no evidence for the audit.
    fn without_sources(content: Content) -> Self {
        Self { content, sources: None }
    }
}
