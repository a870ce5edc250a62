//! Folders `snapshot1`, `snapshot2`, … in `OpenKE`'s layout, each with ids of its own: the layout of DKGE.
//!
//! Snapshots are aligned by **name** into one vocabulary (in order of first appearance), and the update between two of
//! them is the difference of their training sets.

use std::path::PathBuf;

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, RelationId, Split, SplitTriples, Triple, TripleOperation,
    Vocabulary,
};
use rustc_hash::FxHashMap;

use super::Reading;
use super::detect::snapshot_number;
use super::id_files::{IdFile, IdFiles, Order, names_by_id};
use super::input::{Folder, Input};
use super::lines::excerpt;
use super::notes::Notes;
use super::splits::{Naming, find_optional, read_parallel};
use super::triples::read_triples;
use crate::error::IdKind;
use crate::{Content, DataError, Format};

pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let numbered = folder.numbered(snapshot_number);
    if numbered.is_empty() {
        return Err(folder.missing(Format::Snapshots, "folders snapshot1, snapshot2, …"));
    }
    let snapshots = read_parallel(&numbered, |(_, name)| Snapshot::read(folder.inside(name)?, name))?;
    describe(&snapshots, notes);

    let (mut entities, mut relations) = (GlobalIds::default(), GlobalIds::default());
    let mut previous = Vec::new();
    let mut steps = Vec::with_capacity(snapshots.len());
    for snapshot in snapshots {
        let entity_ids = align(&mut entities, &snapshot.entities, IdKind::Entity)?;
        let relation_ids = align(&mut relations, &snapshot.relations, IdKind::Relation)?;
        let (step, training) = snapshot.into_step(&entity_ids, &relation_ids, &previous, notes);
        previous = training;
        steps.push(step);
    }
    let names = |ids: GlobalIds| names_by_id(ids.len(), ids, None);
    let vocabulary = Vocabulary { entities: names(entities), relations: names(relations) };
    let dataset = EvolvingDataset { name: folder.name(), vocabulary, steps };
    Ok((Content::Evolving(dataset), None))
}

/// One snapshot with ids of its own.
struct Snapshot {
    label: String,
    entities: IdFile,
    relations: IdFile,
    train: Vec<Triple>,
    /// `None` where the snapshot has no such file.
    valid: Option<Vec<Triple>>,
    test: Option<Vec<Triple>>,
    counted: bool,
    files: Vec<PathBuf>,
    unused: Vec<String>,
}

impl Snapshot {
    fn read(mut folder: Folder, label: &str) -> Result<Self, DataError> {
        let lists = IdFiles::find(&mut folder, Order::NameFirst)?;
        let mut files: Vec<PathBuf> = lists.paths().map(PathBuf::from).collect();
        let mut counted = true;
        let mut triples = |split| -> Result<Option<Vec<Triple>>, DataError> {
            let Some(path) = find_optional(&mut folder, Naming::Ids, split)? else {
                return Ok(None);
            };
            let input = Input::open(path)?;
            let file = read_triples(&input, lists.spaces())?;
            counted &= file.counted;
            files.push(input.path);
            Ok(Some(file.rows))
        };
        let (train, valid, test) = (triples(Split::Train)?, triples(Split::Valid)?, triples(Split::Test)?);
        let missing = |file| folder.missing(Format::Snapshots, file);
        let train = train.ok_or_else(|| missing("train2id.txt"))?;
        let unused = folder.unused().into_iter().map(|file| format!("{label}/{file}")).collect();
        let entities = lists.entities.ok_or_else(|| missing("entity2id.txt"))?;
        let relations = lists.relations.ok_or_else(|| missing("relation2id.txt"))?;
        let label = label.to_string();
        Ok(Self { label, entities, relations, train, valid, test, counted, files, unused })
    }

    /// Translates the snapshot and compares it with the training set before it. Returns its own, sorted.
    fn into_step(
        self,
        entities: &[u32],
        relations: &[u32],
        previous: &[Triple],
        notes: &mut Notes,
    ) -> (EvolvingStep, Vec<Triple>) {
        let translate = |triples: Vec<Triple>| -> Vec<Triple> {
            let translated = triples.into_iter().map(|t| {
                let subject = entities[t.subject.index()];
                Triple::new(subject, relations[t.relation.index()], entities[t.object.index()])
            });
            translated.collect()
        };
        let mut training = translate(self.train);
        let rows = training.len();
        training.sort_unstable();
        training.dedup();
        if training.len() < rows {
            let repeated = rows - training.len();
            notes.add(format!("{} repeats {repeated} training triples; each counts once.", self.label));
        }
        let evaluation = SplitTriples {
            valid: translate(self.valid.unwrap_or_default()),
            test: translate(self.test.unwrap_or_default()),
        };
        let step = EvolvingStep {
            label: self.label,
            training: difference(previous, &training),
            evaluation,
            entities: Some(sorted(entities).into_iter().map(EntityId).collect()),
            relations: Some(sorted(relations).into_iter().map(RelationId).collect()),
            ..EvolvingStep::default()
        };
        (step, training)
    }
}

fn sorted(ids: &[u32]) -> Vec<u32> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

/// The operations that turn one sorted set into another: deletions, then insertions, each sorted.
fn difference(before: &[Triple], after: &[Triple]) -> Vec<TripleOperation> {
    let missing_in = |from: &[Triple], other: &[Triple], insert| -> Vec<TripleOperation> {
        let only = from.iter().filter(|triple| other.binary_search(triple).is_err());
        only.map(|&triple| TripleOperation { triple, insert }).collect()
    };
    let mut operations = missing_in(before, after, false);
    operations.extend(missing_in(after, before, true));
    operations
}

/// Names with their global ids, in order of first appearance.
type GlobalIds = FxHashMap<String, u32>;

/// The global id of every local id. Each id must have a name of its own.
fn align(known: &mut GlobalIds, list: &IdFile, kind: IdKind) -> Result<Vec<u32>, DataError> {
    let mut lines: FxHashMap<&str, u64> = FxHashMap::default();
    let mut global = vec![u32::MAX; list.size];
    for (line, local, name) in &list.rows {
        if let Some(first) = lines.insert(name, *line) {
            return Err(list.name_at(*line).wrong(format!(
                "found the name {} again, expected every name once; line {first} has it already, and snapshots \
                 are aligned by name",
                excerpt(name.as_bytes())
            )));
        }
        let next = known.len() as u32;
        global[*local as usize] = match known.get(name) {
            Some(&id) => id,
            None => *known.entry(name.clone()).or_insert(next),
        };
    }
    list.without_holes(kind)?;
    Ok(global)
}

fn describe(snapshots: &[Snapshot], notes: &mut Notes) {
    notes.compression(snapshots.iter().flat_map(|s| s.files.iter().map(PathBuf::as_path)));
    notes.add("The columns are head, tail, relation.");
    notes.add(format!(
        "{} snapshots with ids of their own, aligned by name; updates are the differences of their training sets.",
        snapshots.len()
    ));
    if snapshots.iter().all(|s| s.counted) {
        notes.add("Every file of triples starts with a count line, and the counts are right.");
    } else {
        notes.add("Some files of triples have no count line; there, every line is read as a fact.");
    }
    for snapshot in snapshots {
        for (split, triples) in [(Split::Valid, &snapshot.valid), (Split::Test, &snapshot.test)] {
            if triples.is_none() {
                notes.add(format!("{} has no {split} file, so no {split} triples.", snapshot.label));
            }
        }
    }
    notes.unused(snapshots.iter().flat_map(|snapshot| &snapshot.unused));
}
