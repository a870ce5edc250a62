//! How many true answers a test query has: the reason why filters matter.

use quadcast_core::Split;
use rayon::slice::ParallelSliceMut;
use serde::Serialize;

use super::recurrency::Row;

/// Mean number of true answers of a test query, the gold answer included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanAnswers {
    /// True at the time of the query: what the time-aware filter knows.
    pub time_aware: f64,
    /// True at any time: what the static filter knows.
    #[serde(rename = "static")]
    pub any_time: f64,
}

/// Mean numbers of true answers in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Objects of `(subject, relation, ?, time)`.
    pub objects: MeanAnswers,
    /// Subjects of `(?, relation, object, time)`.
    pub subjects: MeanAnswers,
}

/// A query, an answer to it, and whether the fact is a test fact.
type Keyed = ([u32; 3], u32, bool);

impl Answers {
    /// Counts over all splits; `rows` in any order.
    pub(super) fn of(rows: &[Row]) -> Self {
        let object = |row: &Row, step| {
            (
                [row.triple.subject.0, row.triple.relation.0, step],
                row.triple.object.0,
                row.split == Split::Test,
            )
        };
        let subject = |row: &Row, step| {
            (
                [row.triple.object.0, row.triple.relation.0, step],
                row.triple.subject.0,
                row.split == Split::Test,
            )
        };
        let mean = |key: &dyn Fn(&Row, u32) -> Keyed| MeanAnswers {
            time_aware: mean_answers(rows.iter().map(|row| key(row, row.step.0)).collect()),
            any_time: mean_answers(rows.iter().map(|row| key(row, 0)).collect()),
        };
        Self { objects: mean(&object), subjects: mean(&subject) }
    }
}

/// Mean over test rows of the number of distinct answers to their query.
fn mean_answers(mut keyed: Vec<Keyed>) -> f64 {
    keyed.par_sort_unstable();
    let (mut sum, mut queries) = (0, 0);
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        let asked = group.iter().filter(|row| row.2).count();
        let answers = group.chunk_by(|a, b| a.1 == b.1).count();
        sum += asked * answers;
        queries += asked;
    }
    if queries == 0 { 0.0 } else { sum as f64 / queries as f64 }
}
