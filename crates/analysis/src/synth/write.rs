//! A world as files: facts in a layout that the readers know, `truth.csv.zst` and `world.json`. The folder is whole or
//! absent, and nothing of somebody else's is lost.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use quadcast_core::Split;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::generate::{SynthWorld, WorldName};
use super::world::Truth;
use quadcast_data::write::{Labels, compressed, fill_folder, write_evolving, write_file, write_temporal};
use quadcast_data::{Compression, Content, DataError};

/// The file that marks a folder as a synthetic world.
const WORLD_FILE: &str = "world.json";

/// The field of that file with the names of the others, so that nothing else is ever removed.
const FILES: &str = "files";

/// Checks that a world may be written to a folder: it is absent or empty, or it holds a synthetic world and
/// `overwrite` is given.
pub fn synth_target(folder: &Path, overwrite: bool) -> Result<(), DataError> {
    let occupied = |advice| Err(DataError::Occupied { path: folder.to_owned(), advice });
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            occupied("this is a file; choose another folder")
        }
        Err(source) => Err(DataError::Io { path: folder.to_owned(), source }),
        Ok(mut entries) => match (entries.next().is_none(), overwrite) {
            (true, _) => Ok(()),
            (false, false) => occupied(
                "the folder is not empty; choose another one, or replace a synthetic world with --overwrite",
            ),
            (false, true) if holds_world_only(folder) => Ok(()),
            (false, true) => occupied(
                "the folder holds more than a synthetic world that this program made, so --overwrite does not touch it; choose \
                 another one",
            ),
        },
    }
}

/// Whether a folder holds a world of ours and nothing else: its description lists its files.
fn holds_world_only(folder: &Path) -> bool {
    let text = fs::read(folder.join(WORLD_FILE)).unwrap_or_default();
    let description: Value = serde_json::from_slice(&text).unwrap_or_default();
    let (Some(files), Ok(entries)) = (description[FILES].as_array(), fs::read_dir(folder)) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
        name == WORLD_FILE || files.iter().any(|file| file.as_str().is_some_and(|file| name == file))
    })
}

/// The names of what a folder holds, in order.
fn names(folder: &Path) -> Result<Vec<String>, DataError> {
    let failed = |source| DataError::Io { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let mut names: Vec<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

impl SynthWorld {
    /// Writes the world to a folder that is absent or empty, or replaces a synthetic world there. `best` is what the
    /// oracle reaches; it stands in `world.json`.
    pub fn write(&self, folder: &Path, overwrite: bool, best: &Value) -> Result<(), DataError> {
        synth_target(folder, overwrite)?;
        fill_folder(folder, |folder| {
            match &self.content {
                Content::Temporal(dataset) => {
                    let labels = Labels::new(dataset, self.name != WorldName::GdeltLike);
                    write_temporal(folder, dataset, &labels)?;
                    let of_split = |split| dataset.splits.get(split).iter().map(move |quad| (split, quad));
                    let rows = Split::ALL.into_iter().flat_map(of_split).map(|(split, quad)| {
                        [
                            split.word(),
                            &labels.times[quad.step.index()],
                            &labels.entities[quad.subject.index()],
                            &labels.relations[quad.relation.index()],
                            &labels.entities[quad.object.index()],
                        ]
                        .map(Cow::Borrowed)
                    });
                    write_truth(folder, &self.truth, "split,time", rows)?;
                }
                Content::Evolving(dataset) => {
                    write_evolving(folder, dataset)?;
                    let names = &dataset.vocabulary;
                    let rows = dataset.steps.iter().flat_map(|step| {
                        step.operations.iter().flatten().map(|operation| {
                            [
                                step.label.as_str().into(),
                                if operation.insert { "+" } else { "-" }.into(),
                                names.entities.name(operation.triple.subject.0),
                                names.relations.name(operation.triple.relation.0),
                                names.entities.name(operation.triple.object.0),
                            ]
                        })
                    });
                    write_truth(folder, &self.truth, "step,operation", rows)?;
                }
                Content::Static(_) | Content::Intervals(_) => unreachable!("no world has such content"),
            }
            let mut description = self.description.clone();
            description["best"] = best.clone();
            description[FILES] = names(folder)?.into();
            write_file(&folder.join(WORLD_FILE), |out| {
                serde_json::to_writer_pretty(&mut *out, &description)?;
                out.write_all(b"\n")
            })
        })
    }
}

/// Writes what is known about each fact or operation, in the order of the rows; the first two columns differ.
fn write_truth<'a>(
    folder: &Path,
    truth: &Truth,
    columns: &str,
    rows: impl Iterator<Item = [Cow<'a, str>; 5]>,
) -> Result<(), DataError> {
    // Each combination of causes is put together once.
    let mut causes: FxHashMap<u32, String> = FxHashMap::default();
    write_file(&folder.join("truth.csv.zst"), |out| {
        compressed(out, Some(Compression::Zstandard), |out| {
            writeln!(out, "{columns},subject,relation,object,process,probability")?;
            for ([first, second, subject, relation, object], known) in rows.zip(&truth.rows) {
                let cause = causes.entry(known.causes).or_insert_with(|| truth.causes(known));
                let probability = known.probability;
                writeln!(out, "{first},{second},{subject},{relation},{object},{cause},{probability:.6}")?;
            }
            Ok(())
        })
    })
}
