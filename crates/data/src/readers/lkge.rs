//! Folders `0`, `1`, … of names, `head⇥relation⇥tail`, each with **new** facts only: the layout of LKGE and its kin.
//!
//! Nothing is ever deleted in this layout. The evaluation triples of a step are those of its own folder; the full sets hold
//! those of the folders before it too. Ids follow the first appearance in train, valid, test, folder by folder; the id files
//! of the layout, which number relations in steps of two, are not needed.

use quadcast_core::{
    EvolvingDataset, EvolvingStep, Split, SplitTriples, Triple, TripleOperation, Vocabulary,
};
use rustc_hash::FxHashSet;

use super::Reading;
use super::id_spaces::IdSpaces;
use super::input::{Folder, Input};
use super::labelled::Interner;
use super::lines::{At, Lines, tab_fields};
use super::notes::Notes;
use super::splits::{Naming, find_optional, read_parallel};
use super::unread::look_at_unused;
use crate::error::IdKind;
use crate::{Content, DataError, Format};

const COLUMNS: &str = "head, relation, tail (separated by tabs)";

/// Whether a folder may have this layout: it holds numbered folders, and the first of them a split.
pub(super) fn looks_like(folder: &Folder) -> bool {
    folder.numbered(|name| name.parse().ok()).first().is_some_and(|(_, name)| {
        folder.inside(name).is_ok_and(|mut inner| {
            matches!(find_optional(&mut inner, Naming::Plain, Split::Train), Ok(Some(_)))
        })
    })
}

/// Reads a folder of new facts per step.
pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let numbered = folder.numbered(|name| name.parse().ok());
    if numbered.is_empty() {
        return Err(folder.missing(Format::Lkge, "folders 0, 1, …"));
    }
    let parts = read_parallel(&numbered, |(_, name)| Part::open(folder.inside(name)?, name))?;
    notes.compression(
        parts.iter().flat_map(|part| part.files.iter().flatten().map(|input| input.path.as_path())),
    );
    notes.add("The columns are head, relation, tail, with names; each folder holds only new facts.");
    notes.add(format!(
        "{} steps; ids follow the first appearance in train, valid, test, step by step.",
        parts.len()
    ));

    let mut entities = Interner::new(IdKind::Entity, None, false);
    let mut relations = Interner::new(IdKind::Relation, None, false);
    let mut growth = Growth::default();
    for part in &parts {
        let [train, valid, test] = part.triples(&mut entities, &mut relations)?;
        growth.add(&part.label, train, SplitTriples { valid, test }, notes);
    }
    parts.iter().flat_map(|part| &part.problems).for_each(|problem| notes.add(problem));
    notes.unused(parts.iter().flat_map(|part| &part.unused));
    let vocabulary = Vocabulary { entities: entities.into_names(), relations: relations.into_names() };
    let dataset = EvolvingDataset { name: folder.name(), vocabulary, steps: growth.steps };
    Ok((Content::Evolving(dataset), None))
}

/// The files of one folder.
struct Part {
    label: String,
    /// Train, valid and test, where they are there.
    files: [Option<Input>; 3],
    /// What is wrong with files that are not read.
    problems: Vec<String>,
    unused: Vec<String>,
}

impl Part {
    fn open(mut folder: Folder, label: &str) -> Result<Self, DataError> {
        let mut open = |split| -> Result<Option<Input>, DataError> {
            let Some(path) = find_optional(&mut folder, Naming::Plain, split)? else { return Ok(None) };
            let input = Input::open(path)?;
            input.utf8()?;
            Ok(Some(input))
        };
        let files = [open(Split::Train)?, open(Split::Valid)?, open(Split::Test)?];
        if files[0].is_none() {
            return Err(folder.missing(Format::Lkge, "train.txt"));
        }
        let (problems, other) = look_at_unused(&folder, IdSpaces { known: [None; 2] }, is_repetition);
        let unused = other.into_iter().map(|file| format!("{label}/{file}")).collect();
        Ok(Self { label: label.to_string(), files, problems, unused })
    }

    fn triples<'a>(
        &'a self,
        entities: &mut Interner<'a>,
        relations: &mut Interner<'a>,
    ) -> Result<[Vec<Triple>; 3], DataError> {
        let mut read = |file: &'a Option<Input>| match file {
            Some(input) => parse(input, entities, relations),
            None => Ok(Vec::new()),
        };
        let [train, valid, test] = &self.files;
        Ok([read(train)?, read(valid)?, read(test)?])
    }
}

/// Files that say in ids what the others say in names.
fn is_repetition(stem: &str) -> bool {
    stem.ends_with("2id") || stem.ends_with("_id")
}

fn parse<'a>(
    input: &'a Input,
    entities: &mut Interner<'a>,
    relations: &mut Interner<'a>,
) -> Result<Vec<Triple>, DataError> {
    let mut triples = Vec::new();
    for (line, text) in Lines::new(input.text()) {
        let (fields, count) = tab_fields::<4>(text);
        let at = |column| At { path: &input.path, line, column };
        match count {
            ..3 => return Err(at(1).missing_column(count, COLUMNS)),
            3 => {}
            // A tab at the end of a line separates nothing.
            4 if fields[3].trim_ascii().is_empty() => {}
            4.. => return Err(at(4).extra_column(fields[3], COLUMNS)),
        }
        let subject = entities.id(at(1), fields[0])?;
        let relation = relations.id(at(2), fields[1])?;
        triples.push(Triple::new(subject, relation, entities.id(at(3), fields[2])?));
    }
    Ok(triples)
}

/// The steps so far.
#[derive(Default)]
struct Growth {
    steps: Vec<EvolvingStep>,
    train: FxHashSet<Triple>,
    all: SplitTriples,
}

impl Growth {
    fn add(&mut self, label: &str, mut train: Vec<Triple>, evaluation: SplitTriples, notes: &mut Notes) {
        let rows = train.len();
        train.retain(|triple| self.train.insert(*triple));
        if train.len() < rows {
            let repeated = rows - train.len();
            notes.add(format!("{label} repeats {repeated} training triples; each counts once."));
        }
        self.all.valid.extend(&evaluation.valid);
        self.all.test.extend(&evaluation.test);
        self.steps.push(EvolvingStep {
            label: label.to_string(),
            training: train.iter().map(|&triple| TripleOperation { triple, insert: true }).collect(),
            increment: Some(train),
            evaluation,
            evaluation_all: Some(self.all.clone()),
            ..EvolvingStep::default()
        });
    }
}
