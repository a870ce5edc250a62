//! One reader per layout, over shared parts: [`input`] (folders and compression), [`lines`] (lines, fields, numbers),
//! [`id_files`] and [`id_spaces`] (names and ids), [`splits`] (which file is which split) and [`notes`] (what to tell people).
//!
//! A reader never guesses silently: what it assumes it says in a note, and what it cannot use is an error with a
//! place. Nothing that a file can hold makes it panic.

mod contradictions;
mod dates;
mod descriptions;
mod detect;
mod evolving;
mod evolving_step;
mod id_files;
mod id_spaces;
mod input;
mod intervals;
mod json;
mod labelled;
mod lines;
mod lkge;
mod load;
mod named_operations;
mod notes;
mod openke;
mod operations;
mod quads;
mod quoting;
mod snapshots;
mod splits;
mod temporal;
mod triples;
mod type_constraints;
mod unread;

use quadcast_core::Splits;

use crate::{Content, SourceFile};

pub(crate) use dates::{date_of_day, days_since_1970, iso_day, iso_minute};
pub use descriptions::{COMPILED, DIVISION};
pub(crate) use lines::excerpt;
pub use load::load;
pub(crate) use named_operations::read_named;
pub(crate) use operations::read_text;
pub(crate) use quoting::looks_quoted;
pub use quoting::unquoted;

/// What a reader hands back: the data, and for temporal data the files of the splits.
type Reading = (Content, Option<Splits<SourceFile>>);
