//! A world as files: facts in a layout that the readers know, `truth.csv.zst` and `world.json`. The folder is whole or
//! absent, and nothing of somebody else's is lost.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use quadcast_core::Split;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::generate::{SynthWorld, WorldName};
use super::world::Truth;
use quadcast_data::write::{
    Labels, compressed, fill_folder, sweep, write_evolving, write_file, write_temporal,
};
use quadcast_data::{Compression, Content, DataError};

/// The file that marks a folder as a synthetic world.
const WORLD_FILE: &str = "world.json";

/// The field of that file with the checksums of all files, by their paths in the folder: nothing else is ever removed.
const FILES: &str = "files";

/// Checks that a world may be written to a folder: it is absent or empty, or it holds a synthetic world as it was
/// written and `overwrite` is given.
pub fn synth_target(folder: &Path, overwrite: bool) -> Result<(), DataError> {
    sweep(folder).map_err(|source| DataError::Write { path: folder.to_owned(), source })?;
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
            (false, true) if matches!(is_as_written(folder), Ok(true)) => Ok(()),
            (false, true) => occupied(
                "the folder contains other files, changed ones, or a dataset of an earlier version; --overwrite \
                 replaces only synthetic datasets that are as they were written; remove the folder yourself, or \
                 choose another one with --out",
            ),
        },
    }
}

/// Whether a folder holds a world of ours and nothing else: every file has the checksum that the description lists.
fn is_as_written(folder: &Path) -> io::Result<bool> {
    let files = files_below(folder)?;
    if !files.contains(WORLD_FILE) {
        return Ok(false);
    }
    let mut description: Value = serde_json::from_slice(&fs::read(folder.join(WORLD_FILE))?)?;
    // Earlier versions listed names alone.
    let sums = description.as_object_mut().and_then(|fields| fields.shift_remove(FILES));
    let Some(Value::Object(sums)) = sums else { return Ok(false) };
    for file in &files {
        let Some(sum) = sums.get(file) else { return Ok(false) };
        if *sum != checksum(folder, file, &description)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The checksums of the files of a folder and of the description that is still to be written there.
fn checksums(folder: &Path, description: &Value) -> io::Result<Map<String, Value>> {
    let mut files = files_below(folder)?;
    files.insert(WORLD_FILE.to_owned());
    let mut sums = Map::new();
    for file in files {
        let sum = checksum(folder, &file, description)?;
        sums.insert(file, sum);
    }
    Ok(sums)
}

/// The checksum of a file; that of the description covers all of it but the checksums.
fn checksum(folder: &Path, file: &str, description: &Value) -> io::Result<Value> {
    let mut hasher = Sha256::new();
    if file == WORLD_FILE {
        hasher.update(description.to_string());
    } else {
        io::copy(&mut File::open(folder.join(file))?, &mut hasher)?;
    }
    Ok(format!("{:x}", hasher.finalize()).into())
}

/// The paths of all files below a folder. Links and whatever else is no regular file were never ours.
fn files_below(folder: &Path) -> io::Result<BTreeSet<String>> {
    let foreign = || io::Error::other("this is neither a file nor a folder with a name in Unicode");
    let mut files = BTreeSet::new();
    let mut folders = vec![String::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|_| foreign())?;
            let path = if inner.is_empty() { name } else { format!("{inner}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                files.insert(path);
            } else {
                return Err(foreign());
            }
        }
    }
    Ok(files)
}

impl SynthWorld {
    /// Writes the world to a folder that is absent or empty, or replaces a synthetic world there that is as it was written.
    /// `best` is what the oracle reaches; it stands in `world.json`.
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
            let sums = checksums(folder, &description);
            let sums = sums.map_err(|source| DataError::Io { path: folder.to_owned(), source })?;
            description[FILES] = sums.into();
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
