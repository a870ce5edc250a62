//! Evolving graphs in the layout of `WikidataEvolve`: `updates/k`, `increments/k`, and `snapshots/k` with ids of their own
//! where the dataset knows what is present.

use std::path::{Path, PathBuf};

use quadcast_core::{CategoryKind, EvolvingDataset, EvolvingStep, Names, Split, Triple, Vocabulary};

use super::StepWriter;
use super::folder::{make_folder, write_file};
use super::graph::{LocalIds, after};
use super::rows::{push_number, write_labels, write_operations, write_rows, write_triples};
use crate::{DataError, wikidata};

/// Writes everything that the dataset has.
pub fn write_evolving(folder: &Path, dataset: &EvolvingDataset) -> Result<(), DataError> {
    let mut writer = EvolvingWriter::new(folder, &dataset.vocabulary)?;
    dataset.steps.iter().try_for_each(|step| writer.step(step))
}

/// Writes one step after the other.
pub struct EvolvingWriter<'a> {
    folder: &'a Path,
    /// Sizes of the global id spaces.
    sizes: [usize; 2],
    /// The training graph of the last step.
    train: Vec<Triple>,
    /// Steps that are written.
    steps: usize,
}

impl<'a> EvolvingWriter<'a> {
    /// Writes the names. Those that are numbers of Wikidata are written as the bare numbers, as published.
    pub fn new(folder: &'a Path, vocabulary: &Vocabulary) -> Result<Self, DataError> {
        let bare = wikidata::all_numbers(vocabulary);
        for (kind, names, letter) in [
            ("entity", &vocabulary.entities, wikidata::ITEM),
            ("relation", &vocabulary.relations, wikidata::PROPERTY),
        ] {
            let letter = bare.then_some(letter);
            write_file(&folder.join(format!("{kind}2id.txt")), |out| {
                write_rows(out, 0..names.len() as u32, |row, id| push_name(row, id, names, letter))
            })?;
        }
        let sizes = [vocabulary.entities.len(), vocabulary.relations.len()];
        Ok(Self { folder, sizes, train: Vec::new(), steps: 0 })
    }
}

impl StepWriter for EvolvingWriter<'_> {
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError> {
        self.steps += 1;
        let (folder, number, sizes) = (self.folder, self.steps, self.sizes);
        self.train = after(std::mem::take(&mut self.train), &step.training);
        let train = &self.train;
        let snapshot = || match &step.entities {
            Some(_) => write_snapshot(&step_folder(folder, "snapshots", number)?, sizes, step, train),
            None => Ok(()),
        };
        let (updates, snapshot) = rayon::join(|| write_step(folder, number, step), snapshot);
        updates.and(snapshot)
    }
}

/// Appends `id name`, the name without its letter if there is one. A line end in a name becomes a blank.
fn push_name(row: &mut Vec<u8>, id: u32, names: &Names, letter: Option<char>) {
    let name = names.name(id);
    let name = letter.and_then(|letter| name.strip_prefix(letter)).unwrap_or(&name);
    push_number(row, id);
    row.push(b' ');
    row.extend(name.bytes().map(|byte| if matches!(byte, b'\t' | b'\n' | b'\r') { b' ' } else { byte }));
}

/// Makes the folder of a step.
fn step_folder(folder: &Path, part: &str, number: usize) -> Result<PathBuf, DataError> {
    let inner = folder.join(part).join(number.to_string());
    make_folder(&inner)?;
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

/// Writes the graph of a step that lists its entities.
fn write_snapshot(
    folder: &Path,
    sizes: [usize; 2],
    step: &EvolvingStep,
    train: &[Triple],
) -> Result<(), DataError> {
    let ids = LocalIds::of_step(sizes, train, step);
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
