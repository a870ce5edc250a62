//! A world as files: facts in a layout that the readers know, `truth.csv.zst` and `world.json`.

use std::io::{self, Write};
use std::path::Path;

use quadcast_core::{Dataset, EvolvingDataset, Split, Triple, TripleOperation};
use serde_json::Value;

use super::generate::{SynthWorld, WorldName};
use super::target::{WORLD_FILE, write_folder};
use super::truth::Truth;
use quadcast_data::write::{Labels, compressed, write_evolving, write_file, write_temporal};
use quadcast_data::{Compression, Content, DataError};

impl SynthWorld {
    /// Writes the world to a folder that is absent or empty, or replaces a synthetic world there. `best` is what the
    /// oracle reaches; it stands in `world.json`.
    pub fn write(&self, folder: &Path, overwrite: bool, best: &Value) -> Result<(), DataError> {
        write_folder(folder, overwrite, |folder| {
            match &self.content {
                Content::Temporal(dataset) => self.write_temporal(folder, dataset)?,
                Content::Evolving(dataset) => {
                    write_evolving(folder, dataset)?;
                    write_operations_truth(folder, dataset, &self.truth)?;
                }
                Content::Static(_) | Content::Intervals(_) => unreachable!("no world has such content"),
            }
            let mut description = self.description.clone();
            description["best"] = best.clone();
            write_file(&folder.join(WORLD_FILE), |out| {
                serde_json::to_writer_pretty(&mut *out, &description)?;
                out.write_all(b"\n")
            })
        })
    }

    fn write_temporal(&self, folder: &Path, dataset: &Dataset) -> Result<(), DataError> {
        let labels = Labels::new(dataset, self.name != WorldName::GdeltLike);
        write_temporal(folder, dataset, &labels)?;
        write_compressed(&folder.join("truth.csv.zst"), |out| write_truth(out, dataset, &self.truth, &labels))
    }
}

fn write_truth(out: &mut dyn Write, dataset: &Dataset, truth: &Truth, labels: &Labels) -> io::Result<()> {
    writeln!(out, "split,time,subject,relation,object,process,probability")?;
    let facts =
        Split::ALL.into_iter().flat_map(|split| dataset.splits.get(split).iter().map(move |q| (split, q)));
    let mut causes = Causes::default();
    for ((split, quad), row) in facts.zip(&truth.rows) {
        writeln!(
            out,
            "{split},{},{},{},{},{},{:.6}",
            labels.times[quad.step.index()],
            labels.entities[quad.subject.index()],
            labels.relations[quad.relation.index()],
            labels.entities[quad.object.index()],
            causes.of(truth, row),
            row.probability
        )?;
    }
    Ok(())
}

/// The causes in words, each combination put together once.
#[derive(Default)]
struct Causes(rustc_hash::FxHashMap<u32, String>);

impl Causes {
    fn of(&mut self, truth: &Truth, row: &super::TruthRow) -> &str {
        self.0.entry(row.causes).or_insert_with(|| truth.causes(row))
    }
}

fn write_operations_truth(folder: &Path, dataset: &EvolvingDataset, truth: &Truth) -> Result<(), DataError> {
    let vocabulary = &dataset.vocabulary;
    write_compressed(&folder.join("truth.csv.zst"), |out| {
        writeln!(out, "step,operation,subject,relation,object,process,probability")?;
        let steps = dataset.steps.iter();
        let operations =
            steps.flat_map(|step| step.operations.iter().flatten().map(move |o| (&step.label, o)));
        for ((label, operation), row) in operations.zip(&truth.rows) {
            let Triple { subject, relation, object } = operation.triple;
            writeln!(
                out,
                "{label},{},{},{},{},{},{:.6}",
                mark(operation),
                vocabulary.entities.name(subject.0),
                vocabulary.relations.name(relation.0),
                vocabulary.entities.name(object.0),
                truth.causes(row),
                row.probability
            )?;
        }
        Ok(())
    })
}

const fn mark(operation: &TripleOperation) -> char {
    if operation.insert { '+' } else { '-' }
}

fn write_compressed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    write_file(path, |out| compressed(out, Some(Compression::Zstandard), write))
}
