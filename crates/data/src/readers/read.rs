//! From a folder to its content: detection, the reader of the layout, and the notes about both.

use std::path::Path;

use super::detect::detect;
use super::division::{DIVISION, Division};
use super::input::Folder;
use super::notes::Notes;
use super::{Reading, evolving, intervals, labelled, lkge, openke, quads, snapshots};
use crate::{Content, DataError, Format, LoadOptions};

/// Reads a folder in the layout that is given or detected. Returns the layout, notes and what was read.
pub(crate) fn read(path: &Path, options: &LoadOptions) -> Result<(Format, Vec<String>, Reading), DataError> {
    let mut folder = Folder::open(path)?;
    let mut notes = Notes::default();
    let division = Division::find(&mut folder)?;
    let (format, why) = match (options.format, &division) {
        (Some(format), _) => (format, "as asked for".to_string()),
        (None, Some(division)) => (division.layout, format!("because {DIVISION} says so")),
        (None, None) => detect(&folder).map(|(format, why)| (format, format!("because {why}")))?,
    };
    notes.add(format!("Layout {}, {why}.", layout_name(format)));
    let mut reading = match format {
        Format::Quads => quads::read(&mut folder, &mut notes),
        Format::Labelled => labelled::read(&mut folder, &mut notes),
        Format::Intervals => intervals::read(&mut folder, &mut notes),
        Format::Openke => openke::read(&mut folder, &mut notes),
        Format::WikidataEvolve => evolving::read(&mut folder, &mut notes, options.contradictory),
        Format::Snapshots => snapshots::read(&mut folder, &mut notes),
        Format::Lkge => lkge::read(&mut folder, &mut notes),
    }?;
    if let (Content::Temporal(dataset), Some(calendar)) =
        (&mut reading.content, division.and_then(|division| division.calendar))
    {
        dataset.axis = dataset.axis.clone().with_calendar(calendar);
        let zero = calendar.label(0);
        notes.add(format!("{DIVISION} says that times are {}s and that 0 is {zero}.", calendar.unit.word()));
    }
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
        Format::Lkge => "lkge",
    }
}
