//! Whether the operations of a benchmark can follow each other: an insertion needs an absent triple, a deletion a present one.
//!
//! One set of triples is held at a time, and none once the files are read: these graphs are large, and what is left of them
//! in memory is meant for models. Lines are not kept either; the file with the fault is read again to find its line.

use std::path::Path;

use quadcast_core::{Triple, TripleOperation, Vocabulary};

use super::evolving_step::Step;
use super::id_files::count_line;
use super::input::Input;
use super::lines::{At, Lines, blank_fields};
use crate::DataError;
use crate::operations::{TripleSet, apply, head_tail_relation};

/// The column of the operation.
const MARK: usize = 4;

/// Refuses the first operation that contradicts the rows and steps before it: of the training updates, then of the full ones.
pub(super) fn refuse_contradictions(steps: &[Step], vocabulary: &Vocabulary) -> Result<(), DataError> {
    let mut present = TripleSet::default();
    for step in steps {
        check(&mut present, &step.content.training, &step.training, vocabulary)?;
    }
    present.clear();
    for (index, step) in steps.iter().enumerate() {
        let (Some(operations), Some(file)) = (&step.content.operations, &step.operations) else { continue };
        let before = &steps[..index];
        if before.last().is_some_and(|step| step.content.operations.is_none()) {
            fill(&mut present, before);
        }
        check(&mut present, operations, file, vocabulary)?;
    }
    Ok(())
}

/// The graph after the last of these steps, if it does not list all of its operations: the first update of the published
/// benchmark is too large for the place it was published at.
fn fill(present: &mut TripleSet, steps: &[Step]) {
    present.clear();
    for step in steps {
        apply(present, &step.content.training);
    }
    if let Some(step) = steps.last() {
        let held_out = step.content.evaluation_all.as_ref().unwrap_or(&step.content.evaluation);
        present.extend(held_out.valid.iter().chain(&held_out.test));
    }
}

/// Carries operations out until one cannot be.
fn check(
    present: &mut TripleSet,
    operations: &[TripleOperation],
    file: &Path,
    vocabulary: &Vocabulary,
) -> Result<(), DataError> {
    for (row, operation) in operations.iter().enumerate() {
        if apply(present, std::slice::from_ref(operation)) > 0 {
            return Err(contradiction(place(file, row)?, *operation, vocabulary));
        }
    }
    Ok(())
}

fn contradiction(at: At<'_>, operation: TripleOperation, vocabulary: &Vocabulary) -> DataError {
    let Triple { subject, relation, object } = operation.triple;
    let [head, tail] = [subject, object].map(|entity| vocabulary.entities.name(entity.0));
    let (relation, ids) = (vocabulary.relations.name(relation.0), head_tail_relation(operation.triple));
    let (mark, state, expected) = if operation.insert {
        ('+', "present already", "- or no row")
    } else {
        ('-', "absent", "+ or no row")
    };
    at.wrong(format!(
        "found {mark} for the triple {head} {tail} {relation} (ids {ids}), which is {state} after the rows and steps \
         before; expected {expected}; correct the file (data audit counts such rows), or leave them out with data \
         compile --policy drop"
    ))
}

/// The place of the operation in a row of a file.
fn place(path: &Path, row: usize) -> Result<At<'_>, DataError> {
    let input = Input::open(path.to_path_buf())?;
    let mut lines = Lines::new(input.text()).peekable();
    lines.next_if(|(_, text)| count_line(text).is_some());
    let (line, columns) =
        lines.nth(row).map_or((0, MARK), |(line, text)| (line, blank_fields::<MARK>(text).1));
    // An increment that stands in for the first update has no column of operations.
    Ok(At { path, line, column: if columns < MARK { 1 } else { MARK } })
}
