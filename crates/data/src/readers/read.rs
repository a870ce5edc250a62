//! From a folder to its content: detection, the reader of the layout, and the notes about both.

use std::path::Path;

use super::detect::detect;
use super::input::Folder;
use super::notes::Notes;
use super::{Reading, evolving, intervals, labelled, openke, quads, snapshots};
use crate::{DataError, Format};

/// Reads a folder in the layout that is given or detected. Returns the layout, notes and what was read.
pub(crate) fn read(path: &Path, format: Option<Format>) -> Result<(Format, Vec<String>, Reading), DataError> {
    let mut folder = Folder::open(path)?;
    let mut notes = Notes::default();
    let (format, why) = match format {
        Some(format) => (format, "as asked for".to_string()),
        None => detect(&folder).map(|(format, why)| (format, format!("because {why}")))?,
    };
    notes.add(format!("Layout {}, {why}.", layout_name(format)));
    let reading = match format {
        Format::Quads => quads::read(&mut folder, &mut notes),
        Format::Labelled => labelled::read(&mut folder, &mut notes),
        Format::Intervals => intervals::read(&mut folder, &mut notes),
        Format::Openke => openke::read(&mut folder, &mut notes),
        Format::WikidataEvolve => evolving::read(&mut folder, &mut notes),
        Format::Snapshots => snapshots::read(&mut folder, &mut notes),
    }?;
    notes.unused(&folder.unused());
    Ok((format, notes.into_sentences(), reading))
}

/// The layout's name on the command line.
const fn layout_name(format: Format) -> &'static str {
    match format {
        Format::Quads => "quads",
        Format::Labelled => "labelled",
        Format::Intervals => "intervals",
        Format::Openke => "openke",
        Format::WikidataEvolve => "wikidata-evolve",
        Format::Snapshots => "snapshots",
    }
}
