//! The layout of `WikidataEvolve`: global ids at the top, and per step the folders `updates/k` (operations and
//! evaluation), `increments/k` (added training triples) and `snapshots/k` (what is present, in local ids).
//!
//! The upstream repository calls the same three folders `incremental`, `pseudo_incremental` and `static`; both sets of
//! names are accepted.

use quadcast_core::{EvolvingDataset, Names, Vocabulary};
use rayon::prelude::*;

use super::Reading;
use super::compiled::numbers_are_wikidata;
use super::contradictions::refuse_contradictions;
use super::evolving_step::{Folders, Step, read_step};
use super::ids::{IdFile, Order};
use super::input::Folder;
use super::lists::Lists;
use super::notes::Notes;
use crate::{Content, DataError, wikidata};

pub(super) const LAYOUT: &str = "wikidata-evolve";

/// Reads a folder of updates. Operations that contradict the graph are an error, unless they are asked for.
pub(super) fn read(
    folder: &mut Folder,
    notes: &mut Notes,
    contradictory: bool,
) -> Result<Reading, DataError> {
    let lists = Lists::find(folder, Order::IdFirst)?;
    notes.compression(lists.paths());
    notes.add("The columns are head, tail, relation, then an operation or a label.");
    lists.describe(notes);
    let entities = lists.entities.as_ref().ok_or_else(|| missing(folder, "entity2id.txt"))?;
    let relations = lists.relations.as_ref().ok_or_else(|| missing(folder, "relation2id.txt"))?;
    let parts = Parts {
        updates: part(folder, ["updates", "incremental"])?.ok_or_else(|| missing(folder, "updates/1"))?,
        increments: part(folder, ["increments", "pseudo_incremental"])?,
        snapshots: part(folder, ["snapshots", "static"])?,
    };
    let numbers = parts.numbers()?;
    let spaces = lists.spaces();
    let read = |&number: &u32| read_step(number, parts.step(number)?, spaces);
    // Results are collected before the first error is picked, so that it does not depend on the threads.
    let steps: Vec<Result<Step, DataError>> = numbers.par_iter().map(read).collect();
    let steps = steps.into_iter().collect::<Result<Vec<_>, _>>()?;
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
        notes.add("Of the snapshot folders only the id lists are read; their triples repeat the others in local ids.");
    }

    let steps = steps.into_iter().map(|step| step.content).collect();
    let dataset = EvolvingDataset { name: folder.name(), vocabulary, steps };
    Ok(Reading::without_sources(Content::Evolving(dataset)))
}

/// The three folders that hold a folder per step.
struct Parts {
    updates: Folder,
    increments: Option<Folder>,
    snapshots: Option<Folder>,
}

impl Parts {
    /// The numbers of the steps, in order.
    fn numbers(&self) -> Result<Vec<u32>, DataError> {
        let mut numbers: Vec<u32> =
            self.updates.folders.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() { Err(missing(&self.updates, "the folders 1, 2, …")) } else { Ok(numbers) }
    }

    fn step(&self, number: u32) -> Result<Folders, DataError> {
        let optional = |part: &Option<Folder>| match part {
            Some(part) => step_folder(part, number),
            None => Ok(None),
        };
        Ok(Folders {
            updates: step_folder(&self.updates, number)?
                .ok_or_else(|| missing(&self.updates, &number.to_string()))?,
            increments: optional(&self.increments)?,
            snapshots: optional(&self.snapshots)?,
        })
    }
}

/// The error of a missing file of this layout.
pub(super) fn missing(folder: &Folder, file: &str) -> DataError {
    DataError::MissingFile {
        folder: folder.path.clone(),
        layout: LAYOUT,
        file: file.to_string(),
        found: folder.contents(),
    }
}

fn part(folder: &Folder, names: [&str; 2]) -> Result<Option<Folder>, DataError> {
    let name = names.into_iter().find(|name| folder.folders.iter().any(|f| f == name));
    name.map(|name| folder.inside(name)).transpose()
}

fn step_folder(part: &Folder, number: u32) -> Result<Option<Folder>, DataError> {
    let name = part.folders.iter().find(|name| name.parse() == Ok(number));
    name.map(|name| part.inside(name)).transpose()
}

/// The names of a folder that holds the bare numbers of items and properties.
fn wikidata_names(list: &IdFile, letter: char) -> Names {
    let mut names = vec![None; list.size()];
    for (_, id, name) in &list.rows {
        let number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        names[*id as usize] = Some(if number { format!("{letter}{name}") } else { name.clone() });
    }
    Names::new(names, None)
}

fn describe(numbers: &[u32], steps: &[Step], notes: &mut Notes) {
    notes.add(format!("{} steps, {} to {}.", steps.len(), numbers[0], numbers[numbers.len() - 1]));
    if numbers.windows(2).any(|pair| pair[1] - pair[0] > 1) {
        notes.add("The numbers of the steps have gaps; the steps are taken in their order.");
    }
    for step in steps {
        for sentence in &step.notes {
            notes.add(sentence.clone());
        }
    }
    let unused: Vec<&str> = steps.iter().flat_map(|step| step.unused.iter().map(String::as_str)).collect();
    notes.unused(&unused);
}
