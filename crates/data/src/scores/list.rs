//! The numbered queries of a split, exported for an external model.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use quadcast_core::{Calendar, Dataset, Fingerprint, Names, Query, Split, Step, TimeAxis};
use sha2::{Digest, Sha256};

use super::csv::field;

/// The distinct queries of a split in the evaluator's order, each with a key.
#[derive(Clone, Debug)]
pub struct QueryList {
    /// The queries by row.
    pub queries: Vec<Query>,
    /// The keys by row.
    pub keys: Vec<u64>,
}

impl QueryList {
    /// Numbers the queries of a split. They must be distinct and sorted, as the evaluator asks them.
    pub fn new(dataset: &Dataset, split: Split, queries: Vec<Query>) -> Self {
        debug_assert!(queries.is_sorted_by(|a, b| a < b), "distinct queries in the evaluator's order");
        let fingerprint = dataset.fingerprint();
        let keys = queries.iter().map(|query| key(fingerprint, split, query)).collect();
        Self { queries, keys }
    }

    /// The row of a query.
    pub fn row(&self, query: &Query) -> Option<usize> {
        self.queries.binary_search(query).ok()
    }

    /// The rows of a step.
    pub fn rows_of(&self, step: Step) -> Range<usize> {
        let start = self.queries.partition_point(|query| query.step < step);
        start..self.queries.partition_point(|query| query.step <= step)
    }

    /// Writes the list as CSV. Gold answers are not in it. `written` says how names are written.
    pub fn write(&self, dataset: &Dataset, written: Written, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "row,step,time,direction,known_id,known,relation_id,relation,key")?;
        let names = &dataset.vocabulary;
        for (row, (query, key)) in self.queries.iter().zip(&self.keys).enumerate() {
            let (known, relation) = (query.known.0, query.relation.0);
            writeln!(
                out,
                "{row},{},{},{},{known},{},{relation},{},{key}",
                query.step.0,
                field(&time(&dataset.axis, query.step)),
                query.direction.word(),
                field(&written(&names.entities.name(known))),
                field(&written(&names.relations.name(relation))),
            )?;
        }
        Ok(())
    }
}

/// How a name is written: exactly, or so that the program that opens the file does not take it for something else.
pub type Written = fn(&str) -> Cow<'_, str>;

/// Writes the entities with their names as CSV: the columns of a dense score file.
pub fn write_entities(names: &Names, written: Written, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "id,entity")?;
    for id in 0..names.len() as u32 {
        writeln!(out, "{id},{}", field(&written(&names.name(id))))?;
    }
    Ok(())
}

/// A time as the dataset's own files write it: a date where they hold dates, else a number.
fn time(axis: &TimeAxis, step: Step) -> String {
    if axis.calendar() == Calendar::UNIX_DAYS { axis.label(step) } else { axis.time(step).to_string() }
}

/// A hash of dataset, split and query. It has 63 bits, so that every language reads it as a signed integer.
fn key(fingerprint: Fingerprint, split: Split, query: &Query) -> u64 {
    let Query { step, known, relation, direction } = query;
    let text = format!("{fingerprint}|{split}|{}|{}|{}|{}", step.0, known.0, relation.0, direction.word());
    let digest = Sha256::digest(text.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first) >> 1
}
