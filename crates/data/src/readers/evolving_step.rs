//! One step of `WikidataEvolve`.

use std::path::PathBuf;

use quadcast_core::{
    CategoryKind, CategoryTriples, EntityId, EvolvingStep, RelationId, Split, SplitTriples, Triple,
    TripleOperation,
};

use super::id_files::{IdFile, IdFiles, Order};
use super::id_spaces::IdSpaces;
use super::input::{Folder, Input};
use super::triples::{TripleFile, read_labels, read_operations, read_triples};
use super::unread::look_at_unused;
use crate::error::IdKind;
use crate::write::category_file;
use crate::{DataError, Format};

/// The folders of one step, or those that hold a folder per step.
pub(super) struct Folders {
    pub updates: Folder,
    pub increments: Option<Folder>,
    pub snapshots: Option<Folder>,
}

/// A step and what is to be said about it.
pub(super) struct Step {
    pub content: EvolvingStep,
    pub notes: Vec<String>,
    /// Files that were left alone; those of `updates/k` without the name of that folder.
    pub unused: Vec<String>,
    /// The file of the training operations.
    pub training: PathBuf,
    /// The file of all operations, if there is one.
    pub operations: Option<PathBuf>,
}

pub(super) fn read_step(number: u32, folders: Folders, spaces: IdSpaces<'_>) -> Result<Step, DataError> {
    let Folders { mut updates, increments, snapshots } = folders;
    let mut notes = Vec::new();
    let mut unused = Vec::new();
    let mut unused_of = |part: &str, files: Vec<&str>| {
        unused.extend(files.iter().map(|file| format!("{part}{number}/{file}")));
    };
    let increment = match increments {
        Some(mut folder) => {
            let increment = find(&mut folder, "train2id", spaces, read_triples)?;
            unused_of("increments/", folder.unused());
            increment
        }
        None => None,
    };
    let (training_file, training) =
        read_training(&mut updates, number, increment.as_ref(), spaces, &mut notes)?;
    let operations = find(&mut updates, "triple-op2id", spaces, read_operations)?;
    let evaluation = SplitTriples {
        valid: needed(&mut updates, "valid2id", spaces)?,
        test: needed(&mut updates, "test2id", spaces)?,
    };
    let evaluation_all = read_all(&mut updates, number, spaces, &mut notes)?;
    let categories = read_categories(&mut updates, spaces, &mut notes)?;
    let mut examples = |split: Split| {
        let stem = format!("triple_classification_prepared_{split}_examples");
        find_rows(&mut updates, &stem, spaces, read_labels).map(Option::unwrap_or_default)
    };
    let (classification, classification_valid) = (examples(Split::Test)?, examples(Split::Valid)?);
    let present = match snapshots {
        Some(mut folder) => {
            let lists = IdFiles::find(&mut folder, Order::IdFirst)?;
            let (problems, other) = look_at_unused(&folder, lists.spaces(), repeats_in_local_ids);
            notes.extend(problems);
            unused_of("snapshots/", other);
            lists
        }
        None => IdFiles::default(),
    };
    unused_of("", updates.unused());
    let (operations_file, operations) = operations.map(|file| (file.path, file.rows)).unzip();
    let content = EvolvingStep {
        label: number.to_string(),
        training,
        operations,
        increment: increment.map(|file| file.rows),
        evaluation,
        evaluation_all,
        categories,
        classification,
        classification_valid,
        entities: global_ids(present.entities, IdKind::Entity, spaces, EntityId)?,
        relations: global_ids(present.relations, IdKind::Relation, spaces, RelationId)?,
    };
    Ok(Step { content, notes, unused, training: training_file, operations: operations_file })
}

/// Whether a file of `snapshots/k` says in local ids what the updates say.
fn repeats_in_local_ids(stem: &str) -> bool {
    Split::ALL
        .iter()
        .any(|split| stem.strip_prefix(split.word()).is_some_and(|rest| rest == "2id" || rest == "2id_all"))
}

/// The training operations and their file. Nothing can be deleted from an empty graph, so the increment can stand in for a
/// missing first update.
fn read_training(
    updates: &mut Folder,
    number: u32,
    increment: Option<&TripleFile<Triple>>,
    spaces: IdSpaces<'_>,
    notes: &mut Vec<String>,
) -> Result<(PathBuf, Vec<TripleOperation>), DataError> {
    if let Some(file) = find(updates, "train-op2id", spaces, read_operations)? {
        return Ok((file.path, file.rows));
    }
    match increment {
        Some(increment) if number <= 1 => {
            notes
                .push(format!("Step {number} has no train-op2id file; its increment is read as insertions."));
            let inserted = increment.rows.iter().map(|&triple| TripleOperation { triple, insert: true });
            Ok((increment.path.clone(), inserted.collect()))
        }
        _ => Err(updates.missing(Format::WikidataEvolve, "train-op2id.txt")),
    }
}

/// A file `stem.txt`, if it is there.
fn find<T>(
    folder: &mut Folder,
    stem: &str,
    spaces: IdSpaces<'_>,
    read: impl Fn(&Input, IdSpaces<'_>) -> Result<TripleFile<T>, DataError>,
) -> Result<Option<TripleFile<T>>, DataError> {
    let path = folder.find(stem, |name| name.strip_suffix(".txt").unwrap_or(name) == stem)?;
    path.map(|path| read(&Input::open(path)?, spaces)).transpose()
}

fn find_rows<T>(
    folder: &mut Folder,
    stem: &str,
    spaces: IdSpaces<'_>,
    read: impl Fn(&Input, IdSpaces<'_>) -> Result<TripleFile<T>, DataError>,
) -> Result<Option<Vec<T>>, DataError> {
    Ok(find(folder, stem, spaces, read)?.map(|file| file.rows))
}

fn needed(folder: &mut Folder, stem: &str, spaces: IdSpaces<'_>) -> Result<Vec<Triple>, DataError> {
    find_rows(folder, stem, spaces, read_triples)?
        .ok_or_else(|| folder.missing(Format::WikidataEvolve, &format!("{stem}.txt")))
}

fn read_all(
    updates: &mut Folder,
    number: u32,
    spaces: IdSpaces<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<SplitTriples>, DataError> {
    let valid = find_rows(updates, "valid2id_all", spaces, read_triples)?;
    let test = find_rows(updates, "test2id_all", spaces, read_triples)?;
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
    spaces: IdSpaces<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<CategoryTriples>, DataError> {
    let mut categories = Vec::new();
    for kind in CategoryKind::ALL {
        let (word, label) = category_file(kind);
        for split in Split::ALL {
            let stem = format!("tc_{word}_{split}_triples");
            let Some(rows) = find_rows(updates, &stem, spaces, read_labels)? else {
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

/// The global ids of what a snapshot lists, sorted.
fn global_ids<T: Ord>(
    list: Option<IdFile>,
    kind: IdKind,
    spaces: IdSpaces<'_>,
    id: impl Fn(u32) -> T,
) -> Result<Option<Vec<T>>, DataError> {
    let Some(list) = list else { return Ok(None) };
    let global = list.rows.iter().map(|(line, _, global)| {
        let number = spaces.id(list.name_at(*line), kind, global.as_bytes())?;
        Ok(id(number))
    });
    let mut ids = global.collect::<Result<Vec<T>, DataError>>()?;
    ids.sort_unstable();
    Ok(Some(ids))
}
