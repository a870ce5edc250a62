//! From a path to a dataset: detection, the reader of the layout, the notes about both, and the catalogue.

use std::path::Path;

use super::descriptions::{DIVISION, Division, find_description};
use super::detect::detect;
use super::input::Folder;
use super::notes::Notes;
use super::{evolving, intervals, labelled, lkge, openke, quads, snapshots};
use crate::{Content, DataError, Format, LoadOptions, Loaded, identify};

/// Reads the dataset in a folder: finds out the layout (unless `options` names it), reads the files in place, also
/// compressed ones, and compares the content with the catalogue of known benchmark variants.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, DataError> {
    let mut folder = Folder::open(path)?;
    let mut notes = Notes::default();
    let division: Option<Division> =
        find_description(&mut folder, "the description of the division", DIVISION)?;
    let (format, why) = match (options.format, &division) {
        (Some(format), _) => (format, "as asked for".to_string()),
        (None, Some(division)) => (division.layout, format!("because {DIVISION} says so")),
        (None, None) => detect(&folder).map(|(format, why)| (format, format!("because {why}")))?,
    };
    notes.add(format!("Layout {}, {why}.", format.name()));
    let (mut content, sources) = match format {
        Format::Quads => quads::read(&mut folder, &mut notes),
        Format::Labelled => labelled::read(&mut folder, &mut notes),
        Format::Intervals => intervals::read(&mut folder, &mut notes),
        Format::Openke => openke::read(&mut folder, &mut notes),
        Format::WikidataEvolve => evolving::read(&mut folder, &mut notes, options.contradictory),
        Format::Snapshots => snapshots::read(&mut folder, &mut notes),
        Format::Lkge => lkge::read(&mut folder, &mut notes),
    }?;
    if let (Content::Temporal(dataset), Some(calendar)) =
        (&mut content, division.and_then(|division| division.calendar))
    {
        dataset.axis = dataset.axis.clone().with_calendar(calendar);
        let zero = calendar.label(0);
        notes.add(format!("{DIVISION} says that times are {}s and that 0 is {zero}.", calendar.unit.word()));
    }
    let variant = identify(&content);
    if let (Content::Temporal(dataset), Some(calendar)) = (&mut content, variant.and_then(|v| v.calendar)) {
        dataset.axis = dataset.axis.clone().with_calendar(calendar);
    }
    notes.unused(folder.unused());
    let (path, notes) = (path.to_path_buf(), notes.sentences);
    Ok(Loaded { path, format, notes, content, sources, variant })
}
