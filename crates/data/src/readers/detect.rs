//! Which layout a folder has: first by the names of its files and folders, then by the first rows of its splits.

use quadcast_core::Split;

use super::dates::iso_minute;
use super::descriptions::IMPORT;
use super::input::{Folder, Input, no_fact};
use super::intervals::partial_date;
use super::lines::{Lines, blank_fields, excerpt, integer, tab_fields};
use super::lkge;
use super::splits::Naming;
use crate::files::Compression;
use crate::{DataError, Format};

/// What a folder of each layout looks like, for error messages.
const LAYOUTS: &str = "quads (train.txt, valid.txt, test.txt with subject relation object time as numbers), \
     labelled (the same with names and YYYY-MM-DD), intervals (two dates), openke (train2id.txt), \
     wikidata-evolve (updates/1, updates/2, …), snapshots (snapshot1, snapshot2, …), \
     lkge (0, 1, … with train.txt of names)";

/// Layouts that rows tell apart, and what such rows have. Of equally frequent ones the first counts.
const BY_ROWS: [(Format, &str); 3] = [
    (Format::Intervals, "numbers in columns 1 to 3 and dates in columns 4 and 5"),
    (Format::Labelled, "names in columns 1 to 3 and ISO dates in column 4"),
    (Format::Quads, "numbers in columns 1 to 4"),
];

/// Rows of a file that are looked at.
const SAMPLE: usize = 64;

/// The layout of a folder and why.
pub(super) fn detect(folder: &Folder) -> Result<(Format, String), DataError> {
    let has_steps = |name: &&str| {
        folder.inside(name).is_ok_and(|inner| inner.folders.iter().any(|f| f.parse::<u32>().is_ok()))
    };
    let updates = ["updates", "incremental"].into_iter().filter(|n| folder.folders.iter().any(|f| f == n));
    if let Some(name) = { updates }.find(has_steps) {
        return Ok((Format::WikidataEvolve, format!("{name}/ holds numbered folders")));
    }
    if folder.folders.iter().any(|name| snapshot_number(name).is_some()) {
        return Ok((Format::Snapshots, "its folders are called snapshot1, snapshot2, …".to_string()));
    }
    if split_files(folder, Naming::Plain).next().is_none() && lkge::looks_like(folder) {
        return Ok((Format::Lkge, "its folders are called 0, 1, … and hold splits".to_string()));
    }
    if let Some(file) = split_files(folder, Naming::Ids).next() {
        return Ok((Format::Openke, format!("there is a file {file}")));
    }
    let splits: Vec<&String> = split_files(folder, Naming::Plain).collect();
    if splits.is_empty() {
        return Err(unknown(folder, "no file or folder has a name of a known layout"));
    }
    // Imported names may look like anything, also like ids.
    if folder.files.iter().any(|file| file == IMPORT) {
        return Ok((Format::Labelled, format!("there is a file {IMPORT}")));
    }
    by_rows(folder, &splits)
}

/// The number of a folder `snapshot7`.
pub(super) fn snapshot_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("snapshot")?.trim_start_matches(['_', '-']);
    number.parse().ok()
}

/// Files that are named like splits, those of train first.
fn split_files(folder: &Folder, naming: Naming) -> impl Iterator<Item = &String> {
    Split::ALL.into_iter().flat_map(move |split| {
        folder.files.iter().filter(move |file| naming.matches(Compression::of(file).1, split))
    })
}

fn unknown(folder: &Folder, reason: &str) -> DataError {
    let found = folder.contents();
    DataError::file(
        &folder.path,
        format!("{reason}; found: {found}\nknown layouts: {LAYOUTS}; say which one it is with --format"),
    )
}

fn by_rows(folder: &Folder, splits: &[&String]) -> Result<(Format, String), DataError> {
    let mut first_row = None;
    for name in splits {
        let (input, _) = Input::start(&folder.path.join(name))?;
        let mut layouts = Vec::new();
        for (line, row) in Lines::new(input.text()).take(SAMPLE) {
            first_row.get_or_insert_with(|| {
                format!("the rows of {name} fit no layout (line {line} is {})", excerpt(row))
            });
            layouts.extend(row_layout(row));
        }
        let votes = |layout: Format| layouts.iter().filter(|&&found| found == layout).count();
        if let Some(&(layout, words)) = BY_ROWS.iter().rev().max_by_key(|(layout, _)| votes(*layout))
            && votes(layout) > 0
        {
            return Ok((layout, format!("{name} has {words}")));
        }
    }
    Err(match first_row {
        Some(reason) => unknown(folder, &reason),
        None => no_fact(&folder.path.join(splits[0])),
    })
}

fn row_layout(row: &[u8]) -> Option<Format> {
    let (fields, count) = blank_fields::<5>(row);
    let numbers = fields.iter().take_while(|field| integer(field).is_ok()).count();
    // A bare year is a partial date too, but could as well be a time stamp: it does not count here.
    let dated = |field: &[u8]| partial_date(field).is_some() && integer(field).is_err();
    if count >= 5
        && numbers >= 3
        && (dated(fields[3]) || dated(fields[4]))
        && partial_date(fields[3]).is_some()
    {
        return Some(Format::Intervals);
    }
    let (names, count) = tab_fields::<4>(row);
    if count >= 4 && iso_minute(names[3].trim_ascii()).is_some() {
        return Some(Format::Labelled);
    }
    (numbers >= 4).then_some(Format::Quads)
}
