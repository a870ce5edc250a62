//! The layout of `WikidataEvolve`: global ids at the top, and per step the folders `updates/k` (operations and
//! evaluation), `increments/k` (added training triples) and `snapshots/k` (what is present, in local ids).
//!
//! The upstream repository calls the same three folders `incremental`, `pseudo_incremental` and `static`; both sets of
//! names are accepted.

use quadcast_core::{EvolvingDataset, Names, Vocabulary};

use super::Reading;
use super::contradictions::refuse_contradictions;
use super::descriptions::numbers_are_wikidata;
use super::evolving_step::{Folders, Step, read_step};
use super::id_files::{IdFile, IdFiles, Order, names_by_id};
use super::input::Folder;
use super::notes::Notes;
use super::splits::read_parallel;
use crate::{Content, DataError, Format, wikidata};

/// Reads a folder of updates. Operations that contradict the graph are an error, unless they are asked for.
pub(super) fn read(
    folder: &mut Folder,
    notes: &mut Notes,
    contradictory: bool,
) -> Result<Reading, DataError> {
    let lists = IdFiles::find(folder, Order::IdFirst)?;
    notes.compression(lists.paths());
    notes.add("The columns are head, tail, relation, then an operation or a label.");
    lists.describe(notes);
    let missing = |file| folder.missing(Format::WikidataEvolve, file);
    let entities = lists.entities.as_ref().ok_or_else(|| missing("entity2id.txt"))?;
    let relations = lists.relations.as_ref().ok_or_else(|| missing("relation2id.txt"))?;
    let parts = Folders {
        updates: part(folder, ["updates", "incremental"])?.ok_or_else(|| missing("updates/1"))?,
        increments: part(folder, ["increments", "pseudo_incremental"])?,
        snapshots: part(folder, ["snapshots", "static"])?,
    };
    let mut numbers: Vec<u32> =
        parts.updates.numbered(|name| name.parse().ok()).into_iter().map(|(number, _)| number).collect();
    numbers.dedup();
    if numbers.is_empty() {
        return Err(parts.updates.missing(Format::WikidataEvolve, "the folders 1, 2, …"));
    }
    let spaces = lists.spaces();
    let steps = read_parallel(&numbers, |&number| read_step(number, step_folders(&parts, number)?, spaces))?;
    let vocabulary = if numbers_are_wikidata(folder)? {
        Vocabulary {
            entities: wikidata_names(entities, wikidata::ITEM),
            relations: wikidata_names(relations, wikidata::PROPERTY),
        }
    } else {
        Vocabulary { entities: entities.names(None), relations: relations.names(None) }
    };
    if !contradictory {
        refuse_contradictions(&steps, &vocabulary)?;
    }
    describe(&numbers, &steps, notes);
    if parts.snapshots.is_some() {
        notes.add("Of the snapshot folders only the id lists are read; their triples repeat the others in local ids, and only the \
             first rows are looked at.");
    }

    let steps = steps.into_iter().map(|step| step.content).collect();
    let dataset = EvolvingDataset { name: folder.name(), vocabulary, steps };
    Ok((Content::Evolving(dataset), None))
}

fn step_folders(parts: &Folders, number: u32) -> Result<Folders, DataError> {
    let inside = |part: &Folder| {
        let name = part.folders.iter().find(|name| name.parse() == Ok(number));
        name.map(|name| part.inside(name)).transpose()
    };
    let optional = |part: &Option<Folder>| part.as_ref().map_or(Ok(None), inside);
    Ok(Folders {
        updates: inside(&parts.updates)?
            .ok_or_else(|| parts.updates.missing(Format::WikidataEvolve, &number.to_string()))?,
        increments: optional(&parts.increments)?,
        snapshots: optional(&parts.snapshots)?,
    })
}

fn part(folder: &Folder, names: [&str; 2]) -> Result<Option<Folder>, DataError> {
    let name = names.into_iter().find(|name| folder.folders.iter().any(|f| f == name));
    name.map(|name| folder.inside(name)).transpose()
}

/// The names of a folder that holds the bare numbers of items and properties.
fn wikidata_names(list: &IdFile, letter: char) -> Names {
    let named = list.rows.iter().map(|(_, id, name)| {
        let number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        (if number { format!("{letter}{name}") } else { name.clone() }, *id)
    });
    names_by_id(list.size, named, None)
}

fn describe(numbers: &[u32], steps: &[Step], notes: &mut Notes) {
    notes.add(format!("{} steps, {} to {}.", steps.len(), numbers[0], numbers[numbers.len() - 1]));
    if numbers.windows(2).any(|pair| pair[1] - pair[0] > 1) {
        notes.add("The numbers of the steps have gaps; the steps are taken in their order.");
    }
    steps.iter().flat_map(|step| &step.notes).for_each(|sentence| notes.add(sentence));
    notes.unused(steps.iter().flat_map(|step| &step.unused));
}
