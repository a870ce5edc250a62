//! One step of `WikidataEvolve`.

use std::path::PathBuf;

use quadcast_core::{
    CategoryKind, CategoryTriples, EntityId, EvolvingStep, RelationId, Split, SplitTriples, Triple,
    TripleOperation,
};

use super::evolving::missing;
use super::ids::{IdFile, Order};
use super::input::{Folder, Input};
use super::lines::At;
use super::lists::Lists;
use super::spaces::{Space, Spaces};
use super::triples::{TripleFile, read_labels, read_operations, read_triples};
use crate::DataError;
use crate::write::category_file;

/// The folders of one step.
pub(super) struct Folders {
    pub updates: Folder,
    pub increments: Option<Folder>,
    pub snapshots: Option<Folder>,
}

/// A step and what is to be said about it.
pub(super) struct Step {
    pub content: EvolvingStep,
    pub notes: Vec<String>,
    /// Files of `updates/k` that were left alone.
    pub unused: Vec<String>,
    /// The file of the training operations.
    pub training: PathBuf,
    /// The file of all operations, if there is one.
    pub operations: Option<PathBuf>,
}

/// Reads one step.
pub(super) fn read_step(number: u32, folders: Folders, spaces: Spaces<'_>) -> Result<Step, DataError> {
    let Folders { mut updates, increments, snapshots } = folders;
    let mut notes = Vec::new();
    let increment = match increments {
        Some(mut folder) => listed(&mut folder, "train2id", |input| read_triples(input, spaces))?,
        None => None,
    };
    let training = read_training(&mut updates, number, increment.as_ref(), spaces, &mut notes)?;
    let operations = listed(&mut updates, "triple-op2id", |input| read_operations(input, spaces))?;
    let evaluation = SplitTriples {
        valid: needed(&mut updates, "valid2id", spaces)?,
        test: needed(&mut updates, "test2id", spaces)?,
    };
    let evaluation_all = read_all(&mut updates, number, spaces, &mut notes)?;
    let categories = read_categories(&mut updates, spaces, &mut notes)?;
    let mut examples = |split: Split| {
        let stem = format!("triple_classification_prepared_{split}_examples");
        optional(&mut updates, &stem, |input| read_labels(input, spaces)).map(Option::unwrap_or_default)
    };
    let (classification, classification_valid) = (examples(Split::Test)?, examples(Split::Valid)?);
    let (entities, relations) = match snapshots {
        Some(mut folder) => read_present(&mut folder, spaces)?,
        None => (None, None),
    };
    let unused = updates.unused().into_iter().map(|file| format!("{number}/{file}")).collect();
    let (operations_file, operations) = operations.map(|listed| (listed.file, listed.rows)).unzip();
    let content = EvolvingStep {
        label: number.to_string(),
        training: training.rows,
        operations,
        increment: increment.map(|listed| listed.rows),
        evaluation,
        evaluation_all,
        categories,
        classification,
        classification_valid,
        entities: entities.map(|ids| ids.into_iter().map(EntityId).collect()),
        relations: relations.map(|ids| ids.into_iter().map(RelationId).collect()),
    };
    Ok(Step { content, notes, unused, training: training.file, operations: operations_file })
}

/// Rows and the file that they stand in.
struct Listed<T> {
    file: PathBuf,
    rows: Vec<T>,
}

/// The training operations. Nothing can be deleted from an empty graph, so the increment can stand in for a missing
/// first update.
fn read_training(
    updates: &mut Folder,
    number: u32,
    increment: Option<&Listed<Triple>>,
    spaces: Spaces<'_>,
    notes: &mut Vec<String>,
) -> Result<Listed<TripleOperation>, DataError> {
    if let Some(operations) = listed(updates, "train-op2id", |input| read_operations(input, spaces))? {
        return Ok(operations);
    }
    match increment {
        Some(Listed { file, rows }) if number <= 1 => {
            notes
                .push(format!("Step {number} has no train-op2id file; its increment is read as insertions."));
            let rows = rows.iter().map(|&triple| TripleOperation { triple, insert: true }).collect();
            Ok(Listed { file: file.clone(), rows })
        }
        _ => Err(missing(updates, "train-op2id.txt")),
    }
}

/// The rows of a file `stem.txt`, if it is there.
fn optional<T>(
    folder: &mut Folder,
    stem: &str,
    read: impl Fn(&Input) -> Result<TripleFile<T>, DataError>,
) -> Result<Option<Vec<T>>, DataError> {
    Ok(listed(folder, stem, read)?.map(|listed| listed.rows))
}

/// The same, and which file it is.
fn listed<T>(
    folder: &mut Folder,
    stem: &str,
    read: impl Fn(&Input) -> Result<TripleFile<T>, DataError>,
) -> Result<Option<Listed<T>>, DataError> {
    let is_it = |name: &str| name.strip_suffix(".txt").unwrap_or(name) == stem;
    let Some(path) = folder.find(stem, is_it)? else {
        return Ok(None);
    };
    let input = Input::open(path)?;
    let rows = read(&input)?.rows;
    Ok(Some(Listed { file: input.path, rows }))
}

fn needed(folder: &mut Folder, stem: &str, spaces: Spaces<'_>) -> Result<Vec<Triple>, DataError> {
    optional(folder, stem, |input| read_triples(input, spaces))?
        .ok_or_else(|| missing(folder, &format!("{stem}.txt")))
}

fn read_all(
    updates: &mut Folder,
    number: u32,
    spaces: Spaces<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<SplitTriples>, DataError> {
    let valid = optional(updates, "valid2id_all", |input| read_triples(input, spaces))?;
    let test = optional(updates, "test2id_all", |input| read_triples(input, spaces))?;
    match (valid, test) {
        (Some(valid), Some(test)) => Ok(Some(SplitTriples { valid, test })),
        (None, None) => Ok(None),
        _ => {
            notes.push(format!("Step {number} has only one of valid2id_all and test2id_all; it is ignored."));
            Ok(None)
        }
    }
}

/// Reads the categories of negative triple classification. Files of empty categories do not exist.
fn read_categories(
    updates: &mut Folder,
    spaces: Spaces<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<CategoryTriples>, DataError> {
    let mut categories = Vec::new();
    for kind in CategoryKind::ALL {
        let (word, label) = category_file(kind);
        for split in Split::ALL {
            let stem = format!("tc_{word}_{split}_triples");
            let Some(rows) = optional(updates, &stem, |input| read_labels(input, spaces))? else {
                continue;
            };
            let contrary = rows.iter().filter(|(_, found)| *found != label).count();
            if contrary > 0 {
                notes
                    .push(format!("{stem} has {contrary} rows with the other label; the file name decides."));
            }
            let triples = rows.into_iter().map(|(triple, _)| triple).collect();
            categories.push(CategoryTriples { kind, split, triples });
        }
    }
    Ok(categories)
}

type Present = (Option<Vec<u32>>, Option<Vec<u32>>);

/// The global ids of what a snapshot lists, sorted.
fn read_present(folder: &mut Folder, spaces: Spaces<'_>) -> Result<Present, DataError> {
    let lists = Lists::find(folder, Order::IdFirst)?;
    let global =
        |list: Option<IdFile>, space: Space<'_>| list.map(|list| global_ids(&list, space)).transpose();
    Ok((global(lists.entities, spaces.entities)?, global(lists.relations, spaces.relations)?))
}

fn global_ids(list: &IdFile, space: Space<'_>) -> Result<Vec<u32>, DataError> {
    let column = list.name_column();
    let mut ids = list
        .rows
        .iter()
        .map(|(line, _, global)| space.id(At::new(&list.path, *line, column), global.as_bytes()))
        .collect::<Result<Vec<u32>, DataError>>()?;
    ids.sort_unstable();
    Ok(ids)
}
