//! Evolving graphs in the layout of `WikidataEvolve`: `updates/k`, `increments/k`, and `snapshots/k` with ids of their own
//! where the dataset knows what is present.

use std::path::Path;

use quadcast_core::{CategoryKind, EvolvingDataset, EvolvingStep, Names, Split, Triple};
use rayon::prelude::*;

use super::folder::{failed, write_file};
use super::graph::{LocalIds, after, full};
use super::rows::{push_number, write_labels, write_operations, write_rows, write_triples};
use crate::DataError;

/// Writes everything that the dataset has.
pub(crate) fn write_evolving(folder: &Path, dataset: &EvolvingDataset) -> Result<(), DataError> {
    let vocabulary = &dataset.vocabulary;
    for (kind, names) in [("entity", &vocabulary.entities), ("relation", &vocabulary.relations)] {
        write_file(&folder.join(format!("{kind}2id.txt")), |out| {
            write_rows(out, 0..names.len() as u32, |row, id| push_name(row, id, names))
        })?;
    }
    let updates = || {
        let steps: Vec<Result<(), DataError>> =
            dataset.steps.par_iter().enumerate().map(|(at, step)| write_step(folder, at + 1, step)).collect();
        steps.into_iter().collect::<Result<(), _>>()
    };
    let (updates, snapshots) = rayon::join(updates, || write_snapshots(folder, dataset));
    updates.and(snapshots)
}

/// Appends `id name`. A line end in a name becomes a blank.
fn push_name(row: &mut Vec<u8>, id: u32, names: &Names) {
    push_number(row, id);
    row.push(b' ');
    row.extend(
        names.name(id).bytes().map(|byte| if matches!(byte, b'\t' | b'\n' | b'\r') { b' ' } else { byte }),
    );
}

/// Makes the folder of a step.
fn step_folder(folder: &Path, part: &str, number: usize) -> Result<std::path::PathBuf, DataError> {
    let inner = folder.join(part).join(number.to_string());
    std::fs::create_dir_all(&inner).map_err(|source| failed(&inner, source))?;
    Ok(inner)
}

fn write_step(folder: &Path, number: usize, step: &EvolvingStep) -> Result<(), DataError> {
    let updates = step_folder(folder, "updates", number)?;
    let triples = |name: &str, triples: &[Triple]| {
        write_file(&updates.join(name), |out| write_triples(out, triples.iter().copied()))
    };
    write_file(&updates.join("train-op2id.txt"), |out| write_operations(out, &step.training))?;
    if let Some(operations) = &step.operations {
        write_file(&updates.join("triple-op2id.txt"), |out| write_operations(out, operations))?;
    }
    triples("valid2id.txt", &step.evaluation.valid)?;
    triples("test2id.txt", &step.evaluation.test)?;
    if let Some(all) = &step.evaluation_all {
        triples("valid2id_all.txt", &all.valid)?;
        triples("test2id_all.txt", &all.test)?;
    }
    for category in &step.categories {
        let (word, label) = category_file(category.kind);
        let file = updates.join(format!("tc_{word}_{}_triples.txt", category.split));
        let examples = category.triples.iter().map(|&triple| (triple, label));
        write_file(&file, |out| write_labels(out, examples))?;
    }
    for (split, examples) in [(Split::Test, &step.classification), (Split::Valid, &step.classification_valid)]
    {
        if !examples.is_empty() {
            let file = updates.join(format!("triple_classification_prepared_{split}_examples.txt"));
            write_file(&file, |out| write_labels(out, examples.iter().copied()))?;
        }
    }
    if let Some(increment) = &step.increment {
        let increments = step_folder(folder, "increments", number)?;
        write_file(&increments.join("train2id.txt"), |out| write_triples(out, increment.iter().copied()))?;
    }
    Ok(())
}

/// The word of a category in file names, and the label of its rows.
pub(crate) const fn category_file(kind: CategoryKind) -> (&'static str, bool) {
    match kind {
        CategoryKind::Deleted => ("negative_deleted", false),
        CategoryKind::Returned => ("positive_oscillated", true),
        CategoryKind::DeletedAgain => ("negative_oscillated", false),
    }
}

/// Writes the snapshots of the steps that list their entities.
fn write_snapshots(folder: &Path, dataset: &EvolvingDataset) -> Result<(), DataError> {
    if dataset.steps.iter().all(|step| step.entities.is_none()) {
        return Ok(());
    }
    let sizes = [dataset.vocabulary.entities.len(), dataset.vocabulary.relations.len()];
    let mut train = Vec::new();
    for (at, step) in dataset.steps.iter().enumerate() {
        train = after(train, &step.training);
        if step.entities.is_none() {
            continue;
        }
        write_snapshot(&step_folder(folder, "snapshots", at + 1)?, sizes, step, &train)?;
    }
    Ok(())
}

fn write_snapshot(
    folder: &Path,
    sizes: [usize; 2],
    step: &EvolvingStep,
    train: &[Triple],
) -> Result<(), DataError> {
    let all = full(step);
    let ids = LocalIds::new(sizes, train.iter().chain(&all.valid).chain(&all.test), step);
    for (kind, local) in [("entity", &ids.entities), ("relation", &ids.relations)] {
        write_file(&folder.join(format!("{kind}2id.txt")), |out| {
            write_rows(out, local.global.iter().enumerate(), |row, (local, &global)| {
                push_number(row, local as u64);
                row.push(b' ');
                push_number(row, global);
            })
        })?;
    }
    let (ranked, full) = (&step.evaluation, step.evaluation_all.as_ref());
    let files = [
        ("train2id.txt", Some(train)),
        ("valid2id.txt", Some(ranked.valid.as_slice())),
        ("test2id.txt", Some(ranked.test.as_slice())),
        ("valid2id_all.txt", full.map(|all| all.valid.as_slice())),
        ("test2id_all.txt", full.map(|all| all.test.as_slice())),
    ];
    for (name, triples) in files {
        let Some(triples) = triples else { continue };
        let local = triples.iter().map(|&triple| ids.local(triple));
        write_file(&folder.join(name), |out| write_triples(out, local))?;
    }
    Ok(())
}
