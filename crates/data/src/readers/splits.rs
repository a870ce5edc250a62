//! Which file of a folder is which split.

use std::path::PathBuf;

use quadcast_core::{Split, Splits};
use rayon::prelude::*;

use super::input::{Folder, Input};
use crate::DataError;

/// How the files of the splits are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// `train.txt`, `train`, `train_.txt`, `icews_2014_train.txt`.
    Plain,
    /// `train2id.txt`, or plain names when the user insists on the layout.
    Ids,
}

impl Naming {
    /// Whether a file name without compression names the split.
    pub(super) fn matches(self, name: &str, split: Split) -> bool {
        let name = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".tsv")).unwrap_or(name);
        let word = split.word();
        match self {
            Self::Plain => {
                let name = name.strip_suffix('_').unwrap_or(name);
                name.strip_suffix(word)
                    .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(['_', '-']))
            }
            Self::Ids => name.strip_suffix("2id") == Some(word),
        }
    }

    fn tried(self, split: Split) -> String {
        let word = split.word();
        match self {
            Self::Plain => format!("{word}.txt, {word}.tsv, {word}, {word}_.txt, *_{word}.txt"),
            Self::Ids => format!("{word}2id.txt, {word}2id, {word}.txt, {word}"),
        }
    }
}

/// Finds the file of one split, if it is there.
pub(super) fn find_optional(
    folder: &mut Folder,
    naming: Naming,
    split: Split,
) -> Result<Option<PathBuf>, DataError> {
    let what = format!("the {split} split");
    // A file with the bare name wins over prefixed ones, and ids win over plain names.
    for suffix in [".txt", ".tsv", ""] {
        let exact = match naming {
            Naming::Plain => format!("{split}{suffix}"),
            Naming::Ids => format!("{split}2id{suffix}"),
        };
        if let Some(path) = folder.find(&what, |name| name == exact)? {
            return Ok(Some(path));
        }
    }
    if let Some(path) = folder.find(&what, |name| naming.matches(name, split))? {
        return Ok(Some(path));
    }
    match naming {
        Naming::Plain => Ok(None),
        Naming::Ids => folder.find(&what, |name| Naming::Plain.matches(name, split)),
    }
}

fn find_split(folder: &mut Folder, naming: Naming, split: Split) -> Result<PathBuf, DataError> {
    find_optional(folder, naming, split)?.ok_or_else(|| {
        let (tried, found) = (naming.tried(split), folder.contents());
        DataError::file(
            &folder.path,
            format!(
                "no file for the {split} split; tried {tried}, plain or compressed; found: {found}\n\
                 rename the file, or say which layout it is with --format"
            ),
        )
    })
}

/// The three files in order.
pub(super) fn all_of(inputs: &Splits<Input>) -> Vec<&Input> {
    inputs.iter().map(|(_, input)| input).collect()
}

/// Finds the files of the three splits and reads them side by side.
pub(super) fn open_splits(folder: &mut Folder, naming: Naming) -> Result<Splits<Input>, DataError> {
    let [train, valid, test] = Split::ALL.map(|split| find_split(folder, naming, split));
    let (train, valid, test) = (train?, valid?, test?);
    let (train, (valid, test)) =
        rayon::join(|| Input::open(train), || rayon::join(|| Input::open(valid), || Input::open(test)));
    Ok(Splits { train: train?, valid: valid?, test: test? })
}

/// Applies `read` to all side by side; of several errors the first is reported, whatever the threads did.
pub(super) fn read_parallel<T: Sync, U: Send>(
    items: &[T],
    read: impl Fn(&T) -> Result<U, DataError> + Send + Sync,
) -> Result<Vec<U>, DataError> {
    let results: Vec<Result<U, DataError>> = items.par_iter().map(read).collect();
    results.into_iter().collect()
}

/// Applies `parse` to the three files side by side; of several errors the one of the first split is reported.
pub(super) fn parse_splits<'a, T: Send>(
    inputs: &'a Splits<Input>,
    parse: impl Fn(&'a Input) -> Result<T, DataError> + Sync,
) -> Result<Splits<T>, DataError> {
    let (train, (valid, test)) =
        rayon::join(|| parse(&inputs.train), || rayon::join(|| parse(&inputs.valid), || parse(&inputs.test)));
    Ok(Splits { train: train?, valid: valid?, test: test? })
}
